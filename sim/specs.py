"""Published models: their sizes as their papers and configurations give them, and what `counting` makes of those.

`GPT3_175B.d_model` is a number to compute with, `GPT3_175B.fact("d_model")` the same number with its source, to print.
`printed_params` is the publisher's total; `n_params` is ours, and the two often differ (see errata).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from sim import counting, facts
from sim.facts import Fact, Source

WORDS = {  # field: (unit, what it is)
    "n_layers": ("layers", "number of layers"),
    "d_model": ("dims", "width of the residual stream"),
    "n_heads": ("heads", "number of query heads"),
    "n_kv_heads": ("heads", "number of key-value heads"),
    "d_head": ("dims", "width of one head"),
    "d_ff": ("dims", "hidden width of the feed-forward network"),
    "vocab_size": ("tokens", "rows of the embedding matrix"),
    "n_positions": ("tokens", "longest context"),
    "printed_params": ("parameters", "parameters as published"),
    "n_dense_layers": ("layers", "layers with one plain feed-forward network"),
    "q_rank": ("dims", "width of the query latent"),
    "kv_rank": ("dims", "width of the key-value latent"),
    "d_nope": ("dims", "width of a head's unrotated part"),
    "d_rope": ("dims", "width of a head's rotated part"),
    "d_v": ("dims", "width of a head's values"),
    "d_expert": ("dims", "hidden width of one expert"),
    "n_experts": ("experts", "routed experts in a layer"),
    "n_shared": ("experts", "shared experts in a layer"),
    "n_active": ("experts", "routed experts a token visits"),
}


@dataclass(frozen=True, kw_only=True)
class Spec(ABC):
    """The sizes of one model. Left out: n_kv_heads is n_heads, d_head is d_model / n_heads, d_ff is 4 d_model."""

    id: str
    name: str
    source: Source
    n_layers: int
    d_model: int
    n_heads: int
    vocab_size: int
    printed_params: int | None = None
    n_positions: int | None = None
    n_kv_heads: int = 0
    d_head: int = 0
    d_ff: int = 0
    elsewhere: Mapping[str, Source] = field(default_factory=dict)  # field: where it was read, if not in `source`

    def __post_init__(self) -> None:
        self._default("n_kv_heads", self.n_heads)
        self._default("d_head", self.d_head or counting.head_size(self.d_model, self.n_heads))
        self._default("d_ff", 4 * self.d_model)

    def _default(self, name: str, value: int) -> None:
        if not getattr(self, name):
            object.__setattr__(self, name, value)

    def fact(self, name: str) -> Fact:
        """The published size with its source; KeyError if the model has no such size."""
        known = [f.name for f in fields(self) if f.name in WORDS and getattr(self, f.name) is not None]
        if name not in known:
            raise KeyError(f"{self.name} has no published {name!r}; it has {', '.join(known)}")
        unit, words = WORDS[name]
        source = self.elsewhere.get(name, self.source)
        return Fact(f"{self.id}.{name}", getattr(self, name), unit, f"{self.name}: {words}", source)

    @abstractmethod
    def params(self) -> dict[str, int]:
        """Parameters of each part, and their total."""

    @abstractmethod
    def layer(self) -> tuple[int, int]:
        """Parameters of one layer's attention and feed-forward network (an encoder layer, if there are two kinds)."""

    @property
    def n_params(self) -> int:
        """All parameters, counted."""
        return self.params()["total"]

    @property
    def ffn_share(self) -> float:
        """The feed-forward network's share of one layer's parameters, norms left out."""
        attention, ffn = self.layer()
        return counting.share(ffn, attention)


@dataclass(frozen=True, kw_only=True)
class Transformer(Spec):
    """The encoder-decoder of 2017; n_layers in each stack."""

    def params(self) -> dict[str, int]:
        return counting.transformer_params(self.n_layers, self.d_model, self.d_ff, self.vocab_size, self.n_heads)

    def layer(self) -> tuple[int, int]:
        return _layer_with_biases(self)


