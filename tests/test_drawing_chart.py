"""Charts: matplotlib's axes on our canvas, without a font."""

import re
import subprocess
import sys

import numpy as np
import pytest

from sitegen.drawing import DrawingError
from sitegen.drawing.chart import INK, Chart
from sitegen.drawing.lint import faults, rings


def chart():
    made = Chart(360, 260)
    axes = made.axes(title="损失（nats）", x_title="训练步数", right=90, xlim=(0, 10), ylim=(-1, 1), yticks=[-1, 0, 1])
    made.curve(axes, "sine", np.linspace(0, 10, 50), np.sin(np.linspace(0, 10, 50)), "残差", "2")
    return made


def node(canvas, key):
    return next(n for n in canvas.nodes if n.key.startswith(f"{key}/"))


def test_negative_ticks_carry_a_true_minus_sign():
    assert "−1" in [n.text for n in chart().canvas().nodes]


def test_a_curve_lies_where_its_values_say():
    """The pixels, read back through the axes' limits, are the data."""
    points = np.array(rings(node(chart().canvas(), "sine").attributes["d"])[0])
    x = (points[:, 0] - 46) / (360 - 46 - 90) * 10
    y = ((260 - 48) - points[:, 1]) / (260 - 48 - 34) * 2 - 1
    assert np.allclose(y, np.sin(x), atol=0.012) and len(points) == 50


def test_texts_are_texts_with_the_colours_of_the_palette_and_no_fault():
    canvas = chart().canvas()
    assert {"损失（nats）", "训练步数", "残差"} <= {n.text for n in canvas.nodes}
    assert faults(canvas) == []
    assert not re.search(r"#[0-9a-f]{3}|id=|style=|clip", canvas.body())


def test_a_colour_outside_the_palette_is_refused():
    made = Chart(300, 200)
    made.axes().plot([0, 1], [0, 1], color="red")
    with pytest.raises(DrawingError, match="none of the palette"):
        made.canvas()


def test_turned_text_is_refused():
    made = Chart(300, 200)
    made.axes().set_ylabel("损失")
    with pytest.raises(DrawingError, match="is turned"):
        made.canvas()


def test_a_line_that_leaves_the_axes_is_cut_at_their_edge():
    made = Chart(300, 200)
    axes = made.axes(xlim=(0, 1), ylim=(0, 1))
    axes.plot([-5, 5], [0.5, 0.5], color=INK["1"], gid="line")
    xs = [x for ring in rings(node(made.canvas(), "line").attributes["d"]) for x, _ in ring]
    assert 45 <= min(xs) and max(xs) <= 287  # matplotlib leaves a pixel for the width of the line


def test_bars_become_filled_paths():
    made = Chart(300, 200)
    made.axes(ylim=(0, 1)).bar([0, 1], [0.25, 0.75], color=INK["3"], gid="bar")
    heights = []
    for n in made.canvas().nodes:
        if n.tag == "path" and n.tone("f") == "3":
            ys = [y for _, y in rings(n.attributes["d"])[0]]
            heights.append(max(ys) - min(ys))
    assert heights[1] == pytest.approx(3 * heights[0], abs=0.3)


def test_the_machines_own_settings_do_not_show():
    import matplotlib

    plain = chart().canvas().body()
    with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9, "axes.grid": False}):
        assert chart().canvas().body() == plain


def test_no_font_is_opened_while_a_chart_is_drawn():
    """matplotlib's font functions are taken away; drawing does without them."""
    script = (
        "import matplotlib.font_manager as fm, matplotlib.text as text\n"
        "def refuse(*a, **k): raise AssertionError('a font was opened')\n"
        "fm.get_font = text.get_font = refuse\n"
        "fm.FontManager.findfont = fm.FontManager._find_fonts_by_props = refuse\n"
        "from tests.test_drawing_chart import chart\n"
        "print(len(chart().canvas().nodes))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
