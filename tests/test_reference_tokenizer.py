"""Encoding, offsets and decoding in the reference: round trips, visible states, every way of cutting.

Leaves out: ids of published vocabularies (`test_examples`), and errors (`test_reference`).
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from published import gpt2
from strategies import byte_strings, repetitive_texts, texts
from tokenizers import Tokenizer, processors

from syllabary import splits
from syllabary.reference import ReferenceTokenizer, pieces
from syllabary.reference.train import train
from syllabary.spec import SplitSpec, TokenizerSpec, TrainOptions

CORPUS = [
    "the theory of the thing is that then they thought it through; aaaa aaaaaaa abab",
    "Ｕｎｉｃｏｄｅ ‽ 統一碼は文字を हिन्दी e\u0301 don't we'll 12345 12399   \n\n  end  ",
] * 2
LOSSLESS = ["gpt2", "gpt4", "o200k", "latin", "none"]


def byte_level(split: str, num_merges: int = 60) -> ReferenceTokenizer:
    return ReferenceTokenizer(train(CORPUS, TrainOptions(splits.get(split), num_merges=num_merges)))


BYTE_LEVEL = {split: byte_level(split) for split in LOSSLESS}
CHARACTERS = ReferenceTokenizer(
    train(CORPUS, TrainOptions(splits.get("gpt2"), unit="char", num_merges=40, fallback=True))
)
WORD_ENDS = ReferenceTokenizer(
    train(
        CORPUS,
        TrainOptions(
            splits.get("whitespace-split"), unit="char", num_merges=40, fallback=True, end_of_word="</w>"
        ),
    )
)
WORDS = ReferenceTokenizer(
    train(CORPUS, TrainOptions(splits.get("latin"), unit="word", num_merges=20, fallback=True))
)
ALL = [*BYTE_LEVEL.values(), CHARACTERS, WORDS, WORD_ENDS]
any_text = st.one_of(texts(), repetitive_texts("the aio"), st.sampled_from(CORPUS))


# ---- there and back ----


@given(st.sampled_from([*BYTE_LEVEL.values(), CHARACTERS, WORDS]), any_text)
def test_decoding_undoes_encoding(tok: ReferenceTokenizer, text: str) -> None:
    ids = tok.encode(text)
    assert tok.decode(ids, errors="strict") == text
    assert tok.decode_bytes(ids) == text.encode() == b"".join(tok.tokens(text))


@given(st.lists(st.one_of(st.text("abthe</w>漢é", min_size=1, max_size=6), st.just("</w>")), max_size=8))
def test_words_come_back_with_single_spaces(words: list[str]) -> None:
    """The mark becomes a space; text that looks like the mark stays what it is."""
    text = " ".join(words)
    assert WORD_ENDS.decode(WORD_ENDS.encode(text)) == text
    assert sum(token.endswith(b"</w>") for token in WORD_ENDS.tokens(text)) == len(words)


def test_fallback_spells_an_unknown_character_by_its_bytes_and_the_bare_mark() -> None:
    assert WORD_ENDS.tokens("☃") == ["☃".encode()[k : k + 1] for k in range(3)] + [b"</w>"]
    assert CHARACTERS.tokens("☃") == ["☃".encode()[k : k + 1] for k in range(3)]


def test_a_split_that_drops_text_drops_it() -> None:
    tok = byte_level("whitespace")
    assert tok.decode(tok.encode("the  theory, aaaa ")) == "thetheory,aaaa"


# ---- the states ----


@given(st.sampled_from(ALL), any_text)
def test_the_last_state_is_the_encoding_and_each_step_one_merge(tok: ReferenceTokenizer, text: str) -> None:
    states = list(tok.steps(text))
    assert [token_id for group in states[-1] for token_id in group] == tok.encode(text)
    assert all(token_id in tok.spec.alphabet.values() for group in states[0] for token_id in group)
    for before, after in pairwise(states):
        assert sum(map(len, before)) == sum(map(len, after)) + 1
        assert sum(a != b for a, b in zip(before, after, strict=True)) == 1


@given(any_text)
def test_merging_ends_when_no_pair_is_left(text: str) -> None:
    tok = BYTE_LEVEL["gpt2"]
    for group in list(tok.steps(text))[-1]:
        assert all(tok.rule(left, right) is None for left, right in pairwise(group))


def test_rank_order_merges_what_makes_the_lowest_id() -> None:
    tokens = {0: b"a", 1: b"b", 2: b"c", 3: b"bc", 4: b"ab", 5: b"abc"}
    alphabet = {b"a": 0, b"b": 1, b"c": 2}
    tok = ReferenceTokenizer(TokenizerSpec("byte", SplitSpec(None), tokens, alphabet, None))
    assert list(tok.steps("abcab")) == [[[0, 1, 2, 0, 1]], [[0, 3, 0, 1]], [[0, 3, 4]], [[5, 4]]]


@pytest.mark.parametrize("whole", [True, False])
def test_a_whole_piece_that_is_a_token_needs_no_merges(whole: bool) -> None:
    tokens = {0: b"a", 1: b"b", 2: b"c", 3: b"abc"}
    alphabet = {b"a": 0, b"b": 1, b"c": 2}
    spec = TokenizerSpec("byte", splits.get("whitespace"), tokens, alphabet, None, whole_pieces=whole)
    assert ReferenceTokenizer(spec).encode("abc ab") == ([3, 0, 1] if whole else [0, 1, 2, 0, 1])


# ---- offsets ----


@given(st.sampled_from([*BYTE_LEVEL.values(), CHARACTERS, WORDS]), any_text)
def test_offsets_are_the_tokens_bytes_and_the_characters_that_hold_them(
    tok: ReferenceTokenizer, text: str
) -> None:
    data, tokens = text.encode(), tok.tokens(text)
    in_bytes, in_characters = tok.offsets(text, "byte"), tok.offsets(text)
    assert [data[start:end] for start, end in in_bytes] == tokens
    first_byte = [len(text[:k].encode()) for k in range(len(text) + 1)]
    for (start, end), (left, right) in zip(in_bytes, in_characters, strict=True):
        holding = [k for k in range(len(text)) if first_byte[k] < end and first_byte[k + 1] > start]
        assert (left, right) == (holding[0], holding[-1] + 1)


@given(any_text)
def test_offsets_where_text_is_dropped_and_marks_have_no_width(text: str) -> None:
    data = text.encode()
    for token, (start, end) in zip(WORD_ENDS.tokens(text), WORD_ENDS.offsets(text, "byte"), strict=True):
        mark = len(b"</w>") if token.endswith(b"</w>") else 0
        assert data[start:end] == token[: len(token) - mark]


def test_offsets_by_example() -> None:
    tok = ReferenceTokenizer(
        train(["a"], TrainOptions(splits.get("gpt2"), num_merges=0, special_tokens=("<s>",)))
    )
    assert tok.offsets("é<s>漢", special="allow") == [(0, 1), (0, 1), (1, 4), (4, 5), (4, 5), (4, 5)]
    assert tok.offsets("é<s>漢", "byte", special="allow") == [(0, 1), (1, 2), (2, 5), (5, 6), (6, 7), (7, 8)]
    assert WORD_ENDS.offsets("the ☃ ")[-4:] == [(4, 5), (4, 5), (4, 5), (5, 5)]


def test_a_word_token_spans_the_text_dropped_inside_it() -> None:
    options = TrainOptions(splits.get("whitespace"), unit="word", num_merges=1)
    tok = ReferenceTokenizer(train(["arma virum arma virum"], options))
    assert tok.tokens("arma   virum ") == [b"armavirum"]
    assert tok.offsets("arma   virum ") == [(0, 12)]


@pytest.fixture(scope="module")
def hugging_face_gpt2(shared: Path) -> Tokenizer:
    """GPT-2 under Hugging Face's library, offsets untrimmed."""
    peer = Tokenizer.from_file(str(shared / "vocabs" / "gpt2_tokenizer.json"))
    peer.post_processor = processors.ByteLevel(trim_offsets=False)
    return peer


