"""Article 2, 「Q、K、V：注意力怎么打分」: its numbers, section by section, in the order of the page.

「小北喝奶茶」, three words of four numbers, is worked matrix by matrix; 「小明把书借给了小红」 is looked at from 「借」 with
the query and keys of article 5's lab. All of these matrices were chosen so that a reader can check them on paper; no
training made them. Experiments with random vectors stand in the section that prints them.
Source of the calculation: Vaswani et al. 2017, arXiv 1706.03762, sec. 3.2.1.
"""

import numpy as np

from sim.attention import attention, attention_weights, causal_mask, scores
from sim.facts import fact
from sim.mistakes import (
    over_scaled,
    scores_for_weights,
    shared_equally,
    softmax_over_queries,
    unscaled,
    winner_alone,
)
from sim.ops import entropy, softmax, softmax_jacobian
from sitegen.page.display import fixed
from sitegen.page.draw import draw
from sitegen.page.elements import element
from sitegen.page.experiment import experiment, median
from sitegen.page.lab import Choice, Drag, Matrix, Slider, lab
from sitegen.page.parts import bar_table, paragraph

# ---- 一 该听谁的

words = ["小北", "喝", "奶茶"]
X = np.array([[1.0, 0.0, 0.0, 1.0], [0.0, 2.0, 1.0, 0.0], [1.0, 0.0, 1.0, 1.0]])  # (n_words, d_model), a word a row
everyone_alike = X.mean(axis=0)  # the first obvious fix: listen to all words equally

# The second obvious fix: score two words by how alike they are
alike = X @ X.T  # (n_words, n_words)
alike_products = X[1] * X[2]  # 「喝」 and 「奶茶」, pair by pair
alike_score = alike_products.sum()
alike_weights = softmax(alike)


# ---- 二 三个身份

W_Q = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
W_K = np.array([[2.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 2.0, 0.0], [0.0, 1.0, 1.0, 0.0]])
W_V = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
Q = X @ W_Q  # (n_words, d_k): what each word asks
K = X @ W_K  # (n_words, d_k): the label it offers
V = X @ W_V  # (n_words, d_v): the content it hands over
input_columns = ["一", "二", "三", "四"]
query_columns = ["问一", "问二", "问三", "问四"]
key_columns = ["签一", "签二", "签三", "签四"]
value_columns = ["容一", "容二", "容三", "容四"]

# 「喝」 in full: its numbers say how many times each row of W_Q is taken
drink = X[1]
drink_second_row = drink[1] * W_Q[1]
drink_third_row = drink[2] * W_Q[2]
drink_query = drink_second_row + drink_third_row

# The question: a new word, with three results of which two are slips
new_word = np.array([2.0, 1.0, 0.0, 1.0])
new_query = new_word @ W_Q
new_query_by_W_K = new_word @ W_K
new_query_turned = W_Q @ new_word

head_columns = fact("tr.base.d_model").value // fact("tr.base.h").value  # 64: d_k of the 2017 base model


# ---- 三 打分，分权重，取内容

drink_asks_tea = Q[1] * K[2]  # pair by pair
raw_scores = Q @ K.T  # (n_words, n_words): row asks, column is asked
d_k = Q.shape[1]
divisor = np.sqrt(d_k)
scaled_scores = raw_scores / divisor
powers = np.exp(scaled_scores[1])  # softmax of 「喝」's row, step by step
powers_sum = powers.sum()
weights = softmax(scaled_scores)  # row by row
row_sums = weights.sum(axis=1)
one_more = weights[1, 0] / weights[1, 1]  # the scores differ by exactly 1
shares_of_values = weights[1][:, np.newaxis] * V  # what 「喝」 takes from each word
output = weights @ V  # (n_words, d_v)
drink_output = output[1]

