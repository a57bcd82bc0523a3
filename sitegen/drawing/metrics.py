"""How wide a text is, from a table and never from a font: the same answer on every machine.

Latin letters have the advances of Helvetica and Arial, which stand first in the page's font list (Adobe's published
Helvetica metrics, in hundredths of an em). Chinese characters and full-width marks are one em, in every font.
"""

from __future__ import annotations

from itertools import pairwise
from unicodedata import category, east_asian_width

_ADVANCES = {  # width in hundredths of an em: the characters that have it
    19: "'", 22: "ijl", 26: "|", 28: " !,./:;I[\\]ft·", 33: "()-`r{}", 36: '"', 39: "*", 47: "^", 50: "Jckszvxy",
    56: "#$0123456789?L_abdeghnopqu", 58: "+<=>~−×±", 61: "FTZ", 67: "&ABEKPSVXY", 72: "CDHNRUw", 78: "GOQ",
    83: "Mm", 89: "%", 94: "W", 100: "@—…→←↑↓", 33.5: "⁻⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂", 55: "√≈≤≥",
}  # fmt: skip
_WIDTH = {character: width / 100 for width, characters in _ADVANCES.items() for character in characters}
_OTHER = 0.62  # Greek and the rest of what is not wide: a little more than an average letter
_BOLD = 1.06  # Helvetica Bold's letters are that much wider; Chinese characters keep their em

_NOT_FIRST = set("，。、；：？！）】》」』”’%,.;:?!)]}·…")  # no line of Chinese text starts with these
_NOT_LAST = set("（【《「『“‘([{")  # nor ends with these


def width(text: str, size: float = 1.0, bold: bool = False) -> float:
    """The width of one line in the unit of `size` (the font size).

    >>> width("残差", 14)
    28.0
    >>> width("−0.3", 10)
    19.8
    """
    return round(sum(_advance(c) * (_BOLD if bold and c.isascii() else 1) for c in text) * size, 6)


def _advance(character: str) -> float:
    if character in _WIDTH:
        return _WIDTH[character]
    if category(character) in ("Mn", "Me", "Cf"):  # marks set over others, and invisible signs
        return 0.0
    return 1.0 if east_asian_width(character) in "WF" or character in "“”‘’" else _OTHER


def wrap(text: str, size: float, limit: float, bold: bool = False) -> list[str]:
    """The text in lines of at most `limit`, broken at spaces and between Chinese characters.

    >>> wrap("原来的，还在。", 10, 40)
    ['原来的，', '还在。']
    """
    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for piece in _pieces(paragraph):
            if line and width((line + piece).rstrip(), size, bold) > limit:
                lines.append(line.rstrip())
                line = ""
            line += piece if line else piece.lstrip()
        lines.append(line.rstrip())
    return lines


def _pieces(text: str) -> list[str]:
    """What a line break may not cut: words, and characters together with marks that cling to them."""
    pieces: list[str] = []
    for before, character in pairwise(" " + text):
        breaks = before == " " or wide(before) or wide(character)
        if pieces and (not breaks or character in _NOT_FIRST or before in _NOT_LAST or character == " "):
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def wide(character: str) -> bool:
    return east_asian_width(character) in "WF"
