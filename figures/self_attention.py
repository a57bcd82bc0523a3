"""The pictures of article 2, in the order of the page; every number is the lesson's.

Figures are drawn twice, 640 and 360 pixels wide. The explainer's frames have one size that suits both.
"""

import numpy as np

from sim.lessons import self_attention as lesson
from sitegen.drawing import Scene, Step, explainer, figure
from sitegen.drawing.canvas import digits
from sitegen.drawing.chart import Chart, longest
from sitegen.page.display import fixed


def percent(share, places=0):
    return fixed(100 * share, places) + "%"


def table(scene, key, x, y, rows, places, cell, names, columns, size=14, scale=None):
    """A matrix whose rows and columns are words; x, y is the corner of its first number."""
    for j, name in enumerate(columns):
        scene.label(f"{key}/column{j}", x + (j + 0.5) * cell[0], y - 12, name, size - 1, "mute")
    return scene.grid(key, x, y, rows, places, cell, names, size, scale)


# ---- 一 该听谁的


@figure(
    alt="两张三行三列的分数表，行和列都是小北、喝、奶茶。左边看像不像：{{ seq(alike[0]) }}；{{ seq(alike[1]) }}；"
    "{{ seq(alike[2]) }}，左右对称。右边用查询和键：{{ seq(raw_scores[0]) }}；"
    "{{ seq(raw_scores[1]) }}；{{ seq(raw_scores[2]) }}，不对称。",
    caption="颜色越深，分越高。左边看像不像，「喝」给自己的 {{ num(alike[1, 1]) }} 分最高，沿对角线对折，**两半一样**。"
    "右边用第二节的查询和键，「喝」把 {{ num(raw_scores[1, 2]) }} 分给了「奶茶」，**两半不再一样**。",
)
def alike_or_asked(width):
    wide = width > 500
    cell, room = ((66, 40), 54) if wide else ((40, 36), 42)
    scene = Scene(width, 200 if wide else 186)
    for i, (key, title, scores) in enumerate((("alike", "像不像", lesson.alike), ("asked", "查询和键", lesson.raw_scores))):
        left = (14 if wide else 2) + i * width / 2
        scene.label(f"{key}/title", left + room, 16, title, 14, anchor="start", bold=True)
        table(scene, key, left + room, 62, scores, 0, cell, lesson.words, lesson.words)
    return scene


# ---- 二 三个身份


@figure(
    alt="「喝」的向量 {{ vec(drink) }} 分别乘三个矩阵。乘 W_Q 得查询 {{ vec(Q[1]) }}，乘 W_K 得键 {{ vec(K[1]) }}，"
    "乘 W_V 得值 {{ vec(V[1]) }}。",
    caption="**同一个**「喝」，乘三个矩阵，得三个向量。三个矩阵全句共用，另外两个词也各过一遍。",
)
def three_roles(width):
    wide = width > 500
    cell, stem, box = ((54, 36), 60, 130) if wide else ((40, 32), 24, 56)
    scene = Scene(width, 318)
    x = scene.vector("x", stem - 18 if wide else 6, 30, lesson.drink, 0, cell, 4, "「喝」", size=15)
    roles = [("W_Q", "查询", "我在找什么", lesson.Q, "1"), ("W_K", "键", "凭什么被找到", lesson.K, "3"),
             ("W_V", "值", "从我这里取走什么", lesson.V, "4")]  # fmt: skip
    for i, (matrix, name, meaning, rows, tone) in enumerate(roles):
        y = 118 + 74 * i
        work = scene.box(f"W{i}", box, y, matrix, w=66, h=38, tone=tone)
        scene.arrow(f"in{i}", (stem, x.y + x.h), work.left, via=[(stem, work.centre[1])])
        left = work.x + work.w + (58 if wide else 40)
        out = scene.vector(f"out{i}", left, work.centre[1] - cell[1] / 2, rows[1], 0, cell, 4, size=15)
        scene.arrow(f"go{i}", work.right, out.left, tone)
        if wide:
            scene.label(f"name{i}", out.x + out.w + 16, out.centre[1] - 10, name, 15, anchor="start", bold=True)
            scene.label(f"told{i}", out.x + out.w + 16, out.centre[1] + 11, meaning, 13, "mute", "start")
        else:
            scene.label(f"name{i}", out.x, out.y - 11, f"{name}：{meaning}", 13, "mute", "start")
    return scene


