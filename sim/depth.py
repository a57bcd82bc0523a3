"""What depth does to vectors and gradients: words that become alike, numbers that grow, networks that stop learning.

Nothing here is a model one would use; each function is one question with the parts of a layer as switches. Random
numbers come from the caller: anything with NumPy's `standard_normal(shape)`, `uniform`, `integers`.

Dong, Cordonnier, Loukas 2021, arXiv 2103.03404 (rank collapse); Xiong et al. 2020, arXiv 2002.04745 (where the norm
goes); He et al. 2015, arXiv 1512.03385 (degradation).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from sim import autograd as tape
from sim.attention import causal_mask, multi_head_attention
from sim.autograd import Tensor
from sim.ops import layer_norm, relu
from sim.training import SGD, Adam, Params, constant, train

Layer = dict[str, np.ndarray]


# --------------------------------------------------------------------------------------- words through random layers
def random_layers(rng: np.random.Generator, depth: int, d_model: int) -> list[Layer]:
    """`depth` layers of weights that keep the size of their input: N(0, 1/fan_in), N(0, 2/fan_in) before a ReLU.

    W_Q W_K W_V W_O (d, d), W_1 (d, 4d), W_2 (4d, d), drawn in this order, layer by layer.
    """
    d, d_ff = d_model, 4 * d_model
    std = {"W_Q": d**-0.5, "W_K": d**-0.5, "W_V": d**-0.5, "W_O": d**-0.5, "W_1": (2 / d) ** 0.5, "W_2": d_ff**-0.5}
    shape = {"W_1": (d, d_ff), "W_2": (d_ff, d)}
    return [{name: s * rng.standard_normal(shape.get(name, (d, d))) for name, s in std.items()} for _ in range(depth)]


def residual_stream(
    x: np.ndarray,
    layers: Sequence[Layer],
    n_heads: int,
    *,
    skip: bool = False,
    ffn: bool = False,
    norm: Literal["none", "pre", "post"] = "none",
    causal: bool = False,
    score_scale: float = 1.0,
) -> list[np.ndarray]:
    """The words before the first layer and after each: (n, d_model) -> len(layers) + 1 such arrays.

    Every layer has attention; `ffn` adds the feed-forward network, `skip` the residual connections, `norm` layer norm
    (eps 1e-5, no gamma or beta) before or after each sublayer. `score_scale` multiplies the scores q·k/√d_head.
    """
    mask = causal_mask(len(x)) if causal else None

    def attend(x: np.ndarray, w: Layer) -> np.ndarray:
        return multi_head_attention(x, x, score_scale * w["W_Q"], w["W_K"], w["W_V"], w["W_O"], n_heads, mask)

    def feed(x: np.ndarray, w: Layer) -> np.ndarray:
        return relu(x @ w["W_1"]) @ w["W_2"]

    stream = [x]
    for layer in layers:
        for sublayer in (attend, feed) if ffn else (attend,):
            f = sublayer(layer_norm(x) if norm == "pre" else x, layer)
            x = x + f if skip else f
            x = layer_norm(x) if norm == "post" else x
        stream.append(x)
    return stream


def difference_share(x: np.ndarray) -> float:
    """How much of X is difference between its rows: ‖X − 1x̄ᵀ‖ / ‖X‖, Frobenius, x̄ the mean row. 0: all rows alike.

    Below about 1e-15 it measures float64's rounding, not the rows.
    """
    return float(np.linalg.norm(x - x.mean(axis=0)) / np.linalg.norm(x))


def rms(x: np.ndarray) -> float:
    """Root mean square of all entries."""
    return float(np.sqrt(np.mean(x**2)))


# --------------------------------------------------------------------------------------- plain and residual networks
def spiral(rng: np.random.Generator, n_points: int, arms: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Points on spiral arms of 1.25 turns, and the arm of each: (n, 2) float32 of mean 0 and variance 1, (n,) int64."""
    arm = rng.integers(0, arms, n_points)
    radius = rng.uniform(0.1, 1.0, n_points)
    angle = 2 * np.pi * (1.25 * radius + arm / arms)
    points = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points += 0.01 * rng.standard_normal((n_points, 2))
    return ((points - points.mean(axis=0)) / points.std(axis=0)).astype(np.float32), arm.astype(np.int64)


