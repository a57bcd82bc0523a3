"""sim.counting against counts of real modules, and against tables that others published."""

from fractions import Fraction

import numpy as np
import pytest

from sim import specs
from sim.counting import (
    attention_flops,
    attention_params,
    ffn_params,
    gpt_forward_flops,
    gpt_params,
    kv_cache_bytes,
    layer_complexity,
    llama_d_ff,
    mla_cache_bytes,
    moe_params,
    norm_params,
    share,
    training_flops,
    transformer_params,
    twelve_l_d2,
)
from tests.golden import golden


def assert_counts(got, expected):
    """Every expected count is there, equal, and a Python integer."""
    for name, value in expected.items():
        assert (name, got[name]) == (name, value)
        assert type(got[name]) is type(value)


@golden("params.per_layer")
def test_a_layer(case):
    """4 d² for attention, 8 d² for the feed-forward network, two thirds; and with biases and norms."""
    for d in case.inputs["d"]:
        attention, ffn = attention_params(d), ffn_params(d)
        attention_b, ffn_b = attention_params(d, bias=True), ffn_params(d, bias=True)
        got = {
            "attention": attention,
            "ffn": ffn,
            "total": attention + ffn,
            "ffn_share": share(ffn, attention),
            "attention_with_bias": attention_b,
            "ffn_with_bias": ffn_b,
            "encoder_layer_with_bias_and_2ln": attention_b + ffn_b + 2 * norm_params(d),
        }
        assert_counts(got, case.expected[str(d)])


GPT_NAMES = {"gpt3_b2_7": "gpt3.2.7b", "gpt3_b6_7": "gpt3.6.7b", "gpt3_b13": "gpt3.13b", "gpt3_b175": "gpt3.175b"}


@golden("params.gpt")
def test_every_gpt(case):
    """GPT-1, all of GPT-2, and all of GPT-3 with its two misprints corrected."""
    for name, expected in case.expected.items():
        spec = specs.SPECS[GPT_NAMES.get(name, name.replace("_", "."))]
        assert_counts(spec.params() | {"twelve_L_d2": twelve_l_d2(spec.n_layers, spec.d_model)}, expected)


@golden("params.transformer_2017")
def test_the_transformer_of_2017(case):
    """Base and big, with both vocabularies."""
    for name, expected in case.expected.items():
        size, vocabulary = name.split("_v")
        spec = specs.SPECS[f"transformer.{size}"]
        assert_counts(
            transformer_params(spec.n_layers, spec.d_model, spec.d_ff, int(vocabulary), spec.n_heads), expected
        )


@golden("params.bert")
def test_bert(case):
    """Embeddings, blocks, pooler."""
    for size, expected in case.expected.items():
        assert_counts(specs.SPECS[f"bert.{size}"].params(), expected)


@golden("params.llama_family")
def test_the_llama_family(case):
    """LLaMA 1 to 3.2 and Qwen: attention, gated feed-forward network, totals."""
    for name, expected in case.expected.items():
        spec = specs.SPECS[name.replace("_", ".").replace("qwen2.5", "qwen25")]
        got = spec.params() | {"ffn_dim": spec.d_ff, "ffn_share": spec.ffn_share}
        assert_counts(got, expected)


def test_llamas_hidden_width():
    """Meta's rule gives every published width; two thirds of 4 d rounded up, with a multiplier in the later ones."""
    assert [llama_d_ff(d) for d in (4096, 5120, 6656, 8192)] == [11008, 13824, 17920, 22016]
    assert llama_d_ff(8192, 4096, Fraction(13, 10)) == specs.LLAMA2_70B.d_ff
    assert llama_d_ff(4096, 1024, Fraction(13, 10)) == specs.LLAMA3_8B.d_ff
    assert llama_d_ff(16384, 4096, Fraction(12, 10)) == specs.LLAMA3_405B.d_ff


@golden("params.deepseek_v3")
def test_deepseek_v3(case):
    """Latent attention, experts, and what one token activates."""
    assert_counts(specs.DEEPSEEK_V3.params(), case.expected)


