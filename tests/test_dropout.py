"""BPE-dropout through the facade: its arguments, and that the engine draws the coins of the reference.

Leaves out: what coins decide (`test_reference_dropout`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st
from strategies import repetitive_texts, texts

import syllabary
from syllabary import splits
from syllabary.reference import ReferenceTokenizer
from syllabary.reference.train import train
from syllabary.spec import SplitSpec, TokenizerSpec, TrainOptions

CORPUS = ["the theory of the thing is that then they thought it through; aaaa aaaaaaa abab"] * 2
WHOLE_TEXT = SplitSpec(None)
LETTERS = {letter.encode(): place for place, letter in enumerate("a btheé")}
SPECS = {
    "bytes": train(CORPUS, TrainOptions(splits.get("gpt2"), num_merges=30)),
    "long pieces": train(CORPUS, TrainOptions(WHOLE_TEXT, num_merges=30)),
    "words": train(CORPUS, TrainOptions(splits.get("latin"), unit="word", num_merges=10, fallback=True)),
    "marks": train(
        CORPUS,
        TrainOptions(
            splits.get("whitespace-split"), "char", num_merges=30, fallback=True, end_of_word="</w>"
        ),
    ),
    "scores": TokenizerSpec(
        "char",
        WHOLE_TEXT,
        {
            **{place: letter for letter, place in LETTERS.items()},
            20: b"th",
            21: b"the",
            22: b"aa",
            23: b"aaa",
        },
        LETTERS,
        None,
        scores={**dict.fromkeys(LETTERS.values(), -99.0), 20: -1.0, 21: -2.0, 22: -3.0, 23: -4.0},
        unused=frozenset([22]),
        unknown=0,
    ),
}
SPECS["whole pieces"] = replace(SPECS["bytes"], whole_pieces=True)
RANKS = dict(enumerate([*map(bytes, zip(range(256))), b"th", b"he", b"the", b"aa"]))
SPECS["ranks"] = TokenizerSpec(
    "byte", splits.get("gpt4"), RANKS, {RANKS[place]: place for place in range(256)}, None, whole_pieces=True
)
TOKENIZERS = {name: (ReferenceTokenizer(spec), syllabary.Tokenizer(spec)) for name, spec in SPECS.items()}
probabilities = st.one_of(st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.floats(0, 1))
seeds = st.one_of(st.integers(0, 9), st.integers(0, 2**64 - 1))


@pytest.mark.parametrize("name", SPECS)
@given(st.one_of(texts(), repetitive_texts("the a", 200)), probabilities, seeds)
def test_the_engine_draws_the_coins_of_the_reference(name: str, text: str, dropout: float, seed: int) -> None:
    reference, engine = TOKENIZERS[name]
    ids = reference.encode(text, dropout=dropout, seed=seed)
    assert engine.encode(text, dropout=dropout, seed=seed) == ids
    assert engine.encode_array(text, dropout=dropout, seed=seed).tolist() == ids
    assert engine.tokens(text, dropout=dropout, seed=seed) == reference.tokens(
        text, dropout=dropout, seed=seed
    )


def test_a_text_has_about_as_many_tokens_as_sentencepiece_draws(tmp_path: Path) -> None:
    """All of a text is one sequence there: what is passed over must not be tried again after each merge."""
    lines = Path(syllabary.__file__).with_name("training.py").read_text("utf-8").split("\n")
    lines = [line for line in lines if line.strip()]
    engine = syllabary.train(lines, 400, like="sentencepiece", options={"character_coverage": 1.0})
    engine.save(tmp_path / "m.model")
    peer = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    text = " ".join(lines)
    assert len(engine.encode(text)) == len(peer.encode(text))
    for dropout in (0.1, 0.5, 0.9):
        drawn = len(engine.encode(text, dropout=dropout, seed=1))
        theirs = len(peer.encode(text, enable_sampling=True, alpha=dropout, nbest_size=-1))
        assert abs(drawn - theirs) < 0.04 * theirs, dropout
    assert len(engine.encode(text, dropout=0.5, seed=1)) > 1.3 * len(engine.encode(text))


@pytest.mark.parametrize("threads", [1, 3])
def test_each_text_of_a_batch_has_its_own_coins_on_any_number_of_threads(threads: int) -> None:
    reference, engine = TOKENIZERS["bytes"]
    many = [CORPUS[0]] * 40
    expected = [reference.encode(text, dropout=0.5, seed=7, index=index) for index, text in enumerate(many)]
    assert engine.encode_batch(many, threads=threads, dropout=0.5, seed=7) == expected
    ragged = engine.encode_batch_array(many, threads=threads, dropout=0.5, seed=7)
    assert [ids.tolist() for ids in ragged] == expected
    assert len(set(map(tuple, expected))) == len(many)


def test_without_a_seed_it_is_a_new_one_each_time() -> None:
    engine = TOKENIZERS["bytes"][1]
    assert len({tuple(engine.encode(CORPUS[0], dropout=0.5)) for _ in range(10)}) > 1
    assert len({tuple(engine.encode(CORPUS[0])) for _ in range(10)}) == 1


def test_a_tokenizer_may_have_a_dropout_of_its_own() -> None:
    engine = TOKENIZERS["bytes"][1]
    own = syllabary.Tokenizer(replace(SPECS["bytes"], dropout=0.5))
    assert own.encode(CORPUS[0], seed=3) == engine.encode(CORPUS[0], dropout=0.5, seed=3)
    assert own.encode(CORPUS[0], dropout=0.0) == engine.encode(CORPUS[0])
    assert own.count(CORPUS[0]) == engine.count(CORPUS[0])
    assert own.offsets(CORPUS[0]).tolist() == engine.offsets(CORPUS[0]).tolist()


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"dropout": 1.5}, ValueError, "dropout is 1.5: give a probability from 0 to 1, or None"),
        ({"dropout": -0.1}, ValueError, "dropout is -0.1"),
        ({"dropout": float("nan")}, ValueError, "dropout is nan"),
        ({"dropout": "0.1"}, TypeError, "dropout is '0.1'"),
        ({"dropout": True}, TypeError, "dropout is True"),
        ({"dropout": 0.1, "seed": 0.5}, TypeError, "seed is 0.5: give an integer"),
        ({"seed": "1"}, TypeError, "seed is '1'"),
        ({"seed": -1}, ValueError, "seed is -1: give 0 to 2[*][*]64 - 1"),
        ({"dropout": 0.1, "seed": 2**64}, ValueError, "seed is 18446744073709551616"),
    ],
)
def test_arguments_that_cannot_be(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    engine = TOKENIZERS["bytes"][1]
    for call in (engine.encode, engine.encode_array, engine.tokens):
        with pytest.raises(error, match=message):
            call("the", **arguments)
    for call in (engine.encode_batch, engine.encode_batch_array):
        with pytest.raises(error, match=message):
            call(["the"], **arguments)


@pytest.mark.parametrize(
    "model, size, way", [("unigram", 263, r"sample\(alpha=\)"), ("wordpiece", 4, "leave it out")]
)
@pytest.mark.filterwarnings("ignore::syllabary.EarlyStopWarning")
def test_a_model_without_merges_has_none(model: Any, size: int, way: str) -> None:
    """In every method that takes it; none at all, and a seed alone, are nothing to refuse."""
    tok = syllabary.train(["a b a b c a b"], size, model=model)
    reference = ReferenceTokenizer(tok.spec)
    calls: list[Callable[..., Any]] = [tok.encode, tok.encode_array, tok.tokens]
    batches: list[Callable[..., Any]] = [tok.encode_batch, tok.encode_batch_array]
    message = rf"dropout=0\.5 passes over merges, and model='{model}' has none: .*{way}$"
    for call in [*calls, reference.encode, reference.tokens]:
        with pytest.raises(syllabary.VocabularyError, match=message):
            call("a b", dropout=0.5, seed=1)
    for batch in batches:
        with pytest.raises(syllabary.VocabularyError, match=message):
            batch([], dropout=0.5)
    assert tok.encode("a b", dropout=0.0) == tok.encode("a b", seed=3) == reference.encode("a b", dropout=0)


def test_numbers_of_numpy_are_numbers() -> None:
    engine = TOKENIZERS["bytes"][1]
    expected = engine.encode(CORPUS[0], dropout=0.5, seed=3)
    assert engine.encode(CORPUS[0], dropout=np.float32(0.5), seed=np.int64(3)) == expected  # type: ignore[arg-type]
    assert engine.encode(CORPUS[0], dropout=0, seed=3) == engine.encode(CORPUS[0])
