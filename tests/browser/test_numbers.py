"""Every number answers for itself, in a real browser: panel, recompute, change and reset, keyboard, phone, no script."""

import json
import re
from pathlib import Path

import pytest

from tests.sites import build, tiny

PREFIX = "/ai-course/"
LESSON = '''"""A lesson."""

import numpy as np

from tiny_sim.facts import fact, WIDE  # noqa: F401
from tiny_sim.ops import norm
from sitegen.page.experiment import experiment

x = np.array([30.0, -8.0, 52.0])  # 「借」 after many layers
mean = x.mean()
normed = norm(x)
wide = 2 * WIDE.d_model
factor = 3
tripled = [factor * n for n in range(2, 4)]
kept = np.sqrt(x.max())


@experiment(seeds=[1, 2, 3], size=3)
def run(seed, size):
    return seed * size


runs = run()
middle = np.median(runs)
scaled = middle * factor
'''
FACTS = '''"""Facts."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    title: str
    authors: str
    year: int
    where: str = ""
    link: str = ""


@dataclass(frozen=True)
class Fact:
    id: str
    value: float
    unit: str
    statement: str
    source: Source


PAPER = Source("A Paper", "Ba, Kiros", 2016, "Table 6", "https://example.org/paper")


def fact(id):
    return Fact(id, 8.75, "% error", "an error", PAPER)


class Spec:
    d_model = 512

    def fact(self, name):
        if name != "d_model":
            raise KeyError(name)
        return Fact("spec.d_model", 512, "dims", "width", PAPER)


WIDE = Spec()
'''
OPS = '''"""Operations."""


def norm(x):  # (d,) -> (d,)
    """Less the mean, by the deviation."""
    return (x - x.mean()) / x.std()
'''
PAGE = """---
lesson: one
---

# 页

平均值约 {{ num(mean, 2) }}，最大 {{ num(x[0]) }}。归一化后是 {{ vec(normed, 2) }}，再看一次 {{ num(mean, 2) }}。

另一段 {{ num(kept, 3) }}，{{ num(fact("err")) }}，{{ num(wide) }}，{{ num(scaled) }}。

$$y = \\frac{x - \\mu}{\\sigma}$$

{{ code("tiny_sim.ops.norm") }}

| 甲 | 乙 |
|---|---|
| {{ num(tripled[0]) }} | {{ num(tripled[1]) }} |

<figure><svg role="img" aria-label="图" width="20" height="20"><desc>图</desc><rect width="9" height="9"/></svg></figure>

<details markdown="1"><summary>问</summary>

藏着 {{ num(factor) }}

</details>
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A small site with Python in it."""
    folder = tmp_path_factory.mktemp("numbers")
    config = tiny(folder, {"index.md": PAGE, "other.md": "# 另一页\n\n没有数。"}, runtime="true")
    package = folder / "tiny_sim"
    (package / "lessons").mkdir(parents=True)
    (package / "results").mkdir()
    for init in (package, package / "lessons"):
        (init / "__init__.py").write_text("", encoding="utf-8")
    for name, text in {"facts": FACTS, "ops": OPS, "lessons/one": LESSON}.items():
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    text = config.read_text(encoding="utf-8").replace("lessons: tiny_lessons", "lessons: tiny_sim.lessons")
    config.write_text(text.replace("[admonition,", "[admonition, md_in_html,"), encoding="utf-8")
    from sitegen.__main__ import main

    main(["--config", str(config), "experiments"])
    build(config, folder / "site")
    return folder / "site"


@pytest.fixture
def article(site, page, serve):
    page.goto(serve(site, prefix=PREFIX).url)
    page.wait_for_selector("data.num[role=button]")
    return page


def number(page, expression, nth=0):
    return page.locator(f"data.num[data-expr='{expression}']").nth(nth)


MEAN = "num(mean, 2)"
PANEL = "#num-panel"


def opened(page, expression, nth=0):
    number(page, expression, nth).click()
    page.wait_for_selector(f"{PANEL} [data-source-code], {PANEL} .num-source")
    return page.locator(PANEL)


def run(page):
    page.locator(f"{PANEL} button[data-act=run]").click()
    return page.wait_for_selector(f"{PANEL} [data-result]", timeout=60_000)


def test_a_click_shows_value_and_statements_down_to_the_literals(article):
    panel = opened(article, MEAN)
    assert panel.locator("[data-value]").text_content() == "24.666666666666668"
    code = panel.locator("[data-source-code]").first.locator("code").text_content()
    assert code == "x = np.array([30.0, -8.0, 52.0])  # 「借」 after many layers\nmean = x.mean()"
    assert panel.locator("[data-source-code] .mf").count() == 3, "coloured"
    assert panel.evaluate("e => e.matches('[popover]:popover-open')")
    assert article.problems == [] and article.foreign == []


