"""Controls of labs in a real browser: pointer, touch, keyboard, typing, the address, screen readers, narrow screens.

The site is tests/sites/labs; its labs answer from their tables, so most tests need no Python. Ids such as W04 are of the
list of cases met in public bug reports.
"""

import json
import re

import pytest

NUMBERS = "sim-lab[data-lab=numbers]"
PLANE = "sim-lab[data-lab=plane]"
CELLS = "sim-lab[data-lab=cells]"
SENTENCE = "sim-lab[data-lab=sentence]"
WAVE = "sim-lab[data-lab=wave]"
MARKUP = '<img src=x onerror="window.__p=1">'


@pytest.fixture
def open_page(page, serve, trial_site):
    """Open the page with every control, and wait until its labs have their tables."""

    def go(query: str = "", place: str = "all/"):
        site = serve(trial_site, prefix="/course/")
        page.goto(site.url + place + query)
        for lab in page.locator("sim-lab").all():
            lab.scroll_into_view_if_needed()
        page.wait_for_function("document.querySelectorAll('sim-lab:not([data-state=instant], [data-state=live])').length === 0")
        page.evaluate("scrollTo(0, 0)")
        return site

    return go


def state(page, lab: str) -> dict:
    return page.evaluate("lab => document.querySelector(lab).controls.state()", lab)


def output(page, lab: str) -> str:
    return page.locator(f"{lab} [data-output]").inner_text()


def runtime_requests(site) -> list[str]:
    return [asked for asked in site.requests if "/runtime/" in asked]


# ---- three speeds


def test_a_touch_is_answered_in_its_frame_and_without_python(page, open_page):
    """A reader would wait seconds, or pay megabytes, for what was known when the site was built."""
    site = open_page()
    text = page.evaluate(
        """lab => {
          const input = document.querySelector(lab + " input[name=scale]");
          input.value = 20;
          input.dispatchEvent(new Event("input", { bubbles: true }));
          return document.querySelector(lab + " [data-output]").textContent;   // no await: the same task
        }""",
        NUMBERS,
    )
    assert "结果是 15.00。" in text and page.locator(NUMBERS).get_attribute("data-pending") is None
    assert runtime_requests(site) == [] and page.locator("html").get_attribute("data-python") == "idle"


def test_a_state_that_the_table_does_not_have_waits_for_python(page, open_page):
    """What was computed for another state would be shown as if it were the answer."""
    open_page()
    before = output(page, NUMBERS)
    seen = page.evaluate(
        """lab => {
          const element = document.querySelector(lab);
          for (const [name, value] of [["scale", "3"], ["extra", "2"]]) {
            const input = element.querySelector(`[name=${name}]`);
            input.value = value;
            input.dispatchEvent(new Event("input", { bubbles: true }));
          }
          return [element.hasAttribute("data-pending"), element.querySelector("[data-output]").innerText];
        }""",
        NUMBERS,
    )
    assert seen[0] is True and "5.00" not in seen[1]
    page.wait_for_selector(f"{NUMBERS}[data-state=live]:not([data-pending])", timeout=60_000)
    assert "结果是 5.00。" in output(page, NUMBERS) != before
    assert page.locator(f"{NUMBERS} [data-status]").inner_text().startswith("由这一页里的 Python")


def test_a_typed_value_between_the_steps_is_exact_or_pending(page, open_page):
    """3.3 would be answered with what belongs to 3.5."""
    open_page()
    page.locator(f"{NUMBERS} [name=scale] + .lab-entry").fill("8.3")
    assert state(page, NUMBERS)["scale"] == 8.3
    assert page.locator(NUMBERS).get_attribute("data-pending") == ""
    page.wait_for_selector(f"{NUMBERS}:not([data-pending])", timeout=60_000)
    assert "结果是 3.30。" in output(page, NUMBERS)
    slider = page.locator(f"{NUMBERS} [name=scale]")
    slider.press("ArrowRight")
    assert float(slider.input_value()) % 0.5 == 0


