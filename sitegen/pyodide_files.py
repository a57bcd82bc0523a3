"""The files of Pyodide that a site carries, fetched from wherever they can be had and never trusted.

`runtime.toml` pins each file by sha256 and names the sources in order. The local cache comes first, so that a machine
downloads them once. `python -m sitegen runtime --from …` (`fetch_from`) is for people without a network.
"""

import hashlib
import http.client
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import tomllib
import urllib.request
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, Protocol

import platformdirs

CONFIG: dict[str, Any] = tomllib.loads(Path(__file__).with_name("runtime.toml").read_text("utf-8"))
PINS: dict[str, str] = CONFIG["files"]
CONNECT_SECONDS = 3.0  # a blocked network costs no more than this
READ_SECONDS = 30.0

WHAT_TO_DO = (
    "On a machine with a network, get a folder or archive that holds these files (the Pyodide {version} release and "
    "its NumPy wheel), then run `python -m sitegen runtime --from FOLDER_OR_ARCHIVE` here. "
    "Without them the site is built with labs that do not run Python."
)


class RuntimeUnavailable(Exception):
    """The runtime's files can be had from nowhere; the message says what was tried and what to do."""

    def __init__(self, missing: Iterable[str], tried: Iterable[str]):
        self.missing, self.tried = tuple(missing), tuple(tried)
        lines = ["Python for the browser is not available: missing " + ", ".join(self.missing) + "."]
        lines += [f"  tried {attempt}" for attempt in self.tried]
        super().__init__("\n".join([*lines, WHAT_TO_DO.format(version=CONFIG["pyodide"])]))


def cache_folder() -> Path:
    """Where downloads and packs are kept: $SITEGEN_CACHE, or the user's cache folder."""
    return Path(os.environ.get("SITEGEN_CACHE") or platformdirs.user_cache_dir("sitegen", appauthor=False))


class Store:
    """A folder of verified files. Nothing enters it with another sha256 than the pinned one."""

    def __init__(self, cache: Path | None = None, pins: dict[str, str] = PINS):
        self.folder = (cache or cache_folder()) / f"pyodide-{CONFIG['pyodide']}"
        self.pins = pins
        self.tried: list[str] = []

    def missing(self) -> list[str]:
        """The pinned files that are not here. One that has rotted is thrown away and counts as missing."""
        absent = []
        for name in self.pins:
            path = self.folder / name
            if path.is_file() and not self._right(name, path.read_bytes(), f"local cache {self.folder}"):
                path.unlink()
            if not path.is_file():
                absent.append(name)
        return absent

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def offer(self, name: str, data: bytes, source: str) -> bool:
        """Keep `data` if it is the pinned file; say so if not."""
        if not self._right(name, data, source):
            return False
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.folder / name, data)
        return True

    def note(self, attempt: str) -> None:
        self.tried.append(attempt)
        print(f"sitegen: {attempt}", file=sys.stderr)

    def _right(self, name: str, data: bytes, source: str) -> bool:
        found = hashlib.sha256(data).hexdigest()
        if found == self.pins[name]:
            return True
        self.note(f"{source}: refused {name}: its sha256 is {found}, not {self.pins[name]} as runtime.toml pins it")
        return False


FAILURES = (OSError, subprocess.CalledProcessError, http.client.HTTPException, zipfile.BadZipFile, tarfile.TarError)


class Source(Protocol):
    """Offers the wanted files it has to the store; one of FAILURES is a source that has none."""

    def __call__(self, config: dict[str, Any], wanted: list[str], store: Store) -> None: ...


def fetch(cache: Path | None = None, pins: dict[str, str] = PINS, sources: list[dict[str, Any]] | None = None) -> Store:
    """The store with every pinned file in it. Raises RuntimeUnavailable when some can be had from no source."""
    store = Store(cache, pins)
    for config in CONFIG["sources"] if sources is None else sources:
        missing = store.missing()
        wanted = [name for name in missing if name not in config.get("lacks", ())]
        if not wanted:
            continue
        label = config["name"] + (f" ({config['size']})" if "size" in config else "")
        print(f"sitegen: Pyodide {CONFIG['pyodide']} from {label}", file=sys.stderr)
        try:
            SOURCES[config["kind"]](config, wanted, store)
        except FAILURES as error:
            store.note(f"{config['name']}: {_reason(error)}")
    if missing := store.missing():
        raise RuntimeUnavailable(missing, store.tried)
    return store


