"""The labs of the real site in a real browser: the same Python, the same numbers, the same trees."""

import importlib
import json
import random
import re
from html import unescape
from pathlib import Path

import pytest

from sim.counting import training_flops
from sim.lessons import sublayers
from sim.specs import GPT3_175B
from sitegen.instant import state_of
from sitegen.page.answer import answer as answer_here
from sitegen.page.display import fixed
from sitegen.page.elements import to_html
from tests.sites import build

ASK = """async request => {
  const { python } = await import(document.querySelector('script[src$="labs.js"]').src);
  return await python().ask("test", request, { budget: 120000 });
}"""
LAB = "sim-lab[data-lab=attention_lab]"


def percent(weights) -> list[str]:
    """Shares as the bars print them."""
    return [fixed(float(p) * 100, 0) + "%" for p in weights]


START, LARGE = percent(sublayers.looks_small), percent(sublayers.look(20 * sublayers.query))


def open_lab(page, url: str):
    page.goto(url)
    lab = page.locator(LAB)
    lab.scroll_into_view_if_needed()
    return lab


def touch(page, lab):
    """Approach the lab as a reader does, and wait until Python answers."""
    lab.hover()
    page.wait_for_selector(f"{LAB}[data-state=live]", timeout=60_000)


def drag(page, name: str, value: float):
    page.locator(f"{LAB} input[name={name}]").evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input', { bubbles: true })); }", value
    )


def shares(page) -> list[str]:
    return page.locator(f"{LAB} .bar-text").all_inner_texts()


def wait_for_shares(page, wanted: list[str]):
    page.wait_for_function(
        "([lab, wanted]) => JSON.stringify([...document.querySelectorAll(lab + ' .bar-text')].map(n => n.textContent))"
        " === JSON.stringify(wanted)",
        arg=[LAB, wanted], timeout=10_000,
    )  # fmt: skip


def test_the_lab_reacts_and_layer_norm_makes_it_deaf_to_scale_and_shift(page, serve, built_site):
    site = serve(built_site, prefix="/course/")
    lab = open_lab(page, site.url + "05-sublayers/")
    assert lab.get_attribute("data-state") in ("static", "instant") and page.locator("html").get_attribute("data-python") == "idle"
    assert shares(page) == START
    assert not any("runtime" in r for r in site.requests), "nothing of Python is fetched before the reader comes near"
    touch(page, lab)
    assert page.locator("html").get_attribute("data-python") == "ready"
    drag(page, "scale", 20)
    wait_for_shares(page, LARGE)
    drag(page, "scale", 1)
    drag(page, "shift", 10)
    wait_for_shares(page, percent(sublayers.looks_shifted))
    page.locator(f"{LAB} input[name=layer_norm]").check()
    normed = percent(sublayers.looks_normed)
    wait_for_shares(page, normed)
    for name, value in (("scale", 20), ("shift", -10), ("scale", 7.5), ("shift", 3)):
        drag(page, name, value)
        page.wait_for_timeout(60)
        assert shares(page) == normed
    assert page.foreign == [] and page.problems == []


def test_keys_move_a_slider_and_focus_stays(page, serve, built_site):
    """W02: redrawing never replaces the control."""
    lab = open_lab(page, serve(built_site).url + "05-sublayers/")
    touch(page, lab)
    slider = page.locator(f"{LAB} input[name=scale]")
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(30)
        assert page.evaluate("document.activeElement.name") == "scale"
    assert slider.input_value() == "6" and page.locator(f"{LAB} .lab-entry").first.input_value() == "6"
    page.locator(f"{LAB} [data-act=reset]").click()
    wait_for_shares(page, START)


