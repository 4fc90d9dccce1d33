"""Shards: what is in the files, how they are seen, and that nothing depends on the number of processes.

What they should hold is said again here, document by document, with `encode`. Leaves out: runs that are
killed (`test_shards_resume`), opening (`test_shards_open`), other formats (`test_shards_export`), the
verb (`test_shards_cli`).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import random
import unicodedata
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syllabary
from syllabary import shards
from syllabary.corpus import Care, Corpus, Reading
from syllabary.corpus.care import identity, share
from syllabary.errors import CorpusError, ShardError, SpecialTokenError, UnknownSymbolError
from syllabary.shards import writing

END = "<|end|>"
WORDS = "arma virumque cano Troiae qui primus ab oris μῆνιν ἄειδε θεὰ low lower lowest 東京".split()


def lines(number: int, seed: int = 0) -> list[str]:
    """Documents of some words each, a few of them equal, a few in NFD."""
    draw = random.Random(seed)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(1, 40))) for _ in range(number)]
    texts[number // 2] = texts[0]
    texts[number // 3] = unicodedata.normalize("NFD", texts[1])
    return texts


@pytest.fixture(scope="module")
def tok() -> syllabary.Tokenizer:
    return syllabary.train([" ".join(WORDS)] * 3, vocab_size=320, special_tokens=[END, "<|user|>"])


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a document a line, which is cut into several units."""
    monkeypatch.setattr(writing, "UNIT_BYTES", 8_000)
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(lines(400)) + "\n", "utf-8")
    return path


@pytest.fixture(autouse=True)
def forms_are_mixed() -> Iterator[None]:
    """The corpus mixes normal forms on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", syllabary.errors.CorpusWarning)
        yield


LINES = Reading(documents="line")


def expected(
    tok: syllabary.Tokenizer, texts: list[str], val: float = 0.0, seed: int = 0, unique: bool = False
) -> dict[str, list[list[int]]]:
    """The ids of each split, one document after the other, slowly."""
    found: dict[str, list[list[int]]] = {"train": [], "val": []}
    seen: set[int] = set()
    for text in texts:
        number = identity(text)
        if not (unique and number in seen):
            held_out = share(number, "validation", seed) < val
            found["val" if held_out else "train"].append([*tok.encode(text), tok.special_tokens[END]])
        seen.add(number)
    return found


def held(folder: Path) -> dict[str, bytes]:
    """Every file of a folder and its bytes."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("val, unique", [(0.0, False), (0.3, False), (0.3, True)])
def test_shards_hold_what_encode_gives(
    val: float, unique: bool, tok: syllabary.Tokenizer, corpus: Path, tmp_path: Path
) -> None:
    source = Corpus(corpus, LINES, Care(drop_duplicates=unique))
    found = shards.write(source, tok, tmp_path / "out", val=val, seed=3, end=END, processes=1)
    wanted = expected(tok, lines(400), val, 3, unique)
    for name, documents in wanted.items():
        split = getattr(found, name)
        if not documents:
            assert split is None
            continue
        assert [document.tolist() for document in split] == documents
        assert split.ids.dtype == np.uint16
        assert split.tokens == sum(map(len, documents))
    assert found.index.corpus["documents"] == sum(map(len, wanted.values()))
    assert source.report.duplicates == 400 - sum(map(len, wanted.values()))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
        [f"{name}{kind}" for name in found.splits for kind in (".bin", ".offsets.bin")]
        + ["index.json", "tokenizer.syllabary.json"]
    )


def test_as_nanogpt_reads_them(tok: syllabary.Tokenizer, corpus: Path, tmp_path: Path) -> None:
    shards.write(Corpus(corpus, LINES), tok, tmp_path / "out", val=0.3, end=END)
    data = np.memmap(tmp_path / "out" / "train.bin", dtype=np.uint16, mode="r")
    assert data.tolist() == [id_ for ids in expected(tok, lines(400), 0.3)["train"] for id_ in ids]


