"""Tokens that the files beside a `tokenizer.json` name and it does not have: ids and flags as theirs.

Leaves out: what a class adds (`test_transformers_classes`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, normalizers

import syllabary

transformers = pytest.importorskip("transformers", reason="the extra transformers is not installed")
LETTERS = {letter: number for number, letter in enumerate("abcdegimnprstx_<>/12 ")}
TEXTS = ("a <im_start> <im_end> <pad2> b", "x <a1> <a2> <img> <boi> c <e1>", "<IM_END><a1><A2>", "<s> <pad2>")
FLAGS = ("content", "single_word", "lstrip", "rstrip", "normalized", "special")
CONFIG, MAP, ADDED = "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"
IMS = {"<im_start>": 23, "<im_end>": 24}
PAD, LATE = {"pad_token": "<pad2>"}, {"<a1>": 30, "<im_end>": 27, "<im_start>": 26}


def token(content: str, **flags: bool) -> dict[str, Any]:
    return {"__type": "AddedToken", "content": content, "special": True, "normalized": False, **flags}


def plain(content: str, **flags: bool) -> dict[str, Any]:
    return {key: value for key, value in token(content, **flags).items() if key != "__type"}


FOLDERS: dict[str, dict[str, Any]] = {
    "file": {ADDED: IMS},
    "file, role": {CONFIG: PAD, ADDED: IMS},
    "file with the role": {CONFIG: PAD, ADDED: {**IMS, "<pad2>": 25}},
    "file with the role as an object": {CONFIG: {"pad_token": token("<pad2>")}, ADDED: {"<pad2>": 23}},
    "file with a model's role": {CONFIG: {"image_token": "<img>"}, ADDED: {"<img>": 23}},
    "file with others": {CONFIG: {"additional_special_tokens": ["<a1>"]}, ADDED: {"<a1>": 24, "<a2>": 23}},
    "file out of order": {CONFIG: PAD, MAP: {"eos_token": "<im_end>"}, ADDED: LATE},
    "file with an id of another": {CONFIG: PAD, ADDED: {"<a1>": 22, **IMS}},
    "file with a token of the model": {ADDED: {"a": 0, "<im_end>": 23}},
    "file not read": {CONFIG: {"added_tokens_decoder": {"23": plain("<a1>")}}, ADDED: IMS},
    "roles, the last a text": {CONFIG: {"eos_token": token("<a1>", rstrip=True), "pad_token": "<a1>"}},
    "roles, the last an object": {CONFIG: {"eos_token": "<a1>", "pad_token": token("<a1>", rstrip=True)}},
    "roles, two objects": {
        CONFIG: {"eos_token": token("<a1>", rstrip=True), "pad_token": token("<a1>", lstrip=True)}
    },
    "roles, a text twice": {
        CONFIG: {"bos_token": "<a1>", "eos_token": token("<a1>", lstrip=True), "pad_token": "<a1>"}
    },
    "roles, listed too": {
        CONFIG: {
            "eos_token": token("<a1>", rstrip=True),
            "added_tokens_decoder": {"23": plain("<a1>", lstrip=True, special=False, normalized=True)},
        }
    },
    "others of both files": {
        CONFIG: {"additional_special_tokens": ["<a1>"]},
        MAP: {"additional_special_tokens": ["<a2>"]},
    },
    "others by both names": {
        CONFIG: {"additional_special_tokens": ["<a1>"], "extra_special_tokens": ["<a2>"]},
        MAP: {"additional_special_tokens": ["<e1>"]},
    },
    "others, none of them by the new name": {
        CONFIG: {"additional_special_tokens": ["<a1>"], "extra_special_tokens": []},
        MAP: {"extra_special_tokens": ["<a2>", "<a1>"]},
    },
    "others, an empty list": {
        CONFIG: {"extra_special_tokens": []},
        MAP: {"additional_special_tokens": ["<a2>"]},
    },
    "others with names": {
        CONFIG: {
            "additional_special_tokens": ["<a1>"],
            "extra_special_tokens": {"image_token": "<img>"},
            "boi_token": "<boi>",
        },
        MAP: {"additional_special_tokens": ["<e1>"], "boi_token": "<a2>", "video_token": "<im_end>"},
    },
    "others in the map": {MAP: {"additional_special_tokens": ["<a2>", "<a1>"], "pad_token": plain("<e1>")}},
}


def write(folder: Path, files: dict[str, Any]) -> None:
    tokenizer = Tokenizer(models.BPE(LETTERS, [], unk_token="x"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.add_special_tokens(["<s>", "</s>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    files = {**files, CONFIG: {"tokenizer_class": "PreTrainedTokenizerFast", **files.get(CONFIG, {})}}
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))


def named(tok: Any) -> dict[int, tuple[object, ...]]:
    found = sorted(tok.added_tokens_decoder.items())
    return {number: tuple(getattr(one, name) for name in FLAGS) for number, one in found}


@pytest.mark.parametrize("name", FOLDERS)
def test_named_tokens(name: str, tmp_path: Path) -> None:
    write(tmp_path, FOLDERS[name])
    theirs, tok = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path), syllabary.load(tmp_path)
    for ours in (tok.as_transformers(), tok.with_settings(model_max_length=9).as_transformers()):
        assert (len(ours), named(ours)) == (len(theirs), named(theirs))
        assert ours.special_tokens_map == theirs.special_tokens_map
        assert ours.extra_special_tokens == theirs.extra_special_tokens
        for text in TEXTS:
            ids = theirs(text)["input_ids"]
            assert ours(text)["input_ids"] == tok.encode(text, special="allow") == ids, text
            assert ours.decode(ids, skip_special_tokens=True) == theirs.decode(ids, skip_special_tokens=True)
            assert ours.tokenize(text, split_special_tokens=True) == theirs.tokenize(
                text, split_special_tokens=True
            )
    assert tok.vocab_size == len(theirs)
    assert list(tok.settings.extra) == theirs.extra_special_tokens


@pytest.mark.parametrize(
    "files",
    [
        {CONFIG: {"additional_special_tokens": [token("<a1>", special=False)]}},
        {MAP: {"additional_special_tokens": ["<a1>"]}, ADDED: {"<a1>": 23}},
    ],
)
def test_what_is_listed_as_special_is(files: dict[str, Any], tmp_path: Path) -> None:
    """In theirs it keeps no flag in these two cases, and decoding does not leave it out."""
    write(tmp_path, files)
    theirs, tok = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path), syllabary.load(tmp_path)
    assert theirs("a<a1>")["input_ids"] == tok.encode("a<a1>", special="allow") == [0, 23]
    assert not theirs.added_tokens_decoder[23].special
    assert tok.special_tokens["<a1>"] == 23
    assert tok.as_transformers().decode([0, 23], skip_special_tokens=True) == "a"


@pytest.mark.parametrize(
    "listed", [["4.0.0"], ["4.0.0", "5.9.0"], ["42.0.0"], ["4.0.0", "42.0.0"], ["10.0", "4.0"], []]
)
def test_a_file_for_newer_versions(listed: list[str], tmp_path: Path) -> None:
    """The one that theirs takes; the settings of what is made of it list none."""
    names = [f"tokenizer.{version}.json" for version in listed]
    write(tmp_path, {CONFIG: {"fast_tokenizer_files": ["README.md", *names]}})
    document = json.loads((tmp_path / "tokenizer.json").read_bytes())
    for number, name in enumerate(names):
        vocab = {**LETTERS, "a": LETTERS["bd"[number]], "bd"[number]: LETTERS["a"]}
        document["model"]["vocab"] = vocab
        (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")
    theirs, tok = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path), syllabary.load(tmp_path)
    ours = tok.as_transformers()
    assert ours.get_vocab() == theirs.get_vocab()
    assert tok.vocab_size == len(theirs)
    ours.save_pretrained(tmp_path / "saved")
    again = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path / "saved")
    assert again.get_vocab() == theirs.get_vocab()
