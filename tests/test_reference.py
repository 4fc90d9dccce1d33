"""The parts of the reference one by one, and every error: what it says, and where.

Leaves out: training (`test_reference_train`), encoding and decoding at length (`test_reference_tokenizer`).
"""

from __future__ import annotations

import json
import pickle
import time
from dataclasses import asdict, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import lone_surrogates, texts

from syllabary import splits
from syllabary.errors import (
    CorpusError,
    SpecialTokenError,
    TextError,
    TrainingError,
    UnknownSymbolError,
    UnknownTokenError,
    VocabularyError,
)
from syllabary.reference import ReferenceTokenizer, train_steps
from syllabary.reference.assemble import (
    assemble,
    check_options,
    check_special_tokens,
    initial_alphabet,
    training_record,
)
from syllabary.reference.bytes_to_unicode import BYTE_TO_CHARACTER, byte_alphabet, spell, unspell
from syllabary.reference.merge import by_merges, by_rank_order, count_pairs, last, merge, merge_states
from syllabary.reference.special import cut
from syllabary.reference.symbols import symbols
from syllabary.reference.ties import first_seen, largest_pair, smallest_ids
from syllabary.reference.train import train
from syllabary.spec import SplitSpec, TokenizerSpec, TrainOptions

NONE = SplitSpec(None)
OPTIONS = TrainOptions(NONE, num_merges=2, special_tokens=("<s>", "<s>s", "</s>"))
SPEC = train(["ababab"], OPTIONS)
TOK = ReferenceTokenizer(SPEC)
id_lists = st.lists(st.integers(0, 3), max_size=20)

# ---- counting and merging ----


@given(id_lists)
def test_every_neighbour_is_counted(ids: list[int]) -> None:
    counts = count_pairs(ids)
    assert sum(counts.values()) == max(len(ids) - 1, 0)
    firsts = [list(pairwise(ids)).index(pair) for pair in counts]
    assert firsts == sorted(firsts)


@given(id_lists, st.tuples(st.integers(0, 3), st.integers(0, 3)))
def test_merging_and_spelling_out_again_changes_nothing(ids: list[int], pair: tuple[int, int]) -> None:
    merged = merge(ids, pair, 99)
    assert [part for item in merged for part in (pair if item == 99 else (item,))] == ids
    assert pair not in count_pairs(merged)


