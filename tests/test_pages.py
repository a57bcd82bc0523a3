"""sitegen.pages: from Markdown to HTML, every number in its place, everything else untouched."""

import re

import markdown
import numpy as np
import pytest

from sitegen.page.display import Display
from sitegen.page.provenance import Provenance
from sitegen.pages import Page
from sitegen.words import words

NAMES = {"m": 24.666666666666668, "x": np.array([30.0, -8.0, 52.0]), "text": "<b>"}
EXTENSIONS = ["tables", "attr_list", "toc", "admonition", "pymdownx.superfences", "pymdownx.highlight"]


def converted(source, first_line=1, **settings):
    page = Page(source, "docs/page.md", first_line, NAMES, Display(words("zh")).functions(), **settings)
    shell = markdown.Markdown(extensions=EXTENSIONS)
    html = page.finished(shell.convert(page.tokenised()))
    return html, page, shell


NUMBER = '<data class="num" value="24.666666666666668" data-expr="num(m, 2)">24.67</data>'


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("平均 {{ num(m, 2) }}。", f"<p>平均 {NUMBER}。</p>"),
        ("**约{{ num(m, 2) }}**", f"<strong>约{NUMBER}</strong>"),
        ("- 一 {{ num(m, 2) }}", f"<li>一 {NUMBER}</li>"),
        ("| a |\n|---|\n| {{ num(m, 2) }} |", f"<td>{NUMBER}</td>"),
        ('!!! note "题"\n\n    {{ num(m, 2) }}', f"<p>{NUMBER}</p>"),
        ("# 题 {{ num(m, 2) }} {#a}", f'<h1 id="a">题 {NUMBER}</h1>'),
        ("![值 {{ num(m, 2) }}](a.png)", 'alt="值 24.67"'),
        ('[x](a.html "值 {{ num(m, 2) }}")', 'title="值 24.67"'),
        ('<p title="值 {{ num(m, 2) }}">{{ num(m, 2) }}</p>', f'<p title="值 24.67">{NUMBER}</p>'),
        ("{{ text }}", "<p>&lt;b&gt;</p>"),
        ("{{\nnum(m,\n2)\n}}", ">24.67</data>"),
    ],
)
def test_a_number_is_right_wherever_it_stands(source, expected):
    html, page, _ = converted(source)
    assert page.problems == []
    assert expected in html


@pytest.mark.parametrize(
    "text",
    ["{a}", "{#id} later", "{% raw %}", "a } b { c", "50 % {x: 1}", "价格 5$ 到 10$", "\\{ x \\}"],
)
def test_braces_and_prices_are_untouched(text):
    html, page, _ = converted(f"见 {text} 完")
    plain = text.replace("\\", "")
    assert page.problems == [] and plain in html


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("`{{ num(m, 2) }}`", "<code>{{ num(m, 2) }}</code>"),
        ("``a ` {{ x }}``", "<code>a ` {{ x }}</code>"),
        ("```\n{{ nosuch }} $x$\n```", "{{ nosuch }} $x$"),
        ("~~~ python\n{{ nosuch }}\n~~~", "nosuch"),
        ("text\n\n    {{ nosuch }} $x$", "{{ nosuch }} $x$"),
        ("<!-- {{ nosuch }} -->", "<!-- {{ nosuch }} -->"),
        ("<pre>{{ nosuch }}</pre>", "<pre>{{ nosuch }}</pre>"),
    ],
)
def test_code_samples_show_their_source(source, kept):
    html, page, _ = converted(source)
    assert page.problems == [] and kept in re.sub(r"</?span[^>]*>", "", html)