def test_every_answer_of_a_table_is_the_lab_s_own(page, open_page, trial_site, monkeypatch):
    """A mistake in packing would show one state's numbers under another's controls."""
    import importlib
    import itertools

    from sitegen.instant import state_of
    from tests.sites import HERE

    open_page()
    monkeypatch.syspath_prepend(str(HERE / "labs"))
    lesson = importlib.import_module("trial_lessons.trial")
    checked = 0
    for name in ("numbers", "plane", "cells", "sentence", "wave"):
        lab = getattr(lesson, name)
        axes = [values for control in lab.controls.values() for values in control.axes()]
        start = [s for n, c in lab.controls.items() for s in c.scalars(lab.start[n])]
        states = list(itertools.product(*axes)) if name in ("plane", "wave") else []
        states += [tuple([*start[:i], v, *start[i + 1 :]]) for i, values in enumerate(axes) for v in values]
        found = page.evaluate(
            """([name, states]) => {
              const { instant } = document.querySelector(`sim-lab[data-lab=${name}]`);
              return JSON.stringify(states.map(values => instant.tree(values) ?? null));
            }""",
            [name, states],
        )
        for scalars, tree in zip(states, json.loads(found), strict=True):
            assert tree == lab.tree(state_of(lab, scalars)), (name, scalars)
            checked += 1
    assert checked > 1700


def test_python_is_fetched_at_approach_unless_the_reader_saves_data(page, context, open_page):
    """A lab would start late for most, or cost those who pay by the megabyte."""
    page.add_init_script("Object.defineProperty(navigator, 'connection', { get: () => ({ saveData: true, effectiveType: '4g' }) })")
    site = open_page()
    page.locator(WAVE).hover()
    page.locator(f"{WAVE} [name=at]").focus()
    page.wait_for_timeout(300)
    assert runtime_requests(site) == []
    page.locator(f"{NUMBERS} [name=extra]").fill("2")
    page.locator(f"{NUMBERS} [name=scale]").press("ArrowRight")
    page.wait_for_selector(f"{NUMBERS}[data-state=live]:not([data-pending])", timeout=60_000)


@pytest.mark.parametrize(("line", "starts"), [
    ({"type": "wifi", "effectiveType": "4g", "saveData": False}, True),
    ({"type": "cellular", "effectiveType": "4g", "saveData": False}, False),
    ({"type": "wifi", "effectiveType": "3g", "saveData": False}, False),
    ({"effectiveType": "4g", "saveData": False}, False),
])  # fmt: skip
def test_python_starts_by_itself_only_on_a_fast_unmetered_line(page, open_page, line, starts):
    page.add_init_script(f"Object.defineProperty(navigator, 'connection', {{ get: () => ({json.dumps(line)}) }})")
    site = open_page()
    page.wait_for_timeout(200)
    assert bool(runtime_requests(site)) is starts


def test_the_download_can_be_cancelled_and_begun_again(page, open_page):
    """P06: who pressed by mistake would pay for all of it."""
    site = open_page()
    site.bytes_per_second = 1_500_000
    lab = page.locator(NUMBERS)
    lab.hover()
    lab.locator("[data-act=cancel]").click()
    page.wait_for_function("document.documentElement.dataset.python === 'idle'")
    page.wait_for_timeout(300)  # what was queued already may still reach the server
    asked = runtime_requests(site)
    page.locator(WAVE).hover()
    lab.hover()
    page.locator(f"{NUMBERS} [name=extra]").fill("2")
    page.locator(f"{NUMBERS} [name=scale]").press("ArrowRight")
    page.wait_for_timeout(300)
    assert runtime_requests(site) == asked and lab.get_attribute("data-pending") == ""
    assert "没有预先算好" in lab.locator("[data-status]").inner_text()
    site.bytes_per_second = 0
    lab.locator("[data-act=retry]").press("Enter")
    page.wait_for_selector(f"{NUMBERS}[data-state=live]:not([data-pending])", timeout=60_000)


# ---- typing


@pytest.mark.parametrize(("typed", "value"), [
    ("7.5", 7.5), ("７．５", 7.5), ("7,5", 7.5), ("７，５", 7.5), ("7。5", 7.5), (" 12 ", 12), ("+3", 3), (".5", 0.5), ("1e1", 10),
])  # fmt: skip
def test_numbers_are_read_as_people_type_them(page, open_page, typed, value):
    open_page()
    field = page.locator(f"{NUMBERS} [name=scale] + .lab-entry")
    field.fill(typed)
    field.press("Enter")
    assert state(page, NUMBERS)["scale"] == value
    assert page.locator(f"{NUMBERS} [name=scale]").evaluate("input => input.valueAsNumber") == value


