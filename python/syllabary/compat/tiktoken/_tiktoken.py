"""`CoreBPE`: what tiktoken's compiled module does, by syllabary's engine.

Adds the three ways in which tiktoken lets special tokens through: none, all, or some while the others stay
plain text. The engine knows the first two; for the third, and for special tokens that the engine has no place
for (two texts of one id, an id that an ordinary token has), the text is cut at them here, one step for each
special token found. Leaves out: which special tokens are forbidden (`core`), unstable tokens (`_unstable`).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from syllabary._engine import Split
from syllabary.cached import cached_property
from syllabary.compat.tiktoken._merge import byte_pair_encode
from syllabary.errors import SpecialTokenError, UnknownSymbolError, UnknownTokenError, VocabularyError
from syllabary.reference.check import GAP_FACTOR, MAX_ID
from syllabary.spec import SplitSpec, TokenizerSpec
from syllabary.tokenizer import Tokenizer

U32 = 2**32
# Special tokens of this form alone cannot overlap in a text.
BRACKETED = re.compile(r"<\|[^<>|]*\|>")
Token = TypeVar("Token", bytes, str)


class CoreBPE:
    """Text to ranks and back, for one pattern, one table of ranks and one of special tokens."""

    def __init__(
        self, encoder: Mapping[bytes, int], special_tokens_encoder: Mapping[str, int], pattern: str
    ) -> None:
        """Raises `VocabularyError` for two tokens of one rank (tiktoken panics), `PatternError`,
        `OverflowError` for a rank outside of 32 bits; all but the last are `ValueError`s.
        """
        self.encoder = _checked(encoder, bytes)
        self.special = _checked(special_tokens_encoder, str)
        if not isinstance(pattern, str):  # None would be no split
            raise TypeError(f"{type(pattern).__name__!r} object is not an instance of 'str'")
        self.decoder = {rank: token for token, rank in self.encoder.items()}
        if len(self.decoder) != len(self.encoder):
            raise VocabularyError(
                f"Encoder and decoder must be of equal length. Encoder length: {len(self.encoder)}, "
                f"decoder length: {len(self.decoder)}.\n"
                "Maybe you had duplicate token indices in your encoder?"
            )
        split = SplitSpec(pattern, keep_unmatched=False)
        self._split = Split(split)
        known = self._engine_special()
        self._odd = {text: rank for text, rank in self.special.items() if text not in known}
        self._odd_pattern = _any_of(frozenset(self._odd))
        self._tokenizer = Tokenizer(
            TokenizerSpec(
                unit="byte",
                split=split,
                tokens=self.decoder,
                alphabet={token: rank for token, rank in self.encoder.items() if len(token) == 1},
                merges=None,
                special_tokens=known,
                whole_pieces=True,
            )
        )
        self._special_names = frozenset(self.special)
        self._apart = all(map(BRACKETED.fullmatch, self.special))
        self._special_bytes = {rank: text.encode() for text, rank in reversed(self.special.items())}
        self._special_ranks = {text.encode(): rank for text, rank in self.special.items()}

    def _engine_special(self) -> dict[str, int]:
        """The special tokens that the engine can have: one text an id, none of an ordinary token."""
        limit = min(MAX_ID, GAP_FACTOR * len(self.encoder))
        owners: dict[int, str] = {}
        for text, rank in self.special.items():
            if rank not in self.decoder and rank < max(limit, 1_000_000):
                owners.setdefault(rank, text)
        return {text: rank for rank, text in owners.items()}

    # ---- text -> ranks ----

    def encode_ordinary(self, text: str) -> list[int]:
        """The ranks of a text, special tokens as plain text."""
        try:
            return self._tokenizer.encode(text, "text")
        except UnknownSymbolError:
            return [
                rank
                for piece in self._split.pieces(text)
                for rank in self.encode_single_piece(piece.encode())
            ]

    def encode(self, text: str, allowed_special: AbstractSet[str]) -> list[int]:
        """The ranks of a text; special tokens that are allowed become theirs, the others are plain text."""
        if not self._special_names & _names(allowed_special):
            return self.encode_ordinary(text)
        if self._special_names <= allowed_special and not self._has_odd(text):
            try:
                return self._tokenizer.encode(text, "allow")
            except UnknownSymbolError:
                pass
        ranks: list[int] = []
        for run, rank in self.runs(text, allowed_special):
            ranks += self.encode_ordinary(run) if rank is None else [rank]
        return ranks

    def encode_strict(self, text: str, allowed_special: AbstractSet[str]) -> list[int] | None:
        """The ranks of a text with no special tokens but the allowed ones; `None` if there is more to it."""
        allowed = self._special_names & _names(allowed_special)
        if self._has_odd(text) or (allowed and not self._apart):
            return None
        policy = allowed if len(allowed) < len(self._special_names) else "allow"
        try:
            return self._tokenizer.encode(text, policy if allowed else "raise")
        except (SpecialTokenError, UnknownSymbolError):
            return None

    def encode_array(self, text: str, allowed_special: AbstractSet[str]) -> NDArray[np.uint32]:
        """`encode` as an array, shape (n,)."""
        try:
            if not self._special_names & _names(allowed_special):
                return self._tokenizer.encode_array(text, "text")
            if self._special_names <= allowed_special and not self._has_odd(text):
                return self._tokenizer.encode_array(text, "allow")
        except UnknownSymbolError:
            pass
        return np.array(self.encode(text, allowed_special), dtype=np.uint32)

    def encode_batch(self, texts: list[str], policy: str, threads: int) -> list[list[int]] | None:
        """Many texts under one policy of the engine's; `None` where that is not all there is to it."""
        if policy != "text" and any(map(self._has_odd, texts)):
            return None
        try:
            return self._tokenizer.encode_batch(texts, policy, threads)
        except (SpecialTokenError, UnknownSymbolError):
            return None

    def encode_single_piece(self, piece: bytes) -> list[int]:
        """The ranks of bytes that no split cuts."""
        whole = self.encoder.get(piece)
        return byte_pair_encode(piece, self.encoder) if whole is None else [whole]

    def encode_single_token(self, piece: bytes) -> int:
        """The rank of a token or special token; `KeyError`."""
        found = self.encoder.get(piece)
        if found is None:
            found = self._special_ranks.get(piece)
        if found is None:
            raise KeyError(piece)
        return found

    def runs(self, text: str, allowed_special: AbstractSet[str]) -> Iterator[tuple[str, int | None]]:
        """The text cut at allowed special tokens, leftmost and longest: runs, and the ranks of the others."""
        found = _any_of(self._special_names & frozenset(allowed_special))
        start = 0
        for match in found.finditer(text) if found is not None else ():
            yield text[start : match.start()], None
            yield match[0], self.special[match[0]]
            start = match.end()
        yield text[start:], None

    def pieces(self, text: str) -> list[str]:
        """Where the pattern cuts a text; what it does not match is dropped."""
        return self._split.pieces(text)

    def _has_odd(self, text: str) -> bool:
        return self._odd_pattern is not None and self._odd_pattern.search(text) is not None

    # ---- ranks -> bytes ----

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The bytes of the tokens, joined; `KeyError` for a rank that no token has, `OverflowError`."""
        if not hasattr(tokens, "__getitem__") or isinstance(tokens, (str, bytes, Mapping)):
            raise TypeError(f"{type(tokens).__name__!r} object is not an instance of 'Sequence'")
        try:
            return self._tokenizer.decode_bytes(tokens)
        except (UnknownTokenError, TypeError):
            return b"".join(map(self._bytes_of, tokens))

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of one token; `KeyError`, `OverflowError`."""
        rank = _u32(token)  # a float would be found as the integer that it equals
        found = self.decoder.get(rank)
        if found is None:
            found = self._special_bytes.get(rank)
        if found is None:
            raise KeyError(str(rank))
        return found

    def _bytes_of(self, token: int) -> bytes:
        try:
            return self.decode_single_token_bytes(token)
        except KeyError:
            raise KeyError(f"Invalid token for decoding: {token}") from None

    def token_byte_values(self) -> list[bytes]:
        """The bytes of every token that is not special, sorted."""
        return list(self.sorted_tokens)

    @cached_property
    def sorted_tokens(self) -> list[bytes]:
        """`token_byte_values`, kept: not to be changed."""
        return sorted(self.encoder)

    @cached_property
    def sorted_ranks(self) -> list[int]:
        """Their ranks: not to be changed."""
        return [self.encoder[token] for token in self.sorted_tokens]


