"""Committed experiments: compute them with a progress bar, and check that what is on file belongs to the code.

`python -m sitegen experiments` writes sim/results/<stem>.json. The key of a result covers the code the experiment
uses, its settings and its seeds, not the versions of libraries: a slow test runs experiments again within tolerance.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sitegen.fingerprint import fingerprint
from sitegen.page.experiment import Experiment, answer

COMMAND = "python -m sitegen experiments"


def key(experiment: Experiment) -> str:
    """What a committed result must carry to be believed."""
    packages = frozenset({experiment.module.split(".")[0], "sitegen"})
    code = fingerprint(experiment.module, experiment.name, packages)
    text = json.dumps([code, experiment.settings, list(experiment.seeds)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def stored(file: Path) -> dict[str, Any]:
    try:
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    except json.JSONDecodeError:  # a merge conflict, say: as good as no result
        return {}


def staleness(experiment: Experiment) -> str:
    """Why the committed result may not be used, or "" if it may."""
    entry = stored(experiment.results_file).get(experiment.name)
    file = f"{experiment.results_file.parent.name}/{experiment.results_file.name}"
    if entry is None:
        return f"experiment {experiment.name} has no result in {file}; run `{COMMAND}`"
    if entry["key"] != key(experiment):
        return (
            f"experiment {experiment.name}: its code, settings or seeds have changed since {file} was computed;"
            f" run `{COMMAND}` and look at what changed in the article"
        )
    return ""


@contextmanager
def computing(compute: Callable[[Experiment], list[Any]]) -> Any:
    """While this holds, calling an experiment asks `compute` and not the committed file."""
    token = answer.set(compute)
    try:
        yield
    finally:
        answer.reset(token)


class Renewal:
    """Answers experiments while a lesson is imported: from file where the key fits, by computing where it does not."""

    def __init__(self, everything: bool = False, report: Callable[[str], None] | None = None):
        self.everything, self.report = everything, report or _to_stderr
        self.entries: dict[Path, dict[str, Any]] = {}

    def __call__(self, experiment: Experiment) -> list[Any]:
        entries = self.entries.setdefault(experiment.results_file, {})
        on_file = stored(experiment.results_file).get(experiment.name)
        if on_file and on_file["key"] == key(experiment) and not self.everything:
            entries[experiment.name] = on_file
        else:
            entries[experiment.name] = self._compute(experiment)
            self.write()  # what is done is kept, even if a later experiment fails
        return entries[experiment.name]["results"]

    def _compute(self, experiment: Experiment) -> dict[str, Any]:
        started, results = time.monotonic(), []
        for done, seed in enumerate(experiment.seeds, 1):
            results.append(experiment.run(seed))
            self.report(f"{experiment.stem}.{experiment.name}: {done}/{len(experiment.seeds)} seeds, "
                        f"{time.monotonic() - started:.0f} s")  # fmt: skip
        return {
            "key": key(experiment),
            "seeds": list(experiment.seeds),
            "settings": experiment.settings,
            "results": results,
        }

    def write(self, final: bool = False) -> None:
        """Write the result files; at the end, entries of experiments that no longer exist are left out."""
        for file, entries in self.entries.items():
            kept = entries if final else {**stored(file), **entries}
            text = _readable(kept)
            if not file.exists() or file.read_text(encoding="utf-8") != text:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8", newline="\n")


def _readable(entries: dict[str, Any]) -> str:
    """JSON with one line a seed: a diff shows which seed changed."""
    blocks = []
    for name, entry in sorted(entries.items()):
        head = ",\n".join(f'  "{k}": {json.dumps(entry[k], ensure_ascii=False)}' for k in ("key", "seeds", "settings"))
        lines = ",\n".join("   " + json.dumps(result, ensure_ascii=False) for result in entry["results"])
        blocks.append(f' "{name}": {{\n{head},\n  "results": [\n{lines}\n  ]\n }}')
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def _to_stderr(line: str) -> None:
    end = "\r" if sys.stderr.isatty() else "\n"
    print(line.ljust(78), end=end, file=sys.stderr, flush=True)


def check(experiments: Iterable[Experiment]) -> list[tuple[Experiment, str]]:
    """Experiments whose committed result is missing or stale, with what to do."""
    return [(experiment, reason) for experiment in experiments if (reason := staleness(experiment))]
