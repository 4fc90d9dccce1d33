"""subword-nmt's `learn_bpe`: text -> codes, by the engine's trainer.

The rule: the most frequent pair of neighbours within words first, of equals the largest as strings, mark
and all; words are parted by U+0020 alone. Adds the reading of text and of word counts. Leaves out: applying
codes.
"""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import IO, Any

from syllabary._engine import Trainer
from syllabary.arguments import thread_count
from syllabary.compat.subword_nmt.parsers import learn_parser as create_parser
from syllabary.errors import CorpusError, TextError, TrainingError
from syllabary.formats.subword_nmt_codes import HEADERS, MARK
from syllabary.reference.symbols import symbols, utf8
from syllabary.reference.train import Corpus, merge_steps
from syllabary.spec import SplitSpec, TrainOptions

__all__ = ["create_parser", "get_vocabulary", "learn_bpe"]

# A lone CR within a line ends a word, too: codes could not hold it.
WORDS = SplitSpec("[^ \r]+", keep_unmatched=False)
# Stands for the mark where the text holds `</w>` itself: it sorts like it.
OTHER_MARK = MARK + "\U0010ffff"
BATCH = 1 << 14  # lines
# A dictionary whose text is longer than this many characters is counted word by word, in Python.
LONGEST_TEXT = 1 << 30
PART = 1 << 22  # characters fed at once
UNLIMITED = 2**32 - 1

Learned = tuple[list[bytes], list[tuple[bytes, bytes]], list[int]]  # alphabet, merges, their counts


def learn_bpe(
    infile: Iterable[Any],
    outfile: IO[Any],
    num_symbols: int,
    min_frequency: int = 2,
    verbose: bool = False,
    is_dict: bool = False,
    total_symbols: bool = False,
    num_workers: int = 1,
    is_bytes: bool = False,
) -> None:
    """Learn merges from the lines of `infile` and write them as codes.

    is_dict: the lines are words and counts. total_symbols: `num_symbols` counts the characters within words
    and at their ends too. is_bytes: both files are binary. num_workers: not needed.
    Raises `CorpusError` for a text without words, and with the line for what is no word and count.
    """
    if num_workers < 1:
        raise ValueError(f"num_workers is {num_workers}: give 1 or more")
    lines = (line.decode("latin-1") for line in infile) if is_bytes else infile
    options = TrainOptions(
        WORDS,
        unit="char",
        num_merges=max(num_symbols, 0),
        min_frequency=max(min_frequency, 1),
        tie_break="largest-pair",
        end_of_word=MARK,
    )
    name = getattr(infile, "name", "input")
    learned = (
        _learn_counts(get_vocabulary(lines, True, name=name), options, total_symbols)
        if is_dict
        else (_learn_text(lines, options, total_symbols))
    )
    _write(learned, outfile, is_bytes, verbose)
    _report(learned, options, total_symbols)


def get_vocabulary(
    fobj: Iterable[Any], is_dict: bool = False, num_workers: int = 1, name: str = "input"
) -> Counter[str]:
    """Word -> count, of text or of lines with a word and its count, in order of first appearance."""
    counts: Counter[str] = Counter()
    if not is_dict:
        for line in fobj:
            counts.update(line.strip("\r\n ").split(" "))
        del counts[""]
        return counts
    for number, line in enumerate(fobj, start=1):
        try:
            word, count = line.strip("\r\n ").split(" ")
            counts[word] += int(count)
        except ValueError as error:
            raise CorpusError(f"{name}: line {number}: {line[:80]!r} is not a word and its count") from error
        if counts[word] < 0:
            raise CorpusError(f"{name}: line {number}: the count of {word!r} is below 0")
    return counts


def _learn_text(lines: Iterable[str], options: TrainOptions, total: bool) -> Learned:
    """Count the words of some lines and learn."""
    trainer, number = Trainer(options, thread_count(None)), 0
    rows = (line.strip("\r\n ") for line in lines)
    while batch := list(islice(rows, BATCH)):
        try:
            trainer.feed(batch)
        except TextError:
            for place, line in enumerate(batch, start=number + 1):
                utf8(line, f"line {place}")
            raise
        number += len(batch)
    return _trained(trainer, options, total)


