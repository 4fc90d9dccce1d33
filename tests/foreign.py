"""Tokenizers of other libraries as specifications, for holding the reference to them.

Adds a reading of a `tokenizers.Tokenizer` and of a sentencepiece model, as short as a test can have it.
Leaves out: files, and anything that no test here makes (`syllabary.formats` reads what users have).
"""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Mapping
from typing import Any

from tokenizers import Tokenizer

from syllabary.spec import Matching, SplitSpec, Stage, Step, StepValue, TokenizerSpec

NO_SPLIT = SplitSpec(None)
BYTE = re.compile("<0x([0-9A-F]{2})>")


def steps(described: Mapping[str, Any] | None, kind: str) -> tuple[Step, ...]:
    """A part of `tokenizer.json` as steps, sequences flattened. kind: the part's name."""
    if described is None:
        return ()
    if described["type"] == "Sequence":
        inner = described.get("normalizers") or described.get("pretokenizers") or described.get("decoders")
        return tuple(step for one in inner or () for step in steps(one, kind))
    options: dict[str, StepValue] = {}
    for name, value in described.items():
        if name == "type":
            continue
        if name == "pattern":
            options |= {"pattern": next(iter(value.values())), "regex": "Regex" in value}
        elif name == "behavior":
            options[name] = re.sub("(?<=[a-z])(?=[A-Z])", "_", value).lower()
        elif name == "precompiled_charsmap":
            options[name] = base64.b64decode(value)
        else:
            options[name] = value
    if described["type"] == "ByteLevel":
        kept = ("add_prefix_space", "use_regex") if kind == "pretokenizer" else ()
        options = {name: options[name] for name in kept}
    return (Step(described["type"].replace("BertNormalizer", "Bert"), options),)


def from_tokenizers(tok: Tokenizer) -> TokenizerSpec:
    """A tokenizer of Hugging Face's library, in characters: a ByteLevel is a step as any other."""
    data = json.loads(tok.to_str())
    model, vocab, added = data["model"], data["model"]["vocab"], data["added_tokens"]
    prefix, mark = model["continuing_subword_prefix"] or "", model["end_of_word_suffix"] or ""
    byte_tokens = {}
    if model["byte_fallback"]:
        found = {token_id: BYTE.fullmatch(token) for token, token_id in vocab.items()}
        byte_tokens = {token_id: int(match[1], 16) for token_id, match in found.items() if match}
    alphabet = {bytes([value]): token_id for token_id, value in byte_tokens.items()}
    for token, token_id in vocab.items():
        bare = token.removesuffix(mark) or token
        if len(bare) == 1 or (prefix and bare.startswith(prefix) and len(bare) == len(prefix) + 1):
            alphabet[token.encode()] = token_id
    tokens = {token_id: token.encode() for token, token_id in vocab.items()}
    pairs = [pair if isinstance(pair, list) else pair.split(" ") for pair in model["merges"]]
    unknown = model["unk_token"]
    return TokenizerSpec(
        "char",
        NO_SPLIT,
        tokens | {token_id: bytes([value]) for token_id, value in byte_tokens.items()},
        alphabet,
        tuple((vocab[left], vocab[right], vocab[left + right.removeprefix(prefix)]) for left, right in pairs),
        {token["content"]: token["id"] for token in added if token["special"]},
        {token["content"]: token["id"] for token in added if not token["special"]},
        end_of_word=mark or None,
        fallback=bool(byte_tokens),
        whole_pieces=model["ignore_merges"],
        normalizer=steps(data["normalizer"], "normalizer"),
        pretokenizer=steps(data["pre_tokenizer"], "pretokenizer"),
        decoder=steps(data["decoder"], "decoder") or (Step("Join", {"separator": " "}),),
        matching={token["content"]: flags(token) for token in added},
        unknown=None if unknown is None else vocab[unknown],
        fuse_unknown=model["fuse_unk"],
        byte_tokens=byte_tokens,
        continuing_prefix=prefix or None,
        trim_offsets=bool((data["post_processor"] or {}).get("trim_offsets")),
    )


def flags(token: Mapping[str, Any]) -> Matching:
    """How an added token is found."""
    stage: Stage = "normalized" if token["normalized"] else "text"
    return Matching(stage, token["single_word"], token["lstrip"], token["rstrip"])


