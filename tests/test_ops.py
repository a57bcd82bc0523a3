"""sim.ops against a reference implementation, published hand calculations, and the mistakes others met."""

import doctest
import importlib
import re
from pathlib import Path

import numpy as np
import pytest

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
from tests.golden import case as golden_case
from tests.golden import golden, ids

ELSEWHERE = (  # golden cases of other modules: position, training, autograd, decoding, depth
    "pe.",
    "rope.",
    "xiaobei.attention_with_pe",
    "xiaobei.attention_backward",
    "layernorm.backward",
    "kvcache.equivalence",
    "loss.",
    "tiny_lm.",
    "optimizer.",
    "schedule.",
    "decoding.",
    "collapse.",
    "grad_norms.",
)


@pytest.mark.parametrize("module", ["ops", "attention", "counting", "facts"])
def test_the_worked_examples_in_docstrings(module):
    """What a docstring shows is what the function gives."""
    failed, tried = doctest.testmod(importlib.import_module(f"sim.{module}"))
    assert (failed, tried > 0) == (0, True)


def test_no_golden_case_is_forgotten():
    """Every frozen case is used by a test, or is listed above as another module's."""
    tests = [p.read_text(encoding="utf-8") for p in Path(__file__).parent.glob("test_*.py")]
    used = {quoted for text in tests for quoted in re.findall(r'"([^"\n]+)"', text)}
    assert [id for id in ids() if id not in used and not id.startswith(ELSEWHERE)] == []


@golden("softmax.s123", "softmax.s10", "softmax.s50", "softmax.zeros", "softmax.big")
def test_softmax_its_logarithm_slope_and_entropy(case):
    """Softmax, log-softmax, Jacobian and entropy are those of PyTorch, for mild and for huge scores."""
    p = softmax(case.inputs["x"])
    case.close(p, "p")
    case.close(log_softmax(case.inputs["x"]), "log_p")
    case.close(softmax_jacobian(p), "jacobian")
    case.close(np.abs(softmax_jacobian(p)).max(), "max_abs_jacobian")
    case.close(entropy(p), "entropy_nats")


@golden("softmax.scale_sweep")
def test_softmax_freezes_as_scores_grow(case):
    """The same scores, scaled up: the weights go to the largest and the slope to 0."""
    p = softmax(np.outer(case.inputs["scales"], case.inputs["x"]))
    case.close(p, "p")
    case.close(np.abs(softmax_jacobian(p)).max(axis=(-2, -1)), "max_abs_jacobian")


def test_the_slope_keeps_its_digits_when_softmax_has_saturated():
    """The largest slope at scores 50, 100, 150 is 1.9e-22 and not 0; the frozen case's tolerance would not see a 0."""
    slope = np.abs(softmax_jacobian(softmax([50, 100, 150]))).max()
    assert slope == pytest.approx(1.9287498479639178e-22, rel=1e-12, abs=0)


@golden("softmax.matrix_axis")
def test_softmax_along_either_axis(case):
    """Rows with axis −1, columns with axis 0."""
    case.close(softmax(case.inputs["x"]), "rows")
    case.close(softmax(case.inputs["x"], axis=0), "cols")


def test_softmax_never_overflows_N01():
    """Scores of 1000, or of any size, give finite weights without a NumPy warning."""
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        for dtype in (np.float64, np.float32):
            got = softmax(np.array([1000, 1000, 999], dtype))
            np.testing.assert_allclose(got, [0.42231880, 0.42231880, 0.15536240], atol=1e-7)
            assert got.dtype == dtype
            largest = np.finfo(dtype).max
            assert softmax(np.array([largest, -largest, 0], dtype)).tolist() == [1, 0, 0]
            assert log_softmax(np.array([largest, -largest], dtype)).tolist() == [0, -np.inf]
        assert sigmoid([-1e4, 0, 1e4]).tolist() == [0, 0.5, 1]


def test_softmax_sums_along_one_axis_only_N05():
    """Each row of a square matrix sums to 1; the whole matrix does not."""
    np.testing.assert_allclose(softmax([[1, 2], [3, 4]]), [[0.26894142, 0.73105858]] * 2, atol=1e-8)
    x = np.arange(30.0).reshape(2, 3, 5) % 7
    np.testing.assert_allclose(softmax(x).sum(axis=-1), np.ones((2, 3)), rtol=1e-15)


def test_integers_are_not_cut_N06():
    """Lists, integers and int64 arrays give what the same floats give."""
    for x in ([1, 2], (1, 2), np.array([1, 2]), np.array([1, 2], np.int32)):
        np.testing.assert_allclose(softmax(x), [0.26894142, 0.73105858], atol=1e-8)
        assert softmax(x).dtype == np.float64
    for f in (relu, gelu, gelu_tanh, silu, sigmoid, normal_cdf, layer_norm, rms_norm, log_softmax):
        np.testing.assert_array_equal(f([1, 2, 3, 4]), f(np.array([1.0, 2.0, 3.0, 4.0])), err_msg=f.__name__)


