"""`train(like="huggingface")`: Hugging Face's trainers, over all of their options, by the engine.

Adds the way of documents through the engine, and the tokenizer: it is read from the very `tokenizer.json`
that their library would save, so that it is saved as that file. Leaves out: the definition
(`reference.train_huggingface`, `train_wordlevel`, `train_unigram_huggingface`), options
(`huggingface_options`), and plain byte-level training (`call`), which comes here only if a name comes twice
(`reuses`).
"""

from __future__ import annotations

import dataclasses
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

from syllabary._engine import HuggingFaceTrainer
from syllabary.corpus.corpus import Corpus
from syllabary.corpus.document import Stream
from syllabary.corpus.sources import only_once
from syllabary.errors import EarlyStopWarning, FormatError, TrainingError
from syllabary.formats.hf_given import PLACES
from syllabary.formats.hf_read import read_document
from syllabary.formats.hf_split import write_cutting
from syllabary.formats.strict_json import Json
from syllabary.piece_table import PieceTable, named, same_split
from syllabary.progress import Progress, Report
from syllabary.reference.assemble import nothing_left
from syllabary.reference.bytes_to_unicode import BYTE_TO_CHARACTER
from syllabary.reference.symbols import plural, there_are
from syllabary.reference.train_huggingface import BpeTrainerOptions, Learned, Trained, last_ranks
from syllabary.reference.train_unigram import by_count
from syllabary.reference.train_unigram_huggingface import (
    Scored,
    UnigramTrainerOptions,
    alphabet_of,
    check_room,
    finish,
    settings_of,
)
from syllabary.reference.train_unigram_seed import TEXTS
from syllabary.reference.train_wordlevel import vocabulary
from syllabary.spec import Form, SplitSpec, Step, TokenizerSpec, TrainOptions
from syllabary.tokenizer import Tokenizer
from syllabary.training.checkpoint import Checkpoint, opened
from syllabary.training.counted import corpus_record
from syllabary.training.feed import Takes, check_same, feed_parts, no_piece, tell
from syllabary.training.huggingface_options import BYTES_DECODED, FLAGS, MODEL, Setup
from syllabary.training.learning import fitting, followed, merging, pruned
from syllabary.training.memory import Room, limited
from syllabary.training.watched import count as counted_by

PREFIX = "continuing_subword_prefix"
# Of a tokenizer of bytes, what its file says in other words than ours would.
CARRIED = {"huggingface": {"decoder": BYTES_DECODED}}

Words = Callable[[HuggingFaceTrainer], int]


# ---- plain byte-level training, whose options are `TrainOptions` ----


def plain_setup(
    like: str | None, options: TrainOptions, source: Corpus | PieceTable
) -> tuple[bool, Setup | None]:
    """Of their plain trainer: whether text is fed by lines, and the set-up; of other tools neither."""
    if like != "huggingface":
        return False, None
    return isinstance(source, Corpus) and by_lines(source), setup_of_plain(options)


def setup_of_plain(options: TrainOptions) -> Setup | None:
    """The set-up of plain options that say no more than theirs; `None` for what only we have."""
    own = options.unit != "byte" or options.tie_break != "smallest-ids" or options.byte_order != "gpt2"
    if own or options.vocab_size is None or options.cut_special or not options.special_first:
        return None
    try:
        pre_tokenizer = write_cutting((), options.split, with_bytes=True)
    except FormatError:
        return None
    trainer = BpeTrainerOptions(
        vocab_size=options.vocab_size,
        min_frequency=options.min_frequency,
        special_tokens=options.special_tokens,
        initial_alphabet=tuple(BYTE_TO_CHARACTER.values()) if options.alphabet == "all" else (),
        # Inclusive here; below 3 it only says that longer ones than two symbols are too long.
        max_token_length=None if options.max_token_length is None else options.max_token_length + 1,
    )
    normalizer = None if options.normalize is None else {"type": options.normalize}
    components = {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "decoder": BYTES_DECODED}
    model = dict(MODEL)
    return Setup(trainer, {}, {place: components.get(place) for place in PLACES}, model)


