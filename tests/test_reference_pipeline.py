"""The reference against tokenizers: ids, offsets and text of small trained models of every kind it has.

Adds char-level models with each field that such a model needs, normalizers, pretokenizers and decoders among
them. Leaves out: added tokens (`test_reference_added`), each step alone (`test_steps_normalize` and its
neighbours), sentencepiece (`test_reference_scores`), and files.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pytest
from foreign import from_tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import texts
from subword_nmt.apply_bpe import BPE
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from syllabary.errors import UnknownSymbolError
from syllabary.reference import ReferenceTokenizer, merge
from syllabary.spec import SplitSpec, Step, TokenizerSpec

CORPUS = [
    "the theory of the thing is that then they thought it through; aaaa aaaaaaa abab",
    "low lower lowest newest widest 12345 don't we'll naïve café 統一碼は文字を Hello, world! e\u0301",
] * 3
BYTES = [f"<0x{value:02X}>" for value in range(256)]
Parts = dict[str, Any]


def trained(model: Parts, trainer: Parts, ignore_merges: bool = False, **parts: Any) -> Tokenizer:
    """A BPE model of the corpus with its parts before and after."""
    tok = Tokenizer(models.BPE(**model))
    for name, part in parts.items():
        setattr(tok, name, part)
    marks = {
        name: model[name] for name in ("continuing_subword_prefix", "end_of_word_suffix") if name in model
    }
    tok.train_from_iterator(CORPUS, trainers.BpeTrainer(show_progress=False, **marks, **trainer))
    data = json.loads(tok.to_str())
    data["model"]["ignore_merges"] = ignore_merges
    return Tokenizer.from_str(json.dumps(data))


def unknown(vocab_size: int = 160, *more: str) -> Parts:
    """Training with an unknown token."""
    return {"vocab_size": vocab_size, "special_tokens": ["<unk>", *more]}


def byte_level(add: bool, trim: bool) -> Tokenizer:
    """Bytes as GPT-2 spells them, as a step."""
    return trained(
        {},
        {"vocab_size": 420, "initial_alphabet": pre_tokenizers.ByteLevel.alphabet()},
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=add),
        decoder=decoders.ByteLevel(),
        post_processor=processors.ByteLevel(trim_offsets=trim, add_prefix_space=add),
    )


KINDS: dict[str, Callable[[], Tokenizer]] = {
    "words": lambda: trained({"unk_token": "<unk>"}, unknown(), pre_tokenizer=pre_tokenizers.Whitespace()),
    "no pretokenizer": lambda: trained({"unk_token": "<unk>"}, unknown(80)),
    "unknown as one": lambda: trained(
        {"unk_token": "<unk>", "fuse_unk": True}, unknown(), pre_tokenizer=pre_tokenizers.WhitespaceSplit()
    ),
    "suffix": lambda: trained(
        {"unk_token": "<unk>", "end_of_word_suffix": "</w>"},
        unknown(),
        pre_tokenizer=pre_tokenizers.Whitespace(),
        decoder=decoders.BPEDecoder(),
    ),
    "prefix": lambda: trained(
        {"unk_token": "<unk>", "continuing_subword_prefix": "##"},
        unknown(),
        normalizer=normalizers.BertNormalizer(),
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
        decoder=decoders.WordPiece(),
    ),
    "prefix and suffix": lambda: trained(
        {
            "unk_token": "<unk>",
            "continuing_subword_prefix": "##",
            "end_of_word_suffix": "_",
            "fuse_unk": True,
        },
        unknown(),
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
    ),
    "byte fallback": lambda: trained(
        {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True},
        unknown(420, *BYTES),
        normalizer=normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
        decoder=decoders.Sequence(
            [
                decoders.Replace("▁", " "),
                decoders.ByteFallback(),
                decoders.Fuse(),
                decoders.Strip(" ", 1, 0),
            ]
        ),
    ),
    "metaspace": lambda: trained(
        {"unk_token": "<unk>"},
        unknown(),
        normalizer=normalizers.NFKC(),
        pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="first"),
        decoder=decoders.Metaspace(),
    ),
    "byte level": lambda: byte_level(add=False, trim=False),
    "byte level, trimmed": lambda: byte_level(add=False, trim=True),
    "byte level, space in front": lambda: byte_level(add=True, trim=False),
    "no accents": lambda: trained(
        {"unk_token": "<unk>"},
        unknown(),
        normalizer=normalizers.Sequence(
            [normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()]
        ),
        pre_tokenizer=pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(True)]),
    ),
    "whole pieces": lambda: trained(
        {"unk_token": "<unk>", "end_of_word_suffix": "</w>"},
        unknown(),
        ignore_merges=True,
        normalizer=normalizers.Lowercase(),
        pre_tokenizer=pre_tokenizers.Whitespace(),
    ),
}


@lru_cache
def pair(kind: str) -> tuple[Tokenizer, ReferenceTokenizer]:
    """The peer's tokenizer and ours."""
    peer = KINDS[kind]()
    return peer, ReferenceTokenizer(from_tokenizers(peer))


