"""Files -> units: pieces of a source that several processes read, each on its own.

Adds the grouping of small files and the cuts through a large one, made where a document ends, so that a unit
is read like a file. Leaves out: who reads them.
"""

from __future__ import annotations

import codecs
import io
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from syllabary.corpus.archives import is_archive
from syllabary.corpus.document import Reading, Stream
from syllabary.corpus.encoding import is_plain_utf8
from syllabary.corpus.files import CHUNK
from syllabary.corpus.unpack import inner_name
from syllabary.errors import CorpusError
from syllabary.reference.symbols import plural


@dataclass(frozen=True, slots=True)
class Unit:
    """Whole files, or the documents of one plain UTF-8 file that begin in bytes [start, stop).

    root: the folder in which the files were found, from which the globs count; None: they were named.
    Made by `units`, which cuts only where a document ends.
    """

    paths: tuple[str, ...]
    start: int | None = None
    stop: int | None = None
    root: str | None = None


def units_of_files(files: list[Path], root: Path, reading: Reading, size: int) -> list[Unit]:
    """Units of about `size` bytes that hold the files in order, each file in one unit or cut."""
    folder = str(root) if root.is_dir() else None
    found: list[Unit] = []
    group: list[str] = []
    grouped = 0
    for path in files:
        length = _length(path)
        cuts = _cuts_of(path, reading, size, length) if length > size else []
        if group and (cuts or grouped + length > size):
            found.append(Unit(tuple(group), root=folder))
            group, grouped = [], 0
        if cuts:
            bounds = [0, *cuts, length]
            found += [Unit((str(path),), start, stop, folder) for start, stop in itertools.pairwise(bounds)]
        else:
            group.append(str(path))
            grouped += length
    if group:
        found.append(Unit(tuple(group), root=folder))
    return found


def within(unit: Unit) -> Stream:
    """The stream of a unit that is a part of a file."""
    path, start, stop = Path(unit.paths[0]), unit.start or 0, unit.stop

    def opened() -> BinaryIO:
        file = path.open("rb")
        file.seek(start)
        return file if stop is None else cast(BinaryIO, io.BufferedReader(_Range(file, stop - start), CHUNK))

    return Stream(str(path), path.name, None, opened, start)


class _Range(io.RawIOBase):
    """The next `left` bytes of a file."""

    def __init__(self, file: BinaryIO, left: int) -> None:
        self._file, self._left = file, left

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(min(len(buffer), self._left))
        if self._left and not data:
            raise CorpusError(
                f"{self._file.name}: has become {plural(self._left, 'byte')} shorter since reading began; "
                "let it rest, and begin again"
            )
        self._left -= len(data)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def _length(path: Path) -> int:
    """Its bytes; 0 for what cannot be asked: the error comes when it is read."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _cuts_of(path: Path, reading: Reading, size: int, length: int) -> list[int]:
    """All of `_cuts`; none for a file that cannot be read: the error comes when it is."""
    try:
        return list(_cuts(path, reading, size, length))
    except OSError:
        return []


def _cuts(path: Path, reading: Reading, size: int, length: int) -> Iterator[int]:
    """Where a document begins, about every `size` bytes; nothing for a file that must be read whole."""
    separator = _separator(path, reading)
    if separator is None:
        return
    with path.open("rb") as file:
        if not is_plain_utf8(file, reading) or not _whole(file, reading):
            return
        at = size
        while at < length:
            cut = _next(file, separator, at)
            if cut is None or cut >= length:
                return
            yield cut
            at = cut + size


def _whole(file: BinaryIO, reading: Reading) -> bool:
    """Whether all of a file is read: with `on_error="skip"` it ends at its first byte that is not UTF-8."""
    if reading.on_error == "raise" or reading.errors == "replace":
        return True
    file.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while chunk := file.read(CHUNK):
            decoder.decode(chunk)
        decoder.decode(b"", True)
    except UnicodeDecodeError:
        return False
    return True


def _separator(path: Path, reading: Reading) -> bytes | None:
    """What ends a document of this file; None if that is not plain to see."""
    from syllabary.corpus.readers import reader_of_stream

    name = path.name
    if inner_name(name) != name or is_archive(name):
        return None
    if any(selected == "line" for selected, _ in reading.select):
        return None  # the lines of a piece have no numbers
    kind = reader_of_stream(Stream(str(path), name, path, lambda: path.open("rb")), reading).name
    if kind == "jsonl":
        return b"\n"
    if kind != "text":
        return None
    if reading.separator is not None:
        return reading.separator.encode("utf-8", "surrogatepass") or None
    return None if reading.documents == "file" else b"\n"


def _next(file: BinaryIO, separator: bytes, at: int) -> int | None:
    """Where the first separator that is one for sure and begins at `at` or later ends; None: nowhere.

    A separator that overlaps itself ("\\n\\n" in "\\n\\n\\n") is one for sure only if no other begins in the
    bytes before it that it could share.
    """
    length = len(separator)
    file.seek(max(at - length, 0))
    base, data = file.tell(), b""
    last = -length  # where the last separator, sure or not, begins, from the start of the file
    while chunk := file.read(CHUNK):
        data += chunk
        here = data.find(separator)
        while here >= 0:
            begin = base + here
            sure = begin - last >= length and begin >= at
            if sure:
                return begin + length
            last = begin
            here = data.find(separator, here + 1)
        keep = min(len(data), length - 1)
        base += len(data) - keep
        data = data[len(data) - keep :]
    return None
