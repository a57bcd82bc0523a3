"""sitegen.lint and the checks of the built site: one tiny failing case each, with file, line and remedy."""

import re

import markdown
import pytest
from mkdocs.exceptions import PluginError

from sitegen import checks, lint
from sitegen.pages import Page
from tests.sites import build, tiny

LESSON = '"""A lesson."""\n\nimport numpy as np\n\nx = np.array([30.0, -8.0, 52.0])\nmean = x.mean()\n'
HEAD = "---\nlesson: one\n---\n\n# 页\n\n"
NAMES = {"GPT-2", "Llama-3-8B", "float64", "Qwen2.5-7B"}
EXTENSIONS = ["tables", "attr_list", "toc", "admonition", "footnotes", "md_in_html", "pymdownx.superfences"]


def found(source, names=NAMES):
    """(line, message) for a page whose text begins in line 1."""
    page = Page(source, "docs/page.md")
    html = markdown.Markdown(extensions=EXTENSIONS).convert(page.tokenised())
    return list(lint.prose(html, lint.Source(source, [f.source for f in page.fragments], names), names))


@pytest.mark.parametrize(
    ("source", "number", "line"),
    [
        ("一\n\n平均值约 24.67。", "24.67", 3),
        ("# 题 7", "7", 1),
        ("- 一\n- 有 3 个", "3", 2),
        ("| 甲 |\n|---|\n| 12 |", "12", 3),
        ('一\n\n![约 5](a.png "x")', "5", 3),
        ('!!! note "共 6 个"\n\n    文', "6", 1),
        ("一\n\n<p title='8'>文</p>", "8", 3),
        ("占 **９** 成", "９", 1),
        ("面积 m²", "²", 1),
        ("文[^1]\n\n[^1]: 注里有 42", "42", 3),
        ("{{ num(x) }} 是 16\n\n再来 `17` 和 18", "16", 1),
        ("2017 年有 2018 篇", "2018", 1),
        ("`5` 不算\n\n5 算", "5", 3),
        ("GPT-20", "20", 1),
        ("GPT-2.5", "2.5", 1),
        ("占 66%", "66", 1),
    ],
)
def test_a_typed_digit_is_found_with_its_line(source, number, line):
    messages = found(source)
    assert [at for at, text in messages if f"the number {number} typed in" in text] == [line], messages


@pytest.mark.parametrize(
    "source",
    [
        "GPT-2、Llama-3-8B 和 float64，Qwen2.5-7B。",
        "2017 年，2017年，第 3 步，第2节，第 1 和 2 行",
        "1. 一\n2. 二\n3. 三",
        "{{ num(x, 2) }} 和 $d_1 = 2$ 和 `x[0]`",
        "```python\nx = 7\n```",
        "[论文](https://arxiv.org/abs/1706.03762)",
        "[He 等，Deep Residual Learning, CVPR 2016](https://arxiv.org/abs/1512.03385)",
        "文[^1]\n\n[^1]: 注",
        "## 题 {#part-2}",
        "<!-- 5 --> 文",
        "三行六步，一半，第一节",
    ],
)
def test_what_may_hold_a_digit_is_left_alone(source):
    assert found(source) == []


def test_equal_numbers_are_told_apart_by_their_order():
    assert [line for line, _ in found("2017 年\n\n有 7 个\n\n`7`\n\n又 7 个")] == [3, 7]


@pytest.mark.parametrize(
    ("source", "line"),
    [("一\n\n先加,再乘。", 3), ("好,  再来", 1), ("是吗?不是", 1), ("共 {{ num(x) }},再加", 1), ("这样(括号里)写", 1), ("完了.", 1), ("**层**:一个词", 1)],
)
def test_half_width_punctuation_in_chinese_is_found(source, line):
    assert [(at, "full-width" in text) for at, text in found(source)] == [(line, True)]


@pytest.mark.parametrize("source", ["Pre-LN, Post-LN", "用 x, y 两个", "ReLU(x)是", "LN(x + f(x))，再", "e.g. this, that.", "`a,b` 和"])
def test_punctuation_of_other_scripts_is_left_alone(source):
    assert found(source) == []


