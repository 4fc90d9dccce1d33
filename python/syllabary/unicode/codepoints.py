"""Sets of code points as sorted ranges: union, intersection, difference, complement.

A set is a tuple of `(low, high)`, both ends included, ascending, neither touching nor overlapping, so that
equal sets are equal tuples. Leaves out: which characters a class holds (`syllabary.unicode`).
"""

from __future__ import annotations

from collections.abc import Iterable

Ranges = tuple[tuple[int, int], ...]

# Every code point that a text can hold: all but the surrogates.
SCALARS: Ranges = ((0, 0xD7FF), (0xE000, 0x10FFFF))


def normal(spans: Iterable[tuple[int, int]]) -> Ranges:
    """Any ranges, in any order -> the set of them.

    >>> normal([(5, 9), (1, 2), (3, 5)])
    ((1, 9),)
    """
    merged: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def union(*sets: Ranges) -> Ranges:
    """The members of any of the sets."""
    return normal(span for ranges in sets for span in ranges)


def intersection(left: Ranges, right: Ranges) -> Ranges:
    """The members of both sets.

    >>> intersection(((1, 5), (8, 9)), ((4, 8),))
    ((4, 5), (8, 8))
    """
    spans: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        low, high = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if low <= high:
            spans.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(spans)


def complement(ranges: Ranges) -> Ranges:
    """All scalar values outside the set.

    >>> complement(((0, 0xFFFF),))
    ((65536, 1114111),)
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for low, high in ranges:
        if start < low:
            spans.append((start, low - 1))
        start = high + 1
    if start <= 0x10FFFF:
        spans.append((start, 0x10FFFF))
    return intersection(tuple(spans), SCALARS)


def difference(left: Ranges, right: Ranges) -> Ranges:
    """The members of the left set that the right one lacks."""
    return intersection(left, complement(right))


def symmetric_difference(left: Ranges, right: Ranges) -> Ranges:
    """The members of exactly one of the sets."""
    return union(difference(left, right), difference(right, left))


def single(char: str) -> Ranges:
    """The set of one character."""
    return ((ord(char), ord(char)),)
