"""Which reader a file gets: by the suffix of its name without compression's, or by the name of a kind.

A new reader is one module and one line in `READERS`. What no suffix tells is plain text.
"""

from __future__ import annotations

import functools
from pathlib import Path

from syllabary.corpus import arrow, html_text, json_lines, table, tei, text, xml_text
from syllabary.corpus.document import Reader, Reading, Stream
from syllabary.corpus.unpack import inner_name

READERS: tuple[Reader, ...] = (
    text.READER,
    json_lines.READER,
    json_lines.JSON,
    table.CSV,
    table.TSV,
    table.TSV_PLAIN,
    arrow.PARQUET,
    arrow.ARROW,
    xml_text.READER,
    tei.READER,
    html_text.READER,
)


def reader_of(path: str | Path) -> Reader:
    """The reader for a file, by its suffix without compression's.

    >>> reader_of("a/cic.att.xml.xz").name, reader_of("notes.md").name
    ('xml', 'text')
    """
    return _by_suffix().get(Path(inner_name(Path(path).name)).suffix.lower(), text.READER)


def reader_of_stream(stream: Stream, reading: Reading) -> Reader:
    """The reader that `reading.kind` names, else that of the stream's name."""
    if reading.kind is None:
        return reader_of(stream.inner)
    for reader in READERS:
        if reader.name == reading.kind:
            return reader
    names = ", ".join(reader.name for reader in READERS)
    raise ValueError(f"kind is {reading.kind!r}: give one of {names}, or None for what the suffix says")


@functools.cache
def _by_suffix() -> dict[str, Reader]:
    return {suffix: reader for reader in reversed(READERS) for suffix in reader.suffixes}
