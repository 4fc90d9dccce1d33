"""A place in a pattern, and what is read in a class and outside it alike: escapes that mean a character.

Leaves out: classes (`pattern_class`), groups and quantifiers (`pattern_parser`).
"""

from __future__ import annotations

from typing import NoReturn

from syllabary.errors import PatternError
from syllabary.spec import Tables
from syllabary.unicode import Ranges, class_names, complement, fold, intersection, ranges

SIMPLE_ESCAPES = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "e": "\x1b"}
HEX_DIGITS = {"x": 2, "u": 4, "U": 8}


class Cursor:
    """A pattern, the position in it, and the tables that its classes mean."""

    def __init__(self, pattern: str, table: Tables) -> None:
        self.pattern = pattern
        self.table = table
        self.at = 0

    def rest(self) -> str:
        """The pattern from here on."""
        return self.pattern[self.at :]

    def done(self) -> bool:
        """Whether the pattern ends here."""
        return self.at >= len(self.pattern)

    def sees(self, text: str) -> bool:
        """Whether `text` stands here."""
        return self.pattern.startswith(text, self.at)

    def accepts(self, text: str) -> bool:
        """Whether `text` stands here; steps over it if so."""
        if not self.sees(text):
            return False
        self.at += len(text)
        return True

    def take(self) -> str:
        """The next character, stepped over."""
        if self.done():
            self.fail("it ends too early", self.at)
        self.at += 1
        return self.pattern[self.at - 1]

    def take_until(self, end: str, start: int) -> str:
        """The text before `end`, both stepped over; `start` is where an error points."""
        stop = self.pattern.find(end, self.at)
        if stop < 0:
            self.fail(f"{self.pattern[start : start + 3]!r} is not closed with {end!r}", start)
        text, self.at = self.pattern[self.at : stop], stop + len(end)
        return text

    def fail(self, what: str, offset: int) -> NoReturn:
        """Raise `PatternError`: what is wrong, at which character of the pattern."""
        raise PatternError(f"split pattern {self.pattern!r}, offset {offset}: {what}")

    def escaped_char(self, letter: str, start: int) -> str | None:
        """After a backslash and `letter`: the character meant, or `None` where it means something else.

        `letter` has been stepped over; `start` is the offset of the backslash.
        """
        if letter in SIMPLE_ESCAPES:
            return SIMPLE_ESCAPES[letter]
        if letter in HEX_DIGITS:
            return self._hex(HEX_DIGITS[letter], start)
        if letter.isascii() and letter.isalnum():
            return None
        return letter

    def _hex(self, count: int, start: int) -> str:
        """`41`, `{1F600}`: the digits of a code point, after `\\x`, `\\u`, `\\U`."""
        braced = self.accepts("{")
        if braced:
            digits = self.take_until("}", start)
        else:
            digits = self.pattern[self.at : self.at + count]
            self.at += count
        valid = digits and len(digits) <= 8 and all(d in "0123456789abcdefABCDEF" for d in digits)
        if not valid or (not braced and len(digits) != count):
            self.fail(f"{self.pattern[start : self.at]!r} is not a hexadecimal escape", start)
        point = int(digits, 16)
        if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
            self.fail(f"U+{point:04X} is not a character", start)
        return chr(point)

    def escaped_class(
        self, letter: str, start: int, caseless: bool, bracketed: bool = False
    ) -> tuple[Ranges, str | None] | None:
        r"""After a backslash and `letter`: the class meant (`\s`, `\P{Lu}`) and how Oniguruma writes it.

        `None` where it is no class; text `None` where Oniguruma has no name that means the same.
        bracketed: in a class, where Oniguruma's `\w` lacks `²³¹¼½¾`, which it has outside of brackets.
        """
        if letter in "sSdDwW":
            members = ranges(self.table, "\\" + letter.lower())
            if bracketed and letter in "wW":
                members = intersection(members, ranges("tiktoken", r"\w"))
            text = None if letter in "wW" else "\\" + letter
            return (complement(members) if letter.isupper() else members), text
        if letter in "hH":
            members = ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66))
            return (complement(members) if letter == "H" else members), None
        if letter not in "pP":
            return None
        name = self.take_until("}", start) if self.accepts("{") else self.take()
        negated = (letter == "P") != name.startswith("^")
        name = name.removeprefix("^")
        try:
            members = ranges(self.table, name)
        except PatternError as error:
            self.fail(str(error), start)
        text = f"\\{'P' if negated else 'p'}{{{name}}}" if name in _shared_names() else None
        if caseless:
            members, text = fold(members), None
        return (complement(members) if negated else members), text


def _shared_names() -> set[str]:
    """Class names that mean the same in tiktoken and Oniguruma: all that the tables file lists."""
    listed = class_names()
    return {*listed["category"], *listed["script"], *listed["property"], *"LMNPSZC"}
