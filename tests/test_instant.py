"""sitegen.instant: a table holds the lab's own answers, small, and a lab that fails somewhere fails the build."""

import gzip
import importlib
import itertools
import json
import random
import re
import time
from pathlib import Path

import pytest

from sitegen import instant
from sitegen.page.elements import element
from sitegen.page.lab import Choice, Drag, Lab, Matrix, Slider, Text, Toggle, lab
from tests.sites import build, tiny

ROOT = Path(__file__).resolve().parent.parent
LESSON = """from sitegen.page.elements import element
from sitegen.page.lab import Slider, Toggle, lab


@lab(title="t", controls={"x": Slider(0, 3), "on": Toggle()})
def trial(x, on):
    %s
"""
PAGE = "---\nlesson: broken\n---\n# t\n\n{{ lab(\"trial\") }}\n"


def read(data: bytes) -> tuple[dict, bytes]:
    raw = gzip.decompress(data)
    start = 4 + int.from_bytes(raw[:4], "little")
    return json.loads(raw[4:start]), raw[start:]


def tree(data: bytes, place: tuple[int, ...]):
    """What browser/instant.js makes of it, in Python."""
    head, indices = read(data)

    def number(column: dict) -> int:
        index = 0
        for axis, side in enumerate(column["sides"]):
            index = index * side + (place[axis] if side > 1 else 0)
        size = 2 if len(column["values"]) > 256 else 1
        return int.from_bytes(indices[column["at"] + size * index :][:size], "little")

    def filled(cell):
        if isinstance(cell, int):
            return head["columns"][cell]["values"][number(head["columns"][cell])]
        if isinstance(cell, str):
            return cell
        return [cell[0], {k: filled(v) for k, v in cell[1].items()}, *map(filled, cell[2:])]

    kind = 0 if head["template"] is None else number(head["columns"][head["template"]])
    return filled(head["templates"][kind])


@lab(title="t", controls={"x": Slider(0, 2, step=0.5), "on": Toggle(start=True), "which": Choice(["a", "b", "c"])})
def small(x, on, which):
    rest = [element("b", {"class": which}, f"{x:.1f}")] * (3 if on else int(x))
    return element("div", {"title": which}, "always", *rest)


@lab(title="t", controls={"x": Slider(0, 999), "y": Slider(0, 999, start=500), "q": Drag(), "W": Matrix([[1, 2]]), "t": Text("a")})
def large(x, y, q, W, t):
    return element("p", {}, f"{x} {y} {q} {W} {t}")


def test_every_state_of_a_small_lab_is_in_its_table():
    made = instant.instant(small)
    assert (made.states, made.whole) == (30, True)
    axes = [axis for control in small.controls.values() for axis in control.axes()]
    for place in itertools.product(*map(range, map(len, axes))):
        scalars = tuple(axis[i] for axis, i in zip(axes, place, strict=True))
        assert tree(made.data, place) == small.tree(instant.state_of(small, scalars))


def test_a_large_lab_has_the_states_that_differ_from_its_start_in_one_input():
    made = instant.instant(large)
    head, _ = read(made.data)
    assert not made.whole and made.states <= instant.MOST_STATES and len(made.data) <= instant.MOST_BYTES
    states = list(instant.along_axes(head["axes"], tuple(a[i] for a, i in zip(head["axes"], head["start"], strict=True))))
    assert len(states) == made.states
    for place, scalars in enumerate(states):
        assert tree(made.data, (place,)) == large.tree(instant.state_of(large, scalars))
    starts = [s for name, control in large.controls.items() for s in control.scalars(large.start[name])]
    assert [axis[i] for axis, i in zip(head["axes"], head["start"], strict=True)] == starts


def test_a_table_that_grows_too_heavy_keeps_the_axes(monkeypatch):
    """A page would cost more than its text."""

    @lab(title="t", controls={"x": Slider(0, 30), "y": Slider(0, 30)})
    def heavy(x, y):
        return element("p", {}, str((x + 1) * (y + 1) * 7919 % 1000))

    assert instant.instant(heavy).whole
    monkeypatch.setattr(instant, "MOST_BYTES", 900)
    made = instant.instant(heavy)
    assert not made.whole and len(made.data) <= 900


def test_what_does_not_vary_is_not_repeated():
    made = instant.instant(small)
    head, indices = read(made.data)
    sides = {tuple(column["values"]): column["sides"] for column in head["columns"]}
    assert sides[("a", "b", "c")] == [1, 1, 3] and sides[("0", "1", "2", "3")] == [5, 2, 1]
    assert {tuple(s) for values, s in sides.items() if values[0] == "0.0"} == {(5, 1, 1)}
    assert "always" in json.dumps(head["templates"]) and len(indices) < 40