@pytest.mark.parametrize("minus", ["-", "−", "－", "–"])
def test_any_minus_sign_is_one(page, open_page, minus):
    open_page()
    field = page.locator(f"{NUMBERS} [name=extra]")
    field.fill(f"{minus}2.5")
    field.press("Enter")
    assert state(page, NUMBERS)["extra"] == -2.5 and field.input_value() == "−2.5"


@pytest.mark.parametrize("typed", ["", "abc", "21", "-1", "1/2", "1e999", "NaN", "Infinity", "0x10", MARKUP])
def test_what_is_no_number_in_range_changes_nothing_and_is_put_back(page, open_page, typed):
    open_page()
    before = state(page, NUMBERS), output(page, NUMBERS)
    field = page.locator(f"{NUMBERS} [name=scale] + .lab-entry")
    field.fill(typed)
    assert field.get_attribute("aria-invalid") == "true"
    field.blur()
    assert (state(page, NUMBERS), output(page, NUMBERS)) == before
    assert field.input_value() == "1" and field.get_attribute("aria-invalid") is None
    assert page.locator(f"{NUMBERS} [data-status]").inner_text() == "这里要填 0 到 20 之间的数"
    assert page.evaluate("window.__p") is None


def test_words_are_checked_and_stay_text(page, open_page):
    """X01: what a reader types would run as script."""
    open_page()
    field, name = page.locator(f"{SENTENCE} [name=tokens]"), page.locator(f"{SENTENCE} [name=name]")
    field.fill("小北　喝 奶茶")  # with a full-width space
    page.wait_for_selector(f"{SENTENCE}:not([data-pending])", timeout=60_000)
    assert "写了 3 个词" in output(page, SENTENCE) and page.locator(f"{SENTENCE} .token").count() == 3
    for wrong in ("", "一 二 三 四 五 六 七 八 九", "特别特别长的一个词"):
        field.fill(wrong)
        assert field.get_attribute("aria-invalid") == "true" and state(page, SENTENCE)["tokens"] == "小北 喝 奶茶"
        field.blur()
        assert "1 到 8 个词" in page.locator(f"{SENTENCE} [data-status]").inner_text()
    name.fill("<b>x</b>")
    page.wait_for_function("lab => document.querySelector(lab).innerText.includes('<b>x</b>写了')", arg=SENTENCE, timeout=10_000)
    assert page.locator(f"{SENTENCE} [data-output] b").count() == 0


def test_choosing_characters_is_not_typing_yet(page, open_page):
    """W09: half a word in pinyin would be sent, and Enter on a candidate would count."""
    open_page()
    heard = page.evaluate(
        """lab => {
          const input = document.querySelector(lab + " [name=name]"), element = document.querySelector(lab), heard = [];
          element.controls.changed = () => heard.push(input.value);
          input.focus();
          input.dispatchEvent(new CompositionEvent("compositionstart", { bubbles: true }));
          for (const text of ["x", "xi", "xiao"]) {
            input.value = text;
            input.dispatchEvent(new InputEvent("input", { bubbles: true, isComposing: true }));
          }
          input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, keyCode: 229, isComposing: true }));
          input.value = "小";
          input.dispatchEvent(new InputEvent("input", { bubbles: true, isComposing: true }));
          input.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true }));
          return heard;
        }""",
        SENTENCE,
    )
    assert heard == ["小"]


# ---- keyboard


