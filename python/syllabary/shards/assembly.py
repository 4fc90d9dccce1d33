"""Parts, in order -> the files of the splits: what is a duplicate, what is held out, and how far this is.

Adds the journal: after a kill the files are cut back to what it says, and the assembly goes on from there to
the same bytes. Leaves out: the folder around it and its publication (`work`).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from syllabary.corpus.care import share
from syllabary.corpus.forms import KINDS
from syllabary.corpus.report import Report
from syllabary.errors import ShardError
from syllabary.files import named, write_atomic
from syllabary.shards import layout
from syllabary.shards.layout import SplitIndex, SplitName
from syllabary.shards.parts import Part, put
from syllabary.shards.seen import Seen

JOURNAL = "assembly.json"
CHECKPOINT_BYTES = 64 << 20  # of ids: as much is written again, at most, after a kill
READ_BYTES = 1 << 20


@dataclass(frozen=True)
class Rules:
    """What the assembly decides by. val: the part that is held out; duplicates: whether they are dropped."""

    val: float
    seed: int
    drop_duplicates: bool

    @property
    def splits(self) -> tuple[SplitName, ...]:
        """The splits that there will be."""
        return layout.SPLITS if self.val else ("train",)


class Files:
    """The growing files of one split: ids, offsets, and the identities of its documents."""

    def __init__(self, folder: Path, name: SplitName, counts: dict[str, int]) -> None:
        """Open them, cut to the counts that the journal has; `OSError` with the path."""
        self.counts = counts
        self._paths = [folder / layout.ids_file(name), folder / layout.offsets_file(name)]
        self._paths.append(folder / f"{name}.identities.bin")
        documents = counts["documents"]
        sizes = [counts["id_bytes"], 8 * (documents + 1) if documents else 0, 8 * documents]
        self._files: list[BinaryIO] = []
        try:
            for path, size in zip(self._paths, sizes, strict=True):
                self._files.append(_opened(path, size))
            if not documents:
                self._put(1, np.zeros(1, layout.OFFSETS))
        except BaseException:
            self.close()
            raise

    @property
    def identities(self) -> NDArray[np.uint64]:
        """The identities written so far, shape (documents,)."""
        self.sync(durable=False)
        return np.fromfile(self._paths[2], "<u8")

    def append(self, part: Part, keep: NDArray[np.bool_]) -> None:
        """Add the documents of a part that `keep`, shape (documents,), is true of."""
        whole = bool(keep.all())
        ids = part.ids if whole else part.ids[np.repeat(keep, part.lengths)]
        lengths = part.lengths[keep]
        self._put(0, ids)
        self._put(1, (self.counts["tokens"] + np.cumsum(lengths)).astype(layout.OFFSETS))
        self._put(2, part.identities[keep].astype("<u8"))
        self.counts["documents"] += len(lengths)
        self.counts["tokens"] += len(ids)
        self.counts["id_bytes"] += ids.nbytes
        self.counts["text_bytes"] += int(part.text_bytes[keep].sum())

    def sync(self, durable: bool = True) -> None:
        """Hand everything to the system and, if `durable`, wait until it is on the disk."""
        for path, file in zip(self._paths, self._files, strict=True):
            with named(path):
                file.flush()
                if durable:
                    os.fsync(file.fileno())

    def close(self) -> None:
        """Close the files; what a full disk does not take is lost, and the journal knows it."""
        for file in self._files:
            try:
                file.close()
            except OSError:
                file.raw.close()  # type: ignore[attr-defined]  # a BufferedRandom has it

    def index(self) -> SplitIndex:
        """What `index.json` says of the split, the files being whole."""
        digest = hashlib.sha256()
        with named(self._paths[2]), self._paths[2].open("rb") as file:
            while data := file.read(READ_BYTES):
                digest.update(data)
        counts = self.counts
        return SplitIndex(counts["documents"], counts["tokens"], counts["text_bytes"], digest.hexdigest())

    def _put(self, which: int, array: NDArray[Any]) -> None:
        with named(self._paths[which]):
            put(self._files[which], array)


class Assembly:
    """The splits while they grow. parts: how many parts are in; report: of all these."""

    def __init__(self, folder: Path, rules: Rules) -> None:
        """Begin, or go on where the journal of the folder says."""
        self._folder, self._rules = folder, rules
        state = _journal(folder / JOURNAL, rules)
        self.parts: int = state["parts"]
        self.report = Report.of(state["report"])
        self._unsaved = 0
        self.splits: dict[SplitName, Files] = {}
        try:
            for name in rules.splits:
                self.splits[name] = Files(folder, name, state["splits"][name])
        except BaseException:
            self.close()
            raise
        self._seen = Seen()
        if rules.drop_duplicates:
            for files in self.splits.values():
                self._seen.new(files.identities)

    def add(self, part: Part) -> None:
        """Append the next part, and save the journal every now and then."""
        self.report.merge(Report.of(part.report))
        keep = np.ones(len(part.lengths), np.bool_)
        if self._rules.drop_duplicates:
            keep = self._seen.new(part.identities)
            dropped = zip(part.text_bytes[~keep].tolist(), part.forms[~keep].tolist(), strict=True)
            for size, form in dropped:
                self.report.drop_duplicate(size, (None, *KINDS)[form])
        if self._rules.val:
            held_out = share(part.identities, "validation", self._rules.seed) < self._rules.val
            self.splits["val"].append(part, keep & held_out)
            keep &= ~held_out
        self.splits["train"].append(part, keep)
        self.parts += 1
        self._unsaved += part.ids.nbytes

    @property
    def due(self) -> bool:
        """Whether so much is new that it should be saved."""
        return self._unsaved >= CHECKPOINT_BYTES

    def save(self) -> None:
        """Make all of it durable and say so in the journal: parts before `parts` are needed no more."""
        for files in self.splits.values():
            files.sync()
        state = {
            "parts": self.parts,
            "report": dataclasses.asdict(self.report),
            "splits": {name: files.counts for name, files in self.splits.items()},
        }
        write_atomic(self._folder / JOURNAL, json.dumps(state).encode("ascii"))
        self._unsaved = 0

    def close(self) -> None:
        """Close all files."""
        for files in self.splits.values():
            files.close()


def _journal(path: Path, rules: Rules) -> dict[str, Any]:
    """What the journal says; nothing has been done if there is none."""
    if path.is_file():
        state: dict[str, Any] = json.loads(path.read_bytes())
        return state
    nothing = {"documents": 0, "tokens": 0, "id_bytes": 0, "text_bytes": 0}
    return {
        "parts": 0,
        "report": dataclasses.asdict(Report()),
        "splits": {name: dict(nothing) for name in rules.splits},
    }


def _opened(path: Path, size: int) -> BinaryIO:
    """The file, open at its end, which is at `size`."""
    with named(path):
        file = path.open("r+b" if path.exists() else "x+b")
        try:
            if os.fstat(file.fileno()).st_size < size:
                raise ShardError(f"{path}: shorter than its journal says; delete {path.parent}")
            file.truncate(size)
            file.seek(size)
        except BaseException:
            file.close()
            raise
    return file
