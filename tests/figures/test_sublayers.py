"""The pictures of article 5: what they print is what the lesson computed, the same on every machine."""

import os
import subprocess
import sys

import numpy as np
import pytest

import figures.sublayers as pictures
from sim.lessons import sublayers as lesson
from sitegen.drawing import Explainer, Figure
from sitegen.drawing.declare import WIDTHS
from sitegen.drawing.lint import MOST_BYTES, MOST_NODES, faults, rings
from sitegen.page.display import fixed

FIGURES = {name: value for name, value in vars(pictures).items() if isinstance(value, Figure)}
[EXPLAINER] = [value for value in vars(pictures).values() if isinstance(value, Explainer)]
BOTH = pytest.mark.parametrize("layout", WIDTHS)


def canvas(name, layout="wide"):
    return FIGURES[name].layouts[layout]


def vector(scene, key):
    """The numbers printed in a vector's cells, as text."""
    cells = {node.key: node.text for node in scene.nodes}
    found = []
    while (text := cells.get(f"{key}/{len(found)}t")) is not None:
        found.append(text)
    return found


def shown(values, places):
    return [fixed(float(v), places) for v in values]


def curve(scene, key):
    return np.array(rings(next(n for n in scene.nodes if n.key.startswith(f"{key}/")).attributes["d"])[0])


def test_there_are_at_least_eight_figures_and_an_explainer_of_fourteen_steps():
    assert len(FIGURES) >= 8 and len(EXPLAINER.steps) == 14


@BOTH
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_fits_its_layout_without_fault_and_stays_small(name, layout):
    drawn = canvas(name, layout)
    assert drawn.width == WIDTHS[layout] and faults(drawn) == []
    assert len(drawn.body()) < MOST_BYTES / 10 and len(drawn.nodes) < MOST_NODES / 10


@pytest.mark.parametrize("number", range(14))
def test_every_frame_of_the_explainer_is_without_fault(number):
    assert faults(EXPLAINER.steps[number].scene) == []


@BOTH
def test_replace_and_add_print_the_lessons_vectors(layout):
    scene = canvas("replace_or_add", layout)
    assert vector(scene, "replace/x") == vector(scene, "add/x") == shown(lesson.borrow, 1)
    assert vector(scene, "replace/out") == shown(lesson.heard, 1)
    assert vector(scene, "add/out") == shown(lesson.borrow + lesson.heard, 1)


@BOTH
@pytest.mark.parametrize("key", ["pre_norm_block", "skip", "causal", "attention"])
def test_the_curves_of_collapse_lie_at_the_lessons_medians(key, layout):
    """Pixels are read back through the ticks that the picture itself prints."""
    drawn = canvas("collapse", layout)
    ticks = {node.text: node for node in drawn.nodes if node.tag == "text"}
    top, bottom = ticks["1"].number("y"), ticks["10⁻¹²"].number("y")
    points = curve(drawn, key)
    middle = 0.36 * ticks["1"].number("font-size")
    decades = (points[:, 1] - (top - middle)) / (bottom - top) * -12
    expected = np.log10(np.maximum(lesson.collapsed[key], 1e-15))[: len(points)]
    assert np.abs(decades - expected).max() < 0.25  # a tick's middle is known to about three pixels
    assert np.abs((decades - decades[0]) - (expected - expected[0])).max() < 0.02


@BOTH
def test_the_curves_of_plain_and_residual_lie_at_the_medians_over_seeds(layout):
    drawn = canvas("plain_and_residual", layout)
    for key in ("plain_20", "plain_56", "residual_20", "residual_56"):
        median = np.median([run[key]["errors"] for run in lesson.network_runs], axis=0)
        y = curve(drawn, key)[:, 1]
        zero, chance = (curve(drawn, "residual_56")[-1, 1], next(
            n for n in drawn.nodes if n.tag == "path" and "dashed" in n.classes and n.tone("s") == "mute"))  # fmt: skip
        per_pixel = lesson.chance_error / (zero - rings(chance.attributes["d"])[0][0][1])
        assert np.allclose((zero - y) * per_pixel, median, atol=0.003), key


@BOTH
def test_the_bars_of_the_two_softmaxes_are_as_high_as_their_weights(layout):
    scene = canvas("two_softmaxes", layout)
    for key, weights in (("mild/weights", lesson.mild_weights), ("loud/weights", lesson.loud_weights)):
        assert vector(scene, key) == [fixed(100 * w, 0) + "%" for w in weights]
        high = [n.number("height") for n in scene.nodes if n.tag == "rect" and n.key.startswith(key)]
        assert np.allclose(high, np.maximum(96 * weights, 1.5), atol=0.06)
    assert vector(scene, "loud/scores") == ["50", "100", "150"]


