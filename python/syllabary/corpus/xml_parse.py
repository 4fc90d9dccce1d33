"""A stream -> the tree of one XML file, by lxml, with nothing fetched, expanded or recovered.

Adds the error with line and column, the encoding that was found, and what an entity stands for. The tree of
one file is held in memory (about ten times the file). libxml2's own limits stay on (`huge_tree=False`: depth,
ten million characters a node), so a hostile file is an error and not a full memory.

Leaves out: what the elements mean (`tei`, `xml_text`); DTDs, which are never read.
"""

from __future__ import annotations

import codecs
import html.entities
import importlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from syllabary.corpus.document import Reading, Stream, Told
from syllabary.corpus.encoding import text_of, utf8_of
from syllabary.corpus.files import CHUNK
from syllabary.errors import CorpusError

ENTITY = "&"  # what `name_of` says of an entity that stands unresolved in the text
XML = "{http://www.w3.org/XML/1998/namespace}"
LIBXML2 = re.compile(r",? (?:use|try) XML_PARSE_HUGE(?: option)?|, see xmlCtxt\w+\.?")  # advice for C
LIMIT = re.compile("excessive depth|resource limit|too long|huge|amplification", re.IGNORECASE)
MAX_ENTITY = 32  # characters of a declared entity's value; a longer one stays as it is written


def lxml(module: str, stream: Stream) -> Any:
    """A module of lxml, as `"etree"`; `CorpusError` that names the extra where it is not installed."""
    try:
        return importlib.import_module(f"lxml.{module}")
    except ImportError as error:
        raise CorpusError(
            f"{stream.name}: reading XML and HTML needs lxml: pip install 'syllabary[corpus]'"
        ) from error


def parse(stream: Stream, reading: Reading, told: Told) -> Any:
    """The tree (`lxml.etree._ElementTree`) of a well-formed file, without comments and instructions.

    The encoding is `reading.encoding`, whatever the file declares; else by byte order mark or declaration,
    else UTF-8. Raises `CorpusError` with line and column for what is not well-formed.
    """
    etree = lxml("etree", stream)
    parser = etree.XMLParser(
        encoding=None if reading.encoding is None else "utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    source = _Chunks(_raw(stream) if reading.encoding is None else _utf8(stream, reading, told))
    try:
        tree = etree.parse(source, parser)
    except etree.XMLSyntaxError as error:
        raise CorpusError(f"{stream.name}: not well-formed XML: {_where(error)}") from error
    if reading.encoding is None:
        told(source.marked() or encoding_name(tree.docinfo.encoding or "utf-8"))
    return tree


class _Chunks:
    """Chunks as the file that lxml reads; it sees no name, which would be a base for what is relative."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self.chunks = chunks
        self.head = b""

    def read(self, _size: int = -1) -> bytes:
        chunk = next(self.chunks, b"")
        self.head = self.head or chunk[:2]
        return chunk

    def marked(self) -> str | None:
        """The encoding that a byte order mark tells, if it is not UTF-8."""
        return {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}.get(self.head)


def _raw(stream: Stream) -> Iterator[bytes]:
    with stream.open() as file:
        while chunk := file.read(CHUNK):
            yield chunk


def _utf8(stream: Stream, reading: Reading, told: Told) -> Iterator[bytes]:
    """The bytes of a file whose encoding was declared, as UTF-8, and such for sure if that was asked for."""
    if reading.errors == "strict":
        return utf8_of(stream, reading, told)
    return (part.encode("utf-8") for part in text_of(stream, reading, told))


def _where(error: Any) -> str:
    """libxml2's sentence, which mostly ends in line and column already."""
    line, column = error.position
    place = f"line {line}, column {column}"
    message = LIBXML2.sub("", " ".join(str(error.msg or "unknown error").split())).replace(" ,", ",")
    if not message.endswith(place):
        message = f"{message}, {place}"
    if "encoding" in message:
        message += "; if the file does not declare its encoding, do (encoding=…)"
    if LIMIT.search(message):
        message += "; no file of text needs so much: part it, or leave it out"
    return message


def encoding_name(encoding: str) -> str:
    """Python's name of an encoding; of one it does not know, the name as it is, in lower case."""
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        return encoding.lower()


def name_of(element: Any) -> str:
    """The tag without its namespace; `ENTITY` for an entity that stands unresolved in the text."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ENTITY


def entities_of(tree: Any) -> Mapping[str, str]:
    """What the file itself declares: names -> values, where these are short and hold no markup."""
    dtd = tree.docinfo.internalDTD
    if dtd is None:
        return {}
    values = {entity.name: entity.content or "" for entity in dtd.iterentities()}
    return {
        name: value
        for name, value in values.items()
        if 0 < len(value) <= MAX_ENTITY and "&" not in value and "<" not in value
    }


def entity(reference: str, declared: Mapping[str, str]) -> str:
    """`&dagger;` -> its character: as the file declares it, else by its standard name, else as written.

    >>> entity("&dagger;", {}), entity("&c;", {}), entity("&c;", {"c": "Ↄ"})
    ('†', '&c;', 'Ↄ')
    """
    name = reference[1:]
    known = declared.get(name.rstrip(";"))
    return html.entities.html5.get(name, reference) if known is None else known