def random_network(rng: np.random.Generator, depth: int, width: int, residual: bool, arms: int = 4) -> Params:
    """`depth` weight matrices W.0 ... with biases b.0 ...: one in, (depth − 2) / 2 blocks of two, one out; float32.

    He initialisation, N(0, 2/fan_in), the last N(0, 1/fan_in). In a residual network each block's second matrix is
    divided by the number of blocks, so that all blocks together start small (in the spirit of Fixup, arXiv 1901.09321).
    """
    if depth < 4 or depth % 2:
        raise ValueError(f"depth = {depth}: needed is one layer in, blocks of two, one layer out, so 4, 6, 8, ...")
    n_blocks = (depth - 2) // 2
    sizes = [2] + [width] * (depth - 1) + [arms]
    params: Params = {}
    for i, (a, b) in enumerate(pairwise(sizes)):
        std = (1 / a) ** 0.5 if i == depth - 1 else (2 / a) ** 0.5
        if residual and 0 < i < depth - 1 and i % 2 == 0:
            std /= n_blocks
        params[f"W.{i}"] = Tensor((std * rng.standard_normal((a, b))).astype(np.float32))
        params[f"b.{i}"] = Tensor(np.zeros(b, np.float32))
    return params


def network(params: Params, residual: bool, points: np.ndarray) -> Tensor:
    """Logits: (n, 2) -> (n, arms). A block is h + W(relu(W h)) with a skip, relu(W(relu(W h))) without."""

    def layer(h: Tensor, i: int) -> Tensor:
        return h @ params[f"W.{i}"] + params[f"b.{i}"]

    last = len(params) // 2 - 1
    h = tape.relu(layer(Tensor(points), 0))
    for i in range(1, last, 2):
        f = layer(tape.relu(layer(h, i)), i + 1)
        h = h + f if residual else tape.relu(f)
    return layer(h, last)


def network_gradients(params: Params, residual: bool, points: np.ndarray, arms: np.ndarray) -> list[float]:
    """Frobenius norm of the loss gradient by each weight matrix, the first layer first; all points at once."""
    tape.cross_entropy(network(params, residual, points), arms).backward()
    grads = [params[f"W.{i}"].grad for i in range(len(params) // 2)]
    for p in params.values():
        p.grad = None
    return [float(np.linalg.norm(grad)) for grad in grads if grad is not None]


def train_network(
    params: Params,
    residual: bool,
    points: np.ndarray,
    arms: np.ndarray,
    rng: np.random.Generator,
    steps: int,
    learning_rate: float,
    batch_size: int,
    every: int,
    adam: bool = False,
) -> list[float]:
    """Share of the training points put on a wrong arm, after step 1, every `every` steps and at the end.

    SGD with momentum 0.9, or Adam. Changes `params`.
    """

    def loss_at(step: int) -> Tensor:
        chosen = rng.integers(0, len(points), batch_size)
        return tape.cross_entropy(network(params, residual, points[chosen]), arms[chosen])

    def error(step: int) -> float:
        return float((network(params, residual, points).value.argmax(axis=1) != arms).mean())

    optimizer = Adam(params) if adam else SGD(params, momentum=0.9)
    return train(optimizer, loss_at, constant(learning_rate), steps, watch=error, every=every)


# --------------------------------------------------------------------------------------- depth without a bend
def unexplained_by_affine(x: np.ndarray, y: np.ndarray) -> float:
    """Share of y's variance that the best affine map of x misses: (n, d_in), (n, d_out) -> 0 ... 1.

    0 means that y = x A + b: however many layers made y, one would do.
    """
    with_one = np.column_stack([x, np.ones(len(x))])
    missed = y - with_one @ np.linalg.lstsq(with_one, y, rcond=None)[0]
    return float((missed**2).sum() / ((y - y.mean(axis=0)) ** 2).sum())
