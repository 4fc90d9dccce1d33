"""`train`: from text to a `Tokenizer`.

Adds the options' defaults (ours and those of the tools that `like` names), the feeding of documents to the
engine, and progress. Leaves out: the algorithm (`reference.train` defines it, the engine runs it) and the
reading of files (`corpus`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from types import EllipsisType
from typing import Any

from syllabary import corpus, splits
from syllabary._engine import Trainer
from syllabary.errors import CorpusError, TrainingError
from syllabary.progress import Progress, Report, reporter
from syllabary.reference.assemble import assemble, check_options, merge_budget, warn_early_stop
from syllabary.spec import Alphabet, ByteOrder, TieBreak, TrainOptions, Unit
from syllabary.tokenizer import Tokenizer, thread_count

# Documents are handed to the engine together up to this many characters, or this many documents.
BATCH_CHARACTERS = 4 << 20
BATCH_DOCUMENTS = 1 << 14

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

# What each tool does, where it differs from ours: its own source says so (docs/training.md).
LIKE: dict[str, dict[str, Any]] = {
    "huggingface": {
        "split": "gpt2",
        "min_frequency": 1,
        "byte_order": "gpt2",
        "alphabet": "seen",
        "special_first": True,
        "cut_special": False,
    },
    "minbpe": {"split": "gpt4", "min_frequency": 1, "tie_break": "first-seen", "cut_special": False},
    "tiktoken": {"split": "gpt4", "min_frequency": 1, "tie_break": "first-seen", "cut_special": False},
    "rustbpe": {"split": "gpt4", "min_frequency": 1, "cut_special": False},
    "cs336": {"split": "gpt2", "min_frequency": 1, "tie_break": "largest-pair"},
}


def train(
    source: corpus.Source,
    vocab_size: int | None = None,
    *,
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
    threads: int | None = None,
    progress: bool | Report = False,
) -> Tokenizer:
    """Learn a tokenizer from text. The result does not depend on `threads` or on the machine.

    source: one path (`str` or `PathLike`; a folder: its files), or an iterable in which `str` and `bytes`
        are documents and `PathLike`s are paths. Documents are read as they are needed.
    vocab_size: tokens at most, special ones and the alphabet included; 32,000 unless `num_merges` is given.
    like: take the defaults of another tool: "huggingface" (its byte-level trainer), "minbpe", "tiktoken"
        (its educational trainer), "rustbpe", "cs336". Options given still count.
    split: a name, a pattern or None (default "o200k"; "whitespace-split" with `end_of_word`; "latin" for
        words).
    unit: "byte", "char", or "word": whole pieces are the first symbols and merges join neighbours.
    special_tokens: boundaries in the text, never learned; their ids follow the merges.
    min_frequency: a pair seen less often never merges (default 2).
    max_token_length: longest token, in bytes, characters or pieces, inclusive.
    tie_break: among equally frequent pairs "smallest-ids" (default), "first-seen" or "largest-pair".
    byte_order, alphabet: ids of the bytes by value ("raw") or in GPT-2's order ("gpt2"); "all" 256 or only
        those "seen".
    end_of_word: a mark on the last character of every piece, as "</w>".
    fallback: spell symbols never seen with characters and bytes; else they are errors in `encode`.
    progress: a bar on stderr, or a function that takes `Progress`.

    Raises `CorpusError` (empty; which file, at which byte), `TrainingError` (options that contradict each
    other or the corpus), `OSError`. Warns `EarlyStopWarning` if no pair is left before the size is reached.

    >>> import syllabary
    >>> tok = syllabary.train(["aaabdaaabac"], num_merges=3, like="minbpe")
    >>> tok.merges
    [(b'a', b'a'), (b'aa', b'a'), (b'aaa', b'b')]
    """
    given: dict[str, Any] = {
        "split": split,
        "unit": unit,
        "min_frequency": min_frequency,
        "tie_break": tie_break,
        "byte_order": byte_order,
        "alphabet": alphabet,
    }
    settings = _defaults(like, unit, end_of_word) | {k: v for k, v in given.items() if v is not ...}
    if vocab_size is None and num_merges is None:
        vocab_size = 32_000
    options = TrainOptions(
        vocab_size=vocab_size,
        num_merges=num_merges,
        special_tokens=_special_tokens(special_tokens),
        max_token_length=max_token_length,
        end_of_word=end_of_word,
        fallback=fallback,
        **settings | {"split": splits.get(settings["split"])},
    )
    check_options(options)
    with reporter(progress) as report:
        return train_with(source, options, like=like, threads=threads, report=report)


def train_with(
    source: corpus.Source,
    options: TrainOptions,
    *,
    like: str | None = None,
    threads: int | None = None,
    report: Report | None = None,
) -> Tokenizer:
    """The same with the options as data. The early-stop warning points at the caller's caller."""
    check_options(options)
    trainer = Trainer(options, thread_count(threads))
    _feed(trainer, source, report)
    if trainer.distinct_pieces == 0:
        raise CorpusError(
            f"the corpus is empty: {trainer.bytes} bytes of text were read and no piece was found in them"
        )
    symbols, merges, counts = _learn(trainer, options, report)
    warn_early_stop(options, len(symbols), len(merges), stacklevel=4)
    spec = assemble(options, symbols, [(left, right) for left, right in merges.tolist()])
    record = {**spec.record, "like": like, "corpus_bytes": trainer.bytes, "counts": counts.tolist()}
    return Tokenizer(dataclasses.replace(spec, record=record))


