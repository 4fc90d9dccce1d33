"""`errors="replace"`: bytes that are no text become U+FFFD, as Python's own rule has it, and are counted.

Python is the judge: what a file holds is what `bytes.decode(encoding, "replace")` makes of all of it at once,
wherever the reader cuts it into parts. Leaves out: the error that is the default (`test_corpus_encoding`).
"""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import pytest
from corpus_files import PACK, tar, texts, zipped
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import byte_strings
from test_cli import run

import syllabary
from syllabary.corpus import Care, Corpus, Reading, Report, encoding, files, read
from syllabary.corpus.undecodable import replacing
from syllabary.errors import CorpusError, CorpusWarning

REPLACE = Reading(errors="replace")
E = "é".encode()
BROKEN = {
    "a character cut at the end": b"virumque n" + E[:1],
    "a character cut in the middle": b"n" + "漢".encode()[:2] + b"x",
    "a byte of Latin-1": b"caf\xe9 au lait\n",
    "overlong": b"a\xc0\x80\xe0\x80\xafb",
    "surrogates": b"a\xed\xa0\x80\xed\xb0\x80b",
    "above U+10FFFF": b"a\xf4\x90\x80\x80b\xff",
    "a stray continuation": b"a\x80\xbfb",
    "one that was there before": "a\ufffd".encode() + b"\xff\xfe\xfdb",
}


def put(folder: Path, data: bytes, name: str = "a.txt") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def first_error(data: bytes) -> int:
    """Where Python's decoder says that the first byte is that is not UTF-8."""
    with pytest.raises(UnicodeDecodeError) as error:
        data.decode("utf-8")
    return error.value.start


def read_all(source: Any, reading: Reading = REPLACE, **care: Any) -> tuple[list[str], Report, list[str]]:
    """The texts, the report and the warnings."""
    corpus = Corpus(source, reading, Care(**care))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = [document.text for document in corpus]
    return found, corpus.report, [str(warning.message) for warning in told]


def parts_of(source: Any, reading: Reading = REPLACE) -> tuple[str, Report]:
    corpus = Corpus(source, reading)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        return "".join(part for part, _last in corpus.parts()), corpus.report


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("suffix", ["", *sorted(PACK)])
def test_plain_files_as_python_decodes_them(data: bytes, suffix: str, tmp_path: Path) -> None:
    path = put(tmp_path, PACK[suffix](data) if suffix else data, f"a.txt{suffix}")
    wanted = data.decode("utf-8", "replace")
    count = wanted.count("\ufffd") - data.count("\ufffd".encode())
    at = first_error(data)
    found, report, (told,) = read_all(path)
    assert found == [wanted]
    assert (report.undecodable, report.replaced) == (count, {str(path): at})
    assert f"U+FFFD: {count} in 1 file, the first in {path} at byte offset {at};" in told
    assert parts_of(path) == (wanted, report)
    with pytest.raises(CorpusError, match=f'byte offset {at} .*errors="replace"'):
        texts(path)


@settings(max_examples=300)
@given(byte_strings(), st.lists(st.integers(0, 60)), st.integers(0, 9))
def test_wherever_the_bytes_are_cut(data: bytes, cuts: list[int], start: int) -> None:
    told: list[tuple[str, int, int | None]] = []
    bounds = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    chunks = [data[begin:end] for begin, end in pairwise(bounds)]
    wanted = data.decode("utf-8", "replace")
    found = replacing(chunks, "a.txt", "utf-8", start, lambda *found: told.append(found))
    assert "".join(found) == wanted
    count = wanted.count("\ufffd") - data.count("\ufffd".encode())
    assert sum(number for _name, number, _at in told) == count
    first = [] if not count else [start + first_error(data)]
    assert [at for _name, _number, at in told] == first + [None] * (len(told) - len(first))