def test_formulas_survive_markdown_tables_headings_and_lists():
    source = r"""# 除以 $\sqrt{{d_k}}$

- 项 $\hat{\mu}_{i}$ 和 $f(x_i;W)_{y_i}$

| $P(A|B)$ | 二 |
|---|---|
| $a_b c_d$ | 三 |

$$
y = x W_1
$$
"""
    html, page, shell = converted(source)
    assert page.problems == [] and html.count("<math") == 6 and "<em>" not in html
    assert '<div class="formula"><math display="block"' in html
    assert "<math" in page.rich(shell.toc_tokens[0]["name"]) and "ue000" not in shell.toc_tokens[0]["id"]
    assert html.count("<td>") == 2


def test_an_empty_corner_of_a_table_is_no_header():
    html, _, _ = converted("| | 二 |\n|---|---|\n| 一 | 2 |")
    assert "<th></th>" not in html and html.count("<th>") == 1 and html.count("<td>") == 3


def test_punctuation_stays_with_the_formula_beside_it():
    html, _, _ = converted("设 $W_Q$、$W_K$ 和（$x$），见下。")
    assert [re.sub("<math.*?</math>", "M", m) for m in re.findall('<span class="together">(.*?)</span>', html)] == ["M、", "（M），"]


def test_a_formula_between_prices_is_a_formula():
    html, page, _ = converted("从 5$ 到 10$，用 $x$ 算。\n\n另一段 6$ 。")
    assert html.count("<math") == 1 and "10$" in html and "6$" in html


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        ("a\n\nb {{ nosuch }}", 3, "no name 'nosuch'"),
        ("{{ m }}", 1, "a bare number, 24.6"),
        ("{{ x }}", 1, "a bare array"),
        ("{{ num(x, 1) }}", 1, "vec(…)"),
        ("{{ num(m, 2, 3) }}", 1, "takes from 2 to 3 positional arguments"),
        ("a\n{{ num(m }}", 2, "not a Python expression"),
        ("前 {{ mat([x]) }}", 1, "stand alone"),
        ("a\n\n$\\frac{1}$", 3, "bad formula"),
        ("a $x_{%}$ b", 1, "unescaped %"),
        ("$3x$", 1, "the number 3 in the formula"),
        ("a\n\n{{m}} b", 3, "a leftover {{"),
        ("一\n$$x$$ 二", 2, "a leftover $$"),
        ("文\n$$x$$", 2, "paragraph of its own"),
        ("{{ None }}", 1, "nothing to show"),
        ("{{ num(12) }}", 1, "has no origin; name it in the lesson"),
        ("{{ vec([1, 2]) }}", 1, "has no origin; name it in the lesson"),
        ("{{ data }}", 1, "no name 'data'"),
    ],
)
def test_what_is_wrong_has_its_line_and_advice(source, line, message):
    _, page, _ = converted(source)
    assert [(p.line, message in p.message) for p in page.problems[:1]] == [(line, True)], page.problems


def test_lines_count_from_where_the_text_begins_in_the_file():
    _, page, _ = converted("a\n{{ nosuch }}", first_line=6)
    assert str(page.problems[0]).startswith("docs/page.md:7: {{ nosuch }}: no name 'nosuch'")


def test_a_broken_expression_shows_its_source_and_no_number():
    html, _, _ = converted("{{ nosuch }}")
    assert "<code>{{ nosuch }}</code>" in html and "<data" not in html


def test_numbers_from_experiments_say_so():
    lesson = "@experiment(seeds=[1])\ndef run(seed):\n    return seed\n\n\nruns = run()\nm = runs[0]\nx = [1]\n"
    html, _, _ = converted("{{ num(m, 2) }} {{ vec(x) }}", provenance=Provenance.of(lesson))
    assert html.count('data-origin="experiment"') == 1


def test_constants_of_the_notation_page_may_stand_in_formulas():
    assert converted("$4d^2 + 8d^2$", constants=frozenset({"4", "8"}))[1].problems == []


def test_private_characters_in_the_source_cannot_imitate_a_token():
    html, page, _ = converted("a\ue000\ue010\ue001b {{ num(m, 2) }}")
    assert page.problems == [] and f"ab {NUMBER}" in html
