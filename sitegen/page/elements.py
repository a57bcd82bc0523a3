"""Element trees: ["div", {"class": "x"}, child, …], where a child is a tree or a string.

The same tree is printed to HTML by the build and patched into the page by `browser/patch.js`. Attribute values and
texts are strings only: Python writes 1e-05 where JavaScript writes 1e-5, so numbers are formatted here, once.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from sitegen.page import display

Tree = list[Any]  # [tag, attributes, *children]

VOID = frozenset({"br", "hr", "img", "input"})
TAGS = VOID | frozenset(
    "a abbr b caption code data div em figcaption figure h4 label li ol output p pre section small span strong sub sup"
    " table tbody td th thead tr ul svg g path rect circle line text title desc".split()
)


class TreeError(ValueError):
    """A value that is no element tree; the message says where."""


def element(tag: str, attributes: dict[str, str] | None = None, *children: Tree | str) -> Tree:
    return [tag, attributes or {}, *children]


def check_tree(tree: Any, where: str = "tree") -> None:
    """Raise TreeError unless `tree` is an element tree made of strings."""
    if isinstance(tree, str):
        return
    if not isinstance(tree, list) or len(tree) < 2 or not isinstance(tree[0], str) or not isinstance(tree[1], dict):
        raise TreeError(f"{where} must be [tag, attributes, *children] or a string, not {tree!r:.80}")
    tag, attributes, *children = tree
    if tag not in TAGS:
        raise TreeError(f"{where}: <{tag}> is not one of the elements a tree may hold")
    for name, value in attributes.items():
        if not isinstance(value, str):
            raise TreeError(f"{where}: attribute {name} of <{tag}> must be a string, not {value!r}")
        if not re.fullmatch(r"[a-z][\w:.-]*", name, re.I):
            raise TreeError(f"{where}: {name!r} is no attribute name")
        address = re.sub(r"[\x00-\x20]", "", value).lower() if name.lower() in ("href", "src", "xlink:href") else ""
        foreign = re.match(r"[a-z][a-z0-9+.-]*:", address) and not address.startswith(("http:", "https:", "mailto:"))
        if name.lower().startswith("on") or foreign:
            raise TreeError(f"{where}: <{tag} {name}=…> would run a script")
    for i, child in enumerate(children):
        check_tree(child, f"{where}[{i}]")


def to_html(tree: Tree | str) -> str:
    """The tree as HTML; text stays text."""
    if isinstance(tree, str):
        return escape(tree, quote=False)
    tag, attributes, *children = tree
    opening = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    return f"<{tag}{opening}>" + ("" if tag in VOID else "".join(map(to_html, children)) + f"</{tag}>")


# ---- numbers of a page


def shown_tree(shown: display.AnyShown, expression_of: Any, origin: str = "") -> Tree:
    """A display value as a tree. `expression_of(path)` gives the expression of an entry, "" is the whole."""
    if isinstance(shown, display.Shown):
        return _data(shown, expression_of, origin)
    if isinstance(shown, display.ShownList):
        children: list[Tree | str] = []
        for i, item in enumerate(shown.items):
            children += [shown.between] * (i > 0) + [_data(item, expression_of, origin)]
        return element("span", {"class": "vec"}, shown.before, *children, shown.after)
    head = []
    if shown.column_names:
        corner = [element("td")] if shown.row_names else []
        names = [element("th", {"scope": "col"}, name) for name in shown.column_names]
        head = [element("thead", {}, element("tr", {}, *corner, *names))]
    lines = []
    for i, row in enumerate(shown.rows):
        name = [element("th", {"scope": "row"}, shown.row_names[i])] if shown.row_names else []
        cells = [element("td", {}, _data(item, expression_of, origin)) for item in row]
        lines.append(element("tr", {}, *name, *cells))
    return element("div", {"class": "mat"}, element("table", {}, *head, element("tbody", {}, *lines)))


def _data(item: display.Shown, expression_of: Any, origin: str) -> Tree:
    attributes = {"class": "num", "value": repr(item.value), "data-expr": expression_of(item.path)}
    if item.origin or origin:
        attributes["data-origin"] = origin or item.origin
    return element("data", attributes, item.text)

