"""Which normal form of Unicode each document is in, and what to say of a corpus that mixes them.

The same Greek word looks the same in NFC (one character for ά), in NFD (letter and mark apart) and with the
code points that neither form keeps (oxia, U+1F71, for which NFC writes tonos, U+03AC), and gets other tokens
in each. Adds `Look`, which watches one document go by, and `Forms`, which counts documents and words the
warning. Leaves out: rewriting (`care`), and the forms of compatibility, which change what is read.

It is cheap: ASCII and text with a letter of one form decide at a glance, and what needs a closer look is
looked at in slices. Marks on both sides of a cut between two slices are not seen together.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

SLICE = 4096  # characters; a mark that might be composed makes Python normalize all it is asked about

NFC, NFD, NEITHER = "NFC-only", "NFD-only", "neither"
KINDS = (NFC, NFD, NEITHER)
ASCII = bytes(range(128))
SURROGATE = re.compile(rb"\xed[\xa0-\xbf]")
FEW = 4  # one byte in so many
WORDS = {NFC: "in NFC", NFD: "in NFD", NEITHER: "in neither form"}


class Look:
    """What has been seen of one document; `odd` is the first character that no normal form keeps."""

    __slots__ = ("nfc", "nfd", "odd")

    def __init__(self) -> None:
        self.nfc, self.nfd, self.odd = True, True, ""

    def at(self, text: str) -> Look:
        """Look at the next part of the document, which ends where its last part does."""
        if len(text) <= SLICE:
            if not text.isascii():
                self._slice(text)
            return self
        for start in range(0, len(text), SLICE):
            if not (self.nfc or self.nfd):
                break
            part = text[start : start + SLICE]
            if not part.isascii():
                self._slice(part)
        return self

    def _slice(self, part: str) -> None:
        if self.nfc and not unicodedata.is_normalized("NFC", part):
            self.nfc = False
            self.odd = next((c for c in part if not unicodedata.is_normalized("NFC", c)), "")
        self.nfd = self.nfd and unicodedata.is_normalized("NFD", part)

    def undecided(self, text: str) -> tuple[bool, bool]:
        """Look at the next part; whether the document may yet be in NFC, and in NFD."""
        self.at(text)
        return self.nfc, self.nfd

    @property
    def kind(self) -> str | None:
        """`"NFC-only"`, `"NFD-only"` or `"neither"`; None: the same in both forms, as all ASCII is.

        >>> [Look().at(text).kind for text in ("a", "\u00e9", "e\u0301", "\u00e9e\u0301", "\u1f71")]
        [None, 'NFC-only', 'NFD-only', 'neither', 'neither']
        """
        if self.nfc:
            return None if self.nfd else NFC
        return NFD if self.nfd else NEITHER


class _Characters(dict[str, int]):
    """Character -> 2: no form changes it, whatever stands beside it; 1: NFD takes it apart; 0: others."""

    def __missing__(self, char: str) -> int:
        kind = unicodedata.category(char)
        joins = kind[0] == "M" or kind == "Cs" or unicodedata.combining(char) or "\u1160" <= char < "\u1200"
        known = 0
        if not joins and unicodedata.is_normalized("NFC", char):
            known = 2 if unicodedata.is_normalized("NFD", char) else 1
        self[char] = known
        return known


_CHARACTERS = _Characters()


def glance(text: str, data: bytes) -> Look | None:
    """The look of a text, given with its UTF-8, of which few characters are not ASCII, and all of those such
    that their neighbours do not matter: it is in NFC for sure. None: it must be looked at.

    >>> texts = ("plain text", "a naïve text", "a nai\u0308ve text")
    >>> [look and look.kind for look in (glance(text, text.encode()) for text in texts)]
    [None, 'NFC-only', None]
    """
    look = Look()
    if text.isascii():
        return look
    if (len(data) - len(text)) * 2 * FEW > len(data):
        return None  # each such character has one byte more at least, so at least half as many are more bytes
    others = data.translate(None, ASCII)
    if len(others) * FEW > len(data):
        return None
    least = min(map(_CHARACTERS.__getitem__, set(others.decode("utf-8", "surrogatepass"))))
    look.nfd = least == 2
    return look if least else None


def closer(text: str, data: bytes) -> Look | None:
    """The look of a text, given with its UTF-8, that is in NFC as a whole; None: not so, or a lone surrogate.

    What Python's tables, of Unicode 13 or later, call NFC is NFC by those of Unicode 9 too: code points that
    came later are left alone there, and older ones that would compose or change places do so in both.
    """
    if not unicodedata.is_normalized("NFC", text) or SURROGATE.search(data):
        return None
    look = Look()
    look.nfd = unicodedata.is_normalized("NFD", text)
    return look


@dataclass
class Forms:
    """How many documents are of each kind, and an example: where it is and its odd character or `""`."""

    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add(self, look: Look, where: Callable[[], str]) -> None:
        """Count a document that has been looked at; `where` is asked for its name if it is the first."""
        kind = look.kind
        if kind is not None:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            if kind not in self.examples:
                self.examples[kind] = where(), look.odd

    def drop(self, kind: str) -> None:
        """Count a document of this kind out."""
        self.counts[kind] -= 1
        if not self.counts[kind]:
            del self.counts[kind], self.examples[kind]

    def merge(self, other: Forms) -> None:
        """Add what was counted elsewhere, of later documents."""
        for kind, count in other.counts.items():
            self.counts[kind] = self.counts.get(kind, 0) + count
            self.examples.setdefault(kind, other.examples[kind])

    def warning(self) -> str | None:
        """The sentence for a corpus that mixes normal forms, or None if it does not.

        >>> found = Forms()
        >>> for name, text in (("a.txt", "\u00e9"), ("b.txt", "e\u0301")):
        ...     found.add(Look().at(text), name.lower)
        >>> (found.warning() or "").partition(": ")[2].partition(". ")[0]
        '1 document is in NFC (as a.txt), 1 in NFD (as b.txt)'
        """
        kinds = [kind for kind in KINDS if kind in self.counts]
        if len(kinds) < 2 and NEITHER not in kinds:
            return None
        one = kinds == [NEITHER] and self.examples[NEITHER][1]
        return (
            ("the corpus has text in no normal form" if one else "the corpus mixes normal forms")
            + " of Unicode: "
            + ", ".join(self._counted(kinds))
            + ". What looks the same can then be spelled in several ways, with other tokens each; "
            'normalize="NFC" makes them one'
        )

    def _counted(self, kinds: Iterable[str]) -> Iterable[str]:
        for place, kind in enumerate(kinds):
            count, (where, odd) = self.counts[kind], self.examples[kind]
            nouns = "" if place else (" document is" if count == 1 else " documents are")
            yield f"{count:,}{nouns} {WORDS[kind]} (as {where}{_why(odd) if kind == NEITHER else ''})"


def _why(odd: str) -> str:
    """Why a document is in neither form."""
    if not odd:
        return ", which has both"
    becomes = " ".join(f"U+{ord(char):04X}" for char in unicodedata.normalize("NFC", odd))
    name = unicodedata.name(odd, "")
    return f", which has U+{ord(odd):04X} {name}".rstrip() + f", for which NFC writes {becomes}"
