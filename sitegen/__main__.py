"""`python -m sitegen`: experiments computed, the runtime fetched."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sitegen.experiments import Renewal, computing
from sitegen.page.lesson import LessonError


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m sitegen", description=__doc__)
    parser.add_argument("--config", type=Path, default=Path("mkdocs.yml"), help="the site's mkdocs.yml")
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("experiments", help="compute experiments whose results are missing or stale")
    runs.add_argument("lessons", nargs="*", help="only these lessons (default: all)")
    runs.add_argument("--all", action="store_true", help="compute even what is up to date")
    python = commands.add_parser("runtime", help="fetch the browser's Python into the cache")
    python.add_argument("--from", dest="origin", type=Path, help="a folder or tarball that holds the files")
    given = parser.parse_args(arguments)
    try:
        return run_experiments(given) if given.command == "experiments" else fetch_runtime(given)
    except (LessonError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 1


def run_experiments(given: argparse.Namespace) -> int:
    from sitegen.plugin import content_of

    content = content_of(given.config)
    renewal = Renewal(everything=given.all)
    with computing(renewal):
        for name in given.lessons or content.names():
            for experiment in content.lesson(name).experiments.values():
                experiment()  # also one that no line of the lesson calls
    renewal.write(final=True)
    done = sum(len(entries) for entries in renewal.entries.values())
    print(f"{done} experiment(s) up to date")
    return 0


def fetch_runtime(given: argparse.Namespace) -> int:
    from sitegen import runtime

    try:
        runtime.fetch_from(given.origin) if given.origin else runtime.fetch()
    except runtime.RuntimeUnavailable as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
