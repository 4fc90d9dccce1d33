"""Tables of counts: the engine's are the specification's, sums are exact, and training from one is training.

Leaves out: files (`test_counts_files`), the command line (`test_counts_cli`).
"""

from __future__ import annotations

import dataclasses
import lzma
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import corpora, repetitive_texts, texts

import syllabary
from syllabary import PieceCounts, splits
from syllabary.corpus import Care, Corpus
from syllabary.corpus.care import FORMS
from syllabary.errors import (
    CorpusError,
    SyllabaryError,
    TextError,
    TrainingError,
    VocabularyError,
)
from syllabary.piece_table import Rules
from syllabary.reference import counts as reference
from syllabary.reference.train import merge_steps
from syllabary.spec import TokenizerSpec, TrainOptions

pytestmark = pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")

SPECIALS = ["<s>", "<s>x", "e\u0301", " "]
LIKES = [None, "cs336", "huggingface", "rustbpe", "subword-nmt"]
CORPORA = ["chinese", "code", "english", "greek", "japanese", "latin", "multilingual"]
documents = st.lists(
    st.lists(st.one_of(st.sampled_from([*SPECIALS, "é", "ﬁ", "a"]), texts(4)), max_size=8).map("".join),
    max_size=4,
)


@st.composite
def ways(draw: st.DrawFn) -> dict[str, Any]:
    """Ways to count, as arguments of `PieceCounts.of`."""
    return {
        "split": draw(st.sampled_from([None, "gpt2", "o200k", "latin", "whitespace", r"[a-z]+|\s"])),
        "special_tokens": draw(st.lists(st.sampled_from(SPECIALS), unique=True, max_size=2)),
        "normalize": draw(st.sampled_from([None, None, *FORMS])),
    }


def table_of(rows: dict[str, int], split: str | None = "none") -> PieceCounts:
    """A table with these pieces."""
    pieces = sorted((piece.encode(), count) for piece, count in rows.items())
    ends = np.cumsum([len(piece) for piece, _ in pieces], dtype=np.uint64)
    data = np.frombuffer(b"".join(piece for piece, _ in pieces), np.uint8)
    counts = np.array([count for _, count in pieces], np.uint64)
    return PieceCounts((data, ends, counts), Rules(splits.get(split)))


def outcome(call: Any) -> Any:
    """What a call gives, or the type of what it raises."""
    try:
        return call()
    except SyllabaryError as error:
        return type(error)


@given(documents, ways(), st.sampled_from([1, 2, 7]))
def test_the_engine_counts_what_the_specification_counts(
    texts: list[str], way: dict[str, Any], threads: int
) -> None:
    options = TrainOptions(
        splits.get(way["split"]),
        num_merges=0,
        special_tokens=tuple(way["special_tokens"]),
        normalize=way["normalize"],
    )
    table = PieceCounts.of(texts, **way, threads=threads)
    assert list(table) == list(reference.count_pieces(texts, options).items())
    assert table.documents == len(texts)
    assert table.bytes == sum(len(text.encode()) for text in texts)
    assert len(table) == len(list(table))
    assert table.total == sum(count for _, count in table)


@given(documents, ways(), st.randoms(use_true_random=False))
def test_sums_do_not_know_an_order(texts: list[str], way: dict[str, Any], random: Any) -> None:
    whole = PieceCounts.of(texts, **way)
    parts = [PieceCounts.of([text], **way) for text in texts] or [whole]
    random.shuffle(parts)
    total = PieceCounts.sum(parts)
    assert total == whole
    assert (total.documents, total.bytes) == (whole.documents, whole.bytes)
    assert list(total) == list(reference.add(dict(part) for part in parts).items())
    one, two, three = (parts * 3)[:3]
    assert (one + two) + three == one + (two + three) == (three + two) + one
    assert one + PieceCounts.of([], **way) == one


@pytest.mark.parametrize(
    "way, words",
    [
        ({"split": "gpt2"}, r"the split \(o200k and gpt2\)"),
        ({"special_tokens": ["<s>"]}, r"the special tokens \(\[\] and \['<s>'\]\)"),
        ({"normalize": "NFC"}, r"the normal form \(None and NFC\)"),
        ({"split": "a|b", "normalize": "NFC"}, r"the split \(o200k and 'a\|b'\) and in the normal form"),
    ],
)
def test_tables_made_in_other_ways_are_not_added(way: dict[str, Any], words: str) -> None:
    one, other = PieceCounts.of(["a"]), PieceCounts.of(["a"], **way)
    assert one != other
    with pytest.raises(TrainingError, match=words + ".*; count both texts in one way"):
        one + other
    with pytest.raises(TypeError):
        one + 1  # type: ignore[operator]
    with pytest.raises(TrainingError, match="no table to add"):
        PieceCounts.sum([])


