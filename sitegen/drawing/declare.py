"""How a figures file declares its pictures.

    @figure(
        alt="两组柱子。分数 {{ seq(mild_scores) }} 的权重是 …",      # for those who do not see it
        caption="分数放大以后，**一个词拿走全部**。",                   # what to see
    )
    def two_softmaxes(width):                 # called for each of WIDTHS; returns a Scene, a Canvas or a Chart
        ...

    @explainer(title="…")
    def whole_article():
        return [Step(scene, "caption {{ num(x) }} with **key terms**", say="where the spoken form differs"), …]

Texts are templates: what stands between braces is evaluated like an article's expressions, over the lesson's names.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sitegen.drawing.canvas import Canvas

WIDTHS = {"wide": 640, "narrow": 360}  # layouts in pixels; the page shows the one that fits


class Drawable(Protocol):
    """A chart: drawn when it is asked for."""

    def canvas(self) -> Canvas: ...


def drawn(picture: Canvas | Drawable) -> Canvas:
    return picture if isinstance(picture, Canvas) else picture.canvas()


class Declared:
    """A marked function and where it stands."""

    def __init__(self, function: Callable[..., object]):
        self.__doc__, self.__module__ = function.__doc__, function.__module__
        self.name = function.__name__
        self.file, self.line = inspect.getsourcefile(function) or "", function.__code__.co_firstlineno


class Figure(Declared):
    def __init__(self, function: Callable[[int], Canvas | Drawable], alt: str, caption: str):
        super().__init__(function)
        self.function, self.alt, self.caption = function, alt, caption

    @functools.cached_property
    def layouts(self) -> dict[str, Canvas]:
        """The picture in each width. Kept: a module that changed is imported anew and makes new figures."""
        return {name: drawn(self.function(width)) for name, width in WIDTHS.items()}


@dataclass(frozen=True)
class Step:
    """One frame of an explainer. `caption` is the full text, its **bold** words stand alone while a voice speaks;
    `say` is spoken in its place where signs and brackets would be read badly."""

    scene: Canvas
    caption: str
    say: str = ""


class Explainer(Declared):
    def __init__(self, function: Callable[[], Sequence[Step]], title: str):
        super().__init__(function)
        self.function, self.title = function, title

    @functools.cached_property
    def steps(self) -> list[Step]:
        return list(self.function())


def figure(*, alt: str, caption: str) -> Callable[[Callable[[int], Canvas | Drawable]], Figure]:
    """Mark a function of the width as a figure."""
    return lambda function: Figure(function, alt, caption)


def explainer(*, title: str) -> Callable[[Callable[[], Sequence[Step]]], Explainer]:
    """Mark a function that returns steps as an explainer."""
    return lambda function: Explainer(function, title)
