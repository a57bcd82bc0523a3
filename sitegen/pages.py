"""One page: from Markdown with expressions and formulas to HTML with numbers and MathML.

Expressions and formulas are taken out before Markdown sees them and replaced by tokens of private-use characters;
the HTML goes in afterwards. So Markdown cannot bend a formula, a table cell may hold a `|` in one, headings keep
their ids, and where a token ends up (text, attribute, code) decides what is put there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape, unescape
from typing import Any

from pymdownx.arithmatex import RE_BRACKET_BLOCK, RE_BRACKET_INLINE, RE_DOLLAR_BLOCK, RE_SMART_DOLLAR_INLINE

from sitegen.components import Html
from sitegen.maths import Formula, FormulaError
from sitegen.page import elements
from sitegen.page.display import Shown, ShownList, ShownTable
from sitegen.page.evaluate import ExpressionError, entry_expression, evaluate, names_in
from sitegen.page.lesson import Lesson
from sitegen.page.provenance import Provenance
from sitegen.problems import Problem

# A token: U+E000, the number in U+E010…U+E019, U+E001. Nothing in it is a word character, so slugs drop it whole.
_TOKEN = re.compile("\ue000([\ue010-\ue019]+)\ue001")
_PRIVATE = re.compile("[\ue000-\ue019]")

_FENCE = re.compile(r"^(?P<indent>[ \t>]*)(?P<fence>`{3,}|~{3,})[^\n]*\n.*?^[ \t>]*(?P=fence)[`~]*[ \t]*$", re.M | re.S)
_CODE_SPAN = re.compile(r"(?<![`\\])(`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)\1(?!`)", re.S)
_BLOCK_FORMULA = re.compile(
    rf"^(?P<lead>[ \t>]*(?:[-*+][ \t]+|\d+\.[ \t]+)?)(?:{RE_DOLLAR_BLOCK}|{RE_BRACKET_BLOCK})[ \t]*$", re.M | re.S
)
# A $ right after a digit or letter is a price, "10$", and opens nothing.
_INLINE_FORMULA = re.compile(rf"(?<![0-9A-Za-z])(?:{RE_SMART_DOLLAR_INLINE}|{RE_BRACKET_INLINE})", re.S)
_EXPRESSION = re.compile(r"\{\{[ \n](?P<expression>(?:(?!\}\}|\n[ \t]*\n).)+?)[ \n]\}\}", re.S)

_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_VERBATIM = re.compile(r"<!--.*?-->|<(pre|code|script|style|textarea)\b.*?</\1\s*>", re.S | re.I)
_TAG = re.compile(r"<[a-zA-Z/][^<>\"']*(?:\"[^\"]*\"[^<>\"']*|'[^']*'[^<>\"']*)*>")
_CODE = re.compile(r"\s*code\(\s*[\"']([\w.]+)[\"']")
# Browsers may break a line between a formula and the punctuation beside it; no line begins with 「，」 or ends with 「（」.
_BESIDE_FORMULA = re.compile(
    "[（「『《]?<math(?![^>]*display=)(?:(?!</math>).)*</math>[，。、；：？！）」』》]+|[（「『《]<math(?![^>]*display=)(?:(?!</math>).)*</math>",
    re.S,
)
_ALONE = re.compile(r"<p>\s*(\ue000[\ue010-\ue019]+\ue001)\s*</p>")


@dataclass(frozen=True)
class Fragment:
    """An expression or a formula as it stands in the source."""

    kind: str  # "expression", "formula", "display formula"
    source: str  # with its delimiters
    content: str
    line: int


@dataclass
class Page:
    """A page on its way. `names` is what expressions see besides the display functions and components."""

    markdown: str
    file: str
    first_line: int = 1
    names: Mapping[str, Any] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    provenance: Provenance | None = None
    lesson: Lesson | None = None
    quizzes: list[Any] = field(default_factory=list)  # sitegen.quiz.Block: the questions of the page
    references: Any = None  # sitegen.sources.References: what the page cites
    lesson_file: str = ""
    numbers_file: str = ""  # what the numbers say when asked (sitegen/numbers.py), as an address of the site
    files: dict[str, bytes] = field(default_factory=dict)  # what its labs fetch, by address
    lesson_broken: bool = False  # its own problems are reported; "no name …" after them would only hide them
    constants: frozenset[str] = frozenset()
    constants_from: str = "the notation page"
    problems: list[Problem] = field(default_factory=list)
    fragments: list[Fragment] = field(default_factory=list)
    _values: dict[int, Any] = field(default_factory=dict)

    # ---- before Markdown

    def tokenised(self) -> str:
        """The source with a token in place of every expression and formula; code stays as it is."""
        text = _PRIVATE.sub("", self.markdown)
        kept: list[tuple[int, int]] = []  # spans of code
        for pattern in (_FENCE, _CODE_SPAN):
            kept += [m.span() for m in pattern.finditer(text) if not _inside(m.start(), kept)]
        found: list[tuple[int, int, Fragment]] = []
        taken = list(kept)
        for kind, pattern in (
            ("display formula", _BLOCK_FORMULA),
            ("formula", _INLINE_FORMULA),
            ("expression", _EXPRESSION),
        ):
            for match in _in_paragraphs(pattern, text):
                start = match.end("lead") if kind == "display formula" else match.start()
                content = _content(match, kind)
                if content is None or _overlaps(start, match.end(), taken):
                    continue
                line = self.first_line + text.count("\n", 0, start)
                found.append((start, match.end(), Fragment(kind, text[start : match.end()], content, line)))
                taken.append((start, match.end()))
        pieces, end = [], 0
        for start, stop, fragment in sorted(found, key=lambda item: item[0]):
            pieces += [text[end:start], _token(len(self.fragments))]
            self.fragments.append(fragment)
            end = stop
        return "".join([*pieces, text[end:]])

    # ---- after Markdown

    def finished(self, html: str) -> str:
        """The HTML that Markdown made, with everything in its place. Problems are collected."""
        html = _ALONE.sub(lambda m: self._paragraph(_index(m[1])), html)
        pieces, end = [], 0
        for part in _VERBATIM.finditer(html):
            pieces += [self._filled(html[end : part.start()]), self._restored(part[0])]
            end = part.end()
        html = "".join([*pieces, self._filled(html[end:])])
        html = re.sub(r"<th([^>]*)>\s*</th>", r"<td\1></td>", html)  # an empty corner is no header
        html = _BESIDE_FORMULA.sub(r'<span class="together">\g<0></span>', html)
        self._report_leftovers(html)
        return html

    def plain(self, text: str) -> str:
        """Text for an attribute or a title, escaped, with tokens as plain text."""
        return _TOKEN.sub(lambda m: escape(self._text(_index(m[0]))), text)

    def rich(self, text: str) -> str:
        """A heading for the table of contents: numbers as text, formulas as MathML."""
        return _TOKEN.sub(lambda m: self._title_html(_index(m[0])), text)

    def report(self, line: int, message: str) -> None:
        problem = Problem(self.file, line, message)
        if problem not in self.problems:
            self.problems.append(problem)

    def formulas_of_functions(self) -> dict[str, list[int]]:
        """Function → the display formulas it computes, by their place on the page: those that stand before its code
        under the same heading."""
        headings = [self.first_line + i for i, line in enumerate(self.markdown.splitlines()) if line.startswith("#")]
        found: dict[str, list[int]] = {}
        waiting: list[tuple[int, int]] = []  # (line, place on the page)
        place = 0
        for fragment in self.fragments:
            if fragment.kind == "display formula":
                waiting.append((fragment.line, place))
                place += 1
            elif named := _CODE.match(fragment.content):
                start = max([line for line in headings if line <= fragment.line], default=0)
                found[named[1]] = [place for line, place in waiting if line >= start]
                waiting.clear()
        return found

    # ---- what a token becomes

    def _filled(self, html: str) -> str:
        if "\ue000" not in html:
            return html
        html = _TAG.sub(lambda m: self.plain(m[0]) if "\ue000" in m[0] else m[0], html)
        pieces, end = [], 0
        for match in _TOKEN.finditer(html):
            before = html[: match.start()]
            in_paragraph = before.rfind("<p>") > before.rfind("</p>")
            pieces += [html[end : match.start()], self._html(_index(match[0]), alone=not in_paragraph)]
            end = match.end()
        return "".join([*pieces, html[end:]])

    def _restored(self, html: str) -> str:
        """Code and comments show the source."""
        return _TOKEN.sub(lambda m: escape(self.fragments[_index(m[0])].source, quote=False), html)

    def _paragraph(self, index: int) -> str:
        """A token that has a paragraph to itself: blocks take its place, numbers stay in it."""
        html = self._html(index, alone=True)
        return html if re.match(r"<(?!data|span|math|code|a\b|em|strong)", html) else f"<p>{html}</p>"

    def _html(self, index: int, alone: bool) -> str:
        fragment = self.fragments[index]
        if fragment.kind != "expression":
            markup = self._mathml(fragment)
            if fragment.kind == "formula":
                return markup
            if not alone:
                self.report(fragment.line, "a display formula stands in a paragraph of its own")
            return f'<div class="formula">{markup}</div>'
        value = self._value(index)
        if value is None:
            return f"<code>{escape(fragment.source, quote=False)}</code>"
        if isinstance(value, str):
            return escape(value, quote=False)
        if isinstance(value, (Html, ShownTable)) and not alone and (isinstance(value, ShownTable) or value.block):
            self.report(fragment.line, f"{fragment.source} is a block; let it stand alone in a paragraph")
        if isinstance(value, Html):
            return value.html
        return elements.to_html(self._tree(fragment, value))

    def _title_html(self, index: int) -> str:
        fragment = self.fragments[index]
        return escape(self._text(index)) if fragment.kind == "expression" else self._mathml(fragment)

    def _text(self, index: int) -> str:
        fragment = self.fragments[index]
        if fragment.kind != "expression":
            return Formula(fragment.content).lines[0]
        value = self._value(index)
        return fragment.source if value is None else value if isinstance(value, str) else value.text

    def _tree(self, fragment: Fragment, value: Shown | ShownList | ShownTable) -> elements.Tree:
        text = " ".join(fragment.content.split())

        def expression_of(path: str) -> str:
            return entry_expression(text, path) if path else text

        experiment = self.provenance is not None and self.provenance.reaches_experiment(text)
        return elements.shown_tree(value, expression_of, "experiment" if experiment else "")

    def _value(self, index: int) -> Any:
        """The expression's value, computed once, or None after reporting why there is none."""
        if index not in self._values:
            self._values[index] = self._evaluated(self.fragments[index])
        return self._values[index]

    def _evaluated(self, fragment: Fragment) -> Any:
        if self.lesson_broken:
            return None
        text = " ".join(fragment.content.split())
        try:
            value = evaluate(text, {**self.names, **self.functions}, self.lesson_file or "this page, which has no lesson")
            if isinstance(value, (Shown, ShownList, ShownTable)):
                if names_in(text).isdisjoint(self.names):
                    raise ExpressionError("a number typed into the page has no origin; name it in the lesson")
                self._tree(fragment, value)
            elif isinstance(value, str):
                if re.search(r"\d", value) and names_in(text).isdisjoint(self.names):
                    raise ExpressionError("a number typed into the page has no origin; name it in the lesson")
            elif not isinstance(value, Html):
                raise ExpressionError(_bare(text, value))
            return value
        except ExpressionError as error:
            self.report(fragment.line, f"{{{{ {text} }}}}: {error}")
            return None

    def _mathml(self, fragment: Fragment) -> str:
        formula = Formula(fragment.content, fragment.kind == "display formula")
        for number in formula.digits_beyond(self.constants):
            self.report(
                fragment.line,
                f"the number {number} in the formula {formula.lines[0]!r}; formulas are symbolic: write a symbol, show"
                f" a worked line with vec(…) or mat(…), or list the constant with its source in {self.constants_from}",
            )
        try:
            return formula.mathml()
        except FormulaError as error:
            self.report(fragment.line, f"bad formula: {error}")
            return f"<code>{escape(fragment.source, quote=False)}</code>"

    # ---- what should not be left

    def _report_leftovers(self, html: str) -> None:
        """Signs of an expression or a formula that was not recognised."""
        if _PRIVATE.search(html):
            self.report(self.first_line, "a placeholder of the generator was left in the page; please report this")
        visible = unescape(_TAG.sub("", _VERBATIM.sub("", re.sub(r"<math\b.*?</math>", "", html, flags=re.S))))
        braces = "write expressions with a space inside the braces, {{ num(x) }}, or put the braces into code"
        formula = "a display formula stands in a paragraph of its own, between $$ and $$"
        for sign, advice in (("{{", braces), ("}}", braces), ("$$", formula)):
            if sign in visible and not (sign == "}}" and "{{" in visible):
                self.report(self._line_of(sign), f"a leftover {sign} in the text; {advice}")

    def _line_of(self, sign: str) -> int:
        """The first source line outside code that holds `sign` and no recognised fragment explains it."""
        blank = self.markdown
        for pattern in (_FENCE, _CODE_SPAN):
            blank = pattern.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), blank)
        for fragment in self.fragments if "{" in sign or "}" in sign else ():
            blank = blank.replace(fragment.source, re.sub(r"[^\n]", " ", fragment.source))
        position = blank.find(sign)
        return self.first_line + (self.markdown.count("\n", 0, position) if position >= 0 else 0)


