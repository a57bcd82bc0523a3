"""Attention: every word asks all words, and takes a weighted mean of what they offer.

Vaswani et al. 2017 (arXiv 1706.03762, sec. 3.2) for dot-product and multi-head attention, Ainslie et al. 2023
(arXiv 2305.13245) for grouped queries, Bahdanau et al. 2014 (arXiv 1409.0473, app. A.1.2) for additive scores.
Masks are boolean, True = may attend; a query with nothing to attend to gets weights 0 and output 0.
"""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from sim._checks import Array, Bias, mask_for, shapes
from sim.ops import softmax

Record = dict[str, Any]  # named activations, filled in by the function it is given to


@shapes(q="... n_q? d_head", k="... n_k d_head")
def scores(q: Array, k: Array, divisor: float | None = None) -> Array:
    # (..., n_q, d_head), (..., n_k, d_head) -> (..., n_q, n_k)
    """q kᵀ / √d_head: how well each query fits each key. `divisor` replaces √d_head; 1 leaves the products as they are.

    A single query may be a plain vector (d_head,); its scores are then a vector too.
    """
    d_head = q.shape[-1]
    return q @ k.mT / (sqrt(d_head) if divisor is None else divisor)


def attention_weights(q: Array, k: Array, mask: Array | None = None, divisor: float | None = None) -> Array:
    # (..., n_q, d_head), (..., n_k, d_head) -> (..., n_q, n_k)
    """softmax(q kᵀ / √d_head): each query's shares of the keys, adding to 1."""
    return softmax(scores(q, k, divisor), where=mask)


@shapes(q="... n_q? d_head", k="... n_k d_head", v="... n_k d_v")
def attention(q: Array, k: Array, v: Array, mask: Array | None = None, divisor: float | None = None) -> Array:
    # (..., n_q, d_head), (..., n_k, d_head), (..., n_k, d_v) -> (..., n_q, d_v)
    """Attention(Q, K, V) = softmax(Q Kᵀ / √d_head) V, eq. 1 of the paper.

    >>> attention(q=[[0, 2]], k=[[0, 0], [0, 0]], v=[[1, 3], [3, 5]]).tolist()
    [[2.0, 4.0]]
    """
    return attention_weights(q, k, mask, divisor) @ v


