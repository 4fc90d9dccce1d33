"""Bytes that are no text in their encoding -> U+FFFD, each time told: what `Reading.errors="replace"` means.

Adds how many there were and where the first is. Which bytes become one U+FFFD is Python's rule, that of
`bytes.decode(encoding, "replace")`, wherever the chunks are cut: for UTF-8 the longest beginning of a
character that the bytes could be (Unicode 17, 3.9.6), else one byte. A U+FFFD that the text has already is
none of them.
Leaves out: which encoding it is (`encoding`), and what counts them (`report`).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator

from syllabary.corpus.document import Replaced
from syllabary.errors import CorpusError

MARK = "\ufffd"
HALF = re.compile("[\ud800-\udfff]")


def replacing(chunks: Iterable[bytes], where: str, name: str, start: int, told: Replaced) -> Iterator[str]:
    """Bytes in chunks -> text in parts, no character cut, with U+FFFD for what cannot be decoded.

    name: of the encoding. start: the offset of the first byte. told: gets `where`, how many more there are,
        and the byte offset of the first of all, later None.
    Raises `CorpusError` where no character can be told at all: UTF-16 without the mark that it must have.

    >>> def told(*found): print(*found)
    >>> list(replacing([b"caf", bytes([0xE9]), b"!"], "a.txt", "utf-8", 0, told))
    a.txt 1 3
    ['caf', '\ufffd!']
    """
    decoder = codecs.getincrementaldecoder(name)("replace")
    fed, first = start, True  # offset behind the bytes given to the decoder
    for chunk in _ended(chunks):
        before = decoder.getstate()
        try:
            part = decoder.decode(chunk or b"", chunk is None)
        except UnicodeError as error:
            raise CorpusError(f"{where}: not {name} from byte offset {fed} on ({error})") from error
        count = 0
        if MARK in part:
            count = part.count(MARK) - _decoded(name, "ignore", before, chunk)[0].count(MARK)
        if not name.startswith("utf-8"):
            part, halves = HALF.subn(MARK, part)  # UTF-7 and a few others let them through
            count += halves
        if count:
            found = _decoded(name, "strict", before, chunk)[1]
            told(where, count, fed - len(before[0]) + found if first else None)
            first = False
        if part:
            yield part
        fed += len(chunk or b"")


def replaced(data: bytes, where: str, offset: int, told: Replaced) -> str:
    """The same of bytes that are all there and should be UTF-8. offset: of the first of them."""
    return "".join(replacing([data], where, "utf-8", offset, told))


def _ended(chunks: Iterable[bytes]) -> Iterator[bytes | None]:
    yield from chunks
    yield None


def _decoded(name: str, errors: str, state: tuple[bytes, int], chunk: bytes | None) -> tuple[str, int]:
    """What a decoder in this state makes of a chunk, and where the first error begins: an index into the
    bytes that it held back and the chunk; 0 if there is none."""
    decoder = codecs.getincrementaldecoder(name)(errors)
    decoder.setstate(state)
    try:
        return decoder.decode(chunk or b"", chunk is None), 0
    except UnicodeDecodeError as error:
        return "", error.start
