"""A file read by the engine and by Python, for tests that compare the two; damage to its bytes.

Leaves out: what the files are, and what is changed in their content (`test_formats_*_listed`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from syllabary.errors import SyllabaryError
from syllabary.formats.record import Hints

Both = Callable[[bytes], Iterator[Any]]
Reader = Callable[[Path, Hints], Any]


class Never:
    """In the place of what the engine reads: it leaves all to Python."""

    @staticmethod
    def read(_data: bytes) -> None:
        return None


def both_ways(
    patches: pytest.MonkeyPatch, path: Path, read: Reader, module: ModuleType, **without: Any
) -> Both:
    """Bytes -> specification or error of the file, by the engine and by Python.

    without: the names by which the module calls the engine, and what stands there for Python alone.
    """

    def found(data: bytes) -> Iterator[Any]:
        path.write_bytes(data)
        for replaced in ({}, without):
            with patches.context() as patch:
                for name, value in replaced.items():
                    patch.setattr(module, name, value)
                try:
                    yield read(path, Hints())
                except SyllabaryError as error:
                    yield type(error), str(error)

    return found


def written(document: object, number: int, draw: Random) -> bytes:
    """The file of a document; every fifth has a wrong byte, of the others every seventeenth is cut short."""
    data = bytearray(json.dumps(document, ensure_ascii=number % 2 == 0).encode("utf-8", "surrogatepass"))
    if number % 5 == 0:
        data[draw.randrange(len(data))] = draw.choice(b'",{}[]0 \\\xff')
    elif number % 17 == 0:
        del data[draw.randrange(len(data)) :]
    return bytes(data)
