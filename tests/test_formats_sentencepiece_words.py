"""sentencepiece's models of words and of characters: read, written and encoded with as sentencepiece does.

On models trained here over its options and on edited ones. Leaves out: BPE and Unigram
(`test_formats_sentencepiece`, `test_formats_sentencepiece_peer`).
"""

from __future__ import annotations

import random
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentencepiece_models import SYMBOLS, UNUSED, edited, model_of, peer, train, train_on, variants
from test_formats_sentencepiece_peer import ODD_TEXTS, check, sampled

import syllabary
from syllabary.convert import convert
from syllabary.errors import FormatError
from syllabary.formats.sentencepiece import to_spec
from syllabary.formats.sentencepiece_proto import MODEL_TYPE, TRAINER
from syllabary.formats.sentencepiece_write import to_model
from syllabary.reference import ReferenceTokenizer
from syllabary.spec import SplitSpec, TokenizerSpec
from syllabary.tokenizer import Tokenizer

KINDS = {"word": 3, "char": 4}
EDITS = [(), ("unused",), ("user-defined",), ("without characters",), ("controls", "unescaped")]
LINES = ["low lower lowest newer a b c x", "a b c low  low ab 12 né 漢字"] * 4


def drawn(folder: Path, kind: str, number: int) -> bytes:
    """A model with options drawn by number."""
    options = list(variants(number + 1))[number]
    size = 420 if options["byte_fallback"] else random.Random(number).choice([60, 120, 300])
    return train(folder, **{**options, "vocab_size": size}, model_type=kind)


def small(kind: str, **options: Any) -> bytes:
    """A model of a few lines."""
    return train_on(LINES, model_type=kind, vocab_size=400, **options)


def opened(data: bytes, folder: Path) -> Tokenizer:
    """The tokenizer of a model."""
    path = folder / "t.model"
    path.write_bytes(data)
    return syllabary.load(path)


@pytest.mark.parametrize("number", range(12))
@pytest.mark.parametrize("kind", KINDS)
def test_as_sentencepiece_does(tmp_path: Path, kind: str, number: int) -> None:
    """Ids, tokens, offsets, text again; and the file, byte for byte."""
    trained = drawn(tmp_path, kind, number)
    source = random.Random(number)
    for edits in EDITS:
        data = edited(trained, *edits, seed=number)
        tok = opened(data, tmp_path)
        tok.save(tmp_path / "again.model")
        assert (tmp_path / "again.model").read_bytes() == data
        texts = sampled(source, 6) + source.sample(ODD_TEXTS, 6)
        check(tok, data, texts)
        check(ReferenceTokenizer(tok.spec), data, texts)


@lru_cache
def made(kind: str, fallback: bool) -> tuple[bytes, Tokenizer, ReferenceTokenizer]:
    """A model with user-defined symbols, and its tokenizers."""
    data = small(kind, byte_fallback=fallback, user_defined_symbols=SYMBOLS)
    spec = to_spec(model_of(data), Path("t.model"))
    return data, Tokenizer(spec), ReferenceTokenizer(spec)


@given(
    text=st.text(st.sampled_from("ab clow▁né漢12<sep> \u3000x")),
    kind=st.sampled_from(sorted(KINDS)),
    fallback=st.booleans(),
)
def test_any_text(text: str, kind: str, fallback: bool) -> None:
    data, tok, reference = made(kind, fallback)
    check(tok, data, [text])
    check(reference, data, [text])


def test_unknown_words_in_a_row_are_one(tmp_path: Path) -> None:
    tok = opened(small("word"), tmp_path)
    assert tok.tokens("low zz yy a") == ["▁low".encode(), b"<unk>", "▁a".encode()]
    assert tok.offsets("low zz yy a").tolist() == [[0, 3], [3, 9], [9, 11]]
    assert tok.decode(tok.encode("low zz yy a")) == "low ⁇  a"
    assert tok.spec.model == "wordlevel"


