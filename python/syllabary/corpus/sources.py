"""Sources -> streams and documents in memory; and pieces of sources for several processes.

Adds the rule of what a source is (one path; or an iterable of documents, paths and streams) and the way from
it to the reader of each file. Leaves out: what becomes of documents afterwards (`corpus`, `care`).
"""

from __future__ import annotations

import dataclasses
import errno
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, TypeAlias

from syllabary.corpus.archives import is_archive, members, members_in
from syllabary.corpus.document import Document, Part, Reading, Replaced, Stream, Told, ignore
from syllabary.corpus.encoding import is_tar
from syllabary.corpus.files import files_of, no_file
from syllabary.corpus.readers import reader_of_stream
from syllabary.corpus.undecodable import replaced as replaced_bytes
from syllabary.corpus.units import Unit, units_of_files, within
from syllabary.corpus.unpack import inner_name, unpacked
from syllabary.errors import CorpusError
from syllabary.files import name_error

__all__ = [
    "Source", "Unit", "documents_of", "named_only", "only_once", "parts_of", "streams", "streams_of_unit",
    "units",
]  # fmt: skip

Source: TypeAlias = str | os.PathLike[str] | Iterable[str | bytes | os.PathLike[str] | Stream]
Skipped: TypeAlias = Callable[[str, str], None]

TAR_HEADER = 512
MAX_NAME = 4096  # characters of a path that can be
MAX_SHOWN = 1000  # characters of a path that is none; a whole corpus would fill the screen


def streams(
    source: Source, reading: Reading, skipped: Skipped, replaced: Replaced = ignore
) -> Generator[Stream | Document]:
    """The members of a source, in its order; the files of a folder sorted by path, of an archive as stored.

    A member of a tar must be read before the next is asked for. What cannot even be opened is an error, or,
    with `on_error="skip"`, goes to `skipped` with its name and the reason; so does what a reader leaves out.
    replaced: is told of documents in memory as `Stream.replaced` of files.
    Raises `OSError` (with the path; if a `str` names no file, with the way to give text), `CorpusError` for
    folders and archives without a file that is wanted, damaged archives, and bytes that are not UTF-8;
    `TypeError` for a source of another type.
    """
    for index, item in enumerate(_items(source)):
        if isinstance(item, Path):
            yield from _of_path(item, reading, skipped)
        elif isinstance(item, Stream):
            yield from _of_stream(dataclasses.replace(item, skipped=skipped), reading)
        else:
            try:
                document = Document(_decoded(item, index, reading, replaced), {"index": index})
            except CorpusError as error:
                _skip(f"document {index}", error, reading, skipped)
            else:
                yield document


def documents_of(stream: Stream, reading: Reading, told: Told) -> Iterator[Document]:
    """The documents of one stream, by the reader of its kind; its errors are raised."""
    return reader_of_stream(stream, reading).documents(stream, reading, told)


def parts_of(stream: Stream, reading: Reading, told: Told) -> Iterator[Part]:
    """The same documents as `(part, last)`, where a part is small even if the document is not."""
    reader = reader_of_stream(stream, reading)
    if reader.parts is not None:
        yield from reader.parts(stream, reading, told)
    else:
        for document in reader.documents(stream, reading, told):
            yield document.text, True


def units(source: Source, reading: Reading, size: int) -> list[Unit]:
    """A source in pieces of about `size` bytes, whose documents, one unit after the other, are the source's.

    Files are kept together up to `size`; a larger one is cut between documents if it is plain UTF-8 with a
    document a line or by separator. [] for anything but paths: documents in memory, streams, iterators.
    Raises as `streams` does for paths that are not there.
    """
    if size < 1:
        raise ValueError(f"size is {size}: give a number of bytes, at least 1")
    if not isinstance(source, (str, os.PathLike, list, tuple)):
        return []
    broken: list[OSError] = []

    def failed(error: OSError) -> None:
        if reading.on_error == "raise":
            raise error
        broken.append(error)

    items = list(_items(source))
    if not all(isinstance(item, Path) for item in items):
        return []
    found: list[Unit] = []
    for path in items:
        assert isinstance(path, Path)
        files = files_of(path, reading, failed)
        if path.is_dir() and not files:
            raise no_file(path, reading)
        files += [Path(error.filename) for error in broken]  # reading them will say why
        broken.clear()
        found += units_of_files(files, path, reading, size)
    return found


def streams_of_unit(
    unit: Unit, reading: Reading, skipped: Skipped = lambda *_: None
) -> Generator[Stream | Document]:
    """The streams of one unit; errors as `streams` has them."""
    if unit.start is not None:
        yield dataclasses.replace(within(unit), skipped=skipped)
        return
    for path in unit.paths:
        yield from _of_file(Path(path), Path(unit.root) if unit.root else None, reading, skipped)


def _of_path(path: Path, reading: Reading, skipped: Skipped) -> Iterator[Stream]:
    """The streams of a file, a folder or an archive; an error if there is none that is wanted."""
    empty = True

    def failed(error: Exception) -> None:
        nonlocal empty
        empty = False
        _skip(str(getattr(error, "filename", None) or path), error, reading, skipped)

    def noted(name: str, why: str) -> None:
        nonlocal empty
        empty = False
        skipped(name, why)

    for file in files_of(path, reading, failed):
        for stream in _of_file(file, path, reading, noted):
            empty = False
            yield stream
    if empty:
        raise no_file(path, reading)