OTHERS = [
    ("utf-16-le", "a漢".encode("utf-16-le") + b"\x00\xd8b\x00\xfd\xff\x00", 2),
    ("utf-32-be", "aé".encode("utf-32-be") + b"\0\x11\0\0\0\0\xff\xfd", 1),
    ("gb18030", "漢字\ufffd".encode("gb18030") + b"\xff\xffa", 2),
    ("shift_jis", "漢字".encode("shift_jis") + b"\x81", 1),
    ("iso2022_jp", b"a\xff" + "漢字".encode("iso2022_jp") + b"\x80b", 2),
    ("cp1253", b"abcd\xaa\xd2e", 2),
    ("ascii", b"caf\xe9", 1),
    ("utf-8-sig", b"\xef\xbb\xbfcaf\xe9", 1),
]


@pytest.mark.parametrize("name, data, count", OTHERS, ids=[name for name, *_ in OTHERS])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_declared_encodings(
    name: str, data: bytes, count: int, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "CHUNK", size)
    monkeypatch.setattr(encoding, "SAMPLE", size)
    found, report, _told = read_all(put(tmp_path, data), Reading(errors="replace", encoding=name))
    assert found == [data.decode(name, "replace")]
    assert report.undecodable == count


def test_half_of_a_pair_in_utf7(tmp_path: Path) -> None:
    path = put(tmp_path, b"a+2AA-b")
    found, report, _told = read_all(path, Reading(errors="replace", encoding="utf-7"))
    assert (found, report.undecodable) == (["a\ufffdb"], 1)
    with pytest.raises(CorpusError, match="half of a pair"):
        texts(path, encoding="utf-7")


def test_utf16_without_its_mark_is_an_error_still(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="not utf-16 from byte offset 0 on"):
        texts(put(tmp_path, b"a\0b\0"), encoding="utf-16", errors="replace")


KINDS = {
    "jsonl": ("a.jsonl", b'{"text": "caf\xe9"}\n\n{"text": "n\xc3"}\n{"text": "x\xef\xbf\xbd"}\n'),
    "json": ("a.json", b'[{"text": "caf\xe9"}, {"text": "n\xc3"}, {"text": "x\xef\xbf\xbd"}]'),
    "csv": ("a.csv", b"n,text\n1,caf\xe9\n2,n\xc3\n3,x\xef\xbf\xbd\n"),
    "tsv": ("a.tsv", b"text\tn\ncaf\xe9\t1\nn\xc3\t2\nx\xef\xbf\xbd\t3\n"),
    "line": ("a.txt", b"caf\xe9\nn\xc3\nx\xef\xbf\xbd\n"),
}


@pytest.mark.parametrize("pack", ["", ".gz", "tar", "zip"])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_of_text(kind: str, pack: str, tmp_path: Path) -> None:
    name, data = KINDS[kind]
    if pack in ("tar", "zip"):
        path = put(tmp_path, {"tar": tar, "zip": zipped}[pack]({name: data}), f"all.{pack}")
        shown = f"{path}/{name}"
    else:
        path = put(tmp_path, PACK[pack](data) if pack else data, name + pack)
        shown = str(path)
    documents: Literal["line", "file"] = "line" if kind == "line" else "file"
    reading = Reading(errors="replace", documents=documents)
    found, report, (told,) = read_all(path, reading)
    assert found == ["caf\ufffd", "n\ufffd", "x\ufffd"]
    assert (report.undecodable, report.replaced) == (2, {shown: data.index(b"\xe9")})
    assert f"2 in 1 file, the first in {shown} at byte offset {data.index(0xE9)};" in told
    assert parts_of(path, reading) == ("".join(found), report)


def test_html_and_declared_xml(tmp_path: Path) -> None:
    pytest.importorskip("lxml")
    page = put(tmp_path, b"<html><body><p>caf\xe9</p></body></html>", "a.html")
    assert read_all(page)[0] == ["caf\ufffd"]
    tree = put(tmp_path, b"<a><p>caf\xe9</p></a>", "a.xml")
    found, report, _told = read_all(tree, Reading(errors="replace", encoding="utf-8"))
    assert (found, report.undecodable) == (["caf\ufffd"], 1)


