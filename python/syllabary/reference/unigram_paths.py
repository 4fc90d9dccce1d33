"""Unigram beyond the best path: the n best of a lattice, and paths drawn at random.

The n best come from a search from the end of the piece to its beginning (A*), in which what is left to do is
known exactly: Viterbi's scores. A path is drawn by filtering forward and sampling backward: first the sum
of the weights of all ways to each place, then, from the end, each last token with its share of that sum.
The weight of a path is `exp(alpha * score)`: 0 makes all ways equally likely, the larger `alpha` the more
often it is the best (Kudo 2018, "subword regularization"). How much chance there is in it, in nats, is the
entropy, which the same walk forward adds up.

Adds `nbest`, `draw`, `chosen` and `entropy`. Leaves out: the lattice (`unigram`).
Source: sentencepiece 0.2.3, `src/unigram_model.cc` (`NBestEncode`, `Lattice::NBest`, `Lattice::Sample`) and
`src/sentencepiece_processor.cc` (`SampleEncode`), but for paths of one score, which come in the order they
were found here, and its random numbers, which cannot be repeated. The entropy: `Lattice::CalculateEntropy` of
0.2.1, in 64 bits and not in 32; 0.2.3 has none any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from heapq import heapify, heappop, heappush, nsmallest
from math import exp, fsum, log1p

from syllabary.reference.dropout import Coins
from syllabary.reference.unigram import Edge, Unigram, path_to

STEEPEST = 1e30  # an `alpha` above weighs as this one: the best way alone counts, and products stay finite
MOST = 10_000  # hypotheses open at a time
FEWEST = 512  # of these are kept when there are more
Open = tuple[float, int, int, float, "Path | None"]  # -f, number, place, g, the path behind it
Path = tuple[Edge, "Path | None"]


def scored(model: Unigram, edge: Edge) -> float:
    """The score of an edge, as the search and the draw keep it.

    sentencepiece counts the length of a user-defined symbol in characters here, and not in bytes.
    """
    return model.round(model.search_scores.get(edge.id, edge.score) if edge.id is not None else edge.score)


def lattice(model: Unigram, piece: str) -> list[list[Edge]]:
    """The edges of the lattice by the place where they end."""
    ending: list[list[Edge]] = [[] for _ in range(len(piece) + 1)]
    for start in range(len(piece)):
        for edge in model.edges(piece, start):
            ending[edge.end].append(edge)
    return ending


def nbest(model: Unigram, piece: str, count: int) -> list[tuple[list[Edge], float]]:
    """The `count` best ways to cut a piece, the best first, with their scores.

    The one best way is Viterbi's; the search may find another one that has its score but for rounding.

    >>> from syllabary.spec import SplitSpec, TokenizerSpec
    >>> fields = ("char", SplitSpec(None), {0: b"a", 1: b"b", 2: b"ab"}, {}, None)
    >>> scores = {0: -2.0, 1: -2.0, 2: -3.0}
    >>> model = Unigram(TokenizerSpec(*fields, model="unigram", scores=scores))
    >>> [([edge.id for edge in path], score) for path, score in nbest(model, "ab", 5)]
    [([2], -3.0), ([0, 1], -4.0)]
    """
    if count == 1:
        path = path_to(model.best(piece)[0], len(piece))
        return [(path, total(model, path))]
    ending = lattice(model, piece)
    best = [0.0] * (len(piece) + 1)
    for place in range(1, len(piece) + 1):
        best[place] = max(model.round(best[edge.start] + scored(model, edge)) for edge in ending[place])
    found: list[tuple[list[Edge], float]] = []
    number = 0
    agenda: list[Open] = [(-best[-1], 0, len(piece), 0.0, None)]
    while agenda and len(found) < count:
        minus, _number, place, so_far, behind = heappop(agenda)
        if place == 0:
            found.append((unrolled(behind), -minus))
            continue
        for edge in ending[place]:
            number += 1
            score = scored(model, edge)
            to_here = model.round(best[edge.start] + score)
            rest = model.round(score + so_far)
            estimate = rest if edge.start == 0 else model.round(to_here + so_far)
            heappush(agenda, (-estimate, number, edge.start, rest, (edge, behind)))
        if len(agenda) >= MOST:
            agenda = nsmallest(min(FEWEST, 10 * count), agenda)
            heapify(agenda)
    return found


def total(model: Unigram, path: Sequence[Edge]) -> float:
    """The score of a path, added up as in the search."""
    found = 0.0
    for edge in reversed(path):
        found = model.round(scored(model, edge) + found)
    return found


def unrolled(path: Path | None) -> list[Edge]:
    """The edges of a path, from left to right."""
    edges: list[Edge] = []
    while path is not None:
        edges.append(path[0])
        path = path[1]
    return edges


def added(one: float, other: float) -> float:
    """The logarithm of the sum of two exponentials.

    >>> round(added(0.0, 0.0), 4), added(-1000.0, 0.0)
    (0.6931, 0.0)
    """
    low, high = (one, other) if one < other else (other, one)
    return high + log1p(exp(low - high))


def draw(model: Unigram, piece: str, alpha: float, coins: Coins) -> list[Edge]:
    """A way to cut a piece, drawn with a probability that goes by `exp(alpha * score)`; one coin a token."""
    alpha = min(alpha, STEEPEST)
    total = [0.0] * (len(piece) + 1)
    ending: list[list[tuple[Edge, float]]] = [[] for _ in range(len(piece) + 1)]
    for start in range(len(piece)):
        for edge in model.edges(piece, start):
            weight = total[start] + alpha * scored(model, edge)
            before = ending[edge.end]
            total[edge.end] = added(total[edge.end], weight) if before else weight
            before.append((edge, weight))
    path: list[Edge] = []
    place = len(piece)
    while place:
        drawn, summed = coins.number(), 0.0
        chosen = ending[place][0][0]
        for edge, weight in reversed(ending[place]):
            summed += exp(weight - total[place])
            chosen = edge
            if drawn < summed:
                break
        path.append(chosen)
        place = chosen.start
    return path[::-1]


def chosen(scores: Sequence[float], alpha: float, coins: Coins) -> int:
    """Which of some ways, drawn by their scores with a probability by `exp(alpha * score)`; one coin.

    >>> chosen([-3.0, -4.0, -9.0], 1000.0, Coins(0.0, seed=5)), chosen([-4.0], 0.0, Coins(0.0, seed=5))
    (0, 0)
    """
    best = max(scores)
    weights = [exp(alpha * (score - best)) for score in scores]
    drawn, summed = coins.number() * fsum(weights), 0.0
    for place, weight in enumerate(weights):
        summed += weight
        if drawn < summed:
            return place
    return scores.index(best)  # but for rounding, the coin is below the sum


def entropy(model: Unigram, piece: str, alpha: float) -> float:
    """The entropy, in nats, of the ways to cut a piece, each with a probability by `exp(alpha * score)`.

    A way to a place is a way to where its last token begins, and that token: its logarithm is a sum.

    >>> from syllabary.spec import SplitSpec, TokenizerSpec
    >>> fields = ("char", SplitSpec(None), {0: b"a", 1: b"aa"}, {}, None)
    >>> model = Unigram(TokenizerSpec(*fields, model="unigram", scores={0: -2.0, 1: -3.0}))
    >>> round(exp(entropy(model, "aaa", 0.0)), 6), entropy(model, "a", 1.0)
    (3.0, 0.0)
    """
    alpha = min(alpha, STEEPEST)
    sums, found = [0.0] * (len(piece) + 1), [0.0] * (len(piece) + 1)
    for place, ending in enumerate(lattice(model, piece)):
        weights = [sums[edge.start] + alpha * scored(model, edge) for edge in ending]
        if weights:
            sums[place] = reduce(added, weights)
        for edge, weight in zip(ending, weights, strict=True):
            share = weight - sums[place]
            found[place] += exp(share) * (found[edge.start] - share)
    return max(found[-1], 0.0)
