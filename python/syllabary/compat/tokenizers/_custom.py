"""Calls of components that are Python code of the caller's.

Adds `called`, whose errors are those of their library: an `Exception` that names type and message; and
`lent`, which ends the life of what was given to the code.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar


class _Lent(Protocol):
    def _end(self) -> None: ...


Reference = TypeVar("Reference", bound=_Lent)


def called(made: Any, method: str, *args: Any) -> Any:
    """What a method of the caller's gives; what it raises becomes an `Exception` with its type's name."""
    try:
        return getattr(made, method)(*args)
    except Exception as error:
        raise Exception(f"{type(error).__name__}: {error}") from error


@contextmanager
def lent(reference: Reference) -> Iterator[Reference]:
    """Something that may be used only inside the `with`."""
    try:
        yield reference
    finally:
        reference._end()
