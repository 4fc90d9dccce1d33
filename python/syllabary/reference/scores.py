"""Merging by score, as sentencepiece does: neighbours whose joined text is the piece of the highest score.

Adds the merging of one normalized text, and the pieces that are cut again because they are unused. Leaves
out: what becomes of text that is no piece (`pipeline`).
Source: sentencepiece 0.2.3, `src/bpe_model.cc` (`SampleEncode`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush

from syllabary.reference.dropout import Coins

DEEPEST = 100  # so often is an unused piece cut again; what is left then stays as it is
# What an unused piece was last considered to be made of.
Made = dict[bytes, tuple[bytes, bytes]]


def order(scores: Iterable[float]) -> list[int]:
    """Integers that order as the scores do in 32 bits, the highest first; -0.0 is below 0.0.

    >>> order([-0.0, 0.0, -1.5, 2.0])
    [1, 0, 1069547521, -1073741824]
    """
    bits = memoryview(array("f", scores)).cast("B").cast("i")
    return [-number if number >= 0 else (number & 0x7FFFFFFF) + 1 for number in bits]


class Scores:
    """The pieces that merging may make.

    ids: their bytes -> their id. ranks: their bytes -> a number, the lower the sooner. unused: bytes of those
    that are cut again.
    """

    def __init__(
        self, tokens: Mapping[int, bytes], scores: Mapping[int, float], unused: Iterable[int]
    ) -> None:
        """From a specification's fields."""
        self.ids = {tokens[token_id]: token_id for token_id in scores}
        ranks = order(scores.values())
        self.ranks = {tokens[token_id]: rank for token_id, rank in zip(scores, ranks, strict=True)}
        self.unused = {tokens[token_id] for token_id in unused}

    def places(
        self, symbols: Sequence[bytes | None], made: Made, coins: Coins | None = None
    ) -> Iterator[tuple[int, int]]:
        """Each merge as `(left, right)`: places in `symbols` of the two that became one, which is at `left`.

        symbols: characters; `None` is one that nothing merges with. made: filled on the way.
        coins: one is drawn for each candidate when its turn comes; if it falls, these two never merge. Tried
            again after each merge, as in `dropout.places`, which is for words, they all would in the end: a
            text is one sequence here, in which something merges up to the end.

        >>> scores = Scores({0: b"ab", 1: b"abc"}, {0: -1.0, 1: -2.0}, ())
        >>> list(scores.places([b"a", b"b", b"c", None, b"a", b"b"], {}))
        [(0, 1), (4, 5), (0, 2)]
        """
        texts = [symbol or b"" for symbol in symbols]
        before = list(range(-1, len(texts) - 1))
        after = [*range(1, len(texts)), -1][: len(texts)]
        agenda: list[tuple[int, int, int, int]] = []  # rank, left, right, length

        def consider(left: int, right: int) -> None:
            if left < 0 or right < 0 or not texts[left] or not texts[right]:
                return
            joined = texts[left] + texts[right]
            if joined in self.ranks:
                heappush(agenda, (self.ranks[joined], left, right, len(joined)))
                if joined in self.unused:
                    made[joined] = texts[left], texts[right]

        for left in range(len(texts) - 1):
            consider(left, left + 1)
        while agenda:
            _rank, left, right, length = heappop(agenda)
            if not texts[left] or not texts[right] or len(texts[left]) + len(texts[right]) != length:
                continue
            if coins is not None and coins.falls():
                continue
            texts[left] += texts[right]
            texts[right] = b""
            after[left] = after[right]
            if after[left] >= 0:
                before[after[left]] = left
            yield left, right
            consider(before[left], left)
            consider(left, after[left])

    def cut_again(self, text: bytes, made: Made, depth: int = 0) -> Iterator[tuple[bytes, int | None]]:
        """A symbol that merging ended with -> itself and its id, or for an unused piece what it is cut into.

        The id is `None` for what is no piece, and for an unused piece that no neighbours were ever joined to.

        >>> scores = Scores({0: b"ab", 1: b"a"}, {0: -1.0, 1: -2.0}, [0])
        >>> list(scores.cut_again(b"ab", {b"ab": (b"a", b"b")}))
        [(b'a', 1), (b'b', None)]
        """
        if depth > DEEPEST or text not in self.unused:
            yield text, self.ids.get(text)
        elif text in made:
            for part in made[text]:
                yield from self.cut_again(part, made, depth + 1)
        else:
            yield text, None
