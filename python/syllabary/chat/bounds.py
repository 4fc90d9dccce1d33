"""How much a chat template may do: steps, seconds, characters. A template is a program of someone else's.

Adds a counter for the rendering that is under way (`running`, `step`) and the size of each operation whose
result can be far larger than its operands, looked at before it runs. Python cannot stop an operation once it
has begun. Leaves out: what a template may reach (`sandbox`).
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import chain
from string import Formatter
from typing import Any

MAX_STEPS = 20_000_000  # loops gone round, calls, filters, and 256 characters handled
MAX_SECONDS = 60.0
MAX_CHARACTERS = 1 << 24  # of a text, and items of a list
MAX_WIDTH = 9_999  # of padding, indentation, digits after the point
MAX_BITS = 1 << 16  # of an integer
TEXT = (str, bytes)
EMPTY: dict[str, str] = {}
VIEWS = (type(EMPTY.keys()), type(EMPTY.values()), type(EMPTY.items()))
MANY = (*TEXT, list, tuple)
HOLDING = (*MANY, dict, *VIEWS)
SQUARE = ("punycode", "idna")  # codecs that take the square of a text's length
PAGE = 8  # a step is taken for each 2**8 characters

PERCENT = re.compile(r"%(\([^)]*\))?[-+ #0]*(\d*\.)?(\d{5}|\*)")
CONVERSION = re.compile(r"%(?:\(([^)]*)\))?[-+ #0]*(\d*)\.?(\d*)")
COPY = PAGE + 4  # a step for each 2**12 characters that are copied, or compared, in one go


class ExceededError(Exception):
    """A bound that a template has gone beyond; what it says is put into the error of the caller."""


@dataclass(slots=True)
class Run:
    """One rendering: what is left to it, the characters given out, and the spans that the assistant wrote."""

    steps: int = field(default_factory=lambda: MAX_STEPS)
    until: float = field(default_factory=lambda: time.monotonic() + MAX_SECONDS)
    characters: int = 0
    spans: list[tuple[int, str]] = field(default_factory=list)


_RUN: ContextVar[Run | None] = ContextVar("run", default=None)


@contextlib.contextmanager
def running() -> Iterator[Run]:
    """A rendering, or a compilation, which may compute constants; in this thread and task alone."""
    run = Run()
    token = _RUN.set(run)
    try:
        yield run
    finally:
        _RUN.reset(token)


def current() -> Run | None:
    """The rendering that is under way."""
    return _RUN.get()


def step(weight: int = 1) -> None:
    """Take `weight` steps more; `ExceededError` when there are none left, or no time."""
    run = _RUN.get()
    if run is None:
        return
    run.steps -= weight
    if run.steps < 0:
        raise ExceededError(f"takes more than {MAX_STEPS} steps")
    if time.monotonic() > run.until:
        raise ExceededError(f"takes more than {MAX_SECONDS:.0f} seconds")


def handled(value: object) -> None:
    """Steps for an operation that goes through all of `value`."""
    if isinstance(value, TEXT):
        step(1 + (len(value) >> PAGE))
    elif isinstance(value, (list, tuple, dict, range)):
        step(1 + len(value))
    else:
        step()


def sized(count: int) -> None:
    """`ExceededError` for a text or list of so many characters or items; else the steps to make it."""
    if count > MAX_CHARACTERS:
        raise ExceededError(f"makes a text of more than {MAX_CHARACTERS} characters")
    step(1 + (count >> PAGE))


def fits(made: Any) -> Any:
    """What was made; `ExceededError` if it is too long a text."""
    if isinstance(made, TEXT) and len(made) > MAX_CHARACTERS:
        sized(len(made))
    return made


def written(part: str) -> None:
    """Count the characters of a part that a template gives out."""
    if (run := _RUN.get()) is not None:
        run.characters += len(part)
        if run.characters > MAX_CHARACTERS:
            sized(run.characters)


def weighed(value: Any) -> Any:
    """The value, if written out it is in bounds: a list that holds a list twice, which holds one twice, …."""
    if not isinstance(value, str) and isinstance(value, HOLDING):
        sized(_weight(value, {}))
    return value


def _weight(value: Any, known: dict[int, int]) -> int:
    """About the characters that a value is written with; each of its parts is gone through once."""
    if isinstance(value, TEXT):
        return len(value) + 2 if isinstance(value, str) else 4 * len(value) + 3
    if not isinstance(value, HOLDING):
        return 8 + (value.bit_length() // 3 if isinstance(value, int) else 0)
    if isinstance(value, VIEWS):  # its items are made anew each time
        step()
        held = value.mapping
        return 2 + sum(_weight(part, known) + 2 for part in chain(held.keys(), held.values()))
    if id(value) not in known:
        step()
        parts = chain(value.keys(), value.values()) if isinstance(value, Mapping) else value
        known[id(value)] = 2 + sum(_weight(part, known) + 2 for part in parts)
    return known[id(value)]


def joined(parts: Any) -> str:
    """The texts of `parts`, joined."""
    texts, total = [], 0
    for part in parts:
        total += len(part)
        if total > MAX_CHARACTERS:
            break
        texts.append(part)
    sized(total)
    return "".join(texts)


# ---- operators ----


def plus(left: Any, right: Any) -> Any:
    """left + right."""
    if isinstance(left, MANY) and isinstance(right, MANY):
        sized(len(left) + len(right))
    return left + right


def times(left: Any, right: Any) -> Any:
    """left * right."""
    for many, number in ((left, right), (right, left)):
        if isinstance(many, MANY) and isinstance(number, int):
            sized(len(many) * max(number, 0))
    if isinstance(left, int) and isinstance(right, int):
        _bits(left.bit_length() + right.bit_length())
    return left * right


def power(left: Any, right: Any) -> Any:
    """left ** right."""
    if isinstance(left, int) and isinstance(right, int):
        _bits(left.bit_length() * abs(right))
    return left**right


def modulo(left: Any, right: Any) -> Any:
    """left % right, which formats where `left` is text."""
    if isinstance(left, TEXT):
        weighed(right)
        percent(as_text(left), right)
    return fits(left % right)


def _bits(count: int) -> None:
    if count > MAX_BITS:
        raise ExceededError(f"makes an integer of more than {MAX_BITS} bits")


# ---- methods and filters of text ----


def as_text(value: str | bytes) -> str:
    """Bytes as a text of as many characters."""
    return value if isinstance(value, str) else value.decode("latin-1")


def percent(pattern: str, given: Any = ()) -> None:
    """Refuse a format with a huge width, or with one that is an argument, or whose result is too long."""
    handled(pattern)
    if PERCENT.search(pattern):
        raise ExceededError(f"formats with a width above {MAX_WIDTH}, or one that is an argument")
    found = CONVERSION.findall(pattern)
    widths = sum(int(one or 0) for _, *both in found for one in both)
    if isinstance(given, Mapping):  # each as often as it is named
        weights = {name: _weight(value, {}) for name, value in given.items()}
        sized(len(pattern) + widths + sum(weights.get(name, 0) for name, *_ in found))
    else:
        sized(len(pattern) + widths + _weight(given, {}))


def braces(pattern: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
    """The same for `str.format`."""
    handled(pattern)
    weights = {str(place): _weight(value, {}) for place, value in enumerate(arguments)}
    weights |= {name: _weight(value, {}) for name, value in named.items()}
    size, unnamed = len(pattern), 0
    for _, name, spec, _ in Formatter().parse(pattern):
        if name is None or spec is None:
            continue
        if "{" in spec or re.search(r"\d{5}", spec):
            raise ExceededError(f"formats with a width above {MAX_WIDTH}, or one that is a field")
        first = re.split(r"[.[]", name, maxsplit=1)[0]
        size += sum(map(int, re.findall(r"\d+", spec))) + weights.get(first or str(unnamed), 0)
        unnamed += not first
    sized(size)


def narrow(arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Refuse a width, an indentation or a number of digits that is huge."""
    for value in (*arguments, *named.values()):
        wide = isinstance(value, int) and abs(value) > MAX_WIDTH
        if wide or (isinstance(value, str) and len(value) > MAX_WIDTH):
            raise ExceededError(f"pads or indents by more than {MAX_WIDTH}")


