"""Archives -> streams of their members, one after the other: tar, also compressed, and zip.

Adds members in the archive's own order, filtered by globs as the files of a folder are; compressed members
are unpacked too. A damaged or truncated archive, one with a password and one that only unpacks for ever is a
`CorpusError` that names the archive and the member. Nothing is written to disk.
Leaves out: links within a tar (their text is another member's), archives in archives (an error), tar files
joined by `cat` (an error).
"""

from __future__ import annotations

import errno
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from syllabary.corpus.document import HEAD, Reading, Stream
from syllabary.corpus.files import CHUNK, hidden, included, wanted
from syllabary.corpus.unpack import Meter, ReadBy, by_head, inner_name, unpacked
from syllabary.errors import CorpusError

BUFFER = 1 << 16
NAMES = (*tarfile.GNU_TYPES[:2], tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
MAX_NAMES = 1 << 20  # bytes of a header of these types, which hold names and times

ERRORS = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,  # a method of compression that zipfile does not know
    RuntimeError,  # a password
    ValueError,
    OverflowError,
)


def is_archive(name: str) -> bool:
    """Whether a name is a tar's, also a compressed one's, or a zip's.

    >>> [is_archive(name) for name in ("a.tar", "a.tgz", "a.tar.zst", "a.ZIP", "a.gz", "tar")]
    [True, True, True, True, False, False]
    """
    return inner_name(name).lower().endswith((".tar", ".zip"))


def members(path: Path, reading: Reading, shown: str) -> Iterator[Stream]:
    """The members of an archive that the globs let through, as streams; a tar's is over when the next comes.

    shown: the archive's path relative to its folder: if `include` matches it, everything in it is wanted.
    """
    if reading.include and included(shown, reading):
        reading = _everything(reading)
    if inner_name(path.name).lower().endswith(".zip"):
        yield from _streams(str(path), _zip(path, reading))
    else:
        yield from _streams(str(path), _tar(str(path), lambda: unpacked(path.open("rb"), str(path)), reading))


def members_in(stream: Stream, reading: Reading) -> Iterator[Stream]:
    """The same of a tar that is read as it comes, as on standard input."""
    yield from _streams(stream.name, _tar(stream.name, stream.open, reading))


def _streams(archive: str, found: Iterator[tuple[str, Callable[[], BinaryIO]]]) -> Iterator[Stream]:
    for name, opened in found:
        shown = f"{archive}/{name}"
        if is_archive(name):
            opened = _nested(shown)
        yield Stream(shown, inner_name(name.rpartition("/")[2]), None, _unpacking(opened, shown, name))


def stream_of(file: BinaryIO, name: str = "-", inner: str | None = None) -> Stream:
    """An open binary file, as standard input, as a stream that is read once; its reader is that of `inner`.

    It is unpacked if `inner` has a suffix of compression; without `inner`, if its first bytes say that it is
    packed, and then it is plain text, or a tar's members. `Reading.kind` says otherwise.
    """
    if inner is None:
        return Stream(name, name, None, _Once(name, by_head(file, name)).open)
    return Stream(name, inner_name(inner), None, _Once(name, unpacked(file, inner, name)).open)


def _everything(reading: Reading) -> Reading:
    import dataclasses

    return dataclasses.replace(reading, include=())


def _nested(shown: str) -> Callable[[], BinaryIO]:
    def opened() -> BinaryIO:
        raise CorpusError(f"{shown}: an archive in an archive; unpack the outer one")

    return opened


def _unpacking(opened: Callable[[], BinaryIO], shown: str, name: str) -> Callable[[], BinaryIO]:
    return opened if inner_name(name) == name else lambda: unpacked(opened(), shown)


class _Info(tarfile.TarInfo):
    """A header; a damaged one is an error, where `tarfile` takes it for the end and drops what follows."""

    @classmethod
    def frombuf(cls, buf: Any, encoding: str, errors: str) -> Any:
        try:
            info = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if type(error).__name__ == "EOFHeaderError":  # the mark of the end
                raise
            raise tarfile.ReadError(str(error)) from error
        if info.type in NAMES and info.size > MAX_NAMES:  # subtle: it would be read at once
            raise tarfile.ReadError(f"{info.size} bytes that only name the next member")
        return info


