"""Questions in Markdown, between a line that starts with `:::` and a line that is `:::`.

    ::: quiz 想一想 {#own-share}
    「借」里的自己还有多少？

    ( ) {{ pct(guess) }}
    :   漏算了绕回来的份额。

    (x) {{ pct(share) }}
    :   把表真的用了三遍。
    :::

`( )` and `(x)` are the options of a single choice, `[ ]` and `[x]` of a multiple one; `(=)` is a number to be typed and
`(~)` a number that a usual slip gives. Each has its explanation after `:`, indented by four where it goes on.
`::: predict` asks before showing: what stands after a line `+++` is hidden until the reader commits or skips.
`::: worked` is a worked example: text, and `(=)` where the reader takes a step. `::: warmup` lists questions of earlier
articles, `02-self-attention.md#scale`, one a line. In the braces: the id (a reader's progress is kept under it),
`.compute`, `.lab`, `.recall` for what a question asks, `tolerance=0.02` for a typed number.

In the page a question is <quiz-item>; without JavaScript its answer is folded. Counts are held by `problems_of`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, SubElement

from markdown import Markdown
from markdown.blockprocessors import BlockProcessor
from markdown.extensions import Extension

KINDS = ("quiz", "predict", "worked", "warmup")
OUTSIDE = ("check", "sources", "next")  # ids of the sections that need no question of their own
WARMUPS = 3
CHECK = range(4, 7)
A_SECTION = range(1, 4)
OPTIONS = 3

_OPEN = re.compile(
    r"^:::[ \t]+(?P<kind>\w+)[ \t]*(?P<title>[^{\n]*?)[ \t]*(?:\{(?P<attributes>[^}\n]*)\})?[ \t]*$", re.M
)
_CLOSE = re.compile(r"^:::[ \t]*$", re.M)
_OPTION = re.compile(r"^(?:\((?P<one>[ x=~])\)|\[(?P<many>[ x])\])[ \t]+(?P<text>.*)$")
_WHY = re.compile(r"^:[ \t]{1,3}(?P<text>.*)$")
_RESULT = re.compile(r"^\+\+\+[ \t]*$")
_FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,})[^\n]*\n.*?^(?P=fence)[`~]*[ \t]*$", re.M | re.S)
_SECTION = re.compile(r"^##[ \t]+(?P<title>.*?)[ \t]*(?:\{[^}]*?#(?P<id>[\w-]+)[^}]*\})?[ \t]*$", re.M)


@dataclass
class Option:
    """One answer and why. `mark`: " " wrong, "x" right, "=" the number wanted, "~" the number of a slip."""

    mark: str
    text: str
    many: bool
    why: list[str] = field(default_factory=list)
    line: int = 0

    @property
    def right(self) -> bool:
        return self.mark in "x="


@dataclass
class Block:
    """One block: its parts in order, each Markdown text or a group of options; what stands after +++."""

    kind: str
    title: str
    id: str
    flags: frozenset[str]
    tolerance: str
    line: int = 0
    parts: list[list[str] | list[Option]] = field(default_factory=list)
    result: list[str] | None = None

    @property
    def groups(self) -> list[list[Option]]:
        return [part for part in self.parts if part and isinstance(part[0], Option)]

    @property
    def computes(self) -> bool:
        return "compute" in self.flags or any(option.mark == "=" for group in self.groups for option in group)


def read(text: str, line: int = 0) -> Block:
    """A block's source without its closing line."""
    first, *lines = text.split("\n")
    opening = _OPEN.match(first)
    assert opening is not None
    attributes = (opening["attributes"] or "").split()
    block = Block(
        opening["kind"],
        opening["title"].strip(),
        next((a[1:] for a in attributes if a.startswith("#")), ""),
        frozenset(a[1:] for a in attributes if a.startswith(".")),
        next((a.removeprefix("tolerance=") for a in attributes if a.startswith("tolerance=")), ""),
        line,
    )
    option: Option | None = None
    for number, row in enumerate(lines, line + 1):
        last = block.parts[-1] if block.parts else None
        if block.result is not None:
            block.result.append(row)
        elif _RESULT.match(row):
            block.result, option = [], None
        elif match := _OPTION.match(row):
            option = Option((match["one"] or match["many"]), match["text"], match["many"] is not None, [], number)
            if last and isinstance(last[0], Option):
                last.append(option)
            else:
                block.parts.append([option])
        elif option and not option.why and (match := _WHY.match(row)):
            option.why = [match["text"]]
        elif option and option.why and (not row.strip() or row.startswith("    ")):
            option.why.append(row[4:])
        elif option and not option.why and row.strip():
            option.text += " " + row.strip()
        elif option and not row.strip():
            continue
        else:
            option = None
            if last is None or isinstance(last[0], Option):
                block.parts.append([])
            block.parts[-1].append(row)  # type: ignore[arg-type]
    return block


