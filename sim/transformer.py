"""The Transformer's layers: attention and a feed-forward network, each with a residual connection and a norm around it.

Vaswani et al. 2017 (arXiv 1706.03762, sec. 3), Shazeer 2020 (arXiv 2002.05202) for the gated feed-forward network,
Radford et al. 2019 (GPT-2, sec. 2.3) for pre-norm, Touvron et al. 2023 (arXiv 2302.13971, sec. 2.2) for LLaMA's block.

The parameters of a layer are a dictionary of its parts, those of a part a dictionary of its matrices by their names:
    {"attention": {"W_Q": …, "W_K": …, "W_V": …, "W_O": …, "b_Q": …, …}, "norm_1": {"gamma": …, "beta": …},
     "ffn": {"W_1": …, "W_2": …, "b_1": …, "b_2": …}, "norm_2": {…}}
Biases, gamma and beta may be left out. A `record` dictionary, if given, receives the activations of each part by name.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sim._checks import Array, Bias, mask_for, shapes
from sim.attention import (
    Record,
    causal_mask,
    grouped_query_attention,
    multi_head_attention,
    note,
    part,
)
from sim.ops import gelu_tanh, layer_norm, relu, rms_norm, silu

Params = Mapping[str, Any]
Activation = Callable[[Array], Array]
Sublayer = Callable[[Array], Array]


@shapes(x="... d_model", W_1="d_model d_ff", W_2="d_ff d_model", b_1="d_ff", b_2="d_model")
def feed_forward(
    x: Array, W_1: Array, W_2: Array, b_1: Bias = 0.0, b_2: Bias = 0.0,
    activation: Activation = relu, record: Record | None = None,
) -> Array:  # (..., d_model) -> (..., d_model)
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, each position on its own (eq. 2). `record` receives hidden."""
    hidden = activation(x @ W_1 + b_1)
    note(record, hidden=hidden)
    return hidden @ W_2 + b_2


@shapes(x="... d_model", W_1="d_model d_ff", W_2="d_ff d_model", W_3="d_model d_ff")
def gated_feed_forward(
    x: Array, W_1: Array, W_2: Array, W_3: Array, activation: Activation = silu, record: Record | None = None
) -> Array:  # (..., d_model) -> (..., d_model)
    """(activation(x W_1) ⊙ x W_3) W_2, W_1 the gate: SwiGLU with silu, GEGLU with gelu, ReGLU, GLU with sigmoid."""
    gate = activation(x @ W_1)
    hidden = gate * (x @ W_3)
    note(record, gate=gate, hidden=hidden)
    return hidden @ W_2


def residual(x: Array, sublayer: Sublayer) -> Array:  # (..., d_model) -> (..., d_model)
    """x + f(x): a sublayer adds to its input and replaces nothing (He et al. 2015, arXiv 1512.03385)."""
    return x + sublayer(x)


def post_norm(x: Array, sublayer: Sublayer, norm: Sublayer) -> Array:  # (..., d_model) -> (..., d_model)
    """LayerNorm(x + f(x)): the order of the 2017 paper, GPT-1 and BERT."""
    return norm(residual(x, sublayer))


def pre_norm(x: Array, sublayer: Sublayer, norm: Sublayer) -> Array:  # (..., d_model) -> (..., d_model)
    """x + f(LayerNorm(x)): the order of GPT-2 and nearly all models since."""
    return residual(x, lambda x: sublayer(norm(x)))


def encoder_layer(
    x: Array, params: Params, n_heads: int, mask: Array | None = None,
    norm: str = "post", activation: Activation = relu, eps: float = 1e-5, record: Record | None = None,
) -> Array:  # (..., seq_len, d_model) -> (..., seq_len, d_model)
    """Self-attention, then the feed-forward network (sec. 3.1). Parameters: attention, norm_1, ffn, norm_2.

    `norm` is "post" or "pre". `record` receives attention, ffn, after_attention, output.
    """
    attend = _self_attention(params["attention"], n_heads, mask, part(record, "attention"))
    feed = _feed_forward(params["ffn"], activation, part(record, "ffn"))
    join = _order(norm)
    x = after_attention = join(x, attend, _layer_norm(params["norm_1"], eps))
    x = join(x, feed, _layer_norm(params["norm_2"], eps))
    note(record, after_attention=after_attention, output=x)
    return x


def decoder_layer(
    x: Array, memory: Array, params: Params, n_heads: int, mask: Array | None = None, memory_mask: Array | None = None,
    norm: str = "post", activation: Activation = relu, eps: float = 1e-5, record: Record | None = None,
) -> Array:  # (..., seq_len, d_model), (..., n_memory, d_model) -> (..., seq_len, d_model)
    """Causal self-attention, cross-attention to the encoder's output, then the feed-forward network (sec. 3.1).

    Parameters: self_attention, norm_1, cross_attention, norm_2, ffn, norm_3. `mask` bars padding in x, `memory_mask` in
    memory. `record` receives self_attention, cross_attention, ffn, after_self_attention, after_cross_attention, output.
    """
    causal = causal_and(mask, np.shape(x)[-2])
    attend = _self_attention(params["self_attention"], n_heads, causal, part(record, "self_attention"))
    consult = _cross_attention(memory, params["cross_attention"], n_heads, memory_mask, part(record, "cross_attention"))
    feed = _feed_forward(params["ffn"], activation, part(record, "ffn"))
    join = _order(norm)
    x = after_self = join(x, attend, _layer_norm(params["norm_1"], eps))
    x = after_cross = join(x, consult, _layer_norm(params["norm_2"], eps))
    x = join(x, feed, _layer_norm(params["norm_3"], eps))
    note(record, after_self_attention=after_self, after_cross_attention=after_cross, output=x)
    return x


