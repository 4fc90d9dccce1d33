"""The engine's steps `SentencePiece` and `Precompiled` do what sentencepiece and tokenizers do.

Adds its four sets of rules and some of our own, all options, user-defined symbols, its decoder, every code
point, hard text, and damaged character maps. Leaves out: other steps (`test_engine_steps`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest
import sentencepiece
import step_maps
import step_peers
from hard_text import hard_texts
from hypothesis import given
from hypothesis import strategies as st
from step_implementations import DECODERS, FLAGS, NORMALIZERS, Implementation, Reference, each, engine
from step_peers import Spanned
from strategies import texts

from syllabary import _engine
from syllabary.errors import VocabularyError
from syllabary.reference.charsmap import charsmap
from syllabary.spec import Step

flags = st.booleans()
WORDS = (
    "the ##ing a aa ▁ ▁the ▁▁a low</w> </w> <pad> | b <0x41> <0xE2> <0x96> <0x81> <0xff> <0x+F> <0xé> <0x4> "
    "Ġx Ċ é 漢 Ã ©"
).split()
tokens = st.lists(
    st.one_of(st.sampled_from([*WORDS, "", " ", "  a ", " n't", " 's", " do not", " .", " ' "]), texts()),
    max_size=8,
)
RULES = [*step_maps.RULES, "custom", "identity"]
USER = ["<u>", "the cat", " x", "ab", "abc", "▁▁", "é"]
FRAGMENTS = [
    *"abcdexy q▁", "  ", "ab", "abc", "x ", " y", "e\u0301", "é", "漢字", "\r\n", "ffi", "ﬁ", "①", "▁▁",
    "a b", "<u>", "the cat", " x", "<unk>", "<s>", "<0x41>", "\x00", "\u200b", "\u3000", "©", "각",
    "\u1100\u1161",
]  # fmt: skip
drawn = st.one_of(texts(), st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join))


def step_of(rules: bytes, dummy: bool, extra: bool, escape: bool, suffix: bool = False) -> Step:
    chosen = {
        "precompiled_charsmap": rules, "add_dummy_prefix": dummy, "remove_extra_whitespaces": extra,
        "escape_whitespaces": escape, "treat_whitespace_as_suffix": suffix,
    }  # fmt: skip
    return Step("SentencePiece", chosen)


def theirs(normalizer: Any, text: str) -> Spanned:
    """What sentencepiece makes of a text: each character reaches to where the next one came from."""
    result, starts = normalizer.Normalize(text, with_offsets=True)
    return list(zip(result, itertools.pairwise(starts), strict=True))


@each
@given(drawn, st.sampled_from(RULES), flags, flags, flags)
def test_sentencepiece(
    made_by: Implementation, text: str, rule: str, dummy: bool, extra: bool, escape: bool
) -> None:
    rules = step_maps.charsmap(rule)
    peer = step_maps.normalizer(rules, dummy, extra, escape)
    assert made_by.normalized([step_of(rules, dummy, extra, escape)], text) == theirs(peer, text)


@each
@given(drawn, st.sampled_from(RULES[:-1]), st.lists(st.sampled_from(NORMALIZERS), max_size=2))
def test_precompiled(made_by: Implementation, text: str, rule: str, before: list[Step]) -> None:
    steps = [*before, Step("Precompiled", {"precompiled_charsmap": step_maps.charsmap(rule)})]
    assert made_by.normalized(steps, text) == step_peers.normalized(steps, text)


def test_hard_text_of_sentencepiece(prove: bool) -> None:
    steps = itertools.cycle(itertools.product(RULES, FLAGS, FLAGS, FLAGS))
    for text in hard_texts(4_000 if prove else 200, seed=6):
        rule, *chosen = next(steps)
        rules = step_maps.charsmap(rule)
        peer = step_maps.normalizer(rules, *chosen)
        assert engine.normalized([step_of(rules, *chosen)], text) == theirs(peer, text)
        if rules:
            step = Step("Precompiled", {"precompiled_charsmap": rules})
            assert engine.normalized([step], text) == step_peers.normalized([step], text)


@pytest.mark.parametrize("rule", RULES[:-2])
def test_every_code_point_of_sentencepiece(rule: str, prove: bool) -> None:
    rules = step_maps.charsmap(rule)
    peer = step_maps.normalizer(rules, True, True, True)
    precompiled = Step("Precompiled", {"precompiled_charsmap": rules})
    for text in step_peers.chunks(step_peers.code_points(prove)):
        text = "".join(f"{char}a{char} " for char in text)
        assert engine.normalized([step_of(rules, True, True, True)], text) == theirs(peer, text)
        assert engine.normalized([precompiled], text) == step_peers.normalized([precompiled], text)


@lru_cache(maxsize=16)
def model(dummy: bool, extra: bool, suffix: bool, rule: str) -> tuple[bytes, Any]:
    """The character map of a small trained model, and its processor."""
    trained = step_maps.trained(
        add_dummy_prefix=dummy, remove_extra_whitespaces=extra, treat_whitespace_as_suffix=suffix,
        byte_fallback=True, normalization_rule_name=rule, user_defined_symbols=USER, control_symbols=["<c>"],
    )  # fmt: skip
    rules: bytes = step_maps.options_of(trained).get(2, b"")
    return rules, sentencepiece.SentencePieceProcessor(model_proto=trained)


@each
@given(drawn, flags, flags, flags, st.sampled_from(["identity", "nmt_nfkc"]))
def test_frozen_tokens_and_spaces_behind(
    made_by: Implementation, text: str, dummy: bool, extra: bool, suffix: bool, rule: str
) -> None:
    rules, processor = model(dummy, extra, suffix, rule)
    step = step_of(rules, dummy, extra, True, suffix)
    assert made_by.normalized([step], text, USER) == theirs(processor, text)


@given(drawn, flags, flags, flags, flags, st.sampled_from(RULES), st.sampled_from(NORMALIZERS))
def test_after_another_step(
    text: str, dummy: bool, extra: bool, escape: bool, suffix: bool, rule: str, before: Step
) -> None:
    steps = [before, step_of(step_maps.charsmap(rule), dummy, extra, escape, suffix)]
    assert engine.normalized(steps, text) == Reference().normalized(steps, text)


def decoder(dummy: bool, extra: bool, unknown: str = " ⁇ ", denormalizer: bytes = b"") -> Step:
    chosen = {
        "add_dummy_prefix": dummy, "remove_extra_whitespaces": extra, "treat_whitespace_as_suffix": False,
        "unknown_surface": unknown, "denormalizer_charsmap": denormalizer,
    }  # fmt: skip
    return Step("SentencePiece", chosen)


@each
@given(st.data(), flags, flags, flags)
def test_decoding(
    made_by: Implementation, data: st.DataObject, dummy: bool, extra: bool, suffix: bool
) -> None:
    _, processor = model(dummy, extra, suffix, "identity")
    size = processor.vocab_size()
    spaced = [i for i in range(size) if processor.id_to_piece(i).startswith("▁")]
    some = st.one_of(st.integers(0, size - 1), st.sampled_from(spaced), st.integers(0, 300))
    ids = data.draw(st.lists(some, max_size=12))
    pieces = [processor.id_to_piece(i) for i in ids]
    tests = {"byte": processor.is_byte, "control": processor.is_control, "unknown": processor.is_unknown}
    classes = [next((kind for kind, test in tests.items() if test(i)), "normal") for i in ids]
    assert made_by.decoded([decoder(dummy, extra)], pieces, classes) == processor.decode(ids)


@given(tokens, flags, flags, st.sampled_from(RULES), st.sampled_from([None, *DECODERS]))
def test_decoding_without_classes(
    given_tokens: list[str], dummy: bool, extra: bool, rule: str, other: Step | None
) -> None:
    step = decoder(dummy, extra, "?", step_maps.charsmap(rule))
    for steps in ([step], [step, other], [other, step]) if other else ([step],):
        assert engine.decoded(steps, given_tokens) == Reference().decoded(steps, given_tokens)


def refusal(make: Callable[[Any], object], argument: object) -> str | None:
    """What `make` says against its argument."""
    try:
        make(argument)
    except VocabularyError as error:
        return str(error)
    return None


@given(st.data(), st.sampled_from(["custom", *RULES[:5]]))
def test_a_damaged_character_map(data: st.DataObject, rule: str) -> None:
    """Changed anywhere, it is refused or still safe to run."""
    rules = bytearray(step_maps.charsmap(rule))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.one_of(st.integers(0, len(rules) - 1), st.integers(0, min(4096, len(rules)) - 1)))
        rules[at] = data.draw(st.integers(0, 255))
    damaged = bytes(rules[: data.draw(st.one_of(st.just(len(rules)), st.integers(0, len(rules))))])
    for kind in ("SentencePiece", "Precompiled"):
        step = step_of(damaged, True, True, True)
        step = step if kind == "SentencePiece" else Step(kind, {"precompiled_charsmap": damaged})
        refused = refusal(_engine.Normalizer, [step])
        if rule == "custom" and damaged:
            assert (refused is None) == (refusal(charsmap, damaged) is None)
        if refused is not None:
            assert "damaged" in refused or "empty" in refused
            continue
        for text in ("abc ﬁ①Ａé e\u0301 漢字 ", "".join(map(chr, range(0x250)))):
            _engine.Normalizer([step]).normalize(text)