def _bare(text: str, value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return f"{value!r} is nothing to show"
    if isinstance(value, (int, float)) or getattr(value, "shape", None) == ():
        plain = value.item() if hasattr(value, "item") else value
        return f"a bare number, {plain!r}; say how it is shown, as in num({text}, 2) or count({text})"
    if hasattr(value, "shape") or isinstance(value, (list, tuple)):
        return f"a bare array or list; show it with vec({text}, 2) or mat({text}, 2)"
    return f"{type(value).__name__} cannot be shown; use num, pct, sci, count, vec, mat, seq or a component"


def _content(match: re.Match[str], kind: str) -> str | None:
    groups = match.groupdict()
    if kind == "expression":
        return groups["expression"]
    if kind == "display formula":
        return groups.get("math") or groups.get("math2") or groups.get("math3")
    unnamed = match.groups()
    return unnamed[2] or (unnamed[5] if len(unnamed) > 5 else None)


def _in_paragraphs(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Matches that stay within a paragraph: a price in one and a price in the next are no formula."""
    start = 0
    for gap in [*_BLANK_LINE.finditer(text), None]:
        end = gap.start() if gap else len(text)
        yield from pattern.finditer(text, start, end)
        start = gap.end() if gap else end


def _token(index: int) -> str:
    return "\ue000" + "".join(chr(0xE010 + int(digit)) for digit in str(index)) + "\ue001"


def _index(token: str) -> int:
    return int("".join(str(ord(c) - 0xE010) for c in token[1:-1]))


def _inside(position: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= position < end for start, end in spans)


def _overlaps(start: int, end: int, spans: list[tuple[int, int]]) -> bool:
    return any(start < e and s < end for s, e in spans)
