"""What the eye would catch, found at build: text off the canvas, text over text, text too faint, a picture too large.

Widths come from `metrics`, colours from `palette`; the ground of a text is everything filled that was painted under
it, blended in both schemes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from sitegen.drawing import palette
from sitegen.drawing.canvas import Canvas, Node, Spot
from sitegen.drawing.metrics import width

LEAST_CONTRAST = 4.5  # WCAG 2.2, 1.4.3
MOST_BYTES, MOST_NODES = 200_000, 3000  # of one picture; more makes a phone stutter
SMALLEST_TEXT = 11  # pixels

_SLACK = 1.0  # pixels that two texts may touch
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def faults(canvas: Canvas) -> list[str]:
    """Everything wrong with the picture, each with the text it concerns; an unchanged picture is looked at once."""
    key = (canvas.width, canvas.height, canvas.body())
    if key not in _seen:
        _seen[key] = [*_outside(canvas), *_over(canvas), *_faint(canvas), *_small(canvas), *_large(canvas)]
    return _seen[key]


_seen: dict[tuple[float, float, str], list[str]] = {}


def text_box(node: Node) -> Spot:
    """Where a text node's ink lies; narrower than a line, so that lines may stand close."""
    size = node.number("font-size")
    w = width(node.text, size, "bold" in node.classes)
    shift = {"middle": w / 2, "end": w}.get(node.attributes.get("text-anchor", ""), 0.0)
    return Spot(node.number("x") - shift, node.number("y") - 0.8 * size, w, 0.92 * size)


def _texts(canvas: Canvas) -> list[tuple[int, Node, Spot]]:
    return [(i, node, text_box(node)) for i, node in enumerate(canvas.nodes) if node.tag == "text"]


def _outside(canvas: Canvas) -> Iterator[str]:
    for _, node, box in _texts(canvas):
        if box.x < 0 or box.y < 0 or box.x + box.w > canvas.width or box.y + box.h > canvas.height:
            yield f"{node.text!r} ({node.key}) leaves the canvas of {canvas.width:g} × {canvas.height:g}"


def _over(canvas: Canvas) -> Iterator[str]:
    for (_, one, a), (_, other, b) in combinations(_texts(canvas), 2):
        across = min(a.x + a.w, b.x + b.w) - max(a.x, b.x)
        down = min(a.y + a.h, b.y + b.h) - max(a.y, b.y)
        if across > _SLACK and down > _SLACK:
            yield f"{one.text!r} ({one.key}) and {other.text!r} ({other.key}) overlap"


def _small(canvas: Canvas) -> Iterator[str]:
    for _, node, _ in _texts(canvas):
        if node.number("font-size") < SMALLEST_TEXT:
            yield f"{node.text!r} ({node.key}) is smaller than {SMALLEST_TEXT} px"


def _large(canvas: Canvas) -> Iterator[str]:
    size = len(canvas.body().encode())
    if size > MOST_BYTES or len(canvas.nodes) > MOST_NODES:
        yield f"{size:,} bytes, {len(canvas.nodes):,} elements; at most {MOST_BYTES:,} and {MOST_NODES:,}: draw a part of it"


# ---- contrast


def _faint(canvas: Canvas) -> Iterator[str]:
    grounds = _grounds(canvas)
    for scheme in palette.SCHEMES:
        for index, node, box in _texts(canvas):
            points = (box.left, box.centre, box.right)
            ratio = min(text_contrast(canvas, index, point, scheme, grounds) for point in points)
            if ratio < LEAST_CONTRAST:
                yield f"{node.text!r} ({node.key}) has contrast {ratio:.2f} in the {scheme} scheme, below {LEAST_CONTRAST}"


def _grounds(canvas: Canvas) -> list[tuple[int, Node, str]]:
    """The filled shapes, which may lie under a text: (place in painting order, shape, colour name)."""
    shapes = [(i, node, node.tone("f")) for i, node in enumerate(canvas.nodes) if node.tag != "text"]
    return [(i, node, tone) for i, node, tone in shapes if tone]


def text_contrast(
    canvas: Canvas,
    index: int,
    point: tuple[float, float],
    scheme: str,
    grounds: list[tuple[int, Node, str]] | None = None,
) -> float:
    """Between the text node at `index` and what lies under it at `point`. `grounds` saves finding the shapes again."""
    known = palette.colours(scheme)
    ground = known["paper"]
    for place, node, tone in _grounds(canvas) if grounds is None else grounds:
        if place < index and _covers(node, point):
            ground = palette.blend(known[tone], ground, node.number("fill-opacity", 1.0))
    return palette.contrast(known[canvas.nodes[index].tone("f") or "ink"], ground)


def _covers(node: Node, point: tuple[float, float]) -> bool:
    x, y = point
    if node.tag == "rect":
        left, top = node.number("x"), node.number("y")
        return left <= x <= left + node.number("width") and top <= y <= top + node.number("height")
    return any(_inside(point, ring) for ring in rings(node.attributes["d"]))


def rings(d: str) -> list[list[tuple[float, float]]]:
    """The corners of a path, subpath by subpath (curves by their control points, which is near enough for a ground)."""
    found = []
    for part in re.split(r"[Mm]", d)[1:]:
        numbers = [float(n) for n in _NUMBER.findall(part)]
        found.append(list(zip(numbers[::2], numbers[1::2], strict=False)))
    return found


def _inside(point: tuple[float, float], ring: list[tuple[float, float]]) -> bool:
    x, y = point
    crossings = 0
    for (x0, y0), (x1, y1) in zip(ring, ring[1:] + ring[:1], strict=True):
        if (y0 > y) != (y1 > y) and x < x0 + (y - y0) / (y1 - y0) * (x1 - x0):
            crossings += 1
    return crossings % 2 == 1
