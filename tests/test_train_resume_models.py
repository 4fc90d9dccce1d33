"""Unigram models, words, characters and samples of sentences, ended and gone on with: the same bytes.

Leaves out: BPE (`test_train_resume`), and checkpoints that are of something else (`test_train_checkpoint`).
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from train_runs import GUARD, make_often, saved, stop_in, stopped, write_corpus

import syllabary
from syllabary.errors import CheckpointError
from syllabary.training import checkpoint as training_checkpoint

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and forks are POSIX's here")

HERE = Path(__file__).parent
UNIGRAM: dict[str, Any] = {"model": "unigram", "like": "sentencepiece"}
THEIRS: dict[str, Any] = {"model": "unigram", "like": "huggingface"}
MODELS: dict[str, dict[str, Any]] = {
    "own": {"model": "unigram", "vocab_size": 600},
    "own, NFC": {"model": "unigram", "vocab_size": 600, "normalize": "NFC", "special_tokens": ["<|e|>"]},
    "unigram": {**UNIGRAM, "options": {"vocab_size": 500}},
    "suffix": {**UNIGRAM, "options": {"vocab_size": 500, "treat_whitespace_as_suffix": True}},
    "sentences": {**UNIGRAM, "options": {"vocab_size": 500, "split_by_whitespace": False}},
    "no prefix": {**UNIGRAM, "options": {"vocab_size": 500, "add_dummy_prefix": False}},
    "theirs": {**THEIRS, "options": {"vocab_size": 400, "pre_tokenizer": "Metaspace", "unk_token": "<unk>"}},
    "theirs, no words": {**THEIRS, "options": {"vocab_size": 300, "normalizer": ["NFKC", "Lowercase"]}},
    "word level": {"model": "wordlevel", "vocab_size": 400},
    "word level, theirs": {
        "model": "wordlevel",
        "like": "huggingface",
        "options": {"vocab_size": 400, "min_frequency": 3, "normalizer": ["NFD", "Lowercase"]},
    },
    "word": {"model": "word", "like": "sentencepiece", "options": {"vocab_size": 300}},
    "char": {"model": "char", "like": "sentencepiece", "options": {"vocab_size": 25}},
    "sample": {"like": "sentencepiece", "options": {"vocab_size": 300, "input_sentence_size": 400}},
    "first": {
        **UNIGRAM,
        "options": {"vocab_size": 300, "input_sentence_size": 400, "shuffle_input_sentence": False},
    },
    "sample of a unigram": {**UNIGRAM, "options": {"vocab_size": 300, "input_sentence_size": 400}},
}


def train(path: Path, name: str, **more: Any) -> syllabary.Tokenizer:
    """The call that is ended and made again."""
    return syllabary.train(path, **{"threads": 2, **MODELS[name], **more})


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"), 100_000)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    make_often(monkeypatch)


KILLED = """
import builtins, os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from train_runs import make_often, saved
from test_train_resume_models import MODELS, train
from syllabary.training import checkpoint as training_checkpoint
make_often(builtins)
corpus, work, every = Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
folder = work / "kept"

def run(limit):
    # In a process of its own, killed before it renames file number `limit`; the names of all that it renamed.
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        seen = []
        def hook(event, arguments):
            if event == "os.rename" and str(folder) in str(arguments[0]):
                if len(seen) == limit:
                    os.kill(os.getpid(), signal.SIGKILL)
                seen.append(Path(arguments[1]).name)
        sys.addaudithook(hook)
        data = saved(train(corpus, name, checkpoint=folder), work)
        os.write(writing, " ".join(seen).encode())
        os._exit(0 if data == whole else 4)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        seen = pipe.read().split()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL), (name, limit, status)
    return None if status else seen

for name in MODELS:
    whole = saved(train(corpus, name), work)
    seen = run(None)
    assert ("pieces.bin" in seen) is (MODELS[name].get("model") == "unigram"), (name, seen)
    training_checkpoint.remove(folder)
    assert not folder.exists()
    last, killed = len(seen), 0
    for limit in [*range(0, last, every), last - 1, last - 2]:
        while limit < last and run(limit) is None:  # each run comes so far again
            killed += 1
            limit = limit + every if limit else 1
        if limit >= last:
            assert run(None) is not None
        training_checkpoint.remove(folder)
    assert killed > 2, (name, killed)
    print(name, flush=True)
