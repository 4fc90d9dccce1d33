"""`reference.train_sentencepiece` learns what sentencepiece itself learns: pieces, scores, types, file bytes.

The released sentencepiece is the judge, over options mixed at random, generated text of mixed scripts, real
text, and what both refuse. Leaves out: the sample of `input_sentence_size`, which sentencepiece draws anew in
each process.
"""

from __future__ import annotations

import dataclasses
import lzma
import random
import warnings
from pathlib import Path
from typing import Any

import pytest
import sentencepiece_models as models
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece_trainers import check, ours, pieces, theirs
from strategies import byte_strings, corpora

import syllabary
from syllabary.errors import CorpusError, CorpusWarning, EarlyStopWarning, SyllabaryError, TextError
from syllabary.formats import sentencepiece as formats_sentencepiece
from syllabary.formats.record import Hints
from syllabary.reference import ReferenceTokenizer, train_sentencepiece
from syllabary.reference.train_sentencepiece import SentencePieceOptions, train
from syllabary.reference.train_sentencepiece_merge import Merging, merge_steps
from syllabary.reference.train_sentencepiece_scripts import COMMON, INHERITED, script_of
from syllabary.reference.train_sentencepiece_sentences import LeftOut, _below, _twister
from syllabary.training.left_out import watched

SPACE = "\u2581"
# Options with the values that are drawn; most are left at their default, and those of `RARE` mostly.
CHOICES: dict[str, list[Any]] = {
    "character_coverage": [1.0, 0.98, 0.99],
    "max_sentence_length": [60, 120],
    "max_sentencepiece_length": [1, 2, 5, 40],
    "split_by_unicode_script": [False],
    "split_by_whitespace": [False],
    "split_by_number": [False],
    "treat_whitespace_as_suffix": [True],
    "split_digits": [True],
    "allow_whitespace_only_pieces": [True],
    "control_symbols": [("<c1>", "<mask>", "cat"), ("</s>", "<pad>")],
    "user_defined_symbols": [tuple(models.SYMBOLS), ("<s>", SPACE), ("the",)],
    "hard_vocab_limit": [False],
    "byte_fallback": [True],
    "required_chars": ["xzꙮ漢", "\0\x1f"],
    "unk_id": [2, -1, 20],
    "bos_id": [-1, 0],
    "eos_id": [-1, 7],
    "pad_id": [3, 90, 3000],
    "unk_surface": ["", "<?>"],
    "unk_piece": ["cat", "<s>"],
    "bos_piece": ["the", "<0x41>"],
    "pretokenization_delimiter": ["t", "▁a"],
    "auto_character_coverage": [True],
    "normalization_rule_name": ["identity", "nmt_nfkc_cf"],
    "add_dummy_prefix": [False],
    "remove_extra_whitespaces": [False],
    "input_sentence_size": [101],
    "vocabulary_output_piece_score": [False],
    "vocab_size": [120, 300, 340, 400, 600, 2000],
}
RARE = (
    "unk_id",
    "bos_id",
    "eos_id",
    "pad_id",
    "unk_piece",
    "bos_piece",
    "required_chars",
    "pretokenization_delimiter",
)
# Values that both refuse on the corpus of `test_every_value_of_every_option`.
REFUSED = {
    "unk_piece": ["<s>"],
    "bos_piece": ["<0x41>"],
    "pad_id": [3000],
    "unk_id": [2],
    "bos_id": [0],
    "vocab_size": [120, 300, 340],
}
ODD = "ab \u0301漢カー1１б.\t▁▅\0\x1f\r😀Ａﬁ\ufffd"


# ---- generated text ----


def mixed(source: random.Random) -> SentencePieceOptions:
    """Options, some of them drawn."""
    found: dict[str, Any] = {}
    for name, values in CHOICES.items():
        if name == "vocab_size" or source.random() < (0.04 if name in RARE else 0.3):
            found[name] = source.choice(values)
    if "input_sentence_size" in found:
        found["shuffle_input_sentence"] = False  # a sample would be another one in each process
    if found.get("auto_character_coverage") and source.random() < 0.9:
        found |= {"byte_fallback": True, "required_chars": ""}
    if found.get("byte_fallback") and source.random() < 0.9:
        found["vocab_size"] += 256
    return SentencePieceOptions(**({"hard_vocab_limit": source.random() < 0.1} | found))