def test_recomputing_gives_the_same_number_here(article):
    opened(article, MEAN)
    result = run(article)
    assert result.get_attribute("data-result") == "equal"
    assert "24.67" in result.text_content() and "24.666666666666668" in result.text_content()


def test_a_number_that_was_built_otherwise_is_called_different(article):
    number(article, MEAN).evaluate("e => { e.setAttribute('value', '24.7'); }")
    opened(article, MEAN)
    assert run(article).get_attribute("data-result") == "different"
    assert "24.7）" in article.locator("[data-result]").text_content()


def test_a_changed_literal_moves_everything_that_depends_on_it_until_reset(article):
    opened(article, MEAN)
    article.locator("button[data-act=change]").click()
    literal = article.locator("input.num-literal").nth(1)
    assert literal.input_value() == "-8.0"
    literal.fill("−20")
    literal.press("Enter")
    article.wait_for_selector("[data-result-changed]", timeout=60_000)
    texts = article.locator(f"data[data-expr='{MEAN}']").all_text_contents()
    assert texts == ["20.67", "20.67"]
    assert number(article, "num(x[0])").get_attribute("data-changed") == "same"
    assert number(article, "num(tripled[0])").get_attribute("data-changed") is None
    assert number(article, "num(kept, 3)").get_attribute("data-changed") == "same"
    assert article.locator(".num-note").all_text_contents() == ["按原值画"]
    article.locator(".num-bar button[data-act=reset]").click()
    assert article.locator(f"data[data-expr='{MEAN}']").all_text_contents() == ["24.67", "24.67"]
    assert article.locator("[data-changed], .num-note, .num-bar").count() == 0


def test_tables_and_numbers_beside_experiments_follow_a_change(article):
    opened(article, "num(tripled[0])")
    article.locator("button[data-act=change]").click()
    article.locator("input.num-literal").first.fill("5")
    article.locator("button[data-act=apply]").click()
    article.wait_for_selector("[data-result-changed]", timeout=60_000)
    assert article.locator("td data.num").all_text_contents() == ["10", "15"]
    assert number(article, "num(scaled)").text_content() == "30", "the committed result, times the new factor"


@pytest.mark.parametrize(
    "typed",
    ['__import__("os").system("true")', '<img src=x onerror="window.__p=1">', "1e999", "[1, 2]", "x", "9" * 50, ""],
)
def test_what_is_no_number_is_refused_and_nothing_runs(article, typed):
    """X01: a literal is read, never spliced."""
    opened(article, MEAN)
    article.locator("button[data-act=change]").click()
    article.locator("input.num-literal").first.fill(typed)
    article.locator("button[data-act=apply]").click()
    article.wait_for_selector(".num-error", timeout=60_000)
    assert article.evaluate("window.__p") is None
    assert article.locator(f"data[data-expr='{MEAN}']").all_text_contents() == ["24.67", "24.67"]
    assert article.locator("input[aria-invalid=true]").count() == 1


def test_a_value_that_cannot_be_shown_after_a_change_says_so(article):
    opened(article, "num(kept, 3)")
    article.locator("button[data-act=change]").click()
    for i in range(3):
        article.locator("input.num-literal").nth(i).fill("-1")
    article.locator("button[data-act=apply]").click()
    article.wait_for_selector("[data-changed=none]", timeout=60_000)
    assert number(article, "num(kept, 3)").text_content() == "—"


def test_enter_that_ends_a_composition_does_not_apply(article):
    """W09"""
    opened(article, MEAN)
    article.locator("button[data-act=change]").click()
    literal = article.locator("input.num-literal").first
    literal.fill("31")
    literal.evaluate("e => e.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true }))")
    article.wait_for_timeout(200)
    assert article.locator("[data-changed]").count() == 0


def test_a_fact_shows_its_source(article):
    panel = opened(article, 'num(fact("err"))')
    text = panel.locator(".num-source").text_content()
    for part in ("Ba, Kiros", "2016", "A Paper", "Table 6", "an error"):
        assert part in text
    assert panel.locator(".num-source a").get_attribute("href") == "https://example.org/paper"
    assert panel.locator("button[data-act=run]").count() == 0


def test_a_number_computed_from_facts_lists_them_and_can_be_computed(article):
    panel = opened(article, "num(wide)")
    assert "A Paper" in panel.locator(".num-facts").text_content()
    assert run(article).get_attribute("data-result") == "equal"


