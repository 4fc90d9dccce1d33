"""The two moves of byte-pair encoding: count the neighbours, merge one pair. Then encode by repeating.

Adds pure functions on lists of ids; they know nothing of text. Leaves out: which pair training takes
(`ties`, `train`), where the ids come from (`symbols`, `pipeline`), merges passed over at random (`dropout`)
and merging by score (`scores`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from syllabary.reference.ties import Pair

# Two neighbouring ids -> (rank, id of the result), or None if they do not merge.
Rule = Callable[[int, int], "tuple[int, int] | None"]


def count_pairs(ids: Sequence[int]) -> dict[Pair, int]:
    """How often each pair of neighbours occurs, in order of first occurrence; overlaps count.

    >>> count_pairs([1, 2, 3, 1, 2])
    {(1, 2): 2, (2, 3): 1, (3, 1): 1}
    >>> count_pairs([5, 5, 5])
    {(5, 5): 2}
    """
    counts: dict[Pair, int] = {}
    for pair in pairwise(ids):
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def merge(ids: Sequence[int], pair: Pair, new_id: int) -> list[int]:
    """Replace every occurrence of `pair` by `new_id`, from the left, without overlap.

    >>> merge([5, 6, 6, 7, 9, 1], (6, 7), 99)
    [5, 6, 99, 9, 1]
    >>> merge([5, 5, 5], (5, 5), 99)
    [99, 5]
    """
    merged: list[int] = []
    at = 0
    while at < len(ids):
        if at + 1 < len(ids) and ids[at] == pair[0] and ids[at + 1] == pair[1]:
            merged.append(new_id)
            at += 2
        else:
            merged.append(ids[at])
            at += 1
    return merged


def by_merges(merges: Iterable[tuple[int, int, int]]) -> Rule:
    """The rule of a merge list: a pair's rank is its place in the list.

    A pair that is listed twice keeps its last rank, as in Hugging Face's library.

    >>> by_merges([(1, 2, 10), (10, 3, 11)])(10, 3)
    (1, 11)
    """
    table = {(left, right): (rank, result) for rank, (left, right, result) in enumerate(merges)}
    return lambda left, right: table.get((left, right))


def by_rank_order(tokens: Mapping[int, bytes]) -> Rule:
    """The rule of a vocabulary without merges: neighbours whose joined bytes are a token; its id is the rank.

    Source: tiktoken (`byte_pair_merge`), whose files hold no merges.

    >>> by_rank_order({0: b"a", 1: b"b", 2: b"ab"})(0, 1)
    (2, 2)
    """
    ids: dict[bytes, int] = {}
    for token_id in sorted(tokens):
        ids.setdefault(tokens[token_id], token_id)

    def rule(left: int, right: int) -> tuple[int, int] | None:
        joined = ids.get(tokens[left] + tokens[right])
        return None if joined is None else (joined, joined)

    return rule


def places(ids: Sequence[int], rule: Rule) -> Iterator[tuple[int, int]]:
    """Encode a sequence, as `(at, result)` of each merge: the ids at `at` and after it became `result`.

    Each merges one occurrence: of the lowest rank, the leftmost.

    >>> list(places([1, 2, 3], by_merges([(2, 3, 9), (1, 9, 10)])))
    [(1, 9), (0, 10)]
    """
    state = list(ids)
    while True:
        found = [(ranked, at) for at, pair in enumerate(pairwise(state)) if (ranked := rule(*pair))]
        if not found:
            return
        (_rank, result), at = min(found)
        state[at : at + 2] = [result]
        yield at, result


def merge_states(ids: Sequence[int], rule: Rule) -> Iterator[list[int]]:
    """Encode a sequence, every state visible: the input, then one state a merge; the last is the encoding.

    >>> list(merge_states([1, 2, 3], by_merges([(2, 3, 9), (1, 9, 10)])))
    [[1, 2, 3], [1, 9], [10]]
    """
    state = list(ids)
    yield list(state)
    for at, result in places(ids, rule):
        state[at : at + 2] = [result]
        yield list(state)


def last(states: Iterable[list[int]]) -> list[int]:
    """The last state: the encoding itself.

    >>> last(merge_states([1, 2, 3], by_merges([(2, 3, 9), (1, 9, 10)])))
    [10]
    """
    return deque(states, maxlen=1).pop()


def recreated(merges: Iterable[tuple[int, int, int]]) -> list[int]:
    """Ranks of the merges that make a token which an earlier merge already takes.

    Only for a list that has such merges does it matter whether a round merges one occurrence of the best pair
    (here, Hugging Face's library) or all of them (subword-nmt's `apply_bpe.py`). In all others, what a merge
    makes is merged further by later ranks alone, and both give the same.

    >>> recreated([(1, 2, 9), (9, 3, 10)]), recreated([(9, 3, 10), (1, 2, 9)])
    ([], [1])
    """
    taken = set[int]()
    found: list[int] = []
    for rank, (left, right, result) in enumerate(merges):
        if result in taken:
            found.append(rank)
        taken |= {left, right}
    return found
