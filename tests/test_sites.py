"""Tiny sites: one behaviour each, most of which must fail, with file, line and what to do."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mkdocs.exceptions import PluginError

from tests.sites import build, tiny

LESSON = '"""A lesson."""\n\nimport numpy as np\n\nx = np.array([30.0, -8.0, 52.0])\nmean = x.mean()\n'
PAGE = "---\nlesson: one\n---\n\n# 页\n\n"


def fails(folder: Path, page: str, lesson: str = LESSON, name: str = "one", **options: object) -> str:
    config = tiny(folder, {"index.md": page}, {name: lesson}, **options)
    with pytest.raises(PluginError) as caught:
        build(config, folder / "site")
    assert not list((folder / "site").rglob("*.html")), "nothing may be published"
    return str(caught.value)


@pytest.mark.parametrize(
    ("page", "lesson", "place", "advice"),
    [
        (PAGE + "{{ num(meen, 2) }}", LESSON, "docs/index.md:7:", "did you mean 'mean'?"),
        (PAGE + "a\n\n{{ num(mean, digts=2) }}", LESSON, "docs/index.md:9:", "unexpected keyword argument 'digts'"),
        (PAGE + "{{ mean }}", LESSON, "docs/index.md:7:", "say how it is shown, as in num(mean, 2)"),
        (PAGE + "{{ x }}", LESSON, "docs/index.md:7:", "vec(x, 2)"),
        (PAGE + "$\\frac{1}$", LESSON, "docs/index.md:7:", "bad formula: at character 8: Expected argument"),
        (PAGE + "$7d$", LESSON, "docs/index.md:7:", "the number 7 in the formula '7d'"),
        (PAGE + "{{mean}}", LESSON, "docs/index.md:7:", "write expressions with a space inside the braces"),
        (PAGE, LESSON + "for i in [1]:\n    y = i\n", "tiny_lessons/one.py:7:", "put it into a function"),
        (PAGE, LESSON + "x = 1\n", "tiny_lessons/one.py:7:", "give the new value a new name"),
        (PAGE, LESSON + "y = 1 / 0\n", "tiny_lessons/one.py:7:", "ZeroDivisionError"),
        (PAGE, LESSON + "x[0] = 1\n", "tiny_lessons/one.py:7:", "one plain name"),
        (PAGE, LESSON + "num = 3\n", "tiny_lessons/one.py:7:", "the name of a display function"),
        (PAGE + "{{ code('tiny_lessons.one.f') }}", LESSON, "docs/index.md:7:", "has no function 'f'"),
        (PAGE + "{{ lab('nosuch') }}", LESSON, "docs/index.md:7:", "no lab 'nosuch' in the lesson"),
        ("---\nlesson: two\n---\n\n{{ num(mean, 2) }}", LESSON, "tiny_lessons", "write tiny_lessons/two.py"),
        ("# 页\n\n{{ num(mean, 2) }}", LESSON, "docs/index.md:3:", "which has no lesson"),
        ("---\nlesson:\n---\n\n数字。", LESSON, "docs/index.md:1:", "names no lesson"),
        ("---\nlesson: ../one\n---\n\n数字。", LESSON, "docs/index.md:1:", "names no lesson"),
        ("---\nlesson: one\ntitle: 平均 {{ num(mean) }}\n---\n\n文。", LESSON, "docs/index.md:1:", "the title is plain text"),
        (PAGE + '值是 {{ "3.14" }}', LESSON, "docs/index.md:7:", "has no origin"),
    ],
)
def test_a_fault_of_the_author_is_named_with_its_place_and_the_remedy(tmp_path, page, lesson, place, advice):
    message = fails(tmp_path, page, lesson)
    assert f"{place}" in message and advice in message, message


def test_all_faults_of_a_build_are_reported_together(tmp_path):
    message = fails(tmp_path, PAGE + "{{ num(a, 2) }}\n\n{{ x }}\n\n$\\frac{1}$")
    assert [int(n) for n in re.findall(r"docs/index.md:(\d+)", message)] == [7, 9, 11]


def test_a_broken_lesson_is_reported_once_and_not_for_every_number(tmp_path):
    message = fails(tmp_path, PAGE + "{{ num(mean, 2) }} {{ num(mean, 1) }}", LESSON + "y = 1 / 0\n")
    assert message.startswith("1 problem(s)") and "no name" not in message


EXPERIMENT = """
from sitegen.page.experiment import experiment


