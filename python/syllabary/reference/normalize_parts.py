"""Where a text may be cut so that its parts, normalized alone, are the text normalized.

A normal form reorders marks and composes neighbours, so a part may end only before a character that neither
moves nor joins what stands before it: the first character of its decomposition has combining class 0, and is
the right half of no composition (a vowel or tail of Hangul is, besides marks). Such a character begins anew;
the rest of a part, from its last such character on, waits for the next part. A document of nothing but
marks is held whole: there is no place to cut it.

Adds `begins_anew` and `held_from`. Leaves out: the normal forms themselves (`normalize_unicode`) and the
engine's, which have the same tables.
"""

from __future__ import annotations

from functools import lru_cache

from syllabary.unicode import rewriting


@lru_cache(maxsize=1 << 16)
def begins_anew(char: str, compatible: bool) -> bool:
    """Whether nothing before a character has to do with it in NFC and NFD (`compatible`: NFKC and NFKD).

    >>> [begins_anew(char, False) for char in ("a", "\u0301", "\u0344", "\u1161", "각")]
    [True, False, False, False, True]
    """
    first = rewriting.decomposed(char, compatible)[0]
    return rewriting.combining_classes().get(first, 0) == 0 and first not in rewriting.right_halves()


def held_from(text: str, compatible: bool) -> int | None:
    """Where the end of a text begins that may change with what follows: at its last character that begins
    anew; None if there is none, so that all of it may.

    >>> held_from("ae\u0301", False), held_from("\u0301", False)
    (1, None)
    """
    return next((at for at in range(len(text) - 1, -1, -1) if begins_anew(text[at], compatible)), None)