def test_an_experiment_shows_settings_seeds_spread_and_code_without_run(article):
    panel = opened(article, "num(scaled)")
    text = panel.locator("[data-experiment=run]").text_content()
    assert "size = 3" in text and "3 个随机种子（1 … 3）" in text
    assert "最小 9，中位 18，最大 27" in panel.locator("[data-spread]").text_content()
    assert "def run(seed, size)" in panel.text_content()
    assert panel.locator("button[data-act=run]").count() == 0


def test_the_formula_of_a_function_used_and_its_source_are_there(article):
    panel = opened(article, "num(normed[1], 2)")
    assert panel.locator(".num-formula math").count() == 1
    assert "def norm(x)" in panel.text_content() and "tiny_sim/ops.py:4" in panel.text_content()


def test_numbers_are_one_tab_stop_a_paragraph_with_arrows_within(article):
    stops = article.locator("data.num[tabindex='0']").count()
    assert stops == 4, "two paragraphs, a table, and the paragraph in the folded part"
    number(article, MEAN).focus()
    for _ in range(3):
        article.keyboard.press("ArrowRight")
    assert article.evaluate("document.activeElement.dataset.expr") == "num(normed[1], 2)"
    article.keyboard.press("End")
    assert article.evaluate("document.activeElement.id.endsWith('-2')")
    article.keyboard.press("Tab")
    assert article.evaluate("document.activeElement.dataset.expr") == "num(kept, 3)"
    article.keyboard.press("Shift+Tab")
    assert article.evaluate("document.activeElement.dataset.expr") == MEAN, "back to where the reader was"


def test_the_keyboard_opens_and_escape_returns_to_the_number(article):
    number(article, MEAN).focus()
    article.keyboard.press("Enter")
    article.wait_for_selector(f"{PANEL} [data-source-code]")
    assert article.evaluate("document.activeElement.closest('#num-panel') !== null")
    article.keyboard.press("Escape")
    assert article.evaluate("document.activeElement.dataset.expr") == MEAN


def test_screen_readers_are_told_what_a_number_and_the_panel_are(article):
    one = number(article, MEAN)
    assert one.get_attribute("role") == "button" and one.get_attribute("aria-haspopup") == "dialog"
    panel = opened(article, MEAN)
    assert panel.get_attribute("role") == "dialog"
    assert article.locator("#" + panel.get_attribute("aria-labelledby")).text_content() == "24.67 的来处"


def test_a_link_leads_to_the_exact_number_also_inside_a_folded_part(site, page, serve):
    url = serve(site, prefix=PREFIX).url
    page.goto(url)
    page.wait_for_selector("data.num[role=button]")
    name = page.locator("data.num[data-expr='num(factor)']").get_attribute("id")
    assert name.startswith("n-") and number(page, MEAN, 1).get_attribute("id") == number(page, MEAN).get_attribute("id") + "-2"
    page.goto("about:blank")
    page.goto(f"{url}#{name}")
    page.wait_for_selector(f"{PANEL} [data-source-code]")
    assert page.locator(f"[id='{name}']").is_visible()
    assert page.locator(f"{PANEL} a[data-link]").get_attribute("href") == f"#{name}"


@pytest.mark.parametrize("where", ['?q=<img src=x onerror="window.__p=1">', '#<img src=x onerror="window.__p=1">', "#n-%", "#%E0%A4%A"])
def test_the_address_cannot_run_anything(site, page, serve, where):
    """X01"""
    page.goto(serve(site, prefix=PREFIX).url + where)
    page.wait_for_selector("data.num[role=button]")
    assert page.evaluate("window.__p") is None and page.problems == []


def test_on_a_phone_the_panel_is_a_sheet_at_the_bottom_and_the_page_does_not_scroll_sideways(article):
    article.set_viewport_size({"width": 390, "height": 800})
    panel = opened(article, MEAN)
    article.wait_for_timeout(300)
    box = panel.bounding_box()
    assert box["x"] == 0 and box["width"] == 390 and abs(box["y"] + box["height"] - 800) < 1
    assert article.evaluate("document.documentElement.scrollWidth") <= 390


def test_without_the_numbers_file_the_panel_says_why(site, page, serve):
    served = serve(site, prefix=PREFIX)
    served.missing |= {f"assets/numbers/{f.name}" for f in (site / "assets" / "numbers").iterdir()}
    page.goto(served.url)
    page.wait_for_selector("data.num[role=button]")
    number(page, MEAN).click()
    assert "没有算成" in page.wait_for_selector(".num-error").text_content()


def test_without_javascript_numbers_are_text(site, browser, serve):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(serve(site, prefix=PREFIX).url)
    assert "平均值约 24.67，" in page.locator("article").inner_text()
    assert page.locator("data.num[role], data.num[tabindex]").count() == 0
    context.close()


