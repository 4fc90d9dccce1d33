"""The loop over the engine's merging: slices of time, between which progress is told and merges are kept.

With a checkpoint, what an earlier run has learned is where this one starts: the engine spells the pieces
with those merges, and goes on. The rounds of a unigram model likewise (`pruned`). Leaves out: what a merge
and a round are (`reference.train`, `train_unigram`), and the files (`checkpoint`).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syllabary._engine import Trainer
from syllabary.errors import CheckpointError, TrainingError
from syllabary.progress import Progress, Report
from syllabary.spec import TrainOptions
from syllabary.training.checkpoint import PIECES, Checkpoint
from syllabary.training.checkpoint_files import Merges, way_out
from syllabary.training.feed import tell

SLICE = 0.1  # seconds: progress is told, and merges are kept, so often
MOST: int | None = None  # merges of a slice, at most; None: as many as there is time for

# Tokens, and merges of them as (left, right, result), indices into the tokens, in the order of their ranks.
Start = tuple[list[bytes], NDArray[np.uint32]]
# The symbols that were there before the first merge, the merges in local ids, (n, 2), and their counts, (n,).
Learned = tuple[list[bytes], NDArray[np.uint32], NDArray[np.uint64]]
# Merges that are known, and what is given new ones, so often in seconds.
Followed = tuple[
    Merges | None, tuple[Callable[[NDArray[np.uint32], NDArray[np.uint64]], object], float] | None
]


def learn(
    trainer: Trainer,
    options: TrainOptions,
    limits: tuple[int, int],
    report: Report | None,
    kept: Checkpoint | None,
    start: Start | None = None,
    check: Callable[[int], object] | None = None,
) -> Learned:
    """Learn the merges of what was counted; with a checkpoint, those that it does not have.

    limits: the most tokens and the most merges. start: what the pieces are spelled with before the first
        merge; its tokens are among those that there may be. check: is called with the number of symbols, and
        raises if they are too many; then no merging has begun.
    """
    known = _journal(kept)
    most_tokens, most_merges = limits
    begun = start if known is None else with_learned(start, known)
    done = 0 if known is None else len(known[1])
    merging = trainer.merging(options, most_tokens, max(most_merges - done, 0), begun)
    symbols = merging.tokens[: len(merging.tokens) - done]
    if check is not None:
        check(len(symbols))
    if kept is not None and known is None:
        kept.begin_merges(symbols)
    elif kept is not None and begun is not None and merging.tokens != begun[0]:
        raise _misfit(kept)
    pairs, counts = (known[1], known[2]) if known is not None else _nothing()
    teller = _Teller(report, [*symbols], min(most_merges, max(most_tokens - len(symbols), 0)))
    teller.learned(pairs, counts)
    found = [(pairs, counts)]
    while not merging.done:
        pairs, counts = merging.step(SLICE, MOST)
        if kept is not None:
            kept.journal.append(pairs, counts)
        found.append((pairs, counts))
        teller.learned(pairs, counts)
    pairs = np.concatenate([pairs for pairs, _ in found])
    tell(report, Progress("merging", len(pairs), len(pairs), None))
    return symbols, pairs, np.concatenate([counts for _, counts in found])


def begin(kept: Checkpoint, symbols: list[bytes]) -> Merges | None:
    """What was learned before, of the same symbols; None, and merging begins, if nothing was."""
    if not kept.journal.is_open:
        kept.begin_merges(symbols)
        return None
    if kept.journal.symbols != symbols:
        raise _misfit(kept)
    return kept.journal.merges


def followed(kept: Checkpoint | None, symbols: Callable[[], list[bytes]]) -> Followed:
    """What an engine that learns in one call is told: what was learned before, what keeps the rest, and how
    often, in seconds. symbols: those before the first merge."""
    if kept is None:
        return None, None
    known = begin(kept, symbols())
    return known, (kept.journal.append, SLICE if MOST is None else 0.0)


@contextlib.contextmanager
def fitting(kept: Checkpoint | None, path: Path | None = None) -> Iterator[None]:
    """The engine's error for what is not of the text that was counted is a `CheckpointError`."""
    try:
        yield
    except TrainingError as error:
        if kept is None or "of a checkpoint" not in str(error):
            raise
        raise _misfit(kept, path) from error


def merging(report: Report | None, total: int) -> Callable[[int, int], None] | None:
    """What an engine that learns in one call tells of its merges: how many of `total`, and the last one's
    count."""
    if report is None:
        return None
    return lambda done, count: tell(report, Progress("merging", done, total, count))


def pruned(
    learn: Callable[[Any, Any, Any], list[tuple[str, float]]],
    settings: Any,
    report: Report | None,
    kept: Checkpoint | None,
) -> list[tuple[str, float]]:
    """The pieces of a unigram model that are left after all rounds, with their scores.

    learn: the engine's, given what is told, the pieces to start from, and what is given those of each round.
    `CheckpointError` for pieces that are not of this text.
    """
    told = None if report is None else _pruning(report, settings.desired)
    if kept is None:
        return learn(told, None, None)
    known = kept.pieces()
    with fitting(kept, kept.folder / PIECES):
        return learn(told, known, kept.keep_pieces)


def _pruning(report: Report, desired: int) -> Callable[[int, int], None]:
    """What the engine tells of the pieces that are left, for `report`: how far it is to `desired`, of 100."""
    first = 0

    def told(left: int, _count: int) -> None:
        nonlocal first
        first = max(first, left)
        way = math.log(max(first, 1) / max(desired, 1))
        done = math.log(first / left) / way if left and way > 0 else 0.0
        tell(report, Progress("pruning", min(int(100 * done), 100), 100))

    return told


def _misfit(kept: Checkpoint, path: Path | None = None) -> CheckpointError:
    return CheckpointError(
        f"{path or kept.journal.path} does not fit the text that was counted: this checkpoint cannot be "
        f"used; {way_out(kept.folder)}"
    )


def _nothing() -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    return np.empty((0, 2), np.uint32), np.empty(0, np.uint64)


def _journal(kept: Checkpoint | None) -> Learned | None:
    """What was learned before; None if no merging has begun."""
    if kept is None or not kept.journal.is_open:
        return None
    return kept.journal.symbols, *kept.journal.merges


def with_learned(start: Start | None, known: Learned) -> Start:
    """The start of a run that goes on after what is known: all tokens so far, and all merges."""
    symbols, pairs, _counts = known
    tokens = list(symbols)
    for left, right in pairs.tolist():
        tokens.append(tokens[left] + tokens[right])
    results = np.arange(len(symbols), len(tokens), dtype=np.uint32)[:, None]
    rows = np.concatenate([pairs, results], axis=1)
    before = np.empty((0, 3), np.uint32) if start is None else start[1]
    return tokens, np.concatenate([before, rows])


class _Teller:
    """Tells how many merges there are, and the last."""

    def __init__(self, report: Report | None, tokens: list[bytes], total: int) -> None:
        self._report, self._tokens, self._total, self._done = report, tokens, total, 0

    def learned(self, pairs: NDArray[np.uint32], counts: NDArray[np.uint64]) -> None:
        """So many merges more."""
        if self._report is None:
            return
        last: Any = None
        for left, right in pairs.tolist():
            last = self._tokens[left], self._tokens[right]
            self._tokens.append(last[0] + last[1])
        self._done += len(pairs)
        count = int(counts[-1]) if len(counts) else None
        tell(self._report, Progress("merging", self._done, self._total, count, last))
