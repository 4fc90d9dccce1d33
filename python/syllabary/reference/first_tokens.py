"""A piece as tokens before the first merge: its symbols with their marks, and where each stands in the text.

Adds `Source`, the text in which places are bytes, and `FirstTokens`, which finds the token of each symbol,
and spells one outside the alphabet with smaller ones. Leaves out: what a symbol is (`symbols`), and what
comes before (`pipeline`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from syllabary.reference import symbols
from syllabary.reference.aligned import Aligned, Span
from syllabary.reference.groups import State, Token
from syllabary.reference.unknown import Unknown
from syllabary.spec import TokenizerSpec


@dataclass(frozen=True, slots=True)
class Symbol:
    """An initial symbol of a piece.

    text: its bytes, marks and all. place: the bytes of the original that it stands for. characters, places:
    what fallback spells, and where each is. before, after: the marks that it bears.
    """

    text: bytes
    characters: str
    places: list[Span]
    place: Span
    before: str = ""
    after: str = ""


class Source:
    """The original text, where places become bytes.

    exact: the bytes of a character have a place each; else (a step has been at it) all have the character's.
    """

    def __init__(self, text: str, exact: bool) -> None:
        """`TextError` for a lone surrogate."""
        self.data = symbols.utf8(text)
        self.starts = [0, *accumulate(len(character.encode()) for character in text)]
        self.exact = exact

    def place(self, span: Span) -> Span:
        """Characters `start` to `end` as bytes."""
        return self.starts[span[0]], self.starts[span[1]]

    def places(self, spans: list[Span]) -> list[Span]:
        """The same for each."""
        return [self.place(span) for span in spans]

    def each_byte(self, width: int, place: Span) -> list[Span]:
        """Where each byte of a character of `width` bytes is, which itself is at `place`."""
        if self.exact and place[1] - place[0] == width:
            return [(at, at + 1) for at in range(*place)]
        return [place] * width


class FirstTokens:
    """A tokenizer's alphabet, by which pieces become tokens. byte_ids: byte -> the token that spells it."""

    def __init__(self, spec: TokenizerSpec) -> None:
        """Look up the tokens of single bytes."""
        self.spec = spec
        self.byte_ids = {value: token_id for token_id, value in spec.byte_tokens.items()}
        for symbol, token_id in spec.alphabet.items():
            if len(symbol) == 1:
                self.byte_ids.setdefault(symbol[0], token_id)

    def symbols(self, piece: Aligned, source: Source, unknown: Unknown) -> State:
        """A piece as tokens of the alphabet; symbols that have none are added to `unknown`."""
        tokens: State = []
        row = False  # whether the last token is an unknown symbol
        for symbol in self.decorated(piece, source):
            found = self.known(symbol, source)
            lost = not found
            if lost and self.spec.unknown is not None:
                found = [Token(self.spec.unknown, [symbol.place])]
            elif lost:
                unknown.append((symbol.text, symbol.place[0]))
            if found and lost and row and self.spec.fuse_unknown:
                tokens[-1] = Token(tokens[-1].id, tokens[-1].spans + found[0].spans)
            else:
                tokens += found
            row = lost
        return tokens

    def decorated(self, piece: Aligned, source: Source) -> Iterator[Symbol]:
        """The initial symbols of a piece, with their marks."""
        spec, places = self.spec, source.places(piece.spans)
        prefix, mark = spec.continuing_prefix or "", spec.end_of_word or ""
        suffix = "" if spec.mark_apart else mark
        if spec.unit == "word":
            yield Symbol(piece.text.encode(), piece.text, places, (places[0][0], places[-1][1]))
            return
        last = len(piece) - 1
        for index, (character, place) in enumerate(zip(piece.text, places, strict=True)):
            after = suffix if index == last else ""
            data = character.encode()
            if spec.unit == "char":
                before = prefix if index else ""
                marked = before.encode() + data + after.encode()
                yield Symbol(marked, character, [place], place, before, after)
            else:
                for number, each in enumerate(source.each_byte(len(data), place), 1):
                    mark_here = after.encode() if number == len(data) else b""
                    yield Symbol(data[number - 1 : number] + mark_here, "", [], each)
        if spec.mark_apart:
            yield Symbol(mark.encode(), "", [], (places[-1][1],) * 2)

    def known(self, symbol: Symbol, source: Source) -> State:
        """A symbol as tokens: itself, or spelled with smaller ones; none if one of them is missing."""
        spec = self.spec
        if symbol.text in spec.alphabet:
            return [Token(spec.alphabet[symbol.text], [symbol.place])]
        if not spec.fallback:
            return []
        start, end = symbol.place
        # Where bytes are spelled <0x0A>, the marks are spelled with them too, as Hugging Face's library does.
        foreign = bool(spec.byte_tokens)
        spelled = self.bytes_of(symbol.before.encode() if foreign else b"", (start, start), source)
        for character, place in zip(symbol.characters, symbol.places, strict=True):
            data = character.encode()
            if spec.unit == "word" and data in spec.alphabet:
                spelled.append((spec.alphabet[data], place))
            else:
                spelled += self.bytes_of(data, place, source)
        if foreign or not symbol.after:
            spelled += self.bytes_of(symbol.after.encode(), (end, end), source)
        else:
            spelled.append((spec.alphabet.get(symbol.after.encode()), (end, end)))
        return complete(spelled)

    def bytes_of(self, data: bytes, place: Span, source: Source) -> list[tuple[int | None, Span]]:
        """The bytes of what stands at `place`, each as the token that spells it, or `None`."""
        places = source.each_byte(len(data), place)
        if self.spec.surface_offsets and data:
            places = [*[(place[0], place[0])] * (len(data) - 1), place]
        return list(zip(map(self.byte_ids.get, data), places, strict=True))

    def in_bytes(self, text: bytes, spans: list[Span], source: Source) -> State:
        """Text that is no piece, by its bytes, or as one unknown token; none if there is neither."""
        found: State = []
        if self.spec.fallback and self.spec.surface_offsets:
            found = complete(self.bytes_of(text, (spans[0][0], spans[-1][1]), source))
        elif self.spec.fallback:
            characters = zip(text.decode(), spans, strict=True)
            found = complete(
                [one for pair in characters for one in self.bytes_of(pair[0].encode(), pair[1], source)]
            )
        if not found and self.spec.unknown is not None:
            found = [Token(self.spec.unknown, spans)]
        return found


def complete(spelled: list[tuple[int | None, Span]]) -> State:
    """Tokens, if all of them have an id; else none."""
    tokens = [Token(token_id, [place]) for token_id, place in spelled if token_id is not None]
    return tokens if len(tokens) == len(spelled) else []
