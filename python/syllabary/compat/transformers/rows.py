"""The encodings behind a `BatchEncoding`: where tokens, words and characters are.

Adds `Rows`, those of a batch, computed when one is first asked for: a model takes ids and masks alone. Leaves
out: what an encoding can do (`compat.tokenizers`), and how it comes about (`reference.encoding`, the engine).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

from syllabary.compat.tokenizers import Encoding


class Rows(Sequence[Encoding]):
    """The encodings of a batch, computed when one is first asked for; pickled as what they are then."""

    def __init__(self, size: int, compute: Callable[[], list[Encoding]]) -> None:
        self._size, self._compute = size, compute
        self._rows: list[Encoding] | None = None

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> Encoding: ...

    @overload
    def __getitem__(self, index: slice) -> list[Encoding]: ...

    def __getitem__(self, index: int | slice) -> Encoding | list[Encoding]:
        return self._all()[index]

    def __iter__(self) -> Iterator[Encoding]:
        return iter(self._all())

    def __reduce__(self) -> tuple[type[list[Encoding]], tuple[list[Encoding]]]:
        return list, (self._all(),)

    def _all(self) -> list[Encoding]:
        if self._rows is None:
            self._rows = self._compute()
        return self._rows
