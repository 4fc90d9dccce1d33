"""A corpus counted: the trainer that has taken all of it, ready to learn.

Leaves out: how documents reach the engine (`training_feed`), and learning (`training_learning`).
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from syllabary._engine import Trainer
from syllabary.corpus.corpus import Corpus
from syllabary.progress import Report
from syllabary.spec import TrainOptions
from syllabary.training_feed import feed, no_piece


def counted(
    read: Corpus,
    options: TrainOptions,
    threads: int,
    report: Report | None,
    room: tuple[int, Path] | None = None,
) -> tuple[Trainer, int]:
    """The trainer, and how many bytes of text it has taken; `CorpusError` if there is no piece in them.

    room: the most memory, and the folder for what exceeds it.
    """
    # Text to be normalized comes without special tokens: what looks like one afterwards is none in `encode`.
    uncut = options if options.normalize is None else dataclasses.replace(options, cut_special=False)
    trainer = Trainer(uncut, threads, room)
    size = feed(trainer, read.parts(options.normalize is not None, plain=True), options, report)
    if trainer.distinct_pieces == 0:
        raise no_piece(size)
    return trainer, size
