"""sitegen.quiz: questions in Markdown, what must hold for them, and the page they make."""

import re

import markdown
import pytest
from mkdocs.exceptions import PluginError

from sitegen.quiz import QuizExtension, blocks_of, counts, faults, problems_of, read, warmups
from sitegen.quiz import question as question_of
from sitegen.words import words
from tests.sites import build, tiny

SINGLE = "::: quiz 想一想 {#a}\n问 **一**？\n\n( ) 甲\n:   因为甲。\n\n(x) 乙\n:   因为乙。\n\n    第二段。\n\n( ) 丙\n:   因为丙。\n:::\n"


def html(source):
    return markdown.Markdown(extensions=["tables", "admonition", QuizExtension(words("zh"))]).convert(source)


def test_a_question_has_radio_options_and_each_its_own_explanation():
    made = html("前\n\n" + SINGLE + "\n后")
    assert made.startswith("<p>前</p>") and made.endswith("<p>后</p>")
    assert made.count('type="radio"') == 3 and made.count("<quiz-item") == 1
    assert '<div class="quiz-question"><p>问 <strong>一</strong>？</p></div>' in made
    whys = re.findall(r'data-option="(\d)" data-right="(\w+)"', made)
    assert whys == [("0", "false"), ("1", "true"), ("2", "false")]
    assert "<p>因为乙。</p><p>第二段。</p>" in made


def test_without_a_script_the_answer_is_folded():
    assert re.search(r'<details class="quiz-answer"[^>]*><summary>答案与解释</summary><div class="quiz-why"', html(SINGLE))


def test_square_brackets_make_a_multiple_choice():
    made = html(SINGLE.replace("( )", "[ ]").replace("(x)", "[x]"))
    assert made.count('type="checkbox"') == 3 and 'data-kind="multiple"' in made


def test_a_typed_number_and_its_slips_keep_their_text_for_the_answer():
    made = html("::: quiz 算 {#n .lab tolerance=0.02}\n多少？\n\n(=) 2.83\n:   对。\n(~) 8\n:   忘了开方。\n:::")
    assert 'data-kind="number"' in made and 'data-tolerance="0.02"' in made and 'data-asks="lab"' in made
    assert '<span class="quiz-number">8</span><span class="quiz-mark">✗ 常见的失误</span>' in made and "radio" not in made


def test_predict_keeps_the_result_in_the_page():
    made = html(SINGLE.replace("quiz", "predict", 1).replace("\n:::\n", "\n+++\n\n| a |\n|---|\n| b |\n:::\n"))
    assert "data-predict" in made and re.search(r'<div class="quiz-result"><table>', made)


def test_a_worked_example_is_steps_with_typed_ones_between():
    made = html("::: worked 例 {#w}\n题\n\n(=) 3\n:   一\n\n再来\n\n(=) 4\n:   二\n:::")
    assert 'data-open="2"' in made and re.findall(r'data-quiz="([^"]+)"', made) == ["w-1", "w-2"]
    assert re.findall(r'worked-step"><p>([^<]+)', made) == ["题", "再来"]


def test_a_block_in_code_is_code():
    assert blocks_of("```\n" + SINGLE + "```\n") == ([], [])


def test_blocks_know_their_lines():
    (block,), problems = blocks_of("一\n\n" + SINGLE, first_line=5)
    assert block.line == 7 and [option.line for option in block.groups[0]] == [10, 13, 18] and problems == []


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        (SINGLE.replace(" {#a}", ""), 1, "give the question an id"),
        (SINGLE + "\n" + SINGLE, 16, "belongs to the question in line 1"),
        (SINGLE.replace("(x)", "( )"), 4, "one right option, (x); here are 0"),
        (SINGLE.replace("( ) 甲", "(x) 甲"), 4, "here are 2"),
        (SINGLE.replace(":   因为丙。\n", ""), 12, "every option has its own explanation"),
        (SINGLE.replace("( ) 甲", "[ ] 甲"), 4, "do not go together"),
        (SINGLE.replace("( )", "[ ]").replace("(x)", "[ ]"), 4, "needs right options"),
        (SINGLE.replace("(x)", "(~)").replace("( )", "(~)"), 4, "one (=)"),
        ("::: quiz 问 {#b}\n没有选项\n:::", 1, "one group of options"),
        (SINGLE.replace("quiz", "predict"), 1, "hides what stands after a line +++"),
        (SINGLE.replace("\n:::", "\n+++\n\n果\n:::"), 1, "belongs to ::: predict only"),
        ("::: worked 例 {#w}\n\n(x) 甲\n:   一\n:::", 3, "a step of a worked example is typed"),
        ("::: quizz 问\n:::", 1, "opens nothing"),
        ("文\n::: quiz 问 {#c}\n( ) 甲\n:::", 2, "blank line before"),
        ("::: quiz 问 {#c}\n( ) 甲", 1, "is not closed"),
    ],
)
def test_what_is_wrong_with_a_block_has_its_line(source, line, message):
    _, problems = problems_of(source, article=False)
    assert any(at == line and message in text for at, text in problems), problems


