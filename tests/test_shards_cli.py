"""`syllabary shard`: options, summary, the rest that a tokenizer was not trained on, other formats, Ctrl-C.

Leaves out: what is in the files (`test_shards`), and the examples of its help (`test_docs`).
"""

from __future__ import annotations

import os
import random
import re
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result
from terminal import interrupt_when

import syllabary
from syllabary import shards
from syllabary.cli import common
from syllabary.cli.shard import shard
from syllabary.corpus import Care, Corpus, Reading

GUARD = 120
END = "<|end|>"


@click.group(cls=common.Verbs)
def main() -> None:
    """Only this verb."""


main.add_command(shard)


@pytest.fixture
def folder(working_folder: Path) -> Path:
    """A folder with a document a line and a tokenizer that was trained on a third of them."""
    draw = random.Random(1)
    texts = [" ".join(draw.choices(["low", "lower", "lowest"], k=20)) for _ in range(200)]
    Path("corpus.txt").write_text("\n".join(texts) + "\n", "utf-8")
    tok = syllabary.train(["low lower lowest " * 9] * 3, num_merges=5, special_tokens=[END])
    tok.save("tok.json")
    part = Corpus(Path("corpus.txt"), Reading(documents="line"), Care(fraction=0.3, seed=5))
    syllabary.train(part, num_merges=5, special_tokens=[END]).save("part.syllabary.json")
    return working_folder


def run(*arguments: str, code: int = 0, **extra: object) -> Result:
    done = CliRunner().invoke(main, ["shard", *arguments], **extra)  # type: ignore[arg-type]
    assert done.exit_code == code, done.output
    return done


def test_a_folder_and_a_summary(folder: Path) -> None:
    done = run(
        "corpus.txt", "-t", "tok.json", "-o", "out", "--documents", "line", "--val", "0.2", "--end", END,
        "--seed", "3",
    )  # fmt: skip
    found = shards.open("out")
    assert found.val is not None
    tokens = found.train.tokens + found.val.tokens
    size = Path("corpus.txt").stat().st_size - 200
    assert done.stdout == ""
    assert re.fullmatch(
        rf"200 documents \({found.val.documents} held out\), {tokens:,} tokens of {size / tokens:.2f} bytes, "
        r"0.0 MB in \d+\.\d s \([\d.]+ MB/s\): saved as out",
        done.stderr.strip(),
    )
    assert found.index.seed == 3
    assert found.train.ids[found.train.offsets[1] - 1] == found.index.end
    data = np.memmap("out/train.bin", dtype=np.uint16, mode="r")
    assert len(data) == found.train.tokens


def test_quiet(folder: Path) -> None:
    assert run("corpus.txt", "-t", "tok.json", "-o", "out", "-q").stderr == ""


def test_stdin(folder: Path) -> None:
    run("-", "-t", "tok.json", "-o", "out", "--separator", r"\n\n", input="low lower\n\nlowest")
    assert len(shards.open("out").train) == 2


def test_the_rest_is_what_the_tokenizer_has_not_seen(folder: Path) -> None:
    lines = ("--documents", "line", "-t", "part.syllabary.json")
    run("corpus.txt", *lines, "-o", "rest", "--rest")
    run("corpus.txt", *lines, "-o", "same", "--rest=0.3", "--seed", "5")
    run("corpus.txt", *lines, "-o", "seen", "--fraction", "0.3", "--seed", "5")
    rest, same, seen = (shards.open(name) for name in ("rest", "same", "seen"))
    assert rest.train.digest == same.train.digest
    assert len(rest.train) + len(seen.train) == 200
    assert len(rest.train) > 100
    assert rest.index.corpus["rest"] == 0.3
    done = run("corpus.txt", "-t", "tok.json", "-o", "none", "--rest", code=1)
    assert "no rest" in done.stderr
    assert not Path("none").exists()


