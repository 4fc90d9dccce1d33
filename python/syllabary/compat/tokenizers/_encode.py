"""Encoding and decoding: the methods of `Tokenizer` that run the engine.

Adds the two ways of a text: through the engine whole, and, for what the engine does not do, step by step
(`_pipeline`). Leaves out: the components, what may be given (`_inputs`).
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from syllabary.compat.tokenizers import _component as part
from syllabary.compat.tokenizers._encoding import Encoding
from syllabary.compat.tokenizers._frame import Frame, pad
from syllabary.compat.tokenizers._inputs import Input, read_inputs, read_sequence
from syllabary.compat.tokenizers._known import Known
from syllabary.compat.tokenizers._pipeline import Pipeline
from syllabary.compat.tokenizers._whole import WholeEngine

if TYPE_CHECKING:
    from syllabary.compat.tokenizers._tokenizer import Tokenizer

Result = TypeVar("Result")
INTEGERS = {int}


class Encoder:
    """The part of `Tokenizer` that encodes and decodes."""

    _known: Known | None

    # ---- text -> encodings ----

    def encode(
        self, sequence: Any, pair: Any = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Encoding:
        """The encoding of a text, or of a pair; `is_pretokenized`: texts are lists of words."""
        words = part.flag(is_pretokenized)
        first = read_sequence(sequence, words)
        second = None if pair is None else read_sequence(pair, words)
        return self._encodings([(first, second)], part.flag(add_special_tokens), offsets=True)[0]

    def encode_batch(
        self,
        input: Any,  # noqa: A002 (their name)
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Encoding]:
        """The encodings of texts, each a text or a pair, padded to one length if that is on."""
        special = part.flag(add_special_tokens)
        return self._encodings(read_inputs(input, part.flag(is_pretokenized)), special, offsets=True)

    def encode_batch_fast(
        self,
        input: Any,  # noqa: A002 (their name)
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Encoding]:
        """The same without offsets, tokens and word ids: they are (0, 0), empty and none, as there."""
        special = part.flag(add_special_tokens)
        return self._encodings(read_inputs(input, part.flag(is_pretokenized)), special, offsets=False)

    async def async_encode(
        self, sequence: Any, pair: Any = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Encoding:
        """`encode` in a thread."""
        return await _threaded(self.encode, sequence, pair, is_pretokenized, add_special_tokens)

    async def async_encode_batch(
        self,
        input: Any,  # noqa: A002 (their name)
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Encoding]:
        """`encode_batch` in a thread."""
        return await _threaded(self.encode_batch, input, is_pretokenized, add_special_tokens)

    async def async_encode_batch_fast(
        self,
        input: Any,  # noqa: A002 (their name)
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Encoding]:
        """`encode_batch_fast` in a thread."""
        return await _threaded(self.encode_batch_fast, input, is_pretokenized, add_special_tokens)

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Truncate, add special tokens, pad."""
        for one in (encoding,) if pair is None else (encoding, pair):
            part.instance(one, Encoding)
        second = None if pair is None else pair._copy()
        return self._frame_now(self._now()).framed(encoding._copy(), second, part.flag(add_special_tokens))

    def _frame_now(self, known: Known) -> Frame:
        me, processor = self._me, self._me.post_processor
        if processor is not None:
            processor = known.made("processor", processor.frozen)
        return Frame(me._truncation, me._padding, processor)

    def _encodings(self, inputs: list[Input], special: bool, offsets: bool) -> list[Encoding]:
        """The encodings of texts and pairs, padded to one length: by the engine, where that can be."""
        me, known = self._me, self._now()
        pipeline: Pipeline = known.made("pipeline", lambda: Pipeline(me))
        frame = self._frame_now(known)  # columns may be asked for when the tokenizer is another
        padding = frame.padding

        def alone(text: int) -> Encoding:
            plain = (None if one is None else pipeline.encode(one, at) for at, one in enumerate(inputs[text]))
            first, second = drawn[text] if drawn else plain
            for one in (first, second):
                if one is not None and not offsets:
                    _forget(one)
            return frame.framed(cast(Encoding, first), second, special)

        def again(text: int) -> Encoding:
            one = alone(text)
            if padding is not None and padding["strategy"] == "BatchLongest":
                one._pad(len(found[text]), {**padding, "direction": padding["direction"].lower()})
            return one

        whole = self._whole()
        drops = whole is not None and whole.drops
        drawn = whole.drawn(inputs) if whole is not None and drops else None
        made = None if whole is None or drops else whole.encodings(inputs, me, special, offsets, again)
        found = [alone(text) for text in range(len(inputs))] if made is None else made
        return pad(found, padding) if made is None else found

    # ---- ids -> text ----

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """The text of ids; one that no token has is passed over."""
        known = self._now()
        names = known.made("all_names", lambda: {**self._me.model._names(), **self._spellings()})
        numbers = ids if type(ids) is list else list(part.listed(ids))
        if {*map(type, numbers)} != INTEGERS:
            numbers = [part.token_id(number) for number in numbers]
        try:
            found = [*map(names.__getitem__, numbers)]
        except KeyError:
            numbers = [part.token_id(number) for number in numbers]  # raises for what can be no id
            found = [names[number] for number in numbers if number in names]
        if part.flag(skip_special_tokens) and not known.special.isdisjoint(found):
            found = [name for name in found if name not in known.special]
        decoder = self._me.decoder
        return " ".join(found) if decoder is None else known.made("decoder", decoder.runs)(found)

    def decode_batch(self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True) -> list[str]:
        """The texts of many."""
        return [self.decode(ids, skip_special_tokens) for ids in part.listed(sequences)]

    async def async_decode_batch(
        self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """`decode_batch` in a thread."""
        return await _threaded(self.decode_batch, sequences, skip_special_tokens)

    def id_to_token(self, id: int) -> str | None:  # noqa: A002 (their name)
        """The token of an id; an added one as it is after normalizing."""
        number, me = part.token_id(id), self._me
        names: dict[int, str] = me._parts["model"]._names()
        if number in me._added.tokens:
            names = self._now().made("spellings", self._spellings)
        return names.get(number)

    def _spellings(self) -> dict[int, str]:
        """How the added tokens are spelled for the decoder."""
        normalizer = self._me.normalizer
        return {
            number: normalizer.normalize_str(token.content)
            if token.normalized and normalizer is not None
            else token.content
            for number, token in self._me._added
        }

    # ---- what is made of the components ----

    @property
    def _me(self) -> Tokenizer:
        return cast("Tokenizer", self)

    def _now(self) -> Known:
        """What is made of the components, as these are now."""
        known = self._known
        if known is None or not known.holds(self._me):
            known = self._known = Known(self._me, known)
        return known

    def _whole(self) -> WholeEngine | None:
        """The engine of the whole tokenizer as it is now, where there is one."""
        known, me = self._now(), self._me
        found: WholeEngine | None = known.made("whole", lambda: WholeEngine.of(me, known.before.get("whole")))
        return found

    def _check(self) -> None:
        """Raise for a model that is none."""
        if self._whole() is None:
            self._me.model._made()


def _forget(encoding: Encoding) -> None:
    """Drop what `encode_batch_fast` does not give."""
    size = len(encoding)
    encoding._offsets, encoding._words, encoding._tokens = [(0, 0)] * size, [None] * size, [""] * size
    encoding._type_ids = [0] * size


async def _threaded(run: Callable[..., Result], *args: Any) -> Result:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, functools.partial(run, *args))
