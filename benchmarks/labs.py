"""How long a reader waits for an answer: ours against the plain way and PyScript, in one run on one machine.

    uv run python benchmarks/labs.py [--rounds 7] [--output benchmarks/results/labs.json]

Written to its usual place, the figures go into both READMEs as well.

The plain way is what Pyodide's own guide shows, in a module worker too: `loadPyodide()`, `loadPackage("numpy")`, unpack
our sources, import NumPy and the entry, answer. PyScript (npm @pyscript/core) runs the same in a page of its own, on the
same Pyodide files, where npm can fetch it. All come from the same local server, which compresses nothing and lets
browsers cache; the order of the ways turns each round, so that a busy machine hurts all. Times run from the start of the
navigation to the first answer on the page. Cold is a new browser profile, warm the second visit in it. Ratios are
medians over medians of plain. Bytes are what the page and its workers fetch before the first answer, each file
compressed with gzip unless it is already. Memory is what the page's process holds after it (Pss, Linux only).

The lab itself is measured on the built site, on the series' own article: `first_touch` from the start of the navigation
to the answer of a touch made as soon as the lab has its table, without Python; `instant_ms` and `update_ms` from a
slider's input event to the new output, laid out, with the table and, with the table taken away, by Python.
"""

import argparse
import functools
import gzip
import io
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sitegen import runtime
from sitegen.browser import SETTINGS, lessons_apart

ROOT = Path(__file__).resolve().parent.parent
ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync".split()
)
DEMO = b"""import json

import numpy as np


def answer(text):
    scale = json.loads(text)["scale"]
    scores = scale * np.arange(12.0).reshape(3, 4)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return json.dumps((weights / weights.sum(axis=1, keepdims=True)).tolist())
"""
ENTRY = "demo_entry:answer"

