"""Small Chinese stories about who has the book and whose it is, with a known entropy at every word.

「小明把书借给了小红。后来小红又把书递给了小刚。现在书在小刚那里。书是小明的。」 Lending and passing (借, 递) leave the
owner as he was; giving, selling and returning (送, 卖, 还) make the receiver the owner. Who has the thing is always the
last receiver. So 「在」 asks for a place in the story, 「是」 for the meaning of its verbs.

The grammar is one generator: it yields the words that may come next with their probabilities, and receives the word
that came. Sampling it tells a story; sending it a story's words gives the exact probability of each. So the floor
under any model's loss is known, word by word, and a story is legal and true exactly if no word in it has
probability 0.

>>> "".join(tell(random.Random(4)).words[1:-1])
'小刚把球借给了小雨。球是小刚的。现在球在小雨那里。'
"""

import math
import random
from collections.abc import Generator, Sequence
from typing import NamedTuple

import numpy as np

START = "<起>"  # opens a story and closes it
NAMES = ("小明", "小红", "小刚", "小丽", "小华", "小芳", "小军", "小雨")
THINGS = {"一本": "书", "一支": "笔", "一个": "球", "一把": "伞", "一幅": "画", "一辆": "车"}  # by classifier
VERBS = ("借", "送", "还", "卖", "递")
KEEP_OWNER = ("借", "递")
OTHER = (START, "。", "把", "被", "给", "了", "后来", "又", "同时", "现在", "在", "那里", "是", "的")
VOCABULARY = (*OTHER, *NAMES, *THINGS.values(), *THINGS, *VERBS)
ID = {word: number for number, word in enumerate(VOCABULARY)}

Choice = dict[str, float]  # possible next words with their probabilities
Part = str | dict[str, str]  # what the word does in the story, or that by word; "" for nothing of interest


class Story(NamedTuple):
    """words[0] is START; surprise[i] = −ln p(words[i] | words before it), in nats, 0 for START.

    parts[i]: what words[i] does there, one of giver, thing, verb, receiver, asked, holder, owner; the last receiver is
    the one with the greatest i.
    """

    words: tuple[str, ...]
    surprise: tuple[float, ...]
    parts: dict[int, str]


class Batch(NamedTuple):
    """Stories as arrays (n_stories, seq_len), padded with START; position i of `targets` is position i + 1 of `ids`."""

    ids: np.ndarray  # int64
    targets: np.ndarray  # int64
    counts: np.ndarray  # 1.0 where there is a word to predict, 0.0 in the padding
    floor: np.ndarray  # the target's own surprise, nats
    parts: list[dict[int, str]]  # of each story, by position in `targets`


def one_of(words: Sequence[str], share: float = 1.0) -> Choice:
    return {word: share / len(words) for word in words}


def grammar(second_thing: float = 0.0) -> Generator[tuple[Choice, Part], str, None]:
    """All stories. `second_thing`: probability that a second thing changes hands (「同时…」); our models fail on it."""
    things = tuple(THINGS.values())
    holder: dict[str, str] = {}
    owner: dict[str, str] = {}

    def others(*names: str) -> Choice:
        return one_of([name for name in NAMES if name not in names])

    def say(*words: str, part: str = "") -> Generator[tuple[Choice, Part], str, None]:
        for word in words:
            yield {word: 1.0}, part

    def settle(thing: str, giver: str, verb: str, receiver: str) -> None:
        holder[thing] = receiver
        owner[thing] = owner.get(thing, giver) if verb in KEEP_OWNER else receiver

    # 小明 把 书 借 给 了 小红 。| 小明 借 给 了 小红 一本 书 。| 书 被 小明 借 给 了 小红 。
    giver_or_thing = dict.fromkeys(NAMES, "giver") | dict.fromkeys(things, "thing")
    first = yield one_of(NAMES, 0.7) | one_of(things, 0.3), giver_or_thing
    if first in things:
        thing = first
        yield from say("被")
        giver = yield one_of(NAMES), "giver"
        verb = yield one_of(VERBS), "verb"
    else:
        giver = first
        verb = yield {"把": 0.6} | one_of(VERBS, 0.4), dict.fromkeys(VERBS, "verb")
        if with_ba := verb == "把":
            thing = yield one_of(things), "thing"
            verb = yield one_of(VERBS), "verb"
    yield from say("给", "了")
    receiver = yield others(giver), "receiver"
    if first in NAMES and not with_ba:
        classifier = yield one_of(tuple(THINGS)), ""
        thing = THINGS[classifier]
        yield from say(thing, part="thing")
    yield from say("。")
    settle(thing, giver, verb, receiver)

    # 后来 小红 又 把 书 递 给 了 小刚 。| 同时 小刚 把 笔 送 给 了 小丽 。| straight to the questions
    later = 0.5
    to_ask = [("在", thing), ("是", thing)]
    asked = dict.fromkeys(things, "asked")
    word = yield {"后来": later, "同时": second_thing} | question(to_ask, 1 - later - second_thing), asked
    if word in ("后来", "同时"):
        if word == "后来":
            next_giver, next_thing, not_to = receiver, thing, {receiver}
            yield from say(next_giver, part="giver")
            yield from say("又", "把")
            yield from say(next_thing, part="thing")
        else:
            next_giver = yield others(giver, receiver), "giver"
            yield from say("把")
            next_thing = yield one_of([it for it in things if it != thing]), "thing"
            not_to = {giver, receiver, next_giver}
            to_ask += [("在", next_thing), ("是", next_thing)]
        verb = yield one_of(VERBS), "verb"
        yield from say("给", "了")
        last = yield others(*not_to), "receiver"
        yield from say("。")
        settle(next_thing, next_giver, verb, last)
        word = yield question(to_ask, 1.0), asked

    # 现在 书 在 小刚 那里 。 and 书 是 小明 的 。 in either order, each question once
    while True:
        if word == "现在":
            thing = yield one_of([it for kind, it in to_ask if kind == "在"]), "asked"
            yield from say("在")
            yield from say(holder[thing], part="holder")
            yield from say("那里", "。")
            to_ask.remove(("在", thing))
        else:
            thing = word
            yield from say("是")
            yield from say(owner[thing], part="owner")
            yield from say("的", "。")
            to_ask.remove(("是", thing))
        if not to_ask:
            break
        word = yield question(to_ask, 1.0), asked
    yield from say(START)


