"""Shards as arrays: files mapped into memory, seen by document or by window.

Adds `Shards` and `Split`, which cost the same for ten documents and ten million. Leaves out: batches for
training (`syllabary.gpt.data`) and other formats (`export`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from syllabary.arguments import integer, place
from syllabary.cached import cached_property
from syllabary.errors import FormatError, ShardError
from syllabary.formats import syllabary_json
from syllabary.formats.record import Hints
from syllabary.reference.symbols import plural
from syllabary.shards import layout
from syllabary.shards.layout import Index, SplitName
from syllabary.tokenizer import Tokenizer

Ids = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """One split: the ids of all its documents, and where each begins.

    path: the folder. name: `"train"` or `"val"`. ids: uint16 or uint32, shape (tokens,), mapped from the
    file and not writable. offsets: int64, shape (documents + 1,), mapped too; document k is
    `ids[offsets[k]:offsets[k + 1]]`. text_bytes: the UTF-8 of the documents as read, before any
    `normalize`, which is what bits per byte are counted in. digest: SHA-256 of the documents' identities in
    order: two splits with the same digest hold the same texts, whatever their tokenizers.

    A split may be pickled: the files are mapped again on the other side, nothing is copied.
    """

    path: Path
    name: SplitName
    ids: Ids
    offsets: NDArray[np.int64]
    text_bytes: int
    digest: str

    def __len__(self) -> int:
        """The number of documents."""
        return len(self.offsets) - 1

    @property
    def documents(self) -> int:
        """The number of documents."""
        return len(self)

    @property
    def tokens(self) -> int:
        """The number of ids."""
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> Ids: ...
    @overload
    def __getitem__(self, index: slice) -> list[Ids]: ...
    def __getitem__(self, index: int | slice) -> Ids | list[Ids]:
        """A view of one document's ids, or of several; `IndexError` beyond them, `ShardError` for damage."""
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = place("document", index, len(self), "an integer or a slice")
        start, stop = self.offsets[at], self.offsets[at + 1]
        if not 0 <= start <= stop <= len(self.ids):
            raise ShardError(
                f"{self.path / layout.offsets_file(self.name)}: document {at} is from {start} to {stop} of "
                f"{plural(len(self.ids), 'id')}: the file is damaged; write the shards again"
            )
        return self.ids[start:stop]

    def __iter__(self) -> Iterator[Ids]:
        """A view of each document's ids."""
        return (self[index] for index in range(len(self)))

    def windows(self, length: int, stride: int | None = None) -> Ids:
        """Pieces of `length` ids that begin every `stride` ids: a view, shape (windows, length).

        stride: `length` if not given, so that windows do not overlap. They run over documents' ends, and
        what is left at the end of the split and fills no window is in none. `ValueError` if the split has
        fewer than `length` ids.
        """
        size, step = integer("length", length), integer("stride", length if stride is None else stride)
        if size < 1 or step < 1:
            raise ValueError(f"length is {size} and stride {step}: give 1 or more")
        if size > len(self.ids):
            raise ValueError(
                f"a window of {plural(size, 'id')} does not fit into the {len(self.ids)} of {self.name}"
            )
        return np.lib.stride_tricks.sliding_window_view(self.ids, size)[::step]

    def __repr__(self) -> str:
        """Name and counts, for the prompt."""
        return f"<Split {self.name}: {plural(self.documents, 'document')}, {plural(self.tokens, 'token')}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the place where it is."""
        return _open_split, (self.path, self.name)


