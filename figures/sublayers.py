"""The pictures of article 5, in the order of the page; every number is the lesson's.

Figures are drawn twice, 640 and 360 pixels wide. The explainer's frames have one size that suits both.
"""

import numpy as np

from sim.lessons import sublayers as lesson
from sitegen.drawing import Scene, Step, explainer, figure
from sitegen.drawing.chart import INK, Chart, longest
from sitegen.page.display import fixed, power_of_ten


def percent(share, places=0):
    return fixed(100 * share, places) + "%"


def power(value):
    return power_of_ten(value, 0).removeprefix("1×")


# ---- 一 换掉还是加上


@figure(
    alt="换掉和加上的对比。「借」是 {{ vec(borrow) }}，一层算出 f(x)，是 {{ vec(heard) }}。换掉以后只剩 {{ vec(heard) }}；"
    "加上以后是 {{ vec(after_attention, 1) }}。",
    caption="上面一路，「借」的 {{ vec(borrow) }} 进了那一层就没有再出来。下面一路多了一条**绕过去的线**，出来的 "
    "{{ vec(after_attention, 1) }} 里，原来的和新的都在。",
)
def replace_or_add(width):
    wide = width > 500
    cell = (48, 32) if wide else (34, 30)
    start, layer, plus, out = (32, 246, 372, 446) if wide else (14, 134, 210, 238)
    scene = Scene(width, 262)
    for key, top, title in (("replace", 14, "换掉"), ("add", 142, "加上")):
        scene.frame(f"{key}/row", 2, top, width - 4, 112, title)
        y = top + 68
        x = scene.vector(f"{key}/x", start, y - cell[1] / 2, lesson.borrow, 1, cell, 1, "「借」 x")
        f = scene.box(f"{key}/f", layer, y - 18, "一层", w=50, h=36, tone="3")
        scene.arrow(f"{key}/in", x.right, f.left)
        if key == "replace":
            result = scene.vector("replace/out", out, y - cell[1] / 2, lesson.heard, 1, cell, 1, "只剩 f(x)")
            scene.arrow("replace/go", f.right, result.left)
        else:
            sign = scene.op("add/plus", plus, y, tone="1")
            result = scene.vector("add/out", out, y - cell[1] / 2, lesson.after_attention, 1, cell, 1, "x + f(x)")
            scene.arrow("add/go", f.right, sign.left)
            scene.arrow("add/end", sign.right, result.left)
            bend = x.x + x.w + 10
            scene.arrow("add/skip", (bend, y), sign.top, "1", via=[(bend, y - 42), (plus, y - 42)], thick=True)
    return scene


@figure(
    alt="差别随层数的变化，纵轴每格差一千倍。只有注意力、换掉：{{ num(collapse_depths[2]) }} 层后剩 "
    '{{ sci(collapsed["attention"][3]) }}。注意力、加上：{{ num(collapse.settings["depth"]) }} 层后剩 '
    '{{ num(collapsed["skip"][24], 4) }}。三样都有（Pre-LN）、加上：{{ num(collapse.settings["depth"]) }} 层后还有 '
    '{{ num(collapsed["pre_norm_block"][24], 2) }}。',
    caption="纵轴每往下一格，差别小一千倍。只有注意力、换掉的，**几层就沉了底**；只看前文的慢一些，也在沉；"
    '单用加法的慢慢往下走；**三样都有**（Pre-LN）的那条掉得最慢，末了还有 {{ num(collapsed["pre_norm_block"][24], 2) }}。'
    '{{ num(collapse.settings["n_words"]) }} 个词，每词 {{ num(collapse.settings["d_model"]) }} 个数，'
    "{{ num(len(collapse_runs)) }} 个种子的中位数，画到浮点数的颗粒为止。",
)
def collapse(width):
    curves = [
        ("pre_norm_block", "三样都有，加上", "3"),
        ("skip", "注意力，加上", "1"),
        ("causal", "只看前文，换掉", "5"),
        ("attention", "注意力，换掉", "2"),
    ]
    chart = Chart(width, 340)
    floor, depth = 1e-15, lesson.collapse.settings["depth"]
    axes = chart.axes(
        title="词与词的差别", x_title="走过的层", left=48, right=longest([curves[0][1]]), yscale="log",
        xlim=(0, depth), ylim=(floor / 2, 2), xticks=range(0, depth + 1, 6),
    )  # fmt: skip
    ticks = [1, 1e-3, 1e-6, 1e-9, 1e-12, floor]
    axes.set_yticks(ticks, [power(t) for t in ticks], minor=False)
    axes.minorticks_off()
    for key, name, tone in curves:
        values = np.maximum(lesson.collapsed[key], floor)
        seen = 1 + np.argmax(values == floor) if floor in values else len(values)  # up to the first at the floor
        chart.curve(axes, key, np.arange(seen), values[:seen], name, tone, up=8 if seen <= depth else 0)
    return chart


