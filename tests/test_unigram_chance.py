"""Unigram by chance: a way out of the n best, and the entropy of all ways; with sentencepiece, and by trying.

sentencepiece 0.2.3 has no entropy any more: what 0.2.1 says of one model is written down here.
Leaves out: a way out of all, and the n best themselves (`test_unigram_paths`).
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from test_unigram_paths import SPEC as PLAIN
from test_unigram_paths import ways

import syllabary
from syllabary.reference import ReferenceTokenizer
from syllabary.reference.dropout import Coins
from syllabary.reference.unigram_paths import chosen
from syllabary.spec import Matching, Step, TokenizerSpec
from syllabary.tokenizer import Tokenizer

DRAWS = 5_000
SIDES = {"add_dummy_prefix": True, "remove_extra_whitespaces": True, "treat_whitespace_as_suffix": False}
NAMES = ["▁", "a", "b", "c", "ab", "bc", "abc", "ca", "▁a", "▁ab"]
SCORES = [-2.5, -1.0, -1.5, -1.25, -1.75, -2.0, -3.5, -2.125, -2.25, -2.75]
SPEC: TokenizerSpec = replace(
    PLAIN,
    tokens={number: name.encode() for number, name in enumerate(NAMES, 1)},
    scores=dict(enumerate(SCORES, 1)),
    special_tokens={"<unk>": 0},
    matching={"<unk>": Matching(stage="never")},
    unknown=0,
    normalizer=(Step("SentencePiece", {"precompiled_charsmap": b"", **SIDES, "escape_whitespaces": True}),),
    decoder=(Step("SentencePiece", {**SIDES, "unknown_surface": "?", "denormalizer_charsmap": b""}),),
    surface_offsets=True,
    single_precision=True,
)
# Text -> what `CalculateEntropy` of sentencepiece 0.2.1 says with each of ALPHAS, in 32 bits.
ALPHAS = [0.0, 0.1, 0.5, 1.0, 3.0]
ENTROPIES = {
    "": [0.0, 0.0, 0.0, 0.0, 0.0],
    "abc": [1.945910096, 1.942792177, 1.866993546, 1.655543566, 0.841618419],
    "abcabc ab": [4.969813347, 4.962696075, 4.791884422, 4.318411350, 2.377789021],
    "xxab": [0.693147182, 0.692444563, 0.675873160, 0.627487063, 0.314741433],
    "ab" * 40: [28.41892433, 28.38836288, 27.66169167, 25.55429840, 12.53073692],
}


def strays(drawn: Counter[tuple[int, ...]], weights: dict[tuple[int, ...], float]) -> bool:
    """Whether chi-squared is more than five of its standard deviations too large."""
    whole, count = sum(weights.values()), sum(drawn.values())
    wanted = {ids: count * weight / whole for ids, weight in weights.items()}
    chi = sum((drawn[ids] - number) ** 2 / number for ids, number in wanted.items())
    return not drawn.keys() <= weights.keys() or chi > len(weights) + 5 * math.sqrt(2 * len(weights))


def counted(rows: Iterable[Iterable[int]]) -> Counter[tuple[int, ...]]:
    return Counter(tuple(ids) for ids in rows)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("nbest", [2, 5, 12])
def test_one_of_the_best_is_drawn_as_often_as_there(tmp_path: Path, alpha: float, nbest: int) -> None:
    tok, text = Tokenizer(SPEC), "abcab ab"
    best = tok.encode_nbest(text, nbest)
    assert len(best) == nbest
    weights = {tuple(ids): math.exp(alpha * score) for ids, score in best}
    assert not strays(counted(tok.sample_batch([text] * DRAWS, alpha, 5, nbest=nbest)), weights)
    tok.save(tmp_path / "m.model")
    peer = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    sentencepiece.set_random_generator_seed(5)
    texts = [text] * DRAWS
    there = peer.encode(texts, enable_sampling=True, nbest_size=nbest, alpha=alpha, num_threads=1)
    assert not strays(counted(there), weights)
    all_ways = counted(tok.sample_batch(texts, alpha, 5))
    assert strays(all_ways, weights), "the test can fail: these are drawn from all ways"


def test_both_draw_the_same_out_of_the_best() -> None:
    tok, reference = Tokenizer(SPEC), ReferenceTokenizer(SPEC)
    texts = ["abcab ab", "", "xxab ca", "ab" * 20]
    for nbest in (1, 2, 7, 10**20):
        rows = tok.sample_batch(texts[:3], 0.2, 9, "text", nbest=nbest)
        assert rows == tok.sample_batch(texts[:3], 0.2, 9, "text", threads=1, nbest=nbest)
        for index, text in enumerate(texts[:3]):
            assert rows[index].tolist() == reference.sample(text, 0.2, 9, "text", index, nbest)
            assert tok.sample(text, 0.2, 3, nbest=nbest) == reference.sample(text, 0.2, 3, nbest=nbest)
    assert tok.sample(texts[3], 0.0, nbest=1) == tok.encode(texts[3])
    assert tok.sample(texts[3], alpha=1e300, nbest=40) == tok.encode(texts[3])
    assert len({tuple(tok.sample(texts[3], alpha=0.0, nbest=64)) for _ in range(8)}) > 1
    assert tok.sample_batch([], nbest=3).to_list() == []


def test_a_coin_that_rounding_leaves_over_is_the_best_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Coins, "number", lambda _coins: 1.0)
    assert chosen([-2.0, -1.0], 0.5, Coins(0.0, 1)) == 1


def test_the_entropy_is_that_of_sentencepiece() -> None:
    tok = Tokenizer(SPEC)
    for text, there in ENTROPIES.items():
        assert [tok.entropy(text, alpha) for alpha in ALPHAS] == pytest.approx(there, rel=5e-5, abs=1e-6)


@pytest.mark.parametrize("alpha", [1e29, 1e300, 1.7e308, 10**300])
def test_the_steepest_weights_leave_the_best_way_alone(alpha: float) -> None:
    tok, reference = Tokenizer(PLAIN), ReferenceTokenizer(PLAIN)
    for text in ("abcab", "ab" * 20, "", "c"):
        best = tok.encode_nbest(text, 2)
        assert tok.entropy(text, alpha) == reference.entropy(text, alpha)
        if len(best) == 1 or best[0][1] > best[1][1]:
            assert tok.entropy(text, alpha) == 0.0
            assert tok.sample(text, alpha, 3) == reference.sample(text, alpha, 3) == tok.encode(text)
    for made in (np.float32, np.float64):
        assert tok.entropy("abcab", made(0.5)) == tok.entropy("abcab", 0.5) > 0.0


def test_the_entropy_is_that_of_all_ways() -> None:
    source, tok = random.Random(7), Tokenizer(PLAIN)
    for _ in range(250):
        text = "".join(source.choices("abc", k=source.randrange(12)))
        alpha = source.choice([0.0, source.random(), 4 * source.random()])
        weights = [math.exp(alpha * score) for _ids, score in ways(text.encode())]
        shares = [weight / math.fsum(weights) for weight in weights]
        wanted = -math.fsum(share * math.log(share) for share in shares)
        assert tok.entropy(text, alpha) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_entropies_of_pieces_are_added() -> None:
    tok = Tokenizer(PLAIN)
    one, other = tok.entropy("abc", 0.5), tok.entropy("cab", 0.5)
    assert tok.entropy("abc<unk>cab", 0.5, special="allow") == pytest.approx(one + other)
    assert tok.entropy("abc<unk>cab", 0.5, special={"<unk>"}) == pytest.approx(one + other)
    assert tok.entropy("a", 0.5) == tok.entropy("", 0.5) == 0.0
    long = tok.entropy("abc" * 2_000, 0.0)  # the logarithm of a number of 2,500 digits
    assert long / tok.entropy("abc" * 1_000, 0.0) == pytest.approx(2.0, rel=1e-3)


def test_a_user_defined_symbol_weighs_as_in_the_n_best() -> None:
    """0.1 for each character but one: so sentencepiece's lattice counts it, and its one best way by bytes."""
    spec = replace(PLAIN, added_tokens={"→→": 8}, matching={"→→": Matching(stage="frozen")})
    spec = replace(spec, tokens={**spec.tokens, 9: "→".encode()}, scores={**PLAIN.scores, 9: -0.5})
    tok = Tokenizer(spec)
    shares = [math.exp(score) for _ids, score in tok.encode_nbest("→→", 9)]
    assert len(shares) == 2
    wanted = -sum(share / sum(shares) * math.log(share / sum(shares)) for share in shares)
    assert tok.entropy("→→", 1.0) == pytest.approx(wanted)
    weights = {tuple(ids): math.exp(score) for ids, score in tok.encode_nbest("→→", 9)}
    drawn = tok.sample_batch(["→→"] * DRAWS, 1.0, 5).to_list()
    assert not strays(counted(drawn), weights)
    reference = ReferenceTokenizer(spec)
    assert [reference.sample("→→", 1.0, 5, index=index) for index in range(50)] == drawn[:50]


