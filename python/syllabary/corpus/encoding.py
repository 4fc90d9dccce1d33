"""Bytes -> text: the encoding declared, marked, or found out, and decoding that names the byte that fails.

Adds the order in which an encoding is decided: what `Reading.encoding` says; a byte order mark; UTF-8 if the
head of the file is UTF-8; else a guess by charset-normalizer, with a `CorpusWarning`, and only if the head is
clearly not UTF-8 (`MANY` bytes that cannot be, and more of them than characters that could). So a UTF-8 file
with a broken byte is an error, never a file in some other encoding.
A mark of UTF-8 stays in the text, those of UTF-16 and UTF-32 are removed. Nothing else is changed.

Leaves out: what a file says of itself (XML and HTML: `xml_parse`, `html_text`); guesses after the head.
"""

from __future__ import annotations

import codecs
import importlib
import os
import re
import stat
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from syllabary.corpus.document import PlainFile, Reading, Stream, Told
from syllabary.corpus.undecodable import replacing
from syllabary.corpus.unpack import suffix_of
from syllabary.errors import CorpusError, CorpusWarning, outside

SAMPLE = 1 << 16  # bytes of the head by which an encoding is told
CHUNK = 1 << 16  # bytes that become text at a time: a text of four bytes a character takes four times that
MANY = 8  # bytes that are not UTF-8, from which on another encoding is thought of
CHAOS = 0.2  # charset-normalizer's measure of nonsense, up to which a guess is believed
COHERENCE = 0.1  # its measure of likeness to a language, from which on a guess is believed
ENOUGH = 64  # bytes that are not UTF-8, from which on the only encoding that is possible is believed anyway
USUAL = "cp1252"  # of encodings that are equally good, the one that most such files are in

OTHERS = ((b"PK\3\4", ".zip"), (b"PAR1", ".parquet"), (b"ARROW1\0", ".arrow"))

