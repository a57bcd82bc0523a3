"""Questions in a real browser: ask first, explain after, bring back what was missed, remember on this device only."""

import json

import pytest

from tests.sites import build, tiny

PREFIX = "/ai-course/"
LESSON = '''"""A lesson."""

import numpy as np

x = np.array([2.0, 10.0, 6.0, 6.0])
deviation = x.std()
of_sample = x.std(ddof=1)
share = 2 / 3
many = 124439808
normed = (x - x.mean()) / deviation
'''
PAGE = """---
lesson: one
---

# 页

## 甲 {#one}

::: quiz 想一想 {#choose}
除以谁？

( ) {{ num(of_sample, 2) }}
:   这是样本的，<img src="assets/a.png" alt="">。

(x) {{ num(deviation, 2) }}
:   对，除以个数，{{ num(deviation, 3) }}。

( ) 都行
:   不行。
:::

::: predict 先猜一猜 {#guess}
占多少？

( ) {{ pct(share / 2) }}
:   少了一半。

(x) {{ pct(share, 1) }}
:   三分之二。

( ) 全部
:   没有。

+++

算出来是 {{ pct(share, 2) }}。
:::

## 乙 {#two}

::: quiz 几个 {#many}
哪些对？

[x] 甲
:   对的。

[ ] 乙
:   错的。

[x] 丙
:   也对。
:::

::: worked 例 {#work}
先算标准差。

(=) {{ num(deviation, 2) }}
:   开方。

(~) {{ num(of_sample, 2) }}
:   除以了个数减一。

再算第二个数。

(=) {{ num(normed[1], 2) }}
:   除一下。

完了。
:::

## 丙 {#three}

::: quiz 占几成 {#typed}
写一个百分数。

(=) {{ pct(share, 1) }}
:   三分之二。
:::

::: quiz 共几个 {#count}
写全。

(=) {{ count(many) }}
:   数一数。
:::

## 没有题 {#four}

文。
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quiz")
    (folder / "docs" / "assets").mkdir(parents=True)
    (folder / "docs" / "assets" / "a.png").write_bytes(b"")
    warm = PAGE.split("## 甲")[0].replace("one", "two") + "::: warmup 先热身\nindex.md#choose\n:::\n\n{{ num(y) }}\n"
    config = tiny(folder, {"index.md": PAGE, "two.md": warm}, {"one": LESSON, "two": '"""B."""\n\ny = 2\n'})
    build(config, folder / "site")
    return folder / "site"


@pytest.fixture
def article(site, page, serve):
    page.goto(serve(site, prefix=PREFIX).url)
    page.wait_for_selector("quiz-item[data-state]")
    return page


def item(page, name):
    return page.locator(f"quiz-item[data-quiz='{name}']")


def choose(page, name, *places):
    for place in places:
        item(page, name).locator("input").nth(place).check()
    item(page, name).locator("[data-act=commit]").click()


def write(page, name, text):
    item(page, name).locator(".quiz-field").fill(text)
    item(page, name).locator("[data-act=commit]").click()


def feedback(page, name):
    return item(page, name).locator("[data-feedback]")


def test_nothing_is_given_away_before_an_answer(article):
    one = item(article, "choose")
    assert one.locator(".quiz-why").first.is_hidden() and one.locator("input[type=radio]").count() == 3
    assert feedback(article, "choose").inner_text() == ""


def test_a_wrong_choice_shows_its_own_explanation_first_then_the_others(article):
    choose(article, "choose", 0)
    said = feedback(article, "choose")
    assert said.get_attribute("data-feedback") == "wrong" and "✗ 不对" in said.inner_text()
    assert "这是样本的" in said.inner_text() and "不行" not in said.inner_text()
    assert "除以个数" in item(article, "choose").locator("details").inner_text()
    assert article.evaluate("[...document.querySelectorAll('#q-choose [id]')].map(e => e.id).length === "
                            "new Set([...document.querySelectorAll('#q-choose [id]')].map(e => e.id)).size")  # fmt: skip


def test_a_right_choice_says_so_in_words(article):
    choose(article, "choose", 1)
    said = feedback(article, "choose")
    assert said.get_attribute("data-feedback") == "right" and "✓ 对" in said.inner_text() and "除以个数" in said.inner_text()


def test_committing_without_a_choice_asks_for_one(article):
    item(article, "choose").locator("[data-act=commit]").click()
    assert "先选一个" in feedback(article, "choose").inner_text()


def test_the_keyboard_alone_answers(article):
    item(article, "choose").locator("input").first.focus()
    article.keyboard.press("ArrowDown")
    article.keyboard.press("Enter")
    assert feedback(article, "choose").get_attribute("data-feedback") == "right"


def test_numbers_in_options_answer_for_themselves_only_after_the_choice(article):
    option = item(article, "choose").locator(".quiz-option data").first
    option.click()
    assert item(article, "choose").locator("input").first.is_checked() and article.locator("#num-panel").count() == 0
    item(article, "choose").locator("[data-act=commit]").click()
    option.click()
    article.wait_for_selector("#num-panel [data-source-code]")


def test_a_multiple_choice_is_right_only_whole(article):
    choose(article, "many", 0)
    assert "✗ 不全对" in feedback(article, "many").inner_text()
    item(article, "many").locator("[data-act=again]").click()
    choose(article, "many", 0, 2)
    assert feedback(article, "many").get_attribute("data-feedback") == "right"


def test_a_prediction_hides_the_result_until_the_reader_commits_and_shows_the_gap(article):
    result = item(article, "guess").locator(".quiz-result")
    assert result.is_hidden()
    choose(article, "guess", 0)
    assert result.is_visible() and "66.67%" in result.inner_text()
    assert "你选的是「33%」，算出来是「66.7%」。" in feedback(article, "guess").inner_text()


def test_a_prediction_may_be_skipped(article):
    item(article, "guess").locator("[data-act=skip]").click()
    assert item(article, "guess").locator(".quiz-result").is_visible()
    assert "没有猜。算出来是「66.7%」" in feedback(article, "guess").inner_text()


@pytest.mark.parametrize("text", ["66.7%", "66.7", "0.667", "２/３", "66.7％", " 2/3 ", "66.666%"])
def test_a_typed_number_may_be_written_in_any_usual_way(article, text):
    write(article, "typed", text)
    assert feedback(article, "typed").get_attribute("data-feedback") == "right"


@pytest.mark.parametrize("text", ["67.9", "0.6", "6.67", "-66.7"])
def test_a_number_off_the_tolerance_is_wrong(article, text):
    write(article, "typed", text)
    assert feedback(article, "typed").get_attribute("data-feedback") == "wrong"
    assert item(article, "typed").locator(".quiz-why").first.is_hidden(), "the reader may compute again"


def test_whole_numbers_are_exact_and_commas_are_welcome(article):
    write(article, "count", "124439807")
    assert feedback(article, "count").get_attribute("data-feedback") == "wrong"
    write(article, "count", "124,439,808")
    assert feedback(article, "count").get_attribute("data-feedback") == "right"


def test_what_is_no_number_is_told_and_not_counted(article):
    write(article, "typed", '<img src=x onerror="window.__p=1">')
    assert "写一个数" in feedback(article, "typed").inner_text() and article.evaluate("window.__p") is None
    assert article.evaluate("localStorage.getItem('sitegen.quiz')") is None


def test_enter_that_ends_a_composition_does_not_submit(article):
    """W09"""
    field = item(article, "typed").locator(".quiz-field")
    field.fill("66.7")
    for event in ("{ key: 'Enter', isComposing: true, bubbles: true }", "{ key: 'Enter', keyCode: 229, bubbles: true }"):
        field.evaluate(f"e => e.dispatchEvent(new KeyboardEvent('keydown', {event}))")
    assert feedback(article, "typed").inner_text() == ""
    field.press("Enter")
    assert feedback(article, "typed").get_attribute("data-feedback") == "right"


def test_a_usual_slip_is_recognised_and_the_step_stays_open(article):
    write(article, "work-1", "3.27")
    assert "除以了个数减一" in feedback(article, "work-1").inner_text()
    assert item(article, "work-2").is_hidden()
    write(article, "work-1", "2.83")
    assert feedback(article, "work-1").get_attribute("data-feedback") == "right" and item(article, "work-2").is_visible()
    assert article.get_by_text("完了。").is_hidden()
    item(article, "work-2").locator("[data-act=show]").click()
    assert "答案是「1.41」" in feedback(article, "work-2").inner_text() and article.get_by_text("完了。").is_visible()


def test_a_missed_question_returns_at_the_end_of_the_next_section_until_it_is_right(article):
    choose(article, "choose", 2)
    again = article.locator("quiz-item[data-again=choose]")
    assert again.count() == 1 and "再来一次：想一想" in again.inner_text()
    assert again.evaluate("e => e.nextElementSibling.id") == "three", "at the end of section two"
    again.locator("input").first.check()
    again.locator("[data-act=commit]").click()
    assert article.locator("quiz-item[data-again=choose]").count() == 2, "missed again: again in the section after"
    last = article.locator("quiz-item[data-again=choose][data-round='2']")
    assert last.evaluate("e => e.nextElementSibling.id") == "four"
    last.locator("input").nth(1).check()
    last.locator("[data-act=commit]").click()
    article.reload()
    article.wait_for_selector("quiz-item[data-state]")
    article.wait_for_timeout(200)
    assert article.locator("quiz-item[data-again]").count() == 0, "answered right, it does not come back"


def test_where_no_later_section_asks_it_returns_in_its_own(article):
    write(article, "typed", "1")
    assert article.locator("quiz-item[data-again=typed]").evaluate("e => e.nextElementSibling.id") == "four"


def test_progress_is_kept_on_this_device_and_can_be_cleared(article):
    choose(article, "choose", 0)
    choose(article, "many", 0, 2)
    article.reload()
    article.wait_for_selector("quiz-item[data-state]")
    assert feedback(article, "choose").get_attribute("data-feedback") == "wrong"
    assert feedback(article, "many").get_attribute("data-feedback") == "right"
    article.wait_for_selector("quiz-item[data-again=choose]")
    assert "6 题，答过 2 题，对了 1 题" in article.locator(".quiz-progress").inner_text()
    article.locator("[data-act=clear]").click()
    assert article.evaluate("localStorage.getItem('sitegen.quiz')") is None
    assert article.locator("quiz-item[data-again]").count() == 0 and feedback(article, "many").inner_text() == ""
    assert article.foreign == [] and article.problems == []


BLOCKED = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('blocked', 'SecurityError'); } })"
FULL = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"


@pytest.mark.parametrize("script", [BLOCKED, FULL])
def test_where_storage_fails_questions_work_and_are_not_remembered(site, page, serve, script):
    """W11"""
    page.add_init_script(script)
    page.goto(serve(site, prefix=PREFIX).url)
    page.wait_for_selector("quiz-item[data-state]")
    choose(page, "choose", 1)
    assert feedback(page, "choose").get_attribute("data-feedback") == "right"
    assert not [p for p in page.problems if "quiz" in p]


@pytest.mark.parametrize(
    "kept",
    ["{", "[1]", "7", json.dumps({"one/choose": {"chosen": [99], "right": True}, "one/many": {"chosen": "x"}, "one/typed": {"typed": ["<b>"]}}),
     json.dumps({"one/typed": {"typed": '<img src=x onerror="window.__p=1">', "right": False}})],
)  # fmt: skip
def test_damaged_progress_hurts_nothing(site, page, serve, kept):
    """W11, X01"""
    served = serve(site, prefix=PREFIX)
    page.goto(served.url)
    page.evaluate("kept => localStorage.setItem('sitegen.quiz', kept)", kept)
    page.reload()
    page.wait_for_selector("quiz-item[data-state]")
    page.wait_for_timeout(100)
    assert page.problems == [] and page.evaluate("window.__p") is None
    write(page, "count", "124439808")
    assert feedback(page, "count").get_attribute("data-feedback") == "right"


def test_a_warm_up_asks_again_and_its_numbers_answer_from_their_own_lesson(site, page, serve):
    page.goto(serve(site, prefix=PREFIX).url + "two/")
    page.wait_for_selector(".quiz-warmup quiz-item[data-state]")
    choose(page, "choose", 1)
    page.locator(".quiz-warmup .quiz-option data.num").nth(1).click()
    assert "deviation = x.std()" in page.wait_for_selector("#num-panel [data-source-code]").inner_text()
    assert "two/warm-choose" not in page.evaluate("localStorage.getItem('sitegen.quiz')")


def test_on_a_phone_nothing_scrolls_sideways(article):
    article.set_viewport_size({"width": 320, "height": 640})
    choose(article, "choose", 0)
    assert article.evaluate("document.documentElement.scrollWidth") <= 320


def test_without_javascript_answers_are_folded_and_results_open(site, browser, serve):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(serve(site, prefix=PREFIX).url)
    assert item(page, "guess").locator(".quiz-result").is_visible()
    why = item(page, "choose").locator(".quiz-why").nth(1)
    assert why.is_hidden()
    item(page, "choose").locator("summary").click()
    assert why.is_visible() and "✓ 对" in why.inner_text() and "除以个数" in why.inner_text()
    assert page.get_by_text("完了。").is_visible() and page.locator("button[data-act]").count() == 0
    context.close()


def test_instant_navigation_and_back_leave_questions_working(site, page, serve, tmp_path_factory):
    """M16"""
    folder = tmp_path_factory.mktemp("instant")
    config = tiny(folder, {"index.md": PAGE.replace('，<img src="assets/a.png" alt="">', ""), "two.md": "# 另一页\n\n文。"}, {"one": LESSON})
    text = config.read_text(encoding="utf-8").replace("font: false", "font: false, features: [navigation.instant]")
    served = serve(folder / "site", prefix=PREFIX)
    config.write_text(text.replace("site_url: ''", f"site_url: {served.url}"), encoding="utf-8")
    build(config, folder / "site")
    page.goto(served.url)
    page.wait_for_selector("quiz-item[data-state]")
    page.evaluate("window.stayed = true")
    page.locator(".md-nav__link[href$='two/']").first.evaluate("e => e.click()")
    page.wait_for_selector("h1#另一页")
    page.go_back()
    page.wait_for_selector("quiz-item[data-state]")
    assert page.evaluate("window.stayed") is True, "without a load"
    choose(page, "choose", 0)
    assert page.locator("quiz-item[data-again=choose]").count() == 1
    page.locator("p data.num:visible, .quiz-why data.num:visible").first.click()
    page.wait_for_selector("#num-panel [data-source-code]")
    assert page.locator("#num-panel").count() == 1 and page.problems == []


def test_every_question_of_article_5_works(built_site, page, serve):
    page.goto(serve(built_site, prefix=PREFIX).url + "05-sublayers/")
    page.wait_for_selector("quiz-item[data-state]")
    names = page.locator("quiz-item").evaluate_all("all => all.map(e => [e.dataset.quiz, e.dataset.kind])")
    assert len(names) >= 18
    for name, kind in names:
        right = item(page, name).locator(".quiz-why[data-right=true]")
        if kind == "number":
            write(page, name, right.locator(".quiz-number").inner_text() if right.is_visible() else right.locator(".quiz-number").text_content())
        else:
            choose(page, name, int(right.get_attribute("data-option")))
        assert feedback(page, name).get_attribute("data-feedback") == "right", name
    assert page.locator("quiz-item[data-again]").count() == 0 and page.problems == []
