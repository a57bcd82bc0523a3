"""What browser tests share: a system Chromium, and small web servers that can misbehave on purpose.

    def test_something(page, serve, tmp_path):
        (tmp_path / "index.html").write_text("<p>hello")
        site = serve(tmp_path, prefix="/ai-course/", headers={"Content-Security-Policy": "script-src 'self'"})
        page.goto(site.url)                        # http://127.0.0.1:PORT/ai-course/
        site.missing.add("assets/a.js")            # 404 from now on, until discarded
        assert site.requested("assets/a.js") == 1

`page` is a tab in a context of its own (empty cache). No name but this machine's resolves, so that a request to a third
party fails, and `page.foreign` lists such requests; `page.problems` lists errors thrown and console errors.
"""

import functools
import mimetypes
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]


def find_browser() -> str | None:
    """A Chromium of the system; Playwright's own downloads are not used."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator:
    """A running Chromium for the session (Playwright's `Browser`). Skips where there is none; in CI that is a failure."""
    path = find_browser()
    if path is None:
        message = "no Chromium found: install one (apt install chromium, brew install chromium, or Google Chrome)"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def context(browser) -> Iterator:
    """A fresh profile: nothing cached, nothing stored."""
    made = browser.new_context()
    yield made
    made.close()


@pytest.fixture
def page(context) -> Iterator:
    """A tab in it. `page.foreign`: requests that left this machine; `page.problems`: page and console errors."""
    tab = context.new_page()
    tab.foreign, tab.problems = [], []
    tab.on("request", lambda request: urlsplit(request.url).hostname in (None, "127.0.0.1", "localhost")
           or tab.foreign.append(request.url))  # fmt: skip
    tab.on("pageerror", lambda error: tab.problems.append(str(error)))
    tab.on("console", lambda message: message.type == "error" and tab.problems.append(message.text))
    yield tab
    tab.close()


@dataclass
class Site:
    """A served folder. Every field may be changed while it runs; paths are relative to the folder."""

    folder: Path
    prefix: str = "/"
    headers: Mapping[str, str] | Callable[[str], Mapping[str, str]] = field(default_factory=dict)  # or path -> headers
    types: dict[str, str] = field(default_factory=dict)  # suffix -> MIME type, such as {".wasm": "text/plain"}
    missing: set[str] = field(default_factory=set)  # answered with 404
    cut: dict[str, int] = field(default_factory=dict)  # the connection is dropped after so many bytes
    hang: dict[str, int] = field(default_factory=dict)  # nothing more comes after so many bytes
    delay: dict[str, float] = field(default_factory=dict)  # seconds before the answer
    bytes_per_second: float = 0  # 0: as fast as it goes
    replaced: dict[str, bytes] = field(default_factory=dict)  # path -> other contents
    requests: list[str] = field(default_factory=list)  # paths as asked for, with prefix and query
    not_found: list[str] = field(default_factory=list)  # those of them answered with 404
    url: str = ""
    closed: threading.Event = field(default_factory=threading.Event)

    def requested(self, path: str) -> int:
        """How often a file was asked for."""
        return sum(urlsplit(asked).path == self.prefix + path for asked in self.requests)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, site: Site, *args: object):
        self.site = site
        super().__init__(*args)  # type: ignore[arg-type]

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        site = self.site
        site.requests.append(self.path)
        asked = unquote(urlsplit(self.path).path)
        path = asked.removeprefix(site.prefix) if asked.startswith(site.prefix) else None
        if path is not None and (path == "" or path.endswith("/")):
            path += "index.html"
        body = self._contents(path)
        if body is None:
            site.not_found.append(self.path)
        time.sleep(site.delay.get(path or "", 0))
        extra = site.headers(path or "") if callable(site.headers) else site.headers
        suffix = Path(path or "").suffix
        self.send_response(200 if body is not None else 404)
        kind = site.types.get(suffix) or mimetypes.guess_type("x" + suffix)[0] or "application/octet-stream"
        self.send_header("Content-Type", kind if body is not None else "text/html")
        body = b"<h1>404</h1>" if body is None else body
        self.send_header("Content-Length", str(len(body)))
        for name, value in extra.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        try:
            self._send(path or "", body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_HEAD = do_GET

    def _contents(self, path: str | None) -> bytes | None:
        site = self.site
        if path is None or path in site.missing:
            return None
        if path in site.replaced:
            return site.replaced[path]
        file = (site.folder / path).resolve()
        return file.read_bytes() if file.is_file() and file.is_relative_to(site.folder.resolve()) else None

    def _send(self, path: str, body: bytes) -> None:
        site = self.site
        stop = site.cut.get(path, site.hang.get(path, len(body)))
        if site.bytes_per_second:
            step = max(1, int(site.bytes_per_second / 20))
            for start in range(0, stop, step):
                self.wfile.write(body[start : min(start + step, stop)])
                time.sleep(step / site.bytes_per_second)
        else:
            self.wfile.write(body[:stop])
        if path in site.hang:
            self.wfile.flush()
            site.closed.wait(60)
        if stop < len(body):
            self.close_connection = True


@pytest.fixture
def serve() -> Iterator[Callable[..., Site]]:
    """`serve(folder, prefix="/", **fields of Site)` starts a server on a free port and returns its Site."""
    started: list[tuple[ThreadingHTTPServer, Site]] = []

    def start(folder: Path, prefix: str = "/", **fields: object) -> Site:
        site = Site(Path(folder), prefix, **fields)  # type: ignore[arg-type]
        server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Handler, site))
        server.daemon_threads = True
        site.url = f"http://127.0.0.1:{server.server_port}{prefix}"
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        started.append((server, site))
        return site

    yield start
    for server, site in started:
        site.closed.set()
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def trial_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small site with a lab of every control, and one that misbehaves (tests/sites/labs)."""
    from tests.sites import HERE, build

    folder = tmp_path_factory.mktemp("trial")
    build(HERE / "labs" / "mkdocs.yml", folder)
    return folder
