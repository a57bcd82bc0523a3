"""sim.attention against a reference implementation and worked examples of others."""

import numpy as np
import pytest

from sim.attention import (
    additive_scores,
    attention,
    attention_weights,
    causal_mask,
    grouped_query_attention,
    merge_heads,
    multi_head_attention,
    padding_mask,
    repeat_heads,
    scores,
    split_heads,
)
from sim.ops import layer_norm, softmax
from tests.golden import golden, published


def projected(inputs):
    x = np.array(inputs["X"])
    return x @ inputs["WQ"], x @ inputs["WK"], x @ inputs["WV"]


def named(params):
    """The frozen cases write WQ and bQ where the project writes W_Q and b_Q."""
    return {f"{name[0]}_{name[1]}": np.array(params[name]) for name in ("WQ", "WK", "WV", "WO", "bQ", "bK", "bV", "bO")}


def blanked(matrix, mask):
    """−∞ where the mask bars, which JSON writes as null."""
    return np.where(mask, matrix, -np.inf)


@golden("xiaobei.attention_dk4")
def test_attention_matrix_by_matrix(case):
    """小北喝奶茶: scores, weights and output of the worked example, unscaled, scaled, and causal."""
    q, k, v = projected(case.inputs)
    for name, got in (("Q", q), ("K", k), ("V", v)):
        case.close(got, name)
    case.close(scores(q, k, divisor=1), "scores")
    case.close(scores(q, k), "scaled")
    case.close(attention_weights(q, k), "weights")
    case.close(attention_weights(q, k, divisor=1), "weights_unscaled")
    case.close(attention(q, k, v), "output")
    causal = causal_mask(3)
    assert blanked(scores(q, k), causal).tolist() == [
        [-np.inf if s is None else s for s in row] for row in case.expected["causal_scaled"]
    ]
    case.close(attention_weights(q, k, causal), "causal_weights")
    case.close(attention(q, k, v, causal), "causal_output")


@golden("xiaobei.permutation_equivariance")
def test_attention_does_not_know_the_order(case):
    """Shuffled words give the same outputs, shuffled."""
    q, k, v = projected(case.inputs)
    perm = case.inputs["perm"]
    case.close(attention(q, k, v), "output_base")
    case.close(attention(q[perm], k[perm], v[perm]), "output_perm")


@golden("xiaobei.duplicate_tokens")
def test_the_same_word_twice_gets_the_same_output(case):
    """Without positions, two equal words cannot be told apart."""
    output = attention(*projected(case.inputs))
    case.close(output, "output")
    np.testing.assert_array_equal(output[0], output[2])


@golden("attention.scaling_dk64")
def test_scaling_by_the_root_of_d_head(case):
    """One query, five keys of 64 entries, with and without the division by 8."""
    q, k = case.inputs["q"], case.inputs["K"]
    case.close(scores(q, k, divisor=1), "scores")
    case.close(attention_weights(q, k, divisor=1), "weights_unscaled")
    case.close(attention_weights(q, k), "weights_scaled")


@golden("lab.scale_shift_layernorm")
def test_layer_norm_before_scoring(case):
    """The lab of article 5: scaling and shifting a query changes its weights, and with layer norm it does not."""
    k, q = case.inputs["K"], np.array(case.inputs["q"])
    moved = np.array([scale * q + shift for scale, shift in case.inputs["transforms"]])
    case.close(scores(moved, k), "raw_scores")
    case.close(attention_weights(moved, k), "weights_raw")
    case.close(attention_weights(layer_norm(moved, eps=0), k), "weights_layernorm")
    case.close(attention_weights(moved[4], k), "weights_raw", row=4)  # a single query may be a plain vector


@golden("bahdanau.additive")
def test_additive_attention(case):
    """Scores, weights and context of a decoder state over three encoder states."""
    h = np.array(case.inputs["H"])
    e = additive_scores(*(case.inputs[name] for name in ("s", "H", "Wa", "Ua", "va")))
    case.close(e, "e")
    case.close(softmax(e), "alpha")
    case.close(softmax(e) @ h, "context")
    batch = additive_scores(
        np.tile(case.inputs["s"], (2, 1)), np.stack([h, h]), *(case.inputs[n] for n in ("Wa", "Ua", "va"))
    )
    np.testing.assert_allclose(batch, [e, e])


