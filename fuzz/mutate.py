"""Damage: one or more random changes to a file, of bytes, of lines and of JSON values.

Adds `mutate`, the same for the same random numbers. Leaves out: what must happen then (`readers`).
"""

from __future__ import annotations

import copy
import json
import random
from typing import Any

MAX_GROWTH = 1 << 16
NUMBERS = (0, 1, -1, 2, 255, 256, 2**31, 2**32 - 1, 2**32, 2**63, 2**64, 10**30, 0.5, -0.0, 1e308, True, None)
TEXTS = (
    "",
    "a",
    "##",
    "</w>",
    "Ġ",
    "▁",
    "<0x41>",
    "\x00",
    "\ud800",
    "é" * 50,
    "[",
    "(?=",
    "\\p{L}+",
    "a" * 5000,
)
CHUNKS = (
    *(b"\x00", b"\xff", b"\n", b"\r\n", b" ", b"\t", b"\xef\xbb\xbf", b"\xed\xa0\x80"),
    *(b"\xff\xff\xff\xff\x0f", b"\x80" * 12, b"[" * 3000, b'{"a":' * 500, b"0" * 5000, b"9" * 30),
)


def mutate(data: bytes, chance: random.Random) -> bytes:
    """The file, damaged one to four times."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        data = chance.choice((_flip, _cut, _copy, _insert, _lines, _json, _json))(data, chance)
    return data[: len(data) + MAX_GROWTH]


def _place(data: bytes, chance: random.Random) -> int:
    return chance.randrange(len(data) + 1)


def _flip(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return data
    damaged = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def _cut(data: bytes, chance: random.Random) -> bytes:
    start, end = sorted((_place(data, chance), _place(data, chance)))
    return data[:start] if chance.random() < 0.5 else data[:start] + data[min(end, start + 20) :]


def _copy(data: bytes, chance: random.Random) -> bytes:
    start, at = _place(data, chance), _place(data, chance)
    return data[:at] + data[start : start + chance.choice((1, 4, 30, 300))] + data[at:]


def _insert(data: bytes, chance: random.Random) -> bytes:
    at = _place(data, chance)
    return data[:at] + chance.choice(CHUNKS) + data[at + chance.choice((0, 0, 1, 4)) :]


def _lines(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    kind = chance.randrange(4)
    if kind == 0:
        del lines[one]
    elif kind == 1:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 2:
        lines.insert(other, lines[one])
    else:
        words = lines[one].split(b" ")
        words[chance.randrange(len(words))] = chance.choice((b"", b"0", b"-1", b"a", b"99999999999", b"\xff"))
        lines[one] = b" ".join(words)
    return b"\n".join(lines)


def _json(data: bytes, chance: random.Random) -> bytes:
    """One value of a JSON file replaced, removed or moved; other files as bytes."""
    try:
        root = json.loads(data)
    except (ValueError, RecursionError):
        return _flip(data, chance)
    places = list(_containers(root))
    if not places:
        return _flip(data, chance)
    holder = chance.choice(places)
    key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    kind = chance.randrange(4)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        donor = chance.choice(places)
        holder[key] = copy.deepcopy(chance.choice(list(donor.values()) if isinstance(donor, dict) else donor))
    elif kind == 2 and isinstance(holder, dict):
        holder[chance.choice(TEXTS)] = holder.pop(key)
    else:
        holder[key] = chance.choice((*NUMBERS, *TEXTS, [], {}, [[]], {"type": "Sequence"}))
    return json.dumps(root).encode()


def _containers(value: Any) -> Any:
    """Every list and object that holds something."""
    waiting = [value]
    while waiting:
        top = waiting.pop()
        if isinstance(top, (dict, list)) and top:
            yield top
            waiting += top.values() if isinstance(top, dict) else top
