"""TEI XML, P4 and P5 -> one document for each letter, chapter, poem or book.

Adds the rule of what a document is and which text it has:
- a document is an innermost division (`div`, `div1`, `div2` …, or a `text` in a `group`), where divisions
  that only count (section, card, line, …) belong to the one around them; text that stands beside inner
  divisions is a document of its own, except their common `head`.
- the header, notes, variant readings and what a `choice` corrects are left out; all else stays, dateline
  and salute too; every run of whitespace is one space, and blocks (paragraphs, verses) are kept apart.
- an entity with a standard name (`&dagger;`) is its character; any other stays as it is written (`&c;`).

An entity that is not declared in a file that names no DTD is an error: that file is not well-formed.

No network, no DTD, no entity expansion; libxml2's own limits stay on (`huge_tree=False`: depth 256, ten
million characters a node), so a hostile file is an error and not a full memory. The tree of one file is
held in memory. Leaves out: Greek in beta code stays beta code.
"""

from __future__ import annotations

import html.entities
import importlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from syllabary.corpus.document import Document, Part, Reader
from syllabary.corpus.files import chunks
from syllabary.errors import CorpusError

DIVISION = re.compile(r"div\d?")
COUNTING = frozenset({"section", "card", "line", "para", "paragraph", "page", "verse"})
CONTAINER = frozenset({"TEI", "TEI.2", "teiCorpus", "teiCorpus.2", "group", "text", "front", "body", "back"})
LEFT_OUT = frozenset({"teiHeader", "note", "rdg", "fw"})
CHOICE_LEFT_OUT = frozenset({"sic", "orig", "abbr"})
BLOCK = frozenset(
    "ab argument byline castItem castList closer dateline div head item l label lg list opener p row salute "
    "signed sp speaker stage table trailer".split()
)


def documents(path: Path) -> Iterator[Document]:
    """The documents of a TEI file; `meta` has `path`, `n` (of its divisions, with dots), `type`, `id`."""
    root = _parse(path)
    if _name(root) not in CONTAINER:
        raise CorpusError(
            f"{path}: the root element is <{_name(root)}>, not <TEI> or <TEI.2>; give it the suffix .txt to "
            "read it as plain text"
        )
    yield from _walk(root, (), str(path))


def parts(path: Path) -> Iterator[Part]:
    """Each document as one part."""
    for document in documents(path):
        yield document.text, True


READER = Reader("tei", documents, parts)


def _parse(path: Path) -> Any:
    try:
        etree: Any = importlib.import_module("lxml.etree")
    except ImportError as error:
        raise CorpusError(f"{path}: reading XML needs lxml: pip install 'syllabary[corpus]'") from error
    parser = etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return etree.parse(_Stream(chunks(path)), parser).getroot()
    except etree.XMLSyntaxError as error:
        raise CorpusError(f"{path}: not well-formed XML: {error.msg}") from error


class _Stream:
    """Chunks as the file object that lxml reads."""

    def __init__(self, stream: Iterator[bytes]) -> None:
        self.stream = stream

    def read(self, _size: int = -1) -> bytes:
        return next(self.stream, b"")


def _walk(element: Any, numbers: tuple[str, ...], path: str) -> Iterator[Document]:
    """The documents in a container or division, in the order of the text."""
    if not any(_is_inner(child) for child in _below(element)):
        yield from _document(element, _inside(element), numbers, path)
        return
    loose = [element.text or ""]  # what stands beside the inner divisions
    for child in element:
        name = _name(child)
        if _is_inner(child) or name in CONTAINER:
            yield from _document(element, loose, numbers, path)
            number = (child.get("n"),) if child.get("n") and not _is_edition(child) else ()
            yield from _walk(child, numbers + number, path)
            loose = []
        elif name != "head":
            loose += _text(child)
        loose.append(child.tail or "")
    yield from _document(element, loose, numbers, path)


def _below(element: Any) -> Iterator[Any]:
    """Children, and theirs where a container stands between (`TEI` > `text` > `body` > `div`)."""
    for child in element:
        yield child
        if _name(child) in CONTAINER:
            yield from _below(child)


def _is_inner(element: Any) -> bool:
    """Whether it is a division with documents of its own, not one that only counts."""
    name = _name(element)
    if name == "text":
        return _name(element.getparent()) == "group"
    kind = element.get("subtype") or element.get("type") or ""
    return DIVISION.fullmatch(name) is not None and kind.lower() not in COUNTING


def _is_edition(element: Any) -> bool:
    return element.get("type") in {"edition", "translation"}  # subtle: P5 puts the work's URN in its n


def _document(
    element: Any, strings: Iterable[str], numbers: tuple[str, ...], path: str
) -> Iterator[Document]:
    """The document that the strings make, if they are more than whitespace."""
    text = " ".join("".join(strings).split())
    if not text:
        return
    meta: dict[str, object] = {"path": path}
    if numbers:
        meta["n"] = ".".join(numbers)
    kind = element.get("subtype") or element.get("type")
    identity = element.get("id") or element.get("{http://www.w3.org/XML/1998/namespace}id")
    meta |= {key: value for key, value in (("type", kind), ("id", identity)) if value}
    yield Document(text, meta)


def _text(element: Any) -> Iterator[str]:
    """The text of an element without its tail, with spaces around a block; nothing of what is left out."""
    name = _name(element)
    if name == "&":
        yield _entity(element.text)
    elif not _left_out(element, name):
        around = " " if name in BLOCK or DIVISION.fullmatch(name) else ""
        yield around
        yield from _inside(element)
        yield around


def _inside(element: Any) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        yield from _text(child)
        yield child.tail or ""


def _left_out(element: Any, name: str) -> bool:
    parent = element.getparent()
    return name in LEFT_OUT or (name in CHOICE_LEFT_OUT and parent is not None and _name(parent) == "choice")


def _entity(reference: str) -> str:
    """`&dagger;` -> its character; an unknown name as it is written."""
    return html.entities.html5.get(reference[1:], reference)


def _name(element: Any) -> str:
    """The tag without its namespace; `"&"` for an entity that stands unresolved in the text."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else "&"
