"""What a reviewer broke in the readers of corpora: each of these went wrong once.

Leaves out: what the command line makes of it (`test_cli_corpus`).
"""

from __future__ import annotations

import dataclasses
import gzip
import io
import json
import tarfile
import warnings
from pathlib import Path
from typing import Any

import pytest
from corpus_files import PACK, tar, texts, zipped

from syllabary.corpus import Corpus, Reading, stream_of
from syllabary.errors import CorpusError, CorpusWarning

GREEK = "μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος "
LONG = [GREEK * 20_000, "arma virumque", GREEK]


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("array", [True, False])
def test_json_that_is_read_once(array: bool, ascii_only: bool, tmp_path: Path) -> None:
    """Greek has fewer characters than bytes: telling records from settings read too much of a tar."""
    values = [{"id": {"text": 1, "}": "{"}, "text": text} for text in LONG]
    items = [json.dumps(value, ensure_ascii=ascii_only) for value in values]
    content = "[" + ",\n".join(items) + "]" if array else "\n".join(items)
    (tmp_path / "a.tar").write_bytes(tar({"a.json": content}))
    (tmp_path / "b.json").write_text(content, encoding="utf-8")
    assert texts(tmp_path) == LONG * 2
    assert texts([stream_of(io.BytesIO(content.encode()), "stdin", "a.json")]) == LONG


@pytest.mark.parametrize(
    "content",
    [
        '[{"list": {"text": "%s"}, "n": 1}]',
        '[{"n": "%s", "text": 1}]',
        '[[{"text": "%s"}]]',
        '{"n": 1}  {"text": "%s"}',
        '["text", "%s"]',
    ],
)
def test_long_settings_are_plain_text(content: str, tmp_path: Path) -> None:
    """Whose first item does not hold the text: it stands deeper, or in another."""
    content = content.replace("%s", '\\"{ ' * 200_000)
    (tmp_path / "a.json").write_text(content, encoding="utf-8")
    assert texts(tmp_path) == [content]


def test_a_guess_about_json_is_told_once(tmp_path: Path) -> None:
    prose = "Ὁ λόγος ἦν πρὸς τὸν θεόν".translate({0x1F45: "ό"}).encode("cp1253", "ignore")
    prose = (
        "Στην αρχή ήταν ο λόγος και ο λόγος ήταν με τον θεό και θεός ήταν ο λόγος. ".encode("cp1253") + prose
    )
    (tmp_path / "a.json").write_bytes(b'[{"text": "' + prose * 20 + b'"}]')
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert len(texts(tmp_path)) == 1
    assert [warning.category for warning in told].count(CorpusWarning) == 1


@pytest.mark.parametrize(
    "name, content",
    [
        ("a.txt", "+2AA-"),
        ("a.jsonl", '{"text":"+2AA-"}'),
        ("a.csv", "text\n+2AA-"),
        ("a.xml", "<a>+2AA-</a>"),
    ],
)
def test_half_of_a_pair_is_an_error_with_the_file(name: str, content: str, tmp_path: Path) -> None:
    """UTF-7 can say what UTF-8 cannot."""
    (tmp_path / name).write_text(content, encoding="ascii")
    with pytest.raises(CorpusError, match=rf"{name}: not utf-7: .*\(U\+D800\)"):
        texts(tmp_path, encoding="utf-7")
    (tmp_path / name).write_bytes("𝛼𝛽 ".encode("utf-7"))  # pairs are characters
    assert texts(tmp_path / name, encoding="utf-7", kind="text") == ["𝛼𝛽 "]


@pytest.mark.parametrize("kind", sorted({tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE}))
def test_a_name_is_not_as_long_as_memory(kind: bytes, tmp_path: Path) -> None:
    info = tarfile.TarInfo("././@LongLink")
    info.size, info.type = 1 << 40, kind
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(1024)))
    with pytest.raises(CorpusError, match=rf"a\.tar\.gz: damaged .*{1 << 40} bytes that only name the next"):
        texts(tmp_path)


def test_long_names_are_read(tmp_path: Path) -> None:
    name = "d" * 200 + "/" + "ά" * 3000
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        with tarfile.open(tmp_path / f"{form}.tar", "w", format=form) as archive:
            info = tarfile.TarInfo(name)
            info.size = 4
            archive.addfile(info, io.BytesIO(b"text"))
    assert texts(tmp_path) == ["text", "text"]


@pytest.mark.parametrize("suffix", ["", *sorted(PACK.keys() - {".lzma"})])
def test_standard_input_may_be_packed(suffix: str) -> None:
    """There is no name that says so, but no text begins as packed files do."""
    pack = PACK.get(suffix, bytes)
    for content in ("", "a", GREEK * 1000):
        assert texts([stream_of(io.BytesIO(pack(content.encode())))]) == [content]
    packed = io.BytesIO(pack(b'{"text": "a"}\n"b"'))
    assert texts([stream_of(packed)], kind="jsonl") == ["a", "b"]
    members = {"d/a.txt": GREEK * 9000, "d/b.jsonl": '{"text": "b"}', "c.txt.gz": gzip.compress(b"c")}
    archive = pack(tar(members))
    assert texts([stream_of(io.BytesIO(archive), "stdin")]) == [GREEK * 9000, "b", "c"]
    assert texts([stream_of(io.BytesIO(archive), "stdin")], include="d/*.txt") == [GREEK * 9000]
    with pytest.raises(CorpusError, match=r"^stdin.* does not hold a file that matches \*\.csv"):
        texts([stream_of(io.BytesIO(archive), "stdin")], include="*.csv")


