"""Training as Hugging Face's `BpeTrainer`: the specification learns what it learns, the engine the same.

The released tokenizers is the judge, over words alone; names that come again, pairs noted twice and counts
below zero are counted, so that none of these is missed. Leaves out: the public call and whole files
(`test_like_huggingface`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from huggingface_trainers import documents, learned, theirs, trainer_options
from hypothesis import given
from hypothesis import strategies as st
from strategies import repetitive_texts

from syllabary import splits
from syllabary._engine import HuggingFaceTrainer
from syllabary.errors import CorpusError, TextError, TrainingError, VocabularyError
from syllabary.reference.train_huggingface import (
    BpeTrainerOptions,
    Cutting,
    Trained,
    check_options,
    decorated,
    first_names,
    kept_characters,
    last_ranks,
    learn,
    read_words,
    train,
)
from syllabary.spec import Form, SplitSpec
from syllabary.training.huggingface import check_cut
from syllabary.training.huggingface_options import setup_of

WORDS = Cutting(split=splits.get("whitespace-split"))
TRIES = 300


def told(options: Mapping[str, Any]) -> BpeTrainerOptions:
    """The same as a record."""
    tuples = {name: tuple(value) for name, value in options.items() if isinstance(value, list)}
    return BpeTrainerOptions(**{**options, **tuples})


def merges(found: Trained) -> list[tuple[str, ...]]:
    """The merges of the file."""
    return [(found.names[left], found.names[right]) for left, right, _new in last_ranks(found.steps)]


def agrees(texts: list[str], drawn: Mapping[str, Any], seen: dict[str, int]) -> bool:
    """Whether both learn the same; ids of decorated characters are taken from the peer, who draws them."""
    options, words = told(drawn), read_words(texts, WORDS)
    first = first_names(kept_characters(words, options), options)
    marked = decorated(words, first, options)
    names, expected = learned(theirs(texts, {**drawn, "pre_tokenizer": {"type": "WhitespaceSplit"}}))
    begin = names[: len(first) + len(marked)]
    if begin[: len(first)] != first or set(begin[len(first) :]) != set(marked):
        assert options.limit_alphabet is not None  # it cut between equals: no one knows where
        return True
    found = learn(words, begin, options)
    seen["again"] += len(found.steps) > len(found.names) - len(begin)
    seen["twice"] += len(merges(found)) < len(found.steps)
    seen["below zero"] += any(step.count > 2**63 for step in found.steps)
    return found.names == names and merges(found) == expected


def test_of_equal_entries_the_one_that_waited_longer_is_next() -> None:
    """A pair that waits twice: one of its entries was put back with another count, behind the other."""
    source = random.Random("reference 1 7379")
    texts, drawn = documents(source), trainer_options(source)
    seen = dict.fromkeys(("again", "twice", "below zero"), 0)
    assert all(agrees(texts, drawn, seen) for _ in range(10))
    assert seen["twice"] == 10


@pytest.mark.parametrize("part", range(4))
def test_the_specification_learns_what_the_peer_learns(part: int, prove: bool) -> None:
    seen = dict.fromkeys(("again", "twice", "below zero"), 0)
    for seed in range(8000 if prove else 400):
        source = random.Random(f"reference {part} {seed}")
        texts, drawn = documents(source), trainer_options(source)
        # subtle: two entries of one pair have no order there, so that two runs may differ.
        assert any(agrees(texts, drawn, seen) for _ in range(TRIES)), (seed, texts, drawn)
    assert seen["again"] > 20, seen
    assert seen["twice"] > 1, seen


@pytest.mark.parametrize("text, marks", [("babaab", ("b", None, 4)), ("aaaa", ("a", "a", 3))])
def test_a_count_below_zero_is_the_largest(text: str, marks: tuple[str, str | None, int]) -> None:
    names = ("continuing_subword_prefix", "end_of_word_suffix", "max_token_length")
    drawn: dict[str, Any] = {"vocab_size": 60, **dict(zip(names, marks, strict=True))}
    drawn = {name: value for name, value in drawn.items() if value is not None}
    seen = dict.fromkeys(("again", "twice", "below zero"), 0)
    assert all(agrees([text], drawn, seen) for _ in range(20))
    assert seen["below zero"] > 0


@pytest.mark.parametrize("part", range(4))
def test_the_engine_learns_what_the_specification_learns(part: int, prove: bool) -> None:
    for seed in range(8000 if prove else 100):
        source = random.Random(f"engine {part} {seed}")
        texts, drawn = documents(source), trainer_options(source)
        if source.random() < 0.2:
            texts = ["".join(texts).replace(" ", "") * source.choice([1, 3])]
        check_engine(texts, told(drawn), source)


def check_engine(texts: list[str], options: BpeTrainerOptions, source: random.Random) -> None:
    """Fed in any way, on any number of threads, the engine learns the same."""
    try:
        expected = train(texts, options, WORDS)
    except CorpusError:
        return
    trainer = HuggingFaceTrainer((), (), WORDS.split or SplitSpec(None), False, source.randint(1, 3))
    for text in texts:
        if source.random() < 0.5:
            trainer.feed([text])
        else:
            middle = source.randint(0, len(text))
            trainer.feed_part(text[:middle], False)
            trainer.feed_part(text[middle:], True)
    assert trainer.finish() == len(read_words(texts, WORDS))
    names, _first, found, counts = trainer.learn(options, False, None)
    assert names == expected.names
    assert found.tolist() == [[*step.pair, step.new_id] for step in expected.steps]
    assert counts.tolist() == [step.count for step in expected.steps]


@given(
    st.lists(repetitive_texts("abc", 200), min_size=1, max_size=2),
    st.sampled_from([None, 3, 4, 6]),
    st.sampled_from([(), ("ab",), ("ba", "abc")]),
)
def test_unsplit_text(texts: list[str], limit: int | None, special: tuple[str, ...]) -> None:
    """One long word, in which names come again and again."""
    options = BpeTrainerOptions(60, special_tokens=special, max_token_length=limit)
    check_engine(texts, options, random.Random(0))


def test_words_counted_elsewhere() -> None:
    """From a table, past 32 bits; bytes are spelled in GPT-2's characters."""
    table = {"ab a": 2**40, "é": 3}
    data = "".join(table).encode()
    ends = np.cumsum([len(word.encode()) for word in table], dtype=np.uint64)
    counts = np.array(list(table.values()), dtype=np.uint64)
    trainer = HuggingFaceTrainer((), (), SplitSpec(None), False, 1)
    trainer.feed_counts(np.frombuffer(data, np.uint8), ends, counts)
    assert trainer.finish() == 2
    names, first, found, learned_counts = trainer.learn(BpeTrainerOptions(7), True, None)
    assert (names, first) == (["a", "b", "©", "Ã", "Ġ", "ab", "Ġa"], 5)
    assert found.tolist() == [[0, 1, 5], [4, 0, 6]]
    assert learned_counts.tolist() == [2**40, 2**40]