def _defaults(like: str | None, unit: object, end_of_word: str | None) -> dict[str, Any]:
    """The settings before those given; `TrainingError` for a tool not known."""
    if like is None:
        settings = dict(OURS)
        if unit == "word":
            settings["split"] = "latin"
        elif end_of_word is not None:
            settings["split"] = "whitespace-split"
        return settings
    if like not in LIKE:
        raise TrainingError(f"like={like!r} is none of {', '.join(LIKE)}; leave it out for our own defaults")
    return OURS | LIKE[like]


def _special_tokens(tokens: Sequence[str]) -> tuple[str, ...]:
    if isinstance(tokens, str):
        raise TypeError(f"special_tokens is one str: give a list, as [{tokens!r}]")
    for index, token in enumerate(tokens):
        if not isinstance(token, str):
            raise TypeError(f"special token {index} is {token!r}: give str")
    return tuple(tokens)


def _feed(trainer: Trainer, source: corpus.Source, report: Report | None) -> None:
    """Hands every document to the engine, short ones together, long ones in parts."""
    batch: list[str] = []
    size = 0
    inside = False  # a document has begun and not ended
    for part, last in corpus.iter_parts(source):
        if last and not inside:
            batch.append(part)
            size += len(part)
        if batch and (not last or inside or size >= BATCH_CHARACTERS or len(batch) >= BATCH_DOCUMENTS):
            trainer.feed(batch)
            batch, size = [], 0
            _tell(report, Progress("counting", trainer.bytes, None))
        if inside or not last:
            trainer.feed_part(part, last)
            _tell(report, Progress("counting", trainer.bytes, None))
        inside = not last
    trainer.feed(batch)
    _tell(report, Progress("counting", trainer.bytes, None))


def _learn(trainer: Trainer, options: TrainOptions, report: Report | None) -> Any:
    """Alphabet, merges and counts from the engine."""
    specials = len(options.special_tokens)
    unlimited = 2**32 - 1
    max_tokens = unlimited if options.vocab_size is None else max(options.vocab_size - specials, 0)
    max_merges = unlimited if options.num_merges is None else options.num_merges
    total = options.num_merges if options.num_merges is not None else None

    def tell(done: int, count: int) -> None:
        _tell(report, Progress("merging", done, total or max_tokens, count))

    learned = trainer.train(options, max_tokens, max_merges, tell if report else None)
    merge_budget(options, len(learned[0]))  # raises if the alphabet alone is too large
    _tell(report, Progress("merging", len(learned[1]), len(learned[1]), None))
    return learned


def _tell(report: Report | None, progress: Progress) -> None:
    if report is not None:
        report(progress)
