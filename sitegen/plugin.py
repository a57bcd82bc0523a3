"""The adapter to MkDocs (and properdocs, its drop-in continuation): the one file that knows either.

The core takes Markdown and gives Markdown and HTML pieces. This file reads the settings, hands pages over, collects
their problems, and puts the browser's files beside the pages. MkDocs 1.x is unmaintained; another shell needs another
file like this one and nothing else.
"""

from __future__ import annotations

import logging
import re
import sys
import warnings
from html import escape
from pathlib import Path
from typing import Any

import pymdownx.slugs
from mkdocs.config import config_options as option
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page as MkDocsPage
from mkdocs.utils.meta import get_data

from sitegen import browser, checks, lint, numbers, quiz
from sitegen.components import Components, render
from sitegen.content import Content
from sitegen.instant import Instants, data_of
from sitegen.notation import Notation
from sitegen.page.display import Display
from sitegen.page.lesson import Lesson, LessonError
from sitegen.pages import Page
from sitegen.pictures import Pictures
from sitegen.problems import BuildFailed, Problem
from sitegen.sources import References
from sitegen.words import words

log = logging.getLogger("mkdocs.plugins.sitegen")

# jieba's patterns are older than Python's warning about escapes; the search plugin imports it after this one.
warnings.filterwarnings("ignore", category=SyntaxWarning, module=".*jieba.*")


class Settings(Config):
    lessons = option.Type(str, default="lessons")
    figures = option.Optional(option.Type(str))
    notation = option.Type(str, default="notation.md")
    runtime = option.Type(bool, default=True)


