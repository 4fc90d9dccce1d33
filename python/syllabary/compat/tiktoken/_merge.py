"""Merging the bytes of one piece by rank, for bytes that need not be text: the engine takes text alone.

Adds `byte_pair_encode`: of all neighbours whose joined bytes are a token, those of the lowest rank merge
first, the leftmost of equal ones; O(n log n). Leaves out: splits and special tokens.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from syllabary.errors import UnknownSymbolError

GONE = -1


def byte_pair_encode(piece: bytes, ranks: Mapping[bytes, int]) -> list[int]:
    """The ranks of a piece's tokens, merges alone: a piece that is a token need not become it.

    Raises `UnknownSymbolError` for a byte that is no token and merges with none.

    >>> byte_pair_encode(b"aab", {b"a": 0, b"b": 1, b"ab": 2, b"aab": 3, b"aa": 4})
    [3]
    """
    size = len(piece)
    before, after = list(range(-1, size)), list(range(1, size + 2))  # of the part that starts here
    queue: list[tuple[int, int, int]] = []  # rank, start and end of two neighbours

    def add(start: int) -> None:
        if start >= 0 and after[start] < size:
            end = after[after[start]]
            rank = ranks.get(piece[start:end])
            if rank is not None:
                heapq.heappush(queue, (rank, start, end))

    for start in range(size - 1):
        add(start)
    while queue:
        _rank, start, end = heapq.heappop(queue)
        middle = after[start]
        if middle == GONE or middle >= size or after[middle] != end:
            continue  # one of the two has merged since
        after[middle] = GONE
        after[start] = end
        if end < size:
            before[end] = start
        add(before[start])
        add(start)
    tokens: list[int] = []
    start = 0
    while start < size:
        tokens.append(_rank_of(piece[start : after[start]], ranks))
        start = after[start]
    return tokens


def _rank_of(part: bytes, ranks: Mapping[bytes, int]) -> int:
    if part not in ranks:
        raise UnknownSymbolError(
            f"the byte 0x{part[0]:02X} is no token of this encoding: mergeable_ranks needs all 256 bytes"
        )
    return ranks[part]
