"""Readers: documents and bounded parts, from every kind of source; errors that name file and byte."""

from __future__ import annotations

import errno
import importlib
import lzma
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import byte_strings, texts

import syllabary
from syllabary import splits
from syllabary.corpus import Document, files, iter_parts, read, text
from syllabary.errors import CorpusError
from syllabary.reference.split import pieces

TEI = '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><p>no</p></teiHeader><text><body>{}</body></text></TEI>'


def whole(source: Any) -> list[str]:
    """The documents that `iter_parts` gives, joined."""
    documents, parts = [], []
    for part, last in iter_parts(source):
        parts.append(part)
        if last:
            documents.append("".join(parts))
            parts = []
    assert parts == []
    return documents


def tei(folder: Path, body: str, name: str = "a.xml") -> Path:
    (folder / name).write_text(TEI.format(body), "utf-8")
    return folder / name


def test_what_is_a_source(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("né\r\n\ufeff".encode())
    assert [document.text for document in read(path)] == ["né\r\n\ufeff"]
    assert list(read(str(path))) == [Document("né\r\n\ufeff", {"path": str(path)})]
    mixed = ["a.txt", "né".encode(), path]
    assert (
        [document.text for document in read(mixed)] == ["a.txt", "né", "né\r\n\ufeff"] == whole(iter(mixed))
    )
    assert [document.meta for document in read(mixed)] == [{"index": 0}, {"index": 1}, {"path": str(path)}]
    assert list(read([])) == []


@pytest.mark.parametrize("source", [b"bytes", 5, None, bytearray(b"x")])
def test_other_sources_are_type_errors(source: Any) -> None:
    with pytest.raises(TypeError, match=r"one document is \[document\]"):
        list(read(source))


def test_other_members_are_type_errors() -> None:
    for function in (read, iter_parts):
        with pytest.raises(TypeError, match="item 1 of the source is int"):
            list(function(["a", 5]))


def test_folders_are_sorted_and_hidden_files_left_out(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a/b/c.txt", ".hidden", ".git/x.txt", "c.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, "utf-8")
    assert whole(tmp_path) == ["a/b/c.txt", "a/z.txt", "b.txt", "c.md"]
    assert [document.text for document in read(tmp_path, include="*.md")] == ["c.md"]
    assert [part for part, _ in iter_parts(tmp_path, include=["b*", "z*"])] == ["a/z.txt", "", "b.txt", ""]
    with pytest.raises(CorpusError, match=r"a: the folder does not hold a file that matches \*.py"):
        list(read(tmp_path / "a", include="*.py"))


@given(content=texts(60), size=st.integers(1, 7))
def test_parts_join_to_the_text(content: str, size: int) -> None:
    data = content.encode()
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    parts = list(text.decode(chunks, Path("a.txt")))
    assert "".join(parts) == content
    assert all(0 < len(part) <= size for part in parts)


@given(data=byte_strings(), size=st.integers(1, 7))
def test_the_offset_of_an_undecodable_byte(data: bytes, size: int) -> None:
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    try:
        expected = data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"a.txt: not UTF-8: byte 0x{data[error.start]:02X} at byte offset {error.start} "
        with pytest.raises(CorpusError) as caught:
            list(text.decode(chunks, Path("a.txt")))
        assert byte in str(caught.value)
    else:
        assert "".join(text.decode(chunks, Path("a.txt"))) == expected


def test_a_large_file_comes_in_parts(tmp_path: Path) -> None:
    path = tmp_path / "large.txt.xz"
    content = "naïve 日本 " * 300_000
    path.write_bytes(lzma.compress(content.encode(), preset=0))
    parts = list(iter_parts(path))
    assert len(parts) > 4
    assert max(len(part) for part, _ in parts) <= files.CHUNK
    assert [last for _, last in parts] == [False] * (len(parts) - 1) + [True]
    assert "".join(part for part, _ in parts) == content
    broken = content.encode() + b"\xff!"
    path.write_bytes(lzma.compress(broken, preset=0))
    with pytest.raises(CorpusError, match=f"byte 0xFF at byte offset {len(broken) - 2} "):
        list(iter_parts(path))


def test_bytes_that_are_not_utf8() -> None:
    with pytest.raises(CorpusError, match="document 1 is not UTF-8: byte 0xFF at byte offset 2"):
        list(read(["a", b"ab\xff"]))


def test_damaged_and_absent_files(tmp_path: Path) -> None:
    packed = lzma.compress(b"arma virumque cano" * 1000)
    for data in (packed[:-20], packed[:10], b"not xz", packed[:50] + b"\xff" + packed[51:]):
        (tmp_path / "a.txt.xz").write_bytes(data)
        with pytest.raises(CorpusError, match=r"a\.txt\.xz: damaged or truncated"):
            whole(tmp_path / "a.txt.xz")
    with pytest.raises(FileNotFoundError, match=r"none\.txt"):
        list(read(tmp_path / "none.txt"))


def test_the_letters_to_atticus(shared: Path) -> None:
    letters = list(read(shared / "corpora" / "perseus" / "cic.att_lat.xml.xz"))
    assert len(letters) == 446
    assert letters[0].text.startswith(
        "Scr. Romae m. Quint. a. 689 (65). CICERO ATTICO SAL. petitionis nostrae"
    )
    assert (letters[0].meta["n"], letters[0].meta["type"], letters[-1].meta["n"]) == (
        "1.1",
        "letter",
        "16.16F",
    )
    assert sum(len(letter.text) for letter in letters) == 827_325
    text = "".join(letter.text for letter in letters)
    assert "acciderim†" in text
    assert "&c;" in text  # an entity that has no standard name stays as it is written
    assert "de Aufidio" in text  # tags with white space between them do not glue words together
    for absent in ("\n", "\t", "  ", "Machine readable", "LIBER PRIMVS"):
        assert absent not in text
    cut = [piece for letter in letters for piece in pieces(letter.text, splits.get("latin"))]
    assert (len(cut), len(set(cut))) == pytest.approx((161_000, 20_500), rel=0.05)


@pytest.mark.parametrize(
    "name, documents, first",
    [
        ("phi0474.phi057.perseus-lat1", 446, "Scr. Romae m. Quint. a. 689 (65). CICERO ATTICO salutem"),
        ("phi0448.phi001.perseus-lat2", 404, "Gallia est omnis divisa in partes tres, quarum unam incolunt"),
        ("phi0690.phi003.perseus-lat2", 12, "Arma virumque cano, Troiae qui primus ab oris Italiam, fato"),
        ("phi0959.phi006.perseus-lat2", 15, "In nova fert animus mutatas dicere formas corpora; di,"),
        ("hom.il_gk", 24, "mh=nin a)/eide qea\\ *phlhi+a/dew *)axilh=os"),
        ("plat.tet1_gk", 4, "*eu)qu/frwn *eu)qu/frwn *swkra/ths *eu)qu/frwn ti/ new/teron, w)="),
    ],
)
def test_other_tei_files(shared: Path, name: str, documents: int, first: str) -> None:
    found = list(read(shared / "corpora" / "perseus" / f"{name}.xml.xz"))
    assert len(found) == documents
    assert found[0].text.startswith(first)
    assert all(document.text == " ".join(document.text.split()) for document in found)


BODIES = [
    ("<p>a<note>no</note>b</p>", ["ab"]),
    ("<l>arma</l><l>virum</l>", ["arma virum"]),
    ("<p>vi<pb n='2'/>rum<lb/>que</p>", ["virumque"]),
    ("<p>a &amp; b&#x2020;<!-- no --><?no no?></p>", ["a & b†"]),
    (
        "<div n='1'><head>Liber</head><div n='1'><p>a</p></div>z<div n='2'><p>b</p></div>c</div>",
        ["a", "z", "b", "c"],
    ),
    ("<div n='1'>x<div type='textpart' subtype='section'><p>a</p></div>y</div>", ["x a y"]),
    (
        "<app><lem>a</lem><rdg>b</rdg></app> <choice><sic>c</sic><corr>d</corr></choice> <sic>e</sic>",
        ["a d e"],
    ),
    ("<div1><p>a</p><text><body><div1><p>b</p></div1></body></text></div1>", ["a", "b"]),
    ("", []),
]


@pytest.mark.parametrize("body, expected", BODIES)
def test_tei_rules(body: str, expected: list[str], tmp_path: Path) -> None:
    assert whole(tei(tmp_path, body)) == expected


def test_tei_numbers(tmp_path: Path) -> None:
    path = tei(
        tmp_path, "<div type='edition' n='urn:x'><div n='1'><div n='a' xml:id='i'><p>x</p></div></div></div>"
    )
    assert [document.meta for document in read(path)] == [{"path": str(path), "n": "1.a", "id": "i"}]


def bomb() -> str:
    entities = "".join(f'<!ENTITY e{i + 1} "' + f"&e{i};" * 10 + '">' for i in range(9))
    return f'<!DOCTYPE TEI [<!ENTITY e0 "lol">{entities}]><TEI n="&e9;"><text><p>&e9;</p></text></TEI>'


@pytest.mark.parametrize(
    "content, message",
    [
        ("", "Document is empty"),
        ("<TEI><text>", "Premature end"),
        ("<TEI>" + "<p>" * 300 + "</p>" * 300 + "</TEI>", "Excessive depth"),
        (bomb(), "Maximum entity amplification"),
        ("<TEI><p>&foo;</p></TEI>", "Entity 'foo' not defined, line 1"),
        ("<TEI><p>\udcff</p></TEI>", "Invalid bytes"),
        ("<html/>", "the root element is <html>"),
    ],
    ids=lambda value: value[:16],
)
def test_broken_xml(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(CorpusError, match=message) as caught:
        list(read(tmp_path / "a.xml"))
    assert "a.xml" in str(caught.value)


def test_entities_are_neither_fetched_nor_expanded(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret", "utf-8")
    entity = '<!ENTITY s SYSTEM "' + (tmp_path / "secret").as_uri() + '">'
    doctype = f'<!DOCTYPE TEI SYSTEM "http://127.0.0.1:1/x.dtd" [{entity}]>'
    (tmp_path / "a.xml").write_text(f"{doctype}<TEI><text><p>a&s;b&dagger;&c;</p></text></TEI>", "utf-8")
    assert whole(tmp_path / "a.xml") == ["a&s;b†&c;"]


def test_without_lxml_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ModuleNotFoundError(name)

    path = tei(tmp_path, "<p>a</p>")
    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(CorpusError, match=r"pip install 'syllabary\[corpus\]'"):
        list(read(path))


@pytest.mark.parametrize("prose", ["some text here", "some/text", "long " * 2000, "a\0b"])
def test_text_given_as_a_path_is_told_where_text_goes(prose: str) -> None:
    for use in (syllabary.train, lambda source: next(read(source))):
        with pytest.raises(FileNotFoundError, match=r'text goes in a list: \["…"\]') as caught:
            use(prose)
        assert caught.value.errno == errno.ENOENT
        assert prose.startswith(caught.value.filename.rstrip("…"))
        assert len(str(caught.value)) < 1200


def test_a_path_that_is_none_is_no_text() -> None:
    with pytest.raises(FileNotFoundError, match="No such file or directory") as caught:
        syllabary.train(Path("nowhere.txt"))
    assert "list" not in str(caught.value)
