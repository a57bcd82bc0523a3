"""Shared by all tests: where things are, and one build of the real site for those that read it."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def built_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real site, built once a test run with `--strict`, as it would be published."""
    from tests.sites import build

    folder = tmp_path_factory.mktemp("site")
    build(ROOT / "mkdocs.yml", folder)
    return folder
