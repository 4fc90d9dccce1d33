"""`add_prefix_space`, told by the caller or by a folder: beside `AutoTokenizer`, which makes the class.

Leaves out: vocab.json and merges.txt (`test_transformers_classes`); sentencepiece models
(`test_transformers_sentencepiece`).
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from transformers_folders import SHAPES, TEXTS, saved_and_opened, write

import syllabary
from syllabary.formats.transformers_classes import CLASSES
from syllabary.formats.transformers_space import BYTES, FIXED, MARKS

transformers = pytest.importorskip("transformers", reason="the extra transformers is not installed")
WORDS = ["hello", "low", " world", "the", "", "naïve", ",", "ok <s>", "\n"]
CALLED_OTHERWISE = {"LayoutLMv3", "LayoutXLM", "MarkupLM", "Luke"}  # with boxes, tags, entities
SPECIAL = {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "sep": "</s>", "pad": "<pad>", "cls": "<s>"}


def ours_of() -> Any:
    from syllabary.compat.transformers import SyllabaryTokenizer

    return SyllabaryTokenizer


@lru_cache(maxsize=4)
def learned(shape: str) -> dict[str, Any]:
    """The model of a shape."""
    found: dict[str, Any] = json.loads(SHAPES[shape]().to_str())["model"]
    return found


def made(kind: str) -> Any:
    """A tokenizer of a class, put together as the class does it."""
    one = getattr(transformers, f"{kind}Tokenizer")
    roles = {f"{role}_token": text for role, text in {**SPECIAL, "mask": "<mask>"}.items()}
    if kind in BYTES or kind in ("Llama", "CodeLlama"):
        model = learned("bytes" if kind in BYTES else "llama")
        vocab = {
            token: index for index, token in enumerate(dict.fromkeys([*roles.values(), *model["vocab"]]))
        }
        merges = [tuple(pair) for pair in model["merges"]]
        return one(vocab=vocab, merges=merges, **roles)
    pieces = [
        *dict.fromkeys([*roles.values(), "▁", "▁l", "l", "o", "w", "▁low", "h", "e", "a", ",", "i", "t"])
    ]
    return one(
        vocab=[(piece, 0.0 if "<" in piece else -1.0 - at) for at, piece in enumerate(pieces)], **roles
    )


def folder_of(kind: str, folder: Path, **config: Any) -> Path:
    """What the class saves, with these settings."""
    made(kind).save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(
        folder
    )  # RemBert's template is new then
    file = folder / "tokenizer_config.json"
    found = json.loads(file.read_text("utf-8"))
    found.pop("add_prefix_space", None)
    file.write_text(json.dumps(found | {"tokenizer_class": f"{kind}Tokenizer", **config}), "utf-8")
    return folder


def same(ours: Any, theirs: Any) -> None:
    """Ids, offsets, words and text, of texts, pairs and words."""
    for text in [*TEXTS, "low", " low", "low <s>low", "<s> low", "\n"]:
        for pair in (None, "low"):
            found, want = (one(text, pair, return_offsets_mapping=True) for one in (ours, theirs))
            assert found["input_ids"] == want["input_ids"], (text, pair)
            assert found["offset_mapping"] == want["offset_mapping"], (text, pair)
            assert found.word_ids() == want.word_ids(), (text, pair)
        assert ours.decode(found["input_ids"]) == theirs.decode(want["input_ids"])
        assert ours.tokenize(text) == theirs.tokenize(text)
    found, want = (
        one(WORDS, is_split_into_words=True, return_offsets_mapping=True) for one in (ours, theirs)
    )
    assert dict(found) == {key: want[key] for key in found}  # types are the class's, if it is known
    assert found.word_ids() == want.word_ids()
    assert ours.add_prefix_space == theirs.add_prefix_space


KINDS = sorted({*BYTES, *MARKS} - CALLED_OTHERWISE)


@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_class_that_reads_it(kind: str, prefix: bool, tmp_path: Path) -> None:
    """From the caller, and from the folder, whatever the other one says."""
    auto, opened = transformers.AutoTokenizer, ours_of()
    for told in ({}, {"add_prefix_space": not prefix}):
        folder = folder_of(kind, tmp_path / f"asked{len(told)}", **told)
        theirs, tok = auto.from_pretrained(folder, add_prefix_space=prefix), syllabary.load(folder)
        same(tok.as_transformers(add_prefix_space=prefix), theirs)
        same(opened.from_pretrained(folder, add_prefix_space=prefix), theirs)
        same(tok.with_settings(add_prefix_space=prefix).as_transformers(), theirs)
    folder = folder_of(kind, tmp_path / "said", add_prefix_space=prefix)
    theirs, tok = auto.from_pretrained(folder), syllabary.load(folder)
    same(tok.as_transformers(), theirs)
    same(opened.from_pretrained(folder), theirs)
    for text in TEXTS:
        want = theirs(text, return_offsets_mapping=True)
        found = tok.encode_full(text, special="allow")
        assert (found.ids, found.offsets) == (want["input_ids"], want["offset_mapping"])


@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("kind", ["Roberta", "GPT2", "Deberta", "Qwen2", "DebertaV2", "Llama"])
def test_saved_and_opened_again(kind: str, prefix: bool, tmp_path: Path) -> None:
    folder = folder_of(kind, tmp_path / "first")
    ours = syllabary.load(folder).as_transformers(add_prefix_space=prefix)
    for again in saved_and_opened(ours, tmp_path / "again"):
        same(ours, again)


def test_what_it_changes(tmp_path: Path) -> None:
    tok = syllabary.load(folder_of("Roberta", tmp_path))
    plain, spaced = tok.as_transformers(), tok.as_transformers(add_prefix_space=True)
    assert plain.tokenize("hello")[0][0] == "h"
    assert spaced.tokenize("hello") == tok.as_transformers().tokenize(" hello")
    assert spaced.backend_tokenizer.pre_tokenizer.add_prefix_space
    assert spaced.syllabary.encode("hello") == plain.syllabary.encode(" hello")
    assert tok.as_transformers(add_prefix_space=None).tokenize("hello") == plain.tokenize("hello")
    assert tok.with_settings(add_prefix_space=True).encode("hello") == tok.encode(" hello")
    assert tok.with_settings(add_prefix_space=True).with_settings(
        add_prefix_space=False
    ) == tok.with_settings(add_prefix_space=False)
    for ask in (tok.as_transformers, tok.with_settings):
        with pytest.raises(syllabary.FormatError, match=r"add_prefix_space='yes': give True or False"):
            ask(add_prefix_space="yes")


@pytest.mark.parametrize("shape", ["roberta", "bytes"])
def test_bytes_without_a_class(shape: str, tmp_path: Path) -> None:
    """Theirs ignores it; as asked here, and a folder's own word is passed over as there."""
    tok = syllabary.load(write(shape, tmp_path))
    spaced = tok.as_transformers(add_prefix_space=True)
    assert spaced("low")["input_ids"] == tok.as_transformers()(" low")["input_ids"]
    assert spaced("low", return_offsets_mapping=True)["offset_mapping"][-1][-1] in (3, 0)
    words = spaced(["low", "low"], is_split_into_words=True, add_special_tokens=False)
    assert words["input_ids"] == tok.encode(" low low")
    assert words.word_ids() == sorted(words.word_ids())
    for again in saved_and_opened(spaced, tmp_path / "again"):
        assert again(TEXTS)["input_ids"] == spaced(TEXTS)["input_ids"]
    back = syllabary.load(tmp_path / "again").as_transformers(add_prefix_space=False)
    assert back(TEXTS)["input_ids"] == tok.as_transformers()(TEXTS)["input_ids"]
    said = write(shape, tmp_path / "said", add_prefix_space=True)
    theirs, ours = transformers.AutoTokenizer.from_pretrained(said), syllabary.load(said).as_transformers()
    assert ours(TEXTS)["input_ids"] == theirs(TEXTS)["input_ids"] == tok.as_transformers()(TEXTS)["input_ids"]


