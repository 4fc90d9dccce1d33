"""`train(like="sentencepiece")`: sentencepiece's trainers, by the engine.

Adds how arguments and options of `train` become sentencepiece's own, and the way of documents through the
engine: the lines of a document are the sentences, without a CR at their end. Leaves out: the definition
(`reference.train_sentencepiece`, `train_sentencepiece_counted`, `train_unigram_sentencepiece`), from which
options, alphabet and finished tokenizer are taken as they are, and what other tools do (`call`).
"""

from __future__ import annotations

import csv
import dataclasses
import io
import os
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any

from syllabary._engine import SentencePieceTrainer
from syllabary.arguments import integer, is_given, ordered
from syllabary.corpus.corpus import Corpus
from syllabary.errors import CorpusError, TrainingError
from syllabary.progress import Progress, Report
from syllabary.reference.symbols import utf8
from syllabary.reference.train_sentencepiece import Found, finish_pieces, finish_texts
from syllabary.reference.train_sentencepiece_counted import CUT, room_of
from syllabary.reference.train_sentencepiece_counted import finish as finish_counted
from syllabary.reference.train_sentencepiece_coverage import choose
from syllabary.reference.train_sentencepiece_merge import Learned
from syllabary.reference.train_sentencepiece_model import with_told
from syllabary.reference.train_sentencepiece_nfkc import RULE_NAMES
from syllabary.reference.train_sentencepiece_options import (
    COUNTED,
    Meta,
    SentencePieceOptions,
    check_options,
    meta_pieces,
)
from syllabary.reference.train_sentencepiece_rules import denormalizer_of, rules_of
from syllabary.reference.train_sentencepiece_scripts import INHERITED, script_of
from syllabary.reference.train_sentencepiece_sentences import alphabet_of_counts, check_size
from syllabary.reference.train_sentencepiece_valid import DIGITS, NEVER
from syllabary.reference.train_unigram_sentencepiece import choose as choose_scored
from syllabary.reference.train_unigram_sentencepiece import settings_of
from syllabary.spec import Step, TokenizerSpec
from syllabary.tokenizer import Tokenizer
from syllabary.training.checkpoint import Checkpoint, opened
from syllabary.training.counted import corpus_record
from syllabary.training.feed import Takes, feed_parts, tell
from syllabary.training.learning import followed, merging, pruned
from syllabary.training.left_out import watched
from syllabary.training.memory import Room, limited
from syllabary.training.sampled import count_chosen, halved, is_chosen
from syllabary.training.watched import count as counted_by
from syllabary.unicode.charsmaps import charsmap_of

# Arguments of `train` -> the option that says the same here.
SAME = {
    "vocab_size": "vocab_size",
    "special_tokens": "control_symbols",
    "max_token_length": "max_sentencepiece_length",
    "fallback": "byte_fallback",
}
# Options that change nothing in the files of sentencepiece 0.2.3, with their defaults: they are taken, and do
# nothing here either.
IDLE: dict[str, object] = {
    "accept_language": (),
    "mining_sentence_size": 0,
    "minloglevel": 0,
    "self_test_sample_size": 0,
    "train_extremely_large_corpus": False,
    "training_sentence_size": 0,
}
# What its trainer is told as options, and `train` otherwise.
ELSEWHERE = {
    "input": "the text is the first argument of train",
    "sentence_iterator": "the text is the first argument of train, as a list or an iterator",
    "model_prefix": "train gives the tokenizer back; tok.save('m.model') writes its file",
    "model_writer": "train gives the tokenizer back; tok.save('m.model') writes its file",
    "logstream": "progress= shows how far training is",
}
TRUE, FALSE = ("", "true", "t", "1", "yes", "y"), ("false", "f", "0", "no", "n")
MOST = 2**63  # words
# In the engine: goes with every script, and takes the one before it.
ANY_SCRIPT, INHERITED_SCRIPT = 0, 1


