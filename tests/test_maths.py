"""sitegen.maths: formulas become MathML, and hold no quantities."""

import pytest

from sitegen.maths import Formula, FormulaError


@pytest.mark.parametrize(
    "tex",
    [
        r"\sqrt{{d_k}}", r"\frac{1}{{d}}", r"{{a}+{b}}", r"x_{\%}", r"W_{\#}", r"\hat{\mu}_{i}",
        r"\underbrace{1}_{2}\underbrace{1}_{2}", r"f(x_i;W)_{y_i}", r"a \\ b",
        r"\operatorname{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)V",
    ],
)  # fmt: skip
def test_formulas_that_were_mangled_elsewhere_arrive(tex):
    """M01 and M18: doubled braces, underscores and backslashes reach the maths untouched."""
    markup = Formula(tex).mathml()
    assert markup.startswith("<math") and "merror" not in markup


@pytest.mark.parametrize(
    ("tex", "advice"), [(r"\frac{1}", "Expected argument"), (r"\nosuchthing", "nosuchthing"), (r"x_{%}", "unescaped %"), (r"\left( x", "closing token")]
)
def test_a_bad_formula_is_an_error(tex, advice):
    with pytest.raises(FormulaError, match=advice):
        Formula(tex).mathml()


def test_a_comment_line_is_what_a_screen_reader_says():
    formula = Formula("\n\\mu = \\frac{1}{d}\n% 平均值 <mu>\n", display=True)
    assert 'aria-label="平均值 &lt;mu&gt;"' in formula.mathml() and "%" not in formula.lines[0]


@pytest.mark.parametrize(
    ("tex", "beyond"),
    [
        (r"x_1 + x_{12} + x^2 + 0 + 1", []),
        (r"4d^2 + 8d^2", []),
        (r"3d", ["3"]),
        (r"\frac{8}{3}d", ["3"]),
        (r"0.5x", ["0.5"]),
        (r"[30, -8, 52]", ["30", "52"]),
        (r"\text{GPT-2} + W_Q", []),
        (r"10000^{2i/d}", ["10000"]),
        ("x\n% 读 30 和 52", []),
    ],
)
def test_digits_in_a_formula_are_indices_or_listed_constants(tex, beyond):
    assert Formula(tex).digits_beyond(frozenset({"4", "8"})) == beyond
