"""The counting stage: all of a corpus, or of a table, into a trainer, with a checkpoint if there is one.

Leaves out: how documents reach the engine (`feed`), how a checkpoint follows them (`watched`), and learning
(`learning`).
"""

from __future__ import annotations

from syllabary._engine import Trainer
from syllabary.corpus.corpus import Corpus
from syllabary.piece_table import PieceTable
from syllabary.progress import Report
from syllabary.spec import TrainOptions
from syllabary.training.checkpoint import Checkpoint
from syllabary.training.feed import Takes, feed, no_piece, uncut
from syllabary.training.memory import Room
from syllabary.training.table import check_table, feed_table
from syllabary.training.watched import count


def counted(
    read: Corpus, options: TrainOptions, threads: int, report: Report | None, room: Room | None = None
) -> tuple[Trainer, int]:
    """A trainer that has taken the whole corpus, and how many bytes of text that was.

    `CorpusError` if there is no piece in them.
    """
    trainer = Trainer(uncut(options), threads, room)
    size = count_corpus(trainer, read, options, report)
    if trainer.distinct_pieces == 0:
        raise no_piece(size)
    return trainer, size


def count_corpus(
    trainer: Trainer,
    read: Corpus,
    options: TrainOptions,
    report: Report | None,
    kept: Checkpoint | None = None,
) -> int:
    """Count a corpus, with a checkpoint only what was not counted before; the bytes of its text.

    The trainer was made with `uncut(options)`. Raises as `feed.feed` and `watched.count`.
    """
    normalized = options.normalize is not None

    def feeding(taker: Takes) -> int:
        return feed(taker, read.parts(normalized, plain=True), options, report)

    return count(trainer, read, normalized, feeding, kept)


def count_table(
    trainer: Trainer, table: PieceTable, options: TrainOptions, like: str | None, kept: Checkpoint | None
) -> int:
    """The same of a table of counts; raises as `check_table` and `feed_table`."""
    check_table(table, options, like)
    size = feed_table(trainer, table, options)
    if kept is not None:
        kept.given(size)
    return size


def corpus_record(source: Corpus | PieceTable) -> dict[str, object]:
    """How the text was read, as `corpus` of a tokenizer's record, if that tells more than how much it was."""
    if isinstance(source, PieceTable):
        return {} if source.corpus is None else {"corpus": source.corpus}
    return {"corpus": source.record()} if source.says_more else {}
