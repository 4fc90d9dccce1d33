"""The steps `SentencePiece` do what sentencepiece does: its normalizer, with offsets, and its decoder.

Adds its four sets of rules and some of our own, all options, its user-defined symbols, models trained here
and one that is published. Leaves out: character maps that are damaged (`test_steps_charsmap`) and its models.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import step_maps
import step_peers
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts

from syllabary.reference import normalize, step_decoders
from syllabary.reference.aligned import Aligned
from syllabary.reference.steps import validate
from syllabary.spec import Step

flags = st.booleans()
rules = st.sampled_from([*step_maps.RULES, "custom", "identity"])
USER = ["<u>", "the cat", " x", "ab", "abc", "▁▁", "é"]
FRAGMENTS = [
    *"abcdexy q▁", "  ", "ab", "abc", "x ", " y", "e\u0301", "é", "漢字", "\r\n", "ffi", "ﬁ", "①", "▁▁",
    "a b", "<u>", "the cat", " x", "<unk>", "<s>", "<0x41>", "\x00", "\u200b", "\u3000", "©",
]  # fmt: skip
drawn = st.one_of(texts(), st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join))


def step(rule: bytes, dummy: bool, extra: bool, escape: bool, suffix: bool = False) -> Step:
    options = {
        "precompiled_charsmap": rule, "add_dummy_prefix": dummy, "remove_extra_whitespaces": extra,
        "escape_whitespaces": escape, "treat_whitespace_as_suffix": suffix,
    }  # fmt: skip
    return Step("SentencePiece", options)


def theirs(normalizer: Any, text: str) -> step_peers.Spanned:
    """What sentencepiece makes of a text: each character reaches to where the next one came from."""
    result, starts = normalizer.Normalize(text, with_offsets=True)
    return list(zip(result, itertools.pairwise(starts), strict=True))


def ours(steps: list[Step], text: str, frozen: tuple[str, ...] = ()) -> step_peers.Spanned:
    return step_peers.spanned(normalize.apply(steps, Aligned.of(text), frozen))


@given(drawn, rules, flags, flags, flags)
def test_normalizing(text: str, rule: str, dummy: bool, extra: bool, escape: bool) -> None:
    charsmap = step_maps.charsmap(rule)
    peer = step_maps.normalizer(charsmap, dummy, extra, escape)
    assert ours([step(charsmap, dummy, extra, escape)], text) == theirs(peer, text)


@pytest.mark.parametrize("rule", step_maps.RULES)
def test_every_code_point(rule: str, prove: bool) -> None:
    charsmap = step_maps.charsmap(rule)
    peer = step_maps.normalizer(charsmap, True, True, True)
    for text in step_peers.chunks(step_peers.code_points(prove)):
        assert ours([step(charsmap, True, True, True)], text) == theirs(peer, text)


@lru_cache(maxsize=16)
def model(dummy: bool, extra: bool, suffix: bool, fallback: bool, rule: str) -> tuple[bytes, Any]:
    """A small trained model, and its processor."""
    trained = step_maps.trained(
        add_dummy_prefix=dummy, remove_extra_whitespaces=extra, treat_whitespace_as_suffix=suffix,
        byte_fallback=fallback, normalization_rule_name=rule, user_defined_symbols=USER,
        control_symbols=["<c>"],
    )  # fmt: skip
    return trained, sentencepiece.SentencePieceProcessor(model_proto=trained)


def classes(processor: Any, ids: list[int]) -> list[step_decoders.TokenClass]:
    tests: dict[step_decoders.TokenClass, Any] = {
        "byte": processor.is_byte, "control": processor.is_control, "unknown": processor.is_unknown
    }  # fmt: skip
    return [next((name for name, test in tests.items() if test(i)), "normal") for i in ids]


def decoder(dummy: bool, extra: bool, unknown: str = " ⁇ ", denormalizer: bytes = b"") -> Step:
    options = {
        "add_dummy_prefix": dummy, "remove_extra_whitespaces": extra, "treat_whitespace_as_suffix": False,
        "unknown_surface": unknown, "denormalizer_charsmap": denormalizer,
    }  # fmt: skip
    validate("decoder", Step("SentencePiece", options), "decoder[0]")
    return Step("SentencePiece", options)


@given(drawn, flags, flags, flags, st.sampled_from(["identity", "nmt_nfkc"]))
def test_user_defined_symbols_and_spaces_behind(
    text: str, dummy: bool, extra: bool, suffix: bool, rule: str
) -> None:
    trained, processor = model(dummy, extra, suffix, False, rule)
    charsmap = step_maps.options_of(trained).get(2, b"")
    frozen = tuple(step_maps.user_defined(trained))
    assert set(frozen) == set(USER)
    assert ours([step(charsmap, dummy, extra, True, suffix)], text, frozen) == theirs(processor, text)


@given(st.data(), flags, flags, flags)
def test_decoding(data: st.DataObject, dummy: bool, extra: bool, suffix: bool) -> None:
    _, processor = model(dummy, extra, suffix, True, "identity")
    size = processor.vocab_size()
    spaced = [i for i in range(size) if processor.id_to_piece(i).startswith("▁")]
    some = st.one_of(st.integers(0, size - 1), st.sampled_from(spaced), st.integers(0, 300))
    ids = data.draw(st.lists(some, max_size=12))
    pieces = [processor.id_to_piece(i) for i in ids]
    found = step_decoders.decode([decoder(dummy, extra)], pieces, classes(processor, ids))
    assert found == processor.decode(ids)


@given(drawn)
def test_a_denormalizer_and_another_unknown(text: str) -> None:
    processor = denormalizing()
    charsmap = dict(step_maps.fields(dict(step_maps.fields(processor.serialized_model_proto()))[5]))[2]
    ids = processor.encode(text)
    pieces = [processor.id_to_piece(i) for i in ids]
    step = decoder(True, True, "<?>", charsmap)
    assert step_decoders.decode([step], pieces, classes(processor, ids)) == processor.decode(ids)


def test_the_denormalizer_rewrites_what_is_decoded() -> None:
    assert denormalizing().decode(denormalizing().encode("the cat sat")) == "the cbt sbt"
    step = decoder(True, True, "", step_maps.charsmap("custom"))
    assert step_decoders.decode([step], ["▁the", "▁cat", "▁s", "at"]) == "the cbt sbt"


@lru_cache(maxsize=1)
def denormalizing() -> Any:
    """A model with a denormalizer, of the rules `custom` and none of the flags."""
    rules = step_maps.charsmap("custom")
    spec = step_maps.message([(1, b"back"), (2, rules), (3, 0), (4, 0), (5, 0)])
    proto = step_maps.trained(unk_surface="<?>") + step_maps.message([(5, spec)])
    return sentencepiece.SentencePieceProcessor(model_proto=proto)


def test_a_token_without_a_class_is_a_byte_where_it_is_spelled_so() -> None:
    tokens = ["▁a", "<0xC3>", "<0xA9>", "<0x0A>", "<0xc3>", "<0xFF>"]
    assert step_decoders.decode([decoder(True, False)], tokens) == "aé\n<0xc3>\ufffd"


def test_a_published_model(shared: Path, prove: bool) -> None:
    file = shared / "vocabs" / "mistral_v1.model"
    processor = sentencepiece.SentencePieceProcessor(model_file=str(file))
    options = step_maps.options_of(file.read_bytes())
    assert (options.get(3, 1), options.get(4, 1), options.get(5, 1)) == (1, 0, 1)
    normalizer, back = step(options.get(2, b""), True, False, True), decoder(True, False)
    for name in ("english", "greek", "chinese", "multilingual", "code"):
        found = step_peers.corpus(shared / "corpora" / f"{name}.txt.xz", 300_000 if prove else 50_000)
        for text in step_peers.chunks(found, 10_000):
            assert ours([normalizer], text) == theirs(processor, text)
            ids = processor.encode(text)
            pieces = [processor.id_to_piece(i) for i in ids]
            assert step_decoders.decode([back], pieces, classes(processor, ids)) == processor.decode(ids)


@pytest.mark.parametrize("text", ["", " ", "   ", "▁", " ▁ ", "\u3000 \n"])
def test_nothing_but_spaces(text: str) -> None:
    for rule, dummy, extra, escape in itertools.product(("nmt_nfkc", "identity"), *[(True, False)] * 3):
        charsmap = step_maps.charsmap(rule)
        peer = step_maps.normalizer(charsmap, dummy, extra, escape)
        assert ours([step(charsmap, dummy, extra, escape)], text) == theirs(peer, text)


def test_spans_of_a_run_begin_where_it_does() -> None:
    found = normalize.apply([step(b"", True, True, True)], Aligned.of(" a  b ", base=10))
    assert found.text == "▁a▁b"
    assert found.spans == [(11, 11), (11, 12), (12, 14), (14, 15)]