def question(name, flags="", options=3, kind="quiz"):
    rest = "\n+++\n\n果\n" if kind == "predict" else ""
    return f"::: {kind} 问 {{#{name}{flags}}}\n问？\n\n(x) 对\n:   一\n" + "( ) 错\n:   二\n" * (options - 1) + rest + ":::\n\n"


def typed(name):
    return f"::: quiz 算 {{#{name}}}\n算？\n\n(=) 3\n:   一\n:::\n\n"


def worked(name, steps):
    return f"::: worked 例 {{#{name}}}\n题\n" + "\n(=) 3\n:   一\n\n再\n" * steps + ":::\n\n"


GOOD = {
    "first": "## 甲 {#one}\n\n" + question("q1") + question("q2", kind="predict"),
    "second": "## 乙 {#two}\n\n" + question("q3") + worked("w0", 0) + worked("w1", 1) + worked("w2", 2),
    "check": "## 检验 {#check}\n\n" + question("c1", " .lab") + typed("c2") + question("c3") + question("c4"),
    "rest": "## 来源 {#sources}\n\n文\n\n## 下一篇 {#next}\n\n文\n",
}


def counted(**changed):
    text = "".join((GOOD | changed).values())
    return [message for _, message in counts(text, blocks_of(text)[0])]


def test_an_article_as_it_should_be_passes():
    assert counted() == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"first": "## 甲 {#one}\n\n文\n\n"}, "section '甲' has 0 questions"),
        ({"first": "## 甲 {#one}\n\n" + "".join(question(f"x{i}") for i in range(4))}, "section '甲' has 4 questions"),
        ({"first": "## 甲 {#one}\n\n" + question("q1", options=2)}, "2 options; a question has 3"),
        ({"first": "## 甲 {#one}\n\n" + question("q1", " .recall") + question("q2", " .recall")}, "2 of 7 questions only recall"),
        ({"check": "## 检验 {#check}\n\n" + question("c1", " .lab") + typed("c2")}, "2 questions to check with; from 4 to 6"),
        ({"check": GOOD["check"].replace(" .lab", "")}, "no question needs the lab"),
        ({"check": GOOD["check"].replace(typed("c2"), question("c2"))}, "no question asks for a calculation"),
        ({"second": "## 乙 {#two}\n\n" + question("q3") + worked("w0", 0) + worked("w2", 2)}, "the open steps are [0, 2]"),
    ],
)
def test_counts_of_an_article_are_held(changed, message):
    assert [text for text in counted(**changed) if message in text], counted(**changed)


def test_counts_are_the_business_of_articles():
    assert counted(check="") == []


WARM = "::: warmup 先热身\n- 01-a.md#x\n- 01-a.md#y\n- 02-b.md#z\n:::\n"
EARLIER = {"01-a.md": ["x", "y"], "02-b.md": ["z", "w"]}


def test_warm_ups_are_three_from_two_earlier_articles():
    assert list(warmups(blocks_of(WARM)[0], EARLIER, 1)) == []
    assert list(warmups(blocks_of(WARM.replace("02-b.md#z", "01-a.md#x"))[0], {"01-a.md": ["x", "y"]}, 1)) == []


@pytest.mark.parametrize(
    ("source", "earlier", "message"),
    [
        ("文", EARLIER, "0 warm-up questions"),
        (WARM.replace("- 02-b.md#z\n", ""), EARLIER, "2 warm-up questions"),
        (WARM.replace("02-b.md#z", "01-a.md#x"), EARLIER, "take them from 2 at least"),
        (WARM.replace("#z", "#nosuch"), EARLIER, "no question 'nosuch' there; there are z, w"),
        (WARM, {}, "no earlier article '01-a.md'"),
    ],
)
def test_other_warm_ups_are_told(source, earlier, message):
    assert any(message in text for _, text in warmups(blocks_of(source)[0], earlier, 1))


