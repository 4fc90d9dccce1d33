"""Tokens that the engine spells for training: those of `spelled`, in every way that a caller sees."""

from __future__ import annotations

import dataclasses
import gc
import pickle
import random

import numpy as np
import pytest

import syllabary
from syllabary._engine import Learned
from syllabary.errors import SyllabaryError, TrainingError, VocabularyError
from syllabary.reference.assemble import spelled
from syllabary.reference.check import check_spec
from syllabary.reference.tokens import ReadTokens
from syllabary.spec import TokenizerSpec
from syllabary.tokenizer import Tokenizer


def drawn(seed: int) -> tuple[list[bytes], list[tuple[int, int]], int]:
    """Symbols, merges in local ids (of which some make bytes that are there already), and a lowest id."""
    draw = random.Random(seed)
    symbols = [bytes([value]) for value in draw.sample(range(256), draw.randint(1, 40))]
    merges: list[tuple[int, int]] = []
    for _ in range(draw.randint(0, 80)):
        known = min(len(symbols) + len(merges), 60)
        merges.append((draw.randrange(known), draw.randrange(known)))
    return symbols, merges, draw.choice([0, 1, 1000])


def array(merges: list[tuple[int, int]]) -> np.ndarray[tuple[int, int], np.dtype[np.uint32]]:
    return np.array(merges, np.uint32).reshape(-1, 2)


@pytest.mark.parametrize("seed", range(60))
def test_the_engine_spells_as_the_specification(seed: int) -> None:
    symbols, merges, first = drawn(seed)
    learned = Learned(symbols, array(merges), first)
    tokens, triples = spelled(symbols, merges, first)
    read = ReadTokens(learned, learned.merges)
    assert learned.merges == triples
    assert set(map(type, learned.merges)) <= {tuple}
    assert learned.merges is learned.merges
    assert len(read) == len(tokens)
    assert [read[token_id] for token_id in tokens] == [*tokens.values()]
    assert learned.get(first + len(tokens)) is None
    assert read == tokens
    assert tokens == read
    assert [*read] == [*tokens]
    assert pickle.loads(pickle.dumps(read)) == tokens


@pytest.mark.parametrize("pair", [(2, 0), (0, 2), (2**32 - 1, 0)])
def test_a_merge_of_a_token_that_is_not_there_yet_is_an_error(pair: tuple[int, int]) -> None:
    with pytest.raises(TrainingError, match="merge 0 names a token that is not there yet"):
        Learned([b"a", b"b"], array([pair]), 0)


@pytest.mark.parametrize("pairs", [np.empty((2, 1), np.uint32), np.empty((2, 3), np.uint32)])
def test_pairs_have_two_columns(pairs: np.ndarray[tuple[int, int], np.dtype[np.uint32]]) -> None:
    with pytest.raises(ValueError, match="two columns"):
        Learned([b"a"], pairs, 0)


def test_ids_end_where_those_of_arrays_end() -> None:
    with pytest.raises((SyllabaryError, OverflowError)):
        Learned([b"a", b"b"], array([(0, 1)]), 2**32 - 2)


def trained() -> tuple[Tokenizer, TokenizerSpec]:
    """A tokenizer, and its data with tokens as a dict and merges of its own."""
    tok = syllabary.train(["low lower lowest newest widest"] * 3, 270, special_tokens=["<|end|>"])
    plain = dataclasses.replace(tok.spec, tokens=dict(tok.spec.tokens), merges=tuple(tok.spec.merges or ()))
    return tok, plain


def test_a_trained_tokenizer_is_the_one_of_its_plain_data() -> None:
    tok, plain = trained()
    assert isinstance(tok.spec.tokens, ReadTokens)
    assert tok.spec == plain
    assert plain == tok.spec
    copy = Tokenizer(plain)
    for text in ("lowest newer", "größer", ""):
        assert tok.encode(text) == copy.encode(text)
    assert tok.vocab == copy.vocab
    assert tok.merges == copy.merges
    assert pickle.loads(pickle.dumps(tok)).spec == plain


def test_other_merges_than_those_learned_are_checked() -> None:
    tok, _ = trained()
    merges = tok.spec.merges or ()
    (left, right, result), *rest = merges
    for wrong in ((right, left, result), (left, right, result + 1), (left, 10**6, result)):
        with pytest.raises(VocabularyError, match="merge 0"):
            check_spec(dataclasses.replace(tok.spec, merges=(wrong, *rest)))
    assert Tokenizer(dataclasses.replace(tok.spec, merges=merges[:5])).merges == tok.merges[:5]


def test_without_merges_tokens_of_the_same_bytes_are_found() -> None:
    learned = Learned([b"a", b"b"], array([(0, 0), (2, 0), (0, 2)]), 0)
    tok, _ = trained()
    tokens = ReadTokens(learned, learned.merges)
    spec = dataclasses.replace(tok.spec, tokens=tokens, alphabet={b"a": 0, b"b": 1}, special_tokens={})
    assert Tokenizer(dataclasses.replace(spec, merges=learned.merges)).encode("aaa") == [3]
    with pytest.raises(VocabularyError, match="ids 3 and 4 are both"):
        check_spec(dataclasses.replace(spec, merges=None))


@pytest.mark.parametrize("enabled", [True, False])
def test_training_leaves_the_collector_as_it_was(enabled: bool) -> None:
    before = gc.isenabled()
    try:
        gc.enable() if enabled else gc.disable()
        syllabary.train(["low low lower"], num_merges=2)
        assert gc.isenabled() is enabled
    finally:
        gc.enable() if before else gc.disable()
