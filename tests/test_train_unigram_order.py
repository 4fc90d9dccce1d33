"""Unigram training like sentencepiece where the order of sentences decides, byte for byte.

Where not all sentences begin with a space, what ends one is a seed by what the next begins with; where they
are not cut into words, they are learned from as they come. On drawn sentences, with empty ones between them,
and on text in several scripts; with `SYLLABARY_PROVE` on more. Leaves out: sentences that all begin with a
space (`test_train_unigram_last`, `test_train_unigram`).
"""

from __future__ import annotations

import lzma
import os
import random
from pathlib import Path
from typing import Any

import pytest
from test_train_unigram import theirs
from test_train_unigram_last import titled

import syllabary
from syllabary.formats.sentencepiece_write import write
from syllabary.reference import train_unigram_sentencepiece
from syllabary.reference.train_sentencepiece_options import SentencePieceOptions

PROVE = bool(os.environ.get("SYLLABARY_PROVE"))
SEEDS = 60 if PROVE else 2
SCRIPTS = ("english", "greek", "chinese", "japanese", "code", "latin", "multilingual")
WAYS: list[dict[str, Any]] = [
    {"add_dummy_prefix": False},
    {"treat_whitespace_as_suffix": True},
    {"add_dummy_prefix": False, "treat_whitespace_as_suffix": True},
    {"split_by_whitespace": False},
    {"split_by_whitespace": False, "add_dummy_prefix": False},
    {"split_by_whitespace": False, "treat_whitespace_as_suffix": True},
    {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False, "add_dummy_prefix": False},
    {
        "allow_whitespace_only_pieces": True,
        "remove_extra_whitespaces": False,
        "treat_whitespace_as_suffix": True,
    },
    {
        "add_dummy_prefix": False,
        "user_defined_symbols": ("be", "<x>"),
        "byte_fallback": True,
        "vocab_size": 340,
    },
    {"add_dummy_prefix": False, "normalization_rule_name": "identity", "num_threads": 3},
]

pytestmark = pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")


def ours(source: object, threads: int = 1, **options: Any) -> bytes:
    """The file that the engine's tokenizer becomes."""
    told = {"hard_vocab_limit": False, **options}
    tok = syllabary.train(source, model="unigram", like="sentencepiece", options=told, threads=threads)
    return write(tok.spec)


@pytest.mark.parametrize("way", range(len(WAYS)))
@pytest.mark.parametrize("seed", range(SEEDS))
def test_drawn_sentences(seed: int, way: int, tmp_path: Path) -> None:
    lines = titled(31 * seed + way)
    coverage = random.Random(seed).choice([1.0, 0.99, 0.98])
    told = {"vocab_size": 90, "character_coverage": coverage, **WAYS[way]}
    expected = theirs(lines, **{k: list(v) if isinstance(v, tuple) else v for k, v in told.items()})
    options = SentencePieceOptions(model_type="unigram", hard_vocab_limit=False, **told)
    assert write(train_unigram_sentencepiece.train(lines, options)) == expected
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    # One document, on more threads; one for each line; with empty ones behind; in parts, from a file.
    assert ours(["\n".join(lines)], 3, **told) == expected
    for source in (lines, [*lines, "", "\n\n", ""], path):
        assert ours(source, **told) == expected


@pytest.mark.parametrize("way", range(len(WAYS)) if PROVE else (0, 1, 4))
@pytest.mark.parametrize("script", SCRIPTS)
def test_text(shared: Path, script: str, way: int) -> None:
    with lzma.open(shared / "corpora" / f"{script}.txt.xz") as file:
        text = file.read(200_000 if PROVE else 25_000).decode("utf-8", "ignore")
    told = {**WAYS[way], "vocab_size": 8000 if PROVE else 1500}
    lines = [line.rstrip("\r") for line in text.split("\n")]
    expected = theirs(lines, **{k: list(v) if isinstance(v, tuple) else v for k, v in told.items()})
    assert ours([text], 2, **told) == expected


def test_a_table_of_sentences_with_counts() -> None:
    """A sentence that counts twice follows itself."""
    source = random.Random(5)
    lines = [f"{line}\t{source.randint(1, 4)}" for line in titled(8) if line.strip()]
    for way in WAYS[:6]:
        told = {"vocab_size": 90, "input_format": "tsv", **way}
        expected = theirs(lines, **told)
        options = SentencePieceOptions(model_type="unigram", hard_vocab_limit=False, **told)
        assert write(train_unigram_sentencepiece.train(lines, options)) == expected
        assert ours(lines, **told) == expected