def test_offsets_are_those_of_hugging_face(shared: Path, hugging_face_gpt2: Tokenizer) -> None:
    tok = ReferenceTokenizer(gpt2(shared))

    @given(texts())
    def same(text: str) -> None:
        peer = hugging_face_gpt2.encode(text)
        assert tok.encode(text, special="allow") == peer.ids
        assert tok.offsets(text, special="allow") == peer.offsets

    same()


# ---- decoding ----


def vocabulary(tokens: list[bytes], end_of_word: str | None = None) -> ReferenceTokenizer:
    spec = TokenizerSpec(
        unit="byte" if end_of_word is None else "char",
        split=SplitSpec(None),
        tokens=dict(enumerate(tokens)),
        alphabet={},
        merges=(),
        special_tokens={"<s></w>": len(tokens)},
        end_of_word=end_of_word,
    )
    return ReferenceTokenizer(spec)


def pushed(tok: ReferenceTokenizer, ids: list[int], errors: str) -> str:
    decoder = tok.decoder(errors)
    return "".join([decoder.push(token_id) for token_id in ids] + [decoder.flush()])


@pytest.mark.parametrize("errors", ["replace", "ignore", "backslashreplace"])
@pytest.mark.parametrize(
    "data", ["aé漢😀\u0301".encode(), b"\xe2\x82\xf0\x9f\x98a\xff\xc3", b"\xed\xa0\x80\xf4\x90"]
)
def test_the_incremental_decoder_equals_the_whole_one_for_every_cut(data: bytes, errors: str) -> None:
    for mask in range(2 ** (len(data) - 1)):
        ends = [k for k in range(1, len(data)) if mask >> (k - 1) & 1] + [len(data)]
        tokens = [data[start:end] for start, end in pairwise([0, *ends])]
        tok, ids = vocabulary(tokens), list(range(len(tokens)))
        assert pushed(tok, ids, errors) == tok.decode(ids, errors) == data.decode("utf-8", errors)