def _checked(ranks: Mapping[Token, int], kind: type) -> dict[Token, int]:
    """Token -> rank; raises what tiktoken does for other types and sizes, `ValueError` for an empty text."""
    if not isinstance(ranks, Mapping):
        raise TypeError(f"{type(ranks).__name__!r} object is not an instance of 'dict'")
    for token in ranks:
        if not isinstance(token, kind):
            raise TypeError(f"{type(token).__name__!r} object is not an instance of {kind.__name__!r}")
        if token == "":
            raise ValueError("a special token is empty, which is found everywhere: give it a text")
    return {token: _u32(rank) for token, rank in ranks.items()}


def _u32(value: object) -> int:
    """An integer of 32 bits; `TypeError`, `OverflowError` in PyO3's words."""
    number = value if type(value) is int else operator.index(value)  # type: ignore[arg-type]
    if not 0 <= number < U32:
        raise OverflowError("out of range integral type conversion attempted")
    return number


def _names(allowed: AbstractSet[str]) -> AbstractSet[str]:
    if not isinstance(allowed, AbstractSet):
        raise TypeError(f"{type(allowed).__name__!r} object is not an instance of 'set'")
    return allowed


@lru_cache(maxsize=128)
def _any_of(texts: frozenset[str]) -> re.Pattern[str] | None:
    """A pattern that finds the longest of some texts, or `None` for no texts."""
    longest_first = sorted(texts, key=lambda text: (-len(text), text))
    return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None
