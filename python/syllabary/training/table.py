"""Training from a table of counts: which options the table has decided, and its way into the trainer.

`reference/counts.py` says what cannot be learned from one. Leaves out: the table (`piece_table`), and the
training (`call`).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from syllabary._engine import Trainer
from syllabary.errors import CorpusError, TrainingError
from syllabary.piece_table import LARGEST, PieceTable, Rules
from syllabary.reference.counts import check_orderless
from syllabary.spec import TrainOptions

Arguments = dict[str, Any]


def take_options(
    table: PieceTable, like: str | None, given: Arguments, same: Arguments, cut: bool
) -> tuple[Arguments, Arguments]:
    """The arguments of `train`, with those that the table has decided where they were not given.

    cut: whether `like` cuts text at special tokens. With `like` the split stays that tool's, so that a table
    by another rule is found out (`check_table`).
    """
    rules = table.rules
    if given["split"] is ... and like is None:
        given = given | {"split": rules.split}
    if given["normalize"] is None:
        given = given | {"normalize": rules.normalize}
    if cut and not same["special_tokens"]:
        same = same | {"special_tokens": rules.special_tokens}
    return given, same


def check_table(table: PieceTable, options: TrainOptions, like: str | None = None) -> None:
    """`TrainingError` for options that contradict the table, or that no table can serve."""
    check_orderless(options)
    cut = options.special_tokens if options.cut_special else ()
    if different := Rules(options.split, cut, options.normalize).differences(table.rules):
        tool = "" if like is None else f" like={like!r}"
        raise TrainingError(
            f"training{tool} and the table of counts differ in {' and in '.join(different)}: what a table "
            f"has decided stays so; give what it has, or count the text again{tool}"
        )


def feed_table(trainer: Trainer, table: PieceTable, options: TrainOptions) -> int:
    """Hands the table to a trainer; the bytes of text that it stands for.

    Raises `CorpusError` if it is empty, `TrainingError` if a piece holds the end-of-word mark, or if pairs
    could occur more often than can be counted.
    """
    if not len(table):
        raise CorpusError("the table of counts is empty: it holds no piece")
    if options.end_of_word is not None:
        _check_mark(table, options.end_of_word)
    if (weight := table.weight()) > LARGEST:
        raise TrainingError(
            f"the pieces of the table, as often as they occur, have {weight} bytes, and {LARGEST} is the "
            "most that can be counted: divide the counts"
        )
    table.feed(trainer)
    return table.bytes


def _check_mark(table: PieceTable, mark: str) -> None:
    """`TrainingError` for a piece that holds the end-of-word mark."""
    sought = mark.encode()
    for match in re.finditer(b"(?=" + re.escape(sought) + b")", table.data.data):
        row = int(np.searchsorted(table.ends, np.uint64(match.start()), side="right"))
        if match.start() + len(sought) <= int(table.ends[row]):
            piece = next(table.pieces(np.array([row])))
            raise TrainingError(f"piece {piece!r} holds the end_of_word mark {mark!r}: choose another mark")