@given(st.lists(byte_strings(4), max_size=12), st.sampled_from(["replace", "ignore"]))
def test_the_incremental_decoder_on_bytes_of_all_kinds(tokens: list[bytes], errors: str) -> None:
    tok, ids = vocabulary(tokens), list(range(len(tokens)))
    assert pushed(tok, ids, errors) == tok.decode(ids, errors)


@given(st.lists(st.integers(0, 6), max_size=8))
def test_the_incremental_decoder_with_marks(ids: list[int]) -> None:
    tok = vocabulary([b"a", b"b</w>", b"</w>", b" ", b"\xc3", b"\xa9</w>"], "</w>")
    assert pushed(tok, ids, "replace") == tok.decode(ids)


def test_marks_become_spaces_and_the_last_one_is_dropped() -> None:
    tok = vocabulary([b"a", b"b</w>", b"</w>"], "</w>")
    assert tok.decode([0, 1, 0, 2]) == "ab a"
    assert tok.decode([0, 1, 3]) == "ab <s></w>"  # in a special token it is text
    assert tok.decode([1, 2]) == "b "
    assert tok.decode_bytes([0, 1, 0, 2]) == b"ab a"


def test_a_flushed_decoder_is_as_new() -> None:
    tok = vocabulary([b"\xc3", b"\xa9"])
    decoder = tok.decoder()
    assert [decoder.push(0), decoder.flush(), decoder.push(0), decoder.push(1), decoder.flush()] == [
        "", "\ufffd", "", "é", "",
    ]  # fmt: skip


def test_pieces_of_a_special_token_do_not_touch_its_neighbours() -> None:
    options = TrainOptions(splits.get("gpt2"), num_merges=0, special_tokens=("<s>",))
    tok = ReferenceTokenizer(train(["a"], options))
    text = "  <s>  a"
    groups = next(tok.steps(text, special="allow"))
    assert [tok.decode(group) for group in groups] == ["  ", "<s>", *pieces("  a", splits.get("gpt2"))]
