"""What a page's numbers say when they are asked: one JSON file a page, fetched when the first number is opened.

    {"lesson": "sublayers", "file": "sim/lessons/sublayers.py", "link": "https://…" or "",
     "statements": [{"name", "line", "kind", "pieces": [[class, text, literal?], …]}, …],
     "functions": [{"name": "sim.ops.layer_norm", "file", "line", "link", "pieces", "formulas": [index on the page]}],
     "experiments": [{"name", "settings": {…}, "seeds": [0, 1, 2]}],
     "facts": [{"id", "statement", "unit", "authors", "year", "title", "where", "link"}],
     "closures": [{"statements": […], "functions": […], "experiments": […], "facts": […]}, …],
     "expressions": {"num(drifted_mean, 2)": {"name": "drifted_mean", "closure": 3, "fact": 0, "spread": [least, median,
                     most]}}}

Everything refers by index, so that a statement stands in the file once however many numbers rest on it. Code comes in
pieces, [CSS class, text], so that the page builds it from text and a literal ([class, text, index]) can become an input.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import json
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from html import unescape
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from pygments.lexers import PythonLexer
from pygments.token import STANDARD_TYPES, Token

from sitegen.page import change
from sitegen.page.display import Display, Shown, fixed, is_fact, plain, power_of_ten
from sitegen.page.evaluate import ExpressionError, evaluate, parse
from sitegen.page.experiment import answer, committed
from sitegen.page.lesson import Lesson
from sitegen.page.provenance import Statement

_NUMBER = re.compile(r'<data class="num"(?P<rest> [^>]*?data-expr="(?P<expression>[^"]*)"[^>]*)>')


def expressions_in(html: str) -> list[str]:
    """The expressions of a page's numbers, each once, in order."""
    return list(dict.fromkeys(unescape(m["expression"]) for m in _NUMBER.finditer(html)))


# ---- code in pieces


def pieces(code: str, literals: Sequence[tuple[int, int]] = ()) -> list[list[Any]]:
    """Coloured code as [class, text] or, for the literals at these places, [class, text, index]."""
    found: list[list[Any]] = []
    inside = {start: (end, i) for i, (start, end) in enumerate(literals)}
    skip = 0
    for start, kind, text in _python(code):
        if start < skip:
            continue
        if start in inside:
            end, index = inside[start]
            found.append(["mf", code[start:end], index])
            skip = end
            continue
        while kind is not Token and kind not in STANDARD_TYPES:
            kind = kind.parent
        name = STANDARD_TYPES.get(kind, "")
        name = "" if name in ("w", "n", "p") else name
        if found and found[-1][0] == name and len(found[-1]) == 2:
            found[-1][1] += text
        else:
            found.append([name, text])
    return found


@functools.lru_cache(maxsize=2048)
def _python(code: str) -> list[tuple[int, Any, str]]:
    return list(PythonLexer(stripnl=False, ensurenl=False).get_tokens_unprocessed(code))


def _places(text: str) -> list[tuple[int, int]]:
    """Where the literals of an assignment stand in its text, as (start, end) in characters."""
    node = ast.parse(text).body[0]
    value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
    lines = text.splitlines(keepends=True)
    begins = [sum(map(len, lines[:i])) for i in range(len(lines))]

    def at(line: int, column: int) -> int:  # columns of `ast` are bytes of UTF-8
        return begins[line - 1] + len(lines[line - 1].encode()[:column].decode())

    return [
        (at(n.lineno, n.col_offset), at(n.end_lineno or n.lineno, n.end_col_offset or 0))
        for n in (change.literals(value) if value is not None else [])
    ]


# ---- the file


@dataclass
class _Table:
    """Entries by key, each once, referred to by index."""

    entries: list[Any] = field(default_factory=list)
    index: dict[Any, int] = field(default_factory=dict)

    def add(self, key: Any, entry: Any) -> int:
        if key not in self.index:
            self.index[key] = len(self.entries)
            self.entries.append(entry() if callable(entry) else entry)
        return self.index[key]


