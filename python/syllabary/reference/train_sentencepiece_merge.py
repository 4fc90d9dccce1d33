"""The merge loop of sentencepiece's BPE trainer: which pair of neighbours becomes a piece next.

The rule: the pair with the highest count, then of fewer characters, then of the smaller text (code point by
code point). Counts are of places, overlapping ones too: `aaa` holds `aa` twice. It is joined from left to
right in each word. A pair whose text may be no piece is never counted. There is no lower limit: pairs that
occur nowhere any more become pieces too, as long as pieces are wanted, and so do those that only came to be
while another was joined (in `abab`, `ab`+`a` is there before `ab`+`ab` is).

No two pairs have one text. Where a text is two symbols in a row, no merge has crossed its ends so far, so
within it happened what happens in it alone, and that goes through two symbols once. So the rule is a total
order: it does not matter in which order words are given, pairs are found or a queue holds its equals.
(sentencepiece keeps a list of texts made already, to skip a second pair with one; it never skips. Releases
before 0.2.2 chose among the 5 % most frequent pairs, found anew after every 100 pieces, and cut that set by
an unstable sort: they are not what is specified here.)

The state, for whoever writes it again:
  flat      symbols of all words in a row, `EDGE` between words and for characters outside the alphabet. A
            symbol stands where its first character was; the places of its other characters are `GONE`. So the
            next symbol is as far on as the symbol has characters.
  starts    of the last character of each symbol, where the symbol stands: the way back.
  weights   of each place, how often its word occurs.
  of        (left, right) -> symbol of the pair, or `INVALID`.
  places    of each pair, ascending, where its left symbol stood when the pair came to be; some may be gone.
            All come to be in one step, that which made its younger half: no pair gains places later.
  counts, stale   of each pair. Where a merge takes neighbours apart, the count of their pair is stale: too
            high. It is made new only when the pair comes up.
  queue     one entry (count, length, text) of each pair that was not joined yet.
Each merge costs the places where it is joined and the recounts that it causes.

Source: sentencepiece 0.2.3, `bpe_model_trainer.cc` and `.h`. Leaves out: where words come from
(`train_sentencepiece_sentences`), which texts may be pieces (`train_sentencepiece_valid`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

EDGE, GONE = -1, -2
INVALID = -3  # in `of`: a pair whose text may be no piece


@dataclass(frozen=True, slots=True)
class Learned:
    """A piece as it was learned: `left` + `right`, at `count` places (of the words as often as they
    occur)."""

    left: str
    right: str
    count: int

    @property
    def text(self) -> str:
        """The piece."""
        return self.left + self.right


class Merging:
    """The state of the loop."""

    def __init__(
        self, words: Iterable[tuple[str, int]], alphabet: Mapping[str, int], valid: Callable[[str], bool]
    ) -> None:
        """Words with their counts, in the order of the places; characters not in `alphabet` are edges."""
        self.valid = valid
        self.texts: list[str] = list(alphabet)
        self.parts: list[tuple[int, int]] = [(EDGE, EDGE)] * len(self.texts)
        self.places: list[list[int]] = [[] for _ in self.texts]
        self.counts = [0] * len(self.texts)
        self.stale = [True] * len(self.texts)
        self.of: dict[tuple[int, int], int] = {}
        self.pending: list[int] = []
        self.waiting: set[int] = set()
        self.queue: list[tuple[int, int, str, int]] = []
        ids = {character: symbol for symbol, character in enumerate(self.texts)}
        self.flat = [EDGE]
        self.weights = [0]
        for word, count in words:
            self.flat += [ids.get(character, EDGE) for character in word]
            self.flat.append(EDGE)
            self.weights += [count] * (len(word) + 1)
        self.starts = list(range(len(self.flat)))
        for at in range(len(self.flat) - 1):
            self.add(at, at + 1)
        self.push_pending()

    def add(self, at: int, after: int) -> None:
        """The symbols at two places are neighbours now."""
        left, right = self.flat[at], self.flat[after]
        if left == EDGE or right == EDGE:
            return
        pair = self.of.get((left, right))
        if pair is None:
            pair = self.of[left, right] = self.new_pair(left, right)
        if pair == INVALID:
            return
        self.places[pair].append(at)
        if pair not in self.waiting:
            self.waiting.add(pair)
            self.pending.append(pair)

    def new_pair(self, left: int, right: int) -> int:
        """The symbol of a pair that was not there before."""
        text = self.texts[left] + self.texts[right]
        if not self.valid(text):
            return INVALID
        self.texts.append(text)
        self.parts.append((left, right))
        self.places.append([])
        self.counts.append(0)
        self.stale.append(True)
        return len(self.texts) - 1

    def recount(self, pair: int) -> None:
        """The count of a pair, if it is stale: of the places where its two symbols still are."""
        if not self.stale[pair]:
            return
        left, right = self.parts[pair]
        width, flat, weights = len(self.texts[left]), self.flat, self.weights
        kept = [at for at in self.places[pair] if flat[at] == left and flat[at + width] == right]
        self.places[pair] = kept
        self.counts[pair] = sum([weights[at] for at in kept])
        self.stale[pair] = False

    def push(self, pair: int) -> None:
        """One more entry of the queue, with the count as it is."""
        text = self.texts[pair]
        heappush(self.queue, (-self.counts[pair], len(text), text, pair))

    def push_pending(self) -> None:
        """Entries for the pairs that came to be."""
        for pair in self.pending:
            self.recount(pair)
            self.push(pair)
        self.pending.clear()
        self.waiting.clear()

    def best(self) -> int | None:
        """The next pair, taken from the queue; `None` if it is empty."""
        while self.queue:
            _count, _length, _text, pair = heappop(self.queue)
            if not self.stale[pair]:
                return pair
            self.recount(pair)
            self.push(pair)
        return None

    def mark(self, left: int, right: int, pair: int) -> None:
        """Two neighbours part: the count of what they were is stale."""
        other = self.of.get((left, right), INVALID)
        if other not in (INVALID, pair):
            self.stale[other] = True

    def accept(self, pair: int) -> None:
        """Join the pair at all its places, from left to right."""
        left, right = self.parts[pair]
        width, length = len(self.texts[left]), len(self.texts[pair])
        flat, starts = self.flat, self.starts
        for at in self.places[pair]:
            if flat[at] == GONE:  # subtle: the pair overlapped itself, as in `aaa`
                continue
            before, after = starts[at - 1], at + length
            self.mark(flat[before], left, pair)
            self.mark(right, flat[after], pair)
            flat[at], flat[at + width] = pair, GONE
            starts[after - 1] = at
            self.add(before, at)
            self.add(at, after)
        self.push_pending()


def merge_steps(state: Merging) -> Iterator[Learned]:
    """Each piece as it is learned, for as long as the caller asks and pairs are left.

    >>> state = Merging([("abc", 2), ("bcb", 1)], {"a": 2, "b": 4, "c": 3}, lambda text: True)
    >>> [(step.left, step.right, step.count) for step in merge_steps(state)]
    [('b', 'c', 3), ('a', 'bc', 2), ('bc', 'b', 1), ('a', 'b', 0), ('c', 'b', 0)]
    """
    while (pair := state.best()) is not None:
        left, right = state.parts[pair]
        yield Learned(state.texts[left], state.texts[right], state.counts[pair])
        state.accept(pair)
