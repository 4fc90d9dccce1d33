"""Folders, files and standard input -> streams: what is read, in which order; what is broken and left out."""

from __future__ import annotations

import gzip
import io
import lzma
import os
from pathlib import Path
from typing import Any

import pytest
from corpus_files import TEXT, Counting, tar, texts, write, zipped
from hypothesis import given
from hypothesis import strategies as st
from test_cli import run

import syllabary
from syllabary.corpus import Corpus, Reading, files, read, reader_of, sources, stream_of
from syllabary.corpus.document import Stream
from syllabary.errors import CorpusError

GLOBS = [
    ("a/b.txt", "*.txt", True),
    ("a/b.txt", "b.*", True),
    ("a/b.txt", "a", False),
    ("a/b.txt", "a/*", True),
    ("a/b/c.txt", "a/*", False),
    ("a/b/c.txt", "a/**", True),
    ("a/b/c.txt", "a/**/c.txt", True),
    ("a/c.txt", "a/**/c.txt", True),
    ("x/a/c.txt", "**/c.txt", True),
    ("c.txt", "**/c.txt", True),
    ("c.txt", "*/c.txt", False),
    ("a/b1.txt", "a/b[0-9].???", True),
    ("a/bx.txt", "a/b[!a-w].txt", True),
    ("a/b.c", "a/b?c", True),
    ("a/b+c", "a/b+c", True),
    ("a/b[", "a/b[", True),
]


@pytest.mark.parametrize("name, glob, matches", GLOBS)
def test_globs(name: str, glob: str, matches: bool) -> None:
    assert files.wanted(name, Reading(include=(glob,))) is matches
    assert files.included(name, Reading(include=("no", glob))) is matches
    assert not files.wanted(name, Reading(include=(glob,), exclude=(glob,)))


def test_exclude_is_also_about_folders() -> None:
    for glob in ("a", "b.txt", "x/a", "x/*", "*.txt", "**/b.txt"):
        assert files.excluded("x/a/b.txt", Reading(exclude=(glob,)))
    for glob in ("b", "a/b.txt", "a/*", "*/b.txt"):
        assert not files.excluded("x/a/b.txt", Reading(exclude=(glob,)))


