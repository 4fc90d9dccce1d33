"""Models that are not byte-pair encoding: what a tokenizer with one may be, and the plainest of them.

Leaves out: WordPiece and Unigram, which have files of their own.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer as Peer
from tokenizers import models, pre_tokenizers

import syllabary
from syllabary.reference import ReferenceTokenizer
from syllabary.spec import SplitSpec, Step, TokenizerSpec
from syllabary.tokenizer import Tokenizer

WORDS = ["[UNK]", "the", "cat", "sat", ".", "猫", "é"]
WORD_LEVEL = TokenizerSpec(
    "char",
    SplitSpec(None),
    {token_id: word.encode() for token_id, word in enumerate(WORDS)},
    {},
    None,
    unknown=0,
    pretokenizer=(Step("Whitespace"),),
    model="wordlevel",
)
TEXTS = ["the cat sat.", "", "  the\tdog sat…", "猫 猫猫 é e\u0301", "cat" * 3]


@pytest.mark.parametrize("text", TEXTS)
def test_word_level_is_that_of_tokenizers(text: str) -> None:
    peer = Peer(models.WordLevel({word: token_id for token_id, word in enumerate(WORDS)}, unk_token="[UNK]"))
    peer.pre_tokenizer = pre_tokenizers.Whitespace()
    there = peer.encode(text)
    tok, reference = Tokenizer(WORD_LEVEL), ReferenceTokenizer(WORD_LEVEL)
    assert tok.encode(text) == reference.encode(text) == there.ids
    assert tok.count(text) == len(there.ids)
    assert tok.encode_batch([text, text]) == [there.ids] * 2
    assert list(map(tuple, tok.offsets(text).tolist())) == reference.offsets(text) == there.offsets


def test_without_an_unknown_token_a_word_outside_is_named() -> None:
    spec = replace(WORD_LEVEL, unknown=None)
    for made in (Tokenizer(spec), ReferenceTokenizer(spec)):
        with pytest.raises(syllabary.UnknownSymbolError, match=r"'dog'; the first is at character 4"):
            made.encode("the dog")
        with pytest.raises(syllabary.UnknownSymbolError, match="'dog'"):
            list(made.steps("the dog"))


def test_kept_in_our_own_file(tmp_path: Path) -> None:
    Tokenizer(WORD_LEVEL).save(tmp_path / "words.syllabary.json")
    assert syllabary.load(tmp_path / "words.syllabary.json").spec == WORD_LEVEL


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"model": "wordpieces"}, "model is 'wordpieces', which is none of bpe, wordpiece"),
        ({"merges": ()}, "merges with model='wordlevel': it has none"),
        ({"alphabet": {b".": 4}}, "alphabet with model='wordlevel'"),
        ({"end_of_word": "</w>"}, "end_of_word with model='wordlevel'"),
        ({"dropout": 0.1}, "dropout with model='wordlevel'"),
        ({"continuing_prefix": "##"}, "continuing_prefix with model='wordlevel'"),
        ({"unit": "byte"}, "model='wordlevel' needs unit=\"char\", not 'byte'"),
        ({"tokens": {0: b"[UNK]", 1: b"\xff"}}, r"token 1 is .*, no UTF-8"),
        ({"scores": {1: 0.5}}, "scores with model='wordlevel'"),
        ({"longest_piece": 5}, 'longest_piece is 5: give a number of characters, 0 or more, with model="'),
        ({"model": "unigram"}, 'model="unigram" needs scores'),
    ],
)
def test_fields_that_do_not_go_together(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(syllabary.VocabularyError, match=message):
        Tokenizer(replace(WORD_LEVEL, **wrong))