OURS = """import { Python } from "./python.js";
window.python = new Python({ base: "%(folder)s/" });
window.python.ask("first", { scale: 1 }).then((answer) => { window.answer = answer; window.at = performance.now(); });
"""
PLAIN = """const worker = new Worker("plain-worker.js", { type: "module" });
worker.onmessage = ({ data }) => { window.answer = JSON.parse(data); window.at = performance.now(); };
worker.postMessage(JSON.stringify({ scale: 1 }));
"""
PLAIN_WORKER = """import { loadPyodide } from "./plain/pyodide.mjs";
self.onmessage = async ({ data }) => {
  const pyodide = await loadPyodide();
  await pyodide.loadPackage("numpy", { messageCallback: () => {} });
  const sources = await (await fetch("project.zip")).arrayBuffer();
  pyodide.unpackArchive(sources, "zip");
  pyodide.globals.set("text", data);
  postMessage(pyodide.runPython("import numpy; from %(module)s import %(function)s; %(function)s(text)"));
};
"""
RESULTS = ROOT / "benchmarks" / "results" / "labs.json"
PYSCRIPT = "@pyscript/core@0.7.31"
PYSCRIPT_CONFIG = {
    "interpreter": "./plain/pyodide.mjs",
    "packages": ["numpy"],
    "packages_cache": "passthrough",  # NumPy by Pyodide's own loader: micropip would come from a CDN
    "files": {"./project.zip": "./*"},
}
PYSCRIPT_PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<script type="module" src="pyscript/core.js"></script>
<script type="py" config='%(config)s'>
import js, json
from %(module)s import %(function)s
js.window.answer = %(function)s(json.dumps({"scale": 1}))
js.window.at = js.performance.now()
</script>
"""
ARTICLE, LAB = "05-sublayers/", "sim-lab[data-lab=attention_lab]"
TOUCH = """([lab, values, live]) => new Promise(async done => {
  const element = document.querySelector(lab), input = element.querySelector("input[type=range]"), times = [];
  const output = element.querySelector("[data-output]");
  if (live) element.instant = null;
  for (const value of values) {
    const start = performance.now();
    const changed = live && new Promise(seen => {
      const observer = new MutationObserver(() => { observer.disconnect(); seen(); });
      observer.observe(output, { subtree: true, childList: true, characterData: true, attributes: true });
    });
    input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    await changed;
    output.getBoundingClientRect();
    times.push(performance.now() - start);
    await new Promise(frame => requestAnimationFrame(frame));
  }
  done(times);
})"""
PAGE = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="{}"></script>'


class Handler(SimpleHTTPRequestHandler):
    """A static host of the simplest kind: right MIME types, cached for ten minutes, nothing compressed."""

    protocol_version = "HTTP/1.1"
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        ".json": "application/json",
    }

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=600")
        super().end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


def project() -> dict[str, bytes]:
    """What a site carries: the generator's page code, the mathematics and its lessons, and the entry measured."""
    files = {"sitegen/__init__.py": (ROOT / "sitegen" / "__init__.py").read_bytes(), "demo_entry.py": DEMO}
    for folder in ("sim", "sitegen/page"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in {".py", ".json", ".npz", ".txt", ".toml"}:
                files[path.relative_to(ROOT).as_posix()] = path.read_bytes()
    files[SETTINGS] = json.dumps({"lessons": "sim.lessons"}).encode()
    return files


def pyscript(folder: Path) -> bool:
    """PyScript's files, unpacked into `folder`; False where npm cannot fetch them."""
    npm = shutil.which("npm")
    if npm is None:
        return False
    with tempfile.TemporaryDirectory() as place:
        command = [npm, "pack", "--silent", PYSCRIPT]
        try:
            subprocess.run(command, cwd=place, check=True, capture_output=True, timeout=120)
        except (subprocess.SubprocessError, OSError):
            return False
        (archive,) = Path(place).glob("*.tgz")
        with tarfile.open(archive) as tar:
            tar.extractall(place, filter="data")
        shutil.copytree(Path(place) / "package" / "dist", folder, ignore=shutil.ignore_patterns("*.map"))
    return True


def lay_out(site: Path, sources: Mapping[str, bytes]) -> runtime.Runtime:
    """Pages beside each other: ours.html, plain.html and, where it can be had, pyscript.html."""
    built = runtime.build_runtime(sources, ENTRY, apart=lessons_apart(sources))
    folder = built.write(site).relative_to(site).as_posix()
    (site / "python.js").write_bytes((ROOT / "sitegen" / "browser" / "python.js").read_bytes())
    module, function = ENTRY.split(":")
    store, plain = runtime.fetch(), site / "plain"
    plain.mkdir()
    for name in store.pins:
        (plain / name).write_bytes(store.read(name))
    numpy = {
        "name": "numpy",
        "version": "2.0.2",
        "file_name": runtime.NUMPY_WHEEL,
        "sha256": store.pins[runtime.NUMPY_WHEEL],
        "install_dir": "site",
        "package_type": "package",
        "imports": ["numpy"],
        "depends": [],
        "unvendored_tests": True,
    }
    lock = runtime.lock_file() | {"packages": {"numpy": numpy}}
    (plain / "pyodide-lock.json").write_text(json.dumps(lock))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path, data in sources.items():
            packed.writestr(path, data)
    (site / "project.zip").write_bytes(archive.getvalue())
    (site / "plain-worker.js").write_text(PLAIN_WORKER % {"module": module, "function": function})
    for name, text in {"ours": OURS % {"folder": folder}, "plain": PLAIN}.items():
        (site / f"{name}.js").write_text(text)
        (site / f"{name}.html").write_text(PAGE.format(f"{name}.js"))
    if pyscript(site / "pyscript"):
        told = {"config": json.dumps(PYSCRIPT_CONFIG), "module": module, "function": function}
        (site / "pyscript.html").write_text(PYSCRIPT_PAGE % told)
    return built


@dataclass
class Visits:
    """What was measured of one way."""

    cold: list[float] = field(default_factory=list)  # ms
    warm: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)  # MB
    requests: set[str] = field(default_factory=set)  # addresses fetched on a cold visit

    def bytes_gzip(self, site: Path) -> int:
        total = 0
        for address in self.requests:
            path = site / unquote(urlsplit(address).path.lstrip("/"))
            if path.is_file():
                data = path.read_bytes()
                total += len(data) if path.suffix == ".pack" else len(gzip.compress(data, 9))
        return total


