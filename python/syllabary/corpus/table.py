"""CSV and TSV: a row is a document, its text is in a column, its other columns go to `meta`.

Adds: the first row holds the names of the columns, and `Reading.column` is one of them; or it is a number
from 1, as `"2"`, and no column has that name: then the first row is a document as well. A quoted field may
hold line ends. A row with another number of fields is an error; with `on_error="skip"` only that row is left
out. Kind `"tsv-plain"` is TSV in which a quotation mark is a character like any other.
Leaves out: other separators (a library can write JSON Lines); values as anything but text.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterable, Iterator
from itertools import chain

from syllabary.corpus.document import Document, Reader, Reading, Stream, Told
from syllabary.corpus.encoding import text_of
from syllabary.corpus.records import MAX_RECORD, check_once, document_of, listed, no_column, place
from syllabary.errors import CorpusError
from syllabary.reference.symbols import plural


def documents(
    stream: Stream, reading: Reading, told: Told, *, delimiter: str, quotes: bool = True
) -> Iterator[Document]:
    """The documents of a table; `meta` has `path`, `row` (of documents, from 1) and the other columns."""
    if csv.field_size_limit() < MAX_RECORD:
        csv.field_size_limit(MAX_RECORD)  # subtle: of the whole process; its 128 KiB are less than an essay
    lines = _Lines(text_of(stream, reading, told), stream.name)
    rows = csv.reader(
        lines, delimiter=delimiter, strict=quotes, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    )
    found = _rows(rows, lines, stream.name, delimiter)
    first = next(found, None)
    if first is None:
        return
    names, column = _names(first, stream, reading)
    if names is not first:
        found = chain([first], found)
    wanted = Reading(column=column)
    for row, values in enumerate(found, 1):
        where: dict[str, object] = {"path": stream.name, "row": row}
        if len(values) == len(names):
            document = document_of(dict(zip(names, values, strict=True)), where, wanted)
            if document is not None:
                yield document
            continue
        error = CorpusError(
            f"{place(where)} (line {rows.line_num}): {plural(len(values), 'field')}, but the first row has "
            f"{len(names)}"
        )
        if reading.on_error == "raise":
            raise error
        stream.skipped(stream.name, str(error))


# What to do about quotation marks.
REMEDIES = {
    ",": 'within a quoted field a quotation mark is written twice ("")',
    "\t": "where quotation marks are ordinary characters, TSV is of kind 'tsv-plain'",
}
CSV = Reader("csv", (".csv",), functools.partial(documents, delimiter=","))
TSV = Reader("tsv", (".tsv", ".tab"), functools.partial(documents, delimiter="\t"))
TSV_PLAIN = Reader("tsv-plain", (), functools.partial(documents, delimiter="\t", quotes=False))


def _names(first: list[str], stream: Stream, reading: Reading) -> tuple[list[str], str]:
    """The names of the columns and that of the text; numbers as names if there is no row of names."""
    column = reading.column
    if column in first:
        check_once(stream.name, column, first, "give a number (column=…)")
        return first, column
    if column.isdecimal() and 1 <= int(column) <= len(first):
        return [str(number) for number in range(1, len(first) + 1)], str(int(column))
    if column.isdecimal():
        raise CorpusError(f"{stream.name}: no column {column}; there are {len(first)}: {listed(first)}")
    raise no_column(stream.name, column, first)


def _rows(rows: Iterator[list[str]], lines: _Lines, name: str, delimiter: str) -> Iterator[list[str]]:
    """The rows that are not blank; an error of the format with the line at which it was seen."""
    last = 0  # line of the row before
    try:
        for row in rows:
            last = lines.number
            if row:
                yield row
    except csv.Error as error:
        reason, remedy, line = str(error), REMEDIES[delimiter], lines.number
        if "new-line" in reason:
            reason, remedy = "a carriage return outside of quotation marks", "a line ends with a line feed"
        elif "unexpected end" in reason:
            reason, line = "a quotation mark opens a field that nothing closes", last + 1
        raise CorpusError(f"{name}: line {line}: not a table that can be read: {reason}; {remedy}") from error


class _Lines:
    """Text in parts -> lines with their ends, which a line feed makes; a mark of UTF-8 is left out."""

    def __init__(self, chunks: Iterable[str], name: str) -> None:
        self.number = 0
        self._lines = self._of(chunks, name)

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        return line

    def _of(self, chunks: Iterable[str], name: str) -> Iterator[str]:
        begun, size = list[str](), 0  # of the line that has not ended
        for index, chunk in enumerate(chunks):
            begun.append(chunk if index else chunk.removeprefix("\ufeff"))
            size += len(chunk)
            if "\n" in chunk:
                *whole, held = "".join(begun).split("\n")
                begun, size = [held], len(held)
                for line in whole:
                    yield line + "\n"
            if size > MAX_RECORD:
                raise CorpusError(f"{name}: line {self.number + 1} is longer than {MAX_RECORD} characters")
        if held := "".join(begun):
            yield held
