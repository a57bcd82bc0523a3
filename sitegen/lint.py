"""What a reader should not find on a page: a digit that no code knows, half-width punctuation in Chinese, a hyphen for
minus. Read off the text as Markdown made it, before numbers and formulas go in, and mapped back to the source line.

A digit is allowed in: names that the notation page lists (GPT-2, float64), years (2017 年; bare ones in citations),
ordinals and steps (第 3 步), link targets, code, formulas (sitegen/maths.py has their own rule).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser

NUMBER = "\ue000"  # stands in a text for what the generator puts there: a number, a formula, a component
_TOKEN = re.compile("\ue000[\ue010-\ue019]+\ue001")

_SILENT_TAGS = {"code", "pre", "script", "style", "math", "svg", "textarea", "kbd", "samp"}
_SILENT_CLASSES = {"headerlink", "footnote-ref", "footnote-backref", "quiz-letter"}
_INLINE = set("a abbr b bdi cite code data del em i ins kbd mark math q s samp small span strong sub sup u wbr".split())
_SPOKEN = ("alt", "title", "aria-label", "placeholder", "label")
_VOID = set("area base br col embed hr img input link meta source track wbr".split())

# ², ½ and full-width digits count as well; circled numbers are list marks.
_DIGITS = re.compile(r"[0-9０-９]+(?:[.,][0-9]+)*|[²³¹⁰⁴-⁹₀-₉¼-¾]+")
_YEAR = r"(?<![\d.])(?:1[5-9]|20)\d\d"
_ALWAYS = (
    rf"{_YEAR}(?=\s*年)",
    rf"{_YEAR}s?(?=,? (?:paper|article))",
    r"第\s*\d+(?:\s*[、和到至]\s*\d+)*",
    r"\b\d+(?:st|nd|rd|th)\b",
    r"(?i:\b(?:step|section|chapter|part|article|figure|table)\s+\d+)",
)
_HEADING_ORDINAL = r"^\s*\d+(?:\.\d+)*[.、．]?(?=\s)"


@dataclass(frozen=True)
class Text:
    """The text of one block (or one attribute), expressions and formulas as NUMBER. `kind`: its tag, or "attribute"."""

    kind: str
    text: str


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Text] = []
        self.open: list[tuple[str, bool]] = []  # (tag, silent)
        self.buffer = ""
        self.kind = "p"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        silent = tag in _SILENT_TAGS or bool(_SILENT_CLASSES & set(given.get("class", "").split()))
        for name in _SPOKEN:
            if name in given and not silent and not self._silent():
                self.found.append(Text("attribute", _TOKEN.sub(NUMBER, given[name])))
        outside = tag == "a" and given.get("href", "").startswith(("http:", "https:")) or tag == "cite"
        if outside and not self._silent():
            self.buffer += "\x02"
        if tag not in _INLINE:
            self._flush()
            self.kind = tag
        if tag not in _VOID:
            self.open.append((tag + "!" * outside, silent))
            if silent and not self._silent(below=True):
                self.buffer += NUMBER

    def handle_endtag(self, tag: str) -> None:
        names = [name.rstrip("!") for name, _ in self.open]
        if tag in names:
            while self.open:
                name, _ = self.open.pop()
                if name.endswith("!") and not self._silent():
                    self.buffer += "\x03"
                if name.rstrip("!") == tag:
                    break
        if tag not in _INLINE:
            self._flush()

    def handle_data(self, data: str) -> None:
        if not self._silent():
            self.buffer += _TOKEN.sub(NUMBER, data)

    def _silent(self, below: bool = False) -> bool:
        return any(silent for _, silent in (self.open[:-1] if below else self.open))

    def _flush(self) -> None:
        if self.buffer.strip():
            self.found.append(Text(self.kind, self.buffer))
        self.buffer = ""


@functools.lru_cache(maxsize=256)  # asked three times a page, and again for every page that a rebuild leaves as it was
def texts(html: str) -> tuple[Text, ...]:
    """Blocks of visible text in order; the text of outside links and <cite> stands between \\x02 and \\x03."""
    parser = _Texts()
    parser.feed(html)
    parser.close()
    parser._flush()
    return tuple(parser.found)


def _allowed(names: Iterable[str]) -> re.Pattern[str]:
    with_digits = sorted((name for name in names if re.search(r"\d", name)), key=len, reverse=True)
    listed = [rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9]|[.,]\d)" for name in with_digits]
    return re.compile("|".join([*listed, *_ALWAYS]))


def digits(html: str, names: Iterable[str] = ()) -> list[tuple[str, str]]:
    """(the number, the words around it) for every digit that has no origin."""
    allowed = _allowed(names)
    found = []
    for text in texts(html):
        plain = re.sub("\x02[^\x03]*", _without_years, text.text)
        if re.fullmatch(r"h[1-6]", text.kind):
            plain = re.sub(_HEADING_ORDINAL, _blank, plain)
        plain = allowed.sub(_blank, plain)
        found += [(m[0], _around(plain, m, text.text)) for m in _DIGITS.finditer(plain)]
    return found


def _without_years(match: re.Match[str]) -> str:
    return re.sub(rf"{_YEAR}(?!\d)", _blank, match[0])


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _around(plain: str, match: re.Match[str], original: str) -> str:
    start, end = max(0, match.start() - 8), match.end() + 8
    return re.sub("[\x02\x03]", "", original[start:end]).replace(NUMBER, "…").strip()


# ---- typography

_CHINESE = "\u3400-\u4dbf\u4e00-\u9fff\u3001-\u303f\uff01-\uff60"
_HALF_WIDTH = re.compile(
    rf"[{_CHINESE}][\s{NUMBER}]*(?P<a>[,;:!?.])[\s{NUMBER}]*(?=[{_CHINESE}])"
    rf"|[{_CHINESE}](?P<b>[,;:!?.])\s*$"
    rf"|(?P<c>\()[^()]*[{_CHINESE}][^()]*\)"
)
_HYPHEN = re.compile(rf"(?<![\w\-{NUMBER}])-\d")


def half_width(html: str) -> list[tuple[str, str]]:
    """(the mark, the words around it) for half-width punctuation that stands in Chinese text."""
    found = []
    for text in texts(html):
        plain = re.sub("[\x02\x03]", "", text.text)
        for match in _HALF_WIDTH.finditer(plain):
            mark = match["a"] or match["b"] or "()"
            found.append((mark, plain[max(0, match.start() - 6) : match.end() + 6].replace(NUMBER, "…").strip()))
    return found


def hyphens(html: str) -> list[str]:
    """Words around a hyphen that stands for minus before a digit. `html` is the finished page."""
    found = []
    for text in texts(html):
        plain = re.sub("[\x02\x03]", "", text.text)
        found += [plain[max(0, m.start() - 8) : m.end() + 8].strip() for m in _HYPHEN.finditer(plain)]
    return found


# ---- back to the source

_NO_PROSE = (
    re.compile(r"^(?P<indent>[ \t>]*)(?P<fence>`{3,}|~{3,})[^\n]*\n.*?^[ \t>]*(?P=fence)[`~]*[ \t]*$", re.M | re.S),
    re.compile(r"(?<![`\\])(`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)\1(?!`)", re.S),
    re.compile(r"<!--.*?-->", re.S),
    re.compile(r"\{[#.:][^}\n]*\}"),
    re.compile(r"\]\([^)\s]*"),
    re.compile(r"^[ \t>]*\d+[.)](?=[ \t])", re.M),
    re.compile(r"<[a-zA-Z/][^<>]*>"),
)


class Source:
    """The page's source with everything blanked that is no prose, to find the line of a finding."""

    def __init__(self, markdown: str, fragments: Iterable[str], names: Iterable[str] = (), first_line: int = 1):
        text = markdown
        for pattern in _NO_PROSE[:2]:
            text = pattern.sub(_spaces, text)
        for fragment in fragments:
            text = text.replace(fragment, _spaces_of(fragment))
        for pattern in _NO_PROSE[2:-1]:
            text = pattern.sub(_spaces, text)
        self.text = text
        # Attributes are searched too, so tags stay; but what is allowed anywhere is no finding.
        self.without_allowed = _allowed(names).sub(_spaces, text)
        self.first_line = first_line
        self._next: dict[str, int] = {}

    def line_of_number(self, number: str) -> int:
        """The next line that holds this number; findings come in the order of the page."""
        pattern = re.compile(rf"(?<![\d.]){re.escape(number)}(?!\d)")
        found = pattern.search(self.without_allowed, self._next.get(number, 0)) or pattern.search(self.without_allowed)
        if found is None:
            return self.first_line
        self._next[number] = found.end()
        return self._line(found.start())

    def line_of(self, words: str) -> int:
        """The line of some words as they stand on the page; what stands for a number matches anything."""
        parts = [re.escape(part.strip()) for part in re.split("…", words) if part.strip()]
        found = re.search(r"[\s\S]{0,80}?".join(parts), self.text) if parts else None
        return self._line(found.start()) if found else self.first_line

    def _line(self, position: int) -> int:
        return self.first_line + self.text.count("\n", 0, position)


def _spaces(match: re.Match[str]) -> str:
    return _spaces_of(match[0])


def _spaces_of(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def prose(
    html: str, source: Source, names: Iterable[str] = (), names_from: str = "the notation page", numbers: bool = True
) -> Iterator[tuple[int, str]]:
    """(line, message) for a page's text as Markdown made it, tokens still in place."""
    for number, around in digits(html, names) if numbers else ():
        yield (
            source.line_of_number(number),
            f"the number {number} typed in «{around}»; show it from the lesson ({{{{ num(x) }}}}), write it in words,"
            f" or list the name it belongs to in {names_from}",
        )
    for mark, around in half_width(html):
        yield source.line_of(around), f"half-width {mark} in Chinese text, «{around}»; write the full-width mark"
