"""sim.facts: published facts with their sources."""

import re
from dataclasses import FrozenInstanceError

import pytest

from sim import facts
from sim.facts import FACTS, Source, fact


def test_a_fact_carries_its_source():
    """Value, unit, statement, and the section it was read in."""
    width = fact("tr.base.d_model")
    assert (width.value, width.unit) == (512, "dims")
    assert width.source.link == "https://arxiv.org/abs/1706.03762"
    assert width.source.where == "sec. 3.1; Table 3"
    with pytest.raises(FrozenInstanceError):
        width.value = 513


def test_every_fact_is_complete():
    """Each has a statement, a place in a source, and a link; each id is its own."""
    for id, known in FACTS.items():
        assert known.id == id
        assert known.statement, id
        assert known.value != "", id
        source = known.source
        assert all((source.title, source.authors, source.where)), id
        assert source.link.startswith("https://"), id
        assert 2014 <= source.year <= 2026, id
    tables = (
        facts._TRANSFORMER_2017,
        facts._ATTENTION,
        facts._RESIDUAL,
        facts._RANK,
        facts._LAYER_NORM,
        facts._FEED_FORWARD,
        facts._MODELS,
    )
    assert len(FACTS) == sum(len(table) for table in tables)


def test_an_unknown_id_suggests_near_ones():
    """A slip in an id is answered with the ids it may have meant."""
    with pytest.raises(KeyError, match=re.escape("no fact 'tr.base.dmodel'; near: tr.base.d_model")):
        fact("tr.base.dmodel")


def test_what_was_not_confirmed_cannot_be_printed():
    """Facts whose source was not read again are not in the table."""
    for id in ("res.harmless", "ffn.knowledge"):
        with pytest.raises(KeyError):
            fact(id)


def test_a_sources_link():
    """A web address if there is one, else arXiv, else nothing."""
    assert Source("t", "a", 2020, url="https://example.org").link == "https://example.org"
    assert Source("t", "a", 2020, arxiv="2001.08361").link == "https://arxiv.org/abs/2001.08361"
    assert Source("t", "a", 2020).link == ""
    assert Source("t", "a", 2020).at("sec. 2").where == "sec. 2"
