"""Merging by score (sentencepiece) as a list of merges, which is all that Hugging Face's model has.

By score, any two neighbours whose joined text is a piece merge, the highest score first, leftmost first. The
list that does the same has one merge for each piece, as `ranks` explains: whatever made two neighbours that
join to a piece P happened within P, as it would have if P stood alone; so encoding P alone shows the only two
parts that P is ever made of.

Of pieces with one score the leftmost is merged first, whichever it is. A list does so too if they are runs of
one character each, as the `▁▁▁▁` of Llama: with the longest first in the list, a run grows from its left end,
as it does by score. Other pieces with one score are refused, and characters that merge but are no pieces.
Leaves out: pieces that are cut again (`unused`).
"""

from __future__ import annotations

from itertools import pairwise

from syllabary.errors import FormatError
from syllabary.formats.record import cannot_hold
from syllabary.reference.scores import Scores
from syllabary.reference.symbols import shown
from syllabary.spec import TokenizerSpec

Merge = tuple[int, int, int]
NAME = "tokenizer.json"


def merges_of_scores(spec: TokenizerSpec) -> tuple[Merge, ...]:
    """The merge list with the same ids, the highest score first; `FormatError` where there is none."""
    merges, fault = nearest_merges(spec)
    if fault is not None:
        raise fault
    return merges


def nearest_merges(spec: TokenizerSpec) -> tuple[tuple[Merge, ...], FormatError | None]:
    """The merge list, and why it is not quite the same, if it is not."""
    scores = Scores(spec.tokens, spec.scores or {}, ())
    merges: list[tuple[tuple[int, int], Merge]] = []
    fault: FormatError | None = None
    for token_id in spec.scores or {}:
        token = spec.tokens[token_id]
        parts = _two_parts(token, scores)
        if parts is None:
            continue
        missing = [part for part in parts if part not in scores.ids]
        if missing:
            fault = cannot_hold(NAME, f"the piece {shown(token)}, whose part {shown(missing[0])} is none")
            continue
        merge = (scores.ids[parts[0]], scores.ids[parts[1]], token_id)
        merges.append(((scores.ranks[token], -len(token)), merge))
    merges.sort()
    for (before, one), (after, other) in pairwise(merges):
        pieces = [spec.tokens[one[2]], spec.tokens[other[2]]]
        if before[0] == after[0] and any(len(set(piece.decode())) > 1 for piece in pieces):
            fault = cannot_hold(NAME, f"the pieces {shown(pieces[0])} and {shown(pieces[1])} with one score")
    return tuple(merge for _rank, merge in merges), fault


def _two_parts(token: bytes, scores: Scores) -> tuple[bytes, bytes] | None:
    """The last two parts of a piece when it is encoded alone, or `None` if it does not become itself.

    >>> _two_parts(b"abc", Scores({0: b"ab", 1: b"abc", 2: b"bc"}, {0: -2.0, 1: -3.0, 2: -1.0}, ()))
    (b'a', b'bc')
    """
    characters = [character.encode() for character in token.decode()]
    joined = list(scores.places(characters, {}))
    if len(joined) < len(characters) - 1 or not joined:
        return None
    _left, right = joined[-1]
    return b"".join(characters[:right]), b"".join(characters[right:])
