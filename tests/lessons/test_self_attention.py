"""What article 2 prints, against PyTorch's numbers (tests/data/golden.json), published examples, and every seed."""

import numpy as np
import pytest

from sim.lessons import self_attention as lesson
from sim.lessons import sublayers
from sim.mistakes import softmax_over_queries
from tests.golden import case, published

XIAOBEI = case("xiaobei.attention_dk4")


def close(got, wanted, tolerance=1e-10) -> None:
    np.testing.assert_allclose(np.asarray(got, float), np.asarray(wanted, float), rtol=1e-9, atol=tolerance)


# ---- 一 该听谁的


def test_likeness_is_symmetric_and_lets_drink_listen_to_itself() -> None:
    close(lesson.alike, lesson.alike.T)
    assert lesson.alike_weights[1, 1] > 0.97 and lesson.alike_weights[1, 0] < 0.01
    assert lesson.alike[0, 0] == lesson.alike[0, 2]  # not every word likes itself best: the answer says so
    assert lesson.alike_score == lesson.alike[1, 2]


def test_equal_shares_give_every_word_the_same() -> None:
    close(np.full((3, 3), 1 / 3) @ lesson.X, np.tile(lesson.everyone_alike, (3, 1)))


# ---- 二 三个身份


def test_queries_keys_and_values_are_those_of_the_reference() -> None:
    for name, matrix in (("X", lesson.X), ("WQ", lesson.W_Q), ("WK", lesson.W_K), ("WV", lesson.W_V)):
        close(matrix, XIAOBEI.inputs[name])
    assert lesson.words == XIAOBEI.inputs["tokens"]
    XIAOBEI.close(lesson.Q, "Q")
    XIAOBEI.close(lesson.K, "K")
    XIAOBEI.close(lesson.V, "V")


def test_a_query_is_rows_of_the_matrix_taken_so_many_times() -> None:
    close(lesson.drink_query, lesson.Q[1])
    close(lesson.new_query, 2 * lesson.W_Q[0] + lesson.W_Q[1] + lesson.W_Q[3])
    assert not np.allclose(lesson.new_query_turned, lesson.new_query)


# ---- 三 打分，分份额，取内容


def test_the_four_steps_are_those_of_the_reference() -> None:
    """Scaled scores [[1, 2, 1], [4, 3, 5], [3, 5, 4]], and weights and output after them."""
    XIAOBEI.close(lesson.raw_scores, "scores")
    XIAOBEI.close(lesson.scaled_scores, "scaled")
    XIAOBEI.close(lesson.weights, "weights")
    XIAOBEI.close(lesson.output, "output")
    assert lesson.scaled_scores.tolist() == [[1, 2, 1], [4, 3, 5], [3, 5, 4]]


def test_rows_of_weights_add_to_one_and_one_point_more_is_e_times_as_much() -> None:
    close(lesson.row_sums, 1)
    assert lesson.one_more == pytest.approx(np.e)
    assert lesson.raw_scores[1].argmin() == 1  # 「喝」 gives itself the least
    assert abs(lesson.raw_scores - lesson.raw_scores.T).max() > 0


def test_what_drink_hears_is_its_shares_added_up() -> None:
    close(lesson.shares_of_values.sum(axis=0), lesson.drink_output)
    close(lesson.powers / lesson.powers_sum, lesson.weights[1])


def test_the_open_steps_of_the_worked_examples_have_the_right_results() -> None:
    tea = case("xiaobei.attention_dk4").expected["output"][2][1]
    assert lesson.tea_second == pytest.approx(tea)
    weights = np.exp([2.5, 3, 2.5]) / np.exp([2.5, 3, 2.5]).sum()
    assert lesson.new_weight == pytest.approx(weights[1])
    assert lesson.new_second == pytest.approx(weights @ [0, 3, 1])


def test_slips_are_told_apart_from_the_right_answer_at_the_digits_shown() -> None:
    groups = [
        [lesson.tea_second, lesson.tea_second_equal, lesson.tea_second_winner],
        [lesson.new_weight, lesson.new_weight_unscaled, lesson.new_weight_over],
        [lesson.new_second, lesson.new_second_unscaled, lesson.new_second_scores],
        [lesson.last_output, lesson.last_unscaled, lesson.last_over, lesson.last_no_softmax],
    ]
    for values in groups:
        assert min(np.diff(sorted(values))) > 0.03


