"""JSON Lines, and JSON that is one array: each value is a document, or holds it in a field.

Adds: an object's field `Reading.column` is the text and its other plain values go to `meta`; a string is a
text itself; null is none. A broken line says its number and byte; with `on_error="skip"` only that line is
left out. A file `.json` whose first item is not an object with that field is plain text, as any program's
settings; kind `"json"` takes every one as records.
Leaves out: texts in nested objects; broken items of an array (the file ends there).
"""

from __future__ import annotations

import dataclasses
import io
import json
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from syllabary.corpus import text
from syllabary.corpus.document import Document, Part, Reader, Reading, Stream, Told, ignore
from syllabary.corpus.encoding import text_of, utf8_of
from syllabary.corpus.records import MAX_RECORD, document_of, place
from syllabary.corpus.undecodable import replaced
from syllabary.errors import CorpusError, CorpusWarning

NUMBER = re.compile(r"[-+.0-9eE]*")
SPACE = re.compile(r"[ \t\r\n]*")
MARK = b"\xef\xbb\xbf"
SNIFFED = 1 << 19  # bytes of a .json by which it is told; what is read once gives them twice
TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[][{}]', re.DOTALL)
OBJECT = re.compile(r"\ufeff?\s*\[?\s*\{")
TEXT_FOLLOWS = re.compile(r'\s*:\s*"')


def documents(stream: Stream, reading: Reading, told: Told) -> Iterator[Document]:
    """The documents of JSON Lines; `meta` has `path`, `line` (if the file is read whole) and other fields."""
    for number, offset, line in _lines(utf8_of(stream, reading, told), stream):
        where: dict[str, object] = {"path": stream.name}
        if not stream.start:
            where["line"] = number
        try:
            if reading.errors == "replace":
                line = replaced(line, stream.name, offset, stream.replaced).encode()
            document = _of_line(line, offset, where, reading)
        except CorpusError as error:
            if reading.on_error == "raise":
                raise
            stream.skipped(stream.name, str(error))
        else:
            if document is not None:
                yield document


def array_documents(stream: Stream, reading: Reading, told: Told) -> Iterator[Document]:
    """The documents of JSON that is an array, or values one after the other; `row` counts them from 1."""
    if reading.kind is None and not _is_records(stream, reading):
        yield from text.documents(stream, reading, told)
        return
    for row, value in enumerate(_items(text_of(stream, reading, told), stream.name), 1):
        where: dict[str, object] = {"path": stream.name, "row": row}
        document = _of_value(value, where, reading)
        if document is not None:
            _check_pairs(document.text, place(where))
            yield document


def array_parts(stream: Stream, reading: Reading, told: Told) -> Iterator[Part]:
    """The same as parts."""
    if reading.kind is None and not _is_records(stream, reading):
        yield from text.parts(stream, reading, told)
        return
    for document in array_documents(stream, reading, told):
        yield document.text, True


READER = Reader("jsonl", (".jsonl", ".ndjson"), documents)
JSON = Reader("json", (".json",), array_documents, array_parts)


def _lines(chunks: Iterable[bytes], stream: Stream) -> Iterator[tuple[int, int, bytes]]:
    """Number, byte offset and bytes of each line that is not blank."""
    number, offset, size = 0, stream.start, 0
    begun: list[bytes] = []  # of the line that has not ended; `size` bytes
    for chunk in chunks:
        begun.append(chunk)
        size += len(chunk)
        if b"\n" not in chunk and size <= MAX_RECORD:
            continue
        if b"\n" not in chunk:
            raise CorpusError(
                f"{stream.name}: line {number + 1} (byte offset {offset}) is longer than {MAX_RECORD} bytes; "
                "is it JSON Lines? For an array give kind='json'"
            )
        *whole, held = b"".join(begun).split(b"\n")
        begun, size = [held], len(held)
        for line in whole:
            number += 1
            if line and not line.isspace():
                yield number, offset, line
            offset += len(line) + 1
    held = b"".join(begun)
    if held and not held.isspace():
        yield number + 1, offset, held


def _of_line(line: bytes, offset: int, where: dict[str, object], reading: Reading) -> Document | None:
    """The document of a line; `CorpusError` with its place."""
    if offset == 0:
        line = line.removeprefix(MARK)
    shown = f"{place(where)} (byte offset {offset})"
    try:
        value = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{shown}: not UTF-8: byte 0x{line[error.start]:02X} at byte offset {offset + error.start}; "
            "convert the file to UTF-8, or declare its encoding (encoding=…); "
            'errors="replace" reads it with U+FFFD there'
        ) from error
    except json.JSONDecodeError as error:
        raise CorpusError(f"{shown}: not JSON: {error.msg} at column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{shown}: not JSON that can be read: {_why(error)}") from error
    document = _of_value(value, where, reading)
    if document is not None and (b"\\ud" in line or b"\\uD" in line):
        _check_pairs(document.text, shown)
    return document