def blocks_of(markdown: str, first_line: int = 1) -> tuple[list[Block], list[tuple[int, str]]]:
    """The blocks of a page's source, and (line, message) for those that cannot be read."""
    text = _FENCE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), markdown)
    found: list[Block] = []
    problems: list[tuple[int, str]] = []
    position = 0
    while opening := re.compile(r"^:::.*$", re.M).search(text, position):
        line = first_line + text.count("\n", 0, opening.start())
        position = opening.end()
        header = _OPEN.match(opening[0])
        if header is None or header["kind"] not in KINDS:
            problems.append((line, f"{opening[0].strip()!r} opens nothing; write ::: and one of {', '.join(KINDS)}"))
            continue
        if text[: opening.start()].strip() and not re.search(r"\n[ \t]*\n$", text[: opening.start()]):
            problems.append((line, "leave a blank line before :::"))
        closing = _CLOSE.search(text, position)
        if closing is None:
            problems.append((line, f"::: {header['kind']} is not closed; end it with a line :::"))
            break
        found.append(read(markdown[opening.start() : closing.start()].rstrip("\n"), line))
        position = closing.end()
    return found, problems


# ---- what must hold


def faults(blocks: Iterable[Block]) -> Iterator[tuple[int, str]]:
    """(line, message) for blocks that no reader could use, on any page."""
    seen: dict[str, int] = {}
    for block in blocks:
        if block.kind == "warmup":
            continue
        if not block.id:
            yield block.line, "give the question an id, {#name}: a reader's progress is kept under it"
        elif block.id in seen:
            yield block.line, f"the id {block.id!r} belongs to the question in line {seen[block.id]} already"
        seen.setdefault(block.id, block.line)
        if block.kind in ("quiz", "predict") and len(block.groups) != 1:
            yield block.line, "a question has one group of options: ( ) and (x), [ ] and [x], or (=) and (~)"
        if block.kind == "predict" and not any(line.strip() for line in block.result or ()):
            yield block.line, "::: predict hides what stands after a line +++; nothing stands there"
        if block.kind != "predict" and block.result is not None:
            yield block.line, "a line +++ belongs to ::: predict only"
        for group in block.groups:
            yield from _faults_of(group, block)


def _faults_of(group: Sequence[Option], block: Block) -> Iterator[tuple[int, str]]:
    marks = [option.mark for option in group]
    if block.tolerance and not re.fullmatch(r"\d+(\.\d+)?%?", block.tolerance):
        yield block.line, f"tolerance={block.tolerance} is no number; write tolerance=0.02 or tolerance=1%"
    for option in group:
        if option.mark in ("=", "~") and "{{" not in option.text:
            yield option.line, "a typed number is an expression, as in {{ num(x, 2) }}"
        if not any(line.strip() for line in option.why):
            yield option.line, "say why: every option has its own explanation, on a line that starts with `:`"
    if "=" in marks or "~" in marks:
        if marks.count("=") != 1 or set(marks) - {"=", "~"}:
            yield group[0].line, "a typed number has one (=) and any number of (~)"
    elif block.kind == "worked":
        yield group[0].line, "a step of a worked example is typed: (=), and (~) for slips"
    elif len({option.many for option in group}) > 1:
        yield group[0].line, "( ) and [ ] do not go together"
    elif group[0].many:
        if len(set(marks)) < 2:
            yield group[0].line, "a multiple choice needs right options, [x], and wrong ones, [ ]"
    elif marks.count("x") != 1:
        yield group[0].line, f"a single choice has one right option, (x); here are {marks.count('x')}"


