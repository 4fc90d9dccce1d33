"""Cutting a long text into chunks of at most so many tokens, at good places: what retrieval needs.

Adds `Chunker`. A place is good where a paragraph ends, else a line, a sentence, a word, a character (a
grapheme cluster): the best kind that there is in the second half of what fits, and of these the last. Leaves
out: how many tokens a text has, which is given as a function.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from math import inf

import regex

from syllabary.errors import TextError, UnknownSymbolError
from syllabary.reference.symbols import plural
from syllabary.streaming.clusters import cluster_ends
from syllabary.streaming.incremental import FIRST, Count, placed

# Each matches up to the place. A sentence ends with its quotes and brackets, and the white space behind them;
# in scripts without spaces without it. A row of signs is begun once, not at each of them: it may be long.
SIGNS = r"[.!?…\u037e·।॥؟۔։።]"
LEVELS = {
    "paragraph": regex.compile(r"\n[^\S\n]*\n\s*"),
    "line": regex.compile(r"\r?\n|\r"),
    "sentence": regex.compile(rf"(?:\G|(?<!{SIGNS})){SIGNS}++[\"'”’»)\]]*+\s+|[。！？｡]+[”’」』）]*"),
    "word": regex.compile(r"\s+"),
    "character": None,  # `cluster_ends`
}
SPACE = regex.compile(r"\s")
FULL = 0.95  # of the limit: a stretch of so many tokens is long enough to look for a place in
REST, FEW = 2, 256  # a rest so many times as long as what fits, and so many characters longer, may fit too
ROUNDS = 6


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a text.

    count: its tokens, when it is encoded itself. start, end: its place in the text, in characters.
    byte_start, byte_end: the same in the text's UTF-8.
    """

    text: str
    count: int
    start: int
    end: int
    byte_start: int
    byte_end: int


class Chunker:
    """Cuts one text; see `Tokenizer.chunks`."""

    def __init__(self, count: Count, text: str, limit: int, overlap: int, levels: Collection[str]) -> None:
        self.text, self.limit, self.overlap = text, limit, overlap
        self.levels = [name for name in LEVELS if name in levels]
        self.count_text = count
        self.width = float(FIRST)  # characters a token, so far

    def count(self, start: int, end: int) -> float:
        """The tokens of a part; more than any limit if it has none: part of a word may be unknown."""
        try:
            return placed(self.count_text, self.text[start:end], start)
        except UnknownSymbolError:
            return inf

    def measure(self, start: int, place: int, low: int, high: int) -> tuple[int, float]:
        """`place` and the tokens before it, or where they have none the next or last end of a word that has.

        All are above `low` and below `high`.
        """
        tokens = self.count(start, place)
        if tokens < inf:
            return place, tokens
        behind = SPACE.search(self.text, place, high)
        ends = [behind.start() if behind else len(self.text)]
        ends += [found.start() for found in SPACE.finditer(self.text, low, place)][-1:]
        for end in ends:
            if low < end < high and (tokens := self.count(start, end)) < inf:
                return end, tokens
        return place, inf

    def chunks(self) -> Iterator[Chunk]:
        """All chunks, in order."""
        start = done = byte = 0  # `byte` is that of `done`
        while done < len(self.text):
            end, tokens = self.end(start)
            if end <= done:  # the overlap leaves no room
                start = done
                end, tokens = self.end(start)
            first = byte - len(self.text[start:done].encode())
            byte += len(self.text[done:end].encode())
            yield Chunk(self.text[start:end], int(tokens), start, end, first, byte)
            done = end
            start = self.begin(start, end)

    def end(self, start: int) -> tuple[int, float]:
        """Where the chunk that begins at `start` ends, and its tokens."""
        reach, tokens = self.reach(start)
        if reach == len(self.text):
            return reach, tokens
        if len(self.text) - start <= REST * (reach - start) + FEW:
            whole = self.count(start, len(self.text))
            if whole <= self.limit:
                return len(self.text), whole
        for place in self.places(start + (reach - start) // 2, reach, start):
            found = self.count(start, place)
            if found <= self.limit:
                return place, found
        return reach, tokens

    def reach(self, start: int) -> tuple[int, float]:
        """A place up to which nearly as many tokens are as may be, but not more, and how many."""
        fits: tuple[int, float] = (start, 0)
        above = len(self.text) + 1  # up to here there are too many
        for _round in range(ROUNDS):
            aim = start + max(1, int(self.width * self.limit * (1 + FULL) / 2))
            place = min(max(aim, fits[0] + 1), above - 1)
            if place <= fits[0]:
                break
            place, tokens = self.measure(start, place, fits[0], above)
            if tokens < inf:
                self.width = max((place - start) / max(tokens, 1), 0.01)
            if tokens > self.limit:
                above = place
            else:
                fits = (place, tokens)
                if tokens >= FULL * self.limit or place == len(self.text):
                    return fits
        while above - fits[0] > 1 and (fits[1] < FULL * self.limit or not fits[1]):
            place, tokens = self.measure(start, (fits[0] + above) // 2, fits[0], above)
            if tokens > self.limit:
                above = place
            else:
                fits = (place, tokens)
        if fits[0] == start:
            raise self.too_few(start)
        return fits

    def too_few(self, start: int) -> TextError:
        """The error that the first character, or a word that is known as a whole alone, has more tokens."""
        end = start + 1
        if self.count(start, end) == inf:
            word = SPACE.search(self.text, end)
            end = word.start() if word else len(self.text)
        tokens = placed(
            self.count_text, self.text[start:end], start
        )  # here at the latest an unknown one is named
        what = "the character" if end == start + 1 else "the word"
        return TextError(
            f"max_tokens is {self.limit}: {what} {self.text[start:end]!r} at {start} alone has "
            f"{plural(tokens, 'token')}; give at least as many"
        )

    def places(self, low: int, high: int, start: int) -> Iterator[int]:
        """The good places above `low` up to `high`, the best first."""
        for level in self.levels:
            if level == "word" and self.text[high].isspace():
                yield high
            yield from reversed(self.ends(level, start if level == "character" else low, high)[-3:])

    def ends(self, level: str, low: int, high: int) -> list[int]:
        """The places above `low` up to `high` where something of a level ends."""
        pattern = LEVELS[level]
        if pattern is None:
            return [end for end in cluster_ends(self.text, low, high) if end > low]
        return [found.end() for found in pattern.finditer(self.text, low, high)]

    def begin(self, start: int, end: int) -> int:
        """Where the chunk after one from `start` to `end` begins: at the overlap, if there is one.

        A paragraph, a line or a sentence in the first half of what may overlap, else the first word or
        character.
        """
        if not self.overlap or end == len(self.text):
            return end
        low = max(start, end - int(self.width * self.overlap))
        for level in self.levels:
            for place in self.ends(level, low, end):
                if place - low > (end - low) // 2 and level not in ("word", "character"):
                    break
                if start < place and self.count(place, end) <= self.overlap:
                    return place
        return end
