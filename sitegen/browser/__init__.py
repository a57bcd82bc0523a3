"""What the reader's browser gets from the generator: scripts, words, the Python runtime with the lessons in it.

Scripts stand under a name that hashes all of them, so that two releases never mix. Each article says, in attributes,
which lesson it is and where its runtime lies, relative to the page: that works under any path and after instant
navigation.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import platformdirs

from sitegen.content import Content
from sitegen.problems import Problem

HERE = Path(__file__).parent
SITEGEN = HERE.parent
ENTRIES = ("labs.js", "numbers.js", "player.js", "quiz.js")  # every page loads these, and they import the others
CLASSIC = ("disk.js",)  # no module: those do not load from disk, which is what it tells
LABS = ("address.js", "controls.js", "instant.js", "patch.js", "python.js")  # worker.js goes with the runtime
SCRIPTS = (*ENTRIES, *CLASSIC, *LABS, "panel.js", "tween.js", "voice.js")
SETTINGS = "sitegen/page/settings.json"  # which the answering code reads
SPOKEN = ("lab_", "failure_", "exception_", "player_", "number_", "quiz_", "sequence_separator")  # words that scripts say
STYLES = ("sitegen.css", "labs.css", "figures.css", "numbers.css", "quiz.css")


@dataclass
class Published:
    """Files of the built site by their address, and what pages must mention."""

    files: dict[str, bytes] = field(default_factory=dict)
    scripts: list[str] = field(default_factory=list)
    classic: list[str] = field(default_factory=list)  # scripts that are no modules
    styles: list[str] = field(default_factory=list)
    runtime: str = ""  # address of the runtime's folder, "" where there is none
    notices: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def publish(project: Mapping[str, bytes], words: Mapping[str, str], with_runtime: bool) -> Published:
    """Everything the browser needs; without a runtime the labs stay at their start state and say so."""
    published = Published()
    sources = {name: (HERE / name).read_bytes() for name in (*SCRIPTS, *STYLES)}
    spoken = {k: v for k, v in words.items() if k.startswith(SPOKEN)}
    sources["words.js"] = f"export const words = {json.dumps(spoken, ensure_ascii=False, indent=1)};\n".encode()
    folder = f"assets/sitegen/{digest(sources)}"
    published.files = {f"{folder}/{name}": lean(name, content) for name, content in sources.items()}
    published.scripts = [f"{folder}/{name}" for name in ENTRIES]
    published.classic = [f"{folder}/{name}" for name in CLASSIC]
    published.styles = [f"{folder}/{name}" for name in STYLES]
    if with_runtime:
        from sitegen import bytecode, runtime  # a site without labs need not have what they import

        try:
            built = runtime.build_runtime(project, apart=lessons_apart(project))
        except runtime.RuntimeUnavailable as error:
            published.notices.append(f"labs have no Python, only the states computed here: {error}")
        except (runtime.ModuleLeftOut, bytecode.CompileError) as error:
            published.problems += [problem_of(line) for line in str(error).splitlines()]
        except SyntaxError as error:
            published.problems.append(Problem(error.filename or "", error.lineno or 1, f"SyntaxError: {error.msg}"))
        else:
            published.runtime = f"assets/runtime/{built.hash}/"
            published.files |= {f"assets/runtime/{name}": content for name, content in built.files.items()}
    return published


def lean(name: str, content: bytes) -> bytes:
    """A script or style sheet without the comments and indents that readers of the project need and browsers do not. A
    comment begins its line or stands after code and two spaces, as everywhere in this folder."""
    if not name.endswith((".js", ".css")):
        return content
    text = re.sub(r"(?ms)^[ \t]*/\*.*?\*/[ \t]*$", "", content.decode())
    if name.endswith(".js"):
        text = re.sub(r"(?m)^[ \t]*//.*$|[ \t]{2,}// .*$", "", text)
    return "".join(f"{line.strip()}\n" for line in text.splitlines() if line.strip()).encode()


def lessons_apart(project: Mapping[str, bytes]) -> dict[str, list[str]]:
    """Each lesson's module with its files: the source, and the committed results of its experiments."""
    package = json.loads(project[SETTINGS])["lessons"]
    folder = package.replace(".", "/")
    results = f"{folder.rpartition('/')[0]}/results".lstrip("/")
    stems = [Path(path).stem for path in project if path.rpartition("/")[0] == folder and path.endswith(".py")]
    return {
        f"{package}.{stem}": [p for p in (f"{folder}/{stem}.py", f"{results}/{stem}.json") if p in project]
        for stem in stems
        if stem != "__init__"
    }


def problem_of(line: str) -> Problem:
    """`sim/facts.py:8: …` as a problem; compiled files stand under /project/ in the browser."""
    file, number, message = line.split(":", 2)
    return Problem(file.removeprefix("/project/"), int(number), message.strip())


def project_files(content: Content, root: Path, words: Mapping[str, str]) -> dict[str, bytes]:
    """The sources that run in the browser: the lessons' package with its data, and `sitegen.page`."""
    top = content.package.split(".")[0]
    folder = next(f for f in content.folders() if f.name == top)
    files = {"sitegen/__init__.py": (SITEGEN / "__init__.py").read_bytes()}
    for base, prefix in ((folder, top), (SITEGEN / "page", "sitegen/page")):
        for path in sorted(base.rglob("*")):
            if path.is_file() and path.suffix in {".py", ".json", ".npz", ".txt", ".toml"}:
                files[f"{prefix}/{path.relative_to(base).as_posix()}"] = path.read_bytes()
    settings = {"lessons": content.package, "words": {k: words[k] for k in ("below", "sequence_separator")}}
    files[SETTINGS] = json.dumps(settings, ensure_ascii=False, sort_keys=True).encode()
    return files


def article_attributes(lesson: str, up: str, published: Published, numbers: str = "") -> str:
    """Attributes of the <article>: its lesson, and the way from the page to the runtime and to its numbers' file."""
    place = f' data-runtime="{escape(up + published.runtime)}"' if published.runtime else ""
    place += f' data-numbers="{escape(up + numbers)}"' if numbers else ""
    return f'data-lesson="{escape(lesson)}"{place}'


def watched() -> list[Path]:
    """The generator's folders whose change shows without a restart under `serve`."""
    return [HERE, SITEGEN / "templates", SITEGEN / "words"]


def cache_folder() -> Path:
    """Where fetched and generated files are kept between builds; SITEGEN_CACHE overrides the user's cache folder."""
    folder = Path(os.environ.get("SITEGEN_CACHE") or platformdirs.user_cache_dir("sitegen"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def digest(files: Mapping[str, bytes]) -> str:
    whole = hashlib.sha256()
    for name in sorted(files):
        whole.update(f"{name}\0{len(files[name])}\0".encode() + files[name])
    return whole.hexdigest()[:12]