def test_every_number_of_the_site_is_the_same_in_the_reader_s_browser(page, serve, built_site, record_property, capsys):
    """N17: text equal, value within rtol 1e-12, atol 1e-12, for every data.num of every built page."""
    site = serve(built_site)
    page.goto(site.url + "05-sublayers/")
    total, different = 0, []
    for path in sorted(built_site.rglob("*.html")):
        html = path.read_text(encoding="utf-8")
        # a warm-up's numbers are another article's, and are computed on its page
        html = re.sub(r'<div class="quiz-from".*?</quiz-item>\s*</div>', "", html, flags=re.S)
        lesson = re.search(r'<article [^>]*data-lesson="([^"]+)"', html)
        numbers = [
            (re.search(r'value="([^"]*)"', tag)[1], re.search(r'data-expr="([^"]*)"', tag)[1], text)
            for tag, text in re.findall(r'(<data class="num"[^>]*>)([^<]*)</data>', html)
        ]
        assert len(numbers) == html.count('<data class="num"')
        if not numbers:
            continue
        assert lesson, f"{path} shows numbers but names no lesson"
        expressions = [unescape(expression) for _, expression, _ in numbers]
        answer = page.evaluate(ASK, {"do": "evaluate", "lesson": lesson[1], "expressions": expressions})
        for (value, expression, text), there in zip(numbers, answer["numbers"], strict=True):
            total += 1
            near = abs(float(value) - float(there["value"])) <= 1e-12 + 1e-12 * abs(float(value))
            if not near or unescape(text) != there["text"]:
                different.append((path.name, expression, text, value, there))
    with capsys.disabled():
        print(f"\n{total} numbers of the site recomputed in the browser, {len(different)} different")
    assert total > 200 and different == []


def test_trees_are_equal_to_the_byte_for_random_states(page, serve, built_site):
    """N17: 200 states of every lab of every lesson that the site has."""
    site, chance, compared = serve(built_site), random.Random(20), 0
    for article in sorted(built_site.rglob("*.html")):
        html = article.read_text(encoding="utf-8")
        named = re.search(r'<article [^>]*data-lesson="([^"]+)"', html)
        if not named:
            continue
        page.goto(site.url + article.relative_to(built_site).as_posix())
        lesson = importlib.import_module(f"sim.lessons.{named[1]}")
        for name in re.findall(r'<sim-lab data-lab="([^"]+)"', html):
            found = getattr(lesson, name)
            axes = [axis for control in found.controls.values() for axis in control.axes()]
            states = [state_of(found, tuple(map(chance.choice, axes))) for _ in range(200)]
            there = page.evaluate(
                """async ([states, lesson, lab]) => {
                  const { python } = await import(document.querySelector('script[src$="labs.js"]').src);
                  const trees = [];
                  for (const state of states) {
                    const request = { do: "lab", lesson, lab, state };
                    trees.push((await python().ask("test", request, { budget: 60000 })).tree);
                  }
                  return JSON.stringify(trees);
                }""",
                [states, named[1], name],
            )
            for state, tree in zip(states, json.loads(there), strict=True):
                assert to_html(tree).encode() == to_html(found.tree(state)).encode(), (name, state)
                compared += 1
    assert compared >= 200


def test_counts_of_gpt_3_size_are_right_where_integers_have_32_bits(page, serve, built_site):
    """The browser's NumPy defaults to 32-bit integers and overflows silently: our counts are Python integers."""
    page.goto(serve(built_site).url + "05-sublayers/")
    for expression in ("count(stack_gpt3)", "count(attention_gpt3)", "count(GPT3_175B.n_params)"):
        there = page.evaluate(ASK, {"do": "evaluate", "lesson": "sublayers", "expressions": [expression]})["numbers"][0]
        request = {"do": "evaluate", "lesson": "sublayers", "expressions": [expression]}
        assert there == json.loads(_here(request))["numbers"][0]
    flops = training_flops(GPT3_175B.n_params, 300_000_000_000)
    expression = f"count(6 * GPT3_175B.n_params * {300_000_000_000})"
    there = page.evaluate(ASK, {"do": "evaluate", "lesson": "sublayers", "expressions": [expression]})["numbers"][0]
    assert int(there["value"]) == flops > 2**78


