"""What can go wrong with a lab, injected: each a clear state, a way on, and the ready answers stay.

The site is tests/sites/labs; `faults.py` there does what its text control says. Ids such as P07 are of the list of cases
met in public bug reports.
"""

import re
import shutil
import time

import pytest

FAULTS = "sim-lab[data-lab=faults]"
NUMBERS = "sim-lab[data-lab=numbers]"
PACK = re.compile(r"/([a-z]+\.pack|worker\.js|manifest\.json|pyodide[.a-z]*\.js)$")


@pytest.fixture
def open_faults(page, serve, trial_site):
    """The page with the lab that misbehaves, near enough for its table, Python not yet asked for."""

    def go(lab: str = FAULTS, place: str = "faults/", **fields: object):
        site = serve(trial_site, **fields)
        page.goto(site.url + place)
        page.locator(lab).scroll_into_view_if_needed()
        page.wait_for_selector(f"{lab}[data-state=instant]")
        return site

    return go


def status(page, lab: str = FAULTS) -> str:
    return page.locator(f"{lab} [data-status]").inner_text()


def output(page, lab: str = FAULTS) -> str:
    return page.locator(f"{lab} [data-output]").inner_text()


def do(page, what: str, n: int | None = None):
    if n is not None:
        page.locator(f"{FAULTS} [name=n] + .lab-entry").fill(str(n))
    page.locator(f"{FAULTS} [name=do]").fill(what)


def wait_for(page, text: str, where: str = "[data-output]"):
    page.wait_for_function(
        "([selector, text]) => document.querySelector(selector).innerText.includes(text)", arg=[f"{FAULTS} {where}", text],
        timeout=60_000,
    )  # fmt: skip


def go_live(page):
    do(page, "好")
    wait_for(page, "好 1")


def instant_answers(page):
    """The table still answers, at once."""
    page.locator(f"{FAULTS} [name=do]").fill("")
    page.locator(f"{FAULTS} [name=n] + .lab-entry").fill("7")
    assert output(page) == "平常 7" and page.locator(FAULTS).get_attribute("data-pending") is None
    page.locator(f"{FAULTS} [name=n] + .lab-entry").fill("1")


def runtime_file(folder, name: str) -> str:
    return next(folder.rglob(name)).relative_to(folder).as_posix()


# ---- while it runs


def test_a_run_over_its_budget_is_stopped_and_the_last_view_stays(page, open_faults):
    """P07: one state would freeze the lab for good."""
    open_faults()
    go_live(page)
    start = time.monotonic()
    do(page, "loop")
    wait_for(page, "超过了时限", "[data-status]")
    assert time.monotonic() - start < 3.5
    assert output(page) == "好 1" and page.locator(FAULTS).get_attribute("data-pending") == ""
    assert page.locator(f"{FAULTS} [data-act=retry]").is_visible()
    instant_answers(page)
    do(page, "又好")
    wait_for(page, "又好 1")


def test_the_newest_state_wins(page, open_faults):
    """P13: an older, slower answer would land last."""
    open_faults()
    go_live(page)
    page.evaluate(
        """lab => {
          const element = document.querySelector(lab);
          const set = (name, value) => {
            const input = element.querySelector(name);
            input.value = value;
            input.dispatchEvent(new Event("input", { bubbles: true }));
          };
          set("[name=do]", "slow");
          for (const n of [9, 8, 7, 6, 5, 4, 3, 2]) set("[name=n]", n);
        }""",
        FAULTS,
    )
    wait_for(page, "slow 2")
    page.wait_for_timeout(1200)
    assert output(page) == "slow 2" and page.locator(FAULTS).get_attribute("data-pending") is None


@pytest.mark.parametrize(("what", "said"), [("zero", "除以零"), ("memory", "内存不够"), ("odd", "LookupError：<b>没有</b>")])
def test_exceptions_are_told_in_plain_words(page, open_faults, what, said):
    """A traceback, or nothing at all, would be all a reader gets."""
    open_faults()
    go_live(page)
    do(page, what)
    wait_for(page, said, "[data-status]")
    assert "Traceback" not in status(page) and "上面还是改动之前的结果" in status(page)
    assert output(page) == "好 1" and page.locator(f"{FAULTS} [data-status] b").count() == 0
    do(page, "又好")
    wait_for(page, "又好 1")
    assert "出错" not in status(page)