def _learn_counts(counts: Counter[str], options: TrainOptions, total: bool) -> Learned:
    """The same from counts: of the text that would have them, or word by word if that is very long."""
    if sum((len(word) + 1) * count for word, count in counts.items()) > LONGEST_TEXT:
        return _learn_in_python(counts, options, total)
    trainer = Trainer(options, thread_count(None))
    for part in _text_of(counts):
        trainer.feed_part(part, last=False)
    trainer.feed([])  # ends it
    return _trained(trainer, options, total)


def _text_of(counts: Counter[str]) -> Iterator[str]:
    """A text with these words, so often, in parts."""
    part, size = list[str](), 0
    for word, count in counts.items():
        once = max(PART // (len(word) + 1), 1)
        for left in range(count, 0, -once):
            part.append((word + " ") * min(left, once))
            size += len(part[-1])
            if size >= PART:
                yield "".join(part)
                part, size = [], 0
    yield "".join(part)


def _trained(trainer: Trainer, options: TrainOptions, total: bool) -> Learned:
    if not trainer.distinct_pieces:
        raise CorpusError("the text holds no word to learn from")
    merges = options.num_merges or 0
    limits = (merges, UNLIMITED) if total else (UNLIMITED, merges)
    try:
        alphabet, pairs, counts = trainer.train(options, *limits, None)
    except TrainingError:
        other = dataclasses.replace(options, end_of_word=OTHER_MARK)
        alphabet, pairs, counts = trainer.train(other, *limits, None)
    alphabet = [symbol.replace(OTHER_MARK.encode(), MARK.encode()) for symbol in alphabet]
    spelling = list(alphabet)
    learned: list[tuple[bytes, bytes]] = []
    for left, right in pairs.tolist():
        learned.append((spelling[left], spelling[right]))
        spelling.append(spelling[left] + spelling[right])
    return alphabet, learned, counts.tolist()


def _learn_in_python(counts: Counter[str], options: TrainOptions, total: bool) -> Learned:
    """By the specification of training, which takes counts of any size."""
    counts = Counter({part: counts[word] for word in counts for part in word.split("\r") if part})
    words = [symbols(word, "char", MARK) for word in counts]
    alphabet = sorted({symbol for word in words for symbol in word})
    ids = {symbol: number for number, symbol in enumerate(alphabet)}
    corpus = Corpus(alphabet, [[ids[symbol] for symbol in word] for word in words], list(counts.values()))
    limit = max((options.num_merges or 0) - (len(alphabet) if total else 0), 0)
    steps = [step for step, _places in islice(merge_steps(corpus, options), limit)]
    return alphabet, [(step.left, step.right) for step in steps], [step.count for step in steps]


def _write(learned: Learned, outfile: IO[Any], is_bytes: bool, verbose: bool) -> None:
    """The codes file; with `verbose`, each merge on standard error."""
    outfile.write(HEADERS["byte"] if is_bytes else HEADERS["0.2"].decode())
    _alphabet, merges, counts = learned
    for rank, ((left, right), count) in enumerate(zip(merges, counts, strict=True)):
        row = f"{left.decode()} {right.decode()}\n"
        if verbose:
            joined = row.replace(" ", "").rstrip("\n")
            sys.stderr.write(f"pair {rank}: {row[:-1]} -> {joined} (frequency {count})\n")
        outfile.write(row.encode("latin-1") if is_bytes else row)


def _report(learned: Learned, options: TrainOptions, total: bool) -> None:
    """What subword-nmt says on standard error: the characters that count, and an early end."""
    alphabet, merges, _counts = learned
    wanted = options.num_merges or 0
    if total:
        final = sum(symbol.endswith(MARK.encode()) for symbol in alphabet)
        wanted -= len(alphabet)
        sys.stderr.write(
            f"Number of word-internal characters: {len(alphabet) - final}\n"
            f"Number of word-final characters: {final}\n"
            f"Reducing number of merge operations by {len(alphabet)}\n"
        )
    if len(merges) < wanted:
        sys.stderr.write(f"no pair has frequency >= {options.min_frequency}. Stopping\n")
