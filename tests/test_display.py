"""sitegen.page.display: what a reader sees of a number."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.page.display import Display, DisplayError, fixed
from sitegen.words import words

show = Display(words("zh"))


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.125, 2, "0.13"),  # N16: half away from zero; Python's own format gives 0.12
        (42.5, 0, "43"),
        (-0.125, 2, "−0.13"),
        (2.675, 2, "2.68"),  # stored as 2.67499999…, but 2.675 to 12 significant digits
        (24.666666666666668, 2, "24.67"),
        (-0.001, 2, "0.00"),  # no minus zero
        (0.1 + 0.2, None, "0.3"),
        (30.0, None, "30"),
        (-8, None, "−8"),
        (1e21, 0, "1000000000000000000000"),
        (5e-324, 3, "0.000"),
    ],
)
def test_a_number_is_rounded_half_away_from_zero_with_a_true_minus(value, digits, text):
    assert show.num(value, digits).text == text


def test_values_that_differ_in_the_last_bit_look_the_same():
    """N17: native and WebAssembly libraries may differ in the last digit, even within 1e-15 of a rounding tie."""
    for value in (0.125, 2.5, 0.045, 1234.5):
        around = {fixed(v, 2) for v in (np.nextafter(value, 0), value, np.nextafter(value, 9e9))}
        assert len(around) == 1


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (show.pct(12 / 17), "71%"),
        (show.pct(0.0900305731), "9%"),
        (show.pct(0.12345, 1), "12.3%"),
        (show.pct(0.125, 0), "13%"),
        (show.pct(1), "100%"),
        (show.sci(1.9287498479639178e-22), "1.9×10⁻²²"),
        (show.sci(9.96e5), "1.0×10⁶"),
        (show.sci(-3.7), "−3.7"),
        (show.sci(0.0), "0"),
        (show.sci(3e-16, floor=1e-12), "小于 10⁻¹²"),
        (show.sci(3e-11, floor=1e-12), "3.0×10⁻¹¹"),
        (show.count(124439808), "124,439,808"),
        (show.count(2**80), "1,208,925,819,614,629,174,706,176"),
    ],
)
def test_shares_powers_and_counts_are_printed_as_readers_write_them(shown, text):
    assert shown.text == text


def test_a_percentage_keeps_the_share_as_its_value():
    assert show.pct(0.25).value == 0.25


def test_vectors_sequences_and_matrices_give_every_entry_its_own_number():
    vector = show.vec(np.array([30.0, -8.0, 52.0]))
    assert vector.text == "[30, −8, 52]" and [item.path for item in vector.items] == ["[0]", "[1]", "[2]"]
    assert show.seq([1, 2, 3]).text == "1、2、3"
    table = show.mat([[1, 2], [3, 4]], rows=["甲", "乙"])
    assert table.rows[1][0].path == "[1, 0]" and table.row_names == ("甲", "乙")


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda: show.num(1 / 3), "say how many decimals"),
        (lambda: show.num(float("nan"), 2), "finite"),
        (lambda: show.num(np.array([1.0, 2.0]), 1), "vec(…)"),
        (lambda: show.num(True), "not a number"),
        (lambda: show.num("1"), "not a number"),
        (lambda: show.num(1.0, -1), "from 0 to 15"),
        (lambda: show.count(3.0), "whole number"),
        (lambda: show.vec(3.0), "not a sequence"),
        (lambda: show.vec(np.eye(2)), "one axis"),
        (lambda: show.mat([[1, 2], [3]]), "different lengths"),
        (lambda: show.mat(np.eye(2), rows=["one"]), "1 labels for 2 rows"),
    ],
)
def test_what_cannot_be_shown_says_what_to_write_instead(call, advice):
    with pytest.raises(DisplayError, match=advice.replace("(", r"\(").replace(")", r"\)")):
        call()


def test_a_fact_is_shown_with_its_origin():
    class Fact:
        value, source = 512, "a paper"

    assert show.num(Fact()) == show.num(512).__class__("512", 512, "fact")


@given(st.floats(allow_nan=False, allow_infinity=False, width=64), st.integers(0, 6))
def test_rounding_never_moves_a_number_by_more_than_half_a_unit(value, digits):
    printed = float(show.num(value, digits).text.replace("−", "-"))
    assert abs(printed - value) <= 0.5 * 10**-digits + 1e-11 * abs(value)


@given(st.floats(-1e9, 1e9), st.integers(0, 4))
def test_rounding_is_odd(value, digits):
    """−x is printed as x with a minus, or as the same zero."""
    assert show.num(-value, digits).text.lstrip("−") == show.num(value, digits).text.lstrip("−")


def test_lesson_random_numbers_are_the_same_everywhere():
    from sitegen.page.draw import draw

    assert draw(7, (2, 2)).tolist() == draw(7, 4).reshape(2, 2).tolist()
    assert fixed(float(draw(0, 1)[0]), 6) == "0.096372"  # frozen: random.Random's stream is guaranteed
    many = draw(1, 20_000)
    assert abs(many.mean()) < 0.03 and abs(many.std() - 1) < 0.03


def test_what_runs_in_the_browser_needs_only_numpy_and_the_standard_library():
    code = "import sys, json, sitegen.page.answer; print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    loaded = set(json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout))
    assert not loaded & {"mkdocs", "jinja2", "markdown", "pygments", "math_core", "matplotlib", "pymdownx", "yaml"}
