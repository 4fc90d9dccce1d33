"""Decoding: ids -> bytes -> text, at once or one id at a time.

Adds the bytes of every id, the space that an end-of-word mark stands for, the error policy for bytes that
are not UTF-8, and the incremental decoder. Tokenizers of other libraries decode by steps
(`TokenizerSpec.decoder`); those are only called here. Leaves out: encoding (`tokenizer`), what steps read
(`spellings`) and do (`step_decoders`), and doing it bit by bit (`incremental`).
"""

from __future__ import annotations

import codecs
import operator
from collections.abc import Iterable
from copy import deepcopy
from typing import Any, SupportsIndex

from syllabary.errors import TextError, UnknownTokenError
from syllabary.reference import step_decoders
from syllabary.reference.incremental import Stream
from syllabary.reference.spellings import classes, spellings
from syllabary.reference.step_decoders import TokenClass
from syllabary.reference.symbols import shown
from syllabary.spec import TokenizerSpec


def read_id(value: SupportsIndex, index: int) -> int:
    """An id as a plain integer; `TypeError` for what is none (a bool, a float, a string).

    >>> read_id(5, index=0)
    5
    """
    if type(value) is int:
        return value
    boolean = isinstance(value, bool) or str(getattr(value, "dtype", "")) in ("bool", "torch.bool")
    if not boolean and not getattr(value, "ndim", 0):
        try:
            return operator.index(value)
        except TypeError:
            pass
    kind = type(value).__name__
    raise TypeError(f"id {shown(value)} at index {index} is of type {kind}: ids are integers")


def several(ids: object) -> bool:
    """Whether these are ids in a row, and not one: an array or a tensor without dimensions is one.

    >>> several([5]), several(5), several("5")
    (True, False, False)
    """
    text = isinstance(ids, (str, bytes, bytearray))
    return isinstance(ids, Iterable) and not text and getattr(ids, "ndim", 1) != 0


