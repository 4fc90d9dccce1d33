"""Hugging Face's trainers, WordPiece by likelihood and WordLevel on a full disk, and ended by Ctrl-C.

Leaves out: kills (`test_train_resume`, `test_train_resume_models`), and what merges a run goes on from
(`test_train_resume_huggingface`).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from terminal import interrupt_when
from train_runs import GUARD, make_often, write_corpus

import syllabary

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and limits are POSIX's here")

HERE = Path(__file__).parent
# As the command has them.
KINDS: dict[str, dict[str, Any]] = {
    "options": {"like": "huggingface", "vocab_size": 400, "options": {"end_of_word_suffix": "</w>"}},
    "wordpiece": {"like": "huggingface", "model": "wordpiece", "vocab_size": 400},
    "likelihood": {"model": "wordpiece", "vocab_size": 400},
    "word level": {"model": "wordlevel", "vocab_size": 400},
    "unigram": {
        "like": "huggingface",
        "model": "unigram",
        "vocab_size": 300,
        "options": {"pre_tokenizer": "Metaspace"},
    },
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"), 60_000)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    make_often(monkeypatch)


# ---- full disks ----

FULL = """
import builtins, resource, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from train_runs import make_often
from test_train_resume_ends import KINDS
import syllabary
from syllabary.training import memory as training_memory
make_often(builtins)
training_memory.LEAST = training_memory.READING = 0
where = {"checkpoint": "kept"} if sys.argv[5] == "kept" else {"memory_limit": int(sys.argv[5])}
sys.dont_write_bytecode = True  # cut short, it would break who imports it next
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]), resource.RLIM_INFINITY))
try:
    syllabary.train(Path(sys.argv[2]), **KINDS[sys.argv[3]], **where)
except OSError as error:
    print(error.filename, error.strerror)
"""


def on_a_full_disk(corpus: Path, kind: str, size: int, where: str, folder: Path) -> str:
    """What a training says whose files may have so many bytes each, for which the kernel itself cares."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FULL, str(HERE), str(corpus), kind, str(size), where],
        text=True, capture_output=True, check=False, timeout=GUARD, cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_while_counts_go_there(kind: str, corpus: Path, tmp_path: Path) -> None:
    said = on_a_full_disk(corpus, kind, 2_000, "50000", tmp_path)
    assert said.startswith(str(tmp_path / "syllabary-"))
    assert "/run-" in said
    assert "File too large" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [100, 3_000, 9_000])
@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_while_a_checkpoint_is_written(
    kind: str, size: int, corpus: Path, tmp_path: Path
) -> None:
    """Of a table, or of merges in the middle; the checkpoint before it is still good."""
    said = on_a_full_disk(corpus, kind, size, "kept", tmp_path)
    assert said.startswith("kept")
    assert "File too large" in said
    again = syllabary.train(corpus, checkpoint=tmp_path / "kept", **KINDS[kind])
    assert again.spec == syllabary.train(corpus, **KINDS[kind]).spec


# ---- Ctrl-C on a terminal ----

COMMAND = """
import builtins, sys, time
sys.path.insert(0, sys.argv.pop(1))
from train_runs import make_often
from syllabary.training import checkpoint_files as training_checkpoint_files, watched as training_watched
make_often(builtins)
def slow(owner, name):
    function = getattr(owner, name)
    def slowed(*arguments):
        time.sleep(0.2)
        return function(*arguments)
    setattr(owner, name, slowed)
stage = sys.argv.pop(1)
if stage == "counting":
    slow(training_watched.Watched, "_write_if_due")
if stage == "merging":
    slow(training_checkpoint_files.Journal, "append")
from syllabary.cli import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    "kind, stage",
    [
        ("options", "counting"),
        ("options", "merging"),
        ("wordpiece", "merging"),
        ("likelihood", "merging"),
        ("word level", "counting"),
    ],
)
def test_ctrl_c_leaves_a_checkpoint_and_the_command_goes_on(
    kind: str, stage: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call = {name.replace("_", "-"): value for name, value in KINDS[kind].items()}
    told = [f"{name}={value}" for name, value in call.pop("options", {}).items()]
    arguments = ["train", str(corpus), "-o", "out.json", "--documents", "line"]
    for name, value in call.items():
        arguments += [f"--{name}", str(value)]
    for option in told:
        arguments += ["--option", option]
    command = [sys.executable, "-W", "ignore", "-c", COMMAND, str(HERE)]
    status, shown = interrupt_when([*command, stage, *arguments, "--resume"], stage.encode(), GUARD)
    assert status == 130, shown
    assert b"kept in out.json.checkpoint: the same command goes on from there" in shown
    assert Path("out.json.checkpoint", "merges.bin").exists() is (stage == "merging")
    subprocess.run([*command, "", *arguments, "--resume"], capture_output=True, check=True, timeout=GUARD)
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
    resumed = Path("out.json").read_bytes()
    subprocess.run([*command, "", *arguments], capture_output=True, check=True, timeout=GUARD)
    assert Path("out.json").read_bytes() == resumed
