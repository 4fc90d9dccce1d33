"""Specifications made by hand: which may not be, and that the engine does with the others as the reference.

Adds the corners that training never reaches: merges out of order, pairs given twice, two ids for the same
bytes, marks of one character. Leaves out: trained tokenizers (`test_engine`), files (`test_formats`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import few

import syllabary
from syllabary.errors import PatternError, SpecialTokenError, UnknownSymbolError, VocabularyError
from syllabary.reference import ReferenceTokenizer, check_spec, pieces
from syllabary.reference import split as reference_split
from syllabary.reference.symbols import shown
from syllabary.spec import SplitSpec, TokenizerSpec, Unit

NONE = SplitSpec(None)
SPACES = SplitSpec(r"\S+", keep_unmatched=False)
BYTES = {value: bytes([value]) for value in range(256)}
LETTERS = TokenizerSpec(
    "byte", NONE, {0: b"a", 1: b"b", 2: b"ab"}, {b"a": 0, b"b": 1}, ((0, 1, 2),), {"<s>": 3}
)
CHARS: dict[str, Any] = {"unit": "char", "tokens": {0: b"a", 1: b"b", 2: b"ab"}, "merges": ()}


def small(unit: Unit, tokens: list[bytes], alphabet: int, **changes: Any) -> TokenizerSpec:
    """Tokens with ids 0, 1, …, the first of which are the alphabet."""
    symbols = {token: token_id for token_id, token in enumerate(tokens[:alphabet])}
    return TokenizerSpec(
        unit,
        **{"split": NONE, "tokens": dict(enumerate(tokens)), "alphabet": symbols, "merges": ()} | changes,
    )


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or the type of what it raises."""
    try:
        return call()
    except syllabary.SyllabaryError as error:
        return type(error)


def both(spec: TokenizerSpec, text: str, special: str = "raise") -> Any:
    """The ids, or the error, on which engine and reference agree; so do offsets and the three decoders."""
    reference, engine = ReferenceTokenizer(spec), syllabary.Tokenizer(spec)
    ids = outcome(lambda: reference.encode(text, special))
    assert outcome(lambda: engine.encode(text, special)) == ids  # type: ignore[arg-type]
    if isinstance(ids, list):
        for unit in ("char", "byte"):
            expected = [list(span) for span in reference.offsets(text, unit, special)]  # type: ignore[arg-type]
            assert engine.offsets(text, unit, special).tolist() == expected  # type: ignore[arg-type]
        decoder = engine.decoder()
        pushed = "".join([*map(decoder.push, ids), decoder.flush()])
        assert reference.decode(ids) == engine.decode(ids) == pushed
    return ids


