"""Python in a real browser: right answers, nothing that hangs, nothing from elsewhere. Ids are of tests/data/cases.yml."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from sitegen import runtime

PREFIX = "/ai-course/"
PROJECT = {
    "demo/__init__.py": b"",
    "demo/entry.py": b'''"""An entry that does what a test asks for."""
import json
import time

import numpy as np


def answer(text):
    request = json.loads(text)
    return json.dumps(globals()["do_" + request["do"]](request))


def do_softmax(request):
    scores = np.array(request["scores"], dtype=float)
    weights = np.exp(scores - scores.max())
    return (weights / weights.sum()).tolist()


def do_echo(request):
    time.sleep(request.get("seconds", 0))
    return request["value"]


def do_evaluate(request):
    return eval(request["code"], {"np": np})


def do_loop(request):
    while True:
        pass


def do_print(request):
    while True:
        print(1)


def do_import(request):
    import importlib

    failed = {}
    for name in request["names"]:
        try:
            importlib.import_module(name)
        except Exception as error:
            failed[name] = repr(error)
    return failed
''',
}
USUAL = (
    """
np.median(x) | np.median(x, axis=0) | np.percentile(x, 30) | np.quantile(x, [0.1, 0.9], axis=1) | np.nanmedian(x)
np.average(x, axis=0) | np.var(x, axis=-1) | np.std(x) | np.cov(x) | np.corrcoef(x) | np.histogram(x, bins=4)[0]
np.unique(np.round(x)) | np.sort(x, axis=None) | np.argsort(-x, axis=1) | np.cumsum(x) | np.diff(x) | np.clip(x, -1, 1)
np.einsum("ij,kj->ik", x, x) | x @ x.T | np.tensordot(x, x, 2) | np.outer([1, 2], [3, 4]) | np.kron([1, 2], [1, 1])
np.linalg.svd(x)[1] | np.linalg.norm(x) | np.linalg.matrix_rank(x) | np.linalg.inv(s) | np.linalg.eigvalsh(s)
np.linalg.qr(s)[1] ** 2 | np.linalg.solve(s, [1, 2, 3]) | np.linalg.det(s) | np.linalg.lstsq(s, [1, 2, 3], None)[0]
np.where(x > 0, x, 0) | np.tril(x) | np.triu_indices(3)[0] | np.eye(3) | np.stack([x, x]) | np.concatenate([x, x], 1)
np.split(x, 2, axis=1)[1] | np.take_along_axis(x, np.argmax(x, 1)[:, None], 1) | np.pad(x, 1) | np.isclose(x, x)
np.log1p(np.abs(x)) | np.exp(x) | np.tanh(x) | np.logaddexp(x, 1) | np.interp(0.5, [0, 1], [2, 4]) | np.trapezoid(x)
np.polyfit([0, 1, 2], [1, 3, 5], 1) | np.polyval([1, 2], 3) | np.geomspace(1, 100, 3) | np.searchsorted([1, 2, 3], 2)
np.repeat(x, 2, 0) | np.tile(x, 2) | np.roll(x, 1) | np.broadcast_to(x, (2, 3, 4)) | np.ix_([0, 1], [1])[0] | np.ptp(x)
len(np.array2string(x, precision=2)) | np.apply_along_axis(np.sum, 1, x) | np.meshgrid([1, 2], [3])[0] | np.fft.fft(x).real
np.lib.stride_tricks.sliding_window_view(np.arange(4), 2) | np.bincount([1, 1, 2]) | np.gradient([1.0, 4, 9]) | np.isin(2, [2])
np.ma.masked_array([1, 2], [0, 1]).sum() | np.vectorize(abs)(x) | np.random.default_rng(0).normal(size=2)
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)
SAFE = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'"
CLIENT = Path(runtime.__file__).parent / "browser" / "python.js"
SCRIPT = """import { Python } from "./python.js";
window.Python = Python;
window.make = (options = {}) => (window.python = new Python({ base: new URL("./%s/", import.meta.url), ...options }));
window.tell = (promise) => promise.then(
  (value) => (value === undefined ? {} : { value }),
  ({ name, code, detail, type, traceback }) => ({ name, code, detail, type, traceback }));
window.states = [];
new MutationObserver(() => window.states.push(document.documentElement.dataset.python))
  .observe(document.documentElement, { attributeFilter: ["data-python"] });
"""


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> tuple[Path, runtime.Runtime]:
    """A tiny site, two folders deep, and its runtime."""
    try:
        made = runtime.build_runtime(PROJECT, "demo.entry:answer")
    except runtime.RuntimeUnavailable as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    site = tmp_path_factory.mktemp("site")
    folder = made.write(site).relative_to(site).as_posix()
    (site / "zh" / "attention").mkdir(parents=True)
    for place, up in (("", "."), ("zh/attention/", "../..")):
        (site / place / "index.html").write_text(
            f'<!doctype html><meta charset="utf-8"><link rel="icon" href="{up}/icon.svg"><p>文章</p>'
            f'<script type="module" src="{up}/page.js"></script>',
            "utf-8",
        )
    (site / "page.js").write_text(SCRIPT % folder, "utf-8")
    (site / "python.js").write_bytes(CLIENT.read_bytes())
    (site / "icon.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>', "utf-8")
    return site, made


@pytest.fixture
def site(built, serve):
    return serve(built[0], prefix=PREFIX)


@pytest.fixture
def at(built) -> Callable[[str], str]:
    """The path of one of the runtime's files."""
    return lambda name: f"assets/runtime/{built[1].path(name)}"


@pytest.fixture
def open_page(page) -> Callable:
    """Open a page of the site and make its Python."""

    def go(site, options: dict | None = None, place: str = ""):
        page.goto(site.url + place)
        page.wait_for_function("window.make")
        page.evaluate("(options) => { make(options); }", options or {})
        return page

    return go


def ask(page, request: dict, channel: str = "c", **options: object) -> dict:
    """{value} or the error of one request."""
    return page.evaluate("([c, r, o]) => tell(python.ask(c, r, o))", [channel, request, options])


def evaluate(page, code: str, **options: object) -> dict:
    return ask(page, {"do": "evaluate", "code": code}, **options)


def state(page) -> str:
    return page.evaluate("document.documentElement.dataset.python")


def test_the_first_answer_is_right(site, page, open_page):
    """A reader's touch would show a wrong number, or the states that tests and styles rely on would not be there."""
    open_page(site, place="zh/attention/")
    assert state(page) == "idle"
    answer = ask(page, {"do": "softmax", "scores": [1000, 1000, 999]})
    assert answer["value"] == pytest.approx([0.42231880, 0.42231880, 0.15536240], abs=1e-7)
    assert state(page) == "ready"
    assert page.evaluate("states.filter((s, i) => s !== states[i - 1])") == ["idle", "loading", "ready"]
    assert page.problems == []


def test_everything_comes_from_the_sites_own_folder(site, page, open_page, at):
    """P03, P05, M13, X03: a reader behind a firewall, or under a sub-path, would wait for ever."""
    open_page(site, place="zh/attention/")
    assert "value" in ask(page, {"do": "echo", "value": 1})
    assert page.foreign == []
    assert all(asked.startswith(PREFIX) for asked in site.requests)
    runtime_files = [asked for asked in site.requests if "/runtime/" in asked]
    folders = {urlsplit(asked).path.rpartition("/")[0] for asked in runtime_files}
    assert folders == {(PREFIX + at(name)).rpartition("/")[0] for name in ("worker.js", "numpy.pack")}
    assert len(runtime_files) == len(set(runtime_files))  # nothing twice
    assert not site.requested(at("random.pack"))


def test_nothing_is_fetched_before_it_is_asked_for(site, page, open_page):
    """P06: every visitor would pay megabytes for a lab that few touch."""
    open_page(site)
    page.wait_for_timeout(200)
    assert not [asked for asked in site.requests if "/runtime/" in asked]


def test_counts_of_real_models_are_right(site, page, open_page):
    """The browser's default integer has 32 bits and overflows silently: GPT-3's FLOPs would be nonsense."""
    open_page(site)
    tokens, params = 300_000_000_000, 174_591_683_584
    assert evaluate(page, f"str(6 * {params} * {tokens})")["value"] == str(6 * params * tokens)
    assert evaluate(page, "np.array([1]).dtype.name")["value"] == "int32"
    assert evaluate(page, f"str(np.array([{params}], dtype=np.int64).sum() * 6)")["value"] == str(6 * params)
    assert evaluate(page, "int(np.array([2**31 - 1]).sum(dtype=np.int32) + np.int32(1))")["value"] == -(2**31)


def test_numpy_random_is_a_second_download(site, page, open_page, at):
    """Everyone would pay for what few labs use, or those labs would not work."""
    open_page(site)
    assert evaluate(page, "float(np.random.default_rng(0).random())")["value"] == 0.6369616873214543
    assert site.requested(at("random.pack")) == 1
    assert evaluate(page, "np.fft.fft([1, 2, 3]).real.tolist()")["value"] == pytest.approx([6, -1.5, -1.5])
    assert evaluate(page, "np.random.rand(2).shape")["value"] == [2]
    assert site.requested(at("random.pack")) == 1


def test_a_second_download_does_not_count_as_running(site, page, open_page, at):
    """On a slow line the run would be stopped for its download."""
    open_page(site)
    ask(page, {"do": "echo", "value": 1})
    site.delay[at("random.pack")] = 1.5
    assert evaluate(page, "np.random.rand(2).shape", budget=1000)["value"] == [2]


def test_a_second_download_that_fails_leaves_python_alive(site, page, open_page, at):
    """One missing pack would take all labs with it, or the lab could not try again."""
    site.missing.add(at("random.pack"))
    open_page(site)
    failed = evaluate(page, "np.random.rand(2).shape")
    assert (failed["code"], "random.pack" in failed["detail"]) == ("download", True)
    assert state(page) == "ready"
    site.missing.clear()
    assert evaluate(page, "np.random.rand(2).shape")["value"] == [2]


def test_what_is_not_packed_says_so(site, page, open_page):
    """A bare "no module named" would look like a broken site."""
    open_page(site)
    assert "numpy.testing is not part of this site's Python" in evaluate(page, "np.testing")["detail"]


def test_usual_numpy_gives_what_the_build_gives(site, page, open_page):
    """A function that needs a left-out module would fail in readers' browsers only (np.median asks for numpy.ma)."""
    open_page(site)
    names = {"np": np, "x": np.linspace(-2, 3, 12).reshape(3, 4), "s": np.diag([3.0, 2, 1]) + 0.5}
    given = "x = np.linspace(-2, 3, 12).reshape(3, 4); s = np.diag([3.0, 2, 1]) + 0.5".replace(" = ", ":=").split("; ")
    for code in USUAL:
        there = evaluate(page, f"(({given[0]}), ({given[1]}), np.asarray({code}).astype(float).tolist())[2]")
        assert "value" in there, (code, there)
        assert np.allclose(there["value"], np.asarray(eval(code, names)).astype(float), rtol=1e-10, atol=1e-12), code


def test_every_kept_module_imports(site, page, open_page):
    """A kept module that needs a left-out one would fail in readers' browsers only."""
    open_page(site)
    names = [*runtime.CONFIG["stdlib"]["keep"], *runtime.CONFIG["stdlib"]["built_in"], "numpy.typing", "numpy.strings",
             "numpy.rec", "numpy.char", "numpy.lib.stride_tricks", "json.encoder", "importlib.resources"]  # fmt: skip
    assert ask(page, {"do": "import", "names": names}, budget=30_000)["value"] == {}


def test_an_exception_comes_as_text(site, page, open_page):
    """X01: a lab could not say what went wrong; markup in a message must stay text."""
    open_page(site)
    error = evaluate(page, "1 / 0")
    assert (error["name"], error["code"], error["type"]) == ("PythonError", "python", "ZeroDivisionError")
    assert error["detail"] == "division by zero"
    assert "/project/demo/entry.py" in error["traceback"] and "_boot.py" not in error["traceback"]
    assert "globals()" in error["traceback"]  # the source line is there
    markup = '<img src=x onerror="window.p=1">'
    assert ask(page, {"do": "echo", "value": markup})["value"] == markup
    assert evaluate(page, "__import__('sys').exit(3)")["type"] == "SystemExit"
    assert ask(page, {"do": "echo", "value": 5})["value"] == 5


def test_the_newest_request_wins(site, page, open_page):
    """P13: an older, slower answer, or its error, would land last and overwrite the new one."""
    open_page(site)
    ask(page, {"do": "echo", "value": 0})
    answers = page.evaluate("""() => Promise.all([
        ...[64, 32, 16, 8].map((n) => tell(python.ask("s", { do: "echo", value: n, seconds: n / 200 }))),
        tell(python.ask("s", { do: "evaluate", code: "1 / 0" })),
        tell(python.ask("s", { do: "echo", value: 2 })),
        tell(python.ask("other", { do: "echo", value: "other" })),
    ])""")
    assert [answer.get("value") for answer in answers] == [None, None, None, None, None, 2, "other"]
    assert not any("code" in answer for answer in answers)


def test_an_error_of_a_replaced_request_never_shows(site, page, open_page):
    """P13: the page would show an error for a value that the reader has left."""
    open_page(site)
    ask(page, {"do": "echo", "value": 0})
    answers = page.evaluate("""async () => {
        const old = tell(python.ask("s", { do: "evaluate", code: "1 / 0" }));
        const loop = tell(python.ask("t", { do: "loop" }, { budget: 300, follow: true }));
        await new Promise((done) => setTimeout(done, 100));
        return Promise.all([old, loop, tell(python.ask("t", { do: "echo", value: 2 }))]);
    }""")
    assert answers[0]["type"] == "ZeroDivisionError"  # nothing newer on its channel
    assert answers[1:] == [{}, {"value": 2}]


def test_a_followed_request_arrives_although_a_newer_one_waits(site, page, open_page):
    """On a slow phone a dragged slider would move nothing until the finger rests."""
    open_page(site)
    ask(page, {"do": "echo", "value": 0})
    answers = page.evaluate("""() => Promise.all([1, 2, 3].map((n) =>
        tell(python.ask("s", { do: "echo", value: n, seconds: 0.1 }, { follow: true }))))""")
    assert [answer.get("value") for answer in answers] == [1, None, 3]


@pytest.mark.parametrize("do", ["loop", "print"])
def test_an_endless_loop_is_stopped(do, site, page, open_page):
    """P07: one slip in a reader's code would freeze the page for good."""
    messages = []
    open_page(site)
    page.on("console", lambda message: messages.append(message.text))
    ask(page, {"do": "echo", "value": 0})
    seconds = page.evaluate("""async (work) => {
        const start = performance.now();
        window.error = await tell(python.ask("c", { do: work }, { budget: 500 }));
        return (performance.now() - start) / 1000;
    }""", do)  # fmt: skip
    assert page.evaluate("error.code") == "budget"
    assert seconds < 2
    assert state(page) == "idle"
    assert ask(page, {"do": "echo", "value": 7})["value"] == 7
    assert len(messages) <= 250


def test_other_channels_survive_a_stopped_run(site, page, open_page):
    """One lab's endless loop would lose what another lab asked meanwhile."""
    open_page(site)
    answers = page.evaluate("""() => Promise.all([
        tell(python.ask("a", { do: "loop" }, { budget: 300 })),
        tell(python.ask("b", { do: "echo", value: "b" })),
    ])""")
    assert (answers[0]["code"], answers[1]) == ("budget", {"value": "b"})


@pytest.mark.parametrize("name", ["worker.js", "manifest.json", "wasm.pack", "stdlib.pack", "numpy.pack",
                                  "project.pack", "pyodide.js", "pyodide.asm.js"])  # fmt: skip
def test_a_missing_file_is_named_and_retry_works(name, site, page, open_page, at):
    """P06: an endless spinner, or a page that must be reloaded once the network is back."""
    site.missing.add(at(name))
    open_page(site)
    error = ask(page, {"do": "echo", "value": 1})
    assert (error["code"], error["detail"]) == ("download", f"{name}: HTTP 404")
    assert state(page) == "failed"
    assert page.evaluate("tell(python.start())")["code"] == "download"
    site.missing.clear()
    page.evaluate("tell(python.retry())")
    assert state(page) == "ready"
    assert ask(page, {"do": "echo", "value": 1})["value"] == 1


@pytest.mark.parametrize("name", ["wasm.pack", "numpy.pack"])
def test_a_line_that_breaks_off_is_an_error(name, site, page, open_page, at):
    """P06: after a cut the reader would wait for ever."""
    site.cut[at(name)] = 900_000
    open_page(site)
    error = ask(page, {"do": "echo", "value": 1})
    assert (error["code"], name in error["detail"]) == ("download", True)
    site.cut.clear()
    page.evaluate("tell(python.retry())")
    assert ask(page, {"do": "echo", "value": 1})["value"] == 1


def test_a_line_that_falls_silent_is_an_error(site, page, open_page, at):
    """P06: a stalled download looks alive for ever."""
    site.hang[at("numpy.pack")] = 500_000
    open_page(site, {"stall": 1500})
    error = ask(page, {"do": "echo", "value": 1})
    assert error["code"] == "stalled"
    assert "of" in error["detail"]


@pytest.mark.parametrize("name", ["wasm.pack", "stdlib.pack", "project.pack"])
def test_a_page_in_place_of_a_file_is_damage(name, site, page, open_page, at):
    """Hosts that answer everything with their front page would give a Python error nobody understands."""
    site.replaced[at(name)] = b"<!doctype html><title>Welcome</title>"
    open_page(site)
    error = ask(page, {"do": "echo", "value": 1})
    assert (error["code"], name in error["detail"]) == ("damaged", True)


def test_wrong_mime_types_do_no_harm(built, serve, page, open_page):
    """P01: hosts that do not know .wasm, .zip or .whl would refuse Python to their readers."""
    site = serve(built[0], types={".pack": "text/plain", ".json": "text/html", ".wasm": "text/plain"})
    open_page(site)
    assert ask(page, {"do": "echo", "value": 1})["value"] == 1


def test_a_script_of_the_wrong_type_is_named(built, serve, page, open_page):
    """P01: where nothing can be done, a message names the MIME type."""
    site = serve(built[0], headers={"X-Content-Type-Options": "nosniff"})
    open_page(site)
    site.types[".js"] = "text/plain"
    error = ask(page, {"do": "echo", "value": 1})
    assert (error["code"], error["detail"]) == ("mime", "worker.js: the server labels it text/plain")


def test_a_strict_policy_is_enough(built, serve, page, open_page):
    """P02: sites with a content security policy could not run labs without opening it."""
    open_page(serve(built[0], headers={"Content-Security-Policy": SAFE}))
    assert ask(page, {"do": "softmax", "scores": [0, 0]})["value"] == [0.5, 0.5]
    assert page.problems == []


def test_a_policy_without_webassembly_is_named(built, serve, page, open_page):
    """P02: the lab would wait for ever, since Pyodide keeps silent about it."""
    open_page(serve(built[0], headers={"Content-Security-Policy": "script-src 'self'"}))
    assert ask(page, {"do": "echo", "value": 1})["code"] == "csp"
    assert page.inner_text("p") == "文章"


def test_a_policy_without_workers_is_named(built, serve, page, open_page):
    """P02: as above."""
    open_page(
        serve(built[0], headers={"Content-Security-Policy": SAFE.replace("worker-src 'self'", "worker-src 'none'")})
    )
    assert ask(page, {"do": "echo", "value": 1})["code"] == "csp"


@pytest.mark.parametrize("name", ["Worker", "WebAssembly", "DecompressionStream"])
def test_an_old_browser_is_told_what_it_lacks(name, site, page, open_page):
    """The lab would fail with an error of ours."""
    page.add_init_script(f"delete window.{name}")
    open_page(site)
    error = ask(page, {"do": "echo", "value": 1})
    assert (error["code"], error["detail"]) == ("unsupported", name)


def test_a_page_opened_from_disk_says_so(built, browser):
    """M15: an endless spinner. (Module scripts do not load from disk at all; a bundler's copy may.)"""
    page = browser.new_page()
    page.goto((built[0] / "index.html").as_uri())
    source = CLIENT.read_text("utf-8").replace("export class", "class")
    start = "new Python({ base: document.baseURI }).start().catch(({ code }) => code)"
    assert page.evaluate(f"{{ {source}\n {start} }}") == "file"
    page.close()


def test_progress_is_told_in_bytes(built, serve, page, open_page):
    """P06: minutes of silence on a slow line; the bar would overshoot or never fill."""
    site = serve(built[0], bytes_per_second=4_000_000)
    open_page(site)
    page.evaluate("""() => { window.seen = [];
        python.onchange(({ state, progress }) => seen.push([state, progress?.stage, progress?.loaded, progress?.total])); }""")
    page.evaluate("tell(python.start())")
    seen = page.evaluate("seen")
    assert len(seen) > 8
    assert seen[0] == ["loading", "download", 0, 0]
    loaded = [entry[2] for entry in seen if entry[2] is not None]
    assert loaded == sorted(loaded)
    total = json.loads(built[1].read("manifest.json"))["sizes"]
    assert seen[-2][1:] == seen[-1][1:] == ["start", sum(total.values()), sum(total.values())]
    assert {entry[0] for entry in seen} == {"loading", "ready"}


def test_a_worker_that_dies_is_replaced(site, page, open_page):
    """A lab that runs out of stack or memory would stay dead until the page is loaded again."""
    open_page(site)
    ask(page, {"do": "echo", "value": 1})
    assert evaluate(page, "(f := lambda n: f(n + 1)) and f(0)")["type"] == "RecursionError"
    assert state(page) == "ready"
    assert evaluate(page, "__import__('_pyodide_core').trigger_fatal_error()")["code"] == "crash"
    assert ask(page, {"do": "echo", "value": 2})["value"] == 2


def test_a_project_that_cannot_start_tells_why(built, serve, page, open_page, tmp_path):
    """An error in a lesson would look like a broken network."""
    broken = runtime.build_runtime({"demo.py": b"import nothing_such\n"}, "demo:answer")
    site = serve(tmp_path)
    folder = broken.write(tmp_path).relative_to(tmp_path).as_posix()
    (tmp_path / "index.html").write_text('<script type="module" src="page.js"></script>')
    (tmp_path / "page.js").write_text(SCRIPT % folder)
    (tmp_path / "python.js").write_bytes(CLIENT.read_bytes())
    open_page(site)
    error = ask(page, {})
    assert error["code"] == "start"
    assert "No module named 'nothing_such'" in error["detail"] and 'File "/project/demo.py", line 1' in error["detail"]


def test_leaving_the_page_ends_the_worker_and_coming_back_starts_one(site, page, open_page):
    """P14: each page gone back to would keep tens of megabytes."""
    open_page(site)
    ask(page, {"do": "echo", "value": 1})
    left = page.evaluate("""async () => {
        const asked = tell(python.ask("c", { do: "loop" }));
        dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
        return [await asked, document.documentElement.dataset.python];
    }""")
    assert left == [{}, "idle"]
    deadline = time.monotonic() + 5
    while page.workers and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert not page.workers
    assert ask(page, {"do": "echo", "value": 3})["value"] == 3


def test_a_site_has_one_python(site, page, open_page):
    """P14: each lab would start its own interpreter."""
    open_page(site)
    assert page.evaluate("""() => {
        const [a, b] = [Python.shared({ base: python.base }), Python.shared({ base: python.base })];
        return a === b && a === window.sitegenPython;
    }""")
    page.evaluate("""() => Promise.all([1, 2, 3].map((n) =>
        Python.shared({ base: python.base }).ask(`lab ${n}`, { do: "echo", value: n })))""")
    assert len(page.workers) == 1


def test_a_second_visit_downloads_nothing(built, serve, context, page, open_page):
    """The folder's name is a hash, so its files never change; they would be asked for again on hosts that cache briefly."""
    site = serve(built[0], headers={"Cache-Control": "max-age=0, must-revalidate"})
    open_page(site)
    ask(page, {"do": "echo", "value": 1})
    before = len(site.requests)
    open_page(site)
    assert ask(page, {"do": "echo", "value": 1})["value"] == 1
    assert not [asked for asked in site.requests[before:] if asked.endswith(".pack")]
