"""sentencepiece's normalizers and models for tests of steps: character maps, and models trained here.

Adds just enough of protobuf to take a map out of a model and to make a normalizer of options. Leaves out: the
package's own reader of such files, which has its own tests.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import sentencepiece

RULES = ("nmt_nfkc", "nfkc", "nfkc_cf", "nmt_nfkc_cf")
# Rules of several characters, that begin each other, drop, add spaces and cross clusters.
CUSTOM = [
    ("a", "b"), ("ab", "  x "), ("abc", ""), ("é", "e "), ("\u0301", ""), ("漢字", "k"), ("x ", " "),
    (" y", "y"), ("\r\n", " "), ("e\u0301", "é"), ("ffi", "fi"), ("\u00a9", "(c)"), ("q", ""),
]  # fmt: skip
LINES = [
    "the cat sat on the mat and the dog sat on the log", "a cat, a dog: abc abc abcd; what is that?",
    "ein Käfer läuft über die Straße, naïve café", "漢字 かな カナ 漢字かな", "1 22 333 4444",
] * 8  # fmt: skip


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A varint and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message: `(number, value)`; bytes for all that is not a varint."""
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        if key & 7 == 0:
            value, at = _number(data, at)
            yield key >> 3, value
            continue
        length = {1: 8, 5: 4}.get(key & 7)
        if length is None:
            length, at = _number(data, at)
        yield key >> 3, data[at : at + length]
        at += length


def _varint(value: int) -> bytes:
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + _varint(value >> 7)


def message(values: Iterable[tuple[int, int | bytes]]) -> bytes:
    """A message of these fields."""
    parts = []
    for number, value in values:
        if isinstance(value, int):
            parts.append(_varint(number << 3) + _varint(value))
        else:
            parts.append(_varint(number << 3 | 2) + _varint(len(value)) + value)
    return b"".join(parts)


@lru_cache(maxsize=8)
def charsmap(rule: str) -> bytes:
    """The character map of a rule of sentencepiece's, `"custom"` or `"identity"`."""
    if rule == "custom":
        made = sentencepiece.SentencePieceNormalizer(norm_map=CUSTOM)
    else:
        made = sentencepiece.SentencePieceNormalizer(rule_name=rule)
    found: bytes = dict(fields(made.serialized_normalizer_spec())).get(2, b"")
    return found


@lru_cache(maxsize=64)
def normalizer(rules: bytes, dummy: bool, extra: bool, escape: bool) -> Any:
    """sentencepiece's normalizer with this map and these options."""
    flags = [(3, int(dummy)), (4, int(extra)), (5, int(escape))]
    spec = message([(1, b"test"), *([(2, rules)] if rules else []), *flags])
    return sentencepiece.SentencePieceNormalizer(normalizer_spec=spec)


def trained(**options: Any) -> bytes:
    """A small model, as the bytes of its file."""
    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=file, minloglevel=5, hard_vocab_limit=False,
        **{"model_type": "bpe", "vocab_size": 400} | options,
    )  # fmt: skip
    return file.getvalue()


def options_of(model: bytes) -> Mapping[int, Any]:
    """The fields of a model's normalizer options (sentencepiece's `NormalizerSpec`)."""
    return dict(fields(dict(fields(model))[3]))


def user_defined(model: bytes) -> list[str]:
    """The user-defined symbols of a model."""
    pieces = [dict(fields(value)) for number, value in fields(model) if number == 1]
    return [piece[1].decode("utf-8") for piece in pieces if piece.get(3) == 4]
