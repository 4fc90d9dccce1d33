"""Compressed bytes -> bytes, by the name's suffix: gzip, bzip2, xz and zstd, in bounded memory.

Adds one file object over all four, which is strict where the standard library is not: a file that is cut
short, damaged or followed by other bytes is a `CorpusError` that names it, and so is one that unpacks to far
more than text could (a bomb: over `FREE` bytes, and over `RATIO` times what was read).
Leaves out: archives (`archives`); packing.
"""

from __future__ import annotations

import bz2
import importlib
import io
import lzma
import sys
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, Protocol, cast

from syllabary.errors import CorpusError

PACKED = 1 << 16  # bytes that are read at a time
FREE = 64 << 20  # unpacked bytes of which no ratio is asked
RATIO = 500  # the most that text packs to; gzip cannot do more than 1032, the others a multiple of it
MEMORY = 1 << 30  # bytes that an xz file may ask for
WINDOW = 1 << 31  # bytes that a zstd file may ask for: `zstd --long=31`, which published corpora use

BEGINNINGS = (  # of packed files; none of them begins a text
    (b"\x1f\x8b\x08", ".gz"),
    *((b"BZh%d" % level + block, ".bz2") for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90")),
    (b"\xfd7zXZ\0", ".xz"),
    (b"\x28\xb5\x2f\xfd", ".zst"),
)

BEGINNING = max(len(begin) for begin, _ in BEGINNINGS)

LONG = {".tgz": ".tar.gz", ".tbz": ".tar.bz2", ".tbz2": ".tar.bz2", ".txz": ".tar.xz", ".tzst": ".tar.zst"}


class Decompressor(Protocol):
    """What `bz2`, `lzma` and `compression.zstd` have in common; the others are made to look so."""

    eof: bool
    needs_input: bool
    unused_data: bytes

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """At most `max_length` bytes of what the data unpack to; the rest when called with nothing."""


def inner_name(name: str) -> str:
    """A name without compression's suffix.

    >>> inner_name("cic.att.xml.xz"), inner_name("all.tgz"), inner_name("notes.md")
    ('cic.att.xml', 'all.tar', 'notes.md')
    """
    name = _long(name)
    return name[: -len(suffix)] if (suffix := _suffix(name)) else name


def suffix_of(head: bytes) -> str:
    """Compression's suffix of a file that begins with these bytes, or `""`.

    >>> suffix_of(b"\\x1f\\x8b\\x08\\0"), suffix_of(b"BZh is Bozen's sign")
    ('.gz', '')
    """
    return next((suffix for begin, suffix in BEGINNINGS if head.startswith(begin)), "")


def by_head(file: BinaryIO, name: str) -> BinaryIO:
    """The bytes of a file without a name to go by: unpacked, if its first bytes say that they are packed."""
    opened: BinaryIO | None = None

    def step(size: int) -> bytes:
        nonlocal opened
        if opened is None:
            head = file.read(BEGINNING)
            whole = cast(BinaryIO, io.BufferedReader(ReadBy(_behind(head, file))))
            suffix = suffix_of(head)
            opened = unpacked(whole, name + suffix, name) if suffix else whole
        return opened.read(size)

    return cast(BinaryIO, io.BufferedReader(ReadBy(step)))


class ReadBy(io.RawIOBase):
    """A file that is read by a function of the number of bytes wanted. close: called when it is closed."""

    def __init__(self, step: Callable[[int], bytes], close: Callable[[], None] | None = None) -> None:
        self._step, self._close = step, close

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """See `io.RawIOBase`."""
        data = self._step(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """See `io.IOBase`."""
        if not self.closed and self._close is not None:
            self._close()
        super().close()


def _behind(head: bytes, file: BinaryIO) -> Callable[[int], bytes]:
    """What reads the bytes that were taken from a file already, then the file."""
    rest = head

    def step(size: int) -> bytes:
        nonlocal rest
        if not rest:
            return file.read(size)
        part, rest = rest[:size], rest[size:]
        return part

    return step


def unpacked(file: BinaryIO, name: str, shown: str | None = None) -> BinaryIO:
    """The bytes of a file with this name: unpacked, if its suffix says that they are packed.

    Closing the result closes the file. Raises `CorpusError` while it is read, with `shown` or the name.
    """
    suffix = _suffix(_long(name))
    if not suffix:
        return file
    shown = name if shown is None else shown
    try:
        new = _decompressor(suffix, shown)
    except CorpusError:
        file.close()
        raise
    return cast(BinaryIO, io.BufferedReader(_Unpacked(file, shown, suffix, new)))


class Meter:
    """Counts bytes before and after unpacking, and stops what can only be a bomb."""

    def __init__(self, name: str) -> None:
        self.name, self.packed, self.bytes = name, 0, 0

    def add(self, unpacked: int) -> None:
        """`CorpusError` if there are too many for what they were unpacked from."""
        self.bytes += unpacked
        if self.bytes > FREE and self.bytes > RATIO * self.packed:
            raise CorpusError(
                f"{self.name}: unpacks to more than {RATIO} times its size ({self.packed} bytes to over "
                f"{self.bytes - 1}), which no text does; unpack it by other means if it is to be trusted"
            )


class _Unpacked(io.RawIOBase):
    """A packed file as the file that it holds; several packed one after the other are one."""

    def __init__(self, file: BinaryIO, name: str, suffix: str, new: Callable[[], Decompressor]) -> None:
        self._file, self._name, self._suffix, self._new = file, name, suffix, new
        self._current: Decompressor | None = None
        self._begun = False
        self._meter = Meter(name)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not len(buffer):
            return 0
        try:
            data = self._next(len(buffer))
        except _errors() as error:
            if isinstance(error, CorpusError) or (isinstance(error, OSError) and error.errno is not None):
                raise
            raise CorpusError(
                f"{self._name}: damaged or truncated {self._suffix} file ({error}); fetch or pack it again"
            ) from error
        self._meter.add(len(data))
        buffer[: len(data)] = data
        return len(data)

    def _next(self, size: int) -> bytes:
        """Some bytes, at most `size`; none at the end."""
        while True:
            if self._current is None and not self._start():
                return b""
            current = cast(Decompressor, self._current)
            packed = b""
            if current.needs_input and not (packed := self._read()):
                raise EOFError("it ends before its end marker")
            data = current.decompress(packed, size)
            if current.eof:
                self._rest, self._current = current.unused_data, None
            if data:
                return data

    def _start(self) -> bool:
        """Begin the first packed part or the next; False at the end of the file."""
        rest = self._rest if self._begun else b""
        while not (rest := rest.lstrip(b"\0") if self._begun else rest):  # some pad with zeros
            if not (rest := self._read()):
                if not self._begun and self._suffix != ".gz":
                    raise EOFError("it is empty")
                return False
        self._begun = True
        self._current = self._new()
        self._held = rest
        return True

    _rest = b""
    _held = b""

    def _read(self) -> bytes:
        if self._held:
            held, self._held = self._held, b""
            return held
        data = self._file.read(PACKED)
        self._meter.packed += len(data)
        return data

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


class _Gzip:
    """`zlib` with the manners of the others; it checks the sum and the length at the end."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        out = self._zlib.decompress(self._zlib.unconsumed_tail + data, max(max_length, 0))
        self.needs_input = len(out) < max_length and not self._zlib.unconsumed_tail
        return out


class _Zstandard:
    """The library `zstandard`: it has no limit of what comes out, so little is put in at a time.

    A block of zstd is at least 4 bytes and at most 128 KiB unpacked: 1 KiB makes no more than 32 MiB.
    """

    STEP = 1024

    def __init__(self, module: Any) -> None:
        self._zstd = module.ZstdDecompressor(max_window_size=WINDOW).decompressobj()
        self._in = self._out = memoryview(b"")
        self.unused_data = b""

    @property
    def eof(self) -> bool:
        return bool(self._zstd.eof) and not self._out

    @property
    def needs_input(self) -> bool:
        return not self._out and not self._in

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        if data:
            self._in = memoryview(data)
        while not self._out and self._in and not self._zstd.eof:
            step, self._in = self._in[: self.STEP], self._in[self.STEP :]
            self._out = memoryview(self._zstd.decompress(step))
        end = len(self._out) if max_length < 0 else max_length
        out, self._out = bytes(self._out[:end]), self._out[end:]
        if self._zstd.eof:
            self.unused_data = self._zstd.unused_data + bytes(self._in)
        return out


def _decompressor(suffix: str, name: str) -> Callable[[], Decompressor]:
    if suffix == ".gz":
        return cast("Callable[[], Decompressor]", _Gzip)
    if suffix == ".bz2":
        return cast("Callable[[], Decompressor]", bz2.BZ2Decompressor)
    if suffix in {".xz", ".lzma"}:
        return lambda: cast(Decompressor, lzma.LZMADecompressor(memlimit=MEMORY))
    return _zstd(name)


def _zstd(name: str) -> Callable[[], Decompressor]:
    """The standard library's from Python 3.14 on, else `zstandard`."""
    try:
        module: Any = importlib.import_module("compression.zstd")
    except ImportError:
        pass
    else:
        options = {module.DecompressionParameter.window_log_max: WINDOW.bit_length() - 1}
        return lambda: cast(Decompressor, module.ZstdDecompressor(options=options))
    try:
        module = importlib.import_module("zstandard")
    except ImportError as error:
        raise CorpusError(
            f"{name}: unpacking .zst needs zstandard: pip install 'syllabary[corpus]'"
        ) from error
    return lambda: cast(Decompressor, _Zstandard(module))


def _errors() -> tuple[type[Exception], ...]:
    """What the libraries raise about packed bytes; those of zstd only if it is loaded."""
    loaded = (sys.modules.get("compression.zstd"), sys.modules.get("zstandard"))
    zstd = [module.ZstdError for module in loaded if module is not None]
    return (zlib.error, lzma.LZMAError, EOFError, ValueError, OSError, *zstd)


def _suffix(name: str) -> str:
    lower = name.lower()
    return next((end for end in (".gz", ".bz2", ".xz", ".lzma", ".zst") if lower.endswith(end)), "")


def _long(name: str) -> str:
    """A name whose suffix says two things at once, with both of them: `.tgz` -> `.tar.gz`."""
    stem, dot, last = name.rpartition(".")
    long = LONG.get(dot + last.lower())
    return stem + long if long else name
