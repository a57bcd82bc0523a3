"""What article 5 prints, against PyTorch's numbers (tests/data/golden.json), hand-worked cases and every seed."""

import json
from pathlib import Path

import numpy as np
import pytest

from sim.lessons import sublayers as lesson

GOLDEN = {c["id"]: c for c in json.loads((Path(__file__).parents[1] / "data/golden.json").read_text(encoding="utf-8"))}


def expected(case: str) -> dict:
    return GOLDEN[case]["expected"]


def close(got, wanted, tolerance=1e-10) -> None:
    np.testing.assert_allclose(np.asarray(got, float), np.asarray(wanted, float), rtol=1e-9, atol=tolerance)


# ---- 一 换掉还是加上


def test_two_additions_give_the_sums_of_the_reference() -> None:
    close(lesson.after_attention, expected("article.residual")["after1"])
    close(lesson.after_ffn, expected("article.residual")["after2"])
    close(lesson.undone, GOLDEN["article.residual"]["inputs"]["x"])


def test_mixing_three_times_does_not_shrink_the_own_share_as_a_power() -> None:
    """The common guess is wrong: what is left of 「借」 is near the common share, far above 0.3³."""
    close(lesson.guessed_share, expected("article.decay_0.3")["kept"][3])
    assert lesson.mixing_thrice[2, 2] > 9 * lesson.guessed_share
    assert np.ptp(lesson.mixing_thrice, axis=0).max() < 0.05  # the three rows are nearly one
    close(lesson.mixing.sum(axis=1), 1)
    close(lesson.stubborn.sum(axis=1), 1)
    assert abs(lesson.stubborn_mix[2, 2] - 1 / 3) < 0.02


def test_adding_keeps_more_difference_than_replacing_after_every_layer() -> None:
    pairs = list(zip(lesson.added_difference, lesson.replaced_difference, strict=True))
    assert all(added > replaced for added, replaced in pairs[1:]) and pairs[0][0] == pairs[0][1]
    assert all(np.diff(lesson.added_difference) < 0)  # and still loses some: the page says so


def test_silent_layers_erase_when_replacing_and_pass_when_adding() -> None:
    close(lesson.silence_replaced, [0, 0, 0])
    close(lesson.silence_added, lesson.borrow)
    close(lesson.harmed, [0, 0, 0])
    assert lesson.gpt2_xl_scale == pytest.approx(0.102, abs=5e-4)


@pytest.mark.parametrize("run", lesson.collapse_runs)
def test_replaced_layers_collapse_and_pre_norm_holds_for_every_seed(run) -> None:
    """Attention alone is at the grain of float64 by twelve layers; skip and norm together keep a fifth at least."""
    for name in ("attention", "ffn", "post_norm"):
        assert run[name][12] < 1e-13, name
    assert run["attention"][3] < 1e-3
    assert run["causal"][24] < 1e-3 and run["causal"][24] > run["attention"][24]
    assert run["skip"][12] > run["causal"][12] > run["attention"][12]
    assert run["pre_norm_block"][24] > 0.2 and run["pre_norm_block"][24] > run["skip"][24]


def test_attention_alone_falls_doubly_exponentially_in_the_median() -> None:
    """The exponent itself grows by a factor of several from layer to layer."""
    exponent = np.log10(lesson.collapsed["attention"][1:4])
    assert exponent[1] / exponent[0] > 2 and exponent[2] / exponent[1] > 2
    assert lesson.collapsed["skip"][24] < 0.05  # a skip alone only slows it


# ---- 二 加法救了训练


def test_slopes_of_a_stack_are_those_of_the_reference() -> None:
    reference = expected("residual.chain_grad_w0.3")
    depths = GOLDEN["residual.chain_grad_w0.3"]["inputs"]["depths"]
    for depth, plain, residual in zip(lesson.stack_depths, lesson.plain_slopes, lesson.residual_slopes, strict=True):
        assert plain == pytest.approx(reference["plain"][depths.index(depth)], rel=1e-9)
        assert residual == pytest.approx(reference["residual"][depths.index(depth)], rel=1e-9)
    assert lesson.ten_replaced == pytest.approx(0.0009765625) and lesson.ten_added == pytest.approx(2.5937424601)
    assert lesson.negative_answer == pytest.approx(0.1215766546)


@pytest.mark.parametrize("run", lesson.network_runs)
def test_only_the_deep_plain_network_fails_to_learn_for_every_seed(run) -> None:
    assert run["plain_56"]["error_late"] > 0.3
    for name in ("plain_20", "residual_20", "residual_56"):
        assert run[name]["error"] < 0.1 and run[name]["error_late"] < 0.15, name


