"""TEI XML, P4 and P5 -> one document for each letter, chapter, poem, book or work.

Adds the rule of what a document is (`Reading.division`):
- `"auto"`: an innermost division (`div`, `div1`, `div2` …, or a `text` in a `group`), where divisions that
  only count (section, card, line, …) belong to the one around them.
- `"work"`: a whole `text`; in a `group`, each of its texts.
- `"chapter"`: an outermost division that calls itself a chapter (`type` or `subtype`); where none in the file
  does, an outermost division inside of editions, volumes, parts and books, or such a book that has none.
- `"letter"`: an outermost division (or `text`) that calls itself a letter, or the text of a file whose header
  describes a correspondence (`correspDesc`); a file without letters is an error.
Text that stands beside inner divisions is a document of its own, except their common `head` and except under
`"letter"`. Every run of whitespace is one space.

`meta`: `path`; `n` (of the divisions, with dots), `type`, `id`; `lang` (ISO 639-3, `tei_language`); `author`
and `title` as the header has them. Leaves out: divisions that are only marked where they begin (`milestone`);
which text an element has (`tei_text`). The tree of one file is held in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from syllabary.corpus import beta
from syllabary.corpus.document import Document, Reader, Reading, Stream, Told
from syllabary.corpus.tei_language import Languages
from syllabary.corpus.tei_text import DIVISION, Texts, identity
from syllabary.corpus.xml_parse import entities_of, name_of, parse
from syllabary.errors import CorpusError

NAMESPACE = "{http://www.tei-c.org/ns/1.0}"
ROOTS = frozenset({"TEI", "TEI.2", "teiCorpus", "teiCorpus.2"})
CONTAINER = ROOTS | {"group", "text", "front", "body", "back"}
COUNTING = frozenset({"section", "card", "line", "para", "paragraph", "page", "verse"})
EDITION = frozenset({"edition", "translation"})
CHAPTER = frozenset({"chapter", "caput", "chapitre", "kapitel"})
BOOK = EDITION | {"work", "volume", "vol", "tome", "part", "book", "liber"}
LETTER = frozenset({"letter", "epistle", "epistula", "epistola"})

Whole: TypeAlias = Callable[[Any], bool]


def documents(stream: Stream, reading: Reading, told: Told) -> Iterator[Document]:
    """The documents of a TEI file; `CorpusError` for another root, broken XML and a file without letters."""
    yield from documents_of(parse(stream, reading, told), stream, reading)


READER = Reader("tei", (".tei",), documents)


def documents_of(tree: Any, stream: Stream, reading: Reading) -> Iterator[Document]:
    """The documents of a parsed file."""
    root = tree.getroot()
    if name_of(root) not in CONTAINER:
        raise CorpusError(
            f"{stream.name}: the root element is <{name_of(root)}>, not <TEI> or <TEI.2>; give it the suffix "
            ".xml to read it as other XML, or .txt to read it as plain text"
        )
    found = False
    for element in _works(root):
        languages = Languages(element, stream.inner)
        texts = Texts(element, languages, entities_of(tree), reading.beta_code)
        meta = {"path": stream.name, **_header(element)}
        for document in _Work(element, texts, reading.division, meta).documents():
            found = True
            yield document
    if reading.division == "letter" and not found:
        raise CorpusError(f"{stream.name}: no division is a letter, but {_kinds_in(root)}; choose another")


def is_tei(root: Any) -> bool:
    """Whether a root element is TEI's, by its name, or, for a fragment, by its namespace."""
    name = name_of(root)
    return name in ROOTS or (name in CONTAINER and root.tag.startswith(NAMESPACE))


def _works(root: Any) -> list[Any]:
    """The element itself; of a corpus, its members, and theirs."""
    if not name_of(root).startswith("teiCorpus"):
        return [root]
    return [work for child in root if name_of(child) in ROOTS for work in _works(child)]


def _header(work: Any) -> dict[str, object]:
    """`author` and `title`, the first of each, as the header's title statement has them."""
    found: dict[str, object] = {}
    for name in ("author", "title"):
        element = work.find(f"{{*}}teiHeader/{{*}}fileDesc/{{*}}titleStmt/{{*}}{name}")
        if element is not None and (text := " ".join("".join(element.itertext()).split())):
            found[name] = text
    return found


