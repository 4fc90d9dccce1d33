"""`count_pieces`: a corpus, and tables, to one table in a file, within a limit of memory.

What is counted is never held whole: the engine keeps to the limit with sorted files in the system's temporary
folder, merges these, and the table is written as the rows come; it is the one that `PieceCounts` makes, byte
for byte. Leaves out: a table in memory (`pieces`), what files look like (`file`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from syllabary import piece_table
from syllabary._engine import Trainer
from syllabary.arguments import listed, thread_count
from syllabary.corpus import Source
from syllabary.corpus.corpus import Corpus
from syllabary.counts import file as counts_file
from syllabary.counts.pieces import Split, count_text, fed_by, purpose, rules_of, rules_told
from syllabary.counts.sums import about_both, check_alike, past_largest
from syllabary.errors import TrainingError
from syllabary.piece_table import LARGEST, Rules, Takes, feed, rows_of, total_of
from syllabary.progress import Report, reporter
from syllabary.spec import Form
from syllabary.training.checkpoint import in_blocks, opened
from syllabary.training.memory import limited

SOUGHT = 1_000  # pieces whose count may be past the most


@dataclass(frozen=True, slots=True)
class Counted:
    """A table that is counted, and perhaps on disk. A `piece_table.Rows`.

    pieces: distinct ones. total: all of them. The rest as of `PieceTable`.
    """

    pieces: int
    total: int
    rules: Rules
    size: int | None
    documents: int | None
    corpus: Mapping[str, object] | None
    trainer: Trainer

    def __len__(self) -> int:
        """Distinct pieces."""
        return self.pieces

    def hand(self, put: Takes, by_frequency: bool = False) -> None:
        """Give the rows to `put` in batches, in order of their bytes; or, last, the frequent ones first."""

        def take(data: bytes, ends: Any, counts: Any) -> None:
            put((np.frombuffer(data, np.uint8), ends, counts))

        self.trainer.hand_counts(take, by_frequency, (piece_table.HAND_ROWS, piece_table.HAND_BYTES))


def count_pieces(
    source: Source | Corpus | None,
    output: str | os.PathLike[str],
    *,
    tables: Sequence[str | os.PathLike[str]] = (),
    like: str | None = None,
    split: Split = ...,
    special_tokens: Sequence[str] = (),
    normalize: Form | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
    memory_limit: int | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> tuple[int, int]:
    """Count the pieces of a corpus into a file, and add tables that are files; distinct pieces, and all.

    The file is the one that `PieceCounts.save` writes of the same text, and of the sum with these tables, but
    the table need not fit into memory. It is there whole or not at all.

    source: as for `syllabary.train`; None: only tables are added.
    output: `.parquet`, `.tsv` or `.txt`, as for `PieceCounts.save`.
    tables: files, as for `PieceCounts.load`, which decide how the text is cut where there are any.
    like, split, special_tokens, normalize: as for `PieceCounts.of`; of a table they must be true.
    memory_limit: bytes, or as "256 MiB" (80 MiB or more): so much memory at most is taken on top of what the
        process has; pieces that exceed it go to files in the system's temporary folder.
    checkpoint: a folder, as for `syllabary.train`; under a limit too: what was counted is kept in files.

    Raises as `PieceCounts.of`, `load`, `sum` and `save` do; `TrainingError` for a limit that is none or too
    small.

    >>> import syllabary, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     syllabary.count_pieces(["to be or not to be"], f"{folder}/a.tsv", split="whitespace-split")
    (4, 6)
    """
    path = Path(output)
    counts_file.check_place(path)
    told = {"like": like, "split": split, "special_tokens": special_tokens, "normalize": normalize}
    with (
        reporter(progress) as report,
        counting(
            source,
            tables,
            told,
            threads=threads,
            report=report,
            memory_limit=memory_limit,
            checkpoint=checkpoint,
        ) as found,
    ):
        counts_file.save(found, path)
        return found.pieces, found.total


@contextmanager
def counting(
    source: Source | Corpus | None,
    tables: Sequence[str | os.PathLike[str]],
    told: Mapping[str, Any],
    *,
    threads: int | None = None,
    report: Report | None = None,
    memory_limit: int | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Iterator[Counted]:
    """The table of a corpus and of tables while it is counted, and perhaps on disk; as `count_pieces`.

    told: like, split, special_tokens and normalize, those that are said.
    """
    if source is None and checkpoint is not None:
        raise TrainingError(
            "a checkpoint is of a text that is counted, and there are tables alone: leave it out"
        )
    files = [Path(name) for name in listed("tables", tables, (str, os.PathLike))]
    rules, abouts = _rules(source, files, told)
    read = source if isinstance(source, Corpus) or source is None else Corpus(source)
    like = told.get("like")
    with limited(memory_limit) as room:
        if read is None:
            trainer = Trainer(Rules(rules.split).options(), 1, room)
        else:
            trainer = Trainer(fed_by(rules, like, read), thread_count(threads), room)
            with opened(checkpoint, rules.options(), read, purpose(like), write=in_blocks) as kept:
                abouts.append(count_text(trainer, read, rules, report, kept))
                trainer.finish()
        total = _add(trainer, files)
        pieces = trainer.distinct_pieces
        about = abouts[0]
        for more in abouts[1:]:
            about = about_both(about, more)
        yield Counted(pieces, total, rules, **about, trainer=trainer)


def _rules(
    source: object, files: Sequence[Path], told: Mapping[str, Any]
) -> tuple[Rules, list[dict[str, Any]]]:
    """How text is cut, and what is known of the text of each table; all contradictions are found here."""
    told = {"like": None, "split": ..., "special_tokens": (), "normalize": None, **told}
    rules: Rules | None = None
    abouts: list[dict[str, Any]] = []
    for path in files:
        said, about = counts_file.about(path)
        found = rules_told(path, said, **told)
        if rules is None:
            rules = found
        check_alike(f"{path}", f"{files[0]}", rules, found)
        abouts.append({"size": None, "documents": None, "corpus": None, **about})
    if rules is None:
        if source is None:
            raise TrainingError("there is nothing to count: give a source, or tables")
        rules = rules_of(**told)
    return rules, abouts


def _add(trainer: Trainer, files: Sequence[Path]) -> int:
    """Add tables to what is counted; all of it. `TrainingError` with a file for a count past 2^64-1."""
    total = trainer.total
    for path in files:
        for (data, ends, counts), _ascending in counts_file.batches(path):
            feed(trainer, data, ends, counts)
            total += total_of(counts)
    if files and trainer.total != total:
        raise _past_largest(trainer, files)
    return total


def _past_largest(trainer: Trainer, files: Sequence[Path]) -> TrainingError:
    """The error with the file from which a count is past the most; where the text alone makes it so with the
    last file that has the piece, with that."""
    sums: dict[bytes, int] = {}

    def note(data: bytes, ends: Any, counts: Any) -> None:
        found = np.flatnonzero(counts == LARGEST)[: SOUGHT - len(sums)].tolist()
        sums.update((data[int(ends[row - 1]) if row else 0 : int(ends[row])], 0) for row in found)

    trainer.hand_counts(note, False, (piece_table.HAND_ROWS, piece_table.HAND_BYTES))
    last = files[-1], b""
    for path in files:
        for arrays, _ascending in counts_file.batches(path):
            for piece, count in rows_of(arrays):
                if piece in sums:
                    last, sums[piece] = (path, piece), sums[piece] + count
                    if sums[piece] > LARGEST:
                        return past_largest(*last)
    return past_largest(*last)
