"""The content modules of a site (lessons, figures and what they import): found, loaded, loaded again after a change."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import linecache
import pkgutil
import sys
from pathlib import Path

from sitegen import experiments
from sitegen.page import lesson as lessons
from sitegen.page.lesson import Lesson, LessonError
from sitegen.problems import Problem


class Content:
    """Lessons by name. Under serve, `refresh` forgets content modules whose files changed; `sitegen` itself is never
    reloaded, so that its types keep their identity."""

    def __init__(self, root: Path, package: str, also: tuple[str, ...] = ()):
        self.root, self.package = root, package
        self.roots = frozenset(name.split(".")[0] for name in (package, *also) if name)
        self._loaded: dict[str, Lesson | LessonError] = {}

    def refresh(self) -> None:
        """Make imports see the files as they are now."""
        folder = str(self.root)
        if sys.path[:1] != [folder]:
            sys.path[:] = [folder, *[p for p in sys.path if p != folder]]
        importlib.invalidate_caches()
        linecache.checkcache()
        snapshot = {str(path): _stamp(path) for folder in self.folders() for path in _files(folder)}
        if _last_seen.get(self.roots) != snapshot:
            for name in [name for name in sys.modules if name.split(".")[0] in self.roots]:
                del sys.modules[name]
        _last_seen[self.roots] = snapshot
        self._loaded.clear()

    def lesson(self, name: str) -> Lesson:
        """The lesson, loaded once a build; a broken one raises the same LessonError each time."""
        if name not in self._loaded:
            try:
                self._loaded[name] = lessons.load(self.package, name)
            except LessonError as error:
                self._loaded[name] = error
        found = self._loaded[name]
        if isinstance(found, LessonError):
            raise found
        return found

    def names(self) -> list[str]:
        """The lessons there are."""
        spec = importlib.util.find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            raise LessonError(self.package, [(1, f"no package {self.package}; check `lessons:` in mkdocs.yml")])
        return sorted(m.name for m in pkgutil.iter_modules(list(spec.submodule_search_locations)))

    def folders(self) -> list[Path]:
        """What `serve` watches: the folders of the content packages."""
        found = []
        for root in sorted(self.roots):
            # PathFinder looks at the disk; find_spec would repeat what an earlier import found, maybe elsewhere.
            spec = importlib.machinery.PathFinder.find_spec(root) or importlib.util.find_spec(root)
            if spec is not None and spec.submodule_search_locations:
                found += [Path(p) for p in spec.submodule_search_locations]
        return found

    def problems_of(self, error: LessonError) -> list[Problem]:
        return [Problem(self.relative(error.path), line, message) for line, message in error.problems]

    def stale_experiments(self, lesson: Lesson) -> list[Problem]:
        """Committed results that may not be used, at the line of the experiment."""
        return [
            Problem(self.relative(lesson.path), lesson.provenance.binding[experiment.name].line, reason)
            for experiment, reason in experiments.check(lesson.experiments.values())
        ]

    def relative(self, path: str | Path) -> str:
        path = Path(path)
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.as_posix()


# The files of the content packages as they were when last imported, over the builds of one `serve`. Committed results
# count as well as sources, and another site in this process may have packages of the same name.
_last_seen: dict[frozenset[str], dict[str, tuple[int, int]]] = {}


def _files(folder: Path) -> list[Path]:
    return [p for p in sorted(folder.rglob("*")) if p.is_file() and "__pycache__" not in p.parts]


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size
