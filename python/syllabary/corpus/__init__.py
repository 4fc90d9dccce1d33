"""Readers: what a user calls "my text" -> documents, or bounded parts of documents for the trainer.

Adds the rule of what a source is (one path; or an iterable of documents and paths) and which reader a
file gets by its suffix: `.txt` and everything unknown are UTF-8 text, `.xml` is TEI, `.xz` of either is
unpacked on the way. A new reader is one module and one line in `READERS`.
Leaves out: cleaning, filtering and shuffling; splitting into pieces (`syllabary.reference`).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from syllabary.corpus import tei, text
from syllabary.corpus.document import Document, Part, Reader
from syllabary.corpus.files import Globs, files_of
from syllabary.errors import CorpusError

__all__ = ["Document", "Source", "iter_parts", "read", "reader_of"]

Source: TypeAlias = "str | os.PathLike[str] | Iterable[str | bytes | os.PathLike[str]]"

MAX_SHOWN = 1000  # characters of a path that is none; a whole corpus would fill the screen

READERS: dict[str, Reader] = {
    ".xml": tei.READER,
}


def read(source: Source, *, include: str | Iterable[str] | None = None) -> Iterator[Document]:
    """The documents of a source, in its order; the files of a folder sorted by path.

    source: a `str` or `PathLike` is one path (file or folder); in any other iterable, `str` and `bytes`
        are documents and `PathLike`s are paths.
    include: for folders, only files whose name matches one of these globs, as `"*.py"`.

    Raises `OSError` (with the path; if a `str` names no file, with the way to give text) for what cannot be
    opened, `CorpusError` for what cannot be decoded
    (which file, at which byte), `TypeError` for a source of another type.

    >>> [document.text for document in read(["arma virumque", "cano".encode()])]
    ['arma virumque', 'cano']
    """
    for index, item in enumerate(_items(source)):
        if isinstance(item, Path):
            for path in files_of(item, _globs(include)):
                yield from reader_of(path).documents(path)
        else:
            yield Document(_decoded(item, index), {"index": index})


def iter_parts(source: Source, *, include: str | Iterable[str] | None = None) -> Iterator[Part]:
    """The same documents as `read`, each as `(part, last)` pairs of bounded size.

    A large plain text comes in parts of about a million characters and is never held whole; `last` is
    true on the part that ends its document (which may be empty). Parts are cut between characters and
    nowhere in particular: a piece may begin in one and end in the next.

    >>> list(iter_parts(["arma", "cano"]))
    [('arma', True), ('cano', True)]
    """
    for index, item in enumerate(_items(source)):
        if isinstance(item, Path):
            for path in files_of(item, _globs(include)):
                yield from reader_of(path).parts(path)
        else:
            yield _decoded(item, index), True


def reader_of(path: Path) -> Reader:
    """The reader for a file, by its suffix without `.xz`.

    >>> reader_of(Path("a/cic.att.xml.xz")).name, reader_of(Path("notes.md")).name
    ('tei', 'text')
    """
    inner = path.with_suffix("") if path.suffix.lower() == ".xz" else path
    return READERS.get(inner.suffix.lower(), text.READER)


def _items(source: Source) -> Iterator[str | bytes | Path]:
    """The members of a source: documents as they are, paths as `Path`."""
    if isinstance(source, str):
        _check_exists(source)
    if isinstance(source, (str, os.PathLike)):
        yield Path(source)
        return
    if isinstance(source, (bytes, bytearray, memoryview)) or not isinstance(source, Iterable):
        raise TypeError(
            f"a source is a path (str or PathLike) or an iterable of documents and paths, not "
            f"{type(source).__name__}; one document is [document]"
        )
    for index, item in enumerate(source):
        if isinstance(item, (str, bytes)):
            yield item
        elif isinstance(item, os.PathLike):
            yield Path(item)
        else:
            raise TypeError(
                f"item {index} of the source is {type(item).__name__}: give str or bytes (a document) "
                "or a PathLike (a file)"
            )


def _check_exists(path: str) -> None:
    """`FileNotFoundError` for a `str` that is no path: most likely it is text."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:  # ValueError: it holds a NUL
        raise _no_file(path) from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise _no_file(path) from error
        raise


def _no_file(path: str) -> FileNotFoundError:
    shown = path if len(path) <= MAX_SHOWN else path[:MAX_SHOWN] + "…"
    return FileNotFoundError(
        errno.ENOENT, 'No such file or folder (a str is a path; text goes in a list: ["…"])', shown
    )


def _decoded(document: str | bytes, index: int) -> str:
    if isinstance(document, str):
        return document
    try:
        return document.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"document {index} is not UTF-8: byte 0x{document[error.start]:02X} at byte offset {error.start} "
            f"({error.reason}); decode it before"
        ) from error


def _globs(include: str | Iterable[str] | None) -> Globs:
    if include is None:
        return None
    return (include,) if isinstance(include, str) else tuple(include)