def question(to_ask: list[tuple[str, str]], share: float) -> Choice:
    """How a question may begin: 「现在」 or the thing itself; both kinds equally likely while both are left."""
    places = [thing for kind, thing in to_ask if kind == "在"]
    owned = [thing for kind, thing in to_ask if kind == "是"]
    kinds = bool(places) + bool(owned)
    return ({"现在": share / kinds} if places else {}) | (one_of(owned, share / kinds) if owned else {})


def tell(rng: random.Random, second_thing: float = 0.0) -> Story:
    """One story. Only rng.random() is used, whose stream Python guarantees across versions."""
    telling = grammar(second_thing)
    words, surprise, parts = [START], [0.0], {}
    choice, part = next(telling)
    while True:
        word = _draw(choice, rng.random())
        if role := part if isinstance(part, str) else part.get(word, ""):
            parts[len(words)] = role
        words.append(word)
        surprise.append(-math.log(choice[word]))
        try:
            choice, part = telling.send(word)
        except StopIteration:
            return Story(tuple(words), tuple(surprise), parts)


def stories(n: int, seed: int, second_thing: float = 0.0) -> list[Story]:
    rng = random.Random(seed)
    return [tell(rng, second_thing) for _ in range(n)]


def possible_next(words: Sequence[str], second_thing: float = 0.0) -> Choice:
    """Which words can follow, with their exact probabilities; {} after the end, and after a prefix that is not legal
    or says something untrue. `words` begins with START."""
    if not words or words[0] != START:
        raise ValueError(f"a story begins with {START}, this one with {words[0] if words else 'nothing'}")
    telling = grammar(second_thing)
    choice, _ = next(telling)
    for word in words[1:]:
        if choice.get(word, 0.0) == 0.0:
            return {}
        try:
            choice, _ = telling.send(word)
        except StopIteration:
            choice = {}
    return {word: p for word, p in choice.items() if p > 0}


def is_true_story(words: Sequence[str], second_thing: float = 0.0) -> bool:
    """Complete, grammatical, and every answer right."""
    return words[-1] == START and words[-1] in possible_next(words[:-1], second_thing)


def encode(told: Sequence[Story], seq_len: int) -> Batch:
    """Arrays for a model that predicts each next word; a story of more than seq_len + 1 words is an error."""
    longest = max(len(story.words) for story in told)
    if longest > seq_len + 1:
        raise ValueError(f"a story of {longest} words does not fit into seq_len = {seq_len}; needed: {longest - 1}")
    ids, targets = (np.full((len(told), seq_len), ID[START], np.int64) for _ in range(2))
    counts, floor = (np.zeros((len(told), seq_len)) for _ in range(2))
    for row, story in enumerate(told):
        numbers, n = [ID[word] for word in story.words], len(story.words) - 1
        ids[row, :n], targets[row, :n] = numbers[:-1], numbers[1:]
        counts[row, :n], floor[row, :n] = 1.0, story.surprise[1:]
    return Batch(ids, targets, counts, floor, [{i - 1: part for i, part in story.parts.items()} for story in told])


def entropy_floor(batch: Batch) -> float:
    """Mean surprise of the words themselves, nats per word: no model can do better on average."""
    return float((batch.floor * batch.counts).sum() / batch.counts.sum())


def _draw(choice: Choice, u: float) -> str:
    """The word whose stretch of [0, 1) holds u."""
    total = 0.0
    for word, p in choice.items():
        total += p
        if u < total:
            return word
    return max(choice, key=lambda word: choice[word])  # u beyond the sum by a rounding error
