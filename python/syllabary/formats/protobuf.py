"""Protocol buffers' wire format, as much as sentencepiece's models need.

Adds reading a message into its fields with their offsets, and changing some fields of a message while every
other byte stays. The rules are https://protobuf.dev/programming-guides/encoding. Leaves out: writing a field
(`reference.wire`), schemas, packed lists, and groups (wire types 3 and 4), which have been deprecated since
2008 and are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from syllabary.reference.symbols import plural
from syllabary.reference.wire import BYTES, FIXED32, FIXED64, VARINT, record

KINDS = {VARINT: "a number", FIXED64: "8 bytes", BYTES: "a string or message", FIXED32: "4 bytes"}
MAX_VARINT = 10  # bytes


class WireError(ValueError):
    """Bytes that are no message: `offset` is where, in bytes of the whole file."""

    def __init__(self, offset: int, message: str) -> None:
        """Say what is wrong at a byte of the file."""
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message.

    number, wire: its tag. value: the number of a varint, else the bytes.
    start, body, end: where it, its value, and the next field begin, in bytes of the file.
    """

    number: int
    wire: int
    value: int | bytes
    start: int
    body: int
    end: int

    def expect(self, wire: int) -> Field:
        """Itself, if it is of this wire type; else a `WireError`."""
        if self.wire != wire:
            raise WireError(self.start, f"field {self.number} is {KINDS[self.wire]}, not {KINDS[wire]}")
        return self

    @property
    def number_value(self) -> int:
        """The value of a varint; `WireError` if it is none."""
        value = self.expect(VARINT).value
        return value if isinstance(value, int) else 0

    @property
    def bytes_value(self) -> bytes:
        """The bytes of a string or message; `WireError` if it is none."""
        value = self.expect(BYTES).value
        return value if isinstance(value, bytes) else b""


def read_varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """A varint at `at` -> its value (64 bits) and the offset after it; `WireError` for one cut short.

    >>> read_varint(bytes([0xAC, 0x02]), 0, 2)
    (300, 2)
    """
    value = 0
    for place in range(MAX_VARINT):
        if at + place >= end:
            raise WireError(
                at, "the file ends within a number" if end == len(data) else "a number is cut short"
            )
        byte = data[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value & (2**64 - 1), at + place + 1
    raise WireError(at, f"a number of more than {MAX_VARINT} bytes")


def fields(data: bytes, start: int = 0, end: int | None = None) -> Iterator[Field]:
    """The fields of the message `data[start:end]`, in order; `WireError` at the first that is none.

    >>> [(field.number, field.value) for field in fields(b"\\x08\\x05\\x12\\x01a")]
    [(1, 5), (2, b'a')]
    """
    stop = len(data) if end is None else end
    at = start
    while at < stop:
        field = read_field(data, at, stop)
        yield field
        at = field.end


def read_field(data: bytes, at: int, end: int) -> Field:
    """The field that begins at `at` and ends at `end` at the latest; `WireError` if none does."""
    tag, body = read_varint(data, at, end)
    number, wire = tag >> 3, tag & 7
    if not 0 < number < 2**29:
        raise WireError(at, f"{number} is no field number")
    if wire == VARINT:
        value, after = read_varint(data, body, end)
        return Field(number, wire, value, at, body, after)
    if wire not in KINDS:
        raise WireError(at, f"field {number} has the wire type {wire}, which no sentencepiece model has")
    size = 8 if wire == FIXED64 else 4
    if wire == BYTES:
        size, body = read_varint(data, body, end)
    if size > end - body:
        where = "the file" if end == len(data) else "the message around it"
        raise WireError(
            at, f"field {number} is {plural(size, 'byte')} long, but {where} has {end - body} more"
        )
    return Field(number, wire, data[body : body + size], at, body, body + size)


def patched(message: bytes, wanted: Mapping[int, int | bytes]) -> bytes:
    """The message with these fields, each in its place by number; all others stay byte for byte.

    >>> patched(record(1, 5) + record(3, 7), {2: b"a", 3: 7})
    b'\\x08\\x05\\x12\\x01a\\x18\\x07'
    """
    kept = [(field.number, message[field.start : field.end]) for field in fields(message)]
    for number, value in wanted.items():
        kept = [item for item in kept if item[0] != number]
        place = next((index for index, item in enumerate(kept) if item[0] > number), len(kept))
        kept.insert(place, (number, record(number, value)))
    return b"".join(raw for _number, raw in kept)
