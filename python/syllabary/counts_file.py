"""Tables of counts as files: by the name's suffix Parquet, or words with their counts as plain text.

Text: a line a piece, `piece count` in `.txt`, as subword-nmt has its dictionaries, with a tab in `.tsv`; the
most frequent first when written, in any order when read, and lines of one piece are added. It says nothing of
the rules by which text became pieces. Both ways go in batches.
Leaves out: Parquet (`counts_parquet`), which rules a file without them gets (`counts`).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from syllabary import counts_parquet
from syllabary.counts_parquet import check_utf8, module
from syllabary.errors import CorpusError, FormatError, TrainingError
from syllabary.files import open_atomic
from syllabary.piece_table import BATCH_BYTES, BATCH_ROWS, LARGEST, Arrays, Gathered, PieceTable, Rules
from syllabary.reference.symbols import shown

# Suffix -> what stands between piece and count, and what is no part of a line at its ends.
TEXT = {".txt": (b" ", b"\r\n "), ".tsv": (b"\t", b"\r\n")}
NAMES = {b" ": "a space", b"\t": "a tab"}
LONGEST_LINE = 1 << 28


def check_place(path: Path) -> None:
    """Raise at once, and not after an hour of counting, what stands in the way of a table there."""
    if form_of(path) in counts_parquet.SUFFIXES:
        module("pyarrow.parquet", path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder, not a file", str(path))
    if not Path(os.path.realpath(path)).parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))


def form_of(path: Path) -> str:
    """The suffix by which a table is written and read; `FormatError` for any other."""
    known = (*counts_parquet.SUFFIXES, *TEXT)
    if path.suffix.lower() not in known:
        raise FormatError(f"{path}: a table of counts is a file called …{', …'.join(known)}")
    return path.suffix.lower()


def save(table: PieceTable, path: Path) -> None:
    """Put a table at `path`, whole or not at all; `FormatError` for what the format cannot hold."""
    check_place(path)
    if form_of(path) in TEXT:
        _write_text(table, path)
    else:
        counts_parquet.write(table, path)


def load(path: Path) -> tuple[Arrays, Rules | None, dict[str, Any]]:
    """The arrays of a file; its rules and the other arguments of a table, if it says them.

    Raises `CorpusError`, with the row or line for what can be no piece or count.
    """
    try:
        return (_read_text(path), None, {}) if form_of(path) in TEXT else counts_parquet.read(path)
    except TrainingError as error:  # of the sum of several rows
        raise CorpusError(f"{path}: {error}") from error


def _write_text(table: PieceTable, path: Path) -> None:
    separator, _ = TEXT[form_of(path)]
    spoiling = np.flatnonzero(np.isin(table.data, np.frombuffer(b"\n\r" + separator, np.uint8)))
    if len(spoiling):
        row = int(np.searchsorted(table.ends, np.uint64(spoiling[0]), side="right"))
        piece = next(table.pieces(np.array([row])))
        raise FormatError(
            f"{path}: piece {piece[:80]!r} holds {chr(table.data[spoiling[0]])!r}, which would spoil its "
            "line: save the table as .parquet"
        )
    order = table.by_count()
    with open_atomic(path) as file:
        for start in range(0, len(order), BATCH_ROWS):
            rows = order[start : start + BATCH_ROWS]
            lines = zip(table.spelled(rows), table.counts[rows].tolist(), strict=True)
            file.write(b"".join(b"%b%b%d\n" % (piece, separator, count) for piece, count in lines))


def _read_text(path: Path) -> Arrays:
    gathered = Gathered()
    pieces, counts, size = list[bytes](), list[int](), 0
    for piece, count in _rows(path):
        pieces.append(piece)
        counts.append(count)
        size += len(piece)
        if len(pieces) >= BATCH_ROWS or size >= BATCH_BYTES:
            gathered.add(_arrays(pieces, counts), ascending=False)
            pieces, counts, size = [], [], 0
    gathered.add(_arrays(pieces, counts), ascending=False)
    return gathered.arrays()


def _rows(path: Path) -> Iterator[tuple[bytes, int]]:
    """Piece and count of each line; `CorpusError` with its number for what is none."""
    separator, white = TEXT[form_of(path)]
    number = 0
    with path.open("rb") as file:
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            where = f"{path}, line {number}"
            if len(line) > LONGEST_LINE:
                raise CorpusError(f"{where}: it is longer than {LONGEST_LINE} bytes")
            piece, _, digits = line.strip(white).rpartition(separator)
            if not piece or separator in piece or b"\r" in piece or not digits.isdigit():
                raise CorpusError(
                    f"{where}: {shown(line[:80])} is not a piece, {NAMES[separator]} and a count from 0"
                )
            if len(digits) > len(str(LARGEST)) or int(digits) > LARGEST:
                raise CorpusError(f"{where}: the count {digits[:80].decode()} is above {LARGEST}")
            check_utf8(piece, where)
            yield piece, int(digits)


def _arrays(pieces: list[bytes], counts: list[int]) -> Arrays:
    lengths = np.fromiter(map(len, pieces), np.uint64, len(pieces))
    return np.frombuffer(b"".join(pieces), np.uint8), np.cumsum(lengths), np.array(counts, np.uint64)
