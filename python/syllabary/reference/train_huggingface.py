"""Training as Hugging Face's `BpeTrainer` 0.23.3 does it, `like="huggingface"`: the same names and merges.

    documents -> normalized -> cut into words -> alphabet -> words in symbols -> merges

Its words are texts: where its ByteLevel cuts, bytes are spelled in GPT-2's characters before they are
counted. A token is its name (a text), and a name has one id. So, unlike in `train`:
  1. ids: special tokens as they are given, the characters by code point, decorated characters (with a prefix
     or suffix), then what is learned. A special token that is a character is that character.
  2. A pair whose text is a name already takes that name's id: the vocabulary does not grow, a merge is noted.
  3. The count of the pair that was merged is never taken down (but where it overlaps itself, as in `aaa`).
     So if a name is used again and with it the pair comes again, the old count is in the new one.
  4. A queue holds entries: a pair, the count that was seen, and the words that the pair came up in. One pair
     may have several entries, of several steps; each merges the pair in its own words, and each notes a
     merge. Of a pair noted twice, the last place counts in the file.
  5. `max_token_length` is exclusive, counts characters (or bytes) and not decorations, and is asked only
     where neighbours come to be by a merge. Pairs that are too long are not counted, yet are taken off the
     count when their symbols go: so a count can fall below zero, and as the trainer reads it without its
     sign, it is then the largest of all.
  6. The end: the vocabulary is full, or the best entry's count is 0 or below `min_frequency`.

Where the trainer is not deterministic (it follows the order of a hash table), this is the order here: of
equally frequent characters `limit_alphabet` leaves out the largest code points; decorated characters have ids
by the order of their names; of equal entries of one pair the one that was put into the queue first (or again
first, with another count) comes first, as it does there wherever that entry was the next of all. Counts are
exact, where the trainer's wrap around at 2^31.
Source: tokenizers 0.23.3, `models/bpe/trainer.rs` and `word.rs`. Leaves out: the tokenizer that is made of it
(`syllabary.training.huggingface`), reading files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise

from syllabary.errors import CorpusError, TrainingError
from syllabary.reference import normalize, pretokenize
from syllabary.reference.aligned import Aligned
from syllabary.reference.assemble import check_special_tokens
from syllabary.reference.split import pieces
from syllabary.reference.symbols import utf8
from syllabary.reference.ties import Pair
from syllabary.spec import SplitSpec, Step

SPECIAL_COUNT = 2**64 - 1  # of the characters of `initial_alphabet`, as often as they were seen


@dataclass(frozen=True, slots=True)
class BpeTrainerOptions:
    """The options of `BpeTrainer`, by its names.

    vocab_size: names in all, special ones included; learning ends there. min_frequency: a pair seen less
    often never merges. limit_alphabet: characters kept, the most frequent; the others are dropped, and their
    neighbours become neighbours. initial_alphabet: characters (of longer texts the first) that are in the
    alphabet in any case. continuing_subword_prefix: stands before every symbol of a word but the first;
    end_of_word_suffix: behind the last. max_token_length: see above.
    """

    vocab_size: int = 30_000
    min_frequency: int = 0
    special_tokens: tuple[str, ...] = ()
    limit_alphabet: int | None = None
    initial_alphabet: tuple[str, ...] = ()
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    max_token_length: int | None = None


@dataclass(frozen=True, slots=True)
class Cutting:
    """How documents become words: steps of normalizing, steps of cutting, and a split (none: `None`)."""

    normalizer: tuple[Step, ...] = ()
    pretokenizer: tuple[Step, ...] = ()
    split: SplitSpec | None = None


@dataclass(frozen=True, slots=True)
class Learned:
    """One merge as it was noted: `pair` (ids) became `new_id`, when its count was `count`."""

    pair: Pair
    new_id: int
    count: int


@dataclass(frozen=True, slots=True)
class Trained:
    """What was learned. names: by id. steps: every merge noted; `last_ranks` makes the file's of them."""

    names: list[str]
    steps: list[Learned]


def check_options(options: BpeTrainerOptions) -> None:
    """`TrainingError` for numbers below zero, `VocabularyError` for special tokens empty or given twice."""
    for name in ("vocab_size", "min_frequency", "limit_alphabet", "max_token_length"):
        value = getattr(options, name)
        if value is not None and value < 0:
            raise TrainingError(f"{name} is {value}: set it to 0 or more")
    for index, text in enumerate(options.initial_alphabet):
        utf8(text, f"initial_alphabet[{index}]")
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        utf8(getattr(options, name) or "", name)
    check_special_tokens(options.special_tokens)