def test_softmax_with_entries_barred_N03():
    """A barred entry gets exactly 0, whatever it holds; with all barred the row is 0, not NaN and not uniform."""
    assert softmax([1.0, np.nan, 1.0], where=[True, False, True]).tolist() == [0.5, 0, 0.5]
    assert softmax([[1.0, 2.0, 3.0], [0, 0, 0]], where=[[False] * 3, [True, False, True]]).tolist() == [
        [0, 0, 0],
        [0.5, 0, 0.5],
    ]
    assert softmax([-np.inf] * 3).tolist() == [0, 0, 0]
    assert log_softmax([-np.inf] * 3).tolist() == [-np.inf] * 3


def test_softmax_refuses_what_has_no_answer():
    """+∞, NaN and masks of numbers are errors that say so."""
    for bad in (np.inf, np.nan):
        with pytest.raises(ValueError, match="softmax: x holds NaN or"):
            softmax([1.0, bad])
    with pytest.raises(ValueError, match=r"where \(the mask\) holds float64; needed True"):
        softmax([1.0, 2.0], where=np.array([0.0, -1e9]))
    with pytest.raises(ValueError, match=r"where \(the mask\) has shape \(3,\); needed one that broadcasts to \(2,\)"):
        softmax([1.0, 2.0], where=[True, True, False])


def test_entropy_of_a_sure_and_an_even_choice():
    """0 log 0 counts as 0, and certainty has entropy 0 (not −0)."""
    assert str(entropy([1, 0, 0])) == "0.0"
    assert entropy([0.25] * 4) == pytest.approx(np.log(4))


@golden("activation.table")
def test_activations_and_their_slopes(case):
    """Activations are those of PyTorch; their slopes, measured by small differences, are its derivatives."""
    x, small = np.array(case.inputs["x"]), 1e-5
    functions = {"relu": relu, "gelu": gelu, "gelu_tanh": gelu_tanh, "silu": silu, "sigmoid": sigmoid, "tanh": np.tanh}
    for name, f in functions.items():
        case.close(f(x), name)
        slope = (f(x + small) - f(x - small)) / (2 * small)
        kink = (x == 0) & (name == "relu")  # no slope there
        np.testing.assert_allclose(slope[~kink], np.array(case.expected[f"d_{name}"])[~kink], atol=1e-9, err_msg=name)
    case.close(x * sigmoid(1.702 * x), "gelu_sigmoid_1.702")


@golden("activation.gelu_tanh_max_error")
def test_how_far_gelus_tanh_form_is_off(case):
    """The two forms of GELU differ by at most 4.7e-4; GELU and SiLU have their dips where PyTorch has them."""
    low, high, n = case.inputs["grid"]
    x = np.linspace(low, high, n)
    case.close(np.abs(gelu(x) - gelu_tanh(x)).max(), "max_abs_diff")
    case.close(gelu(x).min(), "gelu_min")
    case.close(x[gelu(x).argmin()], "gelu_argmin")
    case.close(silu(x).min(), "silu_min")
    case.close(x[silu(x).argmin()], "silu_argmin")


def test_normal_cdf_far_below_zero():
    """Φ(−10) keeps its digits; 1 + erf would give 0."""
    assert normal_cdf(-10.0) == pytest.approx(7.61985302416053e-24, rel=1e-12)


@golden("article.relu")
def test_relu_of_the_articles_example(case):
    """relu cuts exactly the negative entries."""
    case.close(relu(case.inputs["x"]), "y")


@golden("article.layernorm", "article.layernorm_other", "layernorm.after_two_layers", "layernorm.const")
def test_layer_norm_and_rms_norm(case):
    """Both norms are those of PyTorch for each eps: population variance, eps inside the root."""
    for eps in case.params["eps"]:
        suffix = f"eps{eps:g}" if eps else "eps0"
        case.close(layer_norm(case.inputs["x"], eps=eps), f"layernorm_{suffix}")
        case.close(rms_norm(case.inputs["x"], eps=eps), f"rmsnorm_{suffix}")


@golden("layernorm.invariance")
def test_what_scaling_and_shifting_do_to_the_norms(case):
    """Layer norm undoes both (a negative scale flips the sign), RMSNorm only the scale."""
    x = np.array(case.inputs["x"])
    moved = np.array([scale * x + shift for scale, shift in case.inputs["transforms"]])
    case.close(layer_norm(moved, eps=0), "ln_eps0")
    case.close(layer_norm(moved), "ln_eps1e5")
    case.close(rms_norm(moved, eps=0), "rms_eps0")