MARKS = (  # subtle: UTF-32 first, its mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def text_of(stream: Stream, reading: Reading, told: Told) -> Iterator[str]:
    """The text of a stream in parts of at most `CHUNK` characters; `told` gets the encoding's name.

    The first may be a `PlainFile`, if `stream.plain` says so.

    Raises `CorpusError` with the byte offset in the file for what cannot be decoded.
    """
    with stream.open() as file:
        head = file.read(SAMPLE)
        name, mark = encoding_of(head, len(head) < SAMPLE, stream, reading)
        told(name)
        chunks = chunks_of(head[mark:], file)
        if stream.plain and stream.path and name == "utf-8" and len(head) == SAMPLE and _is_regular(file):
            plain = PlainFile(stream.path)
            yield plain
            if plain.done:
                mark, chunks = plain.done, _chunks_from(plain.done, file)
        yield from decode_as(chunks, stream, reading, name, mark)


def decode_as(
    chunks: Iterable[bytes], stream: Stream, reading: Reading, name: str, mark: int
) -> Iterator[str]:
    """The text of a stream whose encoding is known, as `reading.errors` says. mark: bytes left out before."""
    start = stream.start + mark
    if reading.errors == "replace":
        return replacing(chunks, stream.name, name, start, stream.replaced)
    return decode(chunks, stream.name, name, start)


def utf8_of(stream: Stream, reading: Reading, told: Told) -> Iterator[bytes]:
    """The bytes of a stream as UTF-8: as they are, not looked at, if that is their encoding."""
    with stream.open() as file:
        head = file.read(SAMPLE)
        name, mark = encoding_of(head, len(head) < SAMPLE, stream, reading)
        told(name)
        chunks = chunks_of(head[mark:], file)
        if name == "utf-8":
            yield from chunks
        else:
            for part in decode_as(chunks, stream, reading, name, mark):
                yield part.encode("utf-8")


def is_plain_utf8(file: BinaryIO, reading: Reading) -> bool:
    """Whether a file is read as UTF-8, so that it can be cut between any two characters."""
    if reading.encoding is not None:
        return known(reading.encoding, "") == "utf-8"
    head = file.read(SAMPLE)
    whole = len(head) < SAMPLE
    if _marked(head) is not None:
        return False
    return not _not_utf8(head, whole) or (reading.errors == "replace" and _guessed(head, whole) is None)


def encoding_of(head: bytes, whole: bool, stream: Stream, reading: Reading) -> tuple[str, int]:
    """The encoding of a file that begins so, and the bytes of the mark to be left out.

    whole: whether `head` is the whole file. Warns `CorpusWarning` about a guess.
    """
    if reading.encoding is not None:
        return known(reading.encoding, stream.name), 0
    if stream.start == 0:
        _check_text(head, stream)
    marked = _marked(head) if stream.start == 0 else None
    if marked is not None:
        return marked
    if stream.start or not _not_utf8(head, whole):
        return "utf-8", 0
    guess = _guessed(head, whole)
    if guess is None:
        return "utf-8", 0  # the byte that is not will be named
    warnings.warn(
        f"{stream.name}: not UTF-8; read as {guess}, which is a guess (charset-normalizer's): look "
        "whether it is right, and declare it (encoding=…)",
        CorpusWarning,
        stacklevel=outside(),
    )
    return guess, 0


def is_tar(head: bytes) -> bool:
    """Whether a file that begins so is a tar, as every program since 1988 writes it."""
    return head[257:262] == b"ustar"


def _check_text(head: bytes, stream: Stream) -> None:
    """`CorpusError` for a file of another kind, by its first bytes, which some other encoding might fit."""
    kind = suffix_of(head) or next((kind for mark, kind in OTHERS if head.startswith(mark)), "")
    if kind or is_tar(head):
        raise CorpusError(
            f"{stream.name}: no text, but by its first bytes a {kind or '.tar'} file; if it is one, save it "
            "under a name with that suffix, else leave it out"
        )


def known(name: str, where: str) -> str:
    """Python's own name of an encoding of text; `CorpusError` for any other.

    >>> known("UTF8", "a.txt"), known("latin1", "a.txt")
    ('utf-8', 'iso8859-1')
    """
    try:
        b"a".decode(name, "ignore")  # subtle: refuses codecs that are none of text, as "hex"
        return codecs.lookup(name).name
    except (LookupError, ValueError) as error:
        raise CorpusError(
            f"{where}: no encoding is called {name!r}: give a name that Python knows, as 'utf-8' or 'cp1253'"
        ) from error


def decode(chunks: Iterable[bytes], where: object, name: str = "utf-8", start: int = 0) -> Iterator[str]:
    """Bytes in chunks -> the same text in parts, no character cut; `CorpusError` with the byte offset.

    start: the offset of the first byte, for the error.

    >>> list(decode([b"n", bytes([0xC3]), bytes([0xA9, 33])], "a.txt"))
    ['n', 'é!']
    """
    decoder = codecs.getincrementaldecoder(name)()
    fed = start  # offset behind the bytes given to the decoder, of which it may hold back the last few
    for chunk in chunks:
        if part := _step(decoder, chunk, fed, where, name):
            if name != "utf-8":
                _check_pairs(part, where, name, fed)
            yield part
        fed += len(chunk)
    if part := _step(decoder, b"", fed, where, name, final=True):
        _check_pairs(part, where, name, fed)
        yield part


def _check_pairs(part: str, where: object, name: str, fed: int) -> None:
    """`CorpusError` for half of a pair of surrogates, which UTF-7 and a few others let through."""
    try:
        part.encode("utf-8")
    except UnicodeEncodeError as error:
        raise CorpusError(
            f"{where}: not {name}: behind byte offset {fed} is half of a pair "
            f"(U+{ord(part[error.start]):04X}), which is no character; repair it"
        ) from error


def _step(
    decoder: codecs.IncrementalDecoder, chunk: bytes, fed: int, where: object, name: str, final: bool = False
) -> str:
    held = decoder.getstate()[0]
    try:
        return decoder.decode(chunk, final)
    except UnicodeDecodeError as error:
        offset = fed - len(held) + error.start
        shown = name.upper() if name.startswith("utf") else name
        raise CorpusError(
            f"{where}: not {shown}: byte 0x{error.object[error.start]:02X} at byte offset {offset} "
            f"({error.reason}); convert the file to UTF-8, or declare its encoding (encoding=…); "
            'errors="replace" reads it with U+FFFD there'
        ) from error
    except UnicodeError as error:  # UTF-16 and -32 without a mark where Python wants one
        raise CorpusError(f"{where}: not {name} from byte offset {fed - len(held)} on ({error})") from error


def chunks_of(head: bytes, file: BinaryIO) -> Iterator[bytes]:
    """What was read of a file already, then the rest of it."""
    yield head
    while chunk := file.read(CHUNK):
        yield chunk


def _chunks_from(start: int, file: BinaryIO) -> Iterator[bytes]:
    """The rest of a file: the first chunk up to where one ends when the file is read from its beginning."""
    file.seek(start)
    return chunks_of(file.read(CHUNK + -start % CHUNK), file)


def _is_regular(file: BinaryIO) -> bool:
    """Whether a file can be opened and read once more."""
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def _marked(head: bytes) -> tuple[str, int] | None:
    """The encoding of UTF-16 or UTF-32 that a byte order mark tells, and the mark's length."""
    return next(((name, len(mark)) for mark, name in MARKS if head.startswith(mark)), None)


def _not_utf8(head: bytes, whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, whole)
    except UnicodeDecodeError:
        return True
    return False


def _guessed(head: bytes, whole: bool) -> str | None:
    """Another encoding than UTF-8, if the bytes are clearly not UTF-8 and clearly something else."""
    shown = codecs.getincrementaldecoder("utf-8")("replace").decode(head, whole)
    bad = shown.count("\ufffd") - head.count("\ufffd".encode())
    good = len(re.findall("[^\0-\x7f\ufffd]", shown))
    if bad < MANY or bad < good or b"\0" in head:
        return None
    try:
        library: Any = importlib.import_module("charset_normalizer")
    except ImportError:
        return None
    matches = library.from_bytes(_whole_characters(head))
    best = matches.best()
    if best is None or best.chaos > CHAOS or best.encoding.startswith("utf"):
        return None
    if best.coherence < COHERENCE and (len(matches) > 1 or bad < ENOUGH):
        return None
    equal = [match for match in matches if (match.chaos, match.coherence) == (best.chaos, best.coherence)]
    names = {name for match in equal for name in match.could_be_from_charset}
    return USUAL if USUAL in names else known(best.encoding, "")


def _whole_characters(head: bytes) -> bytes:
    """The head up to its last line end, if it has one: a character cut in two would speak against it."""
    end = head.rfind(b"\n")
    return head[: end + 1] if end > 0 else head
