"""Integers as symbols: the engine is the specification, files are whole, long sequences are no trouble."""

from __future__ import annotations

import pickle
import random
import tracemalloc
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syllabary
from syllabary import IdTokenizer, train_ids
from syllabary.reference import ids as reference
from syllabary.spec import SplitSpec, TrainOptions

NOTES = [[60, 64, 67, 60, 64, 67, 72], [60, 64, 67], [2**32 - 2, 60, 64]]


@pytest.fixture(autouse=True)
def may_stop_early() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", syllabary.EarlyStopWarning)
        yield


@pytest.mark.parametrize("seed", range(4))
def test_the_engine_is_the_specification(seed: int, prove: bool) -> None:
    draw = random.Random(seed)
    for _ in range(60 if prove else 25):
        values = draw.choice([[0, 1], [7, 3, 900], [5, 2**31, 2**20, 256, 1], list(range(50))])
        sequences = [
            draw.choices(values, k=draw.randint(0, 60)) * draw.randint(1, 3)
            for _ in range(draw.randint(1, 5))
        ]
        sequences.append([values[0]])
        options = TrainOptions(
            SplitSpec(None),
            unit="id",
            num_merges=draw.randint(0, 30),
            min_frequency=draw.choice([1, 2, 3]),
            max_token_length=draw.choice([None, None, 2, 5]),
            tie_break=draw.choice(["smallest-ids", "first-seen", "largest-pair"]),
        )
        below = draw.choice([None, max(values) + 3]) if max(values) < 1000 else None
        symbols, merges = reference.train(sequences, options, below)
        tok = train_ids(
            sequences,
            num_merges=options.num_merges,
            min_frequency=options.min_frequency,
            max_token_length=options.max_token_length,
            tie_break=options.tie_break,
            all_below=below,
            threads=2,
        )
        assert tok.symbols.tolist() == symbols
        assert [tuple(pair) for pair in tok.merges.tolist()] == merges
        for sequence in [*sequences, draw.choices(values, k=200)]:
            seen = [one for one in sequence if one in symbols]
            ids = tok.encode(seen)
            assert ids.tolist() == reference.encode(seen, symbols, merges)
            assert tok.decode(ids).tolist() == seen == reference.decode(ids.tolist(), symbols, merges)


def test_all_ways_to_give_sequences_are_one(tmp_path: Path) -> None:
    arrays = [np.array(notes, np.int64) for notes in NOTES]
    paths = [tmp_path / f"{number}.npy" for number in range(len(NOTES))]
    for path, array in zip(paths, arrays, strict=True):
        np.save(path, array)
    expected = train_ids(NOTES, 8)
    ragged = IdTokenizer(sorted({one for notes in NOTES for one in notes})).encode_batch(NOTES)
    assert train_ids(arrays, 8) == train_ids(paths, 8) == train_ids(map(iter, NOTES), 8) == expected
    assert syllabary.train(NOTES, 8, unit="id") == train_ids([str(path) for path in paths], 8) == expected
    square = np.array([[1, 2, 1, 2], [1, 2, 3, 4]])
    assert syllabary.train(square, num_merges=2, unit="id") == train_ids(square.tolist(), num_merges=2)
    with pytest.raises(TypeError, match="sequences is one array: training reads many"):
        syllabary.train(square[0], num_merges=2, unit="id")
    alone = train_ids(arrays[:1], 5)
    assert train_ids(paths[0], 5) == train_ids(str(paths[0]), 5) == alone
    assert syllabary.train(str(paths[0]), 5, unit="id") == alone
    assert len(train_ids(ragged, 8).merges) == len(expected.merges)


