"""Integers instead of text: merges of neighbouring codes, whatever they stand for.

Adds training, encoding and decoding for sequences of integers (notes, bases of DNA, units of speech, ids of
another tokenizer). A sequence is one piece; no pair crosses from one to the next. The symbols are the
integers that occur, in order of their values; symbol k has id k, and merge k makes id symbols + k.
`all_below=n` makes all integers below n symbols, so that they keep their values as ids. Ties and limits are
those of training on text (`train`); a token is compared by its integers.
Leaves out: text, pieces, special tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from syllabary.errors import CorpusError, TrainingError, UnknownSymbolError, UnknownTokenError
from syllabary.reference.check import MAX_ID
from syllabary.reference.merge import by_merges, last, merge_states
from syllabary.reference.ties import Pair
from syllabary.reference.train import merge_steps
from syllabary.reference.train_corpus import Corpus
from syllabary.spec import TrainOptions

LARGEST = MAX_ID


def train(
    sequences: Iterable[Sequence[int]], options: TrainOptions, all_below: int | None = None
) -> tuple[list[int], list[Pair]]:
    """The symbols, and the pairs that merge, as ids.

    Raises `CorpusError` if no sequence holds an integer or one is none of 32 bits, `TrainingError` for an
    integer that is not below `all_below`.

    >>> from syllabary.spec import SplitSpec
    >>> train([[60, 64, 67], [60, 64]], TrainOptions(SplitSpec(None), unit="id", num_merges=1))
    ([60, 64, 67], [(0, 1)])
    """
    found: dict[tuple[int, ...], int] = {}
    for sequence in sequences:
        found[tuple(sequence)] = found.get(tuple(sequence), 0) + 1
    seen = sorted({one for sequence in found for one in sequence})
    if not seen:
        raise CorpusError("the corpus is empty: no sequence holds an integer")
    if seen[0] < 0 or seen[-1] > LARGEST:
        raise CorpusError(f"integers are {seen[0]} to {seen[-1]}: give 0 to {LARGEST}")
    if all_below is not None and seen[-1] >= all_below:
        raise TrainingError(f"the integer {seen[-1]} is not below all_below={all_below}")
    symbols = seen if all_below is None else list(range(all_below))
    ids = {symbol: local for local, symbol in enumerate(symbols)}
    corpus = Corpus(
        [spelled([symbol]) for symbol in symbols],
        [[ids[one] for one in sequence] for sequence in found],
        list(found.values()),
    )
    return symbols, [step.pair for step, _places in merge_steps(corpus, options)]


def spelled(token: Iterable[int]) -> bytes:
    """A token as bytes that compare as its integers do.

    >>> spelled([1, 256])
    b'\\x00\\x00\\x00\\x01\\x00\\x00\\x01\\x00'
    """
    return b"".join(one.to_bytes(4, "big") for one in token)


def encode(sequence: Sequence[int], symbols: Sequence[int], merges: Sequence[Pair]) -> list[int]:
    """The ids of a sequence: its symbols, merged lowest rank first; `UnknownSymbolError` for what is none.

    >>> encode([60, 64, 60], [60, 64, 67], [(0, 1)])
    [3, 0]
    """
    ids = {symbol: local for local, symbol in enumerate(symbols)}
    for index, one in enumerate(sequence):
        if one not in ids:
            raise UnknownSymbolError(f"integer {one} at index {index} is no symbol of this vocabulary")
    rule = by_merges((left, right, len(symbols) + rank) for rank, (left, right) in enumerate(merges))
    return last(merge_states([ids[one] for one in sequence], rule))


def decode(ids: Iterable[int], symbols: Sequence[int], merges: Sequence[Pair]) -> list[int]:
    """The integers of ids; `UnknownTokenError` for what is no id.

    >>> decode([3, 0], [60, 64, 67], [(0, 1)])
    [60, 64, 60]
    """
    tokens = vocabulary(symbols, merges)
    found: list[int] = []
    for index, one in enumerate(ids):
        if not 0 <= one < len(tokens):
            raise UnknownTokenError(f"id {one} at index {index} is no token of this vocabulary")
        found += tokens[one]
    return found


def vocabulary(symbols: Iterable[int], merges: Iterable[Pair]) -> list[tuple[int, ...]]:
    """Id -> the integers that it stands for.

    >>> vocabulary([60, 64], [(0, 1), (2, 2)])
    [(60,), (64,), (60, 64), (60, 64, 60, 64)]
    """
    tokens: list[tuple[int, ...]] = [(symbol,) for symbol in symbols]
    for left, right in merges:
        tokens.append(tokens[left] + tokens[right])
    return tokens
