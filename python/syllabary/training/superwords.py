"""`train(..., superwords=N)`: two stages, of which the second joins words.

`reference/train_superwords.py` defines it, the engine computes it. Adds reading the text twice. Leaves out:
the arguments of `train` (`call`).
"""

from __future__ import annotations

import dataclasses

import numpy as np

from syllabary import splits
from syllabary.arguments import LARGEST
from syllabary.corpus.corpus import Corpus
from syllabary.corpus.sources import Source, only_once
from syllabary.errors import CorpusError
from syllabary.progress import Report
from syllabary.reference.assemble import assemble, warn_early_stop
from syllabary.reference.train_superwords import check_superwords, first_stage, second_stage
from syllabary.spec import TrainOptions
from syllabary.tokenizer import Tokenizer
from syllabary.training.counted import corpus_record, counted
from syllabary.training.feed import check_same
from syllabary.training.learning import learn, with_learned
from syllabary.training.memory import Room

ACROSS = "superwords"


def train_superwords(
    read: Corpus,
    options: TrainOptions,
    superwords: int,
    *,
    threads: int,
    report: Report | None,
    room: Room | None = None,
) -> Tokenizer:
    """Learn a tokenizer whose merges cross pieces from `superwords` tokens on.

    Raises `CorpusError` for an iterator or a pipe, which can be read once only, or a text that has changed
    between the stages; the rest as `training.train`.
    room: the most memory, and the folder for what exceeds it.
    """
    check_superwords(options, superwords)
    check_read_twice(read.source)
    trainer, size = counted(read, options, threads, report, room)
    most = max(superwords - len(options.special_tokens), 0)
    merges = LARGEST if options.num_merges is None else options.num_merges
    alphabet, pairs, counts = learn(trainer, options, (most, merges), report, None)
    first_stage(options, superwords, len(alphabet))  # raises if the alphabet alone is too large
    second = second_stage(options, splits.get(ACROSS), len(alphabet), len(pairs))
    start = with_learned(None, (alphabet, pairs, counts))
    trainer, again = counted(read, second, threads, report, room)
    limits = LARGEST, second.num_merges or 0
    known, more, more_counts = learn(trainer, second, limits, report, None, start)
    check_same(size == again and len(known) == len(start[0]))
    learned = [(left, right) for left, right in np.concatenate([pairs, more]).tolist()]
    spec = assemble(dataclasses.replace(options, split=second.split), alphabet, learned)
    warn_early_stop(options, len(alphabet), len(learned), stacklevel=4)
    record = {
        **spec.record,
        "like": None,
        "corpus_bytes": size,
        "counts": np.concatenate([counts, more_counts]).tolist(),
        "superwords": {
            "from": superwords,
            "split": options.split.name or options.split.pattern,
            "merges": len(more),
        },
        **corpus_record(read),
    }
    return Tokenizer(dataclasses.replace(spec, record=record))


def check_read_twice(source: Source) -> None:
    """`CorpusError` for what can be read once only."""
    once = only_once(source)
    if once == "an iterator":
        raise CorpusError(
            "superwords reads the text twice, and an iterator can be read once: give a list of documents, "
            "or paths"
        )
    if once is not None:
        raise CorpusError(
            f"{once}: is a pipe, which can be read once, and superwords reads the text twice: "
            "save it to a file first"
        )