def test_softmax_over_the_wrong_axis_makes_rows_that_do_not_add_to_one() -> None:
    close(lesson.column_softmax.sum(axis=0), 1)
    assert lesson.column_softmax_row_sums[0] < 0.1 and lesson.column_softmax_row_sums[1] > 1.5
    reference = case("softmax.matrix_axis")
    reference.close(softmax_over_queries(np.array(reference.inputs["x"], float)), "cols")


def test_the_cell_of_the_lab_moves_one_row_of_weights_and_the_first_column_none() -> None:
    moved = np.abs(lesson.edited_weights - lesson.weights).max(axis=1)
    assert moved[1] > 0.1 and moved[0] == moved[2] == 0
    for row in range(4):
        edited = lesson.W_Q.copy()
        edited[row, 0] += 3
        close(lesson.follow(edited)[0], lesson.weights)
    assert len(set(lesson.first_key_numbers.tolist())) == 1


def test_the_lab_says_what_changed() -> None:
    cells = lesson.W_Q.tolist()
    assert "▸" not in str(lesson.edit_lab.tree({"cells": cells}))
    cells[1][3] = 0.0
    assert str(lesson.edit_lab.tree({"cells": cells})).count("▸") == 1 + 3 + 4  # a query, three weights, four outputs


# ---- 四 从「借」看出去


def test_borrow_asks_as_in_the_lab_of_article_five_and_brings_home_what_that_article_begins_with() -> None:
    reference = case("lab.scale_shift_layernorm")
    close(lesson.borrow_query, reference.inputs["q"])
    close(lesson.borrow_keys, reference.inputs["K"])
    reference.close(lesson.borrow_scores, "raw_scores", 0)
    reference.close(lesson.borrow_weights, "weights_raw", 0)
    close(lesson.borrow_query, sublayers.query)
    close(lesson.borrow_keys, sublayers.keys)
    np.testing.assert_allclose(lesson.borrow_output, sublayers.heard, atol=1e-4)  # printed with one digit
    close(lesson.borrow_scores, lesson.borrow_products / 2)


def test_outputs_lie_between_the_least_and_the_largest_value() -> None:
    assert (lesson.borrow_least <= lesson.borrow_output).all() and (lesson.borrow_output <= lesson.borrow_most).all()
    assert (lesson.V.min(axis=0) <= lesson.output).all() and (lesson.output <= lesson.V.max(axis=0)).all()


@pytest.mark.parametrize("x", np.linspace(-3, 3, 7))
@pytest.mark.parametrize("y", np.linspace(-3, 3, 7))
def test_no_query_takes_the_output_out_of_the_triangle(x, y) -> None:
    """The output's coordinates in the triangle are the weights: none below 0, together 1."""
    heard = lesson.plane(np.array([x, y]))[2]
    corners = np.vstack([lesson.plane_values.T, np.ones(3)])
    inside = np.linalg.solve(corners, [*heard, 1])
    assert (inside > -1e-12).all() and inside.sum() == pytest.approx(1)


def test_a_longer_query_keeps_the_order_and_sharpens_it_and_none_at_all_shares_equally() -> None:
    assert lesson.plane_weights.argsort().tolist() == lesson.plane_longer_weights.argsort().tolist()
    assert lesson.plane_shorter_weights[1] < lesson.plane_weights[1] < lesson.plane_longer_weights[1]
    close(lesson.plane(np.zeros(2))[1], 1 / 3)
    close(lesson.plane(np.zeros(2))[2], lesson.plane_values.mean(axis=0))


# ---- 五 为什么除以 √d_k


@pytest.mark.parametrize("run", lesson.product_runs)
def test_variance_of_the_dot_product_is_d_k_for_every_seed(run) -> None:
    """Within the spread of a variance from 1000 pairs; divided by √d_k it is 1, by d_k it is 1/d_k."""
    sizes = np.array(lesson.product_sizes)
    np.testing.assert_allclose(run["plain"], sizes, rtol=0.25)
    np.testing.assert_allclose(run["scaled"], 1, rtol=0.25)
    np.testing.assert_allclose(run["over"], 1 / sizes, rtol=0.25)