@golden("mha.self_d8_h1", "mha.self_d8_h2", "mha.self_d8_h4")
def test_multi_head_self_attention(case):
    """Output and weights are those of nn.MultiheadAttention, for 1, 2 and 4 heads over the same matrices."""
    x, record = case.inputs["X"], {}
    case.close(multi_head_attention(x, x, **named(case.inputs), n_heads=case.params["h"], record=record), "output")
    case.close(record["weights"], "weights")
    assert list(record) == ["q", "k", "v", "weights", "heads"]


@golden("mha.causal_d8_h2")
def test_multi_head_causal_attention(case):
    """With the causal mask no head looks ahead."""
    x, record = case.inputs["X"], {}
    np.testing.assert_array_equal(causal_mask(4), np.array(case.inputs["mask"], bool))
    case.close(
        multi_head_attention(x, x, **named(case.inputs), n_heads=2, mask=causal_mask(4), record=record), "output"
    )
    case.close(record["weights"], "weights")


@golden("mha.cross_d8_h2")
def test_multi_head_cross_attention(case):
    """Queries from the decoder, keys and values from the encoder, with and without padding in the latter."""
    y, memory, params = case.inputs["Y"], case.inputs["memory"], named(case.inputs)
    record, padded = {}, {}
    case.close(multi_head_attention(y, memory, **params, n_heads=2, record=record), "output")
    case.close(record["weights"], "weights")
    mask = padding_mask(np.array(case.inputs["memory_mask"], bool))
    case.close(multi_head_attention(y, memory, **params, n_heads=2, mask=mask, record=padded), "output_padded")
    case.close(padded["weights"], "weights_padded")


@golden("mask.causal_softmax")
def test_the_causal_mask_bars_before_softmax(case):
    """Barred scores get no weight at all; multiplying scores by 0 would leave them some."""
    s, mask = np.array(case.inputs["scores"]), causal_mask(4)
    np.testing.assert_array_equal(mask, np.array(case.expected["mask"], bool))
    assert blanked(s, mask).tolist() == [[-np.inf if x is None else x for x in row] for row in case.expected["masked"]]
    case.close(softmax(s, where=mask), "weights")
    case.close(softmax(blanked(s, mask)), "weights")
    case.close(softmax(s * mask), "wrong_zero_mask")


@golden("mask.padding_softmax")
def test_the_padding_mask_bars_columns(case):
    """Padding gets no weight from any word; masks join with &."""
    s, padding = case.inputs["scores"], padding_mask(np.array(case.inputs["keep"], bool))
    case.close(softmax(s, where=padding), "weights")
    case.close(softmax(s, where=causal_mask(4) & padding), "weights_causal")


def test_nothing_to_attend_to_N03():
    """With every key barred, weights and output are 0; a mask of −∞ or −1e9 is refused, not read as True."""
    q, k, v = np.ones((1, 2)), np.ones((3, 2)), [[1], [2], [3]]
    nothing = np.zeros((1, 3), bool)
    with np.errstate(all="raise"):
        assert attention_weights(q, k, nothing).tolist() == [[0, 0, 0]]
        assert attention(q, k, v, nothing).tolist() == [[0]]
    for barred in (-np.inf, -1e9, 0):
        with pytest.raises(ValueError, match="needed True"):
            attention(q, k, v, np.full((1, 3), barred))


def test_the_divisor_is_the_root_of_d_head_N10():
    """d_model 4, two heads: scores are divided by √2. 0.98201 would mean √4."""
    x = np.array([[8.0, 0, 0, 0], [0, 8.0, 0, 0]])  # keys 1/8 of that: (1, 0) and (0, 1)
    keys, record = np.diag([0.125, 0.125, 1, 1]), {}
    multi_head_attention(x, x, np.eye(4), keys, np.eye(4), np.eye(4), n_heads=2, record=record)
    np.testing.assert_allclose(record["weights"][0, 0], [0.99652, 0.00348], atol=1e-5)
    np.testing.assert_allclose(attention_weights([8, 0], np.eye(2)), [0.99652, 0.00348], atol=1e-5)


