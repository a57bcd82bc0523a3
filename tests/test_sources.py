"""sitegen.sources: numbered references, and the list generated from them."""

import re
from dataclasses import dataclass, replace

import pytest
from mkdocs.exceptions import PluginError

from sitegen.components import ComponentError
from sitegen.sources import References
from sitegen.words import words
from tests.sites import build, tiny


@dataclass(frozen=True)
class Source:
    title: str
    authors: str
    year: int
    where: str = ""
    link: str = ""


@dataclass(frozen=True)
class Fact:
    source: Source


NORM = Source("Layer <Normalization>", "Ba, Kiros, Hinton", 2016, "Table 6", "https://arxiv.org/abs/1607.06450")
NET = Source("Residual", "A, B, C, D, E", 2015)
FACTS = {"ln": Fact(NORM), "ln.other": Fact(replace(NORM, where="abstract")), "res": Fact(NET)}


def fact(name):
    if name not in FACTS:
        raise KeyError(f"no fact {name!r}; near: ln")
    return FACTS[name]


def references():
    return References({"fact": fact}, words("zh"))


def test_the_list_is_numbered_first_in_its_order_and_places_share_a_number():
    page = references()
    listed = page.list({"res": "看残差", "ln": "看归一化"}).html
    html = page.finished(page.cite("ln").html + page.cite("res").html + page.cite("ln.other").html + listed)
    assert re.findall(r">\[(\d+)\]<", html) == ["2", "1", "2"]
    assert re.findall(r'<li id="(ref-\d+)" value="(\d)"', html) == [("ref-1", "1"), ("ref-2", "2")]
    assert "Residual" in html.split('<li id="ref-1"')[1].split("</li>")[0]
    assert 'title="Ba, Kiros, Hinton 2016, Layer &lt;Normalization&gt;, Table 6"' in html


def test_the_list_has_authors_year_title_link_and_the_reason():
    page = references()
    html = page.finished(page.list({"ln": "看为什么不沿批的方向算。", FACTS["res"]: "看退化"}).html)
    text = re.sub("<[^>]+>", "", html)
    assert "Ba、Kiros、Hinton，2016 年，Layer &lt;Normalization&gt;。看为什么不沿批的方向算。" in text
    assert 'href="https://arxiv.org/abs/1607.06450"' in html and "A 等，2015 年，Residual" in text


def test_cited_sources_without_a_reason_follow_the_others():
    page = references()
    html = page.finished(page.cite(NET).html + page.list({"ln": "看归一化"}).html)
    assert re.findall(r'value="(\d)"', html) == ["1", "2"] and html.index("文中还引用了") < html.index("Residual</cite>")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda page: page.cite("nosuch"), "near: ln"),
        (lambda page: page.cite(3), "not int"),
        (lambda page: References({}, words("zh")).cite("ln"), "imports no fact"),
        (lambda page: page.list({"ln": " "}), "say what to read it for"),
        (lambda page: page.list({"ln": "一", "ln.other": "二"}), "has a line already"),
        (lambda page: page.list(["ln"]), "takes {"),
        (lambda page: (page.list({}), page.list({})), "already"),
    ],
)
def test_mistakes_say_what_to_write(call, message):
    with pytest.raises(ComponentError, match=re.escape(message)):
        call(references())


LESSON = '''"""A lesson."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    title: str
    authors: str
    year: int


PAPER = Source("A Paper", "Ba", 2016)
'''.replace("@dataclass(frozen=True)\nclass Source:\n    title: str\n    authors: str\n    year: int\n", "from tests.test_sources import Source\n").replace("from dataclasses import dataclass\n\n\n", "")


def test_in_a_page_references_link_to_the_list(tmp_path):
    page = "---\nlesson: one\n---\n\n# 页\n\n见{{ cite(PAPER) }}。\n\n## 来源 {#sources}\n\n{{ sources({PAPER: '看它。'}) }}\n"
    build(tiny(tmp_path, {"index.md": page}, {"one": LESSON}), tmp_path / "site")
    html = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert re.search(r'<p>见<sup class="cite"><a href="#ref-1"[^>]*>\[1\]</a></sup>。</p>', html)
    assert re.search(r'<div class="sources">\s*<ol>\s*<li id="ref-1" value="1">Ba，2016 年，<cite>A Paper</cite>', html)


def test_a_citation_without_a_list_is_an_error_with_its_line(tmp_path):
    config = tiny(tmp_path, {"index.md": "---\nlesson: one\n---\n\n# 页\n\n见{{ cite(PAPER) }}。"}, {"one": LESSON})
    with pytest.raises(PluginError, match=r"docs/index.md:7: sources are cited"):
        build(config, tmp_path / "site")