# ---- 二 加法救了训练


@figure(
    alt='四个网络的训练错误率。{{ num(deep_layers) }} 层、换掉，后半程平均 {{ num(network_late["plain_56"], 2) }}，上下乱跳；'
    '{{ num(shallow_layers) }} 层、换掉，{{ num(network_late["plain_20"], 2) }}；加上的两个都到 '
    '{{ num(network_late["residual_56"]) }}。全猜是 {{ num(chance_error) }}。',
    caption="**深而不加**的网络没有学会，在全猜的 {{ num(chance_error) }} 下面晃。两个**加了残差**的网络都降到零，"
    "{{ num(deep_layers) }} 层的还快一些。{{ num(len(network_runs)) }} 个种子，取每一步的中位数。",
)
def plain_and_residual(width):
    steps = lesson.network_runs[0]["steps"]
    shallow, deep = f"{lesson.shallow_layers} 层", f"{lesson.deep_layers} 层"
    curves = [
        ("plain_56", f"{deep}，换掉", "2", False, 0),
        ("plain_20", f"{shallow}，换掉", "5", False, 14),
        ("residual_56", f"{deep}，加上", "3", False, 2),
        ("residual_20", f"{shallow}，加上", "1", True, -14),
    ]
    chart = Chart(width, 310)
    axes = chart.axes(
        title="训练错误率", x_title="训练步数", left=44, right=longest([curves[0][1]]), bottom=58, xlim=(0, steps[-1]),
        ylim=(-0.08, 0.85), xticks=range(0, steps[-1] + 1, 250 if width > 500 else 500), yticks=[0, 0.25, 0.5, 0.75],
    )  # fmt: skip
    axes.set_yticklabels([fixed(tick) for tick in (0, 0.25, 0.5, 0.75)])
    axes.axhline(lesson.chance_error, color=INK["mute"], lw=1, ls=(0, (5, 4)))
    chart.note(axes, (0, lesson.chance_error), "全猜", right=6, up=10)
    for key, name, tone, dashed, up in curves:
        median = np.median([run[key]["errors"] for run in lesson.network_runs], axis=0)
        chart.curve(axes, key, steps, median, name, tone, dashed, up)
    return chart


# ---- 三 数字越加越大


@figure(
    alt="softmax 的两组输入和输出。分数 {{ seq(mild_scores) }} 给出权重 {{ pct(mild_weights[0]) }}、{{ pct(mild_weights[1]) }}、"
    "{{ pct(mild_weights[2]) }}；分数 {{ seq(loud_scores) }} 给出 {{ pct(loud_weights[0]) }}、{{ pct(loud_weights[1]) }}、"
    "{{ pct(loud_weights[2]) }}。",
    caption="两边的分数形状一样，只是右边（窄屏上是下边）放大了 {{ num(scales[4]) }} 倍。权重从三个词分，变成**一个词全拿**，"
    "另外两个四舍五入以后是 {{ pct(loud_weights[0]) }}。",
)
def two_softmaxes(width):
    wide = width > 500
    scene = Scene(width, 226 if wide else 440)
    sides = [("mild", "分数差得少", lesson.mild_scores, lesson.mild_weights),
             ("loud", "分数差得多", lesson.loud_scores, lesson.loud_weights)]  # fmt: skip
    panel = 312 if wide else 356
    for i, (key, title, scores, weights) in enumerate(sides):
        left, top = (2 + 324 * i, 12) if wide else (2, 12 + 216 * i)
        scene.frame(f"{key}/panel", left, top, panel, 202, title)
        room = (panel - 2 * 112 - 56) / 2
        names = ["一", "二", "三"]
        before = scene.columns(f"{key}/scores", left + room, top + 172, scores, [fixed(s) for s in scores], names, 96)
        right = left + panel - room - 118
        after = scene.columns(f"{key}/weights", right, top + 172, weights, [percent(w) for w in weights], names, 96,
                              scale=1, tone="3")  # fmt: skip
        scene.label(f"{key}/in", before.centre[0], top + 32, "分数", 13, "mute")
        scene.label(f"{key}/out", after.centre[0], top + 32, "权重", 13, "mute")
        scene.arrow(f"{key}/go", (before.x + before.w + 8, top + 128), (after.x - 8, top + 128), gap=0)
    return scene


