"""Groups: the symbols within which merges join neighbours, and the tokens that merging makes of them.

Adds the three kinds: symbols merged by rank, a text merged by score, and a token that is there already.
Leaves out: where their symbols come from (`pipeline`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from syllabary.reference import dropout, merge
from syllabary.reference.aligned import Span
from syllabary.reference.dropout import Coins
from syllabary.reference.scores import Made, Scores


@dataclass(frozen=True, slots=True)
class Token:
    """A token in a text: its id, and the bytes of the original that each of its initial symbols stands for.

    A token that was not merged (a special one, a piece that is a token) has one for each of its characters.
    """

    id: int
    spans: list[Span]


State = list[Token]
# How text that is no piece is spelled: its bytes, and the span of each of its characters -> tokens, none if
# there is nothing to spell it with.
Speller = Callable[[bytes, list[Span]], State]


class Group(Protocol):
    """What merges may join."""

    def states(self) -> Iterator[State]:
        """Every state from single symbols to tokens, one merge a step."""
        ...

    def tokens(self, coins: Coins | None = None) -> State:
        """The tokens: the last of the states, or what merging with `coins` gives."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """A special or added token, and the text that it was found as, white space taken along and all."""

    token: Token
    text: str

    def states(self) -> Iterator[State]:
        """The one state that there is."""
        yield [self.token]

    def tokens(self, coins: Coins | None = None) -> State:
        """That state."""
        return [self.token]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A piece, or for the word unit the pieces of a run, merged by rank.

    whole: the token that it is at once, if it is one and nothing is passed over.
    """

    symbols: State
    rule: merge.Rule
    whole: Token | None = None

    def states(self) -> Iterator[State]:
        """Of a piece that is a token: its symbols, then it."""
        state = list(self.symbols)
        yield list(state)
        if self.whole is None:
            for at, result in merge.places([token.id for token in state], self.rule):
                join(state, at, result)
                yield list(state)
        elif [self.whole.id] != [token.id for token in state]:
            yield [self.whole]

    def tokens(self, coins: Coins | None = None) -> State:
        """With coins, a piece that is a token is merged as any other."""
        if self.whole is not None and coins is None:
            return [self.whole]
        state = list(self.symbols)
        ids = [token.id for token in state]
        for at, result in (
            merge.places(ids, self.rule) if coins is None else dropout.places(ids, self.rule, coins)
        ):
            join(state, at, result)
        return state


def join(state: State, at: int, result: int) -> None:
    """The tokens at `at` and after it become one."""
    state[at : at + 2] = [Token(result, state[at].spans + state[at + 1].spans)]


@dataclass(frozen=True, slots=True)
class Scored:
    """A normalized text, merged by score.

    symbols: its characters; `None` is a wall, or a token that is there already: `fixed` has it at its place.
    spans: the bytes of the original of each symbol. speller: for what is no piece.
    unknown: where text that cannot be spelled is noted, with the byte where it starts.
    fuse: unknown text in a row is one token, the id of which is the key.
    """

    symbols: list[bytes | None]
    spans: list[Span]
    fixed: Mapping[int, Token]
    scores: Scores
    speller: Speller
    unknown: list[tuple[bytes, int]]
    fuse: int | None

    def states(self) -> Iterator[State]:
        """Unused pieces are cut again in the last state, which is one more if that changes anything."""
        made: Made = {}
        ends = {place: place + 1 for place in range(len(self.symbols))}  # symbols -> where each ends
        state = self.resolve(ends, None)
        yield state
        for left, right in self.scores.places(self.symbols, made):
            ends[left] = ends.pop(right)
            state = self.resolve(ends, None)
            yield state
        final = self.resolve(ends, made)
        if [token.id for token in final] != [token.id for token in state]:
            yield final

    def tokens(self, coins: Coins | None = None) -> State:
        """The last state, without the others."""
        made: Made = {}
        ends = {place: place + 1 for place in range(len(self.symbols))}
        for left, right in self.scores.places(self.symbols, made, coins):
            ends[left] = ends.pop(right)
        return self.resolve(ends, made)

    def resolve(self, ends: Mapping[int, int], made: Made | None) -> State:
        """Symbols -> tokens. `made` is given at the end: unused pieces are cut, unknown text is noted."""
        tokens: State = []
        row = False  # whether the last token is unknown text
        for start, end in ends.items():
            if start in self.fixed:
                tokens.append(self.fixed[start])
                row = False
                continue
            if self.symbols[start] is None:  # a wall between two pieces
                continue
            text = b"".join(symbol or b"" for symbol in self.symbols[start:end])
            parts = [(text, self.scores.ids.get(text))] if made is None else self.scores.cut_again(text, made)
            at = start
            for part, token_id in parts:
                spans = self.spans[at : at + len(part.decode())]
                at += len(spans)
                spelled = [Token(token_id, spans)] if token_id is not None else self.speller(part, spans)
                if not spelled and made is not None:
                    self.unknown.append((part, spans[0][0]))
                lost = token_id is None and [token.id for token in spelled] == [self.fuse]
                if lost and row:
                    tokens[-1] = Token(tokens[-1].id, tokens[-1].spans + spans)
                else:
                    tokens += spelled
                row = lost
        return tokens
