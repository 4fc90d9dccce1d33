"""A part: the ids of one unit of the corpus, in memory and as a file that is whole or not used.

A part holds what the assembly needs to decide: ids, and for each document its length, identity,
bytes of text and normal form. The file has a line of JSON (counts, a checksum) and then the five arrays.
Leaves out: how ids come about (`encoding`) and where they go (`assembly`).
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from syllabary.files import named, replace

HEAD_BYTES = 64 << 20  # of the JSON line, which lists skipped files: more is no part of ours


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The documents of one unit, in order.

    ids: of the type that the shards have, shape (tokens,). lengths: ids of each document, int64
    (documents,). identities: uint64 (documents,). text_bytes: UTF-8 of each, before `normalize`, int64
    (documents,). forms: of each, as read, 0 for none and else 1 + its place in `corpus.forms.KINDS`, uint8
    (documents,). report: the counts of the corpus for this unit, as JSON.
    """

    ids: NDArray[Any]
    lengths: NDArray[np.int64]
    identities: NDArray[np.uint64]
    text_bytes: NDArray[np.int64]
    forms: NDArray[np.uint8]
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """In the order of the file."""
        return self.ids, self.lengths, self.identities, self.text_bytes, self.forms


def put(file: BinaryIO, array: NDArray[Any]) -> None:
    """The array's bytes; unlike `tofile`, a full disk is an `OSError` that says so."""
    file.write(raw(array))


def raw(array: NDArray[Any]) -> memoryview:
    """The bytes of an array, not copied if they lie together."""
    return np.ascontiguousarray(array).data.cast("B") if array.size else memoryview(b"")


def write_part(part: Part, path: Path) -> None:
    """Put the part at `path`: under another name first, so that a part of this name is a whole one.

    It is not forced to the disk: it is read again within moments, and after a power failure the checksum
    tells. Raises `OSError` with the path, and leaves nothing.
    """
    checksum = 0
    for array in part.arrays:
        checksum = zlib.crc32(raw(array), checksum)
    head = {
        "dtype": part.ids.dtype.str,
        "tokens": len(part.ids),
        "documents": len(part.lengths),
        "crc32": checksum,
        "report": part.report,
    }
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with named(path):
        try:
            with temporary.open("wb") as file:
                file.write(json.dumps(head).encode("ascii") + b"\n")
                for array in part.arrays:
                    put(file, array)
            replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


def read_part(path: Path) -> Part | None:
    """The part of a file, or None if it is not a whole one: then its unit is to be encoded again."""
    with path.open("rb") as file:
        try:
            head = json.loads(file.readline(HEAD_BYTES))
            tokens, documents, checksum = head["tokens"], head["documents"], head["crc32"]
            part = Part(
                np.fromfile(file, head["dtype"], tokens),
                np.fromfile(file, "<i8", documents),
                np.fromfile(file, "<u8", documents),
                np.fromfile(file, "<i8", documents),
                np.fromfile(file, "u1", documents),
                head["report"],
            )
        except (ValueError, KeyError, TypeError):
            return None
        found = 0
        for array in part.arrays:
            found = zlib.crc32(raw(array), found)
        whole = len(part.ids) == tokens and len(part.forms) == documents and not file.read(1)
    return part if whole and found == checksum else None
