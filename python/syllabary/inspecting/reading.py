"""A text as a tokenizer reads it: a row a token, sums, and every state of every piece.

Without dropout, whatever the tokenizer's file says of it. Leaves out: how a token comes about (`making`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from syllabary.errors import TextError, VocabularyError
from syllabary.inspecting.making import Kind, Making
from syllabary.tokenizer import Tokenizer

Array: TypeAlias = "NDArray[np.integer[Any]]"
Known: TypeAlias = "tuple[bytes, Kind, int | None, float | None]"
BLOCK = 4096  # rows that are made at once
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


class Rows(Sequence[Row]):
    """The rows of a text, each made when it is asked for; 24 bytes a token are kept, up to 4 GB of text.

    ids, pieces: of each token. in_bytes, in_characters: where it begins and ends, shape (n, 2).
    """

    def __init__(
        self, making: Making, ids: Array, pieces: Array, in_bytes: Array, in_characters: Array
    ) -> None:
        self.ids, self.pieces = ids, pieces
        self.in_bytes, self.in_characters = in_bytes, in_characters
        self._making = making
        self._known: dict[int, Known] = {}

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        """A row, or a list of some."""
        if isinstance(place, slice):
            return self._made(place)
        number = range(len(self))[place]
        return self._made(slice(number, number + 1))[0]

    def __iter__(self) -> Iterator[Row]:
        return chain.from_iterable(self.blocks())

    def blocks(self, size: int = BLOCK) -> Iterator[list[Row]]:
        """All rows, so many at a time."""
        return (self[start : start + size] for start in range(0, len(self), size))

    def known(self, token_id: int) -> Known:
        """The token of an id, its kind, its rank and its score, as in each of its rows."""
        found = self._known.get(token_id)
        if found is None:
            making = self._making
            rank, score = making.rank(token_id), making.score(token_id)
            found = self._known[token_id] = making.tok.vocab[token_id], making.kind(token_id), rank, score
        return found

    def _made(self, place: slice) -> list[Row]:
        columns = (self.ids, self.pieces, self.in_bytes, self.in_characters)
        made = []
        for token_id, piece, (start, end), (first, last) in zip(
            *(column[place].tolist() for column in columns), strict=True
        ):
            token, kind, rank, score = self.known(token_id)
            made.append(Row(token_id, token, start, end, first, last, piece, kind, rank, score))
        return made


def rows(making: Making, text: str, special: Any = "raise") -> Rows:
    """A row for each id of a text.

    >>> import syllabary
    >>> making = Making(syllabary.train(["low lower lowest"] * 3, vocab_size=258))
    >>> [(row.token, row.start, row.end, row.piece, row.rank) for row in rows(making, "low, lo")]
    [(b'low', 0, 3, 0, 1), (b',', 3, 4, 1, None), (b' ', 4, 5, 2, None), (b'lo', 5, 7, 2, 0)]
    """
    tok = _plain(making.tok)
    in_bytes = _narrow(tok.offsets(text, "byte", special))  # first: its errors know of no batch
    batch = tok.encode_full_batch(
        [text], special=special, add_special_tokens=False, padding=False, truncation=False
    )
    ids, pieces = _narrow(batch.ids[0]), _narrow(batch.word_ids[0])
    del batch  # which holds more
    return Rows(making, ids, pieces, in_bytes, _narrow(tok.offsets(text, "char", special)))


def _narrow(numbers: Array) -> Array:
    """The same numbers in half of the room, where 32 bits are enough."""
    fits = numbers.min(initial=0) >= 0 and numbers.max(initial=0) < 1 << 32
    return numbers.astype(np.uint32) if fits else numbers


def totals(text: str, found: Rows) -> dict[str, int | float | None]:
    """The sums of a text: bytes, characters, pieces, tokens, bytes per token (`None` without tokens)."""
    counted = {
        "bytes": len(text.encode()),
        "characters": len(text),
        "pieces": int(np.count_nonzero(np.bincount(found.pieces))),
        "tokens": len(found),
    }
    return added([counted])


def added(sums: Iterable[Mapping[str, Any]]) -> dict[str, int | float | None]:
    """The sums of several texts, each as `totals` gives it.

    >>> one = {"bytes": 6, "characters": 5, "pieces": 1, "tokens": 2, "bytes_per_token": 3.0}
    >>> added([one, {**one, "bytes": 2}])
    {'bytes': 8, 'characters': 10, 'pieces': 2, 'tokens': 4, 'bytes_per_token': 2.0}
    """
    many = list(sums)
    found = {name: sum(one[name] for one in many) for name in ("bytes", "characters", "pieces", "tokens")}
    return {**found, "bytes_per_token": found["bytes"] / found["tokens"] if found["tokens"] else None}


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
