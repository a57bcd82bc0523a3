"""Spoken text: symbols as words, sentences short enough to be spoken in one breath, and how long it all takes.

Desktop Chrome stops an utterance after some fifteen seconds without a word, so none is longer than `LONGEST`.
What a symbol is called comes from the language's table (`sitegen/words`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sitegen.drawing.metrics import wide

LONGEST = 50  # characters in one utterance

_SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_ENDS = re.compile(r"(?<=[。！？；!?;])|(?<=\.)(?=\s)")  # a point between digits ends nothing
_PAUSES = re.compile(r"(?<=[，、：])|(?<=[,:])(?=\s)")


def spoken(text: str, words: Mapping[str, str]) -> str:
    """Text as a voice can read it: [0.8, −0.3] becomes "0.8，负0.3" in Chinese."""
    power = re.compile(r"×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
    text = text.replace("**", "")
    text = power.sub(lambda m: words["speech_power"].format(_signed(m[1].translate(_SUPERSCRIPTS), words)), text)
    text = re.sub(r"\[([^\]]*)\]", lambda m: m[1].replace(", ", words["speech_comma"]), text)
    text = re.sub(r"−|(?<![\w])-(?=\d)", words["speech_minus"], text)
    for name, sign in (("plus", "+"), ("times", "×"), ("divided", "÷"), ("equals", "=")):
        text = text.replace(f" {sign} ", words[f"speech_{name}"]).replace(sign, words[f"speech_{name}"])
    return text.strip()


def _signed(number: str, words: Mapping[str, str]) -> str:
    return number.replace("-", words["speech_minus"])


def utterances(text: str) -> list[str]:
    """The sentences of a text; one that is too long is cut at its commas, and where there are none, anywhere.

    >>> utterances("原来的还在。新的加上去，得到1.5。")
    ['原来的还在。', '新的加上去，得到1.5。']
    """
    found: list[str] = []
    for sentence in filter(None, (part.strip() for part in _ENDS.split(text))):
        line = ""
        for piece in _PAUSES.split(sentence):
            if line and len(line + piece) > LONGEST:
                found.append(line.strip())
                line = ""
            line += piece
            while len(line) > LONGEST:
                cut = line.rfind(" ", 1, LONGEST)
                cut = cut if cut > 0 else LONGEST
                found.append(line[:cut].strip())
                line = line[cut:]
        if line.strip():
            found.append(line.strip())
    return found


def seconds(text: str) -> float:
    """About how long a voice takes at its usual speed, which is also a reading speed; at least three seconds.

    Measured on Chinese system voices: some 4.6 characters a second, a Latin word 0.45 s, a digit 0.22 s, a stop 0.3 s.
    """
    characters = sum(map(_wide_word, text))
    latin, figures = len(re.findall(r"[A-Za-z]+", text)), len(re.findall(r"\d", text))
    stops = len(re.findall(r"[，。；：？！、,;:?!]", text))
    return round(max(3.0, 0.8 + characters / 4.6 + latin * 0.45 + figures * 0.22 + stops * 0.3), 1)


def _wide_word(character: str) -> bool:
    return wide(character) and character.isalpha()
