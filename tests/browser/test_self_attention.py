"""Article 2 in a real browser: what a reader who does as the text says will see, and a phone's width."""

import pytest

from sim.lessons import self_attention as lesson
from sitegen.page.display import fixed

PATH = "02-self_attention/"
EDIT, QUERY, DIVISOR = (f"sim-lab[data-lab={name}]" for name in ("edit_lab", "query_lab", "divisor_lab"))


@pytest.fixture
def article(page, serve, built_site):
    """The article, its labs ready to answer from their tables."""
    page.goto(serve(built_site).url + PATH)
    for lab in page.locator("sim-lab").all():
        lab.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelectorAll('sim-lab:not([data-state=instant], [data-state=live])').length === 0")
    return page


def percents(weights) -> list[str]:
    return [fixed(float(share) * 100, 0) + "%" for share in weights]


def bars(page, lab: str) -> list[str]:
    return page.locator(f"{lab} .bar-text").all_inner_texts()


def test_editing_the_cell_of_the_text_moves_one_row_of_weights(article):
    """Second row, last column to 0: one query, three weights, four outputs; the other words stay."""
    article.locator(f"{EDIT} input[name=cells]").nth(7).fill("0")
    marked = article.locator(f"{EDIT} [data-output] strong").all_inner_texts()
    assert len(marked) == 8 and marked[1:4] == ["▸" + fixed(float(w), 2) for w in lesson.edited_weights[1]]


def test_the_first_column_changes_queries_and_no_weight(article):
    """A step of the first column is in the table of ready answers."""
    article.locator(f"{EDIT} input[name=cells]").nth(0).fill("3")
    tables = article.locator(f"{EDIT} [data-output] table")
    assert tables.nth(0).locator("strong").count() > 0
    assert tables.nth(1).locator("strong").count() == tables.nth(2).locator("strong").count() == 0


def test_dragging_the_query_sharpens_and_the_origin_shares_equally(article):
    assert bars(article, QUERY) == percents(lesson.plane_weights)
    entries = article.locator(f"{QUERY} .lab-entry")
    for entry, value in ((0, "1.5"), (1, "3")):
        entries.nth(entry).fill(value)
    assert bars(article, QUERY) == percents(lesson.plane_longer_weights)
    for entry in (0, 1):
        entries.nth(entry).fill("0")
    assert bars(article, QUERY) == ["33%"] * 3


def test_the_divisor_that_is_the_root_brings_the_spread_to_about_one(article):
    spread = article.locator(f"{DIVISOR} [data-output] strong").first
    assert spread.inner_text() == fixed(float(lesson.crowd_spreads[2]), 2)
    article.locator(f"{DIVISOR} .lab-entry").fill("8")
    assert spread.inner_text() == fixed(float(lesson.crowd_spreads[2] / 8), 2)
    assert bars(article, DIVISOR) == percents(lesson.crowd_scaled)


def test_a_phone_scrolls_no_matrix_and_no_page_sideways(article):
    article.set_viewport_size({"width": 390, "height": 800})
    assert article.evaluate("document.documentElement.scrollWidth") == 390
    wide = article.evaluate(
        "[...document.querySelectorAll('.mat, .formula, sim-lab')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
    )
    assert wide == 0


def test_without_javascript_steps_figures_labs_and_answers_stand(browser, serve, built_site):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(serve(built_site).url + PATH)
    assert page.locator("step-player [data-step]").count() >= 10
    assert page.locator("figure svg[role=img]").count() >= 6
    assert page.locator("sim-lab [data-output] table").count() >= 5
    assert page.locator("quiz-item").count() >= 12
