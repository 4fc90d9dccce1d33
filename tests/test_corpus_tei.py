"""TEI, P4 and P5: what a document is, its text and its language."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from tei_files import NESTED, metas, tei, texts

from syllabary.corpus import Document, read
from syllabary.corpus.tei_language import code, of_file_name

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
    ("<opener><dateline>Romae</dateline><salute>Salve</salute></opener><p>a</p>", ["Romae Salve a"]),
    ("<p>arma\n   virum<lb/>\nque</p>", ["arma virum que"]),
    ("<cit><quote>a</quote><bibl>B. 1</bibl></cit>c", ["a B. 1 c"]),
    ("", []),
]


@pytest.mark.parametrize("body, expected", BODIES)
def test_tei_rules(body: str, expected: list[str], tmp_path: Path) -> None:
    assert texts(tei(tmp_path, body)) == expected


def test_tei_numbers(tmp_path: Path) -> None:
    path = tei(
        tmp_path, "<div type='edition' n='urn:x'><div n='1'><div n='a' xml:id='i'><p>x</p></div></div></div>"
    )
    assert [document.meta for document in read(path)] == [{"path": str(path), "n": "1.a", "id": "i"}]


DIVIDED = (
    "<div type='edition' n='urn'><div type='book' n='1'><head>I</head>"
    "<div subtype='Chapter' type='textpart' n='1'><head>i</head><div type='poem'><p>a</p></div>"
    "<div type='poem'><p>b</p></div></div><div type='chapter' n='2'><p>c</p></div></div>"
    "<div type='book' n='2'><p>d</p></div></div>"
)


@pytest.mark.parametrize(
    "division, expected",
    [
        ("auto", [("a", "1.1"), ("b", "1.1"), ("c", "1.2"), ("d", "2")]),
        ("chapter", [("i a b", "1.1"), ("c", "1.2"), ("d", "2")]),
        ("work", [("I i a b c d", None)]),
    ],
)
def test_divisions(division: Any, expected: list[tuple[str, str | None]], tmp_path: Path) -> None:
    found = read(tei(tmp_path, DIVIDED), division=division)
    assert [(document.text, document.meta.get("n")) for document in found] == expected


def test_chapters_where_none_is_called_so(tmp_path: Path) -> None:
    body = (
        "<div1 type='part' n='1'><div2 type='poem' n='1'><div3 type='stanza'><l>a</l></div3>"
        "<div3 type='stanza'><l>b</l></div3></div2></div1><div1 type='book' n='2'><l>c</l></div1>"
    )
    assert texts(tei(tmp_path, body), division="chapter") == ["a b", "c"]
    assert texts(tei(tmp_path, body)) == ["a", "b", "c"]


def test_letters_only(tmp_path: Path) -> None:
    body = (
        "<div type='preface'><p>no</p></div><div type='volume' n='1'>no"
        "<div type='letter' n='1'><div type='part'><p>a</p></div><div type='part'><p>b</p></div></div>"
        "<div type='Epistula' n='2'><p>c</p></div></div>"
    )
    found = list(read(tei(tmp_path, body), division="letter"))
    assert [(letter.text, letter.meta["n"]) for letter in found] == [("a b", "1.1"), ("c", "1.2")]
    header = "<profileDesc><correspDesc><note>no</note></correspDesc></profileDesc>"
    assert texts(tei(tmp_path, "<div><p>a</p></div><p>b</p>", header), division="letter") == ["a b"]


def test_a_corpus_of_works(tmp_path: Path) -> None:
    def work(author: str, language: str, text: str) -> str:
        header = (
            f"<teiHeader><fileDesc><titleStmt><title>T\n {text}</title><author>{author}</author>"
            f"<author>no</author></titleStmt></fileDesc></teiHeader>"
        )
        content = f"<front><p>f</p></front><body><p>{text}</p></body>"
        return f"<TEI>{header}<text xml:lang='{language}'>{content}</text></TEI>"

    path = tmp_path / "a.tei"
    members = work("A", "la", "a") + "<teiCorpus><teiHeader/>" + work("B", "de", "b") + "</teiCorpus>"
    path.write_text(f"<teiCorpus><teiHeader><p>no</p></teiHeader>{members}</teiCorpus>", "utf-8")
    keys = ("author", "title", "lang")
    assert metas(path, *keys, division="work") == [("A", "T a", "lat"), ("B", "T b", "deu")]
    assert texts(path, division="work") == ["f a", "f b"]
    assert texts(path, select={"author": "B"}, division="work") == ["f b"]


# ---- Languages


@pytest.mark.parametrize(
    "tag, expected",
    [
        ("greek", "grc"),
        ("gk", "grc"),
        ("grc", "grc"),
        ("grc-Latn", "grc"),
        ("Ancient Greek", "grc"),
        ("el", "ell"),
        ("la", "lat"),
        ("lat", "lat"),
        ("Latin", "lat"),
        ("la-x-medieval", "lat"),
        ("en", "eng"),
        ("en-GB", "eng"),
        ("eng", "eng"),
        ("English", "eng"),
        ("ger", "deu"),
        ("fre", "fra"),
        ("zxx", "zxx"),
        ("x-foo", None),
        ("", None),
        ("Klingonish", None),
    ],
)
def test_codes_of_languages(tag: str, expected: str | None) -> None:
    assert code(tag) == expected


@pytest.mark.parametrize(
    "name, expected",
    [
        ("hom.il_gk.xml", "grc"),
        ("cic.att_lat.xml", "lat"),
        ("cic.att_eng.xml", "eng"),
        ("phi0448.phi001.perseus-lat2.xml", "lat"),
        ("tlg0012.tlg001.perseus-grc1.xml", "grc"),
        ("tlg0012.tlg001.1st1K-eng1.xml", "eng"),
        ("draft_no.xml", None),
        ("a.xml", None),
    ],
)
def test_languages_of_file_names(name: str, expected: str | None) -> None:
    assert of_file_name(name) == expected


def usage(*tags: str) -> str:
    languages = "".join(f"<language ident='{tag}'/>" for tag in tags)
    return f"<profileDesc><langUsage>{languages}</langUsage></profileDesc>"


@pytest.mark.parametrize(
    "header, body, name, expected",
    [
        ("", "<div xml:lang='la'><p>a</p></div><div lang='greek'><p>b</p></div>", "a.xml", ["lat", "grc"]),
        ("", "<div xml:lang='la'><div><p>a</p></div></div>", "a.xml", ["lat"]),
        (usage("la"), "<div><p>a</p></div><div xml:lang='de'><p>b</p></div>", "a_gk.xml", ["lat", "deu"]),
        (usage("la", "grc"), "<p>a</p>", "a_gk.xml", ["grc"]),
        (usage("la", "grc"), "<p>a</p>", "a.xml", [None]),
        ("", "<p>a</p>", "a.b.perseus-eng2.xml", ["eng"]),
        ("", "<div xml:lang='x-unknown'><p>a</p></div>", "a_gk.xml", [None]),
        (
            "<profileDesc><langUsage><language id='g1'>Greek</language><language id='l1'>Latin</language>"
            "</langUsage></profileDesc>",
            "<div lang='g1'><p>a</p></div><div lang='l1'><p>b</p></div>",
            "a.xml",
            ["grc", "lat"],
        ),
    ],
)
def test_languages(header: str, body: str, name: str, expected: list[str | None], tmp_path: Path) -> None:
    path = tei(tmp_path, body, header, name=name)
    assert metas(path, "lang") == [(language,) for language in expected]


def test_the_language_of_a_whole_work_is_that_of_its_edition(tmp_path: Path) -> None:
    body = "<div type='edition' xml:lang='grc'><div><p>a</p></div></div>"
    assert metas(tei(tmp_path, body, usage("en")), "lang", division="work") == [("grc",)]


def test_documents_are_plain(tmp_path: Path) -> None:
    """Text is `str`, so that documents can be pickled, compared and joined as any others."""
    document = next(iter(read(tei(tmp_path, NESTED))))
    assert document == Document(document.text, document.meta)
    assert type(document.text) is str


def test_chapters_and_letters_inside_of_sections(tmp_path: Path) -> None:
    body = (
        "<div type='section' n='1'><p>x</p><div type='{0}' n='1'><p>a</p></div><div type='{0}' n='2'><p>b</p>"
        "</div></div><div type='section' n='2'><p>y</p></div>"
    )
    chapters = read(tei(tmp_path, body.format("chapter")), division="chapter")
    assert [(d.text, d.meta.get("n")) for d in chapters] == [
        ("x", "1"),
        ("a", "1.1"),
        ("b", "1.2"),
        ("y", None),
    ]
    letters = read(tei(tmp_path, body.format("letter")), division="letter")
    assert [(d.text, d.meta.get("n")) for d in letters] == [("a", "1.1"), ("b", "1.2")]


def test_many_divisions_take_no_more_than_their_number(tmp_path: Path) -> None:
    """A hostile file: 20,000 divisions with text between them, one level deep."""
    body = "<div><p>a</p></div>b" * 20_000
    start = time.perf_counter()
    assert len(texts(tei(tmp_path, body))) == 40_000
    assert time.perf_counter() - start < 30  # 1 s; 500 s if each looked at all others