def first_answer(context: Any, url: str, requests: set[str]) -> float:
    """Milliseconds from the start of the navigation to the answer; the page stays open."""
    page = context.new_page()
    context.on("request", lambda request: requests.add(request.url))
    page.goto(url)
    page.wait_for_function("window.at", timeout=120_000, polling=5)
    return float(page.evaluate("window.at"))


def memory_mb(browser: Any) -> float | None:
    """Pss of the largest page process, in MB; None where the system does not tell."""
    session = browser.new_browser_cdp_session()
    found = []
    for process in session.send("SystemInfo.getProcessInfo")["processInfo"]:
        rollup = Path(f"/proc/{process['id']}/smaps_rollup")
        if process["type"] == "renderer" and rollup.exists():
            line = next(line for line in rollup.read_text().splitlines() if line.startswith("Pss:"))
            found.append(int(line.split()[1]) / 1024)
    session.detach()
    return max(found, default=None)


def measure(browser: Any, url: str, ways: list[str], rounds: int, say: Callable[[str], None]) -> dict[str, Visits]:
    visits = {way: Visits() for way in ways}
    for number in range(rounds):
        for way in ways[number % len(ways) :] + ways[: number % len(ways)]:
            context, seen = browser.new_context(), visits[way]
            seen.cold.append(first_answer(context, f"{url}{way}.html", seen.requests))
            if (memory := memory_mb(browser)) is not None:
                seen.memory.append(memory)
            context.pages[0].close()
            seen.warm.append(first_answer(context, f"{url}{way}.html", set()))
            context.close()
        last = ", ".join(f"{way} {seen.cold[-1]:.0f} / {seen.warm[-1]:.0f} ms" for way, seen in visits.items())
        say(f"round {number + 1} of {rounds}, cold / warm: {last}")
    return visits


def touches(browser: Any, url: str, rounds: int, count: int) -> tuple[list[float], list[float], list[float]]:
    """On the built article, in ms: navigation to the first touch's answer; touches by table; touches by Python."""
    first = []
    for _ in range(rounds):
        context = browser.new_context()
        page = context.new_page()
        page.goto(url + ARTICLE)
        page.locator(LAB).evaluate("lab => lab.scrollIntoView()")
        page.wait_for_selector(f"{LAB}[data-state=instant]")
        page.evaluate(TOUCH, [LAB, [5], False])
        first.append(float(page.evaluate("performance.now()")))
        context.close()
    context = browser.new_context()
    page = context.new_page()
    page.goto(url + ARTICLE)
    page.locator(LAB).evaluate("lab => lab.scrollIntoView()")
    page.wait_for_selector(f"{LAB}[data-state=instant]")
    values = [1 + (i % 38 + 1) / 2 for i in range(count)]
    by_table = page.evaluate(TOUCH, [LAB, values, False])
    page.locator(LAB).hover()
    page.wait_for_selector(f"{LAB}[data-state=live]", timeout=60_000)
    page.evaluate(TOUCH, [LAB, [1, 2, 3], True])  # the first imports the lesson
    by_python = page.evaluate(TOUCH, [LAB, values, True])
    context.close()
    return first, by_table, by_python


def p95(times: list[float]) -> float:
    return round(statistics.quantiles(times, n=20)[-1], 2)


