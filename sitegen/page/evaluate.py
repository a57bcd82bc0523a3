"""The one evaluator of article expressions: the same code at build and in the browser.

An expression is Python, parsed with `ast` and let through only if every node is on the list below: values, names,
arithmetic, indexing, comparisons, calls, comprehensions. No attribute that starts with an underscore, no lambda, no
assignment. It sees the lesson's public names, the display functions and a few harmless builtins, and nothing else.
"""

from __future__ import annotations

import ast
import difflib
import functools
from collections.abc import Mapping
from types import CodeType
from typing import Any

BUILTINS: dict[str, Any] = {f.__name__: f for f in (len, range, min, max, sum, abs, sorted, zip, enumerate, list)}

_ALLOWED = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Store, ast.Attribute, ast.Subscript, ast.Slice, ast.Starred,
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.keyword, ast.List, ast.Tuple, ast.Dict,
    ast.ListComp, ast.GeneratorExp, ast.comprehension,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip


class ExpressionError(Exception):
    """An expression that cannot be evaluated; the message is for the author of the page."""


@functools.lru_cache(maxsize=8192)
def parse(text: str) -> ast.Expression:
    """The syntax tree of an expression, or an ExpressionError that says what is not allowed. Not to be changed."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise ExpressionError(f"not a Python expression ({error.msg})") from None
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED):
            raise ExpressionError(f"{type(node).__name__} is not allowed in a page; compute it in the lesson")
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name.startswith("_"):
            raise ExpressionError(f"names that start with an underscore stay in the lesson: {name}")
    return tree


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (ast.FunctionDef, ast.ClassDef, ast.Lambda)


def free_names(node: ast.AST) -> set[str]:
    """Names that an expression, function or class takes from outside, scope by scope: in `[x for x in xs] + [x]` both
    xs and the last x, in a function neither its parameters nor what it assigns."""
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    outside, inside, bound = list(ast.iter_child_nodes(node)), [], set()
    if isinstance(node, _COMPREHENSIONS):
        outside, inside = [node.generators[0].iter], outside
        bound = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    elif isinstance(node, _SCOPES):
        inside = list(node.body) if isinstance(node.body, list) else [node.body]
        outside = [part for part in outside if part not in inside]  # decorators, defaults, annotations, bases
        bound = {name for part in inside for name in _binds(part)}
        if not isinstance(node, ast.ClassDef):
            bound |= {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
    return {n for part in outside for n in free_names(part)} | {n for part in inside for n in free_names(part)} - bound


def _binds(node: ast.AST) -> set[str]:
    """Names that a statement binds in the scope it stands in."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (*_COMPREHENSIONS, ast.Lambda)):
        return set()
    own = {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else set()
    return own | {name for child in ast.iter_child_nodes(node) for name in _binds(child)}


@functools.lru_cache(maxsize=8192)
def names_in(text: str) -> frozenset[str]:
    """The names an expression takes from outside."""
    return frozenset(free_names(parse(text)))


@functools.lru_cache(maxsize=8192)
def _code(text: str) -> CodeType:
    return compile(parse(text), "<expression>", "eval")


def evaluate(text: str, names: Mapping[str, Any], where: str = "the lesson") -> Any:
    """The value of the expression. `where` names the lesson in messages about unknown names."""
    known = {**BUILTINS, **names}
    for name in sorted(names_in(text)):
        if name not in known:
            close = difflib.get_close_matches(name, list(known), n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"define it in {where}"
            raise ExpressionError(f"no name {name!r} in {where}; {hint}")
    # NumPy's C code imports some of itself on first use, through the builtins of whoever calls it.
    builtins = {"__import__": __import__}
    try:
        return eval(_code(text), {"__builtins__": builtins, **known})
    except Exception as error:
        raise ExpressionError(f"{type(error).__name__}: {error}") from error


def entry_expression(text: str, path: str) -> str:
    """The expression of one entry: `vec(x - m, 2)` with path `[1]` gives `num((x - m)[1], 2)`."""
    call = parse(text).body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or not call.args:
        raise ExpressionError("vec(…), mat(…) and seq(…) must be the whole expression, so that each entry has its own")
    whole = call.args[0]
    simple = isinstance(whole, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.List))
    inner = ast.unparse(whole) if simple else f"({ast.unparse(whole)})"
    entry = inner + path.replace(", ", "][")  # x[0, 2] works on arrays only, x[0][2] on lists as well
    digits = call.args[1] if len(call.args) > 1 else next((k.value for k in call.keywords if k.arg == "digits"), None)
    return f"num({entry})" if digits is None else f"num({entry}, {ast.unparse(digits)})"