@dataclass(frozen=True, slots=True)
class _Work:
    """One `TEI` element and how it is cut."""

    root: Any
    texts: Texts
    division: str
    meta: dict[str, object]

    def documents(self) -> Iterator[Document]:
        yield from self._walk(self.root, (), self._whole())

    def _whole(self) -> Whole:
        """Which elements are documents however they are divided."""
        if self.division == "letter":
            one = self.root.find("{*}teiHeader//{*}correspDesc") is not None
            return lambda element: _is_one(element, LETTER) or (one and name_of(element) == "text")
        if self.division == "chapter":
            if any(_is_division(element) and _is_one(element, CHAPTER) for element in self.root.iter()):
                return lambda element: _is_division(element) and _is_one(element, CHAPTER)
            return lambda element: _is_inner(element) and not _is_one(element, BOOK)
        return lambda element: False

    def _is_cut(self, element: Any, whole: Whole) -> bool:
        """Whether an element is not simply a part of the document around it."""
        if self.division == "work":
            return _is_text(element)
        if self.division == "auto" or _is_inner(element):
            return _is_inner(element)
        return _is_division(element) and any(whole(child) for child in element.iter())

    def _walk(self, element: Any, numbers: tuple[str, ...], whole: Whole) -> Iterator[Document]:
        """The documents in a container or division, in the order of the text."""
        make = self._maker(element, numbers)
        if whole(element):
            yield from make(self.texts.inside(element))
            return
        if not any(self._is_cut(child, whole) for child in _below(element)):
            if self.division != "letter":
                yield from make(self.texts.inside(element))
            return
        loose = [self.texts.start(element)]  # what stands beside the inner divisions
        for child in element:
            name = name_of(child)
            if name in CONTAINER or self._is_cut(child, whole):
                if self.division != "letter":
                    yield from make(loose)
                number = (child.get("n"),) if child.get("n") and not _is_edition(child) else ()
                yield from self._walk(child, numbers + number, whole)
                loose = []
            elif name != "head":
                loose += self.texts.around(child)
            loose.append(self.texts.after(child))
        if self.division != "letter":
            yield from make(loose)

    def _maker(self, element: Any, numbers: tuple[str, ...]) -> Callable[[Iterable[str]], Iterator[Document]]:
        """What makes documents of an element: of strings, if they are more than whitespace."""
        values = (
            ("n", ".".join(numbers)),
            ("type", element.get("subtype") or element.get("type")),
            ("id", identity(element)),
            ("lang", _language(element, self.texts.languages)),
        )
        meta = self.meta | {key: value for key, value in values if value}

        def make(strings: Iterable[str]) -> Iterator[Document]:
            text = " ".join(beta.join(strings).split())
            if text:
                yield Document(text, meta)

        return make


def _language(element: Any, languages: Languages) -> str | None:
    """The language around an element; for a whole text, that of its divisions if these say it."""
    if languages.nearest(element) is None:
        inside = {languages.declared(child) for child in _below(element) if _is_division(child)}
        if len(inside) == 1 and (only := inside.pop()) is not None:
            return only
    return languages.of(element)


def _below(element: Any) -> Iterator[Any]:
    """Children, and theirs where a container stands between (`TEI` > `text` > `body` > `div`)."""
    for child in element:
        yield child
        if name_of(child) in CONTAINER:
            yield from _below(child)


def _is_division(element: Any) -> bool:
    return DIVISION.fullmatch(name_of(element)) is not None


def _is_inner(element: Any) -> bool:
    """Whether it is a division with documents of its own, not one that only counts."""
    if name_of(element) == "text":
        return name_of(element.getparent()) == "group"
    kind = element.get("subtype") or element.get("type") or ""
    return _is_division(element) and kind.lower() not in COUNTING


def _is_text(element: Any) -> bool:
    """Whether it is a whole text, not one inside of a paragraph or division."""
    return name_of(element) == "text" and name_of(element.getparent()) in ROOTS | {"group"}


def _is_edition(element: Any) -> bool:
    return element.get("type") in EDITION  # subtle: P5 puts the work's URN in its n


def _is_one(element: Any, kinds: frozenset[str]) -> bool:
    """Whether an element calls itself one of these."""
    return any((element.get(name) or "").lower() in kinds for name in ("type", "subtype"))


def _kinds_in(root: Any) -> str:
    """`"book (24)"`: what the divisions call themselves, for the error."""
    kinds = Counter(
        (element.get("subtype") or element.get("type") or "nameless").lower()
        for element in root.iter()
        if _is_division(element)
    )
    return ", ".join(f"{kind} ({count})" for kind, count in kinds.most_common(5)) or "there are none"
