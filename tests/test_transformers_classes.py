"""Folders of which a class of `transformers` says the rest: beside `AutoTokenizer`, which makes that class.

Leaves out: folders that say all themselves (`test_transformers`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from transformers_folders import SHAPES, TEXTS

import syllabary
from syllabary.formats.transformers_classes import CLASSES

transformers = pytest.importorskip("transformers", reason="the extra transformers is not installed")
END = "<|endoftext|>"


def pair_folder(folder: Path, split: str = "gpt2", **config: Any) -> syllabary.Tokenizer:
    """A folder of `vocab.json`, `merges.txt` and these settings; what was trained."""
    tok = syllabary.train(TEXTS * 3, vocab_size=300, split=split, special_tokens=[END])
    tok.save(folder / "vocab.json", "gpt2")
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return tok


@pytest.mark.parametrize("prefix", [True, False, None])
def test_a_space_in_front_of_a_pair(tmp_path: Path, prefix: bool | None) -> None:
    told = {} if prefix is None else {"add_prefix_space": prefix}
    trained = pair_folder(tmp_path, tokenizer_class="GPT2Tokenizer", **told)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    for path in (tmp_path, tmp_path / "vocab.json", tmp_path / "merges.txt"):
        ours = syllabary.load(path, split="gpt2", special_tokens=trained.special_tokens)
        for text in (*TEXTS, f"low{END}low", " low", "\n", f"{END} low{END}"):
            found, want = ours.encode_full(text, special="allow"), theirs(text, return_offsets_mapping=True)
            assert found.ids == want["input_ids"], text
            assert found.offsets == want["offset_mapping"], text
        assert (ours.encode("low") == trained.encode(" low")) == bool(prefix)
    again = syllabary.load(tmp_path, split="gpt2", special_tokens=trained.special_tokens).as_transformers()
    assert again(TEXTS)["input_ids"] == theirs(TEXTS)["input_ids"]


def test_a_space_in_front_with_another_split(tmp_path: Path) -> None:
    trained = pair_folder(tmp_path, "gpt4", add_prefix_space=True)
    with pytest.raises(syllabary.FormatError, match=r"add_prefix_space: true is read with the split gpt2"):
        syllabary.load(tmp_path, split="gpt4", special_tokens=trained.special_tokens)
    pair_folder(tmp_path, add_prefix_space="yes")
    with pytest.raises(syllabary.FormatError, match="add_prefix_space: must be"):
        syllabary.load(tmp_path, split="gpt2", special_tokens=trained.special_tokens)


def test_the_name_is_what_was_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare("BertTokenizer", tmp_path)
    monkeypatch.chdir(tmp_path.parent)
    for path in (tmp_path, tmp_path.name, f"./{tmp_path.name}/"):
        theirs, tok = transformers.AutoTokenizer.from_pretrained(path), syllabary.load(path)
        for ours in (tok.as_transformers(), tok.with_settings(pad_token="[UNK]").as_transformers()):
            assert ours.name_or_path == ours.init_kwargs["name_or_path"] == theirs.name_or_path == str(path)
    assert tok == syllabary.load(tmp_path)
    tok.as_transformers().save_pretrained(tmp_path / "again")
    assert "name_or_path" not in (tmp_path / "again" / "tokenizer_config.json").read_text("utf-8")
    called = tok.as_transformers(name_or_path="mine")
    assert called.name_or_path == called.init_kwargs["name_or_path"] == "mine"
    assert syllabary.train(TEXTS, vocab_size=270).as_transformers().name_or_path == ""


LIKE = {"Bert": "bert", "Electra": "bert", "LayoutLM": "bert", "Albert": "t5", "T5": "t5", "XLM": "t5"}


def bare(name: str, folder: Path, **config: Any) -> Path:
    """A folder whose settings name a class, and nothing of the roles."""
    shape = next((shape for part, shape in LIKE.items() if part in name), "roberta")
    found = json.loads(SHAPES["roberta" if name.startswith("Roberta") else shape]().to_str())
    if shape == "t5":
        held = {token for token, _score in found["model"]["vocab"]}
        more = [token for token in ("<s>", "[CLS]", "[SEP]", "[MASK]") if token not in held]
        found["model"]["vocab"] += [[token, 0.0] for token in more]
    (folder / "tokenizer.json").write_text(json.dumps(found))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name, **config}))
    return folder


@pytest.mark.parametrize("name", [f"{name}{fast}" for name in CLASSES for fast in ("", "Fast")])
def test_roles_of_a_class(name: str, tmp_path: Path) -> None:
    theirs = transformers.AutoTokenizer.from_pretrained(bare(name, tmp_path))
    assert type(theirs).__name__ != "TokenizersBackend"
    tok = syllabary.load(tmp_path)
    ours = tok.as_transformers()
    roles = {role: text for role, text in theirs.special_tokens_map.items() if text in tok.special_tokens}
    assert ours.special_tokens_map == tok.roles == roles
    assert roles or name.startswith("GPT2")
    assert ours.model_input_names == theirs.model_input_names
    assert len(ours) == tok.vocab_size
    pads = {"padding": True} if "pad_token" in roles else {}
    assert list(ours(TEXTS[:2], TEXTS[1:3], **pads)) == list(theirs(TEXTS[:2], TEXTS[1:3], **pads))
    ours.save_pretrained(tmp_path / "again")
    again = syllabary.load(tmp_path / "again")
    assert again.roles == roles
    assert again.as_transformers().model_input_names == theirs.model_input_names
    if name.startswith("Bert"):
        assert dict(ours(TEXTS, TEXTS, padding=True)) == dict(theirs(TEXTS, TEXTS, padding=True))
        assert tok.encode_full("a", padding=9).tokens[-1] == "[PAD]"


def test_what_a_folder_says_of_roles_holds(tmp_path: Path) -> None:
    bare("BertTokenizer", tmp_path, pad_token=None, mask_token="[UNK]", model_input_names=["input_ids"])
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    tok = syllabary.load(tmp_path)
    ours = tok.as_transformers()
    assert ours.special_tokens_map == theirs.special_tokens_map == tok.roles
    assert (ours.pad_token, ours.mask_token) == (theirs.pad_token, theirs.mask_token) == (None, "[UNK]")
    assert list(ours("a", "b")) == list(theirs("a", "b"))
    without = tok.with_settings(cls_token=None, model_max_length=9)
    assert {*tok.roles} - {*without.roles} == {"cls_token"}
    assert without.as_transformers().cls_token is None
    assert "pad_token" not in without.roles
    assert tok.with_settings(tokenizer_class=None).roles == {"mask_token": "[UNK]"}


def test_a_role_of_a_class_in_the_vocabulary_alone(tmp_path: Path) -> None:
    bare("BertTokenizer", tmp_path)
    found = json.loads((tmp_path / "tokenizer.json").read_text())
    found["added_tokens"] = [one for one in found["added_tokens"] if one["content"] != "[MASK]"]
    (tmp_path / "tokenizer.json").write_text(json.dumps(found))
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    tok = syllabary.load(tmp_path)
    assert tok.encode("a [MASK] b", "allow") == theirs.encode("a [MASK] b", add_special_tokens=False)
    assert tok.roles == theirs.special_tokens_map
