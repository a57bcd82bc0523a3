"""What an article can place besides numbers: the source of a function, a lab. HTML comes from templates/."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from sitegen.instant import Instants, StateError
from sitegen.page import controls, elements
from sitegen.page.lab import Lab
from sitegen.page.lesson import Lesson


class ComponentError(ValueError):
    """A component that cannot be placed; the message says what to do."""


@dataclass(frozen=True)
class Html:
    """Finished HTML, and the text it stands for where HTML cannot go (an attribute, a title)."""

    html: str
    text: str = ""
    block: bool = True


_templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates", encoding="utf-8"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

_templates.globals["shown"] = controls.shown


def render(template: str, **values: Any) -> str:
    return _templates.get_template(template).render(**values).strip()


class Components:
    """The component functions of one page."""

    def __init__(
        self, lesson: Lesson | None, root: Path, words: Mapping[str, str], source_url: str = "",
        instants: Instants | None = None,
    ):  # fmt: skip
        self.lesson, self.root, self.words, self.source_url = lesson, root, words, source_url
        self.instants = instants
        self.used: set[str] = set()
        self.files: dict[str, bytes] = {}  # what the labs fetch, by its address in the site

    def functions(self) -> dict[str, Callable[..., Html]]:
        return {"code": self.code, "lab": self.lab}

    def code(self, name: str, docstring: bool = False) -> Html:
        """The source of `package.module.function`, with its place.

        Decorators are left out (they check shapes, the body is the formula); so is the docstring, unless asked for.
        """
        module, _, function = name.rpartition(".")
        spec = importlib.util.find_spec(module) if module else None
        if spec is None or spec.origin is None:
            raise ComponentError(f"code({name!r}): no module {module!r}; write package.module.function")
        path = Path(spec.origin)
        text = path.read_text(encoding="utf-8")
        node = next((n for n in ast.parse(text).body if getattr(n, "name", "") == function), None)
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            raise ComponentError(f"code({name!r}): {path.name} has no function {function!r}")
        first = node.lineno
        lines = dict(enumerate(text.splitlines()[first - 1 : node.end_lineno], first))
        opening = node.body[0]
        if not docstring and len(node.body) > 1 and isinstance(opening, ast.Expr) and ast.get_docstring(node):
            for number in range(opening.lineno, (opening.end_lineno or opening.lineno) + 1):
                del lines[number]
        file = path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.name
        html = render(
            "code.html",
            code=highlight("\n".join(lines.values()), PythonLexer(), HtmlFormatter(cssclass="highlight", wrapcode=True)),
            title=self.words["code_title"].format(file=file, line=first),
            link=f"{self.source_url.rstrip('/')}/{file}#L{first}" if self.source_url else "",
        )
        return Html(html, name)

    def lab(self, name: str) -> Html:
        """A lab of the page's lesson, in its start state."""
        found = self.lesson.labs.get(name) if self.lesson else None
        if not isinstance(found, Lab) or self.lesson is None:
            there = ", ".join(self.lesson.labs) if self.lesson else ""
            raise ComponentError(f"no lab {name!r} in the lesson" + (f"; it has {there}" if there else ""))
        if name in self.used:
            raise ComponentError(f"lab {name!r} stands on this page already; one place each")
        self.used.add(name)
        try:
            tree = found.tree(found.start)
        except Exception as error:
            where = f"{self._shown(self.lesson.path)}:{line_of(found, error)}"
            raise ComponentError(f"lab {name!r} fails in its start state: {type(error).__name__}: {error} ({where})") from error
        instant = self._instant(self.lesson, found) if self.instants else ""
        output = elements.to_html(tree)
        html = render("lab.html", lab=found, lesson=self.lesson.name, output=output, instant=instant, words=self.words)
        return Html(html, found.title)

    def _instant(self, lesson: Lesson, lab: Lab) -> str:
        """The address of the lab's table of ready answers."""
        assert self.instants is not None
        try:
            table = self.instants.of(lab)
        except StateError as error:
            raise ComponentError(f"{error} ({self._shown(lesson.path)}:{line_of(lab, error.__cause__)})") from error
        address = f"assets/labs/{lesson.name}-{lab.name}-{hashlib.sha256(table.data).hexdigest()[:12]}.pack"
        self.files[address] = table.data
        return address

    def _shown(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.name


def line_of(lab: Lab, error: BaseException | None) -> int:
    """The line of the lab's own file that an exception came through; the lab's first line where there is none."""
    line, frame = 0, error.__traceback__ if error else None
    while frame:
        if frame.tb_frame.f_code.co_filename == lab.function.__code__.co_filename:
            line = frame.tb_lineno
        frame = frame.tb_next
    return line or lab.line
