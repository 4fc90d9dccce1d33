"""BPE-dropout through the facade: its arguments, and that the engine draws the coins of the reference.

Leaves out: what coins decide (`test_reference_dropout`).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from full_peers import FIELDS, KINDS, drawn_inputs, drawn_peer
from hypothesis import given
from hypothesis import strategies as st
from strategies import repetitive_texts, texts

import syllabary
from syllabary import splits
from syllabary.formats.hf_read import read_document
from syllabary.formats.strict_json import parse
from syllabary.framing import Framing
from syllabary.reference import ReferenceTokenizer
from syllabary.reference.full import Asked, encode_full_batch
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


@pytest.mark.parametrize("name", SPECS)
@given(st.one_of(texts(), repetitive_texts("the a", 200)), probabilities, seeds)
def test_full_encodings_have_the_same_ids_and_their_places(
    name: str, text: str, dropout: float, seed: int
) -> None:
    reference, engine = TOKENIZERS[name]
    told: dict[str, Any] = {"dropout": dropout, "seed": seed}
    found = engine.encode_full(text, **told)
    assert found.ids == reference.encode(text, **told)
    expected = encode_full_batch(reference, [(text, None), (text, text)], Asked(Framing(), **told))
    assert all(getattr(found, field) == getattr(expected[0], field) for field in FIELDS)
    for unit in ("char", None):  # offsets at once, and when they are asked for
        batch = engine.encode_full_batch([text, text], [None, text], offsets=unit, **told)
        for ours, one in zip(batch, expected, strict=True):
            assert [getattr(ours, field) for field in FIELDS] == [getattr(one, field) for field in FIELDS]


@pytest.mark.parametrize("kind", KINDS[:6])
def test_full_encodings_of_other_files(kind: str, tmp_path: Path, prove: bool) -> None:
    """Normalizers, steps, truncation, padding, pairs and lists of words: each field of one draw."""
    for seed in range(300 if prove else 12):
        draw = random.Random(f"dropped {kind} {seed}")
        spec = read_document(parse(drawn_peer(kind, draw).to_str().encode(), tmp_path))
        spec = replace(spec, dropout=draw.choice([0.1, 0.5, 1.0]))
        tok, words, unit = syllabary.Tokenizer(spec), draw.random() < 0.3, draw.choice(["byte", "char"])
        inputs = drawn_inputs(draw, words)
        texts, pairs = [one for one, _pair in inputs], [pair for _one, pair in inputs]
        try:
            asked = Asked(tok.framing, "allow", True, unit, seed=seed)
            expected = encode_full_batch(ReferenceTokenizer(spec), inputs, asked)
        except ValueError:
            continue
        told: dict[str, Any] = {"special": "allow", "is_pretokenized": words, "seed": seed}
        found = tok.encode_full_batch(texts, pairs, overflow=True, offsets=unit, threads=2, **told)
        rows = [row for one in expected for row in (one, *one.overflowing)]
        for ours, row in zip(found, rows, strict=True):
            assert [getattr(ours, name) for name in FIELDS] == [getattr(row, name) for name in FIELDS]


def test_a_text_has_about_as_many_tokens_as_sentencepiece_draws(tmp_path: Path) -> None:
    """All of a text is one sequence there: what is passed over must not be tried again after each merge."""
    lines = Path(syllabary.__file__).with_name("training").joinpath("call.py").read_text("utf-8").split("\n")
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
    full = engine.encode_full_batch(many, threads=threads, dropout=0.5, seed=7)
    assert full.to_lists("ids") == expected
    assert [row.tokens for row in full][3] == full.tokens(3)
    assert [row[-1][1] for row in full.offset_pairs()] == [len(text) for text in many]
    ragged = engine.encode_batch_array(many, threads=threads, dropout=0.5, seed=7)
    assert [ids.tolist() for ids in ragged] == expected
    assert len(set(map(tuple, expected))) == len(many)


def test_without_a_seed_it_is_a_new_one_each_time() -> None:
    engine = TOKENIZERS["bytes"][1]
    assert len({tuple(engine.encode(CORPUS[0], dropout=0.5)) for _ in range(10)}) > 1
    assert len({tuple(engine.encode(CORPUS[0])) for _ in range(10)}) == 1
    assert len({tuple(engine.encode_full(CORPUS[0], dropout=0.5).ids) for _ in range(10)}) > 1
    assert len({tuple(engine.encode_full(CORPUS[0]).ids) for _ in range(10)}) == 1


def test_a_tokenizer_may_have_a_dropout_of_its_own() -> None:
    engine = TOKENIZERS["bytes"][1]
    own = syllabary.Tokenizer(replace(SPECS["bytes"], dropout=0.5))
    assert own.encode(CORPUS[0], seed=3) == engine.encode(CORPUS[0], dropout=0.5, seed=3)
    assert own.encode(CORPUS[0], dropout=0.0) == engine.encode(CORPUS[0])
    assert own.encode_full(CORPUS[0], seed=3).ids == own.encode(CORPUS[0], seed=3)
    assert own.encode_full(CORPUS[0], dropout=0.0) == engine.encode_full(CORPUS[0])
    assert len({tuple(own.encode_full_batch([CORPUS[0]]).to_lists("ids")[0]) for _ in range(10)}) > 1
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
    for call in (engine.encode, engine.encode_array, engine.tokens, engine.encode_full):
        with pytest.raises(error, match=message):
            call("the", **arguments)
    for call in (engine.encode_batch, engine.encode_batch_array, engine.encode_full_batch):
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
    calls: list[Callable[..., Any]] = [tok.encode, tok.encode_array, tok.tokens, tok.encode_full]
    batches: list[Callable[..., Any]] = [tok.encode_batch, tok.encode_batch_array, tok.encode_full_batch]
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