# Worked examples: 「小北」 whole, 「奶茶」 with its last step open, the new word of section two with its last two
tea_weights = weights[2]
tea_column = V[:, 1]
tea_second = output[2, 1]
tea_second_equal = shared_equally(tea_column)
tea_second_winner = winner_alone(tea_weights, tea_column)
new_raw = K @ new_query
new_scaled = new_raw / divisor
new_weights = softmax(new_scaled)
new_weight = new_weights[1]
new_second = (new_weights @ V)[1]
new_weight_unscaled = softmax(unscaled(new_query, K))[1]
new_weight_over = softmax(over_scaled(new_query, K))[1]
new_second_unscaled = softmax(unscaled(new_query, K)) @ tea_column
new_second_scores = scores_for_weights(new_scaled, tea_column)

# Slips, computed
column_softmax = softmax_over_queries(scaled_scores)  # the wrong axis: columns add to 1, rows do not
column_softmax_row_sums = column_softmax.sum(axis=1)
column_softmax_output = column_softmax @ V


def follow(edited):  # (4, 4) -> (weights (3, 3), output (3, 4))
    """「小北喝奶茶」 with another W_Q; W_K and W_V stay."""
    shares = softmax(X @ edited @ K.T / divisor)
    return shares, shares @ V


edited_value = 0
edited_cell = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, edited_value], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]])
edited_weights = follow(W_Q * edited_cell)[0]  # the page tries this one: second row, last column
first_key_numbers = K[:, 0]  # all equal: what the first column of W_Q asks for tells no word from another


def changes(after, before, rows, columns, digits, label):
    """A matrix in which what differs from before is printed bold, with a mark that does not need colour."""
    head = [element("th", {"scope": "col"}, name) for name in columns]
    lines = []
    for name, new, old in zip(rows, after, before, strict=True):
        texts = [(fixed(float(x), digits), abs(float(x) - float(y)) > 1e-9) for x, y in zip(new, old, strict=True)]
        cells = [element("td", {}, element("strong", {}, "▸" + text) if moved else text) for text, moved in texts]
        lines.append(element("tr", {}, element("th", {"scope": "row"}, name), *cells))
    table = element(
        "table", {}, element("caption", {}, label), element("thead", {}, element("tr", {}, element("td"), *head)),
        element("tbody", {}, *lines),
    )  # fmt: skip
    return element("div", {"class": "mat"}, table)


@lab(
    title="改 W_Q 的一格，跟着它走到输出",
    controls={
        "cells": Matrix(W_Q.tolist(), -4, 4, rows=input_columns, columns=query_columns, label="W_Q，每格可以改"),
    },
)
def edit_lab(cells):
    """W_Q with cells changed, and everything after it: queries, weights, output. What moved is marked."""
    edited = np.array(cells)
    shares, out = follow(edited)
    return element(
        "div",
        {"class": "mats"},
        changes(X @ edited, Q, words, query_columns, 0, "Q：各词在问什么"),
        changes(shares, weights, words, words, 2, "权重：行是谁在问"),
        changes(out, output, words, value_columns, 2, "输出"),
    )


# ---- 四 回到「借」

# The query and keys of article 5's lab (golden lab.scale_shift_layernorm). The values were chosen so that what
# 「借」 takes home is the f(x) that article 5 begins with; d_v is 3 here, d_k is 4: they need not be equal.
borrow_query = np.array([1.0, -0.5, 0.8, 0.2])
key_words = ["小明", "书", "小红"]
borrow_keys = np.array([[0.9, 0.1, 0.3, -0.4], [0.2, -0.8, 1.0, 0.5], [-0.3, 0.6, 0.4, 0.9]])
borrow_values = np.array([[0.5, 0.3, 0.2], [0.1, 0.7, -0.2], [-0.1, 0.9, -0.4]])
borrow_products = borrow_keys @ borrow_query
borrow_scores = scores(borrow_query, borrow_keys)
borrow_weights = attention_weights(borrow_query, borrow_keys)
borrow_output = attention(borrow_query, borrow_keys, borrow_values)
borrow_least = borrow_values.min(axis=0)
borrow_most = borrow_values.max(axis=0)