def test_every_number_of_article_5_answers(built_site, page, serve):
    """Each is opened, and each that can be computed in the browser gives what the page says."""
    page.goto(serve(built_site, prefix=PREFIX).url + "05-sublayers/")
    page.wait_for_selector("data.num[role=button]")
    first = page.evaluate("""async () => {
        const wrong = [], all = [...document.querySelectorAll("data.num[data-expr][role=button]")];
        for (const number of all) {
            for (let d = number.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
            number.click();
            const there = () => document.querySelector(`#num-panel [data-link][href="#${number.id}"]`)
                && document.querySelector("#num-panel .num-code, #num-panel .num-source, #num-panel .num-error");
            for (let i = 0; i < 100 && !there(); i++) await new Promise(done => setTimeout(done, i ? 20 : 0));
            const panel = document.querySelector("#num-panel");
            const run = panel.querySelector("button[data-act=run]") !== null;
            const ok = panel.matches(":popover-open") && panel.querySelector("[data-value]").textContent === number.getAttribute("value")
                && (number.dataset.origin === "fact" ? panel.querySelector(".num-source a[href]") && !run
                    : number.dataset.origin === "experiment" ? panel.querySelector("[data-experiment]") && !run
                    : panel.querySelector("[data-source-code]") && run);
            if (!ok) wrong.push(number.dataset.expr);
        }
        return { wrong: [...new Set(wrong)], count: all.length };
    }""")
    assert first["wrong"] == [] and first["count"] > 600
    answers = page.evaluate("""async () => {
        const { Python } = await import([...document.scripts].find(s => s.src.endsWith("numbers.js")).src.replace("numbers.js", "python.js"));
        const article = document.querySelector("article[data-lesson]");
        const all = [...document.querySelectorAll("data[data-expr]")].filter(n => !n.closest(".quiz-from"));
        const python = Python.shared({ base: new URL(article.dataset.runtime, document.baseURI).href });
        const answers = [], lessonOf = n => n.closest("[data-lesson]").dataset.lesson;    // warm-ups come from others
        for (const lesson of new Set(all.map(lessonOf))) {
            const here = all.filter(n => lessonOf(n) === lesson), expressions = here.map(n => n.dataset.expr);
            const { numbers } = await python.ask("test", { do: "evaluate", lesson, expressions }, { budget: 60000 });
            answers.push(...numbers.map((n, i) => [n.text, n.value, here[i].textContent, here[i].getAttribute("value"), expressions[i]]));
        }
        return answers;
    }""")
    for text, value, shown, built, expression in answers:
        assert text == shown, expression
        assert float(value) == pytest.approx(float(built), rel=1e-12, abs=1e-12), expression


def test_the_numbers_file_of_article_5_stays_small(built_site):
    import gzip

    html = (built_site / "05-sublayers" / "index.html").read_text(encoding="utf-8")
    file = built_site / "05-sublayers" / re.search(r'<article [^>]*data-numbers="([^"]+)"', html)[1]
    assert len(gzip.compress(file.read_bytes())) < 45_000
    known = json.loads(file.read_text(encoding="utf-8"))
    from sitegen.numbers import expressions_in

    html = re.sub(r'<div class="quiz-from".*?</quiz-item>', "", html, flags=re.S)  # warm-ups bring their own file
    assert set(expressions_in(html)) <= set(known["expressions"])


def test_before_a_touch_an_article_fetches_no_panel_and_no_python_and_asks_nobody_else(built_site, page, serve):
    """X06, X03"""
    served = serve(built_site, prefix=PREFIX)
    page.goto(served.url + "05-sublayers/")
    page.wait_for_selector("data.num[role=button]")
    page.wait_for_load_state("networkidle")
    late = ("assets/numbers/", "assets/runtime/", "panel.js")
    assert page.foreign == [] and not [asked for asked in served.requests if any(part in asked for part in late)]


@pytest.mark.parametrize("width", [320, 390])
def test_an_article_does_not_scroll_sideways_on_a_phone(built_site, page, serve, width):
    """W08"""
    page.set_viewport_size({"width": width, "height": 640})
    page.goto(serve(built_site, prefix=PREFIX).url + "05-sublayers/")
    page.wait_for_selector("quiz-item[data-state]")
    page.evaluate("document.querySelectorAll('quiz-item [data-act=skip]:not([hidden]), quiz-item [data-act=show]:not([hidden])').forEach(b => b.click())")
    wide = page.evaluate("""() => [...document.querySelectorAll("article *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1
        && !e.closest(".md-typeset__scrollwrap, .mat, .formula, pre, .lab-output, table, svg, math")).map(e => e.outerHTML.slice(0, 120)).slice(0, 5)""")
    assert page.evaluate("document.documentElement.scrollWidth") <= width and wide == []
