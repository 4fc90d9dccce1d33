"""`train(model="unigram")`: our own way, and as the trainers of sentencepiece and Hugging Face do it.

Adds which arguments go with it, and the way of words through the engine. Leaves out: what is learned and the
finished tokenizer (`reference.train_unigram_own`, `…_sentencepiece`, `…_huggingface`), sentences
(`training_sentencepiece`), and Hugging Face's words (`training_huggingface`).
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from syllabary._engine import Trainer, learn_unigram_of
from syllabary.arguments import bounded, given_options, text_or_none
from syllabary.corpus.corpus import Corpus
from syllabary.errors import TrainingError
from syllabary.piece_table import PieceTable
from syllabary.progress import Report
from syllabary.reference.assemble import check_options
from syllabary.reference.train_unigram_own import finish, room_of, settings_of, warn_of_few
from syllabary.spec import SplitSpec, TrainOptions
from syllabary.splits import get
from syllabary.tokenizer import Tokenizer
from syllabary.training_checkpoint import Checkpoint, opened
from syllabary.training_feed import Takes, feed, no_piece
from syllabary.training_huggingface import check_cut, train_huggingface
from syllabary.training_huggingface_options import SCORED, Family, setup_of_call
from syllabary.training_memory import Room, limited
from syllabary.training_pruning import pruned
from syllabary.training_sentencepiece import options_of_call, told_of, train_sentencepiece
from syllabary.training_watched import count as counted_by

Arguments = tuple[dict[str, Any], dict[str, Any], Any]
# Hugging Face's: nothing is normalized or cut, unless options say so.
THEIRS = Family(
    kind="Unigram",
    tool="model='unigram', like='huggingface'",
    trainer=SCORED,
    model={},
    components={"pre_tokenizer": None},
    scored=True,
)
TAKEN = ("split", "normalize")  # arguments, beside those that all tools take


def unigram_trainer(
    model: str, like: str | None, source: Any, arguments: Arguments
) -> Callable[..., Tokenizer]:
    """What trains the model as a call of `train` says; it takes `threads` and `report`.

    arguments: those that are given, those that are the same for all tools, and `options`. Raises
    `TrainingError` for what the model does not take.
    """
    given, same, options = arguments
    options = given_options(options)
    if like == "sentencepiece":
        if isinstance(source, PieceTable):
            raise TrainingError(f"like={like!r} counts sentences, which a table of pieces does not hold")
        told = options_of_call(given, same, options, model)
        return partial(train_sentencepiece, _corpus(source), told, told=told_of(same, options))
    if like == "huggingface":
        setup = setup_of_call(given, same, options, THEIRS)
        read = source if isinstance(source, PieceTable) else _corpus(source)
        if isinstance(read, PieceTable):
            check_cut(setup, read.rules.split, read.rules.normalize)
        return partial(train_huggingface, read, setup)
    if like is not None:
        raise TrainingError(
            f"like={like!r} trains no model={model!r}: only like='sentencepiece' and like='huggingface' do"
        )
    if options:
        raise TrainingError(
            "options are a tool's own, and go with like='sentencepiece' or like='huggingface' alone"
        )
    if isinstance(source, PieceTable):
        rules = source.rules
        given = {**given, "split": rules.split, "normalize": rules.normalize}
        same = {**same, "special_tokens": rules.special_tokens}
    made = _options(given, same)
    return partial(train_own, source if isinstance(source, PieceTable) else _corpus(source), made)


def _corpus(source: Any) -> Corpus:
    return source if isinstance(source, Corpus) else Corpus(source)


def _options(given: Mapping[str, Any], same: Mapping[str, Any]) -> TrainOptions:
    """The options of our own, checked; `TrainingError` for an argument that does not go with it."""
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


def train_own(
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
    trainer = Trainer(dataclasses.replace(options, cut_special=options.normalize is None), threads, room)
    more: dict[str, object] = {}
    normalized = options.normalize is not None
    if isinstance(read, PieceTable):
        read.feed(trainer)
        size = read.bytes
        if kept is not None:
            kept.given(size)
    else:

        def feeding(taker: Takes) -> int:
            return feed(taker, read.parts(normalized, plain=True), options, report)

        size = counted_by(trainer, read, normalized, feeding, kept)
        more = {"corpus": read.record()} if read.says_more else {}
    trainer.finish()
    if trainer.distinct_pieces == 0:
        raise no_piece(size)
    settings = settings_of(options)
    pieces = pruned(partial(learn_unigram_of, trainer, settings), settings, report, kept)
    spec = finish(pieces, options)
    warn_of_few(spec, options, stacklevel=4)
    record = {**spec.record, "like": None, "corpus_bytes": size, **more}
    return Tokenizer(dataclasses.replace(spec, record=record))