def train(documents: Iterable[str], options: BpeTrainerOptions, cutting: Cutting | None = None) -> Trained:
    """Learn names and merges from documents, as `train_from_iterator` does from its sequences.

    Raises `CorpusError` for a corpus without a word, `TextError` for a lone surrogate; as `check_options`.

    >>> from syllabary import splits
    >>> found = train(["to be or not to be"], BpeTrainerOptions(10), Cutting(split=splits.get("whitespace")))
    >>> found.names
    ['b', 'e', 'n', 'o', 'r', 't', 'be', 'to', 'no', 'or']
    """
    words, names = begun(documents, options, cutting)
    return learn(words, names, options)


def begun(
    documents: Iterable[str], options: BpeTrainerOptions, cutting: Cutting | None
) -> tuple[dict[str, int], list[str]]:
    """The words of documents with their counts, and the names that there are before the first merge."""
    check_options(options)
    words = read_words(documents, cutting or Cutting())
    if not words:
        raise CorpusError("the corpus is empty: no document holds a piece of text to count")
    kept = kept_characters(words, options)
    names = first_names(kept, options)
    names += decorated(words, names, options)
    return words, names


def read_words(documents: Iterable[str], cutting: Cutting) -> dict[str, int]:
    """Words -> how often. `CorpusError` for documents of another type."""
    if isinstance(documents, (str, bytes)):
        raise CorpusError("documents is one string: training reads many, so give a list of them, as [text]")
    found = Counter[str]()
    for index, document in enumerate(documents):
        if not isinstance(document, str):
            raise CorpusError(f"document {index} is of type {type(document).__name__}: give str")
        utf8(document, f"document {index}")
        found.update(_words(document, cutting))
    return dict(found)


def _words(document: str, cutting: Cutting) -> Iterator[str]:
    text = normalize.apply(cutting.normalizer, Aligned.of(document))
    for part in pretokenize.apply(cutting.pretokenizer, [text]):
        yield from [part.text] if cutting.split is None else pieces(part.text, cutting.split)


def kept_characters(words: Mapping[str, int], options: BpeTrainerOptions) -> list[str]:
    """The characters of the alphabet, by code point.

    >>> kept_characters({"abc": 1, "b": 1}, BpeTrainerOptions(limit_alphabet=2))
    ['a', 'b']
    """
    counts = Counter[str]()
    for word, count in words.items():
        for character in word:
            counts[character] += count
    counts.update({text[0]: 0 for text in options.initial_alphabet if text})
    for text in options.initial_alphabet:
        if text:
            counts[text[0]] = SPECIAL_COUNT
    order = sorted(counts, key=lambda character: (-counts[character], character))
    return sorted(order[: options.limit_alphabet])


def first_names(kept: Sequence[str], options: BpeTrainerOptions) -> list[str]:
    """Special tokens and characters, by id.

    >>> first_names(["a", "b"], BpeTrainerOptions(special_tokens=("b", "<s>")))
    ['b', '<s>', 'a']
    """
    return list(dict.fromkeys([*options.special_tokens, *kept]))


def decorated(words: Iterable[str], names: Sequence[str], options: BpeTrainerOptions) -> list[str]:
    """The symbols of words that are not names yet: characters with a prefix or a suffix, in order.

    >>> decorated(["ab", "a"], ["a", "b"], BpeTrainerOptions(end_of_word_suffix="</w>"))
    ['a</w>', 'b</w>']
    """
    known = set(names)
    return sorted({symbol for word in words for symbol in symbols(word, known, options)} - known)


def symbols(word: str, known: set[str], options: BpeTrainerOptions) -> Iterator[str]:
    """A word's first symbols; characters that are no name are dropped.

    >>> options = BpeTrainerOptions(continuing_subword_prefix="##", end_of_word_suffix="</w>")
    >>> list(symbols("abca", {"a", "b"}, options))
    ['a', '##b', '##a</w>']
    """
    prefix, suffix = options.continuing_subword_prefix or "", options.end_of_word_suffix or ""
    for place, character in enumerate(word):
        if character in known:
            before = prefix if place > 0 else ""
            yield before + character + (suffix if place == len(word) - 1 else "")


