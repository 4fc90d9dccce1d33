"""What is put around the ids of a text or a pair of texts: post-processors, truncation, padding, as data.

Adds the records, named and meant as `tokenizer.json` has them. Leaves out: what they do (`reference.full`,
`postprocess`, `truncation`), and how the file spells them (`formats.hf_framing`).
Source: tokenizers 0.23.3, `processors/`, `utils/truncation.rs`, `utils/padding.rs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Side = Literal["right", "left"]
Strategy = Literal["longest_first", "only_first", "only_second"]


@dataclass(frozen=True, slots=True)
class Padding:
    """How rows are made equally long.

    length: a number of tokens, or `"longest"`: that of the longest row of the batch. A longer row stays.
    pad_id, pad_type_id, pad_token: what is put there: its id, type id and spelling.
    direction: the side where it is put. multiple_of: the length is rounded up to a multiple of this.
    """

    length: int | Literal["longest"] = "longest"
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"
    direction: Side = "right"
    multiple_of: int | None = None


@dataclass(frozen=True, slots=True)
class Truncation:
    """How rows are kept at most `max_length` tokens long, those of the post-processor counted.

    stride: tokens that a part shares with the one before it. strategy: which text of a pair is cut.
    direction: the side where tokens are cut off.
    """

    max_length: int
    stride: int = 0
    strategy: Strategy = "longest_first"
    direction: Side = "right"


@dataclass(frozen=True, slots=True)
class TextSlot:
    """In a template: where the text (`"A"`) or its pair (`"B"`) stands, and the type id of its tokens."""

    text: Literal["A", "B"]
    type_id: int = 0


@dataclass(frozen=True, slots=True)
class SpecialSlot:
    """In a template: where special tokens stand, by their name in the template, and their type id."""

    name: str
    type_id: int = 0


@dataclass(frozen=True, slots=True)
class SlotTokens:
    """The tokens that a name of a template stands for: ids and spellings, as many of each."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]


Slot: TypeAlias = TextSlot | SpecialSlot


@dataclass(frozen=True, slots=True)
class TemplateProcessing:
    """Tokens before, between and after the texts, as a template says.

    single, pair: for one text and for two. special_tokens: what the names in them stand for.
    """

    single: tuple[Slot, ...]
    pair: tuple[Slot, ...]
    special_tokens: Mapping[str, SlotTokens] = field(default_factory=dict)

    @staticmethod
    def of(single: str, pair: str, special_tokens: Mapping[str, int]) -> TemplateProcessing:
        """Templates as they are written: names apart by spaces, `$A` and `$B` the texts, `:1` a type id.

        special_tokens: name -> id; a name is the spelling of its token too. `ValueError` for a type id that
        is none, `TypeError` for what is no template or mapping.

        >>> TemplateProcessing.of("[CLS] $A", "[CLS] $A $B:1", {"[CLS]": 3}).pair
        (SpecialSlot(name='[CLS]', type_id=0), TextSlot(text='A', type_id=0), TextSlot(text='B', type_id=1))
        """
        if not isinstance(special_tokens, Mapping):
            raise TypeError(f"special_tokens is {type(special_tokens).__name__}: give a mapping, name -> id")
        tokens = {name: SlotTokens((token_id,), (name,)) for name, token_id in special_tokens.items()}
        return TemplateProcessing(_slots(single), _slots(pair), tokens)


@dataclass(frozen=True, slots=True)
class BertProcessing:
    """`cls A sep`, and for a pair `cls A sep B sep`, type id 1 from B on. cls, sep: `(spelling, id)`."""

    sep: tuple[str, int]
    cls: tuple[str, int]


@dataclass(frozen=True, slots=True)
class RobertaProcessing:
    """`cls A sep`, and for a pair `cls A sep sep B sep`, all of type id 0; trims as `ByteLevelProcessing`."""

    sep: tuple[str, int]
    cls: tuple[str, int]
    trim_offsets: bool = True
    add_prefix_space: bool = True


@dataclass(frozen=True, slots=True)
class ByteLevelProcessing:
    """Adds no token. trim_offsets: offsets leave out the white space at the ends of tokens.

    add_prefix_space: one space at the start of a text was not in it, so it takes nothing off the offsets.
    use_regex: says nothing here.
    """

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True


PostProcessor: TypeAlias = TemplateProcessing | BertProcessing | RobertaProcessing | ByteLevelProcessing


@dataclass(frozen=True, slots=True)
class Framing:
    """All of it, as a tokenizer says or a call asks: post-processors in order, truncation, padding."""

    post_processor: tuple[PostProcessor, ...] = ()
    truncation: Truncation | None = None
    padding: Padding | None = None


def _slots(template: str) -> tuple[Slot, ...]:
    if not isinstance(template, str):
        raise TypeError(f"a template is {type(template).__name__}: give str, as '[CLS] $A [SEP]'")
    slots: list[Slot] = []
    for word in template.split():
        name, colon, number = word.rpartition(":")
        if not colon:
            name, number = word, "0"
        if not number.isdecimal():
            raise ValueError(f"the template's {word!r} has no number as its type id")
        texts = {"$": "A", "$A": "A", "$a": "A", "$B": "B", "$b": "B"}
        text = texts.get(name)
        slots.append(SpecialSlot(name, int(number)) if text is None else _text(text, int(number)))
    return tuple(slots)


def _text(text: str, type_id: int) -> TextSlot:
    return TextSlot("A" if text == "A" else "B", type_id)
