"""What a call of the tokenizer asks for. Leaves out: how it is read (`inputs`) and done (`encode`)."""

from __future__ import annotations

from typing import Any, NamedTuple

from syllabary.arguments import check_choice
from syllabary.full.arguments import LONGEST, check_size


class Asked(NamedTuple):
    """A call's options, their names and defaults as `transformers` has them, strategies as plain text."""

    add_special_tokens: bool = True
    padding_strategy: str = "do_not_pad"
    truncation_strategy: str = "do_not_truncate"
    max_length: int | None = None
    stride: int = 0
    is_split_into_words: bool = False
    pad_to_multiple_of: int | None = None
    padding_side: str = "right"
    truncation_side: str = "right"
    return_tensors: Any = None
    return_token_type_ids: bool = False
    return_attention_mask: bool = False
    return_overflowing_tokens: bool = False
    return_special_tokens_mask: bool = False
    return_offsets_mapping: bool = False
    return_length: bool = False
    split_special_tokens: bool = False
    pad_id: int = 0
    pad_token: str = ""
    pad_type_id: int = 0

    @property
    def special(self) -> Any:
        """Our word for what to do with special tokens in the text."""
        return "text" if self.split_special_tokens else "allow"

    @property
    def truncates(self) -> bool:
        """Whether tokens are cut off."""
        return self.truncation_strategy != "do_not_truncate"

    @property
    def pads(self) -> bool:
        """Whether rows are filled up."""
        return self.padding_strategy != "do_not_pad"

    def length(self, longest: int) -> int:
        """How long every row is made at least, where the longest has so many tokens."""
        if not self.pads:
            return 0
        length = longest if self.padding_strategy == "longest" else self.max_length or 0
        return length + -length % self.pad_to_multiple_of if self.pad_to_multiple_of else length


def checked(asked: Asked) -> Asked:
    """The same; `ValueError` or `TypeError` for sides and sizes of padding and truncation that are none."""
    sides = ("left", "right")
    if asked.truncates:
        check_choice("truncation_side", asked.truncation_side, sides)
    if asked.pads:
        check_choice("padding_side", asked.padding_side, sides)
        check_size("pad_to_multiple_of", asked.pad_to_multiple_of or 0, LONGEST)
        if asked.padding_strategy != "longest":
            check_size("max_length", asked.max_length or 0, LONGEST)
    return asked


class Texts(NamedTuple):
    """The texts of a call: first and, where there is one, second; each a text or a list of words."""

    first: list[Any]
    second: list[Any] | None
    batched: bool