"""


def test_killed_again_and_again_they_end_in_the_same_bytes(corpus: Path, tmp_path: Path, prove: bool) -> None:
    """Before any file of the checkpoint is there, and after it: while counting, and between rounds."""
    every = "1" if prove else "29"
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(HERE), str(corpus), str(tmp_path), every]
    done = subprocess.run(command, text=True, capture_output=True, check=False, timeout=10 * GUARD)
    assert (done.returncode, done.stdout.splitlines()) == (0, [*MODELS]), done.stdout + done.stderr


@pytest.mark.parametrize("name", [name for name in MODELS if MODELS[name].get("model") == "unigram"])
def test_every_round_is_kept(
    name: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ended when a round has been kept: each run has one round more, and does not read the text."""
    folder, whole = tmp_path / "kept", saved(train(corpus, name), tmp_path)
    kept = training_checkpoint.Checkpoint.keep_pieces
    sizes: list[int] = []

    def once(self: training_checkpoint.Checkpoint, data: bytes, ends: Any, scores: Any) -> None:
        if sizes and len(ends) == sizes[-1]:
            return  # what this run began with
        sizes.append(len(ends))
        kept(self, data, ends, scores)
        raise ZeroDivisionError("stopped")

    monkeypatch.setattr(training_checkpoint.Checkpoint, "keep_pieces", once)
    for _ in range(99):
        told: list[syllabary.Progress] = []
        try:
            last = train(corpus, name, checkpoint=folder, progress=told.append)
            break
        except ZeroDivisionError:
            assert len(sizes) == 1 or "counting" not in {now.stage for now in told}
    assert len(sizes) > 2
    assert sizes == sorted(sizes, reverse=True)
    assert saved(last, tmp_path) == whole


@pytest.mark.parametrize("name", MODELS)
def test_documents_in_memory_that_stop_coming(name: str, corpus: Path, tmp_path: Path) -> None:
    """What is raised while they come leaves a checkpoint, from which a second and a third call go on."""
    lines = corpus.read_text("utf-8").splitlines()

    def ended(after: int) -> Any:
        for number, line in enumerate(lines):
            if number == after:
                raise ZeroDivisionError("stopped")
            yield line

    folder, calls = tmp_path / "kept", {"threads": 1, **MODELS[name]}
    whole = syllabary.train(iter(lines), **calls)
    for after in (250, 380):
        with stopped(ZeroDivisionError):
            syllabary.train(ended(after), checkpoint=folder, **calls)
        assert training_checkpoint.holds(folder)
    for _ in range(2):
        assert syllabary.train(iter(lines), checkpoint=folder, **calls).spec == whole.spec
    with pytest.raises(CheckpointError, match="the corpus is not the one"):
        syllabary.train([*lines[:30], "another", *lines[31:]], checkpoint=folder, **calls)


@pytest.mark.parametrize("name", ["own", "unigram", "theirs", "word level", "word", "sample of a unigram"])
def test_a_limit_and_a_checkpoint(name: str, corpus: Path, tmp_path: Path) -> None:
    """Under a limit only the rounds are kept: all is counted again."""
    folder, whole = tmp_path / "kept", saved(train(corpus, name), tmp_path)
    for limit in ("1 GB", "1 GB", None):
        assert saved(train(corpus, name, checkpoint=folder, memory_limit=limit), tmp_path) == whole
    assert json.loads((folder / "checkpoint.json").read_bytes())["table"] is None


def test_options_may_change_until_pieces_are_kept(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    with stopped():
        train(corpus, "own", checkpoint=folder, progress=stop_in("counting", 3))
    again = train(corpus, "own", checkpoint=folder, vocab_size=700)
    assert again.spec == train(corpus, "own", vocab_size=700).spec
    with pytest.raises(CheckpointError, match=r"another vocab_size \(700, now 600\)"):
        train(corpus, "own", checkpoint=folder)
    with pytest.raises(CheckpointError, match="another"):
        syllabary.train(corpus, 700, checkpoint=folder)  # no unigram model


def test_pieces_of_something_else(corpus: Path, tmp_path: Path) -> None:
    """Damaged, of another training, or none of this text: an error that says so."""
    train(corpus, "own", checkpoint=tmp_path / "kept")
    other = tmp_path / "other.txt"
    other.write_text("zq zq zqz qzq " * 99, "utf-8")
    train(other, "own", checkpoint=tmp_path / "another", vocab_size=262)
    path = tmp_path / "kept" / "pieces.bin"
    data, foreign = path.read_bytes(), (tmp_path / "another" / "pieces.bin").read_bytes()
    for change, what in ((data[:-9], "longer than it says"), (foreign, "is of another training")):
        path.write_bytes(change)
        with pytest.raises(CheckpointError, match=what):
            train(corpus, "own", checkpoint=tmp_path / "kept")
    run = json.loads((tmp_path / "kept" / "checkpoint.json").read_bytes())["run"].encode()
    theirs = json.loads((tmp_path / "another" / "checkpoint.json").read_bytes())["run"].encode()
    kept = training_checkpoint.read_counts(_renamed(foreign, theirs, run, tmp_path))
    assert next(kept)[0].startswith(run)
    path.write_bytes((tmp_path / "renamed.bin").read_bytes())
    with pytest.raises(CheckpointError, match="does not fit the text that was counted"):
        train(corpus, "own", checkpoint=tmp_path / "kept")


def _renamed(data: bytes, old: bytes, new: bytes, folder: Path) -> Path:
    """The file with another name of its training, and the checksum of that."""
    body = data[:-16].replace(old, new, 1)
    path = folder / "renamed.bin"
    path.write_bytes(body + hashlib.blake2b(body, digest_size=16).digest())
    return path
