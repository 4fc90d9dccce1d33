"""Unigram in files: read, written, converted with losses by name, and what is wrong with a file.

Leaves out: that ids are those of the home libraries (`test_unigram`); damage at random (`fuzz/`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import sentencepiece_models as made
from tokenizers import Tokenizer as Peer
from unigram_models import PIPELINES, huggingface_file, sentencepiece_model

import syllabary
from syllabary.convert import convert
from syllabary.formats.hf_floats import read_float
from syllabary.spec import SplitSpec, TokenizerSpec
from syllabary.tokenizer import Tokenizer
from syllabary.verify import verify

FILE = {
    "version": "1.0",
    "added_tokens": [],
    "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.5], ["▁a", -2]]},
}


@pytest.mark.parametrize("number", range(6))
def test_a_model_is_written_byte_for_byte(tmp_path: Path, number: int) -> None:
    data = sentencepiece_model(tmp_path, number)
    (tmp_path / "t.model").write_bytes(data)
    tok = syllabary.load(tmp_path / "t.model")
    tok.save(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == data
    tok.save(tmp_path / "t.syllabary.json")
    syllabary.load(tmp_path / "t.syllabary.json").save(tmp_path / "third.model")
    assert (tmp_path / "third.model").read_bytes() == data
    assert verify(tmp_path / "t.model", "sentencepiece", made.corpus(number, 5)).difference is None


@pytest.mark.parametrize("number", range(0, len(PIPELINES), 5))
def test_a_tokenizer_json_is_written_with_the_same_ids(tmp_path: Path, number: int) -> None:
    path, again = tmp_path / "tokenizer.json", tmp_path / "again.tokenizer.json"
    path.write_text(huggingface_file(*PIPELINES[number], number), encoding="utf-8")
    syllabary.load(path).save(again)
    one, other = json.loads(path.read_text("utf-8")), json.loads(again.read_text("utf-8"))
    assert [name for name, _score in one["model"].pop("vocab")] == [
        name for name, _score in other["model"].pop("vocab")
    ]
    assert other["model"] == one["model"]
    assert {**other, "model": 0} == {**one, "model": 0}
    texts = made.corpus(number, 8)
    assert verify(path, "tokenizers", texts).difference is None
    assert verify(again, "tokenizers", texts).difference is None
    assert [Peer.from_file(str(again)).encode(text).ids for text in texts] == [
        Peer.from_file(str(path)).encode(text).ids for text in texts
    ]


def test_from_sentencepiece_to_tokenizer_json(tmp_path: Path) -> None:
    data = made.train(
        tmp_path, model_type="unigram", vocab_size=500, byte_fallback=True, user_defined_symbols=["<sep>"]
    )
    (tmp_path / "t.model").write_bytes(data)
    report = convert(tmp_path / "t.model", tmp_path / "tokenizer.json")
    assert any("added in 32 bits" in loss for loss in report.losses)
    assert any("special tokens wherever they stand" in loss for loss in report.losses)
    peer = Peer.from_file(str(tmp_path / "tokenizer.json"))
    home = sentencepiece.SentencePieceProcessor(model_proto=data)
    tok = syllabary.load(tmp_path / "tokenizer.json")
    for text in ["the cat sat on the mat", "漢字 and <sep> café", *made.corpus(3, 3)]:
        ids = peer.encode(text, add_special_tokens=False).ids
        assert tok.encode(text) == ids
    assert peer.encode("the cat sat").ids == home.encode("the cat sat")
    assert tok.decode(tok.encode("the cat sat")) == "the cat sat"


def test_from_tokenizer_json_to_sentencepiece(tmp_path: Path) -> None:
    file = huggingface_file("t5", "words", 0, 1)
    (tmp_path / "tokenizer.json").write_text(file, encoding="utf-8")
    report = convert(tmp_path / "tokenizer.json", tmp_path / "t.model")
    assert any("become sentencepiece's normalizer" in loss for loss in report.losses)
    assert any("scores are of 32 bits" in loss for loss in report.losses)
    home = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "t.model"))
    tok = syllabary.load(tmp_path / "t.model")
    for text in ["the cat sat on the mat", *made.corpus(3, 5)]:
        assert tok.encode(text) == home.encode(text)
    assert home.encode("the cat sat") == Peer.from_str(file).encode("the cat sat").ids


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize("rules", ["nmt_nfkc", "identity"])
def test_to_tokenizer_json_and_back(rules: str, removes: bool, tmp_path: Path) -> None:
    """The steps that stand for sentencepiece's normalizer become it again."""
    options: dict[str, Any] = {"normalization_rule_name": rules, "remove_extra_whitespaces": removes}
    data = made.train(tmp_path, model_type="unigram", vocab_size=500, byte_fallback=True, **options)
    (tmp_path / "t.model").write_bytes(data)
    convert(tmp_path / "t.model", tmp_path / "tokenizer.json")
    report = convert(tmp_path / "tokenizer.json", tmp_path / "back.model")
    assert any("how Precompiled looks up" in loss for loss in report.losses) == (rules != "identity")
    before, after = (syllabary.load(tmp_path / name).spec for name in ("t.model", "back.model"))
    assert after.normalizer == before.normalizer
    assert after.scores == before.scores
    home = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "back.model"))
    theirs = sentencepiece.SentencePieceProcessor(model_proto=data)
    for text in [" the  cat sat ", "漢字 and café ", *made.corpus(3, 20)]:
        assert home.encode(text) == theirs.encode(text)


