"""Unigram's n best ways, and ways drawn at random.

Leaves out: the best way (`test_unigram`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sentencepiece
import sentencepiece_models as made
from hypothesis import given
from hypothesis import strategies as st
from unigram_models import PIPELINES, huggingface_file, sentencepiece_model

import syllabary
from syllabary.formats.sentencepiece import to_spec
from syllabary.formats.sentencepiece_proto import parse as parse_model
from syllabary.reference import ReferenceTokenizer, unigram, unigram_paths
from syllabary.spec import Matching, SplitSpec, TokenizerSpec
from syllabary.tokenizer import Tokenizer

TOKENS = {0: b"a", 1: b"b", 2: b"c", 3: b"ab", 4: b"bc", 5: b"abc", 6: b"ca", 7: b"<unk>"}
SCORES = {0: -1.0, 1: -1.5, 2: -1.25, 3: -1.75, 4: -2.0, 5: -3.5, 6: -2.125}
SPEC = TokenizerSpec(
    "char",
    SplitSpec(None),
    {token_id: token for token_id, token in TOKENS.items() if token_id < 7},
    {},
    None,
    {"<unk>": 7},
    model="unigram",
    scores=SCORES,
    unknown=7,
    fuse_unknown=True,
)


def outcome(tokenizer: Tokenizer | ReferenceTokenizer, text: str, count: int) -> object:
    """The ways, or the sentence of the error."""
    try:
        return tokenizer.encode_nbest(text, count, "text")
    except syllabary.SyllabaryError as error:
        return str(error)


def ways(text: bytes) -> Iterator[tuple[list[int], float]]:
    """All ways to cut a text, by trying."""
    if not text:
        yield [], 0.0
    for token_id, token in TOKENS.items():
        if token_id < 7 and text.startswith(token):
            for rest, score in ways(text[len(token) :]):
                yield [token_id, *rest], SCORES[token_id] + score


def test_the_n_best_are_the_best_of_all() -> None:
    text = "abcabcab"
    everything = sorted(ways(text.encode()), key=lambda way: -way[1])
    tok = Tokenizer(SPEC)
    found = tok.encode_nbest(text, 1000)
    assert len(found) == len(everything)
    assert sorted(ids for ids, _score in found) == sorted(ids for ids, _score in everything)
    assert [score for _ids, score in found] == pytest.approx([score for _ids, score in everything])
    assert found[:5] == tok.encode_nbest(text, 5)
    assert found[0][0] == tok.encode(text)


def test_pieces_and_special_tokens_are_put_together() -> None:
    tok = Tokenizer(SPEC)
    found = tok.encode_nbest("abx<unk>ab", 4, special="allow")
    assert found[0][0] == [3, 7, 7, 3]
    assert sorted(ids for ids, _score in found) == [
        [0, 1, 7, 7, 0, 1],
        [0, 1, 7, 7, 3],
        [3, 7, 7, 0, 1],
        [3, 7, 7, 3],
    ]
    assert tok.encode_nbest("", 3) == [([], 0.0)]


@pytest.mark.parametrize("number", range(6))
def test_the_n_best_are_those_of_sentencepiece(tmp_path: Path, number: int) -> None:
    """Scores but for rounding; ways too, where no other has nearly the same score."""
    data = sentencepiece_model(tmp_path, number)
    peer = sentencepiece.SentencePieceProcessor(model_proto=data)
    reference = ReferenceTokenizer(to_spec(parse_model(data, Path("t.model")), Path("t.model")))
    for text in [*made.corpus(number, 4), "aaaa né <sep>12", "漢字Ｈ"]:
        there = peer.nbest_encode(text[:60], nbest_size=20, return_type="proto").nbests
        here = reference.encode_nbest(text[:60], 20, special="text")
        scores = [score for _ids, score in here]
        assert scores == pytest.approx([one.score for one in there], rel=1e-5)
        for at in range(len(here)):
            near = [abs(scores[at] - score) for score in scores[max(0, at - 1) : at + 2]]
            if 0 < at < len(here) - 1 and sorted(near)[1] > 1e-3:
                assert here[at][0] == [piece.id for piece in there[at].pieces]


@pytest.mark.parametrize("number", range(6))
def test_the_engine_finds_the_n_best_of_the_reference(tmp_path: Path, number: int) -> None:
    """Ids, scores and their order, ties too; sentencepiece's models and Hugging Face's."""
    model = to_spec(parse_model(sentencepiece_model(tmp_path, number), Path("t.model")), Path("t.model"))
    (tmp_path / "tokenizer.json").write_text(huggingface_file(*PIPELINES[number * 13], number))
    for spec in (model, syllabary.load(tmp_path / "tokenizer.json").spec):
        tok, reference = Tokenizer(spec), ReferenceTokenizer(spec)
        for text in [*made.corpus(number, 4), "aaaa né <sep>12", "漢字Ｈ  <s> x", ""]:
            for count in (1, 7, 64):
                assert outcome(tok, text[:40], count) == outcome(reference, text[:40], count)


@pytest.mark.parametrize("number", range(6))
def test_the_one_best_way_is_that_of_encode(tmp_path: Path, number: int) -> None:
    """As in sentencepiece, whose search may find another way of the same score first."""
    data = sentencepiece_model(tmp_path, number)
    peer = sentencepiece.SentencePieceProcessor(model_proto=data)
    tok = Tokenizer(to_spec(parse_model(data, Path("t.model")), Path("t.model")))
    for text in [*made.corpus(number, 4), "-" * 40, "aaaa né <sep>12", "a" * 9, ""]:
        ((ids, _score),) = tok.encode_nbest(text, 1, "text")
        assert ids == tok.encode(text, "text") == peer.nbest_encode(text, nbest_size=1)[0]


def test_the_score_of_the_one_best_way() -> None:
    """Sums that are added from the other end are rounded in another way, and another way is the best."""
    scores = {0: -0.1, 1: -0.2, 2: -0.35, 3: -0.4}
    tokens = {number: b"a" * (number + 1) for number in scores}
    rounded = {number: unigram.single(score) for number, score in scores.items()}
    spec = replace(SPEC, tokens=tokens, scores=rounded, single_precision=True)
    tok, reference, text = Tokenizer(spec), ReferenceTokenizer(spec), "a" * 7
    searched = tok.encode_nbest(text, 2)
    assert searched == reference.encode_nbest(text, 2)
    assert tok.encode(text) == searched[1][0]
    assert tok.encode_nbest(text, 1) == reference.encode_nbest(text, 1) == searched[1:]
    assert tok.encode_nbest(f"<unk>{text}", 1, {"<unk>"}) == [([7, *searched[1][0]], searched[1][1])]


@given(
    text=st.text("abcx", max_size=9),
    scores=st.lists(st.sampled_from([-1.0, -2.0, -3.5, 0.0]), min_size=7, max_size=7),
    single=st.booleans(),
    split=st.sampled_from([None, "a|[^a]+"]),
    frozen=st.booleans(),
)
def test_ties_come_in_the_order_of_the_reference(
    text: str, scores: list[float], single: bool, split: str | None, frozen: bool
) -> None:
    spec = replace(
        SPEC,
        scores=dict(enumerate(scores)),
        single_precision=single,
        split=SplitSpec(split),
        added_tokens={"bcb": 8} if frozen else {},
        matching={"bcb": Matching(stage="frozen")} if frozen else {},
    )
    tok, reference = Tokenizer(spec), ReferenceTokenizer(spec)
    for count in (1, 3, 40, 10**20):
        assert tok.encode_nbest(text, count) == reference.encode_nbest(text, count)


def test_with_too_many_open_ends_both_give_up_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 hypotheses, of which 512 stay; and so do the steps that these are made of."""
    text = "abcabcab" * 6
    tok, reference = Tokenizer(SPEC), ReferenceTokenizer(SPEC)
    found = tok.encode_nbest(text, 1500)
    assert found == reference.encode_nbest(text, 1500)
    monkeypatch.setattr(unigram_paths, "MOST", 10**9)
    assert len(found) == 1500
    assert found[0] == reference.encode_nbest(text, 1)[0]


