"""What lint finds: each fault drawn once."""

import numpy as np
import pytest

from sitegen.drawing import Scene
from sitegen.drawing.lint import faults, text_contrast


def scene():
    return Scene(200, 100)


def test_a_clean_picture_has_no_fault():
    s = scene()
    s.label("a", 100, 30, "残差流")
    assert faults(s) == []


@pytest.mark.parametrize(("x", "y"), [(10, 50), (190, 50), (100, 2), (100, 99)])
def test_text_that_leaves_the_canvas_is_found_on_every_side(x, y):
    s = scene()
    s.label("a", x, y, "层归一化", 16)
    assert len(faults(s)) == 1 and "leaves the canvas" in faults(s)[0]


def test_text_over_text_is_found_and_both_are_named():
    s = scene()
    s.label("a", 100, 50, "层归一化")
    s.label("b", 120, 56, "残差")
    [fault] = faults(s)
    assert "'层归一化' (a) and '残差' (b) overlap" in fault


def test_lines_of_one_label_do_not_count_as_over_each_other():
    s = scene()
    s.label("a", 100, 50, "一层一层加下去，就是残差流", 14, limit=100)
    assert faults(s) == []


def test_text_too_faint_is_found_with_its_scheme():
    s = scene()
    s.rect("ground", 0, 0, 200, 100, "f-1")
    s.label("a", 100, 50, "残差", tone="ink")
    assert sorted("light" in f or "dark" in f for f in faults(s)) == [True, True]
    assert all("has contrast" in f for f in faults(s))


def test_half_transparent_fills_are_blended_before_contrast_is_measured():
    s = scene()
    s.rect("ground", 0, 0, 200, 100, "f-1", opacity=0.2)
    s.label("a", 100, 50, "残差")
    assert faults(s) == []


def test_only_what_lies_under_a_text_counts_as_its_ground():
    s = scene()
    s.label("a", 100, 50, "残差")
    s.rect("later", 0, 0, 200, 100, "f-ink", opacity=0.0)
    s.rect("aside", 0, 70, 200, 30, "f-1")
    assert text_contrast(s, 0, (100, 50), "light") > 15


def test_a_filled_path_is_a_ground_as_well():
    s = scene()
    s.path("p", "M0 0L200 0L200 100L0 100Z", "f-ink")
    s.label("a", 100, 50, "残差")
    assert any("contrast 1.00" in f for f in faults(s))


def test_tiny_text_is_found():
    s = scene()
    s.label("a", 100, 50, "残差", 9)
    assert "smaller than 11 px" in faults(s)[0]


def test_a_map_of_thousands_of_cells_is_refused():
    s = Scene(640, 640)
    for i, j in np.ndindex(64, 64):
        s.rect(f"{i},{j}", 10 * i, 10 * j, 10, 10, "f-1")
    [fault] = faults(s)
    assert "draw a part of it" in fault
