"""The reference against sentencepiece: ids, offsets and text of trained models and of models made by hand.

Adds merging by score, unused pieces, user-defined symbols, bytes and the unknown token. Leaves out: reading
`.model` files, and sentencepiece's normalizer alone (`test_steps_normalize`).
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import pytest
import sentencepiece as sp
from foreign import (
    BYTE_PIECE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER,
    from_sentencepiece,
    sentencepiece_model,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import texts

from syllabary.errors import UnknownSymbolError
from syllabary.reference import ReferenceTokenizer
from syllabary.reference.scores import DEEPEST, Scores, order
from syllabary.spec import SplitSpec, Step, TokenizerSpec

CORPUS = [
    "the theory of the thing is that then they thought it through; aaaa aaaaaaa abab",
    "low lower lowest newest widest 12345 don't we'll naïve café 統一碼は文字を Hello, world!  e\u0301",
] * 9
META: list[tuple[str, float, int]] = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)]
BYTES = [(f"<0x{value:02X}>", 0.0, BYTE_PIECE) for value in range(256)]
TRAINED: dict[str, dict[str, Any]] = {
    "plain": {"vocab_size": 150},
    "user-defined": {
        "vocab_size": 160,
        "user_defined_symbols": ["<mask>", "▁x", "the", "  ", "aab"],
        "control_symbols": ["<cls>"],
    },
    "bytes": {
        "vocab_size": 400,
        "byte_fallback": True,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "user_defined_symbols": ["\n", " "],
    },
    "space behind": {
        "vocab_size": 150, "treat_whitespace_as_suffix": True, "normalization_rule_name": "nfkc_cf"
    },
    "no space in front": {"vocab_size": 150, "add_dummy_prefix": False, "split_by_whitespace": False},
}  # fmt: skip


def same(model: bytes, text: str) -> None:
    """Ids, offsets and text are sentencepiece's, at once and bit by bit."""
    peer = sp.SentencePieceProcessor()
    peer.load_from_serialized_proto(model)
    ours = ReferenceTokenizer(from_sentencepiece(model))
    found = peer.encode_as_offset_mapping(text)
    assert ours.encode(text) == found["ids"]
    assert ours.offsets(text) == found["offsets"]
    same_text(peer, ours, found["ids"])
    states = list(ours.steps(text))
    assert [token_id for group in states[-1] for token_id in group] == found["ids"]


def same_text(peer: sp.SentencePieceProcessor, ours: ReferenceTokenizer, ids: list[int]) -> None:
    """The ids decode alike."""
    text = peer.decode(ids)
    assert ours.decode(ids) == text
    decoder = ours.decoder()
    assert "".join([*map(decoder.push, ids), decoder.flush()]) == text


@lru_cache
def trained(kind: str) -> bytes:
    """A model of the corpus."""
    model = io.BytesIO()
    sp.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_writer=model,
        model_type="bpe",
        minloglevel=3,
        hard_vocab_limit=False,
        **TRAINED[kind],
    )
    return model.getvalue()


@pytest.mark.parametrize("kind", TRAINED)
@given(text=st.one_of(texts(), st.sampled_from(CORPUS), st.text("the x<mask>aab ▁\n", max_size=20)))
def test_trained_models(kind: str, text: str) -> None:
    same(trained(kind), text)


@st.composite
def hand_made(draw: st.DrawFn) -> bytes:
    """A model that no training makes: pieces of any type, equal scores, both zeros, missing characters."""
    letters = "▁abc"
    scores = st.sampled_from([-0.0, 0.0, -1.0, -2.0, -3.0, 1.5, 5.0, -0.125, 1e-40, -3e38])
    types = st.sampled_from([NORMAL, NORMAL, NORMAL, UNUSED, UNUSED, USER])
    names = draw(st.lists(st.text(letters, min_size=2, max_size=6), max_size=14, unique=True))
    single = draw(st.lists(st.sampled_from(letters), unique=True))
    has_bytes = draw(st.booleans())
    pieces = [*META, *(BYTES if has_bytes else [])]
    pieces += [(name, draw(scores), draw(types)) for name in single + names]
    options = {number: int(draw(st.booleans())) for number in (3, 4, 5)}
    return sentencepiece_model(pieces, {35: int(has_bytes)}, options)


@settings(max_examples=max(100, settings().max_examples))
@given(hand_made(), st.text("abcab  é漢", max_size=16))
def test_models_that_no_training_makes(model: bytes, text: str) -> None:
    same(model, text)


@settings(max_examples=100)
@given(hand_made(), st.data())
def test_any_ids_decode_alike(model: bytes, data: st.DataObject) -> None:
    peer = sp.SentencePieceProcessor()
    peer.load_from_serialized_proto(model)
    some = st.integers(0, peer.get_piece_size() - 1)
    ids = data.draw(
        st.lists(st.one_of(some, st.integers(0, 4).map(lambda i: i % peer.get_piece_size())), max_size=10)
    )
    same_text(peer, ReferenceTokenizer(from_sentencepiece(model)), ids)


def model(pieces: list[tuple[str, float, int]], trainer: Mapping[int, Any] | None = None) -> bytes:
    """A model without a space in front."""
    return sentencepiece_model([*META, *pieces], trainer or {}, {3: 0, 4: 0})


# ---- one rule at a time ----


