"""A small GPT whose every structural choice is a switch, to be trained, taken apart and looked into.

Token vectors plus positions, then n_layers times (attention, feed-forward), each with its layer norm and its residual
connection, then logits over the vocabulary. Built on the tape, so that any change of structure has its gradients.
Numbers for the start come from random.Random alone: the same on every machine, and nothing to load in a browser.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from sim import autograd as tape
from sim.autograd import Tensor
from sim.corpus import VOCABULARY, Batch, encode, entropy_floor, stories
from sim.training import Adam, Params, constant, train

SEQ_LEN = 30  # the longest story of the corpus has 31 words, START on both ends: 30 to read, 30 to predict

OPTIONS = {
    "norm": ("pre", "post", "none"),
    "positions": ("learned", "sinusoid", "none"),
    "activation": ("relu", "gelu", "none"),
}


@dataclass(frozen=True)
class ToyConfig:
    """Sizes and switches. The defaults are the model of the series: 2 layers, 4 heads, Pre-LN, learned positions."""

    vocab_size: int = len(VOCABULARY)
    seq_len: int = SEQ_LEN
    d_model: int = 32
    n_layers: int = 2
    n_heads: int = 4
    d_ff: int = 128
    norm: Literal["pre", "post", "none"] = "pre"
    residual: bool = True
    attention: bool = True
    ffn: bool = True
    positions: Literal["learned", "sinusoid", "none"] = "learned"
    causal: bool = True
    activation: Literal["relu", "gelu", "none"] = "relu"
    tied: bool = False  # logits from the token vectors themselves instead of a matrix W_U of their own

    def __post_init__(self) -> None:
        if self.d_model % self.n_heads:
            raise ValueError(f"d_model = {self.d_model} does not divide into n_heads = {self.n_heads}")
        for name, options in OPTIONS.items():
            if getattr(self, name) not in options:
                raise ValueError(f"{name} = {getattr(self, name)!r} is none of {', '.join(options)}")


def init(
    config: ToyConfig, seed: int, xavier: bool = False, embedding_std: float = 0.1, dtype: type = np.float32
) -> Params:
    """Parameters by name: token, position, "0.W_Q", ..., "0.norm_1.gamma", ..., W_U.

    Matrices N(0, 1/fan_in), those that write into the stream smaller by √(2·n_layers) as in GPT-2 (2019, sec. 2.3);
    with `xavier` N(0, 2/(fan_in + fan_out)) for all (Glorot & Bengio 2010). Biases 0, gamma 1.
    Logits then begin with a variance of 1, and the loss half a nat above ln vocab_size; a W_U of a tenth begins at
    ln vocab_size, but our 2-layer model then needs about twice the steps (5 seeds, 400 steps).
    """
    rng, d = random.Random(seed), config.d_model
    params: Params = {}

    def draw(n_in: int, n_out: int, std: float) -> Tensor:
        return Tensor((normal(rng, n_in * n_out).reshape(n_in, n_out) * std).astype(dtype))

    def matrix(n_in: int, n_out: int, writes: bool = False) -> Tensor:
        if xavier:
            return draw(n_in, n_out, math.sqrt(2 / (n_in + n_out)))
        return draw(n_in, n_out, 1 / math.sqrt(n_in * (2 * config.n_layers if writes else 1)))

    params["token"] = draw(config.vocab_size, d, embedding_std)
    if config.positions == "learned":
        params["position"] = draw(config.seq_len, d, embedding_std)
    norms = ["final_norm"] if config.norm == "pre" else []
    for layer in range(config.n_layers):
        if config.attention:
            for name in ("W_Q", "W_K", "W_V"):
                params[f"{layer}.{name}"] = matrix(d, d)
            params[f"{layer}.W_O"] = matrix(d, d, writes=True)
        if config.ffn:
            params[f"{layer}.W_1"] = matrix(d, config.d_ff)
            params[f"{layer}.b_1"] = Tensor(np.zeros(config.d_ff, dtype))
            params[f"{layer}.W_2"] = matrix(config.d_ff, d, writes=True)
            params[f"{layer}.b_2"] = Tensor(np.zeros(d, dtype))
        if config.norm != "none":
            norms += [f"{layer}.norm_1"] * config.attention + [f"{layer}.norm_2"] * config.ffn
    for name in norms:
        params[f"{name}.gamma"], params[f"{name}.beta"] = Tensor(np.ones(d, dtype)), Tensor(np.zeros(d, dtype))
    if not config.tied:
        params["W_U"] = matrix(d, config.vocab_size)
    return params


def forward(params: Params, config: ToyConfig, ids: np.ndarray, seen: dict[str, np.ndarray] | None = None) -> Tensor:
    """Logits for the next word at every position: integers (batch, n) -> (batch, n, vocab_size).

    `seen` receives named activations: "0.weights" (batch, heads, n, n), "0.hidden" (batch, n, d_ff), "stream.0" ...
    """
    seen = {} if seen is None else seen
    n = ids.shape[-1]
    if n > config.seq_len:
        raise ValueError(f"{n} words, but the model reads at most seq_len = {config.seq_len}")
    dtype = params["token"].value.dtype
    x = tape.rows(params["token"], ids)
    if config.positions == "learned":
        x = x + tape.rows(params["position"], np.arange(n))
    if config.positions == "sinusoid":
        x = x + sinusoid(n, config.d_model).astype(dtype)

    x = blocks(params, config, x, seen)
    return x @ (params["token"].transpose(1, 0) if config.tied else params["W_U"])


def blocks(params: Params, config: ToyConfig, x: Tensor, seen: dict[str, np.ndarray]) -> Tensor:
    """The stack itself, with Pre-LN's norm at the end: (batch, n, d_model) -> (batch, n, d_model)."""

    def normed(x: Tensor, name: str) -> Tensor:
        return tape.layer_norm(x, params[f"{name}.gamma"], params[f"{name}.beta"])

    seen["stream.0"] = x.value
    for layer in range(config.n_layers):
        for wanted, sublayer, name in ((config.attention, attention, "norm_1"), (config.ffn, feed_forward, "norm_2")):
            if wanted:
                f = sublayer(params, config, normed(x, f"{layer}.{name}") if config.norm == "pre" else x, layer, seen)
                x = x + f if config.residual else f
                x = normed(x, f"{layer}.{name}") if config.norm == "post" else x
        seen[f"stream.{layer + 1}"] = x.value
    return normed(x, "final_norm") if config.norm == "pre" else x


