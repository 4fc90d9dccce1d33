"""`growth.sizes` and `train --sizes`: one run gives what many would; what is held out was not trained on.

Leaves out: truncating itself (`test_truncate`).
"""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts

import syllabary
from syllabary import growth, growth_text
from syllabary.cli import main
from syllabary.cli.sizes import Size, Sizes
from syllabary.corpus import Corpus
from syllabary.corpus.care import identity, share
from syllabary.errors import CorpusError, TrainingError
from syllabary.growth_text import HeldOut, cut, stretches
from syllabary.piece_table import PieceTable

STEMS = "low new wide old quick brown lazy dark green sweet over under high deep mild warm".split()
WORDS = [stem + end for end in ("", "er", "est", "ness", "ly") for stem in STEMS]
LINES = [f"{WORDS[n * 7 % 80]} {WORDS[n * 11 % 79]} the {WORDS[n * 5 % 73]} {n}\n" for n in range(400)]


def run(*args: str) -> Result:
    return CliRunner().invoke(main, args)


# ---- what is held out ----


def read(corpus: HeldOut) -> list[str]:
    """The documents that stay, their parts joined."""
    found, document = list[str](), ""
    for part, last in corpus.parts():
        document += part
        if last:
            found.append(document)
            document = ""
    assert document == ""
    return found


@given(
    st.lists(st.one_of(texts(30), st.lists(st.sampled_from(LINES)).map("".join)), min_size=1, max_size=6),
    st.floats(0.01, 0.9),
)
def test_nothing_is_lost_and_nothing_is_in_both(documents: list[str], val: float) -> None:
    corpus = HeldOut(Corpus(documents), val)
    try:
        kept = read(corpus)
    except CorpusError:
        return  # there was no text at all
    assert sorted("".join([*kept, *corpus.held_out])) == sorted("".join(documents))
    for text in corpus.held_out:
        assert any(text in document for document in documents)
    assert read(corpus) == kept


def test_of_many_documents_the_hash_decides_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth_text, "SMALL", 1000)
    corpus = HeldOut(Corpus(LINES), 0.2, seed=3)
    kept = read(corpus)
    expected = [line for line in LINES if share(identity(line), "validation", 3) < 0.2]
    assert corpus.held_out == expected
    assert kept == [line for line in LINES if line not in expected]
    assert 0.1 < len(expected) / len(LINES) < 0.3
    backwards = HeldOut(Corpus(LINES[::-1]), 0.2, seed=3)
    read(backwards)
    assert sorted(backwards.held_out) == sorted(expected)


def test_a_long_document_is_cut_at_ends_of_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth_text, "SMALL", 1000)
    monkeypatch.setattr(growth_text, "LONG", 2000)
    monkeypatch.setattr(growth_text, "STRETCH", 100)
    text = "".join(LINES)
    corpus = HeldOut(Corpus([text]), 0.2)
    kept = read(corpus)
    assert len(corpus.held_out) > 5
    assert all(piece.endswith("\n") for piece in [*kept, *corpus.held_out])
    rest = text
    for piece in corpus.held_out:
        rest = rest.replace(piece, "", 1)
    assert "".join(kept) == rest


def test_most_is_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth_text, "SMALL", 100)
    monkeypatch.setattr(growth_text, "MOST", 200)
    corpus = HeldOut(Corpus(LINES), 0.5)
    kept = read(corpus)
    assert 200 <= sum(map(len, corpus.held_out)) < 250
    assert sum(map(len, kept)) + sum(map(len, corpus.held_out)) == sum(map(len, LINES))