@given(st.integers(0, 30))
def test_a_run_of_one_id_is_merged_from_the_left(length: int) -> None:
    assert merge([5] * length, (5, 5), 9) == [9] * (length // 2) + [5] * (length % 2)


@given(id_lists)
def test_the_states_begin_with_the_input_and_lose_one_id_each(ids: list[int]) -> None:
    rule = by_merges([(0, 1, 4), (1, 2, 5), (4, 2, 6), (3, 3, 7), (7, 7, 8)])
    states = list(merge_states(ids, rule))
    assert states[0] == ids
    assert [len(state) for state in states] == [len(ids) - k for k in range(len(states))]
    assert states[-1] == last(merge_states(ids, rule))


def test_of_equal_ranks_the_leftmost_is_merged() -> None:
    assert list(merge_states([0, 0, 0], by_merges([(0, 0, 1)]))) == [[0, 0, 0], [1, 0]]


def test_a_pair_listed_twice_keeps_its_last_rank() -> None:
    assert by_merges([(0, 1, 9), (1, 2, 8), (0, 1, 7)])(0, 1) == (2, 7)


def test_rank_order_takes_the_lowest_id_of_equal_tokens() -> None:
    assert by_rank_order({7: b"ab", 3: b"ab", 0: b"a", 1: b"b"})(0, 1) == (3, 3)


# ---- ties ----

WHERE = {(1, 2): {4, 9}, (0, 3): {6}, (2, 0): {5, 2}}
SPELLING = [b"a", b"\xc3\xa9", b"b", b"a</w>"]


def test_each_tie_rule_takes_its_own_pair() -> None:
    assert first_seen(WHERE, WHERE) == (2, 0)
    assert smallest_ids(WHERE) == (0, 3)
    assert largest_pair(WHERE, SPELLING) == (1, 2)
    assert largest_pair([(4, 2), (2, 4), (1, 0), (2, 3)], [b"a", b"a", b"ab", b"ab", b"ab"]) == (2, 3)


@given(st.sets(st.tuples(st.text(max_size=3), st.text(max_size=3)), min_size=1, max_size=6))
def test_bytes_and_code_points_have_one_largest_pair(pairs: set[tuple[str, str]]) -> None:
    """Comparing UTF-8 is comparing code points, so subword-nmt's strings and our bytes agree."""
    words = sorted({word for pair in pairs for word in pair})
    tied = [(words.index(left), words.index(right)) for left, right in pairs]
    left, right = largest_pair(tied, [word.encode() for word in words])
    assert (words[left], words[right]) == max(pairs)


# ---- bytes and symbols ----


def test_bytes_to_unicode_is_gpt2s() -> None:
    """Every byte its own printable character; space, newline, NUL and DEL as everyone knows them."""
    assert len(set(BYTE_TO_CHARACTER.values())) == 256
    assert all(character.isprintable() for character in BYTE_TO_CHARACTER.values())
    assert [BYTE_TO_CHARACTER[byte] for byte in (32, 10, 0, 127, 173, 255)] == list("ĠĊĀġŃÿ")


@given(st.binary())
def test_spelling_and_unspelling(token: bytes) -> None:
    assert unspell(spell(token)) == token


def test_the_two_orders_of_the_byte_alphabet() -> None:
    gpt2 = byte_alphabet("gpt2")
    assert sorted(gpt2) == byte_alphabet("raw") == [bytes([byte]) for byte in range(256)]
    assert (gpt2[0], gpt2[187], gpt2[188], gpt2[220], gpt2[255]) == (b"!", b"\xff", b"\0", b" ", b"\xad")


@given(texts(8).filter(bool), st.sampled_from([None, "</w>", "@"]))
def test_symbols_joined_are_the_piece_and_its_mark(piece: str, mark: str | None) -> None:
    assert b"".join(symbols(piece, "byte")) == b"".join(symbols(piece, "word")) == piece.encode()
    characters = symbols(piece, "char", mark)
    assert len(characters) == len(piece)
    assert b"".join(characters) == (piece + (mark or "")).encode()


# ---- assembling ----


def test_ids_alphabet_then_merges_then_special_tokens() -> None:
    assert [SPEC.tokens[n] for n in (0, 97, 255, 256, 257)] == [b"\0", b"a", b"\xff", b"ab", b"abab"]
    assert SPEC.merges == ((97, 98, 256), (256, 256, 257))
    assert SPEC.special_tokens == {"<s>": 258, "<s>s": 259, "</s>": 260}


def test_ids_with_special_tokens_first() -> None:
    spec = train(["ababab"], replace(OPTIONS, special_first=True, byte_order="gpt2", alphabet="seen"))
    assert spec.special_tokens == {"<s>": 0, "<s>s": 1, "</s>": 2}
    assert spec.tokens == {3: b"a", 4: b"b", 5: b"ab", 6: b"abab"}
    assert spec.alphabet == {b"a": 3, b"b": 4}
    assert spec.merges == ((3, 4, 5), (5, 5, 6))


def test_the_alphabet_of_characters_with_fallback() -> None:
    options = TrainOptions(NONE, unit="char", num_merges=0, fallback=True, end_of_word="</w>")
    alphabet = initial_alphabet(options, ["é</w>".encode(), b"a", "é".encode()])
    assert alphabet[:256] == byte_alphabet("raw")
    assert alphabet[256:] == [b"</w>", "é".encode(), "é</w>".encode()]


def test_the_record_is_plain_json() -> None:
    record = training_record(replace(OPTIONS, split=splits.get("gpt2")))
    assert json.loads(json.dumps(record)) == record
    assert record["split"] == asdict(splits.get("gpt2"))


def test_specs_and_steps_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(SPEC)) == SPEC
    steps = list(train_steps(["ababab"], OPTIONS))
    assert pickle.loads(pickle.dumps(steps)) == steps


# ---- special tokens ----


@given(st.text("<s/>a", max_size=20))
def test_runs_joined_are_the_text(text: str) -> None:
    runs = list(cut(text, SPEC.special_tokens))
    assert "".join(run.text for run in runs) == text
    assert all(text.startswith(run.text, run.start) and run.text for run in runs)
    assert all((run.token is not None) == (run.text in SPEC.special_tokens) for run in runs)


def test_the_policies() -> None:
    text = "ab<s>s</s>"
    assert TOK.encode(text, special="allow") == [256, 259, 260]  # leftmost, longest
    assert TOK.tokens(text, special="text") == [b"ab", b"<", b"s", b">", b"s", b"<", b"/", b"s", b">"]
    assert TOK.encode(text, special={"<s>s", "</s>"}) == [256, 259, 260]
    for policy in ("raise", set(), {"</s>"}):
        with pytest.raises(SpecialTokenError, match=r"'<s>s' at character 2\.") as error:
            TOK.encode(text, special=policy)
        for way_out in ('special="allow"', "special={'<s>s'}", 'special="text"'):
            assert way_out in str(error.value)
    assert TOK.encode("ab", special="raise") == [256]


