"""Python for the reader's browser: two folders below `assets/runtime/` that hold all it takes.

Pyodide and NumPy are packed anew for a quick start (see `runtime.toml` for what is kept): modules compiled ahead,
stored in packs that the worker unpacks itself, so that a host need not know about compression or MIME types. A
folder's name is a hash of its contents, so a browser may keep the files for ever. The larger folder, the base, depends
on nothing of the site. The other has the site's own code and the worker, in which the base's name is written: files of
two versions can never meet, and after a change of the site a reader downloads the small folder only.

A pack is gzip around: four bytes, little-endian, the length of an index; the index, JSON `[[path, size], ...]`;
then the files' contents in that order.
"""

import ast
import gzip
import hashlib
import io
import json
import re
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from sitegen.bytecode import can_compile_for, compile_sources
from sitegen.pyodide_files import (
    CONFIG,
    PINS,
    RuntimeUnavailable,
    Store,
    cache_folder,
    fetch,
    fetch_from,
    write_atomically,
)

__all__ = ["ModuleLeftOut", "Runtime", "RuntimeUnavailable", "build_runtime", "fetch", "fetch_from"]

HERE = Path(__file__).parent
PYTHON: str = CONFIG["python"]
NUMPY_WHEEL = next(name for name in PINS if name.startswith("numpy-"))
SITE_PACKAGES = f"/lib/python{PYTHON}/site-packages"
STDLIB_ZIP = f"/lib/python{PYTHON.replace('.', '')}.zip"
PROJECT = "/project"
OWN_PACK = "project.pack"  # the site's own code
BASE_IN_WORKER = b'"./"/* the base */'  # what stands in worker.js for the way to the base
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest time a zip can hold


class ModuleLeftOut(Exception):
    """The project imports a module that readers will not have; a line `sim/facts.py:8: …` each."""


@dataclass(frozen=True)
class Runtime:
    """What is published below `assets/runtime/`: pages point to `<hash>/`, whose worker knows `<base>/`."""

    hash: str
    base: str
    files: dict[str, bytes] = field(repr=False)  # by path below assets/runtime/
    bytes_gzip: int  # what a reader downloads before the first answer at most, scripts compressed by the host

    def path(self, name: str) -> str:
        """Where the file of that name lies below `assets/runtime/`."""
        return next(path for path in (f"{self.hash}/{name}", f"{self.base}/{name}") if path in self.files)

    def read(self, name: str) -> bytes:
        return self.files[self.path(name)]

    def write(self, site: Path) -> Path:
        """Write the folders below a built site, unless they are there already; the one pages point to is returned."""
        for name, data in self.files.items():
            path = site / "assets" / "runtime" / name
            if not (path.is_file() and path.stat().st_size == len(data)):
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, data)
        return site / "assets" / "runtime" / self.hash