@pytest.mark.parametrize("run", lesson.saturation_runs)
def test_only_undivided_scores_saturate_with_d_k_for_every_seed(run) -> None:
    plain, scaled, over = (run[way] for way in ("plain", "scaled", "over"))
    assert plain["top"][0] < 0.75 < 0.9 < plain["top"][1] < plain["top"][2]
    assert plain["entropy"][2] < 0.01 and plain["slope"][2] < 0.01 and plain["slope"][1] < 0.15
    assert max(scaled["top"]) < 0.4 and min(scaled["entropy"]) > 0.8
    assert max(scaled["slope"]) - min(scaled["slope"]) < 0.02
    assert over["top"][2] < 0.15 and over["entropy"][2] > 0.999


@pytest.mark.parametrize("run", lesson.slope_runs)
def test_the_slope_first_rises_then_falls_and_spreads_widely_for_every_seed(run) -> None:
    median = dict(zip(lesson.slope_scales, run["median"], strict=True))
    assert median[0] < median[1] < median[2] > median[4] > median[8] > median[32]
    assert run["high"][5] > 0.4 and run["low"][5] < 0.001
    assert 0.25 < run["taken"][5] < 0.5


def test_an_exact_tie_keeps_its_slope_at_any_scale() -> None:
    assert lesson.tie_slope == pytest.approx(0.5)


def test_one_seed_can_be_computed_again() -> None:
    for experiment, runs in (
        (lesson.dot_products, lesson.product_runs),
        (lesson.saturation, lesson.saturation_runs),
        (lesson.slope_by_scale, lesson.slope_runs),
    ):
        again = experiment.run(experiment.seeds[0])
        for name, values in again.items():
            if isinstance(values, dict):
                for what in values:
                    np.testing.assert_allclose(values[what], runs[0][name][what], rtol=1e-3, atol=1e-9)
            else:
                np.testing.assert_allclose(values, runs[0][name], rtol=1e-3, atol=1e-9)


def test_scaling_as_in_the_reference_with_and_without() -> None:
    """One query, five keys of 64 numbers: undivided one key takes 97 %, divided 38 %."""
    reference = case("attention.scaling_dk64")
    q, keys = (np.array(reference.inputs[name]) for name in ("q", "K"))
    reference.close(lesson.attention_weights(q, keys, divisor=1), "weights_unscaled")
    reference.close(lesson.attention_weights(q, keys), "weights_scaled")


def test_the_labs_divisors_that_bring_the_spread_to_one_are_near_the_roots() -> None:
    for spread, root in zip(lesson.crowd_spreads, lesson.crowd_roots, strict=True):
        assert 0.85 < spread / root < 1.15
    assert lesson.crowd_top > 0.99 and lesson.crowd_scaled.max() < 0.6
    assert lesson.crowd_plain.argmax() == lesson.crowd_scaled.argmax()


def test_the_pictured_scores_give_the_published_weights_and_slips_do_not() -> None:
    """PW04: 112 and 96 by √64 are 14 and 12; 0.88 and 0.12. By √512 they would be 0.67 and 0.33."""
    assert lesson.pictured_scaled.tolist() == [14, 12]
    np.testing.assert_allclose(lesson.pictured_weights, [0.880797, 0.119203], atol=1e-6)
    np.testing.assert_allclose(lesson.pictured_by_d_model, [0.6698, 0.3302], atol=1e-4)
    np.testing.assert_allclose(lesson.pictured_by_d_k, [0.5622, 0.4378], atol=1e-4)
    assert lesson.pictured_unscaled[1] < 1e-6


def test_four_times_the_length_is_twice_the_spread() -> None:
    assert (lesson.spread_times, lesson.variance_times, lesson.square_times) == (2, 4, 16)


# ---- 六 换个次序


def test_permuting_the_words_permutes_the_output_as_in_the_reference() -> None:
    reference = case("xiaobei.permutation_equivariance")
    reference.close(lesson.output, "output_base")
    x = lesson.X[reference.inputs["perm"]]
    got = lesson.attention(x @ lesson.W_Q, x @ lesson.W_K, x @ lesson.W_V)
    reference.close(got, "output_perm")
    close(lesson.swapped_output, lesson.output[::-1])


