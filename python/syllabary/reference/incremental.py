"""Decoding by steps, bit by bit: what the tokens so far make certain is given at once.

Adds `Stream`, a chain of small machines, one a step; each is fed strings and gives those that no later one
can change. A step that must see everything (a pattern across what has become one string, a map of characters
over the whole text) holds it back to the end. Leaves out: what the steps do (`step_decoders`).
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence

from syllabary.reference.bytes_to_unicode import CHARACTER_TO_BYTE
from syllabary.reference.normalize_sentencepiece import SPACE
from syllabary.reference.step_decoders import BYTE, DECODERS, TokenClass, class_of, sentencepiece_text
from syllabary.spec import Step

# Strings, and whether they are the last -> strings.
Machine = Callable[[list[str], bool], list[str]]
JOINING = ("Fuse", "Join", "ByteLevel", "SentencePiece")  # what they give is one string


class Stream:
    """The steps of a decoder on tokens that arrive one after another."""

    def __init__(self, steps: Sequence[Step]) -> None:
        """At the beginning of a text."""
        self.machines: list[Machine] = []
        self.kinds: list[TokenClass] = []  # of the tokens that are fed
        joined = False  # whether a step is fed one string, in parts
        for at, step in enumerate(steps):
            if joined:
                self.machines.append(on_parts(step))
            elif step.kind == "SentencePiece":
                self.machines.append(Pieces(step, self.kinds if at == 0 else None).feed)
            else:
                self.machines.append(on_tokens(step))
            joined = joined or step.kind in JOINING

    def feed(self, tokens: Sequence[str], kinds: Sequence[TokenClass], final: bool) -> str:
        """Tokens, with what sentencepiece must know of each -> the text that is certain now.

        >>> metaspace = {"replacement": "_", "prepend_scheme": "always", "split": True}
        >>> stream = Stream([Step("Metaspace", metaspace)])
        >>> [stream.feed([token], ["normal"], final=False) for token in ("_to", "_be")]
        ['to', ' be']
        """
        strings = list(tokens)
        self.kinds[:] = kinds
        for machine in self.machines:
            strings = machine(strings, final)
        return "".join(strings)


def on_tokens(step: Step) -> Machine:
    """What runs a step that is fed tokens, each a string of its own."""
    decode, options = DECODERS[step.kind], step.options

    def each(strings: list[str], final: bool) -> list[str]:
        return decode(strings, options) if strings else []

    if step.kind in ("Metaspace", "WordPiece", "CTC"):
        return After(step).feed
    if step.kind == "Join":
        return Joined(str(options["separator"])).feed
    if step.kind == "BPEDecoder":
        return ButLast(step).feed
    if step.kind == "ByteFallback":
        return BytesInARow(step).feed
    if step.kind == "ByteLevel":
        return Bytes(step).feed
    if step.kind == "Fuse":
        return lambda strings, final: strings
    return each  # Replace, Strip: no token has a say in what becomes of another


def on_parts(step: Step) -> Machine:
    """What runs a step that is fed one string in parts."""
    decode, options = DECODERS[step.kind], step.options
    if step.kind in ("Fuse", "Join") or (step.kind == "WordPiece" and not options["cleanup"]):
        return lambda strings, final: strings
    if step.kind == "Strip":
        return Ends(step).feed
    one_character = (
        step.kind == "Metaspace"
        or (step.kind == "Replace" and not options["regex"] and len(str(options["pattern"])) == 1)
        or (step.kind == "BPEDecoder" and len(str(options["suffix"])) == 1)
    )
    if one_character:
        return lambda strings, final: decode(["".join(strings)], options)
    return Whole(step).feed


class After:
    """A step that treats the first token in its own way, or one by the token before it."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.before: list[str] = []  # the last token so far

    def feed(self, strings: list[str], final: bool) -> list[str]:
        """See `Machine`."""
        decode, options = DECODERS[self.step.kind], self.step.options
        known = len(decode(self.before, options))
        found = decode([*self.before, *strings], options)[known:]
        self.before = [*self.before, *strings][-1:]
        return found


