"""Characters inside words: with every code point that a table holds, the engine and tokenizers agree.

Adds words of each, alone, between letters, signs and digits, and under marks: their ids, alone and with
spans. Every day a sample. Leaves out: text as it is written, and the specification (`test_wordpiece`).
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer
from words_peers import BERT_CUTS, PROVE, bert, sequence

import syllabary

COMMON = range(0x20, 0x600)
RARE = [*range(0x600, 0xD800), *range(0xE000, 0x1_0040), 0x1D538, 0x1F600, 0x20000, 0xE0001]
POINTS = [*COMMON, *RARE[:: 1 if PROVE else 60]]


def joining(behavior: str) -> dict[str, str]:
    """A step that joins punctuation to what stands there, or drops it."""
    return {"type": "Punctuation", "behavior": behavior}


TOGETHER = [
    {"type": "Punctuation", "behavior": "Contiguous"},
    {"type": "Digits", "individual_digits": False},
]
KINDS = [
    (bert(True), BERT_CUTS),
    (bert(False), BERT_CUTS),
    (bert(True, False, False, False), BERT_CUTS),
    (bert(False, True), {"type": "WhitespaceSplit"}),
    (sequence("normalizers", "NFD", "StripAccents", "Lowercase"), {"type": "Whitespace"}),
    (sequence("normalizers", "NFKD", "StripAccents"), sequence("pretokenizers", "Whitespace", "Digits")),
    (sequence("normalizers", "Lowercase", "NFD"), sequence("pretokenizers", "Whitespace", "Punctuation")),
    ({"type": "NFKC"}, BERT_CUTS),
    (None, BERT_CUTS),
    (None, {"type": "Whitespace"}),
    ({"type": "NFC"}, {"type": "Whitespace"}),
    ({"type": "NFKC"}, sequence("pretokenizers", "Whitespace", "Digits", "Punctuation")),
    ({"type": "NFKC"}, {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, *TOGETHER]}),
    (bert(True), {"type": "Sequence", "pretokenizers": [BERT_CUTS, *TOGETHER]}),
    (None, {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}, joining("MergedWithNext")]}),
    (
        None,
        {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, joining("MergedWithPrevious")]},
    ),
    ({"type": "NFC"}, {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}, joining("Removed")]}),
]


def words(point: int) -> list[str]:
    """Words with a character: what stands around it may change it, and it may change that."""
    c = chr(point)
    marked = [f"{c}\u0301\u0323a", f"a\u0301{c}\u0323b", f"b\u302e{c}", f"={c}\u0338=", f"1\u0338{c}1"]
    signs = [f"a!{c}={c}{c}a", f"1{c}1{c}!,", f"€{c}€!{c}\u200b"]
    return [f"{c}b", f"b{c}a{c}", f"Éb{c}", *marked, *signs]


def peer_of(normalizer: Any, cuts: Any, texts: list[str]) -> Tokenizer:
    """A WordPiece that has most characters of the normalized texts, and some pairs of them."""
    document: dict[str, Any] = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": normalizer,
        "pre_tokenizer": cuts, "post_processor": None, "decoder": None,
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0},
        },
    }  # fmt: skip
    plain = Tokenizer.from_str(json.dumps(document)).normalizer
    found: dict[str, None] = {}
    for text in texts:
        written = plain.normalize_str(text) if plain else text
        found |= dict.fromkeys(written) | dict.fromkeys(map("".join, pairwise(written)))
    kept = [name for at, name in enumerate(found) if at % 5]
    names = ["[UNK]", *kept, *(f"##{name}" for name in found)]
    document["model"]["vocab"] = {name: at for at, name in enumerate(dict.fromkeys(names))}
    return Tokenizer.from_str(json.dumps(document))


@pytest.mark.parametrize("normalizer, cuts", KINDS, ids=str)
def test_every_code_point_inside_words(normalizer: Any, cuts: Any, tmp_path: Path) -> None:
    texts = [" ".join(words(point)) for point in POINTS]
    peer = peer_of(normalizer, cuts, texts)
    (tmp_path / "tokenizer.json").write_text(peer.to_str(), encoding="utf-8")
    tok = syllabary.load(tmp_path / "tokenizer.json")
    expected = peer.encode_batch(texts)
    assert len({token_id for row in expected for token_id in row.ids}) > 2000
    for again in range(2):
        ids = tok.encode_batch(texts, special="allow")
        found = tok.encode_full_batch(texts, special="allow", offsets="char")
        rows = zip(texts, expected, ids, found.to_lists("ids"), found.offset_pairs(), strict=True)
        for text, row, one, other, pairs in rows:
            assert one == other == row.ids, (again, text)
            assert pairs == row.offsets, (again, text)
        assert found.to_lists("word_ids") == [row.word_ids for row in expected]
