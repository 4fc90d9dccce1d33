"""The compiled engine. Use `syllabary.Tokenizer` and `syllabary.train`: they hold policy and messages.

`policy` is `"raise"`, `"allow"`, `"text"` or the list of special ids allowed (others raise).
"""

import builtins
import os
from collections.abc import Callable, Iterable, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from syllabary.spec import SplitSpec, TokenizerSpec, TrainOptions

__all__ = ["Split", "Tokenizer", "Trainer"]

@final
class Split:
    """A compiled split. Raises `PatternError`."""

    def __new__(cls, spec: SplitSpec) -> Split: ...
    @property
    def kind(self) -> str:
        """The scanner that runs it: a split's name, or `"regex"`."""

    def pieces(self, text: str) -> list[str]:
        """The pieces of `text`, in order."""

@final
class Tokenizer:
    """An immutable tokenizer. Raises `VocabularyError`, `PatternError`."""

    def __new__(cls, spec: TokenizerSpec) -> Tokenizer: ...
    @property
    def split_kind(self) -> str:
        """See `Split.kind`."""

    def encode(self, text: str, policy: str | list[int]) -> list[int]:
        """The ids of `text`."""

    def encode_array(self, text: str, policy: str | list[int]) -> NDArray[np.uint32]:
        """The same, shape (n,)."""

    def encode_batch(self, texts: Iterable[str], policy: str | list[int], threads: int) -> list[list[int]]:
        """The ids of every text."""

    def encode_batch_array(
        self, texts: Iterable[str], policy: str | list[int], threads: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """All ids, shape (n,), and where each text begins and the last ends, shape (texts + 1,)."""

    def encode_files(
        self,
        paths: Sequence[str | os.PathLike[str]],
        separator: str | None,
        policy: str | list[int],
        threads: int,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The same for files, cut into documents at `separator`."""

    def count(self, text: str, policy: str | list[int]) -> int:
        """The number of ids of `text`."""

    def count_batch(self, texts: Iterable[str], policy: str | list[int], threads: int) -> NDArray[np.int64]:
        """The number of ids of every text, shape (texts,)."""

    def offsets(self, text: str, policy: str | list[int], characters: bool) -> NDArray[np.int64]:
        """Start and end of every token in bytes or characters of `text`, shape (n, 2)."""

    def decode_bytes(self, ids: Iterable[int] | NDArray[np.uint32]) -> bytes:
        """The bytes of the ids' tokens, joined."""

@final
class Trainer:
    """Counts a corpus and learns merges from it; not to be shared between threads."""

    def __new__(cls, options: TrainOptions, threads: int) -> Trainer: ...
    @property
    def bytes(self) -> int:
        """Bytes of text taken so far."""

    @property
    def distinct_pieces(self) -> int:
        """Distinct pieces counted so far."""

    def feed(self, documents: Iterable[str]) -> None:
        """Counts whole documents."""

    def feed_part(self, part: str, last: bool) -> None:
        """Takes the next part of a long document."""

    def train(
        self,
        spec: TrainOptions,
        max_tokens: int,
        max_merges: int,
        callback: Callable[[int, int], object] | None,
    ) -> tuple[list[builtins.bytes], NDArray[np.uint32], NDArray[np.uint64]]:
        """The alphabet, the merges in local ids, shape (n, 2), and their counts, shape (n,).

        `callback(merges done, count of the last)` is called now and then, and signals are looked at.
        """
