"""Parquet and Arrow (by pyarrow, extra `arrow`): a row is a document, read batch by batch.

Adds: Parquet by row groups; Arrow files (Feather 2) and streams, told apart by their first bytes, so the
data files that `datasets` saves too. Of the columns only the text and the plain ones are read. Parquet behind
compression or in an archive is first copied to a temporary file (at most `SPOOL` bytes), since it is read
from its end; so are Arrow files there.
Leaves out: texts in nested columns; Feather 1.
"""

from __future__ import annotations

import contextlib
import importlib
import tempfile
from collections.abc import Iterator
from typing import IO, Any

from syllabary.corpus.document import Document, Reader, Reading, Stream, Told
from syllabary.corpus.files import CHUNK
from syllabary.corpus.records import check_once, document_of, no_column
from syllabary.errors import CorpusError
from syllabary.reference.symbols import plural

ROWS = 1024  # rows that are read at a time
SPOOL = 16 << 30  # bytes of a copy: no shard of a published corpus is larger
FILE_MARK = b"ARROW1"
FEATHER_1 = b"FEA1"


def parquet_documents(stream: Stream, reading: Reading, told: Told) -> Iterator[Document]:
    """The documents of a Parquet file; `meta` has `path`, `row` (from 1) and the other plain columns."""
    parquet = module("pyarrow.parquet", stream.name)
    with _seekable(stream) as file, guarded(stream.name, "Parquet"):
        table = parquet.ParquetFile(file, page_checksum_verification=True)
        columns = _columns(table.schema_arrow, stream.name, reading)
        batches = table.iter_batches(batch_size=ROWS, columns=columns, use_threads=False)
        whole = _whole(batches, table.metadata.num_rows, stream.name)
        yield from _documents(whole, stream.name, reading)


def arrow_documents(stream: Stream, reading: Reading, told: Told) -> Iterator[Document]:
    """The documents of an Arrow file or stream; `meta` has `path`, `row` and the other plain columns."""
    ipc = module("pyarrow.ipc", stream.name)
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(stream.open())
        head = file.read(len(FILE_MARK))
        file.close()
        is_file = head == FILE_MARK
        if head.startswith(FEATHER_1):
            raise CorpusError(f"{stream.name}: Feather 1, which is not read: save it as Feather 2 or Parquet")
        stack.enter_context(guarded(stream.name, "Arrow"))
        if is_file:
            table = ipc.open_file(stack.enter_context(_seekable(stream)))
            batches = (table.get_batch(index) for index in range(table.num_record_batches))
        else:
            table = ipc.open_stream(stack.enter_context(stream.open()))
            batches = iter(table)
        names = set(_columns(table.schema, stream.name, reading))
        places = [place for place, name in enumerate(table.schema.names) if name in names]  # one may be twice
        batches = (_checked(batch) for batch in batches)
        small = (
            batch.select(places).slice(start, ROWS)
            for batch in batches
            for start in range(0, batch.num_rows, ROWS)
        )
        yield from _documents(small, stream.name, reading)


def _whole(batches: Iterator[Any], rows: int, name: str) -> Iterator[Any]:
    """All batches of a file of so many rows: a damaged header of a page ends a column in silence."""
    read = 0
    for batch in batches:
        read += batch.num_rows
        yield batch
    if read != rows:
        raise CorpusError(
            f"{name}: damaged Parquet: it has {plural(rows, 'row', ',')}, of which {read:,} can be read"
        )


PARQUET = Reader("parquet", (".parquet", ".pq"), parquet_documents)
ARROW = Reader("arrow", (".arrow", ".feather", ".ipc"), arrow_documents)


def _documents(batches: Iterator[Any], name: str, reading: Reading) -> Iterator[Document]:
    row = 0
    for batch in batches:
        for values in batch.to_pylist():
            row += 1
            document = document_of(values, {"path": name, "row": row}, reading)
            if document is not None:
                yield document


def _checked(batch: Any) -> Any:
    """A batch whose offsets lie within it: they come from the file, and are followed."""
    batch.validate(full=True)
    return batch


def _columns(schema: Any, name: str, reading: Reading) -> list[str]:
    """The columns that are text, numbers or truth values; an error if the text is not among them."""
    types = module("pyarrow", name).types
    column = reading.column
    if column not in schema.names:
        raise no_column(name, column, schema.names)
    check_once(name, column, schema.names, "give each a name of its own")
    kinds = (
        types.is_string,
        types.is_large_string,
        types.is_integer,
        types.is_floating,
        types.is_boolean,
    )
    plain = []
    for field in schema:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if any(is_kind(kind) for is_kind in (*kinds, getattr(types, "is_string_view", types.is_string))):
            plain.append(field.name)
    if column not in plain:
        raise CorpusError(
            f"{name}: column {column!r} holds {schema.field(column).type}, not text; the plain columns are "
            f"{', '.join(map(repr, plain)) or 'none'} (column=…)"
        )
    return plain


@contextlib.contextmanager
def _seekable(stream: Stream) -> Iterator[IO[bytes]]:
    """The stream as a file in which one can go back: as it is on disk, or a temporary copy."""
    if stream.path is not None:
        with stream.path.open("rb") as file:
            yield file
        return
    with tempfile.TemporaryFile() as copy, stream.open() as source:
        size = 0
        while chunk := source.read(CHUNK):
            size += len(chunk)
            if size > SPOOL:
                raise CorpusError(
                    f"{stream.name}: larger than {SPOOL} bytes, and must be copied to be read; unpack it"
                )
            copy.write(chunk)
        copy.seek(0)
        yield copy


@contextlib.contextmanager
def guarded(name: str, kind: str, advice: str = "fetch it again") -> Iterator[None]:
    """Turns what pyarrow raises into a `CorpusError` that names the file, and ends with the advice."""
    errors = module("pyarrow", name).ArrowException
    try:
        yield
    except (errors, OSError, UnicodeDecodeError, EOFError, MemoryError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        why = "it asks for more memory than there is" if isinstance(error, MemoryError) else error
        raise CorpusError(f"{name}: damaged or truncated {kind} file ({why}); {advice}") from error


def module(name: str, where: object) -> Any:
    """A module of pyarrow; `CorpusError` that names the file and the extra if there is none."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise CorpusError(f"{where}: this needs pyarrow: pip install 'syllabary[arrow]'") from error
