r"""The syntax of split patterns (Rust's fancy-regex, tiktoken's language) -> a tree of nodes.

    pattern   choice of sequences of quantified atoms
    atom      character | `.` | class | escape | anchor | group | look-around | back-reference
    group     `(...)` `(?:...)` `(?i:...)` `(?>...)` `(?<name>...)`, flags `i`, `m`, `s`, `x`
    repeat    `?` `*` `+` `{n}` `{n,}` `{n,m}` `{,m}`, then `?` for lazy or `+` for possessive

With `x`, spaces, tabs and line ends, and what follows `#` on a line, stand between atoms and in a repeat for
nothing; in a class they are characters (so fancy-regex has it).

Leaves out, with an error that names it: conditionals, subroutines, absent operators, verbs, `\K`, `\G`,
`\X`, `\<`, `\b{...}`, flags `U`, `R`, back-references without case, a repeat of what can be
empty (engines differ in when they stop) and flags set in the middle of a group (fancy-regex lets them leak
out of it, others do not).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from syllabary.reference.pattern_class import char_text, read_class
from syllabary.reference.pattern_cursor import Cursor
from syllabary.reference.pattern_nodes import (
    Anchor,
    Atomic,
    BackReference,
    Chars,
    Choice,
    Group,
    Look,
    LookAround,
    Mode,
    Node,
    Place,
    Repeat,
    Sequence,
    can_be_empty,
)
from syllabary.spec import Tables
from syllabary.unicode import SCALARS, complement, fold, single, union

LOOKS: tuple[Look, ...] = ("(?=", "(?!", "(?<=", "(?<!")
ANCHORS: dict[str, Place] = {
    "A": "text start", "z": "text end", "Z": "last line", "b": "word boundary", "B": "no word boundary"
}  # fmt: skip
REFUSED = {
    "(?(": "a conditional", "(?P>": "a subroutine call", "(?P=": "a back-reference in Python's spelling",
    "(?~": "an absent operator", "(*": "a backtracking verb",
}  # fmt: skip
QUANTIFIER = re.compile(r"[?*+]|\{(?:[0-9]+(?:,[0-9]*)?|,[0-9]*)\}")
SPACE = r"[ \t\r\n]*"
SPACED = re.compile(rf"[?*+]|\{{{SPACE}(?:[0-9]+{SPACE}(?:,{SPACE}[0-9]*)?|,{SPACE}[0-9]*){SPACE}\}}")
IGNORED = re.compile(r"(?:[ \t\r\n]|#[^\n]*(?:\n|\Z))+")  # with the flag `x`
LINE_ENDS = union(*map(single, "\n\v\f\r\x85\u2028\u2029"))
LIMIT = 1000  # of a counted repeat: beyond it compiled patterns grow out of hand
LONGEST_NUMBER = 9  # digits; Python itself refuses to read thousands


@dataclass(frozen=True)
class Flags:
    """What `(?imsx)` switches: caseless, `^` and `$` at every line, `.` matches newlines, room for notes."""

    i: bool = False
    m: bool = False
    s: bool = False
    x: bool = False


class Parser(Cursor):
    """Reads one pattern; `parse` is the way in."""

    def __init__(self, pattern: str, table: Tables) -> None:
        super().__init__(pattern, table)
        self.flags = Flags()
        self.depth = 0
        self.names: dict[str, int] = {}
        self.groups = 0
        self.references: list[tuple[int, int]] = []

    def parse(self) -> Node:
        """The whole pattern."""
        node = self.choice()
        if not self.done():
            self.fail("')' closes nothing", self.at)
        for number, offset in self.references:
            if number > self.groups:
                self.fail(f"there is no group {number} to refer to", offset)
        return node

    def choice(self) -> Node:
        """Sequences parted by `|`."""
        items = [self.sequence()]
        while self.accepts("|"):
            items.append(self.sequence())
        return items[0] if len(items) == 1 else Choice(tuple(items))

    def sequence(self) -> Node:
        """Quantified atoms up to `|`, `)` or the end."""
        items: list[Node] = []
        self.pass_over()
        while not (self.done() or self.sees("|") or self.sees(")")):
            start = self.at
            item = self.atom()
            if item is not None:
                items.append(self.quantified(item, start))
            self.pass_over()
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def pass_over(self) -> None:
        """What stands for nothing with the flag `x`."""
        if self.flags.x and (found := IGNORED.match(self.pattern, self.at)):
            self.at = found.end()

    def repeats(self) -> re.Match[str] | None:
        """The quantifier that stands here."""
        return (SPACED if self.flags.x else QUANTIFIER).match(self.pattern, self.at)

    def quantified(self, item: Node, start: int) -> Node:
        """The item with the quantifier that follows it, if one does."""
        self.pass_over()
        found = self.repeats()
        if found is None:
            return item
        low, high = self.bounds("".join(found.group().split()))
        self.at = found.end()
        self.pass_over()
        mode: Mode = "greedy"
        if self.accepts("?"):
            mode = "lazy"
            if self.sees("+"):
                self.fail("a repeat is lazy or possessive, not both", self.at)
        elif self.accepts("+"):
            mode = "possessive"
        if isinstance(item, (LookAround, Anchor)):
            self.fail(f"{found.group()!r} repeats a condition without width", start)
        if can_be_empty(item) and high != 1:
            self.fail(f"{found.group()!r} repeats what can match the empty string", start)
        self.pass_over()
        if self.repeats():
            self.fail("a quantifier follows a quantifier; write (?:...) around the first", self.at)
        return Repeat(item, low, high, mode)

    def bounds(self, quantifier: str) -> tuple[int, int | None]:
        """`{2,3}` -> (2, 3); `*` -> (0, None)."""
        if quantifier in "?*+":
            return int(quantifier == "+"), 1 if quantifier == "?" else None
        first, comma, second = quantifier.strip("{}").partition(",")
        if max(len(first), len(second)) > LONGEST_NUMBER:
            self.fail(f"a repeat counts to {LIMIT} at most", self.at)
        low = int(first or "0")
        high = (int(second) if second else None) if comma else low
        if max(low, high or 0) > LIMIT:
            self.fail(f"a repeat counts to {LIMIT} at most", self.at)
        if high is not None and high < low:
            self.fail(f"{quantifier} counts down", self.at)
        return low, high

    def atom(self) -> Node | None:
        """The next atom; `None` for flags and comments, which match nothing."""
        start = self.at
        if self.sees("["):
            return read_class(self, self.flags.i)
        if self.sees("("):
            return self.group(start)
        if self.repeats():
            self.fail("a quantifier with nothing before it", start)
        char = self.take()
        if char == "\\":
            return self.escape(start)
        if char == ".":
            return Chars(SCALARS if self.flags.s else complement(single("\n")))
        if char == "^":
            return Anchor("line start" if self.flags.m else "text start")
        if char == "$":
            return Anchor("line end" if self.flags.m else "text end")
        return self.literal(char)

    def literal(self, char: str) -> Chars:
        """One character, with those that are equal to it where case does not count."""
        alone = single(char)
        members = fold(alone) if self.flags.i else alone
        return Chars(members, char_text(char) if members == alone else None)

    def escape(self, start: int) -> Node:
        """What a backslash opens; the backslash has been stepped over."""
        letter = self.take()
        if letter in "123456789":
            self.at -= 1
            found = re.compile("[0-9]+").match(self.pattern, self.at)
            digits = found.group() if found else letter
            self.at += len(digits)
            if len(digits) > LONGEST_NUMBER:
                self.fail("no group has so long a number", start)
            return self.reference(int(digits), start)
        if letter == "k":
            opened = self.take()
            name = self.take_until({"<": ">", "'": "'"}.get(opened, ">"), start)
            if name not in self.names:
                self.fail(f"there is no group named {name!r} before this", start)
            return self.reference(self.names[name], start)
        if letter in ANCHORS:
            if letter in "bB" and self.sees("{") and not QUANTIFIER.match(self.pattern, self.at):
                self.fail(rf"\{letter}{{...}} is not supported", start)
            return Anchor(ANCHORS[letter])
        if letter in "<>":
            self.fail(f"'\\{letter}' (a word's edge) is not supported; write \\b", start)
        if letter == "R":
            pair = Sequence((Chars(single("\r")), Chars(single("\n"))))
            return Atomic(Choice((pair, Chars(LINE_ENDS))))
        if letter in "NO":
            return Chars(SCALARS if letter == "O" else complement(single("\n")))
        members = self.escaped_class(letter, start, self.flags.i)
        if members is not None:
            return Chars(*members)
        char = self.escaped_char(letter, start)
        if char is None:
            self.fail(f"'\\{letter}' is not supported", start)
        return self.literal(char)

    def reference(self, number: int, start: int) -> Node:
        """A back-reference, checked at the end of the pattern."""
        if self.flags.i:
            self.fail("a back-reference without case is not supported", start)
        self.references.append((number, start))
        return BackReference(number)

    def group(self, start: int) -> Node | None:
        """Whatever opens with `(`."""
        if self.flags.x and re.compile(r"\([ \t\r\n]+[?*]").match(self.pattern, self.at):
            self.fail("white space between '(' and what it opens is not supported", start)
        for opening, what in REFUSED.items():
            if self.sees(opening):
                self.fail(f"{what} is not supported", start)
        if self.accepts("(?#"):
            self.take_until(")", start)
            return None
        for kind in LOOKS:
            if self.accepts(kind):
                return LookAround(self.inside(start), kind)
        if self.accepts("(?>"):
            return Atomic(self.inside(start))
        for opening, closing in (("(?P<", ">"), ("(?<", ">"), ("(?'", "'")):
            if self.accepts(opening):
                self.names[self.take_until(closing, start)] = self.groups + 1
                return self.captured(start)
        if self.accepts("(?"):
            return self.flagged(start)
        self.take()
        return self.captured(start)

    def captured(self, start: int) -> Node:
        """The inside of a captured group, numbered by its opening bracket."""
        self.groups += 1
        number = self.groups
        return Group(self.inside(start), number)

    def inside(self, start: int) -> Node:
        """The inside of a group and its `)`."""
        self.depth += 1
        if self.depth > 100:
            self.fail("groups are nested more than 100 deep", start)
        node = self.choice()
        if not self.accepts(")"):
            self.fail("'(' is not closed with ')'", start)
        self.depth -= 1
        return node

    def flagged(self, start: int) -> Node | None:
        """`(?i:...)`, or `(?i)` outside all groups: from there on."""
        found = re.compile(r"([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])").match(self.pattern, self.at)
        if found is None:
            self.fail(f"{self.pattern[start : start + 4]!r} is not supported", start)
        self.at = found.end()
        before = self.flags
        on, off, end = found.group(1), found.group(2) or "", found.group(3)
        for letter in on + off:
            if letter not in "imsx" and not (letter == "u" and letter not in off):
                self.fail(f"flag {letter!r} is not supported", start)
        switched = {letter: letter in on for letter in on + off if letter != "u"}
        self.flags = Flags(**{**vars(before), **switched})
        if end == ":":
            node = self.inside(start)
            self.flags = before
            return node
        if self.depth or not on + off:
            self.fail("flags in the middle of a group are not supported; write (?i:...)", start)
        return None