@BOTH
def test_the_stages_of_layer_norm_are_the_worked_example(layout):
    scene = canvas("layer_norm_stages", layout)
    assert vector(scene, "stage0") == ["30", "−8", "52"]
    assert vector(scene, "stage1") == ["5.33", "−32.67", "27.33"]
    assert vector(scene, "stage2") == ["0.22", "−1.32", "1.10"]
    printed = [node.text for node in scene.nodes]
    assert "− 24.67" in printed and "÷ 24.78" in printed and "标准差 1.00" in printed


@BOTH
def test_the_feed_forward_network_prints_every_stage(layout):
    scene = canvas("widen_switch_narrow", layout)
    stages = [lesson.after_attention, lesson.hidden, lesson.opened, lesson.ffn_output]
    assert [vector(scene, f"v{i}") for i in range(4)] == [shown(stage, 1) for stage in stages]


@BOTH
def test_areas_are_in_the_ratio_of_the_parameters(layout):
    scene = canvas("parameter_areas", layout)
    for name, share in (("Llama-3-8B", lesson.share_llama3), (None, lesson.share_2017)):
        rects = [n for n in scene.nodes if n.tag == "rect" and n.key.startswith("Llama") == (name is not None)]
        area = {True: 0.0, False: 0.0}
        for n in rects:
            ffn = n.tone("f") == "3-fill"
            area[ffn] += (n.number("width") + 2) * (n.number("height") + 2)
        assert area[True] / (area[True] + area[False]) == pytest.approx(share, abs=0.003)


@BOTH
def test_the_block_prints_the_stream_at_its_three_places(layout):
    scene = canvas("one_block", layout)
    for i, step in enumerate((lesson.step_0, lesson.step_3, lesson.step_6)):
        assert vector(scene, f"v{i}") == shown(step[2], 2)


def test_the_frames_of_the_explainer_print_the_lessons_numbers():
    scenes = [step.scene for step in EXPLAINER.steps]
    assert vector(scenes[0], "fx") == vector(scenes[1], "fx") == shown(lesson.heard, 1)
    assert vector(scenes[2], "out") == shown(lesson.after_attention, 1)
    assert vector(scenes[3], "final") == shown(lesson.after_ffn, 1)
    assert vector(scenes[5], "x") == ["30", "−8", "52"]
    assert vector(scenes[8], "normed") == shown(lesson.normed, 2)
    assert vector(scenes[10], "opened") == shown(lesson.opened, 1)
    assert vector(scenes[11], "row2") == ["0", "1", "1", "0"]
    layers = sum(node.key.startswith("GPT-3/") and node.tag == "rect" for node in scenes[13].nodes)
    assert layers == lesson.GPT3_175B.n_layers == 96


def test_most_of_what_one_step_shows_is_carried_into_the_next_where_the_thought_goes_on():
    for a, b in ((1, 2), (2, 3), (7, 8)):
        before, after = ({node.key for node in EXPLAINER.steps[i].scene.nodes} for i in (a, b))
        assert len(before & after) >= 5, (a, b)


def test_the_same_bytes_come_out_under_another_hash_seed_locale_and_set_of_fonts(tmp_path, root):
    """Two processes; the second sees no font directories and an empty matplotlib cache."""
    script = (
        "import figures.sublayers as p, hashlib\n"
        "from sitegen.drawing import Figure, Explainer\n"
        "whole = hashlib.sha256()\n"
        "for v in vars(p).values():\n"
        "    if isinstance(v, Figure): [whole.update(c.body().encode()) for c in v.layouts.values()]\n"
        "    if isinstance(v, Explainer): [whole.update(s.scene.body(keys=True).encode()) for s in v.steps]\n"
        "print(whole.hexdigest())"
    )
    empty = tmp_path / "fonts.conf"
    empty.write_text('<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig/>', encoding="utf-8")
    found = set()
    for extra in (
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "2", "LC_ALL": "C", "TZ": "Asia/Shanghai", "MPLCONFIGDIR": str(tmp_path / "cache"),
         "FONTCONFIG_FILE": str(empty), "HOME": str(tmp_path)},
    ):  # fmt: skip
        environment = {**os.environ, **extra}
        done = subprocess.run([sys.executable, "-c", script], cwd=root, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "Glyph" not in done.stderr and "findfont" not in done.stderr
        found.add(done.stdout)
    assert len(found) == 1
