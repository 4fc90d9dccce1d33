"""Folders of which a class of `transformers` says the rest: beside `AutoTokenizer`, which makes that class.

Leaves out: folders that say all themselves (`test_transformers`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from transformers_folders import TEXTS

import syllabary

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
