"""WordPiece and WordLevel where a later step of cutting looks at what is beside a character.

Adds: steps after the one that cuts at whitespace, with all short texts of the characters that they are about;
and an unknown token that is looked for in normalized text. What one character does between two letters says
nothing there about what it does elsewhere. Leaves out: steps that go by kinds alone (`test_wordpiece`).
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

import syllabary
from syllabary.reference import ReferenceTokenizer
from syllabary.spec import SplitSpec, Step, TokenizerSpec

LETTERS = "a1шb字."
TEXTS = ["".join(drawn) for size in (1, 2, 3, 4) for drawn in product(LETTERS, repeat=size)][::3]
SPACED = [" ".join(pair) for pair in zip(TEXTS, TEXTS[7:], strict=False)][::40]


def split(pattern: str, behavior: str, invert: bool = False) -> dict[str, Any]:
    """A step that cuts by a pattern."""
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


BERT = {
    "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
    "lowercase": True,
}  # fmt: skip
AFTER = [
    {"type": "Digits", "individual_digits": False},
    {"type": "UnicodeScripts"},
    {"type": "Punctuation", "behavior": "Removed"},
    split("[0-9]+", "Isolated"),
    split("ш+", "MergedWithPrevious"),
    split("(?<=a)b", "Removed"),
    split("1(?=a)", "Removed"),
    split("b(?!1)", "Isolated"),
]


def document(model: str, **parts: Any) -> dict[str, Any]:
    """A tokenizer.json of that model, whose words are up to two characters long."""
    names = ["[UNK]", *LETTERS, *("".join(pair) for pair in product(LETTERS, repeat=2))]
    names += [f"##{letter}" for letter in LETTERS]
    described = {"type": model, "unk_token": "[UNK]", "vocab": {name: at for at, name in enumerate(names)}}
    if model == "WordPiece":
        described |= {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    empty = dict.fromkeys(
        ["truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"]
    )
    return {"version": "1.0", **empty, "added_tokens": [], "model": described, **parts}


@pytest.mark.parametrize("after", AFTER, ids=str)
@pytest.mark.parametrize("first", ["BertPreTokenizer", "Whitespace", "WhitespaceSplit"])
@pytest.mark.parametrize("model", ["WordPiece", "WordLevel"])
def test_a_step_that_looks_at_neighbours(model: str, first: str, after: Any, tmp_path: Path) -> None:
    cuts = {"type": "Sequence", "pretokenizers": [{"type": first}, after]}
    made = document(model, pre_tokenizer=cuts)
    (tmp_path / "tokenizer.json").write_text(json.dumps(made), "utf-8")
    tok, peer = syllabary.load(tmp_path / "tokenizer.json"), Tokenizer.from_str(json.dumps(made))
    reference = ReferenceTokenizer(tok.spec)
    texts = [*TEXTS, *SPACED]
    assert tok.encode_batch(texts) == [found.ids for found in peer.encode_batch(texts)]
    for text in texts[::17]:
        assert reference.encode(text) == tok.encode(text), text


@pytest.mark.parametrize("first", ["BertPreTokenizer", "Whitespace", "WhitespaceSplit"])
@pytest.mark.parametrize("model", ["WordPiece", "WordLevel"])
def test_white_space_that_is_dropped_cuts_nothing(model: str, first: str, tmp_path: Path) -> None:
    """BERT's normalizer drops what is a control too, where a later step would cut the letters beside it."""
    cuts = {"type": "Sequence", "pretokenizers": [{"type": first}, split("a", "Isolated")]}
    made = document(model, pre_tokenizer=cuts, normalizer=BERT)
    (tmp_path / "tokenizer.json").write_text(json.dumps(made), "utf-8")
    tok, peer = syllabary.load(tmp_path / "tokenizer.json"), Tokenizer.from_str(json.dumps(made))
    reference = ReferenceTokenizer(tok.spec)
    for space in map(chr, (*range(0x21), 0x7F, 0x85, 0xA0, 0x1680, 0x200B, 0x2028, 0x3000)):
        text = f"b{space}b 1{space}b a{space}a"
        assert tok.encode(text) == peer.encode(text).ids == reference.encode(text), repr(space)


