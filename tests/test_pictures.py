"""Pictures in an article: numbers, references, texts filled from values, and what a broken picture says."""

import json
import re
from html import unescape
from pathlib import Path

import pytest
from mkdocs.exceptions import PluginError

from tests.sites import build, tiny

LESSON = '"""A lesson."""\n\nimport numpy as np\n\nx = np.array([30.0, -8.0, 52.0])\nmean = x.mean()\n'
HEAD = "from tiny_lessons import one as lesson\nfrom sitegen.drawing import Scene, Step, explainer, figure\n\n\n"
VECTOR = """@figure(alt="三个数是 {{ vec(x) }}。平均 {{ num(mean, 2) }}。", caption="平均 **{{ num(mean, 2) }}**，看箭头。")
def first(width):
    scene = Scene(width, 80)
    scene.vector("v", 20, 30, lesson.x, 0, (60, 30))
    return scene


@figure(alt="第二幅。", caption="另一幅。")
def second(width):
    scene = Scene(width, 60)
    scene.label("a", width / 2, 30, "文字")
    return scene


@explainer(title="三步")
def walk():
    def frame(n):
        scene = Scene(300, 100)
        scene.vector("v", 20, 30 + n, lesson.x, 0, (60, 30))
        return scene

    return [
        Step(frame(0), "先看 **三个数** {{ vec(x) }}。"),
        Step(frame(1), "平均是 **{{ num(mean, 2) }}**。", say="平均是 {{ num(mean, 2) }}，负数也算。"),
    ]
"""
PAGE = "---\nlesson: one\n---\n\n# 页\n\n先看 {{ see('first') }}。\n\n{{ figure('second') }}\n\n{{ figure('first') }}\n\n{{ explainer('walk') }}\n"


def site(folder: Path, figures: str = HEAD + VECTOR, page: str = PAGE, lesson: str = LESSON) -> Path:
    (folder / "tiny_figures").mkdir()
    (folder / "tiny_figures" / "__init__.py").write_text("", encoding="utf-8")
    (folder / "tiny_figures" / "one.py").write_text(figures, encoding="utf-8")
    return tiny(folder, {"index.md": page}, {"one": lesson}, figures="tiny_figures")


def built(folder: Path, **parts: str) -> str:
    config = site(folder, **parts)
    build(config, folder / "site")
    return (folder / "site" / "index.html").read_text(encoding="utf-8")


def fails(folder: Path, **parts: str) -> str:
    config = site(folder, **parts)
    with pytest.raises(PluginError) as caught:
        build(config, folder / "site")
    return str(caught.value)


def test_figures_are_numbered_in_the_order_of_the_article_and_references_follow(tmp_path):
    html = built(tmp_path)
    numbers = re.findall(r'<figure class="picture" id="figure-(\w+)".*?picture-number">(.*?)</span>', html, re.S)
    assert numbers == [("second", "图 1"), ("first", "图 2")]
    assert '<a class="picture-link" href="#figure-first">图 2</a>' in html


def test_a_figure_is_an_image_with_a_name_and_a_description_filled_from_values(tmp_path):
    html = built(tmp_path)
    svg = re.findall(r"<svg class=\"drawing wide\".*?</svg>", html, re.S)[1]
    assert 'role="img"' in svg and 'aria-label="图 2：三个数是 [30, −8, 52]"' in svg
    assert re.search(r'aria-describedby="([\w-]+)"><desc id="\1">三个数是 \[30, −8, 52\]。平均 24.67。</desc>', svg)


def test_both_layouts_are_in_the_page_and_every_id_stands_once(tmp_path):
    html = built(tmp_path)
    assert len(re.findall('class="drawing wide"', html)) == len(re.findall('class="drawing narrow"', html)) == 2
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))


def test_a_number_in_a_caption_is_a_number_of_the_page(tmp_path):
    caption = re.search(r"<figcaption>.*?图 2.*?</figcaption>", built(tmp_path), re.S)[0]
    assert re.search(
        r'<strong><data class="num"[^>]* value="24.6+8" data-expr="num\(mean, 2\)">24.67</data></strong>，看箭头。',
        caption,
    )


def test_an_explainer_is_a_numbered_list_with_its_length_and_spoken_text(tmp_path):
    html = built(tmp_path)
    player = re.search(r"<step-player.*?</step-player>", html, re.S)[0]
    said = [json.loads(unescape(s)) for s in re.findall(r'data-say="(.*?)"', player)]
    assert re.findall(r'<li data-step="(\d)"', player) == ["1", "2"]
    assert said == [["先看 三个数 30，负8，52。"], ["平均是 24.67，负数也算。"]]
    assert "2 步 · 约 1 分钟" in player and 'data-k="v/0"' in player
    assert "<strong>三个数</strong>" in player


def test_no_picture_brings_a_style_sheet_or_a_link(tmp_path):
    for svg in re.findall(r'<svg class="drawing.*?</svg>', built(tmp_path), re.S):
        assert not re.search(r"<style|<use|href=|url\(", svg)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "num(mean, 2) }}**，看",
            "num(maen, 2) }}**，看",
            "tiny_figures/one.py:5: figure 'first': {{ num(maen, 2) }}: no name",
        ),
        ("另一幅。", "另外 3 幅。", "tiny_figures/one.py:12: figure 'second': the number 3 typed in"),
        ("另一幅。", "另一幅, 看。", "figure 'second': half-width , in Chinese text"),
        ("width / 2, 30", "2, 30", "figure 'second': wide layout: '文字' (a) leaves the canvas of 640 × 60"),
        ("width / 2, 30", "width / 3, 30 / 0", "tiny_figures/one.py:15: ZeroDivisionError"),
        ("先看 **三个数** {{", "先看 {{", "explainer 'walk': step 1 has no **key terms**"),
        ('say="平均是', 'say="平均 5 是', "explainer 'walk': step 2: the number 5 typed in"),
        ("Scene(300, 100)", "Scene(300 + n, 100)", "its frames have different sizes"),
        ("def first", "def frist", "no figure 'first' in tiny_figures.one; it has frist, second"),
        ("from tiny_lessons", "from tiny_lesson", "tiny_figures/one.py:1: ModuleNotFoundError"),
    ],
)
def test_a_fault_in_a_picture_is_named_with_its_file_and_figure(tmp_path, old, new, message):
    text = HEAD + VECTOR
    assert old in text
    assert message in fails(tmp_path, figures=text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (PAGE + "\n{{ figure('first') }}\n", "stands on this page already; refer to it with see('first')"),
        (PAGE.replace("{{ figure('first') }}", ""), "figure 'first' is not on this page"),
        (PAGE.replace("figure('second')", "figure('third')"), "no figure 'third'"),
        ("# 页\n\n{{ figure('first') }}\n", "pictures need `lesson:` in the front matter"),
    ],
)
def test_a_picture_that_cannot_be_placed_is_named_with_the_page_and_the_remedy(tmp_path, page, message):
    report = fails(tmp_path, page=page)
    assert message in report and "docs/index.md:" in report


def test_every_fault_of_a_picture_is_reported_at_once(tmp_path):
    text = (HEAD + VECTOR).replace("另一幅。", "另外 3 幅。").replace("num(mean, 2) }}**，看", "num(maen, 2) }}**，看")
    report = fails(tmp_path, figures=text)
    assert "the number 3" in report and "'maen'" in report
