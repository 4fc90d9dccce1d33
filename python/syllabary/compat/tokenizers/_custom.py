"""Components that are Python code of the caller's, and calls of them.

Adds `Custom`; `called`, whose errors are those of their library: an `Exception` that names type and message;
and `lent`, which ends the life of what was given to the code.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Protocol, TypeVar

from syllabary.compat.tokenizers._component import Component, family


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


class Custom(Component):
    """A component of the caller's: an object whose methods are called. said: what errors call it."""

    kind = None
    said: ClassVar[str] = ""

    def __init__(self, made: Any) -> None:
        self.made, self.values, self.changes = made, {}, 0

    @property
    def is_custom(self) -> bool:
        return True

    def json(self) -> dict[str, object]:
        raise Exception(f"Custom {self.said or self.base} cannot be serialized")

    def __reduce_ex__(self, _protocol: object) -> str | tuple[Any, ...]:
        module = family(type(self)).__module__.rpartition(".")[2]
        raise TypeError(f"cannot pickle 'tokenizers.{module}.{self.base}' object")

    def record(self) -> object:
        return self.json()
