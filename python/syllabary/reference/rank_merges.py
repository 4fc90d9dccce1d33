r"""The merge list that does what rank order does.

Rank order: any two neighbours whose joined bytes are a token merge, the lowest id first, the leftmost first.

Why it does the same. Take a token T and run rank order on its bytes alone; if that ever leaves two parts
(l, r), record T = l + r. Now let l' and r' be neighbours, in any text, whose bytes join to T. No merge has
crossed their outer edges, so all that happened between these edges was chosen there as it would have been
chosen without the rest: lowest id first, leftmost first. So l' r' is a state of T's own run, and the only one
with two parts: l' = l and r' = r. Each pair that rank order can meet is therefore in the list, with the
rank of its result, and the list holds no other. The two rules do not differ (where all symbols are single
bytes and no two tokens have the same bytes, which the formats check).

A token whose own run never leaves two parts cannot be reached by merges: it has no merge, and appears only
as a whole piece (`whole_pieces`, Hugging Face's `ignore_merges`).

Adds `recover_merges`. Leaves out: files of ranks (`formats.ranks`).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping

Merge = tuple[int, int, int]
GONE = -1


def recover_merges(tokens: Mapping[int, bytes]) -> tuple[Merge, ...]:
    """id -> bytes, in rank order -> `(left id, right id, id)` of each token that merges can reach, by id.

    >>> recover_merges({0: b"a", 1: b"b", 2: b"ab", 3: b"aba", 4: b"bbb"})
    ((0, 1, 2), (2, 0, 3))
    """
    ids = {token: token_id for token_id, token in tokens.items()}
    merges: list[Merge] = []
    for token_id in sorted(tokens):
        parts = two_parts(tokens[token_id], ids)
        if parts is not None:
            merges.append((ids[parts[0]], ids[parts[1]], token_id))
    return tuple(merges)


def two_parts(token: bytes, ids: Mapping[bytes, int]) -> tuple[bytes, bytes] | None:
    """The last two parts of a token under rank order, or `None` if its own merges do not lead to two.

    >>> two_parts(b"aba", {b"a": 0, b"b": 1, b"ab": 2, b"ba": 3, b"aba": 4})
    (b'ab', b'a')
    """
    size = len(token)
    if size < 2 or any(token[at : at + 1] not in ids for at in range(size)):
        return None
    if size == 2:
        return token[:1], token[1:]
    before, after = list(range(-1, size)), list(range(1, size + 2))  # of the part that starts here
    queue: list[tuple[int, int, int]] = []  # rank, start and end of two parts that merge

    def add(start: int) -> None:
        end = after[after[start]] if start >= 0 and after[start] < size else GONE
        rank = ids.get(token[start:end]) if end != GONE else None
        if rank is not None and end - start < size:
            heapq.heappush(queue, (rank, start, end))

    for start in range(size - 1):
        add(start)
    for _merge in range(size - 2):
        while queue and not _there(queue[0], after):
            heapq.heappop(queue)
        if not queue:
            return None
        _rank, start, end = heapq.heappop(queue)
        after[after[start]] = GONE
        after[start], before[end] = end, start
        add(before[start])
        add(start)
    return token[: after[0]], token[after[0] :]


def _there(entry: tuple[int, int, int], after: list[int]) -> bool:
    """Whether the two parts of an entry of the queue have not been merged with others since."""
    _rank, start, end = entry
    middle = after[start]
    return middle != GONE and middle < len(after) - 1 and after[middle] == end