def quote(readme: Path, result: Mapping[str, Any]) -> None:
    """Put the figures into a README, between its two comments: row by row, in the order of the table."""
    text = readme.read_text("utf-8")
    head, start, rest = text.partition("<!-- labs.json -->\n")
    table, end, tail = rest.partition("<!-- /labs.json -->")
    lines, ways = table.splitlines(), ("plain", "pyscript", "ours")
    ratios = {"plain_cold": 1, "plain_warm": 1, **result["ratios_to_plain"]}
    rows = [
        [f"{ratios[f'{way}_cold']:.2g}" if f"{way}_cold" in ratios else "–" for way in ways],
        [f"{ratios[f'{way}_warm']:.2g}" if f"{way}_warm" in ratios else "–" for way in ways],
        [f"{result['bytes_gzip_of_each'][way] / 1e6:.1f} MB" if way in result["bytes_gzip_of_each"] else "–" for way in ways],
        [f"{result['memory_mb'][way]} MB" if way in result["memory_mb"] else "–" for way in ways],
    ]
    for place, row in enumerate(rows, 2):
        lines[place] = "| " + " | ".join([lines[place].split("|")[1].strip(), *row]) + " |"
    numbers = iter([f"{result['instant_ms_p95']:.0f}", f"{result['update_ms_p95']:.0f}"])
    lines[-1] = re.sub(r"\d+(?= (?:ms|毫秒))", lambda _: next(numbers), lines[-1])
    readme.write_text(head + start + "\n".join(lines) + "\n" + end + tail, "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--updates", type=int, default=300)
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        sys.exit(f"no browser: install one of {', '.join(names)}")
    from playwright.sync_api import sync_playwright

    def say(text: str) -> None:
        print(text, file=sys.stderr)

    notes = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        site = Path(folder)
        built = lay_out(site, project())
        ways = [way for way in ("plain", "ours", "pyscript") if (site / f"{way}.html").exists()]
        if "pyscript" not in ways:
            notes.append(f"{PYSCRIPT} could not be fetched with npm and was left out")
        mkdocs = [sys.executable, "-m", "mkdocs", "build", "--quiet", "-d", str(site / "series")]
        subprocess.run(mkdocs, cwd=ROOT, check=True)
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        with served(site) as url:
            visits = measure(browser, url, ways, given.rounds, say)
            first, by_table, by_python = touches(browser, url + "series/", given.rounds, given.updates)
        sizes = {way: seen.bytes_gzip(site) for way, seen in visits.items()}
        version = browser.version
        browser.close()
    median = {f"{way}_{visit}": statistics.median(getattr(seen, visit)) for way, seen in visits.items()
              for visit in ("cold", "warm")}  # fmt: skip
    result: dict[str, Any] = {
        "cold_ratio": round(median["ours_cold"] / median["plain_cold"], 3),
        "warm_ratio": round(median["ours_warm"] / median["plain_warm"], 3),
        "bytes_gzip": built.bytes_gzip,
        "update_ms_p95": p95(by_python),
        "instant_ms_p95": p95(by_table),
        "update_ms_median": round(statistics.median(by_python), 2),
        "instant_ms_median": round(statistics.median(by_table), 2),
        "medians_ms": {key: round(value) for key, value in median.items()}
        | {"ours_first_touch_cold": round(statistics.median(first))},
        "ratios_to_plain": {key: round(value / median[f"plain_{key.split('_')[1]}"], 3)
                            for key, value in median.items() if not key.startswith("plain")},
        "rounds_ms": {f"{way}_{visit}": [round(ms) for ms in getattr(seen, visit)] for way, seen in visits.items()
                      for visit in ("cold", "warm")},
        "bytes_gzip_of_each": sizes,
        "memory_mb": {way: round(statistics.median(seen.memory)) for way, seen in visits.items() if seen.memory},
        "rounds": given.rounds,
        "notes": notes,
        "machine": {
            "system": platform.platform(),
            "cpus": os.cpu_count(),
            "browser": f"Chromium {version}",
            "pyodide": runtime.CONFIG["pyodide"],
            "pyscript": PYSCRIPT,
            "server": "this machine, nothing compressed, max-age=600",
        },
    }  # fmt: skip
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    if given.output.resolve() == RESULTS:
        for name in ("README.md", "README.zh.md"):
            quote(ROOT / name, result)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