def test_integer_tokens_PW03():
    """Three integer tokens: the printed exact rows are right unscaled; the formula beside them divides by √3."""
    given = published("PW03")["inputs"]
    q, k, v = (np.array(given["X"]) @ np.array(given[name]) for name in ("WQ", "WK", "WV"))
    assert q.dtype.kind == "i"  # integers go straight in (N06)
    printed = published("PW03")["published_output"]
    assert scores(q, k, divisor=1).tolist() == printed["scores"]
    np.testing.assert_allclose(attention(q, k, v, divisor=1), printed["exact_output"], atol=6e-5)
    scaled = [[1.86387, 6.31937, 1.70419], [1.99911, 7.81412, 0.27347], [1.99256, 7.47964, 0.73588]]
    np.testing.assert_allclose(attention(q, k, v), scaled, atol=6e-6)


def test_scores_112_and_96_PW04():
    """Divided by √64 they are 14 and 12, and the weights 0.88 and 0.12."""
    q, k = np.zeros(64), np.zeros((2, 64))
    q[0], k[:, 0] = 1, (112, 96)
    assert scores(q, k).tolist() == [14, 12]
    np.testing.assert_allclose(attention_weights(q, k), [0.880797, 0.119203], atol=1e-6)


def test_attention_from_scratch_PW08():
    """A NumPy tutorial's output, from integers, to all eight printed places."""
    given = published("PW08")["inputs"]
    q, k, v = (np.array(given["words"]) @ np.array(given[name]) for name in ("WQ", "WK", "WV"))
    assert scores(q, k, divisor=1).tolist() == [[8, 2, 10, 2], [4, 0, 4, 0], [12, 2, 14, 2], [10, 4, 14, 3]]
    np.testing.assert_allclose(attention(q, k, v), published("PW08")["published_output"], atol=1e-8)


def test_attention_without_weights_PW10():
    """Six tokens attending to each other directly, unscaled: scores, weights and context of the second."""
    x = np.array(
        [
            [0.43, 0.15, 0.89],
            [0.55, 0.87, 0.66],
            [0.57, 0.85, 0.64],
            [0.22, 0.58, 0.33],
            [0.77, 0.25, 0.10],
            [0.05, 0.80, 0.55],
        ]
    )
    printed = published("PW10")["published_output"]
    np.testing.assert_allclose(scores(x[1], x, divisor=1), printed["scores"], atol=6e-5)
    np.testing.assert_allclose(attention_weights(x[1], x, divisor=1), printed["weights"], atol=6e-5)
    np.testing.assert_allclose(attention(x[1], x, x, divisor=1), printed["context"], atol=6e-5)


def test_attention_by_numbers_PW15():
    """A course notebook prints weights 0.5898, 0.1316, 0.2786 beside code that gives ours."""
    q, k, v = [1, 0.5], [[1.4, 0.6], [0.1, 0.2], [0.7, 0.2]], [[0.9, 0.1], [0.2, 0.8], [0.5, 0.1]]
    np.testing.assert_allclose(scores(q, k, divisor=1), [1.7, 0.2, 0.8])
    np.testing.assert_allclose(attention_weights(q, k, divisor=1), [0.61361, 0.13691, 0.24948], atol=6e-6)
    np.testing.assert_allclose(attention(q, k, v, divisor=1), [0.70437, 0.19584], atol=6e-6)


def test_the_dog_ran_quickly_PW33():
    """The product is 0.8894; beside a second score of 1.2 the weights are 0.42297 and 0.57703, printed 0.42, 0.58."""
    score = scores([0.22, 0.64, 0.73], [[0.54, 0.36, 0.74]], divisor=1)
    assert score[0] == pytest.approx(0.8894)
    np.testing.assert_allclose(softmax([score[0], 1.2]), [0.42297, 0.57703], atol=6e-6)


def test_heads_are_blocks_of_columns():
    """Head i has columns [i·d_head, (i+1)·d_head), and merging gives the matrix back."""
    x = np.arange(2 * 3 * 8.0).reshape(2, 3, 8)
    heads = split_heads(x, 4)
    for i in range(4):
        np.testing.assert_array_equal(heads[:, i], x[:, :, 2 * i : 2 * i + 2])
    np.testing.assert_array_equal(merge_heads(heads), x)


