"""Plain text: one file is one document, or each line is, or what stands between separators.

Adds the cutting, in large steps: an empty line is no document unless every line is one, and two separators
hold an empty one between them, as in `Tokenizer.encode_files`; the last separator or line end begins no
further document. A line ends with a line feed, and a carriage return before it belongs to the end. Nothing
else is changed: in whole files line ends and a byte order mark of UTF-8 stay.
Leaves out: encodings (`encoding`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from syllabary.corpus.document import Document, Part, Reader, Reading, Stream, Told
from syllabary.corpus.encoding import decode, text_of

__all__ = ["READER", "cut", "decode", "documents", "parts"]


def documents(stream: Stream, reading: Reading, told: Told) -> Iterator[Document]:
    """The documents of a text; `meta` has `path`, of lines also `line` (from 1; not in a unit's rest)."""
    chunks = text_of(stream, reading, told)
    separator = _separator(reading)
    if separator is None:
        yield Document("".join(chunks), {"path": stream.name})
    elif reading.separator is None:
        yield from _line_documents(_whole(chunks, separator, inside=False), stream, _every(reading))
    else:
        for texts in _whole(chunks, separator):
            for text in texts:
                yield Document(text, {"path": stream.name})


def parts(stream: Stream, reading: Reading, told: Told) -> Iterator[Part]:
    """The documents in parts of `encoding.CHUNK` characters at most; the last is marked, and may be empty."""
    chunks = text_of(stream, reading, told)
    separator = _separator(reading)
    if separator is None:
        for part in chunks:
            yield part, False
        yield "", True
    elif reading.separator is None:
        yield from _line_parts(chunks, _every(reading))
    else:
        yield from cut(chunks, separator)


def cut(chunks: Iterable[str], separator: str) -> Iterator[Part]:
    """The documents between separators, in parts as they come; a separator may lie across chunks.

    >>> list(cut(["a|", "b", "c|"], "|"))
    [('a', True), ('b', False), ('c', True)]
    """
    inside = True  # an empty text is a document; what ends a text begins none
    for ended, begun in _cuts(chunks, separator):
        for text in ended:
            yield text, True
            inside = False
        if begun:
            yield begun, False
            inside = True
    if inside:
        yield "", True


def _cuts(chunks: Iterable[str], separator: str) -> Iterator[tuple[list[str], str]]:
    """For each chunk the texts that end in it, the first begun before perhaps, and what has begun since."""
    held = ""  # the end of the text so far that may begin a separator
    for chunk in chunks:
        *ended, last = (held + chunk).split(separator)
        keep = len(last) - _begun(last, separator)
        held = last[keep:]
        yield ended, last[:keep]
    yield [], held


def _begun(text: str, separator: str) -> int:
    """How many characters at the end of the text are the beginning of a separator.

    >>> _begun("a<en", "<end>"), _begun("a<", "\\n")
    (3, 0)
    """
    longest = min(len(separator) - 1, len(text))
    return next((size for size in range(longest, 0, -1) if text.endswith(separator[:size])), 0)


def _whole(chunks: Iterable[str], separator: str, inside: bool = True) -> Iterator[list[str]]:
    """The documents of `cut`, whole, those that end in one chunk at a time.

    inside: whether an empty text is a document.
    """
    pieces: list[str] = []  # of the document that has not ended
    for ended, begun in _cuts(chunks, separator):
        if ended:
            ended[0] = "".join([*pieces, ended[0]])
            pieces, inside = [], False
            yield ended
        if begun:
            pieces.append(begun)
            inside = True
    if inside:
        yield ["".join(pieces)]


def _line_documents(found: Iterable[list[str]], stream: Stream, every: bool) -> Iterator[Document]:
    path, numbered, first = stream.name, stream.start == 0, 1
    for texts in found:
        for number, text in enumerate(texts, first):
            line = text[:-1] if text[-1:] == "\r" else text
            if line or every:
                yield Document(line, {"path": path, "line": number} if numbered else {"path": path})
        first += len(texts)


def _line_parts(chunks: Iterable[str], every: bool) -> Iterator[Part]:
    held, inside = "", False  # held: a carriage return, which may belong to the line's end
    for ended, begun in _cuts(chunks, "\n"):
        if ended:
            ended[0] = held + ended[0]
            held = ""
        for text in ended:
            line = text[:-1] if text[-1:] == "\r" else text
            if line or inside or every:
                yield line, True
            inside = False
        if begun:
            begun = held + begun
            kept = len(begun) - begun.endswith("\r")
            begun, held = begun[:kept], begun[kept:]
        if begun:
            yield begun, False
            inside = True
    if inside or (every and held):
        yield "", True


def _separator(reading: Reading) -> str | None:
    if reading.separator is not None:
        return reading.separator
    return None if reading.documents == "file" else "\n"


def _every(reading: Reading) -> bool:
    """Whether empty lines are documents."""
    return reading.documents == "every-line"


READER = Reader("text", (".txt",), documents, parts)
