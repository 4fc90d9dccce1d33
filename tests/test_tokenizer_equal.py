"""Tokenizers as values: which are equal, and what may be decoded. Leaves out what they do."""

from __future__ import annotations

import copy
import dataclasses
import json
import operator
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def test_the_vocabulary_is_read_only_and_copied_as_a_dict() -> None:
    tok = made()
    vocab: Any = tok.vocab
    for other in (copy.copy(vocab), copy.deepcopy(vocab), pickle.loads(pickle.dumps(vocab)), dict(vocab)):
        assert type(other) is dict
        assert [*other.items()] == [*vocab.items()]
        other[0] = b"changed"
    changes: list[Callable[[], object]] = [
        *(lambda: vocab.update({0: b""}), lambda: vocab.pop(0), lambda: vocab.clear(), vocab.popitem),
        *(lambda: operator.setitem(vocab, 0, b""), lambda: operator.delitem(vocab, 0)),
        *(lambda: vocab.setdefault(-1, b""), lambda: operator.ior(vocab, {0: b""})),
    ]
    for change in changes:
        with pytest.raises(TypeError, match="read only"):
            change()
    assert tok.vocab == made().vocab
    assert vocab[0] == tok.id_to_token(0) == tok.decode_bytes([0]) != b"changed"
    assert json.loads(json.dumps({number: token.hex() for number, token in vocab.items()}))["108"] == "6c"


@pytest.mark.parametrize("ids", [b"low", bytearray(b"low"), "low"])
def test_text_is_no_ids(ids: object) -> None:
    tok = made()
    for call in (tok.decode, tok.decode_bytes):
        with pytest.raises(TypeError, match="ids must be an iterable of integers, not"):
            call(ids)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="sequence 1 of the batch: ids must be"):
        tok.decode_batch([[108], ids])  # type: ignore[list-item]
