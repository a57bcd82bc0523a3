"""The palette is what the style sheets say, and it can be read in both schemes."""

import doctest
import re

import pytest

from sitegen.drawing import palette


def test_the_examples_in_the_docstrings_hold():
    assert doctest.testmod(palette).failed == 0


def test_both_schemes_have_the_same_names():
    assert set(palette.colours("light")) == set(palette.colours("dark"))


@pytest.mark.parametrize("scheme", palette.SCHEMES)
@pytest.mark.parametrize("name", ["ink", "mute", *palette.TONES])
def test_every_tone_is_readable_on_the_paper(scheme, name):
    known = palette.colours(scheme)
    assert palette.contrast(known[name], known["paper"]) >= 4.5


@pytest.mark.parametrize("scheme", palette.SCHEMES)
@pytest.mark.parametrize("tone", palette.TONES)
@pytest.mark.parametrize("strength", [0.0, 0.12, 0.3, 0.45, 0.8, 1.0])
def test_ink_is_readable_on_every_fill_at_every_strength(scheme, tone, strength):
    known = palette.colours(scheme)
    ground = palette.blend(known[f"{tone}-fill"], known["paper"], strength)
    assert palette.contrast(known["ink"], ground) >= 4.5


def test_contrast_agrees_with_the_published_example_of_wcag():
    assert palette.contrast((0x76, 0x76, 0x76), (255, 255, 255)) == pytest.approx(4.54, abs=0.005)


def test_the_style_sheet_turns_every_name_into_a_fill_and_the_strokes_that_parts_use(root):
    sheet = (root / "sitegen" / "browser" / "figures.css").read_text(encoding="utf-8")
    for name in palette.names():
        if name not in {"warm"}:
            assert re.search(rf"\.f-{name} \{{ fill: var\(--sg-{name}\)", sheet), name
    for name in ("ink", "mute", "line", *palette.TONES):
        assert re.search(rf"\.s-{name} \{{ stroke: var\(--sg-{name}\)", sheet), name
