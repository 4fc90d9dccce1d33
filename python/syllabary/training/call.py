"""`train`: from text to a `Tokenizer`.

Adds the options' defaults (ours and those of the tools that `like` names) and the record of what was read.
Leaves out: the algorithm (`reference.train` defines it, the engine runs it), the reading of files (`corpus`),
and how documents reach the engine (`feed`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any, get_args

from syllabary import corpus, splits
from syllabary._engine import Trainer
from syllabary.arguments import (
    LARGEST,
    NONE_IS_NOT_GIVEN,
    bounded,
    is_given,
    special_names,
    text_or_none,
    thread_count,
)
from syllabary.corpus.corpus import Corpus
from syllabary.errors import PatternError, TrainingError
from syllabary.formats import subword_nmt_codes as codes
from syllabary.piece_table import PieceTable
from syllabary.progress import Report, reporter
from syllabary.reference.assemble import (
    check_options,
    merge_budget,
    training_record,
    warn_early_stop,
)
from syllabary.reference.pattern_joins import finds_all
from syllabary.spec import Alphabet, ByteOrder, Form, SplitSpec, TieBreak, TrainOptions, Unit
from syllabary.tokenizer import Tokenizer
from syllabary.training.checkpoint import Checkpoint, keeping, opened
from syllabary.training.checkpoint_state import name_of
from syllabary.training.counted import corpus_record, count_corpus, count_table
from syllabary.training.feed import no_piece, uncut
from syllabary.training.finished import as_asked, as_plain, finished, reuses
from syllabary.training.huggingface import plain_setup, read_once, train_huggingface
from syllabary.training.ids import ids_of_call
from syllabary.training.learning import learn
from syllabary.training.memory import limited
from syllabary.training.own import SENTENCEPIECE, own_trainer
from syllabary.training.parity import Parity
from syllabary.training.research import check_research, is_research, train_research
from syllabary.training.start import take_start, train_on
from syllabary.training.table import take_options

LARGEST_COUNT = 2**64 - 1

OURS: dict[str, Any] = {
    "split": "o200k",
    "unit": "byte",
    "min_frequency": 2,
    "tie_break": "smallest-ids",
    "byte_order": "raw",
    "alphabet": "all",
    "special_first": False,
    "cut_special": True,
}

# GPT-4's pattern as minbpe and rustbpe have it: without the `\s++$` that tiktoken added since.
GPT4_2023 = "|".join(
    [
        r"'(?i:[sdmt]|ll|ve|re)",
        r"[^\r\n\p{L}\p{N}]?+\p{L}+",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]++[\r\n]*",
        r"\s*[\r\n]",
        r"\s+(?!\S)",
        r"\s+",
    ]
)

# What each tool does, where it differs from ours: its own source says so (docs/training-like.md).
LIKE: dict[str, dict[str, Any]] = {
    "huggingface": {
        "split": "gpt2",
        "min_frequency": 1,
        "byte_order": "gpt2",
        "alphabet": "seen",
        "special_first": True,
        "cut_special": False,
    },
    "minbpe": {"split": GPT4_2023, "min_frequency": 1, "tie_break": "first-seen", "cut_special": False},
    "tiktoken": {"split": "gpt4", "min_frequency": 1, "tie_break": "first-seen", "cut_special": False},
    "rustbpe": {"split": GPT4_2023, "min_frequency": 1, "cut_special": False},
    "cs336": {"split": "gpt2", "min_frequency": 1, "tie_break": "largest-pair"},
    "subword-nmt": {
        "split": codes.SPLIT,
        "unit": "char",
        "tie_break": "largest-pair",
        "end_of_word": codes.MARK,
        "num_merges": 10_000,
    },
}
TOOLS = (*LIKE, SENTENCEPIECE)
# Tools that take what a pattern finds and nothing else, in training and later.
FINDING = ("minbpe", "tiktoken", "rustbpe", "cs336")
# Arguments of `train` for which a tool may have a default, and those that are as they are given.
GIVEN = "split unit min_frequency tie_break byte_order alphabet end_of_word num_merges normalize".split()
SAME = "vocab_size special_tokens max_token_length fallback".split()


def train(
    source: corpus.Source | Corpus | PieceTable,
    vocab_size: int | None = None,
    *,
    model: str = "bpe",
    like: str | None = None,
    split: str | EllipsisType | None = ...,
    unit: Unit | EllipsisType = ...,
    special_tokens: Sequence[str] = (),
    min_frequency: int | EllipsisType = ...,
    max_token_length: int | None = None,
    tie_break: TieBreak | EllipsisType = ...,
    byte_order: ByteOrder | EllipsisType = ...,
    alphabet: Alphabet | EllipsisType = ...,
    end_of_word: str | None = None,
    fallback: bool = False,
    num_merges: int | None = None,
    normalize: Form | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
    checkpoint: str | os.PathLike[str] | None = None,
    memory_limit: int | str | None = None,
    options: Mapping[str, object] | None = None,
    start: Tokenizer | None = None,
    superwords: int | None = None,
    parity: Parity | None = None,
) -> Tokenizer:
    """Learn a tokenizer from text. The result does not depend on `threads` or on the machine.

    source: one path (`str` or `PathLike`; a folder: its files), or an iterable in which `str` and `bytes`
        are documents and `PathLike`s are paths; or a `corpus.Corpus`, which knows how to read and what to
        select. Documents are read as they are needed. Or a table of counts (`counts.PieceCounts`), which has
        decided the split, the special tokens and the normal form, and knows no order.
    vocab_size: tokens at most, special ones and the alphabet included; 32,000 unless `num_merges` is given.
    model: "bpe"; "unigram"; "wordpiece" and "wordlevel", whose other arguments stand in `options`; "word" and
        "char", which are sentencepiece's (docs/models.md).
    like: take the defaults of another tool: "huggingface" (its byte-level trainer; with `options` its
        `BpeTrainer` over all of them), "minbpe", "tiktoken" (its educational trainer), "rustbpe", "cs336",
        "subword-nmt". Options given still count.
        "sentencepiece" trains as its trainers do; of the arguments below only `special_tokens` (its
        control symbols), `max_token_length`, `fallback` (to bytes), `threads`, `progress` and `options` go
        with it. Lines of documents are its sentences.
    split: a name, a pattern or None (default "o200k"; "whitespace-split" with `end_of_word`; "latin" for
        words). Text that a pattern does not match is a piece of its own; with `like=` "minbpe", "tiktoken",
        "rustbpe" and "cs336" it is dropped.
    unit: "byte", "char", or "word": whole pieces are the first symbols and merges join neighbours. With "id"
        the source is sequences of integers, and what comes is an `IdTokenizer` (`syllabary.train_ids`).
    special_tokens: boundaries in the text, never learned; their ids follow the merges.
    min_frequency: a pair seen less often never merges (default 2; Hugging Face's 0 is 1).
    max_token_length: longest token, in bytes, characters or pieces, inclusive.
    tie_break: among equally frequent pairs "smallest-ids" (default), "first-seen" or "largest-pair".
    byte_order, alphabet: ids of the bytes by value ("raw") or in GPT-2's order ("gpt2"); "all" 256 or only
        those "seen".
    end_of_word: a mark on the last character of every piece, as "</w>".
    fallback: spell symbols never seen with characters and bytes; else they are errors in `encode`.
    normalize: "NFC", "NFD", "NFKC" or "NFKD": the tokenizer brings text into this form, here and in `encode`.
    progress: a bar on stderr, or a function that takes `Progress`.
    checkpoint: a folder in which training is kept, and from which the same call goes on after a kill, to the
        same result (docs/training-large.md). It stays there: delete it when the tokenizer is saved.
    memory_limit: bytes, or as "256 MiB" (80 MiB or more): so much memory at most is taken on top of what the
        process has; pieces that exceed it go to files in the system's temporary folder.
    options: of sentencepiece, by its own names, as `{"character_coverage": 1.0}`; of huggingface those of
        `BpeTrainer`, of its model, and `normalizer`, `pre_tokenizer`, `post_processor` and `decoder`, as
        `{"pre_tokenizer": "Whitespace", "end_of_word_suffix": "</w>"}`. What is not given is their default
        (`vocab_size` 8000 and 30000).
    start: learn on top of this tokenizer, whose tokens, ids and merges stay; what is new has the ids above.
        It decides split, unit, normal form and special tokens; `vocab_size` counts all tokens,
        `num_merges` the new merges.
    superwords: from so many tokens on, merges may join words (SuperBPE); the text is read twice.
    parity: with a dict of language to texts as source, which are all served alike: how they are judged.

    Raises `CorpusError` (empty; which file, at which byte), `TextError` (a lone surrogate), `TrainingError`
    (options that contradict each other or the corpus), `SplitError`, `PatternError` (a split that is none),
    `CheckpointError` (of another training, damaged, in use), `OSError`. Warns
    `EarlyStopWarning` if no pair is left before the size is reached, `CorpusWarning` if documents mix normal
    forms of Unicode and `normalize` is None.

    >>> import syllabary
    >>> tok = syllabary.train(["aaabdaaabac"], num_merges=3, like="minbpe")
    >>> tok.merges
    [(b'a', b'a'), (b'aa', b'a'), (b'aaa', b'b')]
    """
    call = dict(locals())
    check_research(call)
    if unit == "id" and model == "bpe":
        by_ids: Any = ids_of_call(call)
        return by_ids  # type: ignore[no-any-return]  # an `IdTokenizer`, as `train_ids` says
    given, same = {name: call[name] for name in GIVEN}, {name: call[name] for name in SAME}
    same["special_tokens"] = tuple(special_names(special_tokens))
    ours = {"checkpoint": checkpoint, "memory_limit": memory_limit, "start": start}
    refused = {**ours, "superwords": superwords, "parity": parity}
    by_own = own_trainer(like, source, (given, same, options), refused, model)
    if by_own is not None:
        with reporter(progress) as report:
            return by_own(threads=thread_count(threads), report=report)
    made = _made(source, like, given, same, start)
    told: dict[str, Any] = {"like": like, "threads": threads, **ours}
    with reporter(progress) as report:
        if is_research(call):
            return train_research(call, made, report)
        return train_with(source, made, report=report, **told)


def _made(
    source: object, like: str | None, given: dict[str, Any], same: dict[str, Any], start: Any
) -> TrainOptions:
    """The options of any other tool's training, and of our own; a start and a table have decided some."""
    if start is not None:
        given, same = take_start(start, like, given, same)
    if isinstance(source, PieceTable):
        cut = _defaults(like, given["unit"], given["end_of_word"])["cut_special"]
        given, same = take_options(source, like, given, same, cut)
    return _options(like, given, same)


def _options(like: str | None, given: dict[str, Any], same: dict[str, Any]) -> TrainOptions:
    """Defaults and what is given instead, checked."""
    settings = _defaults(like, given["unit"], given["end_of_word"])
    default_merges = settings.pop("num_merges", None)
    settings = dict.fromkeys(NONE_IS_NOT_GIVEN) | settings
    settings |= {name: value for name, value in given.items() if is_given(name, value)}
    settings |= same
    settings["max_token_length"] = _inclusive(same["max_token_length"], like)
    if settings["vocab_size"] is None and settings["num_merges"] is None:
        settings["num_merges"] = default_merges
        settings["vocab_size"] = 32_000 if default_merges is None else None
    checked = _checked(settings, like)
    if like == "huggingface":
        checked["min_frequency"] = checked["min_frequency"] or 1  # their default, 0, is no other limit
    options = TrainOptions(**checked)
    check_options(options)
    if options.unit == "byte" and options.alphabet == "all":
        merge_budget(options, 256)  # an hour of counting would not make it fit
    return options


def train_with(
    source: corpus.Source | Corpus | PieceTable,
    options: TrainOptions,
    *,
    like: str | None = None,
    threads: int | None = None,
    report: Report | None = None,
    start: Tokenizer | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    memory_limit: int | str | None = None,
) -> Tokenizer:
    """The same with the options as data. The early-stop warning points at the caller's caller."""
    check_options(options)
    read = source if isinstance(source, (Corpus, PieceTable)) else Corpus(source)
    if start is not None:
        named = {"like": like, "start": None if checkpoint is None else name_of(start.spec)}
        with (
            limited(memory_limit) as room,
            opened(checkpoint, options, read, named, *keeping(options, room)) as kept,
        ):
            return train_on(
                read, options, start, like=like, threads=threads, report=report, kept=kept, room=room
            )
    lines, setup = plain_setup(like, options, read)
    fed = dataclasses.replace(uncut(options), lines=lines)
    own: dict[str, Any] = {"threads": thread_count(threads), "report": report, "memory_limit": memory_limit}
    if setup is not None and read_once(read):
        return as_plain(train_huggingface(read, setup, checkpoint=checkpoint, stacklevel=4, **own), options)
    with (
        limited(memory_limit) as room,
        opened(checkpoint, options, read, {"like": like}, *keeping(options, room)) as kept,
    ):
        trainer = Trainer(fed, thread_count(threads), room)
        if isinstance(read, PieceTable):
            size = count_table(trainer, read, options, like, kept)
        else:
            size = count_corpus(trainer, read, options, report, kept)
        if trainer.distinct_pieces == 0:
            raise no_piece(size)
        symbols, merges, counts = _learn(trainer, options, report, kept)
        about = {"like": like, **corpus_record(read)}
        if setup is not None and reuses(options, symbols, zip(*merges.T.tolist(), strict=True)):
            own |= {"again": {**training_record(options), **about, "corpus_bytes": size}, "counted": kept}
            trained = train_huggingface(read, setup, stacklevel=4, **own)
            return Tokenizer(as_asked(trained.spec, options))
    warn_early_stop(options, len(symbols), len(merges), stacklevel=3)
    record = {"like": like, "corpus_bytes": size, "counts": counts.tolist(), **about}
    return finished(options, symbols, merges, record, plain=setup is not None)


def _defaults(like: str | None, unit: object, end_of_word: str | None) -> dict[str, Any]:
    """The settings before those given; `TrainingError` for a tool not known."""
    if like is None:
        settings = dict(OURS)
        if unit == "word":
            settings["split"] = "latin"
        elif end_of_word is not None:
            settings["split"] = "whitespace-split"
        return settings
    if not isinstance(like, str):
        raise TypeError(f"like is {like!r}: give str or None")
    if like not in LIKE:
        raise TrainingError(f"like={like!r} is none of {', '.join(TOOLS)}; leave it out for our own defaults")
    return OURS | LIKE[like]


def _inclusive(limit: Any, like: str | None) -> Any:
    """Hugging Face's limit is exclusive, and a pair of two symbols passes any (tokenizers, bpe/word.rs)."""
    return max(2, limit - 1) if like == "huggingface" and isinstance(limit, int) else limit


def split_of(split: str | None, like: str | None) -> SplitSpec:
    """How to split, by a name, a pattern or `None`, as a tool does; errors as of `splits.get`."""
    found = splits.get(split)
    if like not in FINDING or found.name is not None:
        return found
    with contextlib.suppress(PatternError):  # one that the engine takes, and the specification cannot read
        if finds_all(found.pattern or "", found.tables):
            return found
    return dataclasses.replace(found, keep_unmatched=False)


def _checked(settings: dict[str, Any], like: str | None) -> dict[str, Any]:
    """The settings with the split looked up; `TypeError` and `TrainingError` name the argument."""
    checked = dict(settings)
    for name in ("vocab_size", "num_merges", "min_frequency", "max_token_length"):
        if settings[name] is None and name != "min_frequency":
            continue
        checked[name] = bounded(name, settings[name], LARGEST_COUNT if name == "min_frequency" else LARGEST)
    for name, choices in (
        ("unit", Unit),
        ("tie_break", TieBreak),
        ("byte_order", ByteOrder),
        ("alphabet", Alphabet),
    ):
        if not isinstance(settings[name], str):
            raise TypeError(f"{name} is {settings[name]!r}: give str")
        if settings[name] not in get_args(choices):
            raise TrainingError(f"{name}={settings[name]!r} is none of {', '.join(get_args(choices))}")
    own = isinstance(settings["split"], SplitSpec)  # no text, but what a tool or a table has
    for name in ("end_of_word", "normalize", *(() if own else ("split",))):
        text_or_none(name, settings[name])
    if not isinstance(settings["fallback"], bool):
        raise TypeError(f"fallback is {settings['fallback']!r}: give True or False")
    return checked if own else checked | {"split": split_of(settings["split"], like)}


def _learn(
    trainer: Trainer, options: TrainOptions, report: Report | None, kept: Checkpoint | None = None
) -> Any:
    """Alphabet, merges and counts from the engine."""
    specials = len(options.special_tokens)
    max_tokens = LARGEST if options.vocab_size is None else max(options.vocab_size - specials, 0)
    max_merges = LARGEST if options.num_merges is None else options.num_merges

    def check(symbols: int) -> None:
        merge_budget(options, symbols)  # raises if the alphabet alone is too large

    return learn(trainer, options, (max_tokens, max_merges), report, kept, check=check)
