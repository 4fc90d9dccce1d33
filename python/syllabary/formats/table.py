"""Every format as a record: all their modules are loaded with this one.

Leaves out: which there are, and what tells them apart (`signs`); the choice of one (`syllabary.formats`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from syllabary.formats.record import Format
from syllabary.formats.signs import SIGNS

# By name they are seen by who gathers a program's modules without running it, as PyInstaller.
if TYPE_CHECKING:
    from syllabary.formats import (  # noqa: F401
        bert_vocab,
        gguf,
        gpt2,
        huggingface,
        minbpe,
        sentencepiece,
        sentencepiece_vocab,
        subword_nmt,
        syllabary_json,
        tekken,
        tiktoken,
        youtokentome,
    )

FORMATS: tuple[Format, ...] = tuple(map(Format.named, SIGNS))  # in the order in which they are tried
