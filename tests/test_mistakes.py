"""sim.mistakes: every slip gives what someone who makes it gets, and not the right answer."""

import doctest
import inspect

import numpy as np
import pytest

from sim import attention, counting, mistakes, ops

X = np.array([7.0, 1.0, 4.0])
SCORES = np.array([[1.0, 2.0], [3.0, 1.0], [0.0, 0.0]])
MASK = np.array([[True, False], [True, True], [False, True]])
Q, K = np.array([[2.0, 1.0]]), np.array([[1.0, 3.0], [0.5, -1.0]])
W_1, W_2 = np.array([[1.0, -1.0], [0.0, 1.0], [1.0, -2.0]]), np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]])


@pytest.mark.parametrize(
    ("slip", "right"),
    [
        (mistakes.scaled_by_width(Q, K, 16), Q @ K.T / np.sqrt(2)),
        (mistakes.unscaled(Q, K), Q @ K.T / np.sqrt(2)),
        (mistakes.softmax_over_queries(SCORES), ops.softmax(SCORES)),
        (mistakes.masked_after_softmax(SCORES, MASK), ops.softmax(SCORES, where=MASK)),
        (mistakes.masked_with_zero(SCORES, MASK), ops.softmax(SCORES, where=MASK)),
        (mistakes.over_scaled(Q, K), Q @ K.T / np.sqrt(2)),
        (mistakes.scores_for_weights(SCORES[0], np.array([5.0, 1.0])), ops.softmax(SCORES[0]) @ [5.0, 1.0]),
        (mistakes.shared_equally(np.array([5.0, 1.0])), ops.softmax(SCORES[0]) @ [5.0, 1.0]),
        (mistakes.winner_alone(ops.softmax(SCORES[0]), np.array([5.0, 1.0])), ops.softmax(SCORES[0]) @ [5.0, 1.0]),
        (mistakes.sample_deviation(X), X.std()),
        (mistakes.layer_norm_of_sample(X), ops.layer_norm(X, eps=0)),
        (mistakes.layer_norm_by_variance(X), ops.layer_norm(X, eps=0)),
        (mistakes.layer_norm_uncentred(X), ops.layer_norm(X, eps=0)),
        (mistakes.layer_norm_eps_outside(X, 0.5), ops.layer_norm(X, eps=0.5)),
        (mistakes.layer_norm_over_batch(np.array([X, X + 1, 2 * X])), ops.layer_norm(np.array([X, X + 1, 2 * X]), eps=0)),
        (mistakes.own_share_alone(0.3, 3), np.linalg.matrix_power(np.array([[0.6, 0.4], [0.7, 0.3]]), 3)[1, 1]),
        (mistakes.slope_without_one(0.1, 10), 1.1**10),
        (mistakes.replaced(X, 0.1 * X), X + 0.1 * X),
        (mistakes.without_relu(X, W_1, W_2), ops.relu(X @ W_1) @ W_2),
        (mistakes.two_thirds(2048), 0.85),
        (mistakes.gate_left_out(2048, 8192), counting.ffn_params(2048, 8192, gated=True)),
        (mistakes.every_head_its_own(2048), counting.attention_params(2048, 32, 8)),
    ],
)
def test_a_slip_does_not_give_the_right_answer(slip, right):
    assert np.shape(slip) == np.shape(right) and not np.allclose(slip, right)


def test_slips_worked_by_hand():
    assert mistakes.sample_deviation(X) == 3  # differences 3, −3, 0: 18 / 2 = 9
    assert mistakes.layer_norm_of_sample(X).tolist() == [1, -1, 0]
    assert mistakes.layer_norm_by_variance(X).tolist() == [0.5, -0.5, 0]
    assert mistakes.two_thirds(512) == pytest.approx(2 / 3)
    assert mistakes.masked_with_zero(np.array([[0.0, 5.0]]), np.array([[True, False]])).tolist() == [[0.5, 0.5]]
    assert mistakes.masked_after_softmax(np.zeros((1, 2)), np.array([[True, False]])).sum() == 0.5


def test_the_attention_we_teach_divides_by_the_root_of_a_heads_width():
    assert np.allclose(attention.scores(Q, K), mistakes.unscaled(Q, K) / np.sqrt(Q.shape[1]))


def test_every_slip_says_who_makes_it():
    functions = [f for _, f in inspect.getmembers(mistakes, inspect.isfunction) if f.__module__ == mistakes.__name__]
    assert len(functions) >= 15
    for function in functions:
        assert "whoever" in function.__doc__ or "that deviation" in function.__doc__, function.__name__
    assert doctest.testmod(mistakes).failed == 0
