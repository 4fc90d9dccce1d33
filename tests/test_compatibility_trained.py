"""Tokenizers trained here by tokenizers and by sentencepiece on Greek, against those libraries.

As much text as for published ones (`test_compatibility`): a sample every day, with `SYLLABARY_PROVE` 10,000
strings and 1 MB of each corpus. Leaves out: every combination of components (test_formats_hf, test_formats_
sentencepiece_peer).
"""

from __future__ import annotations

import io
import lzma
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest
import sentencepiece
import tokenizers
from hard_text import hard_texts
from homes import VOCABS, from_sentencepiece, from_tokenizers
from test_compatibility import BYTES, CORPORA, STRINGS, same
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

import syllabary

pytestmark = [
    pytest.mark.skipif(not VOCABS.is_dir(), reason="no folder shared/ beside the repository"),
    pytest.mark.timeout(3600),
]
SPECIAL = ["[EOS]", "[UNK]"]


@lru_cache(maxsize=1)
def greek() -> str:
    with lzma.open(CORPORA / "greek.txt.xz") as file:
        return file.read(1_000_000).decode("utf-8", "ignore")


def classicist() -> tokenizers.Tokenizer:
    """As a classicist trains one."""
    tok = tokenizers.Tokenizer(models.BPE(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    return tok


def with_bytes() -> tokenizers.Tokenizer:
    tok = tokenizers.Tokenizer(models.BPE())
    tok.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tok.decoder = decoders.ByteLevel()
    return tok


def without_accents() -> tokenizers.Tokenizer:
    tok = tokenizers.Tokenizer(models.BPE(unk_token="[UNK]", fuse_unk=True))
    tok.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()])
    tok.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(), pre_tokenizers.Digits(True)])
    tok.decoder = decoders.Metaspace()
    return tok


@pytest.mark.parametrize("make", [classicist, with_bytes, without_accents], ids=lambda make: make.__name__)
def test_trained_by_tokenizers(make: Callable[[], tokenizers.Tokenizer], tmp_path: Path) -> None:
    peer = make()
    alphabet = pre_tokenizers.ByteLevel.alphabet() if make is with_bytes else []
    peer.train_from_iterator(
        greek().splitlines(),
        trainers.BpeTrainer(
            vocab_size=3000, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
        ),
    )
    peer.save(str(tmp_path / "tokenizer.json"))
    compare(syllabary.load(tmp_path), from_tokenizers(peer))


@pytest.mark.parametrize("rules", ["nmt_nfkc", "identity", "nmt_nfkc_cf"])
def test_trained_by_sentencepiece(rules: str, tmp_path: Path) -> None:
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(greek().splitlines()), model_writer=out, model_type="bpe", vocab_size=3000,
        byte_fallback=rules == "identity", user_defined_symbols=["[EOS]", "ᾳ"], num_threads=1, minloglevel=2,
        normalization_rule_name=rules,
    )  # fmt: skip
    path = tmp_path / "tokenizer.model"
    path.write_bytes(out.getvalue())
    compare(syllabary.load(path), from_sentencepiece(path))


def compare(tok: syllabary.Tokenizer, home: object) -> None:
    tokens = sum(same(tok, home, text) for text in hard_texts(STRINGS, seed=2))  # type: ignore[arg-type]
    for path in sorted(CORPORA.glob("*.txt.xz")):
        with lzma.open(path) as file:
            tokens += same(tok, home, file.read(BYTES).decode("utf-8", "ignore"))  # type: ignore[arg-type]
    assert tokens > STRINGS