def test_the_index_says_what_is_there(tok: syllabary.Tokenizer, corpus: Path, tmp_path: Path) -> None:
    shards.write(Corpus(corpus, LINES), tok, tmp_path / "out", val=0.3, seed=5, end=END)
    index = json.loads((tmp_path / "out" / "index.json").read_bytes())
    split_of = [int(share(identity(text), "validation", 5) < 0.3) for text in lines(400)]
    for number, name in enumerate(["train", "val"]):
        texts = [text for text, which in zip(lines(400), split_of, strict=True) if which == number]
        digest = hashlib.sha256(b"".join(identity(text).to_bytes(8, "little") for text in texts))
        ids = [[*tok.encode(text), tok.special_tokens[END]] for text in texts]
        assert index["splits"][name] == {
            "file": f"{name}.bin",
            "offsets": f"{name}.offsets.bin",
            "documents": len(texts),
            "tokens": sum(map(len, ids)),
            "text_bytes": sum(len(text.encode()) for text in texts),
            "sha256_documents": digest.hexdigest(),
        }
    keys = ("format", "version", "dtype", "vocab_size", "end", "seed", "val")
    assert {key: index[key] for key in keys} == {
        "format": "syllabary-shards", "version": 1, "dtype": "uint16", "vocab_size": max(tok.vocab) + 1,
        "end": tok.special_tokens[END], "seed": 5, "val": 0.3,
    }  # fmt: skip
    assert index["tokenizer"] == {"file": "tokenizer.syllabary.json", "sha256": shards.fingerprint(tok)}
    assert index["corpus"]["files"] == 1
    assert syllabary.load(tmp_path / "out" / "tokenizer.syllabary.json").spec == tok.spec


@pytest.mark.parametrize("processes", [2, 3])
def test_the_number_of_processes_makes_no_difference(
    processes: int, tok: syllabary.Tokenizer, corpus: Path, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"val": 0.2, "end": END}
    for name, count in (("one", 1), ("several", processes)):
        source = Corpus(corpus, LINES, Care(drop_duplicates=True))
        shards.write(source, tok, tmp_path / name, processes=count, **options)
    assert held(tmp_path / "one") == held(tmp_path / "several")


def test_documents_in_memory_give_the_same_bytes(
    tok: syllabary.Tokenizer, corpus: Path, tmp_path: Path
) -> None:
    shards.write(Corpus(corpus, LINES), tok, tmp_path / "files", val=0.2)
    found = shards.write(iter(lines(400)), tok, tmp_path / "memory", val=0.2)
    files, memory = held(tmp_path / "files"), held(tmp_path / "memory")
    assert found.index.corpus["documents"] == 400
    for name in files.keys() - {"index.json"}:
        assert files[name] == memory[name], name
    assert json.loads(files["index.json"])["splits"] == json.loads(memory["index.json"])["splits"]


def test_files_of_a_folder(tok: syllabary.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "UNIT_BYTES", 1_000)
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, text in enumerate(lines(60)):
        (folder / f"{number:03d}.txt").write_text(text, "utf-8")
    found = shards.write(folder, tok, tmp_path / "out", end=END, processes=2)
    assert [ids.tolist() for ids in found.train] == expected(tok, lines(60))["train"]


def test_normalize_rewrites_the_text_and_not_the_identity(tok: syllabary.Tokenizer, tmp_path: Path) -> None:
    texts = ["θεὰ", unicodedata.normalize("NFD", "θεὰ μῆνιν")]
    plain = shards.write(texts, tok, tmp_path / "plain")
    rewritten = shards.write(Corpus(texts, care=Care(normalize="NFD")), tok, tmp_path / "nfd")
    assert rewritten.train.digest == plain.train.digest
    assert rewritten.train.text_bytes == plain.train.text_bytes == sum(len(text.encode()) for text in texts)
    assert [tok.decode(ids) for ids in rewritten.train] == [
        unicodedata.normalize("NFD", text) for text in texts
    ]


def test_equal_texts_have_equal_digests_whatever_the_tokenizer(
    tmp_path: Path, tok: syllabary.Tokenizer
) -> None:
    other = syllabary.train(["low"], num_merges=0)
    one = shards.write(lines(40), tok, tmp_path / "one", val=0.3)
    two = shards.write(lines(40), other, tmp_path / "two", val=0.3)
    three = shards.write(lines(40, seed=1), other, tmp_path / "three", val=0.3)
    assert one.val is not None
    assert two.val is not None
    assert (one.train.digest, one.val.digest) == (two.train.digest, two.val.digest)
    assert one.train.digest != three.train.digest


# ---- ids and their types ----


