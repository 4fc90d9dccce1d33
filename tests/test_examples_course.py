"""The byte-pair chapter of the Hugging Face course: the clean run, and the run as it is commonly made.

The oracle is written as the course writes it: words as lists of strings, a dict of pair frequencies, the
first pair with the highest one. It shares no code with ours but the GPT-2 split and its spelling of bytes.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest
from implementations import Implementation, each, train_merges

from syllabary import splits
from syllabary.errors import UnknownSymbolError, VocabularyError
from syllabary.reference import ReferenceTokenizer, pieces
from syllabary.reference.bytes_to_unicode import spell, unspell
from syllabary.reference.merge import count_pairs, merge
from syllabary.spec import TokenizerSpec, TrainOptions

CORPUS = [
    "This is a Natural Language Processing course.",
    "We will learn about tokenization.",
    "Here, we will explore Byte-Pair Encoding tokenizers",
    "We will be able to understand how tokenizers are trained and tokens are generated.",
]
SENTENCE = "This is an implementation of the Byte-pair Encoding tokenizer."
CLEAN_PREFIX = "Ġ a, Ġ t, Ġt o, e n, e r, Ġ w, Ġto k, Ġtok en, a t, n g".split(", ")
CLEAN_CUT = (
    "This Ġis Ġa n Ġ i m p le m en t at i o n Ġ o f Ġt h e ĠByte - p ai r ĠEncod ing Ġtokeniz er .".split()
)
COMMON_PREFIX = "Ġ a, Ġ t, Ġt o, Ġ w, Ġto k, Ġtok en, a t, n g".split(", ")
OPTIONS = TrainOptions(
    splits.get("gpt2"),
    vocab_size=120,
    special_tokens=("<|endoftext|>",),
    special_first=True,
    min_frequency=1,
    tie_break="first-seen",
    byte_order="gpt2",
    alphabet="seen",
)

# ---- the course's own code, in short ----

Pair = tuple[str, str]


def course_words(text: str) -> list[str]:
    return [spell(piece.encode()) for piece in pieces(text, splits.get("gpt2"))]


def course_merge_pair(a: str, b: str, split: list[str]) -> list[str]:
    i = 0
    while i < len(split) - 1:
        if split[i] == a and split[i + 1] == b:
            split = [*split[:i], a + b, *split[i + 2 :]]
        else:
            i += 1
    return split


class Course:
    """`word_freqs`, `splits` and `merges` of the notebook."""

    def __init__(self) -> None:
        self.word_freqs: dict[str, int] = defaultdict(int)
        for text in CORPUS:
            for word in course_words(text):
                self.word_freqs[word] += 1
        self.alphabet = sorted({letter for word in self.word_freqs for letter in word})
        self.splits = {word: list(word) for word in self.word_freqs}
        self.merges: dict[Pair, str] = {}

    def apply(self, pair: Pair) -> None:
        for word in self.word_freqs:
            self.splits[word] = course_merge_pair(*pair, self.splits[word])

    def get_best(self) -> Pair:
        pair_freqs: dict[Pair, int] = defaultdict(int)
        for word, freq in self.word_freqs.items():
            split = self.splits[word]
            for i in range(len(split) - 1):
                pair_freqs[split[i], split[i + 1]] += freq
        best_pair, max_freq = ("", ""), None
        for pair, freq in pair_freqs.items():
            if max_freq is None or max_freq < freq:
                best_pair, max_freq = pair, freq
        return best_pair

    def learn(self, merges: int) -> None:
        while len(self.merges) < merges:
            pair = self.get_best()
            self.apply(pair)
            self.merges[pair] = pair[0] + pair[1]

    def tokenize(self, text: str) -> list[str]:
        words = [list(word) for word in course_words(text)]
        for pair in self.merges:
            words = [course_merge_pair(*pair, word) for word in words]
        return [token for word in words for token in word]


@pytest.fixture(scope="module")
def course() -> Course:
    """The notebook after its training, clean."""
    clean = Course()
    clean.learn(86)
    return clean


# ---- the clean run ----


def test_the_oracle_is_the_course(course: Course) -> None:
    assert [f"{a} {b}" for a, b in course.merges][:10] == CLEAN_PREFIX
    assert course.tokenize(SENTENCE) == CLEAN_CUT


@each
def test_all_86_merges(implementation: Implementation, course: Course) -> None:
    merges = train_merges(implementation, CORPUS, OPTIONS)
    assert [(spell(left), spell(right)) for left, right in merges] == list(course.merges)
    assert len(merges) == 86


@each
def test_the_vocabulary_of_120(implementation: Implementation, course: Course) -> None:
    spec = implementation.train(CORPUS, OPTIONS)
    vocab = ["<|endoftext|>", *course.alphabet, *course.merges.values()]
    assert len(course.alphabet) == 33
    assert spec.special_tokens == {"<|endoftext|>": 0}
    assert [spell(spec.tokens[token_id]) for token_id in range(1, 120)] == vocab[1:]
    assert len(spec.tokens) == 119


@each
def test_the_cut_of_the_sentence(implementation: Implementation) -> None:
    """With all 256 bytes as the alphabet, `m` and `f` have ids and the course's cut can be shown whole."""
    spec = implementation.train(CORPUS, replace(OPTIONS, vocab_size=None, num_merges=86, alphabet="all"))
    tok = implementation.tokenizer(spec)
    assert [spell(token) for token in tok.tokens(SENTENCE)] == CLEAN_CUT
    assert tok.decode(tok.encode(SENTENCE)) == SENTENCE


