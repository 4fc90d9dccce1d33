"""The words of the command line: sentences that name options, a help that fits, refusals before training.

Leaves out: what the verbs do (test_cli).
"""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from test_cli import TEXT, run

import syllabary
from syllabary.cli import VERBS, main, words

SENTENCEPIECE = ["--like", "sentencepiece", "--option"]
LONGEST = "max_sentencepiece_length=9"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a corpus and a tokenizer that has a special token."""
    monkeypatch.chdir(tmp_path)
    Path("corpus.txt").write_text(TEXT, encoding="utf-8")
    syllabary.train([TEXT], vocab_size=300, special_tokens=["<|end|>"]).save("tok.json")
    return tmp_path


@pytest.mark.parametrize(
    "args, sentence",
    [
        (["-o", "a.json", "--unit", "word"], "tokenizer.json cannot hold tokens whose symbols are whole"),
        (
            ["-o", "a.json", "--unit", "char", "--end-of-word", "</w>", "--fallback"],
            "tokenizer.json cannot hold a fallback to bytes together with an end-of-word mark",
        ),
        (["-o", "a.tiktoken", "--unit", "char"], "tiktoken cannot hold tokens of the unit 'char'"),
        (["-o", "a", "--format", "tiktoken", "--like", "huggingface"], "without all 256 bytes (--like "),
        (["-o", "a", "--format", "tekken"], "the format tekken is read only; write one of syllabary"),
        (["-o", "a.unknown"], "end the name in, or give --format, one of syllabary (.syllabary.json)"),
    ],
)
def test_what_cannot_be_saved_is_refused_before_training(
    folder: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], sentence: str
) -> None:
    monkeypatch.setattr(syllabary, "train", None)  # calling it would be a TypeError
    result = run("train", "corpus.txt", *args)
    assert result.exit_code == 1, result.output
    assert sentence in result.stderr


@pytest.mark.parametrize(
    "args, says",
    [
        (
            ["encode", "-t", "corpus.txt", "x"],
            "sentencepiece, sentencepiece-vocab, subword-nmt, gguf, youtokentome, tiktoken)\n",
        ),
        (["encode", "-t", "bare.tiktoken", "x"], "give --split, a pattern or one of"),
        (["encode", "-t", "tok.json", "--split", "gpt2", "x"], "leave out --split"),
        (["encode", "-t", "tok.json", "a<|end|>"], "the special token '<|end|>' at character 1\n\nhint: "),
        (
            ["encode", "-t", "tok.json", "a\udcff"],
            "at character 1, which is no Unicode text: arguments are read as UTF-8, and this one is not",
        ),
        (
            ["train", "corpus.txt", "-o", "a.json", "--special", "a\udcff"],
            "special token 0: lone surrogate U+DCFF at character 1: arguments are read as UTF-8",
        ),
        (
            ["train", "corpus.txt", "-o", "a.json", "--vocab-size", "9", "--special", "<s>"],
            "and there is 1 special token: set it",
        ),
        (
            ["train", "corpus.txt", "-o", "a.json", "--option", "a=1"],
            "--like sentencepiece or huggingface, or with --model wordpiece or wordlevel\n",
        ),
        (["encode", "-t", "few.json", "xyz"], "with all bytes, or with --fallback"),
        (["train", "corpus.txt", "-o", "a.json", "--fallback"], "--fallback needs --unit char or word"),
        (
            ["train", "corpus.txt", "-o", "a.json", "--end-of-word", "_"],
            "--end-of-word '_' needs --unit char",
        ),
        (["train", "corpus.txt", "-o", "a.json", "--like", "me"], "--like 'me' is none of huggingface"),
        (["train", "corpus.txt", "-o", "a.json", "--vocab-size", "9"], "--vocab-size is 9, but"),
        (
            ["train", "corpus.txt", "-o", "a.json", "--vocab-size", "300", "--num-merges", "9"],
            "set one of --vocab-size (now 300) and --num-merges (now 9)",
        ),
        (
            ["encode", "-t", "unigram.json", "--dropout", "0.5", "a"],
            "--dropout 0.5 passes over merges, and model='unigram' has none; from Python, tok.sample",
        ),
        (
            ["train", "corpus.txt", "-o", "a.model", "--model", "word"],
            "--model word is sentencepiece's: give --like sentencepiece too, or --model wordlevel",
        ),
        (
            ["train", "corpus.txt", "-o", "a.json", "--superwords", "400", "--vocab-size", "300"],
            "--superwords is 400, above --vocab-size 300",
        ),
        (
            ["train", "corpus.txt", "-o", "a.json", "--superwords", "400", "--sizes", "300,500"],
            "--superwords is 400, above the smallest of --sizes, 300: give the number of tokens from which "
            "on words may join, or --sizes from 400 on",
        ),
        (
            [
                "train",
                "corpus.txt",
                "-o",
                "a.model",
                "--like",
                "sentencepiece",
                "--model",
                "char",
                "--sizes",
                "9,80",
            ],
            "--model char does not go with --sizes: its tokens are the characters of the text, none of which",
        ),
        (
            ["train", "corpus.txt", "-o", "a.json", "--superwords", "300", "--like", "huggingface"],
            "--superwords and --like do not go together: leave --like out",
        ),
        (
            ["train", "corpus.txt", "-o", "a.json", "--superwords", "300", "--model", "unigram"],
            "--superwords does not go with --model unigram: leave it out",
        ),
        (
            ["train", "corpus.txt", "-o", "a.json", "--superwords", "300", "--resume"],
            "--superwords and --resume do not go together",
        ),
        (
            [
                "train",
                "corpus.txt",
                "-o",
                "a.json",
                "--superwords",
                "300",
                "--unit",
                "char",
                "--end-of-word",
                "_",
            ],
            "--superwords does not go with --end-of-word: words are joined from bytes or characters",
        ),
        (
            ["train", "corpus.txt", "few.txt", "-o", "a.syllabary.json", "--parity", "--unit", "word"],
            "--unit word does not go with several languages: their texts stand in no order",
        ),
        (
            ["train", "corpus.txt", "-o", "a.json", "--like", "minbpe", "--model", "unigram"],
            "--like 'minbpe' trains no --model unigram: only --like sentencepiece and --like huggingface do",
        ),
        (
            ["train", "corpus.txt", "-o", "a.json", "--model", "wordpiece", "--unit", "char"],
            "--unit does not go with --model wordpiece: say it with --option, as pre_tokenizer=Whitespace",
        ),
        (
            ["train", "corpus.txt", "-o", "a.json", "--start", "unigram.json"],
            "--start cannot be continued: its model is 'unigram'",
        ),
        (["edit", "th.json", "-o", "a.json", "--remove", "he"], "remove it too, or give --cascade"),
        (["edit", "th.json"], "nothing is asked for: say what to change, or give --unreachable"),
        (
            ["edit", "tok.json", "-o", "a.b", "--add", "x y"],
            "a.b: the suffix says no format; end the name in one",
        ),
        (["convert", "tok.json", "a.b"], "end the name in, or give --to, one of syllabary"),
        (
            ["convert", "tok.json", "a.tiktoken"],
            "lost: the split ('o200k'): name it in --split to keep the ids",
        ),
        (
            ["convert", "tok.json", "a.tiktoken", "--strict"],
            "1 special token: load it from Python, with special_tokens=, to keep the ids",
        ),
        (
            ["convert", "none", "a.json"],
            "hint: a tokenizer is given as its file or folder, or by a name",
        ),
        (
            ["decode", "-t", "tok.json", "--errors", "strict", "255"],
            "at byte 0 (invalid start byte)\n\nhint: ",
        ),
        (
            ["chunk", "-t", "tok.json", "--max-tokens", "1", "corpus.txt"],
            "corpus.txt: --max-tokens is 1: the ",
        ),
        (["train", "few.txt", "-o", "few.json"], "warning: no pair is left that occurs 2 times (--min-freq"),
        (
            ["train", "corpus.txt", "-o", "a.json", "--max-token-length", "1"],
            "2 times (--min-frequency) and makes no more than 1 symbol (--max-token-length): training",
        ),
        (
            ["train", "corpus.txt", "few.txt", "-o", "a.json", "--parity", "--resume"],
            "--parity and --resume do not go together",
        ),
        (
            ["train", "corpus.txt", "few.txt", "-o", "a.json", "--parity", "--memory-limit", "1GB"],
            "--parity and --memory-limit do not go together: the distinct pieces of all languages are merged "
            "in memory; leave --memory-limit out. If it is counting that takes too much, count each language "
            "with `syllabary count-pieces --memory-limit`, and give the tables as FILES",
        ),
        (
            ["train", "corpus.txt", "-o", "a.model", *SENTENCEPIECE, "model_type=unigram"],
            "--option: model_type is 'unigram', but --model is 'bpe': give --model unigram instead",
        ),
        (
            ["train", "corpus.txt", "-o", "a.model", *SENTENCEPIECE, "unk_id=-1"],
            "without a piece for the unknown, give --option byte_fallback=true",
        ),
        (
            ["train", "corpus.txt", "-o", "a.model", "--max-token-length", "9", *SENTENCEPIECE, LONGEST],
            "is given as --max-token-length too: give one of them",
        ),
        (
            ["train", "corpus.txt", "-o", "a.model", "--special", "a", *SENTENCEPIECE, "control_symbols=b"],
            "--option: 'control_symbols' is given as --special too: give one of them",
        ),
        (
            ["train", "corpus.txt", "-o", "a.model", "--fallback", *SENTENCEPIECE, "byte_fallback=1"],
            "--option: 'byte_fallback' is given as --fallback too: give one of them",
        ),
        (
            ["train", "corpus.txt", "-o", "a.model", *SENTENCEPIECE, "unk_id=1", "--option", "unk_id=2"],
            "Invalid value for --option: 'unk_id' is given twice",
        ),
        (
            ["train", "corpus.txt", "-o", "a.model", "--like", "sentencepiece", "--vocab-size", "9"],
            "or more, or lower --option character_coverage=F",
        ),
        (
            ["train", "corpus.txt", "-o", "a.model", "--like", "sentencepiece", "--vocab-size", "9k"],
            "or less, or give --option hard_vocab_limit=false",
        ),
    ],
)
def test_sentences_name_options_not_python(folder: Path, args: list[str], says: str) -> None:
    Path("few.txt").write_text("abc", encoding="utf-8")
    syllabary.train(["abc"], num_merges=0, unit="char").save("few.json")
    syllabary.train([TEXT], vocab_size=256).save("bare.tiktoken")
    if "th.json" in args:
        syllabary.train(["the the the"], num_merges=2).save("th.json")
    if "unigram.json" in args:
        syllabary.train([TEXT], 270, model="unigram").save("unigram.json", format="syllabary")
    stderr = run(*args).stderr
    assert says in stderr
    for python in ("=True", "special=", "split=", "format=", "_size", "_merges", "min_", "end_of_word"):
        assert python not in stderr


@pytest.mark.parametrize("verb", [("count",), ("chunk", "--max-tokens", "9")])
def test_a_text_in_place_of_a_file_has_its_way_out(folder: Path, verb: tuple[str, ...]) -> None:
    done = run(*verb, "-t", "tok.json", "some text")
    assert done.stderr.splitlines()[0].startswith(
        "hint: FILES are names of files; a text comes through stdin"
    )
    assert "error: some text: No such file" in done.stderr
    assert done.exit_code == 1
    assert "hint" not in run(*verb, "-t", "tok.json", "nothing.txt").stderr


def test_what_a_model_says_of_its_arguments() -> None:
    for sentence, says in [
        ("top_p is 2.0: give at most 1, or None for all", "--top-p is 2.0: give at most 1"),
        ("temperature is nan: give 0 or more", "--temperature is nan: give 0 or more"),
        ("block_size is 0: give a whole number", "--block-size is 0: give a whole number"),
    ]:
        assert words.spoken(sentence) == says


def test_a_table_cut_otherwise_can_be_told_of(folder: Path) -> None:
    train = ["train", "t.pq", "-o", "w.syllabary.json", "--model", "wordpiece", "--vocab-size", "300"]
    assert run("count-pieces", "corpus.txt", "-o", "t.pq", "--split", "whitespace").exit_code == 0
    _before, _as, advice = run(*train).stderr.strip().partition(", or say how the table was cut, as ")
    assert advice.count("--option ") == 2
    assert run(*train, *advice.split()).exit_code == 0


def test_ways_to_name_a_split(folder: Path) -> None:
    Path("vocab.txt").write_text("[UNK]\n[CLS]\na\n", encoding="utf-8")
    says = "give --split bert-uncased or --split bert-cased, or put"
    assert says in run("encode", "-t", "vocab.txt", "a").stderr
    syllabary.train([TEXT], 260, like="minbpe").save("tok.minbpe")
    stderr = run("convert", "tok.minbpe", "b.vocab.json").stderr
    assert "named in --split it keeps" in stderr
    assert "; --split whitespace-split drops" in stderr
    for sentence, says in [
        ("cut short? with split= it is read as it stands", "cut short? with --split it is read as it stands"),
        (
            "a training under memory_limit, whose counts have no order: tie_break='first-seen' asks for it",
            "a training under --memory-limit, whose counts have no order: --tie-break first-seen asks for it",
        ),
    ]:
        assert words.spoken(sentence) == says


def test_quoted_text_is_not_taken_for_an_option() -> None:
    for sentence in ("vocab_size.txt: byte 0xFF", "not in the alphabet: 'end_of_word'"):
        assert words.spoken(sentence) == sentence


@pytest.mark.parametrize(
    "args, says",
    [
        (["encode", "-t", "tok.json", "é", "a\udcff"], r"the argument 'a\udcff' has a lone surrogate at"),
        (["encode", "-t", "tok.json", "--dropout", "0.1", "\udcff"], r"the argument '\udcff' has a lone"),
        (["inspect", "-t", "tok.json", "é", "a\udcff"], r"the argument 'a\udcff' has a lone surrogate at"),
        (["inspect", "-t", "tok.json", "--steps", "a\udcff"], r"the argument 'a\udcff' has a lone"),
        (["edit", "tok.json", "-o", "b.json", "--add", "é", "--add", "\udcff"], r"--add '\udcff' has a lone"),
        (["edit", "tok.json", "-o", "b.json", "--add-special", "\udcff"], r"--add-special '\udcff' has a"),
        (["train", "corpus.txt", "-o", "b.json", "--split", "\udcff"], "--split: lone surrogate U+DCFF at"),
        (
            ["train", "corpus.txt", "-o", "b.json", "--unit", "char", "--end-of-word", "\udcff"],
            "--end-of-word: lone surrogate U+DCFF at",
        ),
    ],
)
def test_an_argument_that_is_no_utf8_is_named(folder: Path, args: list[str], says: str) -> None:
    result = run(*args)
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith(f"error: {says}")
    assert result.stderr.endswith(
        ": arguments are read as UTF-8, and this one is not; a file may have another encoding\n"
    )
    assert "batch" not in result.stderr


def test_an_encoding_not_here_has_its_way_out_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        monkeypatch.setenv(variable, str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    stderr = run("encode", "-t", "gpt2", "x").stderr
    assert stderr.startswith("error: the file of 'gpt2' is not on this machine")
    assert " at " + str(folder) in stderr
    assert "hint: " not in stderr


@pytest.mark.parametrize("verb", [None, *VERBS])
def test_help_fits_eighty_columns(verb: str | None) -> None:
    context = click.Context(main, info_name="syllabary")
    command = main if verb is None else main.get_command(context, verb)
    assert command is not None
    if verb is not None:
        context = click.Context(command, context, info_name=verb)
    lines = command.get_help(click.Context(command, context.parent, context.info_name, terminal_width=80))
    assert max(map(len, lines.splitlines())) <= 80
    assert "..." not in lines.partition("\n")[2]  # nothing cut short
    assert "[x" not in lines


@pytest.mark.parametrize(
    "args",
    [
        ["demo"],
        ["convert", "tok.json", "new.json", "--sample"],
        ["verify", "tok.json", "--against", "tok.json", "--on"],
        ["inspect", "-t", "tok.json", "--file"],
    ],
)
@pytest.mark.parametrize(
    "name, data, says",
    [
        ("a.txt", b"\xff\x00a\x81", "(--encoding); --errors replace reads it with U+FFFD there"),
        ("a.csv", b"a,b\n1,2\n", "(--column)"),
    ],
)
def test_advice_names_options_that_the_verb_has(
    folder: Path, args: list[str], name: str, data: bytes, says: str
) -> None:
    """How a corpus is to be read can be told to those that read it, not to those that try a tokenizer."""
    Path(name).write_bytes(data)
    result = run(*args, name)
    assert result.exit_code == 1, result.output
    assert f"error: {name}: " in result.stderr
    assert (says in result.stderr) == (args[0] == "inspect")
    assert ("--" in result.stderr) == (args[0] == "inspect")


@pytest.mark.parametrize(
    "option",
    ["input_sentence_size=5", "character_coverage=7", "required_chars=▅", "input_format=z", "unk_id=-1"],
)
def test_an_option_of_sentencepiece_alone_is_named_as_it_was_given(folder: Path, option: str) -> None:
    result = run("train", "corpus.txt", "-o", "a.model", *SENTENCEPIECE, option)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: --option {option.partition('=')[0]} ")
