"""Post-processing: what is put around a text or a pair, and the whitespace that offsets leave out.

Adds `process` and `added`, how many tokens that makes. Leaves out: the records (`framing`), truncation, which
comes before, and padding, which comes after (`full`).
Source: tokenizers 0.23.3, `processors/`, `pre_tokenizers/byte_level.rs`; its order of type ids, ranges and
overflowing parts too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from syllabary.errors import VocabularyError
from syllabary.framing import (
    BertProcessing,
    ByteLevelProcessing,
    PostProcessor,
    RobertaProcessing,
    SlotTokens,
    SpecialSlot,
    TemplateProcessing,
    TextSlot,
)
from syllabary.reference.aligned import Span
from syllabary.reference.encoding import Encoding, joined, special
from syllabary.reference.trim import white_ends


def added(processors: Sequence[PostProcessor], texts: int) -> int:
    """How many tokens are put around so many texts (1 or 2)."""
    count = 0
    for one in processors:
        if isinstance(one, TemplateProcessing):
            slots = one.single if texts == 1 else one.pair
            names = [slot.name for slot in slots if isinstance(slot, SpecialSlot)]
            count += sum(len(tokens_of(one, name).ids) for name in names)
        elif isinstance(one, BertProcessing):
            count += 1 + texts
        elif isinstance(one, RobertaProcessing):
            count += 2 * texts
    return count


def process(texts: list[Encoding], processors: Sequence[PostProcessor], add_special_tokens: bool) -> Encoding:
    """One row of a text or a pair; with no processors, nothing is done but joining.

    Raises `ValueError` for a pair where a template has no place for it, or the other way round.
    """
    if not processors:
        if len(texts) == 1:
            return texts[0]
        for index, text in enumerate(texts):
            text.ranges = {index: (0, len(text))}
        return reduce(joined, texts)
    for index, text in enumerate(texts):
        for one in (text, *text.overflowing):
            one.ranges = {index: (0, len(one))}
        text.type_ids = [index] * len(text)
    for processor in processors:
        texts = run(processor, texts, add_special_tokens)
    return reduce(joined, texts, Encoding())


def run(processor: PostProcessor, texts: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
    """What one processor makes of some rows that stand side by side."""
    if isinstance(processor, TemplateProcessing):
        return template(processor, texts, add_special_tokens)
    if isinstance(processor, (ByteLevelProcessing, RobertaProcessing)) and processor.trim_offsets:
        for text in texts:
            for one in (text, *text.overflowing):
                one.offsets = trimmed(one, processor.add_prefix_space)
    if isinstance(processor, ByteLevelProcessing):
        for index, text in enumerate(texts):
            text.ranges = text.ranges | {index: (0, len(text))}
        return texts
    if isinstance(processor, RobertaProcessing):
        for text in texts:
            text.type_ids = [0] * len(text)
    return surrounded(processor, texts) if add_special_tokens else texts


def surrounded(processor: BertProcessing | RobertaProcessing, texts: list[Encoding]) -> list[Encoding]:
    """`cls A sep`, and for what follows `B sep` (BERT) or `sep B sep` (RoBERTa)."""
    bert = isinstance(processor, BertProcessing)
    rows = []
    for index, text in enumerate(texts):
        type_id = int(bert and index > 0)
        before = processor.cls if index == 0 else None if bert else processor.sep
        over = [_between(before, one, processor.sep, type_id, index, bert) for one in text.overflowing]
        row = _between(before, text, processor.sep, type_id, index, bert)
        row.overflowing = over
        rows.append(row)
    return rows


def _between(
    before: tuple[str, int] | None,
    text: Encoding,
    after: tuple[str, int],
    type_id: int,
    index: int,
    bert: bool,
) -> Encoding:
    """A text between two special tokens; what overflows of it is left out."""
    inside = special(text.ids, text.tokens, 0)
    inside.offsets, inside.word_ids = text.offsets, text.word_ids
    inside.special_tokens_mask = [0] * len(text)
    inside.ranges = {index: (0, len(text))}
    if bert:
        inside.type_ids = text.type_ids
    row = joined(inside, special([after[1]], [after[0]], type_id))
    return row if before is None else joined(special([before[1]], [before[0]], type_id), row)


def template(
    processor: TemplateProcessing, texts: list[Encoding], add_special_tokens: bool
) -> list[Encoding]:
    """The slots, filled."""
    if len(texts) > 2:
        raise ValueError(
            "a template after a post-processor that puts tokens around texts: give one of the two"
        )
    slots = processor.single if len(texts) == 1 else processor.pair
    places = {slot.text for slot in slots if isinstance(slot, TextSlot)}
    if len(texts) == 2 and "B" not in places:
        raise ValueError("a pair is given, and the template has no place for it: its pair needs $B")
    if len(texts) == 1 and "B" in places:
        raise ValueError("the template for a single text has $B, and there is no pair: give one")
    rows = []
    for slot in slots:
        if isinstance(slot, TextSlot):
            index = "AB".index(slot.text)
            text = texts[index]
            ranges = text.ranges | {index: (0, len(text))}
            over = [replace(one) for one in text.overflowing]  # a text may stand in two places
            types = [slot.type_id] * len(text)
            rows.append(replace(text, type_ids=types, ranges=ranges, overflowing=over))
        elif add_special_tokens:
            found = tokens_of(processor, slot.name)
            rows.append(special(found.ids, found.tokens, slot.type_id))
    return rows


def tokens_of(processor: TemplateProcessing, name: str) -> SlotTokens:
    """What a name of a template stands for; `VocabularyError` if it says nothing of it."""
    if name not in processor.special_tokens:
        known = ", ".join(map(repr, processor.special_tokens)) or "none"
        raise VocabularyError(
            f"the template has {name!r}, and its special_tokens do not say what that is: they are {known}"
        )
    return processor.special_tokens[name]


def trimmed(encoding: Encoding, add_prefix_space: bool) -> list[Span]:
    """The offsets without the white space that the tokens begin and end with.

    add_prefix_space: one space at the start, of the row or of the text, was not in the text.
    """
    offsets = []
    for index, (token, (start, end)) in enumerate(zip(encoding.tokens, encoding.offsets, strict=True)):
        before, after = white_ends(token)
        if before == 1 and add_prefix_space and (index == 0 or start == 0):
            before = 0
        start = min(start + before, end)
        offsets.append((start, max(end - after, start) if end >= after else end))
    return offsets
