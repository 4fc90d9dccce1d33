"""A whole tokenizer in the engine: many texts at once, on all cores.

Adds `WholeEngine`, and which tokenizers and texts it is for. Leaves out: the other way (`_pipeline`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from syllabary.compat.tokenizers._encoding import Encoding
from syllabary.compat.tokenizers._engines import spec_of
from syllabary.compat.tokenizers._inputs import Input
from syllabary.compat.tokenizers._rows import Rows, encodings_of
from syllabary.errors import SyllabaryError
from syllabary.tokenizer import Tokenizer as Engine

if TYPE_CHECKING:
    from syllabary.compat.tokenizers._tokenizer import Tokenizer


class WholeEngine:
    """The engine of a tokenizer as it is now."""

    def __init__(self, engine: Engine, lost: int | None, framed: bool) -> None:
        """lost: the id of what is to be left out. framed: whether there is a post-processor."""
        self.engine, self.lost, self.framed = engine, lost, framed

    @staticmethod
    def of(tokenizer: Tokenizer) -> WholeEngine | None:
        """`None` where a component is Python code, or the engine would do something otherwise."""
        parts = [one for one in tokenizer._parts.values() if one is not None]
        draws = getattr(tokenizer.model, "alpha", None) is not None
        if draws or tokenizer.encode_special_tokens or any(one.is_custom or not one.parts() for one in parts):
            return None  # an empty sequence of post-processors says which text tokens are of, none does not
        try:
            document = {**tokenizer._document(), "decoder": None}
            spec, lost = spec_of(document)
            return WholeEngine(Engine(spec), lost, tokenizer.post_processor is not None)
        except (SyllabaryError, ValueError):
            return None

    def encodings(
        self, inputs: list[Input], special: bool, offsets: bool, again: Callable[[int], Encoding]
    ) -> list[Encoding] | None:
        """The encodings of texts; `None` where one holds what is to be left out, or is an error there.

        again: encodes a text of the inputs the other way, padded as long as it is here.
        """
        if not inputs:
            return []
        words = not isinstance(inputs[0][0], str)
        try:
            batch = self.engine.encode_full_batch(
                [text for text, _pair in inputs],
                [pair for _text, pair in inputs],
                special="allow",
                add_special_tokens=special,
                is_pretokenized=words,
                offsets="char" if offsets else None,
                overflow=self.engine.framing.truncation is not None,
            )
        except SyllabaryError:
            return None  # it is told by the other way, in their words
        if self.lost is not None and any(self.lost in ids for ids in batch.to_lists("ids")):
            return None
        return encodings_of(Rows(batch, not offsets, self.framed, again))