def _of_file(path: Path, root: Path | None, reading: Reading, skipped: Skipped) -> Iterator[Stream]:
    """The stream of a file, or those of an archive. root: the folder in which it was found."""
    if not is_archive(path.name):
        yield Stream(str(path), inner_name(path.name), _plain(path), _opening(path), 0, skipped)
        return
    shown = path.relative_to(root).as_posix() if root is not None and root != path else ""
    try:
        for stream in members(path, reading, shown):
            yield dataclasses.replace(stream, skipped=skipped)
    except (CorpusError, OSError) as error:
        _skip(str(path), error, reading, skipped)


def _of_stream(stream: Stream, reading: Reading) -> Iterator[Stream]:
    """A stream itself; if it is a tar that comes through a pipe, those of its members."""
    empty = True
    try:
        if not _is_tar(stream):
            yield stream
            return
        for member in members_in(stream, reading):
            empty = False
            yield dataclasses.replace(member, skipped=stream.skipped)
    except (CorpusError, OSError) as error:
        _skip(stream.name, error, reading, stream.skipped)
        return
    if empty:
        raise no_file(Path(stream.name), reading)


def _is_tar(stream: Stream) -> bool:
    if stream.path is not None:
        return False
    with stream.open() as file:
        return is_tar(file.read(TAR_HEADER))


def _plain(path: Path) -> Path | None:
    return path if inner_name(path.name) == path.name else None


def _opening(path: Path) -> Callable[[], BinaryIO]:
    return lambda: unpacked(path.open("rb"), str(path))


def _skip(name: str, error: Exception, reading: Reading, skipped: Skipped) -> None:
    """Raise the error, or tell it; a library that is not installed is always raised."""
    name_error(error, name)
    if reading.on_error == "raise" or isinstance(error.__cause__, ImportError):
        raise error
    skipped(name, why(error))


def why(error: Exception) -> str:
    """The error as a sentence; of an `OSError` the reason alone: its name is known, its number no help."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _items(source: Source) -> Iterator[str | bytes | Path | Stream]:
    """The members of a source: documents and streams as they are, paths as `Path`."""
    if isinstance(source, str):
        _check_exists(source)
    if isinstance(source, (str, os.PathLike)):
        yield Path(source)
        return
    if isinstance(source, Mapping):
        raise TypeError(
            "a source is no dict, but for languages, which `train` takes without model= and like="
        )
    if isinstance(source, (bytes, bytearray, memoryview)) or not isinstance(source, Iterable):
        raise TypeError(
            f"a source is a path (str or PathLike) or an iterable of documents and paths, not "
            f"{type(source).__name__}; one document is [document]"
        )
    if hasattr(source, "columns"):  # a table, which would give their names
        raise TypeError(f'the source is {type(source).__name__}: give one column, as source["text"]')
    if hasattr(source, "to_pylist"):  # a column of pyarrow
        raise TypeError(f"the source is {type(source).__name__}: give its .to_pylist()")
    for index, item in enumerate(source):
        if isinstance(item, (str, bytes, Stream)):
            yield item
        elif isinstance(item, os.PathLike):
            yield Path(item)
        else:
            raise TypeError(
                f"item {index} of the source is {type(item).__name__}: give str or bytes (a document) "
                "or a PathLike (a file)"
            )


def named_only(source: Source) -> str | None:
    """A sentence about a list whose strings are all names of files, which are documents here."""
    names = source if isinstance(source, (list, tuple)) else ()
    are_files = (isinstance(name, str) and len(name) <= MAX_NAME and os.path.isfile(name) for name in names)
    if not names or not all(are_files):  # which the first text says, as a rule
        return None
    return (
        f"each text is the name of a file, as {names[0]!r}, and only the name was read: "
        "to read files, give pathlib.Path(name)"
    )


def only_once(source: Source) -> str | None:
    """What of a source cannot be read again, if anything: an iterator, a stream, or a pipe, which would keep
    who opens it again waiting for ever, or be empty."""
    if hasattr(source, "__next__"):
        return "an iterator"
    given = [Path(source)] if isinstance(source, (str, os.PathLike)) else source
    for item in given if isinstance(given, (list, tuple)) else ():
        if isinstance(item, Stream) and item.path is None:
            return item.name
        if isinstance(item, os.PathLike) and Path(item).is_fifo():
            return str(item)
    return None


def _check_exists(path: str) -> None:
    """`FileNotFoundError` for a `str` that is no path: most likely it is text."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:  # ValueError: it holds a NUL
        raise _no_path(path) from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise _no_path(path) from error
        raise


def _no_path(path: str) -> FileNotFoundError:
    shown = path if len(path) <= MAX_SHOWN else path[:MAX_SHOWN] + "…"
    return FileNotFoundError(
        errno.ENOENT, 'No such file or folder (a str is a path; text goes in a list: ["…"])', shown
    )


def _decoded(document: str | bytes, index: int, reading: Reading, told: Replaced) -> str:
    if isinstance(document, str):
        return document
    if reading.errors == "replace":
        return replaced_bytes(document, f"document {index}", 0, told)
    try:
        return document.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"document {index} is not UTF-8: byte 0x{document[error.start]:02X} at byte offset {error.start} "
            f"({error.reason}); decode it before"
        ) from error