def test_gradients_half_way_up_are_smallest_in_the_deep_plain_network_in_the_median() -> None:
    middle = lesson.network_grad_middle
    assert middle["plain_56"] < middle["plain_20"] < min(middle["residual_20"], middle["residual_56"])


def test_norm_after_the_addition_holds_less_than_a_bare_skip_in_the_median() -> None:
    """Without training: the row of the table that was added because "skip and norm hold" is true of Pre-LN only."""
    assert lesson.collapsed["post_norm_block"][24] < lesson.collapsed["skip"][24] < lesson.collapsed["pre_norm_block"][24]


def test_one_plain_network_is_stuck_and_it_has_the_largest_gradient_half_way_up() -> None:
    """So the small median gradient of the deep plain network is no explanation, as the page says."""
    gradients = [run["plain_56"]["grad_middle"] for run in lesson.network_runs]
    assert lesson.stuck_seeds == 1 and lesson.network_stuck[int(np.argmax(gradients))]


@pytest.mark.parametrize("run", lesson.other_runs)
def test_the_contrast_goes_away_under_the_conditions_that_the_page_names(run) -> None:
    assert run["plain_20"] < 0.05 and run["plain_56"] < 0.3
    assert min(run["residual_56"], run["residual_20_large"], run["residual_56_large"]) > lesson.chance_error


# ---- 三 数字越加越大


def test_the_two_softmaxes_and_their_slopes_are_those_of_the_reference() -> None:
    close(lesson.mild_weights, expected("softmax.s123")["p"])
    assert lesson.mild_slope == pytest.approx(expected("softmax.s123")["max_abs_jacobian"])
    np.testing.assert_allclose(lesson.loud_weights, expected("softmax.s50")["p"], rtol=1e-9)
    assert lesson.loud_slope == pytest.approx(expected("softmax.s50")["max_abs_jacobian"], rel=1e-9)
    close(lesson.shifted_weights, lesson.mild_weights)


def test_the_table_of_scales_is_that_of_the_reference_and_its_slope_first_rises() -> None:
    scales = GOLDEN["softmax.scale_sweep"]["inputs"]["scales"]
    for scale, weights, slope in zip(lesson.scales, lesson.scaled_weights, lesson.scaled_slopes, strict=True):
        i = scales.index(scale)
        np.testing.assert_allclose(weights, expected("softmax.scale_sweep")["p"][i], rtol=1e-9)
        assert slope == pytest.approx(expected("softmax.scale_sweep")["max_abs_jacobian"][i], rel=1e-9)
    assert lesson.scaled_slopes[0] < lesson.scaled_slopes[1] > lesson.scaled_slopes[2] > lesson.scaled_slopes[3]


@pytest.mark.parametrize("run", lesson.growth_runs)
def test_numbers_explode_without_norm_creep_with_pre_norm_and_stay_with_post_norm(run) -> None:
    assert run["none"][48] > 1e12 and 1.8 < (run["none"][48] / run["none"][4]) ** (1 / 44) < 2.2
    assert 6 < run["pre"][48] < 15 and run["pre"][48] > run["pre"][24] > run["pre"][12] > run["pre"][4] > 1
    close(run["post"][1:], 1, tolerance=1e-3)


# ---- 四 层归一化


def test_layer_norm_step_by_step_gives_the_numbers_of_the_reference() -> None:
    """24.67, 24.78 (not 30.35), [0.22, −1.32, 1.10]."""
    reference = expected("article.layernorm")
    close(lesson.drifted_mean, reference["mean"])
    close(lesson.centred, reference["centered"])
    close(lesson.variance, reference["var_pop"])
    close(lesson.deviation, reference["std_pop"])
    close(lesson.deviation_of_sample, reference["std_sample"])
    close(lesson.normed, reference["layernorm_eps0"])
    assert np.round(lesson.normed, 2).tolist() == [0.22, -1.32, 1.10]
    assert round(lesson.drifted_mean, 2) == 24.67 and round(lesson.deviation, 2) == 24.78
    close(lesson.calm_normed, expected("article.layernorm_other")["layernorm_eps0"])
    close([lesson.normed_squares, lesson.calm_normed_squares], [3, 3])


def test_rms_norm_of_the_same_vector_is_that_of_the_reference_and_sees_a_shift() -> None:
    close(lesson.root_mean_square, expected("article.layernorm")["rms"])
    close(lesson.rms_normed, expected("article.layernorm")["rmsnorm_eps0"])
    transforms = GOLDEN["layernorm.invariance"]["inputs"]["transforms"]
    close(lesson.rms_normed_shifted, expected("layernorm.invariance")["rms_eps0"][transforms.index([1, 1000])])