def test_wrong_arguments() -> None:
    tok = Tokenizer(PLAIN)
    for nbest in (0, -1):
        for call in (lambda: tok.sample("ab", nbest=nbest), lambda: tok.sample_batch(["ab"], nbest=nbest)):  # noqa: B023
            with pytest.raises(ValueError, match=f"nbest={nbest}: ask for 1 way or more"):
                call()
    with pytest.raises(TypeError, match=r"nbest is 2\.5: give an integer"):
        tok.sample("ab", nbest=2.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="text must be a str"):
        tok.sample(b"ab", nbest=2)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"texts\[1\] is int: give str"):
        tok.sample_batch(["ab", 3], nbest=2)  # type: ignore[list-item]
    with pytest.raises(syllabary.TextError, match="text 1 of the batch: lone surrogate"):
        tok.sample_batch(["ab", "\ud800"], nbest=2)
    with pytest.raises(syllabary.SpecialTokenError, match="text 1 of the batch: the text holds"):
        tok.sample_batch(["ab", "<unk>"], nbest=2)
    with pytest.raises(TypeError, match="text must be a str"):
        tok.entropy(b"ab")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="alpha is -1: give a finite number"):
        tok.entropy("ab", -1)
    with pytest.raises(syllabary.SpecialTokenError):
        tok.entropy("<unk>")
    with pytest.raises(ValueError, match="special"):
        tok.entropy("ab", special="never")
    without = replace(PLAIN, unknown=None, special_tokens={}, tokens={3: b"ab"}, scores={3: -1.0})
    for tokenizer in (Tokenizer(without), ReferenceTokenizer(without)):
        with pytest.raises(syllabary.UnknownSymbolError, match="not in the alphabet: 'a', 'b'; the first"):
            tokenizer.entropy("ab", 1.0)
    merging = syllabary.train(["low low"], vocab_size=258)
    with pytest.raises(syllabary.VocabularyError, match="entropy needs model=\"unigram\", and this is 'bpe'"):
        merging.entropy("low")
