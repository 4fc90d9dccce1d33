"""`Tokenizer`: the facade over the engine.

Adds policy, messages and documentation; every id is the engine's. Leaves out: training (`training`),
opening (`opening`), file formats (`formats`), and how any of it works (`reference` says so in plain Python).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from syllabary import formats, reference
from syllabary._engine import Calls, make_ready
from syllabary._engine import Tokenizer as Engine
from syllabary.arguments import (
    coins,
    handler,
    integer,
    iterated,
    listed,
    special_policy,
    text_or_none,
    thread_count,
    unmasked,
)
from syllabary.cached import cached_property
from syllabary.conversing import Conversing
from syllabary.drawing import Drawing
from syllabary.errors import TextError, UnknownTokenError
from syllabary.ragged import Ragged
from syllabary.read_only import ReadOnly
from syllabary.reference.check import check_spec, token_bytes
from syllabary.reference.check_models import check_drops
from syllabary.reference.symbols import plural, shown, utf8
from syllabary.spec import TokenizerSpec
from syllabary.text_methods import Special as Special
from syllabary.text_methods import TextMethods
from syllabary.tokenizer_full import FullEncoding

REPLACE = "replace"
Path = str | os.PathLike[str]
Result = TypeVar("Result")


class Tokenizer(Calls, Drawing, FullEncoding, TextMethods, Conversing):
    """Text to ids and back. Immutable; threads may share it, processes may pickle it; equal data, equal.

    Every method that reads text takes `special`: `"raise"` (`SpecialTokenError` names the one found),
    `"allow"` (its id), `"text"` (ordinary text), or a set of names to allow. Added tokens that are not
    special always match. Text is `str`; a lone surrogate raises `TextError` with its position, a symbol that
    no token spells `UnknownSymbolError`. Ids are uint32 in arrays.

    Those that give ids of text take `dropout`, the probability of passing over a merge (`None`: the
    tokenizer's own, which is 0 unless its file says otherwise), and `seed`: the same seed gives the same ids
    to the same text at the same place of a batch, on any number of threads; `None` draws a new one each
    time. Counts, offsets and steps are without dropout. `VocabularyError` where there are no merges.

    >>> import syllabary
    >>> tok = syllabary.train(["low lower lowest"] * 3, vocab_size=262, special_tokens=["<|end|>"])
    >>> tok.tokens("lowest low")
    [b'low', b'e', b'st', b' low']
    >>> tok.decode(tok.encode("lowest low"))
    'lowest low'
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        """From its data; `VocabularyError` if that is no tokenizer."""
        if not isinstance(spec, TokenizerSpec):
            raise TypeError(
                f"spec is {type(spec).__name__}: give a TokenizerSpec; syllabary.load opens a file"
            )
        check_spec(spec)
        self._start(spec)

    @classmethod
    def _read(cls, spec: TokenizerSpec) -> Tokenizer:
        """From data that `formats` has read, and checked."""
        made = cls.__new__(cls)
        made._start(spec)
        return made

    def _start(self, spec: TokenizerSpec) -> None:
        """From data that is a tokenizer's."""
        self._spec = spec
        self._engine = Engine(spec)
        if not spec.dropout:
            self._call(self._engine)

    def _grown(self, spec: TokenizerSpec) -> Tokenizer:
        """The same with other added tokens, in which alone this data, which is a tokenizer's, differs."""
        made = Tokenizer._read(spec)
        if "_spelled" in self.__dict__:
            made.__dict__["_spelled"] = self._spelled.grown(spec, self._spec)
        return made

    def __eq__(self, other: object) -> bool:
        """Whether the other is of the same class and has equal data (`spec`), with its record of training."""
        if type(other) is not type(self):
            return NotImplemented
        return self is other or self._spec == other._spec

    def __hash__(self) -> int:
        """Of how many tokens there are, and how text is cut."""
        spec = self._spec
        return hash((len(spec.tokens), spec.unit, spec.split, frozenset(spec.special_tokens.items())))

    @property
    def spec(self) -> TokenizerSpec:
        """The tokenizer as plain data."""
        return self._spec

    # ---- text -> ids: also `encode`, `encode_array` and `count` of `Calls` ----

    def encode_batch(
        self,
        texts: Iterable[str],
        special: Special = "raise",
        threads: int | None = None,
        dropout: float | None = None,
        seed: int | None = None,
    ) -> list[list[int]]:
        """The ids of every text; the same for any number of threads (default: one a core)."""
        drawn = self._coins(dropout, seed)
        return self._batch(self._engine.encode_batch, texts, special, threads, *drawn)

    def encode_batch_array(
        self,
        texts: Iterable[str],
        special: Special = "raise",
        threads: int | None = None,
        dropout: float | None = None,
        seed: int | None = None,
    ) -> Ragged:
        """The ids of every text in one array; the same for any number of threads."""
        drawn = self._coins(dropout, seed)
        return Ragged.made(*self._batch(self._engine.encode_batch_array, texts, special, threads, *drawn))

    def encode_files(
        self,
        paths: Path | Iterable[Path],
        separator: str | None = None,
        special: Special = "raise",
        threads: int | None = None,
    ) -> Ragged:
        """The ids of UTF-8 files, read by the engine: the text never becomes a Python object.

        One document a file, unless `separator` cuts it into several (a last one ends the file and begins
        no further document). Raises `OSError` with the path, `CorpusError` with file and byte.
        """
        text_or_none("separator", separator)
        if separator == "":
            raise ValueError("separator is empty: give a text that stands between documents, or None")
        many = (
            [paths] if isinstance(paths, (str, os.PathLike)) else listed("paths", paths, (str, os.PathLike))
        )
        policy, count = self._policy(special), thread_count(threads)
        return Ragged.made(*self._engine.encode_files(many, separator, policy, count))

    def count_batch(
        self, texts: Iterable[str], special: Special = "raise", threads: int | None = None
    ) -> NDArray[np.int64]:
        """The number of ids of every text, int64, shape (texts,)."""
        return self._batch(self._engine.count_batch, texts, special, threads)

    def tokens(
        self, text: str, special: Special = "raise", dropout: float | None = None, seed: int | None = None
    ) -> list[bytes]:
        """The bytes of each token of `text`, marks and all."""
        return [self.vocab[token_id] for token_id in self.encode(text, special, dropout, seed)]

    def offsets(
        self, text: str, unit: Literal["char", "byte"] = "char", special: Special = "raise"
    ) -> NDArray[np.int64]:
        """Where each token is in `text`: start and end, int64, shape (n, 2).

        byte: in the UTF-8 of `text`. char: from the character that holds the token's first byte to one past
        the one that holds its last: neighbours that share one overlap (as in Hugging Face's library).
        """
        if unit not in ("char", "byte"):
            raise ValueError(f'unit={unit!r}: offsets are counted in "char" or "byte"')
        return self._engine.offsets(text, self._policy(special), unit == "char")

    def steps(self, text: str, special: Special = "raise") -> Iterator[list[list[int]]]:
        """Every state from single symbols to ids, one merge a step: the ids of each piece.

        Computed by `syllabary.reference`, for looking at: slow on long text.

        >>> import syllabary
        >>> tok = syllabary.train(["low low"], vocab_size=258)
        >>> [[[tok.vocab[i] for i in piece] for piece in state] for state in tok.steps("low")]
        [[[b'l', b'o', b'w']], [[b'lo', b'w']], [[b'low']]]
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, not {type(text).__name__}")
        self._policy(special)
        return self._reference.steps(text, special if isinstance(special, str) else set(special))

    # ---- ids -> text ----

    def decode(self, ids: Iterable[int] | NDArray[np.integer], errors: str = "replace") -> str:
        """The text of `ids`; `errors` as in `bytes.decode`, with `TextError` for `"strict"`.

        One that decodes by steps has its own way with bytes that are no UTF-8, whatever `errors` says.
        `UnknownTokenError` names an id that no token has, and its index.
        """
        policy = errors if errors is REPLACE else handler(errors)
        unmasked("ids", ids)
        try:
            return self._engine.decode(ids, policy)
        except UnicodeDecodeError as error:
            raise reference.decode.invalid_utf8(error, 0) from error

    def decode_bytes(self, ids: Iterable[int] | NDArray[np.integer]) -> bytes:
        """The bytes of the tokens, joined; perhaps no whole characters. By steps: UTF-8. Errors: `decode`."""
        unmasked("ids", ids)
        return self._engine.decode_bytes(ids)

    def decode_batch(
        self, batch: Ragged | Iterable[Iterable[int] | NDArray[np.integer]], errors: str = "replace"
    ) -> list[str]:
        """The text of each sequence of ids. Raises what `decode` does, with the number of the sequence."""
        decoded, left = list[str](), 1 << 20  # characters more until memory is seen to
        for ids in iterated("batch", batch, "sequences of ids"):
            try:
                decoded.append(self.decode(ids, errors))
            except (TypeError, UnknownTokenError, TextError) as error:
                raise type(error)(f"sequence {len(decoded)} of the batch: {error}") from error
            if (left := left - len(decoded[-1])) < 0:
                make_ready(left := 1 << 23)
        return decoded

    def decoder(self, errors: str = "replace") -> reference.IncrementalDecoder:
        """A decoder that takes ids as they come, one or some at a time, exact over split characters.

        `.push(id)` and `.push(ids)` give the text that is certain now, `.flush()` the rest; joined: `decode`.
        """
        return reference.IncrementalDecoder(self._decoder_table, handler(errors))

    # ---- the vocabulary ----

    @property
    def vocab_size(self) -> int:
        """The number of tokens, special ones and the alphabet included."""
        return len(self.vocab)

    @cached_property
    def vocab(self) -> Mapping[int, bytes]:
        """id -> bytes, a read-only dict in order of the ids; special tokens by the UTF-8 of their text."""
        return ReadOnly(sorted(token_bytes(self._spec).items()))

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The pairs that merge, as bytes, in rank order.

        Where there are ranks only (tiktoken's), the pair that each token is made of by those below it.
        """
        return [(self.vocab[left], self.vocab[right]) for left, right, _result in self._merges]

    @property
    def special_tokens(self) -> dict[str, int]:
        """Text -> id of the special tokens."""
        return dict(self._spec.special_tokens)

    def token_to_id(self, token: bytes | str) -> int:
        """The id of a token: a `str` is a special or added token, or the UTF-8 of an ordinary one.

        `UnknownTokenError` if there is none.
        """
        named = {**self._spec.special_tokens, **self._spec.added_tokens}
        if isinstance(token, str) and token in named:
            return named[token]
        if not isinstance(token, (str, bytes)):
            raise TypeError(f"token is {shown(token)}: give bytes or str")
        data = token.encode("utf-8", "surrogatepass") if isinstance(token, str) else token
        if data not in self._ids:
            raise UnknownTokenError(
                f"{shown(token)} is no token of this vocabulary; encode() cuts text to tokens"
            )
        return self._ids[data]

    def id_to_token(self, token_id: int) -> bytes:
        """The bytes of token `token_id`; `UnknownTokenError` if there is none."""
        number = integer("token_id", token_id)
        if number not in self.vocab:
            last = max(self.vocab, default=None)
            raise UnknownTokenError(f"id {number} is no token of this vocabulary, whose last id is {last}")
        return self.vocab[number]

    def truncate(self, size: int) -> Tokenizer:
        """The tokenizer with the first `size` tokens (special ones counted) that training learned.

        What `train(..., vocab_size=size)` gives; of one from elsewhere, the same without its last merges. Ids
        close up; a `LossWarning` names what goes too. `VocabularyError` as `syllabary.truncation` says.
        """
        from syllabary.truncation import truncate  # loads what training is told, which few need

        return Tokenizer(formats.moved.told(self._spec, truncate(self._spec, integer("size", size))))

    def save(self, path: Path, format: str | None = None) -> None:  # noqa: A002 (public name)
        """Write the tokenizer; the format by name or by suffix (`syllabary.formats`).

        A format that is not known, or cannot hold this tokenizer, is a `FormatError` (`syllabary.convert`
        writes what it can hold and names the rest); a file that cannot be written is an `OSError`. Formats
        that leave split and special tokens to the reader (`.tiktoken`, GPT-2's pair) are written without
        them: give them to `load` again. A file is written whole or not at all.
        """
        formats.write(self._spec, path, format)

    def __repr__(self) -> str:
        """Unit, size and split, for the prompt."""
        split = self._spec.split
        name = "none" if split.pattern is None else split.name or repr(split.pattern)
        return f"<syllabary.Tokenizer {self._spec.unit}, {plural(self.vocab_size, 'token')}, split {name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled, and copied, as its data; of a child class, with its own attributes."""
        if type(self) is Tokenizer:
            return Tokenizer, (self._spec,)
        inside = ("_spec", "_engine")
        own = {name: one for name, one in vars(self).items() if name not in inside + tuple(dir(type(self)))}
        return _as_child, (type(self), self._spec), own

    # ---- inside ----

    def _encode(self, text: str, special: Special, dropout: float | None, seed: int | None) -> list[int]:
        """`encode` where more is said than `"raise"`, `"allow"` or `"text"`, or the tokenizer has dropout."""
        return self._engine.encode(text, self._policy(special), *self._coins(dropout, seed))

    def _encode_array(
        self, text: str, special: Special, dropout: float | None, seed: int | None
    ) -> NDArray[np.uint32]:
        """The same of `encode_array`."""
        return self._engine.encode_array(text, self._policy(special), *self._coins(dropout, seed))

    def _count(self, text: str, special: Special) -> int:
        """The same of `count`."""
        return self._engine.count(text, self._policy(special))

    def _policy(self, special: Special) -> str | list[int]:
        """The engine's form of `special`."""
        return special_policy(special, self._spec.special_tokens)

    def _coins(self, dropout: float | None, seed: int | None) -> tuple[float, int] | tuple[()]:
        """What the engine is told of dropout."""
        if dropout is None and seed is None and not self._spec.dropout:
            return ()
        drawn = coins(self._spec.dropout if dropout is None else dropout, seed)
        check_drops(self._spec, drawn[0] if drawn else 0.0)
        return drawn

    def _batch(
        self,
        run: Callable[..., Result],
        texts: Iterable[str],
        special: Special,
        threads: int | None,
        *drawn: Any,
    ) -> Result:
        """What `run` of the engine gives for the texts; an error names the text."""
        many: Any = texts if type(texts) in (list, tuple) else list(iterated("texts", texts, "str"))
        policy = self._policy(special)
        count = 1 if threads is None and len(many) == 1 else thread_count(threads)
        try:
            return run(many, policy, count, *drawn)
        except TextError:
            for index, text in enumerate(many):
                utf8(text, f"text {index} of the batch")
            raise

    @cached_property
    def _merges(self) -> tuple[tuple[int, int, int], ...]:
        merges = self._spec.merges
        return formats.recover_merges(self._spec.tokens) if merges is None else merges

    @cached_property
    def _ids(self) -> dict[bytes, int]:
        # Of equal bytes what text becomes, the lowest id: no unused one, nor byte `<0x61>` if `a` is a token.
        found, spec = sorted(self.vocab.items(), reverse=True), self._spec
        if spec.unused or spec.byte_tokens:
            found.sort(key=lambda one: (one[0] in spec.unused, one[0] in spec.byte_tokens), reverse=True)
        return {token: token_id for token_id, token in found}

    @cached_property
    def _decoder_table(self) -> reference.Decoder:
        return reference.Decoder(self._spec)

    @cached_property
    def _reference(self) -> reference.ReferenceTokenizer:
        return reference.ReferenceTokenizer(self._spec)


def _as_child(kind: type[Tokenizer], spec: TokenizerSpec) -> Tokenizer:
    """A tokenizer of a child class, whatever its own constructor takes."""
    made = kind.__new__(kind)
    Tokenizer.__init__(made, spec)
    return made