# ---- which may not be ----


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"split": "none"}, "split is 'none': give a SplitSpec"),
        ({"split": SplitSpec(3)}, "split.pattern is 3: give str or None"),  # type: ignore[arg-type]
        ({"split": SplitSpec("\ud800")}, r"split.pattern: lone surrogate U\+D800"),
        ({"split": SplitSpec("a", "icu")}, "split.tables is 'icu', which is none of tiktoken, onig"),  # type: ignore[arg-type]
        ({"split": SplitSpec("a", keep_unmatched=1)}, "split.keep_unmatched is 1: give bool"),  # type: ignore[arg-type]
        ({"unit": "bit"}, "unit is 'bit', which is none of byte, char, word"),
        ({"tokens": [b"a"]}, "tokens is .*: give Mapping"),
        ({"tokens": {0: "a"}}, "the token of id 0 is 'a': give bytes"),
        ({"tokens": {0.0: b"a"}}, "tokens: id 0.0 is of type float: give int"),
        ({"tokens": {False: b"a"}}, "tokens: id False is of type bool: give int"),
        ({"tokens": {"0": b"a"}}, "tokens: id '0' is of type str: give int"),
        ({"tokens": {-1: b"a"}}, "tokens: id -1 is negative"),
        ({"tokens": {2**32 - 1: b"a"}}, "tokens: id 4294967295 is above 4294967294"),
        ({"tokens": {0: b"a", 5_000_000: b"b"}}, "tokens: id 5000000 is too far above the number of tokens"),
        ({"special_tokens": {"<s>": 2.0}}, "special_tokens: id 2.0 is of type float"),
        ({"special_tokens": {"<s>": 10**400}}, "special_tokens: id 1000.*… is above"),
        ({"added_tokens": {"<x>": 2**31}}, "added_tokens: id 2147483648 is too far above"),
        ({"special_tokens": {3: 3}}, "special_tokens: text 0 is 3: give str"),
        ({"special_tokens": {"<\ud800>": 3}}, r"special_tokens: .* lone surrogate U\+D800 at character 1"),
        ({"added_tokens": {"\udfff": 3}}, r"added_tokens: .* lone surrogate U\+DFFF at character 0"),
        ({"merges": [(0, 1, 2)]}, "merges is .*: give tuple or None"),
        ({"merges": ((0, 1, 2), (0,))}, r"merge 1 is \(0,\): give \(left id, right id, id of the result\)"),
        ({"merges": (5,)}, "merge 0 is 5: give"),
        ({"merges": ((0, 1, 2.0),)}, r"merge 0 is \(0, 1, 2.0\): give"),
        ({"merges": ((0, True, 2),)}, "merge 0 is"),
        ({"merges": ((0, 1, 3),)}, "merge 0 names id 3, which is no token"),
        ({"end_of_word": b"_"}, "end_of_word is b'_': give str or None"),
        ({"end_of_word": "_", "unit": "word"}, "end_of_word='_' needs unit=\"char\" or \"byte\""),
        ({"fallback": True}, "nothing is smaller than a byte"),
        ({"fallback": 0}, "fallback is 0: give bool"),
        ({"whole_pieces": None}, "whole_pieces is None: give bool"),
        ({"record": None}, "record is None: give Mapping"),
        ({"alphabet": {"a": 0}}, "alphabet: symbol 0 is 'a': give bytes"),
        ({"alphabet": {b"a": 0.0}}, "alphabet: the id of b'a' is 0.0: give int"),
        ({"alphabet": {b"ab": 2}}, "symbol b'ab' in the alphabet is no symbol of the unit 'byte'"),
        ({"alphabet": {b"<s>": 3}}, "symbol b'<s>' has id 3, which is no token, or a special one"),
        (CHARS | {"end_of_word": ""}, "end_of_word is empty"),
        (CHARS | {"end_of_word": "\ud800"}, r"end_of_word: lone surrogate U\+D800"),
        (CHARS | {"end_of_word": "_", "fallback": True}, "longer than one character"),
        (CHARS | {"alphabet": {b"ab": 2}}, "symbol b'ab' in the alphabet is no symbol of the unit 'char'"),
        (CHARS | {"alphabet": {b"ab": 2}, "end_of_word": "a"}, "no symbol of the unit 'char'"),
        (CHARS | {"tokens": {0: b"\xc3"}, "alphabet": {b"\xc3": 0}}, "no symbol .* without fallback"),
        (CHARS | {"tokens": {0: b""}, "alphabet": {b"": 0}}, "symbol b'' in the alphabet"),
        (CHARS | {"unit": "word", "tokens": {0: b"\xff"}, "alphabet": {b"\xff": 0}}, "no symbol of the unit"),
        ({"tokens": {0: b"a" * 10**6}, "alphabet": {b"a": 0}}, "which is b'a{38}…"),
    ],
)  # fmt: skip
def test_specs_that_cannot_be(changes: dict[str, Any], message: str) -> None:
    spec = replace(LETTERS, **changes)
    for make in (check_spec, ReferenceTokenizer, syllabary.Tokenizer):
        with pytest.raises(VocabularyError, match=message) as error:
            make(spec)
        assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    "spec",
    [
        small("char", ["é".encode(), "é_".encode(), b"_"], 3, end_of_word="_"),
        small("char", [b"</w>", b"a", b"\xc3", b"a</w>"], 4, end_of_word="</w>", fallback=True),
        small("word", [b"ab", "né".encode(), b"\xa9"], 3, fallback=True),
        replace(LETTERS, special_tokens={"<s>": 16 * 4 + 1_000_000 - 1}),
        replace(LETTERS, tokens=dict(LETTERS.tokens) | {16 * 4 + 1_000_000 - 1: b"x"}),
    ],
    ids=["mark of one character", "bare mark", "words and bytes", "special far away", "token far away"],
)
def test_specs_that_can(spec: TokenizerSpec) -> None:
    check_spec(spec)
    syllabary.Tokenizer(spec)


