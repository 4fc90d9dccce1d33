"""Damaged and hostile `.model` files: a `FormatError` with the byte, or sentencepiece's tokenizer."""

from __future__ import annotations

import random
import struct
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from sentencepiece_models import model_of, odd_records, peer, train

from syllabary.errors import FormatError
from syllabary.formats import sentencepiece, sentencepiece_proto
from syllabary.formats.protobuf import fields
from syllabary.formats.record import Hints
from syllabary.formats.sentencepiece_proto import (
    BYTE,
    CONTROL,
    NORMALIZER,
    TRAINER,
    UNKNOWN,
    Model,
    canonical,
)
from syllabary.reference.tokenizer import ReferenceTokenizer
from syllabary.reference.wire import record, varint
from syllabary.spec import TokenizerSpec

TEXTS = ["the cat  sat", " ﬁ ab\0c <sep>né\U0001f600\U0001f600 aaaa", "漢字 HTTPServer 12345 ①½"]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small model with a small character map, and user-defined pieces."""
    return train(
        tmp_path_factory.mktemp("small"),
        vocab_size=320,
        normalization_rule_name=None,
        user_defined_symbols=["<sep>", "né"],
        character_coverage=0.98,
    )


def read(path: Path, data: bytes) -> TokenizerSpec:
    path.write_bytes(data)
    return sentencepiece.read(path, Hints())


def refusal(path: Path, data: bytes) -> str:
    with pytest.raises(FormatError) as caught:
        read(path, data)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_every_prefix_is_refused_or_whole(small: bytes, tmp_path: Path) -> None:
    ends = {field.end for field in fields(small)}
    trainer_end = next(field.end for field in fields(small) if field.number == TRAINER)
    for end in [*range(400), *range(400, trainer_end, 7), *range(trainer_end - 30, len(small) - 300, 97)]:
        if end in ends:  # a message has no end of its own; without the trainer's part the type is Unigram
            spec = read(tmp_path / "t.model", small[:end])
            assert spec.model == ("bpe" if end >= trainer_end else "unigram")
        else:
            assert "byte" in refusal(tmp_path / "t.model", small[:end]) or end == 0


def damaged(data: bytes, source: random.Random) -> bytes:
    """One to four bits flipped, bytes put in, left out or doubled."""
    out = bytearray(data)
    for _ in range(source.choice((1, 1, 2, 4))):
        at, kind = source.randrange(len(out)), source.randrange(6)
        if kind < 3:
            out[at] ^= 1 << source.randrange(8)
        elif kind == 3:
            out[at:at] = source.choice(
                (b"\0", b"\xff", b"\xff\xff\xff\xff\x7f", b"\x80" * 11, out[at : at + 14])
            )
        elif kind == 4:
            del out[at : at + source.choice((1, 2, 14))]
        else:
            out[at] = source.randrange(256)
    return bytes(out)


def test_damage_is_refused_or_read_as_sentencepiece_does(small: bytes, tmp_path: Path, prove: bool) -> None:
    source, accepted = random.Random(7), 0
    head = small[: next(field.body for field in fields(small) if field.number == NORMALIZER) + 100]
    tail = small[len(head) :]
    for _ in range(30_000 if prove else 900):
        data = damaged(head, source) + tail if source.random() < 0.8 else damaged(small, source)
        try:
            spec = read(tmp_path / "t.model", data)
        except FormatError:
            continue
        tokenizer, other = ReferenceTokenizer(spec), peer.__wrapped__(data)
        accepted += 1
        assert sentencepiece.write(spec) == data
        for text in TEXTS:
            ids, _pieces, offsets = other.encode(text)
            assert tokenizer.encode(text, special="text") == ids
            assert tokenizer.offsets(text, special="text") == offsets
            assert tokenizer.decode(ids) == other.decode(ids)
    assert accepted > 50


def pieces(model: Model) -> Iterator[bytes]:
    for piece in zip(model.texts, model.scores, model.types, strict=True):
        yield canonical(*piece, False)


@pytest.mark.parametrize(
    "raw, message",
    [
        (b"\x0a" + varint(10 << 30), "10737418240 bytes long, but the file has 0 more"),
        (b"\x0a" + varint(2**64 - 1) + b"abc", "18446744073709551615 bytes long, but the file has 3 more"),
        (b"\x0a\x05\x0a\x7fabc", "field 1 is 127 bytes long, but the file has 3 more"),
        (b"\x80" * 11, "a number of more than 10 bytes"),
        (b"\x80" * 9, "the file ends within a number"),
        (b"\x02\x00", "0 is no field number"),
        (b"\x0b", "wire type 3"),
        (b"\x0f", "wire type 7"),
        (b"\x08\x05", "field 1 is a number, not a string or message"),
        (b"\x8a\x00\x00", "a piece whose tag"),
        (b"\x10\x05", "field 2 is a number, not a string or message"),
        (record(TRAINER, record(3, b"x")), "field 3 is a string or message, not a number"),
        (record(NORMALIZER, record(2, 1)), "field 2 is a number, not a string or message"),
        (record(1, record(1, b"zz") + record(2, 1)), "field 2 is a number, not 4 bytes"),
        (record(1, record(1, b"zz") + b"\x15\0\0"), "field 2 is 4 bytes long"),
        (record(1, b""), "is empty"),
        (record(1, record(1, b"")), "is empty"),
        (record(1, record(1, b"z" * 8000)), "has 8000 bytes, and 7999 are the most"),
        (record(1, record(1, b"\xff\xfe")), "not UTF-8"),
        (record(1, record(1, b"\xed\xa0\x80")), "not UTF-8"),
        (canonical("zzz", float("nan"), 1, False), "score nan"),
        (canonical("zzz", float("inf"), 1, False), "score inf"),
        (canonical("zzz", float("-inf"), 1, False), "score -inf"),
        (canonical("zzz", 0.0, 7, False), "of type 7"),
        (record(1, record(1, b"zz") + record(3, -1)), "of type 18446744073709551615"),
    ],
)
def test_hostile_records_are_refused_with_their_byte(
    raw: bytes, message: str, small: bytes, tmp_path: Path
) -> None:
    said = refusal(tmp_path / "t.model", small + raw)
    assert message in said
    offset = int(said.partition(": byte ")[2].partition(":")[0])
    assert len(small) <= offset < len(small) + len(raw)


@pytest.mark.parametrize(
    "text, kind, message",
    [
        ("the", 1, "is piece"),
        ("<s>", CONTROL, "is piece 1 already"),
        ("a\0b", 1, "holds a NUL"),
        ("\0", 1, "holds a NUL"),
        ("<0x41>", BYTE, "byte_fallback is off"),
        ("<what>", UNKNOWN, "2 pieces are of the type UNKNOWN"),
    ],
)
def test_pieces_that_sentencepiece_refuses(
    text: str, kind: int, message: str, small: bytes, tmp_path: Path
) -> None:
    model = model_of(small)
    if message == "is piece":
        text = model.texts[-1]
    data = small + canonical(text, -1.0, kind, False)
    assert message in refusal(tmp_path / "t.model", data)
    with pytest.raises(RuntimeError):
        peer(data)


def test_bytes_and_unknown_pieces_must_be_whole(small: bytes, tmp_path: Path) -> None:
    model = model_of(small)
    model.set_options(TRAINER, {35: 1})
    assert "256 of 256 byte pieces are missing" in refusal(tmp_path / "t.model", model.write())
    model = model_of(small)
    model.types[0] = CONTROL
    assert "no pieces are of the type UNKNOWN" in refusal(tmp_path / "t.model", model.write())
    bytes_model = model_of(train(tmp_path, byte_fallback=True, vocab_size=460))
    token_id = bytes_model.types.index(BYTE)
    bytes_model.texts[token_id] = "<0xaa>"
    assert "is no byte" in refusal(tmp_path / "t.model", bytes_model.write())


def test_damaged_character_maps(small: bytes, tmp_path: Path) -> None:
    model = model_of(small)
    charsmap = model.options(NORMALIZER).data(2)
    source = random.Random(3)
    whole = struct.pack("<I", 2**32 - 1) + charsmap[4:]
    for changed in (b"\0", b"abcd", charsmap[:-1], whole, charsmap[:4] + bytes(len(charsmap) - 4)):
        model.set_options(NORMALIZER, {2: changed})
        assert "normalizer_spec: precompiled_charsmap is damaged" in refusal(
            tmp_path / "t.model", model.write()
        )
    for _ in range(60):
        model.set_options(NORMALIZER, {2: source.randbytes(4) + charsmap[4 : 4 + source.randint(0, 3000)]})
        refusal(tmp_path / "t.model", model.write())


def test_a_denormalizer_that_changes_whitespace_is_refused(small: bytes, tmp_path: Path) -> None:
    model = model_of(small)
    charsmap = model.options(NORMALIZER).data(2)
    data = small + record(5, record(2, charsmap))
    assert "denormalizer_spec adds, removes or escapes" in refusal(tmp_path / "t.model", data)
    read(tmp_path / "t.model", small + record(5, b""))


def test_large_files_take_little_time_and_memory(small: bytes, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    same = small + canonical("zz", 0.0, 1, False) * 200_000
    distinct = small + b"".join(canonical(f"z{number}", 0.0, 1, False) for number in range(100_000))
    for data, message in ((same, "already"), (distinct + b"\x0a", "ends within a number")):
        start = time.process_time()
        assert message in refusal(tmp_path / "t.model", data)
        assert time.process_time() - start < 10
    tracemalloc.start()
    sentencepiece_proto.parse(distinct, tmp_path)
    _now, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20 * len(distinct)
    monkeypatch.setattr(sentencepiece_proto, "MAX_PIECES", 500)
    assert "more than 500 pieces" in refusal(tmp_path / "t.model", distinct)


def test_odd_files_are_damaged_too(small: bytes, tmp_path: Path) -> None:
    odd, source = odd_records(small), random.Random(9)
    for _ in range(150):
        try:
            spec = read(tmp_path / "t.model", damaged(odd, source))
        except FormatError:
            continue
        assert sentencepiece.write(spec) == (tmp_path / "t.model").read_bytes()
    assert len(list(pieces(model_of(small)))) == 320