class SitegenPlugin(BasePlugin[Settings]):
    """Options: `lessons` and `figures` name packages, `notation` a page; `runtime: false` leaves Python out."""

    def __init__(self) -> None:
        self.serving = False
        self.pages: dict[str, Page] = {}
        self.problems: list[Problem] = []

    # ---- once

    def on_startup(self, *, command: str, dirty: bool) -> None:
        self.serving = command == "serve"
        # A bytecode cache knows its source by second and size: two quick edits of the same length would look alike.
        sys.dont_write_bytecode |= self.serving

    @event_priority(50)  # before the search plugin, which reads its dictionary in on_config
    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        self.root = Path(config.config_file_path or "mkdocs.yml").resolve().parent
        self.language = str(config.theme.get("language") or "en")
        self.words = words(self.language)
        self.content = Content(self.root, self.config.lessons, (self.config.figures or "",))
        self.content.refresh()
        self.instants = Instants(self.content.roots, data_of(self.content.folders()), browser.cache_folder())
        self.notation = self._read_notation(config)
        self.pages, self.problems = {}, []
        self._bring_extensions(config)
        self._bring_search_dictionary(config)
        return config

    def on_serve(self, server: Any, *, config: MkDocsConfig, builder: Any) -> Any:
        for folder in [*self.content.folders(), *browser.watched()]:
            server.watch(str(folder))
        return server

    def _read_notation(self, config: MkDocsConfig) -> Notation:
        file = Path(config.docs_dir) / self.config.notation
        return Notation.read(file.read_text(encoding="utf-8")) if file.exists() else Notation()

    def _bring_extensions(self, config: MkDocsConfig) -> None:
        """What articles rely on: attributes, tables, ids that keep Chinese and do not count headings."""
        for name in ("attr_list", "tables", "toc"):
            if name not in config.markdown_extensions:
                config.markdown_extensions.append(name)
        config.mdx_configs.setdefault("toc", {}).setdefault("slugify", _slug)
        if "sitegen.quiz" not in config.markdown_extensions:
            config.markdown_extensions.append("sitegen.quiz")
        config.mdx_configs["sitegen.quiz"] = {"words": self.words}

    def _bring_search_dictionary(self, config: MkDocsConfig) -> None:
        search = config.plugins.get("material/search") or config.plugins.get("search")
        if search is None or not self.language.startswith("zh"):
            return
        try:
            import jieba
        except ImportError:
            self._fail([Problem("mkdocs.yml", 1, "Chinese search needs the package jieba; add it to the project")])
            return
        jieba.setLogLevel(logging.WARNING)
        if self.notation.terms and not getattr(search.config, "jieba_dict_user", None):
            file = browser.cache_folder() / "terms.txt"
            file.write_text(self.notation.dictionary(), encoding="utf-8")
            search.config.jieba_dict_user = str(file)

    # ---- every page

    def on_page_markdown(self, markdown: str, *, page: MkDocsPage, config: MkDocsConfig, files: Files) -> str:
        source = Path(page.file.abs_src_path or "")
        text = source.read_text(encoding="utf-8-sig") if source.is_file() else markdown
        first_line = text.count("\n", 0, max(text.rfind(markdown), 0)) + 1
        built = Page(markdown, self.content.relative(source), first_line)
        built.constants = self.notation.constants
        built.constants_from = f"{Path(config.docs_dir).name}/{self.config.notation} {{#constants}}"
        lesson = self._lesson_of(page, built)
        components = Components(lesson, self.root, self.words, self._source_url(config), self.instants)
        built.files = components.files
        pictures = Pictures(
            built, str(page.meta.get("lesson") or ""), self.config.figures or "", self.words, self.content.relative,
            self.notation.names,
        )  # fmt: skip
        built.references = References(lesson.names if lesson else {}, self.words)
        parts = (Display(self.words), components, pictures, built.references)
        built.functions = {name: function for part in parts for name, function in part.functions().items()}
        if lesson is not None:
            shadowed = sorted(set(lesson.names) & set(built.functions))
            for name in shadowed:
                statement = lesson.provenance.binding[name]
                if statement.kind != "import":  # `from sitegen.page.lab import lab` is for the lesson's own use
                    message = f"{name!r} is the name of a display function or component; name the value otherwise"
                    problem = Problem(self.content.relative(lesson.path), statement.line, message)
                    built.problems.append(problem)
            built.names = {k: v for k, v in lesson.names.items() if k not in shadowed}
            built.provenance, built.lesson = lesson.provenance, lesson
            built.lesson_file = self.content.relative(lesson.path)
        self.pages[page.file.src_uri] = built
        built.quizzes, problems = quiz.problems_of(markdown, first_line, lesson is not None)
        for line, message in problems:
            built.report(line, message)
        return built.tokenised()

    def on_page_content(self, html: str, *, page: MkDocsPage, config: MkDocsConfig, files: Files) -> str:
        built = self.pages[page.file.src_uri]
        self._lint(built, html)
        for key in ("title", "description"):
            if "{{" in str(page.meta.get(key, "")):
                built.report(1, f"the {key} is plain text; an expression is not computed there")
        for key in ("title", "description") if built.lesson_file else ():
            for number, around in lint.digits(escape(str(page.meta.get(key, ""))), self.notation.names):
                built.report(1, f"the number {number} typed in the {key}, «{around}»; write it in words")
        html = built.references.finished(built.finished(html))
        if built.references.missing():
            line = next((f.line for f in built.fragments if "cite(" in f.content), built.first_line)
            built.report(line, "sources are cited, but the page has no list: {{ sources({…}) }}")
        for around in lint.hyphens(html):
            built.report(built.first_line, f"a hyphen stands for minus in «{around}»; write − (U+2212)")
        for item in _all_items(page.toc):
            item.title = built.rich(item.title)
        if isinstance(page.title, str) and "\ue000" in page.title:
            page.title = built.plain(page.title)
        self.problems += built.problems
        if built.problems and self.serving:
            title = self.words["problems_title"].format(count=len(built.problems))
            html = render("problems.html", title=title, problems=sorted(built.problems)) + html
        return html

    def _lint(self, built: Page, html: str) -> None:
        """Digits without an origin (pages with a lesson), and typography."""
        source = lint.Source(built.markdown, [f.source for f in built.fragments], self.notation.names, built.first_line)
        names_from = built.constants_from.replace("#constants", "#names")
        for line, message in lint.prose(html, source, self.notation.names, names_from, bool(built.lesson_file)):
            built.report(line, message)

    def on_env(self, env: Any, *, config: MkDocsConfig, files: Files) -> Any:
        articles = [file for file in files.documentation_pages() if self._is_article(file)]
        self._check_warmups(articles)
        self._fail(self.problems)  # before anything is written
        self.sources = {
            file.dest_uri: checks.Source(built.file, built.markdown, built.first_line)
            for file in files.documentation_pages()
            if (built := self.pages.get(file.src_uri)) is not None
        }
        self._tell_unused(config)
        for file in files.documentation_pages():
            built = self.pages.get(file.src_uri)
            if built is not None and built.lesson is not None and file.page is not None:
                self._publish_panel(built, built.lesson, file.page.content or "", config, files)
                for address, content in built.files.items():
                    files.append(File.generated(config, address, content=content))
        self._fill_warmups(articles)
        return env

    def _is_article(self, file: File) -> bool:
        built = self.pages.get(file.src_uri)
        return built is not None and built.lesson is not None and file.page is not None

    def _check_warmups(self, articles: list[File]) -> None:
        """An article asks three questions of earlier ones, as far as there are any (in the order of the files)."""
        earlier: dict[str, list[str]] = {}
        for file in sorted(articles, key=lambda file: file.src_uri):
            built = self.pages[file.src_uri]
            if "check" in {item.id for item in _all_items(file.page.toc)}:  # type: ignore[union-attr]
                for line, message in quiz.warmups(built.quizzes, earlier, built.first_line):
                    self.problems.append(Problem(built.file, line, message))
            earlier[file.src_uri] = [block.id for block in built.quizzes if block.kind == "quiz"]

    def _fill_warmups(self, articles: list[File]) -> None:
        by_name = {file.src_uri: file for file in articles}
        whole = {name: file.page.content or "" for name, file in by_name.items()}  # type: ignore[union-attr]
        for file in articles:
            up = "../" * file.url.count("/") if file.url not in (".", "./") else ""

            def asked(name: str, question: str, file: File = file, up: str = up) -> str:
                if name not in by_name:  # reported; under serve the page is shown without it
                    return ""
                there, built = by_name[name], self.pages[name]
                return render(
                    "warmup.html",
                    lesson=built.lesson.name if built.lesson else "",
                    numbers=up + built.numbers_file if built.numbers_file else "",
                    link=f"{there.url_relative_to(file)}#q-{question}",
                    title=there.page.title if there.page else "",
                    question=quiz.question(whole[name], question, there.url_relative_to(file)),
                )

            file.page.content = quiz.with_warmups(whole[file.src_uri], asked)  # type: ignore[union-attr]

    def _tell_unused(self, config: MkDocsConfig) -> None:
        """Public values of lessons that no number, figure or lab rests on: told, not an error."""
        used: dict[str, list[str]] = {}
        for built in self.pages.values():
            if built.lesson is not None:
                used.setdefault(built.lesson.name, []).extend(f.content for f in built.fragments if f.kind == "expression")
        others = [f for folder in self.content.folders() for f in sorted(folder.rglob("*.py"))]
        for name, expressions in used.items():
            lesson = self.content.lesson(name)
            read = " ".join(f.read_text(encoding="utf-8") for f in others if f.stem == name and f != lesson.path)
            words = set(re.findall(r"\w+", read))
            tell = log.info if config.strict else log.warning
            for line, unused in checks.unused(lesson, expressions, words.__contains__):
                message = f"{unused} is never used by a number, figure or lab of a page"
                tell(f"{self.content.relative(lesson.path)}:{line}: {message}")
            pictures = [f for f in others if self.config.figures and f.parent.name == self.config.figures and f.stem == name]
            for file in pictures:
                for line, unplaced in checks.unplaced(file.read_text(encoding="utf-8"), expressions):
                    tell(f"{self.content.relative(file)}:{line}: {unplaced} stands on no page")

    def _publish_panel(self, built: Page, lesson: Lesson, html: str, config: MkDocsConfig, files: Files) -> None:
        """What the page's numbers say when asked, as a file of its own, fetched when the first one is."""
        source_url, formulas = self._source_url(config), built.formulas_of_functions()
        panels = numbers.Panels(lesson, self.root, self.content.roots, source_url, formulas, self.words)
        content = panels.json(html)
        built.numbers_file = f"assets/numbers/{lesson.name}-{browser.digest({'': content})}.json"
        if built.numbers_file not in files.src_uris:
            files.append(File.generated(config, built.numbers_file, content=content))

    def on_post_page(self, output: str, *, page: MkDocsPage, config: MkDocsConfig) -> str:
        built = self.pages.get(page.file.src_uri)
        if built is not None and built.lesson_file:
            up = "../" * page.url.count("/") if page.url not in (".", "./") else ""
            attributes = browser.article_attributes(str(page.meta["lesson"]), up, self.published, built.numbers_file)
            output = output.replace("<article ", f"<article {attributes} ", 1)
        return output.replace("<html ", '<html data-python="idle" ', 1)

    def _lesson_of(self, page: MkDocsPage, built: Page) -> Lesson | None:
        if "lesson" not in page.meta:
            return None
        name = page.meta["lesson"]
        if not str(name or "").isidentifier():
            built.report(1, f"lesson: {name or ''} names no lesson; write the stem of a file in {self.config.lessons}")
            built.lesson_broken = True
            return None
        try:
            lesson = self.content.lesson(str(name))
        except LessonError as error:
            built.problems += self.content.problems_of(error)
            built.lesson_broken = True
            return None
        built.problems += self.content.stale_experiments(lesson)
        return lesson

    def _source_url(self, config: MkDocsConfig) -> str:
        return f"{config.repo_url.rstrip('/')}/blob/main" if config.repo_url else ""

    # ---- the browser's files

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        lessons = self._lessons_named(files)
        project = browser.project_files(self.content, self.root, self.words) if lessons else {}
        self.published = browser.publish(project, self.words, self.config.runtime and bool(lessons))
        self.problems += self.published.problems
        for notice in self.published.notices:
            (log.warning if not self.serving else log.info)(notice)
        for name, content in self.published.files.items():
            files.append(File.generated(config, name, content=content))
        for script in self.published.scripts:
            if script not in [str(s) for s in config.extra_javascript]:
                entry = option.ExtraScript().run_validation({"path": script, "type": "module"})
                config.extra_javascript.append(entry)
        for script in self.published.classic:
            if script not in [str(s) for s in config.extra_javascript]:
                config.extra_javascript.append(script)
        for style in self.published.styles:
            if style not in config.extra_css:
                config.extra_css.insert(0, style)
        return files

    def _lessons_named(self, files: Files) -> set[str]:
        heads = [get_data(_text_of(file))[1] for file in files.documentation_pages()]
        return {str(head["lesson"]) for head in heads if head.get("lesson")}

    def on_post_build(self, *, config: MkDocsConfig) -> None:
        _mend_search(Path(config.site_dir))
        found = checks.site(Path(config.site_dir), config, self.sources)
        self._fail([Problem(file, line, text) for file, line, text in found])

    def _fail(self, problems: list[Problem]) -> None:
        """Stop a build; under serve, say it and go on (raising there hangs the server)."""
        if not problems:
            return
        if self.serving:
            for problem in sorted(set(problems)):
                log.error(str(problem))
            return
        raise PluginError(str(BuildFailed(problems)))


