"""Corpora: what a user calls "my text" -> documents, or bounded parts of documents for the trainer.

Adds the two functions that do it in one call. Files are found by `files`, opened by `unpack` and `archives`,
read by the readers of `readers.READERS` (a new one is one module and one line there), and `Corpus` selects
and cares for their documents. What can be said of the reading is in `Reading`, of the care in `Care`.
Leaves out: cleaning and shuffling; splitting into pieces (`syllabary.reference`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from syllabary.corpus.archives import stream_of
from syllabary.corpus.care import Care
from syllabary.corpus.corpus import Corpus
from syllabary.corpus.document import Document, Part, Reader, Reading, Stream
from syllabary.corpus.readers import READERS, reader_of
from syllabary.corpus.report import Report
from syllabary.corpus.sources import Source, Unit

__all__ = [
    "READERS",
    "Care",
    "Corpus",
    "Document",
    "Part",
    "Reader",
    "Reading",
    "Report",
    "Source",
    "Stream",
    "Unit",
    "iter_parts",
    "read",
    "reader_of",
    "stream_of",
]

Globs: TypeAlias = "str | Iterable[str] | None"
Select: TypeAlias = "Mapping[str, str | Iterable[str]] | Iterable[tuple[str, str]] | None"


def read(
    source: Source,
    *,
    include: Globs = None,
    exclude: Globs = None,
    kind: str | None = None,
    documents: Literal["file", "line", "every-line"] = "file",
    separator: str | None = None,
    column: str = "text",
    encoding: str | None = None,
    division: Literal["auto", "work", "chapter", "letter"] = "auto",
    beta_code: bool | None = None,
    select: Select = None,
    on_error: Literal["raise", "skip"] = "raise",
    errors: Literal["strict", "replace"] = "strict",
    normalize: Literal["NFC", "NFD", "NFKC", "NFKD"] | None = None,
    drop_duplicates: bool = False,
    fraction: float | None = None,
    rest: float | None = None,
    seed: int = 0,
) -> Iterator[Document]:
    """The documents of a source, in its order; the files of a folder sorted by path.

    source: a `str` or `PathLike` is one path (file, folder or archive); in any other iterable, `str` and
        `bytes` are documents, `PathLike`s are paths and `Stream`s (`stream_of(sys.stdin.buffer)`) themselves.
    include, exclude: of folders and archives, only files that match one of these globs, and none of those:
        of names, as `"*.py"`, or, with a `/`, of paths below the folder, as `"grc/**"`.
    kind: a reader's name, as `"jsonl"`; None: by the suffix. encoding: None: found out.
    documents, separator: of plain text, one document a file, a line that is not empty (`"line"`) or a line
        (`"every-line"`), or what stands between documents.
    column: of tables and JSON, where the text is. division, beta_code: of TEI.
    select: only documents with these values in `meta`, as `{"lang": "grc"}`; of several of one name, any.
    on_error: `"skip"` leaves out files that cannot be read; `Corpus.report` lists them.
    errors: `"replace"` reads bytes that are no text as U+FFFD, where they are else an error; `Corpus.report`
        counts them.
    normalize, drop_duplicates, fraction, rest, seed: see `Care`.

    Raises `OSError` (with the path; if a `str` names no file, with the way to give text) for what cannot be
    opened, `CorpusError` for what cannot be decoded (which file, at which byte) and for damaged archives,
    `TypeError` for a source of another type. Warns `CorpusWarning` where an encoding is guessed, bytes
    were replaced or normal forms of Unicode are mixed.

    >>> [document.text for document in read(["arma virumque", "cano".encode()])]
    ['arma virumque', 'cano']
    """
    reading = Reading(
        include=_globs(include),
        exclude=_globs(exclude),
        kind=kind,
        documents=documents,
        separator=separator,
        column=column,
        encoding=encoding,
        division=division,
        beta_code=beta_code,
        select=_pairs(select),
        on_error=on_error,
        errors=errors,
    )
    care = Care(normalize=normalize, drop_duplicates=drop_duplicates, fraction=fraction, rest=rest, seed=seed)
    yield from Corpus(source, reading, care)


def iter_parts(source: Source, *, include: Globs = None) -> Iterator[Part]:
    """The same documents as `read`, each as `(part, last)` pairs of bounded size.

    A large plain text comes in parts of about 65,000 characters and is never held whole; `last` is
    true on the part that ends its document (which may be empty). Parts are cut between characters and
    nowhere in particular: a piece may begin in one and end in the next.

    >>> list(iter_parts(["arma", "cano"]))
    [('arma', True), ('cano', True)]
    """
    yield from Corpus(source, Reading(include=_globs(include))).parts()


def _globs(globs: Globs) -> tuple[str, ...]:
    if globs is None:
        return ()
    return (globs,) if isinstance(globs, str) else tuple(globs)


def _pairs(select: Select) -> tuple[tuple[str, str], ...]:
    """A mapping to a value or several, or pairs -> pairs."""
    if select is None:
        return ()
    if not isinstance(select, Mapping):
        return tuple((name, value) for name, value in select)
    return tuple(
        (name, value)
        for name, values in select.items()
        for value in ((values,) if isinstance(values, str) else values)
    )