def test_layer_norm_forgets_a_positive_scale_and_a_shift_and_flips_with_the_sign() -> None:
    close(lesson.scaled_and_shifted, lesson.normed)
    close(lesson.turned_around, -lesson.normed)
    close(lesson.constant_normed, expected("layernorm.const")["layernorm_eps1e-05"])
    close(lesson.pair_normed, [-1, 1])
    close(lesson.far_pair_normed, [-1, 1])


def test_gamma_and_beta_take_mean_and_deviation_off_zero_and_one() -> None:
    close(lesson.adjusted, lesson.gamma * lesson.normed + lesson.beta)
    assert abs(lesson.adjusted_mean) > 0.005 and abs(lesson.adjusted_deviation - 1) > 0.1


def test_rows_and_columns_are_normed_as_in_the_reference() -> None:
    close(lesson.by_row, expected("batchnorm_vs_layernorm")["layernorm"])
    close(lesson.by_column, expected("batchnorm_vs_layernorm")["batchnorm"])
    close(lesson.by_row_without_third, lesson.by_row[:2])  # a row does not see its neighbours, a column does
    assert abs(lesson.by_column_without_third[0, 0] - lesson.by_column[0, 0]) > 0.2
    close(lesson.by_column_alone, np.zeros((1, 4)))


def test_attention_of_the_lab_is_that_of_the_reference() -> None:
    case = GOLDEN["lab.scale_shift_layernorm"]
    raw = dict(zip(map(tuple, case["inputs"]["transforms"]), case["expected"]["weights_raw"], strict=True))
    close(lesson.looks_small, raw[1, 0])
    close(lesson.looks_large, raw[10, 0])
    close(lesson.looks_shifted, raw[1, 10])
    close(lesson.looks_normed, case["expected"]["weights_layernorm"][0])
    close(lesson.looks_large_normed, case["expected"]["weights_layernorm"][-1])


def test_the_invariance_breaks_where_the_variance_is_below_eps_and_nowhere_else() -> None:
    assert lesson.gap_exact < 1e-12 and lesson.gap_at_ten < 1e-4
    assert lesson.tiny_variance < lesson.usual_eps
    close(lesson.tiny_normed, lesson.tiny_kept * lesson.query_normed)
    assert 0.17 < lesson.tiny_kept < 0.19
    assert np.ptp(lesson.looks_tiny) < np.ptp(lesson.looks_normed) / 3  # nearer to equal shares


def test_layer_norm_does_not_stop_large_scores_from_saturating() -> None:
    assert lesson.looks_sharp[1] > 0.98


# ---- 五 放在哪里


@pytest.mark.parametrize("run", lesson.gradient_runs)
def test_near_the_output_post_norm_gradients_stay_large_for_every_seed(run) -> None:
    for depth in (2, 6, 12):
        assert run[f"post_{depth}"][-1] > run[f"pre_{depth}"][-1]
    assert run["none_12"][0] > 1e4


def test_with_depth_pre_norm_gradients_fall_and_post_norm_gradients_do_not() -> None:
    pre, post = ([lesson.last_gradient[f"{norm}_{depth}"] for depth in (2, 6, 12)] for norm in ("pre", "post"))
    assert pre[0] > pre[1] > pre[2] and post[2] > 0.9 * post[0]


@pytest.mark.parametrize("run", lesson.train_12_runs)
def test_twelve_post_norm_layers_without_warm_up_fail_and_pre_norm_layers_learn_for_every_seed(run) -> None:
    assert run["post_flat"] > 1.5
    assert run["pre_flat"] < 0.15 and run["pre_warm_up"] < 0.15


def test_warm_up_lets_most_seeds_of_twelve_post_norm_layers_learn() -> None:
    """The page says how many, and that warm-up is no insurance."""
    assert lesson.post_flat_12_learned == 0
    assert lesson.post_warm_12_learned > len(lesson.post_warm_12) / 2


@pytest.mark.parametrize("run", lesson.train_6_runs)
def test_six_post_norm_layers_without_warm_up_are_slower_but_learn_for_every_seed(run) -> None:
    assert run["pre_flat"] < run["post_flat"] < 0.5


@pytest.mark.parametrize("run", lesson.train_2_runs)
def test_two_layers_learn_about_as_well_either_way_for_every_seed(run) -> None:
    assert max(run[name] for name in lesson.arrangements) < 0.2
    assert abs(run["post_flat"] - run["pre_flat"]) < 0.04 and abs(run["post_warm_up"] - run["pre_warm_up"]) < 0.04


def test_in_so_few_steps_warm_up_costs_pre_norm_a_little() -> None:
    for excess in (lesson.excess_12, lesson.excess_6, lesson.excess_2):
        assert excess["pre_flat"] < excess["pre_warm_up"] < excess["pre_flat"] + 0.05


