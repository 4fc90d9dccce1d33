"""Training WordPiece by likelihood, our own default: merge the pair whose symbols belong together most.

    score(a, b) = count(ab) / (count(a) * count(b))

Byte-pair encoding takes the most frequent pair. This takes the pair that is most frequent for how frequent
its two symbols are: how much more likely a text becomes, an occurrence, if the pair is a symbol of its own
and no longer two that are independent (Schuster and Nakajima 2012, section 3; the formula as Hugging Face's
course gives it). So what always stands together merges first, however rare: `min_frequency` holds it back.

Rules, so that there is one result:
  1. Names, alphabet and first symbols are those of `train_huggingface`: special tokens, characters by code
     point, characters with the prefix. A name has one id: a pair whose text is a name already takes its id.
  2. The highest score merges, scores compared as fractions; of equal ones the pair that occurs most often,
     then that of the smallest left id, then of the smallest right id.
  3. A merge goes through each word from the left, without overlap. Then symbols and pairs are as if counted
     anew.
  4. The end: the vocabulary is full, or no pair occurs `min_frequency` times.

Leaves out: speed; how words are read (`train_huggingface.read_words`); encoding (`wordpiece`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from syllabary.reference.ties import Pair
from syllabary.reference.train_huggingface import (
    BpeTrainerOptions,
    Cutting,
    Learned,
    Trained,
    begun,
    symbols,
)


def train(documents: Iterable[str], options: BpeTrainerOptions, cutting: Cutting | None = None) -> Trained:
    """Learn names and merges from documents; of `options`, `max_token_length` is not asked.

    Raises `CorpusError` for a corpus without a word, `TextError` for a lone surrogate; as `check_options`.

    >>> from syllabary import splits
    >>> options = BpeTrainerOptions(9, continuing_subword_prefix="##")
    >>> train(["an an an at at qu"], options, Cutting(split=splits.get("whitespace"))).names
    ['a', 'n', 'q', 't', 'u', '##n', '##t', '##u', 'qu']
    """
    words, names = begun(documents, options, cutting)
    return learn(words, names, options)


def learn(words: Mapping[str, int], names: Sequence[str], options: BpeTrainerOptions) -> Trained:
    """Merge until an end; `names`: by id, all that there are before the first merge."""
    names = list(names)
    ids = {name: number for number, name in enumerate(names)}
    known = set(names)
    spelled = [[ids[symbol] for symbol in symbols(word, known, options)] for word in words]
    times = list(words.values())
    steps: list[Learned] = []
    while len(names) < options.vocab_size:
        best = next_pair(spelled, times, max(options.min_frequency, 1))
        if best is None:
            break
        pair, count = best
        name = names[pair[0]] + names[pair[1]].removeprefix(options.continuing_subword_prefix or "")
        new_id = ids.setdefault(name, len(names))
        if new_id == len(names):
            names.append(name)
        steps.append(Learned(pair, new_id, count))
        spelled = [merged(word, pair, new_id) for word in spelled]
    return Trained(names, steps)


def next_pair(spelled: Sequence[Sequence[int]], times: Sequence[int], least: int) -> tuple[Pair, int] | None:
    """The pair that merges next and its count; `None` if none occurs often enough.

    >>> next_pair([[0, 1], [0, 2], [3, 4]], [50, 40, 3], 1)
    ((3, 4), 3)
    """
    symbol_counts, pair_counts = Counter[int](), Counter[Pair]()
    for word, count in zip(spelled, times, strict=True):
        for symbol in word:
            symbol_counts[symbol] += count
        for pair in pairwise(word):
            pair_counts[pair] += count

    def merit(pair: Pair) -> tuple[Fraction, int, int, int]:
        count = pair_counts[pair]
        score = Fraction(count, symbol_counts[pair[0]] * symbol_counts[pair[1]])
        return score, count, -pair[0], -pair[1]

    often = [pair for pair, count in pair_counts.items() if count >= least]
    best = max(often, key=merit, default=None)
    return None if best is None else (best, pair_counts[best])


def merged(word: Sequence[int], pair: Pair, new_id: int) -> list[int]:
    """A word with a pair replaced, from the left.

    >>> merged([7, 7, 7, 8], (7, 7), 9)
    [9, 7, 8]
    """
    found: list[int] = []
    at = 0
    while at < len(word):
        if tuple(word[at : at + 2]) == pair:
            found.append(new_id)
            at += 2
        else:
            found.append(word[at])
            at += 1
    return found
