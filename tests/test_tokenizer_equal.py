"""Tokenizers as values: which are equal, and what may be decoded. Leaves out what they do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from pathlib import Path

import pytest

import syllabary

TEXTS = ["low lower lowest widest"] * 9


def made(**options: object) -> syllabary.Tokenizer:
    return syllabary.train(TEXTS, 262, special_tokens=["<a>", "<b>"], **options)  # type: ignore[arg-type]


def test_equal_data_is_an_equal_tokenizer(tmp_path: Path) -> None:
    tok = made()
    tok.save(tmp_path / "t.syllabary.json")
    spec = dataclasses.replace(tok.spec, special_tokens=dict(reversed(tok.spec.special_tokens.items())))
    for other in (
        made(),
        copy.copy(tok),
        pickle.loads(pickle.dumps(tok)),
        syllabary.load(tmp_path / "t.syllabary.json"),
        syllabary.Tokenizer(spec),
    ):
        assert tok == other
        assert hash(tok) == hash(other)
        assert other in {tok}


def test_other_data_is_another() -> None:
    class Child(syllabary.Tokenizer):
        pass

    tok = made()
    for other in (made(split="o200k", tie_break="first-seen"), Child(tok.spec), tok.spec, None):
        assert tok != other
    assert tok != syllabary.Tokenizer(dataclasses.replace(tok.spec, special_tokens={}))
    assert Child(tok.spec) == Child(tok.spec)


@pytest.mark.parametrize("ids", [b"low", bytearray(b"low"), "low"])
def test_text_is_no_ids(ids: object) -> None:
    tok = made()
    for call in (tok.decode, tok.decode_bytes):
        with pytest.raises(TypeError, match="ids must be an iterable of integers, not"):
            call(ids)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="sequence 1 of the batch: ids must be"):
        tok.decode_batch([[108], ids])  # type: ignore[list-item]
