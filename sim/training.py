"""How parameters move: gradient descent and its descendants, the schedules of their step size, and the loop.

Parameters are a dict from name to Tensor; an optimiser reads each `grad`, changes each `value` in place and clears
`grad`. All follow PyTorch's definitions (tests/data/golden.json: optimizer.steps, tiny_lm.training).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from sim.autograd import Tensor

Params = dict[str, Tensor]
Rate = Callable[[int], float]  # step (the first is 1) -> learning rate


class Optimizer(Protocol):
    params: Params

    def step(self, rate: float) -> None: ...


class SGD:
    """θ ← θ − rate·v with v ← momentum·v + gradient; momentum 0 is plain gradient descent (Polyak 1964)."""

    def __init__(self, params: Params, momentum: float = 0.0) -> None:
        self.params, self.momentum = params, momentum
        self.velocity = {name: np.zeros_like(p.value) for name, p in params.items()}

    def step(self, rate: float) -> None:
        for name, p in self.params.items():
            if p.grad is not None:
                self.velocity[name] = self.momentum * self.velocity[name] + p.grad
                p.value -= rate * self.velocity[name]
                p.grad = None


class AdamW:
    """Adam (Kingma & Ba 2014, arXiv 1412.6980): a step of about `rate` for every entry, whatever its gradient's size.

    m and s are running means of the gradient and of its square, divided by 1 − betaᵗ because both start at 0.
    With weight_decay, matrices (`decay_vectors`: all parameters) also shrink by rate·weight_decay
    (Loshchilov & Hutter 2017, arXiv 1711.05101).
    """

    def __init__(
        self,
        params: Params,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        decay_vectors: bool = False,
    ) -> None:
        self.params, self.betas, self.eps = params, betas, eps
        self.weight_decay, self.decay_vectors, self.steps = weight_decay, decay_vectors, 0
        self.mean = {name: np.zeros_like(p.value) for name, p in params.items()}
        self.square = {name: np.zeros_like(p.value) for name, p in params.items()}

    def step(self, rate: float) -> None:
        self.steps += 1
        beta_1, beta_2 = self.betas
        for name, p in self.params.items():
            if p.grad is None:
                continue
            m, s = self.mean[name], self.square[name]
            m += (1 - beta_1) * (p.grad - m)
            s += (1 - beta_2) * (p.grad * p.grad - s)
            if self.weight_decay and (self.decay_vectors or p.value.ndim > 1):
                p.value -= rate * self.weight_decay * p.value
            unbiased_m, unbiased_s = m / (1 - beta_1**self.steps), s / (1 - beta_2**self.steps)
            p.value -= rate * unbiased_m / (np.sqrt(unbiased_s) + self.eps)
            p.grad = None


class Adam(AdamW):
    """AdamW without decay."""

    def __init__(self, params: Params, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8) -> None:
        super().__init__(params, betas, eps, weight_decay=0.0)


def constant(rate: float, warm_up: int = 0) -> Rate:
    """Rise in a straight line over the first `warm_up` steps, then stay. warm_up = 0: the full rate from step 1."""
    return lambda step: rate * min(1.0, step / warm_up if warm_up else 1.0)


def cosine(rate: float, steps: int, warm_up: int = 0, last: float = 0.05) -> Rate:
    """Rise over `warm_up` steps, times half a cosine from 1 down to `last` (Loshchilov & Hutter, arXiv 1608.03983)."""
    rising = constant(rate, warm_up)
    return lambda step: rising(step) * (last + (1 - last) * (1 + math.cos(math.pi * (step - 1) / steps)) / 2)


def noam(d_model: int, warm_up: int = 4000) -> Rate:
    """The 2017 paper's schedule, eq. 3: d_model^−½ · min(step^−½, step · warm_up^−1½)."""
    return lambda step: d_model**-0.5 * min(step**-0.5, step * warm_up**-1.5)


def train(
    optimizer: Optimizer,
    loss_at: Callable[[int], Tensor],
    rate: Rate,
    steps: int,
    watch: Callable[[int], Any] | None = None,
    every: int = 1,
) -> list[Any]:
    """`steps` times: loss, gradients, one step. loss_at(step) builds the loss of that step's batch on the tape.

    Returns what watch(step) said after step 1, after every `every` steps and after the last; without `watch`, the
    loss before each of these steps. Stops early when the loss is no longer finite: the last entry then tells.
    """
    seen = []
    for step in range(1, steps + 1):
        loss = loss_at(step)
        broken = not math.isfinite(float(loss.value))
        if not broken:
            loss.backward()
            optimizer.step(rate(step))
        if step == 1 or step % every == 0 or step == steps or broken:
            seen.append(watch(step) if watch else float(loss.value))
        if broken:
            break
    return seen


def significant(x: Any, digits: int = 6) -> Any:
    """Plain Python numbers with `digits` significant digits, through lists and dicts: what a result file keeps.

    Trained float32 numbers differ in the 4th digit between machines, so more would be noise.
    """
    if isinstance(x, dict):
        return {key: significant(value, digits) for key, value in x.items()}
    if isinstance(x, (list, tuple, np.ndarray)):
        return [significant(value, digits) for value in x]
    if isinstance(x, (int, np.integer)):
        return int(x)
    return float(f"{float(x):.{digits}g}")
