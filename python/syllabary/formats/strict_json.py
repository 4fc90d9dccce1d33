"""JSON that is what it should be, or an error with the place: `tokenizer.json: at $.model.merges[3]: …`.

Adds a strict parser (no duplicate keys, no NaN, depth bounded by Python's own limit, and by `MAX_DEPTH` where
a value is kept) and `Json`, a value that knows where it stands and refuses to be of the wrong type. Leaves
out: what a format's keys mean.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from syllabary.errors import FormatError
from syllabary.reference.check import MAX_ID

MAX_DEPTH = 250  # of values that are carried along: Python's own limit is in the way of saving 1000
TOO_DEEP = f"lists and objects are nested more than {MAX_DEPTH} deep"


@dataclass(frozen=True, slots=True)
class Json:
    """A JSON value, the path to it, and the file that it stands in."""

    value: object
    where: str
    path: Path

    def error(self, message: str) -> FormatError:
        """The exception to raise for this value."""
        return FormatError(f"{self.path}: at {self.where}: {message}")

    def wrong(self, wanted: str) -> FormatError:
        """The exception for a value of the wrong type."""
        return self.error(f"must be {wanted}, not {_kind(self.value)}")

    def object(self, known: Collection[str] | None = None) -> dict[str, Json]:
        """The members of an object; a key outside `known` is an error."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        for key in self.value:
            if known is not None and key not in known:
                raise self.error(f"unknown key {key[:80]!r}; known are {', '.join(sorted(known))}")
        return {key: Json(value, f"{self.where}.{key}", self.path) for key, value in self.value.items()}

    def member(self, key: str) -> Json:
        """A member that must be there."""
        members = self.object()
        if key not in members:
            raise self.error(f"{key!r} is missing")
        return members[key]

    def optional(self, key: str) -> Json:
        """A member, or null if it is not there."""
        return self.object().get(key, Json(None, f"{self.where}.{key}", self.path))

    def list(self) -> Iterator[Json]:
        """The items of a list."""
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return (Json(item, f"{self.where}[{index}]", self.path) for index, item in enumerate(self.value))

    def string(self) -> str:
        """A string that can be UTF-8."""
        if not isinstance(self.value, str):
            raise self.wrong("a string")
        return self._checked(self.value)

    def optional_string(self) -> str | None:
        """A string or null."""
        return None if self.value is None else self.string()

    def choice(self, *values: str) -> str:
        """One of the strings given."""
        if self.value not in values or not isinstance(self.value, str):
            raise self.error(f"must be one of {', '.join(values)}, not {_kind(self.value)}")
        return self.value

    def boolean(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def id(self) -> int:
        """An integer that can be a token's id."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.wrong("an integer")
        if not 0 <= self.value <= MAX_ID:
            raise self.error(f"is an id outside 0 … {MAX_ID}")
        return self.value

    def ids(self) -> dict[str, int]:
        """An object of text -> id."""
        found = self.value
        if isinstance(found, dict) and found and are_ids(found.values()):
            with suppress(UnicodeEncodeError):
                "".join(found).encode("utf-8")
                return dict(found)
        members = self.object()  # which say where the error is
        return {self._checked(key): member.id() for key, member in members.items()}

    def flat(self, inside: int = 0) -> Any:
        """The value, to be kept inside of so many lists and objects: none may be deeper than `MAX_DEPTH`."""
        if depth_of(self.value) + inside > MAX_DEPTH:
            raise self.error(TOO_DEEP)
        return self.value

    def columns(self, width: int) -> tuple[Sequence[Any], ...] | None:
        """The columns of a list of lists of so many items each; `None` for anything else, and for none.

        >>> Json([[1, "a"], [2, "b"]], "$", Path("x.json")).columns(2)
        ([1, 2], ['a', 'b'])
        """
        rows = self.value
        if not isinstance(rows, list) or {*map(type, rows)} != {list} or {*map(len, rows)} != {width}:
            return None
        items = list(chain.from_iterable(rows))
        return tuple(items[place::width] for place in range(width))

    def _checked(self, text: str) -> str:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise self.error(f"lone surrogate U+{ord(text[error.start]):04X} in a string") from error
        return text


def depth_of(value: object) -> int:
    """How deep lists and objects are nested, itself included: 0 for a number.

    >>> depth_of(1), depth_of([]), depth_of({"a": [1, {}]})
    (0, 1, 3)
    """
    depth, level = 0, [value]
    while level := [one for one in level if isinstance(one, (dict, list))]:
        depth += 1
        level = list(chain.from_iterable(one.values() if isinstance(one, dict) else one for one in level))
    return depth


def are_ids(values: Collection[object]) -> bool:
    """Whether all of some values can be tokens' ids: what `Json.id` says of each, at a glance.

    >>> are_ids([0, 7]), are_ids([0, -1]), are_ids([True]), are_ids([1.0])
    (True, False, False, False)
    """
    return {*map(type, values)} == {int} and min(values) >= 0 and max(values) <= MAX_ID  # type: ignore[type-var, operator]


def parse(data: bytes, path: Path, read_float: Callable[[str], float] = float) -> Json:
    """The bytes of a JSON file as one value; `FormatError` with byte offset or line and column.

    read_float: what a number with a point or an exponent is.

    >>> parse(b'{"a": [1, true]}', Path("x.json")).member("a").where
    '$.a'
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not UTF-8 at byte offset {error.start} ({error.reason})") from error
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=read_float)
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{path}: not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from error
    except RecursionError as error:
        raise FormatError(f"{path}: nested too deeply for a tokenizer file") from error
    except ValueError as error:  # a duplicate key, NaN, or an integer too long for Python to read
        why = str(error).partition("; use sys.set_int_max_str_digits()")[0]  # advice to who calls Python
        raise FormatError(f"{path}: {why}") from error
    return Json(value, "$", path)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        for key, _value in pairs:
            if key in seen:
                raise ValueError(f"duplicate key {key[:80]!r}")
            seen.add(key)
    return result


def _constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _kind(value: object) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    try:
        shown = json.dumps(value)
    except TypeError:  # what a caller gave, and no file
        return type(value).__name__
    return shown if len(shown) <= 40 else shown[:40] + "…"
