"""Training: count the pairs of neighbours, merge the most frequent, again and again.

Adds the corpus as distinct sequences with counts, and the loop. Leaves out: keeping the counts (`places`),
ties (`ties`), ids of the finished tokenizer (`assemble`), what it means to begin with a tokenizer (`start`,
in `train_start`). Everything here is in local ids: the alphabet 0, 1, …, then one id a merge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, islice

from syllabary.errors import CorpusError, TrainingError
from syllabary.reference import normalize, ties, train_start
from syllabary.reference.aligned import Aligned
from syllabary.reference.assemble import (
    assemble,
    check_options,
    initial_alphabet,
    merge_budget,
    normalizer,
    warn_early_stop,
)
from syllabary.reference.places import Places
from syllabary.reference.special import ordinary_runs
from syllabary.reference.split import pieces
from syllabary.reference.symbols import symbols, utf8
from syllabary.reference.ties import Pair
from syllabary.spec import TokenizerSpec, TrainOptions

EMPTY = "the corpus is empty: no document holds a piece of text to count"
LINE = re.compile("[^\n]*\n|[^\n]+")  # with its end


@dataclass(frozen=True, slots=True)
class MergeStep:
    """One merge as it was learned: `left` + `right` occurred `count` times and became `new_id`.

    rank: 0 for the first. pair, new_id: local ids.
    """

    rank: int
    pair: Pair
    left: bytes
    right: bytes
    new_id: int
    count: int


@dataclass(frozen=True, slots=True)
class Corpus:
    """What training counts: distinct sequences of local ids, in order of their first appearance.

    alphabet: local id -> initial symbol. sequences: one a distinct piece (for the word unit: a distinct
    run, whose pieces are the symbols). counts: how often each sequence occurs.
    start: the tokenizer that training began with; then the alphabet is its tokens and the new symbols, and
    symbols are those that its own alphabet lacks.
    """

    alphabet: list[bytes]
    sequences: list[list[int]]
    counts: list[int]
    start: train_start.Start | None = None
    symbols: tuple[bytes, ...] = ()

    def budget(self, options: TrainOptions) -> int:
        """How many tokens there is room for; `TrainingError` if the vocabulary is full already."""
        if self.start is None:
            return merge_budget(options, len(self.alphabet))
        return train_start.budget(options, self.start, len(self.alphabet) - len(self.start.tokens))


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


def read_corpus(
    documents: Iterable[str], options: TrainOptions, start: TokenizerSpec | None = None
) -> Corpus:
    """Cut the documents into sequences, find the alphabet, write the sequences in local ids.

    start: the tokenizer that cuts and spells them, instead of `options`.

    >>> from syllabary.spec import SplitSpec
    >>> corpus = read_corpus(["ab", "b", "ab"], TrainOptions(SplitSpec(None), unit="char", num_merges=1))
    >>> corpus.alphabet, corpus.sequences, corpus.counts
    ([b'a', b'b'], [[0, 1], [1]], [2, 1])
    """
    if start is not None:
        return _read_on(documents, train_start.start_of(start), options)
    check_options(options)
    found = read_sequences(documents, options)
    if not found:
        raise CorpusError(EMPTY)
    return corpus_of(found, options)


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


def _read_on(documents: Iterable[str], start: train_start.Start, options: TrainOptions) -> Corpus:
    """The corpus as a tokenizer encodes it."""
    new, found = train_start.read_from(documents, start, options)
    if not found:
        raise CorpusError(EMPTY)
    alphabet = [*start.tokens, *new]
    return Corpus(alphabet, [list(ids) for ids in found], list(found.values()), start, tuple(new))


def choose(places: Places, spelling: list[bytes], options: TrainOptions) -> Pair | None:
    """The most frequent pair, ties broken by the rule asked for; None if none is frequent enough."""
    best = max(places.by_count, default=0)
    if best < options.min_frequency:
        return None
    tied = places.by_count[best]
    if options.tie_break == "smallest-ids":
        return ties.smallest_ids(tied)
    if options.tie_break == "largest-pair":
        return ties.largest_pair(tied, spelling)
    return ties.first_seen(tied, places.where)


def merge_steps(corpus: Corpus, options: TrainOptions) -> Iterator[tuple[MergeStep, Places]]:
    """Learn merges until the budget is spent or no pair is left; with each, the places as it left them."""
    spelling = list(corpus.alphabet)
    lengths = [] if corpus.start is None else train_start.lengths(corpus.start)
    lengths += [1] * (len(spelling) - len(lengths))  # local id -> length in initial symbols
    limit = options.max_token_length
    places = Places(
        corpus.sequences,
        corpus.counts,
        mergeable=lambda pair: limit is None or lengths[pair[0]] + lengths[pair[1]] <= limit,
    )
    room = corpus.budget(options)
    for rank in count():
        pair = choose(places, spelling, options) if room else None
        if pair is None:
            return
        left, right, new_id = spelling[pair[0]], spelling[pair[1]], len(spelling)
        step = MergeStep(rank, pair, left, right, new_id, places.counts[pair])
        spelling.append(left + right)
        lengths.append(lengths[pair[0]] + lengths[pair[1]])
        places.merge(pair, new_id)
        room -= 1 if corpus.start is None else train_start.cost(options, corpus.start, left + right)
        yield step, places


def train_steps(
    documents: Iterable[str], options: TrainOptions, start: TokenizerSpec | None = None
) -> Iterator[MergeStep]:
    """Every merge as it is learned.

    >>> from syllabary.spec import SplitSpec
    >>> options = TrainOptions(SplitSpec(None), num_merges=2, tie_break="first-seen")
    >>> [(step.left, step.right, step.count) for step in train_steps(["aaabdaaabac"], options)]
    [(b'a', b'a', 4), (b'aa', b'a', 2)]
    """
    for step, _places in merge_steps(read_corpus(documents, options, start), options):
        yield step


def train(
    documents: Iterable[str], options: TrainOptions, start: TokenizerSpec | None = None
) -> TokenizerSpec:
    """Learn a tokenizer; warns `EarlyStopWarning` if no pair is left below the size asked for.

    start: learn on top of this one (`train_start`), which decides the options of what comes before merging:
    those given (`min_frequency`, `max_token_length`, `tie_break`, the sizes) are for the new merges.

    Raises what `read_sequences` does, `TrainingError` and `VocabularyError` as `assemble.check_options`.

    >>> from syllabary.spec import SplitSpec
    >>> spec = train(["low low lower"], TrainOptions(SplitSpec(r" ?\\w+"), num_merges=2))
    >>> spec.merges  # b"l" + b"o" (108, 111), then that and b"w"
    ((108, 111, 256), (256, 119, 257))
    """
    corpus = read_corpus(documents, options, start)
    merges = [step.pair for step, _places in merge_steps(corpus, options)]
    if corpus.start is not None:
        spec = train_start.continued(corpus.start, options, corpus.symbols, merges)
        train_start.warn_early_stop(corpus.start, options, spec)
        return spec
    spec = assemble(options, corpus.alphabet, merges)
    warn_early_stop(options, len(corpus.alphabet), len(merges))
    return spec


def pair_table(
    documents: Iterable[str], options: TrainOptions, after: int = 0
) -> dict[tuple[bytes, bytes], int]:
    """The table that tutorials print: pairs, in order of first occurrence, and counts, after some merges.

    >>> from syllabary.spec import SplitSpec
    >>> pair_table(["low", "lot"], TrainOptions(SplitSpec(None), unit="char", num_merges=9))
    {(b'l', b'o'): 2, (b'o', b'w'): 1, (b'o', b't'): 1}
    """
    corpus = read_corpus(documents, options)
    spelling = list(corpus.alphabet)
    places = Places(corpus.sequences, corpus.counts)
    for step, merged in islice(merge_steps(corpus, options), after):
        spelling.append(step.left + step.right)
        places = merged
    in_order = sorted(places.counts, key=lambda pair: min(places.where[pair]))
    return {(spelling[left], spelling[right]): places.counts[left, right] for left, right in in_order}
