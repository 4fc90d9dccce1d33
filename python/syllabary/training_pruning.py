"""The rounds of a unigram model: told how far they are, and kept after each.

With a checkpoint, the pieces that an earlier run had left are what this one starts from. Leaves out: what a
round is (`reference.train_unigram`), and the file (`training_checkpoint`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from syllabary.progress import Report
from syllabary.training_checkpoint import PIECES, Checkpoint
from syllabary.training_feed import pruning
from syllabary.training_learning import fitting


def pruned(
    learn: Callable[[Any, Any, Any], list[tuple[str, float]]],
    settings: Any,
    report: Report | None,
    kept: Checkpoint | None,
) -> list[tuple[str, float]]:
    """The pieces that are left, with their scores.

    learn: the engine's, given what is told, the pieces to start from, and what is given those of each round.
    `CheckpointError` for pieces that are not of this text.
    """
    told = pruning(report, settings.desired)
    known = None if kept is None else kept.pieces()
    with fitting(kept, None if kept is None else kept.folder / PIECES):
        return learn(told, known, None if kept is None else kept.keep_pieces)
