"""sim.autograd against PyTorch's gradients, finite differences, and the rules of differentiation."""

import numpy as np
import pytest

from sim import autograd as tape
from sim import ops
from sim.autograd import Tensor
from tests.golden import case as golden_case

NUMBERS = np.random.default_rng(0)


def array(*shape: int) -> np.ndarray:
    return NUMBERS.standard_normal(shape)


INDEX = np.array([[0, 2, 2], [1, 0, 2]])
CONSTANT = array(4)
CALCULATIONS = {  # name: (shapes of the inputs, what is computed from them)
    "add": ([(2, 3), (2, 3)], lambda a, b: a + b),
    "add, a row to a batch": ([(2, 3, 4), (4,)], lambda a, b: a + b),
    "add, both stretched": ([(3, 1), (1, 4)], lambda a, b: a + b),
    "add a constant": ([(1, 4)], lambda a: CONSTANT + a + 2.0),
    "add an array of more axes": ([(4,)], lambda a: a + np.ones((3, 4))),
    "mul": ([(2, 3), (2, 3)], lambda a, b: a * b),
    "mul, stretched": ([(2, 3, 4), (3, 1)], lambda a, b: a * b),
    "mul by a constant": ([(3, 4)], lambda a: 0.5 * a * CONSTANT),
    "matmul": ([(3, 4), (4, 2)], lambda a, b: a @ b),
    "matmul, batch by one matrix": ([(2, 5, 3, 4), (4, 2)], lambda a, b: a @ b),
    "matmul, batch by batch": ([(2, 5, 3, 4), (2, 5, 4, 2)], lambda a, b: a @ b),
    "matmul, one matrix by batch": ([(3, 4), (5, 4, 2)], lambda a, b: a @ b),
    "matmul, stretched batch": ([(2, 1, 3, 4), (5, 4, 2)], lambda a, b: a @ b),
    "reshape": ([(2, 6)], lambda a: a.reshape(3, 4)),
    "transpose": ([(2, 3, 4)], lambda a: a.transpose(2, 0, 1)),
    "relu": ([(5, 4)], tape.relu),
    "gelu": ([(5, 4)], tape.gelu),
    "softmax": ([(5, 4)], tape.softmax),
    "layer_norm": ([(2, 3, 4), (4,), (4,)], tape.layer_norm),
    "rows": ([(3, 4)], lambda table: tape.rows(table, INDEX)),
    "cross_entropy": ([(2, 3, 4)], lambda z: tape.cross_entropy(z, INDEX)),
    "cross_entropy, weighted and smoothed": ([(2, 3, 4)], lambda z: tape.cross_entropy(z, INDEX, 1.0 * INDEX, 0.1)),
    "one input used three times": ([(3, 3)], lambda a: tape.softmax(a @ a) * a),
}