# ---- 四 层归一化


@figure(
    alt="层归一化的三个阶段。进来 {{ vec(drifted) }}；减去平均值 {{ num(drifted_mean, 2) }}，得 {{ vec(centred, 2) }}；"
    "除以标准差 {{ num(deviation, 2) }}，得 {{ vec(normed, 2) }}。",
    caption="从上往下看。第一步把三个数**整体挪动**，平均值变成零；第二步**整体缩小**，标准差变成一。"
    "谁高谁低、隔得多远的比例，两步都没有动。",
)
def layer_norm_stages(width):
    wide = width > 500
    cell, left = ((86, 38), 166) if wide else ((60, 34), 80)
    scene = Scene(width, 284)
    stages = [("进来", lesson.drifted, 0, ""),
              ("减平均", lesson.centred, 2, f"− {fixed(lesson.drifted_mean, 2)}"),
              ("除标准差", lesson.normed, 2, f"÷ {fixed(lesson.deviation, 2)}")]  # fmt: skip
    for i, (name, values, places, step) in enumerate(stages):
        y = 28 + 98 * i
        row = scene.vector(f"stage{i}", left, y, values, places, cell)
        scene.label(f"name{i}", left - 14, y + cell[1] / 2, name, 14, "ink", "end", bold=True)
        x = row.x + row.w + (22 if wide else 6)
        scene.label(f"mean{i}", x, y + 8, f"平均 {fixed(values.mean(), 2)}", 12 + wide, "mute", "start")
        scene.label(f"spread{i}", x, y + 28, f"标准差 {fixed(values.std(), 2)}", 12 + wide, "mute", "start")
        if step:
            scene.arrow(f"step{i}", (row.centre[0], y - 98 + cell[1] + 4), (row.centre[0], y), label=step, size=14)
    return scene


# ---- 五 放在哪里


@figure(
    alt="Post-LN 和 Pre-LN 的一个子层。两者都从残差流读、再加回残差流。Post-LN 把归一化放在加完之后，残差流从它中间穿过；"
    "Pre-LN 把归一化放在支路上、子层之前，残差流只有加法。",
    caption="从下往上走，粗线是残差流。左边（Post-LN），流**穿过**每一个归一化；右边（Pre-LN），归一化挪到了支路上，"
    "流从底到顶**只有加法**。",
)
def pre_and_post(width):
    scene = Scene(width, 316)
    panel = width / 2 - 6
    for key, left, title in (("post", 2, "Post-LN"), ("pre", width / 2 + 4, "Pre-LN")):
        scene.frame(f"{key}/panel", left, 14, panel, 300, title)
        stream, branch = left + panel * 0.27, left + panel * 0.68
        scene.label(f"{key}/x", stream, 296, "x", 15, "1", bold=True)
        scene.label(f"{key}/out", stream, 36, "x′", 15, "1", bold=True)
        plus_y = 150 if key == "post" else 92
        plus = scene.op(f"{key}/plus", stream, plus_y, tone="1")
        scene.arrow(f"{key}/up", (stream, 284), plus.bottom, "1", thick=True, gap=5)
        layer = scene.box(f"{key}/f", branch - 38, 206 if key == "post" else 134, "子层 f", w=76, tone="3")
        scene.arrow(f"{key}/add", layer.top, plus.right, "3", via=[(branch, plus_y)], gap=4)
        if key == "post":
            norm = scene.box("post/norm", stream - 38, 76, "归一化", w=76, tone="5", strength=1)
            scene.arrow("post/read", (stream, 262), layer.bottom, via=[(branch, 262)])
            scene.arrow("post/on", plus.top, norm.bottom, "1", thick=True, gap=4)
            scene.arrow("post/leave", norm.top, (stream, 48), "1", thick=True, gap=0)
        else:
            norm = scene.box("pre/norm", branch - 38, 204, "归一化", w=76, tone="5", strength=1)
            scene.arrow("pre/read", (stream, 262), norm.bottom, via=[(branch, 262)])
            scene.arrow("pre/inner", norm.top, layer.bottom)
            scene.arrow("pre/leave", plus.top, (stream, 48), "1", thick=True, gap=0)
    return scene


# ---- 六 前馈网络