@pytest.mark.parametrize("kind", KINDS)
@given(text=st.one_of(texts(), st.sampled_from(CORPUS)))
def test_ids_offsets_and_text_are_those_of_tokenizers(kind: str, text: str) -> None:
    peer, ours = pair(kind)
    encoding = peer.encode(text, add_special_tokens=False)
    assert ours.encode(text, "allow") == encoding.ids
    assert ours.offsets(text, special="allow") == encoding.offsets
    if encoding.ids:
        assert ours.decode(encoding.ids) == peer.decode(encoding.ids, skip_special_tokens=False)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_any_ids_decode_as_in_tokenizers_and_bit_by_bit(kind: str, data: st.DataObject) -> None:
    peer, ours = pair(kind)
    ids = data.draw(st.lists(st.sampled_from(sorted(ours.bytes_of)), max_size=12))
    text = ours.decode(ids)
    assert text == (peer.decode(ids, skip_special_tokens=False) if ids else "")
    assert ours.decode_bytes(ids) == text.encode()
    decoder = ours.decoder()
    for _again in range(2):
        assert "".join([*map(decoder.push, ids), decoder.flush()]) == text


@pytest.mark.parametrize("kind", KINDS)
@given(text=texts())
def test_the_states_end_with_the_ids(kind: str, text: str) -> None:
    _peer, ours = pair(kind)
    last = list(ours.steps(text, "allow"))[-1]
    assert [token_id for group in last for token_id in group] == ours.encode(text, "allow")


@given(text=st.one_of(texts(), st.lists(st.sampled_from(["the", " ", "  ", "<s>", "\n"])).map("".join)))
def test_trimmed_offsets_with_a_space_in_front(text: str) -> None:
    """Each token is left with what it has in the text but spaces.

    tokenizers takes a space off the first token only if there are two, and off a later one that is not in the
    text: of `<s>the` it leaves `he`.
    """
    peer = Tokenizer.from_str(pair("byte level, space in front")[0].to_str())
    spec = replace(from_tokenizers(peer), trim_offsets=True, special_tokens={"<s>": 999})
    peer.add_special_tokens(["<s>"])
    encoding = peer.encode(text, add_special_tokens=False)
    expected = []
    for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
        before = len(token) - len(token.lstrip("Ġ"))
        after = len(token) - len(token.rstrip("Ġ")) if before < len(token) else 0
        if before and text[start] != " ":
            end = end if before < len(token) else start  # the space was put there
        else:
            start += before
        expected.append((start, max(start, end - after)))
    assert ReferenceTokenizer(spec).offsets(text, special="allow") == expected


# ---- what tokenizers does that nobody wants ----


def test_an_unknown_symbol_without_an_unknown_token_is_an_error() -> None:
    """tokenizers drops it, and the offsets of what follows move to the left."""
    peer = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]))
    assert peer.encode("aXab").offsets == [(0, 1), (1, 3)]
    with pytest.raises(UnknownSymbolError, match="'X'; the first is at character 1"):
        ReferenceTokenizer(from_tokenizers(peer)).encode("aXab")


def test_unknown_symbols_and_bytes_stay_in_the_order_of_the_text() -> None:
    """tokenizers holds an unknown one back and writes it behind the bytes that follow."""
    vocab = {"<unk>": 0, "a": 1, "<0xC3>": 2, "<0xA9>": 3}
    peer = Tokenizer(models.BPE(vocab, [], unk_token="<unk>", byte_fallback=True))
    assert peer.encode("aßéa").tokens == ["a", "<0xC3>", "<0xA9>", "<unk>", "a"]
    ours = ReferenceTokenizer(from_tokenizers(peer))
    assert ours.encode("aßéa") == [1, 0, 2, 3, 1]
    assert ours.offsets("aßéa") == [(0, 1), (1, 2), (2, 3), (2, 3), (3, 4)]


def test_text_that_looks_like_a_byte_token_is_text() -> None:
    """With `ignore_merges`, tokenizers finds such a piece in its vocabulary."""
    vocab = {"<0x41>": 0, **{character: place for place, character in enumerate("<0x41>", 1)}}
    peer = Tokenizer(models.BPE(vocab, [], byte_fallback=True, ignore_merges=True))
    assert peer.encode("<0x41>").ids == [0]
    spec = from_tokenizers(peer)
    assert ReferenceTokenizer(spec).encode("<0x41>") == [1, 2, 3, 4, 5, 6]


# ---- subword-nmt: all occurrences of a pair in one round ----


