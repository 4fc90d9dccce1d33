"""`Encoding`: tiktoken's class, with its arguments, ids and errors.

Adds the policy on special tokens: forbidden ones are an error, allowed ones become their ids, all others are
plain text. Leaves out: how text becomes ids (`_tiktoken`), which encodings there are (`registry`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from syllabary.arguments import thread_count
from syllabary.cached import cached_property
from syllabary.compat.tiktoken import _unstable
from syllabary.compat.tiktoken._tiktoken import CoreBPE
from syllabary.errors import TextError

Allowed = Literal["all"] | AbstractSet[str]
Disallowed = Literal["all"] | Collection[str]
MAX_THREADS = 128


class Encoding:
    """A published or made tokenizer, by tiktoken's interface. Immutable; threads may share it."""

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        """From its parts.

        name: what it is known by. pat_str: the split; what it does not match is dropped.
        mergeable_ranks: token -> rank. special_tokens: text -> rank.
        explicit_n_vocab: how many tokens there must be, without gaps; else `AssertionError`.

        Raises `ValueError` for a pattern that cannot be run and for two tokens of one rank.
        """
        self.name = name
        self._pat_str = pat_str
        self._mergeable_ranks = mergeable_ranks
        self._special_tokens = special_tokens
        self.max_token_value = max(max(mergeable_ranks.values()), max(special_tokens.values(), default=0))
        if explicit_n_vocab:
            count = len(mergeable_ranks) + len(special_tokens)
            if count != explicit_n_vocab:
                raise AssertionError(f"{count} tokens, not explicit_n_vocab={explicit_n_vocab}")
            if self.max_token_value != explicit_n_vocab - 1:
                raise AssertionError(f"the last rank is {self.max_token_value}, not {explicit_n_vocab - 1}")
        self._special_token_values = set(special_tokens.values())
        self._core_bpe = CoreBPE(mergeable_ranks, special_tokens, pat_str)

    def __repr__(self) -> str:
        """The name, for the prompt."""
        return f"<Encoding {self.name!r}>"

    # ---- text -> ids ----

    def encode_ordinary(self, text: str) -> list[int]:
        """The ids of a text, special tokens as plain text; surrogates as in `encode`."""
        try:
            return self._core_bpe.encode_ordinary(text)
        except TextError:
            return self._core_bpe.encode_ordinary(_repaired(text))

    def encode(
        self, text: str, *, allowed_special: Allowed = frozenset(), disallowed_special: Disallowed = "all"
    ) -> list[int]:
        """The ids of a text.

        allowed_special: special tokens that become their ids, or `"all"`.
        disallowed_special: those that are a `ValueError` if the text has them; `"all"`: all but the allowed.
            Special tokens in neither are plain text.
        Surrogate pairs become their character, lone surrogates U+FFFD.
        """
        every = allowed_special == "all"
        if disallowed_special == "all" and (every or self._wrong(allowed_special) is None):
            try:
                found = self._core_bpe.encode_strict(
                    text,
                    self.special_tokens_set if every else allowed_special,  # type: ignore[arg-type]
                )
            except TextError:
                found = None
            if found is not None:
                return found
        allowed = self._allowed(text, allowed_special, disallowed_special)
        try:
            return self._core_bpe.encode(text, allowed)
        except TextError:
            return self._core_bpe.encode(_repaired(text), allowed)

    def encode_to_numpy(
        self, text: str, *, allowed_special: Allowed = frozenset(), disallowed_special: Disallowed = "all"
    ) -> NDArray[np.uint32]:
        """`encode` as an array, shape (n,), that cannot be written to."""
        allowed = self._allowed(text, allowed_special, disallowed_special)
        try:
            ids = self._core_bpe.encode_array(text, allowed)
        except TextError:
            ids = self._core_bpe.encode_array(_repaired(text), allowed)
        ids.flags.writeable = False
        return ids

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """The ids of many texts, special tokens as plain text; the same for any number of threads."""
        texts = list(text)
        found = self._batch(texts, "text", num_threads)
        return [self.encode_ordinary(one) for one in texts] if found is None else found

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
    ) -> list[list[int]]:
        """The ids of many texts, each as `encode` gives them; the same for any number of threads."""
        texts = list(text)
        allowed, disallowed = self._policy(allowed_special, disallowed_special)
        found = None
        if self._wrong(allowed) is not None:
            pass  # the first text says it, after its own errors
        elif disallowed == self.special_tokens_set and not allowed:
            found = self._batch(texts, "raise", num_threads)
        elif not disallowed and (not allowed or allowed >= self.special_tokens_set):
            found = self._batch(texts, "allow" if allowed else "text", num_threads)
        if found is not None:
            return found
        _threads(num_threads)
        return [self.encode(one, allowed_special=allowed, disallowed_special=disallowed) for one in texts]

    def encode_with_unstable(
        self, text: str, *, allowed_special: Allowed = frozenset(), disallowed_special: Disallowed = "all"
    ) -> tuple[list[int], list[list[int]]]:
        """The ids that stay whatever follows the text, and the sequences that its rest may begin with.

        tiktoken gives the sequences in no order; here they are sorted.
        """
        allowed = self._allowed(text, allowed_special, disallowed_special)
        try:
            return _unstable.encode_with_unstable(self._core_bpe, text, allowed)
        except TextError:
            return _unstable.encode_with_unstable(self._core_bpe, _repaired(text), allowed)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """The id of a token, special ones too; `KeyError` with its bytes."""
        return self._core_bpe.encode_single_token(_utf8(text_or_bytes))

    # ---- ids -> text ----

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The bytes of the tokens, joined; `KeyError` for an id that no token has."""
        return self._core_bpe.decode_bytes(tokens)

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """The text of the tokens; `errors` as in `bytes.decode`."""
        return self._core_bpe.decode_bytes(tokens).decode("utf-8", errors=errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of one token, special ones too; `KeyError`."""
        return self._core_bpe.decode_single_token_bytes(token)

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """The bytes of each token; `KeyError`."""
        return [self._core_bpe.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """The text, and for each token the index of the character that holds its first byte.

        Raises `UnicodeDecodeError` for tokens that are not UTF-8 together.
        """
        offsets: list[int] = []
        length = 0
        parts = self.decode_tokens_bytes(tokens)
        for part in parts:
            inside = bool(part) and 0x80 <= part[0] < 0xC0
            offsets.append(max(0, length - inside))
            length += sum(not 0x80 <= byte < 0xC0 for byte in part)
        return b"".join(parts).decode("utf-8", errors="strict"), offsets

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """The text of each sequence of tokens."""
        _threads(num_threads)
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(self, batch: Sequence[Sequence[int]], *, num_threads: int = 8) -> list[bytes]:
        """The bytes of each sequence of tokens."""
        _threads(num_threads)
        return [self.decode_bytes(tokens) for tokens in batch]

    # ---- the vocabulary ----

    def token_byte_values(self) -> list[bytes]:
        """The bytes of all tokens that are not special, sorted."""
        return self._core_bpe.token_byte_values()

    @property
    def eot_token(self) -> int:
        """The id of `<|endoftext|>`; `KeyError` if there is none."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The texts of the special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Whether an id is a special token's; `AssertionError` for what is no integer."""
        if not isinstance(token, int):
            raise AssertionError(f"{token!r} is no integer")
        return token in self._special_token_values

    @property
    def n_vocab(self) -> int:
        """One more than the highest id."""
        return self.max_token_value + 1

    # ---- what tiktoken has and does not document ----

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """The ids of text or bytes that no split cuts."""
        return self._core_bpe.encode_single_piece(_utf8(text_or_bytes))

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """The ids of a text that the module `regex` has split."""
        import regex

        pieces = regex.findall(regex.compile(self._pat_str), text)
        return [rank for piece in pieces for rank in self._core_bpe.encode_single_piece(piece.encode())]

    def _encode_bytes(self, text: bytes) -> list[int]:
        """The ids of bytes that need not be UTF-8."""
        return _unstable.encode_bytes(self._core_bpe, text)

    def __getstate__(self) -> object:
        """A registered encoding is pickled by its name, any other by its parts."""
        from syllabary.compat.tiktoken import registry

        if self is registry.ENCODINGS.get(self.name):
            return self.name
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": self._mergeable_ranks,
            "special_tokens": self._special_tokens,
        }

    def __setstate__(self, value: object) -> None:
        """From a name or parts."""
        from syllabary.compat.tiktoken import registry

        if isinstance(value, str):
            self.__dict__ = registry.get_encoding(value).__dict__
        elif isinstance(value, Mapping):
            parts: dict[str, Any] = dict(value)
            self.__dict__ = Encoding(parts.pop("name"), **parts).__dict__

    # ---- inside ----

    def _policy(self, allowed: Allowed, disallowed: Disallowed) -> tuple[AbstractSet[str], AbstractSet[str]]:
        """The special tokens allowed and those that are errors, with `"all"` spelled out."""
        chosen = self.special_tokens_set if allowed == "all" else allowed
        if disallowed == "all":
            return chosen, self.special_tokens_set - chosen
        return chosen, frozenset(disallowed)

    def _allowed(self, text: str, allowed: Allowed, disallowed: Disallowed) -> AbstractSet[str]:
        """The special tokens allowed; `ValueError` if the text has one that is an error."""
        chosen, forbidden = self._policy(allowed, disallowed or ())
        if forbidden:
            match = _special_token_regex(frozenset(forbidden)).search(text)
            if match is not None:
                raise_disallowed_special_token(match[0])
        if wrong := self._wrong(chosen):
            raise wrong
        return chosen

    def _wrong(self, allowed: object) -> Exception | None:
        """What tiktoken raises for anything but a set of texts, whatever the text; `None` for one."""
        if not isinstance(allowed, (set, frozenset)):
            return TypeError(f"{type(allowed).__name__!r} object is not an instance of 'set'")
        if allowed <= self.special_tokens_set:
            return None
        for name in allowed:
            if not isinstance(name, str):
                return TypeError(f"{type(name).__name__!r} object is not an instance of 'str'")
            try:
                name.encode("utf-8")
            except UnicodeEncodeError as error:
                return error
        return None

    def _batch(self, texts: list[str], policy: str, num_threads: int) -> list[list[int]] | None:
        """What the engine gives for all texts; `None` where one needs more than that."""
        threads = _threads(num_threads)
        try:
            return self._core_bpe.encode_batch(texts, policy, threads)
        except (TextError, TypeError):
            return None


