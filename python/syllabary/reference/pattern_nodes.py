"""What a split pattern means, as a tree of plain records.

Adds the nodes, and two questions on them: can it match the empty string, how many characters wide is it?
Leaves out: how the tree is read (`pattern_parser`) and written for an engine (`pattern`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from syllabary.unicode import Ranges

Mode = Literal["greedy", "lazy", "possessive"]
Place = Literal[
    "text start", "text end", "line start", "line end", "last line", "word boundary", "no word boundary"
]
Look = Literal["(?=", "(?!", "(?<=", "(?<!"]


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set. `text`: how every dialect writes the set, or `None` (then by its ranges)."""

    ranges: Ranges
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Sequence:
    """Each item after the other; none is the empty string."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The first item that lets the rest match."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """An item `low` to `high` times (`None`: no limit)."""

    item: Node
    low: int
    high: int | None
    mode: Mode


@dataclass(frozen=True, slots=True)
class Group:
    """A captured group, by its number."""

    item: Node
    number: int


@dataclass(frozen=True, slots=True)
class Atomic:
    """An item that is never matched another way once it has matched."""

    item: Node


@dataclass(frozen=True, slots=True)
class LookAround:
    """A condition on what follows or precedes; no width."""

    item: Node
    kind: Look


@dataclass(frozen=True, slots=True)
class BackReference:
    """The text that a captured group matched."""

    number: int


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place in the text; no width."""

    place: Place


Node = Chars | Sequence | Choice | Repeat | Group | Atomic | LookAround | BackReference | Anchor


def can_be_empty(node: Node) -> bool:
    """Whether the node may match without width, as far as its form shows."""
    if isinstance(node, Chars):
        return False
    if isinstance(node, Sequence):
        return all(map(can_be_empty, node.items))
    if isinstance(node, Choice):
        return any(map(can_be_empty, node.items))
    if isinstance(node, Repeat):
        return node.low == 0 or can_be_empty(node.item)
    if isinstance(node, (Group, Atomic)):
        return can_be_empty(node.item)
    return True


def width(node: Node) -> int | None:
    """The number of characters that the node matches, or `None` where that varies."""
    if isinstance(node, Chars):
        return 1
    if isinstance(node, Sequence):
        widths = [width(item) for item in node.items]
        return None if None in widths else sum(w for w in widths if w is not None)
    if isinstance(node, Choice):
        first, *others = {width(item) for item in node.items}
        return None if others else first
    if isinstance(node, Repeat):
        inner = width(node.item)
        return None if inner is None or node.low != node.high else inner * node.low
    if isinstance(node, (Group, Atomic)):
        return width(node.item)
    return None if isinstance(node, BackReference) else 0


def has_back_reference(node: Node) -> bool:
    """Whether any part refers to a captured group."""
    if isinstance(node, BackReference):
        return True
    if isinstance(node, (Sequence, Choice)):
        return any(map(has_back_reference, node.items))
    if isinstance(node, (Repeat, Group, Atomic, LookAround)):
        return has_back_reference(node.item)
    return False