def test_what_some_way_cannot_spell_is_an_error() -> None:
    fields = {"tokens": {3: b"ab"}, "scores": {3: -1.0}, "single_precision": True}
    spec = replace(SPEC, unknown=None, special_tokens={}, **fields)  # type: ignore[arg-type]
    for tokenizer in (Tokenizer(spec), ReferenceTokenizer(spec)):
        assert tokenizer.encode_nbest("abab", 1) == [([3, 3], -2.0)]
        with pytest.raises(syllabary.UnknownSymbolError, match="not in the alphabet: 'b'; the first is at"):
            tokenizer.encode_nbest("bab", 1)
        with pytest.raises(syllabary.UnknownSymbolError, match="not in the alphabet: 'ab'; the first is at"):
            tokenizer.encode_nbest("ab", 2)
        with pytest.raises(syllabary.UnknownSymbolError, match="not in the alphabet: 'ab"):
            tokenizer.sample("ab" * 9, alpha=0.0, seed=1)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0, 2.5])
def test_ways_are_drawn_as_often_as_they_should(alpha: float) -> None:
    text = "abcab"
    weights = {tuple(ids): math.exp(alpha * score) for ids, score in ways(text.encode())}
    whole = sum(weights.values())
    rows = Tokenizer(SPEC).sample_batch([text] * 20_000, alpha=alpha, seed=5)
    drawn = Counter(tuple(ids) for ids in rows.to_list())
    assert drawn.keys() <= weights.keys()
    chi = sum(
        (drawn[ids] - 20_000 * weight / whole) ** 2 / (20_000 * weight / whole)
        for ids, weight in weights.items()
    )
    assert chi < len(weights) + 5 * math.sqrt(2 * len(weights))


