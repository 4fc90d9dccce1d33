"""Every value of a JSON document, and the document with one of them replaced: for tests of readers.

Leaves out: what a reader must do with it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any


def positions(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value in a JSON document."""
    yield at
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from positions(item, (*at, key))


def replaced(document: Any, at: tuple[Any, ...], value: Any) -> Any:
    if not at:
        return value
    changed = copy.deepcopy(document)
    parent = changed
    for key in at[:-1]:
        parent = parent[key]
    if value is ...:
        del parent[at[-1]]
    else:
        parent[at[-1]] = value
    return changed