# In a plane: two numbers a vector, so that a query can be dragged
plane_query = np.array([0.5, 1.0])
plane_divisor = np.sqrt(len(plane_query))
plane_keys = np.array([[1.5, -0.5], [0.5, 1.5], [-1.5, 0.5]])
plane_values = np.array([[-1.5, -1.0], [1.5, -0.5], [0.0, 1.5]])


def plane(query):  # (2,) -> (scores (3,), weights (3,), output (2,))
    """What 「借」 hears with this query."""
    return scores(query, plane_keys), attention_weights(query, plane_keys), attention(query, plane_keys, plane_values)


plane_scores = plane(plane_query)[0]
plane_weights = plane(plane_query)[1]
longer = 3
plane_longer_scores = plane(longer * plane_query)[0]
plane_longer_weights = plane(longer * plane_query)[1]
plane_shorter_weights = plane(plane_query / 2)[1]


def triangle(heard):
    """The three contents as the corners of a triangle, and what 「借」 takes home as a point in it."""
    across = [fixed(160 + 70 * x, 1).replace("−", "-") for x in [*plane_values[:, 0], heard[0]]]
    down = [fixed(102 - 50 * y, 1).replace("−", "-") for y in [*plane_values[:, 1], heard[1]]]
    corners = [f"{x} {y}" for x, y in zip(across[:3], down[:3], strict=True)]
    told = f"取回的内容在 {fixed(float(heard[0]), 2)}, {fixed(float(heard[1]), 2)}"
    side = {"fill": "none", "stroke": "var(--sg-mute)", "stroke-width": "1.5"}
    names = [
        element("text", {"x": x, "y": y, "dy": "-8" if i == 2 else "18", "text-anchor": "middle", "fill": "var(--sg-ink)",
                         "font-size": "15"}, f"{key_words[i]}的值")
        for i, (x, y) in enumerate(zip(across[:3], down[:3], strict=True))
    ]  # fmt: skip
    dots = [
        element("circle", {"cx": x, "cy": y, "r": "5", "fill": "var(--sg-3)"})
        for x, y in zip(across[:3], down[:3], strict=True)
    ]
    heard_mark = element("rect", {"x": fixed(float(across[3]) - 7, 1).replace("−", "-"), "width": "14", "height": "14",
                                  "y": fixed(float(down[3]) - 7, 1).replace("−", "-"), "fill": "var(--sg-1)"})  # fmt: skip
    return element(
        "svg", {"viewBox": "0 0 320 180", "role": "img", "aria-label": told,
                "style": "max-width:320px;width:100%;display:block;margin:auto"},
        element("path", {"d": "M" + "L".join(corners) + "Z", **side}), *dots, heard_mark, *names,
    )  # fmt: skip


@lab(
    title="拖动「借」的查询，看它听谁的",
    controls={
        "query": Drag(
            (-3, 3), (-3, 3), step=0.25, start=(0.5, 1.0), label="「借」的查询（圆点）", names=("往右", "往上"),
            marks={word: (float(key[0]), float(key[1])) for word, key in zip(key_words, plane_keys, strict=True)},
        ),
    },
)  # fmt: skip
def query_lab(query):
    """The query of 「借」 as a point of the plane: scores, weights, and the output between the three contents."""
    asked, shares, heard = plane(np.array(query))
    return element(
        "div",
        {},
        bar_table(
            key_words,
            shares,
            columns=[("分数", [fixed(float(score), 2) for score in asked])],
            heading="权重",
            name_heading="被问的词",
        ),
        paragraph("取回的内容：", element("strong", {}, f"[{fixed(float(heard[0]), 2)}, {fixed(float(heard[1]), 2)}]")),
        triangle(heard),
    )


# ---- 五 为什么除以 √d_k