@pytest.mark.parametrize("name", ["back.model", "tokenizer.json"])
def test_bytes_that_spell_nothing_in_a_gguf_file(name: str, tmp_path: Path) -> None:
    """There unknown text is the unknown token, beside 256 tokens of bytes; here and there they spell it."""
    data = made.train(tmp_path, model_type="unigram", vocab_size=500, byte_fallback=True)
    (tmp_path / "t.model").write_bytes(data)
    convert(tmp_path / "t.model", tmp_path / "t.gguf")
    report = convert(tmp_path / "t.gguf", tmp_path / name)
    assert sum("it is spelled with bytes" in loss for loss in report.losses) == 1
    tok, theirs = syllabary.load(tmp_path / name), sentencepiece.SentencePieceProcessor(model_proto=data)
    for text in ["the cat sat on the mat", "學 校 😀", *made.corpus(3, 20)]:
        assert tok.encode(text, "text") == theirs.encode(text)


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    """The file with a change to its model."""
    file = json.loads(json.dumps(FILE))
    change(file["model"])
    return json.dumps(file).encode()


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda m: m["vocab"].append(["", -1.0]), r"vocab\[3\]: the name is empty"),
        (lambda m: m["vocab"].append(["b", "x"]), r"vocab\[3\]\[1\]: must be a score, .* not 'x'"),
        (lambda m: m["vocab"].append(["b", True]), r"vocab\[3\]\[1\]: must be a score"),
        (lambda m: m["vocab"].append(["b", 1e300]), r"vocab\[3\]\[1\]: must be a score, a finite number"),
        (lambda m: m["vocab"].append(["b"]), r"vocab\[3\]: must be \[name, score\]"),
        (lambda m: m.update(unk_id=3), r"unk_id: is 3, and the vocabulary ends with id 2"),
        (lambda m: m.update(vocab=[]), r"unk_id: is 0, and the vocabulary is empty"),
        (lambda m: m.update(unk_id=-1), r"unk_id: is an id outside"),
        (lambda m: m.update(alpha=0.1), r"unknown key 'alpha'"),
        (lambda m: m.update(byte_fallback=1), r"byte_fallback: must be true or false"),
        (lambda m: m.update(vocab={}), r"vocab: must be a list"),
    ],
)
def test_files_that_are_none(tmp_path: Path, change: Callable[[Any], object], message: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(changed(change))
    with pytest.raises(syllabary.FormatError, match=message):
        syllabary.load(path)


def test_a_score_that_is_not_a_number(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(json.dumps(FILE).encode().replace(b"-1.5", b"NaN"))
    with pytest.raises(syllabary.FormatError, match="NaN is not JSON"):
        syllabary.load(path)
    path.write_bytes(json.dumps(FILE).encode().replace(b"-1.5", b"-1e999"))
    with pytest.raises(syllabary.FormatError, match=r"vocab\[1\]\[1\]: must be a score"):
        syllabary.load(path)
    model = made.model_of(sentencepiece_model(tmp_path, 0))
    model.scores[20] = float("nan")
    (tmp_path / "t.model").write_bytes(model.write())
    with pytest.raises(syllabary.FormatError, match="piece 20 has the score nan, which is no number"):
        syllabary.load(tmp_path / "t.model")


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"scores": {1: float("inf")}}, "scores: that of id 1 is inf: give a finite number"),
        ({"scores": {1: float("nan")}}, "scores: that of id 1 is nan"),
        ({"scores": {9: -1.0}}, "scores: id 9 is no token"),
        ({"unknown": 9}, "unknown is id 9, which is no token"),
        ({"unused": frozenset({0})}, "unused: id 0 has no score"),
        ({"tokens": {1: b"a", 2: b"a"}, "scores": {1: 0.0, 2: 0.0}}, "ids 1 and 2 are both"),
        ({"dropout": 0.1}, "dropout with model='unigram'"),
        ({"merges": ()}, "merges"),
        ({"single_precision": 1}, "single_precision is 1: give bool"),
        (
            {"model": "bpe", "merges": (), "scores": None, "single_precision": True},
            "only unigram adds scores",
        ),
    ],
)
def test_tokenizers_that_are_none(wrong: dict[str, Any], message: str) -> None:
    fields = ("char", SplitSpec(None), {1: b"a"}, {}, None, {"<unk>": 0})
    spec = TokenizerSpec(*fields, model="unigram", scores={1: -1.0}, unknown=0)
    assert Tokenizer(spec).encode("ab") == [1, 0]
    with pytest.raises(syllabary.VocabularyError, match=message):
        Tokenizer(replace(spec, **wrong))


def test_numbers_as_their_library_reads_them() -> None:
    numbers = ["-6.9044739982887124", "-7.5231706856696166", "0.1", "-1e-30", "12345678901234567890.5", "3e2"]
    vocab = ", ".join(f'["t{at}", {number}]' for at, number in enumerate(numbers))
    file = '{"version": "1.0", "model": {"type": "Unigram", "unk_id": null, "vocab": [' + vocab + "]}}"
    there = json.loads(Peer.from_str(file).to_str())["model"]["vocab"]
    assert [score for _name, score in there] == [read_float(number) for number in numbers]