def causal_block(
    x: Array, params: Params, n_heads: int, mask: Array | None = None,
    activation: Activation = gelu_tanh, eps: float = 1e-5, record: Record | None = None,
) -> Array:  # (..., seq_len, d_model) -> (..., seq_len, d_model)
    """GPT-2's block: an encoder layer in which no position sees a later one, with the norms moved to the front."""
    causal = causal_and(mask, np.shape(x)[-2])
    return encoder_layer(x, params, n_heads, causal, "pre", activation, eps, record)


def llama_block(
    x: Array, params: Params, n_heads: int, n_kv_heads: int, mask: Array | None = None,
    rotate: Callable[[Array], Array] | None = None, eps: float = 1e-5, record: Record | None = None,
) -> Array:  # (..., seq_len, d_model) -> (..., seq_len, d_model)
    """LLaMA's block: x + GQA(RMSNorm(x)), then x + SwiGLU(RMSNorm(x)). `rotate` brings in the positions.

    Parameters: attention (W_Q, W_K, W_V, W_O), norm_1 (gamma), ffn (W_1, W_2, W_3), norm_2 (gamma).
    """
    causal = causal_and(mask, np.shape(x)[-2])

    def attend(x: Array) -> Array:
        return grouped_query_attention(
            x, **params["attention"], n_heads=n_heads, n_kv_heads=n_kv_heads, mask=causal, rotate=rotate,
            record=part(record, "attention"),
        )

    def feed(x: Array) -> Array:
        return gated_feed_forward(x, **params["ffn"], record=part(record, "ffn"))

    x = after_attention = pre_norm(x, attend, lambda x: rms_norm(x, **params["norm_1"], eps=eps))
    x = pre_norm(x, feed, lambda x: rms_norm(x, **params["norm_2"], eps=eps))
    note(record, after_attention=after_attention, output=x)
    return x


def encoder(
    x: Array, layers: Sequence[Params], n_heads: int, mask: Array | None = None, final_norm: Params | None = None,
    norm: str = "post", activation: Activation = relu, eps: float = 1e-5, record: Record | None = None,
) -> Array:  # (..., seq_len, d_model) -> (..., seq_len, d_model)
    """The layers one after another, and a last norm if there is one (pre-norm models need it). `record`: layer_0, …"""
    for i, layer in enumerate(layers):
        x = encoder_layer(x, layer, n_heads, mask, norm, activation, eps, part(record, f"layer_{i}"))
    return x if final_norm is None else layer_norm(x, **final_norm, eps=eps)


def decoder(
    x: Array, memory: Array, layers: Sequence[Params], n_heads: int, mask: Array | None = None,
    memory_mask: Array | None = None, final_norm: Params | None = None,
    norm: str = "post", activation: Activation = relu, eps: float = 1e-5, record: Record | None = None,
) -> Array:  # (..., seq_len, d_model), (..., n_memory, d_model) -> (..., seq_len, d_model)
    """The decoder's layers one after another; every one of them reads the same memory, the encoder's last output."""
    for i, layer in enumerate(layers):
        x = decoder_layer(
            x, memory, layer, n_heads, mask, memory_mask, norm, activation, eps, part(record, f"layer_{i}")
        )
    return x if final_norm is None else layer_norm(x, **final_norm, eps=eps)


def causal_and(mask: Array | None, seq_len: int) -> Array:  # (..., seq_len, seq_len) -> same
    """The causal mask, and what else is barred."""
    causal = causal_mask(seq_len)
    if mask is None:
        return causal
    allowed = np.asarray(mask)
    return causal & mask_for(allowed.shape[:-2] + causal.shape, allowed, "causal_and: mask")


def _self_attention(params: Params, n_heads: int, mask: Array | None, record: Record | None) -> Sublayer:
    return lambda x: multi_head_attention(x, x, **params, n_heads=n_heads, mask=mask, record=record)


def _cross_attention(
    memory: Array, params: Params, n_heads: int, mask: Array | None, record: Record | None
) -> Sublayer:
    return lambda x: multi_head_attention(x, memory, **params, n_heads=n_heads, mask=mask, record=record)


def _feed_forward(params: Params, activation: Activation, record: Record | None) -> Sublayer:
    return lambda x: feed_forward(x, **params, activation=activation, record=record)


def _layer_norm(params: Params, eps: float) -> Sublayer:
    return lambda x: layer_norm(x, **params, eps=eps)


def _order(norm: str) -> Callable[[Array, Sublayer, Sublayer], Array]:
    orders = {"post": post_norm, "pre": pre_norm}
    if norm not in orders:
        raise ValueError(f'norm is {norm!r}; needed "post" or "pre"')
    return orders[norm]
