"""Whether sentencepiece would load a compiled character map.

`reference/charsmap` checks all that text can reach; sentencepiece (darts.h, `validate`) looks at every unit
of the double array, so that a map may be harmless and yet damaged. Leaves out: applying a map.
"""

from __future__ import annotations

import numpy as np

from syllabary.errors import VocabularyError
from syllabary.reference.charsmap import charsmap


def charsmap_fault(blob: bytes) -> str | None:
    """What is wrong with a character map, or `None`; no bytes at all are the identity.

    >>> charsmap_fault(b""), charsmap_fault(bytes(4))[:34]
    (None, 'precompiled_charsmap is damaged: i')
    """
    try:
        found = charsmap(blob)
    except VocabularyError as error:
        return str(error)
    if found is None:
        return None
    units = np.array(found.units, np.uint64)
    targets = np.arange(len(units), dtype=np.uint64) ^ ((units >> 10) << ((units & 0x200) >> 6))
    inner = units >> 31 == 0
    leaves = inner & (units >> 8 & 1 == 1)
    outside = (targets | 0xFF) >= len(units)
    no_root = bool(units[0] & 0xFF) or not inner[0] or bool(leaves[0]) or targets[0] == 0
    wrong = inner & outside
    wrong[leaves & ~outside] = inner[targets[leaves & ~outside]]
    wrong |= ~inner & ((units & 0x7FFFFFFF) >= len(found.results))
    wrong[0] |= no_root
    if wrong.any():
        return f"precompiled_charsmap is damaged: unit {int(wrong.argmax())} of its array is none"
    return None
