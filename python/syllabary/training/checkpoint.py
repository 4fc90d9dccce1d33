"""A checkpoint of training: a folder from which the same call goes on after a kill, to the same bytes.

    checkpoint.json         what is trained and of what, how far it was read; its word alone counts
    counts-N.bin            the table of counts that it names (`checkpoint_files`)
    merges.bin              the merges learned so far, appended
    pieces.bin              or the pieces that are left of a unigram model, with their scores
    lock                    held by the process that trains

While the corpus is counted, a new table and then a new `checkpoint.json` are written every half minute, or
less often where writing takes long; when all is counted, once more; from then on merges are appended.
Leaves out: how text is followed (`watched`) and merges are learned (`learning`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syllabary import files, locks, piece_table
from syllabary._engine import Trainer
from syllabary.corpus.corpus import Corpus
from syllabary.corpus.report import Report
from syllabary.errors import CheckpointError, TrainingError
from syllabary.files import check_folder, write_atomic
from syllabary.piece_table import PieceTable
from syllabary.spec import TrainOptions
from syllabary.training.checkpoint_files import (
    BLOCK,
    Journal,
    read_counts,
    unusable,
    way_out,
    write_blocks,
    write_counts,
)
from syllabary.training.checkpoint_state import (
    STATE,
    TABLE,
    Options,
    Plan,
    Seen,
    State,
    compare,
    file_list,
    plan_of,
    read_state,
    state_bytes,
)
from syllabary.training.feed import Counts

MERGES, PIECES, LOCK = "merges.bin", "pieces.bin", "lock"
OURS = re.compile(
    r"lock|(?:checkpoint\.json|merges\.bin|pieces\.bin|counts-\d+\.bin)"
    r"|\.(?:checkpoint\.json|merges\.bin|pieces\.bin|counts-\d+\.bin)\.[0-9a-f]{16}\.tmp"
)
# Pieces of a unigram model: their UTF-8, where each ends, their scores.
Scored = tuple[bytes, NDArray[np.uint64], NDArray[np.float64]]
SECONDS = 30.0  # between two writes while counting
SHARE = 20.0  # times as long as a write took, at least, is counted before the next

clock = time.monotonic
Writes = Callable[[Path, Any], None]  # a table at a path, of what a trainer has counted


def in_order(path: Path, trainer: Counts) -> None:
    """Write all that is counted, held in memory, with its order of first appearance."""
    write_counts(path, *trainer.counts_and_places())


def in_blocks(path: Path, trainer: Trainer) -> None:
    """The same without an order, by batches: it need not fit into memory."""
    most = BLOCK, piece_table.HAND_BYTES
    write_blocks(path, lambda take: trainer.hand_counts(take, False, most))


def keeping(options: Options, room: object) -> tuple[bool, Writes]:
    """Whether the pieces of a training are kept, and how: under a limit of memory without an order."""
    if room is None:
        return True, in_order
    return not (isinstance(options, TrainOptions) and options.tie_break == "first-seen"), in_blocks


class Checkpoint:
    """The checkpoint of one training. state: what was found, and then what was written last."""

    def __init__(
        self,
        folder: Path,
        plan: Plan,
        files: list[list[Any]] | None,
        tabled: bool,
        limited: bool = False,
        write: Writes = in_order,
    ) -> None:
        """tabled: whether what is counted is kept: of words it is not, nor of a table that is given, nor
        (limited) of some trainings under a limit of memory. write: puts it into a file."""
        self.folder, self.plan, self.files = folder, plan, files
        self.tabled, self.limited = tabled and not limited, limited
        self.state: State | None = None
        self.journal = Journal(folder / MERGES, clock)
        self._write_table = write
        self._ordered = write is in_order
        self._next = clock() + SECONDS
        self._took = 0.0

    # ---- what was found ----

    def read(self) -> None:
        """Take the state that is there. `CheckpointError` if it cannot be used, or is of something else."""
        self.state = read_state(self.folder)
        if self.state is not None:
            merging = self.whole and any((self.folder / name).exists() for name in (MERGES, PIECES))
            compare(self.folder, self.state, self.plan, self.files, merging)
            self._take_order(self.state)
            self._take_table(self.state)
        for name in os.listdir(self.folder):
            left = name.endswith(".tmp") or name.startswith("counts-") or name in (MERGES, PIECES)
            if OURS.fullmatch(name) and left and name not in self._used:
                (self.folder / name).unlink()
        if self.whole:
            self.journal.open(self.run)

    def _take_table(self, state: State) -> None:
        """Whether there is a table depends on the memory limit of the run that wrote it."""
        may = self.tabled or self.limited
        if (state.table is not None and not may) or (state.table is None and not state.whole):
            raise unusable(self.folder / STATE, "contradicts itself")
        if self.limited and not state.whole:
            raise CheckpointError(
                f"{self.folder}: a checkpoint of a training without memory_limit, which has not counted all "
                f"yet: go on without it, or {way_out(self.folder)}"
            )
        self.tabled = state.table is not None

    def _take_order(self, state: State) -> None:
        """Tables that are written by parts have no order, by which some ties go."""
        self._ordered = self._ordered and state.ordered
        if state.table is not None and not state.ordered and self.plan.get("tie_break") == "first-seen":
            raise CheckpointError(
                f"{self.folder}: a checkpoint of a training under memory_limit, whose counts have no order: "
                f"tie_break='first-seen' asks for it; ask for another, or {way_out(self.folder)}"
            )

    @property
    def _used(self) -> set[str]:
        """Names of files that the state stands on."""
        if self.state is None:
            return set()
        learned = {MERGES, PIECES} if self.state.whole else set()
        return {*learned, self.state.table or ""}

    @property
    def whole(self) -> bool:
        """Whether all was counted."""
        return self.state is not None and self.state.whole

    @property
    def run(self) -> str:
        """The name of this training."""
        return secrets.token_hex(8) if self.state is None else self.state.run

    @property
    def seen(self) -> Seen:
        """How far the corpus was read."""
        return Seen() if self.state is None else self.state.seen

    @property
    def unchanged(self) -> bool:
        """Whether the corpus is of files, and they are those of then, by name, size and time of change."""
        return self.state is not None and self.files is not None and self.files == self.state.files

    def feed_counts(self, trainer: Counts) -> None:
        """Give the table to the engine, in the order of first appearance."""
        if self.state is None or self.state.table is None:
            return
        path = self.folder / self.state.table
        for data, ends, counts in read_counts(path):
            try:
                trainer.feed_counts(data, ends, counts)
            except ValueError as error:  # `TrainingError` is one
                raise CheckpointError(
                    f"{path} is damaged ({error}): this checkpoint cannot be used; {way_out(self.folder)}"
                ) from error

    def pieces(self) -> Scored | None:
        """The pieces that were left of a unigram model; None if there are none yet."""
        path = self.folder / PIECES
        if not self.whole or not path.exists():
            return None
        blocks = list(read_counts(path))
        data = b"".join(text for text, _ends, _scores in blocks)
        sizes = [np.diff(ends, prepend=np.uint64(0)) for _text, ends, _scores in blocks]
        ends = np.cumsum(np.concatenate(sizes), dtype=np.uint64) if sizes else np.empty(0, np.uint64)
        run = len(self.run)
        if not len(ends) or ends[0] != run or data[:run] != self.run.encode():
            raise unusable(path, "is of another training")
        scores = np.concatenate([scores for _text, _ends, scores in blocks])[1:].view(np.float64)
        return data[run:], ends[1:] - np.uint64(run), scores

    # ---- what is written ----

    def given(self, size: int) -> None:
        """All is counted by a table that was given, of so many bytes of text; merging begins."""
        if not self.whole:
            self._write(None, Seen(), True, size, dataclasses.asdict(Report()))

    @property
    def due(self) -> bool:
        """Whether it is time to write, while counting."""
        return clock() >= self._next

    @property
    def brief(self) -> bool:
        """Whether writing took so short last that there is time for it when somebody waits for the end."""
        return self._took < 0.5

    def save(
        self, trainer: Counts, seen: Seen, *, whole: bool = False, size: int = 0, report: Any = None
    ) -> None:
        """Write the table as it is, and the state. Raises `OSError` with the path; the old ones stay then.

        whole: all is counted. size, report: of the corpus, then.
        """
        begun = clock()
        old = self.state.table if self.state is not None else None
        table = None
        if self.tabled:
            number = TABLE.fullmatch(old or "")
            table = f"counts-{int(number[1]) + 1 if number else 0}.bin"
            self._write_table(self.folder / table, trainer)
        self._write(table, seen, whole, size, report or {})
        if old is not None:
            files.remove(self.folder / old)
        now = clock()
        self._took = now - begun
        self._next = now + max(SECONDS, SHARE * self._took)

    def begin_merges(self, symbols: list[bytes]) -> None:
        """Merging begins with these tokens. Raises `OSError` with the path."""
        state = self.state
        if state is not None and state.plan != self.plan:  # of merging, which may change until now
            self._write(state.table, state.seen, state.whole, state.size, state.report)
        self.journal.begin(self.run, symbols)

    def keep_pieces(self, data: bytes, ends: NDArray[np.uint64], scores: NDArray[np.float64]) -> None:
        """The pieces of a unigram model after a round. Raises `OSError` with the path."""
        state, run = self.state, self.run.encode()
        if state is not None and state.plan != self.plan:
            self._write(state.table, state.seen, state.whole, state.size, state.report)
        first = np.array([len(run)], np.uint64)
        ends = np.concatenate([first, ends + first[0]])
        columns = np.concatenate([np.zeros(1, np.uint64), scores.view(np.uint64)])
        write_counts(self.folder / PIECES, run + data, ends, columns, np.arange(len(ends), dtype=np.uint64))

    def _write(self, table: str | None, seen: Seen, whole: bool, size: int, report: dict[str, Any]) -> None:
        state = State(self.run, self.plan, self.files, whole, table, seen, size, report, self._ordered)
        write_atomic(self.folder / STATE, state_bytes(state))
        self.state = state


@contextlib.contextmanager
def opened(
    folder: str | os.PathLike[str] | None,
    options: Options,
    source: Corpus | PieceTable,
    more: Mapping[str, object],
    tabled: bool = True,
    write: Writes = in_order,
) -> Iterator[Checkpoint | None]:
    """The checkpoint in a folder, made if it is not there, and nobody else's meanwhile; None for none.

    more: plain JSON values besides options and source that decide the result. tabled: what is counted may
        be kept: not of every training under a limit of memory. write: puts it into a file.
    Raises `CheckpointError` for a folder that holds something else, or a checkpoint of something else, or
    is in use; `TrainingError` for an empty name; `OSError` with the path.
    """
    if folder is None:
        yield None
        return
    if not isinstance(folder, (str, os.PathLike)):
        raise TypeError(f"checkpoint is {folder!r}: give str or PathLike, or None")
    if not os.fspath(folder):  # subtle: Path("") is the current folder
        raise TrainingError("checkpoint is empty: give a folder, or None")
    path = Path(folder)
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder, for a checkpoint in it", str(path.parent))
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(20, "is a file, not a folder for a checkpoint", str(path))
    plan = plan_of(options, source, more)
    if isinstance(source, PieceTable):
        kept = Checkpoint(path, plan, None, tabled=False)
    else:
        words = isinstance(options, TrainOptions) and options.unit == "word"
        kept = Checkpoint(path, plan, file_list(source), not words, not tabled, write)
    path.mkdir(exist_ok=True)
    foreign = sorted(name for name in os.listdir(path) if not OURS.fullmatch(name))
    if foreign and not (path / STATE).exists():
        raise CheckpointError(
            f"{path}: holds {foreign[0]}, which is of no checkpoint; give a folder of its own"
        )
    check_folder(path)
    with _held(path):
        try:
            kept.read()
            yield kept
        finally:
            _close(kept.journal)


def _held(path: Path) -> contextlib.AbstractContextManager[None]:
    """`CheckpointError` if another process has the folder; at the end it goes, if nothing was kept in it."""

    def let_go() -> None:
        if not holds(path):
            remove(path)

    busy = CheckpointError(
        f"{path}: another process is training with this checkpoint; wait for it, or give another folder"
    )
    return locks.holding(path / LOCK, let_go, busy)


def _close(journal: Journal) -> None:
    """Close it; a disk that is full has been told of before, or does no harm: what is there is used."""
    with contextlib.suppress(OSError):
        journal.close()


def remove(folder: str | os.PathLike[str]) -> None:
    """Remove a checkpoint: its files, and the folder if nothing else is in it."""
    path = Path(folder)
    names = [name for name in os.listdir(path) if OURS.fullmatch(name)] if path.is_dir() else []
    for name in sorted(names, key=lambda name: (name != STATE, name)):
        (locks.remove if name == LOCK else files.remove)(path / name)
    with contextlib.suppress(OSError):
        path.rmdir()


def holds(folder: str | os.PathLike[str]) -> bool:
    """Whether there is a checkpoint in a folder; it may be of anything."""
    return (Path(folder) / STATE).is_file()