@dataclass(frozen=True, kw_only=True)
class DecoderOnly(Spec):
    """A model that only continues text; while it writes, it keeps the keys and values of every token."""

    @property
    def kv_bytes_per_token(self) -> int:
        """Keys and values kept for each token in 16-bit numbers."""
        return counting.kv_cache_bytes(self.n_layers, self.n_kv_heads, self.d_head)


@dataclass(frozen=True, kw_only=True)
class GPT(DecoderOnly):
    """Decoder-only, learned positions, tied embeddings. GPT-1 has no norm after its last block."""

    n_positions: int
    final_norm: bool = True

    def params(self) -> dict[str, int]:
        return counting.gpt_params(
            self.n_layers, self.d_model, self.vocab_size, self.n_positions, self.n_heads, self.d_head, self.d_ff,
            final_norm=self.final_norm,
        )

    def layer(self) -> tuple[int, int]:
        return _layer_with_biases(self)


@dataclass(frozen=True, kw_only=True)
class Bert(Spec):
    """Encoder-only, with a pooler."""

    n_positions: int

    def params(self) -> dict[str, int]:
        return counting.bert_params(
            self.n_layers, self.d_model, self.vocab_size, self.n_positions, n_heads=self.n_heads, d_ff=self.d_ff
        )

    def layer(self) -> tuple[int, int]:
        return _layer_with_biases(self)


@dataclass(frozen=True, kw_only=True)
class Llama(DecoderOnly):
    """LLaMA's plan, also Qwen's: RMSNorm, gated feed-forward network, grouped queries."""

    qkv_bias: bool = False
    qk_norm: bool = False
    tied: bool = False

    def params(self) -> dict[str, int]:
        return counting.llama_params(
            self.n_layers, self.d_model, self.n_heads, self.n_kv_heads, self.d_ff, self.vocab_size, self.d_head,
            self.qkv_bias, self.qk_norm, self.tied,
        )

    def layer(self) -> tuple[int, int]:
        params = self.params()
        return params["attention"], params["ffn"]


@dataclass(frozen=True, kw_only=True)
class T5(Spec):
    """Encoder-decoder, n_layers in each stack; n_heads · d_head need not be d_model."""

    def params(self) -> dict[str, int]:
        return counting.t5_params(self.n_layers, self.d_model, self.n_heads, self.d_head, self.d_ff, self.vocab_size)

    def layer(self) -> tuple[int, int]:
        attention = counting.attention_params(self.d_model, self.n_heads, d_head=self.d_head)
        return attention, counting.ffn_params(self.d_model, self.d_ff)


@dataclass(frozen=True, kw_only=True)
class DeepSeek(DecoderOnly):
    """Multi-head latent attention and, after the first dense layers, a mixture of experts."""

    n_dense_layers: int
    q_rank: int
    kv_rank: int
    d_nope: int
    d_rope: int
    d_v: int
    d_expert: int
    n_experts: int
    n_shared: int
    n_active: int

    def params(self) -> dict[str, int]:
        return counting.deepseek_v3_params(
            self.n_layers, self.n_dense_layers, self.d_model, self.n_heads, self.q_rank, self.kv_rank, self.d_nope,
            self.d_rope, self.d_v, self.d_ff, self.d_expert, self.n_experts, self.n_shared, self.n_active,
            self.vocab_size,
        )

    def layer(self) -> tuple[int, int]:
        params = self.params()
        return params["mla_per_layer"], params["moe_layer"]

    @property
    def kv_bytes_per_token(self) -> int:
        return counting.mla_cache_bytes(self.n_layers, self.kv_rank, self.d_rope)


def _layer_with_biases(spec: Spec) -> tuple[int, int]:
    attention = counting.attention_params(spec.d_model, spec.n_heads, spec.n_kv_heads, spec.d_head, bias=True)
    return attention, counting.ffn_params(spec.d_model, spec.d_ff, bias=True)


MILLION, BILLION = 10**6, 10**9

# ---- Transformer, 2017

