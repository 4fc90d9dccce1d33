"""Tokens that the engine has read or learned: a mapping that becomes a dict when it is needed as one.

Adds `ReadTokens`. To open a tokenizer takes a few of its tokens; two hundred thousand Python objects for the
rest would take longer than all else. What a specification asks of tokens holds for these: whoever read them
has looked (ids are in range and ascend, tokens are bytes; of a rank file no two alike). Leaves out: reading
(`formats.tiktoken`) and learning (`training.finished`).
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Protocol


class Ranks(Protocol):
    """What the engine gives (`syllabary._engine.Ranks` and `Learned`)."""

    def __len__(self) -> int:
        """The number of tokens."""

    def get(self, rank: int) -> bytes | None:
        """The token of a rank from 0 to 2^32 - 1."""

    def to_dict(self) -> dict[int, bytes]:
        """All tokens."""


class ReadTokens(Mapping[int, bytes]):
    """id -> bytes, as a dict of the same tokens in every way but that of being one."""

    __slots__ = ("_made", "merges", "ranks")

    def __init__(self, ranks: Ranks, merges: tuple[tuple[int, int, int], ...] | None = None) -> None:
        """From the engine's tokens, and the merges that made them, if merges did."""
        self.ranks, self.merges = ranks, merges
        self._made: dict[int, bytes] | None = None

    @property
    def _dict(self) -> dict[int, bytes]:
        if self._made is None:
            self._made = self.ranks.to_dict()
        return self._made

    def __getitem__(self, token_id: int) -> bytes:
        """The token of an id; `KeyError` if there is none."""
        if self._made is None and type(token_id) is int and 0 <= token_id < 2**32:
            token = self.ranks.get(token_id)
            if token is not None:
                return token
            raise KeyError(token_id)
        return self._dict[token_id]

    def __len__(self) -> int:
        """The number of tokens."""
        return len(self.ranks)

    def __iter__(self) -> Iterator[int]:
        """The ids."""
        return iter(self._dict)

    def keys(self) -> KeysView[int]:
        """The ids."""
        return self._dict.keys()

    def values(self) -> ValuesView[bytes]:
        """The tokens."""
        return self._dict.values()

    def items(self) -> ItemsView[int, bytes]:
        """Both."""
        return self._dict.items()

    def __eq__(self, other: object) -> bool:
        """Whether it is a mapping of the same tokens."""
        if isinstance(other, ReadTokens):
            return self.ranks is other.ranks or self._dict == other._dict
        return self._dict == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """As the dict's."""
        return repr(self._dict)

    def __reduce__(self) -> tuple[type[dict[int, bytes]], tuple[dict[int, bytes]]]:
        """Pickled and copied as the dict."""
        return dict, (self._dict,)