raw_min = raw_scores.min()
raw_max = raw_scores.max()
head_spread = np.sqrt(fact("tr.base.dk").value)  # standard deviation of q·k in the 2017 base model, if as supposed


@experiment(seeds=range(11), n_pairs=1000, d_ks=(4, 16, 64, 256, 1024))
def dot_products(seed, n_pairs, d_ks):
    """Variance of q·k over random pairs, before and after dividing by √d_k and by d_k.

    Every entry of q and k is an independent standard normal number: mean 0, variance 1, as footnote 4 of the paper
    supposes. Source: Vaswani et al. 2017, arXiv 1706.03762, sec. 3.2.1, footnote 4.
    Caveat to print: trained queries and keys are neither independent nor of variance 1.
    Result: {"plain", "scaled", "over": lists, a number for each d_k}.
    """
    rng = np.random.default_rng(seed)
    products = []
    for size in d_ks:
        q, k = rng.standard_normal((2, n_pairs, size))
        products.append((q * k).sum(axis=1))
    return {
        "plain": [six(np.var(p)) for p in products],
        "scaled": [six(np.var(p / np.sqrt(size))) for p, size in zip(products, d_ks, strict=True)],
        "over": [six(np.var(p / size)) for p, size in zip(products, d_ks, strict=True)],
    }


def six(x):
    """Six significant digits: what two machines agree on."""
    return float(f"{float(x):.6g}")


def slopes(p):  # (..., n) -> (...)
    """‖J‖_F: the root of the sum of the squares of all slopes ∂(weight i)/∂(score j)."""
    return np.sqrt((softmax_jacobian(p) ** 2).sum(axis=(-2, -1)))


product_runs = dot_products()
product_sizes = dot_products.settings["d_ks"]
product_variance = {name: median([run[name] for run in product_runs]) for name in product_runs[0]}
product_deviation = np.sqrt(product_variance["plain"][2])
product_deviation_scaled = 1  # of q·k / √d_k, if as supposed; a wrong guess for q·k itself


@experiment(seeds=range(11), n_keys=8, n_queries=400, d_ks=(8, 64, 512))
def saturation(seed, n_keys, n_queries, d_ks):
    """Random queries, each over its own `n_keys` random keys: how far one word takes everything.

    For each way of dividing ("plain": not at all, "scaled": √d_k, "over": d_k) and each d_k the medians over the
    queries of entropy / ln n_keys, of the largest weight, of ‖J‖_F (J by the divided scores), and of how far the
    weights move with the query itself, ‖J K / divisor‖_F.
    Source: Vaswani et al. 2017, arXiv 1706.03762, sec. 3.2.1 (they "suspect" small gradients).
    Caveats to print: medians hide a wide spread; random vectors, nothing trained.
    Result: {"plain": {"entropy": [a number for each d_k], "top": […], "slope": […], "query_slope": […]}, …}.
    """
    rng = np.random.default_rng(seed)
    found = {way: {"entropy": [], "top": [], "slope": [], "query_slope": []} for way in ("plain", "scaled", "over")}
    for size in d_ks:
        q, k = rng.standard_normal((n_queries, 1, size)), rng.standard_normal((n_queries, n_keys, size))
        products = (q @ k.mT)[:, 0]
        for way, by in (("plain", 1), ("scaled", np.sqrt(size)), ("over", size)):
            p = softmax(products / by)
            found[way]["entropy"].append(six(np.median(entropy(p)) / np.log(n_keys)))
            found[way]["top"].append(six(np.median(p.max(axis=-1))))
            found[way]["slope"].append(six(np.median(slopes(p))))
            by_query = softmax_jacobian(p) @ k / by  # (n_queries, n_keys, size)
            found[way]["query_slope"].append(six(np.median(np.linalg.norm(by_query, axis=(1, 2)))))
    return found