@experiment(seeds=[1, 2], size=3)
def run(seed, size):
    return seed * size


runs = run()
total = sum([r for r in runs])
"""


def experiments_command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sitegen", "--config", str(folder / "mkdocs.yml"), "experiments", *arguments],
        capture_output=True, text=True, cwd=folder, check=True,
    )  # fmt: skip


def lessons_in_a_package(folder: Path, lesson: str) -> Path:
    """Experiments keep their results beside the lessons' package: tiny/lessons/one.py → tiny/results/one.json."""
    config = tiny(folder, {"index.md": PAGE + "{{ num(total) }}"})
    package = folder / "tiny_sim" / "lessons"
    package.mkdir(parents=True)
    for init in (package.parent, package):
        (init / "__init__.py").write_text("")
    (package / "one.py").write_text(lesson)
    config.write_text(config.read_text().replace("lessons: tiny_lessons", "lessons: tiny_sim.lessons"))
    return config


def test_a_missing_result_names_the_command_that_computes_it(tmp_path):
    config = lessons_in_a_package(tmp_path, EXPERIMENT)
    with pytest.raises(PluginError, match=r"one\.py:10: MissingResult: run has no result.*python -m sitegen experiments"):
        build(config, tmp_path / "site")


def test_results_are_computed_committed_and_refused_when_stale(tmp_path):
    config = lessons_in_a_package(tmp_path, EXPERIMENT)
    experiments_command(tmp_path)
    results = tmp_path / "tiny_sim" / "results" / "one.json"
    assert json.loads(results.read_text())["run"]["results"] == [3, 6]
    build(config, tmp_path / "site")
    html = (tmp_path / "site" / "index.html").read_text()
    assert 'value="9" data-expr="num(total)" data-origin="experiment">9</data>' in html

    before = results.read_bytes()
    lesson = tmp_path / "tiny_sim" / "lessons" / "one.py"
    lesson.write_text(EXPERIMENT.replace("return seed * size", '"""Only a docstring."""  # a comment\n    return seed * size'))
    build(config, tmp_path / "site")  # what does not change the code does not make it stale
    experiments_command(tmp_path)
    assert results.read_bytes() == before

    for changed in (EXPERIMENT.replace("seed * size", "seed + size"), EXPERIMENT.replace("size=3", "size=4")):
        lesson.write_text(changed)
        with pytest.raises(PluginError, match=r"tiny_sim/lessons/one\.py:5: experiment run: its code, settings or seeds"):
            build(config, tmp_path / "site")
    experiments_command(tmp_path)
    build(config, tmp_path / "site")
    assert ">18</data>" not in (tmp_path / "site" / "index.html").read_text()
    assert ">12</data>" in (tmp_path / "site" / "index.html").read_text()


def test_a_lesson_that_is_not_utf_8_is_said_by_name(tmp_path):
    """Saved on a Chinese Windows; a byte order mark, as Notepad writes it, is no fault."""
    config = tiny(tmp_path, {"index.md": PAGE + "{{ num(mean, 2) }}"})
    lesson = tmp_path / "tiny_lessons" / "one.py"
    lesson.write_bytes((LESSON + "# 平均\n").encode("gbk"))
    with pytest.raises(PluginError, match=r"tiny_lessons/one\.py:1: not UTF-8"):
        build(config, tmp_path / "site")
    lesson.write_bytes((LESSON + "# 平均\n").encode("utf-8-sig"))
    build(config, tmp_path / "site")


def test_the_command_says_what_is_wrong_without_a_traceback(tmp_path):
    lessons_in_a_package(tmp_path, EXPERIMENT + "y = 1 / 0\n")
    for arguments in (["experiments"], ["experiments", "nosuch"], ["runtime", "--from", str(tmp_path / "nosuch")]):
        command = [sys.executable, "-m", "sitegen", "--config", str(tmp_path / "mkdocs.yml"), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, encoding="utf-8")
        assert done.returncode == 1 and done.stderr.strip() and "Traceback" not in done.stderr, (arguments, done.stderr)


def test_results_in_conflict_are_as_good_as_none_and_can_be_renewed(tmp_path):
    lessons_in_a_package(tmp_path, EXPERIMENT.replace("runs = run()\ntotal = sum([r for r in runs])\n", ""))
    results = tmp_path / "tiny_sim" / "results" / "one.json"
    results.parent.mkdir()
    results.write_text("<<<<<<< ours\n", encoding="utf-8")
    experiments_command(tmp_path)  # also for an experiment that no line calls
    assert json.loads(results.read_text(encoding="utf-8"))["run"]["results"] == [3, 6]


