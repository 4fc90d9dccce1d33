"""Tables of counts in Parquet files (by pyarrow, extra `arrow`).

A row a piece, `piece` (string) and `count` (uint64), sorted by the bytes of `piece`; the rules by which text
became pieces stand in the schema's metadata, as JSON under `KEY`. Any Parquet with two such columns is read,
whatever its order; rows of one piece are added, rows of count 0 left out. Written and read in batches.
Leaves out: which rules a file without them gets (`pieces`), other formats (`file`).
"""

from __future__ import annotations

import contextlib
import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from syllabary.corpus.arrow import guarded, module
from syllabary.errors import CorpusError, FormatError, SyllabaryError
from syllabary.files import open_atomic
from syllabary.formats.strict_json import Json, parse
from syllabary.formats.syllabary_json import SPLIT_KEYS, read_split
from syllabary.piece_table import Arrays, Rows, Rules
from syllabary.reference.symbols import plural, shown
from syllabary.spec import Form

KEY = b"syllabary.counts"
VERSION = 1
MEMBERS = ("version", "split", "special_tokens", "normalize", "bytes", "documents", "corpus")
COLUMNS = ["piece", "count"]
SUFFIXES = (".parquet", ".pq")
ROWS = 1 << 14  # that are read at a time, at most; of long pieces less
BATCH_BYTES = 4 << 20
BUFFER = 1 << 18  # of a column that is read: not all of a row group
LONGEST = 2**31 - 1  # bytes of a value


def is_table(path: Path) -> bool:
    """Whether a file is Parquet that says of itself that it is a table of counts."""
    if path.suffix.lower() not in SUFFIXES or not path.is_file():
        return False
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        return False  # who reads it next says what is missing
    with contextlib.suppress(OSError, ValueError), path.open("rb") as file:
        return KEY in (parquet.read_schema(file).metadata or {})
    return False


def write(table: Rows, path: Path) -> None:
    """Put the table at `path`; `FormatError` for a piece that is too long."""
    pa, parquet = module("pyarrow", path), module("pyarrow.parquet", path)
    fields = [pa.field("piece", pa.string(), nullable=False), pa.field("count", pa.uint64(), nullable=False)]
    schema = pa.schema(fields, metadata={KEY: _metadata(table)})
    options = {"compression": "zstd", "use_dictionary": False, "write_page_checksum": True}
    with open_atomic(path) as file, parquet.ParquetWriter(file, schema, **options) as writer:

        def put(arrays: Arrays) -> None:
            data, ends, counts = arrays
            longest = int(np.max(np.diff(ends, prepend=np.uint64(0))))
            if longest > LONGEST:
                raise FormatError(
                    f"{path}: a piece of {longest} bytes is longer than Parquet can hold: give a split"
                )
            offsets = np.concatenate((np.zeros(1, np.uint64), ends)).astype(np.int32)
            pieces = pa.Array.from_buffers(
                pa.string(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(data)]
            )
            writer.write_batch(pa.record_batch([pieces, pa.array(counts)], schema=schema))

        table.hand(put)


def _metadata(table: Rows) -> bytes:
    values = {
        "version": VERSION,
        "split": {key: getattr(table.rules.split, key) for key in SPLIT_KEYS},
        "special_tokens": list(table.rules.special_tokens),
        "normalize": table.rules.normalize,
        "bytes": table.size,
        "documents": table.documents,
        "corpus": table.corpus,
    }
    return json.dumps(values).encode("ascii")


def about(path: Path) -> tuple[Rules | None, dict[str, Any]]:
    """What a file says of itself: its rules and the other arguments of a table, if it says them.

    Raises `CorpusError` for a file that is no table.
    """
    pa, parquet = module("pyarrow", path), module("pyarrow.parquet", path)
    with path.open("rb") as file, guarded(str(path), "Parquet", "make it again"):
        return _about(pa, parquet.ParquetFile(file).schema_arrow, path)


def _about(pa: Any, schema: Any, path: Path) -> tuple[Rules | None, dict[str, Any]]:
    _check_columns(pa.types, schema, path)
    return _read_metadata((schema.metadata or {}).get(KEY), path)


def batches(path: Path) -> Iterator[tuple[Arrays, bool]]:
    """The rows of a file in batches, each with whether its pieces are in order, each once.

    Raises `CorpusError`, with the row for what can be no piece or count.
    """
    pa, parquet = module("pyarrow", path), module("pyarrow.parquet", path)
    row = 0
    with path.open("rb") as file, guarded(str(path), "Parquet", "make it again"):
        source = parquet.ParquetFile(file, page_checksum_verification=True, buffer_size=BUFFER)
        _about(pa, source.schema_arrow, path)
        rows = _rows_together(source.metadata)
        for batch in source.iter_batches(batch_size=rows, columns=COLUMNS, use_threads=False):
            yield _columns(pa, batch, path, row)
            row += batch.num_rows
        if (
            row != source.metadata.num_rows
        ):  # subtle: a damaged header of a page ends a column, and is no error
            whole = source.metadata.num_rows
            raise CorpusError(
                f"{path}: damaged: it has {plural(whole, 'row', ',')}, of which {row:,} can be read"
            )


