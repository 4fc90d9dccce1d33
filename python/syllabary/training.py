"""`train`: from text to a `Tokenizer`.

Adds the options' defaults (ours and those of the tools that `like` names) and the record of what was read.
Leaves out: the algorithm (`reference.train` defines it, the engine runs it), the reading of files (`corpus`),
and how documents reach the engine (`training_feed`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any, get_args

from syllabary import corpus, splits
from syllabary._engine import Trainer
from syllabary.arguments import integer, listed, text_or_none, thread_count
from syllabary.corpus.corpus import Corpus
from syllabary.errors import CorpusError, TrainingError
from syllabary.formats import subword_nmt_codes as codes
from syllabary.progress import Progress, Report, reporter
from syllabary.reference.assemble import assemble, check_options, merge_budget, warn_early_stop
from syllabary.spec import Alphabet, ByteOrder, Form, TieBreak, TokenizerSpec, TrainOptions, Unit
from syllabary.tokenizer import Tokenizer
from syllabary.training_feed import feed, tell
from syllabary.training_sentencepiece import NONE, options_of_call, train_sentencepiece

# Ids are 32 bits wide, and so is everything that is counted in tokens or symbols.
LARGEST = 2**32 - 1

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
# Has options of its own, and an engine: `training_sentencepiece`.
SENTENCEPIECE = "sentencepiece"
TOOLS = (*LIKE, SENTENCEPIECE)


def train(
    source: corpus.Source | Corpus,
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
    normalize: Form | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
    options: Mapping[str, object] | None = None,
) -> Tokenizer:
    """Learn a tokenizer from text. The result does not depend on `threads` or on the machine.

    source: one path (`str` or `PathLike`; a folder: its files), or an iterable in which `str` and `bytes`
        are documents and `PathLike`s are paths; or a `corpus.Corpus`, which knows how to read and what to
        select. Documents are read as they are needed.
    vocab_size: tokens at most, special ones and the alphabet included; 32,000 unless `num_merges` is given.
    like: take the defaults of another tool: "huggingface" (its byte-level trainer), "minbpe", "tiktoken"
        (its educational trainer), "rustbpe", "cs336", "subword-nmt". Options given still count.
        "sentencepiece" trains as its BPE trainer does; of the arguments below only `special_tokens` (its
        control symbols), `max_token_length`, `fallback` (to bytes), `threads`, `progress` and `options` go
        with it. Lines of documents are its sentences.
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
    normalize: "NFC", "NFD", "NFKC" or "NFKD": the tokenizer brings text into this form, here and in `encode`.
    progress: a bar on stderr, or a function that takes `Progress`.
    options: of sentencepiece, by its own names, as `{"character_coverage": 1.0}`; what is not given is its
        default (`vocab_size` 8000).

    Raises `CorpusError` (empty; which file, at which byte), `TrainingError` (options that contradict each
    other or the corpus), `OSError`. Warns `EarlyStopWarning` if no pair is left before the size is reached,
    `CorpusWarning` if documents mix normal forms of Unicode and `normalize` is None.

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
        "end_of_word": end_of_word,
        "num_merges": num_merges,
        "normalize": normalize,
    }
    same = {
        "vocab_size": vocab_size,
        "special_tokens": tuple(listed("special_tokens", special_tokens, (str,))),
        "max_token_length": max_token_length,
        "fallback": fallback,
    }
    if not isinstance(progress, bool) and not callable(progress):
        raise TypeError(f"progress is {progress!r}: give True, False or a function that takes Progress")
    if like == SENTENCEPIECE:
        own = options_of_call(given, same, _mapping(options))
        read = source if isinstance(source, Corpus) else Corpus(source)
        with reporter(progress) as report:
            return train_sentencepiece(read, own, threads=thread_count(threads), report=report)
    if options is not None:
        raise TrainingError(f"options are sentencepiece's, and go with like={SENTENCEPIECE!r} alone")
    made = _options(like, given, same)
    with reporter(progress) as report:
        return train_with(source, made, like=like, threads=threads, report=report)


def _mapping(options: Any) -> Mapping[str, Any]:
    """`options`, or none; `TypeError` for what is no mapping."""
    if options is None or isinstance(options, Mapping):
        return options or {}
    raise TypeError(f"options is {options!r}: give a dict of option to value, or None")


