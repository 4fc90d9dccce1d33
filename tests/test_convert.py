"""Conversion between all formats: every pair of them, on small tokenizers that hold every part of a format.

Leaves out: the command line (test_cli_surgery), what each format can hold (test_formats…), and published
tokenizers, which `test_published_ones_keep_their_ids` converts where they are at hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from homes import REAL, Real

import syllabary
from syllabary import formats, surgery
from syllabary.convert import Conversion, convert
from syllabary.errors import FormatError
from syllabary.formats import extras, record
from syllabary.formats.loss import Loss
from syllabary.reference import check_spec
from syllabary.spec import TokenizerSpec
from syllabary.trial_texts import trial_texts

SEEDS = Path(__file__).resolve().parent.parent / "fuzz" / "seeds"
SOURCES = sorted(path for path in SEEDS.glob("*/*"))
OTHER_WORDS = re.compile(r"no ids change|no id (?!changes)")
TARGETS = {form.name: form.suffixes[0] for form in formats.FORMATS if form.writes}


def opened(path: Path) -> syllabary.Tokenizer:
    name = path.parent.name
    return syllabary.load(path, name, **hints_of(name))


def hints_of(name: str) -> dict[str, str]:
    if not formats.needs_hints(name):
        return {}
    return {"split": "bert-uncased" if name == "bert" else "gpt2"}


def attempt(tok: syllabary.Tokenizer, path: Path, target: str) -> tuple[Conversion | None, str]:
    try:
        return convert(tok, path, target), ""
    except FormatError as error:
        return None, str(error)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_pair_of_formats(source: Path, target: str, tmp_path: Path) -> None:
    """What is written is the same tokenizer, or its losses are said; what cannot be held leaves no file."""
    tok = opened(source)
    path = tmp_path / f"out{TARGETS[target]}"
    report, refusal = attempt(tok, path, target)
    if report is None:
        assert " cannot hold " in refusal
        assert list(tmp_path.iterdir()) == []
        return
    assert report.same_tokens == report.texts or report.losses
    assert not [loss for loss in report.losses if OTHER_WORDS.search(loss)]
    assert [loss.ids == "same" for loss in report.losses] == [extras.NO_IDS in loss for loss in report.losses]
    assert [Path(file).exists() for file in report.files] == [True] * len(report.files)
    if report.losses:
        with pytest.raises(FormatError, match="strict, and"):
            convert(tok, tmp_path / f"strict{TARGETS[target]}", target, strict=True)
        assert not list(tmp_path.glob("strict*"))
    else:
        assert report.same_ids == report.texts
    json.dumps(report.as_data())


def test_that_no_id_changes_is_said_in_one_way() -> None:
    """What a loss says so is no excuse for other ids; `convert` asks its `ids`, people read the words."""
    effects = [effect for _what, effect in extras.EXTRAS.values() if effect is not None]
    assert not [effect for effect in effects if OTHER_WORDS.search(effect)]
    assert [effect.ids == "same" for effect in effects] == [extras.NO_IDS in effect for effect in effects]
    assert OTHER_WORDS.search(extras.NO_IDS) is None


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_its_own_format_and_ours_keep_everything(source: Path, tmp_path: Path) -> None:
    tok = opened(source)
    ours = convert(tok, tmp_path / "a.syllabary.json")
    assert (ours.losses, ours.same_ids) == ((), ours.texts)
    again = syllabary.load(tmp_path / "a.syllabary.json")
    assert again.spec == tok.spec
    if source.parent.name in TARGETS and source.parent.name not in ("huggingface", "syllabary"):
        name = source.parent.name
        files = formats.format_of(source.name, name).files(again.spec, tmp_path / source.name)
        assert files[tmp_path / source.name] == source.read_bytes()
        assert formats.read(source, name, **hints_of(name)) == again.spec


def test_a_result_that_encodes_otherwise_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Should a format write something else without saying so, the check of the result finds it."""
    tok = opened(SEEDS / "syllabary" / "bytes.syllabary.json")
    other = syllabary.train(["other text"], vocab_size=257, min_frequency=1).spec
    (form,) = (form for form in formats.FORMATS if form.name == "syllabary")
    data = form.files(other, tmp_path / "a.syllabary.json")
    monkeypatch.setattr(formats.Format, "files_at_once", lambda _self, _spec, _path: data)
    with pytest.raises(FormatError, match="not written: as syllabary this tokenizer would encode"):
        convert(tok, tmp_path / "a.syllabary.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target, held", [("a.tiktoken", 262), ("vocab.json", 264), ("a.json", 264)])
