"""Parts for labs: element trees of a vector, a matrix, bars, tokens with weights, arcs between tokens, a curve.

Each prints its numbers as text: colour and size repeat what is written, they are never the only sign. Coordinates are
decimals rounded by the one rule of `display`, so that build and browser give equal bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from unicodedata import east_asian_width

from sitegen.page import display
from sitegen.page.elements import Tree, element


def vector_strip(values: Sequence[float], digits: int = 2, label: str = "", scale: float | None = None) -> Tree:
    """A vector as a row of cells: the number is printed, hue shows the sign, strength the size against `scale`."""
    largest = scale or max((abs(float(v)) for v in values), default=1.0) or 1.0
    cells = [
        element(
            "span",
            {
                "class": "cell " + ("negative" if float(v) < 0 else "positive"),
                "style": f"--strength:{display.fixed(min(1.0, abs(float(v)) / largest) * 100, 0)}%",
            },
            display.fixed(float(v), digits),
        )
        for v in values
    ]
    name = [element("span", {"class": "part-label"}, label)] if label else []
    return element("div", {"class": "vector-strip"}, *name, element("span", {"class": "cells"}, *cells))


def matrix(values: Any, rows: Sequence[str] = (), columns: Sequence[str] = (), digits: int = 2, label: str = "") -> Tree:
    """A matrix with labelled rows and columns."""
    corner = [element("td")] if rows else []
    head = [element("thead", {}, element("tr", {}, *corner, *[element("th", {"scope": "col"}, c) for c in columns]))]
    lines = [
        element(
            "tr",
            {},
            *([element("th", {"scope": "row"}, rows[i])] if rows else []),
            *[element("td", {}, display.fixed(float(x), digits)) for x in line],
        )
        for i, line in enumerate(values)
    ]
    caption = [element("caption", {}, label)] if label else []
    # With a class: the theme wraps tables without one in an element of its own.
    table = element("table", {"class": "matrix"}, *caption, *(head if columns else []), element("tbody", {}, *lines))
    return element("div", {"class": "mat"}, table)


def bar_table(
    names: Sequence[str], shares: Any, columns: Sequence[tuple[str, Sequence[str]]] = (), heading: str = "",
    name_heading: str = "", digits: int = 0,
) -> Tree:  # fmt: skip
    """One row a name: further columns of text, then the share as a bar with its percentage printed."""
    titles = [
        element("th", {"scope": "col"}, name_heading),
        *[element("th", {"scope": "col", "class": "figure"}, title) for title, _ in columns],
        element("th", {"scope": "col"}, heading),
    ]
    head = element("thead", {}, element("tr", {}, *titles))
    lines = []
    for i, name in enumerate(names):
        share = float(shares[i])
        width = f"--share:{display.fixed(share * 100, 1)}%"
        percent = display.fixed(share * 100, digits) + "%"
        bar = element("span", {"class": "bar", "style": width}, element("span", {"class": "bar-text"}, percent))
        cells = [element("td", {"class": "figure"}, texts[i]) for _, texts in columns]
        lines.append(element("tr", {}, element("th", {"scope": "row"}, name), *cells, element("td", {"class": "wide"}, bar)))
    return element("table", {"class": "bar-table"}, head, element("tbody", {}, *lines))


def paragraph(*children: Tree | str, kind: str = "") -> Tree:
    return element("p", {"class": kind} if kind else {}, *children)

def token_row(words: Sequence[str], weights: Any, label: str = "", digits: int = 0, at: int | None = None) -> Tree:
    """Words in a row, each with its weight: printed below as a percentage, and the ground as strong as the weight.

    weights: (len(words),), each from 0 to 1. `at`: the word that looks, framed.
    """
    tokens = []
    for i, word in enumerate(words):
        weight = float(weights[i])
        kind = {"class": "token" + (" token-at" if i == at else ""), "style": f"--strength:{_at(100 * weight)}%"}
        percent = display.fixed(100 * weight, digits) + "%"
        tokens.append(
            element(
                "span",
                kind,
                element("span", {"class": "token-word"}, word),
                element("span", {"class": "token-weight"}, percent),
            )
        )
    name = [element("span", {"class": "part-label"}, label)] if label else []
    return element("div", {"class": "token-row"}, *name, element("span", {"class": "tokens"}, *tokens))


def arcs(words: Sequence[str], weights: Any, at: int, label: str = "", digits: int = 0) -> Tree:
    """Arcs from word `at` to every word, as thick as the weight; its percentage stands below the word.

    weights: (len(words),), each from 0 to 1. A word that looks at itself has a loop.
    """
    shares = [float(w) for w in weights]
    widths = [max(44.0, 16.0 * _ems(word) + 16) for word in words]
    middles = [sum(widths[:i]) + widths[i] / 2 for i in range(len(words))]
    reach = max((abs(middle - middles[at]) for middle in middles), default=0.0)
    ground = max(30.0, 0.42 * reach) + 12
    percents = [display.fixed(100 * share, digits) + "%" for share in shares]
    lines: list[Tree | str] = []
    for i, middle in enumerate(middles):
        x, start, end = (middle + middles[at]) / 2, _at(middles[at]), _at(middle)
        top = ground - 2 * max(14.0, 0.42 * abs(middle - middles[at]))  # a curve rises half as high as its control point
        path = f"M{start} {_at(ground)} Q{_at(x)} {_at(top)} {end} {_at(ground)}"
        if i == at:
            left, right = _at(middle - 18), _at(middle + 18)
            path = f"M{start} {_at(ground)} C{left} {_at(ground - 30)} {right} {_at(ground - 30)} {end} {_at(ground)}"
        lines.append(element("path", {"class": "arc", "d": path, "stroke-width": _at(1 + 9 * shares[i])}))
    for i, word in enumerate(words):
        kind = "arc-word arc-at" if i == at else "arc-word"
        lines.append(element("text", {"class": kind, "x": _at(middles[i]), "y": _at(ground + 20)}, word))
        lines.append(element("text", {"class": "arc-weight", "x": _at(middles[i]), "y": _at(ground + 38)}, percents[i]))
    said = ", ".join(f"{word} {percent}" for word, percent in zip(words, percents, strict=True))
    size = (sum(widths), ground + 46)
    return _picture("arcs", size, label or words[at], f"{words[at]} → {said}", lines)


def curve(
    x: Any, lines: Mapping[str, Any], label: str, x_label: str = "", digits: int = 2, low: float | None = None,
    high: float | None = None, at: float | None = None,
) -> Tree:  # fmt: skip
    """Up to three lines over `x`, told apart by colour, dashes and a name at the side.

    x: (n,), rising; lines: name -> (n,). The vertical axis goes from `low` to `high`, by default what the lines need;
    fix them in a lab, or the axis moves with every touch. `at`: a place on x, with each line's value there printed.
    What is not finite, or outside the axis, is left out of a line.
    """
    places = [float(v) for v in x]
    series = {name: [float(v) for v in values] for name, values in lines.items()}
    if not 1 <= len(series) <= 3 or any(len(values) != len(places) for values in series.values()) or len(places) < 2:
        raise ValueError("curve(…) takes one to three lines, each with as many values as x, and at least two of them")
    finite = [v for values in series.values() for v in values if math.isfinite(v)] or [0.0]
    bottom = min(finite) if low is None else float(low)
    top = max(finite) if high is None else float(high)
    top = top if top > bottom else bottom + 1
    left, right, up, down = 44.0, 340.0, 12.0, 168.0

    def across(v: float) -> float:
        return left + (right - left) * (v - places[0]) / (places[-1] - places[0])

    def along(v: float) -> float:
        return down - (down - up) * (v - bottom) / (top - bottom)

    drawn: list[Tree | str] = [
        element("line", {"class": "axis", "x1": _at(left), "y1": _at(down), "x2": _at(right), "y2": _at(down)}),
        element("line", {"class": "axis", "x1": _at(left), "y1": _at(up), "x2": _at(left), "y2": _at(down)}),
        element("text", {"class": "tick tick-y", "x": _at(left - 5), "y": _at(up + 4)}, display.fixed(top, digits)),
        element("text", {"class": "tick tick-y", "x": _at(left - 5), "y": _at(down)}, display.fixed(bottom, digits)),
        element("text", {"class": "tick", "x": _at(left), "y": _at(down + 14)}, display.fixed(places[0])),
        element("text", {"class": "tick tick-y", "x": _at(right), "y": _at(down + 14)}, display.fixed(places[-1])),
        element("text", {"class": "tick tick-x", "x": _at((left + right) / 2), "y": _at(down + 14)}, x_label),
    ]
    if at is not None:
        here = _at(across(float(at)))
        drawn.append(element("line", {"class": "here", "x1": here, "y1": _at(up), "x2": here, "y2": _at(down)}))
    names, said = [], []
    for number, (name, values) in enumerate(series.items(), 1):
        path, pen = [], "M"
        for place, value in zip(places, values, strict=True):
            inside = math.isfinite(value) and bottom <= value <= top
            if inside:
                path.append(f"{pen}{_at(across(place))} {_at(along(value))}")
            pen = "L" if inside else "M"
        drawn.append(element("path", {"class": f"line line-{number}", "d": "".join(path)}))
        shown = ""
        if at is not None:
            value = values[min(range(len(places)), key=lambda i: abs(places[i] - float(at)))]
            if math.isfinite(value):
                shown = " " + display.fixed(value, digits)
                if bottom <= value <= top:
                    point = {"class": f"point point-{number}", "cx": here, "cy": _at(along(value)), "r": "4"}
                    drawn.append(element("circle", point))
        ends = [display.fixed(v, digits) for v in (values[0], values[-1]) if math.isfinite(v)]
        said.append(f"{name}: {' … '.join(ends)}{';' + shown if shown else ''}")
        swatch = element("svg", {"class": "swatch", "viewBox": "0 0 28 8", "aria-hidden": "true"},
                         element("path", {"class": f"line line-{number}", "d": "M0 4L28 4"}))  # fmt: skip
        names.append(element("span", {"class": "legend-item"}, swatch, f"{name}{shown}"))
    picture = _picture("curve", (352.0, 188.0), label, "; ".join(said), drawn)
    heading = element("span", {"class": "part-label"}, label)
    return element("div", {"class": "curve-part"}, heading, picture, element("div", {"class": "legend"}, *names))


def _picture(kind: str, size: tuple[float, float], label: str, description: str, drawn: list[Tree | str]) -> Tree:
    """An SVG that says its values to those who do not see it."""
    width, height = (_at(v) for v in size)
    attributes = {
        "class": kind, "viewBox": f"0 0 {width} {height}", "role": "img", "aria-label": f"{label}: {description}",
        "style": f"--natural:{width}px",
    }  # fmt: skip
    return element("svg", attributes, element("desc", {}, description), *drawn)


def _at(value: float) -> str:
    """A coordinate: one decimal, with an ASCII minus."""
    return display.fixed(value, 1).replace("−", "-").removesuffix(".0")


def _ems(word: str) -> float:
    """Roughly how wide a word is set, in em: no font is asked, so that every machine draws the same."""
    return sum(1.0 if east_asian_width(c) in "WF" else 0.6 for c in word)
