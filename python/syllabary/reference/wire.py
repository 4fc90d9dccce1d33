"""Protocol buffers' wire format, written: what sentencepiece's trainer puts into a model.

Leaves out: reading it (`syllabary.formats.protobuf`), and what the fields mean (`train_sentencepiece_model`).
"""

from __future__ import annotations

import struct

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def record(number: int, value: float | str | bytes) -> bytes:
    """A field: an `int` as a varint (negative ones as 64 bits), text and bytes as a string or message, a
    `float` in 32 bits.

    >>> record(4, 8000).hex(), record(30, "<c>").hex(), record(10, 1.0).hex()
    ('20c03e', 'f201033c633e', '550000803f')
    """
    if isinstance(value, (str, bytes)):
        data = value.encode() if isinstance(value, str) else value
        return varint(number << 3 | BYTES) + varint(len(data)) + data
    if isinstance(value, int):
        return varint(number << 3 | VARINT) + varint(value & (2**64 - 1))
    return varint(number << 3 | FIXED32) + struct.pack("<f", value)


def varint(value: int) -> bytes:
    """A number from 0 to 2**64 - 1, seven bits a byte, the lowest first.

    >>> varint(300)
    b'\\xac\\x02'
    """
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