def _why(error: Exception) -> str:
    """What Python says, without the advice to whoever calls it that it has for a number of many digits."""
    if isinstance(error, RecursionError):
        return "lists and objects nested too deeply"
    return str(error).partition("; use sys.set_int_max_str_digits()")[0]


def _of_value(value: Any, where: dict[str, object], reading: Reading) -> Document | None:
    if isinstance(value, dict):
        return document_of(value, where, reading)
    if isinstance(value, str):
        return Document(value, where)
    if value is None:
        return None
    raise CorpusError(f"{place(where)}: a JSON {_kind(value)}, not an object with the text in a field")


def _check_pairs(found: str, shown: str) -> None:
    try:
        found.encode("utf-8")
    except UnicodeEncodeError as error:
        raise CorpusError(
            f"{shown}: the text has half of a pair (\\u{ord(found[error.start]):04x}) at character "
            f"{error.start}, which is no character; repair it"
        ) from error


def _kind(value: Any) -> str:
    return "array" if isinstance(value, list) else "number or truth value"


def _is_records(stream: Stream, reading: Reading) -> bool:
    """Whether a .json begins with an object that has the text, in an array or not."""
    with stream.open() as file:
        head = file.read(SNIFFED)
    found = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CorpusWarning)  # a guessed encoding is told when it is read
            for part in text_of(_head(stream, head), reading, ignore):
                found += part
    except CorpusError:
        pass  # a character that the head cuts; what is broken is an error when it is read
    try:
        first = next(_items([found], stream.name), None)
    except CorpusError:
        return len(head) == SNIFFED and _has_text(found, reading.column)
    return isinstance(first, dict) and isinstance(first.get(reading.column), str)


def _head(stream: Stream, head: bytes) -> Stream:
    """The beginning of a stream as one of its own, of which nothing is told: it is read again."""
    return dataclasses.replace(stream, open=lambda: io.BytesIO(head), replaced=ignore)


def _has_text(found: str, column: str) -> bool:
    """Whether the first object, whose end is not seen, has the field, and a string in it."""
    begin = OBJECT.match(found)
    depth = 0
    for token in TOKEN.finditer(found, begin.end() if begin else len(found)):
        mark = token[0]
        depth += (mark in "{[") - (mark in "}]")
        if depth < 0:
            return False
        is_name = not depth and mark in (json.dumps(column), json.dumps(column, ensure_ascii=False))
        if is_name and TEXT_FOLLOWS.match(found, token.end()):
            return True
    return False


def _items(chunks: Iterable[str], name: str) -> Iterator[Any]:
    """The values of an array, or values with space between them; of the text, one value is held at a time."""
    scan = _Scan(iter(chunks), name)
    scan.take("\ufeff")
    in_array = scan.take("[")
    if in_array and scan.take("]"):
        scan.end()
        return
    while in_array or not scan.at_end():
        yield scan.value()
        if in_array and not scan.take(","):
            scan.expect("]")
            scan.end()
            return


class _Scan:
    """JSON text that comes in parts; values are taken from its beginning."""

    def __init__(self, chunks: Iterator[str], name: str) -> None:
        self.chunks, self.name = chunks, name
        self.held, self.at, self.before = "", 0, 0
        self.decoder = json.JSONDecoder()

    def more(self) -> bool:
        """Get as much again as is held, so that a long value is not looked at too often."""
        self.before += self.at
        parts, size = [self.held[self.at :]], 0
        for part in self.chunks:
            parts.append(part)
            size += len(part)
            if size >= len(parts[0]):
                break
        self.held, self.at = "".join(parts), 0
        return size > 0

    def space(self) -> None:
        """Go on to what is not space, if there is anything."""
        while True:
            match = SPACE.match(self.held, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self.held) or not self.more():
                return

    def at_end(self) -> bool:
        self.space()
        return self.at == len(self.held)

    def take(self, mark: str) -> bool:
        self.space()
        found = self.held.startswith(mark, self.at)
        self.at += len(mark) if found else 0
        return found

    def expect(self, mark: str) -> None:
        if not self.take(mark):
            raise self.error(f"expected {mark!r}", self.at)

    def end(self) -> None:
        if not self.at_end():
            raise self.error("more follows after the end of the array", self.at)

    def value(self) -> Any:
        self.space()
        while True:
            try:
                value, end = self.decoder.raw_decode(self.held, self.at)
            except json.JSONDecodeError as error:
                place = self.before + error.pos
                if len(self.held) - self.at > MAX_RECORD or not self.more():
                    raise self.error(error.msg, place - self.before) from error
            except (ValueError, RecursionError) as error:
                raise self.error(_why(error), self.at) from error
            else:
                if not isinstance(value, (int, float)) or not self.cut() or not self.more():
                    self.at = end
                    return value

    def cut(self) -> bool:
        """Whether a number that stands here may go on in the next part."""
        match = NUMBER.match(self.held, self.at)
        return match is not None and match.end() == len(self.held)

    def error(self, message: str, at: int) -> CorpusError:
        return CorpusError(f"{self.name}: not JSON: {message} at character {self.before + at}")
