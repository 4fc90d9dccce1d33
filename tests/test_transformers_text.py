"""Settings that change a text's letters, and CLIP's decoding: beside `AutoTokenizer`, which makes the class.

Leaves out: the space in front (`test_transformers_space`); sentencepiece models
(`test_transformers_layouts`).
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from test_transformers_space import folder_of
from transformers_folders import TEXTS, saved_and_opened, write

import syllabary
from syllabary.formats.transformers_text import BERTS

transformers = pytest.importorskip("transformers", reason="the extra transformers is not installed")
CALLED_OTHERWISE = {
    "LayoutLMv2",
    "DPRReader",
    "DPRQuestionEncoder",
}  # with boxes, titles, another unknown token


def same(ours: Any, theirs: Any) -> None:
    for text in (*TEXTS, "ÉCOLE Low", "a, b!", "漢字 a"):
        found, want = (one(text, add_special_tokens=False) for one in (ours, theirs))
        assert found["input_ids"] == want["input_ids"], text
        assert ours.decode(found["input_ids"]) == theirs.decode(want["input_ids"]), text


@pytest.mark.parametrize(
    "told",
    [
        {"do_lower_case": False},
        {"do_lower_case": False, "strip_accents": True},
        {"do_lower_case": True, "strip_accents": False},
        {"tokenize_chinese_chars": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", sorted(BERTS - CALLED_OTHERWISE))
def test_letters_as_bert_has_them(kind: str, told: dict[str, Any], tmp_path: Path) -> None:
    name = f"{kind}Tokenizer"
    if not hasattr(transformers, name):
        pytest.skip("not there")
    silent = write("bert", tmp_path / "silent", tokenizer_class=name)
    tok, auto = syllabary.load(silent), transformers.AutoTokenizer
    asked = auto.from_pretrained(silent, **told)
    same(tok.as_transformers(**told), asked)
    same(tok.with_settings(**told).as_transformers(), asked)
    said = write("bert", tmp_path / "said", tokenizer_class=name, **told)
    shutil.copyfile(silent / "tokenizer.json", said / "tokenizer.json")
    same(syllabary.load(said).as_transformers(), auto.from_pretrained(said))
    assert syllabary.load(said).encode("the école") == tok.with_settings(**told).encode("the école")
    for again in saved_and_opened(tok.as_transformers(**told), tmp_path / "again"):
        same(again, asked)


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("key", ["do_lower_case", "split_by_punct"])
def test_letters_as_deberta_has_them(key: str, value: bool, tmp_path: Path) -> None:
    for told in ({}, {key: not value}):
        folder = folder_of("DebertaV2", tmp_path / str(len(told)), **told)
        theirs = transformers.AutoTokenizer.from_pretrained(folder, **{key: value})
        tok = syllabary.load(folder)
        same(tok.as_transformers(**{key: value}), theirs)
        same(tok.with_settings(**{key: value}).as_transformers(), theirs)
        for again in saved_and_opened(tok.as_transformers(**{key: value}), tmp_path / f"again{len(told)}"):
            same(again, theirs)
    said = folder_of("DebertaV2", tmp_path / "said", **{key: value})
    same(syllabary.load(said).as_transformers(), transformers.AutoTokenizer.from_pretrained(said))


def test_letters_of_other_classes(tmp_path: Path) -> None:
    bare = syllabary.load(write("bert", tmp_path / "bert"))
    assert bare.as_transformers(do_lower_case=False).tokenize("The") != bare.as_transformers().tokenize("The")
    tok = syllabary.load(write("roberta", tmp_path / "roberta", tokenizer_class="RobertaTokenizer"))
    for key in ("do_lower_case", "split_by_punct"):
        for ask in (tok.as_transformers, tok.with_settings):
            with pytest.raises(syllabary.FormatError, match=rf"{key}=True: .* leave it out"):
                ask(**{key: True})
            with pytest.raises(syllabary.FormatError, match=rf"{key}='yes': give True or False"):
                ask(**{key: "yes"})
        assert tok.as_transformers(**{key: False})(TEXTS) == tok.as_transformers()(TEXTS)
        said = write("roberta", tmp_path / key, tokenizer_class="RobertaTokenizer", **{key: True})
        same(syllabary.load(said).as_transformers(), transformers.AutoTokenizer.from_pretrained(said))


def clip(folder: Path) -> Path:
    """A small one, as its class makes and saves it."""
    letters = [*"abcdehlorwt,!"]
    names = ["<|startoftext|>", "<|endoftext|>", *letters, *(f"{letter}</w>" for letter in letters)]
    pairs = "h e;l l;he ll;hell o</w>;w o;wo r;l d</w>;wor ld</w>"
    merges = [tuple(pair.split()) for pair in pairs.split(";")]
    vocab = {name: number for number, name in enumerate([*names, *("".join(pair) for pair in merges)])}
    transformers.CLIPTokenizer(vocab=vocab, merges=merges).save_pretrained(folder)
    return folder


def test_clip_decodes_without_the_marks_of_words(tmp_path: Path) -> None:
    theirs, tok = transformers.AutoTokenizer.from_pretrained(clip(tmp_path)), syllabary.load(tmp_path)
    ours = tok.as_transformers()
    for text in ("hello world", "hello, world!", "hello", "", "Hello  WORLD", "oh\n"):
        ids = theirs(text)["input_ids"]
        assert ours(text)["input_ids"] == ids
        for skip in (True, False):
            want = theirs.decode(ids, skip_special_tokens=skip)
            assert ours.decode(ids, skip_special_tokens=skip) == want
            for again in saved_and_opened(ours, tmp_path / "again"):
                assert again.decode(ids, skip_special_tokens=skip) == want
        assert [ours.decode([one]) for one in ids] == [theirs.decode([one]) for one in ids]
    assert tok.decode(tok.encode("hello world")) == "hello world"
