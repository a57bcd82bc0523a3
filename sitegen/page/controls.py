"""The controls of a lab: what a reader can set, and which values a parameter can receive.

A control stands for one parameter and has one native input, or several where its value has several numbers. `scalars`
takes a value apart into what the inputs hold, `join` puts them together again, `axes` lists what each input can be set
to: from these the build makes its table of ready answers (sitegen/instant.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

MOST_STEPS = 10_000  # of one input; more are no help to a reader


class LabError(ValueError):
    """A lab that is declared wrongly, or a state it cannot take; the message says what to do."""


def _number(value: Any, low: float, high: float, what: str = "a number") -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise LabError(f"expected {what}, got {value!r}")
    if not low <= value <= high:
        raise LabError(f"{value!r} is outside {low} … {high}")
    return float(value)


def _numbers(value: Any, count: int, what: str) -> list[Any]:
    if not isinstance(value, (list, tuple)) or len(value) != count:
        raise LabError(f"expected {what}, got {value!r:.80}")
    return list(value)


def _steps(low: float, high: float, step: float) -> list[float]:
    """low, low + step, … up to high, in decimal: 0.1 and three steps of 0.1 give 0.4, as the browser's slider does."""
    if not (low < high and step > 0):
        raise LabError(f"a range needs low < high and step > 0, not {low}, {high}, {step}")
    first, distance = Decimal(str(low)), Decimal(str(step))
    count = int((Decimal(str(high)) - first) / distance) + 1
    if count > MOST_STEPS:
        raise LabError(f"{count:,} steps of {step} between {low} and {high} are more than {MOST_STEPS:,}")
    return [float(first + distance * k) for k in range(count)]


def _on_a_step(value: float, low: float, high: float, step: float) -> None:
    if value not in _steps(low, high, step):
        raise LabError(f"the start {value} is not on a step of {step} from {low}; a slider cannot stand there")


def shown(value: float) -> str:
    """A number as an attribute of a native input: 1, −0.5 as "-0.5"."""
    return str(int(value)) if value == int(value) else repr(float(value))


@dataclass(frozen=True)
class Slider:
    """A number between `low` and `high` in steps, with a field beside it; the parameter receives a float."""

    low: float
    high: float
    step: float = 1
    start: float | None = None
    label: str = ""
    unit: str = ""

    kind = "range"

    def __post_init__(self) -> None:
        _steps(self.low, self.high, self.step)
        self.read(self.initial)
        _on_a_step(self.initial, self.low, self.high, self.step)

    @property
    def initial(self) -> float:
        return float(self.low if self.start is None else self.start)

    def read(self, value: Any) -> float:
        return _number(value, self.low, self.high)

    def scalars(self, value: Any) -> list[Any]:
        return [value]

    def join(self, scalars: Sequence[Any]) -> Any:
        return scalars[0]

    def axes(self) -> list[list[Any]]:
        return [_steps(self.low, self.high, self.step)]


@dataclass(frozen=True)
class Number(Slider):
    """A number typed in; the parameter receives a float."""

    kind = "number"


