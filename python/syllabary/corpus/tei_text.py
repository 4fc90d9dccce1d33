"""The text of TEI's elements: what is left out, what stands apart, entities, Greek in beta code.

Adds these rules:
- the header, notes, variant readings and what a `choice` corrects are left out; all else stays, dateline and
  salute too; blocks (paragraphs, verses) are kept apart by a space.
- an entity is what the file declares, or its standard name's character (`&dagger;`); any other stays as it is
  written (`&c;`).
- text in Greek elements is converted from beta code, if the file has it: each text between two tags, not
  entities, not what an element in another language holds, not references (`bibl`), which are in Latin letters
  where no language is given.

Leaves out: divisions (`tei`); English inside Greek that no element marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from syllabary.corpus import beta
from syllabary.corpus.tei_language import Languages
from syllabary.corpus.xml_parse import ENTITY, XML, entity, name_of

DIVISION = re.compile(r"div\d?")
LEFT_OUT = frozenset({"teiHeader", "note", "rdg", "fw"})
CHOICE_LEFT_OUT = frozenset({"sic", "orig", "abbr"})
BLOCK = frozenset(
    "ab argument byline castItem castList closer dateline div head item l label lg list opener p row salute "
    "signed sp speaker stage table trailer".split()
)
REFERENCE = frozenset({"bibl", "biblStruct"})


class Texts:
    """The texts of the elements of one file.

    beta_code: whether Greek is in beta code; None: found out when the first text is asked for.
    """

    def __init__(self, root: Any, languages: Languages, declared: Mapping[str, str], beta_code: bool | None):
        self.languages = languages
        self.declared = declared
        self.beta_code = self._found_out(root) if beta_code is None else beta_code

    def inside(self, element: Any) -> list[str]:
        """All that an element holds, as strings that `beta.join` joins."""
        return [self._own(string, greek) for string, greek in self._strings(element)]

    def around(self, element: Any) -> list[str]:
        """The same with the spaces around a block; nothing of what is left out."""
        name = name_of(element)
        if name == ENTITY:
            return [entity(element.text, self.declared)]
        if _left_out(element, name):
            return []
        apart = _apart(element, name)
        return [apart, *self.inside(element), apart]

    def start(self, element: Any) -> str:
        """What stands before the first child."""
        return self._own(element.text, self._is_greek(element))

    def after(self, element: Any) -> str:
        """What stands behind the element, in its parent."""
        return self._own(element.tail, self._is_greek(element.getparent()))

    def _own(self, string: str | None, greek: bool) -> str:
        if not string:
            return ""
        return beta.convert(string) if greek and self.beta_code else string

    def _is_greek(self, element: Any) -> bool:
        return self.languages.is_greek(self.languages.nearest(element))

    def _strings(self, element: Any) -> Iterator[tuple[str | None, bool]]:
        """The strings inside an element, each with whether it is Greek; without recursion."""
        greek = self._is_greek(element)
        yield element.text, greek
        around = [(iter(element), greek, "", None)]  # the children that are left, … , space, and text behind
        while around:
            children, greek, apart, tail = around[-1]
            for child in children:
                name = name_of(child)
                if name == ENTITY:
                    yield entity(child.text, self.declared), False
                elif not _left_out(child, name):
                    space = _apart(child, name)
                    inner = self._greek_in(child, name, greek)
                    yield space, False
                    yield child.text, inner
                    around.append((iter(child), inner, space, child.tail))
                    break
                yield child.tail, greek
            else:
                around.pop()
                if around:
                    yield apart, False
                    yield tail, around[-1][1]

    def _greek_in(self, element: Any, name: str, outside: bool) -> bool:
        tag = self.languages.tag(element)
        if tag is not None:
            return self.languages.is_greek(tag)
        return outside and name not in REFERENCE

    def _found_out(self, root: Any) -> bool:
        """Whether the file's Greek is in beta code."""
        marked = root.xpath("descendant-or-self::*[@lang or @xml:lang]")
        tops = [element for element in marked if self.languages.is_greek(self.languages.tag(element))]
        if self.languages.is_greek(None):
            tops.insert(0, root)
        return beta.is_beta(
            string
            for top in tops
            if not _left_out(top, name_of(top))
            for string, greek in self._strings(top)
            if greek and string
        )


def _apart(element: Any, name: str) -> str:
    """The space around a block, or around the reference of a quotation (`cit`)."""
    if name in BLOCK or DIVISION.fullmatch(name):
        return " "
    return " " if name in REFERENCE and name_of(element.getparent()) == "cit" else ""


def _left_out(element: Any, name: str) -> bool:
    if name in LEFT_OUT:
        return True
    if name not in CHOICE_LEFT_OUT:
        return False
    parent = element.getparent()
    return parent is not None and name_of(parent) == "choice"


def identity(element: Any) -> str | None:
    """`xml:id` (P5) or `id` (P4)."""
    found: str | None = element.get("id") or element.get(f"{XML}id")
    return found
