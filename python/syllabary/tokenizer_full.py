"""Full encodings, as methods of `Tokenizer`: what a model wants to know beside the ids.

Adds the arguments, their checks and their defaults, which are what the tokenizer's file says. Leaves out: the
rows (the engine, `reference.full`), and what is made of them (`full_batch`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from syllabary._engine import FullRows
from syllabary._engine import Tokenizer as Engine
from syllabary.arguments import thread_count
from syllabary.errors import SyllabaryError
from syllabary.formats.hf_framing import framing, with_framing
from syllabary.framing import Framing, Padding, PostProcessor, Truncation
from syllabary.framing_arguments import asked_framing, read_texts
from syllabary.framing_plan import Plan, plan
from syllabary.full_batch import EncodingBatch, Source
from syllabary.full_rows import EngineRows, flat_texts, named
from syllabary.reference.decode import spellings
from syllabary.reference.encoding import Encoding
from syllabary.spec import TokenizerSpec

Special = Literal["raise", "allow", "text"] | Collection[str]
OffsetUnit = Literal["char", "byte"]
Words = Sequence[str]
Plans = tuple[Plan | None, Plan | None]


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

    if TYPE_CHECKING:

        @property
        def spec(self) -> TokenizerSpec:
            """The tokenizer as plain data."""

        _engine: Engine

        def _batch(self, run: Callable[..., Any], texts: Any, special: Any, *more: Any) -> Any: ...

    @property
    def framing(self) -> Framing:
        """What the tokenizer's file says of post-processors, truncation and padding."""
        return self._framing

    def with_framing(self, framing: Framing) -> Any:
        """A tokenizer with the same ids whose file says this of post-processors, truncation and padding.

        >>> import syllabary
        >>> from syllabary.framing import Framing, Padding
        >>> tok = syllabary.train(["low lower"], vocab_size=257, special_tokens=["<pad>"])
        >>> tok = tok.with_framing(Framing(padding=Padding(pad_id=256, pad_token="<pad>")))
        >>> tok.encode_full_batch(["low", "lo"]).ids.tolist()
        [[108, 111, 119], [108, 111, 256]]
        """
        return type(self)(with_framing(self.spec, framing))  # type: ignore[call-arg]

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
        for name, one in (("text", text), ("pair", pair)):
            if not (is_pretokenized or isinstance(one, str) or (one is None and name == "pair")):
                raise TypeError(
                    f"{name} must be a str, not {type(one).__name__}; words go with is_pretokenized=True"
                )
        try:
            return self.encode_full_batch(
                [text],
                [pair],
                special=special,
                add_special_tokens=add_special_tokens,
                padding=padding,
                truncation=truncation,
                post_processor=post_processor,
                is_pretokenized=is_pretokenized,
                offsets=offsets,
                overflow=True,
                threads=1,
            )[0]
        except SyllabaryError as error:
            raise type(error)(str(error).replace(" 0 of the batch", "", 1)) from None

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

        offsets: the unit of offsets, which are then computed along with the ids. `None`: offsets and word ids
        are computed, in characters, when they are first asked for, at the cost of encoding again.
        overflow: parts that truncation cuts off are rows of their own.
        """
        given = read_texts(texts, pairs, is_pretokenized)
        count = thread_count(threads)
        if offsets not in (None, "char", "byte"):
            raise ValueError(f'offsets={offsets!r}: they are counted in "char" or "byte", or None for later')
        asked = asked_framing(self._framing, post_processor, truncation, padding)
        plans = self._plans(asked, given, bool(add_special_tokens))

        def rows(unit: OffsetUnit | None) -> EngineRows:
            flat = flat_texts(given, is_pretokenized)

            def run(texts: Any, policy: Any, threads: int) -> FullRows:
                return self._engine.full_rows(texts, policy, unit or "ids", threads)

            try:
                found = self._batch(run, flat, special, count)
            except SyllabaryError as error:
                raise named(error, given, is_pretokenized) from None
            byte = unit == "byte"
            names, taken = self._names, self._taken
            return EngineRows(found, given, is_pretokenized, asked, plans, overflow, names, taken, byte)

        source = Source(self._names, plans, asked.padding, self._taken, given, offsets or "char")
        return EncodingBatch(rows(offsets), source, None if offsets else lambda: rows("char"))

    def num_special_tokens(self, pair: bool = False) -> int:
        """How many tokens the tokenizer's post-processor puts around a text, or around a pair."""
        return self._plan(self._framing.post_processor, 1 + bool(pair), True).added

    # ---- inside ----

    @cached_property
    def _framing(self) -> Framing:
        return framing(self.spec)

    @cached_property
    def _names(self) -> Mapping[int, str]:
        return spellings(self.spec)

    @cached_property
    def _taken(self) -> frozenset[int]:
        """The tokens that are spelled as the text: white space goes along, or Unigram does not know it."""
        named = {**self.spec.special_tokens, **self.spec.added_tokens}
        flagged = {name for name, how in self.spec.matching.items() if how.lstrip or how.rstrip}
        found = {token_id for name, token_id in named.items() if name in flagged}
        if self.spec.model == "unigram" and self.spec.unknown is not None:
            found.add(self.spec.unknown)
        return frozenset(found)

    @cached_property
    def _own_plans(self) -> dict[tuple[int, bool], Plan]:
        return {}

    def _plans(self, asked: Framing, given: Sequence[tuple[Any, Any]], add: bool) -> Plans:
        """The plans of the rows that there are."""
        kinds = {pair is not None for _text, pair in given}
        one, two = (
            self._plan(asked.post_processor, 1 + pair, add) if pair in kinds else None
            for pair in (False, True)
        )
        return one, two

    def _plan(self, processors: Sequence[PostProcessor], texts: int, add: bool) -> Plan:
        """The plan for so many texts; that of the tokenizer's own processors is made once."""
        if processors is not self._framing.post_processor:
            return plan(processors, texts, add)
        known = self._own_plans
        if (texts, add) not in known:
            known[texts, add] = plan(processors, texts, add)
        return known[texts, add]
