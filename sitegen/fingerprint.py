"""What code a function uses: one hash over it and everything of the project it reaches.

The source is read, never run. Docstrings, comments and formatting do not count; a name imported from the project is
followed to its definition, a whole imported module counts whole. Code from outside the project (NumPy) does not count:
results are compared within a tolerance instead.
"""

from __future__ import annotations

import ast
import copy
import functools
import hashlib
import importlib.util
from pathlib import Path
from typing import cast

from sitegen.page.evaluate import free_names


def fingerprint(module: str, name: str, packages: frozenset[str]) -> str:
    """Hex digest for `module.name`, following imports into modules whose top-level package is in `packages`."""
    parts: dict[tuple[str, str], str] = {}
    _follow(module, name, packages, parts, top=True)
    text = "\n".join(f"{where} {what} {code}" for (where, what), code in sorted(parts.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _follow(module: str, name: str, packages: frozenset[str], parts: dict[tuple[str, str], str], top: bool = False) -> None:
    if (module, name) in parts:
        return
    nodes = _definitions(module).get(name, ())
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for source, wanted in _import_targets(node, name, module):
                if source.split(".")[0] in packages:
                    for every in _definitions(source) if wanted is None else (wanted,):
                        _follow(source, every, packages, parts)
    file = _spec_file(module)
    if file is None or all(isinstance(node, (ast.Import, ast.ImportFrom)) for node in nodes):
        return
    code, reads = _part(file, file.stat().st_mtime_ns, name, top)
    parts[module, name] = code
    for read in reads:
        _follow(module, read, packages, parts)


@functools.lru_cache(maxsize=4096)
def _part(file: Path, changed: int, name: str, top: bool) -> tuple[str, tuple[str, ...]]:
    """(what the statements that define a name say, the names they read); kept while the file is the same."""
    said, reads = [], set()
    for node in _parsed(file, changed)[name]:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and top:
            node = copy.copy(node)
            node.decorator_list = []  # @experiment(…): its settings are part of the key already
        said.append(ast.dump(_without_docstrings(node)))
        reads |= free_names(node)
    return "\n".join(said), tuple(sorted(reads))


def _import_targets(node: ast.Import | ast.ImportFrom, name: str, module: str) -> list[tuple[str, str | None]]:
    """(module, name in it or None for the whole module) for an import that binds `name`."""
    if isinstance(node, ast.Import):
        return [(a.name, None) for a in node.names if (a.asname or a.name.split(".")[0]) == name]
    base = node.module or ""
    if node.level:
        file = _spec_file(module)
        up = node.level - (file is not None and file.name == "__init__.py")  # a package stands in itself
        parts = module.split(".")
        base = ".".join([*parts[: len(parts) - up], *([base] if base else [])])
    targets: list[tuple[str, str | None]] = []
    for alias in node.names:
        if (alias.asname or alias.name) == name:
            submodule = f"{base}.{alias.name}"
            is_module = alias.name not in _definitions(base) and _spec_file(submodule) is not None
            targets.append((submodule, None) if is_module else (base, alias.name))
    return targets


def _definitions(module: str) -> dict[str, list[ast.stmt]]:
    file = _spec_file(module)
    if file is None:
        return {}
    return _parsed(file, file.stat().st_mtime_ns)


@functools.lru_cache(maxsize=256)
def _parsed(file: Path, _changed: int) -> dict[str, list[ast.stmt]]:
    """Every statement that binds a name or changes what it holds, as `table["q"] = 2` does."""
    found: dict[str, list[ast.stmt]] = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.setdefault(node.name, []).append(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                found.setdefault(alias.asname or alias.name.split(".")[0], []).append(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name) and node not in found.setdefault(name.id, []):
                        found[name.id].append(node)
    return found


def _spec_file(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module) if module else None
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


def _without_docstrings(node: ast.stmt) -> ast.stmt:
    class Strip(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            self.generic_visit(node)
            body = getattr(node, "body", None)
            if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
                value = body[0].value
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    node.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined]
            return node

    return cast(ast.stmt, Strip().visit(ast.parse(ast.unparse(node)).body[0]))