@pytest.mark.parametrize("largest, dtype", [(65_535, "uint16"), (65_536, "uint32")])
def test_the_largest_id_chooses_the_type(largest: int, dtype: str, tmp_path: Path) -> None:
    bare = syllabary.train(["low low"], num_merges=1)
    spec = bare.spec
    tok = syllabary.Tokenizer(dataclasses.replace(spec, special_tokens={END: largest}))
    found = shards.write(["low", "lower"], tok, tmp_path / "out", end=END)
    assert (found.index.dtype, found.dtype, found.vocab_size) == (dtype, np.dtype(dtype), largest + 1)
    assert found.train.ids.dtype == np.dtype(dtype)
    assert [ids.tolist() for ids in found.train] == [
        [*tok.encode(text), largest] for text in ("low", "lower")
    ]


def test_without_an_end_nothing_is_added_and_empty_documents_stay(
    tok: syllabary.Tokenizer, tmp_path: Path
) -> None:
    found = shards.write(["low", "", "lower", ""], tok, tmp_path / "out")
    assert [ids.tolist() for ids in found.train] == [tok.encode("low"), [], tok.encode("lower"), []]
    assert found.index.end is None


def test_dropout_is_off(tmp_path: Path) -> None:
    tok = syllabary.train(["low lower lowest"] * 3, num_merges=3)
    wild = syllabary.Tokenizer(dataclasses.replace(tok.spec, dropout=1.0))
    found = shards.write(["lowest lower"], wild, tmp_path / "out")
    assert found.train[0].tolist() == tok.encode("lowest lower")


# ---- special tokens and other errors of text ----


def test_a_special_token_in_the_text_names_its_document(
    tok: syllabary.Tokenizer, corpus: Path, tmp_path: Path
) -> None:
    texts = lines(400)
    texts[300] += " " + END
    corpus.write_text("\n".join(texts), "utf-8")
    for processes in (1, 2):
        with pytest.raises(
            SpecialTokenError, match=r"corpus\.txt, the document that begins with '.*': .*<\|end\|>"
        ):
            shards.write(Corpus(corpus, LINES), tok, tmp_path / "out", processes=processes)
        assert not (tmp_path / "out").exists()
    with pytest.raises(SpecialTokenError, match=r"document 1: "):
        shards.write(["low", END], tok, tmp_path / "out")
    corpus.write_text(f"low\nlower {END}\nlow\n", "utf-8")
    with pytest.raises(SpecialTokenError, match=r"corpus\.txt, line 2: "):
        shards.write(Corpus(corpus, LINES), tok, tmp_path / "out")


def test_special_tokens_may_be_allowed_or_text(tok: syllabary.Tokenizer, tmp_path: Path) -> None:
    text = f"low{END}lower"
    for number, special in enumerate(["allow", "text", {END}]):
        found = shards.write([text], tok, tmp_path / str(number), special=special)  # type: ignore[arg-type]
        assert found.train[0].tolist() == tok.encode(text, special=special)  # type: ignore[arg-type]
    with pytest.raises(SpecialTokenError, match=r"<\|user\|>"):
        shards.write(["<|user|>"], tok, tmp_path / "out", special={END})


def test_an_unknown_symbol_names_its_document(tmp_path: Path) -> None:
    tok = syllabary.train(["low lower"], unit="char", num_merges=2)
    with pytest.raises(UnknownSymbolError, match=r"document 2: "):
        shards.write(["low", "lower", "xyz"], tok, tmp_path / "out")


def test_bytes_that_are_no_text(tok: syllabary.Tokenizer, corpus: Path, tmp_path: Path) -> None:
    corpus.write_bytes(corpus.read_bytes() + b"\xff\xfe\xff")
    reading = Reading(documents="line", encoding="utf-8")
    for processes in (1, 2):
        with pytest.raises(CorpusError, match=r"corpus\.txt"):
            shards.write(Corpus(corpus, reading), tok, tmp_path / "out", processes=processes)
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "texts, val, error, words",
    [
        ([], 0.0, CorpusError, "empty"),
        (["", ""], 0.0, CorpusError, "empty"),
        (["low"], 0.5, ShardError, "the split (train|val) is empty: .*val=0.5"),
        ([f"low {number}" for number in range(5)], 1e-9, ShardError, "the split val is empty"),
        (["low", "lower"], 1 - 1e-9, ShardError, "the split train is empty"),
    ],
)
def test_a_split_without_a_token_is_an_error_and_leaves_nothing(
    texts: list[str], val: float, error: type[Exception], words: str, tok: syllabary.Tokenizer, tmp_path: Path
) -> None:
    with pytest.raises(error, match=words):
        shards.write(texts, tok, tmp_path / "out", val=val)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"val": 1.0}, ValueError, "val is 1.0"),
        ({"val": -0.1}, ValueError, "val is -0.1"),
        ({"val": True}, TypeError, "val is True"),
        ({"val": float("nan")}, ValueError, "val is nan"),
        ({"seed": -1}, ValueError, "seed is -1"),
        ({"seed": 0.5}, TypeError, "seed is 0.5"),
        ({"end": "<|nothing|>"}, ShardError, "no special token.*'<|end|>'"),
        ({"end": 3}, TypeError, "end is 3"),
        ({"processes": 0}, ValueError, "processes is 0"),
        ({"special": "yes"}, ValueError, "special"),
    ],
)
def test_wrong_arguments_are_named(
    options: dict[str, Any], error: type[Exception], words: str, tok: syllabary.Tokenizer, tmp_path: Path
) -> None:
    with pytest.raises(error, match=words):
        shards.write(["low"], tok, tmp_path / "out", **options)
    assert list(tmp_path.iterdir()) == []


