"""sim.depth against PyTorch's stacks and gradients, and the laws each measure must obey."""

import numpy as np
import pytest

from sim import autograd as tape
from sim.autograd import Tensor
from sim.depth import (
    difference_share,
    network,
    network_gradients,
    random_layers,
    random_network,
    residual_stream,
    rms,
    spiral,
    train_network,
    unexplained_by_affine,
)
from sim.toy_model import ToyConfig, blocks
from tests.golden import case as golden_case
from tests.golden import golden


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@golden("collapse.pure", "collapse.res", "collapse.res_ln")
def test_words_become_alike_as_in_pytorch(case):
    """The same random stack, layer by layer: how far the words are from their mean, absolutely and as a share."""
    p, numbers = case.params, rng(case.params["weights_from_seed"])
    x = numbers.standard_normal((p["n"], p["d"])).round(3)
    drawn, square = ("W_Q", "W_K", "W_V"), (p["d"], p["d"])
    layers = [{name: (numbers.standard_normal(square) / 4).round(3) for name in drawn} for _ in range(p["depth"])]
    checksum = x.sum() + sum(layer[name].sum() for layer in layers for name in drawn)
    assert np.isclose(checksum, case.expected["weights_checksum"]), "NumPy's random stream changed: other weights"
    norm = "pre" if case.id.endswith("_ln") else "none"
    layers = [layer | {"W_O": np.eye(p["d"])} for layer in layers]  # the reference has none
    stream = residual_stream(x, layers, n_heads=1, skip=case.id != "collapse.pure", norm=norm)
    got = [[np.linalg.norm(x - x.mean(axis=0)), difference_share(x)] for x in stream]
    np.testing.assert_allclose(got, np.array(case.expected["per_layer"])[:, :2], rtol=1e-7, atol=1e-9)


def test_gradients_of_twelve_post_norm_layers_as_in_pytorch():
    """Gradient by W_2 and W_O of every layer at Xavier initialisation."""
    case = golden_case("grad_norms.postnorm_12layers")
    p, numbers = case.params, rng(case.params["weights_from_seed"])
    config = ToyConfig(d_model=p["d"], d_ff=p["d_ff"], n_heads=p["h"], n_layers=p["L"], norm="post", causal=False)
    x, target = (numbers.standard_normal((p["n"], p["d"])).round(3) for _ in range(2))
    shapes = dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), (p["d"], p["d"]))
    shapes |= {"W_1": (p["d"], p["d_ff"]), "W_2": (p["d_ff"], p["d"])}
    params = {
        f"{layer}.{name}": Tensor((numbers.standard_normal(shape) * np.sqrt(2 / sum(shape))).round(4))
        for layer in range(p["L"])
        for name, shape in shapes.items()
    }
    checksum = x.sum() + target.sum() + sum(w.value.sum() for w in params.values())
    assert np.isclose(checksum, case.expected["weights_checksum"]), "NumPy's random stream changed: other weights"
    for layer in range(p["L"]):
        params |= {f"{layer}.b_1": Tensor(np.zeros(p["d_ff"])), f"{layer}.b_2": Tensor(np.zeros(p["d"]))}
        for norm in ("norm_1", "norm_2"):
            params[f"{layer}.{norm}.gamma"] = Tensor(np.ones(p["d"]))
            params[f"{layer}.{norm}.beta"] = Tensor(np.zeros(p["d"]))
    wrong = blocks(params, config, Tensor(x[None]), {}) + -target
    loss = (wrong * wrong).sum() * (1 / target.size)
    loss.backward()
    case.close(loss.value, "loss")
    for name in ("W_2", "W_O"):
        norms = [np.linalg.norm(params[f"{layer}.{name}"].grad) for layer in range(p["L"])]
        case.close(norms, f"grad_norm_{name.replace('_', '')}")


