"""Hugging Face's library and ours beside each other, on one document and some texts.

Adds `compare`: ids, offsets and decoded text, with the cases set apart in which that library is no oracle.
Leaves out: documents and texts (`hf_configurations`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import hf_configurations as configurations
from hf_configurations import Document
from implementations import Implementation
from tokenizers import Tokenizer

from syllabary import formats
from syllabary.errors import UnknownSymbolError
from syllabary.formats.hf_split import PREFIX_SPACE
from syllabary.spec import TokenizerSpec

NAME = "tokenizer.json"


def opened(found: Document, folder: Path) -> tuple[TokenizerSpec, Tokenizer]:
    """A document, read here and there."""
    (folder / NAME).write_text(json.dumps(found), "utf-8")
    return formats.read(folder / NAME), Tokenizer.from_str(json.dumps(found))


def panics(call: Any, *arguments: Any, **options: Any) -> Any:
    """What a call of theirs gives, or `None` where it panics (their decoder Strip does on short tokens)."""
    try:
        return call(*arguments, **options)
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return None


def compare(
    implementation: Implementation, found: Document, texts: Iterable[str], folder: Path, missing: set[str]
) -> int:
    """Ids, offsets and decoding of texts; how many were compared. missing: those that they drop parts of."""
    spec, theirs = opened(found, folder)
    ours = implementation.tokenizer(spec)
    compared = 0
    for text in texts:
        encoding = theirs.encode(text, add_special_tokens=False)
        try:
            ids = list(ours.encode(text, special="allow"))
        except UnknownSymbolError:
            assert spec.unknown is None, text  # their library drops the symbol, or fails
            missing.add(text)
            continue
        compared += 1
        assert ids == encoding.ids, (text, encoding.tokens)
        if offsets_agree(found, spec, text):
            assert [tuple(span) for span in ours.offsets(text, special="allow")] == encoding.offsets, text
        decoded = panics(theirs.decode, ids, skip_special_tokens=False)
        if decoded is not None:
            assert ours.decode(ids) == decoded, (text, encoding.tokens)
    return compared


def offsets_agree(found: Document, spec: TokenizerSpec, text: str) -> bool:
    """Whether offsets are trimmed at all, or in the way that their rule of thumb was made for.

    It counts the characters of a token off its offsets: right where each stands for one of the text, and
    for the space that the pre-tokenizer put in front if the post-processor is told of it.
    """
    processor = found["post_processor"] or {}
    if not spec.trim_offsets:
        return True
    prefix = spec.pretokenizer[-1:] == (PREFIX_SPACE,)
    plain = spec.unit == "byte" and not spec.normalizer and not text.startswith(" ") and "Ġ" not in text
    return plain and not spec.added_tokens and prefix == processor["add_prefix_space"]


def usable(found: Document) -> bool:
    """Whether their library can: it panics where an added token is normalized to nothing.

    And a token that begins with white space is found again in what one with `rstrip` has taken; and of two
    that are normalized to one text, it finds the one or the other.
    """
    theirs = Tokenizer.from_str(json.dumps(found))
    entries = found["added_tokens"]
    contents = [
        theirs.normalizer.normalize_str(entry["content"])
        if entry["normalized"] and theirs.normalizer is not None
        else entry["content"]
        for entry in entries
    ]
    distinct = len(set(contents)) == len(contents)
    greedy = any(entry["rstrip"] for entry in entries)
    return all(contents) and distinct and not (greedy and any(content[0].isspace() for content in contents))


def texts(random: Random, count: int) -> list[str]:
    return [configurations.random_text(random) for _ in range(count)]