def test_equal_labs_give_equal_bytes():
    assert instant.instant(small).data == instant.instant(small).data


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('return element("p", {}, str(1 / (x - 2)))', r"docs/a\.md:6: .*lab trial fails at x=2\.0, on=False: ZeroDivisionError: .* \(tiny_lessons/broken\.py:7\)"),
        ('return element("p", {}, x)', r"docs/a\.md:6: .*'trial' fails in its start state: TreeError: lab trial\[0\] must be .* \(tiny_lessons/broken\.py:5\)"),
        ("return x", r"docs/a\.md:6: .*TreeError: lab trial must be .* \(tiny_lessons/broken\.py:5\)"),
        ('return element("p", {}, str(float("nan") if x == 3 else x))', r"lab trial shows 'nan' at x=3\.0, on=False; show finite numbers"),
        ('return element("p", {}, "−inf" if on else "Information, Nancy")', r"lab trial shows '−inf' at x=0\.0, on=True"),
        ('return element("script", {}, "")', r"<script> is not one of the elements"),
    ],
)  # fmt: skip
def test_a_lab_that_fails_somewhere_fails_the_build(tmp_path, body, message):
    """A reader would find the state that the author never tried."""
    file = tiny(tmp_path, {"a.md": PAGE}, {"broken": LESSON % body})
    with pytest.raises(Exception, match=message):
        build(file, tmp_path / "site")


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (("def trial(x, on)", "def trial(x)"), 5, r"its parameters are \(x\), its controls \(x, on\)"),
        (("def trial(x, on)", "def trial(x, on, more)"), 5, "give every parameter a control of the same name"),
        (("Slider(0, 3)", "Slider(3, 0)"), 5, "a range needs low < high"),
        (("Slider(0, 3)", "(0, 3)"), 5, "not a control such as Slider"),
    ],
)
def test_a_lab_declared_wrongly_is_named_with_its_line(tmp_path, change, line, message):
    file = tiny(tmp_path, {"a.md": PAGE}, {"broken": (LESSON % 'return element("p")').replace(*change)})
    with pytest.raises(Exception, match=rf"tiny_lessons/broken\.py:{line}: LabError: .*{message}"):
        build(file, tmp_path / "site")


def test_a_module_that_readers_lack_is_a_problem_of_the_build(tmp_path):
    """The lesson would work here and fail in every reader's browser."""
    text = "import tkinter\n" + LESSON % 'return element("p", {}, str(x))'
    file = tiny(tmp_path, {"a.md": PAGE}, {"broken": text}, runtime="true")
    with pytest.raises(Exception, match=r"tiny_lessons/broken\.py:1: the browser's Python has no module tkinter"):
        build(file, tmp_path / "site")


def test_tables_come_from_the_cache_until_the_code_changes(tmp_path, monkeypatch):
    """Each build would evaluate every lab again, or show old numbers."""
    monkeypatch.setenv("SITEGEN_CACHE", str(tmp_path / "cache"))
    made: list[str] = []
    real = instant.instant
    monkeypatch.setattr(instant, "instant", lambda lab: made.append(lab.name) or real(lab))
    body = 'return element("p", {}, str(2 * x))'
    file = tiny(tmp_path, {"index.md": PAGE}, {"broken": LESSON % body})
    for _ in range(2):
        build(file, tmp_path / "site")
    assert made == ["trial"]
    (before,) = (tmp_path / "site" / "assets" / "labs").iterdir()
    time.sleep(0.02)
    tiny(tmp_path, {"index.md": PAGE}, {"broken": LESSON % body.replace("2 *", "3 *")})
    build(file, tmp_path / "site")
    assert made == ["trial", "trial"]
    (after,) = (tmp_path / "site" / "assets" / "labs").iterdir()
    assert after.name != before.name and after.name in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(f.stem for f in (ROOT / "sim" / "lessons").glob("[a-z]*.py")))
def test_every_state_of_the_series_labs_is_finite_and_no_exception(name):
    """Random states, also between the steps, up to 10,000 or 20 seconds a lab; what has no answer must say so in words."""
    chance = random.Random(7)
    labs = [value for value in vars(importlib.import_module(f"sim.lessons.{name}")).values() if isinstance(value, Lab)]
    for found in labs:
        end = time.monotonic() + 20
        for tried in range(10_000):
            if time.monotonic() > end:
                assert tried > 1000, "a lab this slow cannot follow a hand"
                break
            state = {}
            for parameter, control in found.controls.items():
                scalars = [chance.choice(axis) for axis in control.axes()]
                if control.kind in ("range", "number") and chance.random() < 0.3:
                    scalars = [chance.uniform(control.low, control.high)]
                state[parameter] = control.join(scalars)
            texts = list(instant.strings(found.tree(state)))
            assert not [text for text in texts if instant.NOT_FINITE.search(text)], (found.name, state)
            assert any(re.search(r"\w", text) for text in texts)