# ---- 三 打分，分份额，取内容


@figure(
    alt="形状怎样变。X 是 {{ num(len(X)) }} 行 {{ num(len(X[0])) }} 列，变成三个同样大的 Q、K、V；"
    "Q 乘 K 的转置得 {{ num(len(weights)) }} 行 "
    "{{ num(len(weights[0])) }} 列的分数，横着做 softmax 得同样大的权重，再乘 V 得 {{ num(len(output)) }} 行 "
    "{{ num(len(output[0])) }} 列的输出。",
    caption="一行是一个词，涂色的是「喝」那一行。Q 和 K 碰出一张**词对词**的方表，方表乘 V，又回到一行一个词。"
    "「喝」那一行的输出，用到了**全部**的 K 和 V。",
)
def shapes(width):
    wide = width > 500
    c, gap = (20, 60) if wide else (12, 30)
    scene = Scene(width, 326 if wide else 260)
    n, d = lesson.X.shape
    left = (width - (3 * d + 2 * n) * c - 4 * gap) / 2
    columns = [left + sum((d, d, n, n)[:i]) * c + i * gap for i in range(5)]
    low, step = (136, 104) if wide else (116, 78)

    def block(key, name, x, y, shape, all_rows=False):
        for i in range(shape[0]):
            for j in range(shape[1]):
                lit = all_rows or i == 1
                scene.rect(f"{key}/{i}{j}", x + j * c + 1, y + i * c + 1, c - 2, c - 2, f"f-{'1' if lit else 'line'}", 2)
        middle = x + shape[1] * c / 2
        scene.label(f"{key}/name", middle, y - 12, name, 14, bold=True)
        scene.label(f"{key}/shape", middle, y + shape[0] * c + 11, f"{shape[0]} × {shape[1]}", 12, "mute")
        return scene.rect(f"{key}/all", x, y, shape[1] * c, shape[0] * c, "f-none", 0)

    x = block("X", "X", columns[0], low, (n, d))
    q, k, v = (block(name, name, columns[1], low + (i - 1) * step, (n, d), i > 0) for i, name in enumerate("QKV"))
    s = block("S", "分数", columns[2], low - step / 2, (n, n))
    p = block("P", "权重", columns[3], low - step / 2, (n, n))
    out = block("out", "输出", columns[4], low + step / 2, (n, d))
    for key, end in (("q", q), ("k", k), ("v", v)):
        bend = x.right[0] + gap / 2
        scene.arrow(f"to/{key}", x.right, end.left, via=[] if key == "k" else [(bend, x.right[1]), (bend, end.left[1])])
    for key, start in (("q", q), ("k", k)):
        bend = start.right[0] + gap / 2
        scene.arrow(f"from/{key}", start.right, s.left, via=[(bend, start.right[1]), (bend, s.left[1])])
    scene.arrow("softmax", s.right, p.left, label="softmax" if wide else "")
    bend = p.right[0] + gap / 2
    scene.arrow("weigh", p.right, out.left, via=[(bend, p.right[1]), (bend, out.left[1])])
    scene.arrow("take", v.right, out.left, via=[(bend, v.right[1]), (bend, out.left[1])])
    return scene


# ---- 四 从「借」看出去


def ribbon(scene, key, x0, x1, y, high, thick, tone):
    """A band from word to word, as thick as the share it stands for."""
    middle = (x0 + x1) / 2
    d = (
        f"M{digits(x0)} {digits(y)}Q{digits(middle)} {digits(y - 2 * high)} {digits(x1)} {digits(y)}"
        f"Q{digits(middle)} {digits(y - 2 * high + 2 * thick)} {digits(x0)} {digits(y)}Z"
    )
    scene.path(key, d, f"f-{tone}", 0.6)


