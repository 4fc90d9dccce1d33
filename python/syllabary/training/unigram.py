"""`train(model="unigram")`, our own way.

Adds which arguments go with it, and the way of words through the engine. Leaves out: what is learned and the
finished tokenizer (`reference.train_unigram_own`), and the ways of other tools (`sentencepiece`,
`huggingface`).
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from syllabary._engine import Trainer, learn_unigram_of
from syllabary.arguments import bounded, text_or_none
from syllabary.corpus.corpus import Corpus
from syllabary.errors import TrainingError
from syllabary.piece_table import PieceTable
from syllabary.progress import Report
from syllabary.reference.assemble import check_options
from syllabary.reference.train_unigram_own import finish, room_of, settings_of, warn_of_few
from syllabary.spec import SplitSpec, TrainOptions
from syllabary.splits import get
from syllabary.tokenizer import Tokenizer
from syllabary.training.checkpoint import Checkpoint, opened
from syllabary.training.counted import corpus_record, count_corpus
from syllabary.training.feed import no_piece, uncut
from syllabary.training.learning import pruned
from syllabary.training.memory import Room, limited

TAKEN = ("split", "normalize")  # arguments, beside those that all tools take


def options_of_unigram(source: object, given: Mapping[str, Any], same: Mapping[str, Any]) -> TrainOptions:
    """The options of a call of `train`, checked; a table decides how it was cut.

    given: arguments, `...` or None where they are not given. same: those that all tools take. Raises
    `TrainingError` for an argument that does not go with the model.
    """
    if isinstance(source, PieceTable):
        rules = source.rules
        given = {**given, "split": rules.split, "normalize": rules.normalize}
        same = {**same, "special_tokens": rules.special_tokens}
    for name, value in given.items():
        if name not in TAKEN and value is not ... and value is not None:
            raise TrainingError(f"{name} does not go with model='unigram': leave it out")
    if same["fallback"]:
        raise TrainingError("fallback does not go with model='unigram': it spells with bytes in any case")
    sizes = {
        name: None if same[name] is None else bounded(name, same[name])
        for name in ("vocab_size", "max_token_length")
    }
    split = "o200k" if given["split"] is ... else given["split"]
    if not isinstance(split, SplitSpec):
        text_or_none("split", split)
        split = get(split)
    options = TrainOptions(
        split,
        vocab_size=32_000 if sizes["vocab_size"] is None else sizes["vocab_size"],
        special_tokens=same["special_tokens"],
        max_token_length=sizes["max_token_length"],
        normalize=given["normalize"],
        alphabet="seen",
    )
    check_options(options)
    room_of(options)
    return options


def train_unigram(
    read: Corpus | PieceTable,
    options: TrainOptions,
    *,
    threads: int,
    report: Report | None,
    checkpoint: str | os.PathLike[str] | None = None,
    memory_limit: int | str | None = None,
) -> Tokenizer:
    """Learn a tokenizer; raises as `reference.train_unigram_own.train`, and as `training.train`."""
    with (
        limited(memory_limit) as room,
        opened(checkpoint, options, read, {"model": "unigram"}, room is None) as kept,
    ):
        return _trained(read, options, threads, report, room, kept)


def _trained(
    read: Corpus | PieceTable,
    options: TrainOptions,
    threads: int,
    report: Report | None,
    room: Room | None,
    kept: Checkpoint | None,
) -> Tokenizer:
    trainer = Trainer(uncut(options), threads, room)
    if isinstance(read, PieceTable):
        read.feed(trainer)
        size = read.bytes
        if kept is not None:
            kept.given(size)
    else:
        size = count_corpus(trainer, read, options, report, kept)
    trainer.finish()
    if trainer.distinct_pieces == 0:
        raise no_piece(size)
    settings = settings_of(options)
    pieces = pruned(partial(learn_unigram_of, trainer, settings), settings, report, kept)
    spec = finish(pieces, options)
    warn_of_few(spec, options, stacklevel=4)
    record = {**spec.record, "like": None, "corpus_bytes": size, **corpus_record(read)}
    return Tokenizer(dataclasses.replace(spec, record=record))
