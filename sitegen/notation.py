"""The notation page: terms, symbols, the constants formulas may hold, the names that contain digits.

The page itself is the data: Markdown tables under headings with the ids `terms`, `symbols`, `constants`, `names`
(the last one a list or a table). Readers see it, the checks and the search dictionary read it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_HEADING = re.compile(r"^#+\s.*\{\s*#([\w-]+)[^}]*\}\s*$")
_ROW = re.compile(r"^\s*\|(.+)\|\s*$")
_ITEM = re.compile(r"^\s*[-*]\s+(.+?)\s*$")


@dataclass(frozen=True)
class Notation:
    terms: tuple[tuple[str, ...], ...] = ()
    symbols: tuple[tuple[str, ...], ...] = ()
    constants: frozenset[str] = frozenset()
    names: frozenset[str] = field(default_factory=frozenset)

    @staticmethod
    def read(markdown: str) -> Notation:
        """Read the page's source; a page without these headings gives an empty notation."""
        tables: dict[str, list[tuple[str, ...]]] = {}
        section, header_seen = "", False
        for line in markdown.splitlines():
            if line.startswith("#"):
                heading = _HEADING.match(line)
                section, header_seen = (heading[1] if heading else ""), False
            elif section and (row := _ROW.match(line)):
                cells = tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", row[1]))
                if all(set(cell) <= set(":- ") for cell in cells):
                    header_seen = True
                elif header_seen:
                    tables.setdefault(section, []).append(cells)
            elif section and (item := _ITEM.match(line)):
                tables.setdefault(section, []).extend((part.strip(),) for part in re.split("[、,，]", item[1]))
        return Notation(
            tuple(tables.get("terms", ())),
            tuple(tables.get("symbols", ())),
            frozenset(number for row in tables.get("constants", ()) for number in re.findall(r"\d+(?:\.\d+)?", row[0])),
            frozenset(row[0].strip("` ") for row in tables.get("names", ()) if row[0].strip("` ")),
        )

    def dictionary(self) -> str:
        """The user dictionary for jieba: one term a line, so that search keeps 层归一化 whole."""
        words = [word for row in self.terms for word in re.split(r"[、/（(]", row[0])[:1]]
        return "".join(f"{word.strip()} 100000\n" for word in words if len(word.strip()) > 1)
