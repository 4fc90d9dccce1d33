"""The models that are not byte-pair encoding: what they have in common, and the table of them.

Adds `PieceModel`, which makes tokens of a piece, `model_of`, which finds it, and `Modelled`, a piece on its
way. Leaves out: the models (`wordpiece`, `unigram`, `wordlevel`), each in a file of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from syllabary.errors import VocabularyError
from syllabary.reference.aligned import Span
from syllabary.reference.dropout import Coins
from syllabary.reference.groups import State, Token
from syllabary.reference.unigram import Unigram
from syllabary.reference.unigram_paths import draw, entropy, lattice, nbest
from syllabary.reference.wordlevel import WordLevel
from syllabary.reference.wordpiece import WordPiece
from syllabary.spec import TokenizerSpec


class Part(NamedTuple):
    """A token of a piece: its id, and from which character of the piece to before which it goes.

    id: `None` where there is no token, and no unknown one.
    """

    id: int | None
    start: int
    end: int


class PieceModel(Protocol):
    """How a piece becomes tokens."""

    def states(self, piece: str) -> Iterator[list[tuple[int | None, int, int]]]:
        """Every state from the whole piece to its tokens, each a list of `Part`s that cover the piece."""
        ...


def model_of(spec: TokenizerSpec) -> PieceModel | None:
    """The model of a tokenizer; `None` for byte-pair encoding."""
    if spec.model == "bpe":
        return None
    if spec.model == "wordlevel":
        return WordLevel(spec)
    if spec.model == "wordpiece":
        return WordPiece(spec)
    if spec.model == "unigram":
        return Unigram(spec)
    raise VocabularyError(f"model={spec.model!r} is not there yet")


@dataclass(frozen=True, slots=True)
class Modelled:
    """A piece that a model makes tokens of.

    places: the bytes of the original of each of its characters.
    unknown: where what has no token is noted, with the byte where it starts.
    """

    piece: str
    places: list[Span]
    model: PieceModel
    unknown: list[tuple[bytes, int]]

    def states(self) -> Iterator[State]:
        """Every state of the model, as tokens; what has none is left out, and noted once."""
        parts: list[tuple[int | None, int, int]] = []
        for parts in self.model.states(self.piece):
            yield self.found(parts)
        self.note(parts)

    def tokens(self, coins: Coins | None = None) -> State:
        """The last of the states."""
        if not isinstance(self.model, Unigram):
            return list(self.states())[-1]
        parts = self.model.parts(self.piece)
        self.note(parts)
        return self.found(parts)

    def behind(self, lead: int, before: float) -> tuple[State, float]:
        """The tokens behind `lead` characters, `before` being the sum of what stands there; that of all."""
        if not isinstance(self.model, Unigram):
            return self.tokens(), 0.0
        rows, total = self.model.behind(self.piece[lead:], before)
        parts = [(token_id, lead + start, lead + end) for token_id, start, end in rows]
        self.note(parts)
        return self.found(parts), total

    def nbest(self, count: int) -> list[tuple[list[int], float]]:
        """The best `count` ways to cut the piece, ids and score of each; its one way if it has no scores."""
        if not isinstance(self.model, Unigram):
            return [([token.id for token in self.tokens()], 0.0)]
        ways = nbest(self.model, self.piece, count)
        return [(self.ids(self.model.spelled(self.piece, path)), score) for path, score in ways]

    def drawn(self, alpha: float, coins: Coins) -> list[int]:
        """The ids of a way drawn at random."""
        if not isinstance(self.model, Unigram):
            return [token.id for token in self.tokens()]
        return self.ids(self.model.spelled(self.piece, draw(self.model, self.piece, alpha, coins)))

    def entropy(self, alpha: float) -> float:
        """That of its ways, in nats; what some way cannot spell is noted."""
        if not isinstance(self.model, Unigram):
            return 0.0
        for edge in (edge for ending in lattice(self.model, self.piece) for edge in ending):
            if edge.id is None:
                self.ids(self.model.spelled(self.piece, [edge]))
        return entropy(self.model, self.piece, alpha)

    def ids(self, parts: list[tuple[int | None, int, int]]) -> list[int]:
        """The ids of the parts; those without one are noted."""
        self.note(parts)
        return [token_id for token_id, _start, _end in parts if token_id is not None]

    def found(self, parts: list[tuple[int | None, int, int]]) -> State:
        """The parts that are tokens; one of no width is where it begins."""
        return [
            Token(token_id, self.places[start:end] or [(self.places[start][0],) * 2])
            for token_id, start, end in parts
            if token_id is not None
        ]

    def note(self, parts: list[tuple[int | None, int, int]]) -> None:
        """Adds the parts without a token to `unknown`."""
        lost = [(start, end) for token_id, start, end in parts if token_id is None]
        self.unknown.extend((self.piece[start:end].encode(), self.places[start][0]) for start, end in lost)
