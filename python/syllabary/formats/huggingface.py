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

from syllabary.formats.hf_read import read
from syllabary.formats.hf_reduce import reduce
from syllabary.formats.hf_write import refuses, write
from syllabary.formats.record import Format
from syllabary.formats.signs import SIGNS

FORMAT = Format(
    SIGNS["huggingface"],
    read,
    write,
    refuses,
    reduce=reduce,
    models=("bpe", "wordpiece", "unigram", "wordlevel"),
)