class ButLast:
    """A step that treats the last token in its own way."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.held: list[str] = []

    def feed(self, strings: list[str], final: bool) -> list[str]:
        """See `Machine`."""
        tokens = [*self.held, *strings]
        found = DECODERS[self.step.kind](tokens, self.step.options) if tokens else []
        self.held = [] if final else tokens[-1:]
        return found if final else found[:-1]


class Joined:
    """Tokens with a separator between them."""

    def __init__(self, separator: str) -> None:
        self.separator = separator
        self.begun = False

    def feed(self, strings: list[str], final: bool) -> list[str]:
        """See `Machine`."""
        found = [text for string in strings for text in (self.separator, string)]
        if strings and not self.begun:
            self.begun = True
            return found[1:]
        return found


class BytesInARow:
    """Bytes are held until their row ends: only then is it certain that they are UTF-8."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.held: list[str] = []

    def feed(self, strings: list[str], final: bool) -> list[str]:
        """See `Machine`."""
        found: list[str] = []
        for string in strings:
            if BYTE.fullmatch(string):
                self.held.append(string)
            else:
                found += [*self.release(), string]
        return found + self.release() if final else found

    def release(self) -> list[str]:
        """The text of the bytes held."""
        held, self.held = self.held, []
        return DECODERS[self.step.kind](held, self.step.options) if held else []


class Bytes:
    """GPT-2's bytes: the first of a character are held until the others come."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.utf8 = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, strings: list[str], final: bool) -> list[str]:
        """See `Machine`."""
        return [self.utf8.decode(b"".join(map(unspelled, strings)), final)]


class Ends:
    """A character stripped from the ends of one string: as many as may be stripped at the end are held."""

    def __init__(self, step: Step) -> None:
        self.content = str(step.options["content"])
        self.front = number(step.options["start"])
        self.back = number(step.options["stop"])
        self.held = 0  # how many of the character

    def feed(self, strings: list[str], final: bool) -> list[str]:
        """See `Machine`."""
        text = "".join(strings)
        stripped = min(self.front, len(text) - len(text.lstrip(self.content)))
        self.front -= stripped
        if len(text) > stripped:
            self.front = 0
        body = text[stripped:].rstrip(self.content)
        at_end = len(text) - stripped - len(body)
        given = ""
        if body:
            given = self.content * self.held + body
            self.held = 0
        kept = min(self.back, self.held + at_end)
        given += self.content * (self.held + at_end - kept)
        self.held = 0 if final else kept
        return [given]


class Whole:
    """A step that must see all of one string: it is held to the end."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.held: list[str] = []

    def feed(self, strings: list[str], final: bool) -> list[str]:
        """See `Machine`."""
        self.held += strings
        return DECODERS[self.step.kind](["".join(self.held)], self.step.options) if final else []


class Pieces:
    """sentencepiece's pieces: bytes are held until their row ends, all where a map of characters follows.

    lead: what stands for the tokens that are done: none, one space that is gone already, or some text.
    """

    def __init__(self, step: Step, kinds: list[TokenClass] | None) -> None:
        self.options = step.options
        self.kinds = kinds  # those of the strings that are fed, or None where a byte is known by its spelling
        self.held: list[tuple[str, TokenClass]] = []
        self.lead: list[str] = []

    def feed(self, strings: list[str], final: bool) -> list[str]:
        """See `Machine`."""
        kinds = self.kinds if self.kinds is not None else [class_of(string) for string in strings]
        self.held += zip(strings, kinds, strict=True)
        if not final and (
            self.options["denormalizer_charsmap"] or not self.held or self.held[-1][1] == "byte"
        ):
            return []
        held, self.held = self.held, []
        return [self.text(held)] if held else []

    def text(self, pieces: list[tuple[str, TokenClass]]) -> str:
        """The text of pieces after those that are done."""
        tokens = [*self.lead, *(token for token, _kind in pieces)]
        kinds: list[TokenClass] = ["normal"] * len(self.lead)
        kinds += [kind for _token, kind in pieces]
        found = sentencepiece_text(tokens, kinds, self.options)
        done = 1 if self.lead == ["a"] else 0
        if found:
            self.lead = ["a"]
        elif (
            self.options["add_dummy_prefix"]
            and not self.options["remove_extra_whitespaces"]
            and sentencepiece_text([*tokens, SPACE], [*kinds, "normal"], self.options)
        ):
            self.lead = [SPACE]  # one is gone, for one more would stay
        return found[done:]


def unspelled(token: str) -> bytes:
    """The bytes that a token spells in GPT-2's characters, or those of the token if one spells none."""
    known = [CHARACTER_TO_BYTE.get(character) for character in token]
    return token.encode() if None in known else bytes(byte for byte in known if byte is not None)


def number(option: object) -> int:
    """An option that has been checked to be one."""
    assert isinstance(option, int)
    return option
