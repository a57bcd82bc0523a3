"""What went wrong, for the author: file, line, what is wrong, what to do. Collected over a whole build."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Problem:
    file: str  # relative to the project folder, with forward slashes
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class BuildFailed(Exception):
    """The build stops; the message lists every problem found."""

    def __init__(self, problems: list[Problem]):
        lines = "\n".join(f"  {problem}" for problem in sorted(set(problems)))
        super().__init__(f"{len(set(problems))} problem(s) in the content:\n{lines}")
        self.problems = sorted(set(problems))
