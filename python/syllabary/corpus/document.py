"""What readers take and yield: options, opened files, documents and parts of documents.

Adds the shapes and the record of a reader. Leaves out: reading (one module a kind of file) and what is done
to documents afterwards (`care`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

from syllabary.arguments import check_choice

Part: TypeAlias = tuple[str, bool]
Replaced: TypeAlias = Callable[[str, int, "int | None"], None]

HEAD = 1 << 20  # bytes that every stream can give twice


def ignore(*_: object) -> None:
    """Where nobody wants to be told."""


def seen_enough(_text: str) -> tuple[bool, bool]:
    """Where nobody wants to see text."""
    return False, False


class PlainFile(str):
    """An empty part of a document, which stands for what follows: the text of a plain file of UTF-8.

    Who can read files reads it by itself from byte `done` on, shows `see` what may not be in a normal form
    (`Trainer.feed_file`), and sets `done`: the next part begins there. For others it is an empty text.
    """

    path: Path
    done: int
    see: Callable[[str], tuple[bool, bool]]

    def __new__(cls, path: Path) -> PlainFile:
        """Nothing of it is read yet."""
        made = super().__new__(cls)
        made.path, made.done, made.see = path, 0, seen_enough
        return made


@dataclass(frozen=True, slots=True)
class Document:
    """One text and where it came from.

    meta: `path` for a file, `index` for a member of an iterable; `line` or `row` where a file holds many;
    `lang` (ISO 639-3, as `"grc"`) and `id` where the file says them. TEI adds `n` (as `"1.16"`) and `type`;
    tables add the values of their other columns.
    """

    text: str
    meta: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """How files become documents. What a kind of file does not know, it ignores.

    include, exclude: for folders and archives, globs of names or of paths within them; none: everything.
    kind: the reader's name (`"text"`, `"jsonl"`, `"tei"` …); None: by suffix.
    documents: of plain text, one a file, one a line that is not empty, or one a line whatever it is.
    separator: of plain text, what stands between documents, instead.
    column: of tables and JSON Lines, where the text is.
    encoding: as Python names it; None: a byte order mark, what the file declares, UTF-8, else detected.
    division: of TEI, what a document is.
    beta_code: of TEI, whether Greek is in beta code; None: found out from the file.
    select: only documents whose `meta` has these values, as `(("lang", "grc"),)`; one name twice: either.
    on_error: whether a file that cannot be read ends it all, or is left out and reported.
    errors: whether bytes that are no text in their encoding are an error, or become U+FFFD and are counted.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    kind: str | None = None
    documents: Literal["file", "line", "every-line"] = "file"
    separator: str | None = None
    column: str = "text"
    encoding: str | None = None
    division: Literal["auto", "work", "chapter", "letter"] = "auto"
    beta_code: bool | None = None
    select: tuple[tuple[str, str], ...] = ()
    on_error: Literal["raise", "skip"] = "raise"
    errors: Literal["strict", "replace"] = "strict"

    def __post_init__(self) -> None:
        check_choice("documents", self.documents, ("file", "line", "every-line"))
        check_choice("division", self.division, ("auto", "work", "chapter", "letter"))
        check_choice("on_error", self.on_error, ("raise", "skip"))
        check_choice("errors", self.errors, ("strict", "replace"))
        for name in ("include", "exclude", "select"):
            if not isinstance(getattr(self, name), tuple):
                raise TypeError(f"{name} is {type(getattr(self, name)).__name__}: give a tuple")
        if self.separator == "":
            raise ValueError("separator is empty: give a text that stands between documents, or None")


def place_of(document: Document, reading: Reading) -> str:
    """Where a document is, or, where nobody has counted, how it begins.

    >>> place_of(Document("ab", {"path": "a.jsonl", "line": 7}), Reading())
    'a.jsonl, line 7'
    """
    meta = document.meta
    if "path" not in meta:
        return f"document {meta.get('index', '?')}"
    inside = [f"{name} {meta[name]}" for name in ("line", "row", "n", "id") if name in meta]
    if not inside and (reading.separator is not None or reading.documents != "file"):
        inside = [f"the document that begins with {document.text[:40]!r}"]
    return ", ".join([str(meta["path"]), *inside[:1]])


@dataclass(frozen=True, slots=True)
class Stream:
    """One file, or one member of an archive, ready to be read; compression is undone already.

    name: what errors and `meta["path"]` call it, as `"perseus.tar.xz/cic.att.xml"`. inner: its name without
    compression's suffix, by which the reader is chosen. path: where it is on disk as it is, for readers that
    map or seek; None in archives and behind compression. open: its bytes from the beginning; what can be
    read only once (a member of a tar, a pipe) opens again as long as no more than `HEAD` bytes were read.
    start: where these bytes begin in the file, if they are a part of it. skipped: where a reader that goes
    on after an error (`on_error="skip"`) says what it left out: the name and why. replaced: where it says
    (`errors="replace"`) that bytes became U+FFFD: the name, how many times, and the first one's byte offset,
    None if that was said before. plain: whether parts may be `PlainFile`s.
    """

    name: str
    inner: str
    path: Path | None
    open: Callable[[], BinaryIO]
    start: int = 0
    skipped: Callable[[str, str], None] = ignore
    replaced: Replaced = ignore
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Reader:
    """How one kind of file is read.

    suffixes: of the names that it takes. documents: the whole documents of a stream. parts: the same as
    `(part, last)`, where a part is small even if the document is not; None: each document is one part.
    `told` is called with the encoding that a stream turned out to have.
    """

    name: str
    suffixes: tuple[str, ...]
    documents: Callable[[Stream, Reading, Told], Iterator[Document]]
    parts: Callable[[Stream, Reading, Told], Iterator[Part]] | None = None


Told: TypeAlias = Callable[[str], None]
