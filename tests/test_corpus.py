"""Readers: documents and bounded parts, from every kind of source; errors that name file and byte."""

from __future__ import annotations

import errno
import lzma
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import byte_strings, texts

import syllabary
from syllabary.corpus import Document, files, iter_parts, read, text
from syllabary.errors import CorpusError


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
