"""All ways to cut one word into pieces: what they are worth together, the best one, and the two best.

Adds `Model` (pieces with scores), `nodes` (the pieces at each place of a word), `expect` (forward and backward
sums), `viterbi` and `two_best`. A way is worth the product of the probabilities of its pieces; scores are their
logarithms. A place where no single character is a piece has the unknown piece, ten below the worst score.

Numbers are rounded by `keep` after each step. Without rounding they have 64 bits; `single` makes them what
sentencepiece computes with, and each sum has its order, so that its scores come out to the last bit.
Source: sentencepiece 0.2.3, `unigram_model.cc` (`Lattice`). Leaves out: how pieces are learned
(`train_unigram`).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Piece = tuple[str, float]  # text, score
Keep = Callable[[float], float]
FAR = 50.0  # where logarithms differ by more, the smaller one adds nothing
PENALTY = 10.0
UNKNOWN = -1
_FLOAT = struct.Struct("f")


def single(number: float) -> float:
    """The nearest number of 32 bits.

    >>> single(0.1)
    0.10000000149011612
    """
    return float(_FLOAT.unpack(_FLOAT.pack(number))[0])


def double(number: float) -> float:
    """The number itself."""
    return number


@dataclass(frozen=True, slots=True)
class Node:
    """A piece between two places of a word."""

    begin: int
    end: int
    piece: int
    score: float


@dataclass(slots=True)
class Model:
    """Pieces with their scores, by id."""

    pieces: Sequence[Piece]
    keep: Keep = double
    ids: dict[str, int] = field(init=False)
    longest: int = field(init=False)
    unknown: float = field(init=False)

    def __post_init__(self) -> None:
        self.ids = {text: token_id for token_id, (text, _score) in enumerate(self.pieces)}
        self.longest = max(map(len, self.ids))
        self.unknown = self.keep(min(score for _text, score in self.pieces) - PENALTY)

    def nodes(self, word: str) -> list[Node]:
        """The pieces at each place, the shortest first; the unknown one behind them, where it is needed.

        >>> model = Model([("a", -1.0), ("ab", -2.0)])
        >>> [(node.begin, node.end, node.piece) for node in model.nodes("ab")]
        [(0, 1, 0), (0, 2, 1), (1, 2, -1)]
        """
        found = list[Node]()
        for begin in range(len(word)):
            alone = False
            for end in range(begin + 1, min(len(word), begin + self.longest) + 1):
                piece = self.ids.get(word[begin:end])
                if piece is not None:
                    found.append(Node(begin, end, piece, self.pieces[piece][1]))
                    alone = alone or end == begin + 1
            if not alone:
                found.append(Node(begin, begin + 1, UNKNOWN, self.unknown))
        return found


def add(left: float, right: float, keep: Keep) -> float:
    """The logarithm of a sum, of logarithms."""
    low, high = min(left, right), max(left, right)
    if high > keep(low + FAR):
        return high
    return keep(high + math.log(math.exp(keep(low - high)) + 1.0))


def expect(model: Model, word: str, count: float, expected: list[float], unknown: int | None = None) -> float:
    """Adds to `expected` how often each piece is used in `count` words; the logarithm of the word's probability.

    A piece is used as often as the ways through it are likely. unknown: the piece for which the unknown one
    counts, if any.

    >>> expected = [0.0, 0.0, 0.0]
    >>> model = Model([("a", math.log(0.5)), ("b", math.log(0.4)), ("ab", math.log(0.1))])
    >>> round(math.exp(expect(model, "ab", 3.0, expected)), 6), [round(number, 6) for number in expected]
    (0.3, [2.0, 2.0, 1.0])
    """
    keep, nodes, size = model.keep, model.nodes(word), len(word)
    forward: list[float | None] = [0.0] + [None] * size
    backward: list[float | None] = [None] * size + [0.0]
    for node in nodes:
        total = keep(node.score + _known(forward[node.begin]))
        before = forward[node.end]
        forward[node.end] = total if before is None else add(before, total, keep)
    for begin in range(size - 1, -1, -1):
        for node in (node for node in nodes if node.begin == begin):
            total = keep(node.score + _known(backward[node.end]))
            before = backward[begin]
            backward[begin] = total if before is None else add(before, total, keep)
    whole = _known(forward[size])
    for node in nodes:
        piece = unknown if node.piece == UNKNOWN else node.piece
        if piece is not None:
            through = keep(keep(_known(forward[node.begin]) + node.score) + _known(backward[node.end]))
            expected[piece] = keep(expected[piece] + count * math.exp(keep(through - whole)))
    return whole


def _known(number: float | None) -> float:
    assert number is not None  # every place is reached: each has a node of one character
    return number


def reach(model: Model, nodes: Sequence[Node], size: int) -> tuple[list[float], list[Node | None]]:
    """The best score to each place and the last node on the way; of equals the node that begins first."""
    best: list[float | None] = [0.0] + [None] * size
    last: list[Node | None] = [None] * (size + 1)
    for node in nodes:
        score = model.keep(_known(best[node.begin]) + node.score)
        before = best[node.end]
        if before is None or score > before:
            best[node.end], last[node.end] = score, node
    return [_known(score) for score in best], last


def viterbi(model: Model, word: str) -> tuple[list[Node], float]:
    """The best way and its score.

    >>> model = Model([("a", -1.0), ("b", -1.5), ("ab", -2.0)])
    >>> way, score = viterbi(model, "aba")
    >>> [word for node in way for word in [model.pieces[node.piece][0]]], score
    (['ab', 'a'], -3.0)
    """
    best, last = reach(model, model.nodes(word), len(word))
    way = list[Node]()
    place = len(word)
    while place > 0:
        node = last[place]
        assert node is not None
        way.append(node)
        place = node.begin
    return way[::-1], best[len(word)]


@dataclass(frozen=True, slots=True)
class Way:
    """The end of a way: `whole` is its score with the best beginning, `own` without."""

    whole: float
    own: float
    place: int
    node: Node | None = None
    rest: Way | None = None
    complete: bool = False


def two_best(model: Model, word: str) -> list[list[int]]:
    """The pieces of the best way and, if there is another, of the second best: a search from the end (A*).

    Of equals the heap decides, which is the one of C++ (`std::priority_queue`).

    >>> two_best(Model([("a", -1.0), ("b", -1.5), ("ab", -2.0)]), "ab")
    [[2], [0, 1]]
    """
    keep, nodes, size = model.keep, model.nodes(word), len(word)
    best, _last = reach(model, nodes, size)
    heap = [Way(best[size], 0.0, size)]
    found = list[list[int]]()
    while heap and len(found) < 2:
        way = _pop(heap)
        if way.complete:
            found.append(_pieces(way.rest))
        elif way.place == 0:
            _push(heap, Way(way.own, way.own, 0, rest=way, complete=True))
        else:
            for node in (node for node in nodes if node.end == way.place):
                before = keep(best[node.begin] + node.score)
                _push(
                    heap,
                    Way(keep(before + way.own), keep(node.score + way.own), node.begin, node, way),
                )
    return found


def _pieces(way: Way | None) -> list[int]:
    found = list[int]()
    while way is not None and way.node is not None:
        found.append(way.node.piece)
        way = way.rest
    return found


def _push(heap: list[Way], way: Way) -> None:
    heap.append(way)
    _rise(heap, len(heap) - 1, way)


def _rise(heap: list[Way], hole: int, way: Way) -> None:
    while hole > 0 and heap[(hole - 1) // 2].whole < way.whole:
        heap[hole] = heap[(hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[hole] = way


def _pop(heap: list[Way]) -> Way:
    """The best; the hole goes down to a leaf, of equal children on the right, and the last entry rises there."""
    last = heap.pop()
    if not heap:
        return last
    top, hole, size = heap[0], 0, len(heap)
    while 2 * hole + 2 < size:
        child = 2 * hole + 2
        if heap[child].whole < heap[child - 1].whole:
            child -= 1
        heap[hole] = heap[child]
        hole = child
    if 2 * hole + 1 < size:
        heap[hole] = heap[2 * hole + 1]
        hole = 2 * hole + 1
    _rise(heap, hole, last)
    return top