TRANSFORMER_BASE = Transformer(
    id="transformer.base", name="Transformer base", source=facts.TRANSFORMER.at("Table 3, row base"),
    n_layers=6, d_model=512, n_heads=8, d_ff=2048, vocab_size=37_000, printed_params=65 * MILLION,
    elsewhere={"vocab_size": facts.TRANSFORMER.at("sec. 5.1, about 37000 for English–German")},
)
TRANSFORMER_BIG = Transformer(
    id="transformer.big", name="Transformer big", source=facts.TRANSFORMER.at("Table 3, row big"),
    n_layers=6, d_model=1024, n_heads=16, d_ff=4096, vocab_size=37_000, printed_params=213 * MILLION,
    elsewhere={"vocab_size": facts.TRANSFORMER.at("sec. 5.1, about 37000 for English–German")},
)

# ---- GPT

GPT1 = GPT(
    id="gpt1", name="GPT-1", source=facts.GPT1.at("sec. 4.1"),
    n_layers=12, d_model=768, n_heads=12, vocab_size=40_478, n_positions=512, final_norm=False,
    elsewhere={"vocab_size": facts.GPT1.at("released model: 40,000 merges and 478 single symbols")},
)


def _gpt2(size: str, n_layers: int, d_model: int, n_heads: int, printed: int) -> GPT:
    return GPT(
        id=f"gpt2.{size}", name=f"GPT-2 {size}", source=facts.GPT2.at("Table 2"),
        n_layers=n_layers, d_model=d_model, n_heads=n_heads, vocab_size=50_257, n_positions=1024,
        printed_params=printed * MILLION,
        elsewhere={
            "n_heads": facts.GPT2.at("released checkpoints"), "n_kv_heads": facts.GPT2.at("released checkpoints"),
            "d_head": facts.GPT2.at("released checkpoints"), "d_ff": facts.GPT2.at("src/model.py, mlp"),
            "vocab_size": facts.GPT2.at("sec. 2.3"), "n_positions": facts.GPT2.at("sec. 2.3"),
        },
    )


GPT2_SMALL = _gpt2("small", 12, 768, 12, printed=117)
GPT2_MEDIUM = _gpt2("medium", 24, 1024, 16, printed=345)
GPT2_LARGE = _gpt2("large", 36, 1280, 20, printed=762)
GPT2_XL = _gpt2("xl", 48, 1600, 25, printed=1542)


def _gpt3(
    size: str, n_layers: int, d_model: int, n_heads: int, d_head: int, printed: int, where: str = "Table 2.1"
) -> GPT:
    return GPT(
        id=f"gpt3.{size}", name=f"GPT-3 {size}", source=facts.GPT3.at(where),
        n_layers=n_layers, d_model=d_model, n_heads=n_heads, d_head=d_head, vocab_size=50_257, n_positions=2048,
        printed_params=printed * MILLION,
        elsewhere={
            "vocab_size": facts.GPT2.at("sec. 2.3; GPT-3 keeps the vocabulary"),
            "d_ff": facts.GPT3.at("sec. 2.1, 4 d_model"), "n_positions": facts.GPT3.at("sec. 2.1"),
        },
    )


GPT3_SMALL = _gpt3("small", 12, 768, 12, 64, printed=125)
GPT3_MEDIUM = _gpt3("medium", 24, 1024, 16, 64, printed=350)
GPT3_LARGE = _gpt3("large", 24, 1536, 16, 96, printed=760)
GPT3_XL = _gpt3("xl", 24, 2048, 16, 128, printed=1300, where="Table 2.1, with 16 heads: its 24 × 128 is not 2048")
GPT3_XL_AS_PRINTED = _gpt3("xl-as-printed", 24, 2048, 24, 128, printed=1300)
GPT3_2_7B = _gpt3("2.7b", 32, 2560, 32, 80, printed=2700)
GPT3_6_7B = _gpt3("6.7b", 32, 4096, 32, 128, printed=6700)
GPT3_13B = _gpt3("13b", 40, 5120, 40, 128, printed=13_000, where="Table 2.1, with 5120 = 40 × 128 for its 5140")
GPT3_13B_AS_PRINTED = _gpt3("13b-as-printed", 40, 5140, 40, 128, printed=13_000)
GPT3_175B = _gpt3("175b", 96, 12288, 96, 128, printed=175_000)