@each
def test_symbols_outside_the_alphabet_are_named(implementation: Implementation) -> None:
    tok = implementation.tokenizer(implementation.train(CORPUS, OPTIONS))
    with pytest.raises(UnknownSymbolError, match=r"'m', 'f'") as error:
        tok.encode(SENTENCE)
    assert f"at character {SENTENCE.index('m')} " in str(error.value)
    known = SENTENCE.replace("m", "").replace("f", "")
    assert tok.decode(tok.encode(known)) == known


# ---- as commonly run ----


def common_run() -> tuple[list[Pair], list[Pair]]:
    """The pairs merged and those recorded: `e n` and `e r`, done by hand after `Ġ a`, are not recorded."""
    words = [word for text in CORPUS for word in course_words(text)]
    distinct = {word: words.count(word) for word in words}
    spelling = sorted(set("".join(words)))
    sequences = {word: [spelling.index(letter) for letter in word] for word in distinct}
    by_hand = [("Ġ", "a"), ("e", "n"), ("e", "r")]
    merged: list[Pair] = []
    while len(merged) < 88:
        counts: dict[tuple[int, int], int] = {}
        for word, ids in sequences.items():
            for pair, count in count_pairs(ids).items():
                counts[pair] = counts.get(pair, 0) + count * distinct[word]
        best = max(counts, key=lambda pair: counts[pair])
        if len(merged) < len(by_hand):
            left, right = by_hand[len(merged)]
            best = (spelling.index(left), spelling.index(right))
        merged.append((spelling[best[0]], spelling[best[1]]))
        spelling.append("".join(merged[-1]))
        sequences = {word: merge(ids, best, len(spelling) - 1) for word, ids in sequences.items()}
    return merged, [pair for pair in merged if pair not in by_hand[1:]]


def test_as_commonly_run_the_list_and_the_cut_differ() -> None:
    _merged, recorded = common_run()
    assert len(recorded) == 86
    assert [f"{a} {b}" for a, b in recorded][:8] == COMMON_PREFIX
    notebook = Course()
    notebook.merges = {pair: "".join(pair) for pair in recorded}
    assert " ".join(notebook.tokenize(SENTENCE)).endswith("ĠEncoding Ġtok e n i z e r .")


def test_as_commonly_run_the_course_agrees() -> None:
    notebook = Course()
    for pair in [("Ġ", "a"), ("e", "n"), ("e", "r")]:
        notebook.apply(pair)
    notebook.merges = {("Ġ", "a"): "Ġa"}
    notebook.learn(86)
    assert list(notebook.merges) == common_run()[1]


def test_as_commonly_run_it_is_no_valid_tokenizer() -> None:
    """`Ġtok en`, the sixth merge of the list, joins a token that no merge makes."""
    _merged, recorded = common_run()
    letters = sorted({letter for text in CORPUS for word in course_words(text) for letter in word})
    vocab = [*letters, *("".join(pair) for pair in recorded)]
    ids = {token: number for number, token in enumerate(vocab)}
    assert "en" not in ids
    tokens = {number: unspell(token) for token, number in ids.items()}
    nowhere = len(ids)
    spec = TokenizerSpec(
        unit="byte",
        split=OPTIONS.split,
        tokens=tokens,
        alphabet={tokens[number]: number for number in range(len(letters))},
        merges=tuple((ids.get(a, nowhere), ids.get(b, nowhere), ids[a + b]) for a, b in recorded),
    )
    with pytest.raises(VocabularyError, match=f"merge 5 names id {nowhere}, which is no token"):
        ReferenceTokenizer(spec)
