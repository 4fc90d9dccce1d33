"""Superwords: the engine's stages are the specification's; `encode` gives what training ended with."""

from __future__ import annotations

import os
import random
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import tokenizers
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from strategies import MARKS

import syllabary
from syllabary import splits
from syllabary.cli import main
from syllabary.corpus.corpus import Corpus
from syllabary.counts import PieceCounts
from syllabary.reference import train_superwords as reference
from syllabary.reference.merge import recreated
from syllabary.reference.split import spans
from syllabary.reference.tokenizer import ReferenceTokenizer
from syllabary.reference.train import read_corpus
from syllabary.spec import TrainOptions
from syllabary.training.superwords import train_superwords

ACROSS = splits.get("superwords")
KINDS = "aab bé'sS e\u0301\n\t1!/.-,❤字 "
PHRASES = ["by the way, it is not at all so. by the way, it is so; at all times by the way\n"] * 4


def drawn(seed: int, cases: int = 40) -> Iterator[tuple[list[str], TrainOptions, int]]:
    """Documents, options and where the second stage begins."""
    draw = random.Random(seed)
    for _ in range(cases):
        documents = [
            "".join(draw.choice(KINDS) for _ in range(draw.randint(5, 80))) * draw.randint(1, 3)
            for _ in range(draw.randint(1, 4))
        ]
        options = TrainOptions(
            splits.get(draw.choice(["o200k", "gpt2", "gpt4"])),
            unit=draw.choice(["byte", "char"]),
            alphabet="seen",
            num_merges=draw.randint(1, 40),
            special_tokens=draw.choice([(), ("1!",)]),
            min_frequency=draw.choice([1, 2]),
            tie_break=draw.choice(["smallest-ids", "first-seen", "largest-pair"]),
            max_token_length=draw.choice([None, None, 4]),
            normalize=draw.choice([None, "NFC"]),
        )
        begin = len(read_corpus(documents, options).alphabet) + len(options.special_tokens)
        yield documents, options, begin + draw.randint(0, 20)


@pytest.fixture(autouse=True)
def may_stop_early() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (syllabary.EarlyStopWarning))
        warnings.simplefilter("ignore", (syllabary.CorpusWarning))
        yield


@pytest.mark.parametrize("seed", range(3))
def test_the_engine_is_the_specification(seed: int) -> None:
    for documents, options, superwords in drawn(seed):
        expected = reference.train(documents, options, superwords, ACROSS)
        made = train_superwords(Corpus(documents), options, superwords, threads=2, report=None)
        assert (made.spec.tokens, made.spec.merges) == (expected.tokens, expected.merges)
        assert made.spec.special_tokens == expected.special_tokens
        assert made.spec.split == ACROSS


@pytest.mark.parametrize("seed", range(10, 12))
def test_encode_gives_the_tokens_that_training_ended_with(seed: int) -> None:
    for documents, options, superwords in drawn(seed):
        spec = reference.train(documents, options, superwords, ACROSS)
        *_rest, places = reference.stages(documents, options, superwords, ACROSS)
        ended = Counter[int]()
        for at in range(len(places.ids)):
            if places.before[at] == -1:
                for token in places.sequence(at):
                    ended[token] += places.times[at]
        specials = set(spec.special_tokens.values())
        for tok in (ReferenceTokenizer(spec), syllabary.Tokenizer(spec)):
            encoded = Counter(
                one for text in documents for one in tok.encode(text, "allow") if one not in specials
            )
            assert encoded == ended
        assert not recreated(spec.merges or ())
        assert len(set(spec.tokens.values())) == len(spec.tokens)


@given(
    st.lists(st.one_of(st.sampled_from(KINDS), st.characters(exclude_categories=["Cs", "M"])), max_size=40)
)
def test_boundaries_are_those_of_o200k(parts: list[str]) -> None:
    text = "".join(part for part in parts if part not in MARKS)
    ends = {end for _start, end in spans(text, splits.get("o200k"))}
    assert {end for _start, end in spans(text, ACROSS)} <= ends