def by_lines(corpus: Corpus) -> bool:
    """Whether documents are fed by lines, each with its end, as `tokenizer.train` reads files: for paths and
    streams, unless another cut is asked for. Documents in memory are fed whole (`train_from_iterator`)."""
    source, reading = corpus.source, corpus.reading
    if reading.documents != "file" or reading.separator is not None:
        return False
    if isinstance(source, (str, os.PathLike)):
        return True
    files = isinstance(source, (list, tuple)) and all(
        isinstance(one, (os.PathLike, Stream)) for one in source
    )
    return files and bool(source)


def check_cut(setup: Setup, split: SplitSpec, normalize: Form | None) -> None:
    """`TrainingError` unless a table of pieces, cut by this split after this normal form, has the words that
    the set-up makes of text."""
    normalizer, cutting, _bytes = setup.cutting()
    steps = () if normalize is None else (Step(normalize),)
    if same_split(cutting.split, split) and not cutting.steps and normalizer == steps:
        return
    if cutting.steps or [step for step in normalizer if step.kind not in get_args(Form)] or normalizer[1:]:
        own = "steps that no table has: train on the text itself"
    else:
        own = f"{_cut(cutting.split, normalizer)}: count the text by that"
    raise TrainingError(
        f"the table of counts was cut by another rule ({_cut(split, steps)}) than this training, which cuts "
        f"by {own}, or say in options how the table was cut (normalizer, pre_tokenizer)"
    )


def _cut(split: SplitSpec, normalizer: Sequence[Step]) -> str:
    return " after ".join([named(split), *(step.kind for step in normalizer)])


def read_once(source: Corpus | PieceTable) -> bool:
    """Whether a source cannot be read again, should that be needed."""
    return isinstance(source, Corpus) and only_once(source.source) is not None


# ---- training ----


def train_huggingface(
    source: Corpus | PieceTable,
    setup: Setup,
    *,
    threads: int,
    report: Report | None,
    again: Mapping[str, Any] | None = None,
    memory_limit: int | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    counted: Checkpoint | None = None,
    stacklevel: int = 3,
) -> Tokenizer:
    """Learn a tokenizer; saved as `tokenizer.json`, it is the file that their library saves.

    again: the record of a training that has read the source before, and warned of what there is to warn of;
    the text must be as large as it was then (`CorpusError`).
    memory_limit, checkpoint: as `training.train`; a vocabulary that cannot be learned in the limit is a
    `TrainingError`. counted: a checkpoint whose table, if it has one, is of the words of the source.
    Raises `CorpusError` for a corpus without a word, `TrainingError` if the vocabulary cannot hold the
    alphabet; warns `EarlyStopWarning`, by default pointing at the caller's caller.
    """
    said = again is not None or setup.components["normalizer"] is not None
    lines = isinstance(source, Corpus) and by_lines(source)
    with (
        limited(memory_limit) as room,
        opened(checkpoint, setup.trainer, source, _plan(setup, lines), room is None) as kept,
    ):

        def words(trainer: HuggingFaceTrainer) -> int:
            if counted is not None and counted.tabled and counted.state is not None:
                counted.feed_counts(trainer)
                return counted.state.size
            return _fed(trainer, source, said, report, kept)

        spec = train_words(words, setup, lines, threads, report, stacklevel + 1, room, kept)
    if again is not None:
        check_same(again["corpus_bytes"] == spec.record["corpus_bytes"])
    record = {**spec.record, **(again or {}), **corpus_record(source)}
    return Tokenizer(dataclasses.replace(spec, record=record))


def _plan(setup: Setup, lines: bool) -> dict[str, object]:
    """What decides the result besides the trainer's options and the text."""
    plan = {"model": setup.kind, "like": "huggingface", "lines": lines, "flags": setup.flags}
    return {**plan, "likelihood": setup.likelihood, **setup.model, **setup.components}