def test_a_worker_that_dies_is_replaced(page, open_faults):
    """Labs would stay dead until the page is loaded anew; so does one that has no memory left."""
    open_faults()
    go_live(page)
    do(page, "crash")
    wait_for(page, "意外退出", "[data-status]")
    assert output(page) == "好 1"
    instant_answers(page)
    do(page, "又好")
    wait_for(page, "又好 1")


# ---- before it runs


@pytest.mark.parametrize("name", ["worker.js", "manifest.json", "project.pack", "numpy.pack", "pyodide.asm.js"])
def test_a_missing_file_is_named_and_can_be_tried_again(page, open_faults, trial_site, name):
    """P06: an endless spinner. After a redeploy old files may be gone."""
    site = open_faults()
    path = runtime_file(trial_site, name)
    site.missing.add(path)
    do(page, "好")
    page.wait_for_selector(f"{FAULTS}[data-state=failed]", timeout=60_000)
    assert name in status(page) and "刷新" in status(page)
    assert page.locator(FAULTS).get_attribute("data-pending") == ""
    instant_answers(page)
    do(page, "好")
    site.missing.clear()
    page.locator(f"{FAULTS} [data-act=retry]").click()
    wait_for(page, "好 1")
    assert page.locator(FAULTS).get_attribute("data-state") == "live"


def test_a_lesson_whose_pack_is_missing_can_be_tried_again(page, open_faults, trial_site):
    """Lessons come after Python; one that cannot be had must not take the others with it."""
    site = open_faults()
    path = runtime_file(trial_site, "trial_lessons.faults.pack")
    site.missing.add(path)
    do(page, "好")
    wait_for(page, "trial_lessons.faults.pack", "[data-status]")
    assert page.locator("html").get_attribute("data-python") == "ready"
    site.missing.clear()
    page.locator(f"{FAULTS} [data-act=retry]").click()
    wait_for(page, "好 1")


def test_a_line_cut_half_way_is_told_and_can_be_tried_again(page, open_faults, trial_site):
    """P06."""
    site = open_faults()
    site.cut[runtime_file(trial_site, "numpy.pack")] = 900_000
    do(page, "好")
    page.wait_for_selector(f"{FAULTS}[data-state=failed]", timeout=60_000)
    assert "网络中断" in status(page)
    instant_answers(page)
    site.cut.clear()
    do(page, "好")
    page.locator(f"{FAULTS} [data-act=retry]").click()
    wait_for(page, "好 1")


def test_progress_is_shown_in_megabytes_from_the_first_second(page, open_faults):
    """P06: minutes of silence on a slow line."""
    site = open_faults()
    site.bytes_per_second = 800_000
    page.locator(FAULTS).hover()
    page.wait_for_function("lab => /\\d\\.\\d \\/ 6\\.\\d MB/.test(document.querySelector(lab + ' .lab-progress').textContent)", arg=FAULTS, timeout=1500)
    assert page.locator(f"{FAULTS} [data-act=cancel]").is_visible()
    page.locator(f"{FAULTS} [data-act=cancel]").click()


def test_a_script_of_the_wrong_type_is_named(page, open_faults):
    """P01."""
    site = open_faults(headers={"X-Content-Type-Options": "nosniff"})
    site.types[".js"] = "text/plain"
    do(page, "好")
    page.wait_for_selector(f"{FAULTS}[data-state=failed]", timeout=60_000)
    assert "文件类型不对" in status(page) and "text/plain" in status(page)
    instant_answers(page)


def test_packs_of_a_wrong_type_do_no_harm(page, open_faults):
    """P01: tables and packs are read by their contents."""
    open_faults(types={".pack": "text/html", ".json": "text/plain"})
    go_live(page)


@pytest.mark.parametrize("name", ["Worker", "WebAssembly"])
def test_an_old_browser_is_told_what_it_lacks(page, open_faults, name):
    page.add_init_script(f"delete window.{name}")
    open_faults()
    do(page, "好")
    page.wait_for_selector(f"{FAULTS}[data-state=failed]")
    assert f"缺少 {name}" in status(page)
    instant_answers(page)


def test_a_policy_without_webassembly_is_told(page, open_faults):
    """P02."""
    open_faults(headers={"Content-Security-Policy": "script-src 'self' 'unsafe-inline'"})
    do(page, "好")
    page.wait_for_selector(f"{FAULTS}[data-state=failed]", timeout=60_000)
    assert "安全策略" in status(page)
    instant_answers(page)


