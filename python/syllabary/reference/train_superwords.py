r"""Superwords: merges that cross pieces, once there are tokens enough for the words themselves.

Adds training in two stages (SuperBPE: Liu et al. 2025, arXiv 2503.13423). The first is ordinary training, by
`options.split`, up to `superwords` tokens. Then the text is cut anew, by another split (`across`;
`splits/superwords.json` has words with the single spaces and single signs between them as one piece); its
pieces are encoded with the merges so far, and learning goes on from there to the size asked for. The
tokenizer has the second split and all merges, in the order in which they were learned.

A superword crosses no line end, no number (digits stand in threes), no row of signs or white space, no
special token. The first stage's pieces are not boundaries in the finished tokenizer: `"a` after a space was
never one piece in the first stage, and yet its merges may join it. So the second stage begins with what those
merges make of the longer pieces, which is what `encode` does, and not with the tokens that the first stage
had.

The law: `encode` of the text that was learned from gives the very tokens that training ended with. The merges
make tokens that no earlier merge takes (`merge.recreated` is empty), so that merging by rank is the same as
repeating the merges one after the other, as training did.

Differences from the authors' code, which trains line by line and lets tokens cross line ends later on: line
ends are boundaries in both. Marks belong to words. It also drops tokens of over four words, and those in
which a space follows a colon; here `max_token_length` limits tokens, by symbols.
Leaves out: both stages' loop (`train`), beginning with merges (`train_start`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from syllabary.errors import TrainingError
from syllabary.reference.assemble import assemble, check_options, merge_budget, warn_early_stop
from syllabary.reference.places import Places
from syllabary.reference.symbols import there_are
from syllabary.reference.ties import Pair
from syllabary.reference.train import merge_steps, read_corpus
from syllabary.spec import SplitSpec, TokenizerSpec, TrainOptions


def check_superwords(options: TrainOptions, superwords: int) -> None:
    """Raise `TrainingError` for what cannot be."""
    check_options(options)
    if options.unit not in ("byte", "char") or options.end_of_word is not None:
        what = f'unit="{options.unit}"' if options.end_of_word is None else "end_of_word"
        raise TrainingError(f"superwords does not go with {what}: words are joined from bytes or characters")
    if not options.cut_special:
        raise TrainingError("superwords needs special tokens to be boundaries: it does not go with like")
    if superwords < 1:
        raise TrainingError(
            f"superwords is {superwords}: give the number of tokens from which words may join"
        )
    if options.vocab_size is not None and superwords > options.vocab_size:
        raise TrainingError(
            f"superwords is {superwords}, above vocab_size {options.vocab_size}: give the number of tokens "
            "from which on words may join"
        )


def first_stage(options: TrainOptions, superwords: int, alphabet: int) -> TrainOptions:
    """The options of the first stage; `TrainingError` if an alphabet of so many symbols is too large."""
    begin = alphabet + len(options.special_tokens)
    if superwords < begin:
        raise TrainingError(
            f"superwords is {superwords}, but {there_are(begin, 'token')} before any merge: "
            f"set it to {begin} or more"
        )
    most = min(superwords - begin, merge_budget(options, alphabet))
    return replace(options, vocab_size=None, num_merges=most)


def second_stage(options: TrainOptions, split: SplitSpec, alphabet: int, learned: int) -> TrainOptions:
    """The options of the second stage: the merges that are left."""
    left = merge_budget(options, alphabet) - learned
    return replace(options, split=split, vocab_size=None, num_merges=left)


def train(
    documents: Iterable[str], options: TrainOptions, superwords: int, across: SplitSpec
) -> TokenizerSpec:
    r"""Learn a tokenizer whose merges cross pieces from `superwords` tokens on, special ones included.

    across: the split of the second stage and of the tokenizer. Warns `EarlyStopWarning` below the size asked
    for.

    >>> options = TrainOptions(SplitSpec(r" ?\w+"), unit="char", vocab_size=6)
    >>> spec = train(["ab ab ab", "ab ab ba"], options, superwords=5, across=SplitSpec(r"\d+"))
    >>> [spec.tokens[result] for _left, _right, result in spec.merges]
    [b'ab', b' ab', b'ab ab']
    """
    alphabet, pairs, _last = stages(list(documents), options, superwords, across)
    spec = assemble(replace(options, split=across), alphabet, pairs)
    warn_early_stop(options, len(alphabet), len(pairs))
    return spec


def stages(
    documents: list[str], options: TrainOptions, superwords: int, across: SplitSpec
) -> tuple[list[bytes], list[Pair], Places]:
    """The alphabet, the merges of both stages, and the places as the second stage left them."""
    check_superwords(options, superwords)
    corpus = read_corpus(documents, options)
    first = first_stage(options, superwords, len(corpus.alphabet))
    pairs = [step.pair for step, _places in merge_steps(corpus, first)]
    plain = assemble(replace(first, split=across, special_tokens=()), corpus.alphabet, pairs)
    begun = replace(plain, special_tokens=boundaries(options, len(plain.tokens)))
    second = second_stage(options, across, len(corpus.alphabet), len(pairs))
    rest = read_corpus(documents, second, start=begun)
    places = Places(rest.sequences, rest.counts)
    for step, merged in merge_steps(rest, second):
        pairs.append(step.pair)
        places = merged
    return corpus.alphabet, pairs, places


def boundaries(options: TrainOptions, after: int) -> dict[str, int]:
    """The special tokens with ids beyond all others: they are found, and nothing else changes."""
    return {token: after + place for place, token in enumerate(options.special_tokens)}