def test_tensors_and_columns_are_sequences() -> None:
    torch, pandas, arrow = map(pytest.importorskip, ("torch", "pandas", "pyarrow"))
    tok = IdTokenizer([60, 64, 67], [(0, 1), (3, 2)])
    for make in (torch.tensor, pandas.Series, arrow.array, lambda row: pandas.Series(row, dtype=object)):
        assert tok.encode(make([60, 64, 67, 60])).tolist() == [4, 0]
        assert tok.decode(make([4, 0])).tolist() == [60, 64, 67, 60]
        with pytest.raises(syllabary.UnknownSymbolError, match=r"sequence\[1\] is below 0"):
            tok.encode(make([60, -1]))
        for wrong in ([1.5], [True]):
            with pytest.raises(TypeError, match=r"give (integers|an integer)"):
                tok.encode(make(wrong))
    with pytest.raises(TypeError, match="shape"):
        tok.encode(torch.tensor([[60]]))


def test_merges_on_top_of_another_tokenizer() -> None:
    texts = ["to be or not to be", "to be sure"]
    tok = syllabary.train(texts, num_merges=5)
    ids = tok.encode_batch_array(texts)
    over = train_ids(ids, num_merges=3, all_below=tok.vocab_size)
    assert over.symbols.tolist() == list(range(tok.vocab_size))
    assert [tok.decode(over.decode(one)) for one in over.encode_batch(ids)] == texts
    assert len(over.encode(ids[0])) < len(ids[0])


def test_a_file_holds_all_of_it(tmp_path: Path) -> None:
    tok = train_ids(NOTES, 8)
    tok.save(tmp_path / "notes.json")
    again = IdTokenizer.load(tmp_path / "notes.json")
    assert (again, again.record, hash(again)) == (tok, tok.record, hash(tok))
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "notes.json").read_bytes()
    assert pickle.loads(pickle.dumps(tok)) == tok
    with pytest.raises(syllabary.FormatError, match=r"integers: open it with syllabary\.IdTokenizer\.load"):
        syllabary.load(tmp_path / "notes.json")


@pytest.mark.parametrize("name", ["text.json", "text.syllabary.json", "text.tiktoken"])
def test_a_tokenizer_of_text_is_named_as_one(name: str, tmp_path: Path) -> None:
    syllabary.train(["low low"], num_merges=1).save(tmp_path / name)
    with pytest.raises(syllabary.FormatError, match=r"of text \(\w+\): open it with syllabary\.load"):
        IdTokenizer.load(tmp_path / name)