def test_words_join_but_not_across_lines_numbers_and_special_tokens() -> None:
    tok = syllabary.train(PHRASES, 330, superwords=300)
    assert b"by the way" in tok.vocab.values()
    assert tok.decode(tok.encode(PHRASES[0])) == PHRASES[0]
    assert tok.count(PHRASES[0]) < syllabary.train(PHRASES, 330).count(PHRASES[0])
    texts = ["the year 1984\nthe year 1984<end>the year 1984"] * 3
    tok = syllabary.train(texts, 500, superwords=300, special_tokens=["<end>"])
    made = [token.decode() for token in tok.vocab.values() if len(token) > 1 and token != b"<end>"]
    assert "the year " in made
    for token in made:
        assert token.isdigit() or not any(map(str.isdigit, token))
        assert not token.strip() or "\n" not in token


def test_the_first_stage_is_ordinary_training() -> None:
    tok = syllabary.train(PHRASES, 300, superwords=270)
    assert tok.merges[:14] == syllabary.train(PHRASES, 270).merges
    assert not any(b" " in (left + right)[1:] for left, right in tok.merges[:14])
    assert any(b" " in (left + right)[1:] for left, right in tok.merges[14:])


def test_tokenizer_json_holds_it(tmp_path: Path) -> None:
    tok = syllabary.train(PHRASES, 330, superwords=300)
    tok.save(tmp_path / "tok.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tok.json"))
    for text in (PHRASES[0], "by the  way 1984\n\n -- by the way!!\r\n the way", "é by\tthe way... 字"):
        assert theirs.encode(text).ids == tok.encode(text)
    again = syllabary.load(tmp_path / "tok.json")
    assert again.encode(PHRASES[0]) == tok.encode(PHRASES[0])
    tok.save(tmp_path / "tok.syllabary.json")
    assert syllabary.load(tmp_path / "tok.syllabary.json").spec.split == ACROSS


@pytest.mark.parametrize(
    "arguments,message",
    [
        ({"superwords": 200}, "before any merge"),
        ({"superwords": 0}, "superwords is 0"),
        ({"superwords": 400}, "above vocab_size"),
        ({"superwords": 1 << 64, "vocab_size": None, "num_merges": 9}, "the most that there can be"),
        ({"unit": "word"}, "does not go with unit"),
        ({"unit": "char", "end_of_word": "</w>"}, "does not go with end_of_word"),
        ({"like": "minbpe"}, "do not go together"),
        ({"source": iter(PHRASES)}, "iterator"),
        ({"source": PieceCounts.of(PHRASES)}, "table of counts"),
    ],
)
def test_contradictions_are_errors(arguments: dict[str, object], message: str) -> None:
    wanted: dict[str, object] = {"source": PHRASES, "vocab_size": 330, "superwords": 300} | arguments
    with pytest.raises((syllabary.TrainingError, syllabary.CorpusError), match=message):
        syllabary.train(**wanted)  # type: ignore[arg-type]


def test_a_text_that_changes_between_the_stages_is_found_out() -> None:
    class Changing(list[str]):
        read = 0

        def __iter__(self) -> Iterator[str]:
            self.read += 1
            return iter(PHRASES * self.read)

    with pytest.raises(syllabary.CorpusError, match="must not change"):
        syllabary.train(Changing(), 330, superwords=300)


def test_a_pipe_is_refused_before_it_is_read(working_folder: Path) -> None:
    """When it was opened again it waited for ever, or held nothing."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("pipes with a name are POSIX's")
    os.mkfifo("pipe")
    for source in ("pipe", Path("pipe"), [PHRASES[0], Path("pipe")]):
        with pytest.raises(syllabary.CorpusError, match="pipe: is a pipe, which can be read once"):
            syllabary.train(source, 330, superwords=300)
    done = CliRunner().invoke(main, ["train", "pipe", "-o", "tok.json", "--superwords", "300"])
    assert done.stderr == (
        "error: pipe: is a pipe, which can be read once, and --superwords reads the text twice: "
        "save it to a file first\n"
    )


def test_a_limit_of_memory_changes_nothing() -> None:
    limited = syllabary.train(PHRASES, 300, superwords=270, memory_limit="80 MiB")
    assert limited.merges == syllabary.train(PHRASES, 300, superwords=270).merges


def test_the_command_has_it(working_folder: Path) -> None:
    (working_folder / "text.txt").write_text("".join(PHRASES), encoding="utf-8")
    command = ["train", "text.txt", "-o", "tok.json", "--vocab-size", "330", "--superwords", "300"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    expected = syllabary.train([Path("text.txt")], 330, superwords=300)
    refused = CliRunner().invoke(main, [*command[:-1], "1k"])
    assert "superwords is 1000, above" in refused.stderr
    assert syllabary.load("tok.json").merges == expected.merges