@pytest.mark.parametrize("shapes, compute", CALCULATIONS.values(), ids=CALCULATIONS)
def test_gradient_is_the_slope(shapes, compute):
    """Moving any single input entry by h moves the loss by h times its gradient."""
    inputs = [Tensor(array(*shape)) for shape in shapes]
    direction = array(*compute(*inputs).shape)  # a loss that sees every entry of the result

    def loss() -> Tensor:
        return (compute(*inputs) * direction).sum()

    loss().backward()
    h = 1e-6
    for tensor in inputs:
        for i in np.ndindex(tensor.shape):
            before = tensor.value[i]
            tensor.value[i] = before + h
            up = loss().value
            tensor.value[i] = before - h
            down = loss().value
            tensor.value[i] = before
            assert tensor.grad[i] == pytest.approx((up - down) / (2 * h), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", ["relu", "gelu", "softmax"])
def test_forward_is_the_same_as_in_ops(name):
    """The tape and sim.ops compute the same function, though each writes it in its own way."""
    x = 5 * array(6, 7)
    np.testing.assert_allclose(getattr(tape, name)(Tensor(x)).value, getattr(ops, name)(x), rtol=1e-14, atol=1e-15)


def test_norm_and_log_softmax_are_the_same_as_in_ops():
    """Layer norm's eps stands under the root in both, and the loss is built on the same logarithm."""
    x, gamma, beta = array(6, 7), array(7), array(7)
    normed = tape.layer_norm(Tensor(x), Tensor(gamma), Tensor(beta)).value
    np.testing.assert_allclose(normed, ops.layer_norm(x, gamma, beta), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(tape.log_softmax(900 * x), ops.log_softmax(900 * x), rtol=1e-14)


def test_layer_norm_backward_as_in_pytorch():
    """The mean and the deviation depend on x too; forgetting that gives other gradients."""
    case = golden_case("layernorm.backward")
    x, gamma, beta = (Tensor(np.array(case.inputs[name])) for name in ("x", "gamma", "beta"))
    y = tape.layer_norm(x, gamma, beta, eps=case.params["eps"])
    (y * np.array(case.inputs["dy"])).sum().backward()
    case.close(y.value, "y")
    for tensor, name in ((x, "dx"), (gamma, "dgamma"), (beta, "dbeta")):
        case.close(tensor.grad, name)


def test_attention_backward_as_in_pytorch():
    """「小北喝奶茶」 run backwards: the gradients of Q, K and V."""
    case = golden_case("xiaobei.attention_backward")
    q, k, v = (Tensor(np.array(case.inputs[name], float)) for name in "QKV")
    out = tape.softmax(q @ k.transpose(1, 0) * case.params["d_k"] ** -0.5) @ v
    (out * np.array(case.inputs["dO"])).sum().backward()
    for tensor, name in ((q, "dQ"), (k, "dK"), (v, "dV")):
        case.close(tensor.grad, name)


def test_cross_entropy_as_in_pytorch():
    """Loss and gradient: plain, with a row ignored, and with label smoothing."""
    case = golden_case("loss.cross_entropy")
    targets, rows = np.array(case.inputs["targets"]), np.arange(3)
    for suffix, prefix, weight, smoothing in (
        ("", "", None, 0.0),
        ("_ignore_row1", "", (rows != case.params["ignored_row"]) * 1.0, 0.0),
        ("", "smoothed_", None, case.params["label_smoothing"]),
    ):
        logits = Tensor(np.array(case.inputs["logits"], float))
        loss = tape.cross_entropy(logits, targets, weight, smoothing)
        loss.backward()
        case.close(loss.value, f"{prefix}loss{suffix}")
        case.close(logits.grad, f"{prefix}grad{suffix}")
    case.close(-tape.log_softmax(np.array(case.inputs["logits"], float))[rows, targets], "per_token")
    case.close(np.exp(case.expected["loss"]), "perplexity")


def test_a_uniform_guess_costs_ln_v():
    """Equal logits cost ln V, whatever the target."""
    case = golden_case("loss.uniform_baseline")
    losses = [tape.cross_entropy(Tensor(np.zeros((1, v))), np.array([v - 1])).value for v in case.inputs["vocab"]]
    case.close(losses, "loss")


def test_gradients_of_all_uses_are_added():
    """x³ written as x·x·x has the slope 3x²."""
    x = Tensor(np.array([2.0, -1.0]))
    (x * x * x).sum().backward()
    assert x.grad.tolist() == [12.0, 3.0]


def test_backward_adds_to_a_gradient_that_is_there():
    """Two losses by one parameter: their gradients add until someone clears them."""
    x = Tensor(np.array([2.0]))
    (x * 3.0).sum().backward()
    (x * 4.0).sum().backward()
    assert x.grad.tolist() == [7.0]


def test_a_result_is_finished_before_its_parents():
    """A short path and a long one from the same input: both are counted, once."""
    x = Tensor(np.array([1.0]))
    y = x * 2.0
    (y * y * y + y + x).sum().backward()
    assert x.grad.tolist() == [2 * 3 * 2.0**2 + 2 + 1]


def test_depth_is_no_limit():
    """Ten thousand steps in a row: no recursion, so no recursion limit."""
    x = start = Tensor(np.array([0.0]))
    for _ in range(10_000):
        x = x + 1.0
    x.sum().backward()
    assert start.grad.tolist() == [1.0]


def test_backward_needs_a_single_number():
    """A vector has no gradient of its own; the message names the shape."""
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        Tensor(np.zeros((2, 3))).backward()


def test_float32_stays_float32():
    """Training in float32 must not slip into float64 halfway: values and gradients keep their type."""
    x, table, one, zero = (Tensor(a.astype(np.float32)) for a in (array(3, 4), array(4, 4), np.ones(4), np.zeros(4)))
    hidden = tape.gelu(tape.relu(tape.layer_norm(x @ table * 0.5, one, zero))) + np.float32(1)
    loss = tape.cross_entropy(tape.softmax(hidden), np.array([0, 1, 2]), np.ones(3))
    loss.backward()
    assert {t.dtype for t in (loss.value, x.grad, table.grad, one.grad, zero.grad)} == {np.dtype(np.float32)}