def replaced(text: Any, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """The size of `text.replace(old, new)`."""
    old, new = (*arguments, *named.values(), "", "")[:2]
    if any(all(isinstance(one, kind) for one in (text, old, new)) for kind in TEXT):
        handled(text)
        sized(len(text) + text.count(old) * max(0, len(new) - len(old)))


def indented(text: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """The size of a text with each line, or each tab, made wider by a width."""
    narrow(arguments, named)
    widths = [len(value) if isinstance(value, str) else int(value) for value in (*arguments, *named.values())]
    marks = 1 + len(text.splitlines()) + text.count("\t")
    sized(len(text) + marks * max(widths, default=8))


def wrapped(text: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """The size of a text with a text at the end of each line, which may be a character long.

    What is left of a long word is copied for each of its lines.
    """
    ends = [len(value) for value in (*arguments, *named.values()) if isinstance(value, str)]
    sized(len(text) * (1 + max(ends, default=1)))
    width = (arguments[0] if arguments else named.get("width")) or 79
    longest = max(map(len, text.split()), default=0)
    step(longest**2 // max(2 * width if isinstance(width, int) else 1, 1) >> COPY)


def stripped(text: str | bytes, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Steps for taking characters off the ends of a text: each is looked for among all of them."""
    for characters in (*arguments, *named.values()):
        if isinstance(characters, TEXT):
            step(len(text) * len(characters) >> COPY)


def laid_out(value: Any, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """The size of a value as JSON, with the indents and separators that the template gives."""
    given = dict(zip(("ensure_ascii", "indent", "separators"), arguments, strict=False)) | dict(named)
    indent, separators = given.get("indent"), given.get("separators")
    wide = len(indent) if isinstance(indent, str) else indent if isinstance(indent, int) else 0
    between = [one for one in separators if isinstance(one, str)] if isinstance(separators, MANY) else []
    lines, depth = _lines(value, {})
    sized(_weight(value, {}) + lines * (depth * wide + sum(map(len, between))))


def _lines(value: Any, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """How many lines a value takes where each of its parts has one, and how deeply they stand."""
    if not isinstance(value, (list, tuple, dict)):
        return 1, 0
    if id(value) not in known:
        step()
        parts = [_lines(part, known) for part in (value.values() if isinstance(value, dict) else value)]
        known[id(value)] = (
            1 + sum(lines for lines, _ in parts),
            1 + max((depth for _, depth in parts), default=0),
        )
    return known[id(value)]


def coded(text: str | bytes, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Steps for a codec."""
    for value in (*arguments, *named.values()):
        if isinstance(value, str) and "".join(filter(str.isalnum, value.lower())) in SQUARE:
            step(len(text) ** 2 >> PAGE)


def translated(text: str, arguments: tuple[Any, ...]) -> None:
    """The size of `text.translate(table)`."""
    table = arguments[0] if arguments else None
    values = list(table.values()) if isinstance(table, Mapping) else []
    widest = max((len(value) for value in values if isinstance(value, str)), default=1)
    sized(len(text) * max(1, widest))
