"""Where grapheme clusters end: what a reader takes for one character (Unicode's UAX 29, as `regex` has it).

    👨‍👩‍👧 é  ->  3 places: behind the family of five code points, the space, and the letter with its accent

Adds `cluster_ends`, for a part of a long text. Leaves out the clusters of a normalizer, those of its library
(`reference.normalize_clusters`).
"""

from __future__ import annotations

import regex

# Behind the first of these a cluster ends, whatever stands before it (rules GB4, GB5 and GB999).
ALONE = r"[\p{GCB=Other}\p{GCB=LV}\p{GCB=LVT}]"
APART = regex.compile(rf"\n|[^\r\p{{GCB=Prepend}}](?=[\0-\x7f])|{ALONE}(?={ALONE}|\Z)")
FURTHEST = 256  # characters back: of flags alone, or accents, so many are looked at, and no more
FLAGS = "".join(map(chr, range(0x1F1E6, 0x1F200)))  # two of these letters are one
NEAR = 64  # characters behind the part: one more would do


def cluster_ends(text: str, low: int, high: int) -> list[int]:
    """The places from `low` to `high` at which a grapheme cluster of `text` ends; 0 is one of them."""
    start = low
    while start > max(0, low - FURTHEST) and not APART.match(text, start - 1):
        start -= 1
    if start == low - FURTHEST and text[start - 1 : start] in FLAGS:
        start -= (start - len(text[:start].rstrip(FLAGS))) % 2
    ends = [start, *(found.end() for found in regex.finditer(r"\X", text[start : high + NEAR]))]
    ends[1:] = [start + end for end in ends[1:]]
    return [end for end in ends if low <= end <= high]
