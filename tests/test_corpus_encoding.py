"""Encodings: declared, marked, UTF-8, or guessed with a warning; UTF-8 with a wrong byte is an error."""

from __future__ import annotations

import codecs
import importlib
import io
import random
import warnings
from pathlib import Path
from typing import Any

import pytest
from corpus_files import published, texts
from hypothesis import given
from hypothesis import strategies as st

from syllabary.corpus import Corpus, Reading, encoding, read
from syllabary.errors import CorpusError, CorpusWarning

GREEK = "Η Ελλάδα είναι μια χώρα της νοτιοανατολικής Ευρώπης. Το πρωί πήγα στην αγορά για φρούτα.\n" * 9
FRENCH = (
    "Les élèves français étaient très âgés, où ça ? Là-bas, près de l'école, on mangeait des pâtés.\n" * 9
)
RUSSIAN = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему.\n" * 9
JAPANESE = (
    "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所で泣いていた。\n"
    * 9
)
CHINESE = (
    "话说天下大势，分久必合，合久必分。周末七国分争，并入于秦。及秦灭之后，楚、汉分争，又并入于汉。\n" * 9
)

TRADITIONAL = (
    "話說天下大勢，分久必合，合久必分。周末七國分爭，並入於秦。及秦滅之後，楚、漢分爭，又並入於漢。\n" * 9
)


def put(folder: Path, data: bytes, name: str = "a.txt") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def report(path: Path, **options: Any) -> tuple[list[str], dict[str, int]]:
    corpus = Corpus(path, Reading(**options))
    return [document.text for document in corpus], corpus.report.encodings


DECLARED = [
    (FRENCH, "latin-1", "iso8859-1"),
    (FRENCH, "cp1252", "cp1252"),
    (GREEK, "cp1253", "cp1253"),
    (RUSSIAN, "koi8-r", "koi8-r"),
    (CHINESE, "gb18030", "gb18030"),
    (JAPANESE, "shift_jis", "shift_jis"),
    (JAPANESE, "iso2022_jp", "iso2022_jp"),
    (GREEK, "utf-16", "utf-16"),
    (GREEK, "utf-16-be", "utf-16-be"),
    (GREEK, "UTF8", "utf-8"),
    (GREEK, "utf-8-sig", "utf-8-sig"),
    (FRENCH, "utf-7", "utf-7"),
]


@pytest.mark.parametrize("content, name, shown", DECLARED, ids=lambda value: value if len(value) < 20 else "")
def test_declared(content: str, name: str, shown: str, tmp_path: Path) -> None:
    path = put(tmp_path, content.encode(name))
    assert report(path, encoding=name) == ([content], {shown: 1})
    assert texts(path, encoding=name, documents="line") == content.splitlines()


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("content", ["", "a", GREEK, "a\0\0", "😀\n" * 9])
def test_marked(name: str, content: str, tmp_path: Path) -> None:
    mark = "\ufeff".encode(name)
    path = put(tmp_path, mark + content.encode(name))
    assert report(path) == ([content], {name: 1})
    assert texts(put(tmp_path, mark + mark, "b.txt")) == ["\ufeff"]  # only the first is a mark


def test_a_mark_of_utf8_stays(tmp_path: Path) -> None:
    path = put(tmp_path, codecs.BOM_UTF8 + b"a")
    assert report(path) == (["\ufeffa"], {"utf-8": 1})
    assert texts(path, encoding="utf-8-sig") == ["a"]


GUESSED = [
    (GREEK, "cp1253"),
    (GREEK, "iso8859-7"),
    (FRENCH, "latin-1"),
    (FRENCH, "cp1252"),
    (RUSSIAN, "cp1251"),
    (RUSSIAN, "koi8-r"),
    (CHINESE, "gb18030"),
    (TRADITIONAL, "big5"),
    (JAPANESE, "shift_jis"),
    (JAPANESE, "euc_jp"),
]


