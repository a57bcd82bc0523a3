"""The built site as a reader meets it: any width, either scheme, its own host only, found by searching."""

import gzip
import json
import re
from urllib.parse import quote

import pytest

PAGES = ("", "02-self_attention/", "05-sublayers/", "notation/")


@pytest.mark.parametrize("path", PAGES)
def test_no_page_scrolls_sideways(page, serve, built_site, path):
    """W08: wide tables and formulas scroll inside their own box, down to 320 px."""
    site = serve(built_site)
    for width in (320, 390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(site.url + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
    assert page.problems == [] and page.foreign == []


def test_every_request_is_answered_under_a_sub_path(page, serve, built_site):
    """M13"""
    site = serve(built_site, prefix="/ai-course/")
    for path in PAGES:
        page.goto(site.url + path)
    page.wait_for_timeout(300)
    assert site.not_found == [] and page.foreign == []
    assert all(request.startswith("/ai-course/") for request in site.requests)


@pytest.mark.parametrize("article", ["02-self_attention/", "05-sublayers/"])
def test_an_article_costs_at_most_200_kb_before_a_touch(page, serve, built_site, article):
    """DESIGN's budget, compressed as a host would, without the search index; and it wakes no Python."""
    site = serve(built_site)
    page.goto(site.url + article)
    page.wait_for_timeout(1500)
    total = 0
    for request in set(site.requests):
        name = request.split("?")[0].lstrip("/")
        if "search" in name:
            continue
        file = built_site / (name + "index.html" if name.endswith("/") or not name else name)
        content = file.read_bytes()
        total += len(content if file.suffix in {".woff2", ".png", ".pack"} else gzip.compress(content))
    assert total <= 200_000, f"{total} bytes: {sorted(set(site.requests))}"
    assert page.evaluate("document.documentElement.dataset.python") == "idle"


def test_a_chinese_heading_is_reached_by_its_address(page, serve, built_site):
    """M04: also percent-encoded."""
    site = serve(built_site)
    ids = re.findall(r'<h[23] id="([^"]+)"', (built_site / "05-sublayers" / "index.html").read_text(encoding="utf-8"))
    assert ids and not any(re.fullmatch(r"_\d+", i) for i in ids)
    chinese = next(i for i in ids if not i.isascii())
    for fragment in (chinese, quote(chinese)):
        page.goto("about:blank")
        page.goto(f"{site.url}05-sublayers/#{fragment}")
        page.wait_for_timeout(200)
        top = page.evaluate("id => document.getElementById(id).getBoundingClientRect().top", chinese)
        assert 0 <= top < 250, fragment


def test_the_search_index_splits_chinese_words(built_site):
    """M05: the segmenter marks words with a zero-width space, which must be a separator; our terms stay whole."""
    index = json.loads((built_site / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert index["config"]["lang"] == ["zh"] and "\\u200b" in index["config"]["separator"].lower()
    text = " ".join(entry["text"] + entry["title"] for entry in index["docs"])
    words = set(re.split(index["config"]["separator"].replace("\\u200b", "\u200b"), text))
    assert {"残差连接", "层归一化", "前馈网络", "softmax"} <= words


@pytest.mark.parametrize("query", ["层归一化", "残差流", "softmax", "前馈网络", "注意力"])
def test_typing_a_term_finds_the_article(page, serve, built_site, query):
    site = serve(built_site)
    page.goto(site.url)
    page.locator("input[name=query]").click()
    page.keyboard.type(query)
    page.keyboard.press("Shift")  # Playwright inserts Chinese without a key event; an input method ends with one
    page.wait_for_selector(".md-search-result__item", timeout=10_000)
    page.wait_for_timeout(300)
    links = page.locator(".md-search-result__link").evaluate_all("links => links.slice(0, 8).map(a => a.href)")
    assert any(re.search(r"/(\d\d-|notation)", link) for link in links), links
    assert any(f"h={quote(query)}" in link for link in links), "the whole term is looked for, its last character too"


def test_properdocs_builds_the_same_pages(built_site, tmp_path, root):
    """MkDocs 1.x is unmaintained: its continuation gives the same files but for the generator's name."""
    import subprocess
    import sys

    command = [sys.executable, "-m", "properdocs", "build", "--strict", "-q", "-f", str(root / "mkdocs.yml"), "-d", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    names = {p.relative_to(built_site) for p in built_site.rglob("*") if p.is_file()}
    assert names == {p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file()}
    generator = re.compile(rb'<meta name="generator"[^>]*>')
    for name in sorted(names):
        ours, theirs = (folder.joinpath(name).read_bytes() for folder in (built_site, tmp_path))
        if name.suffix == ".html":
            ours, theirs = generator.sub(b"", ours), generator.sub(b"", theirs)
        if name.suffix in {".gz"} or name.name == "sitemap.xml":
            continue
        assert ours == theirs, name