def test_difference_share_is_a_share():
    """1 when the words cancel out, 0 when they are alike, 1/√2 for two words at a right angle; size does not matter."""
    x = rng().standard_normal((5, 3))
    assert difference_share(x - x.mean(axis=0)) == pytest.approx(1)
    assert difference_share(np.tile(x[:1], (5, 1))) == pytest.approx(0, abs=1e-15)
    assert difference_share(np.eye(2)) == pytest.approx(0.5**0.5)
    assert difference_share(1000 * x) == pytest.approx(difference_share(x))


def test_alike_words_stay_alike_whatever_the_parts():
    """No layer can tell apart two equal vectors: collapse is a one-way street."""
    x = np.tile(rng().standard_normal((1, 16)), (6, 1))
    layers = random_layers(rng(1), 3, 16)
    for parts in ({}, {"skip": True}, {"skip": True, "ffn": True, "norm": "pre"}, {"causal": True, "norm": "post"}):
        assert difference_share(residual_stream(x, layers, 4, **parts)[-1]) < 1e-14


def test_attention_alone_collapses_and_a_pre_norm_block_does_not():
    """After 12 layers nothing but rounding is left of the differences without a skip, much with skip and Pre-LN."""
    x, layers = rng().standard_normal((8, 32)), random_layers(rng(1), 12, 32)
    share = {name: [difference_share(x) for x in residual_stream(x, layers, 4, **parts)] for name, parts in (
        ("attention", {}), ("post", {"norm": "post"}), ("causal", {"causal": True}), ("skip", {"skip": True}),
        ("pre", {"skip": True, "ffn": True, "norm": "pre"}),
    )}  # fmt: skip
    assert share["attention"][12] < 1e-14
    assert share["post"][12] < 1e-14
    assert 1e-6 < share["causal"][12] < 0.02 < share["skip"][12] < share["pre"][12]
    assert share["pre"][12] > 0.3
    exponents = np.log10(share["attention"][1:4])
    assert exponents[2] / exponents[1] > 2  # the exponent more than doubles: faster than any exponential


def test_the_first_word_of_a_causal_stack_sees_only_itself():
    """With a causal mask, other words cannot reach the first; without one they do."""
    x, layers = rng().standard_normal((5, 16)), random_layers(rng(1), 4, 16)
    changed = x.copy()
    changed[1:] += 1
    for causal in (True, False):
        a, b = (residual_stream(words, layers, 4, causal=causal, skip=True)[-1] for words in (x, changed))
        assert np.array_equal(a[0], b[0]) is causal


def test_scaled_scores_are_scaled_queries():
    """score_scale 0 is the plain mean: after one layer all words are the same."""
    x, layers = rng().standard_normal((5, 16)), random_layers(rng(1), 1, 16)
    assert difference_share(residual_stream(x, layers, 4, score_scale=0.0)[1]) < 1e-14
    mean = x.mean(axis=0) @ layers[0]["W_V"] @ layers[0]["W_O"]
    np.testing.assert_allclose(residual_stream(x, layers, 4, score_scale=0.0)[1][0], mean)


def test_growth_of_the_stream():
    """Without norm it explodes, with Pre-LN it grows slowly, with Post-LN it stays at one; all start at one."""
    x, layers = rng().standard_normal((8, 64)), random_layers(rng(1), 24, 64)
    size = {
        norm: [rms(x) for x in residual_stream(x, layers, 4, skip=True, ffn=True, norm=norm)]
        for norm in ("none", "pre", "post")
    }
    assert size["none"][24] > 1e5
    assert 4 < size["pre"][24] < 9
    assert size["post"][1:] == pytest.approx([1] * 24, abs=1e-4)
    assert size["pre"][24] / size["pre"][6] == pytest.approx(4**0.5, rel=0.25)  # the square root of depth


def test_random_layers_keep_their_promise():
    """Standard deviations by fan-in, twice the variance before the ReLU, d_ff four times d_model."""
    (layer,) = random_layers(rng(), 1, 64)
    assert layer["W_Q"].std() == pytest.approx(1 / 8, rel=0.05)
    assert layer["W_1"].shape == (64, 256)
    assert layer["W_1"].std() == pytest.approx((2 / 64) ** 0.5, rel=0.05)
    assert layer["W_2"].std() == pytest.approx(1 / 16, rel=0.05)