@pytest.mark.parametrize("content, name", GUESSED, ids=lambda value: value if len(value) < 20 else "")
def test_guessed_with_a_warning(content: str, name: str, tmp_path: Path) -> None:
    pytest.importorskip("charset_normalizer")
    path = put(tmp_path, content.encode(name))
    with pytest.warns(CorpusWarning, match=r"a\.txt: not UTF-8; read as .* which is a guess"):
        found, encodings = report(path)
    assert found == [content]
    assert sum(encodings.values()) == 1
    (guess,) = encodings
    assert content.encode(guess) == content.encode(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert report(path, encoding=name)[0] == [content]


def test_real_text_in_old_encodings(shared: Path, tmp_path: Path) -> None:
    pytest.importorskip("charset_normalizer")
    for language, name in (("chinese", "gb18030"), ("japanese", "shift_jis"), ("chinese", "big5")):
        content = published(shared, language, 40_000)
        data = content.encode(name, "ignore")
        path = put(tmp_path, data)
        with pytest.warns(CorpusWarning, match="a guess"):
            assert texts(path) == [data.decode(name)]


@pytest.mark.parametrize("wrong", [1, 7, 60])
@pytest.mark.parametrize("language", ["chinese", "english", "greek", "latin"])
def test_utf8_with_wrong_bytes_is_an_error(language: str, wrong: int, shared: Path, tmp_path: Path) -> None:
    content = published(shared, language, 2 * encoding.SAMPLE)
    data = bytearray(content.encode()[: 2 * encoding.SAMPLE])
    there = sum(byte >= 0xC0 for byte in data[: encoding.SAMPLE])
    if wrong >= max(there, encoding.MANY):
        pytest.skip(f"{there} characters beyond ASCII in the head: {wrong} other bytes are no UTF-8 any more")
    coin = random.Random(wrong)
    places = sorted(coin.randrange(encoding.SAMPLE) for _ in range(wrong))
    for at in places:
        data[at] = 0xFF
    with pytest.raises(
        CorpusError, match=r"a\.txt: not UTF-8: byte 0x.. at byte offset (\d+) .*declare"
    ) as caught:
        texts(put(tmp_path, bytes(data)))
    offset = int(str(caught.value).split("byte offset ")[1].split()[0])
    assert offset in range(places[0] - 3, places[0] + 1)


@pytest.mark.parametrize("wrong", [1, 2, 7])
def test_a_few_wrong_bytes_in_ascii_are_an_error(wrong: int, tmp_path: Path) -> None:
    path = put(tmp_path, b"plain text, caf\xe9 " * wrong)
    with pytest.raises(CorpusError, match="byte 0xE9 at byte offset 15 "):
        texts(path)


def test_a_wrong_byte_after_the_head_is_an_error(tmp_path: Path) -> None:
    path = put(tmp_path, b"a" * 99_999 + FRENCH.encode("latin-1"))
    with pytest.raises(CorpusError, match="byte 0xE9 at byte offset 100003 "):
        texts(path)


def test_bytes_that_are_no_text_are_an_error(tmp_path: Path) -> None:
    for data in (random.Random(1).randbytes(50_000), bytes(range(256)) * 20, b"\xff\xd8\xff\xe0" + bytes(99)):
        with pytest.raises(CorpusError, match="not UTF-8: byte 0x"):
            texts(put(tmp_path, data))


def test_without_charset_normalizer_nothing_is_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> Any:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(encoding.importlib, "import_module", absent)
    with pytest.raises(
        CorpusError, match=r"byte 0xC7 at byte offset 0 .*declare its encoding \(encoding=…\)"
    ):
        texts(put(tmp_path, GREEK.encode("cp1253")))
    assert importlib.import_module is absent


@pytest.mark.parametrize(
    "name, data, offset",
    [
        ("ascii", b"abc\xe9", 3),
        ("utf-8", b"abc\xc3", 3),
        ("utf-16-le", b"a\0b\0\x00\xd8c\0", 4),
        ("utf-16-le", b"a\0b", 2),
        ("gb18030", b"abc\xff\xff", 3),
        ("shift_jis", b"ab\x81", 2),
        ("cp1253", b"abcd\xaa", 4),
    ],
)
def test_what_an_encoding_does_not_have(name: str, data: bytes, offset: int, tmp_path: Path) -> None:
    for before in (b"", ("a" * 150_001 + "\n").encode(name)):  # also past the first chunk
        with pytest.raises(CorpusError, match=rf"a\.txt: not .* at byte offset {offset + len(before)} "):
            texts(put(tmp_path, before + data), encoding=name)


@pytest.mark.parametrize("name", ["klingon", "hex", "rot13", "", "a\0b", "undefined"])
def test_encodings_that_are_none(name: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"a\.txt: no encoding is called"):
        texts(put(tmp_path, b"a"), encoding=name)


@given(
    content=st.text(max_size=50),
    size=st.integers(1, 9),
    name=st.sampled_from(["utf-16-be", "gb18030", "utf-8"]),
)
def test_decoding_in_chunks(content: str, size: int, name: str) -> None:
    data = content.encode(name, "ignore")
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert "".join(encoding.decode(chunks, "a.txt", name)) == data.decode(name)


def test_an_encoding_for_json_lines_and_tables(tmp_path: Path) -> None:
    line = '{"text": "Ελλάδα", "lang": "ell"}\n'
    put(tmp_path, line.encode("utf-16"), "a.jsonl")
    put(tmp_path, "text,lang\nΕλλάδα,ell\n".encode("utf-16"), "b.csv")
    assert texts(tmp_path) == ["Ελλάδα", "Ελλάδα"]
    put(tmp_path, line.encode("cp1253"), "a.jsonl")
    put(tmp_path, "text,lang\nΕλλάδα,ell\n".encode("cp1253"), "b.csv")
    found = list(read(tmp_path, encoding="cp1253", select={"lang": "ell"}))
    assert [document.text for document in found] == ["Ελλάδα", "Ελλάδα"]


def test_is_plain_utf8() -> None:
    def plain(data: bytes, **options: Any) -> bool:
        return encoding.is_plain_utf8(io.BytesIO(data), Reading(**options))

    assert plain(b"abc")
    assert plain(GREEK.encode())
    assert plain(b"\xff", encoding="utf8")
    assert not plain(GREEK.encode("utf-16"))
    assert not plain(GREEK.encode("cp1253"))
    assert not plain(b"abc", encoding="latin-1")
    assert plain(b"a" * (encoding.SAMPLE - 1) + "é".encode())  # the head ends within a character
