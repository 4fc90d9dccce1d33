"""sentencepiece's named normalization rules, compiled: what `reference.train_sentencepiece_rules` takes some
seconds to make, kept as files (`tools/sentencepiece_rules.py` writes them).

Adds `charsmap_of`. Leaves out: what the bytes mean (`reference.charsmap`), and rules of one's own.
"""

from __future__ import annotations

import lzma
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def charsmap_of(name: str) -> bytes | None:
    """The compiled rules of that name; `None` for a name without a file, as `"identity"`.

    >>> len(charsmap_of("nmt_nfkc")), charsmap_of("identity")
    (240007, None)
    """
    file = Path(__file__).with_name("charsmaps") / f"{name}.xz"
    return lzma.decompress(file.read_bytes()) if file.is_file() else None
