"""Laws that hold for any input, tried on many."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from sim.attention import (
    attention,
    attention_weights,
    causal_mask,
    merge_heads,
    multi_head_attention,
    split_heads,
)
from sim.ops import (
    entropy,
    gelu,
    gelu_tanh,
    layer_norm,
    log_softmax,
    normal_cdf,
    relu,
    rms_norm,
    sigmoid,
    silu,
    softmax,
    softmax_jacobian,
)
from sim.transformer import (
    causal_block,
    decoder_layer,
    feed_forward,
    gated_feed_forward,
    llama_block,
)

settings.register_profile("laws", max_examples=60, deadline=None)
settings.load_profile("laws")

moderate = st.floats(-30, 30, width=32)
anything = st.floats(allow_nan=False, allow_infinity=False)
vectors = arrays(np.float64, array_shapes(min_dims=1, max_dims=3, max_side=6), elements=moderate)
seeds = st.integers(0, 2**32 - 1)


def normal(seed, *shape, dtype=np.float64):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def attention_params(seed, d_model=8, inner_kv=8, dtype=np.float64):
    widths = {
        "W_Q": (d_model, d_model),
        "W_K": (d_model, inner_kv),
        "W_V": (d_model, inner_kv),
        "W_O": (d_model, d_model),
    }
    return {name: normal([seed, i], *shape, dtype=dtype) for i, (name, shape) in enumerate(widths.items())}


def block_params(seed, dtype=np.float64):
    ffn = {"W_1": normal([seed, 8], 8, 16, dtype=dtype), "W_2": normal([seed, 9], 16, 8, dtype=dtype)}
    return {"attention": attention_params(seed, dtype=dtype), "ffn": ffn, "norm_1": {}, "norm_2": {}}


def llama_params(seed, dtype=np.float64):
    params = block_params(seed, dtype)
    params["attention"] = attention_params(seed, inner_kv=4, dtype=dtype)
    params["ffn"]["W_3"] = normal([seed, 10], 8, 16, dtype=dtype)
    return params


@given(arrays(np.float64, array_shapes(max_dims=3, max_side=6), elements=anything))
def test_weights_add_to_one_for_any_finite_scores(x):
    """Whatever the scores, weights are between 0 and 1 and add to 1, with no warning but underflow."""
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        p = softmax(x)
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(p.sum(axis=-1), 1)


@given(vectors, st.floats(-1000, 1000))
def test_softmax_does_not_feel_a_shift(x, shift):
    """Adding one number to all scores changes no weight."""
    np.testing.assert_allclose(softmax(x + shift), softmax(x), rtol=1e-9)


@given(vectors, st.data())
def test_softmax_under_a_mask(x, data):
    """Barred entries get 0; the others what softmax gives them alone; the logarithm agrees."""
    where = data.draw(arrays(bool, x.shape))
    p = softmax(x, where=where)
    assert not p[~where].any()
    np.testing.assert_allclose(p.sum(axis=-1), where.any(axis=-1))
    np.testing.assert_allclose(np.exp(log_softmax(x, where=where)), p, atol=1e-15)
    for row, allowed, got in zip(
        x.reshape(-1, x.shape[-1]), where.reshape(-1, x.shape[-1]), p.reshape(-1, x.shape[-1]), strict=True
    ):
        if allowed.any():
            np.testing.assert_allclose(got[allowed], softmax(row[allowed]))


@given(vectors)
def test_the_jacobian_is_the_slope_of_softmax(x):
    """It is symmetric, its rows add to 0, and it predicts what a small push does; entropy stays within its bounds."""
    x = x / 10
    p = softmax(x)
    jacobian = softmax_jacobian(p)
    np.testing.assert_array_equal(jacobian, jacobian.swapaxes(-1, -2))
    np.testing.assert_allclose(jacobian.sum(axis=-1), 0, atol=1e-15)
    push = np.zeros(x.shape)
    push[..., 0] = 1e-6
    np.testing.assert_allclose((softmax(x + push) - softmax(x - push)) / 2e-6, jacobian[..., 0], atol=1e-8)
    assert (entropy(p) >= -1e-15).all() and (entropy(p) <= np.log(x.shape[-1]) + 1e-12).all()


@given(seeds, st.permutations(range(5)))
def test_attention_without_a_mask_does_not_know_the_order(seed, order):
    """Shuffling the words shuffles the outputs, and does nothing else."""
    x = normal(seed, 5, 8)
    params = attention_params(seed)
    output = multi_head_attention(x, x, **params, n_heads=2)
    np.testing.assert_allclose(multi_head_attention(x[order], x[order], **params, n_heads=2), output[order], atol=1e-12)


@given(seeds, st.integers(1, 5))
def test_a_causal_block_never_looks_ahead(seed, cut):
    """Editing positions from `cut` on changes no earlier output of GPT's block, LLaMA's, or the decoder's."""
    x = normal(seed, 6, 8)
    edited = x.copy()
    edited[cut:] = 10 * normal([seed, 1], 6 - cut, 8)
    decoder_params = block_params(seed) | {"self_attention": attention_params(seed), "norm_3": {}}
    decoder_params["cross_attention"] = decoder_params.pop("attention")
    for block in (
        lambda x: causal_block(x, block_params(seed), n_heads=2),
        lambda x: llama_block(x, llama_params(seed), n_heads=4, n_kv_heads=2),
        lambda x: decoder_layer(x, normal([seed, 2], 4, 8), decoder_params, n_heads=2),
    ):
        np.testing.assert_allclose(block(edited)[:cut], block(x)[:cut], atol=1e-12)


