"""One lab of every control and part."""

import numpy as np

from sitegen.page.display import fixed
from sitegen.page.elements import element
from sitegen.page.lab import Choice, Drag, Matrix, Number, Slider, Text, Toggle, Tokens, lab
from sitegen.page.parts import arcs, bar_table, curve, matrix, paragraph, token_row, vector_strip

words = ["小明", "把", "书", "借", "给了", "小红"]
keys = np.array([[1.0, 0.5], [-0.5, 1.0], [0.25, -1.0]])


def softmax(scores):
    return np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()


@lab(
    title="一个数，一个开关，一个选择",
    controls={
        "scale": Slider(0, 20, step=0.5, start=1, label="放大", unit="倍"),
        "extra": Number(-5, 5, step=0.5, label="加上"),
        "squared": Toggle(label="平方"),
        "ending": Choice(["。", "？", "……"], label="结尾"),
    },
)
def numbers(scale, extra, squared, ending):
    value = (scale + extra) ** 2 if squared else scale + extra
    said = element("strong", {"data-say": ""}, f"结果是 {fixed(value, 2)}{ending}")
    shares = softmax(np.array([value, 1.0, 0.0]))
    return element("div", {}, paragraph(said), bar_table(["甲", "乙", "丙"], shares, heading="份额", name_heading="谁"))


@lab(
    title="把 q 拖到哪里，就听谁的",
    controls={"q": Drag(x=(-2, 2), y=(-2, 2), step=0.1, start=(1, 0.5), label="查询 q",
                        names=("q 的第一个数", "q 的第二个数"),
                        marks={"小明": (1.0, 0.5), "把": (-0.5, 1.0), "书": (0.25, -1.0)})},
)  # fmt: skip
def plane(q):
    x, y = q
    weights = softmax(keys @ np.array([x, y]) * 2)
    return element("div", {}, vector_strip([x, y], 2, label="q", scale=2), token_row(words[:3], weights, "听谁的"))


@lab(
    title="改一改 W",
    controls={"W": Matrix([[1, 0, 0.5], [0, 1, -1]], low=-3, high=3, step=0.5, rows=["甲", "乙"],
                          columns=["一", "二", "三"], label="W")},
)  # fmt: skip
def cells(W):
    product = keys @ np.array(W)
    return element("div", {}, matrix(product, rows=words[:3], columns=["一", "二", "三"], label="结果"))


@lab(
    title="写一句话",
    controls={
        "tokens": Tokens(words, most=8, longest=6, label="句子"),
        "at": Slider(1, 6, label="第几个词在看"),
        "name": Text("小北", longest=12, label="你的名字"),
    },
)
def sentence(tokens, at, name):
    looking = min(int(at), len(tokens)) - 1
    distance = np.abs(np.arange(len(tokens)) - looking)
    weights = softmax(-1.0 * distance)
    return element(
        "div",
        {},
        paragraph(f"{name}写了 {len(tokens)} 个词。"),
        arcs(tokens, weights, looking, label="弧线"),
        token_row(tokens, weights, at=looking, label="权重"),
    )


@lab(title="两条线", controls={"turns": Slider(1, 4, step=0.5, start=1, label="转几圈"), "at": Slider(0, 10, start=3, label="看哪里")})
def wave(turns, at):
    x = np.linspace(0, 10, 81)
    lines = {"正弦": np.sin(turns * x * 0.6), "余弦": np.cos(turns * x * 0.6)}
    return curve(x, lines, "波", x_label="位置", low=-1, high=1, at=at)
