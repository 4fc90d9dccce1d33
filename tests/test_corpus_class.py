"""`Corpus`: selection, duplicates, parts of a corpus, skipped files, units for several processes, the report.

Leaves out: readers of files (`test_corpus` and its like), the numbers of care (`test_corpus_care`), and what
the command line says (`test_cli_corpus`).
"""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from syllabary.corpus.care import Care, identity
from syllabary.corpus.corpus import Corpus, Kept
from syllabary.corpus.document import Document, Reading
from syllabary.corpus.forms import Forms
from syllabary.corpus.report import Report
from syllabary.corpus.units import Unit
from syllabary.errors import CorpusError, CorpusWarning, TextError

ROWS = [
    ("arma virumque cano", "lat"),
    ("μῆνιν ἄειδε θεά", "grc"),
    ("Troiae qui primus ab oris", "lat"),
    ("sing, goddess", "eng"),
    ("arma virumque cano", "lat"),
    ("no language", None),
]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A file of JSON Lines with texts and languages."""
    path = tmp_path / "rows.jsonl"
    lines = [json.dumps({"text": text} | ({"lang": lang} if lang else {})) for text, lang in ROWS]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of texts; some occur twice, one in NFC and in NFD."""
    path = tmp_path / "corpus"
    path.mkdir()
    for number in range(60):
        (path / f"{number:02}.txt").write_text(f"document {number % 50}\nof many é\n" * 20, encoding="utf-8")
    (path / "nfd.txt").write_text("document 7\nof many e\u0301\n" * 20, encoding="utf-8")
    return path


def texts(corpus: Corpus) -> list[str]:
    return [document.text for document in corpus]


def joined(corpus: Corpus) -> list[str]:
    """The documents that the parts make."""
    found, text = [], ""
    for part, last in corpus.parts():
        text += part
        if last:
            found.append(text)
            text = ""
    assert not text
    return found


# ---- selection ----


def test_select_by_one_value_by_either_and_by_all(rows: Path) -> None:
    for select, languages in [
        ((("lang", "lat"),), {"lat"}),
        ((("lang", "grc"), ("lang", "eng")), {"grc", "eng"}),
    ]:
        corpus = Corpus(rows, Reading(select=select))
        expected = [text for text, lang in ROWS if lang in languages]
        assert texts(corpus) == joined(corpus) == expected
        assert corpus.report.read == 6
        assert corpus.report.unselected == 6 - len(expected)
    both = Corpus(rows, Reading(select=(("lang", "lat"), ("line", "3"))))
    assert texts(both) == ["Troiae qui primus ab oris"]


def test_nothing_selected_says_what_there_is(rows: Path) -> None:
    corpus = Corpus(rows, Reading(select=(("lang", "xyz"),)))
    with pytest.raises(CorpusError) as error:
        texts(corpus)
    assert str(error.value) == (
        "nothing is left of the corpus: 6 documents read, none has lang=xyz: "
        "there are lat (3), eng (1), grc (1)"
    )
    with pytest.raises(CorpusError, match="none has genre=epic: no document says its genre"):
        texts(Corpus(rows, Reading(select=(("genre", "epic"),))))
    with pytest.raises(CorpusError, match=r"3 has lang=lat, none has line=9: there are 1 \(1\), 2 \(1\)"):
        texts(Corpus(rows, Reading(select=(("lang", "lat"), ("line", "9")))))


def test_an_empty_source_is_no_error_here() -> None:
    assert texts(Corpus([])) == joined(Corpus([])) == []


# ---- care ----


def test_duplicates_go_and_the_first_stays(folder: Path) -> None:
    corpus = Corpus(folder, care=Care(drop_duplicates=True))
    found = list(corpus)
    assert [Path(str(document.meta["path"])).name for document in found] == [f"{n:02}.txt" for n in range(50)]
    assert corpus.report.duplicates == 11
    assert corpus.report.documents == 50
    assert corpus.report.bytes == sum(len(document.text.encode()) for document in found)
    assert joined(corpus) == [document.text for document in found]


def test_fraction_and_rest_are_the_whole(folder: Path) -> None:
    with pytest.warns(CorpusWarning, match="60 documents are in NFC .*1 in NFD"):
        whole = texts(Corpus(folder))
    some, others = (
        texts(Corpus(folder, care=Care(normalize="NFC", **{side: 0.3}))) for side in ("fraction", "rest")
    )
    assert len(some) + len(others) == len(whole) == 61
    assert 5 < len(some) < 40
    assert not set(some) & set(others)  # copies are on one side, in NFC as in NFD
    assert some == texts(Corpus(folder, care=Care(normalize="NFC", fraction=0.3)))


