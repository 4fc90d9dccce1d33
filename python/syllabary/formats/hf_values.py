"""Values of the options of Hugging Face's components: read with their limits, and written back.

Leaves out: which component has which option (`hf_components`).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import cast

from syllabary.formats.strict_json import Json
from syllabary.spec import StepValue

MAX_COUNT = 2**32 - 1
BEHAVIORS = {
    "Removed": "removed",
    "Isolated": "isolated",
    "MergedWithPrevious": "merged_with_previous",
    "MergedWithNext": "merged_with_next",
    "Contiguous": "contiguous",
}


def count(value: Json) -> int:
    """A number of things, 0 or more."""
    if not isinstance(value.value, int) or isinstance(value.value, bool):
        raise value.wrong("an integer")
    if not 0 <= value.value <= MAX_COUNT:
        raise value.error(f"must be an integer in 0 … {MAX_COUNT}")
    return value.value


def probability(value: Json) -> float:
    """A number from 0 to 1; null is 0."""
    if value.value is None:
        return 0.0
    if isinstance(value.value, bool) or not isinstance(value.value, (int, float)):
        raise value.wrong("a number")
    if not 0 <= value.value <= 1:
        raise value.error("must be a number in 0 … 1")
    return float(value.value)


def _length(value: Json) -> int:
    if count(value) == 0:
        raise value.error("must be 1 or more: text cannot be cut into parts of no length")
    return count(value)


def _maybe(value: Json) -> bool | None:
    return None if value.value is None else value.boolean()


def _character(value: Json) -> str:
    text = value.string()
    if len(text) != 1:
        raise value.error(f"must be one character, not {len(text)}")
    return text


def _blob(value: Json) -> bytes:
    """The rules of a Precompiled normalizer: base64 of a trie and the strings that it leads to."""
    try:
        blob = base64.b64decode(value.string(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise value.error(f"is not base64: {error}") from error
    size = int.from_bytes(blob[:4], "little")
    if len(blob) < 4 or size % 4 or 4 + size > len(blob):
        raise value.error("is not a precompiled map: the size of its trie does not fit")
    try:
        blob[4 + size :].decode("utf-8")
    except UnicodeDecodeError as error:
        raise value.error("is not a precompiled map: its strings are not UTF-8") from error
    return blob


# How each kind of option is read; a pattern becomes two options (`hf_components`).
READ: dict[str, Callable[[Json], StepValue]] = {
    "bool": Json.boolean,
    "maybe": _maybe,
    "text": Json.string,
    "char": _character,
    "count": count,
    "length": _length,
    "blob": _blob,
    "behavior": lambda value: BEHAVIORS[value.choice(*BEHAVIORS)],
    "scheme": lambda value: value.choice("always", "first", "never"),
}
# How a kind is written, where not as it is.
WRITE: dict[str, Callable[[object], object]] = {
    "blob": lambda value: base64.b64encode(cast(bytes, value)).decode(),
    "behavior": lambda value: {option: name for name, option in BEHAVIORS.items()}[cast(str, value)],
}
