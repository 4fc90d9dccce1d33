"""How tokenizers and their parts are shown: `Split(pattern=String(" "), behavior=Isolated, invert=False)`.

Adds `show`, for `repr` (up to 99 items of a list) and `str` (up to 5, strings up to 100 bytes). Leaves out:
what is shown (each class says it). Source: tokenizers 0.23.3, by its output.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

T = TypeVar("T")

ITEMS, FEW, BYTES = 100, 6, 100


@dataclass(frozen=True, slots=True)
class Record:
    """`Name(member=value, …)`; none of its members is left out."""

    name: str
    members: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Word:
    """A choice, shown without quotes; with a value, `Word(value)`."""

    text: str
    value: object = ...


def show(value: object, short: bool) -> str:
    """The text of a value: plain JSON values, tuples, `Record` and `Word`.

    >>> show(Record("Strip", {"content": "_", "start": 1}), short=False)
    'Strip(content="_", start=1)'
    """
    if isinstance(value, Record):
        inside = ", ".join(f"{name}={show(member, short)}" for name, member in value.members.items())
        return f"{value.name}({inside})"
    if isinstance(value, Word):
        return value.text if value.value is ... else f"{value.text}({show(value.value, short)})"
    if isinstance(value, str):
        return f'"{_shortened(value) if short else value}"'
    if isinstance(value, Mapping):
        items = [f'"{key}":{show(item, short)}' for key, item in _first(value.items(), short)]
        return f"{{{_listed(items, len(value), short)}}}"
    if isinstance(value, tuple):
        return f"({', '.join(show(item, short) for item in value)})"
    if isinstance(value, list):
        return f"[{_listed([show(item, short) for item in _first(value, short)], len(value), short)}]"
    return _number(value) if isinstance(value, float) else str(value)


def _limit(short: bool) -> int:
    return FEW if short else ITEMS


def _first(items: Iterable[T], short: bool) -> list[T]:
    return list(itertools.islice(items, _limit(short) - 1))


def _listed(items: list[str], count: int, short: bool) -> str:
    return ", ".join([*items, "..."] if count >= _limit(short) else items)


def _shortened(text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return text if len(data) <= BYTES else data[:BYTES].decode("utf-8", "ignore") + "..."


def _number(value: float) -> str:
    """A number without an exponent, as Rust writes it."""
    if value.is_integer():
        return str(int(value))
    return format(Decimal(repr(value)), "f")
