"""Bracketed classes: `[a-z\\d]`, `[^\\s\\p{L}]`, `[\\p{L}&&[^\\p{Han}]]` -> one set of code points.

The syntax is that of Rust's regex-syntax, which fancy-regex hands its classes to: nested classes, ranges,
`[:alpha:]` (ASCII), and `&&`, `--`, `~~`, which bind looser than a list of items and group to the left.
Without case, each part is folded before it is negated. Leaves out: what stands outside of brackets
(`pattern_parser`), and the tables (`syllabary.unicode`).
"""

from __future__ import annotations

from syllabary.reference.pattern_cursor import Cursor
from syllabary.reference.pattern_nodes import Chars
from syllabary.unicode import (
    Ranges,
    complement,
    difference,
    fold,
    intersection,
    single,
    symmetric_difference,
    union,
)

OPERATIONS = {"&&": intersection, "--": difference, "~~": symmetric_difference}
POSIX: dict[str, Ranges] = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ((0x00, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0x00, 0x1F), (0x7F, 0x7F)),
    "digit": ((0x30, 0x39),),
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "upper": ((0x41, 0x5A),),
    "word": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}


def char_text(char: str) -> str:
    """A character as every dialect writes it, in a class and outside."""
    named = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
    return named.get(char, "\\" + char if char in r"\.[]{}()*+?^$|&-~#" else char)


def read_class(cursor: Cursor, caseless: bool) -> Chars:
    """A bracketed class at the cursor, which stands on its `[`."""
    start = cursor.at
    cursor.take()
    negated = cursor.accepts("^")
    members, text = _union(cursor, caseless, start, first=True)
    while not cursor.accepts("]"):
        operation = OPERATIONS[cursor.take() + cursor.take()]
        right, _ = _union(cursor, caseless, start, first=False)
        members, text = operation(members, right), None
    if caseless:
        members = fold(members)
    if negated:
        members = complement(members)
    return Chars(members, None if text is None else f"[{'^' if negated else ''}{text}]")


def _union(cursor: Cursor, caseless: bool, start: int, first: bool) -> tuple[Ranges, str | None]:
    """Items up to `]` or an operator -> their union, and the text where every dialect writes it so."""
    parts: list[Ranges] = []
    texts: list[str | None] = []
    if first:
        while cursor.sees("-"):
            parts.append(single(cursor.take()))
            texts.append(r"\-")
        if not parts and cursor.accepts("]"):
            parts.append(single("]"))
            texts.append(r"\]")
    while not (cursor.sees("]") or any(map(cursor.sees, OPERATIONS))):
        if cursor.done():
            cursor.fail("'[' is not closed with ']'", start)
        members, text = _item(cursor, caseless)
        parts.append(fold(members) if caseless else members)
        texts.append(None if caseless else text)
    text = None if None in texts or not texts else "".join(t for t in texts if t is not None)
    return union(*parts), text


def _item(cursor: Cursor, caseless: bool) -> tuple[Ranges, str | None]:
    """One item: a nested class, a class escape, a character or a range of them."""
    start = cursor.at
    if cursor.sees("[:"):
        posix = _posix(cursor, caseless)
        if posix is not None:
            return posix, None
    if cursor.sees("["):
        return read_class(cursor, caseless).ranges, None
    if cursor.sees("\\"):
        cursor.take()
        named = cursor.escaped_class(cursor.take(), start, caseless, bracketed=True)
        if named is not None:
            _no_range_after(cursor, start)
            return named
        cursor.at = start
    low = _char(cursor)
    if not cursor.sees("-") or cursor.sees("--") or cursor.sees("-]"):
        return single(low), char_text(low)
    cursor.take()
    high_at = cursor.at
    if cursor.sees("["):
        cursor.fail("a range ends in a character, not in a class", high_at)
    high = _char(cursor)
    if low > high:
        cursor.fail(f"range {low!r}-{high!r} is the wrong way round", start)
    return ((ord(low), ord(high)),), f"{char_text(low)}-{char_text(high)}"


def _char(cursor: Cursor) -> str:
    """A single character, escaped or not."""
    start = cursor.at
    char = cursor.take()
    if char != "\\":
        return char
    letter = cursor.take()
    if letter == "b":
        return "\b"
    meant = cursor.escaped_char(letter, start)
    if meant is None:
        cursor.fail(f"'\\{letter}' is not known in a class", start)
    return meant


def _no_range_after(cursor: Cursor, start: int) -> None:
    r"""`[\d-z]`: a class begins no range, and Rust refuses what looks like one."""
    if cursor.sees("-") and not cursor.sees("--") and not cursor.sees("-]"):
        cursor.fail("a range begins with a character, not with a class", start)


def _posix(cursor: Cursor, caseless: bool) -> Ranges | None:
    """`[:alpha:]`, `[:^alpha:]`: ASCII only, as in Rust; `None` (and no step) where it is none."""
    name, colon, _ = cursor.rest()[2:].partition(":]")
    members = POSIX.get(name.removeprefix("^"))
    if members is None or not colon:
        return None
    cursor.at += len(name) + 4
    if caseless:
        members = fold(members)
    return complement(members) if name.startswith("^") else members
