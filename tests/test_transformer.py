"""sim.transformer against a reference implementation, layer by layer."""

import numpy as np
import pytest

from sim.attention import causal_mask, padding_mask
from sim.ops import gelu, gelu_tanh, layer_norm, relu, sigmoid, silu, softmax
from sim.transformer import (
    causal_block,
    decoder,
    decoder_layer,
    encoder,
    encoder_layer,
    feed_forward,
    gated_feed_forward,
    llama_block,
    residual,
)
from tests.golden import golden


def named(params):
    """The frozen cases' names, as the project writes them: W1 is W_1, ln1 is norm_1, attn is attention."""
    parts = {"attn": "attention", "self": "self_attention", "cross": "cross_attention"}
    if not isinstance(params, dict):
        return np.array(params)
    names = {
        k: parts.get(k) or (f"norm_{k[2]}" if k[:2] == "ln" else f"{k[0]}_{k[1]}" if len(k) == 2 else k) for k in params
    }
    return {names[k]: named(v) for k, v in params.items()}


@golden("article.residual")
def test_the_articles_example_with_and_without_residual(case):
    """Two layers add to the vector; without the residual connection only the last addition is left."""
    x, f1, f2 = (np.array(case.inputs[name]) for name in ("x", "f1", "f2"))
    after1 = residual(x, lambda x: f1)
    case.close(after1, "after1")
    case.close(residual(after1, lambda x: f2), "after2")
    case.close(f2, "without_residual")


def through(n, step, x=1.0):
    for _ in range(n):
        x = step(x)
    return x


@golden("article.decay_0.3", "decay.0.1", "decay.0.5", "decay.0.99")
def test_what_is_left_after_layers_that_replace(case):
    """A layer that keeps a share of its input leaves share^n after n layers."""
    case.close([through(n, lambda x: case.params["keep"] * x) for n in case.inputs["n"]], "kept")


@golden("residual.chain_grad_w0.3", "residual.chain_grad_w0.9", "residual.chain_grad_w-0.1")
def test_a_chain_of_linear_layers(case):
    """For y = w x the slope is the output for 1: w^L plain, (1 + w)^L with residual connections."""

    def layer(x):
        return case.params["w"] * x

    case.close([through(n, layer) for n in case.inputs["depths"]], "plain")
    case.close([through(n, lambda x: residual(x, layer)) for n in case.inputs["depths"]], "residual")


@golden("ffn.linear_collapse")
def test_two_matrices_without_a_bend_are_one(case):
    """Without ReLU the network equals x (W_1 W_2); with it, it does not."""
    x, W_1, W_2 = (np.array(case.inputs[name]) for name in ("x", "W1", "W2"))
    plain, bent = {}, {}
    case.close(feed_forward(x, W_1, W_2, activation=lambda h: h, record=plain), "without_relu")
    case.close(plain["hidden"], "hidden")
    case.close(W_1 @ W_2, "W1W2")
    case.close(x @ (W_1 @ W_2), "merged")
    case.close(feed_forward(x, W_1, W_2, record=bent), "with_relu")
    case.close(bent["hidden"], "relu_hidden")
    case.close(bent["hidden"] > 0, "active")


@golden("ffn.variants")
def test_feed_forward_networks_plain_and_gated(case):
    """Every activation, plain with biases and as a gate without, is PyTorch's."""
    p = named({k: v for k, v in case.inputs.items() if k != "x"})
    x, W_3 = np.array(case.inputs["x"]), p.pop("W_3")
    for name, activation in {"relu": relu, "gelu": gelu, "gelu_tanh": gelu_tanh}.items():
        case.close(feed_forward(x, **p, activation=activation), f"ffn_{name}")
    for name, activation in {"swiglu": silu, "geglu": gelu, "reglu": relu, "glu": sigmoid}.items():
        case.close(gated_feed_forward(x, p["W_1"], p["W_2"], W_3, activation), name)


@golden("encoder_layer.postnorm_relu", "encoder_layer.prenorm_relu", "encoder_layer.postnorm_gelu")
def test_encoder_layer(case):
    """A whole layer, free, with padding, and causal, is nn.TransformerEncoderLayer's."""
    x, params = np.array(case.inputs["X"]), named(case.inputs["params"])
    settings = {
        "n_heads": case.params["h"],
        "norm": "pre" if case.params["norm_first"] else "post",
        "activation": {"relu": relu, "gelu": gelu}[case.params["activation"]],
        "eps": case.params["eps"],
    }
    case.close(encoder_layer(x, params, **settings), "output")
    padding = padding_mask(np.array(case.inputs["padding"], bool))
    case.close(encoder_layer(x, params, mask=padding, **settings), "output_padded")
    case.close(encoder_layer(x, params, mask=causal_mask(4), **settings), "output_causal")
    if settings["norm"] == "pre":  # GPT-2's block is this layer, causal
        case.close(causal_block(x, params, n_heads=2, activation=relu), "output_causal")


@golden("decoder_layer.postnorm_relu")
def test_decoder_layer(case):
    """Causal self-attention, cross-attention and feed-forward network are nn.TransformerDecoderLayer's."""
    y, memory, params = np.array(case.inputs["Y"]), np.array(case.inputs["memory"]), named(case.inputs["params"])
    case.close(decoder_layer(y, memory, params, n_heads=2), "output")
    padding = padding_mask(np.array(case.inputs["memory_padding"], bool))
    case.close(decoder_layer(y, memory, params, n_heads=2, memory_mask=padding), "output_memory_padded")


