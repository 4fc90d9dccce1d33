"""Where a text falls into grapheme clusters, what is read as one character (Unicode's UAX 29, extended).

Adds `clusters`, in which tokenizers' `Precompiled` looks for rules. Leaves out: pairs of flags, which are
longer than any cluster that is looked at, and the tables (`syllabary.unicode.rewriting`, Unicode 17).
"""

from __future__ import annotations

from collections.abc import Iterator

from syllabary.unicode import rewriting

BREAKS = ("Control", "CR", "LF")
SYLLABLE = {"L": ("L", "V", "LV", "LVT"), "LV": ("V", "T"), "V": ("V", "T"), "LVT": ("T",), "T": ("T",)}


def clusters(text: str) -> Iterator[str]:
    r"""The grapheme clusters of a text, in order.

    >>> [len(cluster) for cluster in clusters("e\u0301a\r\n\u1100\u1161")]
    [2, 1, 2, 2]
    """
    start = 0
    for at in range(1, len(text)):
        if _parts(text, at):
            yield text[start:at]
            start = at
    if text:
        yield text[start:]


def kind_of(char: str) -> str:
    """The class of a character that rules speak of; "" for any other."""
    return {"\r": "CR", "\n": "LF", "\u200d": "ZWJ"}.get(char) or rewriting.cluster_classes().get(char, "")


def _parts(text: str, at: int) -> bool:
    """Whether a cluster ends before the character `at`; the numbers are UAX 29's."""
    before, after = kind_of(text[at - 1]), kind_of(text[at])
    if before in BREAKS or after in BREAKS:  # GB3 to GB5
        return (before, after) != ("CR", "LF")
    if after in SYLLABLE.get(before, ()):  # GB6 to GB8
        return False
    if after in ("Extend", "ZWJ", "SpacingMark") or before == "Prepend":  # GB9 to GB9b
        return False
    if after == "Pictographic" and before == "ZWJ":  # GB11
        return not _emoji_before(text, at - 1)
    return not _conjunct_before(text, at)


def _emoji_before(text: str, at: int) -> bool:
    """Whether a pictograph and marks stand before the character `at`."""
    at -= 1
    while at >= 0 and kind_of(text[at]) == "Extend":
        at -= 1
    return at >= 0 and kind_of(text[at]) == "Pictographic"


def _conjunct_before(text: str, at: int) -> bool:
    """GB9c: whether the character `at` and one before it are consonants with a linker between them."""
    classes = rewriting.conjunct_classes()
    if classes.get(text[at]) != "Consonant":
        return False
    linked = False
    at -= 1
    while at >= 0 and classes.get(text[at]) in ("Linker", "Extend"):
        linked |= classes.get(text[at]) == "Linker"
        at -= 1
    return linked and at >= 0 and classes.get(text[at]) == "Consonant"
