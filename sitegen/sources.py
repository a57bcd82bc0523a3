"""Numbered references: `cite("res.cifar20")` gives [1], `sources({"res.origin": "what to read it for"})` the list.

A source is anything with title, authors and year (and where, link); a fact is anything with such a `.source`. A text is
the id of a fact, found through the lesson's own `fact`. Numbers follow the order of first citation, so they are given
last, when the page is whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from sitegen.components import ComponentError, Html, render

MOST_AUTHORS = 4  # more than these are "and others"
_CITED = re.compile(r'href="#ref-" data-cite="(\d+)"(?P<rest>[^>]*)>\?<')
_LIST = "<!--sources-->"


class References:
    """The cited sources of one page, each once, whatever place in it is cited."""

    def __init__(self, names: Mapping[str, Any], words: Mapping[str, str]):
        self.names, self.words = names, words
        self.sources: list[Any] = []
        self.index: dict[tuple[str, int], int] = {}
        self.reasons: dict[int, str] = {}
        self.listed = False

    def functions(self) -> dict[str, Callable[..., Html]]:
        return {"cite": self.cite, "sources": self.list}

    def cite(self, key: Any) -> Html:
        """A reference in running text; the place cited (a section, a table) is its title."""
        source = self._source(key, "cite")
        place = self._place(source)
        title = f"{source.authors} {source.year}, {source.title}" + (f", {w}" if (w := _where(source)) else "")
        html = f'<sup class="cite"><a href="#ref-" data-cite="{place}" title="{escape(title)}">?</a></sup>'
        return Html(html, "", block=False)

    def list(self, reasons: Mapping[Any, str]) -> Html:
        """The list of sources, with the author's line on what to read each for. Cited ones without such a line follow."""
        if self.listed:
            raise ComponentError("sources(…) stands on this page already; one list each")
        if not isinstance(reasons, Mapping):
            raise ComponentError('sources(…) takes {"id of a fact": "what to read it for", …}')
        for key, reason in reasons.items():
            place = self._place(self._source(key, "sources"))
            if place in self.reasons:
                raise ComponentError(f"sources({{{key!r}: …}}): this source has a line already")
            if not str(reason).strip():
                raise ComponentError(f"sources({{{key!r}: …}}): say what to read it for")
            self.reasons[place] = str(reason)
        self.listed = True
        return Html(_LIST, self.words["sources_title"])

    def finished(self, html: str) -> str:
        """The page with the numbers given and the list in its place."""
        order = list(dict.fromkeys([*self.reasons, *(int(m[1]) for m in _CITED.finditer(html))]))
        number = {place: i for i, place in enumerate(order, 1)}

        def numbered(match: re.Match[str]) -> str:
            given = number[int(match[1])]
            return f'href="#ref-{given}" data-cite="{given}"{match["rest"]}>[{given}]<'

        html = _CITED.sub(numbered, html)
        entries = [{"number": number[p], "reason": self.reasons.get(p, ""), **self._shown(p)} for p in order]
        return html.replace(_LIST, render("sources.html", entries=entries, words=self.words))

    def missing(self) -> bool:
        """Cited, but the page has no list to lead to."""
        return bool(self.sources) and not self.listed

    def _shown(self, place: int) -> dict[str, Any]:
        source = self.sources[place]
        authors = [name.strip() for name in re.split(r",\s*", source.authors)]
        names = self.words["sequence_separator"].join(authors)
        if len(authors) > MOST_AUTHORS:
            names = self.words["sources_others"].format(first=authors[0])
        return {"authors": names, "year": source.year, "title": source.title, "link": getattr(source, "link", "")}

    def _place(self, source: Any) -> int:
        key = (source.title, source.year)
        if key not in self.index:
            self.index[key] = len(self.sources)
            self.sources.append(source)
        return self.index[key]

    def _source(self, key: Any, function: str) -> Any:
        if isinstance(key, str):
            find = self.names.get("fact")
            if not callable(find):
                raise ComponentError(f"{function}({key!r}): the lesson imports no fact(…) to find it with")
            try:
                key = find(key)
            except KeyError as error:
                raise ComponentError(f"{function}(…): {error.args[0]}") from None
        source = getattr(key, "source", key)
        if not all(hasattr(source, name) for name in ("title", "authors", "year")):
            raise ComponentError(f"{function}(…) takes a fact, its id, or a source, not {type(key).__name__}")
        return source


def _where(source: Any) -> str:
    return getattr(source, "where", "")