def test_the_order_of_special_tokens_is_no_difference() -> None:
    one = PieceCounts.of(["a<s><e>"], special_tokens=["<s>", "<e>"])
    two = PieceCounts.of(["a<s><e>"], special_tokens=["<e>", "<s>"])
    assert one == two
    assert (one + two).rules.special_tokens == ("<s>", "<e>")
    tok = syllabary.train(one + two, num_merges=0, special_tokens=["<e>", "<s>"])
    assert list(tok.special_tokens) == ["<e>", "<s>"]


def test_counts_of_64_bits() -> None:
    most = 2**64 - 1
    table = table_of({"a": most, "b": 1})
    assert dict(table) == {"a": most, "b": 1}
    assert (table.total, table.bytes) == (most + 1, most + 1)
    assert dict(table + table_of({"b": most - 1})) == {"a": most, "b": most}
    with pytest.raises(TrainingError, match=f"the counts of the piece 'a' add up to more than {most}"):
        table + table_of({"a": 1})
    assert dict(PieceCounts.sum([table_of({"a": 2**63 - 1})] * 2)) == {"a": 2**64 - 2}


@given(
    st.dictionaries(repetitive_texts("ab c", 30).filter(bool), st.integers(1, 2**44), min_size=1),
    st.sampled_from(["byte", "char"]),
    st.integers(1, 2**41),
    st.booleans(),
)
def test_counts_past_32_bits_are_those_of_the_merges(
    rows: dict[str, int], unit: Any, min_frequency: int, most: bool
) -> None:
    """most: the counts are as large as any that can be trained from."""
    if most:
        times = (2**64 - 1) // sum(len(piece) * count for piece, count in rows.items())
        rows = {piece: count * times for piece, count in rows.items()}
    options = TrainOptions(splits.get(None), unit=unit, num_merges=9, min_frequency=min_frequency)
    steps = [step for step, _places in merge_steps(reference.read_table(rows, options), options)]
    tok = syllabary.train(table_of(rows), num_merges=9, unit=unit, min_frequency=min_frequency)
    assert tok.merges == [(step.left, step.right) for step in steps]
    assert tok.spec.record["counts"] == [step.count for step in steps]
    assert plain(tok.spec) == plain(reference.train(rows, options))


def test_a_count_of_2_to_the_40() -> None:
    tok = syllabary.train(table_of({"low": 2**40, "lot": 1}), num_merges=3, min_frequency=1)
    assert tok.spec.record["counts"] == [2**40 + 1, 2**40, 1]


def test_counts_that_training_could_not_add_up_are_refused() -> None:
    with pytest.raises(TrainingError, match="divide the counts"):
        syllabary.train(table_of({"ab": 2**63, "abc": 1}), num_merges=2)
    tok = syllabary.train(table_of({"ab": 2**63 - 1}), num_merges=1)
    assert tok.spec.record["counts"] == [2**63 - 1]


def plain(spec: TokenizerSpec) -> TokenizerSpec:
    return dataclasses.replace(spec, record={})


# ---- training ----


@settings(max_examples=150)
@given(
    corpora(),
    st.sampled_from(LIKES),
    st.integers(0, 20),
    st.sampled_from([{}, {"unit": "char"}, {"unit": "char", "end_of_word": "</w>"}]),
    st.sampled_from([{}, {"max_token_length": 3}, {"min_frequency": 1}, {"tie_break": "largest-pair"}]),
    st.sampled_from([(), ("<|endoftext|>",), ("<s>", "<|endoftext|>")]),
    st.sampled_from([None, None, "NFC", "NFKD"]),
)
def test_training_from_a_table_is_training_from_its_text(
    texts: list[str],
    like: str | None,
    num_merges: int,
    unit: dict[str, Any],
    more: dict[str, Any],
    specials: tuple[str, ...],
    normalize: Any,
) -> None:
    texts = [text.replace("</w>", "") for text in texts]
    cuts = like not in ("huggingface", "rustbpe")
    counting = {"like": like, "special_tokens": specials if cuts else (), "normalize": normalize}
    options = {"like": like, "num_merges": num_merges, **unit, **more}
    split = {} if like is not None else {"split": "o200k"}  # with a mark, our default is another
    table = PieceCounts.of(texts, **counting)
    by_text = outcome(
        lambda: syllabary.train(texts, special_tokens=specials, normalize=normalize, **split, **options).spec
    )
    few = {} if cuts else {"special_tokens": specials}
    all_of_them = {"special_tokens": specials, "normalize": normalize, **split}
    for told in (few, all_of_them):
        assert outcome(lambda told=told: syllabary.train(table, **told, **options).spec) == by_text