def test_code_that_an_experiment_imports_is_part_of_its_key(tmp_path):
    from sitegen.fingerprint import fingerprint

    (tmp_path / "keyed").mkdir()
    (tmp_path / "keyed" / "__init__.py").write_text("")
    helper = tmp_path / "keyed" / "helper.py"
    (tmp_path / "keyed" / "user.py").write_text(
        "from keyed.helper import f\nfrom keyed import helper\n\ndef run(seed):\n    return f(seed)\n\n"
        "def all(seed):\n    return helper.f(seed)\n"
    )
    sys.path.insert(0, str(tmp_path))
    try:
        keys = {}
        for name, text in {
            "first": "factor = 2\n\ndef f(x):\n    return x * factor\n\ndef g(x):\n    return x\n",
            "same": "factor = 2  # two\n\ndef f(x):\n    '''Doc.'''\n    return x * factor\n\ndef g(x):\n    return x\n",
            "unrelated": "factor = 2\n\ndef f(x):\n    return x * factor\n\ndef g(x):\n    return -x\n",
            "item": "table = {1: 2}\ntable[1] = 3\nfactor = 2\n\ndef f(x):\n    return x * factor\n\ndef g(x):\n    return x\n",
            "constant": "factor = 3\n\ndef f(x):\n    return x * factor\n\ndef g(x):\n    return x\n",
        }.items():
            helper.write_text(text)
            os.utime(helper, ns=(len(keys) + 1, len(keys) + 1))
            keys[name] = [fingerprint("keyed.user", f, frozenset({"keyed"})) for f in ("run", "all")]
    finally:
        sys.path.remove(str(tmp_path))
    assert keys["same"] == keys["first"]
    assert keys["unrelated"][0] == keys["first"][0] and keys["unrelated"][1] != keys["first"][1]
    assert keys["constant"][0] != keys["first"][0] and keys["constant"][1] != keys["first"][1]


def test_arrays_a_lesson_names_cannot_be_changed(tmp_path):
    lesson = LESSON + "\n\ndef spoil():\n    x[0] = 1\n    return 0.0\n"
    message = fails(tmp_path, PAGE + "{{ num(spoil()) }}", lesson)
    assert "read-only" in message


def test_heading_ids_keep_chinese_and_do_not_count_headings(tmp_path):
    """M04: inserting a section shifts no anchor, and a number in a heading is no part of its id."""
    headings = "## 缩放点积注意力\n\n## Softmax（归一化）\n\n## Foo — bar\n\n## 平均 {{ num(mean, 2) }}\n\n"
    ids = []
    for extra in ("", "## 新的一节\n\n"):
        config = tiny(tmp_path, {"index.md": PAGE + extra + headings}, {"one": LESSON})
        build(config, tmp_path / "site")
        html = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
        ids.append([i for i in re.findall(r'<h2 id="([^"]+)"', html) if i != "新的一节"])
    assert ids[0] == ids[1] == ["缩放点积注意力", "softmax归一化", "foo-bar", "平均"]
    assert re.search(r'<span class="md-ellipsis">\s*平均 24.67\s*</span>', html)


def test_dead_anchors_fail_a_strict_build(tmp_path):
    """M03: MkDocs calls a dead anchor "info" unless told otherwise; our mkdocs.yml tells it."""
    from mkdocs.exceptions import Abort

    config = tiny(tmp_path, {"index.md": "# 页\n\n[x](other.md#不存在的标题)", "other.md": "# 另一页"})
    config.write_text(config.read_text() + "validation: {links: {anchors: warn}}\n")
    with pytest.raises((Abort, PluginError), match=r"docs/index.md:3: .*other/#不存在的标题"):
        build(config, tmp_path / "site")


def test_a_file_from_another_host_fails_the_build(tmp_path):
    """X03: no third-party request at reading time."""
    config = tiny(tmp_path, {"index.md": '# 页\n\n<img alt="a" src="https://example.org/a.png">'})
    with pytest.raises(PluginError, match=r"docs/index.md:3: https://example.org/a.png would be loaded"):
        build(config, tmp_path / "site")


