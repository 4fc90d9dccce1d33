"""Bad input as a user meets it: the exception one would catch, saying what is wrong, where, and what to do.

Leaves out: damaged tokenizer files (`test_formats_bad_input`), Ctrl-C and full disks (`test_interrupted`).
"""

from __future__ import annotations

import lzma
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from strategies import lone_surrogates

import syllabary
from syllabary.cli import main
from syllabary.errors import (
    CorpusError,
    PatternError,
    SplitError,
    SyllabaryError,
    TextError,
    TrainingError,
    UnknownTokenError,
    VocabularyError,
)

TEXTS = ["low lower lowest"] * 3
TOK = syllabary.train(TEXTS, vocab_size=262, special_tokens=["<|end|>"])
ENCODERS: list[Callable[[Any], object]] = [
    TOK.encode, TOK.encode_array, TOK.count, TOK.tokens, TOK.offsets, lambda text: list(TOK.steps(text)),
]  # fmt: skip
BATCH_ENCODERS: list[Callable[[Any], object]] = [TOK.encode_batch, TOK.encode_batch_array, TOK.count_batch]


def train(source: Any = TEXTS, **options: Any) -> syllabary.Tokenizer:
    return syllabary.train(source, **({} if "num_merges" in options else {"vocab_size": 262}) | options)


def command(*args: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, args, input=stdin)


def says(done: Result, *words: str) -> None:
    """The command failed with a sentence that has these words."""
    assert done.exit_code == 1, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    for word in words:
        assert word in done.stderr


# ---- the vocabulary and the corpus ----


@pytest.mark.parametrize(
    "options, smallest",
    [
        ({"vocab_size": 255}, 256),
        ({"vocab_size": 0}, 256),
        ({"vocab_size": -1}, 256),
        ({"vocab_size": 257, "special_tokens": ["<a>", "<b>"]}, 258),
        ({"vocab_size": 7, "alphabet": "seen"}, 8),
        ({"vocab_size": 5, "unit": "char", "split": "whitespace"}, 7),
        ({"vocab_size": 2, "unit": "word"}, 3),
    ],
)
def test_a_vocabulary_below_the_alphabet_says_what_would_do(options: dict[str, Any], smallest: int) -> None:
    with pytest.raises(TrainingError, match=f"vocab_size is {options['vocab_size']}, .* {smallest} or more$"):
        train(**options)
    assert train(**options | {"vocab_size": smallest}).vocab_size == smallest


def test_a_vocabulary_that_cannot_fit_is_refused_before_the_corpus_is_read() -> None:
    def unread() -> Any:
        raise AssertionError("read")
        yield

    with pytest.raises(TrainingError, match="set it to 256 or more"):
        train(unread(), vocab_size=100)


@pytest.mark.parametrize("source", [[], [""], ["", b""], iter([])])
def test_an_empty_corpus(source: Any) -> None:
    with pytest.raises(CorpusError, match="the corpus is empty: 0 bytes"):
        train(source)


@pytest.mark.parametrize("split", ["whitespace", "whitespace-split"])
def test_a_split_that_finds_nothing(split: str) -> None:
    with pytest.raises(CorpusError, match="3 bytes of text were read and no piece was found in them"):
        train([" \n "], split=split)


def test_a_corpus_of_special_tokens_alone() -> None:
    with pytest.raises(CorpusError, match="no piece was found"):
        train(["<s><s>"], special_tokens=["<s>"])


def test_training_that_stops_early_says_at_which_size(tmp_path: Path) -> None:
    with pytest.warns(
        syllabary.EarlyStopWarning, match=r"after 1 of 44 merges with a vocabulary of 257;"
    ) as seen:
        assert train(["abab"], vocab_size=300).vocab_size == 257
    assert seen[0].filename == __file__
    done = command("train", "-", "-o", str(tmp_path / "a.json"), "--vocab-size", "300", "-q", stdin=b"abab")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.startswith("warning: no pair is left")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert train(["abab"], num_merges=1).vocab_size == 257