def causal_mask(seq_len: int) -> Array:  # -> (seq_len, seq_len)
    """Position i may attend to positions 0 … i.

    >>> causal_mask(3).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    return np.tri(seq_len, dtype=bool)


def padding_mask(is_word: Array) -> Array:  # (..., seq_len) -> (..., 1, seq_len)
    """No position may attend to padding; `is_word` is True for words. Join it to another mask with `&`.

    >>> (causal_mask(3) & padding_mask([True, True, False])).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 0]]
    """
    is_word = np.asarray(is_word)
    return mask_for(is_word.shape, is_word, "padding_mask: is_word")[..., None, :]


@shapes(x="... seq_len inner")
def split_heads(x: Array, n_heads: int) -> Array:  # (..., seq_len, n_heads·d_head) -> (..., n_heads, seq_len, d_head)
    """Head i gets the columns [i·d_head, (i+1)·d_head)."""
    *batch, seq_len, inner = x.shape
    if n_heads < 1 or inner % n_heads:
        raise ValueError(f"split_heads: n_heads is {n_heads}; needed a divisor of the width {inner} of x, {x.shape}")
    return x.reshape(*batch, seq_len, n_heads, inner // n_heads).swapaxes(-3, -2)


@shapes(heads="... n_heads seq_len d_head")
def merge_heads(heads: Array) -> Array:  # (..., n_heads, seq_len, d_head) -> (..., seq_len, n_heads·d_head)
    """The heads side by side again: the inverse of `split_heads`."""
    *batch, n_heads, seq_len, d_head = heads.shape
    return heads.swapaxes(-3, -2).reshape(*batch, seq_len, n_heads * d_head)


@shapes(heads="... n_kv_heads seq_len d_head")
def repeat_heads(heads: Array, n_heads: int) -> Array:  # (..., n_kv_heads, n, d_head) -> (..., n_heads, n, d_head)
    """Each key-value head n_heads/n_kv_heads times in a row: query head i reads head i // (n_heads/n_kv_heads)."""
    n_kv_heads = heads.shape[-3]
    if n_heads % n_kv_heads:
        raise ValueError(f"repeat_heads: n_heads is {n_heads}; needed a multiple of the {n_kv_heads} key-value heads")
    return np.repeat(heads, n_heads // n_kv_heads, axis=-3)


@shapes(x="... n_q d_model", memory="... n_k d_memory", W_Q="d_model inner", W_K="d_memory inner",
        W_V="d_memory inner_v", W_O="inner_v d_model", b_Q="inner", b_K="inner", b_V="inner_v", b_O="d_model")
def multi_head_attention(
    x: Array, memory: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, n_heads: int, mask: Array | None = None,
    b_Q: Bias = 0.0, b_K: Bias = 0.0, b_V: Bias = 0.0, b_O: Bias = 0.0, record: Record | None = None,
) -> Array:  # (..., n_q, d_model), (..., n_k, d_memory) -> (..., n_q, d_model)
    """Concat(head_1, …, head_h) W_O, head_i = Attention(x W_Q, memory W_K, memory W_V) on its own columns (sec. 3.2.2).

    Self-attention: memory is x. Cross-attention: memory is the encoder's output. The mask is the same for every head.
    `record` receives q, k, v, weights, heads, each (..., n_heads, ·, ·).
    """
    q = split_heads(x @ W_Q + b_Q, n_heads)
    k = split_heads(memory @ W_K + b_K, n_heads)
    v = split_heads(memory @ W_V + b_V, n_heads)
    weights = attention_weights(q, k, every_head(mask))
    heads = weights @ v
    note(record, q=q, k=k, v=v, weights=weights, heads=heads)
    return merge_heads(heads) @ W_O + b_O


@shapes(x="... seq_len d_model", W_Q="d_model inner", W_K="d_model inner_kv", W_V="d_model inner_kv",
        W_O="inner d_model", b_Q="inner", b_K="inner_kv", b_V="inner_kv", b_O="d_model")
def grouped_query_attention(
    x: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, n_heads: int, n_kv_heads: int, mask: Array | None = None,
    b_Q: Bias = 0.0, b_K: Bias = 0.0, b_V: Bias = 0.0, b_O: Bias = 0.0,
    rotate: Callable[[Array], Array] | None = None, record: Record | None = None,
) -> Array:  # (..., seq_len, d_model) -> (..., seq_len, d_model)
    """Multi-head self-attention in which n_heads/n_kv_heads query heads share a key-value head; one: multi-query.

    `rotate` turns queries and keys by their positions (RoPE), (..., n_heads, seq_len, d_head) -> same.
    """
    q = split_heads(x @ W_Q + b_Q, n_heads)
    k = split_heads(x @ W_K + b_K, n_kv_heads)
    v = split_heads(x @ W_V + b_V, n_kv_heads)
    if rotate is not None:
        q, k = rotate(q), rotate(k)
    weights = attention_weights(q, repeat_heads(k, n_heads), every_head(mask))
    heads = weights @ repeat_heads(v, n_heads)
    note(record, q=q, k=k, v=v, weights=weights, heads=heads)
    return merge_heads(heads) @ W_O + b_O


@shapes(s="... d_s", h="... n_k d_h", W_a="d_s d_a", U_a="d_h d_a", v_a="d_a")
def additive_scores(s: Array, h: Array, W_a: Array, U_a: Array, v_a: Array) -> Array:
    # (..., d_s), (..., n_k, d_h) -> (..., n_k)
    """e_j = v_a · tanh(s W_a + h_j U_a): Bahdanau's score of decoder state s against each encoder state h_j."""
    return np.tanh((s @ W_a)[..., None, :] + h @ U_a) @ v_a


def every_head(mask: Array | None) -> Array | None:  # (..., n_q, n_k) -> (..., 1, n_q, n_k)
    """The mask with an axis for the heads, where it has a batch axis that would be taken for it."""
    return mask if mask is None or np.ndim(mask) < 3 else np.expand_dims(mask, -3)


def note(record: Record | None, **activations: Any) -> None:
    """Write the activations down under their names, if there is a record to write to."""
    if record is not None:
        record.update(activations)


def part(record: Record | None, name: str) -> Record | None:
    """The record of a part inside the record of the whole: record["attention"]["weights"]."""
    return None if record is None else record.setdefault(name, {})
