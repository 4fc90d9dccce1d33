"""HTML and XHTML -> the text of a page, a line for each block.

Adds the rule of what is text: all of the body but scripts, styles, templates, what stands in for media and
frames, and how ruby is read (`rt`); `br` ends a line, cells of a row have a tab between them, `pre` keeps its
white space, pictures are nothing. The encoding is `Reading.encoding`, a byte order mark, what the page
declares (`meta`, in its first 1024 bytes; Latin-1 means cp1252, as in browsers), UTF-8, else detected.

The page goes through lxml's parser as a stream and is never held as a tree; that parser reads any bytes as
HTML, so what is broken is read as a browser would, not refused. Nothing is fetched.

`meta`: `path`; `title`, `author` and `lang` (ISO 639-3) as the page says them.
Leaves out: telling the text of a page from its menus and footers; what a script or a style would change.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping

from syllabary.corpus.document import Document, Reader, Reading, Stream, Told
from syllabary.corpus.encoding import SAMPLE, chunks_of, decode_as, encoding_of
from syllabary.corpus.files import CHUNK
from syllabary.corpus.lines import Lines
from syllabary.corpus.tei_language import code
from syllabary.corpus.xml_parse import lxml

LEFT_OUT = frozenset(
    "audio canvas head iframe noframes noscript object rp rt rtc script style svg template video".split()
)
BLOCK = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol "
    "optgroup option p pre search section select summary table tbody textarea tfoot thead tr ul".split()
)
KEPT = frozenset({"pre", "textarea"})
CELL = frozenset({"td", "th"})

DECLARED = re.compile(rb"<meta\s[^>]{0,500}?charset\s*=\s*[\"']?\s*([-\w.:]+)", re.IGNORECASE)
XML_DECLARED = re.compile(rb"^\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([-\w.:]+)")
MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
DECLARED_WITHIN = 1024  # bytes, as the standard says

# What a page's encoding means in browsers, where that is not what Python takes it for
# (https://encoding.spec.whatwg.org/#names-and-labels).
MEANT = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "utf-16": "utf-8",  # it was read as ASCII, so it is none
    "utf-16-le": "utf-8",
    "utf-16-be": "utf-8",
}


def documents(stream: Stream, reading: Reading, told: Told) -> Iterator[Document]:
    """The page as one document, if it has any text; `CorpusError` for bytes that are not its encoding."""
    page = Page()
    parser = lxml("etree", stream).HTMLParser(target=page, encoding="utf-8", huge_tree=False, no_network=True)
    empty = True
    for part in _decoded(stream, reading, told):
        data = part.encode("utf-8", "replace")  # subtle: decoders of UTF-7 and the like give lone surrogates
        parser.feed(data)
        empty = empty and not data.strip()
    if not empty:
        parser.close()
    yield from page.documents(stream.name)


READER = Reader("html", (".html", ".htm", ".xhtml", ".xht"), documents)


class Page:
    """What lxml's parser tells (start, end, data), as text and metadata."""

    def __init__(self) -> None:
        self.lines = Lines()
        self.left_out = 0  # elements around that are left out
        self.kept = 0  # elements around with white space of their own
        self.title: list[str] = []
        self.in_title = False
        self.meta: dict[str, str] = {}

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins; its name without namespace, in small letters."""
        if name in LEFT_OUT:
            self.left_out += 1
        elif name == "title":
            self.in_title = "title" not in self.meta and not self.title
        elif name == "html":
            self._language(attributes)
        elif name == "meta" and attributes.get("name", "").lower() == "author":
            self.meta["author"] = " ".join(attributes.get("content", "").split())
        if name in KEPT:
            self.kept += 1
        if name in BLOCK or name == "br":
            self._end_line()

    def end(self, name: str) -> None:
        """An element ends."""
        if name in LEFT_OUT:
            self.left_out -= 1
        elif name == "title" and self.in_title:
            self.in_title = False
            self.meta["title"] = " ".join("".join(self.title).split())
        if name in BLOCK:
            self._end_line()
        elif name in CELL and not self.left_out:
            self.lines.cell()
        if name in KEPT:
            self.kept -= 1

    def data(self, string: str) -> None:
        """Text, of which an element may have several parts."""
        if self.in_title:
            self.title.append(string)
        elif self.left_out:
            return
        elif self.kept:
            self.lines.keep(string)
        else:
            self.lines.add(string)

    def close(self) -> None:
        """The page ends."""

    def documents(self, path: str) -> Iterator[Document]:
        """The page as a document, if it has text."""
        text = self.lines.text()
        if text:
            known = {key: value for key, value in self.meta.items() if value}
            yield Document(text, {"path": path, **known})

    def _language(self, attributes: Mapping[str, str]) -> None:
        tag = attributes.get("lang") or attributes.get("xml:lang")
        language = code(tag) if tag else None
        if language is not None:
            self.meta["lang"] = language

    def _end_line(self) -> None:
        if not self.left_out:
            self.lines.end()


def _decoded(stream: Stream, reading: Reading, told: Told) -> Iterator[str]:
    """The page's characters in parts, without a byte order mark."""
    with stream.open() as file:
        head = file.read(CHUNK)
        name, mark = _declared(head, reading), 0
        if name is None:
            name, mark = encoding_of(head[:SAMPLE], len(head) < SAMPLE, stream, reading)
        told(name)
        parts = decode_as(chunks_of(head[mark:], file), stream, reading, name, mark)
        yield next(parts, "").removeprefix("\ufeff")
        yield from parts


def _declared(head: bytes, reading: Reading) -> str | None:
    """What the page says of itself; None where that does not count."""
    if reading.encoding is not None or head.startswith(MARKS):
        return None
    found = XML_DECLARED.search(head[:DECLARED_WITHIN]) or DECLARED.search(head[:DECLARED_WITHIN])
    if found is None:
        return None
    try:
        name = codecs.lookup(found[1].decode("ascii")).name
        b"".decode(name)
    except (LookupError, ValueError):
        return None  # as a browser does with a name that it does not know
    return MEANT.get(name, name)
