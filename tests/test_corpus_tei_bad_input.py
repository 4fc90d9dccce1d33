"""TEI that is broken, cut, hostile or not TEI: an error with line and column, nothing fetched or expanded."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
from tei_files import NESTED, TEI, tei, texts

from syllabary.corpus import read
from syllabary.errors import CorpusError


def bomb() -> str:
    entities = "".join(f'<!ENTITY e{i + 1} "' + f"&e{i};" * 10 + '">' for i in range(9))
    return f'<!DOCTYPE TEI [<!ENTITY e0 "lol">{entities}]><TEI n="&e9;"><text><p>&e9;</p></text></TEI>'


@pytest.mark.parametrize(
    "content, message",
    [
        ("", "Document is empty, line 1, column 1"),
        ("<TEI><text>", "Premature end .*line 1, column 12"),
        ("<TEI>\n<text><p>a</text></TEI>", "tag mismatch: p line 2 and text, line 2, column 18"),
        ("<TEI>" + "<p>" * 3000 + "</p>" * 3000 + "</TEI>", "Excessive depth.*line 1, column"),
        (bomb(), "Maximum entity amplification"),
        ("<TEI><p>&foo;</p></TEI>", "Entity 'foo' not defined, line 1"),
        ("<TEI><p>\udcff</p></TEI>", r"Invalid bytes.*line 1.*\(encoding=…\)"),
        ("<TEI><p>" + "x" * 10_000_001 + "</p></TEI>", "(huge text node|Text node too long).*line 1"),
    ],
    ids=lambda value: value[:16],
)
def test_broken_xml(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(CorpusError, match=message) as caught:
        list(read(path))
    assert str(caught.value).startswith(f"{path}: not well-formed XML: ")


def test_another_root_in_a_file_that_is_said_to_be_tei(tmp_path: Path) -> None:
    (tmp_path / "a.tei").write_text("<html/>", "utf-8")
    with pytest.raises(CorpusError, match="the root element is <html>, not <TEI>"):
        texts(tmp_path / "a.tei")


def test_a_cut_at_any_byte_is_an_error_or_the_whole(tmp_path: Path) -> None:
    path = tei(tmp_path, "<div n='1'><head>I</head><p>a</p></div>" + NESTED)
    data, whole = path.read_bytes(), texts(path)
    for end in range(0, len(data), 7):
        path.write_bytes(data[:end])
        with pytest.raises(CorpusError, match=r"line \d+, column \d+"):
            texts(path)
    path.write_bytes(data)
    assert texts(path) == whole


def test_broken_files_are_left_out_if_that_is_asked_for(tmp_path: Path) -> None:
    tei(tmp_path, "<p>a</p>", name="a.xml")
    (tmp_path / "b.xml").write_text("<TEI><text>", "utf-8")
    tei(tmp_path, "<p>c</p>", name="c.xml")
    assert texts(tmp_path, on_error="skip") == ["a", "c"]
    with pytest.raises(CorpusError, match=r"b\.xml: not well-formed"):
        texts(tmp_path)


def test_entities_are_neither_fetched_nor_expanded(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret", "utf-8")
    entity = '<!ENTITY s SYSTEM "' + (tmp_path / "secret").as_uri() + '">'
    doctype = f'<!DOCTYPE TEI SYSTEM "http://127.0.0.1:1/x.dtd" [{entity}]>'
    (tmp_path / "a.xml").write_text(f"{doctype}<TEI><text><p>a&s;b&dagger;&c;</p></text></TEI>", "utf-8")
    assert texts(tmp_path / "a.xml") == ["a&s;b†&c;"]


def test_entities_that_the_file_declares(tmp_path: Path) -> None:
    declared = (
        '<!ENTITY c "&#x2183;"><!ENTITY dagger "+"><!ENTITY long "' + "x" * 33 + '"><!ENTITY two "&c;&c;">'
        '<!ENTITY tag "<p>a</p>">'
    )
    body = "<p>&c; &dagger; &long; &two; &tag; &mdash;</p>"
    (tmp_path / "a.xml").write_text(
        f'<!DOCTYPE TEI SYSTEM "x.dtd" [{declared}]><TEI><text>{body}</text></TEI>', "utf-8"
    )
    assert texts(tmp_path / "a.xml") == ["Ↄ + &long; &two; &tag; —"]


def test_encodings(tmp_path: Path) -> None:
    content = TEI.format("", "<p>né Ἀχιλῆος</p>")
    path = tmp_path / "a.xml"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "iso-8859-7"):
        text = (
            content.replace("né ", "").replace("ῆ", "ή").replace("Ἀ", "Α") if "8859" in encoding else content
        )
        path.write_bytes(
            (f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>' + text).encode(encoding)
        )
        assert texts(path) == [re.sub("<[^>]*>", "", text)]
    path.write_bytes(content.replace("Ἀχιλῆος", "").encode("cp1252"))
    assert texts(path, encoding="cp1252") == ["né"]
    with pytest.raises(CorpusError, match=r"Invalid bytes in character encoding, line 1, column \d+"):
        texts(path)
    with pytest.raises(CorpusError, match="'nonsense'"):
        texts(path, encoding="nonsense")


def test_without_lxml_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ModuleNotFoundError(name)

    path = tei(tmp_path, "<p>a</p>")
    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(CorpusError, match=r"pip install 'syllabary\[corpus\]'"):
        list(read(path))
