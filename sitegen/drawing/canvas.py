"""A canvas: what a picture is made of, in painting order. Charts and scenes both end here; `svg` prints it.

Elements are <rect>, <path> and <text> with numbers and class names, nothing else: no ids, no links, no style
sheets, so that any number of pictures live on one page and keep out of each other's way. Colours are class names
("f-ink" fills, "s-1" strokes) that `browser/figures.css` turns into the page's variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from sitegen.drawing.metrics import width
from sitegen.page.display import plain, rounded

MIDDLE = 0.36  # of the font size: from the middle of a line down to its baseline, for Latin and Chinese alike


class DrawingError(ValueError):
    """A picture that cannot be drawn as asked; the message says what to change."""


@dataclass(frozen=True)
class Node:
    """One element. `key` names it, for the player (equal keys move) and for tests."""

    tag: str
    key: str
    attributes: dict[str, str]
    text: str = ""

    def number(self, name: str, default: float = 0.0) -> float:
        return float(self.attributes.get(name, default))

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    def tone(self, kind: str) -> str:
        """The colour's name for "f" (fill) or "s" (stroke), "" where there is none."""
        found = [c[2:] for c in self.classes if c.startswith(kind + "-")]
        return "" if not found or found[0] == "none" else found[0]


@dataclass(frozen=True)
class Spot:
    """The rectangle something occupies; its middle and the middles of its sides are points to draw arrows from."""

    x: float
    y: float
    w: float
    h: float

    @property
    def centre(self) -> tuple[float, float]:
        return self.x + self.w / 2, self.y + self.h / 2

    @property
    def left(self) -> tuple[float, float]:
        return self.x, self.y + self.h / 2

    @property
    def right(self) -> tuple[float, float]:
        return self.x + self.w, self.y + self.h / 2

    @property
    def top(self) -> tuple[float, float]:
        return self.x + self.w / 2, self.y

    @property
    def bottom(self) -> tuple[float, float]:
        return self.x + self.w / 2, self.y + self.h


def digits(value: float) -> str:
    """A coordinate: one decimal at most, and the same text whatever the machine's last bits are."""
    text = plain(rounded(float(value), 1)).replace("−", "-")
    return text.removesuffix(".0")


@dataclass
class Canvas:
    """Width and height are CSS pixels; y runs downwards."""

    width: float
    height: float
    nodes: list[Node] = field(default_factory=list)
    _keys: set[str] = field(default_factory=set, repr=False)

    def add(self, tag: str, key: str, classes: str, text: str = "", **attributes: float | str | None) -> None:
        if key in self._keys:
            raise DrawingError(f"the key {key!r} is used twice; keys tell elements apart")
        self._keys.add(key)
        values = {name.replace("_", "-"): v if isinstance(v, str) else digits(v)
                  for name, v in attributes.items() if v is not None}  # fmt: skip
        self.nodes.append(Node(tag, key, {**values, **({"class": classes} if classes else {})}, text))

    def rect(self, key: str, x: float, y: float, w: float, h: float, classes: str = "f-panel", radius: float = 4,
             opacity: float | None = None) -> Spot:  # fmt: skip
        strength = None if opacity is None else f"{plain(rounded(opacity, 2))}"
        self.add("rect", key, classes, x=x, y=y, width=w, height=h, rx=radius or None, fill_opacity=strength)
        return Spot(x, y, w, h)

    def text(self, key: str, x: float, y: float, text: str, size: float = 14, classes: str = "f-ink",
             anchor: str = "middle") -> Spot:  # fmt: skip
        """One line whose middle lies at height `y`; `anchor` is start, middle or end."""
        attributes = {"text-anchor": anchor} if anchor != "start" else {}
        self.add("text", key, classes, text, x=x, y=y + size * MIDDLE, font_size=size, **attributes)
        w = width(text, size, "bold" in classes.split())
        return Spot(x - {"start": 0.0, "middle": w / 2, "end": w}[anchor], y - size / 2, w, size)

    def path(self, key: str, d: str, classes: str = "s-ink", opacity: float | None = None) -> None:
        strength = None if opacity is None else f"{plain(rounded(opacity, 2))}"
        self.add("path", key, classes, d=d, fill_opacity=strength)

    def line(self, key: str, points: Sequence[tuple[float, float]], classes: str = "s-mute") -> None:
        self.path(key, "M" + "L".join(f"{digits(x)} {digits(y)}" for x, y in points), classes)

    def body(self, keys: bool = False) -> str:
        """The elements as SVG; `keys` for the player, which moves what has an equal key."""
        return "".join(_element(node, keys) for node in self.nodes)


def _element(node: Node, keys: bool) -> str:
    given = {**({"data-k": node.key} if keys else {}), **node.attributes}
    opening = "".join(f' {name}="{escape(value)}"' for name, value in given.items())
    return (
        f"<{node.tag}{opening}>{escape(node.text, quote=False)}</{node.tag}>"
        if node.text
        else f"<{node.tag}{opening}/>"
    )