@figure(
    alt="前馈网络的三步。{{ vec(after_attention) }} 乘第一个矩阵，放宽成 {{ vec(hidden) }}；"
    "ReLU 把负数关掉，得 {{ vec(opened) }}；乘第二个矩阵，再加偏置，收窄成 {{ vec(ffn_output) }}。",
    caption="三个数**放宽**成四个，负的两个被**关掉**，剩下的**收窄**回三个数。第二列到第三列，"
    "正数原样通过，负数变成零。",
)
def widen_switch_narrow(width):
    wide = width > 500
    cell, gap = ((64, 36), 112) if wide else ((50, 34), 50)
    scene = Scene(width, 224)
    columns = [("进来", lesson.after_attention), ("放宽", lesson.hidden), ("开关", lesson.opened),
               ("收窄", lesson.ffn_output)]  # fmt: skip
    labels = ["W₁", "ReLU", "W₂，b₂" if wide else "W₂"]
    left = (width - 4 * cell[0] - 3 * gap) / 2
    for i, (name, values) in enumerate(columns):
        x, height = left + i * (cell[0] + gap), len(values) * cell[1]
        spot = scene.vector(f"v{i}", x, 126 - height / 2, values, 1, cell, 2, vertical=True)
        scene.label(f"name{i}", spot.centre[0], 24, name, 15, bold=True)
        if i:
            scene.arrow(f"go{i}", (x - gap + 5, 126), (x, 126), label=labels[i - 1])
    return scene


@figure(
    alt="一层的参数，面积和参数个数成正比。2017 年论文的编码器：注意力 {{ count(attention_2017) }}，"
    "前馈 {{ count(ffn_2017) }}，前馈占 {{ pct(share_2017, 1) }}。"
    "Llama-3-8B：注意力 {{ count(attention_llama3) }}，前馈 {{ count(ffn_llama3) }}，前馈占 {{ pct(share_llama3, 1) }}。",
    caption="每个矩形是一个矩阵，**面积就是参数个数**（两个模型各用各的比例尺）。左边，前馈的两个矩阵**各抵四块**，占 "
    "{{ pct(share_2017, 1) }}；右边，**K 和 V 变细**，前馈多了一个矩阵，占到 {{ pct(share_llama3, 1) }}。",
)
def parameter_areas(width):
    wide = width > 500
    side = 58 if wide else 37  # pixels for d_model rows or columns
    scene = Scene(width, 6 * side - 20 if wide else 270)
    models = [("2017 年论文" if not wide else "2017 年论文，编码器一层", lesson.TRANSFORMER_BASE, lesson.share_2017, 2),
              ("Llama-3-8B", lesson.LLAMA3_8B, lesson.share_llama3, 3)]  # fmt: skip
    for i, (name, spec, ffn_share, n_matrices) in enumerate(models):
        left, top = (44 if wide else 6) + i * (width / 2 if wide else 190), 62
        scene.label(f"{name}/name", left, 16, name, 14, anchor="start", bold=True)
        scene.label(f"{name}/attention", left, 44, f"注意力 {percent(1 - ffn_share, 1)}", 13, "1", "start")
        narrow = side * spec.n_kv_heads / spec.n_heads
        x = left
        for matrix, w in (("Q", side), ("O", side), ("K", narrow), ("V", narrow)):
            scene.rect(f"{name}/{matrix}", x + 1, top, w - 2, side - 2, "f-1-fill s-1", 2)
            if w > 14:
                scene.label(f"{name}/{matrix}/name", x + w / 2, top + side / 2, matrix, 13 if w > 20 else 12)
            x += w
        long = side * spec.d_ff / spec.d_model
        for row in range(n_matrices):
            y = top + 10 + (row + 1) * side
            scene.rect(f"{name}/W{row}", left + 1, y, long - 2, side - 2, "f-3-fill s-3", 2)
            matrix = ("W₁", "W₂") if n_matrices == 2 else ("W₁", "W₃", "W₂")
            scene.label(f"{name}/W{row}/name", left + long / 2, y + side / 2, matrix[row], 13)
        below = top + 10 + (n_matrices + 1) * side + 12
        scene.label(f"{name}/ffn", left, below, f"前馈 {percent(ffn_share, 1)}", 13, "3", "start")
    return scene


# ---- 一层，六步，两行


@figure(
    alt="一层 Pre-LN。残差流从 {{ vec(step_0[2], 2) }} 出发；支路一先归一化再过注意力，加回去得 {{ vec(step_3[2], 2) }}；"
    "支路二先归一化再过前馈网络，加回去得 {{ vec(step_6[2], 2) }}。",
    caption="粗线是**残差流**，从头到尾只有两次加法。两条支路各自**先归一化，再干活，再加回去**；流上的三串数是「借」。",
)
def one_block(width):
    return _block_lying(width) if width > 500 else _block_standing(width)