def test_progress_ends_with_all_of_the_source(tok: syllabary.Tokenizer, corpus: Path, tmp_path: Path) -> None:
    for processes in (1, 2):
        told: list[shards.Progress] = []
        shards.write(
            Corpus(corpus, LINES),
            tok,
            tmp_path / f"out{processes}",
            processes=processes,
            progress=told.append,
        )
        size = corpus.stat().st_size
        assert told[-1] == shards.Progress(size, size)
        assert [step.done for step in told] == sorted(step.done for step in told)
        assert len(told) > 4
    told = []
    shards.write(lines(10), tok, tmp_path / "memory", progress=told.append)
    assert told == [shards.Progress(sum(len(text.encode()) for text in lines(10)), None)]


# ---- real text ----


def test_perseus(shared: Path, tmp_path: Path) -> None:
    """Cicero's letters, by letter: the same ids as encoding each, in one process and in two."""
    folder = shared / "corpora" / "perseus"
    source = next(path for path in sorted(folder.rglob("*att*.xml*")))
    tok = syllabary.train(source, vocab_size=600, special_tokens=[END])
    reading = Reading(division="letter")
    texts = [document.text for document in Corpus(source, reading)]
    found = shards.write(Corpus(source, reading), tok, tmp_path / "out", val=0.1, end=END, processes=2)
    assert len(texts) > 400
    wanted = expected(tok, texts, 0.1)
    assert {name: [ids.tolist() for ids in split] for name, split in found.splits.items()} == wanted


def test_normal_forms_are_of_the_documents_that_are_kept(tok: syllabary.Tokenizer, tmp_path: Path) -> None:
    """A duplicate in NFD is no reason to warn of a mix: not in memory, and not where units are read apart."""
    path = tmp_path / "both.txt"
    path.write_text("n\u00e9\nne\u0301\nn\u00e9\nplain\n", encoding="utf-8")
    records = []
    sources: list[Any] = [path, ["n\u00e9", "ne\u0301", "n\u00e9", "plain"]]
    for number, given in enumerate(sources):
        source = Corpus(given, LINES, Care(drop_duplicates=True))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            shards.write(source, tok, tmp_path / str(number))
        records.append(source.record())
    assert records[0]["forms"] == records[1]["forms"] == {"NFC-only": 1}
    assert records[0]["documents"] == records[1]["documents"] == 2


def test_numbers_of_numpy_choose_as_pythons_do(tok: syllabary.Tokenizer, tmp_path: Path) -> None:
    care = Care(fraction=np.float32(0.5), seed=np.int64(3), drop_duplicates=np.True_)  # type: ignore[arg-type]
    assert care == Care(fraction=0.5, seed=3, drop_duplicates=True)
    assert repr(care) == repr(Care(fraction=0.5, seed=3, drop_duplicates=True))
    with pytest.raises(TypeError, match="rest is 'half': give a number from 0 to 1, or None"):
        Care(rest="half")  # type: ignore[arg-type]
    texts = [f"text {number}" for number in range(20)]
    for name, val in (("a", 0.25), ("b", np.float32(0.25))):
        shards.write(texts, tok, tmp_path / name, val=val)
    assert (tmp_path / "a" / "index.json").read_bytes() == (tmp_path / "b" / "index.json").read_bytes()
