"""XML -> documents: TEI by its own rules, XHTML as a page, any other as its text, a line for each block.

Adds the rule for elements that nobody knows: what has text of its own, beside that of its children, is one
line, with all that is in it; the children of all else are blocks. So `<doc><t>A</t><p>b<i>c</i></p></doc>` is
two lines. Notes, headers and attributes mean nothing here: every text is kept, no attribute is text.
Entities as in TEI: declared in the file, else by standard name, else as they are written. White space as in
`lines`.

`meta`: `path`; `lang` by `xml:lang` of the root. Leaves out: several documents in one file (records, feeds).
The tree of one file is held in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from syllabary.corpus import tei
from syllabary.corpus.document import Document, Reader, Reading, Stream, Told
from syllabary.corpus.html_text import Page
from syllabary.corpus.lines import Lines
from syllabary.corpus.tei_language import code
from syllabary.corpus.xml_parse import ENTITY, XML, entities_of, entity, name_of, parse


def documents(stream: Stream, reading: Reading, told: Told) -> Iterator[Document]:
    """The documents of an XML file, by its root element; `CorpusError` with line and column if broken."""
    tree = parse(stream, reading, told)
    root = tree.getroot()
    if tei.is_tei(root):
        yield from tei.documents_of(tree, stream, reading)
    elif name_of(root).lower() == "html":
        yield from _page(root, entities_of(tree)).documents(stream.name)
    else:
        lines = Lines()
        _add(root, lines, entities_of(tree))
        if text := lines.text():
            tag = root.get(f"{XML}lang")
            language = code(tag) if tag else None
            yield Document(text, {"path": stream.name} | ({"lang": language} if language else {}))


READER = Reader("xml", (".xml",), documents)


def _add(root: Any, lines: Lines, declared: Mapping[str, str]) -> None:
    """The lines of an element, without recursion."""
    inline = _has_text(root)
    lines.add(root.text or "")
    around = [(iter(root), inline, "")]  # the children that are left, whether they are in a line, text behind
    while around:
        children, inline, behind = around[-1]
        for child in children:
            if not inline:
                lines.end()
            if name_of(child) == ENTITY:
                lines.add(entity(child.text, declared))
                lines.add(child.tail or "")
                continue
            lines.add(child.text or "")
            around.append((iter(child), inline or _has_text(child), child.tail or ""))
            break
        else:
            around.pop()
            if around and not around[-1][1]:
                lines.end()
            lines.add(behind)


def _has_text(element: Any) -> bool:
    """Whether there is text directly in an element; an entity is text."""
    if element.text and not element.text.isspace():
        return True
    return any(name_of(child) == ENTITY or (child.tail and not child.tail.isspace()) for child in element)


def _page(root: Any, declared: Mapping[str, str]) -> Page:
    """XHTML that was read as XML, told to a page as the HTML parser would."""
    page = Page()
    around = [(root, iter(root))]
    _begin(page, root)
    while around:
        element, children = around[-1]
        for child in children:
            if name_of(child) == ENTITY:
                page.data(entity(child.text, declared))
                page.data(child.tail or "")
                continue
            _begin(page, child)
            around.append((child, iter(child)))
            break
        else:
            around.pop()
            page.end(name_of(element).lower())
            page.data(element.tail or "")
    return page


def _begin(page: Page, element: Any) -> None:
    attributes = {name.replace(XML, "xml:"): value for name, value in element.attrib.items()}
    page.start(name_of(element).lower(), attributes)
    page.data(element.text or "")