@figure(
    alt="「借」听三个词：「小明」{{ pct(borrow_weights[0]) }}，「书」{{ pct(borrow_weights[1]) }}，"
    "「小红」{{ pct(borrow_weights[2]) }}。"
    "三个词的值 {{ vec(borrow_values[0]) }}、{{ vec(borrow_values[1]) }}、{{ vec(borrow_values[2]) }} 按份额相加，得 "
    "{{ vec(borrow_output, 1) }}。",
    caption="带子越粗，听得越多。下面三行是三个词交出的值，前面是份额；**按份额加起来**，就是最下面那一行。",
)
def borrow_listens(width):
    wide = width > 500
    scene = Scene(width, 340)
    sentence = ["小明", "把", "书", "借", "给了", "小红"]
    step, size = (92, 17) if wide else (57, 15)
    places = {word: width / 2 + (i - 2.5) * step for i, word in enumerate(sentence)}
    for i, (word, share) in enumerate(zip(lesson.key_words, lesson.borrow_weights, strict=True)):
        far = abs(places[word] - places["借"])
        ribbon(scene, f"band{i}", places["借"], places[word], 96, 34 + far / 9, 40 * share, "3")
    for word, x in places.items():
        heard = word in lesson.key_words
        tone, bold = ("1", True) if word == "借" else ("ink" if heard else "mute", heard)
        scene.label(f"word/{word}", x, 110, word, size, tone, bold=bold)
    cell = (58, 32)
    left = width / 2 - 1.5 * cell[0] + (30 if wide else 34)
    for i, (word, share) in enumerate(zip(lesson.key_words, lesson.borrow_weights, strict=True)):
        y = 144 + 42 * i
        row = scene.vector(f"value{i}", left, y, lesson.borrow_values[i], 1, cell, 1, size=15)
        scene.label(f"share{i}", left - 12, row.centre[1], f"{word} {percent(share)} ×", 15, "ink", "end")
    y = 288
    scene.line("sum", [(left - 100, 277), (left + 3 * cell[0], 277)], "s-mute")
    row = scene.vector("heard", left, y, lesson.borrow_output, 1, cell, 1, size=15)
    scene.label("heard/name", left - 12, row.centre[1], "「借」听来的", 15, "1", "end", bold=True)
    return scene


@figure(
    alt="「借」听来的三个数各在哪里。第一个数 {{ num(borrow_output[0], 1) }}，三个词的值从 {{ num(borrow_least[0], 1) }} 到 "
    "{{ num(borrow_most[0], 1) }}；第二个数 {{ num(borrow_output[1], 1) }}，从 {{ num(borrow_least[1], 1) }} 到 "
    "{{ num(borrow_most[1], 1) }}；"
    "第三个数 {{ num(borrow_output[2], 1) }}，从 {{ num(borrow_least[2], 1) }} 到 {{ num(borrow_most[2], 1) }}。",
    caption="每条线上的三个点是三个词的值，方块是混合的结果。方块**总在最左和最右的点之间**；这里离份额最大的「书」最近。",
)
def mixture(width):
    wide = width > 500
    scene = Scene(width, 268)
    low, high = -0.5, 1.0
    left, right = (80, width - 40) if wide else (58, width - 22)

    def at(value):
        return left + (value - low) / (high - low) * (right - left)

    for j, name in enumerate(["一", "二", "三"]):
        y = 56 + 84 * j
        scene.label(f"name{j}", 12, y, f"数{name}", 14, "mute", "start")
        values = lesson.borrow_values[:, j]
        scene.line(f"track{j}", [(at(values.min()), y), (at(values.max()), y)], "s-line thick")
        for i, word in enumerate(lesson.key_words):
            scene.rect(f"dot{j}{i}", at(values[i]) - 6, y - 6, 12, 12, "f-3", 6)
            scene.label(f"word{j}{i}", at(values[i]), y - 22, word, 13)
        out = lesson.borrow_output[j]
        scene.rect(f"out{j}", at(out) - 6, y - 9, 12, 18, "f-1", 2)
        scene.label(f"value{j}", at(out), y + 24, fixed(out, 1), 15, "1", bold=True)
    return scene


