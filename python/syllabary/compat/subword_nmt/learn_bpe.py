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

import numpy as np

from syllabary._engine import Trainer
from syllabary.arguments import thread_count
from syllabary.compat.subword_nmt.parsers import learn_parser as create_parser
from syllabary.errors import CorpusError, TextError
from syllabary.formats.subword_nmt_codes import HEADERS, MARK
from syllabary.reference.symbols import utf8
from syllabary.spec import SplitSpec, TrainOptions
from syllabary.training.learning import learn

__all__ = ["create_parser", "get_vocabulary", "learn_bpe"]

# A lone CR within a line ends a word, too: codes could not hold it.
WORDS = SplitSpec("[^ \r]+", keep_unmatched=False)
# Stands for the mark where the text holds `</w>` itself: it sorts like it.
OTHER_MARK = MARK + "\U0010ffff"
BATCH = 1 << 14  # lines, or words
LARGEST = 2**64 - 1
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
        num_merges=min(max(num_symbols, 0), UNLIMITED),
        min_frequency=min(max(min_frequency, 1), LARGEST),
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


def command_lines(file: Iterable[Any]) -> Iterator[Any]:
    """The lines that subword-nmt's commands make of a file: of bytes they end at LF, of text wherever
    `str.splitlines` says so (at a form feed, NEL or U+2028, too)."""
    for line in file:
        if isinstance(line, bytes):
            yield line
        else:
            yield from line.splitlines(keepends=True)


def _learn_text(lines: Iterable[str], options: TrainOptions, total: bool) -> Learned:
    """Count the words of some lines and learn."""
    trainer, number, marked = Trainer(options, thread_count(None)), 0, False
    rows = (line.strip("\r\n ") for line in lines)
    while batch := list(islice(rows, BATCH)):
        try:
            trainer.feed(batch)
        except TextError:
            for place, line in enumerate(batch, start=number + 1):
                utf8(line, f"line {place}")
            raise
        marked = marked or any(MARK in line for line in batch)
        number += len(batch)
    return _trained(trainer, options, total, marked)


def _learn_counts(counts: Counter[str], options: TrainOptions, total: bool) -> Learned:
    """The same from counts, which go to the engine as they are."""
    if sum(len(word) * count for word, count in counts.items()) > LARGEST:
        raise CorpusError(
            f"the words, as often as they occur, have over {LARGEST} characters: divide the counts"
        )
    trainer = Trainer(options, thread_count(None))
    words = ((part, count) for word, count in counts.items() if count for part in word.split("\r") if part)
    while batch := list(islice(words, BATCH)):
        spelled = [utf8(word, f"the word {word!r}") for word, _ in batch]
        ends = np.cumsum([len(word) for word in spelled], dtype=np.uint64)
        trainer.feed_counts(b"".join(spelled), ends, np.array([count for _, count in batch], np.uint64))
    return _trained(trainer, options, total, any(MARK in word for word in counts))


def _trained(trainer: Trainer, options: TrainOptions, total: bool, marked: bool) -> Learned:
    """What is learned of the words; marked: some of them hold the mark itself."""
    if not trainer.distinct_pieces:
        raise CorpusError("the text holds no word to learn from")
    if marked:
        options = dataclasses.replace(options, end_of_word=OTHER_MARK)
    merges = options.num_merges or 0
    limits = (merges, UNLIMITED) if total else (UNLIMITED, merges)
    symbols, pairs, counts = learn(trainer, options, limits, None, None)
    alphabet = [symbol.replace(OTHER_MARK.encode(), MARK.encode()) for symbol in symbols]
    spelling = list(alphabet)
    learned: list[tuple[bytes, bytes]] = []
    for left, right in pairs.tolist():
        learned.append((spelling[left], spelling[right]))
        spelling.append(spelling[left] + spelling[right])
    return alphabet, learned, counts.tolist()


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