def _fed(
    trainer: HuggingFaceTrainer,
    source: Corpus | PieceTable,
    said: bool,
    report: Report | None,
    kept: Checkpoint | None,
) -> int:
    """Feeds the source to the engine; the bytes of text that there were. said: nothing is to be warned of."""
    if not isinstance(source, Corpus):
        trainer.feed_counts(source.data, source.ends, source.counts)
        if kept is not None:
            kept.given(source.bytes)
        return source.bytes

    def feeding(taker: Takes) -> int:
        feed_parts(taker, source.parts(normalized=said), report)
        return taker.bytes

    return counted_by(trainer, source, said, feeding, kept)


def train_words(
    words: Words,
    setup: Setup,
    lines: bool,
    threads: int,
    report: Report | None,
    stacklevel: int = 2,
    memory: Room | None = None,
    kept: Checkpoint | None = None,
) -> TokenizerSpec:
    """The tokenizer of what `words` feeds to the engine; it gives back the bytes of text that there were."""
    normalizer, cutting, byte_level = setup.cutting()
    trainer = HuggingFaceTrainer(normalizer, cutting.steps, cutting.split, lines, threads, memory)
    size = words(trainer)
    if not trainer.finish():
        raise no_piece(size)
    if setup.kind == "WordLevel":
        return spec_of(_most_frequent(trainer, setup), setup, size)
    if isinstance(setup.trainer, UnigramTrainerOptions):
        scored = learn_scored(trainer, setup.trainer, report, kept)
        _warn_of_few(len(scored.vocab), setup.trainer, stacklevel + 1)
        return spec_of(scored, setup, size)
    trained = _merged(trainer, setup, byte_level, report, kept)
    options = setup.merging
    if len(trained.names) < options.vocab_size:
        warnings.warn(
            f"{nothing_left(max(options.min_frequency, 1), None)}: training ended with a vocabulary of "
            f"{len(trained.names)}, not {options.vocab_size}; give more text or ask for less",
            EarlyStopWarning,
            stacklevel=stacklevel,
        )
    return spec_of(trained, setup, size)


def _merged(
    trainer: HuggingFaceTrainer,
    setup: Setup,
    byte_level: bool,
    report: Report | None,
    kept: Checkpoint | None,
) -> Trained:
    """What is learned of the words that were counted; what a checkpoint has is not learned anew."""
    options = setup.merging
    room = options.vocab_size

    def check(first: int) -> None:
        if first > room:
            specials = len(options.special_tokens)
            raise TrainingError(
                f"vocab_size is {room}, but the alphabet has {plural(first - specials, 'symbol')} and "
                f"{there_are(specials, 'special token')}: set it to {first} or more"
            )

    def symbols() -> list[bytes]:
        names = trainer.first_names(options, byte_level)
        check(len(names))
        return [name.encode() for name in names]

    known, keep = followed(kept, symbols)
    with fitting(kept):
        names, first, merges, counts = trainer.learn(
            options, byte_level, merging(report, room), setup.likelihood, known, keep
        )
    check(first)
    tell(report, Progress("merging", len(merges), len(merges), None))
    steps = [
        Learned((left, right), new, count)
        for (left, right, new), count in zip(merges.tolist(), counts.tolist(), strict=True)
    ]
    return Trained(names, steps)


def _most_frequent(trainer: HuggingFaceTrainer, setup: Setup) -> Trained:
    """The words of a model without merges; `TrainingError` where the special tokens leave them no room."""
    options = setup.merging
    if options.vocab_size < len(options.special_tokens):
        told = there_are(len(options.special_tokens), "special token")
        raise TrainingError(f"vocab_size is {options.vocab_size}, but {told}")
    words = trainer.most_frequent(options.min_frequency, options.vocab_size)
    found = vocabulary(words, vocab_size=options.vocab_size, special_tokens=options.special_tokens)
    names = [""] * (max(found.values(), default=-1) + 1)
    for text, number in found.items():
        names[number] = text
    return Trained(names, [])


