"""sim.training against PyTorch's optimisers, the paper's schedule, and what a schedule promises."""

import math

import numpy as np
import pytest

from sim.autograd import Tensor
from sim.training import SGD, Adam, AdamW, constant, cosine, noam, significant, train
from tests.golden import case as golden_case
from tests.test_toy_model import tiny_lm


def test_optimizer_steps_as_in_pytorch():
    """Three given gradients, the parameter after each step."""
    case = golden_case("optimizer.steps")
    betas, eps = tuple(case.params["betas"]), case.params["eps"]
    for name, make in (
        ("sgd", SGD),
        ("adam", lambda params: Adam(params, betas, eps)),
        ("adamw", lambda params: AdamW(params, betas, eps, case.params["adamw_weight_decay"], decay_vectors=True)),
    ):
        theta = Tensor(np.array(case.inputs["theta"], float))
        optimizer, path = make({"theta": theta}), []
        for grad in case.inputs["grads"]:
            theta.grad = np.array(grad, float)
            optimizer.step(case.params["lr"])
            path.append(theta.value.copy())
        case.close(path, name)


@pytest.mark.parametrize(
    "name, make, rate",
    [
        ("sgd", SGD, 0.1),
        ("sgd_momentum", lambda params: SGD(params, momentum=0.9), 0.1),
        ("adam", lambda params: Adam(params, (0.9, 0.98), 1e-9), 0.01),
        ("adamw", lambda params: AdamW(params, (0.9, 0.95), 1e-8, 0.1, decay_vectors=True), 0.01),
    ],
)
def test_a_whole_training_as_in_pytorch(name, make, rate):
    """Model, gradients and optimiser together: the loss before every step and after the last, up to fifty steps."""
    case = golden_case("tiny_lm.training")
    params, loss = tiny_lm()
    losses = train(make(params), lambda step: loss(params), constant(rate), steps=len(case.expected[name]) - 1)
    case.close([*losses, float(loss(params).value)], name)
    if name == "adam":
        case.close(params["token"].value, "adam_final_tok")


def test_noam_as_in_the_paper():
    """Equation 3 of the 2017 paper, for base and big, and its peak at the end of the warm-up."""
    case = golden_case("schedule.noam")
    for d_model in (512, 1024):
        rate = noam(d_model, case.params["warmup"])
        case.close([rate(step) for step in case.inputs["steps"]], f"d{d_model}")
        case.close(rate(case.params["warmup"]), f"peak_d{d_model}")


def test_warm_up_rises_in_a_line_and_stays():
    """A quarter of the warm-up gives a quarter of the rate; without warm-up the first step is a full one."""
    assert [constant(0.4, warm_up=4)(step) for step in (1, 2, 4, 5, 900)] == [0.1, 0.2, 0.4, 0.4, 0.4]
    assert constant(0.4)(1) == 0.4


def test_cosine_falls_from_the_full_rate_to_the_last():
    """Full at the first step, half way between at the middle, nearly `last` at the end, never rising."""
    rates = [cosine(1.0, steps=100, last=0.1)(step) for step in range(1, 101)]
    assert rates[0] == 1.0
    assert rates[50] == pytest.approx(0.55)
    assert rates[-1] == pytest.approx(0.1, abs=1e-3)
    assert rates == sorted(rates, reverse=True)
    assert cosine(1.0, steps=100, warm_up=10)(5) < 0.5


def test_adams_first_step_is_the_rate_whatever_the_gradient():
    """1e-6 and 1e6 move a parameter equally far: that is Adam's point."""
    p = Tensor(np.array([0.0, 0.0]))
    p.grad = np.array([1e-6, -1e6])
    Adam({"p": p}, eps=0.0).step(0.01)
    np.testing.assert_allclose(p.value, [-0.01, 0.01])


def test_weight_decay_leaves_vectors_alone_unless_asked():
    """Biases and gammas are not pulled to 0."""
    matrix, vector = Tensor(np.ones((1, 1))), Tensor(np.ones(1))
    matrix.grad, vector.grad = np.zeros((1, 1)), np.zeros(1)
    AdamW({"W": matrix, "b": vector}, weight_decay=0.5).step(0.1)
    assert (matrix.value.item(), vector.value.item()) == (0.95, 1.0)


@pytest.mark.parametrize("optimizer", [SGD, Adam, AdamW])
def test_a_step_clears_the_gradient_and_skips_what_has_none(optimizer):
    """A gradient is used once; a part of the model that was switched off stays as it was."""
    used, unused = Tensor(np.ones((2, 2))), Tensor(np.ones((2, 2)))
    used.grad = np.ones((2, 2))
    optimizer({"used": used, "unused": unused}).step(0.1)
    assert used.grad is None
    assert (used.value < 1).all()
    assert (unused.value == 1).all()


def test_train_watches_at_the_first_every_and_last_step():
    """The learning curve has its two ends."""
    p = Tensor(np.array([1.0]))
    seen = train(SGD({"p": p}), lambda step: (p * p).sum(), constant(0.1), 25, watch=lambda step: step, every=10)
    assert seen == [1, 10, 20, 25]
    assert p.value.item() == pytest.approx(0.8**25)


def test_train_stops_where_the_loss_breaks():
    """A diverging run ends with a loss that is not finite, and does not poison the parameters further."""
    p = Tensor(np.array([1.0]))
    with np.errstate(all="ignore"):
        losses = train(SGD({"p": p}), lambda step: (p * p * p * p).sum(), constant(100.0), 50)
    assert len(losses) < 50
    assert not math.isfinite(losses[-1])


def test_significant_gives_plain_numbers():
    """What goes into a result file is a Python number of a few digits, and a count stays a count."""
    result = significant({"a": np.float32(1.23456789), "b": [np.float64(1e-17 / 3), 7], "c": np.array([2.0])})
    assert result == {"a": 1.23457, "b": [3.33333e-18, 7], "c": [2.0]}
    assert type(result["b"][1]) is int
