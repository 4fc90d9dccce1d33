r"""Which neighbouring characters a split pattern may keep together.

    no match reads `ab`, and no look-ahead after `a` asks for `b`    =>    text may be cut between `a` and `b`

Adds `Joins`: a pattern's characters as the positions of an automaton (Glushkov's), with what may follow each.
That is read off the tree of the pattern, so it holds for any pattern of the subset, known or not. Leaves out
patterns that look back, refer back, ask for a word's edge or that the parser does not know (`joins` gives
`None`): there nothing is certain.

The argument, for a place between `a` and `b` with any text before and after. A match that begins before the
place cannot read on beyond it; so it fails or succeeds by the same way, whether the text ends there or `b`
comes: the next position does not take `b`, and a look-ahead gives the same answer for `b` as for the end. No
law looks back, so behind the place the text is split as if it stood alone. Where neither `a` nor `b` need be
matched at all, the text between two matches might run over the place: that is asked of `sure`.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from syllabary.errors import PatternError
from syllabary.reference.pattern import parse
from syllabary.reference.pattern_nodes import (
    Anchor,
    Atomic,
    Chars,
    Choice,
    Group,
    LookAround,
    Node,
    Repeat,
    Sequence,
    can_be_empty,
)
from syllabary.spec import Tables
from syllabary.unicode import SCALARS, Ranges, complement, difference, single, union

# What is not the end, as a look-ahead: `$` is true only there.
ENDS: dict[str, Ranges] = {"text end": SCALARS, "line end": complement(single("\n"))}


class UnsureError(Exception):
    """A pattern of which nothing is certain."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The positions with which a part of a pattern may begin and end, and whether it may be passed over."""

    first: frozenset[int]
    last: frozenset[int]
    empty: bool


class Digits(NamedTuple):
    """An alternative `X{1,n}`: the characters of `X`, those that no other position takes, and `n`."""

    all: Ranges
    alone: Ranges
    size: int


@dataclass
class Joins:
    """A pattern's positions.

    positions: the characters that each takes; of a look-ahead, those that it may ask for first.
    follow: for each, as bits, the positions that may come next.
    sure: characters with which a match begins wherever a search comes to them.
    group: digits that are matched so many at a time, or `None`.
    """

    positions: list[Ranges] = field(default_factory=list)
    follow: list[int] = field(default_factory=list)
    sure: Ranges = ()
    group: Digits | None = None
    masks: dict[str, int] = field(default_factory=dict)

    def mask(self, char: str) -> int:
        """The positions that take a character, as bits; above them, whether a match is sure with it."""
        if char not in self.masks:
            sets = [*self.positions, self.sure]
            self.masks[char] = sum(1 << at for at, ranges in enumerate(sets) if holds(ranges, char))
        return self.masks[char]

    def joined(self, before: str, after: str) -> bool:
        """Whether a match may read over the place between two characters, or look over it."""
        here, there = self.mask(before), self.mask(after)
        return any(follow & there for at, follow in enumerate(self.follow) if here >> at & 1)

    def is_sure(self, before: str, after: str) -> bool:
        """Whether one of the two is matched wherever it stands."""
        return bool((self.mask(before) | self.mask(after)) >> len(self.positions) & 1)

    @property
    def group_size(self) -> int:
        """How many digits a group has, or 0."""
        return 0 if self.group is None else self.group.size

    def ends_group(self, text: str, at: int, begins: bool, row: int | None = None) -> bool:
        """Whether a whole number of groups of digits stands before `at`.

        begins: the text itself begins where one may be cut; else a row of digits may have begun before it.
        row: where it begins (`row`), if that is known.
        """
        group = self.group
        if group is None or not (holds(group.alone, text[at - 1]) and holds(group.alone, text[at])):
            return False
        start = self.row(text, at) if row is None else row
        known = not holds(group.all, text[start - 1]) if start else begins
        return known and (at - start) % group.size == 0

    def row(self, text: str, at: int) -> int:
        """Where the row of digits before `at` begins."""
        while self.group is not None and at and holds(self.group.alone, text[at - 1]):
            at -= 1
        return at


def holds(ranges: Ranges, char: str) -> bool:
    """Whether a set has a character."""
    at = bisect_right(ranges, (ord(char), 0x110000)) - 1
    return at >= 0 and ranges[at][0] <= ord(char) <= ranges[at][1]


@lru_cache(maxsize=64)
def joins(pattern: str, tables: Tables) -> Joins | None:
    r"""What a pattern may keep together, or `None` where that cannot be told from its form.

    >>> found = joins(r" ?\p{L}+|\s+(?!\S)|\s", "tiktoken")
    >>> found.joined("a", "b"), found.joined(" ", "b"), found.joined("a", " ")
    (True, True, False)
    """
    found = Joins()
    try:
        tree = parse(pattern, tables)
        read(tree, found)
        found.sure = surely(tree)
    except (UnsureError, PatternError):  # of forms that the engine alone knows (`\G`) nothing can be told
        return None
    found.group = digits(tree)
    return found


