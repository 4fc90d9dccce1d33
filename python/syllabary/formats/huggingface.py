"""Hugging Face's `tokenizer.json`: what `hf_write` and `hf_read` do, as a format.

tokenizers 0.23.3 refuses a file with an unknown top-level key, so our record of training stays out of it.
Four things to know:
- a character or byte outside the alphabet, where there is no unknown token, is silently dropped by Hugging
  Face's library and an `UnknownSymbolError` here; on text inside the alphabet the ids are equal.
- that library always matches special tokens in text, as `special="allow"` does here.
- templates, truncation and padding are carried from file to file, and applied by nobody here.
- our splits named gpt2, whitespace and whitespace-split become its own components, any other a `Split`.
Leaves out: the models one by one (`hf_model`, `hf_words`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from syllabary.formats.hf_read import read
from syllabary.formats.hf_write import refuses, write
from syllabary.formats.record import Format
from syllabary.formats.signs import SIGNS
from syllabary.on_demand import later

if TYPE_CHECKING:
    from syllabary.formats import hf_reduce
else:
    later(globals(), hf_reduce="syllabary.formats.hf_reduce")

FORMAT = Format(
    SIGNS["huggingface"],
    read,
    write,
    refuses,
    reduce=lambda spec: hf_reduce.reduce(spec),  # imported when it is needed
    models=("bpe", "wordpiece", "unigram", "wordlevel"),
)