# ---- sentencepiece: messages of protobuf, read and written by hand ----

Fields = dict[int, list[Any]]


def read(data: bytes) -> Fields:
    """A message: field -> its values, integers or bytes."""
    found: Fields = {}
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            at += 1
            value |= (data[at - 1] & 127) << shift
            shift += 7
            if data[at - 1] < 128:
                return value

    while at < len(data):
        tag = varint()
        size = 4 if tag & 7 == 5 else varint() if tag & 7 == 2 else 0
        value: int | bytes = data[at : at + size] if size or tag & 7 == 2 else varint()
        at += size
        found.setdefault(tag >> 3, []).append(value)
    return found


def write(fields: Mapping[int, Any]) -> bytes:
    """A message of integers, floats (of 32 bits), bytes, and lists of them."""

    def varint(value: int) -> bytes:
        return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)

    data = b""
    for number, values in fields.items():
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, int):
                data += varint(number << 3) + varint(value)
            elif isinstance(value, float):
                data += varint(number << 3 | 5) + struct.pack("<f", value)
            else:
                data += varint(number << 3 | 2) + varint(len(value)) + value
    return data


NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE_PIECE = range(1, 7)


def sentencepiece_model(
    pieces: list[tuple[str, float, int]], trainer: Mapping[int, Any], normalizer: Mapping[int, Any]
) -> bytes:
    """A BPE model of pieces `(text, score, type)` and options by the numbers of their fields."""
    written = [write({1: text.encode(), 2: score, 3: kind}) for text, score, kind in pieces]
    return write({1: written, 2: write({3: 2, **trainer}), 3: write(normalizer)})


def from_sentencepiece(model: bytes) -> TokenizerSpec:
    """A BPE model of sentencepiece."""
    fields = read(model)
    trainer, normalizer = read(fields[2][0]), read(fields[3][0])
    names: dict[int, dict[int, str]] = {kind: {} for kind in range(1, 7)}
    scores = {}
    for token_id, message in enumerate(map(read, fields[1])):
        kind = message.get(3, [NORMAL])[0]
        names[kind][token_id] = message[1][0].decode()
        if kind in (NORMAL, UNUSED):
            scores[token_id] = struct.unpack("<f", message.get(2, [bytes(4)])[0])[0]
    byte_tokens = {token_id: int(text[3:5], 16) for token_id, text in names[BYTE_PIECE].items()}
    tokens = {token_id: text.encode() for token_id, text in (names[NORMAL] | names[UNUSED]).items()}
    never = names[CONTROL] | names[UNKNOWN]
    common = {
        "add_dummy_prefix": flag(normalizer, 3, True),
        "remove_extra_whitespaces": flag(normalizer, 4, True),
        "treat_whitespace_as_suffix": flag(trainer, 24, False),
    }
    charsmap = {"precompiled_charsmap": normalizer.get(2, [b""])[0]}
    surface = trainer.get(44, [" \u2047 ".encode()])[0].decode()
    decoding = {"unknown_surface": surface, "denormalizer_charsmap": b""}
    return TokenizerSpec(
        "char",
        NO_SPLIT,
        tokens | {token_id: bytes([value]) for token_id, value in byte_tokens.items()},
        {bytes([value]): token_id for token_id, value in byte_tokens.items()},
        None,
        {text: token_id for token_id, text in never.items()},
        {text: token_id for token_id, text in names[USER].items()},
        fallback=flag(trainer, 35, False),
        normalizer=(
            Step("SentencePiece", common | charsmap | {"escape_whitespaces": flag(normalizer, 5, True)}),
        ),
        decoder=(Step("SentencePiece", common | decoding),),
        matching={text: Matching("never") for text in never.values()}
        | {text: Matching("frozen") for text in names[USER].values()},
        scores=scores,
        unused=frozenset(names[UNUSED]),
        unknown=next(iter(names[UNKNOWN]), None),
        fuse_unknown=True,
        byte_tokens=byte_tokens,
        surface_offsets=True,
    )


def flag(message: Fields, number: int, default: bool) -> bool:
    """An option that is on or off."""
    return bool(message.get(number, [default])[0])
