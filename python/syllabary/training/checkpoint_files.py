"""The two files of a checkpoint of training that grow with the corpus: the table of counts, and the merges.

    counts-N.bin   magic, version, pieces n, bytes m (little-endian uint32, uint64, uint64); where each piece
                   ends, its count, its place in the order of first appearance (uint64 (n,) each); the pieces'
                   UTF-8, back to back; BLAKE2b-128 of all that
                   or, of a table that need not fit into memory, without an order: magic, version 2; blocks of
                   pieces n, bytes m (uint64), ends and counts (uint64 (n,) each), UTF-8, the last block
                   empty; BLAKE2b-128 of all that
    merges.bin     a line of JSON and the alphabet, with a checksum; then records of merges, each with its
                   number n (uint32), n times left, right (uint32), count (uint64), and the CRC-32 of it
                   and of all before

A table is there whole or not at all. Merges are appended: of a record that a kill or a full disk has cut
short, and of what comes after damage, nothing is used. Leaves out: when they are written, and whether they
are of this training (`checkpoint`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from syllabary.errors import CheckpointError
from syllabary.files import open_atomic, write_atomic

MAGIC = b"syllabary-counts"
VERSION = 1
HEAD = struct.Struct("<16sIQQ")
IN_BLOCKS = struct.pack("<16sI", MAGIC, 2)
BLOCK_HEAD = struct.Struct("<QQ")
DIGEST = 16  # bytes
BLOCK = 1 << 16  # pieces that are read, and handed on, together
CHUNK = 16 << 20  # bytes written, or checked, at a time
LESS = 1 << 20  # the same of a table in blocks
SYNC = 5.0  # seconds between two times that merges are forced to the disk
LARGEST = 4 << 30  # bytes of `merges.bin`
LINE = 1 << 16  # bytes of the head of `merges.bin`, at most
ROW = np.dtype([("left", "<u4"), ("right", "<u4"), ("count", "<u8")])

# (pieces' UTF-8, where each ends, counts)
Block = tuple[bytes, NDArray[np.uint64], NDArray[np.uint64]]
Merges = tuple[NDArray[np.uint32], NDArray[np.uint64]]  # (n, 2) local ids, (n,) counts


def way_out(folder: Path) -> str:
    """What every error of a checkpoint that cannot be used ends with."""
    return f"delete {folder} to begin again, or give another folder"


def put(path: Path, chunks: Iterable[Any]) -> None:
    """As `files.write_atomic`, of what is too large to lie in memory twice."""
    with open_atomic(path) as file:
        for chunk in chunks:
            view = memoryview(chunk).cast("B") if len(chunk) else b""
            for start in range(0, len(view), CHUNK):
                file.write(view[start : start + CHUNK])


def write_counts(
    path: Path,
    data: bytes,
    ends: NDArray[np.uint64],
    counts: NDArray[np.uint64],
    first: NDArray[np.uint64],
) -> None:
    """Write a table, each argument as the engine's trainer gives it. Raises `OSError` with the path."""

    def chunks() -> Iterator[Any]:
        digest = hashlib.blake2b(digest_size=DIGEST)
        head: Any = HEAD.pack(MAGIC, VERSION, len(ends), len(data))
        columns = [np.ascontiguousarray(column, "<u8") for column in (ends, counts, first)]
        for chunk in (head, *columns, data):
            digest.update(chunk)
            yield chunk
        yield digest.digest()

    put(path, chunks())


def write_blocks(path: Path, hand: Callable[[Callable[[bytes, Any, Any], None]], None]) -> None:
    """Write a table whose blocks `hand` gives to what it is told. Raises `OSError` with the path."""
    digest = hashlib.blake2b(digest_size=DIGEST)
    with open_atomic(path) as file:

        def put(*chunks: Any) -> None:
            for chunk in chunks:
                digest.update(chunk)
                file.write(chunk)

        def take(data: bytes, ends: Any, counts: Any) -> None:
            columns = [np.ascontiguousarray(column, "<u8") for column in (ends, counts)]
            put(BLOCK_HEAD.pack(len(ends), len(data)), *columns, data)

        put(IN_BLOCKS)
        hand(take)
        put(BLOCK_HEAD.pack(0, 0))
        file.write(digest.digest())


def read_counts(path: Path) -> Iterator[Block]:
    """The table, block by block, the pieces in the order of their first appearance, if it has that.

    `CheckpointError` for a file that is damaged, cut short or of something else, before the first block.
    """
    try:
        with path.open("rb") as file:
            if file.read(len(IN_BLOCKS)) == IN_BLOCKS:
                _check_digest(path, file)
                yield from _read_blocks(path, file)
                return
    except FileNotFoundError as error:
        raise unusable(path, "is missing") from error
    yield from _read_whole(path)