def build_runtime(
    project: Mapping[str, bytes],
    entry: str = "sitegen.page.answer:answer",
    cache: Path | None = None,
    apart: Mapping[str, Iterable[str]] | None = None,
) -> Runtime:
    """Pack Pyodide, NumPy and `project` (paths such as "sim/ops.py" -> contents) for one site.

    `entry` is "module:function" in the project: JSON text in, JSON text out. `apart` names modules with their paths in
    the project that get a pack of their own, fetched when first imported: a reader of one lesson does not pay for all.
    The parts that do not depend on the project are kept in the cache, so building again takes milliseconds.
    Raises RuntimeUnavailable when Pyodide's files can be had from nowhere, ModuleLeftOut when the project imports
    what the browser's Python does not have.
    """
    sources = project_sources(project)
    separate = {module: {path: sources.pop(path) for path in paths} for module, paths in (apart or {}).items()}
    if left_out := imports_left_out(project):
        raise ModuleLeftOut("\n".join(left_out))
    parts = Parts(cache)
    packs = {
        "wasm.pack": parts.get("wasm.pack", lambda store: compressed(store.read("pyodide.asm.wasm"))),
        "stdlib.pack": parts.get("stdlib.pack", lambda store: compressed(stdlib_zip(store.read("python_stdlib.zip")))),
        "numpy.pack": parts.get("numpy.pack", lambda store: pack(numpy_modules(store.read(NUMPY_WHEEL)))),
        OWN_PACK: parts.get(OWN_PACK, partial(own_pack, files=sources), of=sources),
    }
    scripts = {
        "pyodide.js": parts.get("pyodide.js", lambda store: script(store.read("pyodide.mjs"))),
        "pyodide.asm.js": parts.get("pyodide.asm.js", lambda store: script(store.read("pyodide.asm.js"))),
    }
    later = {name: parts.get(f"{name}.pack", partial(later_pack, rule=rule)) for name, rule in CONFIG["later"].items()}
    apart_packs = {
        module: parts.get(f"{module}.pack", partial(own_pack, files=files), of=files)
        for module, files in separate.items()
    }
    sizes = {name: len(data) for name, data in packs.items()}
    sizes |= {name: len(parts.get(f"{name}.gz", partial(gzipped, data=data))) for name, data in scripts.items()}
    manifest = {
        "pyodide": CONFIG["pyodide"],
        "entry": entry,
        "sizes": sizes,
        "project": PROJECT,
        "stdlib": Path(STDLIB_ZIP).name,
        "later": [
            {"name": name, "module": CONFIG["later"][name]["module"], "file": f"{name}.pack", "size": len(data)}
            for name, data in later.items()
        ]
        + [
            {"name": module, "module": module, "file": f"{module}.pack", "size": len(data), "own": True}
            for module, data in apart_packs.items()
        ],
        "absent": CONFIG["numpy"]["absent"],
        "lock": lock_file(),
    }
    common = {
        **scripts,
        **{name: data for name, data in packs.items() if name != OWN_PACK},
        **{f"{name}.pack": data for name, data in later.items()},
        "licences.txt": parts.get("licences.txt", lambda store: licences(store.read(NUMPY_WHEEL))),
    }
    base = digest(common)
    worker = (HERE / "browser" / "worker.js").read_bytes()
    own = {
        "worker.js": worker.replace(BASE_IN_WORKER, f'"../{base}/"'.encode()),
        "manifest.json": json.dumps(manifest, indent=1).encode(),
    }
    first = sum(sizes.values()) + sum(len(compressed(data)) for data in own.values())
    first += max(map(len, apart_packs.values()), default=0)
    own |= {OWN_PACK: packs[OWN_PACK], **{f"{module}.pack": data for module, data in apart_packs.items()}}
    files = {f"{base}/{name}": data for name, data in common.items()}
    files |= {f"{digest(own)}/{name}": data for name, data in own.items()}
    return Runtime(digest(own), base, files, first)


class Parts:
    """Packed parts, made once and kept in the cache under a key of everything they are made from."""

    def __init__(self, cache: Path | None):
        self.cache = cache or cache_folder()
        self.store: Store | None = None
        recipe = [HERE / name for name in ("runtime.toml", "runtime.py", "bytecode.py")]
        texts = {path.name: path.read_bytes() for path in [*recipe, *(HERE / "licences").iterdir()]}
        self.key = digest(texts | {"python": sys.version.encode()})

    def get(self, name: str, make: Callable[[Store], bytes], of: Mapping[str, bytes] | None = None) -> bytes:
        """The part from the cache, or made. `of`: what it is made from besides the pinned files."""
        path = self.cache / "packs" / self.key / (f"{digest(of)}-{name}" if of is not None else name)
        if path.is_file():
            kept = path.read_bytes()
            if hashlib.sha256(kept[32:]).digest() == kept[:32]:  # else it has rotted
                return kept[32:]
        if self.store is None:
            self.store = fetch(self.cache)
        data = make(self.store)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, hashlib.sha256(data).digest() + data)
        if of is not None:  # under `serve` each edit makes one: keep the last few
            for old in sorted(path.parent.glob(f"*-{name}"), key=lambda kept: kept.stat().st_mtime)[:-8]:
                old.unlink(missing_ok=True)
        return data


