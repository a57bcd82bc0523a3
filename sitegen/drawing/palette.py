"""The colours of pictures: names for the CSS variables of the page, and the arithmetic of contrast.

The style sheets are the one place where a colour is written down; this file reads them, for both schemes, so that
`lint` can compute what a reader will see. A tone is a name: "ink", "mute", "1" … "5"; "1-fill" is the fill of "1".
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

SHEETS = ("sitegen.css", "figures.css")
SCHEMES = ("light", "dark")
TONES = ("1", "2", "3", "4", "5")

_BLOCKS = {"light": r":root\s*\{(.*?)\}", "dark": r'\[data-md-color-scheme="slate"\]\s*\{(.*?)\}'}
_COLOUR = re.compile(r"--sg-([\w-]+):\s*(#(?:[0-9a-f]{6}|[0-9a-f]{3}))\b", re.I)

Rgb = tuple[float, float, float]  # 0 … 255


@functools.cache
def colours(scheme: str) -> dict[str, Rgb]:
    """Every named colour of a scheme, as the style sheets give it."""
    folder = Path(__file__).parent.parent / "browser"
    text = "".join((folder / sheet).read_text(encoding="utf-8") for sheet in SHEETS)
    found: dict[str, Rgb] = {}
    for block in re.findall(_BLOCKS[scheme], text, re.S):
        found |= {name: _rgb(value) for name, value in _COLOUR.findall(block)}
    return found


def names() -> list[str]:
    return list(colours("light"))


def blend(over: Rgb, under: Rgb, opacity: float) -> Rgb:
    """What is seen where `over` lies on `under`."""
    r, g, b = (opacity * o + (1 - opacity) * u for o, u in zip(over, under, strict=True))
    return r, g, b


def contrast(one: Rgb, other: Rgb) -> float:
    """WCAG 2.2's contrast ratio, from 1 to 21.

    >>> contrast((255, 255, 255), (0, 0, 0))
    21.0
    """
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return round((bright + 0.05) / (dark + 0.05), 3)


def _luminance(colour: Rgb) -> float:
    def linear(channel: float) -> float:
        c = channel / 255
        return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4

    r, g, b = map(linear, colour)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def _rgb(value: str) -> Rgb:
    digits = value[1:] if len(value) == 7 else "".join(2 * c for c in value[1:])
    r, g, b = (int(digits[i : i + 2], 16) for i in (0, 2, 4))
    return float(r), float(g), float(b)
