"""What an argument must look like, and the error that says so.

A function states the shapes of its arguments in one line above it, so that its body holds the formula alone.
"""

import functools
import inspect
import numbers
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Bias = Array | float  # a vector, or one number for every entry (0.0: no bias)
Function = TypeVar("Function", bound=Callable[..., Any])


def shapes(**patterns: str) -> Callable[[Function], Function]:
    """Make the named arguments float arrays of these shapes, or raise a ValueError: which argument, got, needed.

    `@shapes(q="... n_q? d_head", k="... n_k d_head")`: a size that is named twice must be the same twice; `n_q?` may be
    missing, where a single vector will do; `...` stands for any batch shape, and batch shapes must broadcast.
    float32 and float64 stay, everything else becomes float64. A plain number passes where one size is named
    (a bias of 0.0), and None means the argument's default.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:
                return function(*args, **kwargs)  # raises the same error, but with the function's name
            sizes = _Sizes(function.__name__)
            for name, pattern in patterns.items():
                if bound.arguments.get(name) is None:
                    bound.arguments.pop(name, None)
                else:
                    bound.arguments[name] = sizes.fit(name, bound.arguments[name], pattern.split())
            return function(*bound.args, **bound.kwargs)

        return cast(Function, checked)

    return decorate


def floats(value: Any, label: str) -> Array:
    """The value as an array of float64, or of float32 if it is one already; ValueError if it is not real numbers."""
    try:
        array = np.asarray(value)
        if array.dtype in (np.float32, np.float64):
            return array
        if array.dtype.kind in "biuf":
            return array.astype(np.float64)
        if array.dtype.kind == "O" and all(isinstance(entry, numbers.Real) for entry in array.flat):
            return array.astype(np.float64)  # integers of more than 64 bits, fractions
    except ValueError:  # rows of unequal length
        raise ValueError(f"{label} is ragged; needed rows of equal length") from None
    raise ValueError(f"{label} holds {array.dtype}; needed real numbers")


def mask_for(shape: tuple[int, ...], mask: Any, label: str) -> Array:
    """The mask as a boolean array that broadcasts to `shape`; ValueError if it is not boolean, or does not fit.

    Numbers are refused: 0 and −∞ (or −1e9), for adding to scores, mean the opposite of False and True.
    """
    allowed = np.asarray(mask)
    if allowed.dtype != np.bool_:
        raise ValueError(f"{label} holds {allowed.dtype}; needed True (may attend) and False")
    try:
        fits = np.broadcast_shapes(allowed.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"{label} has shape {allowed.shape}; needed one that broadcasts to {shape}")
    return allowed


class _Sizes:
    """The sizes met so far in one call, each with the argument that set it."""

    def __init__(self, function: str) -> None:
        self.function = function
        self.known: dict[str, tuple[int, str]] = {}
        self.batch: tuple[int, ...] = ()

    def fit(self, name: str, value: Any, pattern: list[str]) -> Any:
        label = f"{self.function}: {name}"
        array = floats(value, label)
        any_batch, sizes = pattern[0] == "...", [size for size in pattern if size != "..."]
        if array.ndim < len(sizes):
            sizes = [size for size in sizes if not size.endswith("?")]
        if array.ndim == 0 and len(pattern) == 1 and not any_batch:
            return float(array)  # a Python number leaves float32 alone
        core = array.ndim - len(sizes)
        if core < 0 or (core > 0 and not any_batch):
            raise self._error(label, array, pattern, name)
        for size, got in zip(sizes, array.shape[core:], strict=True):
            if self.known.setdefault(size, (got, name))[0] != got:
                raise self._error(label, array, pattern, name)
        try:
            self.batch = np.broadcast_shapes(self.batch, array.shape[:core])
        except ValueError:
            needed = f"a batch shape that broadcasts with {self.batch}"
            raise ValueError(f"{label} has shape {array.shape}; needed {needed}") from None
        return array

    def _error(self, label: str, array: Array, pattern: list[str], name: str) -> ValueError:
        comma = "," if len(pattern) == 1 else ""
        others = {size: known for size, known in self.known.items() if size in pattern and known[1] != name}
        reasons = [f"{size} = {length} as in {argument}" for size, (length, argument) in others.items()]
        because = f" with {', '.join(reasons)}" if reasons else ""
        return ValueError(f"{label} has shape {array.shape}; needed ({', '.join(pattern)}{comma}){because}")