def learn_scored(
    trainer: HuggingFaceTrainer,
    options: UnigramTrainerOptions,
    report: Report | None,
    kept: Checkpoint | None = None,
) -> Scored:
    """What a unigram model learns of the words that were counted, at least one; raises as the reference."""
    characters = [character for character, _count in by_count(dict(trainer.characters()), TEXTS)]
    alphabet = alphabet_of(characters, options)
    check_room(alphabet, options)
    settings = settings_of(options)
    pieces = pruned(partial(trainer.learn_unigram, settings), settings, report, kept)
    return finish(pieces, alphabet, options)


def _warn_of_few(found: int, options: UnigramTrainerOptions, stacklevel: int) -> None:
    if found < options.vocab_size:
        warnings.warn(
            f"no more pieces are worth keeping: training ended with a vocabulary of {found}, not "
            f"{options.vocab_size}; give more text or ask for less",
            EarlyStopWarning,
            stacklevel=stacklevel,
        )


def spec_of(trained: Trained | Scored, setup: Setup, size: int) -> TokenizerSpec:
    """The tokenizer of the file that their library would save."""
    spec = read_document(Json(document(trained, setup), "$", Path("tokenizer.json")))
    told = {
        item.name: value
        for item in dataclasses.fields(setup.trainer)
        if (value := getattr(setup.trainer, item.name)) != item.default
    }
    record: dict[str, object] = {"like": "huggingface", "options": told, "corpus_bytes": size}
    if setup.kind == "BPE" and isinstance(trained, Trained):
        noted = {step.pair: step.count for step in trained.steps}
        record["counts"] = [noted[left, right] for left, right, _new in last_ranks(trained.steps)]
    else:
        record["model"] = spec.model
    return dataclasses.replace(spec, record=_plain(record))


def document(trained: Trained | Scored, setup: Setup) -> dict[str, object]:
    """The content of the `tokenizer.json` that their library saves."""
    names = [text for text, _score in trained.vocab] if isinstance(trained, Scored) else trained.names
    ids = {name: number for number, name in enumerate(names) if name or setup.kind == "BPE"}
    added: list[dict[str, Any]] = [
        {"id": ids[text], "content": text}
        | {name: name in setup.flags.get(text, ()) for name in FLAGS}
        | {"special": True}
        for text in setup.trainer.special_tokens
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": sorted(added, key=lambda one: ids[one["content"]]),
        **setup.components,
        "model": _model_of_scores(trained) if isinstance(trained, Scored) else _model(trained, setup, ids),
    }


def _model_of_scores(trained: Scored) -> dict[str, object]:
    """The member `model` of a unigram model."""
    vocab = [[text, score] for text, score in trained.vocab]
    return {"type": "Unigram", "unk_id": trained.unknown, "vocab": vocab, "byte_fallback": False}


def _model(trained: Trained, setup: Setup, ids: Mapping[str, int]) -> dict[str, object]:
    """The member `model` of the file."""
    names, trainer, model = trained.names, setup.merging, dict(setup.model)
    if setup.kind == "WordLevel":
        return {"type": "WordLevel", "vocab": ids, **model}
    if setup.kind == "WordPiece":
        prefix = trainer.continuing_subword_prefix
        # Where it is None they train without, and encode with their usual one.
        marked = {"unk_token": model.pop("unk_token"), PREFIX: "##" if prefix is None else prefix}
        return {"type": "WordPiece", **marked, **model, "vocab": ids}
    return {
        "type": "BPE",
        "dropout": model.pop("dropout"),
        "unk_token": model.pop("unk_token"),
        PREFIX: trainer.continuing_subword_prefix,
        "end_of_word_suffix": trainer.end_of_word_suffix,
        **model,
        "vocab": ids,
        "merges": [[names[left], names[right]] for left, right, _new in last_ranks(trained.steps)],
    }


def _plain(value: Any) -> Any:
    """Tuples as lists, as JSON has them."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (tuple, list)) else value
