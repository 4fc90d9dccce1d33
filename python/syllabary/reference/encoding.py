"""A full encoding: the ids of a text or a pair, and for each what a model or a reader wants to know.

Adds `Encoding` and what is done to it: joining, cutting into parts, filling up. Leaves out: which of these
is done when (`full`, `truncation`, `postprocess`), and where the ids come from (`tokenizer`).
Source: tokenizers 0.23.3, `tokenizer/encoding.rs`, so that every field is the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from syllabary.framing import Padding, Side
from syllabary.reference.aligned import Span
from syllabary.reference.symbols import plural

COLUMNS = ("ids", "tokens", "offsets", "type_ids", "attention_mask", "special_tokens_mask", "word_ids")
FIELDS = (*COLUMNS, "overflowing", "ranges")


@dataclass(slots=True)
class Encoding:
    """One row of tokens: a text or a pair, with what was put around it. All lists are equally long.

    ids: their ids. tokens: how they are spelled in the vocabulary (`Ġthe`, `<0x0A>`, `##ing`).
    offsets: where each is in its own text (or word, for a text given as words), `(start, end)` in characters,
    or in bytes if asked so; `(0, 0)` for what was put around it. type_ids: which part of a pair, as the
    post-processor says. attention_mask: 0 for padding. special_tokens_mask: 1 for what was put around.
    word_ids: the piece (or the word, for a text given as words) that each is of, from 0 in each text.
    overflowing: the parts that truncation cut off, each an encoding like this.
    ranges: text -> its first token and the one past its last; empty: it is all one text.
    """

    ids: list[int] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    offsets: list[Span] = field(default_factory=list)
    type_ids: list[int] = field(default_factory=list)
    attention_mask: list[int] = field(default_factory=list)
    special_tokens_mask: list[int] = field(default_factory=list)
    word_ids: list[int | None] = field(default_factory=list)
    overflowing: list[Encoding] = field(default_factory=list)
    ranges: dict[int, Span] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Encoding):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in FIELDS)

    @property
    def n_sequences(self) -> int:
        """The number of texts."""
        return len(self.ranges) or 1

    @property
    def sequence_ids(self) -> list[int | None]:
        """Which text each token is of: 0, 1, or None for what was put around them."""
        found: list[int | None] = [None] * len(self)
        for text in range(self.n_sequences):
            start, end = self.ranges.get(text, (0, len(self)))
            found[start:end] = [text] * (end - start)
        return found


def special(ids: Iterable[int], tokens: Iterable[str], type_id: int) -> Encoding:
    """Tokens that are put around texts."""
    found = list(ids)
    return Encoding(
        ids=found,
        tokens=list(tokens),
        offsets=[(0, 0)] * len(found),
        type_ids=[type_id] * len(found),
        attention_mask=[1] * len(found),
        special_tokens_mask=[1] * len(found),
        word_ids=[None] * len(found),
    )


def part(encoding: Encoding, start: int, end: int) -> Encoding:
    """The tokens from `start` to before `end`, without what overflows, and without ranges."""
    return Encoding(*(getattr(encoding, column)[start:end] for column in COLUMNS))


def joined(left: Encoding, right: Encoding) -> Encoding:
    """One row of two. What overflows: every part of one with every part of the other, but the first two.

    >>> left, right = special([1], "a", 0), special([3], "c", 0)
    >>> left.overflowing, right.overflowing = [special([2], "b", 0)], [special([4], "d", 0)]
    >>> [one.ids for one in joined(left, right).overflowing]
    [[2, 3], [2, 4], [1, 4]]
    """
    row = Encoding(*(getattr(left, column) + getattr(right, column) for column in COLUMNS))
    moved = {text: (start + len(left), end + len(left)) for text, (start, end) in right.ranges.items()}
    row.ranges = left.ranges | moved
    for cut in left.overflowing:
        row.overflowing += [joined(cut, other) for other in (right, *right.overflowing)]
    row.overflowing += [joined(left, other) for other in right.overflowing]
    return row


def cut(encoding: Encoding, length: int, stride: int, side: Side) -> Encoding:
    """At most `length` tokens, those of the other side; the rest, in parts as long, overflows.

    Each part shares `stride` tokens with the one before it. `ValueError` if that is no less than `length`.

    >>> row = cut(special(range(5), "abcde", 0), 3, 1, "left")
    >>> row.ids, [one.ids for one in row.overflowing]
    ([2, 3, 4], [[0, 1, 2]])
    """
    if length >= len(encoding):
        return encoding
    if length == 0:
        return Encoding(overflowing=[encoding])
    if stride >= length:
        raise ValueError(
            f"truncation leaves {plural(length, 'token')} of a text, and a stride of {stride} would repeat "
            "them all: give a stride below that, or a larger max_length"
        )
    whole, step = len(encoding), length - stride
    if side == "right":
        starts = range(0, max(whole - stride, 1), step)
        spans = [(start, min(start + length, whole)) for start in starts]
    else:
        ends = range(whole, min(stride, whole - 1), -step)
        spans = [(max(end - length, 0), end) for end in ends]
    first, *others = [part(encoding, *span) for span in spans]
    first.overflowing = others
    return first


def pad(encoding: Encoding, length: int, padding: Padding) -> Encoding:
    """The row, and all that overflows, filled up to `length` tokens."""
    missing = max(length - len(encoding), 0)
    fill = special([padding.pad_id] * missing, [padding.pad_token] * missing, padding.pad_type_id)
    fill.attention_mask = [0] * missing
    over = [pad(one, length, padding) for one in encoding.overflowing]
    whole = part(encoding, 0, len(encoding))
    whole.ranges = encoding.ranges
    row = joined(fill, whole) if padding.direction == "left" else joined(whole, fill)
    row.overflowing = over
    return row
