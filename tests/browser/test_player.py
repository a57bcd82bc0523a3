"""The explainer player in a browser: pressing, scrubbing, keys, every fault of speech, motion, no script, layout."""

import gzip
import json
import re
from pathlib import Path

import pytest

from sitegen import browser as published
from tests.sites import build, tiny

LESSON = '"""A lesson."""\n\nimport numpy as np\n\nx = np.array([30.0, -8.0, 52.0])\nshift = 24.67\ny = x - shift\n'
FIGURES = """from tiny_lessons import one as lesson
from sitegen.drawing import Scene, Step, explainer


def frame(values, places, left, extra=False):
    scene = Scene(320, 120)
    scene.vector("v", left, 40, values, places, (70, 34))
    if extra:
        scene.label("new", 160, 100, "新的")
    return scene


def steps():
    return [
        Step(frame(lesson.x, 2, 20), "先看 **三个数** {{ vec(x) }}。"),
        Step(frame(lesson.y, 2, 60, True), "减去 **平均值**，剩下 {{ vec(y, 2) }}。它们加起来是零，谁高谁低没有变，只是一起挪了地方。"),
        Step(frame(lesson.y, 2, 20, True), "**挪回来**，数字不变。"),
    ]


@explainer(title="第一个")
def first():
    return steps()


@explainer(title="第二个")
def second():
    return steps()
"""
PAGE = "---\nlesson: one\n---\n\n# 页\n\n开头。\n\n{{ explainer('first') }}\n\n后面的话。\n\n{{ explainer('second') }}\n\n[另一页](other.md)\n"
ADDRESS = "https://example.org/"  # instant navigation asks the sitemap, where the test puts the server's address
CHINESE = {
    "voices": ["en-US", "zh-HK", "zh-CN"],
    "appear": "at once",
    "behaviour": "speaks",
    "pace": 60,
    "pauseEnds": False,
    "after": 6000,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("player")
    (root / "tiny_player").mkdir()
    (root / "tiny_player" / "__init__.py").write_text("", encoding="utf-8")
    (root / "tiny_player" / "one.py").write_text(FIGURES, encoding="utf-8")
    config = tiny(
        root, {"index.md": PAGE, "other.md": "# 别处\n\n[回去](index.md)\n"}, {"one": LESSON}, figures="tiny_player"
    )
    text = config.read_text(encoding="utf-8").replace("font: false}", "font: false, features: [navigation.instant]}")
    config.write_text(text.replace("site_url: ''", f"site_url: {ADDRESS}"), encoding="utf-8")
    build(config, root / "site")
    return root


@pytest.fixture
def open_player(page, serve, folder):
    """`open_player(**faults)` opens the page with a mocked engine and a clock that the test moves, and gives the tab."""

    def opened(path="", **speech):
        page.clock.install()  # before the engine, so that its delays pass with the test's time
        script = (Path(__file__).parent / "speech.js").read_text(encoding="utf-8")
        page.add_init_script(f"({script})({json.dumps(CHINESE | speech)})")
        page.site = serve(folder / "site")
        sitemap = (folder / "site" / "sitemap.xml").read_text(encoding="utf-8")
        page.site.replaced["sitemap.xml"] = sitemap.replace(ADDRESS, page.site.url).encode()
        page.goto(page.site.url + path)
        page.wait_for_selector("step-player[data-state=ready]")
        page.clock.pause_at(page.evaluate("Date.now() / 1000 + 1"))  # from here on, time is what the test says
        return page

    return opened


def player(page, name="first"):
    return page.locator(f"step-player[data-explainer={name}]")


def press(page, act, name="first"):
    player(page, name).locator(f"button[data-act={act}]").click(force=True)  # a click on "next" at the end does nothing


def step(page, name="first"):
    return int(player(page, name).get_attribute("data-current"))


def log(page, call="speak"):
    return [entry for entry in page.evaluate("speechLog") if entry["call"] == call]


def note(page, name="first"):
    return player(page, name).locator(".player-note").inner_text()


def playing(page, name="first"):
    return player(page, name).get_attribute("data-playing") == "true"


def caption(page, name="first"):
    return player(page, name).locator("li.current > p")


def time(page, name="first"):
    return page.evaluate(f"document.querySelector('[data-explainer={name}]').time")


# ---- stillness, stepping, scrubbing


def test_nothing_moves_and_nothing_is_said_before_it_is_asked_for(open_player):
    page = open_player()
    before = player(page).locator(".player-stage").inner_html()
    page.clock.run_for(10_000)
    assert player(page).locator(".player-stage").inner_html() == before
    assert page.evaluate("speechLog") == [] and step(page) == 1 and page.problems == []


def test_previous_and_next_go_one_step_and_stop_at_the_ends(open_player):
    page = open_player()
    seen = []
    for act in ["next", "next", "next", "prev", "prev", "prev"]:
        press(page, act)
        page.clock.run_for(1500)
        seen.append(step(page))
    assert seen == [2, 3, 3, 2, 1, 1]
    assert player(page).locator(".player-count").inner_text() == "1 / 3"
    assert player(page).locator("button[data-act=prev]").get_attribute("aria-disabled") == "true"


def test_equal_keys_move_numbers_count_and_what_is_new_fades_in(open_player):
    page = open_player()
    press(page, "next")
    stage = player(page).locator(".player-stage")
    x, text, shown = [], [], []
    for _ in range(10):
        page.clock.run_for(100)
        x.append(float(stage.locator("[data-k='v/0']").get_attribute("x")))
        text.append(stage.locator("[data-k='v/1t']").text_content())
        shown.append(float(stage.locator("[data-k=new]").get_attribute("opacity")))
    assert x == sorted(x) and x[0] < 30 and x[-1] == 61 and len(set(x)) > 4
    assert text[-1] == "−32.67" and len(set(text)) > 4 and all(t.startswith("−") for t in text)
    assert shown == sorted(shown) and shown[0] == 0 and shown[-1] == 1


def test_scrubbing_shows_the_same_frame_forwards_and_backwards(open_player):
    page = open_player()
    slider = player(page).locator("input[type=range]")
    total = float(slider.get_attribute("max"))

    def at(share):
        slider.evaluate("(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }", str(total * share))
        return player(page).locator(".player-stage").inner_html()

    places = [0.1, 0.3, 0.34, 0.36, 0.6, 0.9]
    forwards = [at(place) for place in places]
    assert [at(place) for place in reversed(places)] == forwards[::-1]
    assert step(page) == 1 and slider.get_attribute("aria-valuetext") == "第 1 步，共 3 步。"


def test_a_scrub_while_playing_waits_for_the_hand_and_then_speaks_on(open_player):
    page = open_player()
    press(page, "play")
    page.clock.run_for(300)
    slider = player(page).locator("input[type=range]")
    slider.evaluate("e => { e.value = e.max * 0.95; e.dispatchEvent(new Event('input')); }")
    page.clock.run_for(1000)
    assert step(page) == 3 and len(log(page)) == 1, "silent while the hand holds"
    slider.evaluate("e => e.dispatchEvent(new Event('change'))")
    page.clock.run_for(100)
    assert log(page)[-1]["text"].startswith("挪回来") and playing(page)


@pytest.mark.parametrize(
    ("key", "start", "end"), [("ArrowRight", 1, 2), ("ArrowLeft", 3, 2), ("Home", 3, 1), ("End", 1, 3)]
)
def test_keys_step_from_any_control_of_the_player(open_player, key, start, end):
    page = open_player()
    for _ in range(start - 1):
        press(page, "next")
        page.clock.run_for(1500)
    for control in ("input[type=range]", "button[data-act=play]"):
        player(page).locator(control).focus()
        page.keyboard.press(key)
        page.clock.run_for(1500)
        assert step(page) == end
        page.evaluate(f"document.querySelector('step-player').go({start - 1})")
        page.clock.run_for(1500)


def test_keys_outside_the_player_do_nothing_to_it(open_player):
    page = open_player()
    page.locator("h1").click()
    for key in ("ArrowRight", "k", " ", "End"):
        page.keyboard.press(key)
    page.clock.run_for(500)
    assert step(page) == 1 and not playing(page)


def test_a_key_of_an_input_method_is_left_alone(open_player):
    page = open_player()
    player(page).locator("input[type=range]").evaluate(
        "e => e.dispatchEvent(new KeyboardEvent('keydown', {key: 'k', isComposing: true, bubbles: true}))"
    )
    page.clock.run_for(300)
    assert not playing(page)


# ---- voice


def test_the_voice_speaks_the_pages_language_and_the_press_itself_begins_it(open_player):
    page = open_player()
    press(page, "play")
    [first] = log(page)
    assert first["voice"] == first["lang"] == "zh-CN" and first["gesture"] and first["inPress"]
    assert log(page, "cancel") == [], "nothing was spoken yet, so there was nothing to cancel"


def test_the_clock_follows_the_voice(open_player):
    """A slow voice holds the step until it has ended; then the next one begins."""
    page = open_player(pace=500)
    press(page, "play")
    page.clock.run_for(7000)
    assert step(page) == 1 and playing(page)
    page.clock.run_for(3000)
    assert step(page) == 2


def test_a_step_ends_soon_after_a_fast_voice(open_player):
    page = open_player(pace=10)
    press(page, "play")
    page.clock.run_for(800)
    assert step(page) == 2


def test_every_sentence_of_every_step_is_spoken_once_and_in_order(open_player):
    page = open_player()
    press(page, "play")
    page.clock.run_for(60_000)
    spoken = [entry["text"] for entry in log(page)]
    written = page.evaluate(
        "[...document.querySelectorAll('[data-explainer=first] [data-step]')].flatMap(li => JSON.parse(li.dataset.say))"
    )
    assert spoken == written and all(len(text) <= 50 for text in spoken)
    assert not playing(page) and step(page) == 3
    assert player(page).locator("button[data-act=play]").get_attribute("aria-label") == "重播"


@pytest.mark.parametrize("appear", ["late", "unannounced", "twice"])
def test_voices_that_come_late_are_used_from_the_next_step_and_nothing_is_said_twice(open_player, appear):
    page = open_player(appear=appear)
    press(page, "play")
    page.clock.run_for(500)
    assert log(page) == [] and playing(page), "the clock runs, no waiting for voices"
    page.clock.run_for(40_000)
    spoken = [entry["text"] for entry in log(page)]
    assert spoken and len(spoken) == len(set(spoken)) and all(e["voice"] == "zh-CN" for e in log(page))


@pytest.mark.parametrize(
    "speech",
    [{"appear": "never"}, {"voices": []}, {"voices": ["en-US", "ja-JP"]}, {"voices": ["zh-HK", "yue-HK"]},
     {"behaviour": "absent"}],
)  # fmt: skip
def test_without_a_fitting_voice_the_steps_run_by_reading_speed_and_a_note_says_so(open_player, speech):
    page = open_player(**speech)
    press(page, "play")
    page.clock.run_for(2500)
    assert playing(page) and "没有中文语音" in note(page) and time(page) > 2
    assert player(page).locator("button[data-act=voice]").is_disabled()
    assert caption(page).is_visible(), "without a voice the full text is shown"
    page.clock.run_for(60_000)
    assert step(page) == 3 and page.problems == []
    assert page.evaluate("window.speechLog.filter(e => e.call === 'speak').length") == 0


def test_an_engine_that_never_calls_back_is_found_out_within_two_and_a_half_seconds(open_player):
    page = open_player(behaviour="silent")
    press(page, "play")
    page.clock.run_for(2500)
    assert playing(page) and "没有出声" in note(page) and caption(page).is_visible()
    page.clock.run_for(60_000)
    assert step(page) == 3 and not playing(page)
    assert len({entry["text"] for entry in log(page)}) == 1, "it is not asked again"


def test_an_engine_that_starts_and_never_ends_does_not_hold_the_player_for_ever(open_player):
    page = open_player(behaviour="endless")
    press(page, "play")
    page.clock.run_for(240_000)
    assert step(page) == 3 and not playing(page)


def test_a_refused_voice_becomes_captions_with_a_hint_and_may_be_tried_again(open_player):
    page = open_player(behaviour="refuses")
    press(page, "play")
    page.clock.run_for(500)
    assert playing(page) and "没有允许" in note(page) and caption(page).is_visible()
    press(page, "play")
    press(page, "play")
    page.clock.run_for(10)
    assert len(log(page)) == 2


@pytest.mark.parametrize("pause_ends", [True, False])
def test_pausing_and_playing_again_says_the_sentence_from_its_start_in_the_same_step(open_player, pause_ends):
    page = open_player(pauseEnds=pause_ends, pace=150)
    press(page, "next")
    page.clock.run_for(1500)
    press(page, "play")
    page.clock.run_for(4000)
    before = log(page)[-1]["text"]
    press(page, "play")
    page.clock.run_for(5000)
    assert step(page) == 2 and not playing(page)
    press(page, "play")
    page.clock.run_for(100)
    assert log(page)[-1]["text"] == before and step(page) == 2
    assert log(page, "pause") == log(page, "resume") == [], "they break engines"


def test_changing_the_speed_starts_the_sentence_again_at_the_new_rate(open_player):
    page = open_player(pace=200)
    press(page, "play")
    page.clock.run_for(200)
    press(page, "speed")
    page.clock.run_for(100)
    assert [entry["rate"] for entry in log(page)] == [1, 1.25]
    assert log(page)[0]["text"] == log(page)[1]["text"]


def test_switching_the_voice_off_is_silence_at_once_and_the_full_text(open_player):
    page = open_player(pace=300)
    press(page, "play")
    page.clock.run_for(500)
    press(page, "voice")
    assert len(log(page, "cancel")) == 1 and playing(page) and caption(page).is_visible()
    page.clock.run_for(40_000)
    assert len(log(page)) == 1


def test_hiding_the_tab_stops_and_it_stays_stopped(open_player):
    page = open_player(pace=300)
    press(page, "play")
    page.clock.run_for(300)
    page.evaluate(
        "Object.defineProperty(document, 'hidden', {value: true, configurable: true});"
        " document.dispatchEvent(new Event('visibilitychange'))"
    )
    assert not playing(page) and len(log(page, "cancel")) == 1
    page.evaluate(
        "Object.defineProperty(document, 'hidden', {value: false}); document.dispatchEvent(new Event('visibilitychange'))"
    )
    page.clock.run_for(3000)
    assert not playing(page)


def test_leaving_the_page_is_silence(open_player):
    page = open_player(pace=300)
    press(page, "play")
    page.clock.run_for(300)
    page.evaluate("dispatchEvent(new Event('pagehide'))")
    assert len(log(page, "cancel")) == 1 and not playing(page)


def test_a_player_taken_off_the_page_is_silent_and_one_put_back_works(open_player):
    """What instant navigation does: the content is swapped without a page load."""
    page = open_player(pace=300)
    press(page, "play")
    page.clock.run_for(300)
    page.evaluate("window.kept = document.querySelector('step-player'); kept.remove()")
    assert len(log(page, "cancel")) == 1
    page.clock.run_for(5000)
    assert len(log(page)) == 1
    page.evaluate("document.querySelector('article').prepend(kept)")
    press(page, "play")
    page.clock.run_for(100)
    assert len(log(page)) == 2 and page.problems == []


def test_instant_navigation_silences_the_voice_and_the_player_works_after_coming_back(open_player):
    page = open_player(pace=300)
    page.evaluate("window.samePage = true")
    press(page, "play")
    page.clock.run_for(300)
    page.clock.resume()
    page.get_by_role("link", name="另一页").first.click()
    page.wait_for_selector("h1:has-text('别处')")
    page.wait_for_timeout(200)
    assert page.evaluate("window.samePage") and len(log(page, "cancel")) == 1
    page.go_back()
    page.wait_for_selector("step-player[data-state=ready]")
    press(page, "play")
    page.wait_for_timeout(200)
    assert page.evaluate("window.samePage") and len(log(page)) == 2 and playing(page)
    assert page.problems == []


def test_cancel_is_never_called_by_a_player_that_never_spoke(open_player):
    page = open_player()
    press(page, "next")
    page.clock.run_for(1500)
    player(page).locator("input[type=range]").evaluate("e => { e.value = 1; e.dispatchEvent(new Event('input')); }")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange')); dispatchEvent(new Event('pagehide'))")
    assert page.evaluate("speechLog") == []


def test_a_second_player_stops_the_first(open_player):
    page = open_player(pace=300)
    press(page, "play")
    page.clock.run_for(300)
    press(page, "play", "second")
    assert not playing(page) and playing(page, "second") and len(log(page, "cancel")) == 1
    page.clock.run_for(300)
    assert len(log(page)) == 2


def test_with_the_voice_on_the_key_terms_stand_alone_and_the_full_text_is_one_press_away(open_player):
    page = open_player(pace=400)
    assert caption(page).is_visible()
    press(page, "play")
    page.clock.run_for(300)
    assert not caption(page).is_visible()
    assert player(page).locator(".player-terms").inner_text() == "三个数"
    press(page, "full")
    assert caption(page).is_visible() and not player(page).locator(".player-terms").is_visible()
    press(page, "play")
    assert caption(page).is_visible(), "a paused player shows the full text"


def test_captions_are_announced_only_where_no_voice_says_them(open_player):
    page = open_player()
    live = player(page).locator("[aria-live]")
    press(page, "next")
    page.clock.run_for(1500)
    assert live.inner_text().startswith("第 2 步，共 3 步。 减去 平均值")
    press(page, "play")
    page.clock.run_for(15_000)
    assert live.inner_text().startswith("第 2 步"), "step 3 was spoken"


# ---- surroundings


def test_under_reduced_motion_steps_switch_at_once_also_when_it_is_asked_for_while_playing(open_player):
    page = open_player(appear="never")
    press(page, "play")
    page.clock.run_for(1500)
    assert step(page) == 1
    page.emulate_media(reduced_motion="reduce")
    seen = set()
    for _ in range(20):
        page.clock.run_for(100)
        if step(page) == 2:
            seen.add(player(page).locator(".player-stage [data-k='v/0']").get_attribute("x"))
    assert seen == {"61"} and playing(page)


def test_storage_that_throws_does_no_harm(open_player, page):
    page.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new Error('blocked') }})")
    page = open_player()
    press(page, "speed")
    press(page, "play")
    page.clock.run_for(500)
    assert playing(page) and len(log(page)) == 1
    assert not [p for p in page.problems if "step-player" in p or "player.js" in p]


