"""The encodings behind a `BatchEncoding`: where tokens, words and characters are.

Adds `Row`, one encoding, and `Rows`, those of a batch, computed when one is first asked for: a model takes
ids and masks alone. Leaves out: how an encoding comes about (`reference.encoding`, the engine).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

Span = tuple[int, int]


class Row:
    """One encoding; its fields are those of `syllabary`'s `Encoding`, its methods those of `tokenizers`."""

    def __init__(self, full: Any) -> None:
        self._full = full

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_full":
            raise AttributeError(name)
        return getattr(self._full, name)

    def __len__(self) -> int:
        return len(self._full.ids)

    @property
    def overflowing(self) -> list[Row]:
        """What truncation cut off."""
        return [Row(one) for one in self._full.overflowing]

    def token_to_sequence(self, token_index: int) -> int | None:
        """The text that a token is of."""
        places = self._full.sequence_ids
        return places[token_index] if 0 <= token_index < len(places) else None

    def token_to_chars(self, token_index: int) -> Span | None:
        """Where a token stands in its text."""
        if self.token_to_sequence(token_index) is None:
            return None
        start, end = self._full.offsets[token_index]
        return start, end

    def token_to_word(self, token_index: int) -> int | None:
        """The word that a token is of."""
        if self.token_to_sequence(token_index) is None:
            return None
        word: int | None = self._full.word_ids[token_index]
        return word

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """The tokens of a word: the first, and one past the last."""
        start, end = self._range(sequence_index)
        words = self._full.word_ids
        found = [index for index in range(start, end) if words[index] == word_index]
        return (found[0], found[-1] + 1) if found else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """Where a word stands in its text."""
        tokens = self.word_to_tokens(word_index, sequence_index)
        return tokens and (self._full.offsets[tokens[0]][0], self._full.offsets[tokens[1] - 1][1])

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The first token that holds a character."""
        offsets = self._full.offsets
        for index in range(*self._range(sequence_index)):
            if offsets[index][0] <= char_pos < offsets[index][1]:
                return index
        return None

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The word that holds a character."""
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.token_to_word(token)

    def _range(self, sequence: int) -> Span:
        span: Span = self._full.ranges.get(sequence, (0, len(self)))
        return span


class Rows(Sequence[Row]):
    """The encodings of a batch, computed when one is first asked for; pickled as what they are then."""

    def __init__(self, size: int, compute: Callable[[], list[Row]]) -> None:
        self._size, self._compute = size, compute
        self._rows: list[Row] | None = None

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        return self._all()[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._all())

    def __reduce__(self) -> tuple[type[list[Row]], tuple[list[Row]]]:
        return list, (self._all(),)

    def _all(self) -> list[Row]:
        if self._rows is None:
            self._rows = self._compute()
        return self._rows