def digest(files: Mapping[str, bytes]) -> str:
    """A short name for the contents of these files."""
    lines = "".join(f"{hashlib.sha256(data).hexdigest()} {name}\n" for name, data in sorted(files.items()))
    return hashlib.sha256(lines.encode()).hexdigest()[:12]


def gzipped(_: Store, data: bytes) -> bytes:
    return compressed(data)


def compressed(data: bytes) -> bytes:
    return gzip.compress(data, compresslevel=9, mtime=0)


def pack(files: Mapping[str, bytes]) -> bytes:
    """One file out of many; see the head of this module."""
    ordered = sorted(files.items())
    index = json.dumps([[path, len(data)] for path, data in ordered], separators=(",", ":")).encode()
    return compressed(b"".join([len(index).to_bytes(4, "little"), index, *(data for _, data in ordered)]))


def unpack(data: bytes) -> dict[str, bytes]:
    """What `pack` was given."""
    raw = gzip.decompress(data)
    start = 4 + int.from_bytes(raw[:4], "little")
    files = {}
    for path, size in json.loads(raw[4:start]):
        files[path] = raw[start : start + size]
        start += size
    return files


def stdlib_zip(original: bytes) -> bytes:
    """The kept modules of the standard library, compiled, stored uncompressed (the pack compresses them better).

    Without docstrings, a sixth of it, as under `python -OO`; Pyodide's own modules need theirs.
    """
    keep, rule = set(CONFIG["stdlib"]["keep"]), CONFIG["stdlib"]
    chosen = {
        path: data
        for path, data in zip_members(original).items()
        if path.partition("/")[0].removesuffix(".py") in keep
        and (not matches(path, rule["leave_out"]) or matches(path, rule["even_so"]))
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path, data in sorted(compiled(chosen, STDLIB_ZIP, lambda path: "pyodide" not in path).items()):
            entry = zipfile.ZipInfo(path, LONG_AGO)
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # else they depend on the host
            archive.writestr(entry, data)
    return buffer.getvalue()


def numpy_modules(wheel: bytes) -> dict[str, bytes]:
    """NumPy without what labs do not use, compiled, under its place in Pyodide's file system."""
    chosen = {p: d for p, d in zip_members(wheel).items() if not matches(p, CONFIG["numpy"]["leave_out"])}
    chosen |= dict.fromkeys(CONFIG["numpy"]["emptied"], b"")
    return below(SITE_PACKAGES, compiled(chosen, SITE_PACKAGES))


def later_pack(store: Store, rule: Mapping[str, list[str]]) -> bytes:
    """The modules that are fetched on demand, packed."""
    chosen = {
        path: data
        for path, data in zip_members(store.read(NUMPY_WHEEL)).items()
        if matches(path, rule["keep"]) and not matches(path, rule["leave_out"])
    }
    return pack(below(SITE_PACKAGES, compiled(chosen, SITE_PACKAGES)))


def own_pack(_: Store, files: Mapping[str, bytes]) -> bytes:
    return pack(project_modules(files))


def project_sources(project: Mapping[str, bytes]) -> dict[str, bytes]:
    """The project with what the worker talks to; forward slashes on any system."""
    files = {path.replace("\\", "/"): data for path, data in project.items()}
    return files | {"_boot.py": (HERE / "browser" / "boot.py").read_bytes()}


def imports_left_out(project: Mapping[str, bytes]) -> list[str]:
    """Imports of standard modules that are not packed, so that the build fails and not the reader's Python.

    What stands inside `try` may be missing; the rest must be there.
    """
    has = {*CONFIG["stdlib"]["keep"], *CONFIG["stdlib"]["built_in"], "__main__"}
    gone = {name for name in sys.stdlib_module_names if name not in has and not name.startswith("_")}
    found = []
    for path, source in project.items():
        if path.endswith(".py"):
            for line, name in imported(ast.parse(source, path)):
                if name in gone or name in CONFIG["numpy"]["absent"]:
                    found.append(f"{path}:{line}: the browser's Python has no module {name} (see sitegen/runtime.toml)")
    return found


def imported(node: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, module) of every import below `node`, except inside `try`; the standard library's by their first name."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in child.names] if isinstance(child, ast.Import) else [child.module or ""]
            for name in names if not getattr(child, "level", 0) else ():
                yield child.lineno, name if name.startswith("numpy.") else name.partition(".")[0]
        elif not isinstance(child, ast.Try):
            yield from imported(child)


def project_modules(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Our own sources as they are, for tracebacks and provenance, with their bytecode beside them."""
    bytecode = {}
    if can_compile_for(PYTHON):
        tag = f".cpython-{PYTHON.replace('.', '')}.pyc"
        sources = {f"{PROJECT}/{path}": data for path, data in files.items() if path.endswith(".py")}
        for path, data in compile_sources(sources).items():
            folder, _, name = path.rpartition("/")
            bytecode[f"{folder}/__pycache__/{name.removesuffix('.py')}{tag}"] = data
    return below(PROJECT, files) | bytecode


def compiled(
    files: Mapping[str, bytes], root: str, bare: Callable[[str], bool] = lambda path: False
) -> dict[str, bytes]:
    """The files with .pyc in place of each .py; as they are under another minor version of Python than Pyodide's.

    `bare(path)`: without docstrings.
    """
    if not can_compile_for(PYTHON):
        return dict(files)
    rest = {path: data for path, data in files.items() if not path.endswith(".py")}
    sources = {f"{root}/{path}": data for path, data in files.items() if path.endswith(".py")}
    bytecode = compile_sources(sources, lambda path: bare(path.removeprefix(f"{root}/")))
    return rest | {path.removeprefix(f"{root}/") + "c": data for path, data in bytecode.items()}


def script(source: bytes) -> bytes:
    """A script of Pyodide without the pointer to its source map, which we do not ship."""
    return re.sub(rb"\n//# sourceMappingURL=\S+\s*$", b"\n", source)


def lock_file() -> dict[str, object]:
    """Pyodide's list of packages, empty: NumPy comes in a pack. (Lock files differ between sources of Pyodide.)"""
    info = {"arch": "wasm32", "platform": CONFIG["platform"], "version": CONFIG["pyodide"], "python": PYTHON}
    return {"info": info | {"abi_version": CONFIG["abi"]}, "packages": {}}


def licences(wheel: bytes) -> bytes:
    """The licences of everything in the folder that is not the site's own."""
    version = CONFIG["pyodide"]
    own = {path.stem: path.read_text("utf-8") for path in (HERE / "licences").glob("*.txt")}
    members = zip_members(wheel)
    numpy = {path: data.decode() for path, data in members.items() if re.search(r"/LICENSE(\.\w+)?$", path)}
    head = (
        f"Python for the reader's browser: Pyodide {version} (with CPython {PYTHON} and the libraries it is built\n"
        f"from) and {NUMPY_WHEEL},\n"
        "packed anew: modules compiled, unused ones left out, two of NumPy that only add docstrings emptied, otherwise\n"
        "unchanged.\n"
        f"Pyodide's source: https://github.com/pyodide/pyodide/tree/{version}"
    )
    sections = [
        head,
        f"Pyodide {version} — Mozilla Public License 2.0\n\n{own['MPL-2.0']}",
        f"CPython {PYTHON} — Python Software Foundation License 2\n\n{own['PSF-2.0']}",
        own["compiled-in"],
        *(f"NumPy — {path}\n\n{text}" for path, text in sorted(numpy.items())),
    ]
    rule = "\n\n" + "=" * 100 + "\n\n"
    return (rule.join(section.strip() for section in sections) + "\n").encode()


def zip_members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def below(root: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {f"{root}/{path}": data for path, data in files.items()}


def matches(path: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)