def test_policies_that_do_not_exist() -> None:
    with pytest.raises(ValueError, match=r"'<s>' is not .* meant \{'<s>'\}"):
        TOK.encode("a", special="<s>")
    with pytest.raises(UnknownTokenError, match=r"'<x>', which is no special token .* '<s>', '<s>s', '</s>'"):
        TOK.encode("a", special={"<x>"})


def test_added_tokens_always_match() -> None:
    tok = ReferenceTokenizer(replace(SPEC, added_tokens={"ba": 300}))
    for policy in ("raise", "text", "allow"):
        assert tok.encode("abab", special=policy) == [97, 300, 98]


# ---- errors: options ----

CHARS: dict[str, Any] = {"unit": "char"}


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"num_merges": None}, "vocab_size .now None. and num_merges .now None"),
        ({"vocab_size": 300}, "vocab_size .now 300. and num_merges .now 2"),
        ({"num_merges": -1}, "num_merges is -1"),
        ({"min_frequency": 0}, "min_frequency is 0"),
        ({"max_token_length": 0}, "max_token_length is 0"),
        ({"end_of_word": "</w>"}, "needs unit=\"char\", not 'byte'"),
        (CHARS | {"end_of_word": ""}, "end_of_word is empty"),
        (CHARS | {"end_of_word": "_", "fallback": True}, "longer than one character"),
        ({"fallback": True}, "nothing is smaller than a byte"),
        (
            {"num_merges": None, "vocab_size": 258},
            "vocab_size is 258.* 256 symbols .* 3 special .* 259 or more",
        ),
        (CHARS | {"end_of_word": "ba"}, "document 0 holds the end_of_word mark 'ba' at character 1"),
    ],
)
def test_options_that_contradict(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(TrainingError, match=message):
        train(["ababab"], replace(OPTIONS, **changes))


@pytest.mark.parametrize(
    "specials, message",
    [
        (("<s>", "<s>"), "'<s>' is given twice"),
        (("<s>", ""), "special token 1 is empty"),
        (("a",), "'a' has the bytes of an ordinary token"),
    ],
)
def test_special_tokens_that_collide(specials: tuple[str, ...], message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        train(["bbb"], replace(OPTIONS, special_tokens=specials))


@pytest.mark.parametrize(
    "changes",
    [
        {"special_tokens": ("<s>", "a")},
        {"unit": "word", "fallback": True, "special_tokens": ("~",)},
        {"unit": "char", "fallback": True, "end_of_word": "</w>", "special_tokens": ("</w>",)},
    ],
)
def test_collisions_that_no_corpus_could_avoid_are_found_before_one_is_read(changes: dict[str, Any]) -> None:
    with pytest.raises(VocabularyError, match="has the bytes of an ordinary token"):
        check_options(replace(OPTIONS, **changes))
    seen = replace(OPTIONS, **changes | {"alphabet": "seen", "fallback": False})
    check_options(seen)


def test_many_special_tokens_are_checked_in_no_time() -> None:
    special_tokens = tuple(f"<{number}>" for number in range(50_000))
    start = time.process_time()
    spec = assemble(replace(OPTIONS, special_tokens=special_tokens), byte_alphabet("raw"), [(97, 98)])
    check_special_tokens(special_tokens)
    assert time.process_time() - start < 5  # a hundredth of it; comparing each with each takes minutes
    assert len(spec.special_tokens) == 50_000


def test_a_special_token_learned_from_plain_text_collides() -> None:
    with pytest.raises(VocabularyError, match="'abab' has the bytes"):
        assemble(replace(OPTIONS, special_tokens=("abab",)), byte_alphabet("raw"), [(97, 98), (256, 256)])


# ---- errors: corpora ----


@pytest.mark.parametrize("documents", [[], [""], ["<s>", ""]])
def test_an_empty_corpus(documents: list[str]) -> None:
    with pytest.raises(CorpusError, match="the corpus is empty"):
        train(documents, OPTIONS)


def test_a_corpus_of_the_wrong_type() -> None:
    with pytest.raises(CorpusError, match="one string"):
        train("ababab", OPTIONS)
    with pytest.raises(CorpusError, match="document 1 is of type bytes"):
        train(["a", b"b"], OPTIONS)  # type: ignore[list-item]


@given(lone_surrogates())
def test_a_lone_surrogate_has_a_position(case: tuple[str, int]) -> None:
    text, position = case
    with pytest.raises(TextError, match=f"document 1: lone surrogate .* at character {position};"):
        train(["ab", text], OPTIONS)
    with pytest.raises(TextError, match=f"text: lone surrogate .* at character {position};"):
        TOK.encode(text, special="text")


# ---- errors: encoding ----


def test_unknown_symbols_are_named_with_the_place_of_the_first() -> None:
    tok = ReferenceTokenizer(train(["ababab"], replace(OPTIONS, alphabet="seen")))
    with pytest.raises(UnknownSymbolError, match=r"'x', byte 0xC3, byte 0xA9; the first is at character 2 "):
        tok.encode("abxéx")
    with pytest.raises(UnknownSymbolError, match=r"'c', .*, 'l' and 3 more; the first is at character 0 "):
        tok.encode("cdefghijklmno")


def test_an_unknown_unit_of_offsets() -> None:
    with pytest.raises(ValueError, match="unit='word'"):
        TOK.offsets("a", "word")  # type: ignore[arg-type]


# ---- errors: decoding ----


@pytest.mark.parametrize("bad", [261, -1, 2**40])
def test_an_id_out_of_range(bad: int) -> None:
    for ids in ([97, bad], [97, bad, 5]):
        with pytest.raises(UnknownTokenError, match=f"id {bad} at index 1 .* 261 ids lie between 0 and 260"):
            TOK.decode(ids)
    decoder = TOK.decoder()
    assert decoder.push(97) == "a"
    with pytest.raises(UnknownTokenError, match=f"id {bad} at index 1 "):
        decoder.push(bad)
    assert decoder.push(98) == "b"


@pytest.mark.parametrize("bad", [True, 1.0, "97", None, b"a"])
def test_an_id_that_is_no_integer(bad: Any) -> None:
    with pytest.raises(TypeError, match="at index 1 is of type"):
        TOK.decode([97, bad])


def test_integers_of_numpy_are_ids() -> None:
    assert TOK.decode(np.array([256, 97], dtype=np.uint32)) == "aba"


def test_strict_decoding_says_at_which_byte() -> None:
    with pytest.raises(TextError, match="at byte 2 "):
        TOK.decode([97, 98, 0xFF], errors="strict")
    decoder = TOK.decoder(errors="strict")
    assert [decoder.push(token_id) for token_id in (256, 0xE2, 0x82)] == ["ab", "", ""]
    with pytest.raises(TextError, match="at byte 2 "):
        decoder.push(97)
    cut_off = TOK.decoder(errors="strict")
    assert cut_off.push(0xC3) == ""
    with pytest.raises(TextError, match=r"at byte 0 \(unexpected end of data"):
        cut_off.flush()


# ---- errors: vocabularies ----

SMALL = TokenizerSpec(
    "byte", NONE, {0: b"a", 1: b"b", 2: b"ab"}, {b"a": 0, b"b": 1}, ((0, 1, 2),), {"<s>": 3}
)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"special_tokens": {"<s>": 2}}, "id 2 is both '<s>' and the token b'ab'"),
        ({"added_tokens": {"x": 3}}, "id 3 is both '<s>' and 'x'"),
        ({"added_tokens": {"<s>": 4}}, "'<s>' is given twice"),
        ({"added_tokens": {"": 4}}, "is empty"),
        ({"added_tokens": {"x": -4}}, "added_tokens: id -4 is negative"),
        ({"alphabet": {b"a": 1}}, "symbol b'a' has id 1, which is b'b'"),
        ({"alphabet": {b"c": 9}}, "symbol b'c' has id 9, which is no token"),
        ({"merges": ((0, 1, 2), (2, 7, 2))}, "merge 1 names id 7"),
        ({"merges": ((1, 0, 2),)}, "merge 0 joins b'b' and b'a', but its result, id 2, is b'ab'"),
        ({"merges": None, "tokens": {0: b"a", 1: b"b", 2: b"a"}}, "ids 0 and 2 are both b'a'"),
    ],
)
def test_vocabularies_that_cannot_be(changes: dict[str, Any], message: str) -> None:
    assert ReferenceTokenizer(SMALL).encode("ab<s>", special="allow") == [2, 3]
    with pytest.raises(VocabularyError, match=message):
        ReferenceTokenizer(replace(SMALL, **changes))
