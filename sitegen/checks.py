"""Checks of the built site: what only shows once pages are put together.

Dead links and anchors (raw HTML too), ids that stand twice, pictures without words, files from another host, heading
anchors that count headings, leftovers of the generator. Every finding names the line of the source where it can be found.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from sitegen.page.evaluate import ExpressionError

_LOADS = {"script": ("src",), "link": ("href",), "img": ("src", "srcset"), "source": ("src", "srcset"),
          "iframe": ("src",), "video": ("src", "poster"), "audio": ("src",), "embed": ("src",), "object": ("data",)}  # fmt: skip
_LINKS = {"a": ("href",), "area": ("href",)}
_LINK_KINDS_THAT_LOAD = {"stylesheet", "preload", "modulepreload", "icon", "manifest", "preconnect", "dns-prefetch"}
_ELSEWHERE = re.compile(r"url\(\s*[\"']?((?:https?:)?//[^)\"'\s]+)|@import\s+[\"']((?:https?:)?//[^\"']+)")
_COUNTED = re.compile(r"^(?:.*_)?\d+$")


@dataclass(frozen=True)
class Source:
    """The Markdown of a page: its file as problems name it, its text, and the line its text begins in."""

    file: str
    markdown: str
    first_line: int = 1

    def line_of(self, *signs: str) -> int:
        """The line of the last place that holds the first of these signs to be found."""
        for sign in filter(None, signs):
            if (position := self.markdown.rfind(sign)) >= 0:
                return self.first_line + self.markdown.count("\n", 0, position)
        return self.first_line


@dataclass
class _Scan(HTMLParser):
    """What one page has and wants. Problems are (line in the page, signs to look for in the source, message)."""

    ids: dict[str, int] = field(default_factory=dict)
    links: list[tuple[int, str]] = field(default_factory=list)
    problems: list[tuple[int, tuple[str, ...], str]] = field(default_factory=list)
    _style: bool = False
    _heading: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._style = tag == "style"
        if (name := given.get("id")) is not None:
            self._id(tag, name)
        for attribute in (*_LOADS.get(tag, ()), *_LINKS.get(tag, ())):
            self._address(tag, given.get(attribute, ""), set(given.get("rel", "").split()), attribute in given)
        self._elsewhere(given.get("style", ""))
        if tag == "img" and "alt" not in given:
            src = given.get("src", "")
            self._report((src,), f"the picture {src} has no alt: say in words what it shows, or alt='' for decoration")
        if (
            tag == "svg"
            and given.get("role") == "img"
            and not (given.get("aria-label") or given.get("aria-labelledby"))
        ):
            self._report(("<svg",), "a figure (svg role=img) has no aria-label: say what it shows, with its numbers")

    handle_startendtag = handle_starttag

    def handle_data(self, data: str) -> None:
        if self._style:
            self._elsewhere(data)
        if "\ue000" in data:
            self._report((), "a placeholder of the generator was left in the page; please report this")

    def handle_endtag(self, tag: str) -> None:
        self._style = False

    def _id(self, tag: str, name: str) -> None:
        if name in self.ids:
            twice = (f"id='{name}'", f'id="{name}"', f"#{name}", name)
            self._report(twice, f"the id {name!r} stands twice on this page (line {self.ids[name]})")
        self.ids[name] = self.getpos()[0]
        if re.fullmatch("h[1-6]", tag) and _COUNTED.match(name):
            signs = (re.sub(r"_?\d+$", "", name), name)
            self._report(
                signs, f"the anchor {name!r} depends on the order of headings; give the heading an id, {{#name}}"
            )

    def _address(self, tag: str, address: str, kinds: set[str], given: bool) -> None:
        foreign = address.startswith(("http:", "https:", "//"))
        if foreign and tag not in _LINKS and (tag != "link" or kinds & _LINK_KINDS_THAT_LOAD):
            self._report((address,), f"{address} would be loaded from another host; put the file into docs/")
        elif not foreign and given:
            self.links.append((self.getpos()[0], address.split(" ")[0] if tag in ("img", "source") else address))

    def _elsewhere(self, css: str) -> None:
        for match in _ELSEWHERE.finditer(css):
            address = match[1] or match[2]
            self._report((address,), f"{address} would be loaded from another host; put the file into docs/")

    def _report(self, signs: tuple[str, ...], message: str) -> None:
        self.problems.append((self.getpos()[0], signs, message))


@functools.lru_cache(maxsize=256)  # under serve most pages are as they were
def _scan(html: str) -> _Scan:
    scan = _Scan()
    scan.feed(html)
    return scan


def site(folder: Path, config: Any, sources: Mapping[str, Source] | None = None) -> Iterator[tuple[str, int, str]]:
    """(file, line, message) for every built page. `sources`: page in the site folder → its Markdown; a finding that
    has no line there is named by the page in the site folder."""
    scans: dict[str, _Scan] = {}
    for path in sorted(folder.rglob("*.html")):
        scans[path.relative_to(folder).as_posix()] = _scan(path.read_text(encoding="utf-8"))
    base = urlsplit(getattr(config, "site_url", None) or "").path or "/"
    for page, scan in scans.items():
        source = (sources or {}).get(page)
        problems = [*scan.problems, *_dead(page, scan, scans, folder, base)]
        for line, signs, message in problems:
            known = source is not None and (not signs or any(sign and sign in source.markdown for sign in signs))
            if source is not None and known:
                yield source.file, source.line_of(*signs), message
            else:
                yield f"{folder.name}/{page}", line, message
    for path in sorted(folder.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        for match in _ELSEWHERE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            name = f"{folder.name}/{path.relative_to(folder).as_posix()}"
            yield name, line, f"{match[1] or match[2]} would be loaded from another host; put the file into docs/"


def _dead(
    page: str, scan: _Scan, scans: Mapping[str, _Scan], folder: Path, base: str
) -> Iterator[tuple[int, tuple[str, ...], str]]:
    """Links of a page that lead to no file or no anchor."""
    if page == "404.html":  # answers at any address, so it links from the root, which only the host knows
        return
    for line, address in scan.links:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        path = unquote(urljoin("/" + page, parts.path)) if parts.path else "/" + page
        if parts.path.startswith("/") and path.startswith(base):
            path = "/" + path[len(base) :]
        target = path.lstrip("/")
        target = target + "index.html" if target.endswith("/") or not target else target
        signs = (address, unquote(address), f"#{unquote(parts.fragment)}" if parts.fragment else "")
        if target not in scans:
            if not (folder / target).is_file():
                yield line, signs, f"a link leads nowhere: {unquote(address)}"
            continue
        anchor = unquote(parts.fragment)
        generated = anchor.startswith(("__", ":~:"))  # Material's own, some made by its script
        if anchor and not generated and anchor not in scans[target].ids:
            yield line, signs, f"a link leads to an anchor that is not there: {unquote(address)}"


def unused(
    lesson: Any, expressions: Iterator[str] | list[str], elsewhere: Callable[[str], bool]
) -> list[tuple[int, str]]:
    """(line, name) of public values that no expression, lab or figure rests on. `elsewhere(name)`: another content
    module reads it."""
    provenance = lesson.provenance
    reached = {name for e in expressions for name in _rest_on(provenance, e)}
    labs = [name for name in lesson.labs if name in provenance.binding]
    roots = [*labs, *[n for s in provenance.statements if s.kind == "value" for n in s.names if elsewhere(n)]]
    reached |= {name for root in roots for s in provenance.below([root]) for name in s.names}
    return [
        (s.line, s.names[0])
        for s in provenance.statements
        if s.kind == "value" and not s.names[0].startswith("_") and s.names[0] not in reached
    ]


def unplaced(figures: str, expressions: list[str]) -> list[tuple[int, str]]:
    """(line, name) of figures and explainers, in the source of a figures module, that no page places."""
    placed = {m[1] for e in expressions for m in re.finditer(r"(?:figure|explainer)\(\s*[\"'](\w+)[\"']", e)}
    found = []
    for node in ast.parse(figures).body:
        if isinstance(node, ast.FunctionDef) and node.name not in placed:
            called = [d.func for d in node.decorator_list if isinstance(d, ast.Call)]
            if any(isinstance(f, ast.Name) and f.id in ("figure", "explainer") for f in called):
                found.append((node.lineno, node.name))
    return found


def _rest_on(provenance: Any, expression: str) -> set[str]:
    try:
        return {name for s in provenance.closure(" ".join(expression.split())) for name in s.names}
    except ExpressionError:  # reported where it stands
        return set()