def _tar(
    path: str, opening: Callable[[], BinaryIO], reading: Reading
) -> Iterator[tuple[str, Callable[[], BinaryIO]]]:
    meter = Meter(path)
    with opening() as file:
        source = _Counted(file, meter)
        with _guard(path), _open_tar(source) as archive:
            while (info := archive.next()) is not None:
                archive.members.clear()  # subtle: it would keep them all
                if info.isfile() and not hidden(info.name) and wanted(_relative(info.name), reading):
                    member = cast(BinaryIO, archive.extractfile(info))
                    shown = f"{path}/{info.name}"
                    yield info.name, _Once(shown, _member(member, shown, meter)).open
            _rest(source)


def _open_tar(source: _Counted) -> Any:
    return tarfile.open(fileobj=cast(Any, source), mode="r|", tarinfo=_Info)


def _rest(source: _Counted) -> None:
    """Read what follows the end mark, so that sums are checked; only zeros may stand there."""
    while chunk := source.read(CHUNK):
        if chunk.strip(b"\0"):
            raise tarfile.ReadError("more follows after its end mark; if archives were joined, part them")


def _zip(path: Path, reading: Reading) -> Iterator[tuple[str, Callable[[], BinaryIO]]]:
    meter = Meter(str(path))
    with _guard(path), zipfile.ZipFile(path) as archive:
        meter.packed = path.stat().st_size
        for info in archive.infolist():
            name = info.filename
            if not name.endswith("/") and not hidden(name) and wanted(_relative(name), reading):
                yield name, _in_zip(archive, info, f"{path}/{name}", meter)


def _in_zip(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, shown: str, meter: Meter
) -> Callable[[], BinaryIO]:
    def opened() -> BinaryIO:
        with _guard(shown):
            return _member(cast(BinaryIO, archive.open(info)), shown, meter)

    return opened


def _relative(name: str) -> str:
    """A member's name as the globs see it: without `./` and `/` before it."""
    return name.removeprefix("./").lstrip("/")


class _guard:  # noqa: N801
    """Turns what the libraries raise about an archive into a `CorpusError` that names it."""

    def __init__(self, name: object) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        nowhere = isinstance(error, OSError) and error.errno == errno.EINVAL  # an offset before the file
        if nowhere or (isinstance(error, ERRORS) and not isinstance(error, CorpusError)):
            raise CorpusError(
                f"{self.name}: damaged or truncated archive, or one of an unknown kind ({error}); fetch or "
                "pack it again"
            ) from error


class _Counted:
    """The bytes of a tar on their way to `tarfile`."""

    def __init__(self, file: BinaryIO, meter: Meter) -> None:
        self._file, self._meter = file, meter

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._meter.packed += len(data)
        return data


def _member(file: BinaryIO, shown: str, meter: Meter) -> BinaryIO:
    """A member of an archive with errors that name it, counted against bombs."""

    def step(size: int) -> bytes:
        with _guard(shown):
            data = file.read(size)
        meter.add(len(data))
        return data

    return cast(BinaryIO, io.BufferedReader(ReadBy(step, file.close), BUFFER))


class _Once:
    """A file that can be read once, and opened again while not more than its first `HEAD` bytes were read."""

    def __init__(self, name: str, file: BinaryIO) -> None:
        self.name, self.file, self.head, self.read = name, file, bytearray(), 0

    def open(self) -> BinaryIO:
        """The bytes from the beginning; `CorpusError` if that is no longer possible."""
        if self.read > len(self.head):
            raise CorpusError(f"{self.name}: can be read only once; write it to a file first")
        at = 0

        def step(size: int) -> bytes:
            nonlocal at
            if at < len(self.head):
                data = bytes(self.head[at : at + size])
            else:
                data = self.file.read(size)
                self.read += len(data)
                if self.read <= HEAD:
                    self.head += data
            at += len(data)
            return data

        return cast(BinaryIO, io.BufferedReader(ReadBy(step)))
