"""BPE-dropout in the reference: which coins are drawn, and what they decide.

Leaves out: the facade's arguments (`test_bad_arguments`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import repetitive_texts, texts
from tokenizers import Tokenizer, models

from syllabary import splits
from syllabary.reference import ReferenceTokenizer
from syllabary.reference.dropout import Coins, mix, places
from syllabary.reference.merge import by_merges
from syllabary.reference.train import train
from syllabary.spec import SplitSpec, TokenizerSpec, TrainOptions

CORPUS = ["the theory of the thing is that then they thought it through; aaaa aaaaaaa abab"] * 2
BYTE_LEVEL = train(CORPUS, TrainOptions(splits.get("gpt2"), num_merges=30))
WORDS = train(CORPUS, TrainOptions(splits.get("latin"), unit="word", num_merges=10, fallback=True))
SCORED = TokenizerSpec(
    "char",
    SplitSpec(None),
    {0: b"a", 1: b"b", 2: b"aa", 3: b"ab", 4: b"aab"},
    {b"a": 0, b"b": 1},
    None,
    scores={0: -9.0, 1: -9.0, 2: -1.0, 3: -2.0, 4: -3.0},
)


class Told(Coins):
    """Coins that fall as told."""

    def __init__(self, falls: list[bool]) -> None:
        super().__init__(0.5, 0)
        self.told = iter(falls)

    def falls(self) -> bool:
        return next(self.told)


# ---- coins ----


def test_mix_is_the_finisher_of_splitmix64() -> None:
    """The first numbers of SplitMix64 from the state 0 and from 1234567 are known."""
    step = 0x9E3779B97F4A7C15
    assert mix(step) == 0xE220A8397B1DCDAF
    assert [mix((1234567 + count * step) % 2**64) for count in (1, 2, 3)] == [
        6457827717110365317, 3203168211198807973, 9817491932198370423
    ]  # fmt: skip


def test_a_text_has_its_own_coins_by_seed_and_index() -> None:
    def drawn(seed: int, index: int = 0) -> tuple[bool, ...]:
        coins = Coins(0.5, seed, index)
        return tuple(coins.falls() for _ in range(64))

    streams = [drawn(seed, index) for seed in (0, 1, 2**64 - 1) for index in (0, 1, 2)]
    assert len(set(streams)) == len(streams)
    assert drawn(1) == drawn(2**64 + 1)
    assert drawn(7, 1) == drawn(7, 1)


@pytest.mark.parametrize("probability", [0.01, 0.1, 0.5, 0.9])
def test_coins_fall_as_often_as_they_should(probability: float) -> None:
    coins = Coins(probability, seed=3)
    fallen = sum(coins.falls() for _ in range(20_000)) / 20_000
    assert abs(fallen - probability) < 0.02


# ---- what they decide ----

RULE = by_merges([(0, 0, 2), (0, 1, 3), (2, 1, 4)])


def test_a_round_draws_in_order_of_rank_and_place_until_one_is_kept() -> None:
    """`a a a b`: candidates aa at 0, aa at 1, ab at 2."""
    start = [0, 0, 0, 1]
    assert list(places(start, RULE, Told([True, True, True]))) == []
    assert list(places(start, RULE, Told([True, False, False]))) == [(1, 2), (1, 4)]
    assert list(places(start, RULE, Told([True, True, False, False]))) == [(2, 3), (0, 2)]


def test_those_passed_over_are_candidates_again() -> None:
    assert list(places([0, 0, 0, 1], RULE, Told([True, True, False, True]))) == [(2, 3)]
    assert list(places([0, 0, 0, 0], RULE, Told([True, False, True]))) == [(1, 2)]
    assert list(places([0, 0, 0, 0], RULE, Told([True, True, False, False]))) == [(2, 2), (0, 2)]


@pytest.mark.parametrize(
    "falls, left",
    [
        ([], [2, 3]),
        ([True], [0, 4]),  # the second aa, whose ab is stale; then aab
        ([True, False, True], [0, 2, 1]),
        ([True, True], [0, 4]),  # ab, then aab
        ([True, True, True], [0, 0, 0, 1]),
        ([False, True], [2, 0, 1]),  # aa, and neither merges ab
    ],
)
def test_what_merging_by_score_passes_over_stays_apart(falls: list[bool], left: list[int]) -> None:
    """`a a a b`: aa at 0, aa at 1, ab at 2; a coin each, in order of score and place."""
    group = ReferenceTokenizer(SCORED).groups("aaab", "raise", [])[0]
    assert [token.id for token in group.tokens(Told([*falls, *[False] * 9]))] == left


@given(st.one_of(texts(), repetitive_texts("the a")), st.integers(0, 2**64 - 1))
def test_the_extremes(text: str, seed: int) -> None:
    tok = ReferenceTokenizer(BYTE_LEVEL)
    assert tok.encode(text, dropout=0.0, seed=seed) == tok.encode(text)
    assert tok.encode(text, dropout=1.0, seed=seed) == [
        token_id for group in next(tok.steps(text)) for token_id in group
    ]


@given(st.one_of(texts(), repetitive_texts("the a")), st.integers(0, 99), st.floats(0, 1))
def test_dropout_changes_the_ids_and_not_the_text(text: str, seed: int, dropout: float) -> None:
    for spec in (BYTE_LEVEL, WORDS):
        tok = ReferenceTokenizer(spec)
        ids = tok.encode(text, dropout=dropout, seed=seed)
        assert tok.decode(ids, "strict") == text
        assert ids == tok.encode(text, dropout=dropout, seed=seed)
        assert len(ids) >= len(tok.encode(text)) or dropout  # more tokens, but for rare detours
        assert b"".join(tok.tokens(text, dropout=dropout, seed=seed)) == text.encode()


def test_equal_pieces_draw_coins_of_their_own() -> None:
    tok = ReferenceTokenizer(BYTE_LEVEL)
    found = {tuple(tok.encode(" the" * 8, dropout=0.5, seed=seed)) for seed in range(4)}
    assert len(found) == 4
    assert any(a != b for ids in found for a, b in pairwise(zip(ids[::2], ids[1::2], strict=False)))


def test_the_specification_has_a_dropout_of_its_own() -> None:
    tok = ReferenceTokenizer(replace(BYTE_LEVEL, dropout=0.5))
    plain = ReferenceTokenizer(BYTE_LEVEL)
    text = "the theory of the thing"
    assert tok.encode(text, seed=5) == plain.encode(text, dropout=0.5, seed=5) != plain.encode(text)
    assert tok.encode(text, dropout=0.0) == plain.encode(text)
    assert len({tuple(tok.encode(text)) for _ in range(20)}) > 1  # a new seed each time
    assert tok.offsets(text) == plain.offsets(text)


def test_with_dropout_a_piece_that_is_a_token_is_merged_as_any_other() -> None:
    spec = replace(BYTE_LEVEL, whole_pieces=True, merges=())
    tok = ReferenceTokenizer(spec)
    assert len(tok.encode(" the")) == 1
    assert len(tok.encode(" the", dropout=0.5, seed=1)) == 4


@pytest.mark.parametrize("dropout", [0.1, 0.5])
def test_tokenizers_finds_the_same_encodings_as_often(dropout: float) -> None:
    """Its coins cannot be repeated, and it draws for stale candidates too: it need only be alike."""
    vocab = {"a": 0, "b": 1, "aa": 2, "ab": 3, "aab": 4}
    peer = Tokenizer(models.BPE(vocab, [("a", "a"), ("a", "b"), ("aa", "b")], dropout=dropout))
    spec = replace(SCORED, scores=None, merges=((0, 0, 2), (0, 1, 3), (2, 1, 4)))
    ours = ReferenceTokenizer(spec)
    rounds = 4000
    found = Counter(tuple(ours.encode("aab", dropout=dropout, seed=seed)) for seed in range(rounds))
    theirs = Counter(tuple(peer.encode("aab").ids) for _ in range(rounds))
    assert set(found) == set(theirs)
    for ids in found:
        assert abs(found[ids] - theirs[ids]) < 0.06 * rounds
