"""The generator's own words, one table a language, chosen by `theme.language`. The build log stays English."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path


@functools.cache
def words(language: str) -> dict[str, str]:
    """The table of a language; a language without one falls back to English."""
    folder = Path(__file__).parent
    file = folder / f"{language}.toml"
    return tomllib.loads((file if file.exists() else folder / "en.toml").read_text(encoding="utf-8"))