@pytest.mark.parametrize(
    "old,new,message",
    [
        ('"syllabary-ids"', '"other"', "must be"),
        ('"syllabary-ids"', '"syllabary"', "of text"),
        ('"version": 1', '"version": 2', "reads version 1"),
        ('"merges": [[0, 1]', '"merges": [[0, 9]', "not there yet"),
        ('"merges": [[0, 1]', '"merges": [[0]', r"\[left, right\]"),
        ('"merges": [[0, 1]', '"merges": [[0, -1]', "outside"),
        ('"symbols": [60, 64', '"symbols": [60, 60', "stands twice"),
        ('"symbols": [60, 64', '"symbols": [60, 6.5', "an integer"),
        ('"record"', '"other"', "unknown key"),
        ('"symbols": [60, 64, 67],\n', "", "'symbols' is missing"),
        ('"format"', '"form', "not JSON"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "notes.json"
    IdTokenizer([60, 64, 67], [(0, 1), (3, 2)]).save(path)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(syllabary.FormatError, match=message):
        IdTokenizer.load(path)


@pytest.mark.parametrize(
    "sequences,error,message",
    [
        ([], syllabary.CorpusError, "empty"),
        ([[]], syllabary.CorpusError, "empty"),
        ([[1, -1]], syllabary.CorpusError, r"sequence 0\[1\]"),
        ([[1], [2**32]], syllabary.CorpusError, r"sequence 1\[0\]"),
        ([[2**99]], syllabary.CorpusError, r"sequence 0\[0\]"),
        ([[1.5]], TypeError, "give an integer"),
        ([[True]], TypeError, "give an integer"),
        (["12"], TypeError, r"sequence 0 is text, '12': give integers, or the path of a \.npy file"),
        ("12", TypeError, "is text"),
        (["none.npy"], FileNotFoundError, "none"),
        (b"12", TypeError, r"paths of \.npy files"),
        ([np.array([1.0])], TypeError, "float64"),
        ([np.array([[1]])], TypeError, "shape"),
        (np.array([1, 2]), TypeError, "one array"),
        (5, TypeError, "iterable"),
        ([Path("none.npy")], FileNotFoundError, "none"),
    ],
)
def test_what_is_no_sequence_is_an_error(sequences: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        train_ids(sequences, 10)


def test_a_file_that_is_no_array_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "broken.npy").write_bytes(b"no array")
    with pytest.raises(syllabary.CorpusError, match=r"broken\.npy"):
        train_ids([tmp_path / "broken.npy"], 10)


@pytest.mark.parametrize(
    "arguments,message",
    [
        ({"all_below": 60}, "not below"),
        ({"all_below": 0}, "give 1 to"),
        ({"vocab_size": 2}, "set it to 4 or more"),
        ({"vocab_size": 9, "num_merges": 2}, "set one of"),
        ({"min_frequency": 0}, "min_frequency"),
    ],
)
def test_contradictions_are_errors(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(syllabary.TrainingError, match=message):
        train_ids([[60, 64, 67, 72]], **arguments)


@pytest.mark.parametrize(
    "name,value", [("split", "gpt2"), ("special_tokens", ["a"]), ("fallback", True), ("like", "minbpe")]
)
def test_what_is_of_text_does_not_go_with_integers(name: str, value: Any) -> None:
    with pytest.raises(syllabary.TrainingError, match=name):
        syllabary.train(NOTES, 8, unit="id", **{name: value})


@pytest.mark.parametrize(
    "name,value",
    [("checkpoint", "kept"), ("memory_limit", "1 GB"), ("start", "a.json"), ("superwords", 5)],
)
def test_what_is_not_there_yet_says_so(name: str, value: Any) -> None:
    with pytest.raises(syllabary.TrainingError, match=f'^{name} is not there for unit="id": leave it out$'):
        syllabary.train(NOTES, 8, unit="id", **{name: value})


def test_what_is_not_known_is_an_error() -> None:
    tok = IdTokenizer([60, 64])
    with pytest.raises(syllabary.UnknownSymbolError, match="integer 61 at index 1"):
        tok.encode([60, 61])
    with pytest.raises(syllabary.UnknownSymbolError, match=r"sequence\[0\]"):
        tok.encode([-1])
    with pytest.raises(syllabary.UnknownTokenError, match="id 2 at index 0"):
        tok.decode([2])
    with pytest.raises(syllabary.VocabularyError, match="stands twice"):
        IdTokenizer([1, 1])
    with pytest.raises(TypeError, match="shape"):
        IdTokenizer([1], [(0, 0, 0)])  # type: ignore[list-item]


def test_tokens_of_billions_of_integers_are_refused_not_written_out() -> None:
    tok = IdTokenizer([7], [(number, number) for number in range(31)])
    assert tok.encode([7] * 5).tolist() == [2, 0]
    with pytest.raises(MemoryError, match="written out"):
        _ = tok.vocab
    with pytest.raises(syllabary.TextError, match="fewer at a time"):
        tok.decode([31, 31])
    with pytest.raises(syllabary.VocabularyError, match="2\\^32"):
        IdTokenizer([7], [(number, number) for number in range(32)])


def test_a_long_sequence_without_boundaries() -> None:
    bases = np.random.default_rng(1).integers(0, 4, 200_000)
    tok = train_ids([bases], num_merges=300)
    ids = tok.encode(bases)
    assert np.array_equal(tok.decode(ids), bases)
    assert len(ids) < len(bases) / 3


def test_symbols_beyond_the_vocabulary_take_no_memory() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(
            syllabary.TrainingError, match="vocab_size is 100, but the alphabet has 50000000 symbols"
        ):
            train_ids([[1, 2, 1, 2]], 100, all_below=50_000_000)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000  # of the 200 MB that they would take
    finally:
        tracemalloc.stop()
