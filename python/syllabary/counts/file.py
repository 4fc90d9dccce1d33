"""Tables of counts as files: by the name's suffix Parquet, or words with their counts as plain text.

Text: a line a piece, `piece count` in `.txt`, as subword-nmt has its dictionaries, with a tab in `.tsv`; the
most frequent first when written, in any order when read, and lines of one piece are added; a byte order mark
at the start is skipped. It says nothing of the rules by which text became pieces. Both ways go in batches.
Leaves out: Parquet (`parquet`), which rules a file without them gets (`pieces`).
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from syllabary import files
from syllabary.corpus.arrow import module
from syllabary.counts import parquet
from syllabary.counts.parquet import check_utf8
from syllabary.counts.sums import Gathered
from syllabary.errors import CorpusError, FormatError, TrainingError
from syllabary.piece_table import BATCH_BYTES, BATCH_ROWS, LARGEST, Arrays, Rows, Rules, arrays_from, rows_of
from syllabary.reference.symbols import shown

# Suffix -> what stands between piece and count, and what is no part of a line at its ends.
TEXT = {".txt": (b" ", b"\r\n "), ".tsv": (b"\t", b"\r\n")}
NAMES = {b" ": "a space", b"\t": "a tab"}
LONGEST_LINE = 1 << 28
SHOWN_BYTES = 4 * 80  # of a line that an error quotes


def check_place(path: Path) -> None:
    """Raise at once, and not after an hour of counting, what stands in the way of a table there."""
    if form_of(path) in parquet.SUFFIXES:
        module("pyarrow.parquet", path)
    files.check_place(path)


def form_of(path: Path) -> str:
    """The suffix by which a table is written and read; `FormatError` for any other."""
    known = (*parquet.SUFFIXES, *TEXT)
    if path.suffix.lower() not in known:
        raise FormatError(f"{path}: a table of counts is a file called …{', …'.join(known)}")
    return path.suffix.lower()


def save(table: Rows, path: Path) -> None:
    """Put a table at `path`, whole or not at all; `FormatError` for what the format cannot hold."""
    check_place(path)
    if form_of(path) in TEXT:
        _write_text(table, path)
    else:
        parquet.write(table, path)


def load(path: Path) -> tuple[Arrays, Rules | None, dict[str, Any]]:
    """The arrays of a file; its rules and the other arguments of a table, if it says them.

    Raises `CorpusError`, with the row or line for what can be no piece or count.
    """
    told = about(path)
    gathered = Gathered()
    for arrays, ascending in batches(path):
        gathered.add(arrays, ascending)
    try:
        return gathered.arrays(), *told
    except TrainingError as error:  # of the sum of several rows
        raise CorpusError(f"{path}: {error}") from error


def about(path: Path) -> tuple[Rules | None, dict[str, Any]]:
    """What a file says of itself, as `load`; text says nothing."""
    return (None, {}) if form_of(path) in TEXT else parquet.about(path)


def batches(path: Path) -> Iterator[tuple[Arrays, bool]]:
    """The rows of a file in batches, each with whether its pieces are in order, each once; as `load`."""
    if form_of(path) not in TEXT:
        yield from parquet.batches(path)
        return
    pieces, counts, size = list[bytes](), list[int](), 0
    for piece, count in _rows(path):
        pieces.append(piece)
        counts.append(count)
        size += len(piece)
        if len(pieces) >= BATCH_ROWS or size >= BATCH_BYTES:
            yield arrays_from(pieces, counts), False
            pieces, counts, size = [], [], 0
    yield arrays_from(pieces, counts), False


def _write_text(table: Rows, path: Path) -> None:
    separator, _ = TEXT[form_of(path)]
    spoiling = np.frombuffer(b"\n\r" + separator, np.uint8)

    def check(arrays: Arrays) -> None:
        data, ends, _ = arrays
        found = np.flatnonzero(np.isin(data, spoiling))
        if len(found):
            row = int(np.searchsorted(ends, np.uint64(found[0]), side="right"))
            piece = data[int(ends[row - 1]) if row else 0 : int(ends[row])].tobytes().decode()
            raise FormatError(
                f"{path}: piece {piece[:80]!r} holds {chr(data[found[0]])!r}, which would spoil its "
                "line: save the table as .parquet"
            )

    table.hand(check)
    first = [True]
    with files.open_atomic(path) as file:

        def put(arrays: Arrays) -> None:
            lines = b"".join(b"%b%b%d\n" % (piece, separator, count) for piece, count in rows_of(arrays))
            if first and lines.startswith(codecs.BOM_UTF8):  # this one is the piece's
                file.write(codecs.BOM_UTF8)
            first.clear()
            file.write(lines)

        table.hand(put, by_frequency=True)


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
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            piece, _, digits = line.strip(white).rpartition(separator)
            if not piece or separator in piece or b"\r" in piece or not digits.isdigit():
                raise CorpusError(
                    f"{where}: {_quoted(line)} is not a piece, {NAMES[separator]} and a count from 0"
                )
            if len(digits) > len(str(LARGEST)) or int(digits) > LARGEST:
                raise CorpusError(f"{where}: the count {digits[:80].decode()} is above {LARGEST}")
            check_utf8(piece, where)
            yield piece, int(digits)


def _quoted(line: bytes) -> str:
    """The beginning of a line as an error shows it: text where it is UTF-8, else its bytes."""
    line = line.rstrip(b"\r\n")
    try:
        return shown(codecs.utf_8_decode(line[:SHOWN_BYTES], "strict", len(line) <= SHOWN_BYTES)[0])
    except UnicodeDecodeError:
        return shown(line)
