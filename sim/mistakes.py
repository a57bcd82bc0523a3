"""Usual slips, by name: what comes out when one step is done wrong.

Wrong options of a question are computed here, so that a reader who made the slip finds its result among the answers and
is told which one it was. Each docstring says who makes it. The right ways are in `ops`, `attention` and `counting`.
"""

import numpy as np

from sim import counting, ops
from sim._checks import Array

# ---- scores and weights


def scaled_by_width(q: Array, k: Array, d_model: int) -> Array:  # (n, d_head), (m, d_head) -> (n, m)
    """Scores divided by √d_model, not √d_head: whoever reads d in the formula as the width of the whole model.

    >>> float(scaled_by_width(np.array([[2.0, 0.0]]), np.array([[2.0, 0.0]]), d_model=16)[0, 0])
    1.0
    """
    return q @ k.T / np.sqrt(d_model)


def unscaled(q: Array, k: Array) -> Array:  # (n, d_head), (m, d_head) -> (n, m)
    """Scores not divided at all: whoever remembers "dot product, then softmax" and forgets √d_head."""
    return q @ k.T


def softmax_over_queries(scores: Array) -> Array:  # (n, m) -> (n, m)
    """Softmax down each column: whoever takes the wrong axis. Columns sum to 1; a word's own weights do not.

    >>> softmax_over_queries(np.zeros((2, 4))).sum(axis=1).tolist()
    [2.0, 2.0]
    """
    return ops.softmax(scores, axis=-2)


def masked_after_softmax(scores: Array, mask: Array) -> Array:  # (n, m), (n, m) bool -> (n, m)
    """Weights put to 0 where barred, after softmax: whoever reads the mask as a factor. Rows no longer sum to 1."""
    return ops.softmax(scores) * mask


def masked_with_zero(scores: Array, mask: Array) -> Array:  # (n, m), (n, m) bool -> (n, m)
    """Barred scores put to 0, not −∞: whoever thinks a score of 0 gets no weight. It gets exp(0) = 1."""
    return ops.softmax(np.where(mask, scores, 0.0))


def over_scaled(q: Array, k: Array) -> Array:  # (n, d_head), (m, d_head) -> (n, m)
    """Scores divided by d_head: whoever forgets the square root. The weights come out nearly equal."""
    return q @ k.T / k.shape[-1]


def scores_for_weights(scores: Array, v: Array) -> Array:  # (m,), (m, …) -> (…)
    """Values added up by their scores: whoever leaves softmax out."""
    return scores @ v


def shared_equally(v: Array) -> Array:  # (m, …) -> (…)
    """The mean of the values: whoever forgets the weights."""
    return v.mean(axis=0)


def winner_alone(weights: Array, v: Array) -> Array:  # (m,), (m, …) -> (…)
    """The value with the largest weight: whoever takes attention for picking one word out."""
    return v[weights.argmax()]


# ---- layer norm


def sample_deviation(x: Array) -> float:  # (d,) -> ()
    """Deviation divided by d − 1: whoever brings the formula for a sample from statistics.

    >>> sample_deviation(np.array([7.0, 1.0, 4.0]))
    3.0
    """
    return float(np.std(x, ddof=1))


def layer_norm_of_sample(x: Array) -> Array:  # (d,) -> (d,)
    """Layer norm with that deviation: every entry too small by √((d − 1) / d)."""
    return (x - x.mean()) / sample_deviation(x)


def layer_norm_by_variance(x: Array) -> Array:  # (d,) -> (d,)
    """Divided by the variance: whoever forgets the square root."""
    return (x - x.mean()) / x.var()


def layer_norm_uncentred(x: Array) -> Array:  # (d,) -> (d,)
    """Divided by the deviation without the mean taken off first: whoever does the second step alone."""
    return x / x.std()


def layer_norm_eps_outside(x: Array, eps: float) -> Array:  # (d,) -> (d,)
    """(x − μ) / (σ + ε): whoever puts ε on the deviation. The formula has √(σ² + ε), which differs for small σ."""
    return (x - x.mean()) / (x.std() + eps)


def layer_norm_over_batch(x: Array) -> Array:  # (n, d_model) -> (n, d_model)
    """Normed down each column: whoever takes the batch's axis, which is batch norm."""
    return ops.layer_norm(x.T, eps=0).T


# ---- layers


def own_share_alone(share: float, n_layers: int) -> float:
    """share^n: whoever follows one word's own share and forgets what comes back through the others.

    >>> own_share_alone(0.5, 3)
    0.125
    """
    return share**n_layers


def slope_without_one(slope: float, n_layers: int) -> float:
    """f'^n for layers that add: whoever forgets the 1 in 1 + f'."""
    return slope**n_layers


def replaced(x: Array, fx: Array) -> Array:  # (d,), (d,) -> (d,)
    """f(x) where x + f(x) is meant: whoever lets the layer's output take the place of its input."""
    return fx


def without_relu(x: Array, W_1: Array, W_2: Array) -> Array:  # (d_model,), … -> (d_model,)
    """A feed-forward network without its activation: whoever multiplies straight through."""
    return x @ W_1 @ W_2


# ---- counting


def two_thirds(d_model: int) -> float:
    """The feed-forward share of a layer by the rule "two thirds": whoever applies it to a gated or grouped model."""
    return counting.share(counting.ffn_params(d_model), counting.attention_params(d_model))


def gate_left_out(d_model: int, d_ff: int) -> int:
    """Two matrices for SwiGLU's three: whoever counts a gated feed-forward network as a plain one."""
    return counting.ffn_params(d_model, d_ff)


def every_head_its_own(d_model: int) -> int:
    """Full multi-head attention counted for a model with grouped heads: whoever overlooks n_kv_heads."""
    return counting.attention_params(d_model)
