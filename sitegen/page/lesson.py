"""A lesson, loaded: its public names, its labs and experiments, its source and what depends on what."""

from __future__ import annotations

import importlib
import importlib.util
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from sitegen.page.experiment import Experiment
from sitegen.page.lab import Lab
from sitegen.page.provenance import Provenance, problems


class LessonError(Exception):
    """A lesson that cannot be used. `problems` holds (line, message) pairs for the file `path`."""

    def __init__(self, path: str, problems: list[tuple[int, str]]):
        super().__init__("\n".join(f"{path}:{line}: {message}" for line, message in problems))
        self.path, self.problems = path, problems


@dataclass(frozen=True)
class Lesson:
    name: str
    module: ModuleType
    path: Path
    source: str
    provenance: Provenance

    @property
    def names(self) -> dict[str, Any]:
        """What an article's expressions see."""
        return {name: getattr(self.module, name) for name in self.provenance.binding if not name.startswith("_")}

    @property
    def labs(self) -> dict[str, Lab]:
        return {name: value for name, value in vars(self.module).items() if isinstance(value, Lab)}

    @property
    def experiments(self) -> dict[str, Experiment]:
        return {name: value for name, value in vars(self.module).items() if isinstance(value, Experiment)}


def load(package: str, name: str) -> Lesson:
    """Import `package.name` after checking its rules; arrays it names become read-only."""
    module_name = f"{package}.{name}"
    try:
        spec = importlib.util.find_spec(module_name)
    except Exception as error:  # a package above it that is missing or broken
        raise LessonError(module_name, [(1, f"{type(error).__name__}: {error}; check `lessons:` in mkdocs.yml")]) from error
    if spec is None or spec.origin is None:
        raise LessonError(module_name, [(1, f"no lesson {module_name}; write {module_name.replace('.', '/')}.py")])
    path = Path(spec.origin)
    try:
        source = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise LessonError(str(path), [(1, "not UTF-8; save the file as UTF-8")]) from None
    if found := problems(source):
        raise LessonError(str(path), found)
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == path]
        inner = traceback.extract_tb(error.__traceback__)[-1]
        line = (frames[-1].lineno if frames else getattr(error, "lineno", 1)) or 1
        where = "" if Path(inner.filename) == path else f" (in {Path(inner.filename).name}:{inner.lineno})"
        raise LessonError(str(path), [(line, f"{type(error).__name__}: {error}{where}")]) from error
    for value in vars(module).values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    return Lesson(name, module, path, source, Provenance.of(source))
