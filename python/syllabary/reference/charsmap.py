"""The character map that sentencepiece compiles its normalization rules to, read and searched.

Its bytes: the size of a double array (u32, little-endian), the array (u32 each, of the library Darts), then
the rules' results, each ended by NUL. A unit of the array has a label (the byte that leads to it), whether a
rule ends there, and the offset of its children; the value of a rule is where its result begins.
Adds `charsmap`, which checks all that a search can reach, and the two searches. Leaves out: what steps do
with what is found (`normalize_sentencepiece`, `normalize_precompiled`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from syllabary.errors import VocabularyError
from syllabary.on_demand import later

if TYPE_CHECKING:
    import hashlib
else:
    later(globals(), hashlib="hashlib")

BLOCK = 1024  # bytes; an array is a multiple of this
MAX_RULES = 32  # that a search looks at, as in sentencepiece
MEMORY = 10_000  # pairs of characters that are noted
MAX_RULE = 1024  # bytes of a rule: every place of a text is searched so far
# What UTF-8 expects next: (continuation bytes to come, lowest and highest value of the next one).
State = tuple[int, int, int]
# sentencepiece's own maps (nfkc, nfkc_cf, nmt_nfkc, nmt_nfkc_cf), which most models have: SHA-256 of one that
# was checked -> the bytes that its longest search looks at. Checking takes a quarter of a second.
CHECKED = {
    "7e46d9e08af4b6a37991b04fb8388644c1595a0abcd0f26d6a5d575e2a3663ea": 13,
    "d8dfef3d6db0eef0742f8b55a73aee7fce6c1e21d26a09b8d3d4b52c42a791cb": 13,
    "1e2c7b43d3ee9755ceaa2ac335e253d8703604e0249ee1e81156c92b46423844": 13,
    "2c03512e62f9ed965ec90d85314211b63b5b8aa0395311ea2147eec9ff738907": 13,
}
START: State = (0, 0x00, 0x7F)


@dataclass(frozen=True)
class Charsmap:
    """A character map that was checked: no search leaves it, and all results are text.

    longest_rule: how many bytes a search looks at, at most.
    """

    units: tuple[int, ...]
    results: bytes
    longest_rule: int = MAX_RULE
    known: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)  # by `begins_with`

    def rules(self, text: bytes, at: int = 0) -> Iterator[tuple[int, str]]:
        """The rules for what the text begins with at `at`, shortest first: `(bytes, result)` of each."""
        node = _children(0, self.units[0])
        for end in range(at, len(text)):
            node ^= text[end]
            unit = self.units[node]
            if unit & 0x800000FF != text[end]:
                return
            node = _children(node, unit)
            if unit >> 8 & 1:
                start = self.units[node] & 0x7FFFFFFF
                yield end + 1 - at, self.results[start : self.results.index(0, start)].decode("utf-8")

    def longest(self, text: bytes, at: int) -> tuple[int, str] | None:
        """The longest rule at `at`, of the first `MAX_RULES`."""
        found = None
        for count, rule in enumerate(self.rules(text, at)):
            if count == MAX_RULES:
                break
            found = rule
        return found

    def begins(self, text: bytes) -> bool:
        """Whether a rule may be `text`, or begin with it."""
        node = _children(0, self.units[0])
        for byte in text:
            node ^= byte
            unit = self.units[node]
            if unit & 0x800000FF != byte:
                return False
            node = _children(node, unit)
        return True

    def begins_with(self, pair: str) -> bool:
        """The same of two characters; it is noted, as texts have few pairs."""
        found = self.known.get(pair)
        if found is None:
            if len(self.known) > MEMORY:
                self.known.clear()
            found = self.known[pair] = self.begins(pair.encode())
        return found

    def shortest(self, text: bytes) -> str | None:
        """The result of the shortest rule that the text begins with."""
        return next((result for _, result in self.rules(text)), None)


@lru_cache(maxsize=8)
def charsmap(blob: bytes) -> Charsmap | None:
    """The map in these bytes, checked; `None` for `b""`, which changes nothing.

    Raises `VocabularyError` for one that is cut short, leads outside itself, or has rules or results that are
    not whole characters.
    """
    if not blob:
        return None
    size = int.from_bytes(blob[:4], "little")
    if len(blob) <= 4 or size < BLOCK or size % BLOCK or size >= len(blob) - 4:
        raise _damaged(f"its array is said to have {size} bytes, of {len(blob)} in all")
    units = struct.unpack(f"<{size // 4}I", blob[4 : 4 + size])
    results = blob[4 + size :]
    if results[-1] != 0:
        raise _damaged("its last result has no end")
    try:
        results.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _damaged(f"its results are not UTF-8 at byte {4 + size + error.start}") from error
    known = CHECKED.get(hashlib.sha256(blob).hexdigest())
    return Charsmap(units, results, longest_search(units, results) if known is None else known)


def _children(node: int, unit: int) -> int:
    """Where the children of a unit are: the child of byte `b` is at this number xor `b`."""
    return node ^ (unit >> 10 << ((unit & 0x200) >> 6))


def longest_search(units: tuple[int, ...], results: bytes) -> int:
    """The bytes that the longest search looks at.

    Raises `VocabularyError` unless all that a search of UTF-8 can reach is in the array, and each rule ends
    with a character.
    """
    labelled: dict[int, list[int]] = {}  # where children are -> the units that may be among them
    for index, unit in enumerate(units):
        if unit & 0x80000000 == 0 and index:
            labelled.setdefault(index ^ unit & 0xFF, []).append(index)
    # The longest search from a place on; `None` for the places on the way to the present one.
    lengths: dict[tuple[int, State], int | None] = {}
    waiting: list[tuple[tuple[int, State], bool]] = [((0, START), False)]
    while waiting:
        place, done = waiting.pop()
        if done:
            longest = max((lengths[next_] or 0 for next_ in _places(units, labelled, place)), default=0) + 1
            if longest > MAX_RULE:
                raise _damaged(f"a rule is longer than {MAX_RULE} bytes")
            lengths[place] = longest
        elif place not in lengths:
            lengths[place] = None
            _check_unit(units, results, place)
            waiting.append((place, True))
            waiting += [(next_, False) for next_ in _places(units, labelled, place)]
        elif lengths[place] is None:
            raise _damaged(f"unit {place[0]} of its array leads back to itself")
    return lengths[0, START] or 0


def _places(
    units: tuple[int, ...], labelled: dict[int, list[int]], place: tuple[int, State]
) -> Iterator[tuple[int, State]]:
    """Where a search of UTF-8 can go on from a unit."""
    node, state = place
    for child in labelled.get(_children(node, units[node]), ()):
        after = _after(state, units[child] & 0xFF)
        if after is not None:
            yield child, after


def _check_unit(units: tuple[int, ...], results: bytes, place: tuple[int, State]) -> None:
    node, state = place
    unit = units[node]
    children = _children(node, unit)
    if children | 0xFF >= len(units):
        raise _damaged(f"unit {node} of its array leads outside of it")
    if unit >> 8 & 1:
        _check_rule(node, state, units[children], results)


def _check_rule(node: int, state: State, value: int, results: bytes) -> None:
    """A rule that ends at a unit: after whole characters, with a result that begins with one."""
    if node == 0 or state != START:
        raise _damaged(f"the rule at unit {node} of its array does not end with a character")
    start = value & 0x7FFFFFFF
    if value < 0x80000000 or start >= len(results) or results[start] & 0xC0 == 0x80:
        raise _damaged(f"the result of the rule at unit {node} of its array is none of its results")


def _after(state: State, byte: int) -> State | None:
    """What UTF-8 expects after one more byte; `None` if it may not come here."""
    count, low, high = state
    if count:
        if not low <= byte <= high:
            return None
        return (count - 1, 0x80, 0xBF) if count > 1 else START
    if byte < 0x80:
        return START
    narrowed = {0xE0: (2, 0xA0, 0xBF), 0xED: (2, 0x80, 0x9F), 0xF0: (3, 0x90, 0xBF), 0xF4: (3, 0x80, 0x8F)}
    for first, last, more in ((0xC2, 0xDF, 1), (0xE0, 0xEF, 2), (0xF0, 0xF4, 3)):
        if first <= byte <= last:
            return narrowed.get(byte, (more, 0x80, 0xBF))
    return None


def _damaged(reason: str) -> VocabularyError:
    return VocabularyError(
        f"precompiled_charsmap is damaged: {reason}; take it from the tokenizer's own file again"
    )
