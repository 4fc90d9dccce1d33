"""What readers of records share: a record is a text and other values, of which the plain ones go to `meta`.

Leaves out: how records are read (`json_lines`, `table`, `arrow`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from syllabary.corpus.document import Document, Reading
from syllabary.errors import CorpusError

MAX_RECORD = 128 << 20  # bytes of a line or characters of a field: more is a file of another kind
SHOWN = 20  # names of columns in an error


def document_of(
    values: Mapping[str, object], where: Mapping[str, object], reading: Reading
) -> Document | None:
    """The document of a record; None if it has no text (null).

    where: `path` and `line` or `row`, which win over columns of these names.
    Raises `CorpusError` that names the columns if the one asked for is not among them, or is not text.
    """
    text = values.get(reading.column)
    if isinstance(text, str):
        meta: dict[str, object] = {
            name: value
            for name, value in values.items()
            if name != reading.column and isinstance(value, (str, int, float))
        }
        meta.update(where)
        return Document(text, meta)
    if text is None and reading.column in values:
        return None
    if text is None:
        raise no_column(place(where), reading.column, values)
    raise CorpusError(
        f"{place(where)}: column {reading.column!r} holds {type(text).__name__}, not text; the columns are "
        f"{listed(values)} (column=…)"
    )


def no_column(where: str, column: str, names: Iterable[str]) -> CorpusError:
    """The error for a column that is not there."""
    return CorpusError(f"{where}: no column {column!r}; the columns are {listed(names)} (column=…)")


def check_once(where: str, column: str, names: Sequence[str], remedy: str) -> None:
    """`CorpusError` for a column whose name another one has as well."""
    if names.count(column) > 1:
        raise CorpusError(f"{where}: two columns are called {column!r}; {remedy}")


def listed(names: Iterable[str]) -> str:
    """Names for an error, not too many.

    >>> listed(["id", "body"])
    "'id', 'body'"
    """
    all_names = [str(name) for name in names]
    more = f" and {len(all_names) - SHOWN} more" if len(all_names) > SHOWN else ""
    return ", ".join(repr(name[:100]) for name in all_names[:SHOWN]) + more or "none"


def place(where: Mapping[str, object]) -> str:
    """A file and the place in it, for an error.

    >>> place({"path": "a.jsonl", "line": 3})
    'a.jsonl: line 3'
    """
    places = [f"{name} {value}" for name, value in where.items() if name != "path"]
    return ": ".join([str(where["path"]), *places])