def generated(source: random.Random) -> list[str | bytes]:
    """Lines of words in many scripts; some of odd characters, some that are no UTF-8."""
    lines: list[str | bytes] = [*models.corpus(source.randrange(1 << 30), source.choice([3, 40, 150]))]
    if source.random() < 0.4:
        lines += ["".join(source.choice(ODD) for _ in range(source.randint(0, 30))) for _ in range(40)]
        noise = b"ab \xff\xe3\x81\x82\xc3\xa9\xf0\x9f\xe2\x96\x85"
        lines += [bytes(source.choice(noise) for _ in range(source.randint(0, 20))) for _ in range(20)]
    source.shuffle(lines)
    return lines


@pytest.mark.parametrize("part", range(8))
def test_options_at_random(part: int, prove: bool) -> None:
    made = 0
    for seed in range(40 if prove else 16):
        source = random.Random(f"{part} {seed}")
        made += check(generated(source), mixed(source))
    # Most draws make a file: the others, that both refuse, are not what is tested here.
    assert made >= (15 if prove else 5)


@pytest.mark.parametrize("name", sorted(CHOICES))
def test_every_value_of_every_option(name: str) -> None:
    lines = models.corpus(3, 60)
    for value in CHOICES[name]:
        given: dict[str, Any] = {
            "vocab_size": 700,
            "byte_fallback": True,
            "hard_vocab_limit": False,
            name: value,
        }
        if name == "input_sentence_size":
            given["shuffle_input_sentence"] = False
        made = check(lines, SentencePieceOptions(**given))
        assert made or value in REFUSED.get(name, ()), value


@settings(max_examples=150)
@given(corpora(), st.sampled_from([30, 60, 2000]), st.sampled_from(["identity", "nmt_nfkc"]), st.booleans())
def test_drawn_text(documents: list[str], vocab_size: int, rule: str, by_space: bool) -> None:
    check(documents, SentencePieceOptions(vocab_size=vocab_size, normalization_rule_name=rule,
                                          hard_vocab_limit=False, split_by_whitespace=by_space))  # fmt: skip


@given(st.lists(byte_strings(), min_size=1, max_size=6))
def test_bytes_that_are_no_text(sentences: list[bytes]) -> None:
    check(sentences, SentencePieceOptions(vocab_size=200, hard_vocab_limit=False, character_coverage=1.0))


@given(st.lists(st.text("ab ", max_size=60), min_size=1, max_size=6), st.sampled_from([16, 3, 60]))
def test_runs_and_repeats(sentences: list[str], longest: int) -> None:
    options = SentencePieceOptions(vocab_size=300, hard_vocab_limit=False, max_sentencepiece_length=longest)
    check(sentences, options)


@given(st.lists(st.tuples(st.text("abc", max_size=20), st.integers(1, 3)), max_size=8), st.integers(2, 30))
def test_no_two_pairs_have_one_text(words: list[tuple[str, int]], longest: int) -> None:
    """What makes the order of pieces total, whatever the order of words."""
    learned = []
    for order in (words, words[::-1]):
        state = Merging(order, dict.fromkeys("abc", 1), lambda text: len(text) <= longest)
        learned.append(list(merge_steps(state)))
        assert len(set(state.texts)) == len(state.texts)
        assert not any(state.stale[3:])
    assert learned[0] == learned[1]


@pytest.mark.parametrize(
    "lines",
    [["a\t3", "b c\t2", "a b\t+007 "], ["a\t3", "\t4"], ["a\t9223372036854775807"], ["a\t0"], ["a\t-1"],
     ["a"], ["a\t1\t2"], ["a\tx"], ["a\t３"], ["a\t9223372036854775808"], ["a\t 7"], ["a\t"]],
)  # fmt: skip
def test_tables_of_counts(lines: list[str]) -> None:
    check(lines, SentencePieceOptions(vocab_size=30, hard_vocab_limit=False, input_format="tsv"))


# ---- which script ----