def test_packed_standard_input_that_is_broken() -> None:
    broken = gzip.compress(GREEK.encode() * 1000)[:-9]
    with pytest.raises(CorpusError, match=r"^stdin: damaged or truncated \.gz file"):
        texts([stream_of(io.BytesIO(broken), "stdin")])
    cut = tar({"a.txt": "a", "b.txt": GREEK * 1000})[:3000]
    corpus = Corpus([stream_of(io.BytesIO(cut), "stdin"), "more"], Reading(on_error="skip"))
    assert [document.text for document in corpus] == ["a", "more"]
    assert [name for name, _ in corpus.report.skipped][:1] == ["stdin/b.txt"]


@pytest.mark.parametrize("kind", [".bz2", ".gz", ".tar", ".xz", ".zip", ".zst"])
def test_other_files_that_are_called_text(kind: str, tmp_path: Path) -> None:
    """A tar of texts is even UTF-8."""
    make = {".tar": lambda data: tar({"a": data}), ".zip": lambda data: zipped({"a": data})} | PACK
    (tmp_path / "a.txt").write_bytes(make[kind](GREEK.encode()))
    with pytest.raises(CorpusError, match=rf"a\.txt: no text, but by its first bytes a \{kind} file"):
        texts(tmp_path)


def test_text_that_begins_nearly_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("BZh9 is no text", encoding="utf-8")
    (tmp_path / "b.txt").write_text("PK and ustar " * 40, encoding="utf-8")
    assert texts(tmp_path) == ["BZh9 is no text", "PK and ustar " * 40]


@pytest.mark.parametrize(
    "content, message",
    [
        ("<a>" * 300 + "</a>" * 300, "Excessive depth in document: [^;]*, line 1, column [0-9]+; no file of"),
        ("<a>" + "b" * 10_000_001 + "</a>", "(Text node too long|[Hh]uge)[^;]*, line 1, column [0-9]+; no"),
        ("<a>\0</a>", "line 1, column"),
    ],
)
def test_errors_of_xml_are_one_sentence_for_users(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(content, encoding="utf-8")
    with pytest.raises(CorpusError, match=message) as error:
        texts(tmp_path)
    assert "XML_PARSE" not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_became_shorter_is_an_error(tmp_path: Path) -> None:
    """What another process was told to read is not there any more."""
    path = tmp_path / "a.txt"
    path.write_text("a line\n" * 1000, encoding="utf-8")
    corpus = Corpus(path, Reading(documents="line"))
    units = corpus.units(3000)
    assert len(units) > 1
    path.write_text("a line\n" * 100, encoding="utf-8")
    with pytest.raises(CorpusError, match=r"a\.txt: has become \d+ bytes shorter"):
        list(corpus.read_unit(units[0]))


def test_what_was_skipped_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    (tmp_path / "b.tar").symlink_to("nothing.tar")
    corpus = Corpus(tmp_path, Reading(on_error="skip"))
    assert [document.text for document in corpus] == ["a"]
    assert corpus.report.skipped == [(str(tmp_path / "b.tar"), "No such file or directory")]


def test_lines_that_end_as_on_old_machines(tmp_path: Path) -> None:
    """Python's own sentence asks the user how the file was opened."""
    (tmp_path / "a.csv").write_bytes(b"text,n\rarma,1\rvirum,2\r")
    with pytest.raises(CorpusError, match=r"a\.csv: line 1: .* a carriage return outside .*a line feed"):
        texts(tmp_path)


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_record_of_many_chunks(kind: str, tmp_path: Path) -> None:
    """Its pieces were put together anew with every chunk."""
    text = GREEK * 100_000
    content = f'text\n"{text}"\nnext' if kind == "csv" else json.dumps(text, ensure_ascii=False) + '\n"next"'
    (tmp_path / f"a.{kind}").write_text(content, encoding="utf-8")
    assert texts(tmp_path) == [text, "next"]


def test_a_file_that_breaks_off_is_not_divided(tmp_path: Path) -> None:
    """What is read by several processes ends where it ends for one: at the first byte that is not UTF-8."""
    path = tmp_path / "lines.txt"
    path.write_bytes(b"a line\n" * 20_000 + b"\xff\n" + b"a line\n" * 20_000)
    reading = Reading(documents="line", on_error="skip")
    whole, corpus = Corpus(path, reading), Corpus(path, reading)
    expected = [document.text for document in whole]
    assert 0 < len(expected) <= 20_000
    units = corpus.units(size=10_000)
    assert [kept.document.text for unit in units for kept in corpus.read_unit(unit)] == expected
    assert corpus.report.skipped == whole.report.skipped
    assert corpus.report.files == whole.report.files
    for policy in (Reading(documents="line"), dataclasses.replace(reading, errors="replace")):
        assert len(Corpus(path, policy).units(size=10_000)) > 3


def test_lines_are_selected_by_number_wherever_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"line {n}\n" for n in range(1, 5001)), encoding="utf-8")
    corpus = Corpus(path, Reading(documents="line", select=(("line", "4000"),)))
    found = [kept.document.text for unit in corpus.units(10_000) for kept in corpus.read_unit(unit)]
    assert found == [document.text for document in corpus] == ["line 4000"]


def test_a_large_file_that_cannot_be_opened_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("a line\n" * 1000, encoding="utf-8")
    (tmp_path / "b.txt").write_text("b", encoding="utf-8")
    opened = Path.open

    def refusing(path: Path, *mode: Any, **options: Any) -> Any:
        if path.name == "a.txt":
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *mode, **options)

    monkeypatch.setattr(Path, "open", refusing)
    corpus = Corpus(tmp_path, Reading(documents="line", on_error="skip"))
    found = [kept.document.text for unit in corpus.units(100) for kept in corpus.read_unit(unit)]
    assert found == ["b"]
    assert corpus.report.skipped == [(str(tmp_path / "a.txt"), "Permission denied")]
