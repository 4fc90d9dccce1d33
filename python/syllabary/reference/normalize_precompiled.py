"""Normalizing with sentencepiece's character map as tokenizers does it (its step `Precompiled`).

It is not what sentencepiece does with the same map (`normalize_sentencepiece`): the shortest rule counts, not
the longest, and in a grapheme cluster below 6 bytes it stands for the whole cluster. Adds `precompiled`.
Leaves out: the map (`charsmap`) and clusters (`normalize_clusters`).
"""

from __future__ import annotations

from syllabary.reference.aligned import Aligned, check_length
from syllabary.reference.charsmap import Charsmap
from syllabary.reference.normalize_clusters import clusters

SHORT = 6  # bytes


def precompiled(text: Aligned, rules: Charsmap | None) -> Aligned:
    """A text with the rules applied. Source: tokenizers' `normalizers/precompiled.rs`."""
    if rules is None:
        return text
    changes: list[tuple[str, int]] = []
    modified = False
    for cluster in clusters(text.text):
        whole = cluster.encode("utf-8")
        result = rules.shortest(whole) if len(whole) < SHORT else None
        for part in [cluster] if result is not None else cluster:
            found = result if result is not None else rules.shortest(part.encode("utf-8"))
            if found is None:
                changes.append((part, 0))
            else:
                modified = True
                _replace(changes, len(part), found)
                check_length(len(changes), len(text))
    return text.rewrite(changes) if modified else text


def _replace(changes: list[tuple[str, int]], old: int, new: str) -> None:
    """Add the changes that make `new` of `old` characters.

    What is gone belongs to the last character that stays. Where there is none yet, tokenizers forgets it, and
    the spans from there on are too far left: so do these.
    """
    more = len(new) - old
    changes += [(char, int(index >= len(new) - more)) for index, char in enumerate(new)]
    if more < 0 and changes:
        char, change = changes[-1]
        changes[-1] = (char, change + more)
