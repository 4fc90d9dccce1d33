"""`auto_character_coverage`: how many merges and which characters to keep, so that the fewest tokens are
made.

Merges are learned over all characters. Then a cut is chosen: the first k pieces, the characters that they are
made of, and for the ids that are left the characters that save most. A piece saves as often as it was counted
when it was learned; a character of n bytes saves n - 1 tokens wherever it stands, as it would be spelled with
bytes. The best k saves most; of equals the largest.
Source: sentencepiece 0.2.3, `bpe_model_trainer.cc` (`PrunePiecesWithGlobalSearch`). Leaves out: its trees of
sums; here the sum over the free characters is taken anew where they change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from syllabary.reference.train_sentencepiece_merge import Learned


def savings(words: Mapping[str, int]) -> dict[str, int]:
    """Characters of two bytes or more -> the tokens that each saves, most first, then the most frequent.

    >>> savings({"aéé漢": 3, "ñ": 6})
    {'é': 6, 'ñ': 6, '漢': 6}
    """
    counts = Counter[str]()
    for word, count in words.items():
        for character, times in Counter(word).items():
            counts[character] += times * count
    gains = {char: count * (len(_bytes(char)) - 1) for char, count in counts.items() if len(_bytes(char)) > 1}
    order = sorted(gains, key=lambda char: (-gains[char], -counts[char], char))
    return {character: gains[character] for character in order}


def choose(learned: Sequence[Learned], words: Mapping[str, int], budget: int) -> list[str]:
    """The pieces: the first of `learned`, their characters by code point, and the characters that save
    most."""
    free = savings(words)
    best, best_gain = (0, 0), -1
    inside, gain = set[str](), 0
    for taken in range(len(learned) + 1):
        slots = budget - taken - len(inside)
        if slots >= 0:
            alone = list(free.values())[:slots]
            if gain + sum(alone) >= best_gain:
                best, best_gain = (taken, len(alone)), gain + sum(alone)
        if taken < len(learned):
            gain += learned[taken].count
            for character in learned[taken].text:
                inside.add(character)
                gain += free.pop(character, 0)
    return cut(learned, savings(words), *best)


def cut(learned: Sequence[Learned], free: Mapping[str, int], merges: int, alone: int) -> list[str]:
    """The first `merges` pieces, the characters in them, and `alone` of those that are free."""
    texts = [step.text for step in learned[:merges]]
    inside = sorted({character for text in texts for character in text})
    rest = [character for character in free if character not in inside]
    return [*texts, *inside, *rest[:alone]]


def _bytes(character: str) -> bytes:
    return character.encode("utf-8")
