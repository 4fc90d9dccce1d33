"""GGUF as a container: the header of a file, read in bounded memory, and a header written.

Layout (the page gguf.md of ggml): the bytes `GGUF`, a version, the numbers of tensors and of pairs, then the
pairs: a key, the number of a type, a value. Strings and lists begin with their length. All numbers are
little-endian, or all big-endian, which the version tells. Models have gigabytes: only the pairs that are
asked for are kept, and nothing behind the pairs is read. Leaves out: what keys mean (`gguf`), tensors.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from syllabary.errors import FormatError
from syllabary.formats.signs import GGUF_MAGIC
from syllabary.reference.symbols import plural, shown, they_are

Value = bool | int | float | str | list[Any]
VERSIONS = (2, 3)
# The number of a type -> how `struct` calls it.
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, LIST = 8, 9
TYPES = {"u8": 0, "u32": 4, "i32": 5, "f32": 6, "bool": 7, "str": STRING, "list": LIST}
TYPES |= {"u64": 10, "i64": 11, "f64": 12}
# In the order they are tried; integers in lists are signed first, as its own library has them.
SMALLEST = ("u32", "i32", "u64", "i64", "f32", "f64", "bool", "str", "list")
IN_LISTS = ("i32", "u32", "i64", *SMALLEST[2:])
MAX_PAIRS = 1 << 16
MAX_KEY = 1 << 16  # bytes
MAX_KEPT = 256 << 20  # bytes of all values that are kept
MAX_DEPTH = 4  # of lists in lists
LIST_BYTES = 64  # of memory, that one takes which is empty


class Reader:
    """A file, the place in it, and how much may still be kept; every length is checked before it is read."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self.file, self.path = file, path
        self.size = os.fstat(file.fileno()).st_size
        self.at = self.kept = 0
        self.order = "<"

    def error(self, what: str) -> FormatError:
        """What is wrong, and at which byte."""
        return FormatError(f"{self.path}: byte {self.at}: {what}")

    def bytes(self, count: int, what: str) -> bytes:
        """So many bytes; `FormatError` if the file ends before."""
        if count > self.size - self.at:
            raise self.error(
                f"{what} should have {plural(count, 'byte')}, but {self.size - self.at} are left of the file"
            )
        data = self.file.read(count)
        if len(data) < count:
            raise self.error(f"{what}: the file ends early")
        self.at += count
        return data

    def skip(self, count: int, what: str) -> None:
        """Over so many bytes, which must be there."""
        if count > self.size - self.at:
            raise self.error(
                f"{what} should have {plural(count, 'byte')}, but {self.size - self.at} are left of the file"
            )
        self.file.seek(count, os.SEEK_CUR)
        self.at += count

    def number(self, code: str, what: str) -> int:
        """A whole number."""
        data = self.bytes(struct.calcsize("=" + code), what)
        value: int = struct.unpack(self.order + code, data)[0]
        return value

    def string(self, what: str, most: int = MAX_KEPT) -> str:
        """A text of at most so many bytes."""
        length = self.number("Q", f"the length of {what}")
        if length > most:
            raise self.error(f"{what} is said to have {length} bytes, more than {most}")
        start, data = self.at, self.bytes(length, what)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise FormatError(f"{self.path}: byte {start + error.start}: {what} is not UTF-8") from error

    def keep(self, count: int, what: str) -> None:
        """Note that so many bytes will be kept."""
        self.kept += count
        if self.kept > MAX_KEPT:
            raise self.error(f"{what}: what is said of the tokenizer is larger than {MAX_KEPT} bytes")

    def value(self, kind: int, key: str, wanted: bool, depth: int = 0) -> Value:
        """A value; of one that is not wanted, nothing."""
        if kind == LIST:
            return self.list(key, wanted, depth + 1)
        if kind == STRING:
            if wanted:
                text = self.string(key, MAX_KEPT - self.kept)
                self.keep(len(text) + 8, key)
                return text
            self.skip(self.number("Q", f"the length of {key}"), key)
            return ""
        if kind not in NUMBERS:
            raise self.error(f"{key} has the type {kind}, which GGUF does not know")
        number: bool | int | float = self.numbers(NUMBERS[kind], 1, key)[0]
        return number

    def numbers(self, code: str, count: int, key: str) -> tuple[Any, ...]:
        """So many numbers of a kind."""
        data = self.bytes(count * struct.calcsize("=" + code), key)
        if code == "?" and data.strip(b"\0\1"):
            raise self.error(f"{key} is a truth value, but neither 0 nor 1")
        return struct.unpack(f"{self.order}{count}{code}", data)

    def list(self, key: str, wanted: bool, depth: int) -> Value:
        """A list of values of one type."""
        if depth > MAX_DEPTH:
            raise self.error(f"{key}: lists are nested more than {MAX_DEPTH} deep")
        kind, count = self.number("I", key), self.number("Q", f"the length of {key}")
        if kind in NUMBERS:
            width = struct.calcsize("=" + NUMBERS[kind])
            if not wanted:
                self.skip(count * width, key)
                return []
            self.keep(count * width, key)
            return list(self.numbers(NUMBERS[kind], count, key))
        if count > self.size - self.at:
            raise self.error(
                f"{key} should have {plural(count, 'item')}, but {they_are(self.size - self.at, 'byte')} left"
            )
        found: list[Value] = []
        for index in range(count):
            value = self.value(kind, f"{key}[{index}]", wanted, depth)
            if wanted:
                if isinstance(value, list):
                    self.keep(LIST_BYTES, key)
                found.append(value)
        return found