# ---- 五 为什么除以 √d_k


@figure(
    alt="点积的方差随 d_k 变化。不除：从 {{ num(product_variance[\"plain\"][0], 1) }} 涨到 "
    "{{ num(product_variance[\"plain\"][4], 0) }}。除以 √d_k："
    "一直在一附近，头一个是 {{ num(product_variance[\"scaled\"][0], 2) }}。"
    "除以 d_k：从 {{ num(product_variance[\"over\"][0], 2) }} 落到 "
    "{{ num(product_variance[\"over\"][4], 4) }}。",
    caption="两根轴都是对数的，每走一格，乘同一个倍数。"
    "**不除**，方差和 d_k 一样涨；**除以 √d_k**，是一条平线；**除以 d_k**，一路落下去。",
)
def variance(width):
    chart = Chart(width, 300)
    names = {"plain": "不除", "scaled": "÷ √d_k", "over": "÷ d_k"}
    sizes = list(lesson.product_sizes)
    axes = chart.axes(title="点积的方差", x_title="d_k", left=58, right=longest(list(names.values())), xscale="log", yscale="log",
                      xlim=(sizes[0] * 0.8, sizes[-1]), ylim=(5e-4, 3e3))  # fmt: skip
    ticks = [1 / 1024, 1 / 64, 1 / 4, 4, 64, 1024] if width > 500 else [1 / 1024, 1 / 32, 1, 32, 1024]
    axes.set_xticks(sizes, [fixed(size) for size in sizes], minor=False)
    axes.set_yticks(ticks, [fixed(t, 3 if t < 0.1 else 2 if t < 1 else 0) for t in ticks], minor=False)
    axes.minorticks_off()
    for (way, name), tone in zip(names.items(), "231", strict=True):
        chart.curve(axes, way, sizes, lesson.product_variance[way], name, tone, marker="o")
    return chart


@figure(
    alt="同一批随机数，d_k 是 {{ num(small_size) }}，词甲给八个词的权重。"
    "不除：最大的占 {{ pct(crowd_top, 1) }}，别的几乎没有。除以 √d_k："
    "{{ pct(crowd_scaled[0]) }}、{{ pct(crowd_scaled[1]) }}、{{ pct(crowd_scaled[2]) }}、"
    "{{ pct(crowd_scaled[3]) }}、{{ pct(crowd_scaled[4]) }}、"
    "{{ pct(crowd_scaled[5]) }}、{{ pct(crowd_scaled[6]) }}、{{ pct(crowd_scaled[7]) }}。",
    caption="同一个查询，同样八个键，只差一次除法。不除，**一个词全拿**；除以 √d_k，次序没变，**别的词也听得见**。这是一个例子，"
    "多次的中位数在上面的表里。",
)
def with_and_without(width):
    wide = width > 500
    scene = Scene(width, 226 if wide else 440)
    panel = 312 if wide else 356
    names = [word[-1] for word in lesson.crowd_words]
    sides = [("plain", "不除", lesson.crowd_plain, "2"), ("scaled", "除以 √d_k", lesson.crowd_scaled, "3")]
    for i, (key, title, shares, tone) in enumerate(sides):
        left, top = (2 + 324 * i, 12) if wide else (2, 12 + 216 * i)
        scene.frame(f"{key}/panel", left, top, panel, 202, title)
        w, gap = 24, 12 if wide else 17
        start = left + (panel - 8 * (w + gap) + gap) / 2
        scene.columns(key, start, top + 172, shares, [percent(share) for share in shares], names, 124, w, gap, 1, tone)
    return scene