@given(st.lists(st.tuples(texts(20), st.booleans()), max_size=8), st.integers(1, 40), st.integers(1, 12))
def test_stretches_joined_are_the_documents(parts: list[tuple[str, bool]], long: int, stretch: int) -> None:
    parts = [*parts, ("end", True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growth_text, "LONG", long)
        patch.setattr(growth_text, "STRETCH", stretch)
        found = list(stretches(parts))

    def joined(pairs: list[tuple[str, bool]]) -> str:
        return "".join(text + "\0END\0" * last for text, last in pairs)

    assert joined(found) == joined(parts)


def test_a_text_without_lines_is_cut_between_words_or_anywhere() -> None:
    assert [text for text, _last in cut("one two three", True, 4)] == ["one ", "two ", "three"]
    assert [len(text) for text, _last in cut("x" * 100, True, 2)] == [32, 32, 32, 4]


def test_a_part_that_is_none() -> None:
    for val in (0, 1, -0.5, float("nan")):
        with pytest.raises(ValueError, match="val is"):
            HeldOut(Corpus(LINES), val)
    with pytest.raises(TypeError):
        HeldOut(Corpus(LINES), True)


# ---- sizes ----


def test_each_size_is_what_training_gives_and_counts_are_those_of_encode() -> None:
    held_out = ["the lowest of lazy dogs", "warmly over 17 <s>"]
    found = growth.sizes(LINES, [400, 300, 350, 300], held_out=held_out, special_tokens=["<s>"])
    assert [row.size for row in found.rows] == [300, 350, 400]
    for row in found.rows:
        tok = syllabary.train(LINES, row.size, special_tokens=["<s>"])
        assert found.tokenizers[row.size].spec == tok.spec
        assert row.tokens == sum(len(tok.encode(text, special="allow")) for text in held_out)
        assert (row.vocab_size, row.merges) == (tok.vocab_size, len(tok.merges))
        assert row.bytes == row.characters == sum(map(len, held_out))
        assert row.bytes_per_token == row.bytes / row.tokens
    assert found.rows[0].tokens > found.rows[2].tokens


def test_without_given_text_a_part_is_held_out_and_the_record_says_so() -> None:
    found = growth.sizes(LINES, [300], val=0.1)
    assert 0.1 <= found.rows[0].bytes / sum(map(len, LINES)) < 0.2
    trained_on = found.tokenizers[300].spec.record
    assert trained_on["corpus_bytes"] == sum(map(len, LINES)) - found.rows[0].bytes
    assert trained_on["corpus"]["val"] == 0.1  # type: ignore[index]
    other = growth.sizes(LINES, [300], val=0.1, seed=1)
    assert other.tokenizers[300].spec.record != trained_on


def test_a_checkpoint_does_not_forget_what_was_held_out(tmp_path: Path) -> None:
    source = tmp_path / "corpus.txt"
    source.write_text("".join(LINES), encoding="utf-8")
    first = growth.sizes(source, [300, 350], checkpoint=tmp_path / "kept")
    again = growth.sizes(source, [300, 350], checkpoint=tmp_path / "kept")
    assert again.rows == first.rows == growth.sizes(source, [300, 350]).rows
    with pytest.raises(syllabary.CheckpointError):
        growth.sizes(source, [300, 350], val=0.2, checkpoint=tmp_path / "kept")


@pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")
def test_a_size_that_is_not_reached_says_the_one_that_is() -> None:
    found = growth.sizes(["ab ab ab"], [257, 1000, 2000], held_out=["ab"])
    assert [row.vocab_size for row in found.rows] == [257, *[found.tokenizers[2000].vocab_size] * 2]
    assert found.rows[-1].vocab_size < 300
    for size, tok in found.tokenizers.items():
        assert tok.spec == syllabary.train(["ab ab ab"], size).spec


@pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")
@pytest.mark.parametrize(
    "options",
    [
        {"like": "huggingface"},
        {"like": "huggingface", "options": {"pre_tokenizer": "Whitespace"}},
        {"like": "sentencepiece", "options": {"hard_vocab_limit": False}},
        {"model": "wordpiece"},
        {"model": "wordlevel"},
    ],
)
def test_so_do_those_of_other_trainers(options: dict[str, Any]) -> None:
    text = ["low lower lowest " * 5]
    found = growth.sizes(text, [300, 400, 500], held_out=["low"], **options)
    for size, tok in found.tokenizers.items():
        assert tok.vocab_size < 300
        assert tok.spec == syllabary.train(text, size, **options).spec


@pytest.mark.parametrize("like", ["huggingface", "sentencepiece", "subword-nmt"])
def test_other_tools(like: str) -> None:
    options: dict[str, Any] = {"options": {"hard_vocab_limit": False}} if like == "sentencepiece" else {}
    found = growth.sizes(LINES, [70, 80, 100], held_out=["the lowest dogs"], like=like, **options)
    tokens = [row.tokens for row in found.rows]
    assert tokens == sorted(tokens, reverse=True)
    assert found.rows[0].merges < found.rows[2].merges


def test_documents_with_unknown_symbols_are_left_out_of_all_sizes() -> None:
    found = growth.sizes(LINES, [60, 80], held_out=["the lowest", "漢字", "dogs"], unit="char")
    assert (found.documents, found.unknown) == (2, 1)
    assert "1 with symbols in no alphabet" in found.words()
    saved: list[int] = []
    with pytest.raises(CorpusError, match="none of the 2 held-out texts can be measured: each has symbols"):
        growth.sizes(LINES, [60], held_out=["漢字", "字"], unit="char", trained=saved.extend)
    assert saved == [60]
    with pytest.raises(CorpusError, match="the held-out text is empty"):
        growth.sizes(LINES, [60], held_out=[""], unit="char", trained=saved.extend)
    assert saved == [60]


def test_what_cannot_be_asked() -> None:
    read = iter(LINES)
    for sizes, sentence in (
        ([], "at least one size"),
        ([10, 300], "vocab_size is 10, but the alphabet has 256"),
    ):
        with pytest.raises(syllabary.SyllabaryError, match=sentence):
            growth.sizes(read, sizes)
    assert next(read) == LINES[0]  # it was said before anything was read
    with pytest.raises(syllabary.VocabularyError, match="before any merge"):
        growth.sizes(LINES, [10, 70], unit="char")
    with pytest.raises(TrainingError, match="num_merges does not go with sizes"):
        growth.sizes(LINES, [300], num_merges=3)
    with pytest.raises(TypeError):
        growth.sizes(LINES, ["8k"])  # type: ignore[list-item]
    with pytest.raises(CorpusError, match="no text could be held out"):
        growth.sizes(["x"], [300])


def test_unigram_models_are_trained_one_by_one(folder: Path) -> None:
    for like in (None, "sentencepiece"):
        with pytest.raises(TrainingError, match="model='unigram' does not go with sizes: a smaller model"):
            growth.sizes(["low lower lowest"], [300, 400], model="unigram", like=like)
    read = iter(LINES)
    with pytest.raises(TrainingError, match="model='char' does not go with sizes: its tokens are"):
        growth.sizes(read, [50, 80], model="char", like="sentencepiece")
    assert next(read) == LINES[0]  # it was said before anything was read
    done = run("train", "corpus.txt", "-o", "a.syllabary.json", "--model", "unigram", "--sizes", "300,400")
    assert "--model unigram does not go with --sizes: a smaller" in done.stderr


def test_the_table_and_the_record() -> None:
    found = growth.sizes(LINES, [300, 400], held_out=LINES[:20])
    head, _rule, first, second = found.table().splitlines()
    assert head.count("|") == first.count("|") == second.count("|")
    fewer = 100 * (found.rows[1].tokens / found.rows[0].tokens - 1)
    assert f"{fewer:+.1f} %" in second
    record = found.record()
    assert [row["bytes_per_token"] for row in record["sizes"]] == [row.bytes_per_token for row in found.rows]
    assert json.loads(json.dumps(record)) == record


# ---- the command line ----


@pytest.fixture
def folder(working_folder: Path) -> Path:
    Path("corpus.txt").write_text("".join(LINES), encoding="utf-8")
    Path("other.txt").write_text("the lowest of lazy dogs\n" * 3, encoding="utf-8")
    return working_folder


def test_sizes_are_read_as_people_type_them() -> None:
    convert = Sizes().convert
    assert convert("8k,16K,300,8000", None, None) == (300, 8000, 16000)
    assert Size(1).convert("64k", None, None) == 64000
    for wrong in ("8m", "k", "", "1.5k", "8k,,9k", "-1", "٣k,x"):
        with pytest.raises(click.UsageError):
            convert(wrong, None, None)


def test_a_run_writes_tokenizers_table_and_curve(folder: Path) -> None:
    result = run("train", "corpus.txt", "-o", "tok.syllabary.json", "--sizes", "300,400")
    assert result.exit_code == 0, result.stderr
    assert {path.name for path in folder.iterdir()} == {
        *("corpus.txt", "other.txt", "tok-300.syllabary.json", "tok-400.syllabary.json"),
        *("tok-sizes.md", "tok-sizes.json", "tok-sizes.png"),
    }
    assert Path("tok-sizes.md").read_text("utf-8").startswith(result.stdout)
    assert Path("tok-sizes.png").read_bytes().startswith(b"\x89PNG")
    rows = json.loads(Path("tok-sizes.json").read_text("utf-8"))["sizes"]
    assert [row["vocab_size"] for row in rows] == [300, 400]
    assert re.search(r"\| 400 \| 144 \|", result.stdout)
    assert "5 % of all" in result.stderr
    for size in (300, 400):
        assert syllabary.load(f"tok-{size}.syllabary.json").vocab_size == size


@pytest.mark.parametrize(
    "output, tokenizer, report, options",
    [
        ("vocab.txt", "95-vocab.txt", "vocab-sizes", ["--model", "wordpiece"]),
        ("tok", "tok-95", "tok-sizes", ["--format", "huggingface", "--like", "huggingface"]),
    ],
)
def test_a_name_without_stem_or_suffix(
    folder: Path, output: str, tokenizer: str, report: str, options: list[str]
) -> None:
    result = run("train", "corpus.txt", "-o", output, "--sizes", "95", *options)
    assert result.exit_code == 0, result.stderr
    expected = {tokenizer, *(f"{report}{suffix}" for suffix in (".md", ".json", ".png"))}
    assert expected <= {path.name for path in folder.iterdir()}


def test_held_out_text_may_be_a_file(folder: Path) -> None:
    result = run("train", "corpus.txt", "-o", "tok.json", "--sizes", "300,400", "--held-out", "other.txt")
    assert result.exit_code == 0, result.stderr
    rows = json.loads(Path("tok-sizes.json").read_text("utf-8"))["sizes"]
    text = Path("other.txt").read_text("utf-8")
    assert [row["tokens"] for row in rows] == [
        len(syllabary.load(f"tok-{size}.json").encode(text)) for size in (300, 400)
    ]


def test_what_was_trained_is_saved_before_it_is_measured(folder: Path) -> None:
    Path("foreign.txt").write_text("漢字", encoding="utf-8")
    Path("empty.txt").write_text("", encoding="utf-8")
    command = ["train", "corpus.txt", "-o", "t.syllabary.json", "--sizes", "60,80", "--unit", "char"]
    empty = run(*command, "--held-out", "empty.txt")
    assert (empty.exit_code, list(folder.glob("t-*"))) == (1, []), empty.stderr
    result = run(*command, "--held-out", "foreign.txt")
    assert result.exit_code == 1
    assert "give other text (--held-out), or train with fallback or bytes" in result.stderr
    saved = "2 tokenizers saved, and not measured: t-60.syllabary.json, t-80.syllabary.json\nerror: "
    assert saved in result.stderr
    assert [syllabary.load(f"t-{size}.syllabary.json").vocab_size for size in (60, 80)] == [60, 80]


@pytest.mark.parametrize("unit", ["byte", "char"])
def test_a_size_that_is_too_small_is_that_of_sizes(folder: Path, unit: str) -> None:
    result = run("train", "corpus.txt", "-o", "t.syllabary.json", "--sizes", "9,300", "--unit", unit)
    assert result.exit_code == 1
    assert "error: --sizes is 9, but" in result.stderr


def test_a_table_of_counts_needs_text_to_measure_on() -> None:
    with pytest.raises(TrainingError, match="give held_out"):
        growth.sizes(PieceTable.__new__(PieceTable), [300])


def test_without_matplotlib_there_is_a_table_and_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str, *args: Any, **more: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **more)

    real = importlib.import_module
    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr("importlib.import_module", refuse)
    result = run("train", "corpus.txt", "-o", "tok.json", "--sizes", "300")
    assert result.exit_code == 0, result.stderr
    assert "pip install 'syllabary[plot]'" in result.stderr
    assert Path("tok-sizes.md").exists()
    assert not Path("tok-sizes.png").exists()