def _options(like: str | None, given: dict[str, Any], same: dict[str, Any]) -> TrainOptions:
    """Defaults and what is given instead, checked."""
    settings = _defaults(like, given["unit"], given["end_of_word"])
    default_merges = settings.pop("num_merges", None)
    settings |= {name: value for name, value in given.items() if value is not ... and name not in NONE}
    settings |= {name: settings.get(name) if given[name] is None else given[name] for name in NONE}
    settings |= same
    settings["max_token_length"] = _inclusive(same["max_token_length"], like)
    if settings["vocab_size"] is None and settings["num_merges"] is None:
        settings["num_merges"] = default_merges
        settings["vocab_size"] = 32_000 if default_merges is None else None
    options = TrainOptions(**_checked(settings))
    check_options(options)
    if options.unit == "byte" and options.alphabet == "all":
        merge_budget(options, 256)  # an hour of counting would not make it fit
    return options


def train_with(
    source: corpus.Source | Corpus,
    options: TrainOptions,
    *,
    like: str | None = None,
    threads: int | None = None,
    report: Report | None = None,
) -> Tokenizer:
    """The same with the options as data. The early-stop warning points at the caller's caller."""
    check_options(options)
    # Text to be normalized comes without special tokens: what looks like one afterwards is none in `encode`.
    uncut = options if options.normalize is None else dataclasses.replace(options, cut_special=False)
    trainer = Trainer(uncut, thread_count(threads))
    read = source if isinstance(source, Corpus) else Corpus(source)
    size = feed(trainer, read.parts(normalized=options.normalize is not None), options, report)
    if trainer.distinct_pieces == 0:
        raise CorpusError(
            f"the corpus is empty: {size} bytes of text were read and no piece was found in them"
        )
    symbols, merges, counts = _learn(trainer, options, report)
    pairs = [(left, right) for left, right in merges.tolist()]
    spec = assemble(options, symbols, pairs)
    if like == "subword-nmt":
        spec = _as_codes(spec, options)
    warn_early_stop(options, len(symbols), len(merges), stacklevel=3)
    record = {**spec.record, "like": like, "corpus_bytes": size, "counts": counts.tolist()}
    if read.says_more:
        record["corpus"] = read.record()
    return Tokenizer(dataclasses.replace(spec, record=record))


def _as_codes(spec: TokenizerSpec, options: TrainOptions) -> TokenizerSpec:
    """The tokenizer of subword-nmt's codes file, if it can hold this one: it has no characters but those of
    merges, and ids of its own."""
    plain = options.split == codes.SPLIT and options.unit == "char" and options.end_of_word == codes.MARK
    if not plain or options.special_tokens or options.fallback or options.normalize is not None:
        return spec
    pairs = [(spec.tokens[left], spec.tokens[right]) for left, right, _id in spec.merges or ()]
    return dataclasses.replace(codes.build(pairs, "0.2"), record=spec.record)


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


def _checked(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with the split looked up; `TypeError` and `TrainingError` name the argument."""
    checked = dict(settings)
    for name in ("vocab_size", "num_merges", "min_frequency", "max_token_length"):
        if settings[name] is None and name != "min_frequency":
            continue
        checked[name] = integer(name, settings[name])
        if checked[name] > LARGEST:
            raise TrainingError(f"{name} is {settings[name]}: {LARGEST} is the most that there can be")
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
    own = settings["split"] is codes.SPLIT  # no text, but what a tool has
    for name in ("end_of_word", "normalize", *(() if own else ("split",))):
        text_or_none(name, settings[name])
    if not isinstance(settings["fallback"], bool):
        raise TypeError(f"fallback is {settings['fallback']!r}: give True or False")
    return checked if own else checked | {"split": splits.get(settings["split"])}


def _learn(trainer: Trainer, options: TrainOptions, report: Report | None) -> Any:
    """Alphabet, merges and counts from the engine."""
    specials = len(options.special_tokens)
    unlimited = 2**32 - 1
    max_tokens = unlimited if options.vocab_size is None else max(options.vocab_size - specials, 0)
    max_merges = unlimited if options.num_merges is None else options.num_merges
    total = options.num_merges if options.num_merges is not None else None

    def merged(done: int, count: int) -> None:
        tell(report, Progress("merging", done, total or max_tokens, count))

    learned = trainer.train(options, max_tokens, max_merges, merged if report else None)
    merge_budget(options, len(learned[0]))  # raises if the alphabet alone is too large
    tell(report, Progress("merging", len(learned[1]), len(learned[1]), None))
    return learned