@figure(
    alt="斜率总量随放大倍数 c 变化。中位数：c 是 {{ num(slope_scales[0]) }} 时 {{ num(slope_curve[\"median\"][0], 2) }}，"
    "升到 c 是 {{ num(slope_scales[3]) }} 时的 "
    "{{ num(slope_curve[\"median\"][3], 2) }}，再降到 c 是 {{ num(slope_scales[5]) }} 时的 "
    "{{ num(slope_curve[\"median\"][5], 2) }}。最大的一成在那里还有 "
    "{{ num(slope_curve[\"high\"][5], 2) }}，最小的一成已经是 {{ num(slope_curve[\"low\"][5], 4) }}。",
    caption="实线是中位数，**先升后降**。虚线是最大和最小的一成的边界：同样的 c，有的查询还动得了，有的**早就不动了**。",
)
def slope_curve(width):
    names = {"high": "最大一成", "median": "中位数", "low": "最小一成"}
    chart = Chart(width, 300)
    places = np.arange(len(lesson.slope_scales))
    axes = chart.axes(title="斜率总量", x_title="分数放大的倍数 c", left=44, right=longest(list(names.values())),
                      xlim=(0, places[-1]), ylim=(-0.02, 0.5), yticks=[0, 0.1, 0.2, 0.3, 0.4, 0.5])  # fmt: skip
    axes.set_xticks(places, [fixed(scale) for scale in lesson.slope_scales])
    axes.set_yticklabels([fixed(tick, 1) for tick in (0, 0.1, 0.2, 0.3, 0.4, 0.5)])
    for name, tone, up in (("high", "3", 0), ("median", "1", 9), ("low", "5", -9)):
        chart.curve(axes, name, places, lesson.slope_curve[name], names[name], tone, name != "median", up)
    return chart


# ---- 六 换个次序


@figure(
    alt="两种次序的输出。小北喝奶茶：小北 {{ vec(output[0], 2) }}，喝 {{ vec(output[1], 2) }}，"
    "奶茶 {{ vec(output[2], 2) }}。奶茶喝小北：奶茶 "
    "{{ vec(swapped_output[0], 2) }}，喝 {{ vec(swapped_output[1], 2) }}，小北 {{ vec(swapped_output[2], 2) }}。",
    caption="上面是原来的次序，下面是倒过来的，连线连的是同一个词。**词换到哪里，它的输出就跟到哪里**，数一个没变。",
)
def swapping(width):
    wide = width > 500
    cell, gap, size = ((44, 30), 28, 13) if wide else ((28, 28), 8, 12)
    span = 4 * cell[0]
    left = (width - 3 * span - 2 * gap) / 2
    scene = Scene(width, 262)
    rows = [(62, lesson.words, lesson.output, -1), (172, lesson.swapped_words, lesson.swapped_output, 1)]
    middles = {}
    for r, (y, names, outputs, side) in enumerate(rows):
        for i, name in enumerate(names):
            x = left + i * (span + gap)
            scene.vector(f"{name}{r}", x, y, outputs[i], 2, cell, 2.5, size=size)
            middles[r, name] = x + span / 2
            scene.label(f"{name}{r}/name", x + span / 2, y + (-18 if side < 0 else cell[1] + 18), name, 16, bold=True)
    for name in lesson.words:
        points = [(middles[0, name], 62 + cell[1] + 4), (middles[1, name], 168)]
        scene.line(f"{name}/way", points, "s-1" if name == "喝" else "s-mute")
    return scene


# ---- the explainer: the whole calculation for 「喝」, frames of 400 × 250, large letters for a phone


W, H = 400, 250
CELL = (42, 34)
LARGEST = 5.0  # the size that gives a cell its full strength, the same in all frames


