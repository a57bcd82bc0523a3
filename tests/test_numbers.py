"""sitegen.numbers: what a number says when it is asked, as the build writes it down."""

import json
import sys

import pytest

from sitegen.numbers import Panels, expressions_in, pieces
from sitegen.page.lesson import load

LESSON = '''"""A lesson."""

import numpy as np

from panel_sim.facts import fact, WIDE
from panel_sim.ops import double
from sitegen.page.experiment import experiment

名 = [1.5, -2.0]  # 「借」，三个字
x = np.array([30.0, -8.0])
mean = x.mean()
wide = double(WIDE.d_model)
known = fact("err")
shown = known.value + 1
steps = 3
_hidden = 2
private = _hidden * mean


@experiment(seeds=[1, 2, 3], size=steps)
def run(seed, size):
    return seed * size


runs = run()
middle = np.median(runs)
how_many = len(runs)
third = runs[2]
total = sum([r for r in runs])


def whole(spec):
    return spec.d_model * 2


through = whole(WIDE)
'''
FACTS = '''"""Facts."""
from types import SimpleNamespace

PAPER = SimpleNamespace(title="A Paper", authors="Ba", year=2016, where="Table 6", link="https://example.org/")


def fact(id):
    return SimpleNamespace(id=id, value=8.75, unit="%", statement="an error", source=PAPER)


class Spec:
    d_model = 512
    n_layers = 6

    def fact(self, name):
        if name != "d_model":
            raise KeyError(name)
        return SimpleNamespace(id="spec.d_model", value=512, unit="dims", statement="width", source=PAPER)


WIDE = Spec()
'''


@pytest.fixture
def panels(tmp_path, monkeypatch):
    package = tmp_path / "panel_sim"
    (package / "lessons").mkdir(parents=True)
    (package / "results").mkdir()
    for init in (package, package / "lessons"):
        (init / "__init__.py").write_text("")
    (package / "facts.py").write_text(FACTS, encoding="utf-8")
    (package / "ops.py").write_text("def double(n):\n    return 2 * n\n", encoding="utf-8")
    (package / "lessons" / "one.py").write_text(LESSON, encoding="utf-8")
    results = {"run": {"key": "", "results": [3, 6, 9]}}
    (package / "results" / "one.json").write_text(json.dumps(results))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield Panels(load("panel_sim.lessons", "one"), tmp_path, ["panel_sim"], "https://example.org/src", {"panel_sim.ops.double": [4]})
    for name in [n for n in sys.modules if n.split(".")[0] == "panel_sim"]:
        del sys.modules[name]


def asked(panels, *expressions):
    html = "".join(f'<data class="num" value="1" data-expr="{e.replace(chr(34), "&quot;")}">1</data>' for e in expressions)
    return json.loads(panels.json(html))


def entry(known, expression):
    found = known["expressions"][expression]
    closure = known["closures"][found["closure"]]
    return found, {table: [known[table][i] for i in indices] for table, indices in closure.items()}


def test_statements_lead_from_the_literals_to_the_number(panels):
    known = asked(panels, "num(private, 2)")
    found, closure = entry(known, "num(private, 2)")
    assert found["name"] == "private" and [s["name"] for s in closure["statements"]] == ["x", "mean", "_hidden", "private"]


def test_a_statement_stands_in_the_file_once(panels):
    known = asked(panels, "num(mean, 2)", "num(mean, 1)", "num(x[0])", "num(private)")
    names = [s["name"] for s in known["statements"]]
    assert len(names) == len(set(names)) and len(known["closures"]) == 3


def test_code_in_pieces_is_the_code_with_its_literals_marked_also_after_chinese(panels):
    known = asked(panels, "num(名[0])")
    _, closure = entry(known, "num(名[0])")
    found = closure["statements"][0]["pieces"]
    assert "".join(text for _, text, *_ in found) == "名 = [1.5, -2.0]  # 「借」，三个字"
    assert [(text, index) for _, text, *index in found if index] == [("1.5", [0]), ("-2.0", [1])]


def test_pieces_lose_nothing():
    code = 'def f(x):  # (d,)\n    """字"""\n    return {"a": x ** -2}\n'
    assert "".join(text for _, text in pieces(code)) == code


def test_a_literal_that_an_experiment_reads_is_no_input(panels):
    known = asked(panels, "num(steps)", "num(mean)")
    free = {s["name"]: any(len(p) == 3 for p in s["pieces"]) for s in known["statements"]}
    assert free == {"steps": False, "x": True, "mean": False}


def test_facts_are_listed_with_their_source_wherever_a_number_uses_them(panels):
    known = asked(panels, "num(known)", "num(shown)", "num(wide)", "num(through)", 'num(fact("err"))')
    for expression in ("num(known)", 'num(fact("err"))'):
        fact = known["facts"][known["expressions"][expression]["fact"]]
        assert (fact["authors"], fact["year"], fact["where"]) == ("Ba", 2016, "Table 6")
    for expression, statement in (("num(shown)", "an error"), ("num(wide)", "width"), ("num(through)", "width")):
        found, closure = entry(known, expression)
        assert "fact" not in found and [f["statement"] for f in closure["facts"]] == [statement], expression


def test_functions_have_their_source_place_and_formula(panels):
    _, closure = entry(asked(panels, "num(wide)"), "num(wide)")
    (function,) = closure["functions"]
    assert function["name"] == "panel_sim.ops.double" and function["formulas"] == [4]
    assert function["link"] == "https://example.org/src/panel_sim/ops.py#L1"


def test_the_spread_is_what_each_seed_alone_gives_where_that_says_something(panels):
    known = asked(panels, "num(middle)", "num(how_many)", "num(third)", "num(total)")
    assert known["expressions"]["num(middle)"]["spread"] == ["3", "6", "9"]
    for expression in ("num(how_many)", "num(third)", "num(total)"):
        assert "spread" not in known["expressions"][expression], expression
    (experiment,) = known["experiments"]
    assert experiment == {"name": "run", "settings": {"size": "3"}, "seeds": [1, 2, 3]}


def test_expressions_of_a_page_are_read_once_and_unescaped():
    html = '<data class="num" value="1" data-expr="num(a[&quot;b&quot;])" data-origin="experiment">1</data>' * 2
    assert expressions_in(html) == ['num(a["b"])']
