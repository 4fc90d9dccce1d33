"""Training: count the pairs of neighbours, merge the most frequent, again and again.

Adds the loop. Leaves out: how text becomes sequences to count (`train_corpus`), keeping the counts
(`places`), ties (`ties`), ids of the finished tokenizer (`assemble`), what it means to begin with a tokenizer
(`start`, in `train_start`). All is in local ids: the alphabet 0, 1, …, then one id a merge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, islice

from syllabary.reference import ties, train_corpus, train_start
from syllabary.reference.places import Places
from syllabary.reference.ties import Pair
from syllabary.reference.train_corpus import Corpus
from syllabary.spec import TokenizerSpec, TrainOptions


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


def read_corpus(
    documents: Iterable[str], options: TrainOptions, start: TokenizerSpec | None = None
) -> Corpus:
    """The documents as sequences of local ids. start: the tokenizer that cuts and spells them, instead of
    `options`."""
    if start is not None:
        return train_start.read_on(documents, train_start.start_of(start), options)
    return train_corpus.read_corpus(documents, options)


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
    lengths = corpus.lengths()
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
        room -= corpus.cost(options, left + right)
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
    return corpus.finished(options, merges, stacklevel=3)


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