class Panels:
    """Collects what the numbers of one page rest on."""

    def __init__(
        self,
        lesson: Lesson,
        root: Path,
        packages: Iterable[str],
        source_url: str = "",
        formulas: Mapping[str, Sequence[int]] | None = None,
        words: Mapping[str, str] | None = None,
    ):
        self.lesson, self.root, self.packages = lesson, root, frozenset(packages)
        self.names = lesson.names
        self.source_url, self.formulas = source_url.rstrip("/"), formulas or {}
        self.spreads = Spreads(lesson, words or {"below": "{}", "sequence_separator": ", "})
        self.statements, self.functions, self.experiments = _Table(), _Table(), _Table()
        self.facts, self.closures = _Table(), _Table()
        self.locked = self._locked()
        self._facts_known: dict[str, list[int]] = {}

    def json(self, html: str) -> bytes:
        """The page's file; `html` is its finished text."""
        expressions = {e: self._expression(e) for e in expressions_in(html)}
        file = self._file(self.lesson.path)
        data = {
            "lesson": self.lesson.name,
            "file": file,
            "link": f"{self.source_url}/{file}" if self.source_url else "",
            "statements": self.statements.entries,
            "functions": self.functions.entries,
            "experiments": self.experiments.entries,
            "facts": self.facts.entries,
            "closures": self.closures.entries,
            "expressions": expressions,
        }
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()

    def _expression(self, expression: str) -> dict[str, Any]:
        call = parse(expression).body
        value = call.args[0] if isinstance(call, ast.Call) and call.args else call
        closure = self.lesson.provenance.closure(expression)
        entry: dict[str, Any] = {"name": ast.unparse(value), "closure": self._closure(closure)}
        if (fact := self._value(value)) is not None and is_fact(fact):
            entry |= {"fact": self._fact(fact), "closure": self._closure(())}
        if any(s.experiment for s in closure) and (spread := self.spreads.get(expression)):
            entry["spread"] = spread
        return entry

    def _closure(self, closure: tuple[Statement, ...]) -> int:
        def entry() -> dict[str, list[int]]:
            shown = [s for s in closure if s.kind != "import"]
            return {
                "statements": [self._statement(s) for s in shown],
                "functions": [i for s in closure if s.kind == "import" for i in self._function(s)],
                "experiments": [self._experiment(s.names[0]) for s in shown if s.experiment],
                "facts": list(dict.fromkeys(i for s in shown for i in self._facts_of(s))),
            }

        return self.closures.add(tuple(s.names for s in closure), entry)

    def _statement(self, statement: Statement) -> int:
        def entry() -> dict[str, Any]:
            free = statement.kind == "value" and statement.names[0] not in self.locked
            code = pieces(statement.text, _places(statement.text) if free else ())
            return {"name": statement.names[0], "line": statement.line, "kind": statement.kind, "pieces": code}

        return self.statements.add(statement.names[0], entry)

    def _locked(self) -> frozenset[str]:
        """Values that an experiment reads: a change would need the experiment run again, so they stay as they are."""
        provenance = self.lesson.provenance
        marked = [s for s in provenance.statements if s.experiment]
        return frozenset(name for s in marked for below in provenance.below(s.names) for name in below.names)

    def _function(self, statement: Statement) -> list[int]:
        """The content function that an import brings, if it is one."""
        value = getattr(self.lesson.module, statement.names[0], None)
        ours = (getattr(value, "__module__", None) or "").split(".")[0] in self.packages
        if not ours or not (inspect.isfunction(value) or inspect.isclass(value)):
            return []
        function = inspect.unwrap(value)
        name = f"{function.__module__}.{function.__name__}"
        source = self._source(name)  # None for what has no `def` of its own, such as a named lambda
        return [] if source is None else [self.functions.add(name, source)]

    @functools.cache  # noqa: B019 - lives as long as the page's panels
    def _source(self, name: str) -> dict[str, Any] | None:
        module, _, short = name.rpartition(".")
        path = Path(importlib.import_module(module).__file__ or "")
        text = path.read_text(encoding="utf-8")
        node = next((n for n in ast.parse(text).body if getattr(n, "name", "") == short), None)
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            return None
        first = min([node.lineno, *[d.lineno for d in node.decorator_list]])
        file = self._file(path)
        return {
            "name": name,
            "file": file,
            "line": first,
            "link": f"{self.source_url}/{file}#L{first}" if self.source_url else "",
            "pieces": pieces("\n".join(text.splitlines()[first - 1 : node.end_lineno])),
            "formulas": list(self.formulas.get(name, ())),
        }

    def _experiment(self, name: str) -> int:
        experiment = self.lesson.experiments[name]
        settings = {k: _short(v) for k, v in experiment.settings.items()}
        return self.experiments.add(name, {"name": name, "settings": settings, "seeds": list(experiment.seeds)})

    # ---- published facts

    def _fact(self, fact: Any) -> int:
        source = fact.source
        entry = {
            "id": getattr(fact, "id", ""),
            "statement": getattr(fact, "statement", ""),
            "unit": getattr(fact, "unit", ""),
            "authors": source.authors,
            "year": source.year,
            "title": source.title,
            "where": getattr(source, "where", ""),
            "link": getattr(source, "link", ""),
        }
        return self.facts.add(json.dumps(entry, sort_keys=True), entry)

    def _facts_of(self, statement: Statement) -> list[int]:
        """Facts that a statement computes with: `fact("…")`, `MODEL.fact("…")`, and `MODEL.size` where MODEL has facts.
        Where a model goes whole into a function of the lesson, the sizes that function reads."""
        name = statement.names[0]
        if name not in self._facts_known:
            self._facts_known[name] = list(self._find_facts(statement))
        return self._facts_known[name]

    def _find_facts(self, statement: Statement) -> list[int]:
        found: list[int] = []
        body = ast.parse(statement.text).body
        for node in ast.walk(ast.Module(body, [])):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                found += self._sizes(node.value.id, [node.attr])
            elif isinstance(node, ast.Call):
                if is_fact(value := self._value(node)):
                    found.append(self._fact(value))
                called = self.lesson.provenance.binding.get(getattr(node.func, "id", ""))
                if called is not None and called.kind == "function":
                    read = [n.attr for n in ast.walk(ast.parse(called.text)) if isinstance(n, ast.Attribute)]
                    for argument in node.args:
                        found += self._sizes(getattr(argument, "id", ""), read)
        return found

    def _sizes(self, model: str, attributes: Sequence[str]) -> list[int]:
        facts_of = getattr(getattr(self.lesson.module, model, None), "fact", None)
        found: list[int] = []
        if not callable(facts_of):
            return found
        for attribute in attributes:
            try:
                found.append(self._fact(facts_of(attribute)))
            except (KeyError, AttributeError):
                continue
        return found

    def _value(self, node: ast.expr) -> Any:
        """A call or name of the page that may give a fact; computing anything else would be waste."""
        called = node.func if isinstance(node, ast.Call) else node
        name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        if isinstance(node, ast.Name):
            return self.names.get(name)
        if not isinstance(node, ast.Call) or name != "fact":
            return None
        try:
            return evaluate(ast.unparse(node), self.names)
        except ExpressionError:
            return None

    def _file(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.name


# ---- experiments, seed by seed

_spreads: WeakKeyDictionary[ModuleType, dict[str, list[str] | None]] = WeakKeyDictionary()


class Spreads:
    """Spread over the seeds: the lesson computed once for each seed alone, when asked for, and kept with its module."""

    def __init__(self, lesson: Lesson, words: Mapping[str, str]):
        self.lesson, self.functions = lesson, Display(words).functions()
        self.known = _spreads.setdefault(lesson.module, {})
        self.alone: list[dict[str, Any]] | None = None

    def get(self, expression: str) -> list[str] | None:
        if expression not in self.known:
            self.known[expression] = self._of(expression)
        return self.known[expression]

    def _of(self, expression: str) -> list[str] | None:
        """[least, median, most] of what each seed alone gives, or None where that says nothing: a count of seeds, one
        seed's own value, a number that all share."""
        reached = [s.names[0] for s in self.lesson.provenance.closure(expression) if s.experiment]
        if len(reached) != 1:
            return None
        seeds = len(self.lesson.experiments[reached[0]].seeds)
        try:
            shown = [evaluate(expression, {**self.functions, **names}) for names in self._seeds()[:seeds]]
            whole = evaluate(expression, {**self.functions, **self.lesson.names})
        except ExpressionError:
            return None
        values = sorted(item.value for item in shown if isinstance(item, Shown))
        if len(values) != seeds or not isinstance(whole, Shown) or values[0] == values[-1]:
            return None
        if not values[0] <= whole.value <= values[-1]:
            return None
        return [_short(v) for v in (values[0], statistics.median(values), values[-1])]

    def _seeds(self) -> list[dict[str, Any]]:
        if self.alone is None:
            results = {name: committed(e) for name, e in self.lesson.experiments.items()}
            names = [
                s.names[0]
                for s in self.lesson.provenance.statements
                if s.kind == "value" and any(below.experiment for below in self.lesson.provenance.below(s.names))
            ]
            self.alone = []
            for k in range(max(map(len, results.values()))):
                token = answer.set(lambda e, k=k: [results[e.name][min(k, len(results[e.name]) - 1)]])  # type: ignore
                try:  # one seed alone may not have what the whole has, as a third entry of a list
                    self.alone.append(change.computed(self.lesson, (), names=names, skip=True))
                finally:
                    answer.reset(token)
        return self.alone


def _short(value: Any) -> str:
    """A setting or a seed's value for people."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "、".join(map(_short, value)) if isinstance(value, (list, tuple)) else str(value)
    if value and not 1e-3 <= abs(value) < 1e6:
        return power_of_ten(value, 1)
    return plain(Decimal(f"{value:.4g}")) if isinstance(value, float) else fixed(value)
