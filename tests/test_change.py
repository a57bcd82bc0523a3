"""sitegen.page.change: a lesson with a literal replaced, computed again; nothing typed becomes code."""

import ast
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.page import answer, change
from sitegen.page.change import Change, ChangeError, computed, literals, read_number, value_of
from sitegen.page.lesson import load

SOURCE = '''"""A lesson."""

import numpy as np

x = np.array([30.0, -8.0, 52.0])  # 「借」
mean = x.mean()
deep = [3, 4][0] + x[2] * 2
name = "七"
flag = True
other = 1 / 0.5


def scaled(v, by=3):
    return v * by * 2


twice = scaled(mean, by=4)
'''


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    (tmp_path / "changing").mkdir()
    (tmp_path / "changing" / "__init__.py").write_text("")
    (tmp_path / "changing" / "one.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield load("changing", "one")
    import sys

    for name in [n for n in sys.modules if n.split(".")[0] == "changing"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        ("np.array([30.0, -8.0, 52.0])", ["30.0", "-8.0", "52.0"]),
        ("x[0, 2] + 3", ["3"]),
        ("[1, 2][0]", ["1", "2"]),
        ("f(1, by=-2)", ["1", "-2"]),
        ("'7' + f('8')", []),
        ("a ** 2 - -1", ["2", "-1"]),
        ("[x * 2 for x in range(4)]", ["2", "4"]),
        ("layer(x, pre=True)", ["True"]),
        ("{'a': 1}['a'] if b > 0.5 else None", ["1", "0.5"]),
    ],
)
def test_literals_are_the_numbers_of_an_expression_and_no_indices(code, texts):
    assert [ast.unparse(node) for node in literals(ast.parse(code, mode="eval").body)] == texts


def test_a_change_moves_what_depends_on_it_and_nothing_else(lesson):
    names = computed(lesson, ["mean", "deep", "twice", "other"], [Change("x", 1, 8.0)])
    assert names["mean"] == 30 and names["deep"] == 107 and names["twice"] == 240 and names["other"] == 2
    assert lesson.module.mean == 74 / 3, "the lesson itself is as it was"


def test_only_what_is_asked_for_is_computed(lesson):
    assert "other" not in computed(lesson, ["num(mean, 2)"])
    with pytest.raises(ZeroDivisionError):
        computed(lesson, ["other"], [Change("other", 1, 0.0)])


def test_arrays_stay_read_only_after_a_change(lesson):
    with pytest.raises(ValueError, match="read-only"):
        computed(lesson, ["x"], [Change("x", 0, 1.0)])["x"][0] = 5


@pytest.mark.parametrize(
    ("text", "like", "value"),
    [("31", 30.0, 31.0), ("−8", 1.0, -8.0), (" 1e-3 ", 1.0, 0.001), ("5", 3, 5), ("2.5", 3, 2.5), ("False", True, False), ("1_000", 1, 1000)],
)
def test_numbers_are_read_as_python_reads_them(text, like, value):
    read = read_number(text, like)
    assert read == value and type(read) is type(value)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("__import__('os')", "unreadable"),
        ("__import__('os').system('true')", "unreadable"),
        ("2 * 3", "unreadable"),
        ("[1, 2]", "unreadable"),
        ("'7'", "unreadable"),
        ("", "unreadable"),
        ("1 +", "unreadable"),
        ("True", "unreadable"),
        ("1e999", "infinite"),
        ("nan", "unreadable"),
        ("1j", "unreadable"),
        ("<img src=x onerror=alert(1)>", "unreadable"),
        ("9" * 41, "long"),
        ("(" * 39, "unreadable"),
    ],
)
def test_anything_else_is_refused(text, code):
    with pytest.raises(ChangeError) as caught:
        read_number(text, 1.0)
    assert caught.value.code == code


@given(st.text(max_size=60))
def test_whatever_is_typed_gives_a_finite_number_or_a_refusal(text):
    try:
        value = read_number(text, 1.0)
    except ChangeError:
        return
    assert isinstance(value, float) and math.isfinite(value)


@pytest.mark.parametrize(("name", "index"), [("x", 3), ("x", -1), ("mean", 0), ("nosuch", 0), ("scaled", 0)])
def test_a_place_without_a_literal_is_refused(lesson, name, index):
    with pytest.raises(ChangeError, match="unknown"):
        value_of(lesson, name, index)


def test_the_worker_answers_changes(lesson, monkeypatch):
    monkeypatch.setattr(answer, "_lesson", lambda name: lesson)
    monkeypatch.setattr(answer, "_settings", lambda: {"words": {"below": "小于 {}", "sequence_separator": "、"}})

    def asked(expressions, *changes):
        wanted = [{"name": n, "index": i, "text": t} for n, i, t in changes]
        return json.loads(answer.answer(json.dumps({"do": "change", "lesson": "one", "changes": wanted, "expressions": expressions})))

    assert asked(["num(mean, 2)"], ("x", 1, "8")) == {"numbers": [{"text": "30.00", "value": "30.0"}]}
    assert asked(["num(mean, 2)"], ("x", 0, "30"), ("x", 1, "os.system")) == {"refused": "unreadable", "place": 1}
    shown = asked(["num(mean)", "num(deep, 1)"], ("x", 1, "8"), ("x", 0, "30.1"))["numbers"]
    assert "too long" in shown[0]["error"] and shown[1]["text"] == "107.0", "one that cannot be shown spoils no other"


def test_the_change_of_a_literal_is_no_text_in_the_source(lesson):
    body = change.replaced(ast.parse(SOURCE).body, [Change("x", 1, -2.5)])
    assert "[30.0, -2.5, 52.0]" in ast.unparse(ast.Module(body, []))
