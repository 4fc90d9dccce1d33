"""Full encodings, as methods of `Tokenizer`: what a model wants to know beside the ids.

Adds the arguments, their checks and their defaults, which are what the tokenizer's file says. Leaves out: the rows
(`full_batch`, `reference.full`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from syllabary.framing import Padding, PostProcessor, Truncation
from syllabary.full_batch import EncodingBatch
from syllabary.reference.encoding import Encoding
from syllabary.spec import TokenizerSpec

Special = Literal["raise", "allow", "text"] | Collection[str]
OffsetUnit = Literal["char", "byte"]
Words = Sequence[str]


class FullEncoding:
    """The part of `Tokenizer` that gives full encodings.

    Arguments of all of them, beside those of `encode`:

    add_special_tokens: whether the post-processor puts its tokens around the texts.
    padding: `None`: as the tokenizer says; `False`: none; `True` or `"longest"`: to the longest row, with the
        tokenizer's pad token; an `int`: to so many tokens; or a `Padding`.
    truncation: `None`: as the tokenizer says; `False`: none; an `int`: to so many tokens; or a `Truncation`.
    post_processor: `None`: as the tokenizer says; else steps in their order, `()` for none.
    is_pretokenized: each text is a list of words, whose offsets each begin at 0.
    """

    spec: TokenizerSpec

    @property
    def post_processor(self) -> tuple[PostProcessor, ...]:
        """What the tokenizer's file puts around texts, step by step."""
        raise NotImplementedError

    @property
    def padding(self) -> Padding | None:
        """How the tokenizer's file pads; `None`: not at all."""
        raise NotImplementedError

    @property
    def truncation(self) -> Truncation | None:
        """How the tokenizer's file truncates; `None`: not at all."""
        raise NotImplementedError

    def encode_full(
        self,
        text: str | Words,
        pair: str | Words | None = None,
        *,
        special: Special = "raise",
        add_special_tokens: bool = True,
        padding: bool | int | str | Padding | None = None,
        truncation: bool | int | Truncation | None = None,
        post_processor: Sequence[PostProcessor] | None = None,
        is_pretokenized: bool = False,
        offsets: OffsetUnit = "char",
    ) -> Encoding:
        """The full encoding of a text, or of a text and its pair. offsets: their unit.

        The parts that truncation cuts off are its `overflowing`.
        """
        raise NotImplementedError

    def encode_full_batch(
        self,
        texts: Iterable[str | Words],
        pairs: Iterable[str | Words | None] | None = None,
        *,
        special: Special = "raise",
        add_special_tokens: bool = True,
        padding: bool | int | str | Padding | None = None,
        truncation: bool | int | Truncation | None = None,
        post_processor: Sequence[PostProcessor] | None = None,
        is_pretokenized: bool = False,
        offsets: OffsetUnit | None = None,
        overflow: bool = False,
        threads: int | None = None,
    ) -> EncodingBatch:
        """The full encodings of many texts, or pairs, in arrays; the same for any number of threads.

        offsets: the unit of offsets, which are then computed along with the ids. `None`: offsets and word ids are
        computed, in characters, when they are first asked for, at the cost of encoding again.
        overflow: parts that truncation cuts off are rows of their own.
        """
        raise NotImplementedError

    def num_special_tokens(self, pair: bool = False) -> int:
        """How many tokens the post-processor puts around a text, or around a pair."""
        raise NotImplementedError
