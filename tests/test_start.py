"""`train(..., start=tok)`: the engine goes on as the reference does, that as recounting does; ids stay.

Leaves out: published vocabularies and their files (`test_start_published`).
"""

from __future__ import annotations

import dataclasses
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import corpora, few, texts
from test_engine import train_options
from test_reference_train import naive_train

import syllabary
from syllabary import splits
from syllabary.errors import SyllabaryError, TrainingError
from syllabary.reference import ReferenceTokenizer, train_start
from syllabary.reference.check import token_bytes
from syllabary.reference.train import train as reference_train
from syllabary.reference.train import train_steps
from syllabary.spec import Matching, Step, TokenizerSpec, TrainOptions
from syllabary.training import train_with

pytestmark = pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")

LOW = ["low lower lowest newer newest widest <s> low"] * 5
GREEK = ["μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος οὐλομένην, ἣ μυρί᾽ Ἀχαιοῖς <s> ἄλγε᾽ ἔθηκε"] * 5


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or the type and the sentence of what it raises."""
    try:
        return call()
    except SyllabaryError as error:
        return type(error), str(error)


def learned(documents: list[str], options: TrainOptions) -> TokenizerSpec:
    """A tokenizer to begin with; where there is none, the example goes."""
    assume(options.unit != "word" or not options.fallback)  # these cannot be continued
    spec = outcome(lambda: reference_train(documents, options))
    assume(isinstance(spec, TokenizerSpec))
    found: TokenizerSpec = spec
    return found


def going_on(start: TokenizerSpec, options: TrainOptions, merges: int) -> TrainOptions:
    """The same options for further merges, as `train` makes them of a tokenizer."""
    return dataclasses.replace(options, num_merges=merges, cut_special=True)


def by_engine(documents: list[str], options: TrainOptions, start: TokenizerSpec) -> Any:
    tok = syllabary.Tokenizer(start)
    return outcome(lambda: train_with(documents, options, threads=1, start=tok).spec)


def plain(spec: Any) -> Any:
    return dataclasses.replace(spec, record={}) if isinstance(spec, TokenizerSpec) else spec


# ---- the reference ----


@settings(max_examples=max(60, settings().max_examples))
@given(corpora(), corpora(), train_options(), st.integers(0, 20))
def test_going_on_is_recounting_the_old_encoding(
    old: list[str], new: list[str], options: TrainOptions, merges: int
) -> None:
    """Of a vocabulary that spells the new text: what `encode` gives, piece by piece, is what is counted."""
    plain = {"max_token_length": None, "fallback": False, "end_of_word": None, "cut_special": True}
    options = dataclasses.replace(options, **plain)  # type: ignore[arg-type]
    start = learned([*old, *new], options)
    spec = dataclasses.replace(start, special_tokens={}, added_tokens={})
    tokenizer = ReferenceTokenizer(spec)
    sequences = [
        [token.id for token in group.tokens()]
        for document in new
        for part in train_start.cut_by_policy(document, start.special_tokens, {}, "allow")
        if part.token is None
        for group in tokenizer.groups(part.text, "text", [])
    ]
    local = {token_id: place for place, token_id in enumerate(sorted(spec.tokens))}
    options = going_on(start, options, merges)
    steps = outcome(lambda: list(train_steps(new, options, start)))
    if not any(sequences):
        assert steps[0] is syllabary.CorpusError
        return
    expected = naive_train(
        [[local[token_id] for token_id in ids] for ids in sequences],
        [spec.tokens[token_id] for token_id in sorted(spec.tokens)],
        options,
    )
    assert [(step.pair, step.count) for step in steps] == expected


@settings(max_examples=max(60, settings().max_examples))
@given(corpora(), train_options(), st.integers(0, 25), texts())
def test_on_the_same_text_it_ends_where_one_training_ends(
    documents: list[str], options: TrainOptions, first: int, text: str
) -> None:
    """Merges are those of one run; ids too, unless special tokens stand between (ours follow the merges)."""
    options = dataclasses.replace(options, num_merges=30, cut_special=True)
    whole = learned(documents, options)
    start = learned(documents, dataclasses.replace(options, num_merges=min(first, 30)))
    after = reference_train(documents, going_on(start, options, 30 - min(first, 30)), start)

    def pairs(spec: TokenizerSpec) -> list[tuple[bytes, bytes]]:
        return [(spec.tokens[left], spec.tokens[right]) for left, right, _id in spec.merges or ()]

    assert pairs(after) == pairs(whole)
    if not options.special_tokens or options.special_first:
        assert plain(after) == plain(whole)
    one, other = ReferenceTokenizer(after), ReferenceTokenizer(whole)
    for sample in (text, *documents):
        tokens = outcome(lambda sample=sample: one.tokens(sample, "allow"))  # type: ignore[misc]
        if isinstance(tokens, list):
            assert tokens == other.tokens(sample, "allow")


@settings(max_examples=max(60, settings().max_examples))
@given(corpora(), corpora(), train_options(), texts())
def test_what_was_there_stays_and_its_tokens_are_only_joined(
    old: list[str], new: list[str], options: TrainOptions, text: str
) -> None:
    start = learned(old, options)
    after = outcome(lambda: reference_train(new, going_on(start, options, 20), start))
    assume(isinstance(after, TokenizerSpec))
    assert after.tokens.items() >= start.tokens.items()
    assert after.alphabet.items() >= start.alphabet.items()
    assert after.merges[: len(start.merges or ())] == start.merges
    for name in ("split", "unit", "special_tokens", "added_tokens", "normalizer", "end_of_word", "fallback"):
        assert getattr(after, name) == getattr(start, name)
    fresh = sorted(set(token_bytes(after)) - set(token_bytes(start)))
    above = 1 + max(token_bytes(start), default=-1)
    assert fresh == list(range(above, above + len(fresh)))
    before, now = ReferenceTokenizer(start), ReferenceTokenizer(after)
    for sample in (text, *old, *new):
        ends = outcome(lambda sample=sample: before.offsets(sample, "byte", "allow"))  # type: ignore[misc]
        if isinstance(ends, list):
            assert {end for _start, end in now.offsets(sample, "byte", "allow")} <= {end for _s, end in ends}


@given(st.lists(st.text("abc", max_size=12), min_size=1, max_size=5))
def test_a_vocabulary_of_ranks_has_the_merges_of_its_list(documents: list[str]) -> None:
    """Whole pieces that no merge makes stay out of the counting, until merges make them."""
    tokens = dict(enumerate([b"a", b"b", b"c", b"ab", b"abcabc", b"bca"]))
    alphabet = {b"a": 0, b"b": 1, b"c": 2}
    ranks = TokenizerSpec("byte", splits.get("whitespace-split"), tokens, alphabet, None, whole_pieces=True)
    listed = dataclasses.replace(ranks, merges=tuple(train_start.listed_merges(ranks)))
    options = TrainOptions(ranks.split, num_merges=6, min_frequency=1)
    assume(any(documents))
    after = outcome(lambda: reference_train(documents, options, ranks))
    engine = by_engine(documents, options, ranks)
    assert (
        plain(engine) == plain(after) == plain(outcome(lambda: reference_train(documents, options, listed)))
    )
    if not isinstance(after, TokenizerSpec):
        assert "nothing to learn" in after[1]
        return
    assert len(set(after.tokens.values())) == len(after.tokens)
    texts = [*documents, "abcabcabcabc"]
    for text in texts:
        assert b"".join(ReferenceTokenizer(after).tokens(text)) == text.encode()


# ---- the engine ----


@few(60)
@given(corpora(), corpora(), train_options(), st.integers(0, 25), st.integers(1, 3))
def test_reference_and_engine_go_on_the_same(
    old: list[str], new: list[str], options: TrainOptions, merges: int, min_frequency: int
) -> None:
    start = learned(old, options)
    options = dataclasses.replace(going_on(start, options, merges), min_frequency=min_frequency)
    reference = outcome(lambda: reference_train(new, options, start))
    engine = by_engine(new, options, start)
    if isinstance(reference, TokenizerSpec):
        assert plain(engine) == plain(reference)
        steps = train_steps(new, options, start)
        assert engine.record["counts"] == [step.count for step in steps]
    else:
        assert engine[0] is reference[0]


WORDS = ["e\u0301", "é", "ﬁ", "x", "fi", "</w>", "<s>", "<m>", " ", "Ａ", "a", "ab", "low", "ing", "\n"]
FOREIGN = {
    "normalizer": {"normalizer": (Step("NFKC"),)},
    "steps": {"normalizer": (Step("Lowercase"), Step("NFD"))},
    "pre-tokenizer": {"pretokenizer": (Step("Digits", {"individual_digits": True}),)},
    "white space taken along": {"matching": {"<m>": Matching(lstrip=True, rstrip=True)}},
    "normalized tokens": {"normalizer": (Step("NFD"),), "matching": {"<m>": Matching("normalized")}},
    "control tokens": {"matching": {"<s>": Matching("never")}},
    "unknown": {"unknown": 0},
    "byte tokens": {"byte_tokens": {byte: byte for byte in range(256)}},
}


WAYS = [(unit, way) for unit in ("byte", "char") for way in sorted(FOREIGN)]


@pytest.mark.parametrize("unit, way", [one for one in WAYS if one != ("byte", "byte tokens")])
@few(15)
@given(documents=st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map("".join), min_size=1, max_size=4))
def test_steps_and_flags_of_other_libraries(unit: Any, way: str, documents: list[str]) -> None:
    fallback = way == "byte tokens"
    options = TrainOptions(
        splits.get("gpt2"), unit=unit, num_merges=10, special_tokens=("<s>",), fallback=fallback
    )
    trained = reference_train(["low lower ab ab fi ing aaaa"] * 3, options)
    first = 1 + max(token_bytes(trained))
    start = dataclasses.replace(trained, added_tokens={"<m>": first}, **FOREIGN[way])  # type: ignore[arg-type]
    options = dataclasses.replace(going_on(start, options, 15), min_frequency=1)
    reference = outcome(lambda: reference_train(documents, options, start))
    engine = by_engine(documents, options, start)
    if isinstance(reference, TokenizerSpec):
        assert plain(engine) == plain(reference)
    else:
        assert engine[0] is reference[0]


def test_a_table_of_counts_serves_a_tokenizer_that_cuts_as_it_did() -> None:
    start = syllabary.train(LOW, 262, special_tokens=["<s>"])
    table = syllabary.PieceCounts.of(GREEK, special_tokens=["<s>"])
    assert plain(syllabary.train(table, 290, start=start).spec) == (
        plain(syllabary.train(GREEK, 290, start=start).spec)
    )
    with pytest.raises(TrainingError, match="differ in"):
        syllabary.train(syllabary.PieceCounts.of(GREEK, split="gpt2"), 290, start=start)
    stepped = dataclasses.replace(start.spec, **FOREIGN["pre-tokenizer"])  # type: ignore[arg-type]
    with pytest.raises(TrainingError, match="steps of its own"):
        syllabary.train(table, 290, start=syllabary.Tokenizer(stepped))


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_any_number_of_threads_gives_the_same(threads: int) -> None:
    start = syllabary.train(LOW, 270, special_tokens=["<s>"])
    one = syllabary.train(GREEK * 20, 330, start=start, threads=1)
    assert syllabary.train(GREEK * 20, 330, start=start, threads=threads).spec == one.spec


# ---- real text ----

LANGUAGES = ["greek", "multilingual", "chinese", "english"]


@pytest.mark.parametrize(
    "unit, tie_break, split, more",
    [
        ("byte", "smallest-ids", "o200k", {}),
        ("byte", "first-seen", "none", {}),
        ("char", "largest-pair", "whitespace-split", {"end_of_word": "</w>"}),
        ("char", "first-seen", "gpt2", {"fallback": True}),
        ("word", "smallest-ids", "latin", {}),
    ],
)
def test_real_text_goes_on_in_the_engine_as_in_the_reference(
    shared: Path, prove: bool, unit: Any, tie_break: Any, split: str, more: dict[str, Any]
) -> None:
    """From English to four other corpora."""

    def text(name: str, skip: int = 0) -> str:
        with lzma.open(shared / "corpora" / f"{name}.txt.xz", "rt", encoding="utf-8") as file:
            return file.read(skip + size)[skip:]

    size, merges = (30_000, 800) if prove else (1500, 100)
    options = TrainOptions(splits.get(split), unit=unit, num_merges=merges, tie_break=tie_break, **more)
    start = train_with([text("english")], options, threads=2)
    documents = [text(name, skip=size) for name in LANGUAGES]
    engine = train_with(documents, options, threads=2, start=start)
    assert plain(engine.spec) == plain(reference_train(documents, options, start.spec))
