"""matplotlib draws onto our canvas: a renderer that turns its paths and texts into nodes and never opens a font.

matplotlib asks the renderer how large a text is; `metrics` answers. Colours arrive as the stand-ins of `chart.INK`
and leave as class names; lines are clipped here, so that no clip path with an id is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.colors import to_hex
from matplotlib.path import Path
from matplotlib.transforms import Bbox

from sitegen.drawing import metrics
from sitegen.drawing.canvas import MIDDLE, Canvas, DrawingError, digits

_BOLD = {"bold", "semibold", "heavy", "black"}


class CanvasRenderer(RendererBase):
    """Writes to `canvas`; `tones` gives the palette's name of each stand-in colour. One point is one pixel."""

    def __init__(self, canvas: Canvas, tones: dict[str, str]):
        super().__init__()
        self.canvas, self.tones = canvas, tones
        self.names: list[str] = []  # the groups we are in: an artist's gid, or what it is
        self.count = 0

    # ---- what matplotlib asks

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self.canvas.width, self.canvas.height

    def points_to_pixels(self, points: Any) -> Any:
        return points

    def flipy(self) -> bool:
        return True

    def get_text_width_height_descent(self, s: str, prop: Any, ismath: Any) -> tuple[float, float, float]:
        size = prop.get_size_in_points()
        return metrics.width(s, size, _bold(prop)), size * 1.15, size * 0.25

    def _get_font_height_metrics(self, prop: Any) -> tuple[float, float, float]:
        """Asked by matplotlib 3.11's text layout in place of measuring "lp" with a font."""
        size = prop.get_size_in_points()
        return size * 0.9, size * 0.25, size * 0.15

    def open_group(self, s: str, gid: str | None = None) -> None:
        self.names.append(gid or s)

    def close_group(self, s: str) -> None:
        self.names.pop()

    # ---- what matplotlib draws

    def draw_path(self, gc: GraphicsContextBase, path: Path, transform: Any, rgbFace: Any = None) -> None:
        fill = self._tone(rgbFace)
        # The stroke's width goes into the class: thin for rules, medium for axes, thick for curves.
        stroke = self._tone(gc.get_rgb()) if gc.get_linewidth() > 0 and gc.get_rgb()[3] > 0 else ""
        if not fill and not stroke:
            return
        clip = gc.get_clip_rectangle()
        moved = path.transformed(transform)
        if clip is not None:
            moved = _clipped(moved, clip, bool(fill))
        d = self._d(moved)
        if not d:
            return
        weight = (
            "" if not stroke else " thin" if gc.get_linewidth() < 1 else " thick" if gc.get_linewidth() >= 2 else ""
        )
        dashed = " dashed" if stroke and gc.get_dashes()[1] is not None else ""
        classes = f"f-{fill or 'none'}" + (f" s-{stroke}{weight}{dashed}" if stroke else "")
        alpha = rgbFace[3] if fill and len(rgbFace) > 3 else 1.0
        alpha = gc.get_alpha() if fill and gc.get_forced_alpha() else alpha
        self.canvas.path(self._key(), d, classes, alpha if alpha < 1 else None)

    def draw_image(self, *_: Any, **__: Any) -> None:
        raise DrawingError("an image cannot follow the colour scheme; draw cells as paths (Scene.grid, bars)")

    def draw_text(self, gc: GraphicsContextBase, x: float, y: float, s: str, prop: Any, angle: float,
                  ismath: Any = False, mtext: Any = None) -> None:  # fmt: skip
        if angle:
            raise DrawingError(f"{s!r} is turned; upright text can be read, so give the axis a title above it")
        size = prop.get_size_in_points()
        w = metrics.width(s, size, _bold(prop))
        # A real font is a little wider or narrower than the table: hold on to the side that the author aligned.
        anchor = {"center": "middle", "right": "end"}.get(mtext.get_ha() if mtext is not None else "left", "start")
        x += {"start": 0.0, "middle": w / 2, "end": w}[anchor]
        classes = f"f-{self._tone(gc.get_rgb()) or 'ink'}" + " bold" * _bold(prop)
        self.canvas.text(self._key(), x, y - size * MIDDLE, s, size, classes, anchor)

    # ---- details

    def _key(self) -> str:
        self.count += 1
        return f"{self.names[-1] if self.names else 'chart'}/{self.count}"

    def _tone(self, colour: Any) -> str:
        if colour is None or (len(colour) > 3 and colour[3] == 0):
            return ""
        value = to_hex(colour)
        if value not in self.tones:
            raise DrawingError(f"the colour {value} is none of the palette; use INK['1'], INK['mute'] …")
        return self.tones[value]

    def _d(self, path: Path) -> str:
        """SVG path data, y downwards, in tenths of a pixel; points that fall together are dropped."""
        pieces: list[str] = []
        for points, code in path.iter_segments(simplify=False, curves=True):
            if code == Path.CLOSEPOLY:
                pieces.append("Z")
                continue
            pairs = [f"{digits(x)} {digits(self.canvas.height - y)}" for x, y in np.reshape(points, (-1, 2))]
            letter = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}[code]
            piece = letter + " ".join(pairs)
            if letter != "L" or not pieces or piece[1:] != pieces[-1][1:]:
                pieces.append(piece)
        return "".join(pieces) if len(pieces) > 1 else ""


def _clipped(path: Path, clip: Bbox, filled: bool) -> Path:
    if filled:
        return path.clip_to_bbox(clip, inside=True)
    return path.cleaned(clip=(clip.x0, clip.y0, clip.x1, clip.y1), remove_nans=True)


def _bold(prop: Any) -> bool:
    weight = prop.get_weight()
    return weight in _BOLD or (isinstance(weight, (int, float)) and weight >= 600)