class Word:
    """A word on its way: the ids of its symbols, and of how many characters each was made."""

    def __init__(self, ids: Sequence[int]) -> None:
        self.ids = list(ids)
        self.lengths = [1] * len(self.ids)

    def merge(self, pair: Pair, new_id: int, limit: int | None) -> list[tuple[Pair, int]]:
        """Merges a pair from left to right; which pairs thereby went (-1) and came (+1), one after another.

        >>> word = Word([0, 0, 0])
        >>> word.merge((0, 0), 1, None), word.ids
        ([((0, 0), -1), ((1, 0), 1)], [1, 0])
        """
        changes: list[tuple[Pair, int]] = []
        at = 0
        while at < len(self.ids) - 1:
            if (self.ids[at], self.ids[at + 1]) != pair:
                at += 1
                continue
            length = self.lengths[at] + self.lengths[at + 1]
            self.ids[at : at + 2] = [new_id]
            self.lengths[at : at + 2] = [length]
            if at > 0:
                changes.append(((self.ids[at - 1], pair[0]), -1))
                if limit is None or self.lengths[at - 1] + length < limit:
                    changes.append(((self.ids[at - 1], new_id), 1))
            if at + 1 < len(self.ids):
                changes.append(((pair[1], self.ids[at + 1]), -1))
                if limit is None or self.lengths[at + 1] + length < limit:
                    changes.append(((new_id, self.ids[at + 1]), 1))
            at += 1
        return changes


# minus the count without its sign, the pair, when it was put into the queue, the words
Entry = tuple[int, Pair, int, list[int]]


def learn(words: Mapping[str, int], names: Sequence[str], options: BpeTrainerOptions) -> Trained:
    """Merge until an end; `names`: by id, all that there are before the first merge."""
    names = list(names)
    ids = {name: number for number, name in enumerate(names)}
    known = set(names)
    spelled = [Word([ids[symbol] for symbol in symbols(word, known, options)]) for word in words]
    weights = list(words.values())
    counts = Counter[Pair]()
    where: dict[Pair, set[int]] = {}
    for number, word in enumerate(spelled):
        for pair in pairwise(word.ids):
            counts[pair] += weights[number]
            where.setdefault(pair, set()).add(number)
    queue: list[Entry] = [
        (-_unsigned(counts[pair]), pair, number, sorted(where[pair])) for number, pair in enumerate(where)
    ]
    heapify(queue)
    pushed = len(queue)
    steps: list[Learned] = []
    while len(names) < options.vocab_size and queue:
        seen, pair, _, places = heappop(queue)
        count = _unsigned(counts[pair])
        if -seen != count:
            heappush(queue, (-count, pair, pushed, places))
            pushed += 1
            continue
        if count < max(options.min_frequency, 1):
            break
        name = names[pair[0]] + names[pair[1]].removeprefix(options.continuing_subword_prefix or "")
        new_id = ids.setdefault(name, len(names))
        if new_id == len(names):
            names.append(name)
        steps.append(Learned(pair, new_id, count))
        came: dict[Pair, set[int]] = {}
        for place in places:
            for changed, change in spelled[place].merge(pair, new_id, options.max_token_length):
                counts[changed] += change * weights[place]
                if change > 0:
                    came.setdefault(changed, set()).add(place)
        for changed, those in came.items():
            if counts[changed] > 0:
                heappush(queue, (-counts[changed], changed, pushed, sorted(those)))
                pushed += 1
    return Trained(names, steps)


def _unsigned(count: int) -> int:
    """A count as the trainer compares it: 64 bits without a sign."""
    return count % 2**64


def last_ranks(steps: Iterable[Learned]) -> list[tuple[int, int, int]]:
    """(left, right, result) in the order of the file: of a pair noted twice, the last place counts.

    >>> last_ranks([Learned((0, 1), 2, 9), Learned((3, 4), 5, 9), Learned((0, 1), 2, 9)])
    [(3, 4, 5), (0, 1, 2)]
    """
    found: dict[Pair, int] = {}
    for step in steps:
        found.pop(step.pair, None)
        found[step.pair] = step.new_id
    return [(left, right, result) for (left, right), result in found.items()]