@dataclass(frozen=True, eq=False)
class Shards:
    """A folder of shards, as `open` gives it. path: the folder; val: None if nothing was held out."""

    path: Path
    index: Index
    train: Split
    val: Split | None

    @property
    def vocab_size(self) -> int:
        """One more than the largest id that the tokenizer has: what a model's table of ids needs."""
        return self.index.vocab_size

    @property
    def dtype(self) -> np.dtype[Any]:
        """uint16 or uint32, little endian."""
        return np.dtype(layout.IDS[self.index.dtype])

    @property
    def tokenizer_hash(self) -> str:
        """The fingerprint of the tokenizer that made the ids."""
        return self.index.tokenizer_sha256

    @property
    def splits(self) -> dict[str, Split]:
        """Name -> split, of those that are there."""
        return {split.name: split for split in (self.train, self.val) if split is not None}

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        path = self.path / layout.TOKENIZER
        try:
            tok = Tokenizer(syllabary_json.read(path, Hints()))
        except FormatError as error:
            raise ShardError(f"{error}; write the shards again") from error
        except FileNotFoundError:
            raise ShardError(f"{path}: is missing; write the shards again") from None
        self.check(tok, f"the file {path}")
        return tok

    def tokenizer(self) -> Tokenizer:
        """The tokenizer that made the ids, from its copy in the folder; `ShardError` if it is another."""
        return self._tokenizer

    def check(self, tokenizer: Tokenizer, what: str = "the tokenizer given") -> None:
        """`ShardError` unless `tokenizer` is the one that made these ids (its fingerprint says)."""
        found = layout.fingerprint(tokenizer)
        if found != self.tokenizer_hash:
            raise ShardError(
                f"{what} did not make the shards in {self.path}: its SHA-256 is {found[:16]}…, theirs is "
                f"{self.tokenizer_hash[:16]}…; use the one in that folder, or write new shards"
            )

    def __repr__(self) -> str:
        """Path, splits and ids, for the prompt."""
        parts = ", ".join(f"{split.name} {plural(split.tokens, 'token')}" for split in self.splits.values())
        return f"<Shards {str(self.path)!r}: {parts}, {self.index.dtype}, {plural(self.vocab_size, 'id')}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the place where they are."""
        return open_shards, (self.path,)


def open_shards(path: str | PathLike[str]) -> Shards:
    """The shards in a folder. Only the index is read; ids and offsets are mapped, not loaded.

    Raises `FileNotFoundError` if there is no such folder, `ShardError` if it holds no shards, is not
    finished (how to go on), or is damaged (which file, and both numbers).
    """
    folder = Path(path)
    if not (folder / layout.INDEX).is_file():
        raise _nothing(folder)
    index = layout.read_index(folder)
    found = {name: _split(folder, index, name) for name in index.splits}
    return Shards(folder, index, found["train"], found.get("val"))


def _nothing(folder: Path) -> Exception:
    if not folder.is_dir():
        return FileNotFoundError(2, "No such folder of shards", str(folder))
    if (folder / layout.WORK).is_dir():
        return ShardError(f"{folder}: incomplete shards; run the same command again to resume")
    return ShardError(f"{folder}: holds no shards ({layout.INDEX} is missing)")


def _open_split(path: Path, name: SplitName) -> Split:
    return open_shards(path).splits[name]


def _split(folder: Path, index: Index, name: SplitName) -> Split:
    said = index.splits[name]
    ids = _mapped(folder / layout.ids_file(name), layout.IDS[index.dtype], said.tokens, "ids")
    offsets = _mapped(folder / layout.offsets_file(name), layout.OFFSETS, said.documents + 1, "offsets")
    if offsets[0] != 0 or offsets[-1] != said.tokens:
        raise ShardError(
            f"{folder / layout.offsets_file(name)}: the first offset is {offsets[0]} and the last "
            f"{offsets[-1]}, not 0 and {said.tokens}: the file is damaged; write the shards again"
        )
    return Split(folder, name, ids, offsets, said.text_bytes, said.sha256_documents)


def check_rising(split: Split) -> None:
    """`ShardError` if an offset is below the one before it: opening looks at the first and the last alone."""
    offsets = np.asarray(split.offsets)
    falls = np.flatnonzero(offsets[1:] < offsets[:-1])
    if len(falls):
        at = int(falls[0])
        raise ShardError(
            f"{split.path / layout.offsets_file(split.name)}: offset {at + 1} is {offsets[at + 1]}, below "
            f"{offsets[at]} before it: the file is damaged; write the shards again"
        )


def _mapped(path: Path, dtype: str, count: int, what: str) -> Any:
    """The file as a read-only array, shape (count,), if that is its size."""
    expected = count * np.dtype(dtype).itemsize
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise ShardError(f"{path}: is missing; write the shards again") from None
    if size != expected:
        raise ShardError(
            f"{path}: is {plural(size, 'byte')} long, and {count} {what} of the index are {expected} bytes: "
            "the file is damaged or of other shards; write the shards again"
        )
    return np.memmap(path, dtype=dtype, mode="r", shape=(count,))