saturation_runs = saturation()
saturation_sizes = saturation.settings["d_ks"]
equal_share = 1 / saturation.settings["n_keys"]
ways = ["plain", "scaled", "over"]
saturated = {
    way: {what: median([run[way][what] for run in saturation_runs]) for what in saturation_runs[0][way]}
    for way in ways
}


@experiment(seeds=range(11), n_keys=8, n_rows=400, scales=(0, 0.5, 1, 2, 4, 8, 16, 32), taken=0.99)
def slope_by_scale(seed, n_keys, n_rows, scales, taken):
    """‖J‖_F of softmax(c·s) for standard normal scores s: it rises a little first, then falls.

    Median, tenth and ninetieth percentile over the rows, for each c; and the share of rows whose largest weight is
    above `taken`. Caveat to print: not monotone; a wide spread; an exact tie keeps ‖J‖_F at 1/2 however large c is.
    Result: {"median", "low", "high", "taken": lists, a number for each c}.
    """
    s = np.random.default_rng(seed).standard_normal((n_rows, n_keys))
    p = [softmax(scale * s) for scale in scales]
    return {
        "median": [six(np.median(slopes(x))) for x in p],
        "low": [six(np.quantile(slopes(x), 0.1)) for x in p],
        "high": [six(np.quantile(slopes(x), 0.9)) for x in p],
        "taken": [six(np.mean(x.max(axis=-1) > taken)) for x in p],
    }


slope_runs = slope_by_scale()
slope_scales = slope_by_scale.settings["scales"]
slope_curve = {name: median([run[name] for run in slope_runs]) for name in slope_runs[0]}
tie_slope = slopes(softmax(32 * np.array([1.0, 1.0, 0.0, 0.0])))  # two scores exactly equal

# The lab's random words: queries and keys of eight words, drawn once
crowd = draw(2, (2, 8, 256))
crowd_words = ["词甲", "词乙", "词丙", "词丁", "词戊", "词己", "词庚", "词辛"]
crowd_sizes = ["4", "16", "64", "256"]


def crowd_scores(size):  # -> (8, 8)
    """Every word asks every word, with vectors of this size."""
    return crowd[0, :, :size] @ crowd[1, :, :size].T


crowd_spreads = [crowd_scores(int(size)).std() for size in crowd_sizes]
crowd_roots = [np.sqrt(int(size)) for size in crowd_sizes]
crowd_plain = softmax(crowd_scores(64)[0])  # what word 甲 gives, not divided
crowd_scaled = softmax(crowd_scores(64)[0] / np.sqrt(64))
crowd_top = crowd_plain.max()


@lab(
    title="找一个除数，让分数散得刚好",
    controls={
        "size": Choice(crowd_sizes, "64", label="向量的长度 d_k"),
        "by": Slider(1, 32, step=1, start=1, label="分数除以"),
    },
)
def divisor_lab(size, by):
    """Eight random words: how far apart the scores lie, and what word 甲 hears, for a d_k and a divisor."""
    divided = crowd_scores(int(size)) / by
    shares = softmax(divided[0])
    return element(
        "div",
        {},
        paragraph("全部分数的标准差：", element("strong", {}, fixed(float(divided.std()), 2))),
        bar_table(
            crowd_words,
            shares,
            columns=[("分数", [fixed(float(score), 2) for score in divided[0]])],
            heading="词甲给出的权重",
            name_heading="被问的词",
        ),
    )


# Slips with the divisor, on two scores from a published picture (PW04), where d_k is that of the 2017 paper
pictured_scores = np.array([fact("pictured.score_1").value, fact("pictured.score_2").value])
pictured_d_k = fact("tr.base.dk").value
pictured_d_model = fact("tr.base.d_model").value
pictured_scaled = pictured_scores / np.sqrt(pictured_d_k)
pictured_weights = softmax(pictured_scaled)
pictured_by_d_model = softmax(pictured_scores / np.sqrt(pictured_d_model))
pictured_by_d_k = softmax(pictured_scores / pictured_d_k)
pictured_unscaled = softmax(pictured_scores)