def _block_lying(width):
    scene = Scene(width, 282)
    y, cell = 106, (50, 28)
    adds = [scene.op(f"plus{i}", x, y, tone="1") for i, x in ((1, 268), (2, 496))]
    ends = [(20, adds[0].left), (adds[0].right[0], adds[1].left), (adds[1].right[0], (624, y))]
    for i, (start, end) in enumerate(ends):
        scene.arrow(f"stream{i}", (start, y), end, "1", thick=True, gap=5 if i < 2 else 0)
    for i, (values, x) in enumerate(((lesson.step_0, 14), (lesson.step_3, 260), (lesson.step_6, 474))):
        scene.vector(f"v{i}", x, 50, values[2], 2, cell, 2)
    scene.label("stream", 14, 22, "「借」在残差流上", 14, "mute", "start")
    for i, (x, name, english, tone) in enumerate(((48, "注意力", "Attention", "3"), (310, "前馈", "FFN", "4"))):
        norm = scene.box(f"norm{i}", x, 146, "归一化", w=96, tone="5")
        work = scene.box(f"work{i}", x, 210, name, w=96, sub=english, tone=tone)
        scene.arrow(f"read{i}", (norm.centre[0], y), norm.top)
        scene.arrow(f"pass{i}", norm.bottom, work.top)
        add = adds[i]
        scene.arrow(f"add{i}", work.right, add.bottom, tone, via=[(add.centre[0], work.centre[1])], gap=4)
        told = ("从别的词取", "自己加工")[i]
        scene.label(f"told{i}", add.centre[0] - 10, 180, told, 13, "mute", "end")
    return scene


def _block_standing(width):
    scene = Scene(width, 480)
    x, cell = 40, (50, 28)
    adds = [scene.op(f"plus{i}", x, y, tone="1") for i, y in ((1, 270), (2, 76))]
    points = [((x, 446), adds[0].bottom), (adds[0].top, adds[1].bottom), (adds[1].top, (x, 30))]
    for i, (start, end) in enumerate(points):
        scene.arrow(f"stream{i}", start, end, "1", thick=True, gap=5 if i < 2 else 0)
    for i, (values, y) in enumerate(((lesson.step_0, 444), (lesson.step_3, 224), (lesson.step_6, 8))):
        scene.vector(f"v{i}", 64, y, values[2], 2, cell, 2)
    for i, (y, name, english, tone) in enumerate(((270, "注意力", "Attention", "3"), (76, "前馈", "FFN", "4"))):
        norm = scene.box(f"norm{i}", 118, y + 92, "归一化", w=100, tone="5")
        work = scene.box(f"work{i}", 118, y + 22, name, w=100, sub=english, tone=tone)
        scene.arrow(f"read{i}", (x, norm.centre[1]), norm.left)
        scene.arrow(f"pass{i}", norm.top, work.bottom)
        scene.arrow(f"add{i}", work.top, adds[i].right, tone, via=[(work.centre[0], y)], gap=4)
        scene.label(f"told{i}", 230, work.centre[1], ("从别的词取", "自己加工")[i], 13, "mute", "start")
    return scene


# ---- the explainer: fourteen frames of 400 × 250, large letters for a phone


W, H = 400, 250
CELL = (52, 34)


