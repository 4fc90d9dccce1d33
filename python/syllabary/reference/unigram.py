"""The model "unigram": of all ways to cut a piece into tokens, the most probable one (Kudo 2018).

Every token has a score, the logarithm of its probability; a way to cut has the sum of its tokens' scores. The
tokens that a piece may be cut into are the edges of a lattice, whose nodes are the places between characters;
Viterbi's algorithm walks it once from left to right and keeps the best way to each place. Sums are rounded,
so which of two nearly equal ways wins depends on how they are added: that is a part of the definition.

Adds the lattice, its best path, and what becomes of unknown characters. Leaves out: the next best paths and
drawing one at random (`unigram_paths`), how scores are learned.
Source: sentencepiece 0.2.3, `src/unigram_model.cc` (`EncodeOptimized`); tokenizers 0.23.3,
`models/unigram/model.rs` (`encode_optimized`, `tokenize`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from syllabary.reference.symbols import byte_name
from syllabary.spec import Matching, TokenizerSpec

FARTHEST = 100_000.0  # a larger sum of 32 bits is too coarse (found by trying sentencepiece 0.2.3)
PENALTY = 10.0  # an unknown character's score is so much below the lowest
BONUS = 0.1  # of a token that the normalizer leaves alone, for each byte but one
LARGEST = (2 - 2.0**-23) * 2.0**127  # of 32 bits: the lowest score of no tokens, as sentencepiece has it

Row = tuple[int | None, int, int]  # as `models.Part`: an id, and the characters from where to before where


def single(number: float) -> float:
    """A number as 32 bits hold it.

    >>> single(0.1), single(1e39)
    (0.10000000149011612, inf)
    """
    return array("f", (number,))[0]


@dataclass(frozen=True, slots=True)
class Edge:
    """A token at a place of the piece: characters `start` to `end`; no `id` for an unknown character."""

    start: int
    end: int
    id: int | None
    score: float


@dataclass(frozen=True, slots=True)
class Entry:
    """A text that tokens are found by: the id, and the score that it counts with."""

    id: int
    score: float


class Unigram:
    """The lattice of a tokenizer and its best path.

    >>> from syllabary.spec import SplitSpec
    >>> tokens = {0: b"a", 1: b"b", 2: b"ab", 3: b"ba"}
    >>> fields = ("char", SplitSpec(None), tokens, {}, None)
    >>> scores = {0: -2.0, 1: -2.0, 2: -3.0, 3: -3.5}
    >>> model = Unigram(TokenizerSpec(*fields, {"<unk>": 4}, model="unigram", scores=scores, unknown=4))
    >>> model.parts("abax")
    [(2, 0, 2), (0, 2, 3), (4, 3, 4)]
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        """Of tokens with a score, and those that the normalizer leaves alone (`stage="frozen"`).

        The score of these is found by trying sentencepiece 0.2.3; its source of 0.2.1 has another one. Unused
        tokens are not found; where the lowest score is looked for, Hugging Face's library counts theirs too.
        """
        self.spec = spec
        scores = spec.scores or {}
        idle = spec.unused if spec.single_precision else ()
        counted = [score for token_id, score in scores.items() if token_id not in idle]
        self.round = single if spec.single_precision else float
        highest = LARGEST if spec.single_precision else float("inf")
        self.unknown_score = self.round(min(counted, default=highest) - PENALTY)
        self.byte_ids = {value: token_id for token_id, value in spec.byte_tokens.items()}
        self.entries = {
            name: Entry(token_id, scores[token_id])
            for token_id, name in names(spec).items()
            if token_id in scores and token_id not in spec.unused
        }
        self.search_scores: dict[int, float] = {}  # where the search for the n best has others
        for text, token_id in spec.added_tokens.items():
            if spec.matching.get(text, Matching()).stage == "frozen":
                self.entries[text] = Entry(token_id, self.round((len(text.encode()) - 1) * BONUS))
                self.search_scores[token_id] = self.round((len(text) - 1) * BONUS)
        self.longest = max(map(len, self.entries), default=0)

    # ---- the lattice ----

    def edges(self, piece: str, start: int) -> list[Edge]:
        """The tokens that begin at a place, the shortest first; then its character as an unknown one."""
        found = [
            Edge(start, end, entry.id, entry.score)
            for end in range(start + 1, min(start + self.longest, len(piece)) + 1)
            if (entry := self.entries.get(piece[start:end])) is not None
        ]
        if not found or found[0].end > start + 1:
            found.append(Edge(start, start + 1, None, self.unknown_score))
        return found

    def best(self, piece: str, before: float = 0.0) -> tuple[list[Edge | None], float]:
        """For each place the last token of the best way to it; and the sum of the way to the end.

        Of equally good ways it is the first found.
        before: the sum of what stands before the piece, where that is cut off (`cuts`).
        In single precision sums are counted anew from a place where they have become too coarse.
        """
        last: list[Edge | None] = [None] * (len(piece) + 1)
        sums = [before] + [0.0] * len(piece)
        for start in range(len(piece)):
            if self.spec.single_precision and abs(sums[start]) > FARTHEST:
                sums[start:] = [self.round(total - sums[start]) for total in sums[start:]]
            for edge in self.edges(piece, start):
                total = self.round(edge.score + sums[start])
                if last[edge.end] is None or total > sums[edge.end]:
                    sums[edge.end] = total
                    last[edge.end] = edge
        return last, sums[-1]

    # ---- tokens ----

    def parts(self, piece: str) -> list[Row]:
        """The tokens of the best path."""
        return self.behind(piece, 0.0)[0]

    def behind(self, piece: str, before: float) -> tuple[list[Row], float]:
        """The same of a piece before which stands what has this sum; the sum of all."""
        last, total = self.best(piece, before)
        return self.spelled(piece, path_to(last, len(piece))), total

    def states(self, piece: str) -> Iterator[list[Row]]:
        """The characters one by one; then for each place the best path to it, and the rest as it was."""
        last, _total = self.best(piece)
        alone = [self.alone(piece, place) for place in range(len(piece))]
        before: list[Row] | None = None
        for place in range(len(piece) + 1):
            state = self.spelled(piece, [*path_to(last, place), *alone[place:]])
            if state != before:
                yield state
            before = state

    def alone(self, piece: str, place: int) -> Edge:
        """A character by itself."""
        entry = self.entries.get(piece[place])
        if entry is None:
            return Edge(place, place + 1, None, self.unknown_score)
        return Edge(place, place + 1, entry.id, entry.score)

    def spelled(self, piece: str, path: Sequence[Edge]) -> list[Row]:
        """A path as tokens; unknown characters in a row are one text (`unknown_text`)."""
        rows: list[Row] = []
        start: int | None = None  # of the unknown text
        for edge in path:
            if edge.id is None or edge.id == self.spec.unknown:
                start = edge.start if start is None else start
                continue
            if start is not None:
                rows += self.unknown_text(piece, start, edge.start)
                start = None
            rows.append((edge.id, edge.start, edge.end))
        if start is not None:
            rows += self.unknown_text(piece, start, path[-1].end)
        return rows

    def unknown_text(self, piece: str, start: int, end: int) -> list[Row]:
        """Unknown text: by its bytes, if each has a token; else the unknown token.

        Hugging Face's library looks the whole of it up once more, and gives each byte its whole place.
        """
        spec = self.spec
        entry = None if spec.single_precision else self.entries.get(piece[start:end])
        if entry is not None:
            return [(entry.id, start, end)]
        if spec.fallback and spec.surface_offsets:
            spelled = [row for place in range(start, end) for row in self.surface_bytes(piece, place)]
        else:
            spelled = [(self.byte_ids.get(byte), start, end) for byte in piece[start:end].encode()]
        if spec.fallback and all(token_id is not None for token_id, _start, _end in spelled):
            return spelled
        if spec.fuse_unknown:
            return [(spec.unknown, start, end)]
        return [(spec.unknown, place, place + 1) for place in range(start, end)]

    def surface_bytes(self, piece: str, place: int) -> list[Row]:
        """The bytes of a character, of which the last has its place."""
        *others, last = piece[place].encode()
        return [(self.byte_ids.get(byte), place, place) for byte in others] + [
            (self.byte_ids.get(last), place, place + 1)
        ]


def names(spec: TokenizerSpec) -> Mapping[int, str]:
    """How each token is written in text; one that stands for a byte as `<0x0A>`."""
    return {
        token_id: byte_name(spec.byte_tokens[token_id]) if token_id in spec.byte_tokens else token.decode()
        for token_id, token in spec.tokens.items()
    }


def path_to(last: Sequence[Edge | None], place: int) -> list[Edge]:
    """The way that ends at a place, of the last edges of the best ways."""
    path: list[Edge] = []
    while place and (edge := last[place]) is not None:
        path.append(edge)
        place = edge.start
    return path[::-1]
