"""sitegen.page.elements: trees of strings, the same in build and browser; text stays text."""

import pytest

from sitegen.page.elements import TreeError, check_tree, element, to_html


def test_text_and_attributes_are_escaped():
    """X01: what readers type can never become markup."""
    tree = element("p", {"title": '"><script>'}, "<img src=x onerror=alert(1)>", element("b", {}, "a & b"))
    assert to_html(tree) == (
        '<p title="&quot;&gt;&lt;script&gt;">&lt;img src=x onerror=alert(1)&gt;<b>a &amp; b</b></p>'
    )


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (["p", {"x": 1}], "attribute x of <p> must be a string"),
        (["p", {}, 3], "must be"),
        (["script", {}], "not one of the elements"),
        (["p", {"onclick": "x()"}], "would run a script"),
        (["a", {"href": " JavaScript:x()"}], "would run a script"),
        (["a", {"href": "java\tscript:x()"}], "would run a script"),
        (["a", {"href": "\x01javascript:x()"}], "would run a script"),
        (["p", {"ONCLICK": "x()"}], "would run a script"),
        (["p", {'x onclick="a()"': ""}], "is no attribute name"),
        (["a", {"href": "05-sublayers/#add"}], None),
        ("text", None),
        (["p", {}, "a", ["b", {}]], None),
        (None, "must be"),
        (["p"], "must be"),
    ],
)
def test_only_strings_make_a_tree(tree, message):
    if message is None:
        check_tree(tree)
    else:
        with pytest.raises(TreeError, match=message.replace("(", r"\(")):
            check_tree(tree)