def test_a_fraction_with_nothing_in_it_says_so() -> None:
    text = next(f"text {n}" for n in range(100) if not Care(fraction=0.1).keeps(identity(f"text {n}")))
    with pytest.raises(
        CorpusError, match=r"1 document read, none of 1 fell into the fraction 0\.1 with seed 0"
    ):
        texts(Corpus([text], care=Care(fraction=0.1)))


def test_normalize_rewrites_but_identity_and_size_are_of_what_was_read() -> None:
    corpus = Corpus(["ne\u0301", "né", "ﬁn"], care=Care(normalize="NFKC"))
    assert list(corpus.kept()) == [
        Kept(Document("né", {"index": 0}), identity("né"), 4, "NFD-only"),
        Kept(Document("né", {"index": 1}), identity("né"), 3, "NFC-only"),
        Kept(Document("fin", {"index": 2}), identity("ﬁn"), 4),
    ]
    assert (corpus.report.documents, corpus.report.bytes) == (3, 11)
    assert joined(corpus) == ["né", "né", "fin"]


def test_a_large_file_is_normalized_in_parts(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    text = "xe\u0301\u0323 \u1100\u1161\u11a8" * 250_000
    path.write_text(text, encoding="utf-8")
    corpus = Corpus(path, care=Care(normalize="NFC"))
    parts = list(corpus.parts())
    assert len(parts) > 2
    assert "".join(part for part, _ in parts) == "xẹ\u0301 각" * 250_000
    assert corpus.report.bytes == len(text.encode())


def test_a_lone_surrogate_is_found_where_it_is() -> None:
    for care in (Care(normalize="NFC"), Care(fraction=0.5)):
        with pytest.raises(TextError, match=r"document 1: .*lone surrogate at character 1"):
            texts(Corpus(["é", "é\ud800"], care=care))


# ---- files that cannot be read ----


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A folder with one whole file, broken XML, and text that breaks off in no encoding."""
    path = tmp_path / "broken"
    path.mkdir()
    (path / "a.txt").write_text("whole", encoding="utf-8")
    (path / "b.xml").write_text("<TEI><text>cut", encoding="utf-8")
    (path / "c.txt").write_bytes(b"good " * 400_000 + b"\xff\x00\xfe")
    return path


def test_a_broken_file_is_an_error_that_names_it(broken: Path) -> None:
    with pytest.raises(CorpusError, match=r"b\.xml"):
        texts(Corpus(broken))
    with pytest.raises(CorpusError, match=r"b\.xml"):
        joined(Corpus(broken))


def test_broken_files_are_skipped_and_listed(broken: Path) -> None:
    corpus = Corpus(broken, Reading(on_error="skip", encoding="utf-8"))
    assert texts(corpus) == ["whole"]
    assert [Path(name).name for name, _ in corpus.report.skipped] == ["b.xml", "c.txt"]
    assert corpus.report.files == 1
    lines = list(corpus.report.lines())
    assert lines[0] == "skipped 2 files or parts of them:"
    assert lines[2].startswith(f"  {broken / 'c.txt'}: not UTF-8: byte 0xFF at byte offset 2000000")
    assert corpus.record()["skipped"] == 2


def test_what_was_read_of_a_document_stays_as_one_and_is_said(broken: Path) -> None:
    corpus = Corpus(broken, Reading(on_error="skip", encoding="utf-8"))
    first, second = joined(corpus)
    assert first == "whole"
    assert second.startswith("good good ")
    assert set(second) <= set("good ")
    assert len(corpus.report.skipped) == 2
    assert "what comes before it was read" in corpus.report.skipped[1][1]


def test_nothing_left_names_what_was_skipped(broken: Path) -> None:
    with pytest.raises(
        CorpusError, match=r"1 file or part of one could not be read \(first .*b\.xml: .*, 0 documents read"
    ):
        texts(Corpus(broken / "b.xml", Reading(on_error="skip")))


def test_a_library_that_is_missing_is_never_skipped(broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "lxml", None)
    monkeypatch.setitem(__import__("sys").modules, "lxml.etree", None)
    with pytest.raises(CorpusError, match=r"lxml: pip install 'syllabary\[corpus\]'"):
        texts(Corpus(broken, Reading(on_error="skip", encoding="utf-8")))


# ---- normal forms ----


def test_mixed_forms_warn_once_at_the_end(folder: Path) -> None:
    for read in (texts, joined):
        with pytest.warns(
            CorpusWarning, match=r"60 documents are in NFC \(as .*00\.txt\), 1 in NFD"
        ) as found:
            read(Corpus(folder))
        assert len(found) == 1
    texts(Corpus(folder, care=Care(normalize="NFC")))
    for _ in Corpus(folder).parts(normalized=True):
        pass


def test_forms_are_counted_in_the_record() -> None:
    corpus = Corpus(["é", "e\u0301", "a"])
    with pytest.warns(CorpusWarning):
        texts(corpus)
    assert corpus.record() == {"documents": 3, "bytes": 6, "forms": {"NFC-only": 1, "NFD-only": 1}}


# ---- the record ----


def test_the_record_tells_options_and_counts_and_is_json(rows: Path) -> None:
    reading = Reading(select=(("lang", "lat"),), on_error="skip")
    corpus = Corpus(rows, reading, Care(fraction=1, drop_duplicates=True))
    texts(corpus)
    record = corpus.record()
    assert json.loads(json.dumps(record)) == record
    assert record == {
        "select": [["lang", "lat"]],
        "on_error": "skip",
        "drop_duplicates": True,
        "fraction": 1,
        "seed": 0,
        "documents": 2,
        "bytes": 43,
        "files": 1,
        "unselected": 3,
        "duplicates": 1,
        "encodings": {"utf-8": 1},
    }
    assert corpus.says_more


def test_what_a_document_is_and_how_many_there_were_are_two_things(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\nthree\n", encoding="utf-8")
    corpus = Corpus(path, Reading(documents="line"))
    assert len(texts(corpus)) == 3
    assert corpus.options() == {"documents_by": "line"}
    assert corpus.record() | {"documents_by": "line", "documents": 3} == corpus.record()
    assert not {field.name for field in dataclasses.fields(Report)} & set(corpus.options())


def test_without_options_there_is_nothing_to_say() -> None:
    corpus = Corpus(["a"])
    assert texts(corpus) == ["a"]
    assert not corpus.says_more
    assert corpus.record() == {"documents": 1, "bytes": 1}


# ---- reading again, and by several ----


def test_an_iterator_is_read_once() -> None:
    corpus = Corpus(iter(["a", "b"]))
    assert texts(corpus) == ["a", "b"]
    with pytest.raises(CorpusError, match=r"is an iterator .* has been read: give a list"):
        texts(corpus)
    again = Corpus(["a", "b"])
    assert texts(again) == texts(again)
    assert again.report.documents == 2


def read_by_another(corpus: Corpus, unit: Unit) -> tuple[list[Kept], str]:
    """What a worker sends home."""
    report = Report()
    kept = list(corpus.read_unit(unit, report))
    return kept, json.dumps(dataclasses.asdict(report))


def test_units_in_other_processes_are_the_whole(folder: Path) -> None:
    care = Care(rest=0.2)
    whole = Corpus(folder, Reading(exclude=("0*.txt",)), care)
    with pytest.warns(CorpusWarning):
        expected = list(whole.kept())
    corpus = Corpus(folder, Reading(exclude=("0*.txt",)), care)
    units = corpus.units(size=2000)
    assert len(units) > 5
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.starmap(read_by_another, [(corpus, unit) for unit in units])
    assert [kept for many, _ in found for kept in many] == expected
    for _, report in found:
        corpus.report.merge(Report.of(json.loads(report)))
    assert corpus.report == whole.report
    with pytest.warns(CorpusWarning, match="mixes normal forms"):
        corpus.finish()


def test_lines_of_one_file_are_divided(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"line {n}\n" for n in range(5000)), encoding="utf-8")
    corpus = Corpus(path, Reading(documents="line"))
    units = corpus.units(size=10_000)
    assert len(units) > 3
    found = [kept.document.text for unit in units for kept in corpus.read_unit(unit)]
    assert found == texts(Corpus(path, Reading(documents="line")))


def test_documents_in_memory_have_no_units(rows: Path) -> None:
    assert Corpus(["a"]).units() == []
    assert Corpus(iter([rows])).units() == []


def test_a_corpus_of_paths_is_pickled(rows: Path) -> None:
    corpus = Corpus(rows, Reading(select=(("lang", "eng"),)), Care(rest=0.0))
    again = pickle.loads(pickle.dumps(corpus))
    assert texts(again) == texts(corpus) == ["sing, goddess"]


def test_duplicates_are_counted_out_by_who_sees_all() -> None:
    report = Report(documents=2, bytes=10)
    report.drop_duplicate(4)
    assert (report.documents, report.bytes, report.duplicates) == (1, 6, 1)
    report.forms = Forms({"NFC-only": 2, "NFD-only": 1}, {"NFC-only": ("a", ""), "NFD-only": ("b", "")})
    report.drop_duplicate(3, "NFC-only")
    report.drop_duplicate(3, "NFD-only")
    assert report.forms == Forms({"NFC-only": 1}, {"NFC-only": ("a", "")})


def test_reading_stops_when_nobody_listens(folder: Path) -> None:
    """The file that is open is closed, and nothing is said of a corpus that was not read to its end."""
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        iterator: Iterator[Document] = iter(Corpus(folder))
        next(iterator)
        del iterator
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before


def test_its_repr_says_where_from() -> None:
    assert repr(Corpus("letters.txt")) == repr(Corpus(Path("letters.txt"))) == "<Corpus of 'letters.txt'>"
    assert repr(Corpus(["arma"])) == "<Corpus of a list>"