def test_checking_a_large_vocabulary_takes_no_time() -> None:
    tokens, merges = dict(BYTES), []
    for token_id in range(256, 200_000):
        left, right = (token_id - 256) % 256, (token_id - 256) // 256
        tokens[token_id] = tokens[left] + tokens[right]
        merges.append((left, right, token_id))
    special = {f"<{number}>": 200_000 + number for number in range(50_000)}
    alphabet = {bytes([value]): value for value in range(256)}
    spec = TokenizerSpec("byte", NONE, tokens, alphabet, tuple(merges), special)
    seconds = []
    for _ in range(3):
        start = time.process_time()
        check_spec(spec)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 1  # a tenth of it, where nothing else runs; a scan for each token takes minutes


def test_what_errors_show_is_short() -> None:
    assert shown("a" * 41) == repr("a" * 40 + "…")
    assert shown("a" * 40) == repr("a" * 40)
    assert [len(shown(value)) <= 45 for value in (b"\xff" * 99, b"ab" * 10**6, [1] * 99, 10**400)] == [
        True
    ] * 4
    words = small("word", [b"ab"], 1)
    with pytest.raises(UnknownSymbolError, match=r"'x{40}…'; the first is at character 0") as error:
        ReferenceTokenizer(words).encode("x" * 500_000)
    assert len(str(error.value)) < 200


# ---- the corners: engine == reference ----


def test_a_mark_of_one_character_is_a_character_of_the_text_too() -> None:
    spec = small("char", [b"a", b"_", b"a_"], 3, end_of_word="_")
    assert both(spec, "_a") == [1, 2]
    assert both(spec, "__aa") == [1, 1, 0, 2]
    assert both(spec, "a_") is UnknownSymbolError


@pytest.mark.parametrize("bare", [True, False])
def test_fallback_needs_the_bare_mark(bare: bool) -> None:
    tokens = [*BYTES.values(), b"a</w>", *([b"</w>"] if bare else [])]
    spec = small("char", tokens, len(tokens), end_of_word="</w>", fallback=True)
    assert both(spec, "ba") == [98, 256]
    assert both(spec, "ab") == ([97, 98, 257] if bare else UnknownSymbolError)
    assert both(spec, "aé") == ([97, 0xC3, 0xA9, 257] if bare else UnknownSymbolError)


def test_a_mark_inside_a_token_is_a_space() -> None:
    """Merges within a piece never make one, but a vocabulary may hold it."""
    tokens = [b"a", b"</w>", b"a</w>b", b"</w></w>", b"a</w>", b"</w", b">"]
    spec = small("char", tokens, 2, end_of_word="</w>", special_tokens={"<s></w>": 7})
    reference, engine = ReferenceTokenizer(spec), syllabary.Tokenizer(spec)
    for ids in ([2], [2, 2, 4], [3], [0, 3, 3], [5, 6, 4], [4, 7, 4], [1, 0], [0, 1, 1]):
        decoder = engine.decoder()
        pushed = "".join([*map(decoder.push, ids), decoder.flush()])
        assert engine.decode(ids) == reference.decode(ids) == pushed
    assert engine.decode([2, 3]) == "a b "


def test_whole_pieces_of_characters() -> None:
    tokens = [b"a", b"b", b"b</w>", b"ab</w>", b"ab"]
    spec = small("char", tokens, 3, end_of_word="</w>", whole_pieces=True, split=SPACES)
    assert both(spec, "ab aab b") == [4, 0, 0, 2, 1]  # looked up as they are, without the mark
    assert both(replace(spec, whole_pieces=False), "ab") == [0, 2]
    plain = small("char", [b"a", b"b", b"ab"], 2, whole_pieces=True, split=SPACES)
    assert both(plain, "ab aab b") == [2, 0, 0, 1, 1]


def test_whole_pieces_of_equal_bytes() -> None:
    """A single symbol keeps its alphabet's id, a longer piece takes the lowest."""
    tokens = {0: b"a", 1: b"ab", 2: b"ab", 3: b"a", 4: b"b"}
    spec = TokenizerSpec("byte", SPACES, tokens, {b"a": 3, b"b": 4}, (), whole_pieces=True)
    assert both(spec, "a ab aab") == [3, 1, 3, 3, 4]


