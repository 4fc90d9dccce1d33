"""`Encoding`: what a text became: ids, tokens, offsets, masks, and what did not fit.

Adds the class of tokenizers 0.23.3, with all its methods. Leaves out: how it comes about (`_pipeline`), and
what is added to it (`processors`).
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from syllabary.compat.tokenizers._json import dumps
from syllabary.compat.tokenizers._values import count, flag, instance, listed, token_id

Span = tuple[int, int]
SIDES = ("left", "right")


class Encoding:
    """The encoding of a text or of a pair; one entry a token in each list."""

    def __init__(self) -> None:
        """Of nothing."""
        self._ids: list[int] = []
        self._type_ids: list[int] = []
        self._tokens: list[str] = []
        self._words: list[int | None] = []
        self._offsets: list[Span] = []
        self._special: list[int] = []
        self._attention: list[int] = []
        self._overflowing: list[Encoding] = []
        self._ranges: dict[int, Span] = {}
        self._row: Any = None  # where columns come from that are not there yet

    def __getattr__(self, name: str) -> Any:
        """A column that is asked for the first time."""
        own = self.__dict__
        if name not in LATER or own.get("_row") is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        rows, at = own["_row"]
        own[name] = found = rows.column(name, at)
        return found

    def _add(
        self, token_id: int, token: str, type_id: int, word: int | None, place: Span, special: int = 0
    ) -> None:
        """One more token."""
        self._ids.append(token_id)
        self._tokens.append(token)
        self._type_ids.append(type_id)
        self._words.append(word)
        self._offsets.append(place)
        self._special.append(special)
        self._attention.append(1)

    # ---- what it holds ----

    @property
    def ids(self) -> list[int]:
        """The ids."""
        return list(self._ids)

    @property
    def type_ids(self) -> list[int]:
        """Which of the texts each token is of, as the post-processor numbers them."""
        return list(self._type_ids)

    @property
    def tokens(self) -> list[str]:
        """The tokens as the vocabulary spells them."""
        return list(self._tokens)

    @property
    def word_ids(self) -> list[int | None]:
        """Which word of its text each token is of; `None` for tokens that were added."""
        return list(self._words)

    @property
    def words(self) -> list[int | None]:
        """The same, by a name that is no longer used."""
        warnings.warn(
            "Encoding.words is deprecated, please use Encoding.word_ids instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        return list(self._words)

    @property
    def offsets(self) -> list[Span]:
        """Where each token stands in its text, in characters."""
        return list(self._offsets)

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for tokens that were added."""
        return list(self._special)

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding."""
        return list(self._attention)

    @property
    def overflowing(self) -> list[Encoding]:
        """What truncation cut off, in pieces of the same form: copies, as of the lists."""
        return [one._copy() for one in self._overflowing]

    @property
    def n_sequences(self) -> int:
        """How many texts there are."""
        return len(self._ranges) or 1

    @property
    def sequence_ids(self) -> list[int | None]:
        """Which text each token is of; `None` for tokens that were added."""
        found: list[int | None] = [None] * len(self)
        for sequence in range(self.n_sequences):
            start, end = self._range(sequence)
            found[start:end] = [sequence] * (end - start)
        return found

    def __len__(self) -> int:
        """The number of tokens."""
        return len(self._ids)

    def __repr__(self) -> str:
        """How many tokens, and what there is of each."""
        return (
            f"Encoding(num_tokens={len(self)}, attributes=[ids, type_ids, tokens, offsets, "
            "attention_mask, special_tokens_mask, overflowing])"
        )

    # ---- from one to the other ----

    def _range(self, sequence: int) -> Span:
        return self._ranges.get(count(sequence), (0, len(self)))

    def token_to_sequence(self, token_index: int) -> int | None:
        """The text that a token is of."""
        if count(token_index) > len(self):
            return None
        if not self._ranges:
            return 0
        for sequence, (start, end) in self._ranges.items():
            if start <= token_index < end:
                return sequence
        return None

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """The tokens of a word: the first, and one past the last."""
        start, end = self._range(sequence_index)
        word_index = count(word_index)
        found = []
        for index, word in enumerate(self._words[start:end], start):
            if word is not None and word > word_index:
                break
            if word == word_index:
                found.append(index)
        return (found[0], found[-1] + 1) if found else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """Where a word stands in its text."""
        tokens = self.word_to_tokens(word_index, sequence_index)
        return tokens and (self._offsets[tokens[0]][0], self._offsets[tokens[1] - 1][1])

    def token_to_chars(self, token_index: int) -> Span | None:
        """Where a token stands in its text."""
        if self.token_to_sequence(token_index) is None or token_index >= len(self):
            return None
        return self._offsets[token_index]

    def token_to_word(self, token_index: int) -> int | None:
        """The word that a token is of."""
        if self.token_to_sequence(token_index) is None or token_index >= len(self):
            return None
        return self._words[token_index]

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The token that holds a character."""
        start, end = self._range(sequence_index)
        count(char_pos)
        for index in range(start, end):
            if self._offsets[index][0] <= char_pos < self._offsets[index][1]:
                return index
        return None

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The word that holds a character."""
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.token_to_word(token)

    # ---- changes ----

    def set_sequence_id(self, sequence_id: int) -> None:
        """Say that all tokens are of this text."""
        self._ranges[count(sequence_id)] = (0, len(self))

    def pad(self, length: int, **kwargs: Any) -> None:
        """Add padding up to a length, to what overflows too.

        direction: `"right"` or `"left"`. pad_id, pad_type_id: 0. pad_token: `"[PAD]"`.
        """
        options = {"direction": "right", "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
        for name, value in kwargs.items():
            if name not in options:
                print(f"Ignored unknown kwarg option {name}")  # noqa: T201 (as theirs does)
            else:
                options[name] = value
        if options["direction"] not in SIDES:
            raise ValueError(f"Unknown `direction`: `{options['direction']}`. Use one of `left` or `right`")
        length, options["pad_id"] = count(length), token_id(options["pad_id"])
        self._pad(length, {**options, "pad_type_id": token_id(options["pad_type_id"])})

    def _pad(self, length: int, options: dict[str, Any]) -> None:
        for one in self._overflowing:
            one._pad(length, options)
        missing = length - len(self)
        if missing <= 0:
            return
        left, ranges = options["direction"] == "left", self._ranges  # as they are before it is longer
        columns: list[tuple[list[Any], object]] = [
            (self._ids, options["pad_id"]), (self._type_ids, options["pad_type_id"]),
            (self._tokens, options["pad_token"]), (self._words, None), (self._attention, 0),
            (self._special, 1), (self._offsets, (0, 0)),
        ]  # fmt: skip
        for column, value in columns:
            column[0 if left else len(column) : 0 if left else len(column)] = [value] * missing
        if left:
            self._ranges = {
                sequence: (start + missing, end + missing) for sequence, (start, end) in ranges.items()
            }

    def truncate(self, max_length: int, stride: int = 0, direction: str = "right") -> None:
        """Cut to a length; the rest overflows in pieces of that length, which share `stride` tokens.

        It is then of one text only. `ValueError` unless the stride is below the length.
        """
        if direction not in SIDES:
            raise ValueError(f"Invalid truncation direction value : {direction}")
        size = len(self)
        max_length, stride = count(max_length), count(stride)
        if max_length >= size:
            return
        if max_length == 0:
            whole = self._part(0, size)
            whole._ranges, whole._overflowing = self._ranges, self._overflowing
            self.__dict__.update(vars(Encoding()))
            self._overflowing = [whole]
            return
        if stride >= max_length:
            raise ValueError(
                f"`stride` must be strictly less than `max_len={max_length}` (note that `max_len` may be "
                "shorter than the max length of the original model, as it subtracts the number of special "
                "characters"
            )
        first, *rest = [self._part(*place) for place in windows(size, max_length, stride, direction)]
        first._overflowing = rest
        self.__dict__.update(vars(first))

    def _part(self, start: int, end: int) -> Encoding:
        """Some tokens alone, of no text in particular."""
        part = Encoding()
        for name in COLUMNS:
            setattr(part, name, getattr(self, name)[start:end])
        return part

    def _copy(self) -> Encoding:
        copy = self._part(0, len(self))
        copy._ranges = dict(self._ranges)
        copy._overflowing = [one._copy() for one in self._overflowing]
        return copy

    @staticmethod
    def merge(encodings: Iterable[Encoding], growing_offsets: bool = True) -> Encoding:
        """Encodings one after the other; offsets go on where those before end, if they are to grow."""
        merged, growing = Encoding(), flag(growing_offsets)
        for one in listed(encodings):
            instance(one, Encoding)
            merged._append(one, growing)
        return merged

    def _append(self, other: Encoding, growing: bool) -> None:
        overflowing = []
        for mine in self._overflowing:
            for theirs in (other, *other._overflowing):
                overflowing.append(mine._copy())
                overflowing[-1]._append(theirs, growing)
        for theirs in other._overflowing:
            overflowing.append(self._copy())
            overflowing[-1]._append(theirs, growing)
        size = len(self)
        shift = self._offsets[-1][1] if growing and self._offsets else 0
        self._ranges |= {
            sequence: (start + size, end + size) for sequence, (start, end) in other._ranges.items()
        }
        columns = [(getattr(self, name), getattr(other, name)) for name in COLUMNS if name != "_offsets"]
        for mine, theirs in columns:
            mine.extend(theirs)
        self._offsets += [(start + shift, end + shift) for start, end in other._offsets]
        self._overflowing = overflowing

    # ---- pickling ----

    def _json(self) -> dict[str, object]:
        told: dict[str, object] = {
            file: [list(one) if isinstance(one, tuple) else one for one in getattr(self, name)]
            for name, file in COLUMNS.items()
        }
        told["overflowing"] = [one._json() for one in self._overflowing]
        told["sequence_ranges"] = {
            str(sequence): {"start": start, "end": end} for sequence, (start, end) in self._ranges.items()
        }
        return told

    def __getstate__(self) -> bytes:
        """As JSON."""
        return dumps(self._json()).encode()

    def __setstate__(self, state: bytes) -> None:
        """From JSON."""
        self._read(json.loads(state))

    def _read(self, told: dict[str, Any]) -> None:
        for name, file in COLUMNS.items():
            setattr(self, name, told[file])
        self._offsets = [(start, end) for start, end in told["offsets"]]
        self._overflowing = []
        for one in told["overflowing"]:
            self._overflowing.append(Encoding())
            self._overflowing[-1]._read(one)
        self._ranges = {
            int(sequence): (place["start"], place["end"])
            for sequence, place in told["sequence_ranges"].items()
        }


# The lists, by the names of their JSON.
COLUMNS = {
    "_ids": "ids", "_type_ids": "type_ids", "_tokens": "tokens", "_words": "words", "_offsets": "offsets",
    "_special": "special_tokens_mask", "_attention": "attention_mask",
}  # fmt: skip
LATER = {*COLUMNS, "_overflowing", "_ranges"}


def windows(size: int, length: int, stride: int, direction: str) -> Iterator[Span]:
    """The pieces that `size` tokens are cut into, each `length` long, sharing `stride`.

    >>> list(windows(5, 3, 1, "right")), list(windows(5, 3, 1, "left"))
    ([(0, 3), (2, 5)], [(2, 5), (0, 3)])
    """
    step = length - stride
    if direction == "right":
        for start in range(0, size, step):
            yield start, min(start + length, size)
            if start + length >= size:
                return
    else:
        for stop in range(size, 0, -step):
            yield max(0, stop - length), stop
            if stop <= length:
                return