@dataclass(frozen=True)
class Toggle:
    """On or off; the parameter receives a bool."""

    start: bool = False
    label: str = ""

    kind = "checkbox"

    @property
    def initial(self) -> bool:
        return self.start

    def read(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise LabError(f"expected true or false, got {value!r}")
        return value

    def scalars(self, value: Any) -> list[Any]:
        return [value]

    def join(self, scalars: Sequence[Any]) -> Any:
        return scalars[0]

    def axes(self) -> list[list[Any]]:
        return [[False, True]]


@dataclass(frozen=True)
class Choice:
    """One of several texts; the parameter receives the text."""

    options: Sequence[str]
    start: str | None = None
    label: str = ""

    kind = "select"

    def __post_init__(self) -> None:
        if not self.options or self.initial not in self.options:
            raise LabError(f"a choice needs options that hold its start, not {self.options!r}, {self.start!r}")

    @property
    def initial(self) -> str:
        return self.options[0] if self.start is None else self.start

    def read(self, value: Any) -> str:
        if value not in self.options:
            raise LabError(f"{value!r} is none of {', '.join(self.options)}")
        return value

    def scalars(self, value: Any) -> list[Any]:
        return [value]

    def join(self, scalars: Sequence[Any]) -> Any:
        return scalars[0]

    def axes(self) -> list[list[Any]]:
        return [list(self.options)]


@dataclass(frozen=True)
class Drag:
    """A point that is dragged in a plane; the parameter receives a pair of floats (x, y).

    `x` and `y` are the ranges of the two axes, `names` what they are called. `marks` are fixed points to compare with:
    {"书": (1.0, 0.5)}. With `arrow`, an arrow leads from the origin to the point, as a vector is drawn.
    """

    x: tuple[float, float] = (-2, 2)
    y: tuple[float, float] = (-2, 2)
    step: float = 0.25
    start: tuple[float, float] = (1, 1)
    label: str = ""
    names: tuple[str, str] = ("x", "y")
    marks: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    arrow: bool = True

    kind = "drag"

    def __post_init__(self) -> None:
        for value, (low, high) in zip(self.initial, (self.x, self.y), strict=True):
            _on_a_step(value, low, high, self.step)
        for name, point in self.marks.items():
            try:
                self.read(point)
            except LabError as error:
                raise LabError(f"the mark {name!r} is not in the plane: {error}") from None

    @property
    def initial(self) -> tuple[float, float]:
        return self.read(self.start)

    def read(self, value: Any) -> tuple[float, float]:
        x, y = _numbers(value, 2, "a pair of numbers")
        return _number(x, *self.x), _number(y, *self.y)

    def scalars(self, value: Any) -> list[Any]:
        return list(value)

    def join(self, scalars: Sequence[Any]) -> Any:
        return list(scalars)

    def axes(self) -> list[list[Any]]:
        return [_steps(*self.x, self.step), _steps(*self.y, self.step)]

    def inputs(self) -> list[dict[str, Any]]:
        """The two sliders, for the template."""
        parts = zip(("x", "y"), self.names, (self.x, self.y), self.initial, strict=True)
        return [{"part": p, "label": n, "low": r[0], "high": r[1], "initial": v} for p, n, r, v in parts]

    def place(self, point: tuple[float, float]) -> tuple[str, str]:
        """Where a point of the plane lies in the picture, as percentages from the left and from the top."""
        (left, right), (bottom, top) = self.x, self.y
        return (
            f"{100 * (point[0] - left) / (right - left):.2f}",
            f"{100 * (top - point[1]) / (top - bottom):.2f}",
        )

    @property
    def origin(self) -> tuple[str, str]:
        """Where the axes cross: at zero, or at the edge that is nearest to it."""
        x, y = (min(max(0.0, low), high) for low, high in (self.x, self.y))
        return self.place((x, y))


@dataclass(frozen=True)
class Matrix:
    """Cells that are typed in; the parameter receives a list of rows, each a list of floats.

    The shape is that of `start`; `rows` and `columns` are labels.
    """

    start: Sequence[Sequence[float]]
    low: float = -10
    high: float = 10
    step: float = 1
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    label: str = ""

    kind = "matrix"

    def __post_init__(self) -> None:
        widths = {len(row) for row in self.start}
        if len(widths) != 1 or not min(widths):
            raise LabError("a matrix needs rows of the same length, and at least one cell")
        for name, labels, count in (("rows", self.rows, len(self.start)), ("columns", self.columns, self.width)):
            if labels and len(labels) != count:
                raise LabError(f"a matrix with {count} {name} has {len(labels)} labels for them")
        _steps(self.low, self.high, self.step)
        self.read(self.initial)

    @property
    def width(self) -> int:
        return len(self.start[0])

    @property
    def initial(self) -> list[list[float]]:
        return [[float(x) for x in row] for row in self.start]

    def read(self, value: Any) -> list[list[float]]:
        what = f"{len(self.start)} rows of {self.width} numbers"
        rows = _numbers(value, len(self.start), what)
        return [[_number(x, self.low, self.high) for x in _numbers(row, self.width, what)] for row in rows]

    def scalars(self, value: Any) -> list[Any]:
        return [x for row in value for x in row]

    def join(self, scalars: Sequence[Any]) -> Any:
        return [list(scalars[i : i + self.width]) for i in range(0, len(scalars), self.width)]

    def axes(self) -> list[list[Any]]:
        return [sorted({*_steps(self.low, self.high, self.step), x}) for x in self.scalars(self.initial)]


@dataclass(frozen=True)
class Text:
    """A line of text, at most `longest` characters; the parameter receives it without white space at its ends."""

    start: str = ""
    longest: int = 60
    label: str = ""

    kind = "text"

    def __post_init__(self) -> None:
        self.read(self.start)

    @property
    def initial(self) -> str:
        return self.start

    def read(self, value: Any) -> str:
        if not isinstance(value, str):
            raise LabError(f"expected text, got {value!r:.80}")
        if len(value) > self.longest:
            raise LabError(f"a text of {len(value)} characters is longer than {self.longest}")
        return value.strip()

    def scalars(self, value: Any) -> list[Any]:
        return [value]

    def join(self, scalars: Sequence[Any]) -> Any:
        return scalars[0]

    def axes(self) -> list[list[Any]]:
        return [[self.start]]


@dataclass(frozen=True)
class Tokens:
    """Words, typed with spaces between them; the parameter receives a list of texts.

    From one to `most` words of at most `longest` characters; with a `vocabulary`, words of it only.
    """

    start: Sequence[str]
    most: int = 8
    longest: int = 8
    vocabulary: Sequence[str] = ()
    label: str = ""

    kind = "tokens"

    def __post_init__(self) -> None:
        if isinstance(self.start, str):
            raise LabError("the start of tokens is a list of words")
        self.read(self.initial)

    @property
    def initial(self) -> list[str]:
        return list(self.start)

    def read(self, value: Any) -> list[str]:
        """Words from the browser are one text with spaces between them."""
        words = value.split() if isinstance(value, str) else list(value) if isinstance(value, (list, tuple)) else None
        if words is None or not all(isinstance(word, str) and word.split() == [word] for word in words):
            raise LabError(f"expected words, got {value!r:.80}")
        if not 1 <= len(words) <= self.most:
            raise LabError(f"{len(words)} words; give 1 … {self.most}")
        for word in words:
            if len(word) > self.longest:
                raise LabError(f"{word!r} is longer than {self.longest} characters")
            if self.vocabulary and word not in self.vocabulary:
                raise LabError(f"{word!r} is none of {', '.join(self.vocabulary)}")
        return words

    def scalars(self, value: Any) -> list[Any]:
        return [value if isinstance(value, str) else " ".join(value)]

    def join(self, scalars: Sequence[Any]) -> Any:
        return scalars[0]

    def axes(self) -> list[list[Any]]:
        return [[" ".join(self.start)]]


Control = Slider | Number | Toggle | Choice | Drag | Matrix | Text | Tokens
