r"""Rank order and merge lists: from one to the other, and when they are the same tokenizer.

A rank file has no merges: any two neighbours whose joined bytes are a token merge, lowest id first, leftmost
first. Adds `recover_merges`, the merge list that does the same.

Why it does the same. Take a token T and run rank order on its bytes alone; if that ever leaves two parts
(l, r), record T = l + r. Now let l' and r' be neighbours, in any text, whose bytes join to T. No merge has
crossed their outer edges, so all that happened between these edges was chosen there as it would have been
chosen without the rest: lowest id first, leftmost first. So l' r' is a state of T's own run, and the only one
with two parts: l' = l and r' = r. Each pair that rank order can meet is therefore in the list, with the
rank of its result, and the list holds no other. The two rules do not differ (where all symbols are single
bytes and no two tokens have the same bytes, which the formats check).

A token whose own run never leaves two parts cannot be reached by merges: it has no merge, and appears only
as a whole piece (`whole_pieces`, Hugging Face's `ignore_merges`).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from itertools import pairwise

from syllabary.errors import FormatError
from syllabary.spec import TokenizerSpec

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


def check_rank_order(spec: TokenizerSpec, name: str) -> None:
    """Raise `FormatError` unless rank order on the tokens alone gives this tokenizer's ids.

    That is so if the merges are in the order of the ids they make and are those of `recover_merges`; and
    if whole pieces change nothing or are asked for.
    """
    if spec.merges is None:
        merges = recover_merges(spec.tokens) if not spec.whole_pieces else ()
    else:
        merges = spec.merges
        for rank, (before, after) in enumerate(pairwise(merges), start=1):
            if after[2] <= before[2]:
                raise FormatError(
                    f"{name} cannot hold merges in another order than the ids they make: merge {rank} makes "
                    f"id {after[2]}, the one before it id {before[2]}; save as "
                    "tokenizer.json or .syllabary.json"
                )
        _check_same(merges, recover_merges(spec.tokens), spec, name)
    if not spec.whole_pieces:
        _check_reachable(merges, spec, name)


def _check_same(merges: tuple[Merge, ...], found: tuple[Merge, ...], spec: TokenizerSpec, name: str) -> None:
    for merge in sorted(set(merges) ^ set(found), key=lambda merge: merge[2]):
        left, right = (spec.tokens.get(part) for part in merge[:2])
        verb = "has" if merge in merges else "lacks"
        raise FormatError(
            f"{name} holds no merges, only the order of tokens, and that order is another tokenizer: this "
            f"one {verb} the merge {left!r} + {right!r}; save as tokenizer.json or .syllabary.json"
        )


def _check_reachable(merges: tuple[Merge, ...], spec: TokenizerSpec, name: str) -> None:
    made = {result for _left, _right, result in merges} | set(spec.alphabet.values())
    for token_id, token in spec.tokens.items():
        if token_id not in made and token:
            raise FormatError(
                f"{name} cannot hold the token {token!r} (id {token_id}), which no merge makes: there it "
                "would be taken for a whole piece; save as tokenizer.json or .syllabary.json"
            )
