"""Encoding text that comes in parts: ids as soon as nothing to come can change them.

Adds `Stream`, which holds back what is behind the last cut (`cuts`), and `Characters`, which makes text of
bytes that may be cut inside a character. Leaves out: how a text is encoded, which is given as a function, so
that specification and engine stream in the same way.
"""

from __future__ import annotations

import codecs
from typing import NamedTuple

from syllabary.errors import TextError
from syllabary.reference.cuts import NEAR, Cuts
from syllabary.reference.symbols import utf8

# Text of so many characters without a cut is looked at again only when it has grown by one in `SHARE`: a row
# of a million spaces, one at a time, would else be read a million times.
LONG = 4096
SHARE = 8


class Settled(NamedTuple):
    """Text whose ids are final: those of `guard + text` without those of `guard`."""

    guard: str
    text: str


class Stream:
    """A text in parts. `push` gives what is settled; `rest` is what is held back, and the end of the text."""

    def __init__(self, cuts: Cuts) -> None:
        """At the beginning of a text."""
        self.cuts = cuts
        self.guard = ""
        self.held: list[str] = []
        self.length = 0  # of what is held
        self.seen = 0  # so much of it has no cut
        self.start = 0  # characters of the text that are settled

    def rest(self) -> Settled:
        """What is held back: if the text ended here, its ids would be the last of the whole."""
        self.held = ["".join(self.held)]
        return Settled(self.guard, self.held[0])

    def push(self, text: str) -> Settled | None:
        """Take the next part of the text; give what is settled now, if anything is."""
        self.held.append(text)
        self.length += len(text)
        if self.seen >= LONG and self.length - self.seen < self.seen // SHARE:
            return None
        guard, held = self.guard, "".join(self.held)
        self.held = [held]
        low = self.seen - (NEAR if self.cuts.rewrites else 1)
        cut = self.cuts.last(held, max(0, low))
        self.seen = self.length
        if cut is None:
            return None
        self.guard, self.held = cut.guard, [held[cut.at :]]
        self.start += cut.at
        self.seen = self.length = self.length - cut.at
        return Settled(guard, held[: cut.at])


class Characters:
    """UTF-8 that comes in parts, which may end inside a character; `str` is taken as it is."""

    def __init__(self) -> None:
        """At the beginning of a text."""
        self.utf8 = codecs.getincrementaldecoder("utf-8")("strict")
        self.start = 0  # bytes taken

    def push(self, part: str | bytes, final: bool = False) -> str:
        """The characters that are whole now; `final`: no more will come.

        `TextError` for what is no UTF-8, with its byte, and for a lone surrogate.

        >>> characters = Characters()
        >>> data = "é!".encode()
        >>> characters.push(data[:1]), characters.push(data[1:])
        ('', 'é!')
        """
        if isinstance(part, str):
            if not part.isascii():
                utf8(part)
            if self.utf8.getstate()[0]:
                raise TextError(f"the character at byte {self.begun()} is not whole when text follows")
            return part
        begun = self.begun()
        try:
            text = self.utf8.decode(part, final)
        except UnicodeDecodeError as error:
            raise TextError(
                f"the stream is not UTF-8 at byte {begun + error.start} ({error.reason}): "
                "decode it as what it is, and give str"
            ) from error
        self.start += len(part)
        return text

    def begun(self) -> int:
        """The byte where the character begins that is not whole yet."""
        return self.start - len(self.utf8.getstate()[0])