def _check_digest(path: Path, file: BinaryIO) -> None:
    """`CheckpointError` for a file that is not as it was written; afterwards it is behind its head."""
    digest, left = hashlib.blake2b(digest_size=DIGEST), os.fstat(file.fileno()).st_size - DIGEST
    file.seek(0)
    while left > 0 and (chunk := file.read(min(left, LESS))):
        digest.update(chunk)
        left -= len(chunk)
    if left or file.read() != digest.digest():
        raise unusable(path, "is cut short or damaged (its checksum differs)")
    file.seek(len(IN_BLOCKS))


def _read_blocks(path: Path, file: BinaryIO) -> Iterator[Block]:
    left = os.fstat(file.fileno()).st_size - len(IN_BLOCKS) - DIGEST
    while (left := left - BLOCK_HEAD.size) >= 0:
        pieces, size = BLOCK_HEAD.unpack(file.read(BLOCK_HEAD.size))
        left -= 16 * pieces + size
        if left < 0 or (pieces == 0 and (size or left)):
            break
        if pieces == 0:
            return
        ends, counts = np.frombuffer(file.read(16 * pieces), "<u8").reshape(2, pieces).astype(np.uint64)
        if ends[-1] != size or (ends[1:] < ends[:-1]).any():
            break
        yield file.read(size), ends, counts
    raise unusable(path, "contradicts itself")


def _read_whole(path: Path) -> Iterator[Block]:
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            ends, counts, order, data = _table(path, view)
            try:
                yield from _blocks(ends, counts, order, data)
            finally:
                data.release()
                del ends, counts, order
    except FileNotFoundError as error:
        raise unusable(path, "is missing") from error
    except ValueError as error:
        if isinstance(error, CheckpointError):
            raise
        raise unusable(path, "is empty") from error  # which cannot be mapped


def _table(path: Path, view: mmap.mmap) -> tuple[Any, Any, Any, memoryview]:
    """The checked columns: ends, counts, the pieces' numbers in the order of first appearance; the UTF-8."""
    if len(view) < HEAD.size + DIGEST:
        raise unusable(path, "is cut short")
    magic, version, pieces, size = HEAD.unpack_from(view)
    if magic != MAGIC:
        raise unusable(path, "is no table of counts")
    if version != VERSION:
        raise unusable(path, f"is of version {version} of its format, and this syllabary reads {VERSION}")
    if len(view) != HEAD.size + 24 * pieces + size + DIGEST:
        raise unusable(path, "is cut short, or longer than it says")
    digest = hashlib.blake2b(digest_size=DIGEST)
    with memoryview(view) as whole:
        for start in range(0, len(view) - DIGEST, CHUNK):
            with whole[start : min(start + CHUNK, len(view) - DIGEST)] as chunk:
                digest.update(chunk)
    if digest.digest() != view[-DIGEST:]:
        raise unusable(path, "is damaged (its checksum differs)")
    columns = np.frombuffer(view, "<u8", 3 * pieces, HEAD.size).reshape(3, pieces).copy()
    ends, counts, first = columns
    order = np.argsort(first, kind="stable")
    if pieces and (ends[-1] != size or (ends[1:] < ends[:-1]).any() or (np.diff(first[order]) == 0).any()):
        raise unusable(path, "contradicts itself")
    start = HEAD.size + 24 * pieces
    return ends, counts, order, memoryview(view)[start : start + size]


def _blocks(
    ends: NDArray[np.uint64], counts: NDArray[np.uint64], order: NDArray[np.intp], data: memoryview
) -> Iterator[Block]:
    starts = np.concatenate([np.zeros(1, np.uint64), ends[:-1]])
    for at in range(0, len(order), BLOCK):
        chosen = order[at : at + BLOCK]
        spans = zip(starts[chosen].tolist(), ends[chosen].tolist(), strict=True)
        text = b"".join([data[start:end] for start, end in spans])
        yield text, np.cumsum(ends[chosen] - starts[chosen], dtype=np.uint64), counts[chosen]


def unusable(path: Path, what: str) -> CheckpointError:
    """The error for a file of a checkpoint."""
    return CheckpointError(f"{path} {what}: this checkpoint cannot be used; {way_out(path.parent)}")


