"""sim.toy_model against PyTorch's gradients, and what each of its switches must and must not do."""

import math
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sim import autograd as tape
from sim.autograd import Tensor
from sim.corpus import VOCABULARY
from sim.toy_model import (
    ToyConfig,
    excess,
    forward,
    gradient_norms,
    init,
    normal,
    sinusoid,
    story_loss,
    told,
    train_on_stories,
)
from sim.training import Params
from tests.golden import case as golden_case

SMALL = ToyConfig(d_model=8, n_heads=2, d_ff=16, seq_len=10)
NAMES = {  # the reference's names and ours
    "tok": "token", "pos": "position", "ln1_g": "0.norm_1.gamma", "ln1_b": "0.norm_1.beta", "ln2_g": "0.norm_2.gamma",
    "ln2_b": "0.norm_2.beta", "lnf_g": "final_norm.gamma", "lnf_b": "final_norm.beta", "WQ": "0.W_Q", "WK": "0.W_K",
    "WV": "0.W_V", "WO": "0.W_O", "W1": "0.W_1", "b1": "0.b_1", "W2": "0.W_2", "b2": "0.b_2",
}  # fmt: skip


def tiny_lm() -> tuple[Params, Callable[[Params], Tensor]]:
    """The reference's one-block GPT: its parameters, and its loss on its one sentence."""
    case = golden_case("tiny_lm.grads")
    params = {NAMES[name]: Tensor(np.array(value, float)) for name, value in case.inputs["params"].items()}
    ids, targets = (np.array([case.inputs[name]]) for name in ("ids", "targets"))
    return params, lambda params: tape.cross_entropy(forward(params, tiny_config(), ids), targets)


def tiny_config() -> ToyConfig:
    p = golden_case("tiny_lm.grads").params
    sizes = {"vocab_size": p["V"], "seq_len": 5, "d_model": p["d"], "n_layers": 1, "n_heads": p["h"], "d_ff": p["d_ff"]}
    return ToyConfig(**sizes, activation="gelu", tied=True)


def test_a_whole_model_and_all_its_gradients_as_in_pytorch():
    """Embedding, heads, mask, norms, FFN, tied output: every parameter's gradient of a GPT-2 block."""
    case = golden_case("tiny_lm.grads")
    params, loss_of = tiny_lm()
    loss = loss_of(params)
    loss.backward()
    case.close(loss.value, "loss")
    case.close(forward(params, tiny_config(), np.array([case.inputs["ids"]])).value[0], "logits")
    for theirs, ours in NAMES.items():
        expected = case.expected["grads"][theirs]
        np.testing.assert_allclose(params[ours].grad, expected, rtol=1e-9, atol=1e-10, err_msg=ours)


def logits(config: ToyConfig, ids: np.ndarray, seed: int = 0, **seen: dict) -> np.ndarray:
    return forward(init(config, seed, embedding_std=1.0, dtype=np.float64), config, ids, **seen).value


def test_a_later_word_changes_nothing_before_it():
    """With the causal mask not even the last digit; without it, all positions."""
    ids = np.arange(8)[None]
    other = ids.copy()
    other[0, 5] = 30
    assert np.array_equal(logits(SMALL, ids)[:, :5], logits(SMALL, other)[:, :5])
    two_way = replace(SMALL, causal=False)
    assert (logits(two_way, ids)[:, :5] != logits(two_way, other)[:, :5]).any(axis=-1).all()


@pytest.mark.parametrize("positions, moves_along", [("none", True), ("learned", False), ("sinusoid", False)])
def test_order_is_known_by_positions_alone(positions, moves_along):
    """Two-way and without positions, shuffled words give shuffled logits; with positions they do not."""
    config, ids, order = replace(SMALL, causal=False, positions=positions), np.arange(6)[None], [3, 1, 5, 0, 4, 2]
    assert np.allclose(logits(config, ids[:, order]), logits(config, ids)[:, order], atol=1e-12) is moves_along


@pytest.mark.parametrize(
    "switch",
    [
        {"norm": "post"}, {"norm": "none"}, {"residual": False}, {"attention": False}, {"ffn": False}, {"n_heads": 1},
        {"positions": "none"}, {"positions": "sinusoid"}, {"causal": False}, {"activation": "gelu"},
        {"activation": "none"}, {"tied": True}, {"n_layers": 1},
    ],
    ids=str,
)  # fmt: skip
def test_every_switch_changes_the_model_and_leaves_no_idle_parameter(switch):
    """A switch that did nothing, or left weights no gradient reaches, would make a false ablation."""
    config, ids = replace(SMALL, **switch), np.array([[1, 5, 2, 9, 9, 3, 7, 4, 0, 6]])
    assert not np.allclose(logits(config, ids), logits(SMALL, ids))
    params = init(config, 0)
    tape.cross_entropy(forward(params, config, ids), ids).backward()
    assert [name for name, p in params.items() if p.grad is None] == []


def test_seen_has_the_named_activations():
    """Weights are rows that sum to one, hidden units not negative, the stream has one state more than layers."""
    seen: dict[str, np.ndarray] = {}
    logits(SMALL, np.arange(6)[None], seen=seen)
    assert set(seen) == {"stream.0", "stream.1", "stream.2", "0.weights", "1.weights", "0.hidden", "1.hidden"}
    assert seen["1.weights"].shape == (1, 2, 6, 6)
    np.testing.assert_allclose(seen["1.weights"].sum(-1), 1)
    assert (np.triu(seen["1.weights"][0, 0], 1) == 0).all()
    assert seen["0.hidden"].shape == (1, 6, 16)
    assert (seen["0.hidden"] >= 0).all()


