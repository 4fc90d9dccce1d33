"""A double array of keys with values, built as the library Darts-clone builds it, unit for unit.

A trie in an array: the child of the unit `node` by the byte `b` is at `offset(node) ^ b`. `charsmap` searches
such arrays; sentencepiece writes one into each model that has rules. Which offsets are taken decides the
bytes:
  - Equal branches are one (the trie is first a graph): the second time one is met, the unit leads to the
    children of the first, if the distance can be written; else they are laid out again.
  - Depth first, smaller bytes first. The children of a unit go to the first place in a list of free units
    that suits all of them and whose offset was not used; the list has the last 16 blocks of 256 units.
  - The units of a block that leaves the list, and are free, get labels that no search asks for.
Source: Darts-clone 0.32g, `darts.h` (`DawgBuilder`, `DoubleArrayBuilder`). Leaves out: keys without values.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

BLOCK, WINDOW = 256, 16 * 256
LOWER, UPPER = 0xFF, 0xFF << 21  # a distance is written if one of the two parts is 0
LEAF, LARGE, VALUE = 1 << 8, 1 << 9, 1 << 31
Branch = tuple[
    tuple[int, int], ...
]  # label and number of the branch below (or the value, for label 0), ascending


def double_array(pairs: Sequence[tuple[bytes, int]]) -> bytes:
    """The array for keys, ascending and without NUL, with their values.

    >>> len(double_array([(b"a", 0), (b"ab", 2)]))
    1024
    """
    graph = Graph(pairs)
    layout = Layout()
    layout.build(graph)
    return struct.pack(f"<{len(layout.units)}I", *layout.units)


class Graph:
    """The keys as branches, each distinct one once.

    branches: by number. root: the number of the first. shared: those that are met more than once.
    """

    def __init__(self, pairs: Sequence[tuple[bytes, int]]) -> None:
        self.branches: list[Branch] = []
        self.shared: set[int] = set()
        self.numbers: dict[Branch, int] = {}
        path: list[list[tuple[int, int]]] = [[]]  # of the last key: what is below each of its bytes so far
        last = b""
        for key, value in pairs:
            same = 0
            while same < len(last) and same < len(key) and last[same] == key[same]:
                same += 1
            self.close(path, last, same)
            path += [[] for _ in range(len(key) - same)]
            path[-1].append((0, value))
            last = key
        self.close(path, last, 0)
        self.root = self.number(path.pop())

    def close(self, path: list[list[tuple[int, int]]], key: bytes, depth: int) -> None:
        """What is below `depth` gets no more keys."""
        while len(path) > depth + 1:
            branch = self.number(path.pop())
            path[-1].append((key[len(path) - 1], branch))

    def number(self, found: list[tuple[int, int]]) -> int:
        """The number of a branch, which is shared if it was there before."""
        branch = tuple(found)
        if branch in self.numbers:
            self.shared.add(self.numbers[branch])
        else:
            self.numbers[branch] = len(self.branches)
            self.branches.append(branch)
        return self.numbers[branch]


class Layout:
    """The units, and the list of free ones: a ring, of units not `fixed`, in which `used` offsets are
    marked."""

    def __init__(self) -> None:
        self.units: list[int] = []
        self.head = 0
        self.before = [0] * WINDOW
        self.after = [0] * WINDOW
        self.fixed = [False] * WINDOW
        self.used = [False] * WINDOW
        self.offsets: dict[int, int] = {}  # of shared branches that are laid out

    def build(self, graph: Graph) -> None:
        """Lay out all branches, depth first."""
        self.reserve(0)
        self.used[0] = True
        self.units[0] = 1 << 10
        waiting = [(graph.root, 0)]
        while waiting:
            number, unit = waiting.pop()
            branch = graph.branches[number]
            distance = self.offsets.get(number, 0) ^ unit
            if self.offsets.get(number) and not (distance & UPPER and distance & LOWER):
                self.lead(unit, distance, leaf=branch[0][0] == 0)
                continue
            offset = self.place(branch, unit)
            if number in graph.shared:
                self.offsets[number] = offset
            waiting += [(below, offset ^ label) for label, below in reversed(branch) if label]
        for block in range(max(0, len(self.units) // BLOCK - 16), len(self.units) // BLOCK):
            self.finish(block)

    def lead(self, unit: int, distance: int, leaf: bool) -> None:
        """Let a unit lead to its children, so far away; `leaf` if a key ends there."""
        kept = self.units[unit] & (VALUE | LEAF | LOWER) | (LEAF if leaf else 0)
        self.units[unit] = kept | (distance << 10 if distance < 1 << 21 else distance << 2 | LARGE)

    def place(self, branch: Branch, unit: int) -> int:
        """Lay out the children of a unit -> their offset."""
        offset = self.free(branch, unit)
        self.lead(unit, unit ^ offset, leaf=branch[0][0] == 0)
        for label, below in branch:
            child = offset ^ label
            self.reserve(child)
            self.units[child] = self.units[child] & ~LOWER | label if label else below | VALUE
        self.used[offset % WINDOW] = True
        return offset

    def free(self, branch: Branch, unit: int) -> int:
        """The first offset that suits, or one in a new block."""
        size = len(self.units)
        if self.head < size:
            first, others = branch[0][0], [label for label, _below in branch[1:]]
            place = self.head
            while True:
                offset = place ^ first
                distance = unit ^ offset
                far = distance & UPPER and distance & LOWER
                taken = far or self.used[offset % WINDOW]
                if not taken and not any(self.fixed[(offset ^ label) % WINDOW] for label in others):
                    return offset
                place = self.after[place % WINDOW]
                if place == self.head:
                    break
        return size | unit & LOWER

    def reserve(self, unit: int) -> None:
        """Take a unit from the list of free ones."""
        if unit >= len(self.units):
            self.expand()
        at = unit % WINDOW
        if unit == self.head:
            self.head = self.after[at]
            if self.head == unit:
                self.head = len(self.units)
        self.after[self.before[at] % WINDOW] = self.after[at]
        self.before[self.after[at] % WINDOW] = self.before[at]
        self.fixed[at] = True

    def expand(self) -> None:
        """One more block, at the end of the list."""
        start, end = len(self.units), len(self.units) + BLOCK
        if end > WINDOW:
            self.finish(start // BLOCK - 16)
        self.units += [0] * BLOCK
        for unit in range(start, end):
            at = unit % WINDOW
            if end > WINDOW:
                self.used[at] = self.fixed[at] = False
            self.before[at], self.after[at] = unit - 1, unit + 1
        first, last, head = start % WINDOW, (end - 1) % WINDOW, self.head % WINDOW
        self.before[first], self.after[last] = end - 1, start
        self.before[first], self.after[last] = self.before[head], self.head
        self.after[self.before[head] % WINDOW] = start
        self.before[head] = end - 1

    def finish(self, block: int) -> None:
        """Label the free units of a block that leaves the list."""
        units = range(block * BLOCK, (block + 1) * BLOCK)
        offset = next((unit for unit in units if not self.used[unit % WINDOW]), 0)
        for unit in units:
            if not self.fixed[unit % WINDOW]:
                self.reserve(unit)
                self.units[unit] = self.units[unit] & ~LOWER | (unit ^ offset) & LOWER
