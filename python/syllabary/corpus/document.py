"""What readers yield: documents and parts of documents.

Adds the two shapes and the record of a reader. Leaves out: reading (`text`, `tei`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

Part: TypeAlias = tuple[str, bool]


@dataclass(frozen=True, slots=True)
class Document:
    """One text and where it came from.

    meta: `path` for a file, `index` for a member of an iterable; TEI adds `n` (as `"1.16"`), `id`, `type`.
    """

    text: str
    meta: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reader:
    """How one kind of file is read.

    documents: the whole documents of a file.
    parts: the same documents as `(part, last)`, where a part is small even if the document is not.
    """

    name: str
    documents: Callable[[Path], Iterator[Document]]
    parts: Callable[[Path], Iterator[Part]]
