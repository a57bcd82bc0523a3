"""Where a number comes from: the statements of a lesson that lead to it, down to the literals.

A lesson is a list of imports, functions and single assignments, each name bound once. That is why the data flow
can be read off the source exactly: an assignment depends on the names it reads, and nothing else can change them.
`problems()` finds what would break this; the build refuses such a lesson.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sitegen.page.evaluate import free_names, names_in

# Methods that change what they are called on: `total = xs.append(3)` would change xs behind its name.
_MUTATORS = frozenset(
    "append extend insert pop remove sort reverse update clear setdefault popitem fill put itemset add discard".split()
)


@dataclass(frozen=True)
class Statement:
    """One top-level statement of a lesson: what it binds, what it reads, its text and line."""

    kind: str  # "import", "function" or "value"
    names: tuple[str, ...]
    reads: frozenset[str]
    text: str
    line: int
    module: str = ""  # where an imported name comes from
    experiment: bool = False


@dataclass(frozen=True)
class Provenance:
    """The statements of one lesson by the name they bind."""

    statements: tuple[Statement, ...]
    binding: dict[str, Statement] = field(default_factory=dict)

    @staticmethod
    def of(source: str) -> Provenance:
        """Read a lesson's source. Statements that break the rules are left out; see `problems`."""
        statements = tuple(_statements(source))
        return Provenance(statements, {name: s for s in statements for name in s.names})

    def closure(self, expression: str) -> tuple[Statement, ...]:
        """Every statement that the expression's value can depend on, in the order of the lesson."""
        names = names_in(expression)
        if names not in self._closures:
            self._closures[names] = self.below(names)
        return self._closures[names]

    def below(self, names: Iterable[str]) -> tuple[Statement, ...]:
        """The same for names of the lesson, private ones too."""
        waiting, found = list(names), set()
        while waiting:
            statement = self.binding.get(waiting.pop())
            if statement is not None and id(statement) not in found:
                found.add(id(statement))
                waiting += statement.reads
        return tuple(s for s in self.statements if id(s) in found)

    def reaches_experiment(self, expression: str) -> bool:
        return not names_in(expression).isdisjoint(self._experimental)

    @functools.cached_property
    def _closures(self) -> dict[frozenset[str], tuple[Statement, ...]]:
        return {}

    @functools.cached_property
    def _experimental(self) -> frozenset[str]:
        """Names whose value depends on an experiment."""
        return frozenset(name for name in self.binding if any(s.experiment for s in self.below([name])))


def problems(source: str) -> list[tuple[int, str]]:
    """(line, what is wrong and what to do) for everything in a lesson that would make provenance wrong."""
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        return [(error.lineno or 1, f"not valid Python: {error.msg}")]
    found: list[tuple[int, str]] = []
    first: dict[str, int] = {}
    for node in body:
        found += [(line, message) for line, message in _broken(node)]
        for name in bound_names(node):
            if name in first:
                found.append(
                    (node.lineno, f"{name!r} is already bound in line {first[name]}; give the new value a new name")
                )
            first.setdefault(name, node.lineno)
    return found


def _broken(node: ast.stmt) -> Iterator[tuple[int, str]]:
    if isinstance(node, (ast.For, ast.While)):
        yield node.lineno, "a loop at module level; put it into a function and bind what the function returns"
    elif isinstance(node, ast.AugAssign):
        yield node.lineno, "an augmented assignment changes a name that is bound already; bind the result to a new name"
    elif isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
        yield node.lineno, "import names one by one, so that each can be traced"
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if len(targets) > 1 or not isinstance(targets[0], ast.Name):
            yield node.lineno, "assign to one plain name at a time (no item, attribute, tuple or chained assignment)"
        elif node.value is None:
            yield node.lineno, "a name without a value; assign it"
        else:
            yield from _broken_value(node.value)
    elif isinstance(node, ast.FunctionDef):
        for inner in ast.walk(node):
            if isinstance(inner, (ast.Global, ast.Nonlocal)):
                yield inner.lineno, "a function that changes outer names; return the value and bind it to a name"
        yield from _changed_arguments(node)
    elif not isinstance(node, (ast.Import, ast.ImportFrom)) and not _is_docstring(node):
        kind = type(node).__name__
        yield node.lineno, f"{kind} at module level; a lesson holds imports, functions and single assignments only"


def _changed_arguments(node: ast.FunctionDef) -> Iterator[tuple[int, str]]:
    """Item assignments to a parameter: the caller's array would change behind its name."""
    parameters = {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
    for inner in ast.walk(node):
        targets: list[ast.expr] = []
        if isinstance(inner, ast.Assign):
            targets = inner.targets
        elif isinstance(inner, ast.AugAssign):
            targets = [inner.target]
        for target in targets:
            base = target.value if isinstance(target, ast.Subscript) else None
            if isinstance(base, ast.Name) and base.id in parameters:
                yield target.lineno, f"changes its argument {base.id!r} in place; copy it first, and return the copy"


def _broken_value(value: ast.expr) -> Iterator[tuple[int, str]]:
    for node in ast.walk(value):
        if isinstance(node, ast.GeneratorExp):
            yield node.lineno, "a generator is used up by its first reader; write a list comprehension"
        elif isinstance(node, ast.NamedExpr):
            yield node.lineno, "an assignment inside an expression; give it a line of its own"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATORS:
            yield node.lineno, f".{node.func.attr}(…) changes a value in place; build a new one instead"


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def bound_names(node: ast.stmt) -> list[str]:
    """What a top-level statement binds."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _statements(source: str) -> Iterator[Statement]:
    lines = source.splitlines()
    for node in ast.parse(source).body:
        names = tuple(bound_names(node))
        if not names:
            continue
        decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
        start = min([node.lineno, *[d.lineno for d in decorators]])
        text = "\n".join(lines[start - 1 : node.end_lineno])
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
            for name in names:  # one statement a name, so that a closure shows only the imports it needs
                yield Statement("import", (name,), frozenset(), text, node.lineno, module)
        elif isinstance(node, ast.FunctionDef):
            marked = any(_decorator_name(d) == "experiment" for d in decorators)
            yield Statement("function", names, frozenset(free_names(node)), text, start, "", marked)
        else:
            value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
            yield Statement("value", names, frozenset(free_names(value) if value else ()), text, start)


def _decorator_name(node: ast.expr) -> str:
    node = node.func if isinstance(node, ast.Call) else node
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
