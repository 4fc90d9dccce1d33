"""HTML and other XML: what is text, what is a line, encodings, metadata, hostile files."""

from __future__ import annotations

import importlib
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tei_files import TEI

from syllabary.corpus import Document, read
from syllabary.corpus.document import Reading, Stream, ignore
from syllabary.corpus.html_text import READER as HTML
from syllabary.corpus.lines import Lines
from syllabary.corpus.readers import reader_of
from syllabary.corpus.xml_text import READER as XML
from syllabary.errors import CorpusError, CorpusWarning


def only(folder: Path, content: str | bytes, name: str, **options: Any) -> Document | None:
    """The document of a file, if it has one."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    found = list(read(path, **options))
    assert len(found) <= 1
    assert all(document.meta["path"] == str(path) for document in found)
    return found[0] if found else None


def page(folder: Path, content: str | bytes, **options: Any) -> str | None:
    document = only(folder, content, "a.html", **options)
    return None if document is None else document.text


def test_readers_by_suffix() -> None:
    names = ("a.xml", "a.tei", "a.html.gz", "a.HTM", "a.xhtml", "a.txt")
    assert [reader_of(name).name for name in names] == ["xml", "tei", "html", "html", "html", "text"]


# ---- HTML

ODE = """<!DOCTYPE html>
<html lang="la"><head><meta charset="utf-8"><title>Carmina
 I 22</title><meta name="Author" content="Q.  H. F."><style>p {}</style></head>
<body><h1>Ode</h1><script>var a = "<p>no</p>";</script>
<p>Integer <b>vi</b>tae<br>scelerisque
   purus<p>non &mdash; &amp; &foo; eget</p><!-- no -->
<ul><li>Mauris</li><li>iaculis</ul><noscript><p>no</p></noscript>
<table><tr><td>neque</td><td></td><td>arcu<tr><th>venenatis</table>
<pre>
  gravida
     sagittis