def test_all_controls_are_reached_and_changed_by_keys(page, open_page):
    """W01, W02: mouse only; or focus lost after one press."""
    open_page()
    page.locator(f"{NUMBERS} [name=scale]").focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.name") == "scale"
    assert state(page, NUMBERS)["scale"] == 6 and page.locator(f"{NUMBERS} [name=scale] + .lab-entry").input_value() == "6"
    assert page.locator(f"{NUMBERS} [name=scale]").get_attribute("aria-valuetext") == "6 倍"
    page.keyboard.press("Home")
    assert state(page, NUMBERS)["scale"] == 0
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("PageUp")
    assert state(page, NUMBERS)["scale"] == 5.5
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "extra"
    page.keyboard.press("ArrowUp")
    assert state(page, NUMBERS)["extra"] == -4.5
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert (state(page, NUMBERS)["squared"], state(page, NUMBERS)["ending"]) == (True, "？")
    handle = page.locator(f"{PLANE} [data-handle]")
    handle.focus()
    for key in ("ArrowLeft", "ArrowUp", "ArrowUp"):
        handle.press(key)
    assert state(page, PLANE)["q"] == [0.9, 0.7] and handle.get_attribute("aria-valuetext") == "0.9, 0.7"
    page.locator(f"{PLANE} [name=q]").nth(1).press("ArrowRight")
    assert state(page, PLANE)["q"] == [0.9, 0.8] and "0.80" in output(page, PLANE)
    cell = page.locator(f"{CELLS} [name=W]").nth(2)
    cell.press("ArrowDown")
    assert state(page, CELLS)["W"] == [[1, 0, 0], [0, 1, -1]] and page.evaluate("document.activeElement.value") == "0"


def test_reset_puts_everything_back(page, open_page):
    open_page()
    before = output(page, PLANE)
    page.locator(f"{PLANE} [data-handle]").press("ArrowLeft")
    assert output(page, PLANE) != before
    page.locator(f"{PLANE} [data-act=reset]").click()
    assert output(page, PLANE) == before and state(page, PLANE)["q"] == [1, 0.5]
    assert not page.locator(f"{PLANE} [data-act=reset]").is_visible()


