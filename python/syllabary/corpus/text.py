"""Plain UTF-8 text: one file is one document, decoded part by part.

Adds decoding that never cuts a character and that knows the byte offset of an error. Nothing is
changed: line ends and a byte order mark stay. Leaves out: other encodings (decode before, or pass bytes).
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path

from syllabary.corpus.document import Document, Part, Reader
from syllabary.corpus.files import chunks
from syllabary.errors import CorpusError


def documents(path: Path) -> Iterator[Document]:
    """The whole file as one document."""
    yield Document("".join(decode(chunks(path), path)), {"path": str(path)})


def parts(path: Path) -> Iterator[Part]:
    """The file in parts of at most `files.CHUNK` characters; only the last, which may be empty, is marked."""
    for part in decode(chunks(path), path):
        yield part, False
    yield "", True


def decode(stream: Iterable[bytes], path: Path) -> Iterator[str]:
    """UTF-8 in chunks -> the same text in parts; `CorpusError` with the byte offset in the whole stream.

    >>> list(decode([b"n", bytes([0xC3]), bytes([0xA9, 33])], Path("a.txt")))
    ['n', 'é!']
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    fed = 0  # bytes given to the decoder so far, of which it may hold back the last few
    for chunk in stream:
        if part := _step(decoder, chunk, fed, path):
            yield part
        fed += len(chunk)
    _step(decoder, b"", fed, path, final=True)


def _step(decoder: codecs.IncrementalDecoder, chunk: bytes, fed: int, path: Path, final: bool = False) -> str:
    held = decoder.getstate()[0]
    try:
        return decoder.decode(chunk, final)
    except UnicodeDecodeError as error:
        offset = fed - len(held) + error.start
        raise CorpusError(
            f"{path}: not UTF-8: byte 0x{error.object[error.start]:02X} at byte offset {offset} "
            f"({error.reason}); convert the file to UTF-8"
        ) from error


READER = Reader("text", documents, parts)