@golden("layernorm.eps_matters")
def test_eps_shows_when_the_variance_is_small(case):
    """Scaling down is not undone once the variance comes near eps."""
    case.close(layer_norm(np.outer(case.inputs["scales"], case.inputs["x"]), eps=case.params["eps"]), "ln")


@golden("batchnorm_vs_layernorm")
def test_layer_norm_works_along_the_rows(case):
    """Each vector is normalised over its own entries; over the batch it would be batch norm."""
    x = np.array(case.inputs["x"])
    case.close(layer_norm(x, eps=case.params["eps"]), "layernorm")
    case.close(layer_norm(x.T, eps=case.params["eps"]).T, "batchnorm")


def test_layer_norm_divides_by_n_with_eps_inside_the_root_N07_PW13():
    """[1, 0, 0, 0] gives 1.73200; dividing by n − 1 would give 1.5000."""
    np.testing.assert_allclose(layer_norm([1, 0, 0, 0]), [1.73200, -0.57733, -0.57733, -0.57733], atol=1e-5)


def test_layer_norm_by_hand_PW12():
    """A chapter prints 0.6159, 1.4126 … (variance over n − 1) before its class divides by n; the class is right."""
    got = layer_norm([0.2260, 0.3470, 0, 0.2216, 0, 0], eps=0)
    np.testing.assert_allclose(got, [0.6748, 1.5474, -0.9551, 0.6431, -0.9551, -0.9551], atol=1e-4)
    assert layer_norm([0.2260, 0.3470, 0, 0.2216, 0, 0]).var() == pytest.approx(0.99948, abs=1e-5)


@pytest.mark.parametrize("value", [2, 0, 0.1, -0.1, 1 / 3, 1e-300, 1e300, -1.7e308])
@pytest.mark.parametrize("d_model", [1, 3, 4, 7, 10, 33])
def test_equal_entries_give_exactly_beta_N08(value, d_model):
    """A constant vector gives beta to the last bit, for every eps, also where its mean is not exactly its entries."""
    beta = np.linspace(-1, 2, d_model)
    with np.errstate(all="raise", under="ignore"):
        for eps in (0.0, 1e-5):
            assert layer_norm([value] * d_model, eps=eps).tolist() == [0] * d_model
            assert (
                layer_norm([value] * d_model, gamma=np.full(d_model, 3.0), beta=beta, eps=eps).tolist() == beta.tolist()
            )


def test_equal_entries_in_float32():
    """The same in float32, where sums round sooner."""
    for n in (3, 10, 100, 1000):
        assert not layer_norm(np.full(n, 0.1, np.float32), eps=0).any()


def test_rms_norm_of_zero_is_zero():
    """With eps = 0 there is nothing to divide, and no NaN."""
    assert rms_norm([0, 0, 0], eps=0).tolist() == [0, 0, 0]


def test_gain_and_bias():
    """gamma and beta are applied after the norm; None stands for 1 and 0, single numbers for equal entries."""
    x, gamma, beta = [30, -8, 52], np.array([1.0, 0.5, -1.0]), np.array([0.0, 0.1, 0.2])
    np.testing.assert_array_equal(layer_norm(x, gamma, beta), gamma * layer_norm(x) + beta)
    np.testing.assert_array_equal(layer_norm(x, None, None), layer_norm(x, 1, 0))
    np.testing.assert_array_equal(rms_norm(x, gamma), gamma * rms_norm(x))
    backward = golden_case("layernorm.backward")  # its gradients are autograd's to check, its values are ours
    x, gamma, beta = (np.array(backward.inputs[name]) for name in ("x", "gamma", "beta"))
    backward.close(layer_norm(x, gamma, beta), "y")
    backward.close(rms_norm(x, gamma), "rms_y")


def test_wrong_shapes_are_named():
    """The error names function and argument, what it got, and what is needed and why."""
    with pytest.raises(
        ValueError, match=r"layer_norm: gamma has shape \(2,\); needed \(d_model,\) with d_model = 3 as in x"
    ):
        layer_norm([1, 2, 3], gamma=[1, 1])
    with pytest.raises(ValueError, match=r"layer_norm: x has shape \(\); needed \(\.\.\., d_model\)"):
        layer_norm(3.0)
    with pytest.raises(ValueError, match="layer_norm: x is ragged"):
        layer_norm([[1, 2], [3]])
    with pytest.raises(ValueError, match=r"relu: x holds .*; needed real numbers"):
        relu(["a"])
    with pytest.raises(TypeError, match=r"relu\(\) missing"):
        relu()
