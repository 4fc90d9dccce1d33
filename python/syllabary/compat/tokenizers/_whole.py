"""A whole tokenizer in the engine: many texts at once, on all cores.

Adds `WholeEngine`, and which tokenizers and texts it is for. Leaves out: the other way (`_pipeline`), and
with dropout truncating, framing and padding (`_encode`): what follows from the tokens must be of one draw.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import TYPE_CHECKING, Any

from syllabary.compat.tokenizers._encoding import Encoding
from syllabary.compat.tokenizers._engines import read_spec, with_lost
from syllabary.compat.tokenizers._inputs import Input
from syllabary.compat.tokenizers._rows import Rows, encodings_of, nested
from syllabary.errors import SyllabaryError
from syllabary.formats.hf_framing import read_frame
from syllabary.formats.hf_grown import Entries, entries, grown
from syllabary.framing import Padding, Truncation
from syllabary.reference.full import spelled_as_found
from syllabary.spec import TokenizerSpec
from syllabary.tokenizer import Tokenizer as Engine

if TYPE_CHECKING:
    from syllabary.compat.tokenizers._tokenizer import Tokenizer

Frame = tuple[Truncation | None, Padding | None]


class WholeEngine:
    """The engine of a tokenizer as it is now, but for truncation and padding, which are told at each call."""

    def __init__(
        self, engine: Engine, lost: int | None, framed: bool, read: TokenizerSpec, added: Entries
    ) -> None:
        """lost: the id of what is to be left out. framed: whether there is a post-processor.

        read: the engine's data without that id. added: its added tokens.
        """
        self.engine, self.lost, self.framed = engine, lost, framed
        self.read, self.added = read, added
        self.unknown = spelled_as_found(engine.spec)
        self._told: tuple[tuple[Any, Any], Frame] | None = None  # what it was told last, and that read

    @staticmethod
    def of(tokenizer: Tokenizer, before: WholeEngine | None = None) -> WholeEngine | None:
        """`None` where the engine would do something otherwise (`_apart`), or cannot be made.

        before: that of the same components with other added tokens.
        """
        if _apart(tokenizer):
            return None
        try:
            added, framed = entries(tokenizer._added.tokens), tokenizer.post_processor is not None
            model, size = tokenizer.model.values, tokenizer.model._size()
            read = None if before is None else grown(before.read, before.added, added, size)
            if read is not None and before is not None:
                spec, lost = with_lost(read, model)
                return WholeEngine(before.engine._grown(spec), lost, framed, read, added)
            left_out = dict.fromkeys(("decoder", "truncation", "padding"))
            read = read_spec({**tokenizer._document(tokenizer.model.described()), **left_out})
            spec, lost = with_lost(read, model)
            return WholeEngine(Engine(spec), lost, framed, read, added)
        except (SyllabaryError, ValueError):
            return None

    def encodings(
        self,
        inputs: list[Input],
        tokenizer: Tokenizer,
        special: bool,
        offsets: bool,
        again: Callable[[int], Encoding],
    ) -> list[Encoding] | None:
        """The encodings of texts; `None` where one holds what is to be left out, or is an error there.

        tokenizer: which is told of truncation and padding.
        again: encodes a text of the inputs the other way, padded as long as it is here.
        """
        if not inputs:
            return []
        words = not isinstance(inputs[0][0], str)
        are_pairs = [pair is not None for _text, pair in inputs]
        pairs = are_pairs if True in are_pairs else None
        try:
            truncation, padding = self._frame(tokenizer)
            batch = self.engine.encode_full_batch(
                [text for text, _pair in inputs],
                None if pairs is None else [pair for _text, pair in inputs],
                special="allow",
                add_special_tokens=special,
                padding=padding or False,
                truncation=truncation or False,
                is_pretokenized=words,
                offsets="char" if offsets else None,
                overflow=truncation is not None,
                threads=1 if len(inputs) == 1 else None,
            )
        except (SyllabaryError, ValueError):
            return None  # it is told by the other way, in their words
        samples = range(len(inputs)) if truncation is None else batch.samples.tolist()
        rows = Rows(batch, samples, not offsets, self.framed, pairs, again)
        rows.unknown = self.unknown
        if self.lost is not None and any(self.lost in ids for ids in rows.field("ids")):
            return None
        return encodings_of(rows)

    @property
    def drops(self) -> bool:
        """Whether merges are passed over, so that a text cannot be encoded a second time."""
        return bool(self.engine.spec.dropout)

    def drawn(self, inputs: list[Input]) -> list[list[Encoding | None]] | None:
        """Texts and pairs as they are before truncation and post-processing; `None` as of `encodings`."""
        texts = [one for pair in inputs for one in pair if one is not None]
        try:
            batch = self.engine.encode_full_batch(
                texts,
                special="allow",
                add_special_tokens=False,
                padding=False,
                truncation=False,
                post_processor=(),
                is_pretokenized=bool(texts) and not isinstance(texts[0], str),
                offsets="char",
                threads=1 if len(texts) == 1 else None,
            )
        except (SyllabaryError, ValueError):
            return None
        if self.lost is not None and any(self.lost in ids for ids in batch.to_lists("ids")):
            return None
        rows = map(nested, batch)
        found = [[None if one is None else next(rows) for one in pair] for pair in inputs]
        for pair in found:
            for at, one in enumerate(pair):
                if one is not None:
                    one._ranges, one._type_ids = {}, [at] * len(one)
        return found

    def _frame(self, tokenizer: Tokenizer) -> Frame:
        """Truncation and padding, read when the tokenizer was told something else."""
        told = tokenizer._truncation, tokenizer._padding
        if self._told is None or not all(map(is_, self._told[0], told)):
            self._told = told, read_frame(tokenizer._frame())
        return self._told[1]


def _apart(tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer is one for the other way.

    Where a component is Python code, and where the engine differs: special tokens as ordinary text, Unigram
    that draws, an empty sequence of post-processors (which says which text tokens are of).
    """
    parts = [one for one in tokenizer._parts.values() if one is not None]
    if any(one.is_custom for one in parts) or tokenizer.encode_special_tokens:
        return True
    if getattr(tokenizer.model, "alpha", None) is not None:
        return True
    return tokenizer.post_processor is not None and not tokenizer.post_processor.parts()
