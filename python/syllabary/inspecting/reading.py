"""A text as a tokenizer reads it: a row a token, sums, and every state of every piece.

Without dropout, whatever the tokenizer's file says of it. Leaves out: how a token comes about (`making`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from syllabary.errors import TextError, VocabularyError
from syllabary.inspecting.making import Kind, Making
from syllabary.tokenizer import Tokenizer

MOST_STEPPED = 2_000  # characters of a text whose steps are shown: the reference computes them


@dataclass(frozen=True, slots=True)
class Row:
    """A token of a text.

    start, end: its bytes in the UTF-8 of the text; first, last: its characters, from `first` to before
    `last` (as `tok.offsets` has both). piece: the number of its piece, from 0: what is merged together.
    rank: of the first merge that makes it. score: where the vocabulary has scores.
    """

    id: int
    token: bytes
    start: int
    end: int
    first: int
    last: int
    piece: int
    kind: Kind
    rank: int | None
    score: float | None


@dataclass(frozen=True, slots=True)
class Taken:
    """A state of a piece, and what was done to come to it.

    ids: the state. taken, made: the ids that were replaced, and those that took their place at `at`; both
    empty in the first state. rank: of the pair that merged. score: of what it made, where scores decide.
    whole: the piece is a token and became it at once.
    """

    ids: list[int]
    at: int = 0
    taken: tuple[int, ...] = ()
    made: tuple[int, ...] = ()
    rank: int | None = None
    score: float | None = None
    whole: bool = False


def rows(making: Making, text: str, special: Any = "raise") -> list[Row]:
    """A row for each id of a text.

    >>> import syllabary
    >>> making = Making(syllabary.train(["low lower lowest"] * 3, vocab_size=258))
    >>> [(row.token, row.start, row.end, row.piece, row.rank) for row in rows(making, "low, lo")]
    [(b'low', 0, 3, 0, 1), (b',', 3, 4, 1, None), (b' ', 4, 5, 2, None), (b'lo', 5, 7, 2, 0)]
    """
    tok = _plain(making.tok)
    in_bytes = tok.offsets(text, "byte", special).tolist()  # first: its errors know of no batch
    batch = tok.encode_full_batch(
        [text], special=special, add_special_tokens=False, padding=False, truncation=False
    )
    ids, pieces = batch.ids[0].tolist(), batch.word_ids[0].tolist()
    in_characters = tok.offsets(text, "char", special).tolist()
    vocab = making.tok.vocab
    known: dict[int, tuple[Kind, int | None, float | None]] = {}
    found = []
    for token_id, piece, (start, end), (first, last) in zip(
        ids, pieces, in_bytes, in_characters, strict=True
    ):
        if token_id not in known:
            known[token_id] = making.kind(token_id), making.rank(token_id), making.score(token_id)
        found.append(Row(token_id, vocab[token_id], start, end, first, last, piece, *known[token_id]))
    return found


def totals(text: str, found: Sequence[Row]) -> dict[str, int | float | None]:
    """The sums of a text: bytes, characters, pieces, tokens, bytes per token (`None` without tokens)."""
    size = len(text.encode())
    return {
        "bytes": size,
        "characters": len(text),
        "pieces": len({row.piece for row in found}),
        "tokens": len(found),
        "bytes_per_token": size / len(found) if found else None,
    }


def check_stepped(making: Making, text: str) -> None:
    """Raise `VocabularyError` where there are no merges to show, `TextError` for a text that is too long."""
    if making.merging is None:
        raise VocabularyError(
            f"model={making.spec.model!r} has no merges, so there are no steps from units to ids"
        )
    if len(text) > MOST_STEPPED:
        raise TextError(
            f"the text has {len(text):,} characters, and steps are shown for {MOST_STEPPED:,} at most: "
            "give a part of it"
        )


def steps(making: Making, text: str, special: Any = "raise") -> list[list[Taken]]:
    """For each piece every state from units to ids, one merge a step, as `tok.steps` has them.

    A piece is what is merged together: with the word unit and scores, all text between special tokens.
    Raises as `check_stepped`.

    >>> import syllabary
    >>> making = Making(syllabary.train(["low lower lowest"] * 3, vocab_size=258))
    >>> [(state.ids, state.taken, state.rank) for state in steps(making, "low")[0]]
    [([108, 111, 119], (), None), ([256, 119], (108, 111), 0), ([257], (256, 119), 1)]
    """
    check_stepped(making, text)
    return list(_pieces(making, _plain(making.tok).steps(text, special)))


def _pieces(making: Making, states: Iterator[list[list[int]]]) -> Iterator[list[Taken]]:
    """The states of all pieces, which change one after the other -> those of each."""
    now = next(states)
    done = 0
    history = [Taken(now[0])] if now else []
    for state in states:
        while state[done] == now[done]:
            yield history
            done += 1
            history = [Taken(now[done])]
        history.append(_taken(making, now[done], state[done]))
        now = state
    while done < len(now):
        yield history
        done += 1
        history = [Taken(now[done])] if done < len(now) else []


def _taken(making: Making, old: list[int], new: list[int]) -> Taken:
    """What was done from one state to the next."""
    shorter = min(len(old), len(new))
    at = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    same = 0
    while same < shorter - at and old[-1 - same] == new[-1 - same]:
        same += 1
    taken, made = tuple(old[at : len(old) - same]), tuple(new[at : len(new) - same])
    result = making.tok.vocab[made[0]] if len(made) == 1 else None
    rank = making.pair_ranks.get((taken[0], taken[1])) if len(taken) == 2 and result is not None else None
    if rank is not None and making.merges[rank][2] != made[0]:
        rank = None
    score = making.score(made[0]) if making.merging == "scores" and result is not None else None
    whole = rank is None and score is None and len(new) == 1
    return Taken(new, at, taken, made, rank, score, whole)


def _plain(tok: Tokenizer) -> Tokenizer:
    """The tokenizer without dropout."""
    return Tokenizer(replace(tok.spec, dropout=0.0)) if tok.spec.dropout else tok