def _rows_together(metadata: Any) -> int:
    """How many rows are read at a time, by what a row takes in the largest row group."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    row = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0)
    return max(1, min(ROWS, BATCH_BYTES // max(row, 1)))


def _check_columns(types: Any, schema: Any, path: Path) -> None:
    """`CorpusError` if the two columns are not there, or hold something else."""
    names = schema.names
    if any(names.count(name) != 1 for name in COLUMNS):
        listed = ", ".join(map(repr, names)) or "none"
        raise CorpusError(f"{path}: a table of counts has the columns 'piece' and 'count', this {listed}")
    kind = schema.field("piece").type
    kind = kind.value_type if types.is_dictionary(kind) else kind
    texts = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    views = (getattr(types, f"is_{name}_view", types.is_string) for name in ("string", "binary"))
    if not any(is_kind(kind) for is_kind in (*texts, *views)):
        raise CorpusError(f"{path}: column 'piece' holds {kind}, not text")
    kind = schema.field("count").type
    if not types.is_integer(kind):
        raise CorpusError(f"{path}: column 'count' holds {kind}, not whole numbers: cast it to uint64")


def _columns(pa: Any, batch: Any, path: Path, before: int) -> tuple[Arrays, bool]:
    """The arrays of a batch, and whether its pieces are in order, each once. before: rows before it."""
    compute = module("pyarrow.compute", path)
    batch.validate(full=True)  # subtle: offsets come from the file, and are followed
    pieces, counts = batch.column("piece"), batch.column("count")
    if pa.types.is_dictionary(pieces.type):
        pieces = pieces.dictionary_decode()

    def first(bad: Any) -> int:
        return before + 1 + int(compute.index(bad, True).as_py())

    for name, column in (("piece", pieces), ("count", counts)):
        if column.null_count:
            raise CorpusError(f"{path}, row {first(compute.is_null(column))}: the {name} is null")
    if pa.types.is_signed_integer(counts.type) and compute.any(compute.less(counts, 0)).as_py():
        raise CorpusError(f"{path}, row {first(compute.less(counts, 0))}: the count is below 0")
    pieces = _binary(pa, pieces, path, before)
    size = len(pieces)
    _none, offsets, data = pieces.buffers()
    bounds = np.frombuffer(offsets, np.int64)[pieces.offset : pieces.offset + size + 1]
    lengths = np.diff(bounds)
    if not lengths.all():
        raise CorpusError(f"{path}, row {before + 1 + int(np.argmin(lengths))}: the piece is empty")
    text = np.frombuffer(data or b"", np.uint8)[bounds[0] : bounds[-1]]
    number = np.asarray(counts.cast(pa.uint64()), dtype=np.uint64)
    ascending = size < 2 or compute.all(compute.less(pieces.slice(0, size - 1), pieces.slice(1))).as_py()
    return (text, (bounds[1:] - bounds[0]).astype(np.uint64), number), ascending


def _binary(pa: Any, pieces: Any, path: Path, before: int) -> Any:
    """The pieces as an array of large binary; `CorpusError` for bytes that are not UTF-8."""
    try:
        return pieces.cast(pa.large_string()).cast(pa.large_binary())
    except pa.ArrowInvalid:
        for row, piece in enumerate(pieces.cast(pa.large_binary()).to_pylist(), before + 1):
            check_utf8(piece, f"{path}, row {row}")
        raise


def check_utf8(piece: bytes, where: str) -> None:
    """`CorpusError` for bytes that are no text."""
    try:
        piece.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{where}: the piece {shown(piece[:80])} is not UTF-8 ({error.reason} at byte {error.start})"
        ) from error


def _read_metadata(data: bytes | None, path: Path) -> tuple[Rules | None, dict[str, Any]]:
    """The rules, and the other arguments of a table; `CorpusError` for what no table says of itself."""
    if data is None:
        return None, {}
    try:
        root = parse(data, path)
        version = root.member("version")
        if version.value != VERSION:
            raise version.error(f"this syllabary reads version {VERSION}; a newer one wrote the file")
        members = root.object(MEMBERS)
        for name in MEMBERS:
            root.member(name)
        normalize, corpus = members["normalize"], members["corpus"]
        rules = Rules(
            read_split(members["split"]),
            tuple(token.string() for token in members["special_tokens"].list()),
            None if normalize.value is None else cast(Form, normalize.choice(*get_args(Form))),
        )
        return rules, {
            "size": _number(members["bytes"]),
            "documents": _number(members["documents"]),
            "corpus": None if corpus.value is None else _plain(corpus),
        }
    except SyllabaryError as error:
        raise CorpusError(f"{error} (in what the file says of itself)") from error


def _plain(value: Json) -> object:
    """The members of an object as they are."""
    value.object()
    return value.value


def _number(value: Json) -> int | None:
    """A number of bytes or documents, or null."""
    number = value.value
    if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 0):
        raise value.wrong("a whole number from 0, or null")
    return number