@pytest.mark.parametrize("kind", KINDS)
def test_every_method_gives_these_ids(tmp_path: Path, kind: str) -> None:
    data = small(kind, user_defined_symbols=["<sep>", "12"])
    tok = opened(data, tmp_path)
    texts = [*sampled(random.Random(3), 30), "low " * 3000 + "zz yy", ""]
    right = [peer(data).encode(text)[0] for text in texts]
    assert tok.encode_batch(texts, special="text", threads=2) == right
    assert tok.encode_batch_array(texts, special="text").to_list() == right
    assert tok.count_batch(texts, special="text").tolist() == [len(ids) for ids in right]
    for text, ids in zip(texts, right, strict=True):
        full = tok.encode_full(text, special="text", add_special_tokens=False)
        assert full.ids == ids
        parts = [text[at : at + 7] for at in range(0, len(text), 7)]
        assert [token_id for part in tok.encode_stream(parts, "text") for token_id in part] == ids


@pytest.mark.parametrize("kind", KINDS)
def test_unused_pieces_have_their_text(tmp_path: Path, kind: str) -> None:
    """No text gives them, but ids may be given."""
    data = edited(small(kind), "unused", seed=2)
    tok, processor, source = opened(data, tmp_path), peer(data).processor, random.Random(5)
    assert UNUSED in model_of(data).types
    for _ in range(300):
        ids = source.choices(range(tok.vocab_size), k=source.randrange(8))
        expected = processor.decode(ids)
        assert (tok.decode(ids), ReferenceTokenizer(tok.spec).decode(ids)) == (expected, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_through_our_own_format(tmp_path: Path, kind: str) -> None:
    """Nothing is lost, the scores of words neither, on which no id depends."""
    data = edited(small(kind), "unused", seed=2)
    tok = opened(data, tmp_path)
    tok.save(tmp_path / "t.syllabary.json")
    back = syllabary.load(tmp_path / "t.syllabary.json")
    assert back.spec == tok.spec
    back.save(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == data


def test_characters_in_tokenizer_json(tmp_path: Path) -> None:
    data = small("char", normalization_rule_name="identity", remove_extra_whitespaces=False)
    (tmp_path / "t.model").write_bytes(data)
    convert(tmp_path / "t.model", tmp_path / "tokenizer.json")
    there = syllabary.load(tmp_path / "tokenizer.json")
    for text in sampled(random.Random(4), 40):
        assert there.encode(text, "text") == peer(data).encode(text)[0]


def test_words_spelled_with_bytes_are_not_for_tokenizer_json(tmp_path: Path) -> None:
    (tmp_path / "t.model").write_bytes(small("word", byte_fallback=True))
    with pytest.raises(FormatError, match="cannot hold a wordlevel model with"):
        convert(tmp_path / "t.model", tmp_path / "tokenizer.json")


def test_new_models_of_words(tmp_path: Path) -> None:
    """A tokenizer of another origin is written as a model that sentencepiece encodes with as we do."""
    tok = opened(small("word", byte_fallback=True), tmp_path)
    fresh = TokenizerSpec(
        **{
            **{name: getattr(tok.spec, name) for name in TokenizerSpec.__dataclass_fields__},
            "carried": {},
        }
    )
    data = to_model(fresh).write()
    check(Tokenizer(fresh), data, sampled(random.Random(5), 20))
    assert model_of(data).options(TRAINER).number(MODEL_TYPE) == KINDS["word"]


def test_what_no_model_of_words_is(tmp_path: Path) -> None:
    spec = opened(small("word"), tmp_path).spec
    fields = {name: getattr(spec, name) for name in TokenizerSpec.__dataclass_fields__}
    for change, what in (
        ({"split": SplitSpec(r"\w+")}, "the split"),
        ({"carried": {"sentencepiece": {**spec.carried["sentencepiece"], "idle": {"▁a": 1}}}}, "damaged"),  # type: ignore[dict-item]
    ):
        with pytest.raises(FormatError, match=what):
            to_model(TokenizerSpec(**{**fields, **change}))