def test_the_script_of_every_character() -> None:
    """A character makes a piece with another one of its script, and with none of another."""
    own = {
        script_of(chr(code)): chr(code) for code in range(0x10FFFF, 0x20, -1) if not 0xD800 <= code < 0xE000
    }
    own[COMMON], own[INHERITED] = "-", "a"
    # A sample of all characters, other each day that the table changes, with all ends of its ranges.
    edges = {c + d for c in range(0x21, 0x110000 - 2) if script_at(c) != script_at(c + 1) for d in (0, 1)}
    codes = sorted(edges | set(range(0x21, 0x110000, 199)))
    chars = [chr(code) for code in codes if not 0xD800 <= code < 0xE000 and chr(code) not in f"{SPACE}\u2585"]
    together = [own[script_of(char)] + char for char in chars]
    apart = [
        ("б" if script_of(char) == "Latin" else "a") + char for char in chars if script_of(char) != INHERITED
    ]
    options = SentencePieceOptions(vocab_size=200_000, hard_vocab_limit=False, character_coverage=1.0,
                                   normalization_rule_name="identity")  # fmt: skip
    found = {text for text, _score, _kind in pieces(theirs([*together, *apart], options))}
    assert [text for text in together if text not in found] == []
    assert [text for text in apart if text in found] == []


def script_at(code: int) -> str:
    """The script; none for halves of characters."""
    return "" if 0xD800 <= code < 0xE000 else script_of(chr(code))


# ---- real text ----


@pytest.mark.parametrize(
    "name, characters, vocab_size, more",
    [("english", 250_000, 2000, {}), ("greek", 150_000, 1000, {}), ("chinese", 60_000, 3000, {}),
     ("multilingual", 120_000, 6000, {"byte_fallback": True, "split_digits": True}),
     ("japanese", 30_000, 1500, {"auto_character_coverage": True, "byte_fallback": True}),
     ("code", 100_000, 1000, {"split_by_whitespace": False, "remove_extra_whitespaces": False})],
)  # fmt: skip
def test_real_text(name: str, characters: int, vocab_size: int, more: dict[str, Any], shared: Path) -> None:
    with lzma.open(shared / "corpora" / f"{name}.txt.xz", "rt", encoding="utf-8") as file:
        lines = file.read(characters).split("\n")
        unseen = [line for line in file.read(20_000).split("\n") if line][:100]
    options = SentencePieceOptions(vocab_size=vocab_size, **more)
    expected = theirs(lines, options)
    spec, data = ours(lines, options)
    assert pieces(data) == pieces(expected)
    assert data == expected
    tokenizer, home = ReferenceTokenizer(spec), models.peer(expected)
    for line in unseen[:25]:
        assert tokenizer.encode(line, special="text") == home.encode(line)[0]


# ---- what sentencepiece leaves to chance, and what cannot be ----


def test_sampling_is_the_same_each_time() -> None:
    """Ours: sentencepiece 0.2.3 salts its generator, so its sample is another in each process."""
    numbers = _twister(5489)
    assert [numbers.getrandbits(32) for _ in range(10_000)][
        -1
    ] == 4123659995  # the C++ standard, of std::mt19937
    drawn = [_below(10, numbers) for _ in range(2000)]
    assert set(drawn) == set(range(10))
    lines = [f"{number} {'ab' * (number % 7)} {number * 7919}" for number in range(400)]
    options = SentencePieceOptions(vocab_size=60, input_sentence_size=150)
    first = train(lines, options)
    assert first == train(lines, options)
    assert first.tokens != train(lines[:150], options).tokens
    whole = SentencePieceOptions(vocab_size=60, input_sentence_size=401)
    assert check(lines, whole)


def test_early_stop_is_said() -> None:
    with pytest.warns(EarlyStopWarning, match=r"ended with a vocabulary of 9, not 100"):
        train(["ab"], SentencePieceOptions(vocab_size=100, hard_vocab_limit=False))


def test_steps_are_those_of_the_tokenizer() -> None:
    lines, options = models.corpus(5, 30), SentencePieceOptions(vocab_size=200)
    steps = list(train_sentencepiece.train_steps(lines, options))
    spec = train(lines, options)
    assert [step.text.encode() for step in steps] == [spec.tokens[3 + place] for place in range(len(steps))]
    assert [step.count for step in steps] == sorted((step.count for step in steps), reverse=True)
    assert spec.record["like"] == "sentencepiece"


