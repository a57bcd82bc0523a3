"""Experiments: calculations too long for a page, run once by `python -m sitegen experiments` and committed.

    @experiment(seeds=range(5), depth=24)
    def collapse(seed, depth):
        return {"residual": [...]}      # one seed's result: JSON-able, plain Python numbers

    collapse_runs = collapse()          # the committed results: one a seed, in the order of the seeds

The committed file is a cache with a lock on it: its key covers the code the experiment uses and its settings
(`sitegen/experiments.py`), and a build with a stale key fails and names the command that renews it.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np


class MissingResult(LookupError):
    """No committed result for this experiment; the message names the command that computes it."""


class Experiment:
    """A marked function with its seeds and settings. Calling it, without arguments, gives the committed results."""

    def __init__(self, function: Callable[..., Any], seeds: Iterable[int], settings: dict[str, Any]):
        functools.update_wrapper(self, function)
        self.function, self.seeds, self.settings = function, tuple(seeds), settings
        self.name = function.__name__
        self.module = function.__module__
        self.source_file = Path(function.__code__.co_filename)

    @property
    def stem(self) -> str:
        return self.module.rpartition(".")[2]

    @property
    def results_file(self) -> Path:
        """sim/results/<stem>.json for a lesson sim/lessons/<stem>.py"""
        return self.source_file.parent.parent / "results" / f"{self.stem}.json"

    def run(self, seed: int) -> Any:
        """One seed, computed now; the result passes through JSON, so that computed and committed are equal."""
        return json.loads(json.dumps(self.function(seed, **self.settings)))

    def __call__(self) -> list[Any]:
        return answer.get()(self)

    def __repr__(self) -> str:
        return f"<experiment {self.name}: {len(self.seeds)} seeds, {self.settings}>"


def experiment(*, seeds: Iterable[int], **settings: Any) -> Callable[[Callable[..., Any]], Experiment]:
    """Mark a lesson's function as an experiment over `seeds` with these `settings` (JSON-able keyword arguments)."""
    return lambda function: Experiment(function, seeds, settings)


def committed(experiment: Experiment) -> list[Any]:
    """The results on file, whatever code they were computed with; the build checks their key."""
    command = "python -m sitegen experiments"
    try:
        entry = json.loads(experiment.results_file.read_text(encoding="utf-8"))[experiment.name]
    except (FileNotFoundError, KeyError, json.JSONDecodeError):
        file = f"{experiment.results_file.parent.name}/{experiment.results_file.name}"
        raise MissingResult(f"{experiment.name} has no result in {file}; run `{command}`") from None
    return entry["results"]


# Who answers when an experiment is called: the committed file, or, while results are being computed, the computer.
answer: ContextVar[Callable[[Experiment], list[Any]]] = ContextVar("answer", default=committed)


def median(runs: Any) -> Any:  # (n_seeds, ...) -> (...)
    """The middle one over the seeds. `np.median` is the same, but makes a reader's browser fetch numpy.ma as well."""
    return np.quantile(runs, 0.5, axis=0)
