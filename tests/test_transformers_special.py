"""`tok.as_transformers()` beside `PreTrainedTokenizerFast`: odd special tokens, and odd files around them.

Leaves out: calls drawn at random (`test_transformers`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

import syllabary

transformers = pytest.importorskip("transformers", reason="the extra transformers is not installed")
VOCAB = {"a": 0, "b": 1, "[sep]": 2, "[SEP]": 3}


def both(tokenizer: Tokenizer, folder: Path, **settings: Any) -> tuple[Any, Any]:
    """The same tokenizer, ours and theirs."""
    tokenizer.save(str(folder / "tokenizer.json"))
    ours = syllabary.load(folder).as_transformers(**settings)
    return ours, transformers.PreTrainedTokenizerFast.from_pretrained(folder, **settings)


@pytest.mark.parametrize("normalized", [False, True])
def test_special_tokens_are_left_out_by_their_spelling(normalized: bool, tmp_path: Path) -> None:
    """One that is found in normalized text is spelled as there, which is the name of no special token."""
    tokenizer = Tokenizer(models.WordLevel(VOCAB, unk_token="a"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens([AddedToken("[MASK]", normalized=normalized), AddedToken("[SEP]")])
    ours, theirs = both(tokenizer, tmp_path)
    ids = theirs("a [MASK] [SEP] b")["input_ids"]
    assert ours("a [MASK] [SEP] b")["input_ids"] == ids
    for given in (ids, [0, 1, 2, 3, 4]):
        for skip in (False, True):
            assert ours.decode(given, skip_special_tokens=skip) == theirs.decode(
                given, skip_special_tokens=skip
            )
    assert ("[mask]" in ours.decode(ids, skip_special_tokens=True)) == normalized


def test_a_token_that_theirs_cannot_encode_alone(tmp_path: Path) -> None:
    """Split, the special token has an unknown character, and no token stands for that."""
    tokenizer = Tokenizer(models.BPE(VOCAB, [], unk_token="<unk>"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[SEP] $A [SEP]", pair="$A $B", special_tokens=[("[SEP]", 3)]
    )
    tokenizer.add_special_tokens(["[SEP]"])
    ours, theirs = both(tokenizer, tmp_path, split_special_tokens=True)
    with pytest.raises(Exception, match="not found in the vocabulary"):
        theirs("[SEP]")
    assert ours("ab")["input_ids"] == theirs("ab")["input_ids"] == [3, 0, 1, 3]


def test_truncation_of_pairs_alone(tmp_path: Path) -> None:
    """It stands in the file, and does not fit a single text; a call brings its own."""
    tokenizer = Tokenizer(models.BPE(VOCAB, []))
    tokenizer.normalizer = normalizers.Prepend("b")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[SEP] $A", pair="$A $B", special_tokens=[("[SEP]", 3)]
    )
    tokenizer.enable_truncation(1, strategy="only_second")
    ours, theirs = both(tokenizer, tmp_path)
    for options in ({}, {"truncation": True, "max_length": 2}, {"add_special_tokens": False}):
        assert dict(ours("aba", **options)) == dict(theirs("aba", **options))


def test_special_tokens_that_are_split_are_not_made_again(tmp_path: Path) -> None:
    """Theirs makes them of the text where the model has them too."""
    scores = [("a", -1.0), ("b", -1.0), ("ab", -1.0), ("c", -1.0)]
    tokenizer = Tokenizer(models.Unigram(scores, 0))
    tokenizer.add_special_tokens(["ab"])
    ours, theirs = both(tokenizer, tmp_path)
    assert ours("cab")["input_ids"] == theirs("cab")["input_ids"] == [3, 2]
    assert theirs("cab", split_special_tokens=True)["input_ids"] == [3, 2]
    assert ours("cab", split_special_tokens=True)["input_ids"] == [3, 0, 1]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The compiled part of their library raises a bare `Exception` without the file."""
    ours = syllabary.train(["low lower"], vocab_size=258).as_transformers()
    (tmp_path / "tokenizer.json").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        ours.save_pretrained(tmp_path)
    assert caught.value.filename == str(tmp_path / "tokenizer.json")


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("early", [False, True])
def test_once_special_always_special(normalized: bool, early: bool, tmp_path: Path) -> None:
    """Theirs keeps the texts: added again as an ordinary one, it is left out and split as before."""
    tokenizer = Tokenizer(models.WordLevel({**VOCAB, "<": 4, "s": 5, ">": 6}, unk_token="a"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Punctuation()
    tokenizer.add_special_tokens([AddedToken("<S>"), AddedToken("[SEP]", normalized=normalized)])
    tokenizer.add_tokens(["<b>"])
    ours, theirs = both(tokenizer, tmp_path)
    for tok in (ours, theirs):
        if early:
            tok("a")
        tok.add_tokens(["<S>", AddedToken("[SEP]", normalized=normalized), "<b>"])
    same_specials(ours, theirs)
    assert ours.added_tokens_decoder == theirs.added_tokens_decoder


def test_listed_as_ordinary_and_special_in_the_file(tmp_path: Path) -> None:
    """`added_tokens_decoder` says nothing of it, `tokenizer.json` does."""
    tokenizer = Tokenizer(models.WordLevel(VOCAB, unk_token="a"))
    tokenizer.pre_tokenizer = pre_tokenizers.Punctuation()
    tokenizer.add_special_tokens(["[SEP]", "<S>"])
    listed = {"3": {"content": "[SEP]"}, "4": {"content": "<S>", "lstrip": True}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": listed}))
    same_specials(*both(tokenizer, tmp_path))


def same_specials(ours: Any, theirs: Any) -> None:
    for text in ("a <S>b [SEP] <b>[sep]<s>", "<S><S>"):
        for split in (False, True):
            ids = theirs(text, split_special_tokens=split)["input_ids"]
            assert ours(text, split_special_tokens=split)["input_ids"] == ids, text
            for skip in (False, True):
                assert ours.decode(ids, skip_special_tokens=skip) == theirs.decode(
                    ids, skip_special_tokens=skip
                )