def _here(request) -> str:
    """The worker's answer, given by this Python."""
    from sitegen.page import answer as module
    from sitegen.words import words

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_settings", lambda: {"lessons": "sim.lessons", "words": words("zh")})
        return answer_here(json.dumps(request))


@pytest.fixture(scope="module")
def other_sites(tmp_path_factory, root: Path):
    """The site as others may build it: flat addresses, and without instant navigation."""
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!ENV", lambda loader, node: "")
    made = {}
    for name, change in {
        "flat": lambda c: c.update(use_directory_urls=False),
        "plain": lambda c: c["theme"].update(
            features=[f for f in c["theme"]["features"] if not f.startswith("navigation.instant")]
        ),
    }.items():
        config = yaml.load((root / "mkdocs.yml").read_text(encoding="utf-8"), Loader)
        change(config)
        config["docs_dir"] = str(root / "docs")
        folder = tmp_path_factory.mktemp(name)
        file = root / f".mkdocs-{name}.yml"  # beside mkdocs.yml: content packages are found from there
        try:
            file.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
            build(file, folder)
        finally:
            file.unlink(missing_ok=True)
        made[name] = folder
    return made


@pytest.mark.parametrize(("name", "address"), [("flat", "05-sublayers.html"), ("plain", "05-sublayers/")])
def test_the_lab_works_with_flat_addresses_and_without_instant_navigation(page, serve, other_sites, name, address):
    """M13, P05: everything under a sub-path, every request below it."""
    site = serve(other_sites[name], prefix="/ai-course/")
    lab = open_lab(page, site.url + address)
    touch(page, lab)
    drag(page, "scale", 20)
    wait_for_shares(page, LARGE)
    assert page.foreign == [] and site.not_found == []


def test_with_instant_navigation_labs_wake_up_after_a_click_and_python_lives_on(page, serve, tmp_path, root):
    """M16: home → article → home → article, by clicking; the one worker is not started again."""
    site = serve(tmp_path, prefix="/course/")
    build(root / "mkdocs.yml", tmp_path, site_url=site.url)
    page.goto(site.url)
    page.evaluate("window.stayed = true")
    for _ in range(2):
        page.locator(".lead-article h3 a[href*=sublayers]").first.click()
        page.wait_for_selector(LAB)
        lab = page.locator(LAB)
        lab.scroll_into_view_if_needed()
        touch(page, lab)
        drag(page, "scale", 20)
        wait_for_shares(page, LARGE)
        page.evaluate("window.scrollTo(0, 0)")
        page.locator(".md-header__button.md-logo").first.click()
        page.wait_for_selector(".series-list")
    assert page.evaluate("window.stayed") is True, "the page was loaded anew: instant navigation is off"
    assert sum(path.endswith("wasm.pack") for path in site.requests) == 1
    assert page.foreign == []


def test_without_javascript_the_start_state_stands(browser, serve, built_site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(serve(built_site).url + "05-sublayers/")
    assert page.locator(f"{LAB} .bar-text").all_inner_texts() == START
    assert page.locator(f"{LAB} [data-status]").inner_text().startswith("这里显示的是起始状态")
    context.close()


def test_a_failed_start_keeps_the_view_says_why_and_can_be_tried_again(page, serve, built_site):
    site = serve(built_site)
    lab = open_lab(page, site.url + "05-sublayers/")
    missing = next(built_site.rglob("numpy.pack")).relative_to(built_site).as_posix()
    site.missing.add(missing)
    lab.hover()
    page.wait_for_selector(f"{LAB}[data-state=failed]", timeout=60_000)
    assert "没能启动 Python" in lab.locator("[data-status]").inner_text()
    assert shares(page) == START
    site.missing.discard(missing)
    lab.locator("[data-act=retry]").click()
    page.wait_for_selector(f"{LAB}[data-state=live]", timeout=60_000)
    drag(page, "scale", 20)
    wait_for_shares(page, LARGE)