def test_the_result_is_read_once(
    target: str, held: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what its reader has to say; a rank file has no place for special tokens."""
    tok = syllabary.train(["low lower lowest"] * 3, vocab_size=262, split="gpt2")
    tok = surgery.add(tok, ["<a>", "<b>"], special=True).tokenizer
    read, reads = formats.read, list[Path]()

    def counted(path: Path, *args: Any, **hints: Any) -> TokenizerSpec:
        reads.append(path)
        return read(path, *args, **hints)

    monkeypatch.setattr(formats, "read", counted)
    done = convert(tok, tmp_path / target)
    assert (len(reads), done._vocab_size, done.same_ids) == (1, held, done.texts)


def test_what_cannot_be_read_again_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tok = opened(SEEDS / "syllabary" / "bytes.syllabary.json")
    monkeypatch.setattr(formats.Format, "files_at_once", lambda _self, _spec, path: {path: b"junk"})
    for name in ("a.tiktoken", "a.syllabary.json"):
        with pytest.raises(FormatError, match=rf"{name}: not written: it could not be read again: "):
            convert(tok, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_refused_conversion_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`save` tries what could be held instead; `convert` has done so already."""
    tok = opened(SEEDS / "syllabary" / "bytes.syllabary.json")
    form, calls = formats.format_of("a.tiktoken"), list[str]()

    def reduce(spec: TokenizerSpec) -> tuple[TokenizerSpec, tuple[Loss, ...]]:
        calls.append("reduce")
        return spec, (Loss("a thing", "some"),)

    def write(_spec: TokenizerSpec) -> bytes:
        calls.append("write")
        raise record.cannot_hold("tiktoken", "a thing")

    monkeypatch.setattr(formats, "format_of", lambda *_args: replace(form, reduce=reduce, write=write))
    with pytest.raises(FormatError, match="tiktoken cannot hold a thing"):
        convert(tok, tmp_path / "a.tiktoken")
    assert calls == ["reduce", "write"]


@pytest.mark.parametrize("target", ["vocab.json", "gone/vocab.json"])
@pytest.mark.parametrize("write", [convert, formats.write])
def test_of_a_pair_both_files_are_written_or_none(
    write: Callable[..., object], target: str, tmp_path: Path
) -> None:
    tok = syllabary.train(["low lower lowest"] * 3, vocab_size=260)
    (tmp_path / "merges.txt").mkdir()
    with pytest.raises(OSError, match=r"is a folder, not a file|no such folder"):
        write(tok if write is convert else tok.spec, tmp_path / target, "gpt2")
    assert [path.name for path in tmp_path.iterdir()] == ["merges.txt"]


def test_a_name_that_is_too_long_is_named(tmp_path: Path) -> None:
    path = tmp_path / f"{'x' * 300}.json"
    with pytest.raises(OSError, match="xxx") as caught:
        convert(opened(SEEDS / "syllabary" / "bytes.syllabary.json"), path)
    assert caught.value.filename == str(path)
    assert list(tmp_path.iterdir()) == []


def test_the_sample_is_the_same_on_any_day() -> None:
    tok = opened(SEEDS / "syllabary" / "bytes.syllabary.json")
    texts = list(trial_texts(tok))
    assert texts == list(trial_texts(tok))
    assert len(texts) > 200
    assert sum("<s>" in text for text in texts) >= 1


@pytest.mark.parametrize("target", ["huggingface", "tiktoken", "sentencepiece", "minbpe"])
@pytest.mark.parametrize("real", [real for real in REAL if real.name in ("r50k_base", "mistral_v1")], ids=str)
def test_published_ones_keep_their_ids(real: Real, target: str, tmp_path: Path) -> None:
    if not real.path.exists():
        pytest.skip(f"no {real.path.name} beside the repository")
    path = tmp_path / f"out{TARGETS[target]}"
    held = {
        "r50k_base": ("huggingface", "tiktoken", "minbpe"),
        "mistral_v1": ("huggingface", "sentencepiece"),
    }
    if target not in held[real.name]:
        with pytest.raises(FormatError, match="cannot hold"):
            convert(real.path, path, target)
        return
    report = convert(real.path, path, target)
    assert report.same_tokens == report.texts
    assert target == "minbpe" or report.same_ids == report.texts


def test_ranks_do_not_say_that_text_is_dropped(tmp_path: Path) -> None:
    """A pattern named in `split=` keeps what it does not match; the name of a split that drops says so."""
    spec = syllabary.train(["low lower, lowest"] * 9, num_merges=4, split=r"\w+").spec
    tok = syllabary.Tokenizer(replace(spec, split=replace(spec.split, keep_unmatched=False)))
    path = tmp_path / "ranks.tiktoken"
    assert tok.tokens("a, b") == [b"a", b"b"]
    with pytest.raises(FormatError, match=r"tiktoken cannot hold a split that drops .* \('\\\\w\+'\)"):
        tok.save(path)
    assert list(tmp_path.iterdir()) == []
    done = convert(tok, path)
    assert "drops the text between its matches" in done.losses[0]
    assert syllabary.load(path, split=r"\w+").tokens("a, b") == [b"a", b", ", b"b"]
    named = syllabary.train(["low lower, lowest"] * 9, num_merges=4, split="whitespace")
    named.save(path)
    assert syllabary.load(path, split="whitespace").encode("low,  lower") == named.encode("low,  lower")


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_is_opened_was_checked(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`load` trusts each format to check what it has read, and does so no second time."""
    seen = list[TokenizerSpec]()
    monkeypatch.setattr(record, "check_spec", lambda spec: (seen.append(spec), check_spec(spec)))
    tok = opened(source)
    assert [spec is tok.spec for spec in seen] == [True]


def test_a_merge_that_reads_as_the_header_is_refused(tmp_path: Path) -> None:
    """tokenizers skips each line that begins with `#version`, and so do we."""
    tok = syllabary.train(
        ["#versions #versions #versioning #versioning"] * 5, vocab_size=267, split="whitespace-split"
    )
    assert tok.tokens("#versions") == [b"#versions"]
    for name in ("vocab.json", "vocab.bpe"):
        with pytest.raises(FormatError, match="cannot hold the merge '#version"):
            tok.save(tmp_path / name)
        with pytest.raises(FormatError, match="cannot hold the merge '#version"):
            convert(tok, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_unknown_characters_beside_a_space_are_named(tmp_path: Path) -> None:
    """Where a space is unknown too: Hugging Face makes one token of those of a word, sentencepiece of all."""
    model = {"type": "BPE", "vocab": {"<unk>": 0, "a": 1, "b": 2, "ab": 3}, "merges": [["a", "b"]]}
    document = {
        "added_tokens": [],
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": True},
        "model": {**model, "unk_token": "<unk>", "fuse_unk": True},
    }
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document))
    found = convert(path, tmp_path / "a.model")
    text = "éé éé a"
    assert syllabary.load(path).encode(text) != syllabary.load(tmp_path / "a.model").encode(text)
    assert any("on its other side are one token: ids can change" in loss for loss in found.losses)


def twice(model: str, text: str, **options: Any) -> syllabary.Tokenizer:
    """With a special token that is spelled as an ordinary one is."""
    tok = syllabary.train(["low lower lowest newer newest widest"] * 20, model=model, **options)
    return surgery.add(tok, [text], special=True).tokenizer


@pytest.mark.parametrize(
    "made, target, what",
    [
        (
            lambda: twice("unigram", "▁newe", vocab_size=18, like="sentencepiece"),
            "a.json",
            "tokenizer.json cannot hold two ids (4 and 18) with the same spelling '▁newe'",
        ),
        (
            lambda: twice("wordpiece", "##st", options={"vocab_size": 30}),
            "a.gguf",
            "gguf cannot hold two ids (22 and 30) with the same spelling '##st'",
        ),
        (
            lambda: syllabary.train(["low lower"], unit="char", num_merges=2, split=None, fallback=True),
            "a.model",
            "sentencepiece cannot hold a token that is not UTF-8 (id 128, b'\\x80')",
        ),
    ],
)
def test_what_cannot_be_held_is_said_of_the_file(
    made: Callable[[], syllabary.Tokenizer], target: str, what: str, tmp_path: Path
) -> None:
    """Not of what would be left of it, nor of a copy that could not be read again."""
    source = tmp_path / "of.syllabary.json"
    tok = made()
    tok.save(source)
    for given, start in ((source, f"{source}: {what}"), (tok, what)):
        with pytest.raises(FormatError) as caught:
            convert(given, tmp_path / target)
        assert str(caught.value) == f"{start}; save as .syllabary.json, which holds everything"
    assert [path.name for path in tmp_path.iterdir()] == [source.name]


def test_what_is_left_and_is_no_tokenizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = SEEDS / "syllabary" / "bytes.syllabary.json"
    twice = replace(opened(source).spec, special_tokens={"<a>": 0})
    monkeypatch.setattr(record.Format, "files_at_once", lambda _self, _spec, _path: check_spec(twice))
    with pytest.raises(FormatError, match=r"json: tiktoken cannot hold what would be left .*: id 0 .*; save"):
        convert(source, tmp_path / "a.tiktoken")
