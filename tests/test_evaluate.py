"""sitegen.page.evaluate: what an article's expressions may say."""

import numpy as np
import pytest

from sitegen.page.evaluate import ExpressionError, entry_expression, evaluate

names = {"x": np.array([1.0, 2.0, 3.0]), "m": 2.0, "data": {"a": [4, 5]}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("m + 1", 3.0),
        ("-m", -2.0),
        ("x @ x", 14.0),
        ("x[0]", 1.0),
        ("data['a'][-1]", 5),
        ("x.mean()", 2.0),
        ("sum(v for v in x)", 6.0),
        ("[i * m for i in range(3)][2]", 4.0),
        ("1 if m > 1 else 0", 1),
        ("max(len(x), 2)", 3),
        (" m ", 2.0),
    ],
)
def test_an_expression_means_what_it_means_in_python(text, value):
    assert evaluate(text, names) == value


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("y + 1", "no name 'y' in the lesson"),
        ("data2", "did you mean 'data'"),
        ("x.__class__", "underscore"),
        ("_hidden", "underscore"),
        ("lambda: 1", "Lambda is not allowed"),
        ("(y := 1)", "NamedExpr is not allowed"),
        ("f'{m}'", "JoinedStr is not allowed"),
        ("m +", "not a Python expression"),
        ("__import__('os')", "underscore"),
        ("open('x')", "no name 'open'"),
        ("x[9]", "IndexError"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_what_is_not_allowed_says_so(text, advice):
    with pytest.raises(ExpressionError, match=advice):
        evaluate(text, names)


@pytest.mark.parametrize(
    ("text", "path", "entry"),
    [
        ("vec(x, 2)", "[1]", "num(x[1], 2)"),
        ("vec(x)", "[0]", "num(x[0])"),
        ("vec(x - m, 2)", "[1]", "num((x - m)[1], 2)"),
        ("mat(rows.T, 1, rows=['a'])", "[0, 2]", "num(rows.T[0][2], 1)"),
        ("vec(x, digits=1)", "[2]", "num(x[2], 1)"),
        ("seq([v for v in x])", "[0]", "num(([v for v in x])[0])"),
        ("vec([1, 2])", "[0]", "num([1, 2][0])"),
    ],
)
def test_each_entry_of_a_vector_has_an_expression_of_its_own(text, path, entry):
    assert entry_expression(text, path) == entry


def test_entry_expressions_evaluate_to_the_entries():
    from sitegen.page.display import Display
    from sitegen.words import words

    show = Display(words("en")).functions()
    text = "vec(x - m, 1)"
    for item in evaluate(text, {**names, **show}).items:
        assert evaluate(entry_expression(text, item.path), {**names, **show}).value == item.value


def test_a_vector_inside_a_larger_expression_is_refused():
    with pytest.raises(ExpressionError, match="whole expression"):
        entry_expression("vec(x) if m else vec(x)", "[0]")
