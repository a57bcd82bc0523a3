"""sitegen.page.parts: every number is printed, drawings say their values, nothing but strings."""

import math
import re

import numpy as np
import pytest

from sitegen.page import parts
from sitegen.page.elements import check_tree, to_html


def test_a_vector_strip_prints_every_number_and_its_sign():
    html = to_html(parts.vector_strip([1.0, -0.5], 1, label="q", scale=2.0))
    assert "1.0" in html and "−0.5" in html and 'class="cell negative"' in html and "--strength:50%" in html


def test_a_bar_shows_its_share_as_text_too():
    html = to_html(parts.bar_table(["小明", "书"], [2 / 3, 1 / 3], [("分数", ["1.00", "0.31"])], "注意力", "词"))
    assert "--share:66.7%" in html and ">67%<" in html and ">33%<" in html and '<th scope="row">小明</th>' in html


def test_a_matrix_has_its_labels():
    html = to_html(parts.matrix([[1.0, -2.0]], ["甲"], ["一", "二"], 1, "名"))
    assert '<th scope="col">二</th>' in html and '<th scope="row">甲</th>' in html and "−2.0" in html


def test_tokens_show_their_weights_as_text_and_mark_who_looks():
    html = to_html(parts.token_row(["借", "书"], [0.905, 0.095], "权重", at=0))
    assert ">91%<" in html and ">10%<" in html and "--strength:90.5%" in html  # half away from zero
    assert html.count("token-at") == 1 and 'class="token token-at"' in html


def test_arcs_are_as_thick_as_their_weights_and_say_them():
    tree = parts.arcs(["小明", "把", "书"], [0.5, 0.3, 0.2], at=2, label="书在看谁")
    check_tree(tree)
    html = to_html(tree)
    assert 'aria-label="书在看谁: 书 → 小明 50%, 把 30%, 书 20%"' in html and "<desc>" in html
    assert [float(w) for w in re.findall(r'stroke-width="([^"]+)"', html)] == [5.5, 3.7, 2.8]
    assert re.findall(r"<text class=.arc-weight.[^>]*>([^<]+)", html) == ["50%", "30%", "20%"]


@pytest.mark.parametrize("count", [1, 2, 8])
def test_arcs_stay_in_their_picture(count):
    words = ["一二三"] * count
    for at in range(count):
        html = to_html(parts.arcs(words, [1 / count] * count, at=at))
        width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', html).groups())
        for x, y in re.findall(r"[MQC ]([\d.-]+) ([\d.-]+)", " ".join(re.findall(r' d="([^"]+)"', html))):
            assert -1 <= float(x) <= width + 1 and float(y) <= height
        curve_tops = [(float(a) + float(b)) / 2 for a, b in re.findall(r"M[\d.]+ ([\d.]+) Q[\d.]+ ([\d.-]+)", html)]
        assert all(top >= 0 for top in curve_tops)


def test_a_curve_prints_its_axes_its_names_and_the_values_at_a_place():
    x = np.linspace(0, 10, 11)
    html = to_html(parts.curve(x, {"平方": x**2, "两倍": 2 * x}, "两条线", x_label="x", digits=1, low=0, high=100, at=5))
    for text in (">100.0<", ">0.0<", ">10<", ">x<", "平方 25.0", "两倍 10.0"):
        assert text in html
    assert html.count('class="line line-1"') == 2 and "line-2" in html and html.count("<circle") == 2
    assert 'aria-label="两条线: 平方: 0.0 … 100.0; 25.0; 两倍: 0.0 … 20.0; 10.0"' in html


def test_a_curve_leaves_out_what_is_not_finite_or_off_the_axis():
    """NaN in a path makes the browser drop the whole line."""
    tree = parts.curve([0, 1, 2, 3], {"a": [1, math.nan, 3, math.inf]}, "t", low=0, high=3, at=1)
    html = to_html(tree)
    check_tree(tree)
    assert not re.search(r"nan|inf", html, re.I)
    assert re.findall(r'class="line line-1" d="([^"]+)"', html)[0].count("M") == 2


@pytest.mark.parametrize("lines", [{}, {"a": [1, 2]}, {str(i): [1, 2, 3] for i in range(4)}])
def test_a_curve_that_makes_no_sense_is_refused(lines):
    with pytest.raises(ValueError, match="one to three lines"):
        parts.curve([0, 1, 2], lines, "t")


def test_a_flat_line_has_an_axis():
    assert "NaN" not in to_html(parts.curve([0, 1], {"a": [2, 2]}, "t"))