@explainer(title="两分钟看完：三样东西各管什么")
def in_two_minutes():
    """One line of thought: add instead of replace, keep numbers small, let each word digest alone, stack."""
    return [
        Step(
            _arriving(),
            "注意力读完全句，给「借」{{ vec(borrow, 1) }} 带来**一份新内容**，{{ vec(heard, 1) }}。它该**往哪里放**？",
            say="注意力读完全句，给「借」带来一份新内容。它该往哪里放？",
        ),
        Step(
            _replacing(),
            "**换掉**的话，「借」**自己没了**。层层都换，{{ num(collapse_depths[2]) }} 层以后，词与词的差别只剩 "
            '{{ sci(collapsed["attention"][3]) }}。',
        ),
        Step(
            _adding(),
            "改成**加上**，得 {{ vec(after_attention, 1) }}，**原来的还在里面**。这叫残差连接。",
            say="改成加上，两串数逐个相加，原来的还在里面。这叫残差连接。",
        ),
        Step(
            _stream(),
            "从底到顶一路加下去，就是**残差流**。每一层从流里读，**再往流里加**；要去掉什么，得专门加一个反的。",
        ),
        Step(
            _slopes(),
            "训练也靠它。斜率一层层相乘：每层 {{ num(slope_replaced) }}，{{ num(ten_layers) }} 层后**几乎没了**；"
            "加法里每层是一加 {{ num(slope_of_f) }}，那个一是**直达的路**。",
        ),
        Step(
            _growing(),
            "只加不换，**数字越来越大**。「借」可能到了 {{ vec(drifted) }}，旁边的「书」还是 {{ vec(calm, 1) }}。",
        ),
        Step(
            _saturating(),
            "分数大了，softmax **只听一个词的**。第三个词原来拿 {{ pct(mild_weights[2]) }}，放大 {{ num(scales[4]) }} 倍，"
            "**全归它**。",
        ),
        Step(
            _centring(),
            "所以先用层归一化拉回来。**第一步，减去平均值** {{ num(drifted_mean, 2) }}，去掉公共的高低。",
        ),
        Step(
            _scaling(),
            "**第二步，除以标准差** {{ num(deviation, 2) }}。**大小统一了**，谁高谁低还在。",
        ),
        Step(
            _placing(),
            "原论文放在**加完之后**，叫 Post-LN；现在多放在**子层之前**，叫 Pre-LN，流上只剩加法。",
        ),
        Step(
            _digesting(),
            "注意力只搬内容。前馈网络让每个词单独加工：**放宽**成四个数，**关掉**负数，再**收窄**回来。",
        ),
        Step(
            _switching(),
            "没有开关，两个矩阵**并成一个**，「恰好一个」只能处处答 {{ num(xor_best_line[0]) }}。有开关，**四处全对**。",
        ),
        Step(
            _block(),
            "合起来，一层**两行**：先归一化，听别人的，**加回去**；再归一化，自己加工，**加回去**。",
        ),
        Step(
            _stacking(),
            '进出一样宽，就能**一直叠**：原论文编码器和解码器各 {{ num(fact("tr.layers")) }} 层，最大的 GPT-2 有 '
            '{{ num(GPT2_XL.fact("n_layers")) }} 层，GPT-3 有 {{ num(GPT3_175B.fact("n_layers")) }} 层。',
            say='进出一样宽，就能一直叠。原论文编码器和解码器各 {{ num(fact("tr.layers")) }} 层，最大的 G P T 二代有 '
            '{{ num(GPT2_XL.fact("n_layers")) }} 层，三代有 {{ num(GPT3_175B.fact("n_layers")) }} 层。',
        ),
    ]


def _frame(title):
    scene = Scene(W, H)
    scene.label("title", 14, 20, title, 15, "mute", "start", bold=True)
    return scene


def _arriving():
    scene = _frame("注意力交出来什么")
    for i, word in enumerate(["小明", "书", "借", "小红"]):
        box = scene.box(f"word{i}", 22 + 96 * i, 44, word, w=68, tone="1" if word == "借" else "5", size=16,
                        strength=1 if word == "借" else 0.3)  # fmt: skip
        scene.arrow(f"from{i}", box.bottom, (104, 112), "3", via=[(box.centre[0], 96), (104, 96)])
    scene.vector("fx", 26, 134, lesson.heard, 1, CELL, 1, "新内容 f(x)", size=16)
    scene.vector("x", 218, 192, lesson.borrow, 1, CELL, 1, "「借」 x", size=16)
    return scene


def _through_a_layer(title):
    """What steps two and three share: 「借」 goes into a layer."""
    scene = _frame(title)
    x = scene.vector("x", 14, 113, lesson.borrow, 1, (44, 34), 1, "「借」 x", size=16)
    f = scene.box("f", 174, 110, "一层", w=54, h=40, tone="3", size=16)
    scene.arrow("in", x.right, f.left)
    return scene, f


def _replacing():
    scene, f = _through_a_layer("换掉")
    out = scene.vector("fx", 256, 113, lesson.heard, 1, (44, 34), 1, "只剩 f(x)", size=16)
    scene.arrow("go", f.right, out.left)
    scene.label("lost", 80, 172, "x 到这里为止", 15, "2")
    return scene