def sinusoids(seq_len, d_model):
    angles = np.arange(seq_len)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(seq_len, d_model)


@golden("transformer.encoder_decoder")
def test_a_whole_transformer(case):
    """Two encoder and two decoder layers from token ids to probabilities, post-norm and pre-norm."""
    p, d_model = case.inputs["params"], case.params["d"]
    enc, dec = [named(layer) for layer in p["enc"]], [named(layer) for layer in p["dec"]]
    src, tgt = (
        np.array(p[f"{side}_emb"])[case.inputs[side]] * d_model**0.5 + sinusoids(len(case.inputs[side]), d_model)
        for side in ("src", "tgt")
    )
    for norm, final in (("post", None), ("pre", {})):
        memory = encoder(src, enc, n_heads=2, norm=norm, final_norm=final)
        case.close(memory, f"memory_{norm}")
        y = decoder(tgt, memory, dec, n_heads=2, norm=norm, final_norm=final)
        case.close(y, f"decoder_{norm}")
        logits = y @ np.array(p["out"])
        case.close(logits, f"logits_{norm}")
        case.close(softmax(logits), f"probs_{norm}")


def rotated(x):
    """RoPE on neighbouring pairs, base 10000, for this test only."""
    d_head = x.shape[-1]
    turn = np.exp(1j * np.arange(x.shape[-2])[:, None] / 10000 ** (np.arange(0, d_head, 2) / d_head))
    z = (x[..., ::2] + 1j * x[..., 1::2]) * turn
    return np.stack([z.real, z.imag], axis=-1).reshape(x.shape)


@golden("llama_block")
def test_llama_block(case):
    """RMSNorm, grouped queries with positions turned in, SwiGLU: intermediate and final values."""
    p, x, record = case.inputs["params"], np.array(case.inputs["X"]), {}
    params = {
        "attention": named({k: p[k] for k in ("WQ", "WK", "WV", "WO")}),
        "norm_1": {"gamma": p["g1"]},
        "ffn": named({k: p[k] for k in ("W1", "W2", "W3")}),
        "norm_2": {"gamma": p["g2"]},
    }
    case.close(llama_block(x, params, n_heads=4, n_kv_heads=2, rotate=rotated, record=record), "output")
    case.close(record["after_attention"], "after_attn")
    case.close(record["after_attention"] - x, "attn_out")


@golden("encoder_layer.postnorm_relu")
def test_the_record_holds_every_part_by_name(case):
    """A record given to a stack receives each layer's parts, and giving one changes nothing."""
    x, layer, record = np.array(case.inputs["X"]), named(case.inputs["params"]), {}
    output = encoder(x, [layer, layer], n_heads=2, record=record)
    np.testing.assert_array_equal(output, encoder(x, [layer, layer], n_heads=2))
    assert list(record) == ["layer_0", "layer_1"]
    assert record["layer_1"]["attention"]["weights"].shape == (2, 2, 4, 4)
    assert record["layer_1"]["ffn"]["hidden"].shape == (2, 4, 16)
    np.testing.assert_array_equal(record["layer_1"]["output"], output)
    y = {}
    decoder_layer(
        x,
        x,
        {
            "self_attention": layer["attention"],
            "cross_attention": layer["attention"],
            "ffn": layer["ffn"],
            "norm_1": {},
            "norm_2": {},
            "norm_3": {},
        },
        n_heads=2,
        record=y,
    )
    assert list(y) == [
        "self_attention",
        "cross_attention",
        "ffn",
        "after_self_attention",
        "after_cross_attention",
        "output",
    ]


def test_post_norm_ends_normalised_and_pre_norm_does_not():
    """After a post-norm layer each vector has mean 0 and variance 1; after a pre-norm one it has grown."""
    rng = np.random.default_rng(0)
    x = layer_norm(rng.normal(size=(5, 8)))
    params = {
        "attention": dict(zip(("W_Q", "W_K", "W_V", "W_O"), rng.normal(size=(4, 8, 8)), strict=True)),
        "ffn": {"W_1": rng.normal(size=(8, 32)), "W_2": rng.normal(size=(32, 8))},
        "norm_1": {},
        "norm_2": {},
    }
    post, pre = (encoder_layer(x, params, n_heads=2, norm=norm) for norm in ("post", "pre"))
    np.testing.assert_allclose(post.var(axis=-1), 1, atol=1e-4)
    assert (pre.var(axis=-1) > 2).all()


def test_errors_are_named():
    """A wrong order, a wrong mask and a wrong matrix say what was needed."""
    x, W = np.ones((3, 4)), np.ones((4, 4))
    params = {
        "attention": dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), W),
        "norm_1": {},
        "norm_2": {},
        "ffn": {"W_1": np.ones((4, 8)), "W_2": np.ones((4, 8))},
    }
    with pytest.raises(ValueError, match='norm is \'middle\'; needed "post" or "pre"'):
        encoder_layer(x, params, n_heads=2, norm="middle")
    with pytest.raises(
        ValueError, match=r"feed_forward: W_2 has shape \(4, 8\); needed \(d_ff, d_model\) with .*d_ff = 8 as in W_1"
    ):
        encoder_layer(x, params, n_heads=2)
    with pytest.raises(ValueError, match="causal_and: mask holds int64"):
        causal_block(x, params, n_heads=2, mask=np.ones((3, 3), np.int64))