@pytest.mark.parametrize("number", range(4))
def test_both_draw_the_same(tmp_path: Path, number: int) -> None:
    data = sentencepiece_model(tmp_path, number)
    spec = to_spec(parse_model(data, Path("t.model")), Path("t.model"))
    tok, reference = Tokenizer(spec), ReferenceTokenizer(spec)
    texts = made.corpus(number, 6)
    rows = tok.sample_batch(texts, alpha=0.2, seed=9, special="text", threads=2).to_list()
    assert rows == tok.sample_batch(texts, 0.2, 9, "text", threads=1).to_list()
    for index, text in enumerate(texts):
        assert rows[index] == reference.sample(text, 0.2, 9, "text", index)
        assert tok.sample(text, 0.2, 3, "text") == reference.sample(text, 0.2, 3, "text")
        assert tok.decode(rows[index]) == tok.decode(tok.encode(text, special="text"))


def test_without_a_seed_draws_differ() -> None:
    tok = Tokenizer(SPEC)
    assert len({tuple(tok.sample("abc" * 20, alpha=0.0)) for _ in range(5)}) > 1
    assert tok.sample("abc" * 20, alpha=1000.0) == tok.encode("abc" * 20)


def test_wrong_arguments() -> None:
    tok = Tokenizer(SPEC)
    for alpha in (-0.1, math.inf, math.nan):
        with pytest.raises(ValueError, match=r"alpha is .*: give a finite number, 0 or more"):
            tok.sample("ab", alpha=alpha)
    with pytest.raises(TypeError, match="alpha is '1'"):
        tok.sample("ab", alpha="1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n=0: ask for 1 way or more"):
        tok.encode_nbest("ab", 0)
    with pytest.raises(TypeError, match="text must be a str"):
        tok.encode_nbest(b"ab", 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"texts\[1\]"):
        tok.sample_batch(["ab", 3])  # type: ignore[list-item]
    with pytest.raises(syllabary.SpecialTokenError):
        tok.sample("<unk>")
    merging = syllabary.train(["low low"], vocab_size=258)
    for call in (lambda: merging.sample("low"), lambda: merging.encode_nbest("low", 2)):
        with pytest.raises(syllabary.VocabularyError, match="model=\"unigram\", and this is 'bpe'"):
            call()
