"""`tokenizers.pre_tokenizers`: what cuts text into words, run by our steps.

Adds the classes of tokenizers 0.23.3, with their arguments and attributes, and `PreTokenizer.custom`. Leaves
out: what the steps do (`syllabary.reference.pretokenize`), `PreTokenizedString` (`_pretokenized`).
"""

from __future__ import annotations

from typing import Any

from syllabary._engine import Pretokenizer as Engine
from syllabary.compat.tokenizers import _component as part
from syllabary.compat.tokenizers._component import Chain, Component, Member
from syllabary.compat.tokenizers._custom import Custom, called, lent
from syllabary.compat.tokenizers._normalized import WRONG_BEHAVIOR
from syllabary.compat.tokenizers._pretokenized import PreTokenizedString, PreTokenizedStringRefMut
from syllabary.compat.tokenizers._regex import no_pattern, read_pattern
from syllabary.formats.hf_components import PRE_TOKENIZER
from syllabary.formats.hf_values import BEHAVIORS
from syllabary.reference.bytes_to_unicode import BYTE_TO_CHARACTER

Offsets = tuple[int, int]
SCHEMES = ("first", "never", "always")
BY_OPTION = {option: name for name, option in BEHAVIORS.items()}


def behavior_of(value: Any) -> str:
    """A behavior as the file calls it; `ValueError`."""
    if part.text(value) not in BY_OPTION:
        raise ValueError(WRONG_BEHAVIOR)
    return BY_OPTION[value]


def scheme_of(value: Any) -> str:
    """A scheme of prepending; `ValueError`."""
    if part.text(value) not in SCHEMES:
        raise ValueError(f"{value} is an unknown variant, should be one of {list(SCHEMES)}")
    return str(value)


class PreTokenizer(Component):
    """The base of all pre-tokenizers."""

    base = "PreTokenizer"
    place = PRE_TOKENIZER

    @staticmethod
    def custom(pretok: Any) -> PreTokenizer:
        """One that calls `pretok.pre_tokenize(pretokenized)`."""
        return _Custom(pretok)

    def pre_tokenize(self, pretok: PreTokenizedString | PreTokenizedStringRefMut) -> None:
        """Cut what is not yet tokens, in place."""
        part.instance(pretok, PreTokenizedString)
        for one in self.parts():
            if isinstance(one, _Custom):
                one.pre_tokenize(pretok)
            else:
                pretok._cut(one.steps())

    def pre_tokenize_str(self, s: str) -> list[tuple[str, Offsets]]:
        """The parts of a text, each with its range of characters."""
        part.text(s)
        if self.is_custom:
            pretok = PreTokenizedString(s)
            self.pre_tokenize(pretok)
            return [(text, offsets) for text, offsets, _tokens in pretok.get_splits()]
        engine = self.kept(lambda: Engine(steps) if (steps := self.steps()) else None)
        return [(s, (0, len(s)))] if engine is None else engine.cut(s)


class _Custom(Custom, PreTokenizer):
    """A pre-tokenizer of the caller's."""

    def pre_tokenize(self, pretok: PreTokenizedString | PreTokenizedStringRefMut) -> None:
        with lent(PreTokenizedStringRefMut(pretok)) as reference:
            called(self.made, "pre_tokenize", reference)


class BertPreTokenizer(PreTokenizer):
    """Cuts at white space and at punctuation."""

    kind = "BertPreTokenizer"


class ByteLevel(PreTokenizer):
    """GPT-2's: cuts by its pattern and spells each byte with its characters."""

    kind = "ByteLevel"
    ignores = True
    add_prefix_space = Member[bool](part.flag, True)
    trim_offsets = Member[bool](part.flag, True)
    use_regex = Member[bool](part.flag, True)

    @staticmethod
    def alphabet() -> list[str]:
        """The 256 characters that bytes are spelled with."""
        return list(BYTE_TO_CHARACTER.values())


class CharDelimiterSplit(PreTokenizer):
    """Cuts at a character, which is taken away."""

    kind = "CharDelimiterSplit"
    delimiter = Member[str](part.character)


class Digits(PreTokenizer):
    """Sets numbers apart, or each digit."""

    kind = "Digits"
    individual_digits = Member[bool](part.flag, False)


class FixedLength(PreTokenizer):
    """Cuts into parts of so many characters."""

    kind = "FixedLength"
    length = Member[int](part.count, 5)


class Metaspace(PreTokenizer):
    """sentencepiece's: a mark for spaces, and cuts in front of it."""

    kind = "Metaspace"
    replacement = Member[str](part.character, "▁")
    prepend_scheme = Member[str](scheme_of, "always", bare=True)
    split = Member[bool](part.flag, True)


class Punctuation(PreTokenizer):
    """Cuts at punctuation."""

    kind = "Punctuation"
    behavior = Member[str](behavior_of, "Isolated", get=BEHAVIORS.__getitem__, bare=True)


class Split(PreTokenizer):
    """Cuts where a text or a `Regex` is found."""

    kind = "Split"
    pattern = Member[Any](read_pattern, get=no_pattern, fixed=True)
    behavior = Member[str](behavior_of, get=BEHAVIORS.__getitem__, bare=True)
    invert = Member[bool](part.flag, False)


class UnicodeScripts(PreTokenizer):
    """Cuts where the script changes."""

    kind = "UnicodeScripts"


class Whitespace(PreTokenizer):
    r"""Cuts into `\\w+` and `[^\\w\\s]+`."""

    kind = "Whitespace"


class WhitespaceSplit(PreTokenizer):
    """Cuts at white space."""

    kind = "WhitespaceSplit"


class Sequence(Chain, PreTokenizer):
    """Pre-tokenizers one after the other."""

    kind = "Sequence"
    listed = "pretokenizers"
    item = "pre tokenizer"
