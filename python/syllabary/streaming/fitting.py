"""The longest beginning, or end, of a text that has at most so many tokens.

    count(text[:k]) <= limit    for the largest k of all

Counting does not grow with the text: one more character may give fewer tokens. So the places near the limit
are tried one by one, those between the two cuts (`reference.cuts`) between which the limit is passed: in most
texts a word. Where more than `LONGEST` characters stand there, they are halved instead; then one character
more would be too many, but a longer text might have fewer tokens again. Adds `fitting`. Leaves out: good
places (`chunking`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from typing import Literal, NamedTuple

from syllabary.errors import UnknownSymbolError
from syllabary.reference.cuts import Cuts
from syllabary.reference.stream import Settled, Stream
from syllabary.streaming.clusters import cluster_ends
from syllabary.streaming.incremental import FIRST, Count, Onwards

LONGEST = 1024  # characters
NEAR = 64
Side = Literal["left", "right"]
Unit = Literal["char", "grapheme"]


class Edge(NamedTuple):
    """A cut: its place, what stands before it (`Cut.guard`), and the tokens between it and the end kept.

    score: of the way through what stands before, where that is kept.
    """

    at: int
    guard: str
    tokens: int
    score: float = 0.0


def fitting(
    cuts: Cuts, counts: tuple[Count, Onwards[int]], text: str, limit: int, side: Side, unit: Unit
) -> str:
    """The longest part of `text` with at most `limit` tokens; what is too much is cut away on `side`.

    counts: what counts the tokens of a text, and those of a part of one.
    """
    count, counting = counts
    if side == "right":
        edge, passed = passed_from_start(cuts, counting, text, limit)
        end = 0
    else:
        passed, edge = passed_from_end(cuts, counting, text, limit)
        end = len(text)

    def kept(place: int) -> str:
        return text[:place] if side == "right" else text[place:]

    whole = cache(lambda: count(text))

    def fits(place: int) -> bool:
        try:
            if side == "right":
                tokens, _score = counting(Settled(edge.guard, text[edge.at : place]), edge.at, edge.score)
            else:
                tokens = count(text[place : edge.at])
            # The first is quick, and the second what was promised.
            return tokens + edge.tokens <= limit and count(kept(place)) <= limit
        except UnknownSymbolError:
            # A character may be known at the end of a word alone: what is kept is unknown then, the text not.
            whole()
            return False

    places = list(between(text, passed, edge.at, unit))
    if len(places) > LONGEST:
        places = places[halved(places, fits) :]
    beyond = between(text, edge.at, end, unit)
    return kept(next((place for place in chain(places, beyond) if fits(place)), end))


def between(text: str, start: int, end: int, unit: Unit) -> Iterator[int]:
    """The places from `start` on, up or down, and before `end`, at which text may be cut."""
    step = 1 if start < end else -1
    for at in range(start, end, step * LONGEST):
        places = range(at, min(at + LONGEST, end) if step > 0 else max(at - LONGEST, end), step)
        if unit == "char":
            yield from places
        else:
            yield from cluster_ends(text, min(places), max(places))[::step]


def halved(places: list[int], fits: Callable[[int], bool]) -> int:
    """The index of a place that fits, while the one before it does not; the number of places if none does."""
    low, high = 0, len(places)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(places[middle]) else (middle + 1, high)
    return low


def passed_from_start(cuts: Cuts, count: Onwards[int], text: str, limit: int) -> tuple[Edge, int]:
    """The last cut up to which there are at most `limit` tokens, and a place up to which there are more."""
    stream, low, at = Stream(cuts), Edge(0, "", 0), 0
    before = low
    while at < len(text):
        step = FIRST * (limit - low.tokens) + NEAR
        settled = stream.push(text[at : at + step])
        at += step
        if settled is not None:
            tokens, score = count(settled, low.at, low.score)
            if low.tokens + tokens > limit:
                break
            before, low = low, Edge(stream.start, stream.guard, low.tokens + tokens, score)
    high = stream.start if stream.start > low.at else len(text)
    while high - low.at > NEAR:
        middle = (low.at + high) // 2
        cut = cuts.last(text[low.at : middle])
        if cut is None:
            break
        tokens, score = count(Settled(low.guard, text[low.at : low.at + cut.at]), low.at, low.score)
        if low.tokens + tokens > limit:
            high = low.at + cut.at
        else:
            before, low = low, Edge(low.at + cut.at, cut.guard, low.tokens + tokens, score)
    return (before if cuts.rewrites else low), high


def passed_from_end(cuts: Cuts, count: Onwards[int], text: str, limit: int) -> tuple[int, Edge]:
    """A place behind which there are more than `limit` tokens, and a cut behind which there are not."""
    size = FIRST * limit + NEAR
    low = 0
    while size < len(text):
        found = cuts.between(text, len(text) - size, min(len(text), len(text) - size + LONGEST))
        if found and count(Settled(found[0].guard, text[found[0].at :]), found[0].at, 0.0)[0] > limit:
            low = found[0].at
            break
        size *= 2
    high = after = Edge(len(text), "", 0)
    while high.at - low > NEAR:
        middle = (low + high.at) // 2
        cut = next(iter(cuts.between(text, middle, min(high.at, middle + LONGEST))), None)
        if cut is None:
            break
        tokens = high.tokens + count(Settled(cut.guard, text[cut.at : high.at]), cut.at, 0.0)[0]
        if tokens > limit:
            low = cut.at
        else:
            after, high = high, Edge(cut.at, cut.guard, tokens)
    return low, after if cuts.rewrites else high
