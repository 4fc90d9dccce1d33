"""sentencepiece's models of words as `tokenizer.json`: Hugging Face's library gives sentencepiece's ids.

On drawn models and texts, with unknown words alone and in a row; read again, ours gives them too. Leaves out:
what the conversion says is lost (the character map, offsets, decoding of control tokens).
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece_models import corpus, peer, train_on

import syllabary
from syllabary.convert import convert
from syllabary.formats.hf_reduce_words import split_of
from syllabary.reference import ReferenceTokenizer

WAYS: list[dict[str, Any]] = [
    {},
    {"remove_extra_whitespaces": False},
    {"add_dummy_prefix": False},
    {"add_dummy_prefix": False, "remove_extra_whitespaces": False, "unk_piece": "?", "bos_id": -1},
]


def converted(data: bytes, folder: Path) -> tuple[tokenizers.Tokenizer, syllabary.Tokenizer, tuple[str, ...]]:
    """Their library's tokenizer, ours of the same file, and what was lost."""
    (folder / "t.model").write_bytes(data)
    lost = convert(folder / "t.model", folder / "tokenizer.json")
    there = folder / "tokenizer.json"
    return tokenizers.Tokenizer.from_file(str(there)), syllabary.load(there), tuple(lost.losses)


@pytest.mark.parametrize("way", range(len(WAYS)))
def test_unknown_words_in_a_row_are_one_there_too(tmp_path: Path, way: int) -> None:
    told = {"normalization_rule_name": "identity", "vocab_size": 60, **WAYS[way]}
    data = train_on(corpus(way), model_type="word", **told)
    theirs, ours, lost = converted(data, tmp_path)
    changes = [loss for loss in lost if "no id changes" not in loss]
    assert all("are special: they keep their ids" in loss for loss in changes)
    assert bool(changes) == (WAYS[way].get("add_dummy_prefix") is False)
    source, words = random.Random(way), sorted(set(" ".join(corpus(way)).split()))
    unknown = ["zz", "yy(", "[x]", "漢q", "\u2581"]
    fused = 0
    for _text in range(200):
        parts = source.choices(words + unknown * 9, k=source.randint(0, 9))
        text = source.choice(["", " ", "  "]) + source.choice([" ", " ", "  "]).join(parts)
        ids = peer(data).encode(text)[0]
        fused += ids.count(0) < sum(part in unknown for part in parts)
        assert theirs.encode(text, add_special_tokens=False).ids == ids
        assert ours.encode(text, "text") == ids
    assert fused > 20
    for text in corpus(way)[:9]:
        assert ReferenceTokenizer(ours.spec).encode(text, "text") == ours.encode(text, "text")


def test_user_defined_words_are_words(tmp_path: Path) -> None:
    told = {"normalization_rule_name": "identity", "vocab_size": 60, "user_defined_symbols": ["a.b", "né"]}
    data = train_on(corpus(3), model_type="word", **told)
    theirs, ours, lost = converted(data, tmp_path)
    assert "that 4 tokens are left alone by the normalizer: ids can change where it changes them" in lost
    for text in ["a.b", "the a.b né aXb", "n\u00e9e cat né", "aéb a.b zz a.ba.b"]:
        ids = peer(data).encode(text)[0]
        assert theirs.encode(text, add_special_tokens=False).ids == ours.encode(text, "text") == ids


WORDS = st.text(st.sampled_from("ab.|(漢"), max_size=4)


@settings(max_examples=60)
@given(words=st.sets(WORDS, max_size=9), text=st.lists(WORDS, max_size=9))
def test_the_pattern_finds_whole_words_and_no_others(words: set[str], text: list[str]) -> None:
    known = ["\u2581" + word for word in words]
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(split_of(known).pattern or ""), "isolated")
    joined = "".join("\u2581" + word for word in text)
    expected: list[str] = []
    for word in ("\u2581" + word for word in text):
        if word in known or not expected or expected[-1] in known:
            expected.append(word)
        else:
            expected[-1] += word
    assert [piece for piece, _place in split.pre_tokenize_str(joined)] == expected