@explainer(title="两分钟看完：「喝」怎样听别的词")
def one_word():
    """One word, four steps: ask, score, share out, take."""
    return [
        Step(
            _asking(),
            "「小北喝奶茶」。「喝」想知道**谁在喝，喝什么**。它该听谁的，**各听几成**？",
        ),
        Step(
            _roles(),
            "「喝」是四个数，{{ vec(drink) }}。它乘三个矩阵，得三个向量：**查询**拿去问，**键**给人认，**值**给人取。",
        ),
        Step(
            _making_query(),
            "先算查询。「喝」的数说了**每行取几份**：第二行取 {{ num(drink[1]) }} 份，第三行取 {{ num(drink[2]) }} 份，加起来是 "
            "{{ vec(drink_query) }}。",
        ),
        Step(
            _keys(),
            "每个词也**亮出自己的键**，用的是另一个矩阵。「喝」拿着查询，**挨个去比**。",
        ),
        Step(
            _one_score(),
            "跟「奶茶」比：**对着乘**，得 {{ vec(drink_asks_tea) }}，**加起来** {{ num(raw_scores[1, 2]) }} 分。",
        ),
        Step(
            _all_scores(),
            "跟三个词都比一遍，**三个分数**：{{ seq(raw_scores[1]) }}。给自己的反而最低。",
        ),
        Step(
            _scaled(),
            "除以 √d_k。这里 d_k 是 {{ num(d_k) }}，**开方得 {{ num(divisor) }}**，分数成了 {{ seq(scaled_scores[1]) }}。",
            say="除以根号 d k。这里 d k 是 {{ num(d_k) }}，开方得 {{ num(divisor) }}，分数成了 {{ seq(scaled_scores[1]) }}。",
        ),
        Step(
            _powers(),
            "分数要变成份额。先取 e 的那么多次方，**全变成正数**：{{ seq(powers, 1) }}。",
        ),
        Step(
            _shares(),
            "各自**除以总和**，就是权重：「小北」{{ pct(weights[1, 0]) }}，自己 {{ pct(weights[1, 1]) }}，"
            "「奶茶」{{ pct(weights[1, 2]) }}，**加起来是一**。",
        ),
        Step(
            _values(),
            "现在轮到**值**。三个词各交出一份内容，「喝」**按份额**去取。",
        ),
        Step(
            _portions(),
            "每份值乘上自己的权重，**「奶茶」那份留下最多**。",
        ),
        Step(
            _heard(),
            "竖着加起来，{{ vec(drink_output, 2) }}，就是「喝」**听来的内容**。每个数都在三个值的**最小和最大之间**。",
        ),
        Step(
            _everyone(),
            "另外两个词同时做**同样的四步**，写成一行：Q 乘 K 的转置，除以 √d_k，过 softmax，再乘 V。",
            say="另外两个词同时做同样的四步。写成一行，就是 Q 乘 K 的转置，除以根号 d k，取 softmax，再乘 V。",
        ),
        Step(
            _why_divide(),
            "为什么要除？向量长了，分数就散得开。d_k 是 {{ num(saturation_sizes[2]) }} 时**不除**，最大的权重有 "
            "{{ num(saturated[\"plain\"][\"top\"][2], 4) }}；**除了**，是 "
            "{{ num(saturated[\"scaled\"][\"top\"][2], 2) }}。",
            say="为什么要除？向量长了，分数就散得开。d k 是 {{ num(saturation_sizes[2]) }} 时，不除，最大的权重有 "
            "{{ num(saturated[\"plain\"][\"top\"][2], 4) }}；除了，是 {{ num(saturated[\"scaled\"][\"top\"][2], 2) }}。",
        ),
    ]


def _frame(title):
    scene = Scene(W, H)
    scene.label("title", 14, 20, title, 15, "mute", "start", bold=True)
    return scene