@given(seeds)
def test_one_heads_output_lies_between_its_values(seed):
    """A weighted mean is never outside the range of what it averages."""
    q, k, v = normal(seed, 3, 4, 8)
    output = attention(q, k, v)
    assert (output <= v.max(axis=0) + 1e-12).all() and (output >= v.min(axis=0) - 1e-12).all()


@given(arrays(np.float64, (3, 5), elements=st.integers(-50, 50)), st.floats(0.01, 100), st.floats(-100, 100))
def test_layer_norm_undoes_scale_and_shift(x, scale, shift):
    """Exactly so for a positive scale at eps = 0, as far as rounding goes; a negative one flips the sign."""
    x[:, 0] += 101  # no constant vector: there, rounding of the shift would be all there is
    normed = layer_norm(x, eps=0)
    np.testing.assert_allclose(layer_norm(scale * x + shift, eps=0), normed, atol=1e-7)
    np.testing.assert_allclose(layer_norm(shift - scale * x, eps=0), -normed, atol=1e-7)
    np.testing.assert_allclose(rms_norm(scale * x, eps=0), rms_norm(x, eps=0), atol=1e-12)
    np.testing.assert_allclose(normed.mean(axis=-1), 0, atol=1e-12)
    np.testing.assert_allclose(normed.var(axis=-1), 1)


@given(anything, st.integers(1, 40), st.sampled_from([0.0, 1e-5]))
def test_layer_norm_of_a_constant_is_beta(value, d_model, eps):
    """Any vector of equal entries gives beta to the last bit."""
    beta = np.arange(d_model) / 3
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        assert layer_norm(np.full(d_model, value), beta=beta, eps=eps).tolist() == beta.tolist()


@given(seeds, array_shapes(max_dims=3, max_side=3))
def test_any_batch_shape_is_a_loop(seed, batch):
    """A batch is computed as its members are, one by one."""
    x, memory = normal(seed, *batch, 4, 8), normal([seed, 1], *batch, 3, 8)
    W = attention_params(seed)
    functions = [
        lambda x, memory: softmax(x),
        lambda x, memory: layer_norm(x),
        lambda x, memory: attention_weights(x, memory),
        lambda x, memory: multi_head_attention(x, memory, **W, n_heads=4),
        lambda x, memory: feed_forward(x, W["W_Q"], W["W_K"]),
        lambda x, memory: causal_block(x, block_params(seed), n_heads=2),
        lambda x, memory: llama_block(x, llama_params(seed), n_heads=4, n_kv_heads=2),
        lambda x, memory: merge_heads(split_heads(x, 2)),
    ]
    for f in functions:
        together = f(x, memory)
        for index in np.ndindex(*batch):
            np.testing.assert_allclose(together[index], f(x[index], memory[index]), atol=1e-10)


@given(seeds)
def test_float32_stays_float32(seed):
    """No function turns float32 into float64 behind one's back, and its result is near that of float64."""
    x, W = normal(seed, 2, 4, 8, dtype=np.float32), attention_params(seed, dtype=np.float32)
    functions = [relu, sigmoid, silu, gelu, gelu_tanh, normal_cdf, softmax, log_softmax, layer_norm, rms_norm]
    functions += [lambda x: softmax_jacobian(softmax(x)), lambda x: entropy(softmax(x))]
    functions += [lambda x: attention(x, x, x, causal_mask(4)), lambda x: feed_forward(x, W["W_Q"], W["W_K"])]
    functions += [lambda x: multi_head_attention(x, x, **W, n_heads=2)]
    functions += [lambda x: gated_feed_forward(x, W["W_Q"], W["W_K"], W["W_V"])]
    functions += [lambda x: causal_block(x, block_params(seed, np.float32), n_heads=2)]
    functions += [lambda x: llama_block(x, llama_params(seed, np.float32), n_heads=4, n_kv_heads=2)]
    for f in functions:
        assert f(x).dtype == np.float32
        assert f(x.astype(np.float64)).dtype == np.float64
        np.testing.assert_allclose(f(x), f(x.astype(np.float64)), rtol=1e-3, atol=1e-3)
