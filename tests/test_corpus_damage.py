"""Damaged files of every kind: documents that were there, or a `CorpusError`; nothing else, and no end."""

from __future__ import annotations

import contextlib
import random
import warnings
from pathlib import Path

import pytest
from corpus_files import PACK, TEXT, tar, zipped

from syllabary.corpus import Reading, sources
from syllabary.corpus.document import Stream
from syllabary.errors import CorpusError

LINES = b'{"text": "arma virumque", "id": 1, "l": [1.5, null]}\nnull\n"cano \\u00e9"\n' * 3


def tables(name: str) -> bytes:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": ["arma", "virum", None, "cano"] * 9, "id": range(36)})
    sink = pa.BufferOutputStream()
    if name == "a.parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, sink, row_group_size=10)
        return sink.getvalue().to_pybytes()
    new = pa.ipc.new_file if name == "a.feather" else pa.ipc.new_stream
    with new(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=10)
    return sink.getvalue().to_pybytes()


def seed(name: str) -> bytes:
    """A good file of the kind that the name says."""
    if name in {"a.parquet", "a.feather", "a.arrow"}:
        return tables(name)
    members: dict[str, bytes | str] = {"a.txt": TEXT, "b.jsonl": LINES, "c.txt": "x" * 600}
    kinds = {
        "a.txt": TEXT,
        "a.jsonl": LINES,
        "a.json": b"[" + LINES.strip().replace(b"\n", b",") + b"]",
        "a.csv": b'id,text\n1,"arma ""x""\nvirum"\n2,cano\n' * 3,
        "a.tsv": b"id\ttext\n1\tarma\n" * 3,
        "a.tar": tar(members),
        "a.zip": zipped(members),
    }
    stem, _, last = name.rpartition(".")
    return kinds[name] if name in kinds else PACK["." + last](kinds[stem])


NAMES = """a.txt a.jsonl a.json a.csv a.tsv a.tar a.zip a.parquet a.feather a.arrow a.tar.gz a.jsonl.xz
a.txt.bz2 a.csv.zst""".split()


def damage(data: bytes, coin: random.Random) -> bytes:
    """Some bytes changed, or a piece cut out, doubled or put elsewhere."""
    out = bytearray(data)
    at, size = coin.randrange(len(data)), coin.randrange(1, 64)
    way = coin.randrange(4)
    if way == 0:
        for _ in range(coin.randrange(1, 5)):
            out[coin.randrange(len(out))] = coin.choice([0, 0x7F, 0x80, 0xFF, coin.randrange(256)])
    elif way == 1:
        del out[at : at + size]
    elif way == 2:
        out[at:at] = out[at : at + size]
    else:
        del out[at:]
    return bytes(out)


@pytest.mark.parametrize("on_error", ["raise", "skip"])
@pytest.mark.parametrize("name", NAMES)
def test_damaged_files(name: str, on_error: str, tmp_path: Path, prove: bool) -> None:
    good, path = seed(name), tmp_path / name
    reading = Reading(kind="json" if name == "a.json" else None, on_error=on_error)  # type: ignore[arg-type]
    whole = read_all(path, good, reading, [])
    assert len(whole) > 0
    broken = 0
    for number in range(2000 if prove else 60):
        data = damage(good, random.Random(f"{name} {number}"))
        told: list[str] = []
        with contextlib.suppress(CorpusError):
            found = read_all(path, data, reading, told)
            assert sum(map(len, found)) <= 2 * sum(map(len, whole)) + 200
        broken += len(told)
        assert all(path.name in why for why in told)
    assert broken > 0


def read_all(path: Path, data: bytes, reading: Reading, told: list[str]) -> list[str]:
    """The texts of a file; what is said of it goes to `told`, and its error is raised."""
    path.write_bytes(data)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a guess is as good as another here
        try:
            for stream in sources.streams(path, reading, lambda _, why: told.append(why)):
                assert isinstance(stream, Stream)
                found += [document.text for document in sources.documents_of(stream, reading, lambda _: None)]
        except CorpusError as error:
            told.append(str(error))
            raise
    return found