def test_the_file_is_read_as_the_tokenizer_that_was_learned(tmp_path: Path) -> None:
    options = SentencePieceOptions(
        vocab_size=600, byte_fallback=True, user_defined_symbols=("<sep>",), treat_whitespace_as_suffix=True
    )
    spec, data = ours(models.corpus(7), options)
    (tmp_path / "t.model").write_bytes(data)
    assert formats_sentencepiece.read(tmp_path / "t.model", Hints()) == dataclasses.replace(spec, record={})


@pytest.mark.parametrize(
    "given, says",
    [
        ({"vocab_size": 0}, "vocab_size is 0"),
        ({"vocab_size": 5}, "set it to 6 or more"),
        ({"vocab_size": 500}, "set it to 9 or less"),
        ({"character_coverage": 0.5}, "character_coverage is 0.5"),
        ({"input_sentence_size": 7}, "over 100"),
        ({"input_format": "xml"}, "xml"),
        ({"control_symbols": ("",)}, "empty"),
        ({"user_defined_symbols": ("a\0",)}, "NUL"),
        ({"user_defined_symbols": ("x", "x")}, "given twice"),
        ({"user_defined_symbols": ("<unk>",)}, "unknown piece"),
        ({"required_chars": "a b"}, "keeps for itself"),
        ({"required_chars": "x", "user_defined_symbols": ("x",)}, "a character of the alphabet too"),
        ({"unk_id": -1}, "byte_fallback"),
        ({"bos_id": 0}, "taken"),
        ({"eos_id": 40}, "outside"),
        ({"bos_piece": "</s>"}, "as another piece is"),
        ({"pad_id": 29, "hard_vocab_limit": False}, "only 9 pieces are there"),
        ({"auto_character_coverage": True}, "byte_fallback=True"),
        ({"normalization_rule_name": "nfc"}, "nmt_nfkc"),
        ({"precompiled_charsmap": b"abc"}, "damaged"),
    ],
)
def test_what_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(SyllabaryError, match=says):
        train(["ab a"], SentencePieceOptions(**{"vocab_size": 30, **given}))


@pytest.mark.parametrize(
    "sentences, error, says",
    [
        ([], CorpusError, "empty"),
        (["", "  ", "\u2585x"], CorpusError, "empty"),
        (["x" * 5000], CorpusError, "empty"),
        ("abc", CorpusError, "give a list"),
        ([1], CorpusError, "type int"),
        (["a\ud800"], TextError, "surrogate"),
    ],
)
def test_corpora_that_cannot_be(sentences: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        train(sentences, SentencePieceOptions(vocab_size=30))


LONG = ["ab abab", "ab " * 9 + "\r\né" + "b" * 18 + "\r\né" + "b" * 19 + "\nab ab", "a" * 50]


@pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")
def test_sentences_that_are_left_out_as_too_long_are_told_of() -> None:
    told = r"than max_sentence_length, 20 bytes: 3 sentences of 98 bytes in all; .* max_sentence_length=50$"
    sentences = [line for text in LONG for line in text.split("\n")]
    options = {"max_sentence_length": 20, "vocab_size": 12, "hard_vocab_limit": False}
    for model in ("bpe", "unigram", "word"):
        with pytest.warns(CorpusWarning, match=told):
            syllabary.train(LONG, like="sentencepiece", model=model, options=options)  # type: ignore[arg-type]
    with pytest.warns(CorpusWarning, match=told):
        train(sentences, SentencePieceOptions(**options))
    with pytest.warns(CorpusWarning, match=told):
        syllabary.train(LONG, like="sentencepiece", options=options | {"input_sentence_size": 101})


@given(texts=st.lists(st.text("aé字\r\n", max_size=30), max_size=5), cuts=st.data())
def test_lines_that_are_left_out_are_found_in_any_parts(texts: list[str], cuts: st.DataObject) -> None:
    """A line's end may be in another part than its beginning; carriage returns before it are not counted."""
    whole = LeftOut(9)
    for line in (line for text in texts for line in text.split("\n")):
        whole.note(len(line.rstrip("\r").encode()))
    parts = list[tuple[str, bool]]()
    for text in texts:
        at = cuts.draw(st.integers(0, len(text)))
        parts += [(text[:at], False), (text[at:], True)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert list(watched(parts, 9)) == parts
        whole.warn()
    found = [str(warning.message) for warning in caught]
    assert len(found) == 2 * (whole.sentences > 0)
    assert found[:1] == found[1:]