def test_grouped_queries():
    """With as many key-value heads as heads it is multi-head attention; with fewer, neighbours share."""
    rng = np.random.default_rng(0)
    x, W_Q, W_O = rng.normal(size=(2, 5, 8)), rng.normal(size=(8, 8)), rng.normal(size=(8, 8))
    W_K, W_V = rng.normal(size=(2, 8, 8))
    b = dict(zip(("b_Q", "b_K", "b_V", "b_O"), rng.normal(size=(4, 8)), strict=True))
    full = multi_head_attention(x, x, W_Q, W_K, W_V, W_O, n_heads=4, mask=causal_mask(5), **b)
    np.testing.assert_allclose(grouped_query_attention(x, W_Q, W_K, W_V, W_O, 4, 4, causal_mask(5), **b), full)

    W_K, W_V = W_K[:, :4], W_V[:, :4]  # two key-value heads for four queries
    wide = [np.concatenate([W[:, :2], W[:, :2], W[:, 2:], W[:, 2:]], axis=1) for W in (W_K, W_V)]
    shared = grouped_query_attention(x, W_Q, W_K, W_V, W_O, n_heads=4, n_kv_heads=2)
    np.testing.assert_allclose(shared, multi_head_attention(x, x, W_Q, *wide, W_O, n_heads=4))
    assert repeat_heads(np.arange(2.0).reshape(2, 1, 1), 4).ravel().tolist() == [0, 0, 1, 1]


def test_d_head_is_a_size_of_its_own():
    """n_heads · d_head need not be d_model, values may have another width, and memory another one again."""
    x, memory = np.ones((3, 5)), np.ones((4, 7))
    got = multi_head_attention(x, memory, np.ones((5, 6)), np.ones((7, 6)), np.ones((7, 8)), np.ones((8, 5)), n_heads=2)
    assert got.shape == (3, 5)


def test_a_mask_for_each_member_of_a_batch():
    """A batch of masks is lined up with the batch and not with the heads."""
    rng = np.random.default_rng(1)
    x, W = rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 4, 4))
    masks = np.stack([causal_mask(3), causal_mask(3) & padding_mask([True, False, True])])
    together = multi_head_attention(x, x, *W, n_heads=2, mask=masks)
    apart = [multi_head_attention(x[i], x[i], *W, n_heads=2, mask=masks[i]) for i in range(2)]
    np.testing.assert_allclose(together, apart)


def test_wrong_shapes_are_named():
    """Every misfit is a ValueError naming the argument, what it got, and what it needs."""
    x, W = np.ones((3, 4)), np.ones((4, 4))
    with pytest.raises(
        ValueError, match=r"scores: k has shape \(3, 5\); needed \(\.\.\., n_k, d_head\) with d_head = 4 as in q"
    ):
        scores(x, np.ones((3, 5)))
    with pytest.raises(ValueError, match=r"attention: v has shape \(2, 4\); needed .*n_k = 3 as in k"):
        attention(x, x, np.ones((2, 4)))
    with pytest.raises(
        ValueError, match=r"attention: v has shape \(5, 3, 4\); needed a batch shape that broadcasts with \(2,\)"
    ):
        attention(np.ones((2, 3, 4)), np.ones((2, 3, 4)), np.ones((5, 3, 4)))
    with pytest.raises(
        ValueError,
        match=r"multi_head_attention: W_V has shape \(3, 4\); needed \(d_memory, inner_v\) with d_memory = 4",
    ):
        multi_head_attention(x, x, W, W, np.ones((3, 4)), W, n_heads=2)
    with pytest.raises(ValueError, match="split_heads: n_heads is 3; needed a divisor of the width 4"):
        multi_head_attention(x, x, W, W, W, W, n_heads=3)
    with pytest.raises(ValueError, match="repeat_heads: n_heads is 4; needed a multiple of the 3"):
        repeat_heads(np.ones((3, 1, 1)), 4)
    with pytest.raises(ValueError, match=r"the mask\) has shape \(4, 4\); needed one that broadcasts to \(3, 3\)"):
        attention(x, x, x, causal_mask(4))
    with pytest.raises(ValueError, match="padding_mask: is_word holds int64; needed True"):
        padding_mask(np.array([1, 1, 0], np.int64))
