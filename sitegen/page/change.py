"""A lesson with some of its literals replaced, computed again: the same code at build and in the reader's browser.

    change = Change("drifted", 0, 31.0)                       # the first number in `drifted = np.array([30.0, …])`
    namespace = computed(lesson, names, [change])             # the lesson's names, as they would be

What a reader types is read with `ast.literal_eval` and put into the syntax tree as a value. It is never text in the
source, so nothing typed can become code.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from sitegen.page.lesson import Lesson
from sitegen.page.provenance import bound_names

LONGEST = 40  # characters; a float64 needs 24


class ChangeError(ValueError):
    """A change that cannot be made. `code` is for the page, which says it in the reader's language."""

    def __init__(self, code: str, message: str):
        super().__init__(f"{code}: {message}")
        self.code = code


@dataclass(frozen=True)
class Change:
    """Literal number `index` of the statement that binds `name` becomes `value`."""

    name: str
    index: int
    value: float | int | bool


def read_number(text: str, like: Any = 0.0) -> float | int | bool:
    """What a reader typed, as a number; beside a float, a whole number becomes a float.

    >>> read_number("−8", like=30.0)
    -8.0
    """
    text = text.strip().replace("−", "-").replace("，", ",").replace("。", ".").replace("．", ".")
    if len(text) > LONGEST:
        raise ChangeError("long", f"more than {LONGEST} characters")
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise ChangeError("unreadable", f"{text!r} is not a number") from None
    if isinstance(like, bool) != isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ChangeError("unreadable", f"{text!r} is not a {'truth value' if isinstance(like, bool) else 'number'}")
    try:
        value = float(value) if isinstance(like, float) else value
        finite = math.isfinite(value)
    except OverflowError:
        finite = False
    if not finite:
        raise ChangeError("infinite", f"{text!r} is not a finite number")
    return value


def literals(value: ast.expr) -> list[ast.expr]:
    """The numbers (and truth values) of an expression in the order of its text; −8.0 is one. Indices are left out:
    they name which entry, they are no quantity."""
    if _is_number(value):
        return [value]
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, (ast.USub, ast.UAdd)) and _is_number(value.operand):
        return [value]
    parts = [value.value] if isinstance(value, ast.Subscript) else list(ast.iter_child_nodes(value))
    found = [literal for part in parts for literal in literals(part)]  # type: ignore[arg-type]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def replaced(body: Iterable[ast.stmt], changes: Iterable[Change]) -> list[ast.stmt]:
    """The statements with the changes made, in their syntax trees."""
    statements = list(body)
    by_name = {name: node for node in statements for name in bound_names(node)}
    for change in changes:
        node = by_name.get(change.name)
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        found = literals(value) if value is not None else []
        if not 0 <= change.index < len(found):
            raise ChangeError("unknown", f"{change.name} has no literal number {change.index}")
        target = found[change.index]
        target_class = _Replace(target, ast.copy_location(ast.Constant(change.value), target))
        assert isinstance(node, (ast.Assign, ast.AnnAssign)) and value is not None
        node.value = target_class.visit(value)
    return statements


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST):
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else self.generic_visit(node)


def value_of(lesson: Lesson, name: str, index: int) -> float | int | bool:
    """The literal as the lesson has it."""
    node = next((n for n in ast.parse(lesson.source).body if name in bound_names(n)), None)
    value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
    found = literals(value) if value is not None else []
    if not 0 <= index < len(found):
        raise ChangeError("unknown", f"{name} has no literal number {index}")
    return ast.literal_eval(found[index])


def computed(
    lesson: Lesson,
    expressions: Sequence[str],
    changes: Iterable[Change] = (),
    names: Iterable[str] = (),
    skip: bool = False,
) -> dict[str, Any]:
    """The lesson's names with the changes made; only what the expressions and `names` need is computed again. With
    `skip`, statements that fail are left out, and so is what rests on them."""
    needed = {name for e in expressions for s in lesson.provenance.closure(e) for name in s.names}
    needed |= {name for s in lesson.provenance.below(names) for name in s.names}
    body = [
        node
        for node in ast.parse(lesson.source).body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__" or needed & set(bound_names(node))
    ]
    module = ModuleType(lesson.module.__name__)
    module.__file__ = str(lesson.path)
    future = [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    for node in replaced(body, changes):
        tree = ast.fix_missing_locations(ast.Module([*future, node], type_ignores=[]))
        try:
            exec(compile(tree, str(lesson.path), "exec"), vars(module))
        except Exception:
            if not skip:
                raise
    assigned = [s.names[0] for s in lesson.provenance.statements if s.kind == "value" and s.names[0] in needed]
    for name in assigned:
        if (freeze := getattr(getattr(module, name, None), "setflags", None)) is not None:
            freeze(write=False)
    return {name: value for name, value in vars(module).items() if not name.startswith("__")}
