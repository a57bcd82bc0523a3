"""A chart: matplotlib axes in the look of the series, ending on our canvas.

    chart = Chart(width, 300)
    axes = chart.axes(title="差别", x_title="走过的层", yscale="log")
    chart.curve(axes, "attention", depths, values, "只有注意力", tone="2")

The axes are matplotlib's own, with everything it can do; colours are `INK["1"]`, `INK["mute"]` … Titles stand above
and below the plot, never sideways, and curves carry their names, so that no legend has to be matched by colour.
"""

from __future__ import annotations

from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sitegen.drawing import metrics, palette
from sitegen.drawing.backend import CanvasRenderer
from sitegen.drawing.canvas import Canvas

# matplotlib wants colours: each name of the palette has a stand-in, which the renderer turns back into the name.
INK = {name: f"#01{i:02x}fe" for i, name in enumerate(palette.names(), 1)}
_TONES = {colour: name for name, colour in INK.items()}

_STYLE: dict[str, Any] = {
    "font.size": 13, "text.parse_math": False, "text.color": INK["ink"], "axes.formatter.use_mathtext": False,
    "axes.unicode_minus": True, "axes.labelcolor": INK["mute"], "axes.titlecolor": INK["mute"], "axes.titlesize": 13,
    "axes.titlelocation": "left", "axes.labelsize": 13, "axes.edgecolor": INK["mute"], "axes.linewidth": 1,
    "axes.facecolor": "none", "figure.facecolor": "none", "axes.spines.top": False, "axes.spines.right": False,
    "axes.spines.left": False, "axes.grid": True, "axes.grid.axis": "y", "grid.color": INK["line"],
    "grid.linewidth": 0.8, "axes.axisbelow": True, "xtick.color": INK["mute"], "ytick.color": INK["mute"],
    "xtick.labelsize": 12, "ytick.labelsize": 12, "ytick.major.size": 0, "ytick.minor.size": 0, "xtick.minor.size": 0,
    "xtick.major.size": 4, "lines.linewidth": 2.4, "patch.linewidth": 0, "path.simplify": False, "path.snap": False,
    "figure.dpi": 72,
}  # fmt: skip


class Chart:
    """`width` and `height` in page pixels; `canvas()` draws it."""

    def __init__(self, width: float, height: float):
        self.width, self.height = width, height
        with _style():
            self.figure = Figure(figsize=(width / 72, height / 72))

    def axes(self, title: str = "", x_title: str = "", left: float = 46, right: float = 14, top: float | None = None,
             bottom: float | None = None, **settings: Any) -> Axes:  # fmt: skip
        """One plot with margins in pixels; `settings` go to `Axes.set` (xlim, yscale, yticks …)."""
        top = (34 if title else 12) if top is None else top
        bottom = (48 if x_title else 28) if bottom is None else bottom
        w, h = self.width, self.height
        with _style():
            box = (left / w, bottom / h, (w - left - right) / w, (h - top - bottom) / h)
            axes = self.figure.add_axes(box)
            axes.set(**settings)
            if title:
                axes.set_title(title, x=(8 - left) / (w - left - right), pad=12)
            if x_title:
                axes.set_xlabel(x_title, labelpad=6)
        return axes

    def curve(self, axes: Axes, key: str, x: Any, y: Any, name: str = "", tone: str = "1", dashed: bool = False,
              up: float = 0.0, marker: str = "") -> None:  # fmt: skip
        """A line with its name at its right end, moved `up` pixels where two names would meet."""
        style = (0, (5, 4)) if dashed else "-"
        axes.plot(x, y, color=INK[tone], ls=style, lw=2.4, gid=key, marker=marker or None, ms=5)
        if name:
            self.note(axes, (x[-1], y[-1]), name, tone, right=8, up=up)

    def note(self, axes: Axes, at: tuple[float, float], text: str, tone: str = "mute", right: float = 0, up: float = 0,
             align: str = "left") -> None:  # fmt: skip
        """Words at a point of the plot, moved by so many pixels."""
        axes.annotate(text, at, xytext=(right, up), textcoords="offset points", va="center", ha=align, size=13,
                      color=INK[tone], annotation_clip=False)  # fmt: skip

    def canvas(self) -> Canvas:
        """Everything drawn, as nodes."""
        canvas = Canvas(self.width, self.height)
        renderer = CanvasRenderer(canvas, _TONES)
        with _style():
            self.figure.draw(renderer)
        return canvas


def _style() -> Any:
    """matplotlib's defaults and ours over them: the settings of this machine must not show."""
    kept = {"backend", "interactive", "toolbar"}
    settings: Any = {k: v for k, v in matplotlib.rcParamsDefault.items() if k not in kept} | _STYLE
    return matplotlib.rc_context(settings)


def longest(names: list[str], size: float = 13) -> float:
    """Room for the longest of the names at the right end of curves."""
    return max(metrics.width(name, size) for name in names) + 14
