"""Spoken text."""

import doctest

import pytest

from sitegen.drawing import narration
from sitegen.words import words

ZH, EN = words("zh"), words("en")


def test_the_examples_in_the_docstrings_hold():
    assert doctest.testmod(narration).failed == 0


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("得到 [0.8, −0.3, 0.5]。", "得到 0.8，负0.3，0.5。"),
        ("只剩 1.9×10⁻²²", "只剩 1.9乘以10的负22次方"),
        ("**换掉**，「借」没了", "换掉，「借」没了"),
        ("x + f(x)", "x加f(x)"),
        ("Pre-LN 和 GPT-2", "Pre-LN 和 GPT-2"),
    ],
)
def test_signs_are_said_as_words(written, said):
    assert narration.spoken(written, ZH) == said


def test_another_language_says_them_in_its_own_words():
    assert narration.spoken("[1, −2]", EN) == "1, minus 2"


def test_a_decimal_point_ends_no_sentence():
    assert narration.utterances("平均值 24.67，去掉。还剩 5.33。") == ["平均值 24.67，去掉。", "还剩 5.33。"]
    assert narration.utterances("It is 0.5. Then 1,024 more.") == ["It is 0.5.", "Then 1,024 more."]


@pytest.mark.parametrize(
    "text", ["一" * 170, "残差流，" * 40, "no stops at all " * 20, "前。" + "长" * 60 + "，后。", "短。"]
)
def test_no_utterance_is_longer_than_a_browser_bears_and_nothing_is_lost(text):
    parts = narration.utterances(text)
    assert all(0 < len(p) <= narration.LONGEST for p in parts)
    assert "".join(parts).replace(" ", "") == text.replace(" ", "")


def test_more_text_takes_longer_and_a_short_step_three_seconds():
    assert narration.seconds("短。") == 3.0
    assert (
        9 < narration.seconds("改成加上，两串数逐个相加，原来的还在里面。这叫残差连接，每一层只加不换，一路到顶。") < 12
    )
