"""Canvas and scene: what a picture is made of."""

import re

import pytest

from sitegen.drawing import DrawingError, Scene
from sitegen.drawing.canvas import Canvas, digits
from sitegen.drawing.lint import faults


def texts(canvas):
    return [node.text for node in canvas.nodes if node.tag == "text"]


def test_coordinates_are_short_and_never_minus_zero():
    assert [digits(x) for x in (-0.01, 0, 2.0, 0.1 + 0.2, -3.25, 12.349999)] == ["0", "0", "2", "0.3", "-3.3", "12.3"]


def test_a_key_stands_for_one_element():
    scene = Scene(100, 50)
    scene.label("a", 50, 20, "x")
    with pytest.raises(DrawingError, match="'a' is used twice"):
        scene.label("a", 50, 40, "y")


def test_text_is_text_and_cannot_become_markup():
    scene = Scene(200, 50)
    scene.label("a", 100, 20, '<b onload="x">&')
    assert "&lt;b onload=" in scene.body() and "<b" not in scene.body()


def test_a_vector_prints_its_numbers_with_our_rounding_and_a_true_minus():
    scene = Scene(300, 60)
    scene.vector("v", 10, 20, [0.125, -0.0001, -1.005], 2, (60, 30))
    assert texts(scene) == ["0.13", "0.00", "−1.01"]


def test_the_sign_of_a_number_is_printed_and_not_told_by_colour_alone():
    scene = Scene(300, 60)
    scene.vector("v", 10, 20, [1.5, -1.5], 1, (60, 30))
    fills = [node.tone("f") for node in scene.nodes if node.tag == "rect"]
    assert texts(scene) == ["1.5", "−1.5"] and fills == ["1-fill", "2-fill"]


def test_a_name_too_long_for_its_box_is_refused_and_so_is_a_number_for_its_cell():
    with pytest.raises(DrawingError, match="needs"):
        Scene(300, 60).box("b", 0, 0, "多头注意力", w=50)
    with pytest.raises(DrawingError, match="does not fit into a cell"):
        Scene(300, 60).vector("v", 0, 0, [-1234.5], 2, (40, 30))


def test_an_arrow_is_one_path_with_its_head_and_needs_no_id():
    scene = Scene(200, 100)
    scene.arrow("a", (10, 50), (150, 90), via=[(80, 50)], thick=True)
    [node] = scene.nodes
    assert node.tag == "path" and node.attributes["d"].count("M") == 2 and "Q" in node.attributes["d"]
    assert "id=" not in scene.body() and "marker" not in scene.body()


def test_every_part_stays_inside_the_spot_it_reports():
    scene = Scene(400, 300)
    spots = [
        scene.vector("v", 20, 40, [1, 2, 3]),
        scene.box("b", 200, 40, "一层", sub="layer"),
        scene.grid("g", 20, 120, [[1, 2], [3, 4]]),
    ]
    for spot, key in zip(spots, "vbg", strict=True):
        for node in scene.nodes:
            if node.key.startswith(f"{key}/") and node.tag == "rect":
                assert spot.x <= node.number("x") and node.number("x") + node.number("width") <= spot.x + spot.w
                assert spot.y <= node.number("y") and node.number("y") + node.number("height") <= spot.y + spot.h
    assert faults(scene) == []


def test_a_bar_is_as_long_as_its_share():
    scene = Scene(400, 120)
    scene.shares("s", 100, 20, [0.25, 0.5], ["25%", "50%"], ["甲", "乙"], length=200)
    lengths = [node.number("width") for node in scene.nodes if node.tag == "rect"]
    assert lengths == [50, 100]


def test_nothing_but_rectangles_paths_and_texts_is_drawn_and_only_with_class_names():
    scene = Scene(400, 200)
    scene.columns("c", 20, 150, [1, 2], ["1", "2"], ["a", "b"])
    scene.op("o", 200, 50)
    scene.frame("f", 250, 20, 120, 60, "组")
    assert set(re.findall(r"<(\w+)", scene.body())) <= {"rect", "path", "text"}
    assert not re.search(r"style=|href=|url\(|#[0-9a-f]{3}", scene.body())


def test_keys_are_printed_only_for_the_player():
    canvas = Canvas(10, 10)
    canvas.rect("a", 0, 0, 5, 5)
    assert 'data-k="a"' in canvas.body(keys=True) and "data-k" not in canvas.body()