class Decoder:
    """A tokenizer's vocabulary, as decoding reads it.

    table: id -> bytes, with each end-of-word mark as a space. word_ends: ids of tokens that end with a mark.
    steps, spellings, classes: of a tokenizer that decodes by steps; else `None` and empty. Only tokens that
    are not `"normal"` have a class.
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        """Spell every token; special and added tokens are their text, in which a mark is no space."""
        self.table: dict[int, bytes] = dict(spec.tokens)
        self.word_ends: frozenset[int] = frozenset()
        self.steps = spec.decoder
        self.spellings: dict[int, str] = {}
        self.classes: dict[int, TokenClass] = {}
        if self.steps is not None:
            self.spellings = spellings(spec)
            self.classes = classes(spec)
        elif spec.end_of_word is not None:
            mark = spec.end_of_word.encode()
            self.table = {token_id: token.replace(mark, b" ") for token_id, token in spec.tokens.items()}
            ends = {token_id for token_id, token in spec.tokens.items() if token.endswith(mark)}
            self.word_ends = frozenset(ends - {*spec.special_tokens.values(), *spec.added_tokens.values()})
        for text, token_id in {**spec.special_tokens, **spec.added_tokens}.items():
            self.table[token_id] = text.encode()

    def token(self, value: SupportsIndex, index: int) -> tuple[int, bytes]:
        """The id at `index` of the input and its bytes; `UnknownTokenError` names both."""
        token_id = read_id(value, index)
        if token_id not in self.table:
            raise UnknownTokenError(
                f"id {token_id} at index {index} is not in the vocabulary, "
                f"whose {len(self.table)} ids lie between {min(self.table)} and {max(self.table)}"
            )
        return token_id, self.table[token_id]

    def decode_bytes(self, ids: Iterable[SupportsIndex]) -> bytes:
        """The tokens' bytes, joined; the space of a mark that ends the last token is dropped.

        With steps, the UTF-8 of the text.
        """
        if self.steps is not None:
            return self.decode(ids).encode()
        tokens = [self.token(value, index) for index, value in enumerate(ids)]
        joined = b"".join(token for _id, token in tokens)
        return joined[:-1] if tokens and tokens[-1][0] in self.word_ends else joined

    def decode(self, ids: Iterable[SupportsIndex], errors: str = "replace") -> str:
        """The text; `errors` as `bytes.decode` has them: `"strict"` raises `TextError` with the byte.

        Steps have their own way with bytes that are not UTF-8: then `errors` says nothing.
        """
        if self.steps is not None:
            known = [self.token(value, index)[0] for index, value in enumerate(ids)]
            kinds = [self.classes.get(token_id, "normal") for token_id in known]
            return step_decoders.decode(self.steps, [self.spellings[token_id] for token_id in known], kinds)
        try:
            return self.decode_bytes(ids).decode("utf-8", errors)
        except UnicodeDecodeError as error:
            raise invalid_utf8(error, 0) from error


class IncrementalDecoder:
    """Text as ids arrive, one or some at a time: what has been pushed and flushed, joined, is the whole text.

    Holds back the first bytes of a character until the others come, and the space of an end-of-word mark
    until something follows it. With steps, whatever a later id may change.

    >>> from syllabary.spec import SplitSpec
    >>> alphabet = {bytes([byte]): byte for byte in range(256)}
    >>> tokens = {byte: token for token, byte in alphabet.items()}
    >>> spec = TokenizerSpec("byte", SplitSpec(None), tokens, alphabet, merges=())
    >>> decoder = IncrementalDecoder(Decoder(spec))
    >>> [decoder.push(byte) for byte in "né".encode()], decoder.flush()
    (['n', '', 'é'], '')
    """

    def __init__(self, decoder: Decoder, errors: str = "replace") -> None:
        """Start at the beginning of a text."""
        self.decoder = decoder
        self.utf8 = codecs.getincrementaldecoder("utf-8")(errors)
        self.stream = None if decoder.steps is None else Stream(decoder.steps)
        self.pushed = 0  # ids so far
        self.fed = 0  # bytes given to the UTF-8 decoder so far
        self.held = b""  # b" " after a token that ends a word

    def __copy__(self) -> IncrementalDecoder:
        """Another one at the same place of the text; both go on by themselves."""
        new = type(self).__new__(type(self))
        shared: dict[int, object] = {
            id(self.decoder): self.decoder,
            id(self.decoder.steps): self.decoder.steps,
        }
        new.__dict__.update(self.__dict__, utf8=deepcopy(self.utf8), stream=deepcopy(self.stream, shared))
        return new

    def push(self, ids: SupportsIndex | Iterable[SupportsIndex]) -> str:
        """The text that is certain now and was not before, after one id or several (a list, an array).

        An unknown id is an error and changes nothing, nor do those beside it.
        """
        if type(ids) is int or not several(ids):
            tokens = [self.decoder.token(ids, self.pushed)]  # type: ignore[arg-type]
        else:
            many: Iterable[Any] = ids  # type: ignore[assignment]
            tokens = [self.decoder.token(value, index) for index, value in enumerate(many, self.pushed)]
        if not tokens:
            return ""
        self.pushed += len(tokens)
        if self.stream is not None:
            spelled = [self.decoder.spellings[number] for number, _token in tokens]
            kinds = [self.decoder.classes.get(number, "normal") for number, _token in tokens]
            return self.stream.feed(spelled, kinds, final=False)
        new = self.held + b"".join([token for _number, token in tokens])
        self.held = b" " if tokens[-1][0] in self.decoder.word_ends else b""
        return self.feed(new[:-1] if self.held else new, final=False)

    def flush(self) -> str:
        """The rest at the end of the text; the decoder is then as new."""
        if self.stream is not None and self.decoder.steps is not None:
            rest = self.stream.feed([], [], final=True)
            self.stream = Stream(self.decoder.steps)
        else:
            rest = self.feed(b"", final=True)
        self.utf8.reset()
        self.pushed, self.fed, self.held = 0, 0, b""
        return rest

    def feed(self, new: bytes, final: bool) -> str:
        """Decode `new` after the bytes of an unfinished character, if any."""
        waiting = len(self.utf8.getstate()[0])
        start = self.fed - waiting
        self.fed += len(new)
        try:
            return self.utf8.decode(new, final)
        except UnicodeDecodeError as error:
            raise invalid_utf8(error, start) from error


def invalid_utf8(error: UnicodeDecodeError, start: int) -> TextError:
    """What to raise for bytes that are not UTF-8 under `errors="strict"`."""
    return TextError(
        f"the ids decode to invalid UTF-8 at byte {start + error.start} ({error.reason}): "
        'use errors="replace", or decode_bytes for the bytes'
    )
