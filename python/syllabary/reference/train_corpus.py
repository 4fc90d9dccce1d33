"""What training counts: documents as distinct sequences of local ids, each with how often it occurs.

Adds `Corpus`, and how text becomes one. Leaves out: the loop that learns from it (`train`), each stage
(`special`, `normalize`, `split`, `symbols`), and a corpus as a tokenizer has it (`train_start`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from syllabary.errors import CorpusError, TrainingError
from syllabary.reference import normalize
from syllabary.reference.aligned import Aligned
from syllabary.reference.assemble import (
    assemble,
    check_options,
    initial_alphabet,
    merge_budget,
    normalizer,
    warn_early_stop,
)
from syllabary.reference.special import ordinary_runs
from syllabary.reference.split import pieces
from syllabary.reference.symbols import symbols, utf8
from syllabary.reference.ties import Pair
from syllabary.spec import TokenizerSpec, TrainOptions

EMPTY = "the corpus is empty: no document holds a piece of text to count"
LINE = re.compile("[^\n]*\n|[^\n]+")  # with its end


@dataclass(frozen=True, slots=True)
class Corpus:
    """Distinct sequences of local ids, in order of their first appearance.

    alphabet: local id -> initial symbol. sequences: one a distinct piece (for the word unit: a distinct
    run, whose pieces are the symbols). counts: how often each sequence occurs.
    """

    alphabet: list[bytes]
    sequences: list[list[int]]
    counts: list[int]

    def budget(self, options: TrainOptions) -> int:
        """How many tokens there is room for; `TrainingError` if the vocabulary is full already."""
        return merge_budget(options, len(self.alphabet))

    def lengths(self) -> list[int]:
        """How many initial symbols each local id stands for, before the first merge."""
        return [1] * len(self.alphabet)

    def cost(self, options: TrainOptions, token: bytes) -> int:
        """The room that the merge takes that makes `token`."""
        return 1

    def finished(self, options: TrainOptions, merges: Sequence[Pair], stacklevel: int = 2) -> TokenizerSpec:
        """The tokenizer of the merges that were learned; warns of an early stop."""
        spec = assemble(options, self.alphabet, merges)
        warn_early_stop(options, len(self.alphabet), len(merges), stacklevel)
        return spec


def read_corpus(documents: Iterable[str], options: TrainOptions) -> Corpus:
    """Cut the documents into sequences, find the alphabet, write the sequences in local ids.

    >>> from syllabary.spec import SplitSpec
    >>> corpus = read_corpus(["ab", "b", "ab"], TrainOptions(SplitSpec(None), unit="char", num_merges=1))
    >>> corpus.alphabet, corpus.sequences, corpus.counts
    ([b'a', b'b'], [[0, 1], [1]], [2, 1])
    """
    check_options(options)
    found = read_sequences(documents, options)
    if not found:
        raise CorpusError(EMPTY)
    return corpus_of(found, options)


def read_sequences(documents: Iterable[str], options: TrainOptions) -> dict[tuple[str, ...], int]:
    """Distinct sequences of pieces -> count; `(piece,)` unless the unit is the word.

    `CorpusError` for a corpus without text or of the wrong type, `TextError` for a lone surrogate,
    `TrainingError` if the text holds the end-of-word mark.
    """
    if isinstance(documents, (str, bytes)):
        raise CorpusError("documents is one string: training reads many, so give a list of them, as [text]")
    found: dict[tuple[str, ...], int] = {}
    for index, document in enumerate(documents):
        if not isinstance(document, str):
            raise CorpusError(f"document {index} is of type {type(document).__name__}: give str")
        utf8(document, f"document {index}")
        runs = _runs(document, index, options)
        for run in [line for text in runs for line in LINE.findall(text)] if options.lines else runs:
            cut = tuple(pieces(run, options.split))
            for sequence in [cut] if options.unit == "word" else [(piece,) for piece in cut]:
                found[sequence] = found.get(sequence, 0) + 1
    found.pop((), None)
    return found


def _runs(document: str, index: int, options: TrainOptions) -> list[str]:
    """What is counted of a document: the runs between special tokens, each normalized, as in `encode`."""
    steps, mark = normalizer(options), options.end_of_word
    if mark is not None and not steps and mark in document:
        raise TrainingError(
            f"document {index} holds the end_of_word mark {mark!r} at character {document.index(mark)}: "
            "choose another mark"
        )
    runs = ordinary_runs(document, options.special_tokens) if options.cut_special else [document]
    if not steps:
        return runs
    runs = [normalize.apply(steps, Aligned.of(run)).text for run in runs]
    if mark is not None and any(mark in run for run in runs):
        raise TrainingError(
            f"document {index}, normalized, holds the end_of_word mark {mark!r}: choose another mark"
        )
    return runs


def corpus_of(found: Mapping[tuple[str, ...], int], options: TrainOptions) -> Corpus:
    """Sequences of pieces and their counts, with an alphabet, in local ids."""
    spelled = [
        [symbol for piece in sequence for symbol in symbols(piece, options.unit, options.end_of_word)]
        for sequence in found
    ]
    seen = {symbol for sequence in spelled for symbol in sequence}
    alphabet = initial_alphabet(options, seen)
    ids = {symbol: local for local, symbol in enumerate(alphabet)}
    return Corpus(
        alphabet, [[ids[symbol] for symbol in sequence] for sequence in spelled], list(found.values())
    )
