"""A scene: a canvas with the parts that diagrams of calculations are made of.

    scene = Scene(360, 120)
    x = scene.vector("x", 20, 40, [0.8, -0.3, 0.5], label="「借」")
    f = scene.box("f", 240, 40, "一层", tone="3")
    scene.arrow("a", x.right, f.left)

Each part takes a key first and gives back the spot it occupies. In an explainer, what has the same key in two steps
moves from one place to the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sitegen.drawing.canvas import Canvas, DrawingError, Spot, digits
from sitegen.drawing.metrics import width, wrap
from sitegen.page.display import fixed

Point = tuple[float, float]


class Scene(Canvas):
    """Parts in page pixels. Tones are names of the palette: "ink", "mute", "line", "1" … "5"."""

    def label(self, key: str, x: float, y: float, text: str, size: float = 14, tone: str = "ink", anchor: str = "middle",
              limit: float | None = None, bold: bool = False, ground: bool = False) -> Spot:  # fmt: skip
        """Words, in lines of at most `limit`; `ground` clears the paper under them, for words on a line."""
        lines = wrap(text, size, limit, bold) if limit else text.split("\n")
        gap, classes = size * 1.4, f"f-{tone}" + " bold" * bold
        widest = max(width(line, size, bold) for line in lines)
        left = x - {"start": 0.0, "middle": widest / 2, "end": widest}[anchor]
        spot = Spot(left, y - len(lines) * gap / 2, widest, len(lines) * gap)
        if ground:
            self.rect(f"{key}/ground", left - 4, spot.y, widest + 8, spot.h, "f-paper", 0)
        for i, line in enumerate(lines):
            here = key if len(lines) == 1 else f"{key}/{i}"
            self.text(here, x, y + (i - (len(lines) - 1) / 2) * gap, line, size, classes, anchor)
        return spot

    def box(self, key: str, x: float, y: float, text: str, w: float | None = None, h: float | None = None,
            tone: str = "1", sub: str = "", size: float = 14, strength: float = 0.45) -> Spot:  # fmt: skip
        """A rounded box around a name; `sub` is a second, smaller line (its English name, a shape)."""
        needed = max(width(text, size, True), width(sub, size - 2.5)) + 16
        w, h = w or needed, h or (48 if sub else 34)
        if needed > w + 0.5:
            raise DrawingError(f"{text!r} needs {needed:.0f} px and its box {key!r} is {w:g} px wide")
        self.rect(f"{key}/box", x, y, w, h, f"f-{tone}-fill s-{tone}", 7, strength)
        self.text(f"{key}/name", x + w / 2, y + h / 2 - (8.5 if sub else 0), text, size, "f-ink bold")
        if sub:
            self.text(f"{key}/sub", x + w / 2, y + h / 2 + 10, sub, size - 2.5, "f-ink")
        return Spot(x, y, w, h)

    def op(self, key: str, x: float, y: float, sign: str = "+", tone: str = "ink", r: float = 12) -> Spot:
        """A round sign, such as the plus where two lines meet."""
        self.rect(f"{key}/ring", x - r, y - r, 2 * r, 2 * r, f"f-paper s-{tone} thick", r)
        self.text(f"{key}/sign", x, y, sign, r * 1.5, f"f-{tone} bold")
        return Spot(x - r, y - r, 2 * r, 2 * r)

    def arrow(self, key: str, start: Point, end: Point, tone: str = "mute", via: Sequence[Point] = (), label: str = "",
              thick: bool = False, dashed: bool = False, gap: float = 3, head: float = 6, size: float = 13,
              below: bool = False) -> None:  # fmt: skip
        """A line with rounded corners through `via`; its head is part of the path. `label` stands beside its middle."""
        points = [start, *via, end]
        ux, uy = _direction(points[-2], end)
        tip = (end[0] - ux * gap, end[1] - uy * gap)
        d = "M" + _xy(points[0])
        for before, corner, after in zip(points, points[1:], [*points[2:-1], tip], strict=False):
            d += f"L{_xy(_towards(corner, before, 8))}Q{_xy(corner)} {_xy(_towards(corner, after, 8))}"
        d += "L" + _xy(tip)
        if head:
            back, side = (tip[0] - ux * head, tip[1] - uy * head), (-uy * head * 0.6, ux * head * 0.6)
            d += f"M{_xy((back[0] + side[0], back[1] + side[1]))}L{_xy(tip)}L{_xy((back[0] - side[0], back[1] - side[1]))}"
        self.path(key, d, f"s-{tone}" + " thick" * thick + " dashed" * dashed)
        if label:
            (x0, y0), (x1, y1) = points[0], points[1]
            x, y = (x0 + x1) / 2, (y0 + y1) / 2
            if abs(y1 - y0) < abs(x1 - x0):
                self.label(f"{key}/label", x, y + (12 if below else -12), label, size, "mute")
            else:
                self.label(f"{key}/label", x + 8, y, label, size, "mute", "start")

    def vector(self, key: str, x: float, y: float, values: Any, places: int = 1, cell: tuple[float, float] = (46, 30),
               scale: float | None = None, label: str = "", side: str = "top", vertical: bool = False, size: float = 14,
               tone: str = "") -> Spot:  # fmt: skip
        """One cell a number. The number is printed; hue says its sign again, strength its size against `scale`."""
        numbers = [float(v) for v in values]
        w, h = cell
        largest = scale or max(map(abs, numbers), default=1.0) or 1.0
        for i, value in enumerate(numbers):
            left, top = (x, y + i * h) if vertical else (x + i * w, y)
            hue = tone or ("1" if value >= 0 else "2")
            strength = 0.12 + 0.88 * min(1.0, abs(value) / largest)
            self.rect(f"{key}/{i}", left + 1, top + 1, w - 2, h - 2, f"f-{hue}-fill s-{hue}", 4, strength)
            text = fixed(value, places)
            if width(text, size) > w - 4:
                raise DrawingError(f"{text} does not fit into a cell of {key!r}, {w:g} px wide")
            self.text(f"{key}/{i}t", left + w / 2, top + h / 2, text, size, "f-ink figures")
        n = len(numbers)
        spot = Spot(x, y, w if vertical else w * n, h * n if vertical else h)
        if label:
            where = {"top": (spot.centre[0], y - 12, "middle"), "bottom": (spot.centre[0], y + spot.h + 13, "middle"),
                     "left": (x - 8, spot.centre[1], "end"), "right": (x + spot.w + 8, spot.centre[1], "start")}  # fmt: skip
            lx, ly, anchor = where[side]
            self.label(f"{key}/label", lx, ly, label, min(size, 14), "mute", anchor)
        return spot

    def grid(self, key: str, x: float, y: float, rows: Any, places: int = 1, cell: tuple[float, float] = (46, 30),
             names: Sequence[str] = (), size: float = 14, scale: float | None = None) -> Spot:  # fmt: skip
        """A matrix, a vector a row, with names before the rows."""
        lines = [[float(v) for v in row] for row in rows]
        largest = scale or max(abs(v) for line in lines for v in line) or 1.0
        for i, line in enumerate(lines):
            self.vector(f"{key}/{i}", x, y + i * cell[1], line, places, cell, largest, size=size)
            if names:
                self.label(f"{key}/{i}/name", x - 8, y + (i + 0.5) * cell[1], names[i], size, "ink", "end")
        return Spot(x, y, cell[0] * len(lines[0]), cell[1] * len(lines))

    def columns(self, key: str, x: float, base: float, values: Any, texts: Sequence[str], names: Sequence[str] = (),
                height: float = 90, w: float = 30, gap: float = 14, scale: float | None = None, tone: str = "1",
                size: float = 13) -> Spot:  # fmt: skip
        """Upright bars on a line, each with its number on top and its name below; all values at least 0."""
        numbers = [float(v) for v in values]
        largest = scale or max(numbers) or 1.0
        for i, value in enumerate(numbers):
            left, high = x + i * (w + gap), max(value / largest * height, 1.5)
            self.rect(f"{key}/{i}", left, base - high, w, high, f"f-{tone}", 3)
            self.text(f"{key}/{i}t", left + w / 2, base - high - 10, texts[i], size, "f-ink figures")
            if names:
                self.text(f"{key}/{i}n", left + w / 2, base + 14, names[i], size, "f-mute")
        whole = len(numbers) * (w + gap) - gap
        self.line(f"{key}/base", [(x - 5, base), (x + whole + 5, base)], "s-mute")
        return Spot(x, base - height, whole, height)

    def shares(self, key: str, x: float, y: float, values: Any, texts: Sequence[str], names: Sequence[str],
               length: float = 160, h: float = 22, gap: float = 8, scale: float = 1.0, tone: str = "3",
               size: float = 14) -> Spot:  # fmt: skip
        """Lying bars, one a name; the name stands before its bar, the number after it."""
        for i, value in enumerate(float(v) for v in values):
            top, long = y + i * (h + gap), max(value / scale * length, 1.5)
            self.rect(f"{key}/{i}", x, top, long, h, f"f-{tone}", 3)
            self.text(f"{key}/{i}n", x - 8, top + h / 2, names[i], size, "f-ink", "end")
            self.text(f"{key}/{i}t", x + long + 7, top + h / 2, texts[i], size, "f-ink figures", "start")
        return Spot(x, y, length, len(texts) * (h + gap) - gap)

    def frame(self, key: str, x: float, y: float, w: float, h: float, title: str = "", size: float = 13) -> Spot:
        """A dashed outline around things that belong together, its title on the line."""
        self.rect(f"{key}/frame", x, y, w, h, "f-none s-line dashed", 10)
        if title:
            self.label(f"{key}/title", x + 14, y, title, size, "mute", "start", ground=True)
        return Spot(x, y, w, h)


def _xy(point: Point) -> str:
    return f"{digits(point[0])} {digits(point[1])}"


def _direction(a: Point, b: Point) -> Point:
    length = max(((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2) ** 0.5, 1e-6)
    return (b[0] - a[0]) / length, (b[1] - a[1]) / length


def _towards(a: Point, b: Point, far: float) -> Point:
    """The point `far` from a on the way to b, at most half way."""
    length = max(((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2) ** 0.5, 1e-6)
    step = min(far, length / 2) / length
    return a[0] + (b[0] - a[0]) * step, a[1] + (b[1] - a[1]) * step
