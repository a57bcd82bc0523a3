"""Tiny sites, one a behaviour. Each folder is a whole MkDocs project; `expected.txt` holds the messages of one that
must fail. They are built in this process, under their own folder."""

from __future__ import annotations

import logging
from pathlib import Path

from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort, PluginError

HERE = Path(__file__).parent


def build(config_file: Path, site: Path, strict: bool = True, command: str = "build", **settings: object) -> None:
    """`mkdocs build --strict`; a failing build raises what MkDocs raises, its message holding the problems."""
    config = load_config(str(config_file), site_dir=str(site), strict=strict, **settings)
    config.plugins.on_startup(command=command, dirty=False)
    logging.getLogger("mkdocs").setLevel(logging.WARNING)
    try:
        mkdocs_build(config)
    except Abort as aborted:  # MkDocs has logged our message and raises "Aborted with a BuildError!"
        if isinstance(aborted.__context__, PluginError):
            raise aborted.__context__ from None
        raise
    finally:
        config.plugins.on_shutdown()


def tiny(folder: Path, pages: dict[str, str], lessons: dict[str, str] | None = None, **options: object) -> Path:
    """Write a tiny site into `folder` and give its mkdocs.yml. Without further word it has no browser runtime."""
    (folder / "docs").mkdir(parents=True, exist_ok=True)
    (folder / "tiny_lessons").mkdir(exist_ok=True)
    (folder / "tiny_lessons" / "__init__.py").write_text("", encoding="utf-8")
    for name, text in pages.items():
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    for name, text in (lessons or {}).items():
        (folder / "tiny_lessons" / f"{name}.py").write_text(text, encoding="utf-8")
    plugin = "".join(f"\n      {key}: {value}" for key, value in {"runtime": "false", **options}.items())
    (folder / "mkdocs.yml").write_text(
        "site_name: tiny\nsite_url: ''\ntheme: {name: material, language: zh, font: false}\nplugins:\n"
        f"  - sitegen:\n      lessons: tiny_lessons{plugin}\n"
        "markdown_extensions: [admonition, pymdownx.superfences, pymdownx.highlight, pymdownx.details]\n",
        encoding="utf-8",
    )
    return folder / "mkdocs.yml"
