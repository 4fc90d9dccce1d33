"""The engine's steps do what tokenizers' own do, and what the reference does.

Adds every kind alone and several in a row on drawn and on hard text, every code point for the steps that look
at one character, and real text: the same text, each character from the same place, with and without alignment
(the binding compares both). Leaves out: what the reference does alone (`test_steps_*`), sentencepiece's steps
(`test_engine_steps_sentencepiece`), whole tokenizers.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
import step_maps
import step_peers
from hard_text import hard_texts
from hypothesis import given
from hypothesis import strategies as st
from step_implementations import (
    CHARACTERWISE,
    CUTTERS,
    DECODERS,
    NORMALIZERS,
    PRETOKENIZERS,
    Implementation,
    each,
    engine,
    name,
)
from strategies import texts

from syllabary import _engine
from syllabary.errors import PatternError, VocabularyError
from syllabary.spec import Step

normalizers = st.lists(st.sampled_from(NORMALIZERS), min_size=1, max_size=4)
pretokenizers = st.lists(st.sampled_from(PRETOKENIZERS), min_size=1, max_size=3)
WORDS = (
    "the ##ing a aa ▁ ▁the ▁▁a low</w> </w> <pad> | b <0x41> <0xE2> <0x96> <0x81> <0xff> <0x+F> <0xé> <0x4> "
    "Ġx Ċ é 漢 Ã ©"
).split()
tokens = st.lists(
    st.one_of(st.sampled_from([*WORDS, "", " ", "  a ", " n't", " 's", " do not", " .", " ' "]), texts()),
    max_size=8,
)


@each
@given(texts(), normalizers)
def test_normalizers(made_by: Implementation, text: str, steps: list[Step]) -> None:
    assert made_by.normalized(steps, text) == step_peers.normalized(steps, text)


@each
@given(texts(), pretokenizers, st.lists(st.sampled_from(NORMALIZERS), max_size=2))
def test_pretokenizers(made_by: Implementation, text: str, steps: list[Step], before: list[Step]) -> None:
    assert made_by.parts(steps, text, before) == step_peers.parts(steps, text, before)


@each
@given(tokens, st.lists(st.sampled_from(DECODERS), min_size=1, max_size=4))
def test_decoders(made_by: Implementation, given_tokens: list[str], steps: list[Step]) -> None:
    peer = step_peers.decoder(steps)
    assert made_by.decoded(steps, given_tokens) == peer.decode(given_tokens)


@each
@given(tokens, st.integers(0, 3), st.integers(0, 3))
def test_stripping_more_than_there_is(
    made_by: Implementation, given_tokens: list[str], start: int, stop: int
) -> None:
    """Where tokenizers panics, what is there goes."""
    step = Step("Strip", {"content": "a", "start": start, "stop": stop})
    for token in [*given_tokens, "", "a", "aa", "aba"]:
        found = made_by.decoded([step], [token])
        assert found in token
        assert len(token) - len(found) <= start + stop
        if token.strip("a") and len(token) > stop:
            assert found == step_peers.decoder([step]).decode([token])


@each
def test_join(made_by: Implementation) -> None:
    assert made_by.decoded([Step("Join", {"separator": " "})], ["a", "", "b"]) == "a  b"
    assert made_by.decoded([], ["a", "b"]) == "ab"


def test_hard_text(prove: bool) -> None:
    steps = itertools.cycle(NORMALIZERS)
    cuts = itertools.cycle(PRETOKENIZERS)
    for text in hard_texts(30_000 if prove else 400, seed=5):
        some = list(itertools.islice(steps, 1 + len(text) % 3))
        assert engine.normalized(some, text) == step_peers.normalized(some, text)
        some = list(itertools.islice(cuts, 1 + len(text) % 2))
        assert engine.parts(some, text) == step_peers.parts(some, text)


@pytest.mark.parametrize("step", CHARACTERWISE[:13], ids=name)
def test_every_code_point_normalized(step: Step, prove: bool) -> None:
    points = step_peers.code_points(prove)
    for form in ("{}", "a{}b ", "A{}\u0301") if prove else ("a{}\u0301",):
        for text in step_peers.chunks(points):
            text = "".join(form.format(char) for char in text)
            assert engine.normalized([step], text) == step_peers.normalized([step], text)


@pytest.mark.parametrize("step", CUTTERS, ids=name)
def test_every_code_point_cut(step: Step, prove: bool) -> None:
    for text in step_peers.chunks(step_peers.code_points(prove)):
        text = "".join(f"a{char} {char}" for char in text)
        assert engine.parts([step], text) == step_peers.parts([step], text)


@pytest.mark.parametrize("corpus", ["english", "greek", "chinese", "multilingual", "code"])
def test_real_text(shared: Path, corpus: str, prove: bool) -> None:
    found = step_peers.corpus(shared / "corpora" / f"{corpus}.txt.xz", 2_000_000 if prove else 6_000)
    for text in step_peers.chunks(found, 40_000):
        for step in CHARACTERWISE[:9]:
            assert engine.normalized([step], text) == step_peers.normalized([step], text)
        for step in [*CUTTERS[:8], *PRETOKENIZERS[-9:]]:
            assert engine.parts([step], text) == step_peers.parts([step], text)


# ---- what must not be ----


def test_a_text_cannot_grow_beyond_measure() -> None:
    double = Step("Replace", {"pattern": "a", "regex": False, "content": "aa"})
    with pytest.raises(VocabularyError, match="64 times"):
        _engine.Normalizer([double] * 40).normalize("a")
    with pytest.raises(VocabularyError, match="64 times"):
        _engine.StepDecoder([double] * 40).decode(["a"])
    long = Step("Replace", {"pattern": "a", "regex": False, "content": "b" * 1_000_000})
    with pytest.raises(VocabularyError, match="64 times"):
        _engine.Normalizer([long]).normalize("a" * 10_000)


@pytest.mark.parametrize(
    "made, step, says",
    [
        (_engine.Normalizer, Step("Nothing"), "no normalizer step is called"),
        (_engine.Normalizer, Step("Prepend"), "option prepend is missing"),
        (_engine.Normalizer, Step("Prepend", {"prepend": 3}), "must be a text, not an integer"),
        (_engine.Normalizer, Step("Precompiled", {"precompiled_charsmap": b""}), "empty"),
        (_engine.Normalizer, Step("Strip", {"strip_left": 1, "strip_right": True}), "must be a bool"),
        (_engine.Pretokenizer, Step("NFC"), "no pretokenizer step is called"),
        (_engine.Pretokenizer, Step("CharDelimiterSplit", {"delimiter": "ab"}), "one character"),
        (_engine.Pretokenizer, Step("FixedLength", {"length": 0}), "at least 1"),
        (_engine.Pretokenizer, Step("FixedLength", {"length": -1}), "negative"),
        (_engine.Pretokenizer, Step("Punctuation", {"behavior": "gone"}), "no behavior is called"),
        (_engine.StepDecoder, Step("Split"), "no decoder step is called"),
        (_engine.StepDecoder, Step("Strip", {"content": "", "start": 0, "stop": 0}), "one character"),
    ],
)
def test_what_is_no_step(made: Any, step: Step, says: str) -> None:
    with pytest.raises(VocabularyError, match=says):
        made([step])


@pytest.mark.parametrize("pattern", ["", "a*", "(", "^"])
def test_patterns_that_cannot_be_used(pattern: str) -> None:
    step = Step("Replace", {"pattern": pattern, "regex": True, "content": ""})
    for made in (_engine.Normalizer, _engine.StepDecoder):
        with pytest.raises(PatternError):
            made([step])


@each
def test_prepending_nothing(made_by: Implementation) -> None:
    """Where tokenizers says that the first character comes from nowhere, it comes from where it stands."""
    step = Step("Prepend", {"prepend": ""})
    assert made_by.normalized([step], "ab") == [("a", (0, 1)), ("b", (1, 2))]


@each
def test_what_tokenizers_drops_or_shifts(made_by: Implementation) -> None:
    """Two habits of tokenizers that decide ids and offsets, kept: see `docs/compatibility.md`."""
    scripts = Step("UnicodeScripts")
    assert made_by.parts([scripts], "  a") == step_peers.parts([scripts], "  a") == [("a", (2, 3))]
    rules = Step("Precompiled", {"precompiled_charsmap": step_maps.charsmap("nmt_nfkc")})
    shifted = [("a", (0, 1)), ("b", (1, 2))]
    assert made_by.normalized([rules], "\x01ab") == step_peers.normalized([rules], "\x01ab") == shifted