def _adding():
    scene, f = _through_a_layer("加上")
    plus = scene.op("plus", 286, 130, tone="1")
    scene.arrow("go", f.right, plus.left)
    scene.arrow("skip", (160, 130), plus.top, "1", via=[(160, 74), (286, 74)], thick=True, gap=4)
    scene.vector("fx", 100, 180, lesson.heard, 1, (44, 34), 1, "f(x)", side="left", size=16)
    out = scene.vector("out", 252, 196, lesson.after_attention, 1, (44, 34), 1, size=16)
    scene.arrow("end", plus.bottom, (286, 196), "1", thick=True)
    scene.label("sum", out.x + out.w, 172, "x + f(x)", 15, "mute", "end")
    return scene


def _stream():
    scene = _frame("残差流")
    points = [(lesson.borrow, 14, "x"), (lesson.after_attention, 142, "out"), (lesson.after_ffn, 270, "final")]
    y = 134
    scene.arrow("skip", (14, y), (392, y), "1", thick=True, gap=0)
    for values, left, key in points:
        scene.vector(key, left, 64, values, 1, (38, 32), 1, size=15)
    for i, (x, name, values) in enumerate(((142, "注意力", lesson.heard), (272, "前馈", lesson.digested))):
        plus = scene.op(f"plus{i}" if i else "plus", x, y, tone="1")
        box = scene.box("f" if not i else "ffn", x - 98, 168, name, w=70, h=36, tone="34"[i], size=16)
        scene.arrow("in" if not i else "in2", (box.centre[0] - 20, y), (box.centre[0] - 20, 168))
        scene.arrow("go" if not i else "go2", box.right, plus.bottom, "34"[i], via=[(x, 186)])
        scene.vector("fx" if not i else "gx", x - 10, 212, values, 1, (38, 30), 1, size=15)
    return scene


def _slopes():
    scene = _frame("训练：底下动一点，顶上动多少")
    for key, y, name, value, tone, text in (
        ("replace", 92, "换掉", lesson.ten_replaced, "2", fixed(lesson.ten_replaced, 5)),
        ("add", 160, "加上", lesson.ten_added, "1", fixed(lesson.ten_added, 2)),
    ):
        scene.shares(key, 84, y, [value], [text], [name], 210, 36, scale=lesson.ten_added, tone=tone, size=17)
    scene.label("note", 84, 222, f"{lesson.ten_layers} 层的斜率乘起来", 15, "mute", "start")
    return scene


def _growing():
    scene = _frame("越加越大")
    scene.vector("x", 120, 74, lesson.drifted, 0, (74, 44), label="「借」", side="left", size=18)
    scene.vector("calm", 120, 160, lesson.calm, 1, (74, 44), float(max(abs(lesson.drifted))), "「书」", "left", size=18)
    return scene


def _saturating():
    scene = _frame("softmax 只听一个词")
    for key, left, scores, weights in (("mild", 22, lesson.mild_scores, lesson.mild_weights),
                                       ("loud", 222, lesson.loud_scores, lesson.loud_weights)):  # fmt: skip
        names = [fixed(score) for score in scores]
        texts = [percent(weight) for weight in weights]
        scene.columns(key, left, 194, weights, texts, names, 112, 40, 18, 1, "3" if key == "mild" else "2", 15)
    scene.label("scores", 200, 236, "柱子下面是分数，上面是权重", 14, "mute")
    return scene


def _normalising(title, n):
    scene = _frame(title)
    stages = [("x", lesson.drifted, 0), ("centred", lesson.centred, 2), ("normed", lesson.normed, 2)]
    notes = ["进来", f"− {fixed(lesson.drifted_mean, 2)}", f"÷ {fixed(lesson.deviation, 2)}"]
    for i, (key, values, places) in enumerate(stages[:n]):
        y = 44 + 68 * i
        scene.vector(key, 130, y, values, places, (78, 38), size=17)
        scene.label(f"note{i}", 118, y + 19, notes[i], 16, "ink" if i else "mute", "end", bold=bool(i))
        if i:
            scene.arrow(f"down{i}", (247, y - 30), (247, y))
    return scene


def _centring():
    return _normalising("层归一化，第一步", 2)


def _scaling():
    return _normalising("层归一化，第二步", 3)


