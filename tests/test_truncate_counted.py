"""Truncation of models that stopped early: of sentencepiece's characters and words, counted, and of Unigram.

Leaves out: models that merge (test_truncate).
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

import syllabary
from syllabary.errors import VocabularyError

pytestmark = pytest.mark.filterwarnings("ignore::syllabary.EarlyStopWarning")
DOCUMENTS = ["low lower lowest newer wider <u> naïve 漢字", "the newest and the widest"] * 3


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"user_defined_symbols": ["<u>"], "pad_id": 3, "character_coverage": 1.0},
        {"byte_fallback": True, "unk_id": 5},
    ],
)
@pytest.mark.parametrize("model", ["char", "word"])
def test_what_was_less_than_asked_for(model: str, options: dict[str, Any], tmp_path: Path) -> None:
    """sentencepiece's characters and words: any size from all there are on gives the same, and the record
    says which."""

    def trained(size: int) -> syllabary.Tokenizer:
        more = {"hard_vocab_limit": False, **options}
        return syllabary.train(DOCUMENTS, size, like="sentencepiece", model=model, options=more)

    tok = trained(400)
    for size in (tok.vocab_size, tok.vocab_size + 9, 400, 401):
        cut = tok.truncate(size)
        assert cut.spec == trained(size).spec
        assert cut.spec.record["vocab_size"] == size
        cut.save(tmp_path / "cut.model")
        trained(size).save(tmp_path / "trained.model")
        assert (tmp_path / "cut.model").read_bytes() == (tmp_path / "trained.model").read_bytes()
    if model == "char":
        with pytest.raises(VocabularyError, match="tokens are there before any merge"):
            tok.truncate(tok.vocab_size - 1)
    with pytest.raises(VocabularyError, match="only"):
        syllabary.Tokenizer(dataclasses.replace(tok.spec, record={})).truncate(400)


@pytest.mark.parametrize("like", [None, "huggingface"])
def test_a_unigram_model_keeps_its_record(like: str | None) -> None:
    """No training gives what is left of it: the record stays that of the one that there was."""

    def trained(size: int) -> syllabary.Tokenizer:
        return syllabary.train(DOCUMENTS, size, model="unigram", like=like)

    tok = trained(400)
    cut, smaller = tok.truncate(tok.vocab_size - 3), trained(tok.vocab_size - 3)
    assert cut.vocab_size == tok.vocab_size - 3 >= smaller.vocab_size
    assert {*cut.vocab.values()} != {*smaller.vocab.values()}
    assert cut.spec.record == tok.spec.record != smaller.spec.record