def test_two_hundred_orders_make_no_difference_without_a_mask_and_a_large_one_with_a_causal_mask() -> None:
    assert lesson.orders.shape == (200, 8) and all(sorted(order) == list(range(8)) for order in lesson.orders.tolist())
    assert lesson.order_gap < 1e-12
    assert lesson.order_gap_causal > 0.5


def test_a_word_that_stands_twice_gets_the_same_twice() -> None:
    reference = case("xiaobei.duplicate_tokens")
    reference.close(lesson.twice_output, "output")
    close(lesson.twice_output[0], lesson.twice_output[2])


# ---- 检验一下: what others printed


def test_the_printed_notebook_is_wrong_in_two_steps() -> None:
    """PW15: scores right; the weights are not softmax of them; the output is not the printed weights times V either."""
    inputs = published("PW15")
    assert not inputs["agrees"]
    close(lesson.right_scores, lesson.printed_scores)
    np.testing.assert_allclose(lesson.right_weights, [0.61361, 0.13691, 0.24948], atol=1e-5)
    np.testing.assert_allclose(lesson.right_output, [0.70437, 0.19584], atol=1e-5)
    np.testing.assert_allclose(lesson.printed_weights_output, [0.69644, 0.19212], atol=1e-5)
    assert np.abs(lesson.printed_weights - lesson.right_weights).max() > 0.02
    assert np.abs(lesson.printed_output - lesson.printed_weights_output).max() > 0.02
    assert lesson.printed_sum == pytest.approx(1)


def test_the_public_notes_leave_out_the_division_they_write_down() -> None:
    """PW03, first word: printed scores and rows are those of undivided scores; divided they would be others."""
    example = published("PW03")
    given, printed = example["inputs"], example["published_output"]
    x = np.array(given["X"], float)
    q, k, v = (x @ np.array(given[name], float) for name in ("WQ", "WK", "WV"))
    close(lesson.notes_q, q[0])
    close(lesson.notes_K, k)
    close(lesson.notes_V, v)
    close(lesson.notes_scores, printed["scores"][0])
    close(lesson.notes_output, printed["hand_rounded_output"][0])
    np.testing.assert_allclose(lesson.notes_unscaled_output, printed["exact_output"][0], atol=1e-4)
    np.testing.assert_allclose(lesson.notes_scaled, [0.13613, 0.43194, 0.43194], atol=1e-5)
    np.testing.assert_allclose(lesson.notes_scaled_output, [1.86387, 6.31937, 1.70419], atol=1e-5)


def test_two_more_published_examples_come_out_as_printed() -> None:
    """PW08, integers with √3; PW10, words that attend to each other without any matrix, undivided."""
    given = published("PW08")["inputs"]
    x = np.array(given["words"], float)
    got = lesson.attention(x @ np.array(given["WQ"]), x @ np.array(given["WK"]), x @ np.array(given["WV"]))
    np.testing.assert_allclose(got, published("PW08")["published_output"], atol=1e-8)
    x = np.array([[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64], [0.22, 0.58, 0.33], [0.77, 0.25, 0.10],
                  [0.05, 0.80, 0.55]])  # fmt: skip
    printed = published("PW10")["published_output"]
    np.testing.assert_allclose(lesson.attention(x[1], x, x, divisor=1), printed["context"], atol=1e-4)


def test_the_calculation_to_check_with() -> None:
    close(lesson.last_raw, [2, 5, 4])
    weights = np.exp([1, 2.5, 2]) / np.exp([1, 2.5, 2]).sum()
    assert lesson.last_output == pytest.approx(weights @ [40, 0, 10])


def test_louder_values_leave_the_weights_alone() -> None:
    close(lesson.louder_output, lesson.value_times * lesson.drink_output)


def test_the_slope_by_the_query_shrinks_at_512_and_not_at_64() -> None:
    """What the page says of ‖∂weights/∂q‖: not dividing costs nothing at the paper's own size, and nearly all at 512."""
    plain, scaled = lesson.saturated["plain"]["query_slope"], lesson.saturated["scaled"]["query_slope"]
    assert plain[1] > scaled[1] and plain[2] < scaled[2] / 50
    assert all(run["plain"]["query_slope"][2] < run["scaled"]["query_slope"][2] / 10 for run in lesson.saturation_runs)
