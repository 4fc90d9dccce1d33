"""sentencepiece's `.model` and `.vocab`: what is read, and files that come back byte for byte."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sentencepiece_models import (
    EDITS,
    edited,
    model_of,
    odd_records,
    peer,
    published_models,
    self_test,
    train,
    variants,
)

from syllabary import formats
from syllabary.convert import convert
from syllabary.errors import FormatError
from syllabary.formats import sentencepiece, sentencepiece_vocab, syllabary_json
from syllabary.formats.protobuf import fields, patched, read_varint
from syllabary.formats.record import Hints
from syllabary.formats.sentencepiece_proto import (
    BYTE,
    CONTROL,
    NORMALIZER,
    TRAINER,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
)
from syllabary.reference.wire import record, varint
from syllabary.spec import Matching, SplitSpec, Step, TokenizerSpec

SPACE = "\u2581"


def read(folder: Path, data: bytes, name: str = "t.model") -> TokenizerSpec:
    """The tokenizer of a model with these bytes."""
    (folder / name).write_bytes(data)
    return sentencepiece.read(folder / name, Hints())


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A model with bytes and user-defined pieces."""
    folder = tmp_path_factory.mktemp("small")
    return train(folder, vocab_size=460, byte_fallback=True, user_defined_symbols=["<sep>"], pad_id=3)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A model without bytes."""
    folder = tmp_path_factory.mktemp("plain")
    return train(folder, vocab_size=300, character_coverage=0.98, normalization_rule_name="identity")


# ---- reading ----


def test_what_is_read(small: bytes, tmp_path: Path) -> None:
    spec = read(tmp_path, small)
    model = model_of(small)
    assert (spec.unit, spec.merges, spec.split) == ("char", None, SplitSpec(None))
    assert (spec.fallback, spec.fuse_unknown, spec.surface_offsets) == (True, True, True)
    assert spec.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2, "<pad>": 3}
    assert spec.unknown == 0
    assert spec.added_tokens == {"<sep>": 4}
    assert spec.matching["<s>"] == Matching(stage="never")
    assert spec.matching["<sep>"] == Matching(stage="frozen")
    assert spec.byte_tokens == {5 + byte: byte for byte in range(256)}
    assert spec.tokens[5 + 0x0A] == b"\n"
    for token_id, (text, kind, score) in enumerate(zip(model.texts, model.types, model.scores, strict=True)):
        if kind not in (BYTE, CONTROL, UNKNOWN, USER_DEFINED):
            assert spec.tokens[token_id] == text.encode()
            assert (spec.scores or {})[token_id] == score
            if len(text) == 1:
                assert spec.alphabet[text.encode()] == token_id
    assert spec.alphabet[b"\xff"] == 5 + 255
    steps = {step.kind: dict(step.options) for step in spec.normalizer}
    assert len(steps["SentencePiece"].pop("precompiled_charsmap")) > 1000  # type: ignore[arg-type]
    assert steps["SentencePiece"] == {
        "add_dummy_prefix": True,
        "remove_extra_whitespaces": True,
        "escape_whitespaces": True,
        "treat_whitespace_as_suffix": False,
    }
    assert spec.decoder is not None
    assert dict(spec.decoder[0].options) == {
        "add_dummy_prefix": True,
        "remove_extra_whitespaces": True,
        "treat_whitespace_as_suffix": False,
        "unknown_surface": " \u2047 ",
        "denormalizer_charsmap": b"",
    }


def test_unused_pieces_are_in_no_alphabet(plain: bytes, tmp_path: Path) -> None:
    model = model_of(plain)
    token_id = model.texts.index("a")
    model.types[token_id] = UNUSED
    spec = read(tmp_path, model.write())
    assert token_id in spec.unused
    assert b"a" not in spec.alphabet
    assert spec.tokens[token_id] == b"a"


def test_other_types_are_refused(small: bytes, tmp_path: Path) -> None:
    for number in (0, 5, 9):
        model = model_of(small)
        model.set_options(TRAINER, {3: number})
        with pytest.raises(FormatError, match=f"of the type {number}, which sentencepiece does not know"):
            read(tmp_path, model.write())
    model = model_of(small)  # without the trainer's part the type is Unigram, and bytes are not
    model.layout = [item for item in model.layout if isinstance(item, int)]
    with pytest.raises(FormatError, match="is a byte, but byte_fallback is off"):
        read(tmp_path, model.write())


def test_hints_are_refused(small: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.model").write_bytes(small)
    with pytest.raises(FormatError, match="leave out split"):
        sentencepiece.read(tmp_path / "t.model", Hints(split=SplitSpec(None)))


def test_sniffing(small: bytes, shared: Path, tmp_path: Path) -> None:
    """By content alone, and no file of another format."""
    assert sentencepiece.FORMAT.sniff(tmp_path / "anything", small[:4096])
    for path in published_models(shared).values():
        head = path.read_bytes()[:4096]
        assert [form.name for form in formats.FORMATS if form.sniff(path, head)] == ["sentencepiece"]
    (tmp_path / "tokenizer.model").write_bytes(small)
    assert formats.find(tmp_path) == (sentencepiece.FORMAT, tmp_path / "tokenizer.model")
    for path in (shared / "vocabs").iterdir():
        if path.suffix != ".model":
            assert not sentencepiece.FORMAT.sniff(path, path.read_bytes()[:4096])
    for head in (
        b"",
        b"\n",
        b"\n\n",
        b"\n\x05abcde",
        b"minbpe v1\n\n0\n",
        b"\n#version: 0.2\n",
        b"\n\x03\n\x01a",
    ):
        assert not sentencepiece.FORMAT.sniff(tmp_path / "t.model", head)


# ---- the same bytes again ----


def test_published_models_come_back_byte_for_byte(shared: Path) -> None:
    for name, path in published_models(shared).items():
        assert sentencepiece.write(sentencepiece.read(path, Hints())) == path.read_bytes(), name


def test_trained_models_come_back_byte_for_byte(tmp_path: Path, prove: bool) -> None:
    for options in variants(200 if prove else 16, seed=3):
        data = train(tmp_path, **options)
        assert sentencepiece.write(read(tmp_path, data)) == data, options


@pytest.mark.parametrize("name", EDITS)
def test_edited_models_come_back_byte_for_byte(name: str, small: bytes, plain: bytes, tmp_path: Path) -> None:
    for data in (small, plain):
        changed = edited(data, name)
        assert changed != data
        assert sentencepiece.write(read(tmp_path, changed)) == changed


def test_odd_files_come_back_byte_for_byte(small: bytes, plain: bytes, tmp_path: Path) -> None:
    """Unknown fields, records in any order, a type said twice, options in two messages, a NUL piece."""
    for data in (small, plain):
        odd = odd_records(data)
        peer(odd)
        assert sentencepiece.write(read(tmp_path, odd)) == odd
        model = model_of(data)
        model.typed = True
        explicit = model.write()
        assert sentencepiece.write(read(tmp_path, explicit)) == explicit
        twice = data + record(TRAINER, record(24, 1)) + record(NORMALIZER, record(4, 0))
        spec = read(tmp_path, twice)
        assert spec.normalizer[0].options["treat_whitespace_as_suffix"] is True
        assert spec.normalizer[0].options["remove_extra_whitespaces"] is False
        assert sentencepiece.write(spec) == twice
    nul = small + record(1, record(1, b"\0") + b"\x15\0\0\0\0")
    peer(nul)
    spec = read(tmp_path, nul)
    assert max(spec.tokens) in spec.unused
    assert sentencepiece.write(spec) == nul


def test_scores_of_pieces_that_no_merge_makes_are_kept(small: bytes, tmp_path: Path) -> None:
    model = model_of(small)
    for token_id, score in ((0, -7.5), (4, 3.0), (9, -0.0)):
        model.scores[token_id] = score
    data = model.write()
    assert sentencepiece.write(read(tmp_path, data)) == data


def test_through_our_own_format(small: bytes, plain: bytes, tmp_path: Path) -> None:
    for data in (small, odd_records(plain)):
        spec = read(tmp_path, data)
        (tmp_path / "t.syllabary.json").write_bytes(syllabary_json.write(spec))
        again = syllabary_json.read(tmp_path / "t.syllabary.json", Hints())
        assert sentencepiece.write(again) == data


def test_damaged_carried_values_are_refused(small: bytes, tmp_path: Path) -> None:
    spec = read(tmp_path, small)
    good: Any = spec.carried["sentencepiece"]
    damaged: list[Any] = [
        3, [], {}, {**good, "layout": 3}, {**good, "layout": [-1]}, {**good, "layout": ["!"]},
        {**good, "typed": 3}, {**good, "layout": ["CgA="]}, {**good, "layout": [["", ""], True]},
        {**good, "layout": [[1, 2]]}, {**good, "layout": [["EgA="]]}, {**good, "odd": {"x": ""}},
        {**good, "odd": {"1": "AAAA"}}, {**good, "odd": []},
    ]  # fmt: skip
    for value in damaged:
        with pytest.raises(FormatError, match="carried"):
            sentencepiece.write(dataclasses.replace(spec, carried={"sentencepiece": value}))


# ---- changed tokenizers ----


def test_a_changed_option_changes_nothing_else(small: bytes, tmp_path: Path) -> None:
    spec = read(tmp_path, small)
    options = {"add_dummy_prefix": False}
    assert spec.decoder is not None
    changed = dataclasses.replace(
        spec,
        normalizer=(Step("SentencePiece", {**spec.normalizer[0].options, **options}),),
        decoder=(Step("SentencePiece", {**spec.decoder[0].options, **options}),),
    )
    data = sentencepiece.write(changed)
    model = model_of(small)
    model.set_options(NORMALIZER, {3: 0})
    assert data == model.write()
    assert peer(data).encode("the cat")[1][0].startswith("t")


def test_an_added_token_is_one_more_piece(small: bytes, tmp_path: Path) -> None:
    spec = read(tmp_path, small)
    token_id = max(spec.tokens) + 1
    changed = dataclasses.replace(
        spec,
        added_tokens={**spec.added_tokens, "<new>": token_id},
        matching={**spec.matching, "<new>": Matching(stage="frozen")},
    )
    data = sentencepiece.write(changed)
    assert token_id in peer(data).encode("the<new>cat")[0]
    assert read(tmp_path, data).added_tokens == changed.added_tokens
    assert model_of(data).options(TRAINER).number(4) == token_id + 1


def test_without_what_was_carried(small: bytes, plain: bytes, tmp_path: Path) -> None:
    """A model made anew of the record alone encodes the same."""
    for data in (small, plain, edited(small, "unused", "shuffled")):
        spec = read(tmp_path, data)
        fresh = sentencepiece.write(dataclasses.replace(spec, carried={}))
        assert fresh != data
        for text in ("the cat sat", "  ἄειδε\t<sep> x", "漢字 \U0001f600"):
            assert peer(fresh).encode(text) == peer(data).encode(text)
        again = read(tmp_path, fresh)
        assert dataclasses.replace(again, carried={}) == dataclasses.replace(spec, carried={})


# ---- self-test ----


@pytest.mark.parametrize("which", ["small", "plain"])
def test_self_test_samples_are_checked(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    data: bytes = request.getfixturevalue(which)
    texts = [
        "the cat sat",
        "ἄειδε  θεὰ",
        "漢字 \U0001f600\U0001f600 z",
        "",
        "<sep>x",
        "ß\U0001f600 the \U0001f600",
    ]
    samples = [(text, " ".join(peer(data).encode(text)[1])) for text in texts]
    spec = read(tmp_path, data + self_test(samples))
    assert sentencepiece.write(spec) == data + self_test(samples)
    for number, (text, pieces) in enumerate(samples):
        for wrong in (pieces + " x", pieces[:-1], "q" + pieces, pieces.replace(" ", "")):
            if wrong == pieces or wrong in {" x"} or (wrong.split() and " ".join(wrong.split()) == pieces):
                continue
            changed = [*samples]
            changed[number] = (text, wrong)
            if which == "plain" and wrong[:-1] == pieces[:-1] and peer(data).encode(text)[0][-1:] == [0]:
                continue
            with pytest.raises(FormatError, match=f"self-test sample {number}, "):
                read(tmp_path, data + self_test(changed))


def test_a_damaged_self_test_is_refused(small: bytes, tmp_path: Path) -> None:
    for body in (record(1, b"\xff"), record(1, record(1, b"\xff") + record(2, b"")), record(1, record(1, 3))):
        with pytest.raises(FormatError, match="self-test"):
            read(tmp_path, small + record(4, body))


# ---- vocabulary files ----


def trained_pair(folder: Path, **options: Any) -> Path:
    import sentencepiece as peer_library
    from sentencepiece_models import corpus

    peer_library.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus()),
        model_prefix=str(folder / "m"),
        model_type="bpe",
        vocab_size=460,
        byte_fallback=True,
        minloglevel=3,
        **options,
    )
    return folder / "m.vocab"


@pytest.mark.parametrize("scores", [True, False])
def test_vocabulary_files(scores: bool, tmp_path: Path) -> None:
    path = trained_pair(tmp_path, vocabulary_output_piece_score=scores)
    spec = sentencepiece_vocab.read(path, Hints())
    assert spec == sentencepiece.read(path.with_suffix(".model"), Hints())
    files = sentencepiece_vocab.write_files(spec, path)
    assert files[path.with_suffix(".model")] == path.with_suffix(".model").read_bytes()
    if scores:
        assert files[path] == path.read_bytes()
        assert sentencepiece_vocab.FORMAT.sniff(path, path.read_bytes()[:4096])


def test_a_vocabulary_file_of_another_model(tmp_path: Path) -> None:
    path = trained_pair(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    changes: dict[str, Callable[[list[bytes]], list[bytes]]] = {
        "line 301: ": lambda rows: [*rows[:300], b"x\t-1\n", *rows[301:]],
        "line 460: ": lambda rows: rows[:-1],
        "line 461: more pieces": lambda rows: [*rows, b"x\t-1\n"],
        "cut short": lambda rows: [*rows[:-1], rows[-1][:-1]],
    }
    for message, change in changes.items():
        path.write_bytes(b"".join(change(lines)))
        with pytest.raises(FormatError, match=message):
            sentencepiece_vocab.read(path, Hints())


def test_a_vocabulary_file_alone_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.vocab").write_bytes(b"<unk>\t0\na\t-1\n")
    with pytest.raises(FormatError, match=r"m\.model is not beside it"):
        sentencepiece_vocab.read(tmp_path / "m.vocab", Hints())


def test_a_vocabulary_file_of_another_name_is_refused(tmp_path: Path) -> None:
    source = trained_pair(tmp_path)
    for name in ("out.txt", "out.model", "out"):
        with pytest.raises(FormatError, match=rf"{name}: end the name in \.vocab; the \.model is written"):
            convert(source, tmp_path / name, "sentencepiece-vocab")
        assert not (tmp_path / name).exists()


# ---- the wire format ----


def test_varints() -> None:
    source = random.Random(0)
    for value in [
        0,
        127,
        128,
        2**32,
        2**64 - 1,
        *(source.getrandbits(source.randint(1, 64)) for _ in range(300)),
    ]:
        assert read_varint(varint(value), 0, len(varint(value))) == (value, len(varint(value)))
    assert record(1, -1) == b"\x08" + b"\xff" * 9 + b"\x01"


def test_patching_leaves_the_rest_alone() -> None:
    message = record(9, b"z") + record(2, 5) + record(7, b"") + record(2, 6)
    assert patched(message, {}) == message
    assert patched(message, {3: 1, 2: 5}) == record(2, 5) + record(3, 1) + record(9, b"z") + record(7, b"")
    assert [field.number for field in fields(message)] == [9, 2, 7, 2]
