"""Training of a unigram language model (Kudo 2018): seeds, probabilities by EM, the least useful dropped.

    words -> characters and seeds -> [ expectation, maximization, twice; pruning ] until few enough -> pieces

A text is taken to be made of pieces that are drawn one by one, each with its probability. EM finds
probabilities that make the words likely: count how often each piece is expected
(`train_unigram_lattice.expect`), then let that be its weight. The logarithm gives way to the digamma
function (variational Bayes), which makes rare pieces rarer; what is expected less than half a time is
dropped. Pruning keeps the part `shrinking_factor` of the pieces: those that nothing can stand for, then
those without which the likelihood loses most, if wherever they are used the second best way to cut their
own text stands instead. With `last_iterations` EM has the last word on the pieces that are left.

Sums are made in `lanes`: word n is added up in lane n modulo their number, then lane by lane. So the engine
can add lanes on different threads to the same numbers.

Source: sentencepiece 0.2.3, `unigram_model_trainer.cc`, with which `single` agrees to the last bit. Leaves
out: the seeds (`train_unigram_seed`), where words come from and the finished vocabulary (`…_own`,
`…_sentencepiece`, `…_huggingface`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from syllabary.errors import TrainingError
from syllabary.reference.train_unigram_lattice import (
    UNKNOWN,
    Keep,
    Model,
    Piece,
    double,
    expect,
    single,
    two_best,
    viterbi,
)
from syllabary.reference.train_unigram_seed import TEXTS, Ended, seeds

RARE = 0.5
STEP = 0.0001  # between the scores of characters that were dropped
OUTSIDE = "\u2585"  # stands for characters outside the alphabet
Words = Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class UnigramSettings:
    """How a model is learned.

    desired: learning ends where there are so many pieces, or fewer. longest: of a piece, in characters.
    branching: which seeds, and the order of equals (`train_unigram_seed`). settle: EM has the last word; else
    pruning has it, which drops at least what no word uses. unknown: unknown characters count for "none",
    for the "first" piece (sentencepiece), or for a piece of their "own", which is one of the pieces when
    these are counted (Hugging Face). all_grow: pruning as Hugging Face does it (`prune`). logarithms: the
    engine adds logarithms, as here, to the last bit. most_characters: `alphabet_of`, for words that come with
    all their characters. outside: the character that stands for those outside the alphabet. last_iterations:
    of EM at the end, which drop no piece (`settled`); before them pruning leaves `last_size`.
    """

    desired: int
    seed_size: int = 1_000_000
    longest: int = 16
    shrinking_factor: float = 0.75
    sub_iterations: int = 2
    lanes: int = 16
    single: bool = False
    branching: str = "ends"
    settle: bool = True
    unknown: str = "none"
    all_grow: bool = False
    logarithms: bool = False
    most_characters: int | None = None
    outside: str = OUTSIDE
    last_iterations: int = 0
    last_size: int = 0

    @property
    def keep(self) -> Keep:
        """How numbers are kept."""
        return single if self.single else double

    def size_of(self, model: Model) -> int:
        """How many pieces there are."""
        return len(model.pieces) + (self.unknown == "own")

    def unknown_of(self, model: Model) -> int | None:
        """The place where unknown characters are counted; a piece of their own is behind the others."""
        return {"first": 0, "own": len(model.pieces)}.get(self.unknown)


def digamma(x: float) -> float:
    """The derivative of the logarithm of the gamma function, for x > 0.

    >>> round(digamma(1.0), 8)
    -0.57721566
    """
    found = 0.0
    while x < 7:
        found -= 1 / x
        x += 1
    x -= 0.5
    y = 1 / x
    y2 = y * y
    y4 = y2 * y2
    more = math.log(x) + (1 / 24) * y2 - (7 / 960) * y4 + (31 / 8064) * y4 * y2 - (127 / 30720) * y4 * y4
    return found + more


def initial(
    words: Sequence[tuple[Ended, int]],
    settings: UnigramSettings,
    valid: Callable[[str], bool] = lambda text: True,
) -> Model:
    """The characters, the most frequent first, and the seeds, each as likely as its count times length."""
    counts = Counter[str]()
    for (word, _after), count in words:
        for character in word:
            counts[character] += count
    del counts[settings.outside]
    found = by_count(counts, settings.branching)
    size = settings.seed_size if settings.branching != TEXTS else max(settings.seed_size - len(found), 1)
    found += seeds(words, settings.branching, settings.longest, size, valid, settings.outside)
    if not found:
        raise TrainingError("no character is left to learn from")
    keep = settings.keep
    weights = [keep(weight) for _text, weight in found]
    total = math.log(_total(weights))
    scores = [keep(math.log(weight) - total) for weight in weights]
    return Model([(text, score) for (text, _weight), score in zip(found, scores, strict=True)], keep)


def by_count(counts: Mapping[str, int], branching: str) -> list[tuple[str, int]]:
    """Characters with their counts, the most frequent first, of equals the smaller; with "texts" the larger.

    >>> by_count({"a": 1, "b": 1, "c": 2}, "texts")
    [('c', 2), ('b', 1), ('a', 1)]
    """
    sign = -1 if branching == TEXTS else 1
    return sorted(counts.items(), key=lambda item: (-item[1], sign * ord(item[0])))


def in_order(words: Sequence[tuple[Ended, int]]) -> list[tuple[str, int]]:
    """The words as EM takes them: the most frequent first, then the smaller text.

    >>> in_order([(("a", b"\\0"), 1), (("b", b"a"), 1), (("b", b"\\0"), 1)])
    [('b', 2), ('a', 1)]
    """
    counts = Counter[str]()
    for (word, _after), count in words:
        counts[word] += count
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def learn(
    words: Sequence[tuple[Ended, int]],
    settings: UnigramSettings,
    valid: Callable[[str], bool] = lambda text: True,
    ordered: Words | None = None,
) -> Iterator[Model]:
    """The model after each step; the last one is the result.

    ordered: the words as EM takes them, if not `in_order`.

    >>> words = [(("abab", b"\\0"), 5), (("ab", b"\\0"), 3), (("cab", b"\\0"), 4)]
    >>> *_before, last = learn(words, UnigramSettings(desired=3))
    >>> [(text, round(score, 3)) for text, score in last.pieces]
    [('ab', -0.622), ('abab', -1.94), ('cab', -1.384)]
    """
    model = initial(words, settings, valid)
    yield model
    if ordered is None:
        ordered = in_order(words)
    while True:
        before = len(model.pieces)
        for _time in range(settings.sub_iterations):
            model = maximize(model, expectation(model, ordered, settings))
            yield model
        if settings.settle and settings.size_of(model) <= settings.desired:
            break
        model = prune(model, ordered, settings)
        yield model
        if not settings.settle and settings.size_of(model) <= settings.desired:
            return
        if len(model.pieces) == before:
            raise TrainingError(
                f"{before} pieces are left, {settings.desired} are wanted, and a round of pruning drops "
                "none: ask for more tokens, or for a smaller shrinking_factor"
            )
    if settings.last_iterations and settings.size_of(model) > settings.last_size:
        model = prune(model, ordered, replace(settings, desired=settings.last_size, shrinking_factor=0.0))
        yield model
    for _time in range(settings.last_iterations):
        model = settled(model, expectation(model, ordered, settings))
        yield model


def expectation(model: Model, words: Words, settings: UnigramSettings) -> list[float]:
    """How often each piece is expected, and behind them the unknown one, if it is a piece of its own."""
    unknown = settings.unknown_of(model)
    return _in_lanes(
        model, words, settings, lambda word, count, sums: expect(model, word, count, sums, unknown)
    )


def _in_lanes(
    model: Model,
    words: Words,
    settings: UnigramSettings,
    take: Callable[[str, float, list[float]], object],
) -> list[float]:
    keep = settings.keep
    lanes = [[0.0] * settings.size_of(model) for _lane in range(settings.lanes)]
    for place, (word, count) in enumerate(words):
        take(word, keep(count), lanes[place % settings.lanes])
    sums, *others = lanes
    for lane in others:
        sums = [keep(left + right) for left, right in zip(sums, lane, strict=True)]
    return sums


def maximize(model: Model, expected: Sequence[float]) -> Model:
    """The pieces that are expected, each as likely as often it is; the unknown one is none of them.

    `TrainingError` if there are none.
    """
    kept = [(text, times) for (text, _), times in zip(model.pieces, expected, strict=False) if times >= RARE]
    if not kept:
        raise TrainingError("the text is too small: no piece is expected in it")
    total = 0.0
    for _text, times in kept:
        total = model.keep(total + times)
    less = model.keep(digamma(total))
    return Model([(text, model.keep(digamma(times) - less)) for text, times in kept], model.keep)


def settled(model: Model, expected: Sequence[float]) -> Model:
    """All pieces, each as likely as often it is expected, or half a time: probabilities that sum to one.

    >>> model = settled(Model([("a", -1.0), ("b", -2.0), ("c", -3.0)]), [6.0, 1.5, 0.1])
    >>> [(text, round(math.exp(score), 6)) for text, score in model.pieces]
    [('a', 0.75), ('b', 0.1875), ('c', 0.0625)]
    """
    times = [max(number, RARE) for number, _piece in zip(expected, model.pieces, strict=False)]
    total = 0.0
    for number in times:
        total = model.keep(total + number)
    less = model.keep(math.log(total))
    scores = [model.keep(math.log(number) - less) for number in times]
    return Model([(text, score) for (text, _), score in zip(model.pieces, scores, strict=True)], model.keep)


def prune(model: Model, words: Words, settings: UnigramSettings) -> Model:
    """The model with its most useful pieces: those that nothing stands for, by id, then by loss.

    With `all_grow` a piece that nothing stands for stays, used or not, and so does one that is used though
    its text is better cut; if these are more than may stay, all stay. And a piece that is gone is taken to
    become not as many tokens as stand for it, but as many as there are pieces.
    """
    unknown = settings.unknown_of(model)

    def of(piece: int) -> int | None:
        return unknown if piece == UNKNOWN else piece

    def take(word: str, count: float, sums: list[float]) -> None:
        for node in viterbi(model, word)[0]:
            piece = of(node.piece)
            if piece is not None:
                sums[piece] = model.keep(sums[piece] + count)

    size, used = settings.size_of(model), _in_lanes(model, words, settings, take)
    total = model.keep(_total(used))
    kept = list[Piece]()
    losses = list[tuple[float, int]]()
    for token_id, (text, _score) in enumerate(model.pieces):
        if used[token_id] == 0 and not settings.all_grow:
            continue
        ways = two_best(model, text)
        if len(ways) == 1 or (settings.all_grow and used[token_id] > 0 and len(ways[0]) > 1):
            kept.append(model.pieces[token_id])
        elif len(ways[0]) == 1 and used[token_id] > 0:
            others = [of(piece) for piece in ways[1]]
            counts = [None if piece is None else used[piece] for piece in others]
            tokens = size if settings.all_grow else len(counts)
            losses.append((-_loss(used[token_id], total, counts, tokens, model), token_id))
    held = size - len(model.pieces) + len(kept)
    room = max(settings.desired, int(model.keep(settings.shrinking_factor * size))) - held
    rest = [model.pieces[token_id] for _loss, token_id in sorted(losses)]
    if room >= 0 or not settings.all_grow:
        rest = rest[: max(room, 0)]
    return Model(kept + rest, model.keep)


def with_alphabet(pieces: Sequence[Piece], alphabet: Iterable[str], keep: Keep) -> dict[str, float]:
    """Every character of the alphabet with its score.

    One that was dropped on the way has the worst score, each by a little better than the one before.

    >>> with_alphabet([("ab", -1.0), ("b", -2.0)], "abc", double)
    {'a': -2.0, 'b': -2.0, 'c': -1.9999}
    """
    scores, found = dict(pieces), dict[str, float]()
    worst, more = min(scores.values(), default=0.0), 0.0
    for character in alphabet:
        if character in scores:
            found[character] = scores[character]
        else:
            found[character] = keep(worst + more)
            more = keep(more + keep(STEP))
    return found


def _total(numbers: Sequence[float]) -> float:
    total = 0.0
    for number in numbers:  # one after the other: newer releases of Python make `sum` more exact than that
        total += number
    return total


def _loss(count: float, total: float, others: Sequence[float | None], tokens: int, model: Model) -> float:
    """How much the logarithm of the likelihood, by token, loses when each of `count` tokens becomes `tokens`.

    others: how often each of those that stand for it is used; None is the unknown one, where nothing counts
    it, and is worth its score.
    """
    keep = model.keep
    with_it = keep(math.log(count) - keep(math.log(total)))
    more = keep(math.log(keep(total + keep(count * (tokens - 1)))))
    without = 0.0
    for other in others:
        score = model.unknown if other is None else math.log(keep(other + count)) - more
        without = keep(without + score)
    return keep(keep(count / total) * keep(with_it - without))
