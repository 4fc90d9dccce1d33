r"""Rank order and merge lists: from one to the other, and when they are the same tokenizer.

A rank file has no merges: any two neighbours whose joined bytes are a token merge, lowest id first, leftmost
first. Adds `recover_merges`, the merge list that does the same. Leaves out: how it is found (the engine).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, pairwise

from syllabary._engine import recover_merges as engine_merges
from syllabary.errors import FormatError
from syllabary.reference.rank_merges import Merge
from syllabary.spec import TokenizerSpec


def recover_merges(tokens: Mapping[int, bytes]) -> tuple[Merge, ...]:
    """id -> bytes, in rank order -> `(left id, right id, id)` of each token that merges can reach, by id.

    The engine's, equal to `reference.rank_merges`, which says why the list does the same.

    >>> recover_merges({0: b"a", 1: b"b", 2: b"ab", 3: b"aba", 4: b"bbb"})
    ((0, 1, 2), (2, 0, 3))
    """
    ids = sorted(tokens)
    found = engine_merges([*map(dict(tokens).__getitem__, ids)])
    flat = map(ids.__getitem__, chain.from_iterable(found))
    return tuple(zip(flat, flat, flat, strict=True))


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