def _mend_search(site: Path) -> None:
    """Material's search worker cuts a query into known words and forgets its last character, one step too early: 归一化
    would look for 归一. A release that no longer holds this loop is left as it is."""
    for worker in (site / "assets" / "javascripts" / "workers").glob("search.*.min.js"):
        text = worker.read_text(encoding="utf-8")
        mended = text.replace("for(let o=s+1;o<t.length;o++)", "for(let o=s+1;o<=t.length;o++)")
        if mended != text:
            worker.write_text(mended, encoding="utf-8", newline="\n")


def _text_of(file: File) -> str:
    """A page's source; one that is not UTF-8 is said by name."""
    try:
        return file.content_string
    except UnicodeDecodeError:
        raise PluginError(f"{file.src_uri}:1: not UTF-8; save the file as UTF-8") from None


def _slug(text: str, separator: str) -> str:
    """An id that keeps Chinese: "Foo — 注意力" gives foo-注意力."""
    words = pymdownx.slugs.slugify(case="lower")(text, separator)
    return re.sub(f"{re.escape(separator)}+", separator, words).strip(separator)


def _all_items(items: Any) -> Any:
    for item in items:
        yield item
        yield from _all_items(item.children)


def content_of(config_file: Path) -> Content:
    """The content of a site, for the command line."""
    from mkdocs.config import load_config

    config = load_config(str(config_file))
    plugin = next((p for p in config.plugins.values() if isinstance(p, SitegenPlugin)), None)
    if plugin is None:
        raise LessonError(config_file.name, [(1, "no plugin sitegen in this site; add it under plugins:")])
    root = Path(config.config_file_path or config_file).resolve().parent
    content = Content(root, plugin.config.lessons, (plugin.config.figures or "",))
    content.refresh()
    return content
