"""Shards in other tools' formats: Parquet, an Arrow IPC file, a folder of Hugging Face `datasets`.

Everything goes through batches of some megabytes, so that the size of the shards does not matter. Needs the
extra `arrow`. Leaves out: the way back, which nobody needs: the shards are still there.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from syllabary.errors import ShardError
from syllabary.files import named, replace
from syllabary.shards.reading import Shards, Split, check_rising

ExportFormat = Literal["parquet", "arrow", "datasets"]
BATCH_TOKENS = 1 << 20
BATCH_DOCUMENTS = 1 << 14


def export(shards: Shards, path: str | os.PathLike[str], format: ExportFormat = "parquet") -> None:  # noqa: A002
    """Write shards in a format of other tools; what is at `path` is replaced when the new one is whole.

    "parquet", "arrow": one file with a row a document: `ids`, a list of uint16 or uint32, and `split`,
        `"train"` or `"val"`, a dictionary of strings; train first. Arrow is its IPC file format.
    "datasets": a folder that `datasets.load_from_disk` opens as a `DatasetDict` with the splits `"train"`
        and `"val"` and the column `input_ids`.

    Raises `ShardError` without pyarrow (and datasets), `ValueError` for another format, `OSError`.
    """
    writers: dict[str, Callable[[Shards, Path], None]] = {
        "parquet": _parquet,
        "arrow": _arrow,
        "datasets": _datasets,
    }
    if format not in writers:
        raise ValueError(f"format={format!r} is none of {', '.join(get_args(ExportFormat))}")
    target = Path(os.path.realpath(path))
    check_place(target, format)
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        with named(target):
            writers[format](shards, temporary)
            _replace(temporary, target)
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary)
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()


def check_place(target: Path, format: str) -> None:  # noqa: A002 (as above)
    """`OSError` if something else than an older export would be replaced, or there is no place for it;
    `ShardError` if the library that writes it is missing."""
    for name in ("pyarrow", "datasets") if format == "datasets" else ("pyarrow",):
        _library(name)
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(2, "no such folder", str(target.parent))
    if target.is_dir() and format != "datasets":
        raise IsADirectoryError(21, "is a folder, not a file", str(target))
    if target.is_file() and format == "datasets":
        raise NotADirectoryError(20, "is a file, not a folder", str(target))
    if target.is_dir() and any(target.iterdir()) and not (target / "dataset_dict.json").is_file():
        raise FileExistsError(17, "is a folder with other files in it", str(target))


def _replace(new: Path, target: Path) -> None:
    """Put a file or folder in the place of another; of a folder, the old one is moved aside first."""
    if not (new.is_dir() and target.is_dir()):
        replace(new, target)
        return
    old = new.with_suffix(".old")
    replace(target, old)
    replace(new, target)
    shutil.rmtree(old)


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ShardError(f"this export needs {package}: pip install 'syllabary[arrow]'") from error


def batches(split: Split) -> Iterator[tuple[Any, Any]]:
    """The split in pieces of whole documents: ids, (n,), and offsets into them, int32 (documents + 1,)."""
    check_rising(split)
    start, documents = 0, len(split)
    while start < documents:
        most = int(split.offsets[start]) + BATCH_TOKENS
        stop = int(np.searchsorted(split.offsets, most, side="right")) - 1
        stop = min(max(stop, start + 1), start + BATCH_DOCUMENTS, documents)
        offsets = split.offsets[start : stop + 1]
        yield np.asarray(split.ids[offsets[0] : offsets[-1]]), (offsets - offsets[0]).astype(np.int32)
        start = stop


def _lists(pa: Any, split: Split) -> Iterator[Any]:
    """The same as Arrow arrays of lists."""
    for ids, offsets in batches(split):
        yield pa.ListArray.from_arrays(pa.array(offsets), pa.array(ids))


def _rows(pa: Any, shards: Shards) -> tuple[Any, Iterator[Any]]:
    """The schema of Parquet and Arrow files, and their record batches."""
    names = pa.array(list(shards.splits))
    kind = pa.dictionary(pa.int8(), pa.string())
    schema = pa.schema([("ids", pa.list_(pa.from_numpy_dtype(shards.dtype))), ("split", kind)])

    def rows() -> Iterator[Any]:
        for number, split in enumerate(shards.splits.values()):
            for lists in _lists(pa, split):
                column = pa.DictionaryArray.from_arrays(pa.array(np.full(len(lists), number, np.int8)), names)
                yield pa.record_batch([lists, column], schema=schema)

    return schema, rows()


def _parquet(shards: Shards, path: Path) -> None:
    pa, parquet = _library("pyarrow"), _library("pyarrow.parquet")
    schema, rows = _rows(pa, shards)
    with path.open("wb") as file, parquet.ParquetWriter(file, schema) as writer:
        for batch in rows:
            writer.write_batch(batch)


def _arrow(shards: Shards, path: Path) -> None:
    pa, ipc = _library("pyarrow"), _library("pyarrow.ipc")
    schema, rows = _rows(pa, shards)
    with path.open("wb") as file, ipc.new_file(file, schema) as writer:
        for batch in rows:
            writer.write_batch(batch)


def _datasets(shards: Shards, path: Path) -> None:
    """Arrow streams first, which `datasets` maps and saves in its own way, batch by batch."""
    path.mkdir()
    _save_datasets(shards, path)
    gc.collect()  # the streams are mapped for as long as the library's objects are there: see Windows
    for name in shards.splits:
        (path / f".{name}").unlink()
    for saved in sorted((path / "saved").iterdir()):
        replace(saved, path / saved.name)
    (path / "saved").rmdir()


def _save_datasets(shards: Shards, path: Path) -> None:
    pa, ipc, library = _library("pyarrow"), _library("pyarrow.ipc"), _library("datasets")
    schema = pa.schema([("input_ids", pa.list_(pa.from_numpy_dtype(shards.dtype)))])
    found = {}
    for name, split in shards.splits.items():
        with (path / f".{name}").open("wb") as file, ipc.new_stream(file, schema) as writer:
            for lists in _lists(pa, split):
                writer.write_batch(pa.record_batch([lists], schema=schema))
        found[name] = library.Dataset.from_file(str(path / f".{name}"))
    with _quiet(library):
        library.DatasetDict(found).save_to_disk(str(path / "saved"))


@contextlib.contextmanager
def _quiet(library: Any) -> Iterator[None]:
    """Without its progress bars, which are one switch for all of the process."""
    shown = library.utils.are_progress_bars_disabled()
    library.disable_progress_bars()
    try:
        yield
    finally:
        if not shown:
            library.enable_progress_bars()