def test_nothing_is_asked_of_the_first_article():
    assert list(warmups([], {}, 1)) == [] and list(warmups([], {"01-a.md": []}, 1)) == []


LESSON = '"""A lesson."""\n\nimport numpy as np\n\nx = np.array([30.0, -8.0, 52.0])\nmean = x.mean()\nslip = x.sum() / 2\n'
HEAD = "---\nlesson: one\n---\n\n# 页\n\n"
COMPUTED = "::: quiz 算 {#mean}\n平均值 {{ vec(x) }}？\n\n( ) {{ num(slip, 2) }}\n:   除以 $d-1$。\n\n(x) {{ num(mean, 2) }}\n:   对，{{ num(mean, 2) }}。\n:::\n"


def test_values_of_options_are_computed_numbers(tmp_path):
    build(tiny(tmp_path, {"index.md": HEAD + COMPUTED}, {"one": LESSON}), tmp_path / "site")
    made = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert re.search(r'quiz-text"><data class="num" [^>]*data-expr="num\(slip, 2\)">37.00</data>', made)
    assert "<math" in made and "24.67</data>。</p>" in made


def test_a_fault_in_a_question_fails_the_build_with_its_line(tmp_path):
    config = tiny(tmp_path, {"index.md": HEAD + COMPUTED.replace("(x)", "( )")}, {"one": LESSON})
    with pytest.raises(PluginError, match=r"docs/index.md:10: a single choice has one right option"):
        build(config, tmp_path / "site")


def test_a_digit_typed_in_a_question_is_found(tmp_path):
    config = tiny(tmp_path, {"index.md": HEAD + COMPUTED.replace("对，", "约 24.7，")}, {"one": LESSON})
    with pytest.raises(PluginError, match=r"docs/index.md:14: the number 24.7 typed"):
        build(config, tmp_path / "site")


def test_warm_up_questions_come_with_their_numbers_and_their_lesson(tmp_path):
    pages = {
        "01-a.md": HEAD + COMPUTED,
        "02-b.md": HEAD.replace("one", "two") + "::: warmup\n01-a.md#mean\n:::\n\n{{ num(y) }}",
        "index.md": "# 首页",
    }
    build(tiny(tmp_path, pages, {"one": LESSON, "two": '"""B."""\n\ny = 2\n'}), tmp_path / "site")
    made = (tmp_path / "site" / "02-b" / "index.html").read_text(encoding="utf-8")
    part = re.search(r'<div class="quiz-from" data-lesson="one" data-numbers="../assets/numbers/one-[^"]+">.*?</quiz-item>', made, re.S)[0]
    assert "24.67</data>" in part and ' id="' not in part and '../01-a/#q-mean"' in part


def test_titles_flags_and_tolerance_are_read():
    block = read("::: quiz 第三题，用实验台 {#c .lab .compute tolerance=1%}\n问？\n\n(=) {{ num(x) }}\n:   一")
    assert (block.title, block.id, block.tolerance) == ("第三题，用实验台", "c", "1%")
    assert block.flags == {"lab", "compute"} and block.computes and list(faults([block])) == []


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        ("::: quiz {#a}\n问？\n\n(=) 很多\n:   一", "a typed number is an expression"),
        ("::: quiz {#a tolerance=abc}\n问？\n\n(=) {{ num(x) }}\n:   一", "tolerance=abc is no number"),
    ],
)
def test_a_question_nobody_can_answer_is_refused(source, advice):
    assert any(advice in message for _, message in faults([read(source)]))


def test_links_of_a_question_asked_again_lead_to_where_they_led():
    made = '<quiz-item data-quiz="a" id="q-a"><a id="n-1" href="#ref-1">x</a><img src="a.png"><a href="https://x.org/">y</a></quiz-item>'
    moved = question_of(made, "a", "../01-a/")
    assert moved == '<quiz-item data-quiz="a"><a href="../01-a/#ref-1">x</a><img src="../01-a/a.png"><a href="https://x.org/">y</a></quiz-item>'
    assert 'href="01-a.html#ref-1"' in question_of(made, "a", "01-a.html") and 'src="a.png"' in question_of(made, "a", "01-a.html")