def _placing():
    scene = _frame("归一化放在哪里")
    for key, left, name in (("post", 30, "Post-LN"), ("pre", 220, "Pre-LN")):
        stream, branch = left + 30, left + 116
        scene.label(f"{key}/name", left, 54, name, 16, anchor="start", bold=True)
        y = 158 if key == "post" else 102
        plus = scene.op(f"{key}/plus", stream, y, tone="1")
        scene.arrow(f"{key}/up", (stream, 244), plus.bottom, "1", thick=True, gap=4)
        layer = scene.box(f"{key}/f", branch - 32, 182 if key == "post" else 122, "子层", w=64, tone="3", size=16)
        scene.arrow(f"{key}/add", layer.top, plus.right, "3", via=[(branch, y)], gap=4)
        if key == "post":
            scene.box("post/norm", stream - 36, 92, "归一化", w=72, tone="5", size=16, strength=1)
            scene.arrow("post/read", (stream, 234), layer.bottom, via=[(branch, 234)])
            scene.arrow("post/on", plus.top, (stream, 126), "1", thick=True)
            scene.arrow("post/leave", (stream, 92), (stream, 66), "1", thick=True, gap=0)
        else:
            norm = scene.box("pre/norm", branch - 36, 180, "归一化", w=72, tone="5", size=16, strength=1)
            scene.arrow("pre/read", (stream, 234), norm.bottom, via=[(branch, 234)])
            scene.arrow("pre/inner", norm.top, layer.bottom)
            scene.arrow("pre/leave", plus.top, (stream, 66), "1", thick=True, gap=0)
    return scene


def _digesting():
    scene = _frame("前馈网络：放宽、开关、收窄")
    columns = [
        ("x", lesson.after_attention),
        ("hidden", lesson.hidden),
        ("opened", lesson.opened),
        ("out", lesson.ffn_output),
    ]
    for i, (key, values) in enumerate(columns):
        x = 16 + i * 104
        scene.vector(key, x, 140 - 19 * len(values), values, 1, (56, 38), 2, vertical=True, size=17)
        if i:
            scene.arrow(f"go{i}", (x - 46, 140), (x, 140), label=("W₁", "ReLU", "W₂")[i - 1], size=15)
    return scene


def _switching():
    scene = _frame("「把」「被」恰好出现一个")
    rows = [("想要", lesson.xor_wanted, ""), ("没有开关", lesson.xor_best_line, "4"), ("有开关", lesson.xor_relu, "")]
    for i, pair in enumerate(["都没有", "只有被", "只有把", "都有"]):
        scene.label(f"pair{i}", 132 + 70 * i, 56, pair, 15, "mute")
    for i, (name, values, tone) in enumerate(rows):
        scene.vector(f"row{i}", 97, 76 + 54 * i, values, 1 if i == 1 else 0, (70, 40), 1, tone=tone, size=17)
        scene.label(f"name{i}", 88, 96 + 54 * i, name, 16, "ink", "end")
    return scene


def _block():
    scene = _frame("一层，两行")
    for i, (y, name, told) in enumerate(((96, "注意力", "听别人的"), (184, "前馈", "自己加工"))):
        scene.label(f"line{i}", 38, y - 38, "先" if i == 0 else "再", 16, "mute")
        plus = scene.op("plus" if not i else "plus1", 352, y, tone="1")
        scene.arrow(f"row{i}", (20, y), plus.left, "1", thick=True, gap=4)
        scene.arrow(f"out{i}", plus.right, (394, y), "1", thick=True, gap=0)
        norm = scene.box(f"norm{i}", 70, y + 14, "归一化", w=80, tone="5", size=16)
        work = scene.box("f" if not i else "ffn", 196, y + 14, name, w=80, tone="34"[i], size=16)
        scene.arrow(f"read{i}", (44, y), norm.left, via=[(44, norm.centre[1])])
        scene.arrow(f"pass{i}", norm.right, work.left)
        scene.arrow("go" if not i else "go2", work.right, plus.bottom, "34"[i], via=[(352, work.centre[1])], gap=4)
        scene.label(f"told{i}", 236, y - 20, told, 15, "mute")
    return scene


def _stacking():
    scene = _frame("一直叠上去")
    models = [("原论文", lesson.TRANSFORMER_BASE.n_layers), ("GPT-2", lesson.GPT2_XL.n_layers),
              ("GPT-3", lesson.GPT3_175B.n_layers)]  # fmt: skip
    tallest = models[-1][1]
    for i, (name, layers) in enumerate(models):
        left = 52 + 116 * i
        for row in range(layers):
            scene.rect(
                f"{name}/{row}", left, 214 - 160 * (row + 1) / tallest, 64, 160 / tallest * 0.7, f"f-{'345'[i]}", 0
            )
        scene.label(f"{name}/name", left + 32, 232, name, 15)
        scene.label(f"{name}/n", left + 32, 202 - 160 * layers / tallest, f"{layers} 层", 16, bold=True)
    return scene