def test_folders_by_glob(tmp_path: Path) -> None:
    write(tmp_path, a__x_txt="1", a__b__y_txt="2", c__z_md="3", w_txt="4")
    assert texts(tmp_path, include="a/**") == ["2", "1"]
    assert texts(tmp_path, include=["*.md", "w.*"]) == ["3", "4"]
    assert texts(tmp_path, exclude="a") == ["3", "4"]
    assert texts(tmp_path, include="*.txt", exclude=["a/b", "w.txt"]) == ["1"]
    assert texts(tmp_path / "w.txt", include="*.md") == ["4"]  # a file that is named is wanted
    with pytest.raises(CorpusError, match=r"does not hold a file that matches \*\.txt and not a and not w\*"):
        texts(tmp_path, include="*.txt", exclude=["a", "w*"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    write(tmp_path, a_txt="1")
    os.mkfifo(tmp_path / "b.txt")
    assert texts(tmp_path) == ["1"]


def test_a_link_to_nothing_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, a_txt="1")
    (tmp_path / "b.txt").symlink_to("nowhere")
    with pytest.raises(FileNotFoundError, match=r"b\.txt"):
        texts(tmp_path)
    corpus = Corpus(tmp_path, Reading(on_error="skip"))
    assert [document.text for document in corpus] == ["1"]
    assert "b.txt" in corpus.report.skipped[0][0]


def test_readers_by_suffix() -> None:
    kinds = {
        "text": ["a", "a.txt", "a.TXT.gz", "a.gz", "a.py", ".txt"],
        "jsonl": ["a.jsonl", "a.ndjson.zst"],
        "csv": ["a.csv", "A.CSV.XZ"],
        "tsv": ["a.tsv.bz2"],
        "parquet": ["a.parquet"],
        "arrow": ["a.arrow", "a.feather"],
        "xml": ["a.xml.lzma"],
        "html": ["a.html", "a.htm"],
    }
    assert {kind: [reader_of(Path(name)).name for name in names] for kind, names in kinds.items()} == {
        kind: [kind] * len(names) for kind, names in kinds.items()
    }


def test_kind_wins_over_the_suffix(tmp_path: Path) -> None:
    write(tmp_path, a_xml='{"text": "x"}\n')
    assert texts(tmp_path / "a.xml", kind="jsonl") == ["x"]
    assert texts(tmp_path / "a.xml", kind="text") == ['{"text": "x"}\n']
    with pytest.raises(ValueError, match=r"kind is 'word': give one of text, jsonl, "):
        texts(tmp_path / "a.xml", kind="word")


@pytest.mark.parametrize(
    "option, message",
    [
        ({"documents": "lines"}, "documents is 'lines': give one of 'file', 'line'"),
        ({"on_error": "ignore"}, "on_error is 'ignore': give one of 'raise', 'skip'"),
        ({"division": "verse"}, "division is 'verse': give one of 'auto', 'work', 'chapter', 'letter'"),
        ({"separator": ""}, "separator is empty"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_options_that_are_none(option: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        texts(["a"], **option)
    with pytest.raises(TypeError, match="include is str: give a tuple"):
        Reading(include="*.txt")  # type: ignore[arg-type]


# ---- what is broken and left out ----


def test_broken_files_are_left_out_and_listed(tmp_path: Path) -> None:
    whole = bytearray(tar({"a.txt": "1", "b.txt": "2"}))
    whole[1024 + 3] ^= 0xFF
    write(tmp_path, a_tar=bytes(whole), b_txt=b"\xff", c_txt="3", d_txt_gz=gzip.compress(TEXT)[:-4])
    with pytest.raises(CorpusError, match=r"a\.tar"):
        texts(tmp_path)
    corpus = Corpus(tmp_path, Reading(on_error="skip"))
    assert [document.text for document in corpus] == ["1", "3"]
    assert [Path(name).name for name, _ in corpus.report.skipped] == ["a.tar", "b.txt", "d.txt.gz"]
    skipped: list[tuple[str, str]] = []
    for unit in corpus.units():
        for stream in sources.streams_of_unit(unit, corpus.reading, lambda *pair: skipped.append(pair)):
            assert isinstance(stream, Stream)
    assert [Path(name).name for name, _ in skipped] == ["a.tar"]
    mixed = Corpus([b"\xff", "x", Path("nowhere.txt")], Reading(on_error="skip"))
    assert [document.text for document in mixed] == ["x"]
    assert [name for name, _ in mixed.report.skipped] == ["document 0", "nowhere.txt"]


def test_an_empty_folder_is_an_error_even_then(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="the folder does not hold a file"):
        texts(tmp_path, on_error="skip")


# ---- standard input ----


def test_an_open_file_is_a_stream(tmp_path: Path) -> None:
    assert texts([stream_of(io.BytesIO("naïve".encode())), "more"]) == ["naïve", "more"]
    lines = stream_of(io.BytesIO(gzip.compress(b'{"text": "a"}')), "-", "in.jsonl.gz")
    assert [(document.text, document.meta["path"]) for document in read([lines])] == [("a", "-")]
    with pytest.raises(CorpusError, match="-: not UTF-8: byte 0xFF at byte offset 1 "):
        texts([stream_of(io.BytesIO(b"a\xff"))])
    with pytest.raises(CorpusError, match=r"^-: damaged or truncated \.gz"):
        texts([stream_of(io.BytesIO(b"no gzip"), "-", "a.gz")])


def test_a_stream_is_read_in_small_steps() -> None:
    file = Counting(b"arma " * 1_000_000)
    parts = sources.parts_of(stream_of(file), Reading(), lambda _: None)
    next(parts)
    assert file.tell() <= 2 * files.CHUNK
    assert sum(len(part) for part, _ in parts) > 3_900_000
    assert file.most <= files.CHUNK


# ---- units ----


@given(
    contents=st.lists(st.text("ab\n\r|é", max_size=30), min_size=1, max_size=5),
    size=st.integers(1, 40),
    options=st.sampled_from(
        [{}, {"documents": "line"}, {"separator": "|"}, {"separator": "||"}, {"separator": "aba"}]
    ),
)
def test_the_documents_of_units_are_those_of_the_source(
    contents: list[str], size: int, options: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("units")
    for index, content in enumerate(contents):
        (folder / f"{index}.txt").write_bytes(content.encode())
    reading = Reading(**options)
    expected = (
        [document.text for document in read(folder, **options)] if any_document(folder, options) else []
    )
    found = sources.units(folder, reading, size)
    assert [text for unit in found for text in of_unit(unit, reading)] == expected
    together = [unit.paths for unit in found if unit.start is None]
    assert all(len(paths) == 1 or sum(map(os.path.getsize, paths)) <= size for paths in together)


def any_document(folder: Path, options: dict[str, Any]) -> bool:
    found = sources.streams(folder, Reading(**options), lambda *_: None)
    return any(True for stream in found for _ in sources.documents_of(stream, Reading(**options), str))  # type: ignore[arg-type]


def of_unit(unit: sources.Unit, reading: Reading) -> list[str]:
    found = []
    for stream in sources.streams_of_unit(unit, reading):
        assert isinstance(stream, Stream)
        found += [document.text for document in sources.documents_of(stream, reading, lambda _: None)]
    return found


# ---- real files ----


def test_the_same_files_in_every_wrapping(shared: Path, tmp_path: Path) -> None:
    folder = shared / "corpora" / "perseus"
    names = ["hom.il_gk.xml.xz", "phi0690.phi003.perseus-lat2.xml.xz"]
    options: dict[str, Any] = {"include": ["hom*", "phi0690*"], "normalize": "NFC"}
    expected = texts(folder, **options)
    assert len(expected) == 24 + 12
    packed: dict[str, bytes | str] = {f"perseus/{name}": (folder / name).read_bytes() for name in names}
    unpacked: dict[str, bytes | str] = {
        name.removesuffix(".xz"): lzma.decompress((folder / name).read_bytes()) for name in names
    }
    for name, data in {
        "a.tar": tar(packed),
        "b.tgz": tar(unpacked, "w:gz"),
        "c.zip": zipped(unpacked),
    }.items():
        (tmp_path / name).write_bytes(data)
        assert texts(tmp_path / name, **options) == expected
    assert texts(tmp_path, exclude="hom*", normalize="NFC") == 3 * expected[24:]


@pytest.mark.skipif(
    not Path("/proc/self/mem").exists(), reason="no /proc: no file that opens and cannot be read"
)
@pytest.mark.parametrize(
    "verb",
    [
        ["count", "-t", "{tok}", "{text}", "/proc/self/mem"],
        ["train", "{text}", "/proc/self/mem", "-o", "{made}"],
        ["train", "{text}", "/proc/self/mem", "-o", "{made}", "--normalize", "NFC"],
        ["count-pieces", "{text}", "/proc/self/mem", "-o", "{out}"],
        ["count", "-t", "/proc/self/mem", "{text}"],
    ],
    ids=["documents", "train", "normalized", "pieces", "tokenizer"],
)
def test_a_file_that_opens_and_cannot_be_read_is_named(verb: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("low lower lowest\n" * 20)
    tok = syllabary.train(tmp_path / "a.txt", num_merges=3)
    tok.save(tmp_path / "tok.json")
    names = {"tok": "tok.json", "text": "a.txt", "out": "out.parquet", "made": "made.json"}
    places = {place: tmp_path / name for place, name in names.items()}
    ended = run(*(word.format(**places) for word in verb))
    assert ended.exit_code == 1
    assert ended.stderr == "error: /proc/self/mem: Input/output error\n"