def test_a_hyphen_for_minus_is_found_and_names_and_ranges_are_not():
    assert lint.hyphens("<p>得 -3 度</p>") and lint.hyphens("<td>-0.5</td>")
    for fine in ("GPT-2", "−3", "<code>-3</code>", "a-1", "2017-10"):
        assert lint.hyphens(f"<p>{fine}</p>") == [], fine


# ---- as a build says it


def fails(folder, page, lesson=LESSON, more=None, **options):
    config = tiny(folder, {"index.md": page, **(more or {})}, {"one": lesson}, **options)
    with pytest.raises(PluginError) as caught:
        build(config, folder / "site")
    return str(caught.value)


@pytest.mark.parametrize(
    ("page", "place", "advice"),
    [
        (HEAD + "约 24.67。", "docs/index.md:7:", "the number 24.67 typed"),
        (HEAD + "先加,再乘。", "docs/index.md:7:", "full-width"),
        ("# 页\n\n先加,再乘。", "docs/index.md:3:", "full-width"),
        (HEAD + "{{ minus }}", "docs/index.md:", "U+2212"),
        ("# 页\n\n文\n\n<a href='nosuch.html'>x</a>", "docs/index.md:5:", "leads nowhere: nosuch.html"),
        ("# 页\n\n文\n\n<a href='#nosuch'>x</a>", "docs/index.md:5:", "#nosuch"),
        ("# 页\n\n<p id='a'>文</p>\n\n<p id='a'>文</p>", "docs/index.md:5:", "the id 'a' stands twice"),
        ("# 页\n\n<img src='assets/a.png'>", "docs/index.md:3:", "has no alt"),
        ("# 页\n\n文\n\n<svg role='img' width='1'></svg>", "docs/index.md:5:", "aria-label"),
        ("# 页\n\n## 甲\n\n## 甲", "docs/index.md:5:", "depends on the order"),
        ("# 页\n\n<p style='background: url(https://example.org/a.png)'>文</p>", "docs/index.md:3:", "another host"),
    ],
)
def test_each_lint_fails_a_build_with_place_and_remedy(tmp_path, page, place, advice):
    message = fails(tmp_path, page, LESSON + 'minus = "得 -3"\n')
    assert any(place in line and advice in line for line in message.splitlines()), message


def test_digits_are_the_business_of_pages_with_a_lesson(tmp_path):
    config = tiny(tmp_path, {"index.md": "# 页\n\n共 24 页。"})
    build(config, tmp_path / "site")


def test_names_come_from_the_notation_page(tmp_path):
    notation = "# 符号\n\n## 名字 {#names}\n\n- GPT-2、float64\n"
    page = HEAD + "{{ num(mean, 2) }}，GPT-2 用 float64。"
    config = tiny(tmp_path, {"index.md": page, "notation.md": notation}, {"one": LESSON})
    build(config, tmp_path / "site")


def test_unused_names_of_a_lesson_are_told_without_failing(tmp_path, caplog):
    lesson = LESSON + "used = 2\nalso = used * mean\nunused = 3\n_private = 4\n"
    config = tiny(tmp_path, {"index.md": HEAD + "{{ num(also, 2) }}"}, {"one": lesson})
    with caplog.at_level("INFO", logger="mkdocs.plugins.sitegen"):
        build(config, tmp_path / "site")
    told = [r.message for r in caplog.records if "never used" in r.message]
    assert told == ["tiny_lessons/one.py:9: unused is never used by a number, figure or lab of a page"]


def test_figures_that_stand_on_no_page_are_told():
    source = "@figure(alt='a', caption='b')\ndef one(width):\n    ...\n\n\n@explainer(title='c')\ndef two():\n    ...\n\n\ndef helper():\n    ...\n"
    assert checks.unplaced(source, ['figure("one")', "see('two')"]) == [(7, "two")]


def test_a_digit_in_title_or_description_is_found(tmp_path):
    message = fails(tmp_path, HEAD.replace("lesson: one", "lesson: one\ntitle: 三个方框\ndescription: 共 3 个方框"))
    assert "docs/index.md:1: the number 3 typed in the description" in message


def test_the_real_site_says_nothing_half_width_and_has_no_leftovers(built_site):
    for file in built_site.rglob("*.html"):
        html = file.read_text(encoding="utf-8")
        assert lint.hyphens(html) == [], file.name
        assert "\ue000" not in html and "{{ " not in re.sub(r"(?s)<(script|code|pre)\b.*?</\1>", "", html)