# The question: from 64 to 256 numbers a vector
small_size = 64
large_size = 256
spread_times = np.sqrt(large_size) / np.sqrt(small_size)
variance_times = large_size / small_size
square_times = variance_times**2


# ---- 六 换个次序

swapped = [2, 1, 0]
swapped_words = [words[i] for i in swapped]
swapped_output = softmax((X[swapped] @ W_Q) @ (X[swapped] @ W_K).T / divisor) @ (X[swapped] @ W_V)

# Eight random words of sixteen numbers, in 200 random orders, all at once
crowd_X = draw(5, (8, 16))
crowd_W = draw(6, (3, 16, 16)) / 4
orders = np.argsort(draw(7, (200, 8)), axis=1)  # (200, 8), each row an order


def hear(x, mask=None):  # (..., n_words, d_model) -> (..., n_words, d_v)
    """Self-attention of random words with random matrices."""
    return attention(x @ crowd_W[0], x @ crowd_W[1], x @ crowd_W[2], mask)


crowd_output = hear(crowd_X)
order_gap = np.abs(hear(crowd_X[orders]) - crowd_output[orders]).max()
order_gap_causal = np.abs(hear(crowd_X[orders], causal_mask(8)) - hear(crowd_X, causal_mask(8))[orders]).max()

# A word that stands twice in a sentence
X_twice = X[[0, 1, 0]]
twice_output = softmax((X_twice @ W_Q) @ (X_twice @ W_K).T / divisor) @ (X_twice @ W_V)


# ---- 检验一下

# A course notebook, numbers as printed there (PW15): which step is wrong?
printed_q = np.array([1.0, 0.5])
printed_K = np.array([[1.4, 0.6], [0.1, 0.2], [0.7, 0.2]])
printed_V = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.1]])
printed_scores = np.array([1.7, 0.2, 0.8])
printed_weights = np.array([0.5898, 0.1316, 0.2786])
printed_output = np.array([0.7313, 0.1687])
right_scores = printed_K @ printed_q
right_weights = softmax(right_scores)
right_output = right_weights @ printed_V
printed_weights_output = printed_weights @ printed_V
printed_sum = printed_weights.sum()

# Public notes on an example with three integer words (PW03): scores, weights and output as printed there
notes_q = np.array([1.0, 0.0, 2.0])
notes_K = np.array([[0.0, 1.0, 1.0], [4.0, 4.0, 0.0], [2.0, 3.0, 1.0]])
notes_V = np.array([[1.0, 2.0, 3.0], [2.0, 8.0, 0.0], [2.0, 6.0, 3.0]])
notes_scores = notes_K @ notes_q
notes_weights = np.array([0.0, 0.5, 0.5])
notes_output = notes_weights @ notes_V
notes_unscaled = softmax(notes_scores)
notes_unscaled_output = notes_unscaled @ notes_V
notes_scaled = attention_weights(notes_q, notes_K)
notes_scaled_output = notes_scaled @ notes_V

# The calculation to check with: scores are given
last_q = np.array([2.0, 0.0, 1.0, 0.0])
last_K = np.array([[1.0, 3.0, 0.0, 1.0], [2.0, 1.0, 1.0, 0.0], [1.0, 0.0, 2.0, 2.0]])
last_V = np.array([40.0, 0.0, 10.0])  # one number a word
last_raw = last_K @ last_q
last_scaled = last_raw / np.sqrt(len(last_q))
last_weights = softmax(last_scaled)
last_output = last_weights @ last_V
last_unscaled = softmax(unscaled(last_q, last_K)) @ last_V
last_over = softmax(over_scaled(last_q, last_K)) @ last_V
last_no_softmax = scores_for_weights(last_scaled, last_V)

value_times = 3
louder_output = (weights @ (X @ (value_times * W_V)))[1]
