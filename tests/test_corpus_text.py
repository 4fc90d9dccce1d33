"""Plain text: files, lines and what stands between separators, as documents and as parts."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from corpus_files import Counting, published
from hypothesis import given
from hypothesis import strategies as st

from syllabary.corpus import Reading, encoding, files, read, sources, stream_of, text
from syllabary.corpus.document import Stream
from syllabary.errors import CorpusError

SEPARATORS = ["|", "||", "aba", "\n\n", "é", "<|end|>"]


def between(content: str, separator: str) -> list[str]:
    """The documents between separators, as the standard library cuts them; a last one begins no other."""
    found = content.split(separator)
    return found if found[-1] or len(found) == 1 else found[:-1]


def lines(content: str) -> list[tuple[int, str]]:
    found = enumerate((line.removesuffix("\r") for line in content.split("\n")), 1)
    return [(number, line) for number, line in found if line]


def stream(content: str, start: int = 0) -> Stream:
    data = content.encode()
    return Stream("a.txt", "a.txt", None, lambda: io.BytesIO(data), start)


def documents(content: str, **options: Any) -> list[Any]:
    return list(sources.documents_of(stream(content), Reading(**options), lambda _: None))


def from_parts(content: str, **options: Any) -> list[str]:
    found, held = [], []
    for part, last in sources.parts_of(stream(content), Reading(**options), lambda _: None):
        held.append(part)
        if last:
            found.append("".join(held))
            held = []
    assert held == []
    return found


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "SAMPLE", 3)
    monkeypatch.setattr(encoding, "CHUNK", 2)


@given(content=st.text("ab|\n\ré<end>", max_size=40), separator=st.sampled_from(SEPARATORS))
def test_documents_between_separators(content: str, separator: str) -> None:
    expected = between(content, separator)
    with pytest.MonkeyPatch.context() as patch:
        for sample, chunk in ((1 << 16, 1 << 20), (3, 2)):
            patch.setattr(encoding, "SAMPLE", sample)
            patch.setattr(encoding, "CHUNK", chunk)
            found = documents(content, separator=separator)
            assert [document.text for document in found] == expected
            assert from_parts(content, separator=separator) == expected
            assert all(document.meta == {"path": "a.txt"} for document in found)


@given(content=st.text("ab\n\r\u2028\x85\x0bé", max_size=40))
def test_documents_by_line(content: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for sample, chunk in ((1 << 16, 1 << 20), (3, 2)):
            patch.setattr(encoding, "SAMPLE", sample)
            patch.setattr(encoding, "CHUNK", chunk)
            found = documents(content, documents="line")
            assert [(document.meta["line"], document.text) for document in found] == lines(content)
            assert from_parts(content, documents="line") == [line for _, line in lines(content)]


@given(
    chunks=st.lists(st.text("ab|", max_size=6), max_size=8),
    separator=st.sampled_from(["|", "||", "aba", "aa"]),
)
def test_a_separator_may_lie_across_chunks(chunks: list[str], separator: str) -> None:
    found, held = [], ""
    for part, last in text.cut(chunks, separator):
        held += part
        if last:
            found.append(held)
            held = ""
    assert held == ""
    assert found == between("".join(chunks), separator)


def test_a_separator_wins_over_lines() -> None:
    assert [document.text for document in documents("a\nb|c\n", documents="line", separator="|")] == [
        "a\nb",
        "c\n",
    ]
    with pytest.raises(ValueError, match="separator is empty"):
        list(read("a", separator=""))


def test_an_empty_file() -> None:
    assert [document.text for document in documents("")] == [""] == from_parts("")
    assert [document.text for document in documents("", separator="|")] == [""]
    assert documents("", documents="line") == []
    assert [document.text for document in documents("||", separator="|")] == ["", ""]


def test_line_numbers_are_only_given_where_they_are_known() -> None:
    found = sources.documents_of(stream("a\nb", start=7), Reading(documents="line"), lambda _: None)
    assert [document.meta for document in found] == [{"path": "a.txt"}] * 2


def test_separators_cut_as_encode_files_does(tmp_path: Path) -> None:
    import syllabary

    tok = syllabary.train(["arma arma"], 257)
    path = tmp_path / "a.txt"
    for content in ("a|b||c|", "|", "", "a", "||", "é|\n"):
        path.write_bytes(content.encode())
        theirs = [tok.decode(ids.tolist()) for ids in tok.encode_files([path], separator="|")]
        assert theirs == [document.text for document in documents(content, separator="|")]


@pytest.mark.parametrize("options", [{}, {"documents": "line"}, {"separator": "|"}])
def test_parts_are_small_and_read_in_small_steps(options: dict[str, Any]) -> None:
    file = Counting(b"arma virum " * 400_000)
    found = sources.parts_of(stream_of(file, "-"), Reading(**options), lambda _: None)
    held = []
    for part, _ in found:
        held.append(len(part))
        assert file.tell() <= sum(held) + 2 * files.CHUNK  # nothing is read ahead
    assert sum(held) == 4_400_000
    assert max(held) <= files.CHUNK + 1
    assert file.most <= files.CHUNK


@pytest.mark.parametrize("options", [{"documents": "line"}, {"separator": "\n"}])
def test_documents_come_before_the_file_is_read(options: dict[str, Any]) -> None:
    file = Counting(b"arma virum\n" * 400_000)
    found = sources.documents_of(stream_of(file, "-"), Reading(**options), lambda _: None)
    assert next(found).text == "arma virum"
    assert file.tell() <= encoding.SAMPLE + io.DEFAULT_BUFFER_SIZE
    assert sum(1 for _ in found) == 399_999


def test_what_comes_before_a_broken_byte_is_given(small_chunks: None, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\nth\xffree\nfour\n")
    found = read(tmp_path / "a.txt", documents="line")
    assert [next(found).text, next(found).text] == ["one", "two"]
    with pytest.raises(CorpusError, match=r"a\.txt: not UTF-8: byte 0xFF at byte offset 10 "):
        next(found)


def test_real_lines(shared: Path) -> None:
    expected = [line for _, line in lines(published(shared, "latin"))]
    assert len(expected) > 100
    reading = Reading(documents="line")
    (found,) = sources.streams(shared / "corpora" / "latin.txt.xz", reading, lambda *_: None)
    assert isinstance(found, Stream)
    assert [document.text for document in sources.documents_of(found, reading, lambda _: None)] == expected
    in_parts = "".join(part + "\n" * last for part, last in sources.parts_of(found, reading, lambda _: None))
    assert in_parts.split("\n")[:-1] == expected