def attention(params: Params, config: ToyConfig, x: Tensor, layer: int, seen: dict[str, np.ndarray]) -> Tensor:
    """Multi-head self-attention: (batch, n, d_model) -> (batch, n, d_model); head i owns the i-th block of columns."""
    batch, n, d = x.shape
    d_head = d // config.n_heads

    def heads(name: str) -> Tensor:  # (batch, n, d_model) -> (batch, heads, n, d_head)
        return (x @ params[f"{layer}.{name}"]).reshape(batch, n, config.n_heads, d_head).transpose(0, 2, 1, 3)

    scores = heads("W_Q") @ heads("W_K").transpose(0, 1, 3, 2) * (1 / math.sqrt(d_head))
    if config.causal:  # a large negative number, not −inf: the diagonal is always open, so no row is left empty
        scores = scores + np.where(np.tri(n, dtype=bool), 0, -1e9).astype(x.value.dtype)
    weights = tape.softmax(scores)
    seen[f"{layer}.weights"] = weights.value
    mixed = (weights @ heads("W_V")).transpose(0, 2, 1, 3).reshape(batch, n, d)
    return mixed @ params[f"{layer}.W_O"]


def feed_forward(params: Params, config: ToyConfig, x: Tensor, layer: int, seen: dict[str, np.ndarray]) -> Tensor:
    """Each position by itself: (batch, n, d_model) -> (batch, n, d_ff) -> (batch, n, d_model)."""
    hidden = x @ params[f"{layer}.W_1"] + params[f"{layer}.b_1"]
    if config.activation != "none":
        hidden = tape.relu(hidden) if config.activation == "relu" else tape.gelu(hidden)
    seen[f"{layer}.hidden"] = hidden.value
    return hidden @ params[f"{layer}.W_2"] + params[f"{layer}.b_2"]