@golden("complexity.table")
def test_table_1_of_the_paper(case):
    """Leading terms for each kind of layer; self-attention is the cheaper one exactly while n < d."""
    d, k, r = (case.params[name] for name in "dkr")
    rows = [layer_complexity(n, d, k, r) for n in case.inputs["n"]]
    for name, expected in case.expected.items():
        assert [row[name] for row in rows] == expected
    for n, row in zip(case.inputs["n"], rows, strict=True):
        assert (row["self_attention"] < row["recurrent"]) == (n < d)


@golden("kvcache.bytes")
def test_kv_cache(case):
    """Bytes for a token and for a context, in 16-bit numbers."""
    per_token = {
        "gpt3_175b": specs.GPT3_175B,
        "llama1_7b": specs.LLAMA1_7B,
        "llama2_70b_gqa": specs.LLAMA2_70B,
        "llama3_8b": specs.LLAMA3_8B,
        "llama3.1_405b": specs.LLAMA3_405B,
        "deepseek_v3_mla": specs.DEEPSEEK_V3,
    }
    got = {f"{name}_per_token": spec.kv_bytes_per_token for name, spec in per_token.items()}
    got["llama2_70b_if_mha_per_token"] = kv_cache_bytes(80, 64, 128)
    got["gpt3_175b_2048"] = kv_cache_bytes(96, 96, 128, n_tokens=2048)
    got["llama1_7b_2048"] = kv_cache_bytes(32, 32, 128, n_tokens=2048)
    got["llama3_8b_8192"] = kv_cache_bytes(32, 8, 128, n_tokens=8192)
    assert got.keys() == case.expected.keys()
    assert_counts(got, case.expected)


def test_counts_are_python_integers():
    """GPT-3's training: 6 N D is above 2^64 and exact, also from 32-bit NumPy sizes."""
    flops = training_flops(specs.GPT3_175B.n_params, 300_000_000_000)
    assert flops == 6 * 174_604_259_328 * 300_000_000_000 > 2**64
    assert type(flops) is int
    assert attention_params(np.int32(100_000)) == 40_000_000_000
    assert type(ffn_params(np.int64(512), np.int32(2048))) is int


@pytest.mark.parametrize("got", [768.0, np.float64(768), "768", Fraction(1, 2)])
def test_sizes_that_are_not_whole_are_refused(got):
    """A float is a ValueError that names the argument."""
    with pytest.raises(ValueError, match=r"attention_params: d_model is .*; needed a whole number"):
        attention_params(got)


def test_sizes_that_cannot_be():
    """Negative sizes, and heads that do not divide the width, are named errors."""
    with pytest.raises(ValueError, match="ffn_params: d_ff is -1; needed at least 0"):
        ffn_params(768, d_ff=-1)
    with pytest.raises(ValueError, match="n_heads is 24; needed a divisor of d_model = 2048"):
        attention_params(2048, n_heads=24)


def test_heads_and_tied_embeddings_N19():
    """GPT-2: the number of heads changes nothing; untying adds one embedding matrix."""
    total = gpt_params(12, 768, 50257, 1024, n_heads=12)["total"]
    assert total == 124_439_808
    assert gpt_params(12, 768, 50257, 1024, n_heads=6)["total"] == total
    assert gpt_params(12, 768, 50257, 1024, tied=False)["total"] == total + 38_597_376 == 163_037_184


def test_gpt2_tally_PW06():
    """A drawing adds to 124,410,624: it gives mlp/c_fc a bias of 768 (it has 3,072) and leaves out the last norm."""
    params = specs.GPT2_SMALL.params()
    assert (params["per_layer"], params["blocks"], params["total"]) == (7_087_872, 85_054_464, 124_439_808)
    assert params["total"] - 12 * (3072 - 768) - params["final_ln"] == 124_410_624


def test_nanogpts_sizing_PW16():
    """Without biases: parameters, a block, and the operations of a pass, forward and with backward."""
    params = gpt_params(12, 768, 50257, 1024, bias=False)
    assert params["total"] == 124_337_664
    assert (
        attention_params(768) + ffn_params(768) + 2 * norm_params(768, bias=False) == params["per_layer"] == 7_079_424
    )
    forward = gpt_forward_flops(12, 768, 50257, seq_len=1024)
    assert forward == 291_648_307_200
    assert 3 * forward == 874_944_921_600
    palm = training_flops(params["total"] - params["pos_emb"], 1024) + 3 * attention_flops(1024, 12, 768)
    assert palm == 875_062_886_400


