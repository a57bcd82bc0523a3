"""Python sources compiled ahead of time, to the same bytes wherever and whenever it is done.

Two things make compiled files differ from run to run: the time in their header, and the flags that `marshal` sets
from the reference counts of strings that happen to be alive in the process. So the header holds the hash of the
source in place of a time (PEP 552, unchecked: the browser reads no source to verify it), and compiling happens in
a fresh interpreter that has imported nothing else.
"""

import ast
import importlib.util
import marshal
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
UNCHECKED_HASH = 0b01  # PEP 552: hash-based, and not compared with the source


class CompileError(Exception):
    """A source that is no Python; the message names the file."""


def can_compile_for(python: str) -> bool:
    """Whether this interpreter writes the bytecode that Python `python` (such as "3.12") reads."""
    return sys.implementation.name == "cpython" and python == f"{sys.version_info.major}.{sys.version_info.minor}"


def compile_sources(sources: Mapping[str, bytes], bare: Callable[[str], bool] = lambda path: False) -> dict[str, bytes]:
    """The .pyc file of each source, under the same path; paths are those that tracebacks in the browser show.

    `bare(path)`: compile without docstrings. Asserts stay. Raises CompileError.
    """
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    jobs = [(path, source, bare(path)) for path, source in sorted(sources.items())]
    done = subprocess.run(
        [sys.executable, "-S", "-s", "-P", "-W", "ignore", __file__],
        input=pickle.dumps(jobs),
        stdout=subprocess.PIPE,
        env=environ | {"PYTHONHASHSEED": "0"},
        check=True,
    )
    answer: dict[str, bytes] | str = pickle.loads(done.stdout)
    if isinstance(answer, str):
        raise CompileError(answer)
    return answer


def _compiled(path: str, source: bytes, bare: bool) -> bytes:
    tree = ast.parse(source, path)
    if bare:
        for node in ast.walk(tree):
            if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
                nothing = ast.copy_location(ast.Pass(), node.body[0])
                node.body = node.body[1:] or [nothing]
    code = compile(tree, path, "exec", dont_inherit=True, optimize=0)
    header = importlib.util.MAGIC_NUMBER + UNCHECKED_HASH.to_bytes(4, "little") + importlib.util.source_hash(source)
    return header + marshal.dumps(code)


def _main() -> None:
    jobs: list[tuple[str, bytes, bool]] = pickle.load(sys.stdin.buffer)
    answer: dict[str, bytes] | str
    try:
        answer = {path: _compiled(path, source, bare) for path, source, bare in jobs}
    except SyntaxError as error:
        answer = f"{error.filename}:{error.lineno}: {error.msg}"
    pickle.dump(answer, sys.stdout.buffer)


if __name__ == "__main__":
    _main()