def test_a_matplotlib_that_cannot_begin_is_told_of(folder: Path) -> None:
    """It refuses to be imported; what was trained is saved all the same."""
    command = [sys.executable, "-m", "syllabary", "train", "corpus.txt", "-o", "tok.json", "--sizes", "300"]
    done = subprocess.run(
        command, text=True, capture_output=True, check=False, env=os.environ | {"MPLBACKEND": "none-such"}
    )
    assert done.returncode == 0, done.stderr
    assert "no picture: the curve needs matplotlib, which cannot begin: Key backend: 'none" in done.stderr
    assert Path("tok-300.json").exists()


@pytest.mark.parametrize(
    "options, sentence",
    [
        (["--sizes", "300", "--vocab-size", "400"], "--sizes and --vocab-size both say the size"),
        (["--sizes", "300", "--val", "0.1", "--held-out", "other.txt"], "give one of them"),
        (["--val", "0.1"], "--val goes with --sizes"),
        (["--sizes", "300", "--val", "0"], "out of range"),
        (["--sizes", "8x"], "'8x' is not a whole number"),
    ],
)
def test_wrong_usage_is_said_before_training(folder: Path, options: list[str], sentence: str) -> None:
    result = run("train", "corpus.txt", "-o", "tok.json", *options)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert not list(folder.glob("tok*"))
