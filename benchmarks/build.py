"""How long a build takes, as a ratio to plain Material on the same text in the same run.

    uv run python benchmarks/build.py [--rounds 5]

Baseline "plain": the same docs folder and mkdocs.yml without the sitegen plugin (expressions and formulas stay text).
Times are MkDocs' own "Documentation built in"; the median of the rounds counts. "rebuild" is a second build in the same
process after one article was touched, as under `mkdocs serve`. "articles" builds copies of the article to see how cost
grows. Writes benchmarks/results/build.json.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.config import load_config

ROOT = Path(__file__).resolve().parent.parent


def timed(config_file: Path, site: Path, command: str = "build", **settings: object) -> float:
    """Seconds of one build, by MkDocs' own clock (`build()` from on_config to on_post_build)."""
    config = load_config(str(config_file), site_dir=str(site), **settings)
    config.plugins.on_startup(command=command, dirty=False)
    started = time.monotonic()
    build(config)
    return time.monotonic() - started


def plain_config(folder: Path) -> Path:
    """The site without sitegen, in a folder of its own."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    text = re.sub(r"  - sitegen:\n(?:      .*\n)+", "", text)
    (folder / "mkdocs.yml").write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "docs", folder / "docs")
    return folder / "mkdocs.yml"


def copies(folder: Path, number: int) -> Path:
    """The site with `number` copies of article 5 more."""
    for name in ("sim", "figures"):
        (folder / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "docs", folder / "docs")
    article = (ROOT / "docs" / "05-sublayers.md").read_text(encoding="utf-8")
    article = article.replace("{#check}", "{#check-copy}")  # the counts of questions hold for articles, not for copies
    for i in range(number):
        (folder / "docs" / f"copy-{i}.md").write_text(article, encoding="utf-8")
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").replace("omitted_files: warn", "omitted_files: ignore")
    (folder / "mkdocs.yml").write_text(text, encoding="utf-8")
    return folder / "mkdocs.yml"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    logging.getLogger("mkdocs").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        plain, four = base / "plain", base / "four"
        for folder in (plain, four):
            folder.mkdir()
        ways = {
            "plain": lambda: timed(plain_config_file, base / "site-plain"),
            "ours": lambda: timed(ROOT / "mkdocs.yml", base / "site-ours"),
            "rebuild": lambda: timed(ROOT / "mkdocs.yml", base / "site-ours", command="serve"),
            "ours_4_more": lambda: timed(four_file, base / "site-four"),
        }
        plain_config_file, four_file = plain_config(plain), copies(four, 4)
        for way in ways.values():
            way()  # once unmeasured: caches fill, modules load
        times: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(rounds):
            for way, run in ways.items():
                times[way].append(run())
    median = {way: statistics.median(values) for way, values in times.items()}
    result = {
        "baseline": "plain Material on the same text",
        "seconds": {way: round(value, 3) for way, value in median.items()},
        "build_ratio": round(median["ours"] / median["plain"], 2),
        "seconds_per_article": round((median["ours_4_more"] - median["ours"]) / 4, 3),
        "rounds": rounds,
    }
    folder = ROOT / "benchmarks" / "results"
    folder.mkdir(exist_ok=True)
    (folder / "build.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
