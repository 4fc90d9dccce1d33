"""BPE-dropout: merges passed over at random, the same for a seed in both implementations and on any machine.

Adds the coins of a text and merging with them. Leaves out: merging without (`merge`), and by score
(`scores`, which takes the same coins to another rule: what is passed over there stays apart).
Source of the rule: Hugging Face's `models/bpe/word.rs`, `merge_all`, but for its stale candidates, which draw
no coin here, and its random numbers, which cannot be repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from syllabary.reference.merge import Rule

MASK = (1 << 64) - 1
COIN_STEP = 0x9E3779B97F4A7C15  # adds up to a new state for each coin (SplitMix64)
TEXT_STEP = 0xD1B54A32D192ED03  # sets the coins of neighbouring texts apart


def mix(number: int) -> int:
    """SplitMix64's finisher: 64 bits, well stirred.

    >>> hex(mix(1)), mix(0)
    ('0x5692161d100b05e5', 0)
    """
    number ^= number >> 30
    number = number * 0xBF58476D1CE4E5B9 & MASK
    number ^= number >> 27
    number = number * 0x94D049BB133111EB & MASK
    return number ^ number >> 31


class Coins:
    """The coins of one text, drawn in order: those of its first group, of its second, and so on."""

    def __init__(self, probability: float, seed: int, index: int = 0) -> None:
        """Of text number `index` of a batch (0 for a single one); `seed` is taken modulo 2**64."""
        self.probability = probability
        self.state = mix(seed + (index + 1) * TEXT_STEP & MASK)

    def falls(self) -> bool:
        """Draw one: whether a merge is passed over."""
        return self.number() < self.probability

    def number(self) -> float:
        """Draw one: a number from 0 up to 1."""
        self.state = self.state + COIN_STEP & MASK
        return (mix(self.state) >> 11) * 2.0**-53


def places(ids: Sequence[int], rule: Rule, coins: Coins) -> Iterator[tuple[int, int]]:
    """As `merge.places`, each candidate passed over if its coin falls.

    A round draws for the candidates in order of rank and place until one is kept and merged; those passed
    over are candidates again in the next round. The round in which none is kept is the last.

    >>> from syllabary.reference.merge import by_merges
    >>> rule = by_merges([(1, 1, 2), (2, 2, 3)])
    >>> list(places([1, 1, 1, 1], rule, Coins(0.5, seed=5))), list(places([1, 1], rule, Coins(1.0, 0)))
    ([(1, 2)], [])
    """
    state = list(ids)
    while True:
        found = [(ranked, at) for at, pair in enumerate(pairwise(state)) if (ranked := rule(*pair))]
        kept = next((candidate for candidate in sorted(found) if not coins.falls()), None)
        if kept is None:
            return
        (_rank, result), at = kept
        state[at : at + 2] = [result]
        yield at, result