def test_spiral_is_four_balanced_arms():
    """Standardised points, all four arms, and the same for the same generator."""
    points, arms = spiral(rng(), 1024)
    assert points.shape == (1024, 2) and points.dtype == np.float32
    np.testing.assert_allclose([points.mean(axis=0), points.std(axis=0)], [[0, 0], [1, 1]], atol=1e-5)
    assert set(arms) == {0, 1, 2, 3} and min(np.bincount(arms)) > 200
    assert np.array_equal(points, spiral(rng(), 1024)[0])


def test_a_residual_network_of_zeros_does_nothing():
    """With f(x) = 0 in every block, 56 layers are the network of two layers; in a plain network all is lost."""
    points, _ = spiral(rng(), 50)
    params = random_network(rng(), 56, 8, residual=True)
    for i in range(1, 55):
        params[f"W.{i}"].value[:] = 0
    two = np.maximum(points @ params["W.0"].value, 0) @ params["W.55"].value
    np.testing.assert_allclose(network(params, True, points).value, two, rtol=1e-5, atol=1e-6)
    assert (network(params, False, points).value == 0).all()


def test_residual_branches_start_small():
    """He initialisation in both; only a residual block's second matrix is divided by the number of blocks."""
    plain, residual = (random_network(rng(), 22, 64, residual) for residual in (False, True))
    for i in range(1, 21):
        std = (2 / 64) ** 0.5
        assert plain[f"W.{i}"].value.std() == pytest.approx(std, rel=0.06)
        assert residual[f"W.{i}"].value.std() == pytest.approx(std / 10 if i % 2 == 0 else std, rel=0.06)


@pytest.mark.parametrize("residual", [True, False])
def test_network_gradients_are_of_every_matrix_and_leave_nothing_behind(residual):
    """As many norms as layers, the slope along the gradient is its norm, and training starts with clean gradients."""
    points, arms = spiral(rng(), 64)
    params = random_network(rng(), 6, 16, residual)
    for p in params.values():
        p.value = p.value.astype(float)
    norms = network_gradients(params, residual, points, arms)
    assert len(norms) == 6 and all(p.grad is None for p in params.values())
    tape.cross_entropy(network(params, residual, points), arms).backward()
    for i, norm in enumerate(norms):
        w, step = params[f"W.{i}"], 1e-6
        direction = step * w.grad / norm
        losses = []
        for sign in (1, -1):
            w.value = w.value + sign * direction
            losses.append(float(tape.cross_entropy(network(params, residual, points), arms).value))
            w.value = w.value - sign * direction
        assert (losses[0] - losses[1]) / (2 * step) == pytest.approx(norm, rel=1e-3)


def test_a_shallow_network_learns_the_spiral():
    """Six residual layers, 400 steps: the error falls from chance to a few per cent."""
    points, arms = spiral(rng(), 512)
    params = random_network(rng(), 6, 32, residual=True)
    errors = train_network(params, True, points, arms, rng(1), 400, 0.05, 128, 200)
    assert len(errors) == 3
    assert errors[0] > 0.5
    assert errors[-1] < 0.1


def test_depth_must_make_whole_blocks():
    """An odd depth has no place for its last layer."""
    with pytest.raises(ValueError, match="depth = 7"):
        random_network(rng(), 7, 8, residual=False)


def test_what_an_affine_map_leaves_unexplained():
    """Nothing of an affine map, all of XOR, something of a ReLU network."""
    x = rng().standard_normal((200, 4))
    W_1, W_2 = rng(1).standard_normal((4, 16)), rng(2).standard_normal((16, 4))
    assert unexplained_by_affine(x, x @ W_1 @ W_2 + 3) < 1e-20
    assert 0.05 < unexplained_by_affine(x, np.maximum(x @ W_1, 0) @ W_2) < 0.6
    corners = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    assert unexplained_by_affine(corners, np.array([0.0, 1, 1, 0])) == pytest.approx(1)