def test_a_table_has_the_words_of_the_set_up() -> None:
    gpt2, words = splits.get("gpt2"), splits.get("whitespace")
    check_cut(setup_of({}), gpt2, None)
    check_cut(setup_of({"normalizer": "NFC"}), gpt2, "NFC")
    check_cut(setup_of({"pre_tokenizer": "Whitespace"}), words, None)
    none = "steps that no table has: train on the text itself, or say"
    others: list[tuple[dict[str, Any], Form | None, str]] = [
        ({}, "NFC", "(gpt2 after NFC) than this training, which cuts by gpt2: count the text by that"),
        ({"normalizer": "NFD"}, "NFC", "which cuts by gpt2 after NFD: count"),
        ({"pre_tokenizer": "Whitespace"}, None, "another rule (gpt2) than this training, which cuts by w"),
        ({"pre_tokenizer": ["Digits", "ByteLevel"]}, None, none),
        ({"normalizer": "Lowercase"}, None, none),
        ({"normalizer": ["NFC", "NFD"]}, None, none),
    ]
    for options, form, says in others:
        with pytest.raises(TrainingError, match=re.escape(says)):
            check_cut(setup_of(options), gpt2, form)


def test_tables_that_do_not_fit() -> None:
    data, ends = np.frombuffer(b"abc", np.uint8), np.array([2, 4], np.uint64)
    trainer = HuggingFaceTrainer((), (), SplitSpec(None), False, 1)
    with pytest.raises(TrainingError, match="damaged"):
        trainer.feed_counts(data, ends, np.ones(2, np.uint64))
    with pytest.raises(TrainingError, match="damaged"):
        trainer.feed_counts(data, ends[:1], np.ones(2, np.uint64))
    trainer.feed_counts(data, ends[:1], np.array([2**63], np.uint64))
    trainer.finish()
    with pytest.raises(ValueError, match="2\\^63"):
        trainer.learn(BpeTrainerOptions(9), False, None)


@pytest.mark.parametrize("texts, kept", [(["abcc", "b"], "abc"), (["ab c c"], "ac"), (["é", "b"], "bé")])
def test_ties_at_the_limit_go_by_code_point(texts: list[str], kept: str) -> None:
    options = BpeTrainerOptions(limit_alphabet=len(kept))
    assert kept_characters(read_words(texts, WORDS), options) == sorted(kept)


def test_dropped_characters_make_neighbours() -> None:
    found = train(["axb axb", "a"], BpeTrainerOptions(9, limit_alphabet=2), WORDS)
    assert found.names == ["a", "b", "ab"]


def test_documents_that_cannot_be() -> None:
    with pytest.raises(CorpusError, match="one string"):
        train("ab", BpeTrainerOptions())
    with pytest.raises(CorpusError, match="empty"):
        train(["", "  "], BpeTrainerOptions(), WORDS)
    with pytest.raises(CorpusError, match="document 1 is of type int"):
        train(["ab", 3], BpeTrainerOptions())  # type: ignore[list-item]
    with pytest.raises(TextError, match="document 1"):
        train(["ab", "\ud800"], BpeTrainerOptions())


@pytest.mark.parametrize(
    "options, error",
    [({"vocab_size": -1}, TrainingError), ({"limit_alphabet": -1}, TrainingError),
     ({"special_tokens": ("a", "a")}, VocabularyError), ({"special_tokens": ("",)}, VocabularyError),
     ({"initial_alphabet": ("\ud800",)}, TextError), ({"end_of_word_suffix": "\ud800"}, TextError)],
)  # fmt: skip
def test_options_that_cannot_be(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        check_options(BpeTrainerOptions(**options))
