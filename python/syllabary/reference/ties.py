"""Ties: several pairs are the most frequent; which one is merged?

Adds one function for each rule in use. A tie-break is part of the definition: another rule is another
tokenizer. Leaves out: counting (`merge`, `train`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

Pair = tuple[int, int]


def first_seen(tied: Collection[Pair], where: Mapping[Pair, Collection[int]]) -> Pair:
    """The tied pair that comes first when the sequences, as they now are, are read from the start.

    `where` gives the places at which a pair occurs. Distinct pieces stand for the corpus as long as they
    keep the order of their first appearance.
    Sources: minbpe `max(stats, key=stats.get)` over a dict filled in reading order (`basic.py`, `regex.py`);
    the Hugging Face course (`if max_freq is None or max_freq < freq`); tiktoken `_educational.bpe_train`.

    >>> first_seen({(3, 4), (1, 2)}, {(1, 2): {7, 5}, (3, 4): {6, 9}})
    (1, 2)
    """
    return min(tied, key=lambda pair: min(where[pair]))


def smallest_ids(tied: Collection[Pair]) -> Pair:
    """The smallest (left id, right id).

    Sources: Hugging Face `BpeTrainer` (`models/bpe/trainer.rs`, `Merge::cmp`), whose byte alphabet has ids in
    GPT-2's order (`byte_order="gpt2"`); rustbpe (`lib.rs`), whose ids are raw bytes (`byte_order="raw"`).

    >>> smallest_ids({(2, 1), (1, 9), (1, 3)})
    (1, 3)
    """
    return min(tied)


def largest_pair(tied: Collection[Pair], spelling: Sequence[bytes]) -> Pair:
    """The largest (left bytes, right bytes), compared as strings; `spelling` is id -> bytes.

    Two tokens may have the same bytes under two ids (words that were cut in different places, once merged):
    of pairs that are spelled alike the one with the smallest (left id, right id) is taken.

    Sources: subword-nmt `learn_bpe.py` (`max(stats, key=lambda x: (stats[x], x))`); Stanford CS336,
    assignment 1 ("the lexicographically greater pair"). UTF-8 sorts as its code points do.

    >>> largest_pair({(0, 1), (2, 3)}, [b"l", b"o", b"w", b"e"])
    (2, 3)
    >>> largest_pair({(3, 0), (2, 0)}, [b"a", b"b", b"ab", b"ab"])
    (2, 0)
    """
    return max(tied, key=lambda pair: (spelling[pair[0]], spelling[pair[1]], -pair[0], -pair[1]))