def test_gpt2_sizes_PW17():
    """The paper's 117, 345, 762 and 1542 M are wrong, and so is nanoGPT's 350M."""
    sizes = [spec.n_params for spec in (specs.GPT2_SMALL, specs.GPT2_MEDIUM, specs.GPT2_LARGE, specs.GPT2_XL)]
    assert sizes == [124_439_808, 354_823_168, 774_030_080, 1_557_611_200]


def test_gpt3_by_component_PW18():
    """A popular table: untied, without biases and positions. Shares 0.35, 8.27 and 33.10 %."""
    d, layers, embedding = 12288, 96, 50257 * 12288
    one_of_four, one_of_two = attention_params(d) * layers // 4, ffn_params(d) * layers // 2
    assert (embedding, one_of_four, one_of_two) == (617_558_016, 14_495_514_624, 57_982_058_496)
    total = 2 * embedding + twelve_l_d2(layers, d)
    assert total == 175_181_291_520
    assert [round(100 * share(x, total - x), 2) for x in (embedding, one_of_four, one_of_two)] == [0.35, 8.27, 33.10]


def test_bert_sizes_PW21():
    """BERT-large has 335 million parameters; its paper prints 340."""
    assert (specs.BERT_BASE.n_params, specs.BERT_LARGE.n_params) == (109_482_240, 335_141_888)


def test_llama_totals_PW22():
    """Llama-2-7B and Llama-3-8B to the last parameter."""
    assert (specs.LLAMA2_7B.n_params, specs.LLAMA3_8B.n_params) == (6_738_415_616, 8_030_261_248)


def test_kv_caches_PW24():
    """Full, grouped, windowed and latent caches. The latent page has 24 heads for a width of 2048: 3.221, not 3.25."""
    full = kv_cache_bytes(32, 32, 128, 32768)
    window = kv_cache_bytes(27, 32, 128, 1024) + kv_cache_bytes(5, 32, 128, 32768)
    grouped_window = kv_cache_bytes(27, 8, 128, 1024) + kv_cache_bytes(5, 8, 128, 32768)
    got = [full, kv_cache_bytes(32, 8, 128, 32768), window, grouped_window]
    assert [round(n / 1e9, 2) for n in got] == [17.18, 4.29, 3.14, 0.78]
    assert round(kv_cache_bytes(48, 1, 2048, 8192) / 1e9, 3) == 3.221
    assert round(mla_cache_bytes(48, 1024, n_tokens=8192) / 1e9, 3) == 0.805
    with pytest.raises(ValueError, match="needed a divisor"):
        attention_params(2048, n_heads=24)


def test_experts_PW25():
    """One dense gated network equals eight experts; two of them are active."""
    expert = ffn_params(7168, 14336 // 8, gated=True)
    assert (ffn_params(7168, 14336, gated=True), expert) == (308_281_344, 38_535_168)
    assert moe_params(7168, 14336 // 8, 8) == 308_338_688
    assert moe_params(7168, 14336 // 8, 8) - 6 * expert == 77_127_680


def test_small_character_models_PW26():
    """A lecture's models: q, k, v without bias, an untied head with one."""
    for (n_layers, d_model, n_positions), total in (((6, 384, 256), 10_788_929), ((4, 64, 32), 209_729)):
        params = gpt_params(n_layers, d_model, 65, n_positions, qkv_bias=False, tied=False)
        assert params["total"] + 65 == total  # and the head's bias
    plain = gpt_params(6, 384, 65, 256, bias=False)
    gains = 13 * 384
    assert (plain["total"] - plain["pos_emb"], plain["total"] - gains, gains) == (10_646_784, 10_740_096, 4_992)


def test_a_nano_gpt_PW27():
    """85,584 as its page computes it, 85,728 with the output matrix that it leaves out."""
    params = gpt_params(3, 48, 3, 11, tied=False)
    assert (params["total"] - params["head"], params["total"]) == (85_584, 85_728)


def test_gpt2_storage_PW31():
    """497.8 MB, and 6.23 GB for the largest, 12.52 times that; a popular page multiplies rounded figures to 6.5 GB."""
    small, largest = 4 * specs.GPT2_SMALL.n_params, 4 * specs.GPT2_XL.n_params
    assert (round(small / 1e6, 1), round(largest / 1e9, 2), round(largest / small, 2)) == (497.8, 6.23, 12.52)
