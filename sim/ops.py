"""The operations on single vectors: softmax, the activations, and the two norms.

Every function takes arrays of any batch shape, keeps float32 and float64, and turns integers and lists into float64.
Wrong shapes are a ValueError that names the argument, what it got, and what is needed.
"""

from math import erfc, pi, sqrt

import numpy as np

from sim._checks import Array, Bias, floats, mask_for, shapes


def softmax(x: Array, axis: int = -1, where: Array | None = None) -> Array:  # (..., n) -> (..., n)
    """softmax(x)_i = exp(x_i) / Σ_j exp(x_j): every entry positive, their sum 1.

    Entries where `where` is False, or that are −∞, get 0; if nothing is left, all get 0. +∞ and NaN are a ValueError.

    >>> softmax([1, 2, 3]).round(4).tolist()
    [0.09, 0.2447, 0.6652]
    """
    powers = np.exp(_below_zero(x, axis, where))  # exp(x − max x): the same ratios, and no power overflows
    return powers / _total(powers, axis)


def log_softmax(x: Array, axis: int = -1, where: Array | None = None) -> Array:  # (..., n) -> (..., n)
    """log softmax(x)_i = x_i − log Σ_j exp(x_j), exact also where softmax has underflown; −∞ for barred entries."""
    x = _below_zero(x, axis, where)
    return x - np.log(_total(np.exp(x), axis))


@shapes(p="... n")
def softmax_jacobian(p: Array) -> Array:  # (..., n) -> (..., n, n)
    """∂p_i/∂x_j = p_i (δ_ij − p_j) for p = softmax(x): how far weight i moves when score j does."""
    diagonal = p[..., :, None] * np.eye(p.shape[-1], dtype=p.dtype)
    return diagonal - p[..., :, None] * p[..., None, :]


@shapes(p="... n")
def entropy(p: Array, axis: int = -1) -> Array:  # (..., n) -> (...)
    """−Σ p log p, in nats, with 0 log 0 = 0: 0 when one entry has all, log n when all entries are equal."""
    return 0.0 - (p * np.log(np.where(p > 0, p, 1))).sum(axis=axis)


@shapes(x="...")
def relu(x: Array) -> Array:  # (...) -> (...)
    """max(0, x).

    >>> relu([1.2, -0.7, 0.3, -2.1]).tolist()
    [1.2, 0.0, 0.3, 0.0]
    """
    return np.maximum(x, 0)


@shapes(x="...")
def sigmoid(x: Array) -> Array:  # (...) -> (...)
    """1 / (1 + exp(−x)), between 0 and 1."""
    with np.errstate(over="ignore"):  # exp(−x) = ∞ is welcome: 1 / (1 + ∞) is the 0 that is meant
        return 1 / (1 + np.exp(-x))


@shapes(x="...")
def silu(x: Array) -> Array:  # (...) -> (...)
    """x · sigmoid(x), also called Swish_1 (Ramachandran et al. 2017, arXiv 1710.05941)."""
    return x * sigmoid(x)


@shapes(x="...")
def gelu(x: Array) -> Array:  # (...) -> (...)
    """x · Φ(x), Φ the share of a standard normal distribution below x (Hendrycks and Gimpel 2016, arXiv 1606.08415)."""
    return x * normal_cdf(x)


@shapes(x="...")
def gelu_tanh(x: Array) -> Array:  # (...) -> (...)
    """GELU with Φ approximated by a tanh (sec. 2 of the same paper): the form in the code of GPT-1 and GPT-2."""
    return 0.5 * x * (1 + np.tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))


@shapes(x="...")
def normal_cdf(x: Array) -> Array:  # (...) -> (...)
    """Φ(x) = (1 + erf(x/√2)) / 2. NumPy has no erf, so the standard library's is called entry by entry.

    Written with erfc = 1 − erf, which keeps its digits far below 0, where 1 + erf would lose them.
    """
    return (_erfc(-x / sqrt(2)) / 2).astype(x.dtype)


@shapes(x="... d_model", gamma="d_model", beta="d_model")
def layer_norm(x: Array, gamma: Bias = 1.0, beta: Bias = 0.0, eps: float = 1e-5) -> Array:  # (..., d_model) -> same
    """(x − mean) / √(variance + eps) · gamma + beta, for each vector on its own (Ba et al. 2016, arXiv 1607.06450).

    A vector of equal entries gives exactly beta, also with eps = 0.

    >>> layer_norm([30, -8, 52], eps=0).round(4).tolist()
    [0.2152, -1.3181, 1.1029]
    """
    mean = _mean(x)
    variance = _mean((x - mean) ** 2)  # divided by d_model, not by d_model − 1
    normed = _ratio(x - mean, np.sqrt(variance + eps))
    return gamma * normed + beta


@shapes(x="... d_model", gamma="d_model")
def rms_norm(x: Array, gamma: Bias = 1.0, eps: float = 1e-5) -> Array:  # (..., d_model) -> (..., d_model)
    """x / √(mean of x² + eps) · gamma: layer norm without mean and beta (Zhang and Sennrich 2019, arXiv 1910.07467)."""
    return gamma * _ratio(x, np.sqrt(_mean(x**2) + eps))


def _below_zero(x: Array, axis: int, where: Array | None) -> Array:
    """x less its largest allowed entry; −∞ where an entry is not allowed."""
    x = floats(x, "softmax: x")
    barred = np.isneginf(x)
    if where is not None:
        barred = barred | ~mask_for(x.shape, where, "softmax: where (the mask)")
    if not np.isfinite(x[~barred]).all():
        raise ValueError("softmax: x holds NaN or +∞; needed finite numbers, or −∞ for what gets no weight")
    top = np.max(x, axis=axis, keepdims=True, where=~barred, initial=-np.inf)
    with np.errstate(over="ignore"):  # −1e308 − 1e308 = −∞, and exp of that is the 0 that is meant
        return np.where(barred, -np.inf, x - np.where(np.isneginf(top), 0, top))


def _total(powers: Array, axis: int) -> Array:
    """The sum along the axis; 1 where there is nothing to add, so that such a row stays 0."""
    total = powers.sum(axis=axis, keepdims=True)
    return np.where(total == 0, 1, total)


def _mean(x: Array) -> Array:
    """The mean of each vector, (..., d) -> (..., 1), held between its least and greatest entry.

    Rounding can push a mean out: for three times 0.1 it is 0.1 + 1e-17, the variance above 0 and, with eps = 0, the
    result −1, −1, −1.
    """
    with np.errstate(over="ignore"):
        mean = x.mean(axis=-1, keepdims=True)
    return np.clip(mean, x.min(axis=-1, keepdims=True), x.max(axis=-1, keepdims=True))


def _ratio(x: Array, size: Array) -> Array:
    """x / size, and 0 where the size is 0."""
    return np.divide(x, size, out=np.zeros_like(x), where=size > 0)


_erfc = np.vectorize(erfc, otypes=[np.float64])