def test_a_forbidden_special_token_comes_before_unknown_symbols() -> None:
    assert both(LETTERS, "?<s>") is SpecialTokenError
    assert both(LETTERS, "?<s>", "allow") is UnknownSymbolError
    assert both(LETTERS, "ab?", "allow") is UnknownSymbolError
    assert both(LETTERS, "ab<s>", "allow") == [2, 3]


def test_merges_that_no_text_can_reach() -> None:
    spec = small("char", [b"a", b"x", b"y", b"xy", b"axy"], 1, merges=((1, 2, 3), (0, 3, 4)))
    assert both(spec, "aa") == [0, 0]
    assert both(spec, "axy") is UnknownSymbolError


@st.composite
def specs(draw: st.DrawFn) -> TokenizerSpec:
    """A vocabulary that no training made: ids in any order, merges in any order, some twice, some dead."""
    unit: Unit = draw(st.sampled_from(["byte", "char", "word"]))
    mark = draw(st.sampled_from([None, "b", "é", "</w>"])) if unit == "char" else None
    symbols = ["a", "b", "c", "é", "ab"] if unit == "word" else ["a", "b", "c", "é"]
    texts = [symbol.encode() for symbol in symbols]
    texts += [symbol + mark.encode() for symbol in texts] if mark else []
    fallback = unit != "byte" and mark in (None, "</w>") and draw(st.booleans())
    single = [*BYTES.values(), *([mark.encode()] if mark else [])] if fallback else []
    if unit == "byte":
        texts = [bytes([value]) for value in b"abc\xc3\xa9"]
    alphabet = draw(st.lists(st.sampled_from(list(dict.fromkeys([*texts, *single]))), unique=True))
    tokens = alphabet + draw(st.lists(st.sampled_from(texts), max_size=2))
    joins: list[tuple[int, int, int]] = []
    for _ in range(draw(st.integers(0, 8)) if tokens else 0):
        left, right = (draw(st.integers(0, len(tokens) - 1)) for _side in range(2))
        joins.append((left, right, len(tokens)))
        tokens.append(tokens[left] + tokens[right])
    ranks = draw(st.lists(st.sampled_from(joins), max_size=10)) if joins else []
    ids = draw(st.permutations(range(len(tokens) + 1)))
    return TokenizerSpec(
        unit,
        draw(st.sampled_from([NONE, SPACES, SplitSpec(r"\w|\W+")])),
        {ids[place]: token for place, token in enumerate(tokens)},
        {symbol: ids[place] for place, symbol in enumerate(alphabet)},
        tuple((ids[left], ids[right], ids[result]) for left, right, result in ranks),
        {"<s>": ids[-1]},
        end_of_word=mark,
        fallback=fallback,
        whole_pieces=unit != "word" and draw(st.booleans()),
    )


@few(150)
@given(specs(), st.text("abcé ", max_size=12), st.sampled_from(["raise", "allow", "text"]))
def test_specs_that_no_training_makes(spec: TokenizerSpec, text: str, special: str) -> None:
    both(spec, text, special)
    both(spec, f"{text}<s>{text[:3]}", special)


@few(100)
@given(st.lists(st.binary(max_size=4), max_size=10), st.text("abc\x01", max_size=10), st.booleans())
def test_rank_order_of_any_tokens(extra: list[bytes], text: str, whole: bool) -> None:
    more = [token for token in dict.fromkeys(extra) if len(token) != 1]
    tokens = BYTES | {300 + place: token for place, token in enumerate(more)}
    alphabet = {token: token_id for token_id, token in BYTES.items()}
    spec = TokenizerSpec("byte", SPACES, tokens, alphabet, None, whole_pieces=whole)
    assume(text)
    both(spec, text)


# ---- a pattern that does not end ----


def test_a_pattern_that_tries_everything_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_split, "SECONDS", 0.3)
    spec = replace(LETTERS, split=SplitSpec(r"(?:a|aa)+(?=!)|\w"))
    for call in (lambda: pieces("a" * 40, spec.split), lambda: ReferenceTokenizer(spec).encode("a" * 40)):
        with pytest.raises(PatternError, match=r"took more than 0\.3 seconds on a text of 40 characters"):
            call()
    assert pieces("aaa!", spec.split) == ["aaa", "!"]
    assert len(syllabary.Tokenizer(spec).encode("a" * 40)) == 40  # the engine's automaton takes no turn twice
