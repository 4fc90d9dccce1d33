"""`tokenizers.decoders`: what makes text of tokens, run by our steps.

Adds the classes of tokenizers 0.23.3, with their arguments and attributes, `Decoder.custom`, and
`DecodeStream`. Leaves out: what the steps do (`syllabary.reference.step_decoders`).
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Listed
from typing import TYPE_CHECKING, Any

from syllabary._engine import StepDecoder as Engine
from syllabary.compat.tokenizers import _component as part
from syllabary.compat.tokenizers._component import Chain, Component, Member
from syllabary.compat.tokenizers._custom import Custom, called
from syllabary.compat.tokenizers._encode import Encoder
from syllabary.compat.tokenizers._regex import no_pattern, read_pattern
from syllabary.compat.tokenizers.pre_tokenizers import scheme_of
from syllabary.formats.hf_components import DECODER
from syllabary.reference.step_decoders import DECODERS

if TYPE_CHECKING:
    from syllabary.compat.tokenizers._tokenizer import Tokenizer


class Decoder(Component):
    """The base of all decoders."""

    base = "Decoder"
    place = DECODER

    @staticmethod
    def custom(decoder: Any) -> Decoder:
        """One that calls `decoder.decode_chain(tokens)`, which gives the next tokens."""
        return _Custom(decoder)

    def decode(self, tokens: Listed[str]) -> str:
        """The text of tokens."""
        return self.runs()([*map(part.text, part.listed(tokens))])

    def runs(self) -> Callable[[list[str]], str]:
        """What decodes: the engine, as the decoder is now, or what calls the caller's code."""
        return self.kept(lambda: self._by_parts if self.is_custom else Engine(self.steps()).decode)

    def _by_parts(self, tokens: list[str]) -> str:
        strings = tokens
        for one in self.parts():
            if isinstance(one, _Custom):
                strings = list(called(one.made, "decode_chain", strings))
            else:
                for step in one.steps():
                    strings = DECODERS[step.kind](strings, step.options)
        return "".join(strings)


class _Custom(Custom, Decoder):
    """A decoder of the caller's."""

    said = "PyDecoder"


class BPEDecoder(Decoder):
    """Makes a space of the mark at the end of a word."""

    kind = "BPEDecoder"
    suffix = Member[str](part.text, "</w>")


class ByteFallback(Decoder):
    """Makes bytes of `<0x0A>`."""

    kind = "ByteFallback"


class ByteLevel(Decoder):
    """Makes bytes of GPT-2's characters."""

    kind = "ByteLevel"
    ignores = True
    add_prefix_space = Member[bool](part.flag, True, argument=None)
    trim_offsets = Member[bool](part.flag, True, argument=None)
    use_regex = Member[bool](part.flag, True, argument=None)


class CTC(Decoder):
    """Joins what a CTC model repeats."""

    kind = "CTC"
    pad_token = Member[str](part.text, "<pad>")
    word_delimiter_token = Member[str](part.text, "|")
    cleanup = Member[bool](part.flag, True)


class Fuse(Decoder):
    """Joins all tokens to one."""

    kind = "Fuse"


class Metaspace(Decoder):
    """Makes spaces of sentencepiece's mark."""

    kind = "Metaspace"
    replacement = Member[str](part.character, "▁")
    prepend_scheme = Member[str](scheme_of, "always", bare=True)
    split = Member[bool](part.flag, True)


class Replace(Decoder):
    """Replaces what a text or a `Regex` finds."""

    kind = "Replace"
    pattern = Member[Any](read_pattern, get=no_pattern, fixed=True)
    content = Member[str](part.text)


class Strip(Decoder):
    """Takes a character off the ends of each token, at most so many times."""

    kind = "Strip"
    content = Member[str](part.character, " ")
    start = Member[int](part.count, 0, argument="left")
    stop = Member[int](part.count, 0, argument="right")


class WordPiece(Decoder):
    """Joins continuing tokens to words."""

    kind = "WordPiece"
    prefix = Member[str](part.text, "##")
    cleanup = Member[bool](part.flag, True)


class Sequence(Chain, Decoder):
    """Decoders one after the other."""

    kind = "Sequence"
    listed = "decoders"
    unfolds = False


def _is_one(ids: Any) -> bool:
    """Whether these are no list of ids, but one."""
    return hasattr(ids, "__index__") and not hasattr(ids, "__iter__")


class DecodeStream:
    """The text of ids as they come: what is certain, as soon as it is whole characters.

    A text that once was given is not taken back, so the last character of a part that ends in one that is
    not whole is held back.
    """

    def __init__(self, ids: Listed[int] | None = None, skip_special_tokens: bool = False) -> None:
        """ids: those before the first step, whose text is not given."""
        self._ids = [] if ids is None else [*map(part.token_id, part.listed(ids))]
        self._skips = part.maybe_flag(skip_special_tokens) or False
        self._given = ""  # the text of the ids that have been given
        self._count = 0  # how many of them there are

    def step(self, tokenizer: Tokenizer, id: int | Listed[int]) -> str | None:  # noqa: A002 (their name)
        """The text that an id, or some, add; `None` while it is not whole."""
        part.instance(tokenizer, Encoder)
        given: Any = id
        try:
            new = [part.token_id(one) for one in ([id] if _is_one(id) else given)]
        except (TypeError, OverflowError):
            raise TypeError("StreamInput must be either an integer or a list of integers") from None
        if not self._given and self._ids:
            before = tokenizer.decode(self._ids, self._skips)
            if not before.endswith("\ufffd"):
                self._given, self._count = before, len(self._ids)
        self._ids += new
        text = tokenizer.decode(self._ids, self._skips)
        if len(text) <= len(self._given) or text.endswith("\ufffd"):
            return None
        if not text.startswith(self._given):
            raise Exception(
                "Invalid prefix encountered while decoding stream. "
                f"Token ID: {self._ids[-1]}, Expected prefix: '{self._given}', Actual string: '{text}'"
            )
        added = text[len(self._given) :]
        count = len(self._ids) - self._count
        self._ids = self._ids[self._count :]
        self._given, self._count = tokenizer.decode(self._ids, self._skips), count
        return added

    def __copy__(self) -> DecodeStream:
        """Another one that goes on from here."""
        copy = DecodeStream(self._ids, self._skips)
        copy._given, copy._count = self._given, self._count
        return copy

    def __deepcopy__(self, _memo: dict[int, object]) -> DecodeStream:
        """The same."""
        return self.__copy__()