def _asking():
    scene = _frame("该听谁的")
    for i, word in enumerate(lesson.words):
        box = scene.box(f"word{i}", 32 + 126 * i, 150, word, w=84, h=44, tone="1" if i == 1 else "5", size=18,
                        strength=1 if i == 1 else 0.3)  # fmt: skip
        if i != 1:
            scene.arrow(f"from{i}", box.top, (200 + (i - 1) * 16, 150), "3",
                        via=[(box.centre[0], 88), (200 + (i - 1) * 16, 88)], label="")  # fmt: skip
    scene.label("how", 200, 66, "各听几成？", 17)
    return scene


def _roles():
    scene = _frame("一个词，三个向量")
    x = scene.vector("x", 14, 116, lesson.drink, 0, (34, 36), LARGEST, "「喝」", size=17)
    for i, (name, rows, tone) in enumerate((("查询", lesson.Q, "1"), ("键", lesson.K, "3"), ("值", lesson.V, "4"))):
        y = 48 + 68 * i
        key = ("q", "k1", "v1")[i]
        out = scene.vector(key, 218, y, rows[1], 0, CELL, LARGEST, size=17)
        scene.arrow(f"make{i}", x.right, out.left, tone, via=[(174, 134), (174, y + 17)] if i != 1 else [])
        scene.label(f"role{i}", 206, y - 8 if i != 1 else y - 10, name, 15, tone, "end", bold=True)
    return scene


def _making_query():
    scene = _frame("查询：每行取几份")
    scene.vector("x", 20, 54, lesson.drink, 0, (34, 36), LARGEST, vertical=True, label="「喝」", side="bottom", size=17)
    for i, row in enumerate(lesson.W_Q):
        taken = lesson.drink[i] > 0
        scene.vector(f"w{i}", 120, 54 + 36 * i, row, 0, (42, 36), LARGEST, size=17, tone="" if taken else "5")
        text = f"× {fixed(lesson.drink[i])}"
        scene.label(f"times{i}", 86, 72 + 36 * i, text, 16, "ink" if taken else "mute", bold=bool(taken))
    scene.label("wq", 204, 40, "W_Q", 15, "mute")
    scene.arrow("sum", (204, 199), (204, 208), "1", gap=0)
    scene.vector("q", 120, 209, lesson.drink_query, 0, CELL, LARGEST, size=17)
    scene.label("q/name", 300, 226, "查询", 16, "1", "start", bold=True)
    return scene


def _with_keys(title):
    """The query above, three keys below it, as the next steps share them."""
    scene = _frame(title)
    scene.vector("q", 86, 44, lesson.Q[1], 0, CELL, LARGEST, label="查询", side="left", size=17)
    for i, word in enumerate(lesson.words):
        scene.vector(f"k{i}", 86, 104 + 46 * i, lesson.K[i], 0, CELL, LARGEST, label=word, side="left", size=17)
    return scene


def _keys():
    scene = _with_keys("三个键")
    scene.label("told", 328, 166, "挨个去比", 16, "3")
    scene.arrow("compare", (276, 61), (328, 148), "3", via=[(328, 61)])
    return scene


def _one_score():
    scene = _frame("点积：对着乘，加起来")
    scene.vector("q", 100, 48, lesson.Q[1], 0, CELL, LARGEST, label="「喝」的查询", side="left", size=15)
    scene.vector("k2", 100, 100, lesson.K[2], 0, CELL, LARGEST, label="「奶茶」的键", side="left", size=15)
    scene.vector("products", 100, 166, lesson.drink_asks_tea, 0, CELL, LARGEST, label="对着乘", side="left", size=15)
    for i in range(4):
        scene.label(f"sign{i}", 121 + 42 * i, 91, "×", 15, "mute")
        scene.arrow(f"down{i}", (121 + 42 * i, 136), (121 + 42 * i, 166), gap=2)
    scene.arrow("add", (268, 183), (312, 183), "1")
    scene.label("total", 346, 183, f"{fixed(lesson.raw_scores[1, 2])} 分", 24, "1", bold=True)
    return scene


