"""sim.specs: sizes of published models, with their sources."""

import dataclasses

import pytest

from sim import specs
from sim.facts import Fact, fact


def test_a_size_is_a_number_and_can_be_shown_as_a_fact():
    """The number computes, the fact carries unit, statement and source."""
    assert specs.GPT3_175B.d_model == 12288
    shown = specs.GPT3_175B.fact("d_model")
    assert isinstance(shown, Fact)
    assert (shown.id, shown.value, shown.unit) == ("gpt3.175b.d_model", 12288, "dims")
    assert (shown.source.where, shown.source.link) == ("Table 2.1", "https://arxiv.org/abs/2005.14165")
    assert specs.GPT3_175B.fact("vocab_size").source.year == 2019  # GPT-2's vocabulary


def test_every_size_of_every_model_has_a_place():
    """No fact of any model lacks its source's title, year, place, or link."""
    assert len(specs.SPECS) == 40
    for spec in specs.SPECS.values():
        for field in dataclasses.fields(spec):
            if field.name in specs.WORDS and getattr(spec, field.name) is not None:
                shown = spec.fact(field.name)
                assert type(shown.value) is int
                source = shown.source
                assert all((source.title, source.year, source.where, source.link)), shown


def test_what_was_counted_is_not_a_fact():
    """A size that nobody published, and a total that we count, are refused, with what there is."""
    with pytest.raises(KeyError, match="GPT-3 175b has no published 'n_params'; it has n_layers, d_model"):
        specs.GPT3_175B.fact("n_params")
    with pytest.raises(KeyError, match="no published 'n_positions'"):
        specs.LLAMA3_8B.fact("n_positions")


def test_the_share_of_the_feed_forward_network():
    """Two thirds with 4 d and full multi-head attention; more where queries share keys."""
    shares = {spec.name: round(spec.ffn_share, 3) for spec in specs.SPECS.values()}
    assert shares["Llama-3-8B"] == 0.808
    assert shares["Llama-2-70B"] == 0.824
    assert shares["Qwen2.5-7B"] == 0.874
    for name in ("Transformer base", "GPT-1", "GPT-2 small", "GPT-2 xl", "GPT-3 175b", "BERT-base", "T5-base"):
        assert shares[name] == pytest.approx(2 / 3, abs=5e-4)


def test_counted_totals_are_near_the_published_ones():
    """Within 8 % of the publisher's figure, except a misprint (GPT-3 XL) and a mere name (Llama-3.2-1B)."""
    off = {s.name for s in specs.SPECS.values() if s.printed_params and abs(s.n_params / s.printed_params - 1) > 0.08}
    assert off == {"GPT-3 xl-as-printed", "Llama-3.2-1B"}
    assert round(specs.GPT3_XL_AS_PRINTED.n_params / 1e9, 2) == 1.52
    assert round(specs.GPT3_13B_AS_PRINTED.n_params / 1e9, 2) == 12.94
    assert round(specs.GPT3_13B.n_params / 1e9, 2) == 12.85


def test_t5():
    """T5-large counted as its checkpoint, and T5-11B with heads wider together than d_model."""
    assert specs.T5_LARGE.n_params == 737_668_096
    assert specs.T5_11B.n_heads * specs.T5_11B.d_head == 16 * specs.T5_11B.d_model


def test_sizes_left_out():
    """Key-value heads, head width and hidden width follow from the others."""
    gpt2 = specs.GPT2_SMALL
    assert (gpt2.n_kv_heads, gpt2.d_head, gpt2.d_ff) == (12, 64, 3072)


def test_facts_and_specs_agree():
    """Where a number stands in both tables it is the same number."""
    pairs = {
        "tr.layers": specs.TRANSFORMER_BASE.n_layers,
        "tr.base.d_model": specs.TRANSFORMER_BASE.d_model,
        "tr.base.d_ff": specs.TRANSFORMER_BASE.d_ff,
        "tr.base.h": specs.TRANSFORMER_BASE.n_heads,
        "tr.base.dk": specs.TRANSFORMER_BASE.d_head,
        "tr.big.d_model": specs.TRANSFORMER_BIG.d_model,
        "tr.big.d_ff": specs.TRANSFORMER_BIG.d_ff,
        "tr.big.h": specs.TRANSFORMER_BIG.n_heads,
        "gpt2.small.n_layers": specs.GPT2_SMALL.n_layers,
        "gpt2.medium.n_layers": specs.GPT2_MEDIUM.n_layers,
        "gpt2.large.n_layers": specs.GPT2_LARGE.n_layers,
        "gpt2.xl.n_layers": specs.GPT2_XL.n_layers,
        "gpt3.175b.n_layers": specs.GPT3_175B.n_layers,
        "gpt3.175b.d_model": specs.GPT3_175B.d_model,
        "gpt3.dff": specs.GPT3_175B.d_ff,
        "gpt3.ctx": specs.GPT3_175B.n_positions,
        "bert.base.n_layers": specs.BERT_BASE.n_layers,
        "bert.base.d_model": specs.BERT_BASE.d_model,
    }
    assert {id: fact(id).value for id in pairs} == pairs
    for id, spec in {
        "tr.base.params": specs.TRANSFORMER_BASE,
        "tr.big.params": specs.TRANSFORMER_BIG,
        "bert.base.params": specs.BERT_BASE,
    }.items():
        assert fact(id).value * 10**6 == spec.printed_params
