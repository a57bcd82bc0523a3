"""sitegen.page.lab: a lab takes exactly the states its controls allow, and gives trees."""

import math

import pytest

from sitegen.page.elements import TreeError, element
from sitegen.page.lab import Choice, Drag, LabError, Matrix, Number, Slider, Text, Toggle, Tokens, lab

CONTROLS = {"x": Slider(-1, 1, step=0.5, start=0), "on": Toggle(start=True), "which": Choice(["a", "b"]), "n": Number(1, 9)}


@lab(title="试", controls=CONTROLS)
def trial(x, on, which, n):
    return element("p", {}, f"{x!r} {on!r} {which} {n!r}")


def test_the_start_state_comes_from_the_controls():
    assert trial.start == {"x": 0.0, "on": True, "which": "a", "n": 1.0}
    assert trial.tree(trial.start) == ["p", {}, "0.0 True a 1.0"]


def test_whole_numbers_from_javascript_are_floats_in_python():
    """JSON from the browser writes 1 where Python has 1.0: the tree must not show the difference."""
    assert trial.tree({"x": 1, "on": False, "which": "b", "n": 3}) == ["p", {}, "1.0 False b 3.0"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": 1.5}, "outside -1 … 1"),
        ({"x": math.nan}, "expected a number"),
        ({"x": None}, "expected a number"),
        ({"x": True}, "expected a number"),
        ({"on": 1}, "true or false"),
        ({"which": "c"}, "none of a, b"),
        ({"more": 1}, "takes x, on, which, n"),
    ],
)
def test_a_state_off_the_controls_is_refused(change, message):
    with pytest.raises(LabError, match=message):
        trial.tree({**trial.start, **change})


@pytest.mark.parametrize(
    ("controls", "message"),
    [
        ({"y": Toggle()}, "give every parameter a control of the same name"),
        ({}, "give every parameter a control"),
        ({"x": Toggle(), "y": Toggle()}, "give every parameter a control"),
    ],
)
def test_controls_and_parameters_must_agree(controls, message):
    with pytest.raises(LabError, match=message):

        @lab(title="t", controls=controls)
        def broken(x):
            return element("p")


@pytest.mark.parametrize("make", [lambda: Slider(1, 0), lambda: Slider(0, 1, step=0), lambda: Slider(0, 1, start=2),
                                  lambda: Choice([]), lambda: Choice(["a"], start="b"), lambda: Slider(0, 1, step=0.3, start=0.5),
                                  lambda: Slider(0, 1e9), lambda: Drag(start=(3, 0)), lambda: Drag(marks={"a": (9, 9)}),
                                  lambda: Drag(start=(0.1, 0)), lambda: Matrix([]), lambda: Matrix([[1], [1, 2]]),
                                  lambda: Matrix([[99]]), lambda: Matrix([[1]], rows=["a", "b"]), lambda: Text("x" * 61),
                                  lambda: Tokens([]), lambda: Tokens("ab"), lambda: Tokens(["a b"]),
                                  lambda: Tokens(["c"], vocabulary=["a", "b"]), lambda: Tokens(["a"] * 9)])  # fmt: skip
def test_a_control_that_makes_no_sense_is_refused(make):
    with pytest.raises(LabError):
        make()


def test_a_lab_that_returns_no_tree_is_refused():
    @lab(title="t", controls={"x": Slider(0, 1)})
    def numbers(x):
        return ["p", {}, x]

    with pytest.raises(TreeError, match=r"lab numbers\[0\] must be"):
        numbers.tree({"x": 0})


def test_controls_with_several_numbers_give_pairs_and_rows():
    """JSON from the browser has lists and whole numbers where Python has tuples and floats."""

    @lab(title="t", controls={"q": Drag(start=(0.5, 1)), "W": Matrix([[1, 2], [3, 4]]), "words": Tokens(["一", "二"]), "name": Text("甲")})
    def several(q, W, words, name):
        return element("p", {}, repr((q, W, words, name)))

    said = "((0.5, 1.0), [[1.0, 2.0], [3.0, 4.0]], ['一', '二'], '甲')"
    assert several.tree(several.start)[2] == said
    assert several.tree({"q": [0.5, 1], "W": [[1, 2], [3, 4]], "words": " 一　二 ", "name": "甲 "})[2] == said


@pytest.mark.parametrize(
    ("control", "value", "message"),
    [
        (Drag(), [1], "a pair of numbers"),
        (Drag(), [1, "2"], "expected a number"),
        (Drag(), [1, 3], "outside -2 … 2"),
        (Drag(), "12", "a pair"),
        (Matrix([[1, 2]]), [[1, 2], [3, 4]], "1 rows of 2 numbers"),
        (Matrix([[1, 2]]), [[1]], "1 rows of 2 numbers"),
        (Matrix([[1, 2]]), [[1, None]], "expected a number"),
        (Text("", longest=2), "abc", "longer than 2"),
        (Text(""), 3, "expected text"),
        (Tokens(["a"], most=2), "a b c", "3 words"),
        (Tokens(["a"]), "", "0 words"),
        (Tokens(["a"], longest=2), ["abc"], "longer than 2"),
        (Tokens(["a"], vocabulary=["a"]), "b", "none of a"),
        (Tokens(["a"]), ["a b"], "expected words"),
    ],
)
def test_values_off_the_new_controls_are_refused(control, value, message):
    with pytest.raises(LabError, match=message):
        control.read(value)


def test_steps_are_decimal():
    """0.1 added three times is not what the browser's slider calls 0.3: the ready answer would not be found."""
    assert Slider(0, 1, step=0.1).axes()[0] == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert Slider(-1, 0.9, step=0.5).axes()[0] == [-1, -0.5, 0, 0.5]


def test_what_is_no_control_is_refused():
    with pytest.raises(LabError, match=r"x is \(0, 1\), not a control such as Slider"):

        @lab(title="t", controls={"x": (0, 1)})
        def broken(x):
            return element("p")
