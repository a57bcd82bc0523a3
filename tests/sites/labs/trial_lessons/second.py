"""A second lesson, for a second article."""

from sitegen.page.display import fixed
from sitegen.page.elements import element
from sitegen.page.lab import Slider, lab


@lab(title="两倍", controls={"x": Slider(0, 5000, start=3, label="x")})
def double(x):
    return element("p", {}, f"两倍是 {fixed(2 * x, 1)}")