@pytest.mark.parametrize("suffix, options", [("parquet", ()), ("arrow", ()), ("x", ("--format", "parquet"))])
def test_other_formats_by_suffix_or_name(suffix: str, options: tuple[str, ...], folder: Path) -> None:
    pytest.importorskip("pyarrow")
    arguments = ("corpus.txt", "-t", "tok.json", "-o", f"ids.{suffix}", *options)
    before = set(os.listdir())
    run(*arguments)
    assert set(os.listdir()) - before == {f"ids.{suffix}"}
    data = Path(f"ids.{suffix}").read_bytes()
    assert data[:4] == (b"ARRO" if suffix == "arrow" else b"PAR1")
    done = run(*arguments, code=1)
    assert "--force" in done.stderr
    run(*arguments, "--force")
    assert Path(f"ids.{suffix}").read_bytes() == data
    assert set(os.listdir()) - before == {f"ids.{suffix}"}


def test_a_folder_of_datasets(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setenv("HF_HOME", str(folder / ".home"))
    run("corpus.txt", "-t", "tok.json", "-o", "saved", "--format", "datasets", "--documents", "line")
    assert len(datasets.load_from_disk("saved")["train"]) == 200


def test_finished_shards_stay_without_force(folder: Path) -> None:
    arguments = ("corpus.txt", "-t", "tok.json", "-o", "out")
    run(*arguments)
    before = Path("out/train.bin").read_bytes()
    assert "holds finished shards already" in run(*arguments, code=1).stderr
    run(*arguments, "--end", END, "--force")
    assert Path("out/train.bin").read_bytes() == before + np.array([261], "<u2").tobytes()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_folder_that_cannot_be_is_named_as_it_was_given(folder: Path) -> None:
    done = run("corpus.txt", "-t", "tok.json", "-o", "/dev/full/x", code=1)
    assert done.stderr.splitlines()[-1] == "error: /dev/full/x: Not a directory"


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (("--val", "1"), 2, "from 0 to below 1"),
        (("--val", "x"), 2, "'x' is not a number"),
        (("--processes", "0"), 2, "0 is out of range"),
        (("--end", "<|nothing|>"), 1, "no special token"),
        (("--val", "0.5"), 1, "or smaller documents (of plain text: --documents line)\n"),
        (("--val", "0.00001", "--documents", "line"), 1, "or smaller documents\n"),
        (("--select", "lang=grc"), 1, "lang=grc"),
    ],
)
def test_wrong_usage_and_empty_splits(
    arguments: tuple[str, ...], code: int, words: str, folder: Path
) -> None:
    done = run("corpus.txt", "-t", "tok.json", "-o", "out", *arguments, code=code)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not Path("out").exists()


def test_a_special_token_in_the_text_says_where_and_the_way_out(folder: Path) -> None:
    Path("special.txt").write_text(f"low\nlow {END}\n")
    arguments = ("special.txt", "-t", "tok.json", "-o", "out", "--documents", "line")
    done = run(*arguments, code=1)
    assert "special.txt, line 2: the text holds the special token '<|end|>'" in done.stderr
    assert "--special allow" in done.stderr
    run(*arguments, "--special", "text")


def test_skipped_files_are_listed(folder: Path) -> None:
    Path("texts").mkdir()
    Path("texts/good.txt").write_text("low lower")
    Path("texts/bad.xml.gz").write_bytes(b"\x1f\x8b\x08 this is no gzip")
    done = run("texts", "-t", "tok.json", "-o", "out", "--on-error", "skip")
    assert "bad.xml.gz" in done.stderr
    assert "skipped 1 file" in done.stderr
    assert shards.open("out").index.corpus["skipped"] == 1


@pytest.mark.skipif(os.name == "nt", reason="signals and pseudo-terminals are POSIX's here")
def test_ctrl_c_on_a_terminal_leaves_what_can_be_resumed(folder: Path) -> None:
    text = Path("corpus.txt").read_bytes()
    Path("large.txt").write_bytes(text * 1500)  # some seconds of work
    arguments = ["large.txt", "-t", "tok.json", "-o", "out", "--documents", "line"]
    script = (
        "import sys; from syllabary.cli.shard import shard; from syllabary.cli import common; import click"
    )
    script += "; main = click.group(cls=common.Verbs)(lambda: None); main.add_command(shard); main()"
    command = [sys.executable, "-c", script, "shard", *arguments]
    status, shown = interrupt_when(command, b"%", GUARD)
    assert status == 130
    assert b"encoding" in shown
    assert shown.endswith(b"interrupted\r\n")
    with pytest.raises(syllabary.errors.ShardError, match="incomplete"):
        shards.open("out")
