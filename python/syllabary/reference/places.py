"""Where the pairs are: counts that a merge updates in place, so that training never recounts the corpus.

Adds the corpus as one row of linked places, each holding an id, and an index from each pair to the places
where it starts. A merge visits those places and no others. Leaves out: which pair to merge (`train`, `ties`).
The law it keeps: after any merges, the counts are those of `merge.count_pairs` on the merged sequences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from syllabary.reference.ties import Pair

NOWHERE = -1


class Places:
    """Sequences of ids, laid in a row; pairs do not cross from one sequence to the next.

    ids: place -> id. before, after: place -> the neighbouring place that is still there, or `NOWHERE`.
    times: place -> how often its sequence occurs. where: pair -> places of its left id.
    counts: pair -> how often it occurs. by_count: the same turned round.
    """

    def __init__(
        self,
        sequences: Sequence[Sequence[int]],
        counts: Sequence[int],
        mergeable: Callable[[Pair], bool] = lambda pair: True,
    ) -> None:
        """Lay out sequence k, which occurs `counts[k]` times; only `mergeable` pairs are counted."""
        self.mergeable = mergeable
        self.ids: list[int] = []
        self.before: list[int] = []
        self.after: list[int] = []
        self.times: list[int] = []
        self.where: dict[Pair, set[int]] = {}
        self.counts: dict[Pair, int] = {}
        self.by_count: dict[int, set[Pair]] = {}
        for ids, times in zip(sequences, counts, strict=True):
            first = len(self.ids)
            end = first + len(ids)
            self.ids += ids
            self.before += [NOWHERE, *range(first, end - 1)] if ids else []
            self.after += [*range(first + 1, end), NOWHERE] if ids else []
            self.times += [times] * len(ids)
        for at in range(len(self.ids)):
            self.add(at)

    def pair_at(self, at: int) -> Pair | None:
        """The pair whose left id is at this place, if there is one that may merge."""
        if at == NOWHERE or self.after[at] == NOWHERE:
            return None
        pair = (self.ids[at], self.ids[self.after[at]])
        return pair if self.mergeable(pair) else None

    def add(self, at: int) -> None:
        """Count the pair that starts here."""
        pair = self.pair_at(at)
        if pair is not None:
            self.where.setdefault(pair, set()).add(at)
            self.change(pair, self.times[at])

    def remove(self, at: int) -> None:
        """Count the pair that starts here no longer."""
        pair = self.pair_at(at)
        if pair is not None:
            self.where[pair].discard(at)
            self.change(pair, -self.times[at])

    def change(self, pair: Pair, by: int) -> None:
        """Move a pair to its new count; one that occurs nowhere is forgotten."""
        old = self.counts.get(pair, 0)
        if old:
            self.by_count[old].discard(pair)
            if not self.by_count[old]:
                del self.by_count[old]
        if old + by:
            self.counts[pair] = old + by
            self.by_count.setdefault(old + by, set()).add(pair)
        else:
            del self.counts[pair], self.where[pair]

    def merge(self, pair: Pair, new_id: int) -> None:
        """Replace `pair` by `new_id` everywhere, from the left, without overlap.

        >>> places = Places([[1, 2, 3, 1, 2]], [1])
        >>> places.merge((1, 2), 9)
        >>> places.sequence(0), places.counts
        ([9, 3, 9], {(9, 3): 1, (3, 9): 1})
        """
        for at in sorted(self.where[pair]):
            if at not in self.where.get(pair, ()):
                continue  # subtle: in `aaa` the second `aa` is gone once the first is merged
            right = self.after[at]
            for place in (self.before[at], at, right):
                self.remove(place)
            self.ids[at] = new_id
            self.after[at] = self.after[right]
            if self.after[at] != NOWHERE:
                self.before[self.after[at]] = at
            for place in (self.before[at], at):
                self.add(place)

    def sequence(self, at: int) -> list[int]:
        """The ids from a place to the end of its sequence."""
        ids: list[int] = []
        while at != NOWHERE:
            ids.append(self.ids[at])
            at = self.after[at]
        return ids
