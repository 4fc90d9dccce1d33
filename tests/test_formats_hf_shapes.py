"""The shapes of published tokenizers, with small vocabularies: each component as their files have it.

Leaves out: every combination (`test_formats_hf`); the published files themselves (`test_compatibility`).
"""

from __future__ import annotations

import copy
from pathlib import Path
from random import Random
from typing import Any

import hf_configurations as configurations
import pytest
from hf_compare import compare, opened, texts
from hf_configurations import Document, added, cut, level, metaspace
from implementations import Implementation, each
from tokenizers import pre_tokenizers

from syllabary.spec import Step

BYTE_DECODER = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|"
    r"\s*[\r\n]|\s+(?!\S)|\s+"
)
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def of_sequence(key: str, *components: Document) -> Document:
    return {"type": "Sequence", key: list(components)}


def in_order(*components: Document) -> Document:
    return of_sequence("pretokenizers", *components)


def regex(pattern: str) -> Document:
    return {"Regex": pattern}


# name: kind of model, normalizer, pre-tokenizer, decoder, unit
SHAPES: dict[str, tuple[str, Any, Any, Any, str]] = {
    "roberta": ("bytes", None, level(), BYTE_DECODER, "byte"),
    "qwen2": (
        "bytes",
        {"type": "NFC"},
        in_order(cut(regex(CL100K), "Isolated"), level(False, False)),
        BYTE_DECODER,
        "byte",
    ),
    "bloom": (
        "bytes",
        None,
        in_order(cut(regex(r" ?[^(\s|[.,!?…。，、।۔،])]+"), "Isolated"), level(False, False)),
        BYTE_DECODER,
        "byte",
    ),
    "falcon": (
        "bytes",
        None,
        in_order(
            {"type": "Punctuation", "behavior": "Contiguous"},
            level(),
            {"type": "Digits", "individual_digits": False},
            cut(regex("[0-9][0-9][0-9]"), "Isolated"),
        ),
        BYTE_DECODER,
        "char",
    ),
    "smollm": (
        "bytes",
        None,
        in_order({"type": "Digits", "individual_digits": True}, level()),
        BYTE_DECODER,
        "byte",
    ),
    "clip": (
        "suffixed bytes",
        of_sequence(
            "normalizers",
            {"type": "NFC"},
            {"type": "Replace", "pattern": regex(r"\s+"), "content": " "},
            {"type": "Lowercase"},
        ),
        in_order(cut(regex(CLIP), "Removed", True), level(False, False)),
        BYTE_DECODER,
        "char",
    ),
    "gemma": (
        "fallback",
        configurations.NORMALIZERS[11],
        cut({"String": " "}, "MergedWithPrevious"),
        of_sequence("decoders", configurations.NORMALIZERS[11] | {"pattern": {"String": "▁"}, "content": " "},
                    {"type": "ByteFallback"}, {"type": "Fuse"}),
        "char",
    ),
    "xlm": ("suffix", configurations.BERT, {"type": "BertPreTokenizer"}, configurations.DECODERS[1], "char"),
    "bert": ("prefix", configurations.BERT, {"type": "BertPreTokenizer"}, configurations.DECODERS[3], "char"),
    "t5": ("spaces", configurations.NORMALIZERS[10], metaspace("first"), metaspace("first"), "char"),
}  # fmt: skip


def model_of(kind: str) -> Document:
    if kind != "suffixed bytes":
        return copy.deepcopy(configurations.trained_models()[kind])
    return configurations.trained(
        pre_tokenizers.ByteLevel(add_prefix_space=False), end_of_word_suffix="</w>", unknown="<|endoftext|>"
    )


@each
@pytest.mark.parametrize("name", SHAPES)
def test_a_published_shape(implementation: Implementation, name: str, tmp_path: Path) -> None:
    kind, normalizer, pre_tokenizer, decoder, unit = SHAPES[name]
    model = model_of(kind)
    entries = configurations.unknown_of(model)
    entries.append(added("<s>", len(model["vocab"]), special=True, lstrip=name == "roberta"))
    found = configurations.document(model, normalizer, pre_tokenizer, decoder, added_tokens=entries)
    spec, _theirs = opened(found, tmp_path)
    assert spec.unit == unit
    missing = set[str]()
    compare(implementation, found, ["a <s> b", *texts(Random(4), 80)], tmp_path, missing)
    assert missing == set()


def test_clips_mark_is_left_to_its_decoder(tmp_path: Path) -> None:
    _kind, normalizer, pre_tokenizer, decoder, _unit = SHAPES["clip"]
    found = configurations.document(model_of("suffixed bytes"), normalizer, pre_tokenizer, decoder)
    spec, _theirs = opened(found, tmp_path)
    assert (spec.end_of_word, spec.decoder) == ("</w>", (Step("ByteLevel"),))
