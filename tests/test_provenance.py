"""sitegen.page.provenance: the statements that lead to a number, and the rules that make that exact."""

import pytest

from sitegen.page.provenance import Provenance, problems

LESSON = '''"""A lesson."""
import numpy as np
from sim.ops import softmax, layer_norm

scores = np.array([1.0, 2.0, 3.0])
other = [4, 5]
factor = 2


def scaled(x, by=factor):
    shift = 0
    return softmax(x * by + shift)


weights = scaled(scores)
largest = weights.max()
unrelated = other[0]


@experiment(seeds=range(2))
def trained(seed):
    return helper(seed)


def helper(seed):
    return seed


runs = trained()
final = runs[-1]
'''


def test_a_closure_goes_down_to_the_literals_and_holds_nothing_else():
    closure = Provenance.of(LESSON).closure("num(largest, 2)")
    assert [s.names[0] for s in closure] == ["np", "softmax", "scores", "factor", "scaled", "weights", "largest"]
    assert closure[4].text.startswith("def scaled(x, by=factor):") and closure[4].line == 10


def test_an_expression_over_several_names_takes_all_of_them():
    assert {s.names[0] for s in Provenance.of(LESSON).closure("factor + unrelated")} == {"factor", "unrelated", "other"}


def test_comprehension_variables_and_display_functions_are_not_looked_up():
    assert [s.names[0] for s in Provenance.of(LESSON).closure("seq([o for o in other])")] == ["other"]


@pytest.mark.parametrize(
    ("line", "reads"),
    [
        ("t = sum([x for x in xs]) + x", {"sum", "xs", "x"}),
        ("t = [a for a in [b for b in bs] if a > b]", {"bs", "b"}),
        ("def t(v):\n    g = lambda q: q + 1\n    return g(v) * q", {"q"}),
        ("def t(v, w=z):\n    def inner(u):\n        return u + v + outer\n    return inner(w)", {"z", "outer"}),
        ("def t(v):\n    for i in v:\n        total = i\n    return total", set()),
    ],
)
def test_a_name_is_followed_scope_by_scope(line, reads):
    """A variable of a comprehension or of an inner function does not hide the name of the lesson outside of it."""
    (statement,) = Provenance.of(line).statements
    assert statement.reads == reads


def test_numbers_that_reach_an_experiment_are_known():
    provenance = Provenance.of(LESSON)
    assert provenance.reaches_experiment("num(final)") and not provenance.reaches_experiment("num(largest)")
    assert "helper" in {s.names[0] for s in provenance.closure("final")}


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("for i in range(3):\n    pass", "a loop at module level"),
        ("while False:\n    pass", "a loop at module level"),
        ("x = 1\nx = 2", "'x' is already bound in line 1"),
        ("x = 1\nx += 1", "augmented assignment"),
        ("x = [1]\nx[0] = 2", "one plain name"),
        ("a, b = 1, 2", "one plain name"),
        ("a = b = 1", "one plain name"),
        ("g = (i for i in range(3))", "generator"),
        ("s = sum(i for i in range(3))", "generator"),
        ("x = (y := 1)", "inside an expression"),
        ("x = [1]\ny = x.append(2)", "changes a value in place"),
        ("if True:\n    x = 1", "If at module level"),
        ("print(1)", "Expr at module level"),
        ("class A:\n    pass", "ClassDef at module level"),
        ("from numpy import *", "one by one"),
        ("def f():\n    global x\n    x = 1", "changes outer names"),
        ("x: int", "without a value"),
        ("def f(a):\n    a[0] = 1\n    return a", "changes its argument 'a' in place"),
        ("def f(a):\n    a[0] += 1\n    return a", "changes its argument 'a' in place"),
        ("def f(:", "not valid Python"),
        ("import numpy\nnumpy = 1", "already bound"),
    ],
)
def test_what_would_make_provenance_wrong_is_found(line, advice):
    found = problems(line)
    assert any(advice in message for _, message in found), found


def test_a_good_lesson_has_no_problems():
    assert problems(LESSON) == []
    assert problems("x = [i * i for i in range(3)]\ny: float = 1.0\nimport a.b\nz = {k: v for k, v in {}.items()}") == []
