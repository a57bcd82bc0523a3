"""Counting: parameters, floating-point operations, and bytes of a Transformer, from its sizes.

Every count is a Python integer, which cannot overflow (the browser's NumPy integers have 32 bits and do so silently).
Sizes must be whole numbers; 768.0 is a ValueError. A model's count is a dictionary of parts, in the model's order.
"""

import functools
import inspect
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast


def whole_numbers[Function: Callable[..., Any]](function: Function) -> Function:
    """Make every argument annotated as int a Python integer of at least 0, or raise a ValueError that names it."""
    signature = inspect.signature(function)
    sizes = {name for name, p in signature.parameters.items() if p.annotation in (int, int | None)}

    @functools.wraps(function)
    def counted(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        for name in sizes & bound.arguments.keys():
            got = bound.arguments[name]
            if got is not None:
                bound.arguments[name] = _whole(got, f"{function.__name__}: {name}")
        return function(*bound.args, **bound.kwargs)

    return cast(Function, counted)


def _whole(got: Any, label: str) -> int:
    try:
        number = operator.index(got)
    except TypeError:
        raise ValueError(f"{label} is {got!r}; needed a whole number (int)") from None
    if number < 0:
        raise ValueError(f"{label} is {number}; needed at least 0")
    return number


def head_size(d_model: int, n_heads: int) -> int:
    """d_model / n_heads; ValueError if the heads do not divide the width."""
    if n_heads < 1 or d_model % n_heads:
        raise ValueError(f"n_heads is {n_heads}; needed a divisor of d_model = {d_model}, or d_head given")
    return d_model // n_heads


# ---- parts of a layer


@whole_numbers
def attention_params(
    d_model: int, n_heads: int = 1, n_kv_heads: int | None = None, d_head: int | None = None,
    bias: bool = False, qkv_bias: bool | None = None, qk_norm: bool = False,
) -> int:
    """Parameters of W_Q, W_K, W_V, W_O: 4 d_model² with full multi-head attention, whatever the number of heads.

    `bias` gives all four a bias, `qkv_bias` settles it for the first three; `qk_norm` adds two gains of d_head (Qwen3).

    >>> attention_params(512), attention_params(512, n_heads=8)
    (1048576, 1048576)
    """
    d_head = head_size(d_model, n_heads) if d_head is None else d_head
    inner, inner_kv = n_heads * d_head, (n_heads if n_kv_heads is None else n_kv_heads) * d_head
    matrices = 2 * d_model * inner + 2 * d_model * inner_kv
    biases = (inner + 2 * inner_kv) * (bias if qkv_bias is None else qkv_bias) + d_model * bias
    return matrices + biases + 2 * d_head * qk_norm


@whole_numbers
def ffn_params(d_model: int, d_ff: int | None = None, gated: bool = False, bias: bool = False) -> int:
    """Parameters of the feed-forward network: two matrices, three if gated. d_ff defaults to 4 d_model: 8 d_model²."""
    d_ff = 4 * d_model if d_ff is None else d_ff
    return (3 if gated else 2) * d_model * d_ff + (d_ff * (2 if gated else 1) + d_model) * bias


@whole_numbers
def norm_params(d_model: int, bias: bool = True) -> int:
    """gamma and beta of a layer norm; gamma alone for RMSNorm (bias=False)."""
    return d_model * (2 if bias else 1)


@whole_numbers
def moe_params(d_model: int, d_ff: int, n_experts: int, gated: bool = True) -> int:
    """A mixture of experts: n_experts feed-forward networks, and the router, one row of scores for them."""
    return n_experts * ffn_params(d_model, d_ff, gated) + d_model * n_experts


@whole_numbers
def mla_params(d_model: int, n_heads: int, q_rank: int, kv_rank: int, d_nope: int, d_rope: int, d_v: int) -> int:
    """Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, sec. 2.1), with the two norms of its latents.

    Queries: down to q_rank, then up. Keys and values: down to kv_rank (and one rotated key for all heads), then up.
    """
    queries = d_model * q_rank + norm_params(q_rank, bias=False) + q_rank * n_heads * (d_nope + d_rope)
    keys_values = d_model * (kv_rank + d_rope) + norm_params(kv_rank, bias=False) + kv_rank * n_heads * (d_nope + d_v)
    return queries + keys_values + n_heads * d_v * d_model


@whole_numbers
def llama_d_ff(d_model: int, multiple_of: int = 256, multiplier: Fraction | int = 1) -> int:
    """LLaMA's hidden width: two thirds of 4 d_model, times the multiplier, rounded up to a multiple (Meta's model.py).

    >>> llama_d_ff(4096), llama_d_ff(8192, multiple_of=4096, multiplier=Fraction(13, 10))
    (11008, 28672)
    """
    d_ff = int(multiplier * (2 * 4 * d_model // 3))
    return -(-d_ff // multiple_of) * multiple_of


def share(part: int, *others: int) -> float:
    """part / (part + others).

    >>> share(ffn_params(768), attention_params(768)) == 2 / 3
    True
    """
    return part / (part + sum(others))


# ---- whole models


@whole_numbers
def gpt_params(
    n_layers: int, d_model: int, vocab_size: int, n_positions: int, n_heads: int = 1, d_head: int | None = None,
    d_ff: int | None = None, bias: bool = True, qkv_bias: bool | None = None,
    final_norm: bool = True, norm_bias: bool | None = None, tied: bool = True,
) -> dict[str, int]:
    """GPT-1, 2, 3: learned positions, one embedding matrix for input and output unless untied. norm_bias follows bias.

    >>> gpt_params(12, 768, 50257, 1024)["total"]
    124439808
    """
    attention = attention_params(d_model, n_heads, None, d_head, bias, qkv_bias)
    norm = norm_params(d_model, bias if norm_bias is None else norm_bias)
    per_layer = attention + ffn_params(d_model, d_ff, bias=bias) + 2 * norm
    return _summed(
        {
            "token_emb": vocab_size * d_model,
            "pos_emb": n_positions * d_model,
            "blocks": n_layers * per_layer,
            "final_ln": norm * final_norm,
            "head": 0 if tied else vocab_size * d_model,
        },
        per_layer=per_layer,
    )


@whole_numbers
def transformer_params(n_layers: int, d_model: int, d_ff: int, vocab_size: int, n_heads: int = 1) -> dict[str, int]:
    """The encoder-decoder of 2017: biases, post-norm, sinusoids (no parameters), one embedding for all three uses."""
    attention, ffn = attention_params(d_model, n_heads, bias=True), ffn_params(d_model, d_ff, bias=True)
    norm = norm_params(d_model)
    enc_layer = attention + ffn + 2 * norm
    dec_layer = 2 * attention + ffn + 3 * norm
    parts = {"shared_embedding": vocab_size * d_model, "stacks": n_layers * (enc_layer + dec_layer)}
    return _summed(parts, enc_layer=enc_layer, dec_layer=dec_layer)


@whole_numbers
def bert_params(
    n_layers: int, d_model: int, vocab_size: int, n_positions: int = 512, n_types: int = 2,
    n_heads: int = 1, d_ff: int | None = None,
) -> dict[str, int]:
    """BERT with its pooler, without the head that guesses words. Embeddings: words, positions, segments, a norm."""
    attention, ffn = attention_params(d_model, n_heads, bias=True), ffn_params(d_model, d_ff, bias=True)
    per_layer = attention + ffn + 2 * norm_params(d_model)
    return _summed(
        {
            "embeddings": (vocab_size + n_positions + n_types) * d_model + norm_params(d_model),
            "blocks": n_layers * per_layer,
            "pooler": d_model * d_model + d_model,
        },
        per_layer=per_layer,
    )


@whole_numbers
def llama_params(
    n_layers: int, d_model: int, n_heads: int, n_kv_heads: int, d_ff: int, vocab_size: int, d_head: int | None = None,
    qkv_bias: bool = False, qk_norm: bool = False, tied: bool = False,
) -> dict[str, int]:
    """LLaMA, Qwen: RMSNorm, gated feed-forward network, grouped queries, rotated positions (no parameters)."""
    attention = attention_params(d_model, n_heads, n_kv_heads, d_head, qkv_bias=qkv_bias, qk_norm=qk_norm)
    ffn = ffn_params(d_model, d_ff, gated=True)
    norm = norm_params(d_model, bias=False)
    per_layer = attention + ffn + 2 * norm
    return _summed(
        {
            "embedding": vocab_size * d_model,
            "blocks": n_layers * per_layer,
            "final_norm": norm,
            "head": 0 if tied else vocab_size * d_model,
        },
        attention=attention, ffn=ffn, per_layer=per_layer,
    )


@whole_numbers
def t5_params(
    n_layers: int, d_model: int, n_heads: int, d_head: int, d_ff: int, vocab_size: int, n_buckets: int = 32
) -> dict[str, int]:
    """T5 (1.0): n_layers in each stack, no biases, one shared embedding, a position bias for each head and stack."""
    attention, ffn = attention_params(d_model, n_heads, d_head=d_head), ffn_params(d_model, d_ff)
    norm = norm_params(d_model, bias=False)
    enc_layer = attention + ffn + 2 * norm
    dec_layer = 2 * attention + ffn + 3 * norm
    return _summed(
        {
            "shared_embedding": vocab_size * d_model,
            "stacks": n_layers * (enc_layer + dec_layer),
            "final_norms": 2 * norm,
            "position_bias": 2 * n_buckets * n_heads,
        },
        enc_layer=enc_layer, dec_layer=dec_layer,
    )


@whole_numbers
def deepseek_v3_params(
    n_layers: int, n_dense_layers: int, d_model: int, n_heads: int,
    q_rank: int, kv_rank: int, d_nope: int, d_rope: int, d_v: int,
    d_ff: int, d_expert: int, n_experts: int, n_shared: int, n_active: int, vocab_size: int,
) -> dict[str, int]:
    """DeepSeek-V3 without its multi-token-prediction module. The router has a bias for each expert.

    `activated_…` counts what one token passes through: n_active of the n_experts experts, all else in full.
    """
    mla = mla_params(d_model, n_heads, q_rank, kv_rank, d_nope, d_rope, d_v)
    dense, expert = ffn_params(d_model, d_ff, gated=True), ffn_params(d_model, d_expert, gated=True)
    norm = norm_params(d_model, bias=False)
    moe = moe_params(d_model, d_expert, n_experts) + n_experts + n_shared * expert
    n_moe_layers = n_layers - n_dense_layers
    embedding = vocab_size * d_model
    counts = _summed(
        {
            "embedding": embedding,
            "attention": n_layers * mla,
            "dense_layers": n_dense_layers * dense,
            "moe_layers": n_moe_layers * moe,
            "norms": (2 * n_layers + 1) * norm,
            "head": embedding,
        },
        mla_per_layer=mla, dense_ffn=dense, one_expert=expert, moe_layer=moe,
    )
    activated = counts["total"] - n_moe_layers * (n_experts - n_active) * expert
    return counts | {"activated_with_embeddings": activated, "activated_without_input_embedding": activated - embedding}


def _summed(parts: dict[str, int], **details: int) -> dict[str, int]:
    """The parts, their total, and details that are not added (a layer, counted n_layers times in the parts)."""
    return parts | {"total": sum(parts.values())} | details


@whole_numbers
def twelve_l_d2(n_layers: int, d_model: int) -> int:
    """12 L d²: blocks without biases and norms, d_ff = 4 d_model (Kaplan et al. 2020, arXiv 2001.08361, sec. 2.1)."""
    return n_layers * (attention_params(d_model) + ffn_params(d_model))


# ---- operations and bytes


@whole_numbers
def forward_flops(n_params: int, n_tokens: int) -> int:
    """2 N D: a multiplication and an addition for each parameter and token (Kaplan et al. 2020, sec. 2.1)."""
    return 2 * n_params * n_tokens


@whole_numbers
def training_flops(n_params: int, n_tokens: int) -> int:
    """6 N D: forward, and twice as much backward.

    >>> training_flops(175 * 10**9, 300 * 10**9) == 315 * 10**21
    True
    """
    return 3 * forward_flops(n_params, n_tokens)


@whole_numbers
def attention_flops(seq_len: int, n_layers: int, inner: int) -> int:
    """q kᵀ and weights v, forward, all positions: 4 L n² · inner, which 2 N D leaves out. inner is n_heads·d_head."""
    return 4 * n_layers * seq_len**2 * inner


@whole_numbers
def gpt_forward_flops(n_layers: int, d_model: int, vocab_size: int, seq_len: int, d_ff: int | None = None) -> int:
    """All matrix products of one pass over seq_len tokens: attention, feed-forward networks, and the output matrix."""
    matrices = n_layers * (attention_params(d_model) + ffn_params(d_model, d_ff)) + vocab_size * d_model
    return forward_flops(matrices, seq_len) + attention_flops(seq_len, n_layers, d_model)


@whole_numbers
def layer_complexity(n: int, d: int, k: int = 3, r: int = 128) -> dict[str, int]:
    """Leading terms of the 2017 paper's Table 1 for n positions of width d, kernel k, neighbourhood r.

    Self-attention is cheaper than recurrence exactly when n < d.
    """
    return {"self_attention": n * n * d, "recurrent": n * d * d, "conv": k * n * d * d, "restricted": r * n * d}


@whole_numbers
def kv_cache_bytes(n_layers: int, n_kv_heads: int, d_head: int, n_tokens: int = 1, bytes_each: int = 2) -> int:
    """Keys and values of all layers, kept for n_tokens tokens; 2 bytes a number in 16-bit formats."""
    return 2 * n_layers * n_kv_heads * d_head * n_tokens * bytes_each


@whole_numbers
def mla_cache_bytes(n_layers: int, kv_rank: int, d_rope: int = 0, n_tokens: int = 1, bytes_each: int = 2) -> int:
    """The cache of latent attention: one latent vector and one rotated key for each layer and token, for all heads."""
    return n_layers * (kv_rank + d_rope) * n_tokens * bytes_each