</pre>a&nbsp; b<template><p>no</p></template><svg><text>no</text></svg></body></html>"""


def test_the_text_of_a_page(tmp_path: Path) -> None:
    document = only(tmp_path, ODE, "a.html")
    assert document is not None
    assert document.text.split("\n") == [
        "Ode",
        "Integer vitae",
        "scelerisque purus",
        "non — & &foo; eget",
        "Mauris",
        "iaculis",
        "neque\tarcu",
        "venenatis",
        "  gravida",
        "     sagittis",
        "a\u00a0 b",
    ]
    meta = {"path": str(tmp_path / "a.html"), "lang": "lat", "title": "Carmina I 22", "author": "Q. H. F."}
    assert document.meta == meta
    assert list(read(tmp_path, select={"lang": "lat"})) == [document]
    with pytest.raises(CorpusError, match="none has lang=grc: there are lat"):
        list(read(tmp_path, select={"lang": "grc"}))


def test_xhtml_is_the_same_by_both_parsers(tmp_path: Path) -> None:
    content = (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml" xml:lang="grc">'
        "<head><title>Ὕμνος</title></head><body><p>Μοῦσά <i>μοι</i><br/>ἔννεπε</p><script>no</script>"
        "<div>ἔργα</div>!</body></html>"
    )
    found = [only(tmp_path, content, name) for name in ("a.html", "a.xhtml", "a.xml")]
    for document in found:
        assert document is not None
        assert document.text == "Μοῦσά μοι\nἔννεπε\nἔργα\n!"
        assert (document.meta["lang"], document.meta["title"]) == ("grc", "Ὕμνος")


@pytest.mark.parametrize(
    "content, encoding, expected",
    [
        ("<p>Αθήνα", "utf-8", "utf-8"),
        ("<p>Αθήνα", "utf-8-sig", "utf-8"),
        ("<p>Αθήνα", "utf-16", "utf-16-le"),
        ("<meta charset=iso-8859-1><p>Αθήνα", "utf-16", "utf-16-le"),
        ("<meta charset='windows-1253'><p>Αθήνα", "cp1253", "cp1253"),
        (
            "<META http-equiv='Content-Type' content='text/html; charset=iso-8859-7'><p>Αθήνα",
            "iso8859-7",
            "iso8859-7",
        ),
        ("<meta charset=latin1><p>né “€”", "cp1252", "cp1252"),
        ("<meta charset=Shift_JIS><p>日本①", "cp932", "cp932"),
        ("<?xml version='1.0' encoding='gb2312'?><html><p>中国</html>", "gb18030", "gb18030"),
        ("<meta charset=nonsense><p>Αθήνα", "utf-8", "utf-8"),
        ("<meta charset=utf-16><p>Αθήνα", "utf-8", "utf-8"),
    ],
)
def test_encodings_of_pages(content: str, encoding: str, expected: str) -> None:
    data, told = content.encode(encoding), []
    stream = Stream("a.html", "a.html", None, lambda: io.BytesIO(data))
    (document,) = HTML.documents(stream, Reading(), told.append)
    assert document.text == content.rpartition("<p>")[2].removesuffix("</html>")
    assert told == [expected]


def test_an_encoding_that_is_not_declared_is_found_out_or_an_error(tmp_path: Path) -> None:
    prose = "<p>" + "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας και η μεγαλύτερη πόλη της χώρας. " * 20
    with pytest.warns(CorpusWarning, match="which is a guess"):
        assert "Αθήνα" in str(page(tmp_path, prose.encode("cp1253")))
    with pytest.raises(CorpusError, match=r"a\.html: not UTF-8: byte 0xE9 at byte offset 4"):
        page(tmp_path, b"<p>n\xe9")
    assert page(tmp_path, b"<p>n\xe9", encoding="cp1252") == "né"
    with pytest.raises(CorpusError, match="not UTF-8: byte 0xFF at byte offset 26"):
        page(tmp_path, b"<meta charset='utf-8'><p>a\xff")


@pytest.mark.parametrize(
    "content", ["", " \n", "<p></p>", "<script>a</script>", "<!-- a -->", "<title>a</title>"]
)
def test_pages_without_text_are_no_documents(content: str, tmp_path: Path) -> None:
    assert page(tmp_path, content) is None


def test_pages_that_are_broken_or_hostile(tmp_path: Path) -> None:
    assert page(tmp_path, "just text") == "just text"
    assert page(tmp_path, "<p>a<b>b<p>c</i></div><x y=1>d") == "ab\ncd"
    assert page(tmp_path, "a\0b<p>c") == "a\ufffdb\nc"
    deep = page(tmp_path, "<div>a" * 5000)  # a tree of lxml's would end at a depth of 256 without a word
    assert deep == "\n".join("a" * 5000)
    bomb = "<!DOCTYPE html [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;'>]><p>x&b;</p>"
    assert str(page(tmp_path, bomb)).endswith("x&b;")


MEMORY = """
import resource, sys
from syllabary.corpus import read
small = list(read(sys.argv[1]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
(document,) = read(sys.argv[2])
print(document.text.count("\\n"), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_large_page_is_not_held_as_a_tree(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    line = "<p>arma <b>virumque</b> <i>cano</i></p>\n"
    (tmp_path / "small.html").write_text(line, "utf-8")
    (tmp_path / "large.html").write_text(line * 150_000, "utf-8")
    arguments = [sys.executable, "-c", MEMORY, tmp_path / "small.html", tmp_path / "large.html"]
    lines, grown = map(int, subprocess.run(arguments, capture_output=True, check=True).stdout.split())
    assert lines == 149_999
    assert grown < 60_000 * (1024 if sys.platform == "darwin" else 1)  # KiB; a tree takes 150,000


# ---- Other XML


@pytest.mark.parametrize(
    "content, expected",
    [
        ("<d><t>A</t><p>b<i>c</i></p></d>", "A\nbc"),
        ("<d>\n <p>a\n   b</p>\n <g><k>1</k>\n<k>2</k></g>\n</d>", "a b\n1\n2"),
        ("<d>a<p>b</p><p>c</p></d>", "abc"),  # what has text of its own is one line
        ("<d><p>a &amp; &#x2020; <![CDATA[<b>]]></p><!-- no --><?no no?></d>", "a & † <b>"),
        ("<d a='no'><e/><p/></d>", None),
        ("<d/>", None),
        ("<!DOCTYPE d SYSTEM 'http://127.0.0.1:1/x.dtd' [<!ENTITY c 'Ↄ'>]><d>&c;&mdash;&foo;</d>", "Ↄ—&foo;"),
        ("<text><p>a</p><note>b</note></text>", "a\nb"),
        ("<text xmlns='http://www.tei-c.org/ns/1.0'><p>a</p><note>b</note></text>", "a"),
        (TEI.format("<p>no</p>", "<p>a<note>no</note></p>"), "a"),
    ],
)
def test_the_text_of_other_xml(content: str, expected: str | None, tmp_path: Path) -> None:
    document = only(tmp_path, content, "a.xml")
    assert (None if document is None else document.text) == expected


def test_the_language_of_other_xml(tmp_path: Path) -> None:
    document = only(tmp_path, "<d xml:lang='la'>arma</d>", "a.xml")
    assert document == Document("arma", {"path": str(tmp_path / "a.xml"), "lang": "lat"})


@pytest.mark.parametrize(
    "content, message",
    [
        ("<d><p>a</p>\n<p>b</d>", "tag mismatch: p line 2 and d, line 2, column 9"),
        ("<d>a", "line 1, column 5"),
        ("<d>" * 3000, "Excessive depth"),
        ("<d>&foo;</d>", "Entity 'foo' not defined, line 1, column 9"),
        ("a", "Start tag expected.*line 1, column 1"),
    ],
)
def test_broken_xml(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"a\.xml: not well-formed XML: .*" + message):
        only(tmp_path, content, "a.xml")


def test_without_lxml_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    for name in ("a.html", "a.xml"):
        with pytest.raises(CorpusError, match=r"pip install 'syllabary\[corpus\]'"):
            only(tmp_path, "<p>a</p>", name)


@given(
    data=st.binary(max_size=60)
    | st.text(st.sampled_from("<>/&;!-[]?'\"= apbr\n"), max_size=60).map(str.encode)
)
def test_any_bytes_are_documents_or_an_error(data: bytes) -> None:
    for reader in (HTML, XML):
        stream = Stream("a", "a", None, lambda: io.BytesIO(data))
        try:
            found = [document.text for document in reader.documents(stream, Reading(), ignore)]
        except CorpusError as error:
            found = [str(error).removeprefix("a: ")]
        assert len(found) <= 1
        assert all(text.strip("\n") and not text.startswith("a: ") for text in found)


@given(parts=st.lists(st.sampled_from(["a", " ", "\n", "b c", "\t", "\u00a0"]) | st.none(), max_size=12))
def test_lines_do_not_depend_on_how_text_comes(parts: list[str | None]) -> None:
    whole, single = Lines(), Lines()
    for line in "".join("\0" if part is None else part for part in parts).split("\0"):
        whole.add(line)
        whole.end()
        for character in line:
            single.add(character)
        single.end()
    assert whole.text() == single.text()
    assert all(line == line.strip(" ") and line for line in whole.text().split("\n") if whole.text())


@pytest.mark.parametrize(
    "content, encoding, options, expected",
    [
        ("<d>né</d>", "utf-8", {}, "utf-8"),
        ("<d>né</d>", "utf-16", {}, "utf-16-le"),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><d>né</d>", "latin-1", {}, "iso8859-1"),
        ("<?xml version='1.0' encoding='ascii'?><d>né</d>", "cp1252", {"encoding": "windows-1252"}, "cp1252"),
        ("<d>né</d>", "mac-roman", {"encoding": "mac-roman"}, "mac-roman"),
    ],
)
def test_encodings_of_xml(content: str, encoding: str, options: Any, expected: str) -> None:
    data, told = content.encode(encoding), []
    (document,) = XML.documents(
        Stream("a", "a", None, lambda: io.BytesIO(data)), Reading(**options), told.append
    )
    assert document.text == "né"
    assert told == [expected]
