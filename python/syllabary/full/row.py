"""`Row`: an `Encoding` of a batch, whose fields become lists when they are first asked for.

Adds the class. Leaves out: what the fields are (`batch`), and what they mean (`reference.encoding`).
"""

from __future__ import annotations

from typing import Any, Protocol

from syllabary.reference.encoding import FIELDS, Encoding


class Columns(Protocol):
    """Where fields come from."""

    def column(self, name: str, row: Encoding, at: int) -> Any:
        """A field of a row, the one at `at`."""
        ...


class Row(Encoding):
    """A row of a batch, which it keeps alive; as soon as a field was asked for it is a list of its own.

    It is equal to an `Encoding` with the same fields, and copied and pickled as one.
    """

    __slots__ = ("_at", "_columns")

    _columns: Columns
    _at: int

    @staticmethod
    def of(columns: Columns, at: int) -> Row:
        """That row."""
        made = Row.__new__(Row)
        made._columns, made._at = columns, at
        return made

    def __getattr__(self, name: str) -> Any:
        """A field that is asked for the first time: its slot is empty."""
        if name not in FIELDS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = self._columns.column(name, self, self._at)
        setattr(self, name, found)
        return found

    def __reduce__(self) -> tuple[type[Encoding], tuple[Any, ...]]:
        """As an `Encoding`."""
        return Encoding, tuple(getattr(self, name) for name in FIELDS)

    def __repr__(self) -> str:
        """As that of an `Encoding`."""
        kind, fields = self.__reduce__()
        return repr(kind(*fields))