def options_of(
    arguments: Mapping[str, Any], options: Mapping[str, Any], model: str = "bpe"
) -> SentencePieceOptions:
    """sentencepiece's options from arguments of `train` that were given (those of `SAME`) and from `options`.

    `TrainingError` for an option that there is not, or that is given twice; `TypeError` for another type.

    >>> options_of({"fallback": True}, {"vocab_size": 400}).byte_fallback
    True
    """
    found: dict[str, Any] = {SAME[name]: value for name, value in arguments.items()}
    known = _defaults()
    for name, value in options.items():
        if name in IDLE:
            _checked(name, value, IDLE[name])
            continue
        if name in ELSEWHERE:
            raise TrainingError(f"options: leave {name!r} out: {ELSEWHERE[name]}")
        if name not in known:
            raise TrainingError(f"options: {name!r} is none of sentencepiece's: {', '.join(known)}")
        if name in found:
            argument = next(other for other in arguments if SAME[other] == name)
            raise TrainingError(f"options: {name!r} is given as {argument}= too: give one of them")
        if name == "model_type" and value != model:
            raise TrainingError(f"options: model_type is {value!r}, but model={model!r}: leave it out")
        found[name] = value
    checked = {name: _checked(name, value, known[name]) for name, value in found.items()}
    made = SentencePieceOptions(**{**checked, "model_type": model})
    check_options(made)
    return made


def options_of_call(
    given: Mapping[str, Any], same: Mapping[str, Any], options: Mapping[str, Any], model: str = "bpe"
) -> SentencePieceOptions:
    """The same for a call of `train`. given: arguments that sentencepiece has none for; `...` is not given.

    same: those of `SAME`, where `None`, `False` and `()` are not given.
    """
    none = [name for name, value in given.items() if is_given(name, value)]
    if none:
        raise TrainingError(
            f"{none[0]} does not go with like='sentencepiece': that has options of its own, which go into "
            "options, as {'character_coverage': 1.0}"
        )
    return options_of({name: same[name] for name in _told(same)}, options, model)


def told_of(same: Mapping[str, Any], options: Mapping[str, Any]) -> frozenset[str]:
    """The names of sentencepiece's options that a call of `train` gives, default or not."""
    return frozenset({SAME[name] for name in _told(same)} | options.keys() - IDLE.keys())


def _told(same: Mapping[str, Any]) -> list[str]:
    """Which of the arguments that stand for options are given."""
    given = [name for name in SAME if same[name] is not None and same[name] is not False]
    return [name for name in given if name != "special_tokens" or same[name]]


def read_option(name: str, text: str) -> object:
    """The value of an option from text, as sentencepiece's own command line reads it: lists between commas.

    What cannot be read, and an option that there is not, stay text: `options_of` tells of them.

    >>> read_option("byte_fallback", "true"), read_option("unk_id", "3"), read_option("control_symbols", "a")
    (True, 3, ('a',))
    """
    default = {**IDLE, **_defaults()}.get(name, "")
    if isinstance(default, bool):
        return text.lower() in TRUE if text.lower() in TRUE + FALSE else text
    if isinstance(default, tuple):
        return _items(text)
    for kind in (int, float):
        if type(default) is kind:
            try:
                return kind(text)
            except ValueError:
                return text
    return text


def _defaults() -> dict[str, Any]:
    """The options with their defaults."""
    return {item.name: item.default for item in dataclasses.fields(SentencePieceOptions)}


def _items(text: str) -> tuple[str, ...]:
    """The items of a list between commas, some of them in double quotes, in which a comma stands for itself.

    >>> _items('a,"b,c","d""e"')
    ('a', 'b,c', 'd"e')
    """
    if '"' in text:
        return tuple(next(csv.reader(io.StringIO(text, newline=""))))
    return tuple(text.split(",")) if text else ()


