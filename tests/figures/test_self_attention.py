"""The pictures of article 2: what they print is what the lesson computed."""

import pytest

import figures.self_attention as pictures
from sim.lessons import self_attention as lesson
from sitegen.drawing import Explainer, Figure
from sitegen.drawing.declare import WIDTHS
from sitegen.drawing.lint import faults
from sitegen.page.display import fixed

FIGURES = {name: value for name, value in vars(pictures).items() if isinstance(value, Figure)}
[EXPLAINER] = [value for value in vars(pictures).values() if isinstance(value, Explainer)]
BOTH = pytest.mark.parametrize("layout", WIDTHS)


def texts(scene) -> dict[str, str]:
    return {node.key: node.text for node in scene.nodes if node.text}


def row(scene, key: str, n: int) -> list[str]:
    printed = texts(scene)
    return [printed[f"{key}/{i}t"] for i in range(n)]


def shown(values, places: int) -> list[str]:
    return [fixed(float(v), places) for v in values]


def test_there_are_at_least_six_figures_and_an_explainer_of_at_least_ten_steps() -> None:
    assert len(FIGURES) >= 6 and len(EXPLAINER.steps) >= 10


@BOTH
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_fits_its_layout_without_fault(name, layout) -> None:
    drawn = FIGURES[name].layouts[layout]
    assert drawn.width == WIDTHS[layout] and faults(drawn) == []


@pytest.mark.parametrize("step", EXPLAINER.steps, ids=lambda step: step.caption[:12])
def test_every_frame_of_the_explainer_is_without_fault(step) -> None:
    assert faults(step.scene) == []


@BOTH
def test_both_score_tables_print_the_lessons_scores(layout) -> None:
    scene = FIGURES["alike_or_asked"].layouts[layout]
    for key, scores in (("alike", lesson.alike), ("asked", lesson.raw_scores)):
        assert [row(scene, f"{key}/{i}", 3) for i in range(3)] == [shown(line, 0) for line in scores]


@BOTH
def test_what_borrow_hears_stands_below_the_shares_it_comes_from(layout) -> None:
    scene = FIGURES["borrow_listens"].layouts[layout]
    assert row(scene, "heard", 3) == shown(lesson.borrow_output, 1)
    assert [row(scene, f"value{i}", 3) for i in range(3)] == [shown(v, 1) for v in lesson.borrow_values]


@BOTH
def test_the_mark_of_a_mixture_lies_between_the_outermost_points(layout) -> None:
    nodes = {node.key: node for node in FIGURES["mixture"].layouts[layout].nodes}
    for j in range(3):
        points = [nodes[f"dot{j}{i}"].number("x") for i in range(3)]
        assert min(points) < nodes[f"out{j}"].number("x") < max(points)


@BOTH
def test_bars_with_and_without_the_division_are_of_the_same_word(layout) -> None:
    scene = FIGURES["with_and_without"].layouts[layout]
    for key, shares in (("plain", lesson.crowd_plain), ("scaled", lesson.crowd_scaled)):
        assert row(scene, key, 8) == [fixed(100 * float(share), 0) + "%" for share in shares]


def test_the_explainer_ends_its_calculation_where_the_lesson_does() -> None:
    [heard] = [step.scene for step in EXPLAINER.steps if "heard/name" in texts(step.scene)]
    assert row(heard, "heard", 4) == shown(lesson.drink_output, 2)
