"""Tokens added to a tokenizer that has been used: what they make of it is what its whole file says.

Over `compat.tokenizers` and `as_transformers()`, whose engines grow (`formats.hf_grown`).
Leaves out what added tokens are (`test_compat_tokenizers_added`, `test_formats_added`).
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import syllabary
from syllabary.compat.tokenizers import AddedToken, Tokenizer
from syllabary.compat.tokenizers._engines import read_spec
from syllabary.formats import hf_write
from syllabary.formats.hf_grown import Entry, grown
from syllabary.formats.hf_read import read_document
from syllabary.formats.strict_json import parse

TEXTS = ("low lower lowest", "a <one> b<two>c", "LOW <Three>x [PAD] é <one><one>", " <two> w é <one>")
TRAINED = ["low lower lowest abc é <>[] widest window of it all"] * 9
NORMALIZER = {"type": "Lowercase"}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def document(kind: str, normalizes: bool) -> dict[str, Any]:
    """A small file of a kind of model."""
    options = {
        "bytes": {"vocab_size": 264, "split": "gpt2"},
        "characters": {"vocab_size": 30, "unit": "char", "end_of_word": "</w>", "split": "whitespace"},
        "wordpiece": {"model": "wordpiece", "options": {"vocab_size": 40}},
        "unigram": {"model": "unigram", "like": "huggingface", "options": {"vocab_size": 28}},
    }[kind]
    tok = syllabary.train(TRAINED, **options)
    found: dict[str, Any] = json.loads(hf_write.write(tok.spec))
    if normalizes:
        found["normalizer"] = NORMALIZER
    return found


def drawn(draw: random.Random, number: int) -> AddedToken:
    names = ["<one>", "<two>", "<Three>", "[PAD]", "w", "low", "é", f"<{number}>", " <s> "]
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return AddedToken(draw.choice(names), **{name: draw.random() < 0.3 for name in flags})


def seen(tokenizer: Tokenizer) -> list[Any]:
    found = []
    for text in TEXTS:
        try:
            one = tokenizer.encode(text)
            found.append((one.ids, one.tokens, one.offsets, one.word_ids, tokenizer.decode(one.ids, False)))
        except Exception as error:  # noqa: BLE001 (the same in both)
            found.append(str(error))
    return found


@pytest.mark.parametrize("normalizes", [False, True])
@pytest.mark.parametrize("kind", ["bytes", "characters", "wordpiece", "unigram"])
def test_as_if_made_anew(kind: str, normalizes: bool) -> None:
    draw = random.Random(kind + str(normalizes))
    text = json.dumps(document(kind, normalizes))
    for _round in range(6):
        tokenizer = Tokenizer.from_str(text)
        seen(tokenizer)
        for number in range(5):
            new = [drawn(draw, 10 * number + each) for each in range(draw.randint(1, 2))]
            draw.choice([tokenizer.add_tokens, tokenizer.add_special_tokens])(new)  # type: ignore[operator]
            assert seen(tokenizer) == seen(Tokenizer.from_str(tokenizer.to_str()))
            whole = tokenizer._now().made("whole", lambda: None)
            if whole is not None:
                left_out = dict.fromkeys(("decoder", "truncation", "padding"))
                assert whole.read == read_spec({**tokenizer._document(), **left_out})


def test_it_is_not_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = Tokenizer.from_str(json.dumps(document("bytes", False)))
    tokenizer.encode("low")
    monkeypatch.setattr("syllabary.compat.tokenizers._whole.read_spec", None)
    for number in range(4):
        tokenizer.add_tokens([f"<plain {number}>"])
        tokenizer.add_special_tokens([f"<special {number}>"])
        found = tokenizer.encode(f"low<plain {number}><special {number}>")
        assert found.tokens[-2:] == [f"<plain {number}>", f"<special {number}>"]


def test_with_transformers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers")
    tok = syllabary.train(TRAINED, 264, split="gpt2", special_tokens=["<end>"])
    theirs = tok.as_transformers()
    theirs("low")
    monkeypatch.setattr("syllabary.compat.transformers.state.parse", None)  # the file is not read again
    theirs.add_tokens(["<one>", "<two>"])
    assert theirs.convert_ids_to_tokens(theirs("low<two>")["input_ids"])[-1] == "<two>"
    theirs.add_special_tokens({"pad_token": "<pad>"})
    assert theirs("<pad>")["input_ids"] == [theirs.pad_token_id]
    assert theirs.decode(theirs("low<pad><one>")["input_ids"], skip_special_tokens=True) == "low<one>"
    monkeypatch.undo()
    text = theirs.backend_tokenizer.to_str().encode()
    assert theirs.syllabary.spec == read_document(parse(text, tmp_path))


def test_what_changes_more_is_told() -> None:
    spec = read_document(parse(json.dumps(document("bytes", False)).encode(), Path("x.json")))
    size, flags = len(spec.tokens), (False, False, False, True, False)
    one = {size: Entry("<one>", *flags)}
    first = grown(spec, {}, one, size)
    assert first is not None
    assert first.added_tokens == {"<one>": size}
    assert grown(first, one, {size: Entry("<one>", *flags[:-1], True)}, size) is None  # changed
    assert grown(first, one, {**one, size + 1: Entry("<one>", *flags)}, size) is None  # twice
    assert grown(first, one, {**one, 3: Entry("three", *flags)}, size) is None  # an id of the model
    with pytest.raises(syllabary.errors.VocabularyError, match="surrogate"):
        grown(first, one, {**one, size + 1: Entry("\ud800", *flags)}, size)
