"""Opening shards: views by document and by window, and folders that are damaged, foreign or unfinished.

Leaves out: what the files hold (`test_shards`).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syllabary
from syllabary import shards
from syllabary.errors import ShardError
from syllabary.formats import syllabary_json

END = "<|end|>"
TEXTS = [f"low lower lowest {number} " * (number % 7) for number in range(60)]


@pytest.fixture(scope="module")
def tok() -> syllabary.Tokenizer:
    return syllabary.train(["low lower lowest"] * 3, vocab_size=262, special_tokens=[END])


@pytest.fixture
def written(tok: syllabary.Tokenizer, tmp_path: Path) -> Path:
    shards.write(TEXTS, tok, tmp_path / "out", val=0.3, end=END)
    return tmp_path / "out"


def test_documents_and_windows_are_views(written: Path) -> None:
    found = shards.open(written)
    split = found.train
    assert isinstance(split.ids, np.memmap)
    assert not split.ids.flags.writeable
    assert np.shares_memory(split[3], split.ids)
    assert np.array_equal(split[-1], split[len(split) - 1])
    assert np.array_equal(np.concatenate(list(split)), split.ids)
    windows = split.windows(10)
    assert windows.shape == (split.tokens // 10, 10)
    assert np.shares_memory(windows, split.ids)
    assert np.array_equal(windows.reshape(-1), split.ids[: len(windows) * 10])
    overlapping = split.windows(10, stride=3)
    assert [row.tolist() for row in overlapping] == [
        split.ids[start : start + 10].tolist() for start in range(0, split.tokens - 9, 3)
    ]
    assert split.windows(split.tokens).shape == (1, split.tokens)


def test_slices_are_lists_of_views(written: Path) -> None:
    split = shards.open(written).train
    assert [ids.tolist() for ids in split[-3::-2]] == [ids.tolist() for ids in list(split)[-3::-2]]
    assert all(np.shares_memory(ids, split.ids) for ids in split[1:3])
    assert split[5:5] == split[10**9 :] == []
    for wrong in ("a", 1.0, None, True, [0, 1]):
        with pytest.raises(TypeError, match=r"^document .*: give an integer or a slice$"):
            split[wrong]  # type: ignore[call-overload]


@pytest.mark.parametrize("index", [60, -61, 10**9])
def test_a_document_that_is_not_there(index: int, written: Path) -> None:
    with pytest.raises(IndexError, match=str(index)):
        shards.open(written).train[index]


def test_windows_that_cannot_be(written: Path) -> None:
    split = shards.open(written).train
    for length, stride in ((0, None), (-1, None), (5, 0), (split.tokens + 1, None)):
        with pytest.raises(ValueError, match=r"window|length"):
            split.windows(length, stride)
    with pytest.raises(TypeError, match="length"):
        split.windows(2.5)  # type: ignore[arg-type]


def test_pickles_hold_the_place_and_not_the_ids(written: Path) -> None:
    found = shards.open(written)
    for thing, split in ((found.train, found.train), (found, found.train)):
        data = pickle.dumps(thing)
        assert len(data) < 1000
        again = pickle.loads(data)
        assert np.array_equal(getattr(again, "train", again).ids, split.ids)


def test_the_tokenizer_comes_along_and_others_do_not_fit(written: Path, tok: syllabary.Tokenizer) -> None:
    found = shards.open(written)
    assert found.tokenizer().spec == tok.spec
    found.check(tok)
    assert found.tokenizer_hash == shards.fingerprint(tok)
    other = syllabary.train(["low low"], vocab_size=257)
    with pytest.raises(ShardError, match="the tokenizer given did not make the shards"):
        found.check(other)
    other.save(written / "tokenizer.syllabary.json")
    with pytest.raises(ShardError, match=r"tokenizer\.syllabary\.json did not make"):
        shards.open(written).tokenizer()


def test_the_fingerprint_knows_the_data_and_not_the_training(tok: syllabary.Tokenizer) -> None:
    bare = dataclasses.replace(tok.spec, record={})
    assert tok.spec.record != {}
    assert shards.fingerprint(syllabary.Tokenizer(bare)) == shards.fingerprint(tok)
    assert shards.fingerprint(tok) == hashlib.sha256(syllabary_json.write(bare)).hexdigest()
    odd = dataclasses.replace(tok.spec, record={"a": '\n"record": 3,\n', "record": "\u2028"})
    assert shards.fingerprint(syllabary.Tokenizer(odd)) == shards.fingerprint(tok)
    other = dataclasses.replace(tok.spec, special_tokens={END: max(tok.vocab) + 5})
    assert shards.fingerprint(syllabary.Tokenizer(other)) != shards.fingerprint(tok)


@pytest.mark.parametrize("name", ["train.bin", "train.offsets.bin", "val.bin", "val.offsets.bin"])
@pytest.mark.parametrize("change", [b"\0", -1, None], ids=["longer", "shorter", "missing"])
def test_files_of_another_size_are_damaged(name: str, change: bytes | int | None, written: Path) -> None:
    path = written / name
    data = path.read_bytes()
    if change is None:
        path.unlink()
        sizes = "is missing"
    else:
        path.write_bytes(data + change if isinstance(change, bytes) else data[:change])
        sizes = f"is {path.stat().st_size} bytes long, .* {len(data)} bytes"
    with pytest.raises(ShardError, match=rf"{name}: {sizes}"):
        shards.open(written)


def test_offsets_of_other_ids_are_damaged(written: Path) -> None:
    path = written / "train.offsets.bin"
    offsets = np.fromfile(path, "<i8")
    for at in (0, -1):
        changed = offsets.copy()
        changed[at] += 1
        changed.tofile(path)
        with pytest.raises(ShardError, match=r"train\.offsets\.bin: the first offset is"):
            shards.open(written)


@pytest.mark.parametrize("wild", [-5, 10**9])
def test_a_document_outside_of_the_ids_is_no_other_document(wild: int, written: Path) -> None:
    path = written / "train.offsets.bin"
    offsets = np.fromfile(path, "<i8")
    offsets[1] = wild
    offsets.tofile(path)
    split = shards.open(written).train
    for at in (0, 1):
        with pytest.raises(
            ShardError, match=rf"train\.offsets\.bin: document {at} is from .*{wild}.* damaged"
        ):
            split[at]
    with pytest.raises(ShardError, match="document 0 is from 0 to"):
        list(split)


def test_offsets_that_fall_are_not_exported(written: Path, tmp_path: Path) -> None:
    path = written / "train.offsets.bin"
    offsets = np.fromfile(path, "<i8")
    offsets[1:-1] = -5
    offsets.tofile(path)
    with pytest.raises(ShardError, match=r"train\.offsets\.bin: offset 1 is -5, below 0 before it"):
        shards.export(shards.open(written), tmp_path / "a", "datasets")
    assert not (tmp_path / "a").exists()


def changed(index: dict[str, Any], path: str, value: Any) -> bytes:
    """The index with one member changed, or removed (`...`)."""
    *parents, last = path.split(".")
    inner = index
    for name in parents:
        inner = inner[name]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return json.dumps(index).encode()


@pytest.mark.parametrize(
    "path, value, words",
    [
        ("format", "other", "format"),
        ("version", 2, "version 1; a newer one"),
        ("dtype", "uint8", "dtype"),
        ("dtype", "uint32", "uint16"),
        ("vocab_size", 0, "vocab_size"),
        ("vocab_size", True, "vocab_size"),
        ("vocab_size", (1 << 32) + 1, "vocab_size: must be a whole number, 1 to 4294967296"),
        ("splits.train", ..., "'train' is missing"),
        ("splits.train.file", "../../etc/passwd", "file"),
        ("splits.val.documents", -1, "documents"),
        ("splits.val.tokens", 1.5, "tokens"),
        ("splits.train.sha256_documents", "xyz", "sha256_documents"),
        ("splits.test", {}, "unknown key 'test'"),
        ("tokenizer.sha256", ..., "sha256"),
        ("val", 2, "val"),
        ("end", "x", "end"),
        ("corpus", [], "corpus"),
    ],
)
def test_an_index_that_is_none_says_where(path: str, value: Any, words: str, written: Path) -> None:
    file = written / "index.json"
    file.write_bytes(changed(json.loads(file.read_bytes()), path, value))
    with pytest.raises(ShardError, match=rf"index\.json: .*{words}"):
        shards.open(written)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[]", b"null", b'{"a": 1, "a": 2}'])
def test_an_index_that_is_not_json(data: bytes, written: Path) -> None:
    (written / "index.json").write_bytes(data)
    with pytest.raises(ShardError, match=r"index\.json: .*write the shards again"):
        shards.open(written)


def test_a_folder_without_shards(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        shards.open(tmp_path / "nothing")
    with pytest.raises(ShardError, match="holds no shards"):
        shards.open(tmp_path)
    (tmp_path / ".work").mkdir()
    with pytest.raises(ShardError, match="incomplete shards; run the same command again to resume"):
        shards.open(tmp_path)


def test_a_tokenizer_that_is_missing_is_named(written: Path) -> None:
    (written / "tokenizer.syllabary.json").unlink()
    found = shards.open(written)
    assert len(found.train) > 0
    with pytest.raises(ShardError, match=r"tokenizer\.syllabary\.json: is missing; write the shards again"):
        found.tokenizer()