def _scores(title, values, note):
    scene = _with_keys(title)
    for i, value in enumerate(values):
        scene.label(f"score{i}", 326, 121 + 46 * i, fixed(value), 24, "1", bold=True)
    scene.label("note", 326, 61, note, 16, "mute")
    return scene


def _all_scores():
    return _scores("三个分数", lesson.raw_scores[1], "分数")


def _scaled():
    return _scores("除以 √d_k", lesson.scaled_scores[1], f"÷ {fixed(lesson.divisor)}")


def _powers():
    scene = _frame("e 的多少次方")
    for i, word in enumerate(lesson.words):
        y = 74 + 54 * i
        scene.label(f"word{i}", 22, y, word, 17, anchor="start")
        scene.label(f"score{i}", 104, y, fixed(lesson.scaled_scores[1, i]), 24, "1", bold=True)
        scene.shares(f"power{i}", 146, y - 16, [lesson.powers[i]], [fixed(lesson.powers[i], 1)], [""], 180, 32,
                     scale=float(lesson.powers.max()), tone="3", size=16)  # fmt: skip
    return scene


def _shares():
    scene = _frame("除以总和，得权重")
    for i, word in enumerate(lesson.words):
        y = 74 + 54 * i
        share = lesson.weights[1, i]
        scene.label(f"word{i}", 22, y, word, 17, anchor="start")
        scene.label(f"score{i}", 104, y, fixed(lesson.scaled_scores[1, i]), 24, "1", bold=True)
        scene.shares(f"power{i}", 146, y - 16, [share], [percent(share)], [""], 180, 32,
                     scale=float(lesson.weights[1].max()), tone="3", size=16)  # fmt: skip
    return scene


def _with_values(title, rows, places, cell):
    scene = _frame(title)
    for i, word in enumerate(lesson.words):
        y = 52 + 48 * i
        name = f"{word} {percent(lesson.weights[1, i])}"
        scene.label(f"word{i}", 110, y + 17, name, 16, "ink", "end")
        scene.vector(f"v{i}", 122, y, rows[i], places, cell, 3, size=17)
    return scene


def _values():
    scene = _with_values("三个值", lesson.V, 0, (62, 34))
    scene.label("told", 246, 222, "按份额取", 16, "4")
    return scene


def _portions():
    return _with_values("各乘自己的权重", lesson.shares_of_values, 2, (62, 34))


def _heard():
    scene = _with_values("加起来", lesson.shares_of_values, 2, (62, 34))
    scene.line("rule", [(122, 192), (370, 192)], "s-mute")
    scene.vector("heard", 122, 200, lesson.drink_output, 2, (62, 36), 3, size=17)
    scene.label("heard/name", 110, 218, "「喝」听来", 16, "1", "end", bold=True)
    return scene


def _everyone():
    scene = _frame("三个词一起")
    table(scene, "weights", 66, 92, lesson.weights, 2, (48, 38), lesson.words, lesson.words, 14, 1)
    scene.label("weights/title", 138, 54, "权重", 15, "mute")
    scene.arrow("go", (214, 149), (246, 149), "1", label="× V", size=15)
    for i in range(3):
        key = "heard" if i == 1 else f"out{i}"
        scene.vector(key, 250, 92 + 38 * i, lesson.output[i], 1, (36, 38), 3, size=15)
    scene.label("out/title", 322, 54, "输出", 15, "mute")
    return scene


def _why_divide():
    scene = _frame(f"最大的权重，d_k 是 {fixed(lesson.saturation_sizes[2])}")
    tops = [lesson.saturated[way]["top"][2] for way in ("plain", "scaled")]
    texts = [fixed(tops[0], 4), fixed(tops[1], 2)]
    scene.shares("top", 110, 86, tops, texts, ["不除", "÷ √d_k"], 210, 40, 26, 1, "3", 17)
    scene.label("note", 110, 216, f"{fixed(lesson.saturation.settings['n_keys'])} 个随机的键，中位数", 15, "mute", "start")
    return scene
