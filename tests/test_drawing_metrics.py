"""Text widths from a table."""

import doctest

import pytest

from sitegen.drawing import metrics


def test_the_examples_in_the_docstrings_hold():
    assert doctest.testmod(metrics).failed == 0


@pytest.mark.parametrize(
    ("text", "hundredths"),
    [
        ("i", 22.2),
        ("m", 83.3),
        ("0", 55.6),
        (" ", 27.8),
        ("A", 66.7),
        ("W", 94.4),
        ("f", 27.8),
        ("-", 33.3),
        ("%", 88.9),
    ],
)
def test_latin_letters_have_the_published_advances_of_helvetica(text, hundredths):
    assert metrics.width(text, 100) == pytest.approx(hundredths, abs=0.5)


def test_chinese_characters_and_full_width_marks_are_one_em_each():
    assert metrics.width("「借」，残差。", 10) == 70


def test_marks_set_over_other_letters_take_no_room():
    assert metrics.width("x\u0302", 10) == metrics.width("x", 10)


def test_bold_latin_is_wider_and_bold_chinese_is_not():
    assert metrics.width("abc", 10, bold=True) > metrics.width("abc", 10)
    assert metrics.width("残差", 10, bold=True) == metrics.width("残差", 10)


@pytest.mark.parametrize("limit", range(20, 200, 7))
def test_no_wrapped_line_starts_with_a_closing_mark_or_ends_with_an_opening_one(limit):
    text = "原来的，还在里面（residual stream）。「借」只加，不换；一路加下去，就是残差流。"
    lines = metrics.wrap(text, 10, limit)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    for line in lines:
        assert line[0] not in "，。；）」" and line[-1] not in "（「", lines


def test_words_are_not_cut_and_line_breaks_are_kept():
    assert metrics.wrap("residual stream\nnorm", 10, 60) == ["residual", "stream", "norm"]