class Journal:
    """The merges of a training, appended as they are learned.

    symbols: what the local ids stand for that were there before the first merge. merges: those that were
    there when it was opened.
    """

    def __init__(self, path: Path, clock: Any) -> None:
        self.path = path
        self.symbols: list[bytes] = []
        self.merges: Merges = np.empty((0, 2), np.uint32), np.empty(0, np.uint64)
        self._clock, self._synced = clock, clock()
        self._checksum = 0
        self._file: Any = None

    @property
    def is_open(self) -> bool:
        """Whether there is one, and merges can be appended."""
        return self._file is not None

    def begin(self, run: str, symbols: Sequence[bytes]) -> None:
        """A journal without merges. run: the name of the training. Raises `OSError` with the path."""
        self.symbols = list(symbols)
        lengths = np.array([len(symbol) for symbol in symbols], "<u4").tobytes()
        data = b"".join(symbols)
        body = lengths + data
        head = {"format": "syllabary-merges", "version": VERSION, "run": run, "symbols": len(symbols)}
        line = json.dumps(head | {"bytes": len(body), "crc32": zlib.crc32(body)}).encode() + b"\n"
        write_atomic(self.path, line + body)
        self._checksum = zlib.crc32(line + body)
        self._file = self.path.open("r+b")
        self._file.seek(0, os.SEEK_END)

    def open(self, run: str) -> bool:
        """Whether there is one, and it goes on behind its last whole record.

        `CheckpointError` for a file that is none, or of another training.
        """
        try:
            self._file = self.path.open("r+b")
        except FileNotFoundError:
            return False
        if self.path.stat().st_size > LARGEST:
            raise unusable(self.path, f"is larger than {LARGEST} bytes")
        data = self._file.read()
        start = self._read_head(run, data)
        self._checksum = zlib.crc32(data[:start])
        found: list[Any] = []
        while (rows := self._record(data, start)) is not None:
            found.append(rows)
            start += 8 + len(rows) * ROW.itemsize
        rows = np.concatenate(found) if found else np.empty(0, ROW)
        self._check_ids(rows)
        pairs = np.stack([rows["left"], rows["right"]], axis=1).astype(np.uint32)
        self.merges = pairs, rows["count"].astype(np.uint64)
        self._file.truncate(start)
        self._file.seek(start)
        return True

    def _read_head(self, run: str, data: bytes) -> int:
        """Take the symbols; where the records begin."""
        line, end, _ = data[:LINE].partition(b"\n")
        try:
            head = json.loads(line)
            if head["format"] != "syllabary-merges":
                raise ValueError("another format")
            version, symbols, size = head["version"], int(head["symbols"]), int(head["bytes"])
            checksum, owner = head["crc32"], head["run"]
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise unusable(self.path, "is no file of merges, or damaged") from error
        if version != VERSION:
            raise unusable(
                self.path, f"is of version {version!r} of its format, and this syllabary reads {VERSION}"
            )
        if owner != run:
            raise unusable(self.path, "is of another training")
        start = len(line) + len(end)
        body = data[start : start + size] if 0 <= size <= len(data) else b""
        if len(body) != size or not 0 <= 4 * symbols <= size or zlib.crc32(body) != checksum:
            raise unusable(self.path, "is damaged (its checksum differs)")
        ends = np.cumsum(np.frombuffer(body, "<u4", symbols), dtype=np.uint64).tolist()
        if (ends[-1] if ends else 0) != size - 4 * symbols:
            raise unusable(self.path, "contradicts itself")
        text = body[4 * symbols :]
        self.symbols = [text[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)] if ends else []
        return start + size

    def _record(self, data: bytes, start: int) -> NDArray[Any] | None:
        """The rows of the record that begins there; None if no whole one does."""
        if start + 8 > len(data):
            return None
        (number,) = struct.unpack_from("<I", data, start)
        end = start + 4 + number * ROW.itemsize
        if number == 0 or end + 4 > len(data):
            return None
        checksum = zlib.crc32(memoryview(data)[start:end], self._checksum)
        if struct.unpack_from("<I", data, end)[0] != checksum:
            return None
        self._checksum = checksum
        return np.frombuffer(data, ROW, number, start + 4)

    def _check_ids(self, rows: NDArray[Any]) -> None:
        known = np.arange(len(rows), dtype=np.uint64) + len(self.symbols)
        if (rows["left"] >= known).any() or (rows["right"] >= known).any():
            raise unusable(self.path, "has a merge of tokens that there are not")

    def append(self, pairs: NDArray[np.uint32], counts: NDArray[np.uint64]) -> None:
        """Add merges, pairs of shape (n, 2), counts (n,). Raises `OSError` with the path."""
        if not len(pairs):
            return
        rows = np.empty(len(pairs), ROW)
        rows["left"], rows["right"], rows["count"] = pairs[:, 0], pairs[:, 1], counts
        record = struct.pack("<I", len(rows)) + rows.tobytes()
        self._checksum = zlib.crc32(record, self._checksum)
        self._written(record + struct.pack("<I", self._checksum), self._clock() - self._synced >= SYNC)

    def _written(self, data: bytes, synced: bool) -> None:
        try:
            self._file.write(data)
            self._file.flush()
            if synced:
                os.fsync(self._file.fileno())
                self._synced = self._clock()
        except OSError as error:
            error.filename = str(self.path)
            raise

    def close(self) -> None:
        """Force what was appended to the disk, and close the file."""
        if self._file is not None:
            try:
                self._written(b"", synced=True)
            finally:
                file, self._file = self._file, None
                with contextlib.suppress(OSError):
                    file.close()