def test_a_browser_that_cannot_unpack_keeps_the_start_and_says_so(page, serve, trial_site):
    page.add_init_script("delete window.DecompressionStream")
    page.goto(serve(trial_site).url + "faults/")
    page.locator(FAULTS).scroll_into_view_if_needed()
    do(page, "好")
    page.wait_for_selector(f"{FAULTS}[data-state=failed]")
    assert "缺少 DecompressionStream" in status(page) and output(page) == "平常 1"
    do(page, "")
    assert page.locator(FAULTS).get_attribute("data-pending") is None


def test_blocked_storage_changes_nothing(page, open_faults):
    """W11: reading storage throws when it is blocked, and kills the script."""
    page.add_init_script(
        """for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"]) {
          Object.defineProperty(window, name, { get() { throw new DOMException("blocked", "SecurityError"); } });
        }"""
    )
    open_faults()
    instant_answers(page)
    go_live(page)


def test_without_its_table_a_lab_asks_python(page, serve, trial_site):
    site = serve(trial_site)
    table = next((trial_site / "assets" / "labs").glob("faults-*")).relative_to(trial_site).as_posix()
    site.missing.add(table)
    page.goto(site.url + "faults/")
    page.locator(FAULTS).scroll_into_view_if_needed()
    page.locator(f"{FAULTS} [name=n]").press("ArrowRight")
    wait_for(page, "平常 2")
    assert page.locator(FAULTS).get_attribute("data-state") == "live"


def test_a_page_from_disk_says_that_it_needs_a_server(browser, trial_site):
    """M15: an endless spinner, or nothing, within two seconds."""
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((trial_site / "faults" / "index.html").as_uri())
    page.wait_for_selector(f"{FAULTS}[data-state=failed]", timeout=2000)
    assert "请用本地服务器打开" in status(page) and output(page) == "平常 1"
    assert errors == []
    page.close()


# ---- the second visit, and a new release


@pytest.mark.parametrize("headers", [
    {"Cache-Control": "max-age=0, must-revalidate"},
    {"Last-Modified": "Mon, 30 Nov 2026 06:00:00 GMT", "ETag": '"x"'},
    {"ETag": '"x"'},
])  # fmt: skip
def test_a_second_visit_fetches_no_pack_again(page, open_faults, headers):
    """Readers on hosts that say nothing about caching would pay for all of it at each visit."""
    site = open_faults(headers=headers)
    go_live(page)
    asked = len(site.requests)
    page.goto(site.url + "faults/")
    page.locator(FAULTS).scroll_into_view_if_needed()
    go_live(page)
    assert not [r for r in site.requests[asked:] if r.endswith((".pack", "manifest.json"))]


def test_a_new_release_costs_its_own_code_only_and_never_mixes(page, serve, trial_site, tmp_path):
    """P09: each mended lesson would cost every returning reader all the megabytes; or old and new code would meet."""
    from tests.sites import HERE, build

    published, source = tmp_path / "site", tmp_path / "source"
    shutil.copytree(trial_site, published)
    shutil.copytree(HERE / "labs", source)
    site = serve(published)
    page.goto(site.url + "faults/")
    go_live(page)
    lesson = source / "trial_lessons" / "faults.py"
    lesson.write_text(lesson.read_text(encoding="utf-8").replace("'平常'", "'新的'"), encoding="utf-8")
    old_runtime = {p.name for p in (published / "assets" / "runtime").iterdir()}
    build(source / "mkdocs.yml", published)
    new_runtime = {p.name for p in (published / "assets" / "runtime").iterdir()}
    assert len(old_runtime & new_runtime) == 1 and len(new_runtime) == 2
    do(page, "还开着的旧页")  # its worker lives on
    wait_for(page, "还开着的旧页 1")
    asked = len(site.requests)
    page.goto(site.url + "faults/")
    go_live(page)
    do(page, "")
    assert output(page) == "新的 1"
    fetched = [PACK.search(r.partition("?")[0]) for r in site.requests[asked:]]
    assert {m[1] for m in fetched if m} <= {"worker.js", "manifest.json", "project.pack", "pyodide.js", "pyodide.asm.js"}
    assert {m[1] for m in fetched if m} >= {"worker.js", "manifest.json", "project.pack"}