def finds_all(pattern: str, tables: Tables = "tiktoken") -> bool:
    r"""Whether a match begins with every character, wherever a search comes to it, as far as its form tells.

    Then there is no text between matches.

    >>> finds_all(r" ?\p{L}+| ?[^\s\p{L}]+|\s+(?!\S)|\s+"), finds_all(r"\w+|\s+(?!\S)")
    (True, False)
    """
    try:
        return not complement(surely(parse(pattern, tables)))
    except UnsureError:
        return False


def read(node: Node, found: Joins) -> Ends:
    """The positions of a part, added to `found` with what follows what; `UnsureError` if it looks back."""
    if isinstance(node, Chars):
        return position(node.ranges, found, False)
    if isinstance(node, (Group, Atomic)):
        return read(node.item, found)
    if isinstance(node, Choice):
        parts = [read(item, found) for item in node.items]
        first, last = (
            frozenset(chain(*sides)) for sides in zip(*((p.first, p.last) for p in parts), strict=True)
        )
        return Ends(first, last, any(part.empty for part in parts))
    if isinstance(node, Sequence):
        done = Ends(frozenset(), frozenset(), True)
        for item in node.items:
            done = after(done, read(item, found), found)
        return done
    if isinstance(node, Repeat):
        part = read(node.item, found)
        if node.high is None or node.high > 1:
            after(part, part, found)
        return Ends(part.first, part.last, part.empty or node.low == 0)
    if isinstance(node, LookAround) and node.kind in ("(?=", "(?!") and not can_be_empty(node.item):
        first = read(node.item, found).first
        return position(union(*(found.positions[at] for at in first)), found, True)
    if isinstance(node, Anchor) and node.place in ENDS:
        return position(ENDS[node.place], found, True)
    raise UnsureError


def position(ranges: Ranges, found: Joins, empty: bool) -> Ends:
    """A new position; `empty` for one that has no width."""
    found.positions.append(ranges)
    found.follow.append(0)
    alone = frozenset([len(found.positions) - 1])
    return Ends(alone, alone, empty)


def after(left: Ends, right: Ends, found: Joins) -> Ends:
    """Two parts in a row."""
    bits = sum(1 << at for at in right.first)
    for at in left.last:
        found.follow[at] |= bits
    return Ends(
        left.first | right.first if left.empty else left.first,
        left.last | right.last if right.empty else right.last,
        left.empty and right.empty,
    )


def surely(node: Node) -> Ranges:
    """The characters that a part matches alone, whatever comes after them.

    >>> from syllabary.reference.pattern import parse
    >>> surely(parse(r"a?+[ab]|c(?!d)|[ef]{1,3}"))
    ((98, 98), (101, 102))
    """
    if isinstance(node, Chars):
        return node.ranges
    if isinstance(node, (Group, Atomic)):
        return surely(node.item)
    if isinstance(node, Choice):
        return union(*map(surely, node.items))
    if isinstance(node, Repeat):
        return surely(node.item) if node.low <= 1 and node.high != 0 else ()
    if not isinstance(node, Sequence):
        return ()
    if looks_around(node):
        return ()
    found: list[Ranges] = []
    taken: Ranges = ()  # what an item that gives nothing back would take
    for at, item in enumerate(node.items):
        if all(can_be_empty(other) for other in node.items[at + 1 :]):
            found.append(difference(surely(item), taken))
        if not can_be_empty(item):
            break
        if not (isinstance(item, Repeat) and item.mode != "possessive" and isinstance(item.item, Chars)):
            taken = union(taken, all_of(item))
    return union(*found)


def looks_around(node: Node) -> bool:
    """Whether a part asks anywhere what stands beside it: `(?:b|$)` may be empty at the end alone."""
    if isinstance(node, (Sequence, Choice)):
        return any(map(looks_around, node.items))
    if isinstance(node, (Group, Atomic, Repeat)):
        return looks_around(node.item)
    return isinstance(node, (LookAround, Anchor))


def all_of(node: Node) -> Ranges:
    """Every character that stands anywhere in a part."""
    found = Joins()
    read(node, found)
    return union(*found.positions)


def digits(node: Node) -> Digits | None:
    """The alternative `X{1,n}` of a pattern, if it has one: a match of it reads only `X`.

    >>> from syllabary.reference.pattern import parse
    >>> digits(parse(r"[ab]{1,3}|[bc]"))
    Digits(all=((97, 98),), alone=((97, 97),), size=3)
    """
    for item in node.items if isinstance(node, Choice) else (node,):
        if not isinstance(item, Repeat) or not isinstance(item.item, Chars) or item.mode == "lazy":
            continue
        if item.low == 1 and item.high is not None and item.high > 1:
            taken = consumed(node)
            taken.remove(item.item.ranges)
            return Digits(item.item.ranges, difference(item.item.ranges, union(*taken)), item.high)
    return None


def consumed(node: Node) -> list[Ranges]:
    """The characters of each position that has a width."""
    if isinstance(node, Chars):
        return [node.ranges]
    if isinstance(node, (Sequence, Choice)):
        return [ranges for item in node.items for ranges in consumed(item)]
    return consumed(node.item) if isinstance(node, (Repeat, Group, Atomic)) else []