def _checked(name: str, value: Any, default: Any) -> Any:
    """A value of the type that the default has; a list may be a text too, as sentencepiece reads it."""
    if isinstance(default, tuple):
        return tuple(ordered(name, _items(value) if isinstance(value, str) else value, (str,)))
    if isinstance(default, bool) or name == "precompiled_charsmap":
        kind: type = bool if isinstance(default, bool) else bytes
        if not isinstance(value, kind):
            raise TypeError(f"{name} is {value!r}: give {'True or False' if kind is bool else 'bytes'}")
        return value
    if isinstance(default, int):
        return integer(name, value)
    if isinstance(default, float):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"{name} is {value!r}: give a number")
        return float(value)
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}: give str")
    utf8(value, name)
    return value


def train_sentencepiece(
    corpus: Corpus,
    options: SentencePieceOptions,
    *,
    threads: int,
    report: Report | None,
    checkpoint: str | os.PathLike[str] | None = None,
    memory_limit: int | str | None = None,
    told: Collection[str] = (),
) -> Tokenizer:
    """Learn a tokenizer; saved as a `.model`, it is the file that sentencepiece writes.

    checkpoint, memory_limit: as `training.train`. told: options that were given, which the file says even
    where they are the default.
    Raises and warns as `reference.train_sentencepiece.train`; the early stop points at the caller's caller.
    """
    check_options(options)
    named = {"like": "sentencepiece"}
    with (
        limited(memory_limit) as room,
        opened(checkpoint, options, corpus, named, room is None) as kept,
    ):
        spec = _trained(corpus, options, threads, report, room, kept)
        return Tokenizer(with_told(spec, options, told))


def _trained(
    corpus: Corpus,
    options: SentencePieceOptions,
    threads: int,
    report: Report | None,
    room: Room | None,
    kept: Checkpoint | None,
) -> TokenizerSpec:
    meta = meta_pieces(options)
    rules = _rules(options), denormalizer_of(options)
    trainer = _trainer(options, meta, rules[0], threads, halved(options, room))
    normalized = options.normalization_rule_name != "identity" or bool(rules[0])
    if is_chosen(options):
        size = count_chosen(trainer, corpus, options, normalized, room, kept)
    else:

        def feeding(taker: Takes) -> int:
            parts = watched(corpus.parts(normalized=normalized), options.max_sentence_length)
            feed_parts(taker, parts, report)
            return taker.bytes

        size = counted_by(trainer, corpus, normalized, feeding, kept)
    sentences, counted = trainer.finish()
    if not sentences:
        raise CorpusError("the corpus is empty: no sentence is left to train on")
    counts = dict[str, int]()
    for character, count in counted:
        counts[character] = counts.get(character, 0) + count
    alphabet = alphabet_of_counts(counts, options)
    if options.model_type in COUNTED:
        spec = _count(trainer, Found(meta, alphabet, {}, 0, rules), options)
        return dataclasses.replace(spec, record=_record(spec, size, corpus))
    most = check_size(alphabet, meta, options)
    found = Found(meta, alphabet, counts, most, rules)
    if options.model_type == "unigram":
        spec = _learn_unigram(trainer, found, options, report, kept)
        return dataclasses.replace(spec, record=_record(spec, size, corpus))
    rows = _rows(alphabet or dict.fromkeys(sorted(counts), 0), options)
    pieces, places = _learn(trainer, rows, most, report, kept)
    if options.auto_character_coverage:
        # Whole, so that `left` has all of each.
        steps = [Learned(text, "", count) for text, count in zip(pieces, places, strict=True)]
        pieces = choose(steps, counts, most)
    spec = finish_texts(found, pieces, options, stacklevel=4)
    return dataclasses.replace(spec, record={**_record(spec, size, corpus), "counts": places})


def _count(trainer: SentencePieceTrainer, found: Found, options: SentencePieceOptions) -> TokenizerSpec:
    """The tokenizer of the most frequent words, or characters."""
    counts, total = list(found.alphabet.items()), sum(found.alphabet.values())
    most = room_of(found.meta, options)
    if options.model_type == "word":
        counts, total = trainer.frequent_words(list(found.alphabet), MOST if options.use_all_vocab else most)
    return finish_counted(found, counts, total, options, stacklevel=5)


