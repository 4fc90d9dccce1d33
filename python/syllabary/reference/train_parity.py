"""Parity-aware training: one list of merges for several languages, none of which is left behind.

Adds the choice of a language before each merge. The language that is served worst is taken, and its most
frequent pair merges, in the text of all languages. How badly a language is served is its cost:
  - with texts to judge by (`dev`), best the same text in every language: the tokens of its text;
  - else minus its compression (symbols of its own corpus per token) over its ratio. At equal ratios, all
    languages come to as many bytes (or characters) a token. A language whose script takes more bytes for the
    same content is served alike at a higher ratio: that of the sizes of a text in both.
The highest cost is the worst; of equals, the language that was given first. A language none of whose pairs
occurs `min_frequency` times is passed over from then on.
  - `global_merges`: so many merges at first go by the counts of all languages together, as if they were one.
  - `window`: of the last so many merges, no language may have had more than `alpha` divided by the number of
    languages, as a share of `window`; the next worst is taken instead. Where that forbids all, it forbids
    none.
Sources: Foroutan et al. 2025, "Parity-aware byte-pair encoding" (arXiv 2508.04796); Hugging Face's
`ParityBpeTrainer` (tokenizers 0.23.3), which does the same where it is given `dev_iterators` or `ratio`,
except that without either it judges by the tokens of whole corpora, and that a window which forbids every
language that has pairs left makes it hang or stop.
Leaves out: counting in one language (`merge`), ties (`ties`), ids (`assemble`).
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

from syllabary.errors import CorpusError, TrainingError
from syllabary.reference import ties
from syllabary.reference.assemble import (
    assemble,
    check_options,
    initial_alphabet,
    merge_budget,
    warn_early_stop,
)
from syllabary.reference.merge import count_pairs, merge
from syllabary.reference.symbols import symbols
from syllabary.reference.ties import Pair
from syllabary.reference.train import MergeStep
from syllabary.reference.train_corpus import read_sequences
from syllabary.spec import TokenizerSpec, TrainOptions

Sequences = list[tuple[list[int], int]]  # ids and how often


@dataclass(frozen=True, slots=True)
class ParityRules:
    """How the language is chosen.

    ratios: language -> how many times better than at 1.0 it should be compressed; 1.0 for others.
    window, alpha: see above; None: no window. global_merges: see above.
    """

    ratios: Mapping[str, float] | None = None
    window: int | None = None
    alpha: float = 2.0
    global_merges: int = 0


@dataclass(frozen=True, slots=True)
class ParityStep:
    """One merge, and the language that it was chosen for; None: all of them."""

    language: str | None
    merge: MergeStep


def check_rules(
    rules: ParityRules, options: TrainOptions, languages: Sequence[str], dev: Iterable[str] | None
) -> None:
    """Raise `TrainingError` for what contradicts itself."""
    check_options(options)
    if not languages:
        raise TrainingError("no language is given: give a dict of language to its texts")
    if options.unit == "word" or options.tie_break == "first-seen":
        what = f'unit="{options.unit}"' if options.unit == "word" else 'tie_break="first-seen"'
        raise TrainingError(f"{what} does not go with several languages: their texts stand in no order")
    if rules.ratios is not None and dev is not None:
        raise TrainingError("both dev and ratios are given: languages are judged by one of them")
    for language in (*(rules.ratios or ()), *(dev or ())):
        if language not in languages:
            raise TrainingError(f"language {language!r} has no texts: there are {', '.join(languages)}")
    if dev is not None and (missing := [name for name in languages if name not in set(dev)]):
        raise TrainingError(f"dev has no text in {', '.join(missing)}: give one in every language, or none")
    for language, ratio in (rules.ratios or {}).items():
        _check_number(f"the ratio of {language}", ratio)
        if not (math.isfinite(ratio) and ratio > 0):
            raise TrainingError(f"the ratio of {language} is {ratio}: give a number above 0")
    if rules.window is not None and rules.window < 1:
        raise TrainingError(f"window is {rules.window}: set it to 1 or more, or None")
    _check_number("alpha", rules.alpha)
    if not (math.isfinite(rules.alpha) and rules.alpha > 0):
        raise TrainingError(f"alpha is {rules.alpha}: give a number above 0")
    if rules.global_merges < 0:
        raise TrainingError(f"global_merges is {rules.global_merges}: set it to 0 or more")


def _check_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} is {value!r}: give a number")


class Languages:
    """The texts of all languages in ids, as they merge.

    alphabet: local id -> symbol. corpora, dev: language -> its sequences; the alphabet is that of all.
    """

    def __init__(
        self,
        corpora: Mapping[str, Iterable[str]],
        dev: Mapping[str, Iterable[str]] | None,
        options: TrainOptions,
    ) -> None:
        """Cut and spell them; `CorpusError` for a language without text."""
        named = [(name, "corpus", texts) for name, texts in corpora.items()]
        named += [(name, "dev text", (dev or {})[name]) for name in corpora if dev]
        spelled: list[list[tuple[list[bytes], int]]] = []
        for name, what, texts in named:
            found = read_sequences(texts, options)
            if not found:
                raise CorpusError(
                    f"the {what} of {name} is empty: no document holds a piece of text to count"
                )
            mark = options.end_of_word
            spelled.append([(symbols(piece, options.unit, mark), n) for (piece,), n in found.items()])
        seen = {symbol for sequences in spelled for sequence, _count in sequences for symbol in sequence}
        self.alphabet = initial_alphabet(options, seen)
        ids = {symbol: local for local, symbol in enumerate(self.alphabet)}
        texts_in_ids: list[Sequences] = [
            [([ids[symbol] for symbol in sequence], count) for sequence, count in sequences]
            for sequences in spelled
        ]
        self.corpora = dict(zip(corpora, texts_in_ids, strict=False))
        self.dev = dict(zip(corpora, texts_in_ids[len(corpora) :], strict=True)) if dev else {}
        self.initial = {name: size(sequences) for name, sequences in self.corpora.items()}

    def cost(self, name: str, rules: ParityRules) -> float:
        """How badly a language is served now."""
        if self.dev:
            return size(self.dev[name])
        ratio = (rules.ratios or {}).get(name, 1.0)
        return -((self.initial[name] / size(self.corpora[name])) / ratio)

    def merge(self, pair: Pair, new_id: int) -> None:
        """Replace `pair` by `new_id` in all of them."""
        for texts in (self.corpora, self.dev):
            for name, sequences in texts.items():
                texts[name] = [(merge(ids, pair, new_id), count) for ids, count in sequences]


def size(sequences: Sequences) -> int:
    """How many tokens there are."""
    return sum(len(ids) * count for ids, count in sequences)


def pair_counts(sequences: Sequences) -> Counter[Pair]:
    """How often each pair occurs."""
    found = Counter[Pair]()
    for ids, count in sequences:
        for pair, times in count_pairs(ids).items():
            found[pair] += times * count
    return found


def parity_steps(languages: Languages, options: TrainOptions, rules: ParityRules) -> Iterator[ParityStep]:
    """Learn merges until the budget is spent or no language has a pair left."""
    spelling = list(languages.alphabet)
    lengths = [1] * len(spelling)
    exhausted = set[str]()
    chosen = deque[str](maxlen=rules.window)

    def best(counts: Counter[Pair]) -> Pair | None:
        limit = options.max_token_length
        fit = {
            pair: count
            for pair, count in counts.items()
            if count >= options.min_frequency
            and (limit is None or sum(lengths[one] for one in pair) <= limit)
        }
        tied = [pair for pair, count in fit.items() if count == max(fit.values())]
        if not tied:
            return None
        return (
            ties.smallest_ids(tied)
            if options.tie_break == "smallest-ids"
            else ties.largest_pair(tied, spelling)
        )

    for rank in range(merge_budget(options, len(languages.alphabet))):
        name, pair, counts = None, None, Counter[Pair]()
        if rank < rules.global_merges:
            for sequences in languages.corpora.values():
                counts.update(pair_counts(sequences))
            pair = best(counts)
        while pair is None and rank >= rules.global_merges:
            name = worst(languages, rules, exhausted, chosen)
            if name is None:
                break
            chosen.append(name)
            counts = pair_counts(languages.corpora[name])
            pair = best(counts)
            if pair is None:
                exhausted.add(name)
        if pair is None:
            return
        left, right, new_id = spelling[pair[0]], spelling[pair[1]], len(spelling)
        languages.merge(pair, new_id)
        spelling.append(left + right)
        lengths.append(lengths[pair[0]] + lengths[pair[1]])
        yield ParityStep(name, MergeStep(rank, pair, left, right, new_id, counts[pair]))


def worst(languages: Languages, rules: ParityRules, exhausted: set[str], chosen: Sequence[str]) -> str | None:
    """The language to merge for; None if none has pairs left."""
    live = [name for name in languages.corpora if name not in exhausted]
    allowed = live
    if rules.window is not None:
        share = rules.alpha / len(languages.corpora)
        allowed = [name for name in live if chosen.count(name) / rules.window <= share]
    return max(allowed or live, key=lambda name: languages.cost(name, rules), default=None)


def train(
    corpora: Mapping[str, Iterable[str]],
    options: TrainOptions,
    rules: ParityRules | None = None,
    dev: Mapping[str, Iterable[str]] | None = None,
) -> TokenizerSpec:
    """Learn a tokenizer for all languages; warns `EarlyStopWarning` below the size asked for.

    >>> from syllabary.spec import SplitSpec
    >>> options = TrainOptions(SplitSpec(r"\\S+"), unit="char", num_merges=2, min_frequency=1)
    >>> spec = train({"lat": ["arma arma virum"], "eng": ["of"]}, options)
    >>> [spec.tokens[result] for _left, _right, result in spec.merges]
    [b'ar', b'of']
    """
    rules = ParityRules() if rules is None else rules
    check_rules(rules, options, list(corpora), dev)
    languages = Languages(corpora, dev, options)
    merges = [step.merge.pair for step in parity_steps(languages, options, rules)]
    spec = assemble(options, languages.alphabet, merges)
    warn_early_stop(options, len(languages.alphabet), len(merges))
    return spec
