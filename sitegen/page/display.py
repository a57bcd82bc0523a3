"""Display functions: each gives the text a reader sees together with the value it stands for.

One rounding rule, everywhere (build, browser, figures, speech): the value is first taken to 12 significant digits,
so that 0.1 + 0.2 is 0.3 and a last-bit difference between two machines never shows; then it is rounded half away
from zero, as readers learned at school. Minus is U+2212, and there is no minus zero.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

SIGNIFICANT = 12
LONGEST_EXACT = 5  # decimals that `num(x)` prints without being told how many
_WIDE = Context(prec=400)  # quantize() must hold 1.8e308 with decimals
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class DisplayError(ValueError):
    """A value that cannot be shown as asked; the message says what to write instead."""


@dataclass(frozen=True)
class Shown:
    """One number on a page: its text, its full value, where it comes from, and its place in a larger value."""

    text: str
    value: float | int
    origin: str = ""  # "fact" where the number is a published one
    path: str = ""  # "[1]" or "[0, 2]" where it is an entry of a vector or matrix


@dataclass(frozen=True)
class ShownList:
    """The entries of a vector or a plain sequence, printed in line."""

    items: tuple[Shown, ...]
    before: str
    between: str
    after: str

    @property
    def text(self) -> str:
        return self.before + self.between.join(item.text for item in self.items) + self.after


@dataclass(frozen=True)
class ShownTable:
    """The entries of a matrix, with labels for its rows and columns where there are any."""

    rows: tuple[tuple[Shown, ...], ...]
    row_names: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "; ".join(", ".join(item.text for item in row) for row in self.rows)


AnyShown = Shown | ShownList | ShownTable


# ---- text of one number


def exact_decimal(value: float | int) -> Decimal:
    """The value as a decimal: integers as they are, floats to 12 significant digits."""
    return Decimal(value) if isinstance(value, int) else Decimal(f"{value:.{SIGNIFICANT - 1}e}")


def rounded(value: float | int, digits: int) -> Decimal:
    """Half away from zero; never minus zero."""
    result = exact_decimal(value).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP, context=_WIDE)
    return abs(result) if result == 0 else result


def plain(number: Decimal, grouped: bool = False) -> str:
    """A decimal as page text, with a true minus sign."""
    return format(number, ",f" if grouped else "f").replace("-", "−")


def fixed(value: float | int, digits: int | None = None) -> str:
    """The text of a number: with `digits` decimals, or exactly where that is short."""
    if digits is not None:
        return plain(rounded(value, _digits(digits)))
    number = exact_decimal(value)
    number = Decimal(0) if number == 0 else number.normalize(_WIDE)
    decimals = max(0, -int(number.as_tuple().exponent))
    if decimals > LONGEST_EXACT:
        raise DisplayError(f"{float(value)!r} is too long to print exactly; say how many decimals, as in num(x, 2)")
    return plain(number)


def power_of_ten(value: float | int, digits: int) -> str:
    """Scientific notation, as in 1.9×10⁻²²."""
    if value == 0:
        return "0"
    exponent = exact_decimal(value).adjusted()
    mantissa = rounded(float(exact_decimal(value).scaleb(-exponent)), digits)
    if abs(mantissa) >= 10:  # 9.96 rounds up to 10.0
        exponent += 1
        mantissa = rounded(float(exact_decimal(value).scaleb(-exponent)), digits)
    if exponent == 0:
        return plain(mantissa)
    return f"{plain(mantissa)}×10{str(exponent).translate(_SUPERSCRIPTS)}"


def _digits(digits: object) -> int:
    if isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= 15:
        raise DisplayError(f"digits must be a whole number from 0 to 15, not {digits!r}")
    return digits


# ---- values


def is_fact(value: object) -> bool:
    """A published number carries its source; anything with `.value` and `.source` counts, whoever made it."""
    return hasattr(value, "value") and hasattr(value, "source")


def number_of(value: Any) -> tuple[float | int, str]:
    """The plain number and its origin, or an error that says what was given and what to write."""
    origin = ""
    if is_fact(value):
        value, origin = value.value, "fact"
    if hasattr(value, "shape") and value.shape != ():
        raise DisplayError(f"this is an array of shape {tuple(value.shape)}; show it with vec(…) or mat(…)")
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise DisplayError(f"this is {type(value).__name__} {value!r}, not a number")
    if not math.isfinite(value):
        raise DisplayError(f"the value is {value!r}; a page shows finite numbers only")
    return value, origin


def _entries(values: Any, depth: int) -> list[Any]:
    """A vector (depth 1) or matrix (depth 2) as nested lists; anything else is an error that names the shape."""
    if hasattr(values, "tolist"):
        if values.ndim != depth:
            wanted = {1: "vec(…) and seq(…) take one axis", 2: "mat(…) takes two axes"}[depth]
            raise DisplayError(f"{wanted}; this array has shape {tuple(values.shape)}")
        return values.tolist()
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Sequence):
        raise DisplayError(f"this is {type(values).__name__}, not a sequence of numbers")
    return list(values)


class Display:
    """The display functions of one language. `words` gives the few words they need (sitegen/words/*.toml)."""

    def __init__(self, words: Mapping[str, str]):
        self.below, self.between = words["below"], words["sequence_separator"]

    def functions(self) -> dict[str, Callable[..., AnyShown]]:
        """Name → function, as an article's expressions see them."""
        return {name: getattr(self, name) for name in ("num", "pct", "sci", "count", "vec", "mat", "seq")}

    def num(self, x: Any, digits: int | None = None) -> Shown:
        """A number with `digits` decimals; without `digits`, exactly, if that is short."""
        value, origin = number_of(x)
        return Shown(fixed(value, digits), value, origin)

    def pct(self, x: Any, digits: int = 0) -> Shown:
        """A share as a percentage; the value kept is the share, between 0 and 1 for a part of a whole."""
        value, origin = number_of(x)
        percent = exact_decimal(value) * 100 if isinstance(value, int) else exact_decimal(value).scaleb(2)
        quantum = Decimal(1).scaleb(-_digits(digits))
        shown = percent.quantize(quantum, rounding=ROUND_HALF_UP, context=_WIDE)
        return Shown(plain(abs(shown) if shown == 0 else shown) + "%", value, origin)

    def sci(self, x: Any, digits: int = 1, floor: float = 0.0) -> Shown:
        """Scientific notation. Magnitudes below `floor` are noise there and printed as "below 10⁻¹²"."""
        value, origin = number_of(x)
        if abs(value) < floor:
            return Shown(self.below.format(power_of_ten(floor, 0).removeprefix("1×")), value, origin)
        return Shown(power_of_ten(value, _digits(digits)), value, origin)

    def count(self, n: Any) -> Shown:
        """A whole number with thousands marked: 124,439,808."""
        value, origin = number_of(n)
        try:
            whole = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            raise DisplayError(f"count(…) takes a whole number; this is the float {value!r}") from None
        return Shown(plain(Decimal(whole), grouped=True), whole, origin)

    def vec(self, v: Any, digits: int | None = None) -> ShownList:
        """A vector in line: [30, −8, 52]."""
        return ShownList(self._items(v, digits), "[", ", ", "]")

    def seq(self, v: Any, digits: int | None = None) -> ShownList:
        """Numbers one after another, as a sentence lists them."""
        return ShownList(self._items(v, digits), "", self.between, "")

    def mat(
        self,
        m: Any,
        digits: int | None = None,
        rows: Sequence[str] | None = None,
        cols: Sequence[str] | None = None,
    ) -> ShownTable:
        """A matrix as a table; `rows` and `cols` are labels, as many as there are rows and columns."""
        lines = _entries(m, 2)
        table = tuple(
            tuple(replace(self.num(x, digits), path=f"[{i}, {j}]") for j, x in enumerate(line))
            for i, line in enumerate(lines)
        )
        if len({len(row) for row in table}) > 1:
            raise DisplayError("the rows of mat(…) have different lengths")
        for name, labels, wanted in (("rows", rows, len(table)), ("cols", cols, len(table[0]) if table else 0)):
            if labels is not None and len(labels) != wanted:
                raise DisplayError(f"mat(…, {name}=…) has {len(labels)} labels for {wanted} {name}")
        return ShownTable(table, tuple(rows or ()), tuple(cols or ()))

    def _items(self, values: Any, digits: int | None) -> tuple[Shown, ...]:
        return tuple(replace(self.num(x, digits), path=f"[{i}]") for i, x in enumerate(_entries(values, 1)))