# ---- BERT


def _bert(size: str, n_layers: int, d_model: int, n_heads: int, printed: int) -> Bert:
    code = facts.BERT.at("google-research/bert, modeling.py and vocab.txt (uncased)")
    return Bert(
        id=f"bert.{size}", name=f"BERT-{size}", source=facts.BERT.at("sec. 3"),
        n_layers=n_layers, d_model=d_model, n_heads=n_heads, vocab_size=30_522, n_positions=512,
        printed_params=printed * MILLION, elsewhere={"vocab_size": code, "n_positions": code},
    )


BERT_BASE = _bert("base", 12, 768, 12, printed=110)
BERT_LARGE = _bert("large", 24, 1024, 16, printed=340)

# ---- LLaMA

_LLAMA1 = Source(
    "LLaMA: Open and Efficient Foundation Language Models", "Touvron et al.", 2023, "Table 2", "2302.13971"
)
_LLAMA2 = Source(
    "Llama 2: Open Foundation and Fine-Tuned Chat Models", "Touvron et al.", 2023, "Table 1; model card", "2307.09288"
)
_LLAMA3 = Source("The Llama 3 Herd of Models", "Llama Team, AI @ Meta", 2024, "Table 3", "2407.21783")


def _llama1(size: str, n_layers: int, d_model: int, n_heads: int, printed: int) -> Llama:
    return Llama(
        id=f"llama1.{size}", name=f"LLaMA-{size.upper()}", source=_LLAMA1,
        n_layers=n_layers, d_model=d_model, n_heads=n_heads, d_ff=counting.llama_d_ff(d_model),
        vocab_size=32_000, n_positions=2048, printed_params=printed,
        elsewhere={"d_ff": _LLAMA1.at("the rule in model.py: ⅔ · 4 d_model, up to a multiple of 256"),
                   "vocab_size": _LLAMA1.at("sec. 2.2; model.py"), "n_positions": _LLAMA1.at("sec. 2.2; model.py")},
    )


def _llama2(size: str, n_layers: int, d_model: int, n_heads: int, n_kv_heads: int, d_ff: int, printed: int) -> Llama:
    return Llama(
        id=f"llama2.{size}", name=f"Llama-2-{size.upper()}", source=_LLAMA2,
        n_layers=n_layers, d_model=d_model, n_heads=n_heads, n_kv_heads=n_kv_heads, d_ff=d_ff,
        vocab_size=32_000, n_positions=4096, printed_params=printed,
    )


def _llama3(
    version: str, size: str, n_layers: int, d_model: int, n_heads: int, d_ff: int, printed: int, tied: bool = False
) -> Llama:
    vocabulary = _LLAMA3.at("code: 128,000 and 256 special tokens; Table 3 prints 128,000")
    return Llama(
        id=f"llama{version}.{size}", name=f"Llama-{version}-{size.upper()}",
        source=_LLAMA3.at("sku_list.py") if tied else _LLAMA3,
        n_layers=n_layers, d_model=d_model, n_heads=n_heads, n_kv_heads=8, d_ff=d_ff,
        vocab_size=128_256, printed_params=printed, tied=tied, elsewhere={"vocab_size": vocabulary},
    )