def _record(spec: TokenizerSpec, size: int, corpus: Corpus) -> dict[str, object]:
    """The record with what was read."""
    return {**spec.record, "corpus_bytes": size, **corpus_record(corpus)}


def _own_rules(options: SentencePieceOptions) -> bool:
    """Whether the rules are not those of a name, in which no text with a rule has a space."""
    return bool(options.normalization_rule_tsv) or options.precompiled_charsmap is not None


def _rules(options: SentencePieceOptions) -> bytes:
    """As `rules_of`; those of a name are there already."""
    found = None
    if not _own_rules(options) and options.normalization_rule_name in RULE_NAMES:
        found = charsmap_of(options.normalization_rule_name)
    return rules_of(options) if found is None else found


def _trainer(
    options: SentencePieceOptions, meta: Meta, rules: bytes, threads: int, room: Room | None
) -> SentencePieceTrainer:
    """The engine's, which normalizes by compiled rules and cuts the texts of meta pieces out."""
    step = Step(
        "SentencePiece",
        {
            "precompiled_charsmap": rules,
            "add_dummy_prefix": options.add_dummy_prefix,
            "remove_extra_whitespaces": options.remove_extra_whitespaces,
            "treat_whitespace_as_suffix": options.treat_whitespace_as_suffix,
            "escape_whitespaces": True,
        },
    )
    symbols = [text for text, _kind in meta.values()]
    unigram = options.model_type == "unigram"
    apart = not _own_rules(options) and not options.treat_whitespace_as_suffix
    if options.model_type in COUNTED:  # whose words are cut one way
        options = dataclasses.replace(CUT, max_sentence_length=options.max_sentence_length)
    return SentencePieceTrainer(step, options, symbols, apart, threads, unigram, room)


def _learn(
    trainer: SentencePieceTrainer,
    rows: list[tuple[str, int, bool]],
    room: int,
    report: Report | None,
    kept: Checkpoint | None,
) -> tuple[list[str], list[int]]:
    """The pieces, and at how many places each was joined; what a checkpoint has is not learned anew."""
    known, keep = followed(kept, partial(_symbols, rows))
    pieces, counts = trainer.learn(rows, room, merging(report, room), known, keep)
    tell(report, Progress("merging", len(pieces), len(pieces), None))
    return pieces, counts


def _symbols(rows: list[tuple[str, int, bool]]) -> list[bytes]:
    """The characters that may be in longer pieces."""
    return [character.encode() for character, _script, refused in rows if not refused]


def _learn_unigram(
    trainer: SentencePieceTrainer,
    found: Found,
    options: SentencePieceOptions,
    report: Report | None,
    kept: Checkpoint | None,
) -> TokenizerSpec:
    """The tokenizer of a unigram model."""
    settings = settings_of(options)
    learn = partial(trainer.learn_unigram, _rows(found.alphabet, options), settings)
    pieces = pruned(learn, settings, report, kept)
    room = found.room + len(found.alphabet)
    return finish_pieces(found, choose_scored(pieces, found.alphabet, room), options, stacklevel=5)


def _rows(alphabet: Iterable[str], options: SentencePieceOptions) -> list[tuple[str, int, bool]]:
    """Characters, each with the number of its script and whether it is in no longer piece."""
    numbers: dict[str, int] = {INHERITED: INHERITED_SCRIPT}
    refused = NEVER | DIGITS if options.split_digits else NEVER
    rows: list[tuple[str, int, bool]] = []
    for character in alphabet:
        script = ANY_SCRIPT
        if options.split_by_unicode_script and (options.split_by_number or character not in DIGITS):
            script = numbers.setdefault(script_of(character), len(numbers) + 1)
        rows.append((character, script, character in refused))
    return rows