@pytest.mark.parametrize("name", CORPORA)
def test_real_text(shared: Path, prove: bool, name: str, tmp_path: Path) -> None:
    size = 5_000_000 if prove else 20_000
    with lzma.open(shared / "corpora" / f"{name}.txt.xz") as file:
        text = file.read(size).decode("utf-8", "ignore")
    parts = [text[: size // 7], text[size // 7 :]]
    for like in LIKES:
        way: dict[str, Any] = {"like": like, "normalize": "NFC" if like == "cs336" else None}
        table = PieceCounts.of(parts, **way)
        assert dict(table) == reference.count_pieces(parts, table.rules.options())
        assert table == PieceCounts.sum(PieceCounts.of([part], **way) for part in reversed(parts))
        sizes = {"num_merges": 2000 if prove else 100}
        by_text = syllabary.train(parts, like=like, normalize=way["normalize"], **sizes)
        by_table = syllabary.train(table, like=like, **sizes)
        assert by_table.spec == by_text.spec
        files = [tmp_path / "text.syllabary.json", tmp_path / "table.syllabary.json"]
        by_text.save(files[0])
        by_table.save(files[1])
        assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(
    "options, words",
    [
        ({"unit": "word"}, 'unit="word" cannot be learned from a table'),
        ({"tie_break": "first-seen"}, 'tie_break="first-seen" cannot be learned'),
        ({"like": "minbpe"}, 'tie_break="first-seen" cannot be learned'),
        ({"like": "tiktoken"}, 'tie_break="first-seen" cannot be learned'),
        ({"like": "sentencepiece"}, "like='sentencepiece' counts sentences"),
        ({"split": "gpt2"}, r"differ in the split \(gpt2 and o200k\)"),
        ({"split": None}, r"differ in the split \(none and o200k\)"),
        ({"like": "huggingface"}, r"training like='huggingface' .* text again like='huggingface'$"),
        ({"like": "huggingface", "split": "o200k"}, r"the special tokens \(\[\] and \['<s>'\]\)"),
        ({"special_tokens": ["<e>"]}, r"the special tokens \(\['<e>'\] and \['<s>'\]\)"),
        ({"normalize": "NFD"}, r"the normal form \(NFD and NFC\)"),
        ({"end_of_word": "o", "unit": "char"}, "piece ' too' holds the end_of_word mark 'o'"),
    ],
)
def test_what_a_table_has_decided_or_cannot_serve(options: dict[str, Any], words: str) -> None:
    table = PieceCounts.of(["to be<s> too"], special_tokens=["<s>"], normalize="NFC")
    with pytest.raises(TrainingError, match=words):
        syllabary.train(table, num_merges=1, **options)


def test_a_mark_that_two_pieces_make_together_does_no_harm() -> None:
    table = table_of({"ab": 1, "bc": 2})
    tok = syllabary.train(table, num_merges=1, unit="char", end_of_word="bb")
    assert tok.merges == [(b"b", b"cbb")]
    with pytest.raises(TrainingError, match="piece 'bbb' holds"):
        syllabary.train(table_of({"ab": 1, "b": 1, "bbb": 1}), num_merges=1, unit="char", end_of_word="bb")


def test_a_table_gives_its_split_special_tokens_and_normal_form() -> None:
    table = PieceCounts.of(["to be<s> too e\u0301"], split="gpt2", special_tokens=["<s>"], normalize="NFC")
    tok = syllabary.train(table, num_merges=2)
    assert (tok.spec.split, list(tok.special_tokens)) == (splits.get("gpt2"), ["<s>"])
    assert tok.encode("e\u0301") == tok.encode("é")
    by_pattern = syllabary.train(table, num_merges=2, split=splits.get("gpt2").pattern)
    assert by_pattern.merges == tok.merges


def test_how_the_text_was_read_stays_known() -> None:
    texts = [f"text number {number}" for number in range(40)]
    one, two = (Corpus(part, care=Care(fraction=0.5, seed=3)) for part in (texts[:20], texts[20:]))
    whole = Corpus(texts, care=Care(fraction=0.5, seed=3))
    table = PieceCounts.of(one) + PieceCounts.of(two)
    tok = syllabary.train(table, num_merges=2)
    assert tok.spec == syllabary.train(whole, num_merges=2).spec
    assert tok.spec.record["corpus"]["fraction"] == 0.5  # type: ignore[index]
    huggingface = {"like": "huggingface", "split": "o200k", "max_token_length": 3}
    for options in ({"model": "unigram"}, huggingface, {"start": tok}):
        size: dict[str, Any] = {"vocab_size": 270 if "start" not in options else 260} | options
        told = syllabary.train(table, **size).spec.record
        assert told["corpus"] == syllabary.train(whole, **size).spec.record["corpus"], options
    assert (table + PieceCounts.of(Corpus(texts, care=Care(fraction=0.4)))).corpus is None
    assert (table + PieceCounts.of(texts)).corpus is None
    alone = PieceCounts.of(Corpus(texts, care=Care(drop_duplicates=True)))
    assert alone.corpus is not None
    assert (alone + alone).corpus is None


# ---- bad input, and the object itself ----


@pytest.mark.parametrize(
    "source, options, error",
    [
        (["a"], {"like": "gigatoken"}, TrainingError),
        (["a"], {"like": "sentencepiece"}, TrainingError),
        (["a"], {"like": 1}, TypeError),
        (["a"], {"split": "no-such"}, syllabary.SplitError),
        (["a"], {"split": "("}, syllabary.PatternError),
        (["a"], {"split": 7}, TypeError),
        (["a"], {"normalize": "NFX"}, TrainingError),
        (["a"], {"normalize": 1}, TypeError),
        (["a"], {"special_tokens": [""]}, VocabularyError),
        (["a"], {"special_tokens": "ab"}, TypeError),
        (["a"], {"special_tokens": ["a", "a"]}, VocabularyError),
        (["a"], {"special_tokens": ["<s>"], "like": "huggingface"}, TrainingError),
        (["a"], {"threads": 0}, ValueError),
        (["\ud800"], {}, TextError),
        ([b"\xff"], {}, CorpusError),
        (7, {}, TypeError),
        ("no such file", {}, FileNotFoundError),
    ],
)
def test_bad_arguments(source: Any, options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        PieceCounts.of(source, **options)


def test_an_empty_table_trains_nothing() -> None:
    table = PieceCounts.of([""])
    assert (len(table), table.total, list(table), table.bytes) == (0, 0, [], 0)
    with pytest.raises(CorpusError, match="the table of counts is empty"):
        syllabary.train(table, num_merges=1)


def test_the_object() -> None:
    table = PieceCounts.of(["to be or not to be\n" * 3])
    assert list(table.most_common(2)) == [("\n", 3), (" be", 6)][::-1]
    assert [count for _, count in table.most_common()] == sorted((count for _, count in table), reverse=True)
    assert pickle.loads(pickle.dumps(table)) == table
    assert repr(table) == "<PieceCounts: 6 pieces, 21 in all, split o200k>"
    assert (table.data.dtype, table.ends.dtype, table.counts.dtype) == (np.uint8, np.uint64, np.uint64)
    assert table != 1
    with pytest.raises(ValueError, match="read-only"):
        table.counts[0] = 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(table)


def test_many_and_long_pieces_come_in_batches() -> None:
    rows = {f"{number:06}": number + 1 for number in range(150_000)}
    rows |= {"z" * (17 << 20): 2, "z" * (18 << 20): 3}
    table = table_of(rows)
    ranges = list(table.batches())
    assert [start for start, _ in ranges] == [0, *(stop for _, stop in ranges[:-1])]
    assert ranges[-1][1] == len(table) == len(rows)
    assert max(stop - start for start, stop in ranges) <= 1 << 16
    assert dict(table) == rows
    assert table.bytes == sum(len(piece) * count for piece, count in rows.items())
    assert list(table.most_common(2)) == [("149999", 150_000), ("149998", 149_999)]