def test_a_folder_with_chinese_and_a_space_builds(tmp_path):
    """M11"""
    folder = tmp_path / "变压器 课程"
    config = tiny(folder, {"index.md": PAGE + "{{ num(mean, 2) }}"}, {"one": LESSON})
    build(config, folder / "site")
    html = (folder / "site" / "index.html").read_text(encoding="utf-8")
    assert ">24.67</data>" in html and "\\" not in "".join(re.findall(r'(?:src|href)="([^"]*)"', html))


def test_under_serve_errors_stand_on_the_page_and_the_build_goes_on(tmp_path):
    config = tiny(tmp_path, {"index.md": PAGE + "{{ num(meen, 2) }} 和 {{ num(mean, 2) }}"}, {"one": LESSON})
    build(config, tmp_path / "site", strict=False, command="serve")
    html = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "这一页有 1 处错误" in html and "docs/index.md:7" in html and ">24.67</data>" in html


def test_a_changed_lesson_shows_without_restart_and_back(tmp_path):
    """M08, in one process as under serve: content modules are imported again, NumPy is not."""
    config = tiny(tmp_path, {"index.md": PAGE + "{{ num(mean, 2) }}"}, {"one": LESSON})
    lesson = tmp_path / "tiny_lessons" / "one.py"
    seen = []
    for text in (LESSON, LESSON.replace("30.0", "31.0"), LESSON, LESSON.replace("30.0", "31.0")):
        lesson.write_text(text)
        os.utime(lesson, ns=(time.time_ns(), time.time_ns()))
        build(config, tmp_path / "site")
        seen += re.findall(r">([\d.]+)</data>", (tmp_path / "site" / "index.html").read_text(encoding="utf-8"))
    assert seen == ["24.67", "25.00", "24.67", "25.00"]


def test_no_encoding_is_left_to_the_locale(tmp_path):
    """M09: on a Chinese Windows an open() without encoding reads GBK."""
    config = tiny(tmp_path, {"index.md": PAGE + "{{ num(mean, 2) }} 中文"}, {"one": LESSON})
    command = [sys.executable, "-X", "warn_default_encoding", "-W", "always::EncodingWarning", "-m", "mkdocs", "build",
               "-q", "-f", str(config), "-d", str(tmp_path / "site")]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONUTF8": "0"})
    assert done.returncode == 0, done.stderr
    ours = [line for line in done.stderr.splitlines() if "EncodingWarning" in line and "/sitegen/" in line]
    assert ours == []


def test_serving_writes_nothing_into_the_folders_it_watches(tmp_path):
    """M07: generated files beside the sources would make serve rebuild for ever."""
    config = tiny(tmp_path, {"index.md": PAGE + "{{ num(mean, 2) }}"}, {"one": LESSON})

    def stamps():
        watched = [tmp_path / "docs", tmp_path / "tiny_lessons"]
        return {str(f): f.stat().st_mtime_ns for folder in watched for f in folder.rglob("*") if "__pycache__" not in f.parts}

    before = stamps()
    for _ in range(2):
        build(config, tmp_path / "site", strict=False, command="serve")
    assert stamps() == before


def test_chinese_is_searched_by_words_and_terms_stay_whole(built_site):
    """M05: the index speaks Chinese, and the zero-width space that the segmenter leaves separates."""
    index = json.loads((built_site / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert "zh" in index["config"]["lang"] and re.compile(index["config"]["separator"]).fullmatch("\u200b")
    words = {word for doc in index["docs"] for word in re.split(index["config"]["separator"], doc["text"] + doc["title"])}
    assert {"层归一化", "残差连接", "注意力"} <= words


def test_the_same_site_is_built_byte_for_byte(tmp_path):
    """Ids of numbers and files of numbers depend on the page alone, not on the order of a set."""
    pages = {"index.md": PAGE + "{{ vec(x) }}，{{ num(mean, 2) }}，{{ num(mean, 2) }}"}
    found = []
    for seed in ("1", "2"):
        config = tiny(tmp_path / seed, pages, {"one": LESSON})
        command = [sys.executable, "-m", "mkdocs", "build", "-q", "-f", str(config), "-d", str(tmp_path / seed / "site")]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True)
        site = tmp_path / seed / "site"
        kept = [f for f in sorted(site.rglob("*")) if f.suffix in {".html", ".json", ".js"} and f.name != "sitemap.xml"]
        found.append({f.relative_to(site).as_posix(): f.read_bytes() for f in kept})
    assert found[0] == found[1]
