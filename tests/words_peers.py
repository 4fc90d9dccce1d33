"""Tokenizers with WordPiece and WordLevel, made by tokenizers, and text to try them on.

Adds `made`, a peer with given components, trained here; `texts` and `samples`. Leaves out: what is compared
(`test_wordpiece`, `test_wordlevel`).
"""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from hard_text import hard_texts
from homes import VOCABS, Home, from_tokenizers
from tokenizers import Tokenizer, models, trainers

import syllabary
from syllabary.reference import ReferenceTokenizer

PROVE = bool(os.environ.get("SYLLABARY_PROVE"))
STRINGS = 10_000 if PROVE else 60
BYTES = 1_000_000 if PROVE else 5_000
CORPORA = VOCABS.parent / "corpora"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
Component = dict[str, Any] | None
BERT_CUTS: Component = {"type": "BertPreTokenizer"}


def bert(lowercase: bool, strips: bool | None = None, clean: bool = True, chinese: bool = True) -> Component:
    """The normalizer of BERT."""
    return {
        "type": "BertNormalizer", "clean_text": clean, "handle_chinese_chars": chinese,
        "strip_accents": strips, "lowercase": lowercase,
    }  # fmt: skip


def sequence(place: str, *names: str) -> Component:
    """Several components in a row; `Punctuation` and `Digits` with their usual options."""
    options: dict[str, dict[str, Any]] = {
        "Punctuation": {"behavior": "Isolated"},
        "Digits": {"individual_digits": True},
    }
    return {"type": "Sequence", place: [{"type": name, **options.get(name, {})} for name in names]}


@lru_cache(maxsize=1)
def training_text() -> tuple[str, ...]:
    """Hard strings, and some of each corpus where there are any."""
    return (*hard_texts(2000, seed=9), *(text for _name, text in samples(40_000)))


def samples(size: int) -> Iterator[tuple[str, str]]:
    """Each corpus and so many bytes of it."""
    for path in sorted(CORPORA.glob("*.txt.xz")):
        with lzma.open(path) as file:
            yield path.name.removesuffix(".txt.xz"), file.read(size).decode("utf-8", "ignore")


@lru_cache(maxsize=32)
def _document(kind: str, components: str, vocab_size: int) -> str:
    level = kind == "WordLevel"
    model = models.WordLevel(unk_token="[UNK]") if level else models.WordPiece(unk_token="[UNK]")
    document = json.loads(Tokenizer(model).to_str()) | json.loads(components)
    told: dict[str, Any] = {"vocab_size": vocab_size, "special_tokens": SPECIAL, "show_progress": False}
    trainer = trainers.WordLevelTrainer(**told) if level else trainers.WordPieceTrainer(**told)
    peer = Tokenizer.from_str(json.dumps(document))
    peer.train_from_iterator(training_text(), trainer)
    return str(peer.to_str())


def made(
    kind: str, normalizer: Component, pre_tokenizer: Component, vocab_size: int = 4000, **options: Any
) -> Tokenizer:
    """A trained peer. options: members of its model that are then changed."""
    decoder = {"type": "WordPiece", "prefix": "##", "cleanup": True} if kind == "WordPiece" else None
    components = {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "decoder": decoder}
    document = json.loads(_document(kind, json.dumps(components), vocab_size))
    document["model"] |= options
    return Tokenizer.from_str(json.dumps(document))


def opened(peer: Tokenizer, folder: Path) -> tuple[syllabary.Tokenizer, ReferenceTokenizer, Home]:
    """The same three times: ours, the specification, theirs."""
    peer.save(str(folder / "tokenizer.json"))
    tok = syllabary.load(folder / "tokenizer.json")
    return tok, ReferenceTokenizer(tok.spec), from_tokenizers(peer)
