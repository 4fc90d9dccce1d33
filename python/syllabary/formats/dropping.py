"""A split that drops the text between its matches, for formats whose reader is told the split.

A pattern that is told keeps that text: only a named split that drops (`whitespace`) comes back as it was.
Adds the refusal and the loss. Leaves out: formats that hold the split themselves.
"""

from __future__ import annotations

import dataclasses

from syllabary import splits
from syllabary.errors import FormatError
from syllabary.formats.record import cannot_hold
from syllabary.spec import SplitSpec, TokenizerSpec


def drops(split: SplitSpec) -> bool:
    """Whether text between matches goes, and no name of a split says so to who reads the file."""
    return not (split.keep_unmatched or any(splits.same(split, splits.get(name)) for name in splits.names()))


def refusal(name: str, split: SplitSpec) -> FormatError | None:
    """What the format `name` raises for such a split."""
    if not drops(split):
        return None
    return cannot_hold(
        name,
        f"a split that drops the text between its matches ({split.pattern!r}): named in split= when the "
        "file is read, it keeps that text",
    )


def keeping(spec: TokenizerSpec) -> tuple[TokenizerSpec, str]:
    """The tokenizer whose split keeps that text, and what a sentence about it begins with; ids can change."""
    return dataclasses.replace(spec, split=dataclasses.replace(spec.split, keep_unmatched=True)), (
        f"that the split ({spec.split.pattern!r}) drops the text between its matches: named in split= it "
        "keeps that text"
    )
