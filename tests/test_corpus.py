"""sim.corpus: stories that are grammatical and true, and exactly as surprising as they say."""

import math
import random

import numpy as np
import pytest

from sim import corpus
from sim.corpus import (
    ID,
    KEEP_OWNER,
    START,
    THINGS,
    VERBS,
    VOCABULARY,
    encode,
    entropy_floor,
    is_true_story,
    possible_next,
    stories,
    tell,
)

TOLD = stories(300, seed=5)
TWO_THINGS = stories(300, seed=5, second_thing=0.45)


def spell(text: str) -> list[str]:
    """The words of a story written without spaces; the longest word that fits comes first."""
    words = [START]
    while text:
        word = max((word for word in VOCABULARY if text.startswith(word)), key=len)
        words.append(word)
        text = text[len(word) :]
    return [*words, START]


@pytest.mark.parametrize("told, second_thing", [(TOLD, 0.0), (TWO_THINGS, 0.45)], ids=["one thing", "two things"])
def test_every_story_is_legal_and_true(told, second_thing):
    """What the grammar tells, the grammar accepts."""
    assert all(is_true_story(story.words, second_thing) for story in told)


def test_the_next_words_probabilities_sum_to_one():
    """At every point of every story; otherwise the floor is not an entropy."""
    for story in TOLD[:60] + TWO_THINGS[:60]:
        for n in range(1, len(story.words)):
            assert sum(possible_next(story.words[:n], 0.45).values()) == pytest.approx(1, abs=1e-12)


def test_surprise_is_minus_log_probability():
    """The floor of a word is −ln of the probability the grammar gave it, found again from outside."""
    for story in TOLD[:60]:
        for n in range(1, len(story.words)):
            probability = possible_next(story.words[:n])[story.words[n]]
            assert story.surprise[n] == pytest.approx(-math.log(probability), abs=1e-12)


def test_floor_is_the_entropy_of_the_grammar():
    """Mean surprise of what was said = mean entropy of what could have been said, up to chance (about 0.467 nats)."""
    told = stories(2000, seed=2)
    entropy = words = 0.0
    for story in told[:500]:
        for n in range(1, len(story.words)):
            entropy -= sum(p * math.log(p) for p in possible_next(story.words[:n]).values())
            words += 1
    assert entropy_floor(encode(told, 30)) == pytest.approx(entropy / words, rel=0.02)
    assert entropy / words == pytest.approx(0.467, abs=0.005)


def test_words_come_as_often_as_their_probability_says():
    """70 % of stories open with a name, and each name as often as the others."""
    first = [story.words[1] for story in stories(8000, seed=3)]
    assert sum(word in corpus.NAMES for word in first) / 8000 == pytest.approx(0.7, abs=0.02)
    assert all(first.count(name) / 8000 == pytest.approx(0.7 / 8, abs=0.012) for name in corpus.NAMES)


@pytest.mark.parametrize("verb", VERBS)
def test_lending_and_passing_leave_the_owner(verb):
    """借 and 递 keep the owner; 送, 还 and 卖 make the receiver the owner; the receiver always has the thing."""
    owner = "小明" if verb in KEEP_OWNER else "小红"
    other = "小红" if owner == "小明" else "小明"
    assert is_true_story(spell(f"小明把书{verb}给了小红。现在书在小红那里。书是{owner}的。"))
    assert not is_true_story(spell(f"小明把书{verb}给了小红。现在书在小红那里。书是{other}的。"))


def test_the_holder_is_the_last_receiver_and_the_owner_need_not_be():
    """The title's story: lent once, passed on once."""
    told = "小明把书借给了小红。后来小红又把书递给了小刚。"
    assert is_true_story(spell(told + "书是小明的。现在书在小刚那里。"))
    assert not is_true_story(spell(told + "书是小明的。现在书在小红那里。"))


@pytest.mark.parametrize(
    "wrong",
    [
        "小明把书借给了小明。现在书在小明那里。书是小明的。",  # to himself
        "小明把书借给了小红。后来小红又把书借给了小红。现在书在小红那里。书是小明的。",  # to herself, later
        "小明把书借给了小红。后来小明又把书借给了小刚。现在书在小刚那里。书是小明的。",  # he no longer has it
        "小明借给了小红一支书。现在书在小红那里。书是小明的。",  # the wrong classifier
        "小明把书借给了小红。现在笔在小红那里。书是小明的。",  # a thing not in the story
        "小明把书借给了小红。书是小明的。书是小明的。",  # the same question twice
        "小明把书借给了小红。书是小明的。",  # one question missing
        "书把小明借给了小红。现在书在小红那里。书是小明的。",  # not a sentence
    ],
)
def test_what_is_wrong_is_refused(wrong):
    """Each breaks one rule."""
    assert not is_true_story(spell(wrong))


def test_nothing_follows_the_end_or_an_illegal_start():
    """possible_next has an answer for any words, and asks for the opening mark in a readable way."""
    assert possible_next(TOLD[0].words) == {}
    assert possible_next([START, "的"]) == {}
    assert possible_next([*TOLD[0].words, "。"]) == {}
    with pytest.raises(ValueError, match=START):
        possible_next(["小明"])


def test_the_same_seed_tells_the_same_stories():
    """Also across machines: only random() is drawn from."""
    assert stories(20, seed=9) == stories(20, seed=9) != stories(20, seed=10)
    assert "".join(tell(random.Random(4)).words[1:-1]) == "小刚把球借给了小雨。球是小刚的。现在球在小雨那里。"


def test_parts_say_who_is_who():
    """The answers to both questions stand where `parts` says, and are what the story makes them."""
    for story in TOLD:
        part = {
            name: [story.words[i] for i in sorted(story.parts) if story.parts[i] == name]
            for name in ("giver", "thing", "verb", "receiver", "asked", "holder", "owner")
        }
        assert part["holder"] == part["receiver"][-1:]
        assert set(part["asked"]) == set(part["thing"]) and len(part["asked"]) == 2
        changes = [to for verb, to in zip(part["verb"], part["receiver"], strict=True) if verb not in KEEP_OWNER]
        assert part["owner"] == (changes or part["giver"])[-1:] if changes else part["giver"][:1]


def test_vocabulary_has_each_word_once_and_every_word_is_used():
    """39 words; 同时 only in stories of two things."""
    assert len(set(VOCABULARY)) == len(VOCABULARY) == 39
    told = {word for story in stories(2000, seed=1) for word in story.words}
    assert set(VOCABULARY) - told == {"同时"}
    assert {word for story in TWO_THINGS for word in story.words} == set(VOCABULARY)


def test_encode_predicts_the_next_word():
    """Targets are the ids one to the left; padding counts nothing; no story is cut."""
    batch = encode(TOLD, 30)
    for row, story in enumerate(TOLD):
        n = len(story.words) - 1
        assert batch.ids[row, :n].tolist() == [ID[word] for word in story.words[:-1]]
        assert batch.targets[row, :n].tolist() == [ID[word] for word in story.words[1:]]
        assert batch.counts[row].sum() == batch.counts[row, :n].sum() == n
        things = {VOCABULARY[batch.targets[row, i]] for i, part in batch.parts[row].items() if part == "thing"}
        assert things <= set(THINGS.values())
    assert batch.ids.dtype == batch.targets.dtype == np.int64
    assert max(len(story.words) for story in TOLD) == 31


def test_a_story_that_does_not_fit_is_an_error():
    """The message says how long a row has to be."""
    longest = max(len(story.words) for story in TWO_THINGS)
    with pytest.raises(ValueError, match=f"needed: {longest - 1}"):
        encode(TWO_THINGS, 30)