# ---- files ----


def packed(data: bytes) -> bytes:
    return lzma.compress(data)


@pytest.mark.parametrize("suffix, pack", [(".txt", bytes), (".txt.xz", packed)])
@pytest.mark.parametrize("before", [0, 5, (1 << 20) - 1, (1 << 20) + 1])
def test_an_undecodable_file_is_named_with_its_byte(
    suffix: str, pack: Callable[[bytes], bytes], before: int, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / f"bad{suffix}"
    good.write_text("good", "utf-8")
    bad.write_bytes(pack(b"a" * before + b"\xe2\x82 tail"))
    wanted = rf"bad{suffix}: not UTF-8: byte 0xE2 at byte offset {before} "
    for source in (bad, str(bad), [good, bad], tmp_path):
        with pytest.raises(CorpusError, match=wanted):
            train(source)
    says(command("train", str(bad), "-o", str(tmp_path / "o.json")), bad.name, f"byte offset {before} ")
    assert not (tmp_path / "o.json").exists()


def test_a_document_of_bytes_that_is_not_utf8() -> None:
    with pytest.raises(CorpusError, match=r"document 1 is not UTF-8: byte 0xFF at byte offset 2 "):
        train(["a", b"ab\xff"])
    with pytest.raises(CorpusError, match=r"document 0 .* at byte offset 0 .*unexpected end of data"):
        train([b"\xe2\x82"])


def test_a_damaged_xz_is_named(tmp_path: Path) -> None:
    for name, data in (("cut.xz", packed(b"text")[:-3]), ("none.xz", b"no xz")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(CorpusError, match=f"{name}: damaged or truncated .xz"):
            train(tmp_path / name)


def test_encode_files_names_file_and_byte(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("low\nlow<|end|>", "utf-8")
    bad.write_bytes(b"abc\xffde")
    with pytest.raises(CorpusError, match=r"bad.txt: invalid UTF-8 at byte 3"):
        TOK.encode_files([good, bad], special="text")
    with pytest.raises(syllabary.SyllabaryError, match=r"good.txt, document 1: .* at character 3"):
        TOK.encode_files(good, separator="\n")
    with pytest.raises(FileNotFoundError, match=r"nowhere.txt"):
        TOK.encode_files([good, tmp_path / "nowhere.txt"], special="text")
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        TOK.encode_files(tmp_path)


def test_missing_files_and_folders_without_files(tmp_path: Path) -> None:
    for source in (
        "nowhere.txt",
        Path("nowhere.txt"),
        [Path("nowhere.txt")],
        "nowhere.txt.xz",
        "nowhere.xml",
    ):
        with pytest.raises(FileNotFoundError) as caught:
            train(source)
        assert str(caught.value.filename).startswith("nowhere")
    (tmp_path / "sub").mkdir()
    with pytest.raises(CorpusError, match=f"{tmp_path.name}: the folder does not hold a file"):
        train(tmp_path)
    says(command("train", "nowhere.txt", "-o", str(tmp_path / "o.json")), "nowhere.txt: No such file")
    says(command("train", str(tmp_path), "-o", str(tmp_path / "o.json")), "does not hold a file")


@pytest.mark.skipif(os.name == "nt", reason="links and modes are POSIX's")
def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "loop.txt").symlink_to("loop.txt")
    (tmp_path / "secret.txt").touch(0o000)
    for call in (train, TOK.encode_files):
        with pytest.raises(OSError, match=r"symbolic links: '.*loop.txt'"):
            call(tmp_path / "loop.txt")
        if os.geteuid() != 0:  # who may read everything
            with pytest.raises(PermissionError, match=r"secret.txt"):
                call(tmp_path / "secret.txt")
    says(command("train", str(tmp_path / "loop.txt"), "-o", str(tmp_path / "o.json")), "loop.txt: ")


# ---- text ----


@given(lone_surrogates())
def test_a_lone_surrogate_is_found_where_it_is(case: tuple[str, int]) -> None:
    text, index = case
    for encode in ENCODERS:
        with pytest.raises(TextError, match=rf"lone surrogate .*at character {index}\b"):
            encode(text)
    for encode in BATCH_ENCODERS:
        with pytest.raises(TextError, match=rf"text 1 of the batch: lone surrogate .*at character {index};"):
            encode(["a", text])
    with pytest.raises(TextError, match=rf"document 2: lone surrogate .*at character {index};"):
        train(["a", b"b", text])


def test_the_document_with_a_surrogate_is_counted_over_batches_and_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a" * (3 << 20), "utf-8")
    source = [*["a"] * 20_000, tmp_path / "a.txt", "b", "x\ud800"]
    with pytest.raises(TextError, match=r"document 20002: lone surrogate U[+]D800 at character 1;"):
        train(source)


@pytest.mark.parametrize("split", ["whitespace", "whitespace-split", "none"])
def test_text_that_holds_the_end_of_word_mark(split: str, tmp_path: Path) -> None:
    """Whether or not the split cuts the mark, and where a file is read in parts."""
    options = {"unit": "char", "end_of_word": "</w>", "num_merges": 1, "split": split}
    with pytest.raises(TrainingError, match="document 1 holds the end_of_word mark '</w>' at character 3"):
        train(["a", "é b</w>"], **options)
    file = tmp_path / "a.txt"
    for place in ((1 << 20) - 2, (1 << 20) + 5, (2 << 20) - 1):
        file.write_text("b" * place + "</w> c", "utf-8")
        with pytest.raises(TrainingError, match=f"document 1 .* at character {place}: choose another"):
            train(["a", file], **options)


# ---- special tokens ----


@pytest.mark.parametrize(
    "tokens, message",
    [
        (["<s>", "<s>"], "'<s>' is given twice"),
        (["<s>", ""], "special token 1 is empty"),
        (["e"], "'e' has the bytes of an ordinary token"),
    ],
)
def test_special_tokens_that_collide(tokens: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match=message):
        train(special_tokens=tokens)
    special = [part for token in tokens for part in ("--special", token)]
    says(command("train", "-", "-o", str(tmp_path / "o.json"), *special, stdin=b"low low"), message)
    assert list(tmp_path.iterdir()) == []


def test_a_special_token_equal_to_one_that_is_learned() -> None:
    with pytest.raises(VocabularyError, match="'low' has the bytes of an ordinary token"):
        train(special_tokens=["low"], like="rustbpe")


# ---- patterns ----


@pytest.mark.parametrize(
    "pattern, message",
    [
        ("(a", "without closing"),
        ("[z-a]", "invalid character class range"),
        (r"\p{Foo}", "property not found"),
        (r"a(*ACCEPT)", "[Bb]acktracking control verbs"),
        (r"(?P>x)", "[Ss]ubroutine"),
        (r"\X+", r"\\X"),
        (r"(?|a|b)", r"\(\?\|"),
        ("", "empty string"),
        ("a*", "empty string"),
        (r"\b", "empty string"),
        (r"a|(?=b)", "empty string"),
    ],
)
def test_patterns_that_cannot_be_used(pattern: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(PatternError, match=message) as caught:
        train(split=pattern)
    assert isinstance(caught.value, ValueError)
    assert pattern in str(caught.value).replace("\\\\", "\\")
    says(
        command("train", "-", "-o", str(tmp_path / "o.json"), "--split", pattern, stdin=b"a"), "split pattern"
    )


def test_a_pattern_that_gives_up_on_a_text() -> None:
    pattern = r"(?:(a)|a)+\1b|c"
    with pytest.raises(PatternError, match=r"gave up at .* backtracking"):
        train(["a" * 80], split=pattern)
    tok = train(["c aa"], split=pattern, num_merges=0)
    with pytest.raises(PatternError, match=r"gave up at character \d+ of the text: .* backtracking"):
        tok.encode("é c " + "a" * 80)
    with pytest.raises(PatternError, match=r"text 1 of the batch: .* gave up"):
        tok.encode_batch(["c", "a" * 80])


def test_a_split_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(SplitError, match=r"unknown split 'gtp2'; known: .*gpt2, gpt4"):
        train(split="gtp2")
    done = command("train", "-", "-o", str(tmp_path / "o.json"), "--split", "gtp2", stdin=b"a")
    says(done, "unknown split 'gtp2'", "hint: ")


# ---- ids ----


@pytest.mark.parametrize("wild", [-1, 262, 2**32, 2**70, -(2**70)])
def test_ids_that_are_no_token(wild: int) -> None:
    message = rf"id {wild}\b"
    for decode in (TOK.decode, TOK.decode_bytes):
        with pytest.raises(UnknownTokenError, match=rf"{message} at index 1\b"):
            decode([97, wild])
    with pytest.raises(UnknownTokenError, match=rf"sequence 1 of the batch: {message} at index 0\b"):
        TOK.decode_batch([[97], [wild]])
    with pytest.raises(KeyError, match=rf"{message} .* last id is 261"):
        TOK.id_to_token(wild)
    with pytest.raises(UnknownTokenError, match=rf"{message} at index 0\b"):
        TOK.decoder().push(wild)
    if abs(wild) < 2**63:
        with pytest.raises(UnknownTokenError, match=rf"{message} at index 1\b"):
            TOK.decode(np.array([97, wild]))


@pytest.mark.parametrize("wrong", [True, 97.0, "97", None, b"a", np.float64(97), np.bool_(True), [97]])
def test_ids_that_are_no_integers(wrong: Any) -> None:
    for decode in (TOK.decode, TOK.decode_bytes):
        with pytest.raises(TypeError, match="index 1 is a"):
            decode([97, wrong])
    with pytest.raises(TypeError, match="sequence 1 of the batch: ids must be integers; index 0 is a"):
        TOK.decode_batch([[97], [wrong]])
    with pytest.raises(TypeError, match=r"token_id is .*: give an integer"):
        TOK.id_to_token(wrong)
    for pushed in [[wrong]] if isinstance(wrong, list) else [wrong, [wrong]]:
        with pytest.raises(TypeError, match=r"at index 0 is of type .*: ids are integers"):
            TOK.decoder().push(pushed)


@pytest.mark.parametrize(
    "array",
    [
        np.array([1.5]), np.array(["a"]), np.array([True]), np.array([97], object), np.array([[97]]),
        np.array(97), np.array([97], "M8[s]"),
    ],
)  # fmt: skip
def test_arrays_of_another_type_or_shape(array: Any) -> None:
    for decode in (TOK.decode, TOK.decode_bytes):
        with pytest.raises(
            TypeError, match=r"ids are an array of .* with shape .*: give integers, shape \(n,\)"
        ):
            decode(array)


@pytest.mark.parametrize("wrong", [5, None, "97", b"a"])
def test_what_is_no_sequence_of_ids(wrong: Any) -> None:
    for decode in (TOK.decode, TOK.decode_bytes):
        with pytest.raises(TypeError, match="ids must be an iterable of integers, not"):
            decode(wrong)
    with pytest.raises(TypeError, match="batch"):
        TOK.decode_batch(wrong)


def test_strict_decoding_names_the_byte(tmp_path: Path) -> None:
    with pytest.raises(TextError, match="invalid UTF-8 at byte 1 "):
        TOK.decode([97, 128], errors="strict")
    TOK.save(tmp_path / "t.json")
    says(command("decode", "-t", str(tmp_path / "t.json"), "--errors", "strict", "97 128"), "at byte 1 ")


def test_every_error_of_ours_is_a_built_in_too() -> None:
    kinds = [kind for kind in vars(syllabary.errors).values() if isinstance(kind, type)]
    ours = [kind for kind in kinds if issubclass(kind, SyllabaryError) and kind is not SyllabaryError]
    assert len(ours) > 10
    assert all(issubclass(kind, (ValueError, KeyError, OSError)) for kind in ours)
