"""A full encoding: the ids of a text or a pair, and for each of them what a model or a reader asks about it.

Adds `Encoding` and what is done to it: joining, cutting into parts, filling up. Leaves out: which of these is done
when (`full`), and where the ids come from (`tokenizer`).
Source: tokenizers 0.23.3, `tokenizer/encoding.rs`; so that every field is the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from syllabary.framing import Padding, Side
from syllabary.reference.aligned import Span

Ranges = dict[int, tuple[int, int]]


@dataclass(slots=True)
class Encoding:
    """One row of tokens: a text or a pair, with what was put around it. All lists are equally long.

    ids: their ids. tokens: how they are spelled in the vocabulary (`Ġthe`, `<0x0A>`, `##ing`).
    offsets: where each is in its own text (or word, for a text given as words), `(start, end)` in characters, or in
    bytes if asked so; `(0, 0)` for what was put around it. type_ids: which part of a pair, as the
    post-processor says. attention_mask: 0 for padding. special_tokens_mask: 1 for what was put around the texts.
    word_ids: the piece (or the word, for a text given as words) that each is of, from 0 in each text.
    overflowing: the parts that truncation cut off, each an encoding like this.
    ranges: text -> first token of it and the one past its last; for `sequence_ids`.
    """

    ids: list[int] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    offsets: list[Span] = field(default_factory=list)
    type_ids: list[int] = field(default_factory=list)
    attention_mask: list[int] = field(default_factory=list)
    special_tokens_mask: list[int] = field(default_factory=list)
    word_ids: list[int | None] = field(default_factory=list)
    overflowing: list[Encoding] = field(default_factory=list)
    ranges: Ranges = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def sequence_ids(self) -> list[int | None]:
        """Which text each token is of: 0, 1, or None for what was put around them."""
        found: list[int | None] = [None] * len(self)
        for text in range(self.n_sequences):
            start, end = self.ranges.get(text, (0, len(self)))
            found[start:end] = [text] * (end - start)
        return found

    @property
    def n_sequences(self) -> int:
        """The number of texts."""
        return len(self.ranges) or 1