def test_documents_in_memory() -> None:
    found, report, (told,) = read_all(["é", b"ok", b"caf\xe9", b"\xff\xff"])
    assert found == ["é", "ok", "caf\ufffd", "\ufffd\ufffd"]
    assert (report.undecodable, report.replaced) == (3, {"document 2": 3, "document 3": 0})
    assert "3 in 2 files, the first in document 2 at byte offset 3;" in told


def test_nothing_broken_nothing_said(tmp_path: Path) -> None:
    found, report, told = read_all(put(tmp_path, "né \ufffd 漢".encode()))
    assert (found, report.undecodable, report.replaced, told) == (["né \ufffd 漢"], 0, {}, [])
    assert "replaced" not in report.record()


def test_parts_of_a_long_file_stay_small(tmp_path: Path) -> None:
    data = ("漢字 né " * 300_000).encode()
    broken = bytearray(data)
    broken[7 :: len(data) // 50] = b"\xff" * len(broken[7 :: len(data) // 50])
    path = put(tmp_path, bytes(broken))
    corpus = Corpus(path, REPLACE)
    with pytest.warns(CorpusWarning, match="U\\+FFFD"):
        parts = [part for part, _last in corpus.parts()]
    assert "".join(parts) == broken.decode("utf-8", "replace")
    assert max(map(len, parts)) <= files.CHUNK < len(data)


def test_the_report_travels_and_adds_up(tmp_path: Path) -> None:
    lines = b"caf\xe9 one\nn\xc3\xa9 plain \xc3\xa9\n" * 40  # more of UTF-8 than not, so no other is guessed
    put(tmp_path, lines, "a.txt")
    put(tmp_path, b"ok\nn\xc3", "b.txt")
    corpus = Corpus(tmp_path, Reading(errors="replace", documents="line"))
    whole, report, (told,) = read_all(tmp_path, corpus.reading)
    units = corpus.units(100)
    assert len(units) > 3
    sum_of, found = Report(), list[str]()
    for unit in units:
        own = Report()
        found += [kept.document.text for kept in corpus.read_unit(unit, own)]
        sum_of.merge(Report.of(json.loads(json.dumps(asdict(own)))))
    assert found == whole
    assert (sum_of.undecodable, sum_of.replaced) == (report.undecodable, report.replaced)
    assert sum_of.replacements() == report.replacements() == told
    assert report.record()["replaced"] == {"files": 2, "sequences": 41}


def test_training_records_it(tmp_path: Path) -> None:
    path = put(tmp_path, b"caf\xe9 caf\xe9 caf\xe9")
    with pytest.warns(CorpusWarning, match="3 in 1 file"):
        tok = syllabary.train(Corpus(path, REPLACE), num_merges=2)
    record = tok.spec.record["corpus"]
    assert isinstance(record, dict)
    assert (record["errors"], record["replaced"]) == ("replace", {"files": 1, "sequences": 3})
    with pytest.raises(CorpusError, match="byte 0xE9 at byte offset 3"):
        syllabary.train(path, num_merges=2)


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_bytes(b"caf\xe9 caf\xe9 caf\xe9")
    refused = run("train", "a.txt", "--num-merges", "2", "-o", "tok.json")
    assert (refused.exit_code, Path("tok.json").exists()) == (1, False)
    assert "--errors replace reads it with U+FFFD there" in refused.stderr
    done = run("train", "a.txt", "--num-merges", "2", "--errors", "replace", "-o", "tok.json")
    assert done.exit_code == 0, done.stderr
    assert "3 in 1 file, the first in a.txt at byte offset 3" in done.stderr
    assert "(--encoding)" in done.stderr


def test_an_unknown_policy_is_an_error() -> None:
    wrong: Any = "ignore"
    with pytest.raises(ValueError, match="errors is 'ignore': give one of 'strict', 'replace'"):
        list(read(["a"], errors=wrong))