LLAMA1_7B = _llama1("7b", 32, 4096, 32, printed=6_700 * MILLION)
LLAMA1_13B = _llama1("13b", 40, 5120, 40, printed=13_000 * MILLION)
LLAMA1_33B = _llama1("33b", 60, 6656, 52, printed=32_500 * MILLION)
LLAMA1_65B = _llama1("65b", 80, 8192, 64, printed=65_200 * MILLION)
LLAMA2_7B = _llama2("7b", 32, 4096, 32, 32, 11_008, printed=7 * BILLION)
LLAMA2_13B = _llama2("13b", 40, 5120, 40, 40, 13_824, printed=13 * BILLION)
LLAMA2_70B = _llama2("70b", 80, 8192, 64, 8, 28_672, printed=70 * BILLION)
LLAMA3_8B = _llama3("3", "8b", 32, 4096, 32, 14_336, printed=8 * BILLION)
LLAMA3_70B = _llama3("3", "70b", 80, 8192, 64, 28_672, printed=70 * BILLION)
LLAMA3_405B = _llama3("3.1", "405b", 126, 16_384, 128, 53_248, printed=405 * BILLION)
LLAMA32_1B = _llama3("3.2", "1b", 16, 2048, 32, 8192, printed=1 * BILLION, tied=True)
LLAMA32_3B = _llama3("3.2", "3b", 28, 3072, 24, 8192, printed=3 * BILLION, tied=True)

# ---- Qwen

_QWEN25 = Source("Qwen2.5 Technical Report", "Qwen Team", 2024, "published config.json", "2412.15115")
_QWEN3 = Source("Qwen3 Technical Report", "Qwen Team", 2025, "Table 1; published config.json", "2505.09388")

QWEN25_7B = Llama(
    id="qwen25.7b", name="Qwen2.5-7B", source=_QWEN25, printed_params=7_610 * MILLION, qkv_bias=True,
    n_layers=28, d_model=3584, n_heads=28, n_kv_heads=4, d_ff=18_944, vocab_size=152_064,
)
QWEN25_72B = Llama(
    id="qwen25.72b", name="Qwen2.5-72B", source=_QWEN25, qkv_bias=True,
    n_layers=80, d_model=8192, n_heads=64, n_kv_heads=8, d_ff=29_568, vocab_size=152_064,
)
QWEN3_8B = Llama(
    id="qwen3.8b", name="Qwen3-8B", source=_QWEN3, qk_norm=True,
    n_layers=36, d_model=4096, n_heads=32, n_kv_heads=8, d_head=128, d_ff=12_288, vocab_size=151_936,
)

# ---- T5

_T5 = Source(
    "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer", "Raffel et al.", 2019,
    "sec. 3.7; gin configurations bi_v1", "1910.10683",
)


def _t5(size: str, n_layers: int, d_model: int, n_heads: int, d_head: int, d_ff: int, printed: int) -> T5:
    return T5(
        id=f"t5.{size}", name=f"T5-{size}", source=_T5, printed_params=printed,
        n_layers=n_layers, d_model=d_model, n_heads=n_heads, d_head=d_head, d_ff=d_ff, vocab_size=32_128,
    )


T5_SMALL = _t5("small", 6, 512, 8, 64, 2048, printed=60 * MILLION)
T5_BASE = _t5("base", 12, 768, 12, 64, 3072, printed=220 * MILLION)
T5_LARGE = _t5("large", 24, 1024, 16, 64, 4096, printed=770 * MILLION)
T5_3B = _t5("3b", 24, 1024, 32, 128, 16_384, printed=3 * BILLION)
T5_11B = _t5("11b", 24, 1024, 128, 128, 65_536, printed=11 * BILLION)

# ---- DeepSeek

_DEEPSEEK_V3 = Source("DeepSeek-V3 Technical Report", "DeepSeek-AI", 2024, "sec. 4.2; config_671B.json", "2412.19437")

DEEPSEEK_V3 = DeepSeek(
    id="deepseek.v3", name="DeepSeek-V3", source=_DEEPSEEK_V3, printed_params=671 * BILLION,
    n_layers=61, n_dense_layers=3, d_model=7168, n_heads=128, d_head=192, q_rank=1536, kv_rank=512,
    d_nope=128, d_rope=64, d_v=128, d_ff=18_432, d_expert=2048, n_experts=256, n_shared=1, n_active=8,
    vocab_size=129_280,
    elsewhere={"printed_params": _DEEPSEEK_V3.at("abstract")},
)

SPECS = {spec.id: spec for spec in list(globals().values()) if isinstance(spec, Spec)}
