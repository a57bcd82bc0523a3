"""The pictures of an article: `figure("name")`, `explainer("name")`, and `see("name")` for a reference.

A lesson `sublayers` has its pictures in `figures/sublayers.py`. Captions, alternative texts and steps are templates:
they become a page of their own, evaluated with the article's names, so that each number in a caption is a number of
the page. Figures are numbered in the order of the article; what `lint` finds is a problem of the figures file.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from html import escape, unescape
from types import ModuleType
from typing import Any

from sitegen import lint
from sitegen.components import ComponentError, Html, render
from sitegen.drawing import narration
from sitegen.drawing.canvas import Canvas, DrawingError, digits
from sitegen.drawing.declare import Declared, Explainer, Figure, Step, drawn
from sitegen.drawing.lint import faults
from sitegen.pages import Page
from sitegen.problems import Problem

_CALL = re.compile(r"""figure\(\s*["'](\w+)["']\s*\)""")
_BOLD = re.compile(r"\*\*(.+?)\*\*")


class Pictures:
    """Of one page; `package` is the figures package, "" where the site has none; `names` may hold digits (GPT-2)."""

    def __init__(
        self, page: Page, lesson: str, package: str, words: Mapping[str, str], relative: Callable[[str], str],
        names: Iterable[str] = (),
    ):  # fmt: skip
        self.page, self.words, self.relative, self.names = page, words, relative, names
        self.module_name = f"{package}.{lesson}" if package and lesson else ""
        self.used: set[str] = set()
        self._module: ModuleType | None = None

    def functions(self) -> dict[str, Callable[..., Html]]:
        return {"figure": self.figure, "explainer": self.explainer, "see": self.see}

    # ---- components

    def figure(self, name: str) -> Html:
        """A figure with its number and caption."""
        declared = self._declared(name, Figure)
        self._use(name)
        number = self.words["figure_number"].format(number=self._number(name))
        caption, _ = self._text(declared, declared.caption)
        _, alt = self._text(declared, declared.alt)
        label = f"{number}{self.words['figure_colon']}{_first_sentence(alt)}"
        drawings = [
            self._drawing(declared, canvas, layout, label, alt)
            for layout, canvas in self._drawn(declared, lambda: declared.layouts).items()
        ]
        html = render("figure.html", name=name, number=number, caption=caption, drawings="".join(drawings))
        return Html(html, f"{number}{self.words['figure_colon']}{alt}")

    def see(self, name: str) -> Html:
        """A link to a figure of this page, by its number."""
        self._declared(name, Figure)
        text = self.words["figure_number"].format(number=self._number(name))
        return Html(f'<a class="picture-link" href="#figure-{name}">{escape(text)}</a>', text, block=False)

    def explainer(self, name: str) -> Html:
        """The player of an explainer; without scripts, a numbered list."""
        declared = self._declared(name, Explainer)
        self._use(name)
        steps = self._drawn(declared, lambda: declared.steps)
        sizes = {(step.scene.width, step.scene.height) for step in steps}
        if len(sizes) != 1:
            raise ComponentError(f"explainer {name!r}: its frames have different sizes, {sorted(sizes)}")
        frames = [self._step(declared, i, step) for i, step in enumerate(steps, 1)]
        total = sum(frame["seconds"] for frame in frames)
        [(width, height)] = sizes
        html = render(
            "player.html",
            name=name,
            title=declared.title,
            steps=frames,
            total=digits(total),
            width=digits(width),
            height=digits(height),
            length=self.words["player_length"].format(steps=len(frames), minutes=max(1, round(total / 60))),
            words=self.words,
        )
        return Html(html, declared.title)

    def _step(self, declared: Explainer, number: int, step: Step) -> dict[str, Any]:
        where = f"step {number}"
        caption, plain = self._text(declared, step.caption, where)
        if not _BOLD.search(step.caption):
            self._report(declared, f"{where} has no **key terms**; they stand alone while the voice speaks")
        said = narration.spoken(self._text(declared, step.say, where)[1] if step.say else plain, self.words)
        return {
            "caption": caption,
            "frame": self._drawing(declared, drawn(step.scene), "frame", where=where),
            "seconds": narration.seconds(said),
            "say": json.dumps(narration.utterances(said), ensure_ascii=False),
        }

    # ---- details

    def _declared(self, name: str, kind: type[Any]) -> Any:
        found = vars(self._loaded()).get(name)
        if not isinstance(found, kind):
            there = [n for n, value in vars(self._loaded()).items() if isinstance(value, kind)]
            raise ComponentError(
                f"no {kind.__name__.lower()} {name!r} in {self.module_name}; it has {', '.join(there)}"
            )
        return found

    def _loaded(self) -> ModuleType:
        if self._module is None:
            if not self.module_name:
                raise ComponentError("pictures need `lesson:` in the front matter and `figures:` in mkdocs.yml")
            spec = importlib.util.find_spec(self.module_name)
            if spec is None:
                raise ComponentError(f"no figures; write {self.module_name.replace('.', '/')}.py")
            try:
                self._module = importlib.import_module(self.module_name)
            except Exception as error:
                raise self._broken(str(spec.origin), error, 1) from error
        return self._module

    def _drawn(self, declared: Declared, draw: Callable[[], Any]) -> Any:
        """What the author's function draws; an error in it belongs to the line of the figures file."""
        try:
            return draw()
        except Exception as error:
            raise self._broken(declared.file, error, declared.line) from error

    def _broken(self, file: str, error: Exception, line: int) -> ComponentError:
        inside = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
        kind = "" if isinstance(error, DrawingError) else f"{type(error).__name__}: "
        problem = Problem(self.relative(file), (inside[-1] if inside else line) or line, f"{kind}{error}")
        self._add(problem)
        return ComponentError(f"the figures file is broken: {problem}")

    def _use(self, name: str) -> None:
        if name in self.used:
            raise ComponentError(f"{name!r} stands on this page already; refer to it with see({name!r})")
        self.used.add(name)

    def _number(self, name: str) -> int:
        """The place of a figure among the figures of the article, in the order of its source."""
        order = [
            m[1] for f in self.page.fragments if f.kind == "expression" and (m := _CALL.fullmatch(f.content.strip()))
        ]
        if name not in order:
            raise ComponentError(f"figure {name!r} is not on this page; place it with figure({name!r})")
        return order.index(name) + 1

    def _drawing(self, declared: Declared, canvas: Canvas, layout: str, label: str = "", alt: str = "",
                 where: str = "") -> str:  # fmt: skip
        where = where or f"{layout} layout"
        for fault in faults(canvas):
            self._report(declared, f"{where}: {fault}")
        return render(
            "drawing.html",
            layout=layout,
            width=digits(canvas.width),
            height=digits(canvas.height),
            label=label,
            id=f"figure-{declared.name}-{layout}",
            description=alt,
            body=canvas.body(keys=isinstance(declared, Explainer)),
        )

    def _text(self, declared: Declared, template: str, where: str = "") -> tuple[str, str]:
        """A template as HTML and as plain text. Its numbers are the page's, its problems those of the figures file."""
        part = replace(
            self.page, markdown=template, file=self.relative(declared.file), first_line=declared.line,
            problems=[], fragments=[], _values={},
        )  # fmt: skip
        tokens = part.tokenised()
        markup = f"<p>{_BOLD.sub(r'<strong>\1</strong>', escape(tokens, quote=False))} </p>"
        for _, message in lint.prose(markup, lint.Source(template, []), self.names):
            part.report(0, f"{where}: {message}" if where else message)
        html = part.finished(markup).removeprefix("<p>").removesuffix("</p>").strip()
        plain = unescape(part.plain(escape(_BOLD.sub(r"\1", tokens))))
        for problem in part.problems:
            self._report(declared, problem.message)
        return html, plain

    def _report(self, declared: Declared, message: str) -> None:
        kind = type(declared).__name__.lower()
        self._add(Problem(self.relative(declared.file), declared.line, f"{kind} {declared.name!r}: {message}"))

    def _add(self, problem: Problem) -> None:
        if problem not in self.page.problems:
            self.page.problems.append(problem)


def _first_sentence(text: str) -> str:
    return re.split(r"[。.](?!\d)", text, maxsplit=1)[0]