def test_post_norm_leaves_normed_words_and_pre_norm_does_not():
    """Post-LN's stream has variance one after every layer; Pre-LN's keeps growing underneath."""
    for norm, expected in (("post", True), ("pre", False)):
        seen: dict[str, np.ndarray] = {}
        logits(replace(SMALL, norm=norm), np.arange(6)[None], seen=seen)
        assert np.allclose(seen["stream.2"].var(axis=-1), 1, atol=1e-3) is expected


def test_parameters_are_as_many_as_the_series_says():
    """The model of the series: 2 layers, d_model 32, 4 heads (with positions for 30 words)."""
    config, d = ToyConfig(), 32
    expected = 39 * d + 30 * d + 2 * (4 * d * d + 8 * d * d + 4 * d + d + 4 * d) + 2 * d + 39 * d
    assert sum(p.value.size for p in init(config, 0).values()) == expected


def test_init_is_the_same_everywhere_and_has_the_spread_it_names():
    """Same seed, same numbers; Xavier's and GPT-2's standard deviations; another seed, other numbers."""
    config = ToyConfig(d_model=64, d_ff=256)
    a, b, c = init(config, 1), init(config, 1), init(config, 2)
    assert all(np.array_equal(a[name].value, b[name].value) for name in a)
    assert not np.array_equal(a["0.W_Q"].value, c["0.W_Q"].value)
    assert a["0.W_1"].value.std() == pytest.approx(64**-0.5, rel=0.03)
    assert a["0.W_2"].value.std() == pytest.approx((256 * 2 * 2) ** -0.5, rel=0.03)
    assert init(config, 1, xavier=True)["0.W_2"].value.std() == pytest.approx((2 / (64 + 256)) ** 0.5, rel=0.03)
    assert a["0.W_1"].value.dtype == np.float32


def test_normal_numbers_are_normal():
    """Mean 0, variance 1, 4.6 % beyond two deviations."""
    x = normal(random.Random(0), 20_001)
    assert len(x) == 20_001
    assert x.mean() == pytest.approx(0, abs=0.03)
    assert x.std() == pytest.approx(1, abs=0.02)
    assert (abs(x) > 2).mean() == pytest.approx(0.0455, abs=0.006)


def test_untrained_model_guesses():
    """The first loss is ln V for equal logits, plus half the variance of random ones (the mean of exp of a normal)."""
    params, config, batch = init(ToyConfig(), 0), ToyConfig(), told(50, 3)
    variance = forward(params, config, batch.ids).value.var()
    guess = math.log(len(VOCABULARY))
    assert story_loss(params, config, batch).value == pytest.approx(guess + variance / 2, abs=0.25)
    params["W_U"].value *= 0.01
    assert story_loss(params, config, batch).value == pytest.approx(guess, abs=0.01)


def test_gradient_norms_are_of_every_layer():
    """One norm a layer, and without any norm the gradient explodes towards the first."""
    config = ToyConfig(n_layers=6, norm="none")
    assert len(norms := gradient_norms(config, 0, n_stories=4)) == 6
    assert norms[0] > 3 * norms[-1] > 0
    pre = gradient_norms(replace(config, norm="pre"), 0, n_stories=4)
    assert max(pre) < 5


def test_training_learns_and_the_answers_need_attention():
    """After 150 steps a small model is near the floor; the same without attention never learns the answers."""
    config = ToyConfig(d_model=16, n_heads=2, d_ff=32)
    run = {"steps": 150, "batch_size": 16, "learning_rate": 0.01, "n_stories": 500, "every": 50}
    curve = train_on_stories(config, 0, **run)
    assert [step for step, _ in curve] == [1, 50, 100, 150]
    assert curve[0][1] > 2.5
    assert curve[-1][1] < 0.4
    assert train_on_stories(replace(config, attention=False), 0, **run)[-1][1] > 0.45


def test_nothing_beats_the_floor():
    """An untrained model is above it; only a model that reads the answers (no mask) could come out below."""
    assert excess(init(ToyConfig(), 0), ToyConfig(), told(20, 4)) > 0


def test_sinusoids_are_the_papers():
    """Position 0 is sine 0, cosine 1; position 1's first pair is (sin 1, cos 1), its last moves least."""
    assert sinusoid(2, 4)[0].tolist() == [0, 1, 0, 1]
    np.testing.assert_allclose(sinusoid(2, 4)[1], [np.sin(1), np.cos(1), np.sin(0.01), np.cos(0.01)])


def test_errors_name_what_does_not_fit():
    """Widths that do not divide, misspelt switches, sentences that are too long."""
    with pytest.raises(ValueError, match="d_model = 10"):
        ToyConfig(d_model=10, n_heads=4)
    with pytest.raises(ValueError, match="'middle'"):
        ToyConfig(norm="middle")
    with pytest.raises(ValueError, match="at most seq_len = 10"):
        logits(SMALL, np.zeros((1, 11), int))


def test_model_and_corpus_run_without_numpy_random():
    """numpy.random costs a browser half a megabyte: importing, telling, initialising, training must not load it."""
    code = """
import sys, sim.depth
from sim.toy_model import ToyConfig, train_on_stories
assert train_on_stories(ToyConfig(d_model=4, n_heads=1, d_ff=4), 0, 1, 2, 0.01, n_stories=4, n_held_out=2)
sys.exit("numpy.random" in sys.modules and "numpy.random was loaded")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