@pytest.mark.parametrize("model", ["BPE", "WordPiece", "WordLevel", "Unigram"])
def test_an_unknown_token_that_is_found_in_normalized_text(model: str, tmp_path: Path) -> None:
    """It is named as the model names it, as it is an ordinary token too."""
    unknown = {"id": 0, "content": "[UNK]", "single_word": False, "lstrip": False, "rstrip": False}
    made = document(
        model if model.startswith("Word") else "WordPiece",
        normalizer={"type": "Lowercase"},
        added_tokens=[{**unknown, "normalized": True, "special": True}],
    )
    if model == "BPE":
        made["model"] = {"type": "BPE", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "a": 1}, "merges": []}
    elif model == "Unigram":
        made["model"] = {"type": "Unigram", "unk_id": 0, "vocab": [["[UNK]", 0.0], ["a", -1.0]]}
    (tmp_path / "tokenizer.json").write_text(json.dumps(made), "utf-8")
    tok, peer = syllabary.load(tmp_path / "tokenizer.json"), Tokenizer.from_str(json.dumps(made))
    for text in ("[UNK]", "a[UNK]a", "[unk] a"):
        ours, theirs = tok.encode_full(text, special="allow"), peer.encode(text)
        assert (list(ours.ids), list(ours.tokens)) == (theirs.ids, theirs.tokens), text


@pytest.mark.parametrize("pattern", [r"\S+", r"\w+|[^\w\s]+"])
@pytest.mark.parametrize("model", ["WordPiece", "WordLevel", "BPE"])
def test_white_space_that_a_split_keeps_is_one_piece(model: str, pattern: str, tmp_path: Path) -> None:
    names = ["[UNK]", "a", "b", ".", " ", "\n", "  ", " \n", "   ", "a.", "##a", "##.", "## "]
    described = {"type": model, "unk_token": "[UNK]", "vocab": {name: at for at, name in enumerate(names)}}
    if model == "WordPiece":
        described |= {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    if model == "BPE":
        described |= {"merges": [[" ", " "], [" ", "\n"], ["  ", " "], ["a", "."]], "fuse_unk": True}
    found = document(model, pre_tokenizer=split(pattern, "Isolated")) | {"model": described}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(found))
    theirs, tok = Tokenizer.from_str(json.dumps(found)), syllabary.load(path)
    reference = ReferenceTokenizer(tok.spec)
    short = ["".join(drawn) for size in (1, 2, 3, 4) for drawn in product("a. \n\u00a0é", repeat=size)]
    for text in [*short, "".join(short), "a  b " * 40]:
        ids = theirs.encode(text).ids
        assert ids == tok.encode(text) == tok.encode_full(text).ids, text
        if len(text) < 300:
            assert ids == reference.encode(text), text


@pytest.mark.parametrize("first", [["BertPreTokenizer"], ["WhitespaceSplit", "Punctuation"], ["Whitespace"]])
@pytest.mark.parametrize("model", ["wordpiece", "wordlevel"])
def test_what_oniguruma_counts_to_words_and_to_signs(model: Any, first: list[str]) -> None:
    r"""`½` is of `\w` and of `[^\w\s]`: `€½` is one piece behind steps that cut out each `!`."""
    names = ["[UNK]", *("".join(drawn) for size in (1, 2) for drawn in product("a!½€", repeat=size)), "##½"]
    fields: dict[str, Any] = {"model": model, "unknown": 0}
    fields |= {"continuing_prefix": "##"} if model == "wordpiece" else {}
    behavior: dict[str, Any] = {"behavior": "isolated"}
    steps = tuple(Step(kind, behavior if kind == "Punctuation" else {}) for kind in first)
    tokens = {at: name.encode() for at, name in enumerate(names)}
    pattern = SplitSpec(r"\w+|[^\w\s]+", "onig")
    spec = TokenizerSpec("char", pattern, tokens, {}, None, pretokenizer=steps, **fields)
    tok, reference = syllabary.Tokenizer(spec), ReferenceTokenizer(spec)
    for text in ["".join(drawn) for size in (1, 2, 3, 4) for drawn in product("a!½€ ", repeat=size)]:
        assert tok.encode(text) == reference.encode(text), text
        assert list(map(tuple, tok.offsets(text).tolist())) == reference.offsets(text), text
