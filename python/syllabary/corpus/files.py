"""Paths -> files -> bytes: folders in a fixed order, `.xz` unpacked, errors that name the file.

Leaves out: what the bytes mean (`text`, `tei`).
"""

from __future__ import annotations

import fnmatch
import lzma
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from syllabary.errors import CorpusError

Globs: TypeAlias = "tuple[str, ...] | None"

CHUNK = 1 << 20


def files_of(path: Path, include: Globs = None) -> list[Path]:
    """A file itself; of a folder, all its files, sorted by path (folders included, hidden names left out).

    Raises `CorpusError` for a folder without a matching file.
    """
    if not path.is_dir():
        return [path]
    found = sorted(_walk(path, include))
    if not found:
        wanted = "a file" if include is None else "a file that matches " + ", ".join(include)
        raise CorpusError(f"{path}: the folder does not hold {wanted}")
    return found


def _walk(folder: Path, include: Globs) -> Iterator[Path]:
    def failed(error: OSError) -> None:
        raise error  # subtle: os.walk would skip a folder that it may not read

    for parent, folders, names in os.walk(folder, onerror=failed):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            wanted = include is None or any(fnmatch.fnmatch(name, glob) for glob in include)
            if wanted and not name.startswith("."):
                yield Path(parent, name)


def chunks(path: Path, size: int = CHUNK) -> Iterator[bytes]:
    """The bytes of a file, at most `size` at a time; those of a `.xz` unpacked.

    Raises `OSError` with the path, `CorpusError` for a damaged or truncated `.xz`.
    """
    if path.suffix.lower() != ".xz":
        with path.open("rb") as file:
            while chunk := file.read(size):
                yield chunk
        return
    with path.open("rb") as packed, lzma.open(packed) as file:
        while chunk := _unpack(file, size, path):
            yield chunk


def _unpack(file: lzma.LZMAFile, size: int, path: Path) -> bytes:
    try:
        return file.read(size)
    except (lzma.LZMAError, EOFError) as error:
        raise CorpusError(
            f"{path}: damaged or truncated .xz file ({error}); fetch or pack it again"
        ) from error
