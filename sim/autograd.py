"""A tape: it writes down each step of a calculation, then walks back and finds every gradient.

Each operation is one line forward and one backward: `pull` takes the loss gradient by the result and gives the one
by each parent. Nothing here knows Transformers. Arrays may have leading batch axes; numbers and NumPy arrays may
stand in for constants. After minitorch and micrograd (A. Karpathy); checked against PyTorch in tests/data/golden.json.

>>> x = Tensor(np.array([1.0, 2.0]))
>>> loss = (x * x).sum()
>>> loss.backward()
>>> x.grad.tolist()
[2.0, 4.0]
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sim.ops import normal_cdf

Pull = Callable[[np.ndarray], tuple[np.ndarray, ...]]


class Tensor:
    """An array that remembers what it was computed from; `grad` is filled by `backward` on a later result."""

    __array_priority__ = 1.0  # so that array + Tensor asks the Tensor

    def __init__(self, value: np.ndarray, parents: tuple[Tensor, ...] = (), pull: Pull | None = None) -> None:
        self.value, self.parents, self.pull = np.asarray(value), parents, pull
        self.grad: np.ndarray | None = None
        self.height: int = 1 + max((parent.height for parent in parents), default=-1)  # above all its parents

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    def backward(self) -> None:
        """Fill `grad`, shaped like `value`, of all this number was computed from; adds to a grad that is there."""
        if self.value.size != 1:
            raise ValueError(f"backward starts from a single number, a loss; this Tensor has shape {self.shape}")
        found, to_visit = {id(self): self}, [self]
        while to_visit:
            new = [parent for parent in to_visit.pop().parents if id(parent) not in found]
            found |= {id(parent): parent for parent in new}
            to_visit += new
        self.grad = np.ones_like(self.value)
        for result in sorted(found.values(), key=lambda tensor: -tensor.height):  # a result before its parents
            if result.pull is not None and result.grad is not None:
                for parent, grad in zip(result.parents, result.pull(result.grad), strict=True):
                    parent.grad = grad if parent.grad is None else parent.grad + grad

    def __add__(self, other: Tensor | np.ndarray | float) -> Tensor:
        if not isinstance(other, Tensor):
            return Tensor(self.value + other, (self,), lambda g: (unstretch(g, self.shape),))
        a, b = self.value, other.value
        return Tensor(a + b, (self, other), lambda g: (unstretch(g, a.shape), unstretch(g, b.shape)))

    def __mul__(self, other: Tensor | np.ndarray | float) -> Tensor:
        if not isinstance(other, Tensor):
            return Tensor(self.value * other, (self,), lambda g: (unstretch(g * other, self.shape),))
        a, b = self.value, other.value
        return Tensor(a * b, (self, other), lambda g: (unstretch(g * b, a.shape), unstretch(g * a, b.shape)))

    def __matmul__(self, other: Tensor) -> Tensor:  # (..., n, k) @ (k, m) or (..., k, m) -> (..., n, m)
        a, b = self.value, other.value

        def pull(g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            by_a = unstretch(g @ b.swapaxes(-1, -2), a.shape)
            if b.ndim == 2:  # one matrix for all: one large product is faster than one per batch entry, then a sum
                return by_a, a.reshape(-1, a.shape[-1]).T @ g.reshape(-1, g.shape[-1])
            return by_a, unstretch(a.swapaxes(-1, -2) @ g, b.shape)

        return Tensor(a @ b, (self, other), pull)

    __radd__, __rmul__ = __add__, __mul__

    def reshape(self, *shape: int) -> Tensor:
        return Tensor(self.value.reshape(shape), (self,), lambda g: (g.reshape(self.shape),))

    def transpose(self, *axes: int) -> Tensor:
        return Tensor(self.value.transpose(axes), (self,), lambda g: (g.transpose(np.argsort(axes)),))

    def sum(self) -> Tensor:
        return Tensor(self.value.sum(), (self,), lambda g: (np.broadcast_to(g, self.shape),))


def unstretch(grad: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Undo broadcasting: an entry that was used many times gets the sum of the gradients of its uses."""
    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape)))) if grad.ndim > len(shape) else grad
    stretched = tuple(i for i, size in enumerate(shape) if size == 1 and grad.shape[i] != 1)
    return grad.sum(axis=stretched, keepdims=True) if stretched else grad


def rows(table: Tensor, index: np.ndarray) -> Tensor:  # (vocab, d), integers (...) -> (..., d)
    """Look up rows; a row used twice collects both gradients."""

    def pull(g: np.ndarray) -> tuple[np.ndarray]:
        grad = np.zeros_like(table.value)
        np.add.at(grad, index.ravel(), g.reshape(-1, g.shape[-1]))
        return (grad,)

    return Tensor(table.value[index], (table,), pull)


def relu(x: Tensor) -> Tensor:
    on = x.value > 0
    return Tensor(x.value * on, (x,), lambda g: (g * on,))


def gelu(x: Tensor) -> Tensor:  # x Φ(x), Φ the normal distribution function (exact form, not the tanh one)
    phi = normal_cdf(x.value)
    density = np.exp(-(x.value**2) / 2) / math.sqrt(2 * math.pi)
    return Tensor(x.value * phi, (x,), lambda g: (g * (phi + x.value * density),))


def softmax(x: Tensor) -> Tensor:  # over the last axis
    e = np.exp(x.value - x.value.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    return Tensor(p, (x,), lambda g: (p * (g - (g * p).sum(-1, keepdims=True)),))


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float = 1e-5) -> Tensor:  # (..., d), (d,), (d,) -> (..., d)
    centred = x.value - x.value.mean(-1, keepdims=True)
    scale = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps)
    normed = centred * scale

    def pull(g: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        h = g * gamma.value  # what arrives at `normed`; minus its part along (1, ..., 1) and along `normed` itself
        by_x = scale * (h - h.mean(-1, keepdims=True) - normed * (h * normed).mean(-1, keepdims=True))
        return by_x, unstretch(g * normed, gamma.shape), unstretch(g, beta.shape)

    return Tensor(normed * gamma.value + beta.value, (x, gamma, beta), pull)


def cross_entropy(
    logits: Tensor, targets: np.ndarray, weight: np.ndarray | None = None, smoothing: float = 0.0
) -> Tensor:
    """Mean cross-entropy in nats: (..., V), integers (...) -> a number. `weight` (...) counts positions, 0 = ignore.

    What is wanted is all of the target, or with `smoothing` 1 − smoothing of it and the rest shared by all V words.
    """
    log_p = log_softmax(logits.value)
    wanted = np.full_like(log_p, smoothing / log_p.shape[-1])
    np.put_along_axis(wanted, targets[..., None], 1 - smoothing + smoothing / log_p.shape[-1], axis=-1)
    share = np.ones(targets.shape, log_p.dtype) if weight is None else weight.astype(log_p.dtype)
    share = share[..., None] / share.sum()
    return Tensor(-(share * wanted * log_p).sum(), (logits,), lambda g: (g * share * (np.exp(log_p) - wanted),))


def log_softmax(x: np.ndarray) -> np.ndarray:  # (..., V) -> (..., V), plain arrays
    """sim.ops.log_softmax without its checks: a training run that diverges must be allowed to say NaN."""
    below = x - x.max(-1, keepdims=True)
    result: np.ndarray = below - np.log(np.exp(below).sum(-1, keepdims=True))
    return result