# ---- 六 前馈网络


def test_the_feed_forward_example_gives_the_second_addition_of_section_one() -> None:
    close(lesson.hidden, GOLDEN["article.relu"]["inputs"]["x"])
    close(lesson.opened, expected("article.relu")["y"])
    close(lesson.ffn_output, lesson.digested)


def test_two_matrices_are_one_without_relu_and_not_with_it() -> None:
    close(lesson.two_matrices, lesson.one_matrix)
    assert np.abs(lesson.with_relu - lesson.one_matrix).max() > 0.1


@pytest.mark.parametrize("run", lesson.ffn_runs)
def test_widening_without_relu_adds_nothing_for_every_seed(run) -> None:
    assert run["difference"] < 1e-12 and run["rank_product"] == 16 and run["rank_hidden_linear"] == 16
    assert run["rank_hidden_relu"] == 64 and run["unexplained_relu"] > 0.15 and run["unexplained_linear"] < 1e-12
    assert 0.45 < run["active"] < 0.55


def test_xor_is_out_of_reach_without_relu_and_exact_with_two_units() -> None:
    close(lesson.xor_best_line, np.full(4, 0.5))
    assert lesson.xor_line_error == pytest.approx(0.25)
    assert lesson.xor_relu.tolist() == lesson.xor_wanted.tolist() and lesson.xor_relu_error == 0


def test_every_position_goes_through_the_same_network_alone() -> None:
    assert lesson.position_gap < 1e-12
    assert len({tuple(row) for row in (lesson.detected > 0).tolist()}) == 3  # each word opens another set


def test_softer_switches_are_those_of_the_reference() -> None:
    table = GOLDEN["activation.table"]
    for i, x in enumerate(lesson.switch_inputs):
        at = table["inputs"]["x"].index(x)
        for name, values in (("relu", lesson.relu_values), ("gelu", lesson.gelu_values), ("silu", lesson.silu_values)):
            close(values[i], table["expected"][name][at])


def test_parameter_counts_and_shares_are_those_of_the_reference() -> None:
    layer, llama = expected("params.per_layer"), expected("params.llama_family")
    assert (lesson.attention_2017, lesson.ffn_2017) == (layer["512"]["attention"], layer["512"]["ffn"])
    assert (lesson.attention_gpt3, lesson.ffn_gpt3) == (layer["12288"]["attention"], layer["12288"]["ffn"])
    assert lesson.stack_gpt3 == 96 * layer["12288"]["total"]
    assert lesson.share_2017 == lesson.share_gpt3 == pytest.approx(2 / 3)
    assert (lesson.attention_llama3, lesson.ffn_llama3) == (llama["llama3_8b"]["attention"], llama["llama3_8b"]["ffn"])
    assert lesson.share_llama3 == pytest.approx(llama["llama3_8b"]["ffn_share"], abs=1e-4)
    assert lesson.share_llama2 == pytest.approx(llama["llama2_70b"]["ffn_share"], abs=1e-4)
    assert round(lesson.share_qwen, 3) == round(llama["qwen2.5_7b"]["ffn_share"], 3)  # with and without its biases
    assert lesson.quiz_share == pytest.approx(llama["llama3.2_1b"]["ffn_share"], abs=1e-4)
    assert lesson.share_gpt2_whole < 0.5


# ---- 一层，六步，两行; 检验一下


def test_the_six_steps_are_the_two_lines_of_a_pre_norm_layer() -> None:
    half_way = lesson.sentence + lesson.mixing @ lesson.layer_norm(lesson.sentence)
    normed = lesson.layer_norm(half_way)
    end = half_way + np.maximum(normed @ lesson.W_1, 0) @ lesson.W_2 + lesson.b_2
    close(lesson.step_3, half_way)
    close(lesson.step_6, end)


def test_right_options_are_right_and_wrong_ones_wrong() -> None:
    close(lesson.layer_norm(lesson.quiz_norm_moved, eps=0), lesson.quiz_norm_result)
    assert not np.allclose(lesson.quiz_norm_negative_result, lesson.quiz_norm_result)
    assert not np.allclose(lesson.quiz_norm_stretched_result, lesson.quiz_norm_result)
    close(lesson.exercise_opened > 0, [1, 0, 0, 0])
    reference = expected("ffn.linear_collapse")
    close([lesson.additive_ga, lesson.additive_gb, lesson.additive_gab], reference["with_relu"][:3])
    linear = [lesson.additive_linear_ga, lesson.additive_linear_gb, lesson.additive_linear_gab]
    close(linear, reference["without_relu"][:3])
    assert not np.allclose(lesson.additive_sum, lesson.additive_gab)