@functools.lru_cache(maxsize=128)
def _special_token_regex(tokens: frozenset[str]) -> re.Pattern[str]:
    """Finds the first of some texts, the longest of those that begin there."""
    inner = "|".join(re.escape(token) for token in sorted(tokens, key=lambda token: (-len(token), token)))
    return re.compile(f"({inner})")


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Raise the `ValueError` for a special token that a text must not have, in tiktoken's words."""
    raise ValueError(
        f"Encountered text corresponding to disallowed special token {token!r}.\n"
        "If you want this text to be encoded as a special token, "
        f"pass it to `allowed_special`, e.g. `allowed_special={{{token!r}, ...}}`.\n"
        "If you want this text to be encoded as normal text, disable the check for this token "
        f"by passing `disallowed_special=(enc.special_tokens_set - {{{token!r}}})`.\n"
        "To disable this check for all special tokens, pass `disallowed_special=()`.\n"
    )


def _repaired(text: str) -> str:
    """Surrogate pairs as their characters, lone surrogates as U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _utf8(text_or_bytes: str | bytes) -> bytes:
    if isinstance(text_or_bytes, str):
        return text_or_bytes.encode("utf-8")
    if isinstance(text_or_bytes, bytes):
        return text_or_bytes
    raise TypeError(f"{type(text_or_bytes).__name__!r} object is not an instance of 'bytes'")


def _threads(number: int | None) -> int:
    """A number of threads, no more than there is use for; `None`: one a core; `ValueError` below one."""
    if number is None:
        return thread_count(None)
    if number <= 0:
        raise ValueError("max_workers must be greater than 0")
    return min(number, MAX_THREADS)
