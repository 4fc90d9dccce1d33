"""A framing as a plan: what a row is made of, item by item, for whoever makes many rows.

Adds `Plan`, found by running the specification on a text of one token that overflows with one more: what it
does with those it does with all. Leaves out: the rows (the engine, `batch`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from syllabary.framing import ByteLevelProcessing, PostProcessor, RobertaProcessing
from syllabary.reference.encoding import Encoding
from syllabary.reference.postprocess import process, run

TEXT, OVER = (-1, -2), (-3, -4)  # ids that stand for a text: its first part, and the others


@dataclass(frozen=True, slots=True)
class Item:
    """A special token of a row, or a text in it.

    token_id: of a special token; -1 for the text, -2 for its pair. token: how it is spelled.
    type_id: of its tokens. over_type_id: of its tokens in a part that was cut off.
    """

    token_id: int
    token: str
    type_id: int
    over_type_id: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Rows of one text, or of a text and a pair.

    labels: for each combination of texts whose part was cut off (bit k: the k-th text among the items), the
    sequence id of each item, and last that of padding; -1 for none.
    trims: of each time that white space is trimmed, `add_prefix_space`, and for each text whether its first
    token is the first of the row then.
    """

    items: tuple[Item, ...]
    labels: tuple[tuple[int, ...], ...]
    trims: tuple[tuple[bool, tuple[bool, ...]], ...]

    @property
    def added(self) -> int:
        """The number of special tokens."""
        return sum(item.token_id >= 0 for item in self.items)

    @property
    def slots(self) -> list[int]:
        """The items that are texts, as text (0) or pair (1)."""
        return [-1 - item.token_id for item in self.items if item.token_id < 0]


def plan(processors: Sequence[PostProcessor], texts: int, add_special_tokens: bool) -> Plan:
    """The plan for so many texts (1 or 2); raises what `process` does."""
    row = process(_texts(texts), processors, add_special_tokens)
    slots = [at for at, token_id in enumerate(row.ids) if token_id in TEXT]
    rows = {_mask(one, slots): one for one in row.overflowing} | {0: row}
    over = {at: one.type_ids[at] for one in row.overflowing for at in slots if one.ids[at] in OVER}
    items = [
        Item(token_id, token, type_id, over.get(at, type_id))
        for at, (token_id, token, type_id) in enumerate(zip(row.ids, row.tokens, row.type_ids, strict=True))
    ]
    labels = [_labels(rows[mask]) for mask in range(1 << len(slots))]
    return Plan(tuple(items), tuple(labels), tuple(_trims(processors, texts, add_special_tokens)))


def _texts(count: int) -> list[Encoding]:
    return [_one(TEXT[index], index, [_one(OVER[index], index, [])]) for index in range(count)]


def _one(token_id: int, type_id: int, over: list[Encoding]) -> Encoding:
    return Encoding([token_id], ["x"], [(0, 1)], [type_id], [1], [0], [0], over)


def _mask(row: Encoding, slots: Sequence[int]) -> int:
    """Which of the texts of a row are parts that were cut off."""
    return sum((row.ids[at] in OVER) << number for number, at in enumerate(slots))


def _labels(row: Encoding) -> tuple[int, ...]:
    """The sequence id of each item of a row, and of one more at its end."""
    found = [-1] * (len(row) + 1)
    for text in range(row.n_sequences):
        start, end = row.ranges.get(text, (0, len(found)))
        found[start:end] = [text] * (end - start)
    return tuple(found)


def _trims(
    processors: Sequence[PostProcessor], count: int, add_special_tokens: bool
) -> list[tuple[bool, tuple[bool, ...]]]:
    found = []
    texts = _texts(count)
    for processor in processors:
        if isinstance(processor, (ByteLevelProcessing, RobertaProcessing)) and processor.trim_offsets:
            firsts = {text.ids[0] for text in texts if text.ids}
            found.append((processor.add_prefix_space, tuple(token in firsts for token in TEXT[:count])))
        texts = run(processor, texts, add_special_tokens)
    return found