def test_the_picture_of_the_plane_follows_its_numbers(page, open_page):
    open_page()
    page.locator(f"{PLANE} .lab-entry").first.fill("-2")
    assert page.locator(f"{PLANE} [data-handle]").evaluate("handle => handle.style.left") == "0%"
    box = page.locator(f"{PLANE} [data-plane]").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + box["height"] * 0.25)
    assert state(page, PLANE)["q"] == [1, 1]
    handle = page.locator(f"{PLANE} [data-handle]").bounding_box()
    page.mouse.move(handle["x"] + 22, handle["y"] + 22)
    page.mouse.down()
    page.mouse.move(box["x"] - 200, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    assert state(page, PLANE)["q"] == [-2, 0]


# ---- touch


@pytest.fixture
def phone(browser, serve, trial_site):
    context = browser.new_context(viewport={"width": 390, "height": 700}, has_touch=True, is_mobile=True, device_scale_factor=1)
    page = context.new_page()
    site = serve(trial_site)
    page.goto(site.url + "all/")
    page.locator(WAVE).scroll_into_view_if_needed()
    page.wait_for_selector(f"{WAVE}[data-state=instant]")
    yield page
    context.close()


def swipe(page, start: tuple[float, float], by: tuple[float, float], steps: int = 12):
    touch = page.context.new_cdp_session(page)

    def send(kind: str, at: tuple[float, float] | None = None):
        points = [] if at is None else [{"x": at[0], "y": at[1], "id": 1}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    send("touchStart", start)
    for i in range(1, steps + 1):
        send("touchMove", (start[0] + by[0] * i / steps, start[1] + by[1] * i / steps))
        page.wait_for_timeout(16)
    send("touchEnd")
    page.wait_for_timeout(150)


def middle(page, selector: str, at: tuple[float, float] = (0.5, 0.5)) -> tuple[float, float]:
    page.locator(selector).first.evaluate("node => node.scrollIntoView({ block: 'center', behavior: 'instant' })")
    page.wait_for_timeout(100)
    box = page.locator(selector).first.bounding_box()
    return box["x"] + box["width"] * at[0], box["y"] + box["height"] * at[1]


@pytest.mark.parametrize(("lab", "selector", "at"), [
    (NUMBERS, "[name=scale]", (0.6, 0.5)), (PLANE, "[data-plane]", (0.2, 0.8)), (PLANE, "[name=q]", (0.3, 0.5)),
    (CELLS, "[name=W]", (0.5, 0.5)),
])  # fmt: skip
def test_a_swipe_up_that_begins_on_a_control_scrolls_and_changes_nothing(phone, lab, selector, at):
    """W04: scrolling the page changes sliders, or cannot get past them."""
    start = middle(phone, f"{lab} {selector}", at)
    before, scrolled = state(phone, lab), phone.evaluate("scrollY")
    swipe(phone, start, (4, -200))
    assert state(phone, lab) == before
    assert phone.evaluate("scrollY") > scrolled + 80


def test_a_diagonal_drag_of_a_slider_changes_it_and_does_not_scroll(phone):
    """W04."""
    start = middle(phone, f"{WAVE} [name=at]", (0.3, 0.5))
    scrolled = phone.evaluate("scrollY")
    swipe(phone, start, (90, 40))
    assert state(phone, WAVE)["at"] > 4 and phone.evaluate("scrollY") == scrolled


def test_the_point_of_a_plane_follows_the_finger_and_the_page_stands(phone):
    """W04: the page would move away under the finger."""
    start = middle(phone, f"{PLANE} [data-handle]")
    scrolled = phone.evaluate("scrollY")
    swipe(phone, start, (-60, 60))
    x, y = state(phone, PLANE)["q"]
    assert x < 0.5 and y < 0 and phone.evaluate("scrollY") == scrolled


# ---- the address


def test_the_address_takes_the_state_after_a_pause_and_gives_it_back(page, open_page):
    """A link would show something else than its sender saw; each tick would be a step in the history."""
    open_page("?kept=1#fragment")
    length = page.evaluate("history.length")
    for _ in range(5):
        page.locator(f"{NUMBERS} [name=scale]").press("ArrowRight")
    page.locator(f"{PLANE} [data-handle]").press("ArrowLeft")
    page.locator(f"{SENTENCE} [name=name]").fill("甲 & 乙")
    assert "scale" not in page.url
    page.wait_for_function("location.search.includes('sentence.name')")
    assert page.evaluate("[history.length, location.hash]") == [length, "#fragment"]
    assert re.search(r"\?kept=1&", page.url)
    page.reload()
    page.locator(NUMBERS).scroll_into_view_if_needed()
    page.wait_for_selector(f"{NUMBERS}[data-state=instant]:not([data-pending])")
    assert state(page, NUMBERS)["scale"] == 3.5 and "结果是 −1.50。" in output(page, NUMBERS)
    assert state(page, PLANE)["q"] == [0.9, 0.5] and state(page, SENTENCE)["name"] == "甲 & 乙"
    page.locator(f"{NUMBERS} [data-act=reset]").click()
    page.wait_for_function("!location.search.includes('numbers.scale')")
    assert "kept=1" in page.url


def test_a_state_of_the_address_that_needs_python_waits_for_a_touch(page, open_page):
    """A link would fetch megabytes unasked, or show the start's numbers under other controls."""
    site = open_page("?numbers.scale=3&numbers.extra=2")
    assert state(page, NUMBERS)["scale"] == 3
    lab = page.locator(NUMBERS)
    assert lab.get_attribute("data-pending") == "" and "没有预先算好" in lab.locator("[data-status]").inner_text()
    assert runtime_requests(site) == []
    lab.locator("[data-act=retry]").press("Enter")
    page.wait_for_selector(f"{NUMBERS}:not([data-pending])", timeout=60_000)
    assert "结果是 5.00。" in output(page, NUMBERS)


@pytest.mark.parametrize("query", [
    "?numbers.scale=99", "?numbers.scale=abc", "?numbers.scale=", "?numbers.scale=1e999", "?numbers.extra=-6",
    "?numbers.squared=maybe", "?numbers.ending=!", "?plane.q=1", "?plane.q=1_2_3", "?plane.q=5_5", "?cells.W=1_2",
    "?sentence.tokens=", "?sentence.name=" + "x" * 13, "?numbers.nothing=1", "?x.scale=2", "?%zz=1",
    "?numbers.scale=" + "9" * 5000, f"?numbers.ending={MARKUP}",
])  # fmt: skip
def test_a_wrong_address_is_ignored(page, open_page, query):
    """A mistyped or hostile link would break the page."""
    open_page(query)
    assert state(page, NUMBERS) == {"scale": 1, "extra": -5, "squared": False, "ending": "。"}
    assert state(page, PLANE) == {"q": [1, 0.5]} and state(page, SENTENCE)["name"] == "小北"
    assert page.locator("sim-lab[data-pending]").count() == 0
    assert page.evaluate("window.__p") is None and page.problems == []


def test_markup_in_the_address_stays_text(page, open_page):
    """X01."""
    open_page("?sentence.name=<i>x</i>")
    page.locator(SENTENCE).hover()
    page.wait_for_selector(f"{SENTENCE}:not([data-pending])", timeout=60_000)
    assert "<i>x</i>写了" in output(page, SENTENCE) and page.locator(f"{SENTENCE} [data-output] i").count() == 0


# ---- readers of all kinds


def test_a_screen_reader_hears_one_message_a_pause(page, open_page):
    """W03: each tick of a slider would be read out."""
    open_page()
    page.evaluate(
        """lab => {
          window.heard = [];
          const region = document.querySelector(lab + " [aria-live]");
          new MutationObserver(() => heard.push(region.textContent)).observe(region, { childList: true, characterData: true, subtree: true });
        }""",
        NUMBERS,
    )
    for step in range(100):
        page.evaluate(
            """([lab, value]) => {
              const input = document.querySelector(lab + " [name=scale]");
              input.value = value;
              input.dispatchEvent(new Event("input", { bubbles: true }));
            }""",
            [NUMBERS, (step % 40) / 2],
        )
    assert page.evaluate("heard") == []
    page.wait_for_function("heard.length")
    page.wait_for_timeout(700)
    assert page.evaluate("heard") == ["结果是 4.50。"]


@pytest.mark.parametrize(("width", "css"), [(320, "/**/"), (640, "/**/"), (640, "html { font-size: 200% }"), (320, "html { font-size: 150% }")])
def test_narrow_screens_and_large_letters_need_no_sideways_scrolling(page, open_page, width, css):
    """W08: 320 px is 400 % of 1280."""
    page.set_viewport_size({"width": width, "height": 640})
    open_page()
    page.add_style_tag(content=css)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    cut = page.evaluate(
        """() => [...document.querySelectorAll("sim-lab :is(input, button, select, [data-plane])")].filter(node => {
          const box = node.getBoundingClientRect(), lab = node.closest("sim-lab").getBoundingClientRect();
          return box.width && !node.closest(".lab-cells-scroll, [data-handle]") && (box.right > lab.right + 1 || box.left < lab.left - 1);
        }).map(node => node.name || node.className)"""
    )
    assert cut == []


def test_python_stays_when_the_reader_goes_to_the_next_article(page, serve, tmp_path):
    """M16: labs of the second article would be dead, or Python would start again."""
    from tests.sites import HERE, build

    site = serve(tmp_path, prefix="/course/")
    build(HERE / "labs" / "mkdocs.yml", tmp_path, site_url=site.url)
    page.goto(site.url + "all/")
    page.evaluate("window.stayed = true")
    page.locator(f"{NUMBERS} [name=scale]").press("ArrowRight")
    page.wait_for_selector(f"{NUMBERS}[data-state=live]", timeout=60_000)
    page.wait_for_function("location.search.includes('numbers.scale')")
    fetched = len(runtime_requests(site))
    page.locator(".md-nav a", has_text="另一篇").first.click()
    double = "sim-lab[data-lab=double]"
    page.wait_for_selector(f"{double}[data-state=live]")
    page.locator(f"{double} .lab-entry").fill("4.25")
    page.wait_for_function("lab => document.querySelector(lab).innerText.includes('两倍是 8.5')", arg=double)
    page.go_back()
    page.wait_for_selector(f"{NUMBERS}[data-state=live]")
    assert state(page, NUMBERS)["scale"] == 1.5 and "结果是 −3.50。" in output(page, NUMBERS)
    page.locator(f"{NUMBERS} [name=scale]").press("ArrowRight")
    assert "结果是 −3.00。" in output(page, NUMBERS)
    assert page.evaluate("window.stayed") is True
    later = {asked.rpartition("/")[2] for asked in runtime_requests(site)[fetched:]}
    assert later <= {"trial_lessons.trial.pack", "trial_lessons.second.pack"}
    assert page.problems == []
