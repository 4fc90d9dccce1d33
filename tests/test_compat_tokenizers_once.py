"""What `syllabary.compat.tokenizers` makes no second time: an engine when a file is opened, the encoding of a
text when a column of it is asked for. The library itself says what the results are.

Leaves out: the same calls at random (`test_compat_tokenizers`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers as theirs

from syllabary.compat import tokenizers as ours
from syllabary.compat.tokenizers import _engines, _pipeline, _whole

COLUMNS = (
    "ids", "type_ids", "tokens", "offsets", "attention_mask", "special_tokens_mask", "word_ids",
    "sequence_ids", "overflowing", "n_sequences",
)  # fmt: skip
TEXTS = ["low lower", "", "newest low"]
BATCHES: list[list[Any]] = [TEXTS, [("low", "er lower"), "", ("", "low")]]


def trained(library: Any, framed: bool) -> Any:
    """A tokenizer with some merges, and, if it is framed, a template."""
    tokenizer = library.Tokenizer(library.models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = library.pre_tokenizers.Whitespace()
    trainer = library.trainers.BpeTrainer(special_tokens=["[UNK]", "[SEP]"], show_progress=False)
    tokenizer.train_from_iterator(["low lower newest"] * 9, trainer)
    if framed:
        tokenizer.post_processor = library.processors.TemplateProcessing(
            "$A [SEP]", "$A [SEP] $B:1", [("[SEP]", 1)]
        )
    return tokenizer


def columns(one: Any) -> list[Any]:
    return [getattr(one, name) for name in COLUMNS]


@pytest.mark.parametrize("batch, framed", [(TEXTS, False), (TEXTS[::2], True), ([("low", "er lower")], True)])
def test_columns_are_of_the_encoding_that_there_is(
    batch: list[Any], framed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer, peer = trained(ours, framed), trained(theirs, framed)
    found = tokenizer.encode_batch(batch)

    def again(*_args: Any) -> Any:
        raise AssertionError("a text is encoded a second time")

    monkeypatch.setattr(_pipeline.Pipeline, "encode", again)
    assert [*map(columns, found)] == [*map(columns, peer.encode_batch(batch))]


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("first", COLUMNS)
def test_columns_in_any_order_and_after_changes(first: str, batch: list[Any], framed: bool) -> None:
    """A column that was not asked for yet is the one before the change."""
    results = []
    for library in (ours, theirs):
        found = trained(library, framed).encode_batch(batch)
        merged = library.Encoding.merge(found)
        asked = [getattr(one, first) for one in found]
        for one in found:
            one.pad(5, direction="left")
        after = [columns(one)[:-3] + columns(one)[-1:] for one in found]
        for one in found:
            one.truncate(2, 1)
        cut = [[*map(columns, one.overflowing)] for one in found]
        results.append((asked if first != "overflowing" else [], after, cut, columns(merged)[:-2]))
    assert results[0] == results[1]


def test_a_file_is_made_into_one_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained(theirs, True).save(str(tmp_path / "tokenizer.json"))
    made = []
    for module, name in ((_whole, "Engine"), (_engines, "Tokenizer")):
        kind = getattr(module, name)
        monkeypatch.setattr(module, name, lambda spec, kind=kind: made.append(spec) or kind(spec))
    tokenizer = ours.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert tokenizer.encode("low lower").ids == trained(theirs, True).encode("low lower").ids
    assert len(made) == 1


@pytest.mark.parametrize(
    "merges",
    [["#version: 0.2", "a b"], ["a b", "#version: 0.2"], ["a b", ["a", "b"]], [["a", "b"], "a b"], ["a  b"]],
)
def test_merges_of_older_files(merges: list[Any]) -> None:
    """A head is passed over, in the file that is written too; both forms in one file are an error."""
    document = json.loads(theirs.Tokenizer(theirs.models.BPE({"a": 0, "b": 1, "ab": 2}, [])).to_str())
    document["model"]["merges"] = merges
    results = []
    for library in (ours, theirs):
        try:
            tokenizer = library.Tokenizer.from_str(json.dumps(document))
            written = json.loads(tokenizer.to_str())["model"]["merges"]
            results.append((tokenizer.encode("abab").tokens, written))
        except Exception:  # noqa: BLE001 (theirs raises nothing narrower)
            results.append(([], None))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    "change",
    [
        lambda tokenizer: None,
        lambda tokenizer: tokenizer.to_str(),
        lambda tokenizer: setattr(tokenizer.model, "dropout", 1.0),
        lambda tokenizer: setattr(tokenizer.model, "unk_token", "l"),
        lambda tokenizer: tokenizer.add_tokens(["ow"]),
    ],
)
def test_what_is_read_as_ids_is_written_as_names(change: Any, tmp_path: Path) -> None:
    """Merges of a file are by ids until somebody asks for names; so a change must not lose them."""
    trained(theirs, True).save(path := str(tmp_path / "tokenizer.json"))
    results = []
    for library in (ours, theirs):
        tokenizer = library.Tokenizer.from_file(path)
        change(tokenizer)
        encoded = tokenizer.encode("low lower lowest new").tokens
        results.append((encoded, tokenizer.to_str(), tokenizer.get_vocab()))
    assert results[0] == results[1]


def test_merges_of_a_file_have_names(tmp_path: Path) -> None:
    trained(theirs, True).save(path := str(tmp_path / "tokenizer.json"))
    model = ours.Tokenizer.from_file(path).model
    pairs = json.loads(Path(path).read_text(encoding="utf-8"))["model"]["merges"]
    assert isinstance(model.values["merges"], ours.models.ListedMerges)
    assert ours.models.parted(model.values["merges"]) == pairs
    model.values["vocab"] = dict(model.values["vocab"])
    assert model.described()["merges"] == pairs
    assert model.values["merges"] == pairs
