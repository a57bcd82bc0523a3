"""Who may import whom, and what must not stand in the repository."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
STDLIB = set(sys.stdlib_module_names)


def imports(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def outside(file: Path, *allowed: str) -> set[str]:
    return {
        name
        for name in imports(file)
        if name.split(".")[0] not in STDLIB and not any(name == a or name.startswith(a + ".") for a in allowed)
    }


@pytest.mark.parametrize(
    ("folder", "pattern", "allowed"),
    [
        ("sim", "*.py", ("numpy", "sim")),
        ("sim/lessons", "*.py", ("numpy", "sim", "sitegen.page")),
        ("figures", "**/*.py", ("numpy", "sim", "sitegen.page", "sitegen.drawing", "matplotlib")),
        ("sitegen/page", "*.py", ("numpy", "sitegen.page")),
    ],
)
def test_imports_go_downwards_only(folder, pattern, allowed):
    for file in (ROOT / folder).glob(pattern):
        assert outside(file, *allowed) == set(), file


def test_the_generator_knows_neither_the_series_nor_more_than_one_place_that_knows_mkdocs():
    for file in (ROOT / "sitegen").rglob("*.py"):
        names = {name.split(".")[0] for name in imports(file)}
        assert not names & {"sim", "figures"}, file
        assert "mkdocs" not in names or file.name == "plugin.py", file


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_no_package_host_and_no_machine_path_stands_in_the_repository():
    hosts = re.compile("|".join(["pypi" + r"\.org", "pythonhosted" + r"\.org", r"registry\." + "npmjs", r"deb\." + "debian"]))
    for file in tracked():
        if file.suffix in {".woff2", ".png", ".npz", ".pack"}:
            continue
        text = file.read_text(encoding="utf-8")
        assert not hosts.search(text), f"{file}: names a package host"
    assert (ROOT / "uv.lock") not in tracked(), "uv.lock names package hosts and stays out of git"
