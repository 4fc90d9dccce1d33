"""What members of components, and arguments, are read with: the value in Python's types, or their error.

Leaves out: the components (`_component`).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np


def flag(value: Any) -> bool:
    """A bool, NumPy's too."""
    if type(value) is bool:
        return value
    if type(value).__module__ != "numpy" or type(value).__name__ not in ("bool", "bool_"):
        instance(value, bool)
    return bool(value)


def maybe_flag(value: Any) -> bool | None:
    """A bool or `None`."""
    return None if value is None else flag(value)


def text(value: Any) -> str:
    """A string; `UnicodeEncodeError` for a lone surrogate."""
    if type(value) is not str:
        instance(value, str)
    if not value.isascii():
        value.encode("utf-8")
    return value if type(value) is str else str(value)


def maybe_text(value: Any) -> str | None:
    """A string or `None`."""
    return None if value is None else text(value)


def listed(value: Any) -> Any:
    """A sequence, which a string is none of, and NumPy's array is one."""
    if isinstance(value, str):
        raise TypeError("Can't extract `str` to `Vec`")
    if not isinstance(value, (Sequence, np.ndarray)):
        raise TypeError(f"'{type(value).__name__}' object is not an instance of 'Sequence'")
    return value


def instance(value: Any, *kinds: type) -> None:
    """`TypeError` for what is of none of these kinds."""
    if not isinstance(value, kinds):
        said = "'None'" if value is None else f"'{type(value).__name__}' object"
        raise TypeError(f"{said} is not an instance of '{kinds[0].__name__}'")


def character(value: Any) -> str:
    """A string of one character."""
    if len(text(value)) != 1:
        raise ValueError("expected a string of length 1")
    return str(value)


def count(value: Any) -> int:
    """An integer, 0 or above, below 2^64; `True` is 1, as in theirs."""
    number = index(value)
    if number < 0:
        raise OverflowError("can't convert negative int to unsigned")
    if number >= 2**64:
        raise OverflowError("Python int too large to convert to C unsigned long")
    return number


def token_id(value: Any) -> int:
    """The same of an id, which is below 2^32."""
    number = count(value)
    if number >= 2**32:
        raise OverflowError("number too large to fit in target type")
    return number
