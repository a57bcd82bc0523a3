"""`mkdocs serve` as an author uses it: a changed function changes the page, and nothing rebuilds on its own."""

import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from tests.sites import tiny

MATHS = "def double(x):\n    return x * 2\n"
LESSON = '"""A lesson."""\n\nfrom tiny_lessons.maths import double\n\nanswer = double(21)\n'
PAGE = "---\nlesson: one\n---\n\n# 页\n\n{{ num(answer) }}\n"


class Served:
    def __init__(self, config: Path):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [sys.executable, "-m", "mkdocs", "serve", "-f", str(config), "-a", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        self.log: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self.log.append(line)

    def page(self) -> str:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=5) as response:
                return response.read().decode()
        except OSError:
            return ""

    def wait_for(self, pattern: str, seconds: float = 30) -> str:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if re.search(pattern, html := self.page()):
                return html
            time.sleep(0.2)
        raise AssertionError(f"{pattern} did not appear; the log:\n{''.join(self.log[-40:])}")

    def builds(self) -> int:
        return sum("Building documentation" in line for line in self.log)


@pytest.fixture
def served(tmp_path):
    server = Served(tiny(tmp_path, {"index.md": PAGE}, {"one": LESSON, "maths": MATHS}))
    yield server
    server.process.terminate()
    server.process.wait(10)


def test_a_changed_function_changes_the_number_without_restart_and_back(served, tmp_path):
    """M08: twice there and back; the module that changes is one that the lesson imports."""
    maths = tmp_path / "tiny_lessons" / "maths.py"
    served.wait_for(">42</data>")
    for factor in ("3", "2", "3"):
        maths.write_text(MATHS.replace("* 2", f"* {factor}"), encoding="utf-8")
        served.wait_for(f">{21 * int(factor)}</data>")
    assert served.process.poll() is None


def test_a_fault_shows_on_the_page_and_goes_when_mended(served, tmp_path):
    lesson = tmp_path / "tiny_lessons" / "one.py"
    served.wait_for(">42</data>")
    lesson.write_text(LESSON + "for i in [1]:\n    pass\n", encoding="utf-8")
    html = served.wait_for("sitegen-problems")
    assert "tiny_lessons/one.py:6" in html and "put it into a function" in html
    lesson.write_text(LESSON, encoding="utf-8")
    served.wait_for(">42</data>")
    assert "sitegen-problems" not in served.page()


def test_one_save_is_one_rebuild_and_nothing_is_written_beside_the_sources(served, tmp_path):
    """M07: generated files in a watched folder would rebuild for ever."""
    served.wait_for(">42</data>")
    before = sorted(p for p in tmp_path.rglob("*") if "__pycache__" not in p.parts)
    builds = served.builds()
    page = tmp_path / "docs" / "index.md"
    page.write_text(PAGE + "\n{{ num(answer, 1) }}\n", encoding="utf-8")
    served.wait_for(">42.0</data>")
    time.sleep(6)
    assert served.builds() == builds + 1
    assert sorted(p for p in tmp_path.rglob("*") if "__pycache__" not in p.parts) == before
