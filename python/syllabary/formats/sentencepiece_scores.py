"""Scores for a list of merges: when "any two neighbours whose text is a piece" makes the same tokens.

A list merges the pairs that it names, lowest rank first; scores merge every pair whose text is a piece, the
highest score first. Take the neighbours x and y whose text is the piece P. Until they join, no merge has
crossed the ends of P, so what happened between them is what happens when P is encoded alone; and that goes
through two symbols once at most. So a list needs nothing but this, piece by piece: encoded alone, P becomes
itself (its score is the rank of the last merge), or ends in three tokens or more (no score can make it).
Where it ends in two, scores would join them and the list does not: that tokenizer is refused.
Leaves out: dropout, which skips merges, and other units than characters.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from syllabary.errors import FormatError
from syllabary.formats.record import cannot_hold
from syllabary.formats.sentencepiece_carried import NAME
from syllabary.reference.symbols import shown
from syllabary.spec import TokenizerSpec

Ranks = Mapping[tuple[int, int], tuple[int, int]]  # pair -> rank and result
OUTSIDE = -1  # a character outside the alphabet: no merge of a list has it
MAX_RANKS = 1 << 24  # whole numbers that a float32 tells apart


def scores_of(spec: TokenizerSpec, pieces: Mapping[int, str]) -> dict[int, float]:
    """A score for each of `pieces` with which they merge as `spec.merges` says, or `FormatError`.

    pieces: id -> text, of all tokens that text can become but bytes and added tokens.
    """
    if spec.merges is None:
        raise cannot_hold(NAME, "rank order by id without scores")
    ranks: dict[tuple[int, int], tuple[int, int]] = {}
    for rank, (left, right, result) in enumerate(spec.merges):
        ranks.setdefault((left, right), (rank, result))
        for token_id in (left, right, result):
            if token_id not in pieces:
                raise cannot_hold(
                    NAME, f"a merge of id {token_id}, which is a byte, a special or an added token"
                )
    last = {token_id: last_rank(token_id, text, ranks, spec) for token_id, text in pieces.items()}
    ordered = sorted(pieces, key=lambda token_id: (last[token_id], token_id))
    if len(ordered) > MAX_RANKS:
        raise cannot_hold(NAME, f"{len(ordered)} tokens: their scores could not be told apart")
    return {token_id: -float(place) for place, token_id in enumerate(ordered)}


def last_rank(token_id: int, text: str, ranks: Ranks, spec: TokenizerSpec) -> int:
    """The rank of the merge that makes a token when it is encoded alone; after all others if none does."""
    ids, last = alone(text, ranks, spec)
    if ids == [token_id]:
        return last
    if len(ids) == 2:
        parts = " and ".join(shown(spec.tokens[part]) if part in spec.tokens else "?" for part in ids)
        raise cannot_hold(
            NAME,
            f"the token {shown(text)} (id {token_id}), which the merges do not make of its text: they end "
            f"with {parts}, and by scores those would be joined",
        )
    if len(ids) == 1:
        raise FormatError(f"ids {token_id} and {ids[0]} are both {shown(text)}: {NAME} holds each text once")
    return len(spec.merges or ())


def alone(text: str, ranks: Ranks, spec: TokenizerSpec) -> tuple[list[int], int]:
    """The ids of a text that is one piece, lowest rank first, and the rank of the last merge (-1: none)."""
    ids = [spec.alphabet.get(character.encode(), OUTSIDE) for character in text]
    last = -1
    while len(ids) > 1:
        found = [ranks.get(pair) for pair in pairwise(ids)]
        candidates = [merge for merge in found if merge is not None]
        if not candidates:
            break
        lowest = min(candidates)
        place = found.index(lowest)
        ids[place : place + 2] = [lowest[1]]
        last = lowest[0]
    return ids, last