def read_pairs(path: Path, prefix: str) -> dict[str, Value]:
    """The pairs of a file whose keys begin with `prefix`; `FormatError` with the byte for a damaged file."""
    with path.open("rb") as file:
        reader = Reader(file, path)
        if reader.bytes(len(GGUF_MAGIC), "the magic bytes") != GGUF_MAGIC:
            raise FormatError(f"{path}: no GGUF file: it does not begin with {GGUF_MAGIC!r}")
        version = reader.number("I", "the version")
        if version & 0xFFFF == 0:  # read with the bytes the wrong way round
            reader.order, version = ">", int.from_bytes(version.to_bytes(4, "little"), "big")
        if version not in VERSIONS:
            raise reader.error(f"GGUF version {version}, of which only 2 and 3 can be read")
        reader.number("Q", "the number of tensors")
        count = reader.number("Q", "the number of pairs")
        if count > MAX_PAIRS:
            raise reader.error(f"{count} pairs, more than {MAX_PAIRS}")
        found: dict[str, Value] = {}
        for _index in range(count):
            key = reader.string("a key", MAX_KEY)
            wanted = key.startswith(prefix)
            if wanted and key in found:
                raise reader.error(f"the key {shown(key)} is there twice")
            value = reader.value(reader.number("I", f"the type of {shown(key)}"), key, wanted)
            if wanted:
                found[key] = value
        return found


def write_pairs(pairs: Mapping[str, tuple[str, Value]]) -> bytes:
    """A file of version 3 with these pairs, and no tensors.

    pairs: key -> type (a name of `TYPES`) and value; a list's is that of its items.
    """
    parts = [GGUF_MAGIC, struct.pack("<IQQ", 3, 0, len(pairs))]
    for key, (name, value) in pairs.items():
        parts.append(_string(key))
        if isinstance(value, list):
            parts += [struct.pack("<I", LIST), _list(TYPES[name], value)]
        else:
            parts += [struct.pack("<I", TYPES[name]), _item(TYPES[name], value)]
    data = b"".join(parts)
    return data + b"\0" * (-len(data) % 32)  # tensors would begin at a multiple of 32


def smallest(value: object, depth: int = 0) -> str | None:
    """The name of the smallest type that holds a value, or all items of a list; `None` if none does."""
    items, names = (value, IN_LISTS) if isinstance(value, list) else ([value], SMALLEST)
    depth += isinstance(value, list)
    return next((name for name in names if depth <= MAX_DEPTH and _holds(name, items, depth)), None)


def _holds(name: str, items: list[Any], depth: int) -> bool:
    """Whether all of these are values of a type, and come back from it as they are."""
    kind = TYPES[name]
    plain = {"f32": float, "f64": float, "bool": bool, "str": str, "list": list}.get(name, int)
    if any(type(one) is not plain for one in items):
        return False
    if kind not in NUMBERS:
        return kind == STRING or all(smallest(one, depth) for one in items)
    code = f"<{len(items)}{NUMBERS[kind]}"
    try:
        back = struct.unpack(code, struct.pack(code, *items))
    except (struct.error, OverflowError):
        return False
    return all(now == one or one != one for one, now in zip(items, back, strict=True))


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _list(kind: int, items: list[Any]) -> bytes:
    return struct.pack("<IQ", kind, len(items)) + b"".join(_item(kind, one) for one in items)


def _item(kind: int, value: object) -> bytes:
    if isinstance(value, list):
        return _list(TYPES[smallest(value) or "str"], value)
    return _string(str(value)) if kind == STRING else struct.pack("<" + NUMBERS[kind], value)