def counts(markdown: str, blocks: Sequence[Block], first_line: int = 1) -> Iterator[tuple[int, str]]:
    """(line, message) where an article's questions are too few or too many. An article is a page with {#check}."""
    text = _FENCE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), markdown)
    sections = [
        (first_line + text.count("\n", 0, m.start()), m["id"] or "", m["title"]) for m in _SECTION.finditer(text)
    ]
    if "check" not in [name for _, name, _ in sections]:
        return
    asked = [block for block in blocks if block.kind in ("quiz", "predict")]
    for place, (line, name, title) in enumerate(sections):
        end = sections[place + 1][0] if place + 1 < len(sections) else 10**9
        here = [block for block in asked if line < block.line < end]
        if name == "check":
            if len(here) not in CHECK:
                yield line, f"{len(here)} questions to check with; from {CHECK[0]} to {CHECK[-1]}"
            if not any(block.computes for block in here):
                yield line, "no question asks for a calculation: (=), or .compute on one with options"
            if not any("lab" in block.flags for block in here):
                yield line, "no question needs the lab: mark the one that does with .lab"
        elif name not in OUTSIDE and len(here) not in A_SECTION:
            yield line, f"section {title!r} has {len(here)} questions; from {A_SECTION[0]} to {A_SECTION[-1]}"
    for block in asked:
        if block.groups and block.groups[0][0].mark in " x" and len(block.groups[0]) != OPTIONS:
            yield block.line, f"{len(block.groups[0])} options; a question has {OPTIONS}"
    recall = [block for block in asked if "recall" in block.flags]
    if len(recall) * 5 > len(asked):
        yield recall[-1].line, f"{len(recall)} of {len(asked)} questions only recall; at most one in five"
    worked = [block for block in blocks if block.kind == "worked"]
    opened = [len(block.groups) for block in worked]
    if opened != [0, 1, 2] * (len(worked) // 3):
        yield (
            worked[0].line,
            f"worked examples come in threes: complete, last step open, last two open; here the open steps are {opened}",
        )


def references(block: Block) -> list[tuple[str, str]]:
    """(page, id) of the questions a warm-up asks again."""
    rows = [str(row).strip("- \t") for part in block.parts for row in part]
    return [(page, name) for page, _, name in (row.partition("#") for row in rows if row)]


def warmups(blocks: Sequence[Block], earlier: Mapping[str, Iterable[str]], line: int) -> Iterator[tuple[int, str]]:
    """(line, message) about an article's warm-up. `earlier`: page → ids of its questions, for articles before this one."""
    named = [(block.line, ref) for block in blocks if block.kind == "warmup" for ref in references(block)]
    for at, (page, name) in named:
        if page not in earlier:
            yield at, f"{page}#{name}: no earlier article {page!r}; there are {', '.join(earlier) or 'none'}"
        elif name not in earlier[page]:
            yield at, f"{page}#{name}: no question {name!r} there; there are {', '.join(earlier[page]) or 'none'}"
    with_questions = [page for page, ids in earlier.items() if ids]
    if not with_questions:
        return
    if len(named) != WARMUPS:
        yield line, f"{len(named)} warm-up questions from earlier articles; ::: warmup lists {WARMUPS}"
    wanted = min(2, len(with_questions))
    if named and len({page for _, (page, _) in named}) < wanted:
        yield named[0][0], f"the warm-up questions come from one article; take them from {wanted} at least"


# ---- into the page


class QuizExtension(Extension):
    """For Python-Markdown; `words` are the generator's own in the language of the site."""

    def __init__(self, words: Mapping[str, str] | None = None, **settings: object):
        self.words = dict(words or {})
        super().__init__(**settings)

    def extendMarkdown(self, md: Markdown) -> None:
        md.parser.blockprocessors.register(QuizBlocks(md.parser, self.words), "sitegen-quiz", 105)


def makeExtension(**settings: object) -> QuizExtension:
    return QuizExtension(**settings)  # type: ignore[arg-type]


class QuizBlocks(BlockProcessor):
    def __init__(self, parser: object, words: Mapping[str, str]):
        super().__init__(parser)
        self.words = words

    def test(self, parent: Element, block: str) -> bool:
        opening = _OPEN.match(block)
        return opening is not None and opening["kind"] in KINDS

    def run(self, parent: Element, blocks: list[str]) -> bool:
        taken: list[str] = []
        while blocks:
            block = blocks.pop(0)
            if closing := _CLOSE.search(block):
                taken.append(block[: closing.start()].rstrip("\n"))
                if rest := block[closing.end() :].strip("\n"):
                    blocks.insert(0, rest)
                break
            taken.append(block)
        found = read("\n\n".join(taken))
        {"worked": self._worked, "warmup": self._warmup}.get(found.kind, self._quiz)(parent, found)
        return True

    def _parse(self, parent: Element, lines: Sequence[object]) -> None:
        text = "\n".join(str(line).rstrip() for line in lines).strip("\n")
        if text:
            self.parser.parseBlocks(parent, re.split(r"\n{2,}", text))

    def _quiz(self, parent: Element, block: Block) -> None:
        item = self._item(parent, block, block.groups[0] if block.groups else [], block.id)
        if block.result is not None:
            item.set("data-predict", "")
            result = SubElement(item, "div", {"class": "quiz-result"})
            self._parse(result, block.result)

    def _item(
        self, parent: Element, block: Block, group: Sequence[Option], name: str, question: bool = True
    ) -> Element:
        number = any(option.mark == "=" for option in group)
        kind = "number" if number else "multiple" if group and group[0].many else "single"
        item = SubElement(parent, "quiz-item", {"data-quiz": name, "data-kind": kind, "id": f"q-{name}"})
        if block.flags:
            item.set("data-asks", " ".join(sorted(block.flags)))
        if question:
            SubElement(item, "p", {"class": "quiz-title"}).text = block.title or self.words["quiz_title"]
            asked = SubElement(item, "div", {"class": "quiz-question"})
            for part in block.parts:
                if part and not isinstance(part[0], Option):
                    self._parse(asked, part)
        if block.tolerance and number:
            item.set("data-tolerance", block.tolerance)
        if not number:
            self._options(item, group, kind, name)
        answer = SubElement(item, "details", {"class": "quiz-answer", "data-search-exclude": ""})
        SubElement(answer, "summary").text = self.words["quiz_answer"]
        for place, option in enumerate(group):
            self._why(answer, option, place, number)
        return item

    def _options(self, item: Element, group: Sequence[Option], kind: str, name: str) -> None:
        role = "group" if kind == "multiple" else "radiogroup"
        options = SubElement(item, "div", {"class": "quiz-options", "role": role, "data-search-exclude": ""})
        for place, option in enumerate(group):
            label = SubElement(options, "label", {"class": "quiz-option"})
            control = "checkbox" if kind == "multiple" else "radio"
            SubElement(label, "input", {"type": control, "name": f"q-{name}", "value": str(place)})
            SubElement(label, "span", {"class": "quiz-letter"}).text = chr(ord("A") + place)
            SubElement(label, "span", {"class": "quiz-text"}).text = option.text

    def _why(self, answer: Element, option: Option, place: int, number: bool) -> None:
        right = "true" if option.right else "false"
        why = SubElement(answer, "div", {"class": "quiz-why", "data-option": str(place), "data-right": right})
        head = SubElement(why, "p", {"class": "quiz-why-head"})
        if number:
            SubElement(head, "span", {"class": "quiz-number"}).text = option.text
        else:
            SubElement(head, "span", {"class": "quiz-letter"}).text = chr(ord("A") + place)
        verdict = "quiz_right_mark" if option.right else "quiz_slip_mark" if number else "quiz_wrong_mark"
        SubElement(head, "span", {"class": "quiz-mark"}).text = self.words[verdict]
        self._parse(why, option.why)

    def _worked(self, parent: Element, block: Block) -> None:
        example = SubElement(parent, "worked-example", {"id": f"q-{block.id}", "data-open": str(len(block.groups))})
        SubElement(example, "p", {"class": "quiz-title"}).text = block.title or self.words["quiz_worked"]
        step = 0
        for part in block.parts:
            if part and isinstance(part[0], Option):
                step += 1
                self._item(example, block, part, f"{block.id}-{step}", question=False)
            else:
                self._parse(SubElement(example, "div", {"class": "worked-step"}), part)

    def _warmup(self, parent: Element, block: Block) -> None:
        places = " ".join(f"{page}#{name}" for page, name in references(block))
        warmup = SubElement(parent, "div", {"class": "quiz-warmup", "data-warmup": places})
        SubElement(warmup, "p", {"class": "quiz-title"}).text = block.title or self.words["quiz_warmup"]


# ---- over the whole page, and between pages


def problems_of(markdown: str, first_line: int = 1, article: bool = True) -> tuple[list[Block], list[tuple[int, str]]]:
    """A page's blocks, and everything about them that has to be mended; `article`: the counts hold as well."""
    blocks, problems = blocks_of(markdown, first_line)
    problems += faults(blocks)
    if article:
        problems += counts(markdown, blocks, first_line)
    return blocks, problems


_WARMUP = re.compile(r'(<div class="quiz-warmup"[^>]*data-warmup="([^"]*)"[^>]*>.*?)(</div>)', re.S)
_ITEM = re.compile(r"<quiz-item\b[^>]*>.*?</quiz-item>", re.S)
_RELATIVE = re.compile(r'( (?:href|src)=")(?!/|[a-z][a-z0-9+.-]*:)([^"]*)')
_IDS = re.compile(r' id="[nq]-[^"]*"')


def question(html: str, name: str, address: str) -> str:
    """The question of this id in a finished page, without ids, so that it can stand on another page as well; its links
    and pictures lead on from `address`, the way from there to the page they were written for."""

    def moved(match: re.Match[str]) -> str:
        away = address if match[2].startswith("#") else address[: address.rfind("/") + 1]
        return match[1] + away + match[2]

    for match in _ITEM.finditer(html):
        if f'data-quiz="{name}"' in match[0].split(">", 1)[0]:
            return _RELATIVE.sub(moved, _IDS.sub("", match[0]).replace(f'"q-{name}"', f'"q-warm-{name}"'))
    return ""


def with_warmups(html: str, asked: Callable[[str, str], str]) -> str:
    """The page with its warm-up questions in place; `asked(page, id)` gives one, wrapped for this page."""

    def filled(match: re.Match[str]) -> str:
        questions = [asked(*place.split("#", 1)) for place in match[2].split()]
        return match[1] + "".join(questions) + match[3]

    return _WARMUP.sub(filled, html)