def test_the_highest_score_merges_first_then_the_leftmost() -> None:
    pieces = [(text, score, NORMAL) for text, score in [("a", -9.0), ("aa", -2.0), ("ab", -1.0), ("b", -9.0)]]
    made = model(pieces)
    tok = ReferenceTokenizer(from_sentencepiece(made))
    assert list(tok.steps("aaab")) == [[[3, 3, 3, 6]], [[3, 3, 5]], [[4, 5]]]
    same(made, "aaab")


def test_minus_zero_is_below_zero() -> None:
    """sentencepiece compares the bits of scores (`SymbolPairComparator`); its first merge scores -0."""
    assert order([0.0]) < order([-0.0]) < order([-1e-45])
    made = model([(text, -5.0, NORMAL) for text in "abc"] + [("ab", -0.0, NORMAL), ("bc", 0.0, NORMAL)])
    assert ReferenceTokenizer(from_sentencepiece(made)).encode("abc") == [3, 7]
    same(made, "abc")


def test_scores_compare_in_32_bits() -> None:
    """Two numbers that differ in 64 bits alone are equal, and the leftmost merges."""
    assert order([-0.1]) == order([-0.10000000149])
    assert order([3e38]) < order([1.0]) < order([-1.0]) < order([-3e38])


def test_an_unused_piece_is_cut_into_what_it_was_last_considered_to_be_made_of() -> None:
    pieces = [(letter, -9.0, NORMAL) for letter in "abc"]
    pieces += [("ab", -1.0, UNUSED), ("abc", -2.0, UNUSED), ("bc", -3.0, NORMAL)]
    made = model(pieces)
    tok = ReferenceTokenizer(from_sentencepiece(made))
    assert tok.encode("abc") == [3, 4, 5]
    assert tok.offsets("abc") == [(0, 1), (1, 2), (2, 3)]
    same(made, "abc")
    same(made, "ab")


def test_what_is_considered_elsewhere_in_the_text_counts_and_user_defined_symbols_are_no_border() -> None:
    pieces = [(letter, -9.0, NORMAL) for letter in "abc"]
    pieces += [("ab", -1.0, NORMAL), ("bc", -0.5, NORMAL), ("abc", -2.0, UNUSED), ("#", 0.0, USER)]
    for text in ("abc#abc", "abc#ab#abc", "ab#abc", "abcab#c"):
        same(model(pieces), text)


def test_a_piece_is_cut_again_so_many_times_and_no_more() -> None:
    length = DEEPEST + 60
    pieces = [("a", -9.0, NORMAL)]
    pieces += [("a" * size, -float(size), UNUSED) for size in range(2, length + 1)]
    same(model(pieces), "a" * length)
    same(model(pieces), "a" * (length // 2))


def test_unknown_characters_in_a_row_are_one_token() -> None:
    made = model([("a", -1.0, NORMAL), ("#", 0.0, USER)])
    tok = ReferenceTokenizer(from_sentencepiece(made))
    assert tok.encode("a漢字aé#é") == [3, 0, 3, 0, 4, 0]
    assert tok.offsets("a漢字aé#é") == [(0, 1), (1, 3), (3, 4), (4, 5), (5, 6), (6, 7)]
    same(made, "a漢字aé#é")


def test_of_a_character_in_bytes_the_last_byte_has_the_span() -> None:
    made = sentencepiece_model([*META, *BYTES], {35: 1}, {3: 0})
    tok = ReferenceTokenizer(from_sentencepiece(made))
    assert tok.offsets("é漢") == [(0, 0), (0, 1), (1, 1), (1, 1), (1, 2)]
    assert tok.offsets("é漢", "byte") == [(0, 0), (0, 2), (2, 2), (2, 2), (2, 5)]
    same(made, "é漢")


def test_without_an_unknown_token_unknown_text_is_an_error() -> None:
    tokens = {0: b"ab", 1: b"a"}
    spec = TokenizerSpec("char", SplitSpec(None), tokens, {b"a": 1}, None, scores={0: -1.0, 1: -2.0})
    tok = ReferenceTokenizer(spec)
    assert tok.encode("aba") == [0, 1]  # b is no piece, but ab is
    for call in (tok.encode, tok.offsets, lambda text: list(tok.steps(text))):
        with pytest.raises(UnknownSymbolError, match="alphabet: 'b', 'c'; the first is at character 2"):
            call("abba c".replace(" ", ""))


def test_a_cut_is_a_wall_but_unknown_text_goes_on_behind_it() -> None:
    tokens = {0: b"ab", 1: b"a", 2: b"b", 3: b"<unk>"}
    spec = TokenizerSpec(
        "char", SplitSpec(None), tokens, {b"a": 1, b"b": 2}, None, scores={0: -1.0, 1: -2.0, 2: -2.0},
        unknown=3, fuse_unknown=True, pretokenizer=(Step("WhitespaceSplit"),),
    )  # fmt: skip
    tok = ReferenceTokenizer(spec)
    assert tok.encode("a b ab ? ?! a") == [1, 2, 0, 3, 1]
    assert tok.offsets("a ? ?! a") == [(0, 1), (2, 6), (7, 8)]


def test_merging_a_long_text_takes_little_time() -> None:
    scores = Scores({0: b"aa", 1: b"aaaa", 2: b"a" * 8}, {0: -1.0, 1: -2.0, 2: -3.0}, ())
    assert len(list(scores.places([b"a"] * 32_768, {}))) == 32_768 * 7 // 8