def story_loss(params: Params, config: ToyConfig, batch: Batch, index: np.ndarray | slice = slice(None)) -> Tensor:
    """Mean cross-entropy, nats per word, over the stories named by `index`."""
    logits = forward(params, config, batch.ids[index])
    return tape.cross_entropy(logits, batch.targets[index], batch.counts[index])


def excess(params: Params, config: ToyConfig, batch: Batch) -> float:
    """Loss above the floor of the same stories, nats per word: 0 is perfect, whatever chance decides in the corpus."""
    return float(story_loss(params, config, batch).value) - entropy_floor(batch)


def gradient_norms(config: ToyConfig, seed: int, matrix: str = "W_2", n_stories: int = 32) -> list[float]:
    """Frobenius norm of the loss gradient by `matrix` in each layer, first layer first, before any training.

    Xavier initialisation and N(0, 1) embeddings, as in Xiong et al. 2020, arXiv 2002.04745, sec. 3.3.
    """
    params = init(config, seed, xavier=True, embedding_std=1.0)
    story_loss(params, config, told(n_stories, seed + 5)).backward()
    grads = [params[f"{layer}.{matrix}"].grad for layer in range(config.n_layers)]
    return [float(np.linalg.norm(grad)) for grad in grads if grad is not None]


def train_on_stories(
    config: ToyConfig,
    seed: int,
    steps: int,
    batch_size: int,
    learning_rate: float,
    warm_up: int = 0,
    every: int = 40,
    n_stories: int = 4000,
    n_held_out: int = 100,
) -> list[tuple[int, float]]:
    """(step, excess on stories not trained on) after step 1, every `every` steps and at the end.

    Adam (betas 0.9, 0.99), flat rate after the warm-up, Xavier initialisation, N(0, 1) embeddings. The seed moves
    both the first parameters and the order of the stories; the stories are the same for every seed.
    """
    params = init(config, seed, xavier=True, embedding_std=1.0)
    train_set, held_out = told(n_stories, 1), told(n_held_out, 999)
    rng = random.Random(seed + 100)

    def loss_at(step: int) -> Tensor:
        index = np.array([int(rng.random() * n_stories) for _ in range(batch_size)])
        return story_loss(params, config, train_set, index)

    optimizer = Adam(params, betas=(0.9, 0.99))
    return train(
        optimizer,
        loss_at,
        constant(learning_rate, warm_up),
        steps,
        watch=lambda step: (step, excess(params, config, held_out)),
        every=every,
    )


@lru_cache(maxsize=8)
def told(n: int, seed: int) -> Batch:
    """n stories as arrays, told once however many models read them."""
    return encode(stories(n, seed), SEQ_LEN)


def sinusoid(n: int, d_model: int) -> np.ndarray:  # -> (n, d_model)
    """The 2017 paper's positions (sec. 3.5): sine in even columns, cosine in odd ones, wavelengths 2π to 2π·10000."""
    angle = np.arange(n)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(n, -1)[:, :d_model]


def normal(rng: random.Random, size: int) -> np.ndarray:
    """`size` numbers from N(0, 1) by Box–Muller, from rng.random() alone, whose stream Python guarantees."""
    half = (size + 1) // 2
    radius = np.sqrt(-2 * np.log([1 - rng.random() for _ in range(half)]))
    angle = 2 * np.pi * np.array([rng.random() for _ in range(half)])
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:size]