def test_speed_and_voice_are_remembered(open_player):
    page = open_player()
    press(page, "speed")
    press(page, "voice")
    page.reload()
    page.wait_for_selector("step-player[data-state=ready]")
    assert player(page).locator("button[data-act=speed]").inner_text() == "1.25×"
    press(page, "play")
    page.clock.run_for(300)
    assert page.evaluate("speechLog") == [], "a remembered choice says nothing by itself, and off is off"


def test_without_scripts_it_is_a_numbered_list_of_frames_and_captions(browser, serve, folder):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(serve(folder / "site").url)
    items = tab.locator("[data-explainer=first] [data-step]")
    tops = [items.nth(i).bounding_box()["y"] for i in range(items.count())]
    assert items.count() == 3 and tops == sorted(tops) and tops[1] - tops[0] > 100
    assert all(items.nth(i).locator("svg").is_visible() and items.nth(i).locator("p").is_visible() for i in range(3))
    assert items.first.evaluate("e => getComputedStyle(e).listStyleType") == "decimal"
    assert not tab.locator("[data-explainer=first] .player-bar").is_visible()
    context.close()


@pytest.mark.parametrize("width", [360, 390, 800, 1280])
def test_neither_the_coming_script_nor_any_step_moves_the_page(browser, serve, folder, width):
    context = browser.new_context(viewport={"width": width, "height": 900})
    tab = context.new_page()
    tab.add_init_script(
        "window.shift = 0; new PerformanceObserver(l => l.getEntries().forEach(e => window.shift += e.value))"
        ".observe({type: 'layout-shift', buffered: true})"
    )
    site = serve(
        folder / "site",
        delay={p.relative_to(folder / "site").as_posix(): 1.5 for p in folder.glob("site/assets/sitegen/*/player.js")},
    )
    tab.goto(site.url, wait_until="commit")
    tab.wait_for_selector("step-player", state="attached")
    tab.wait_for_timeout(250)
    assert tab.locator("step-player").first.get_attribute("data-state") is None
    early = tab.locator("step-player").first.bounding_box()
    tab.wait_for_selector("step-player[data-state=ready]")
    heights = {round(early["height"])}
    for _ in range(3):
        heights.add(round(tab.locator("step-player").first.bounding_box()["height"]))
        tab.locator("button[data-act=next]").first.evaluate("b => b.click()")
        tab.wait_for_timeout(300)
    assert len(heights) == 1, heights
    assert tab.evaluate("shift") < 0.01
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_every_control_has_a_name_and_can_be_reached_in_order(open_player):
    page = open_player()
    player(page).locator("button[data-act=prev]").focus()
    reached = []
    for _ in range(5):
        reached.append(page.evaluate("document.activeElement.dataset.act || document.activeElement.type"))
        page.keyboard.press("Tab")
    assert reached == ["prev", "play", "next", "range", "speed"]
    names = page.evaluate(
        "[...document.querySelectorAll('step-player :is(button, input)')].map(e => e.ariaLabel || e.textContent.trim())"
    )
    assert all(names)
    sizes = page.evaluate(
        "[...document.querySelectorAll('.player-bar button')].map(e => e.getBoundingClientRect().height)"
    )
    assert min(sizes) >= 24


def test_printing_shows_every_step_and_no_controls(open_player):
    page = open_player()
    page.emulate_media(media="print")
    items = player(page).locator("[data-step]")
    assert all(items.nth(i).locator("svg").is_visible() and items.nth(i).locator("p").is_visible() for i in range(3))
    assert not player(page).locator(".player-bar").is_visible()


def test_the_scripts_are_small_and_hold_no_keep_alive_trick():
    scripts = b"".join((published.HERE / name).read_bytes() for name in ("player.js", "tween.js", "voice.js"))
    assert len(gzip.compress(scripts, 9)) < 8000
    assert not re.search(rb"speechSynthesis\.(pause|resume)|engine\(\)\??\.(pause|resume)", scripts)