def test_a_split_of_its_own_without_a_class(tmp_path: Path) -> None:
    """As Llama 3's: the space is before the text, not before each piece."""
    tok = syllabary.train(TEXTS * 3, vocab_size=300, split="gpt4")
    for spaced in (
        tok.as_transformers(add_prefix_space=True),
        tok.with_settings(add_prefix_space=True).as_transformers(),
    ):
        for text in ("low, lower", " low", "12", "\n"):
            want = text if text.startswith(" ") else f" {text}"
            assert spaced(text)["input_ids"] == tok.encode(want)
            assert spaced.decode(spaced(text)["input_ids"]) == want
        assert [again("low, a")["input_ids"] for again in saved_and_opened(spaced, tmp_path)] == [
            tok.encode(" low, a")
        ] * 2
    assert tok.as_transformers(add_prefix_space=False)("low")["input_ids"] == tok.encode("low")


@pytest.mark.parametrize("shape", ["t5", "llama"])
def test_marks_without_a_class(shape: str, tmp_path: Path) -> None:
    tok = syllabary.load(write(shape, tmp_path))
    plain, bare = tok.as_transformers(), tok.as_transformers(add_prefix_space=False)
    assert plain.tokenize("low")[0].startswith("▁")
    assert bare.tokenize("low")[0][0] == "l"
    assert bare.decode(bare("low a", add_special_tokens=False)["input_ids"]) == "low a"
    assert tok.as_transformers(add_prefix_space=True)(TEXTS)["input_ids"] == plain(TEXTS)["input_ids"]


def test_refused_where_it_cannot_be(tmp_path: Path) -> None:
    bert = syllabary.load(write("bert", tmp_path / "bert"))
    with pytest.raises(
        syllabary.FormatError, match="neither bytes nor ▁ to put a space before: leave it out"
    ):
        bert.as_transformers(add_prefix_space=True)
    assert bert.as_transformers(add_prefix_space=False).tokenize("low") == bert.as_transformers().tokenize(
        "low"
    )
    for name, shape, prefix in (("T5Tokenizer", "t5", False), ("CLIPTokenizer", "roberta", True)):
        tok = syllabary.load(write(shape, tmp_path / name, tokenizer_class=name))
        for ask in (tok.as_transformers, tok.with_settings):
            with pytest.raises(syllabary.FormatError, match=f"{name} has no such setting"):
                ask(add_prefix_space=prefix)
        assert tok.as_transformers(add_prefix_space=not prefix)("low") == tok.as_transformers()("low")
        free = tok.with_settings(tokenizer_class=None, add_prefix_space=prefix).as_transformers()
        assert free("low")["input_ids"] != tok.as_transformers()("low")["input_ids"]


@pytest.mark.parametrize("name", [*CLASSES, *(f"{kind}Tokenizer" for kind in sorted(FIXED))])
def test_every_class_is_in_a_table(name: str, tmp_path: Path) -> None:
    """Those that read the setting are those of the tables; what a folder says of others counts nothing."""
    kind = name.removesuffix("Tokenizer")
    one = getattr(transformers, name)
    reads = "add_prefix_space" in one.__init__.__code__.co_varnames
    assert (kind in {*BYTES, *MARKS}) == (reads and kind not in {*FIXED, "XLNet"})