def fetch_from(place: str | Path, cache: Path | None = None, pins: dict[str, str] = PINS) -> list[str]:
    """Take the pinned files from a folder, a .tar.*/.tgz or a .zip/.whl into the cache; their names are returned.

    Raises RuntimeUnavailable if files are missing afterwards (several places may be given one after the other),
    FileNotFoundError if there is no such place.
    """
    place, store, taken = Path(place), Store(cache, pins), []
    if not place.exists():
        raise FileNotFoundError(f"no such folder or archive: {place}")
    for path, read in _members(place):
        name = path.rpartition("/")[2]
        if name in pins and store.offer(name, read(), str(place)):
            taken.append(name)
    if missing := store.missing():
        raise RuntimeUnavailable(missing, store.tried or [f"{place}: has {', '.join(taken) or 'none of them'}"])
    return taken


def _members(place: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Paths inside a folder or archive, each with a function that reads the file."""
    if place.is_dir():
        for path in sorted(place.rglob("*")):
            if path.is_file():
                yield path.relative_to(place).as_posix(), path.read_bytes
    elif place.name in PINS:  # a wheel that is itself one of the files
        yield place.name, place.read_bytes
    elif zipfile.is_zipfile(place):
        with zipfile.ZipFile(place) as archive:
            for name in archive.namelist():
                yield name, partial(archive.read, name)
    elif tarfile.is_tarfile(place):
        with tarfile.open(place) as tar:
            for member in tar:
                if member.isfile() and (file := tar.extractfile(member)):
                    yield member.name, file.read


def _from_url(config: dict[str, Any], wanted: list[str], store: Store) -> None:
    for name in wanted:
        with _open(config["url"].format(file=name)) as response:
            store.offer(name, _read(response, name), config["name"])


def _from_npm(config: dict[str, Any], wanted: list[str], store: Store) -> None:
    npm = shutil.which("npm")
    if not npm:
        raise FileNotFoundError("there is no npm on this machine")
    _from_archive([npm, "pack", "--silent", config["package"]], config, wanted, store)


def _from_pip(config: dict[str, Any], wanted: list[str], store: Store) -> None:
    quiet = [] if sys.stderr.isatty() else ["--quiet"]
    options = ["--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--retries", "1", *quiet]
    _from_archive([sys.executable, "-m", "pip", "download", *options, config["package"]], config, wanted, store)


def _from_archive(command: list[str], config: dict[str, Any], wanted: list[str], store: Store) -> None:
    """Run a downloader in a folder of its own, read the wanted members of what it brought, throw the rest away."""
    watched = sys.stderr.isatty()  # then the downloader's own bar and errors go to the terminal
    members = {config["member"].format(file=name): name for name in wanted}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            command,
            cwd=folder,
            check=True,
            stdout=sys.stderr if watched else subprocess.DEVNULL,
            stderr=None if watched else subprocess.PIPE,
            text=True,
        )
        for archive in Path(folder).iterdir():
            for path, read in _members(archive):
                if path in members:
                    store.offer(members[path], read(), config["name"])


SOURCES: dict[str, Source] = {"url": _from_url, "npm": _from_npm, "pip": _from_pip}


def _open(url: str) -> IO[bytes]:
    """A response, or TimeoutError after CONNECT_SECONDS: looking a name up can hang without heeding any timeout."""
    answer: list[Any] = []

    def connect() -> None:
        try:
            answer.append(urllib.request.urlopen(url, timeout=READ_SECONDS))
        except OSError as error:
            answer.append(error)

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(CONNECT_SECONDS)
    if not answer:
        raise TimeoutError(f"no answer within {CONNECT_SECONDS:g} s")
    if isinstance(answer[0], OSError):
        raise answer[0]
    response: IO[bytes] = answer[0]
    return response


def _read(response: Any, name: str) -> bytes:
    """The body, with a progress bar where somebody is watching."""
    total, data = int(response.headers.get("Content-Length") or 0), bytearray()
    while chunk := response.read(1 << 16):
        data += chunk
        if total and sys.stderr.isatty():
            filled = 30 * len(data) // total
            print(f"\r  {'█' * filled:░<30} {len(data) / 1e6:5.1f} / {total / 1e6:.1f} MB  {name}",
                  end="", file=sys.stderr)  # fmt: skip
    if total and sys.stderr.isatty():
        print(file=sys.stderr)
    if total and len(data) != total:
        raise ConnectionError(f"{name}: broken off after {len(data)} of {total} bytes")
    return bytes(data)


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = [line for line in (error.stderr or "").splitlines() if line.strip()]
        return f"`{' '.join(map(str, error.cmd[:4]))} …` failed" + (f": {lines[-1].strip()}" if lines else "")
    return str(error) or type(error).__name__


def write_atomically(path: Path, data: bytes) -> None:
    """Write so that a reader sees the whole file or none, also with two builds at the same moment."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)
