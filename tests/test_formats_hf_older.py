"""Files of tokenizers that are told by what is in them: beside Tekken's, without a type or an unknown token.

The home libraries are the judges. Leaves out: files as they are written today (`test_formats_hf`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer as Peer

import syllabary
from syllabary.compat.tokenizers import Tokenizer as Compat
from syllabary.convert import convert
from syllabary.framing import Padding, Truncation

WORDS = {"vocab": {"a": 0, "[UNK]": 1, "##b": 2}, "unk_token": "[UNK]"}
MODELS: dict[str, dict[str, Any]] = {
    "WordLevel": WORDS,
    "WordPiece": WORDS | {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100},
    "Unigram": {"vocab": [["<unk>", 0.0], ["a", -1.0], ["b", -1.5]], "unk_id": 0},
    "BPE": {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]},
}


def file_of(model: dict[str, Any], **members: Any) -> str:
    places = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding")
    return json.dumps(
        {"version": "1.0", "added_tokens": [], **dict.fromkeys(places), **members, "model": model}
    )


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_without_a_type(kind: str, tmp_path: Path) -> None:
    text = file_of(MODELS[kind])
    peer, compat = Peer.from_str(text), Compat.from_str(text)
    (tmp_path / "tokenizer.json").write_text(text, "utf-8")
    assert type(compat.model).__name__ == type(peer.model).__name__ == kind
    for string in ("ab", "a", "b", "aab", "x"):
        ids = peer.encode(string).ids if kind != "BPE" or string != "x" else []
        assert compat.encode(string).ids == ids
    assert syllabary.load(tmp_path).encode("ab") == peer.encode("ab").ids


def test_a_file_may_have_tekken_in_its_name(tmp_path: Path) -> None:
    tok = syllabary.train(["low lower lowest"] * 3, vocab_size=262)
    tok.save(tmp_path / "nemo-tekken.json", format="huggingface")
    assert syllabary.load(tmp_path / "nemo-tekken.json").encode("low") == tok.encode("low")


def test_a_sequence_of_no_processors_says_which_text_a_token_is_of(tmp_path: Path) -> None:
    members = {"type": "Sequence", "processors": []}
    text = file_of(MODELS["WordLevel"], post_processor=members, pre_tokenizer={"type": "Whitespace"})
    (tmp_path / "tokenizer.json").write_text(text, "utf-8")
    peer, tok = Peer.from_str(text), syllabary.load(tmp_path)
    peer.enable_padding(length=3)
    assert tok.encode_full("a", padding=Padding(length=3)).sequence_ids == peer.encode("a").sequence_ids
    peer.no_padding()
    peer.enable_truncation(2)
    ours, theirs = tok.encode_full("a a", "a a", truncation=Truncation(2)), peer.encode("a a", "a a")
    assert ours.sequence_ids == theirs.sequence_ids == [0, 1]
    assert [part.sequence_ids for part in ours.overflowing] == [p.sequence_ids for p in theirs.overflowing]


def test_a_unigram_that_falls_back_to_bytes_has_an_unknown_token_for_theirs(tmp_path: Path) -> None:
    tok = syllabary.train(["the cat sat on the mat and ran to the rat"] * 9, 257, model="unigram")
    assert tok.spec.unknown is None
    convert(tok, tmp_path / "tokenizer.json")
    peer, again = Peer.from_file(str(tmp_path / "tokenizer.json")), syllabary.load(tmp_path)
    assert again.spec.byte_tokens[again.spec.unknown] == 0
    for text in ("the cat", "é😀 ω", "漢字\n\t", "\x85 mat 😀é", "\0", "a\0é\0", ""):
        assert tok.encode(text) == again.encode(text) == peer.encode(text).ids
    again.save(tmp_path / "again.json", format="huggingface")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "tokenizer.json").read_bytes()
