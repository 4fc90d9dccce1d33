"""Shards: the token ids of a corpus in flat files that training code maps into memory.

Adds `write` (several processes, resumable), `open` (views by document and by window), `export` (Parquet,
Arrow, Hugging Face datasets) and `fingerprint`. The files are what nanoGPT's loaders read:
`np.memmap("shards/train.bin", dtype=np.uint16, mode="r")`.
Leaves out: batches and models (`syllabary.gpt`).
"""

from syllabary.shards.exporting import export
from syllabary.shards.layout import Index, SplitIndex, fingerprint
from syllabary.shards.reading import Shards, Split
from syllabary.shards.reading import open_shards as open  # noqa: A004 (public name)
from syllabary.shards.writing import Progress, write

__all__ = ["Index", "Progress", "Shards", "Split", "SplitIndex", "export", "fingerprint", "open", "write"]