@settings(max_examples=max(100, settings().max_examples))
@given(
    st.lists(
        st.tuples(*[st.sampled_from(["a", "b", "ab", "ba", "aa", "aab", "bb", "abb"])] * 2),
        min_size=1,
        max_size=7,
    ),
    st.text("ab", min_size=2, max_size=12),
)
def test_merging_one_occurrence_or_all_is_the_same_where_nothing_is_recreated(
    pairs: list[tuple[str, str]], word: str
) -> None:
    pairs = list(dict.fromkeys(pairs))
    codes = io.StringIO("#version: 0.1\n" + "".join(f"{left} {right}\n" for left, right in pairs))
    theirs = BPE(codes).segment(word).split("@@ ")
    names = list(dict.fromkeys(["a", "b", *(name for pair in pairs for name in (*pair, "".join(pair)))]))
    ids = {name: place for place, name in enumerate(names)}
    merges = [(ids[left], ids[right], ids[left + right]) for left, right in pairs]
    ours = merge.last(merge.merge_states([ids[letter] for letter in word], merge.by_merges(merges)))
    if not merge.recreated(merges):
        assert [names[token_id] for token_id in ours] == theirs


def test_where_a_token_is_recreated_the_two_differ() -> None:
    """`ab` is made by the second merge and taken by the first: of `ababa`, all at once gives `ab ab a`."""
    codes = io.StringIO("#version: 0.1\nab a\na b\n")
    assert BPE(codes).segment("ababa") == "ab@@ aba"
    rule = merge.by_merges([(2, 0, 3), (0, 1, 2)])
    assert merge.last(merge.merge_states([0, 1, 0, 1, 0], rule)) == [3, 1, 0]
    assert merge.recreated([(2, 0, 3), (0, 1, 2)]) == [1]


# ---- what no peer has at once ----


def characters(tokens: list[bytes], alphabet: int, **changes: Any) -> ReferenceTokenizer:
    """Tokens with ids 0, 1, …, the first of which are the alphabet."""
    fields = {"merges": (), **changes}
    symbols = {token: token_id for token_id, token in enumerate(tokens[:alphabet])}
    return ReferenceTokenizer(
        TokenizerSpec("char", SplitSpec(None), dict(enumerate(tokens)), symbols, **fields)  # type: ignore[arg-type]
    )


WORDS = (Step("WhitespaceSplit"),)


def test_a_mark_apart_is_a_symbol_of_its_own() -> None:
    """subword-nmt 0.1 (`apply_bpe.py`, `encode`): `low` is l, o, w and the mark."""
    tok = characters([b"l", b"o", b"w", b"</w>", b"w</w>"], 4, end_of_word="</w>", mark_apart=True)
    assert list(tok.steps("low")) == [[[0, 1, 2, 3]]]
    spec = replace(tok.spec, merges=((2, 3, 4),), pretokenizer=WORDS)
    tok = ReferenceTokenizer(spec)
    assert tok.encode("low ol") == [0, 1, 4, 1, 0, 3]
    assert tok.offsets("low ol") == [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 6)]
    assert tok.decode(tok.encode("low ol")) == "low ol"


def test_bytes_may_bear_a_mark() -> None:
    """subword-nmt's byte mode: on the last byte of a word."""
    tokens = {0: b"a", 1: b"\xc3", 2: b"\xa9</w>", 3: b"\xc3\xa9</w>", 4: b"a</w>"}
    alphabet = {token: token_id for token_id, token in tokens.items() if token_id != 3}
    spec = TokenizerSpec(
        "byte", SplitSpec(None), tokens, alphabet, ((1, 2, 3),), end_of_word="</w>", pretokenizer=WORDS
    )
    tok = ReferenceTokenizer(spec)
    assert tok.encode("aé a") == [0, 3, 4]
    assert tok.decode([0, 3, 4]) == "aé a"
    apart = replace(
        spec, tokens={0: b"a", 1: b"</w>"}, alphabet={b"a": 0, b"</w>": 1}, merges=(), mark_apart=True
    )
    assert ReferenceTokenizer(apart).encode("aa") == [0, 0, 1]


def test_byte_offsets_are_exact_without_steps_and_of_whole_characters_with_them() -> None:
    tokens = {value: bytes([value]) for value in range(256)}
    spec = TokenizerSpec("byte", SplitSpec(None), tokens, {token: at for at, token in tokens.items()}, ())
    assert ReferenceTokenizer(spec).offsets("aé", "byte") == [(0, 1), (1, 2), (2, 3)]
    lower = ReferenceTokenizer(replace(spec, normalizer=(Step("Lowercase"),)))
    assert lower.offsets("AÉ", "byte") == [(0, 1), (1, 3), (1, 3)]
    assert lower.offsets("AÉ") == [(0, 1), (1, 2), (1, 2)]
