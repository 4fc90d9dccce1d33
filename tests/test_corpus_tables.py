"""JSON Lines, JSON, CSV and TSV: which field is the text, what goes to the metadata, what is refused."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from corpus_files import Counting, tar, texts
from hypothesis import given
from hypothesis import strategies as st

from syllabary.corpus import Corpus, Reading, json_lines, read, records, sources, stream_of
from syllabary.corpus.document import Stream
from syllabary.errors import CorpusError


def put(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def of(content: str | bytes, kind: str, **options: Any) -> list[Any]:
    """The documents of bytes."""
    data = content.encode() if isinstance(content, str) else content
    stream = Stream("a", "a", None, lambda: io.BytesIO(data))
    return list(sources.documents_of(stream, Reading(kind=kind, **options), lambda _: None))


# ---- JSON Lines ----

RECORDS = st.dictionaries(st.sampled_from(["text", "id", "lang", "x"]), st.text(max_size=9) | st.integers())


def test_json_lines(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        "a.jsonl",
        '{"text": "ἄνδρα", "id": 7, "lang": "grc", "ok": true, "w": 0.5, "no": null, "deep": {}, "l": []}\r\n'
        '\n  \n"a text"\n{"text": null}\nnull\n{"path": "theirs", "line": 99, "text": "last"}',
    )
    first, second, third = read(path)
    where = {"path": str(path)}
    assert (first.text, first.meta) == (
        "ἄνδρα",
        {"id": 7, "lang": "grc", "ok": True, "w": 0.5, **where, "line": 1},
    )
    assert (second.text, second.meta) == ("a text", {**where, "line": 4})
    assert (third.text, third.meta) == ("last", {**where, "line": 7})
    assert texts(path, column="lang", on_error="skip") == ["grc", "a text"]
    assert [document.meta["id"] for document in read(path, select={"lang": ["grc", "lat"]})] == [7]


@given(
    values=st.lists(st.text(max_size=9) | RECORDS | st.none(), max_size=6),
    size=st.integers(1, 30),
    ascii_only=st.booleans(),
)
def test_json_lines_in_units(
    values: list[Any], size: int, ascii_only: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = "".join(json.dumps(value, ensure_ascii=ascii_only) + "\n" for value in values)
    path = put(tmp_path_factory.mktemp("jsonl"), "a.jsonl", content.encode("utf-8", "surrogatepass"))
    reading = Reading(on_error="skip")
    expected = [value if isinstance(value, str) else value["text"] for value in values if wanted(value)]
    found = []
    for unit in sources.units(path, reading, size):
        for stream in sources.streams_of_unit(unit, reading):
            assert isinstance(stream, Stream)
            found += [document.text for document in sources.documents_of(stream, reading, lambda _: None)]
    assert found == expected


def wanted(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, dict) and isinstance(value.get("text"), str))


BROKEN = [
    ('{"text": ', r"a: line 2 \(byte offset 14\): not JSON: .* at column 10"),
    ("{'text': 1}", r"a: line 2 \(byte offset 14\): not JSON: "),
    ("[1]", r"a: line 2: a JSON array, not an object"),
    ("7", r"a: line 2: a JSON number or truth value, not an object"),
    ('{"text": 7}', r"a: line 2: column 'text' holds int, not text; the columns are 'text' \(column=…\)"),
    ('{"body": "x", "id": 1}', r"a: line 2: no column 'text'; the columns are 'body', 'id' \(column=…\)"),
    ("{}", r"a: line 2: no column 'text'; the columns are none"),
    (
        '{"text": "\\ud800"}',
        r"a: line 2 \(byte offset 14\): the text has half of a pair \(\\ud800\) at character 0",
    ),
    (b'{"text": "\xff"}', r"a: line 2 \(byte offset 14\): not UTF-8: byte 0xFF at byte offset 24;"),
    ("[" * 100_000, r"a: line 2 .*: not JSON that can be read: lists and objects nested too deeply"),
    ('{"text": ' + "9" * 5000 + "}", r"a: line 2 "),
]


@pytest.mark.parametrize("line, message", BROKEN, ids=range(len(BROKEN)))
def test_broken_lines(line: str | bytes, message: str) -> None:
    line = line.encode() if isinstance(line, str) else line
    content = b'{"text": "1"}\n' + line + b'\n{"text": "3"}\n'
    with pytest.raises(CorpusError, match=message):
        of(content, "jsonl")
    skipped: list[tuple[str, str]] = []
    stream = Stream("a", "a", None, lambda: io.BytesIO(content), 0, lambda *pair: skipped.append(pair))
    found = sources.documents_of(stream, Reading(kind="jsonl", on_error="skip"), lambda _: None)
    assert [document.text for document in found] == ["1", "3"]
    assert [name for name, _ in skipped] == ["a"]
    assert skipped[0][1].startswith("a: line 2")


def test_skipped_lines_are_in_the_report(tmp_path: Path) -> None:
    put(tmp_path, "a.jsonl", '{"text": "1"}\nbroken\n{"text": "3"}\n')
    corpus = Corpus(tmp_path, Reading(on_error="skip"))
    assert [document.text for document in corpus] == ["1", "3"]
    assert [Path(name).name for name, _ in corpus.report.skipped] == ["a.jsonl"]


def test_pairs_of_surrogates_are_characters() -> None:
    assert [document.text for document in of('{"text": "\\ud83d\\ude00 \\\\ud800"}', "jsonl")] == [
        "😀 \\ud800"
    ]


def test_a_line_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "MAX_RECORD", 3 << 20)
    file = Counting(b'{"text": "' + b"a" * (40 << 20))
    with pytest.raises(CorpusError, match=r"line 1 .* is longer than 3145728 bytes"):
        list(sources.documents_of(stream_of(file, "a.jsonl"), Reading(), lambda _: None))
    assert file.tell() < 6 << 20


def test_a_mark_before_json() -> None:
    for kind, content in (("jsonl", '{"text": "a"}\n'), ("json", '[{"text": "a"}]'), ("csv", "text\na\n")):
        assert [document.text for document in of("\ufeff" + content, kind)] == ["a"]


# ---- JSON ----


@given(
    values=st.lists(st.text(max_size=9) | RECORDS.filter(lambda record: isinstance(record.get("text"), str))),
    indent=st.sampled_from([None, 0, 2]),
    chunk=st.integers(1, 5),
    array=st.booleans(),
)
def test_json_arrays(values: list[Any], indent: int | None, chunk: int, array: bool) -> None:
    written = [json.dumps(value, indent=indent, ensure_ascii=False) for value in values]
    content = json.dumps(values, indent=indent, ensure_ascii=False) if array else "\n".join(written)
    parts = [content[at : at + chunk] for at in range(0, len(content), chunk)]
    assert list(json_lines._items(parts, "a")) == values
    expected = [value if isinstance(value, str) else value["text"] for value in values]
    assert [document.text for document in of(content.encode("utf-8"), "json")] == expected


@given(
    values=st.lists(st.integers() | st.floats(allow_nan=False) | st.booleans() | st.none()),
    chunk=st.integers(1, 3),
)
def test_a_number_is_not_cut(values: list[Any], chunk: int) -> None:
    content = json.dumps(values)
    parts = [content[at : at + chunk] for at in range(0, len(content), chunk)]
    assert list(json_lines._items(parts, "a")) == values


def test_json_is_records_only_if_it_looks_so(tmp_path: Path) -> None:
    array = put(tmp_path, "a.json", '[\n {"text": "1", "id": 5},\n {"text": "2"}]\n')
    found = list(read(array))
    assert [document.text for document in found] == ["1", "2"]
    assert found[0].meta == {"id": 5, "path": str(array), "row": 1}
    assert texts(put(tmp_path, "b.json", '{"text": "1"}\n{"text": "2"}\n')) == ["1", "2"]
    for content in ('{"name": "x"}', "[1, 2]", '["a", "b"]', "// no JSON", "", '[{"text": 1}]', "[" * 99_999):
        assert texts(put(tmp_path, "c.json", content)) == [content]
    assert texts(put(tmp_path, "d.json", '["a", "b"]'), kind="json") == ["a", "b"]
    assert texts(put(tmp_path, "d.json", '[{"body": "x"}]'), column="body") == ["x"]


@pytest.mark.parametrize(
    "content, message",
    [
        ("[", "a: not JSON: Expecting value at character 1"),
        ('["a"', "a: not JSON: expected ']' at character 4"),
        ('["a" "b"]', "a: not JSON: expected ']' at character 5"),
        ('["a",]', "a: not JSON: Expecting value at character 5"),
        ('["a"] "b"', "a: not JSON: more follows after the end of the array at character 6"),
        ('["a", tru]', "a: not JSON: Expecting value at character 6"),
        ('["\\ud800"]', "a: row 1: the text has half of a pair"),
        ("[[1]]", "a: row 1: a JSON array, not an object"),
        ("[" * 99_999, "a: not JSON"),
    ],
    ids=range(9),
)
def test_broken_json(content: str, message: str) -> None:
    with pytest.raises(CorpusError, match=message.replace("]", r"\]")):
        of(content, "json")


@pytest.mark.skipif(not hasattr(sys, "set_int_max_str_digits"), reason="Python reads integers of any length")
@pytest.mark.parametrize("kind", ["jsonl", "json"])
def test_an_integer_that_python_does_not_read(kind: str) -> None:
    with pytest.raises(CorpusError, match=r"a: .*: Exceeds the limit \(\d+( digits)?\)") as found:
        of('{"text": "a", "n": ' + "1" * 5000 + "}", kind)
    assert "sys." not in str(found.value)


def test_of_an_array_little_is_held() -> None:
    file = Counting(b"[" + b",".join([b'{"text": "arma virum"}'] * 200_000) + b"]")
    found = sources.documents_of(stream_of(file, "a.json"), Reading(kind="json"), lambda _: None)
    assert next(found).text == "arma virum"
    assert file.tell() < 1 << 20
    assert sum(1 for _ in found) == 199_999


# ---- CSV and TSV ----


def test_csv(tmp_path: Path) -> None:
    path = put(tmp_path, "a.csv", 'id,text,lang\r\n1,"arma, ""virum""\r\ncano",lat\r\n\r\n2,μῆνιν,grc\r\n')
    first, second = read(path)
    assert (first.text, first.meta) == (
        'arma, "virum"\r\ncano',
        {"id": "1", "lang": "lat", "path": str(path), "row": 1},
    )
    assert (second.text, second.meta["row"]) == ("μῆνιν", 2)
    assert texts(path, column="lang") == ["lat", "grc"]
    assert texts(path, column="3") == ["lang", "lat", "grc"]  # a number: there is no row of names
    with pytest.raises(CorpusError, match=r"a\.csv: no column 'body'; the columns are 'id', 'text', 'lang' "):
        texts(path, column="body")
    for number in ("0", "4"):
        with pytest.raises(CorpusError, match=rf"a\.csv: no column {number}; there are 3: 'id', "):
            texts(path, column=number)


def test_tsv(tmp_path: Path) -> None:
    assert texts(put(tmp_path, "a.tsv", 'text\tid\n"a\nb"\t1\nc, "d"\t2\n')) == ["a\nb", 'c, "d"']
    plain = '1\teng\t"Hello," he said.\n2\teng\t"\n'
    with pytest.raises(
        CorpusError, match=r"b\.tsv: line 1: .*; where quotation marks .* of kind 'tsv-plain'"
    ):
        texts(put(tmp_path, "b.tsv", plain), column="3")
    assert texts(tmp_path / "b.tsv", column="3", kind="tsv-plain") == ['"Hello," he said.', '"']


@given(rows=st.lists(st.lists(st.text('a,"\n\r\t é', max_size=6), min_size=2, max_size=2), max_size=6))
def test_csv_as_the_standard_library_writes_it(rows: list[list[str]]) -> None:
    import csv

    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerows([["text", "more"], *rows])
    found = of(out.getvalue(), "csv")
    assert [[document.text, document.meta["more"]] for document in found] == rows


@pytest.mark.parametrize(
    "content, message",
    [
        (
            'text,id\n"a\nb",1\n"never closed,1\nx,2\n',
            r"a: line 4: not a table that can be read: a quotation mark opens a field that nothing closes; "
            r'within a quoted field a quotation mark is written twice \(""\)$',
        ),
        ('text,id\nx,"y"z\n', r"a: line 2: not a table that can be read: .*; within a quoted field "),
        ("text,id\nx\n", r"a: row 1 \(line 2\): 1 field, but the first row has 2"),
        ("text,id\na,b\nx,y,z\n", r"a: row 2 \(line 3\): 3 fields, but the first row has 2"),
        ("text,text\n", "a: two columns are called 'text'; give a number"),
        ("id\rtext\r1\rx\r", "a: line 1: not a table that can be read: a carriage return"),
    ],
)
def test_broken_tables(content: str, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        of(content, "csv")


def test_a_broken_row_is_left_out() -> None:
    skipped: list[tuple[str, str]] = []
    data = b"text,id\na,1\nb\nc,3\n"
    stream = Stream("a.csv", "a.csv", None, lambda: io.BytesIO(data), 0, lambda *pair: skipped.append(pair))
    found = sources.documents_of(stream, Reading(on_error="skip"), lambda _: None)
    assert [document.text for document in found] == ["a", "c"]
    assert skipped == [("a.csv", "a.csv: row 2 (line 3): 1 field, but the first row has 2")]


def test_a_field_longer_than_the_module_csv_takes_by_itself() -> None:
    long = "a" * 1_000_000
    assert [document.text for document in of(f"text\n{long}\n", "csv")] == [long]
    assert of("", "csv") == of("text\n", "csv") == []


def test_many_columns_are_not_all_named() -> None:
    assert records.listed(str(number) for number in range(30)).endswith("'19' and 10 more")


def test_small_steps() -> None:
    for kind, content in (
        ("csv", b"text,n\n" + b"arma virum,1\n" * 100_000),
        ("jsonl", b'"arma virum"\n' * 100_000),
    ):
        file = Counting(content)
        found = sources.documents_of(stream_of(file, "-"), Reading(kind=kind), lambda _: None)
        assert next(found).text == "arma virum"
        assert file.tell() < 1 << 18
        assert sum(1 for _ in found) == 99_999
        assert file.most <= 1 << 20


def test_tables_packed_and_in_archives(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"text\n1\n"))
    (tmp_path / "b.tar").write_bytes(
        tar({"x.jsonl": '"2"\n', "y.tsv": "text\n3\n", "z.json": '[{"text": "4"}]'})
    )
    assert texts(tmp_path) == ["1", "2", "3", "4"]
