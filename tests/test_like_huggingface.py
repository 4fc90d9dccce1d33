"""`train(like="huggingface")`: the file that is saved is the very `tokenizer.json` that their library saves.

The released tokenizers is the judge, told the same: over all options and components mixed at random, from
files and from documents, and on real text. Leaves out: the trainer alone (`test_train_huggingface`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import lzma
import random
import re
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from huggingface_trainers import (
    BYTE_LEVEL,
    all_options,
    determined,
    documents,
    learned,
    metaspace,
    ours,
    peer,
    same,
    saved,
    theirs,
)
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

import syllabary
from syllabary.cli import main
from syllabary.corpus.corpus import Corpus
from syllabary.corpus.document import Reading
from syllabary.counts import PieceCounts
from syllabary.errors import CorpusError, EarlyStopWarning, SyllabaryError, TextError, TrainingError
from syllabary.formats.hf_given import component
from syllabary.training.huggingface_options import read_option

CORPORA = ("chinese", "code", "english", "greek", "japanese", "latin", "multilingual")


# ---- whole files ----


@pytest.mark.parametrize("part", range(4))
def test_options_at_random(part: int, tmp_path: Path, prove: bool) -> None:
    made = 0
    for seed in range(3000 if prove else 30):
        source = random.Random(f"file {part} {seed}")
        texts = documents(source)
        options = determined(texts, all_options(source))
        expected = theirs(texts, options)
        names = learned(expected)[0]
        if len(names) > options["vocab_size"] or not set("".join(texts)) - set(" \t\n\r\u2028\u00a0"):
            # A vocabulary smaller than its alphabet, perhaps no word at all: errors here alone.
            with contextlib.suppress(CorpusError, TrainingError):
                assert saved(ours(texts, options), tmp_path) == expected
            continue
        file = saved(ours(texts, options, threads=1 + seed % 2), tmp_path)
        assert file == expected or same(texts, options, file), (seed, texts, options)
        made += 1
    assert made > (40 if prove else 18)


@pytest.mark.parametrize("part", range(4))
def test_the_plain_call(part: int, tmp_path: Path, prove: bool) -> None:
    """Without options: from documents, iterators and files; where names come again, and where none does."""
    ways = Counter[tuple[str, bool]]()
    for seed in range(2000 if prove else 60):
        source = random.Random(f"plain {part} {seed}")
        texts = documents(source)
        way = source.choice(["documents", "iterator", "path", "paths"])
        path = tmp_path / "corpus.txt"
        path.write_bytes("".join(texts).encode())
        given: dict[str, Any] = {
            "documents": texts, "iterator": iter(texts), "path": str(path), "paths": [path]
        }  # fmt: skip
        told: dict[str, Any] = {
            "vocab_size": source.choice([30, 60, 90]),
            "special_tokens": source.sample(["<s>", "a", "ab", "Ġa", "é", "aa"], source.choice([0, 0, 2])),
        }
        if source.random() < 0.3:
            told["max_token_length"] = source.choice([1, 2, 3, 4, 5, 8])
        split = source.choice(["gpt2", None])
        options = told | {"pre_tokenizer": BYTE_LEVEL | {"use_regex": split is not None}}
        expected = theirs(path if way.startswith("path") else texts, options)
        tok = ours(given[way], None, split=split, threads=1 + seed % 2, **told)
        assert saved(tok, tmp_path) == expected, (seed, way, texts, options)
        loaded = syllabary.load(tmp_path / "tokenizer.json").spec
        assert dataclasses.replace(tok.spec, record={}) == loaded
        ways[way, "options" in tok.spec.record] += 1
    assert ways.keys() >= {("documents", True), ("documents", False), ("paths", True), ("paths", False)}


def test_from_a_table_of_counts(tmp_path: Path) -> None:
    """Of files by lines; where names come again too; with options, if it has the words of the set-up."""
    path = tmp_path / "corpus.txt"
    path.write_bytes(b"aaab abab\n\nab aab\n" * 3)
    table = PieceCounts.of(path, like="huggingface")
    for told in ({"vocab_size": 9}, {"vocab_size": 30, "special_tokens": ["ab"]}):
        expected = theirs(path, told)
        assert saved(ours(table, None, **told), tmp_path) == expected
        assert saved(ours(table, told), tmp_path) == expected
    with pytest.raises(TrainingError, match="another rule"):
        ours(table, {"pre_tokenizer": "Whitespace"})


def test_special_tokens_share_ids(tmp_path: Path) -> None:
    """One that is a character is that character; one that merging makes is what was made."""
    texts = ["the cat", "the hat"] * 3
    file = saved(ours(texts, None, vocab_size=20, special_tokens=["a", "the"]), tmp_path)
    assert file == theirs(texts, {"vocab_size": 20, "special_tokens": ["a", "the"]})
    names, merges = learned(file)
    assert names[:2] == ["a", "the"]
    assert ("th", "e") in merges or ("t", "he") in merges


def test_files_come_by_lines(tmp_path: Path) -> None:
    """`\\n\\n` crosses no line; in a document it does, and where documents are asked for."""
    text = "a b\r\n\n\nb a\n\n" * 9
    path = tmp_path / "corpus.txt"
    path.write_bytes(text.encode())
    by_lines = saved(ours([path], {"vocab_size": 20}), tmp_path)
    assert by_lines == theirs(path, {"vocab_size": 20})
    assert "ĊĊ" not in learned(by_lines)[0]
    whole = theirs([text], {"vocab_size": 20})
    assert "ĊĊ" in learned(whole)[0]
    assert saved(ours([text], {"vocab_size": 20}), tmp_path) == whole
    assert saved(ours(iter([path]), {"vocab_size": 20}), tmp_path) == whole
    separated = Corpus([path], Reading(separator="<end>"))
    assert saved(ours(separated, {"vocab_size": 20}), tmp_path) == whole


def test_a_folder_is_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name, text in (("a.txt", "to be\n\nor not"), ("b.txt", " to be\n")):
        (folder / name).write_text(text, encoding="utf-8")
    tokenizer, trainer = peer({"vocab_size": 20})
    tokenizer.train([str(folder / "a.txt"), str(folder / "b.txt")], trainer)
    assert saved(ours(folder, {"vocab_size": 20}), tmp_path) == tokenizer.to_str(pretty=True)


# ---- real text ----

SETUPS: dict[str, dict[str, Any]] = {
    "bytes": {"special_tokens": ["<|endoftext|>"]},
    "words": {"pre_tokenizer": {"type": "Whitespace"}, "special_tokens": ["[UNK]"], "unk_token": "[UNK]"},
    "spaces": {
        "pre_tokenizer": metaspace("▁", "first", True), "decoder": metaspace("▁", "first", True),
        "normalizer": {"type": "NFKC"}, "min_frequency": 2, "max_token_length": 16,
    },
    "lower": {
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "initial_alphabet": ["a", "é", "漢"],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}]},
    },
}  # fmt: skip


@pytest.mark.parametrize("corpus", CORPORA)
def test_real_text(corpus: str, shared: Path, tmp_path: Path, prove: bool) -> None:
    """Every set-up on all of it where everything is to be proved, else one on a part."""
    with lzma.open(shared / "corpora" / f"{corpus}.txt.xz") as file:
        data = file.read(5_000_000 if prove else 100_000)
    path = tmp_path / "corpus.txt"
    path.write_text(data.decode("utf-8", "ignore"), encoding="utf-8", newline="")
    chosen = list(SETUPS) if prove else [list(SETUPS)[CORPORA.index(corpus) % len(SETUPS)]]
    for name in chosen:
        options = SETUPS[name] | {"vocab_size": 20_000 if prove else 6000}
        expected = theirs(path, options)
        assert saved(ours(path, options, threads=2), tmp_path) == expected, name
        assert len(learned(expected)[1]) > 500
    plain = ours(path, None, vocab_size=2000, special_tokens=["<s>"])
    assert saved(plain, tmp_path) == theirs(path, {"vocab_size": 2000, "special_tokens": ["<s>"]})


# ---- what options may be ----

START = syllabary.train(["ab"], num_merges=0)


def constructors() -> Iterable[tuple[str, str, Any]]:
    """Every component of their library that can be made of nothing: place, name, the component."""
    modules = {
        "normalizer": normalizers, "pre_tokenizer": pre_tokenizers, "decoder": decoders,
        "post_processor": processors,
    }  # fmt: skip
    for place, module in modules.items():
        for name in sorted(vars(module)):
            try:
                yield place, name, getattr(module, name)()
            except TypeError:
                continue


def test_a_name_is_what_their_constructor_makes() -> None:
    seen = []
    for place, name, made in constructors():
        tokenizer = Tokenizer(models.BPE())
        try:
            setattr(tokenizer, place, made)
        except TypeError:  # no component: `DecodeStream`, and types that are imported there
            continue
        expected = json.loads(tokenizer.to_str())[place]
        found = component(place, name, Path("options"))
        assert found == expected
        assert found is None or list(found) == list(expected)
        seen.append(name)
    assert len(seen) > 25


def test_names_and_lists_are_components(tmp_path: Path) -> None:
    options = {
        "normalizer": ["NFD", "StripAccents"],
        "pre_tokenizer": ["Whitespace", "Digits"],
        "vocab_size": 30,
    }
    written = {
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Whitespace"}, {"type": "Digits", "individual_digits": False}]},
    }  # fmt: skip
    texts = ["né 12 ne", "ne 21"]
    assert saved(ours(texts, options), tmp_path) == theirs(texts, written)


def test_all_bytes_may_be_the_alphabet(tmp_path: Path) -> None:
    given = {"vocab_size": 260, "initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}
    expected = theirs(["abab"], given)
    assert saved(ours(["abab"], given), tmp_path) == expected
    assert saved(ours(["abab"], given | {"initial_alphabet": "ByteLevel"}), tmp_path) == expected
    assert saved(ours(["abab"], None, vocab_size=260, alphabet="all"), tmp_path) == expected


def test_arguments_are_options_too(tmp_path: Path) -> None:
    texts = ["ÅB ab abc"] * 3
    told = {"vocab_size": 20, "special_tokens": ["<s>"], "min_frequency": 2, "max_token_length": 3}
    expected = theirs(texts, told | {"normalizer": {"type": "NFKD"}})
    assert saved(ours(texts, {"end_of_word_suffix": None}, normalize="NFKD", **told), tmp_path) == expected


@pytest.mark.parametrize(
    "options, arguments, error, says",
    [({"vocabulary": 3}, {}, TrainingError, r"'vocabulary' is none of vocab_size, min_frequency"),
     ({"show_progress": True}, {}, TrainingError, "'show_progress' is none of"),
     ({"vocab_size": 9}, {"vocab_size": 9}, TrainingError, "given as vocab_size= too"),
     ({"normalizer": "NFC"}, {"normalize": "NFC"}, TrainingError, "given as normalize= too"),
     ({}, {"split": "gpt2"}, TrainingError, "split does not go with"),
     ({}, {"fallback": True}, TrainingError, "fallback does not go with"),
     ({}, {"num_merges": 3}, TrainingError, "num_merges does not go with"),
     ({}, {"start": START}, TrainingError, "start does not go with"),
     ({"vocab_size": 2.5}, {}, TypeError, "vocab_size is 2.5"),
     ({"vocab_size": -1}, {}, TrainingError, "vocab_size is -1"),
     ({"vocab_size": 2**64}, {}, TrainingError, "is the most"),
     ({"limit_alphabet": "3"}, {}, TypeError, "limit_alphabet is '3'"),
     ({"end_of_word_suffix": 3}, {}, TypeError, "end_of_word_suffix is 3"),
     ({"initial_alphabet": "abc"}, {}, TypeError, "initial_alphabet"),
     ({"special_tokens": "<s>"}, {}, TypeError, "special_tokens"),
     ({"special_tokens": [{"text": "a"}]}, {}, TrainingError, "'text' is none of content"),
     ({"special_tokens": [{"lstrip": True}]}, {}, TrainingError, "'content' is missing"),
     ({"special_tokens": [{"content": "a", "lstrip": 1}]}, {}, TypeError, "lstrip is 1"),
     ({"special_tokens": ["a", "a"]}, {}, SyllabaryError, "given twice"),
     ({"unk_token": 3}, {}, TypeError, "unk_token is 3"),
     ({"fuse_unk": "yes"}, {}, TypeError, "fuse_unk is 'yes'"),
     ({"dropout": 2}, {}, TrainingError, "dropout is 2"),
     ({"unk_token": "\ud800"}, {}, TextError, "unk_token"),
     ({"pre_tokenizer": "Nothing"}, {}, TrainingError, "unknown pre-tokenizer 'Nothing'"),
     ({"pre_tokenizer": ["Digits", 3]}, {}, TrainingError, r"pre_tokenizer\[1\]"),
     ({"pre_tokenizer": {"type": "Split"}}, {}, TrainingError, "'pattern' is missing"),
     ({"normalizer": {"type": "NFC", "form": 1}}, {}, TrainingError, "unknown key 'form'"),
     ({"normalizer": {"form": 1}}, {}, TrainingError, "normalizer"),
     ({"post_processor": "Nothing"}, {}, TrainingError, "post_processor"),
     ({"post_processor": "BertProcessing"}, {}, TrainingError, "'sep' is missing")],
)  # fmt: skip
def test_options_that_cannot_be(
    options: dict[str, Any], arguments: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        syllabary.train(["ab a"], like="huggingface", options=options, **arguments)


@pytest.mark.parametrize(
    "source, options, error, says",
    [([], {}, CorpusError, "empty"), (["", "  "], {"pre_tokenizer": "Whitespace"}, CorpusError, "empty"),
     (["a", "b\ud800"], {}, TextError, "document 1"),
     (["abc"], {"vocab_size": 2}, TrainingError, "alphabet has 3 symbols .* set it to 3 or more")],
)  # fmt: skip
def test_corpora_that_cannot_be(
    source: list[str], options: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        ours(source, options)


def test_an_early_stop_is_said_where_the_caller_is() -> None:
    cases = [(["ab b"], {}), (["ab b"], None), (iter(["ab b"]), None), (["aaaa"], None)]
    for source, options in cases:
        with pytest.warns(EarlyStopWarning, match="ended .*a vocabulary of [35]") as caught:
            syllabary.train(source, 99, like="huggingface", options=options)
        assert [one.filename for one in caught] == [__file__]


def test_progress_and_record() -> None:
    told: list[Any] = []
    tok = ours(["ab ab b"] * 9, {"vocab_size": 5, "min_frequency": 2}, progress=told.append)
    assert {one.stage for one in told} == {"counting", "merging"}
    assert tok.spec.record["options"] == {"vocab_size": 5, "min_frequency": 2}
    assert (tok.spec.record["corpus_bytes"], tok.spec.record["counts"]) == (63, [18, 9])
    assert told[-1].done == 2


def test_unknown_characters_go_in_silence_there_and_are_errors_here(tmp_path: Path) -> None:
    """Their trainer knows nothing of `unk_token`; the model drops what it does not know."""
    options = {"vocab_size": 9, "unk_token": "<unk>", "pre_tokenizer": "Whitespace"}
    tok = ours(["ab ab"], options)
    file = saved(tok, tmp_path)
    assert "<unk>" not in learned(file)[0]
    assert json.loads(file)["model"]["unk_token"] == "<unk>"
    with pytest.raises(syllabary.UnknownSymbolError):
        tok.encode("abx")


# ---- the command line ----


@pytest.mark.parametrize(
    "name, text, value",
    [("vocab_size", "30", 30), ("vocab_size", "x", "x"), ("dropout", "0.5", 0.5), ("fuse_unk", "True", True),
     ("fuse_unk", "1", "1"), ("special_tokens", "<s>,a", ("<s>", "a")),
     ("special_tokens", '["a,b"]', ["a,b"]),
     ("initial_alphabet", "ByteLevel", "ByteLevel"), ("unk_token", "null", None), ("unk_token", "{", "{"),
     ("pre_tokenizer", '{"type": "Digits"}', {"type": "Digits"}), ("nothing", "x", "x")],
)  # fmt: skip
def test_options_are_read_from_text(name: str, text: str, value: object) -> None:
    assert read_option(name, text) == value


def run(*arguments: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyStopWarning)
        return CliRunner().invoke(main, ["train", *arguments])


def test_on_the_command_line(working_folder: Path) -> None:
    Path("c.txt").write_text("to be\n\nor not to be", encoding="utf-8")
    options = ["vocab_size=30", "pre_tokenizer=Whitespace", "special_tokens=<s>,[UNK]", "unk_token=[UNK]"]
    pairs = [part for option in options for part in ("--option", option)]
    result = run("c.txt", "-o", "t.json", "--like", "huggingface", "-q", *pairs)
    assert result.exit_code == 0, result.output
    expected = theirs(Path("c.txt"), {
        "vocab_size": 30, "pre_tokenizer": {"type": "Whitespace"}, "special_tokens": ["<s>", "[UNK]"],
        "unk_token": "[UNK]",
    })  # fmt: skip
    assert Path("t.json").read_text(encoding="utf-8") == expected


@pytest.mark.parametrize(
    "arguments, says",
    [(["--option", "split=gpt2"], "--option: 'split' is none of"),
     (["--option", "vocab_size=9", "--split", "o200k"], "--split does not go with --like huggingface and"),
     (["--option", "pre_tokenizer=Whitespace", "-o", "t.tiktoken"], "tiktoken")],
)  # fmt: skip
def test_errors_in_the_words_of_the_command_line(
    arguments: list[str], says: str, working_folder: Path
) -> None:
    Path("c.txt").write_text("to be", encoding="utf-8")
    result = run("c.txt", "-o", "t.json", "--like", "huggingface", *arguments)
    assert result.exit_code == 1
    assert says in result.output


@pytest.mark.parametrize(
    "tool, option",
    [*(("huggingface", option) for option in (
        "dropout=abc", "byte_fallback=maybe", "special_tokens=[1]", "max_token_length=abc",
        "limit_alphabet=1.5", "min_frequency=x",
     )),
     *(("sentencepiece", option) for option in ("byte_fallback=maybe", "character_coverage=x", "unk_id=x"))],
)  # fmt: skip
def test_a_value_of_another_type_is_wrong_usage(tool: str, option: str, working_folder: Path) -> None:
    Path("c.txt").write_text("to be", encoding="utf-8")
    result = run("c.txt", "-o", "t.json", "--like", tool, "--option", option)
    assert result.exit_code == 2
    assert re.match(rf"error: .*--option: {option.partition('=')[0]}.*: give ", result.output)
    assert "give bool" not in result.output
