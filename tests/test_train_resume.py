"""Training that was killed or interrupted: the same call then ends in the same bytes, in every mode.

A kill is a real one, SIGKILL: of the process at a certain thing that it asks of the file system, also in the
middle of what it appends; and of the command at random moments. Leaves out: checkpoints that do not fit, are
damaged or in use, and full disks (`test_train_checkpoint`).
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from itertools import pairwise
from pathlib import Path

import pytest
from terminal import interrupt_when
from train_runs import GUARD, LINES, MODES, ONE_CALL, make_often, saved, stop_in, stopped, train, write_corpus

import syllabary
from syllabary.corpus import Corpus
from syllabary.errors import EarlyStopWarning
from syllabary.progress import Progress
from syllabary.training import checkpoint as training_checkpoint

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and forks are POSIX's here")

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    make_often(monkeypatch)


# ---- killed ----

KILLED = """
import builtins, os, random, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from train_runs import make_often, saved, train
from syllabary.training import checkpoint as training_checkpoint
from syllabary.training import checkpoint_files as training_checkpoint_files
make_often(builtins)
corpus, work, chains, modes = Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), sys.argv[5:]
folder = work / "kept"
EVENTS = ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate")
written, begun = training_checkpoint_files.Journal._written, training_checkpoint_files.Journal.begin

def run(limit):
    # In a process of its own, up to event number `limit`: whether that came before the end.
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        seen = merging = 0
        def happened(half=lambda: None):
            nonlocal seen
            if seen == limit:
                half()
                os.kill(os.getpid(), signal.SIGKILL)
            seen += 1
        def hook(event, arguments):
            if event in EVENTS and str(folder) in str(arguments[0]):
                happened()
        def torn(journal, data, synced):
            def half():
                journal._file.write(data[: len(data) // 2])
                journal._file.flush()
            happened(half)
            written(journal, data, synced)
        def begin(*arguments):
            nonlocal merging
            merging = seen
            begun(*arguments)
        os.fsync = lambda _descriptor: happened()  # what a killed process has written is there
        training_checkpoint_files.Journal._written = torn
        training_checkpoint_files.Journal.begin = begin
        sys.addaudithook(hook)
        status = 3
        try:
            data = saved(train(corpus, mode, folder), work)
            status = 0 if data == whole else 4
            os.write(writing, f"{merging} {seen}".encode())
        except BaseException as error:
            print(repr(error), flush=True)
        os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        events = [int(number) for number in pipe.read().split()]
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL), status
    return None if status else events

def stage():
    if not (folder / "checkpoint.json").exists():
        return "begun"
    return "merging" if (folder / "merges.bin").exists() else "counting"

for mode in modes:
    draw = random.Random(mode)
    whole = saved(train(corpus, mode), work)
    merging, events = run(None)
    stages, killed = set(), 0
    for chain in range(chains):
        training_checkpoint.remove(folder)
        assert not folder.exists()
        limit = draw.randrange(merging) if chain % 2 else draw.randrange(merging + 4, events)
        while run(limit) is None:  # else it has come to its end, with the right bytes
            killed += 1
            stages.add(stage())
            limit = draw.randrange(events)
    assert killed >= chains, (mode, killed)
    assert "merging" in stages and stages & {"begun", "counting"}, (mode, stages)
    training_checkpoint.remove(folder)
    print(mode, flush=True)
"""


def test_a_training_killed_again_and_again_ends_in_the_same_bytes(
    corpus: Path, tmp_path: Path, prove: bool
) -> None:
    """In every mode: while counting, while merging, and when it goes on."""
    modes, chains = sorted(MODES), "30" if prove else "2"
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(HERE), str(corpus), str(tmp_path), chains]
    done = subprocess.run([*command, *modes], text=True, capture_output=True, check=False, timeout=10 * GUARD)
    assert (done.returncode, done.stdout.splitlines()) == (0, modes), done.stdout + done.stderr


COMMAND = """
import builtins, sys
sys.path.insert(0, sys.argv.pop(1))
from train_runs import make_often
make_often(builtins)
from syllabary.cli import main
main(sys.argv[1:])
"""


def test_the_command_killed_at_random_moments(corpus: Path, tmp_path: Path, prove: bool) -> None:
    arguments = ["train", str(corpus), "--num-merges", "1000", "--split", "gpt2", "-q"]
    ours = [sys.executable, "-c", COMMAND, str(HERE)]
    begun = time.monotonic()
    subprocess.run([*ours, *arguments, "-o", str(tmp_path / "whole.json")], check=True, timeout=GUARD)
    took = time.monotonic() - begun
    whole = (tmp_path / "whole.json").read_bytes()
    out, draw = tmp_path / "out.json", random.Random(1)
    for _ in range(40 if prove else 1):
        out.unlink(missing_ok=True)
        for kills in range(3, -1, -1):
            process = subprocess.Popen([*ours, *arguments, "-o", str(out), "--resume"], cwd=tmp_path)
            if kills:
                time.sleep(draw.uniform(0.2, 1.3) * took)
                process.send_signal(signal.SIGKILL)
            assert process.wait(GUARD) in (0, -signal.SIGKILL if kills else 0)
        assert out.read_bytes() == whole
        assert not (tmp_path / "out.json.checkpoint").exists()


# ---- interrupted ----


@pytest.mark.parametrize("stage", ["counting", "merging"])
@pytest.mark.parametrize("mode", sorted(MODES))
def test_what_a_callback_raises_leaves_a_checkpoint(
    mode: str, stage: str, corpus: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "kept"
    times = 1 if mode in ONE_CALL and stage == "merging" else 3  # all may be learned by then
    with stopped(ZeroDivisionError):
        train(corpus, mode, folder, progress=stop_in(stage, times, ZeroDivisionError))
    assert (folder / "checkpoint.json").exists() is (mode != "word" or stage == "merging")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyStopWarning)
        assert saved(train(corpus, mode, folder), tmp_path) == saved(train(corpus, mode), tmp_path)


def test_what_is_done_is_not_done_again(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    with stopped():
        train(corpus, "first-seen", folder, progress=stop_in("merging", 5))
    told: list[Progress] = []
    again = train(corpus, "first-seen", folder, progress=told.append)
    assert {now.stage for now in told} == {"merging"}  # not even read
    assert told[0].done >= 4 * 40
    told.clear()
    assert train(corpus, "first-seen", folder, progress=told.append).spec == again.spec
    assert told[0].done == told[0].total == 500


@pytest.mark.parametrize("normalize", [None, "NFC"])
def test_a_long_document_is_not_begun_anew(
    normalize: str | None, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is cut where its split cuts; what may still be a part of a piece is read again."""
    monkeypatch.setattr("syllabary.training.feed.BATCH_CHARACTERS", 60_000)
    path, folder = tmp_path / "long.txt", tmp_path / "kept"
    path.write_bytes(corpus.read_bytes() * 20)
    size = path.stat().st_size
    options = {"split": "gpt2", "normalize": normalize}
    for stop in (25, 30, 35):
        with stopped():
            train(path, "default", folder, progress=stop_in("counting", stop), **options)
        seen = json.loads((folder / "checkpoint.json").read_bytes())["seen"]
        assert 0 < seen["counted"] < seen["read"] < size
    again = saved(train(path, "default", folder, **options), tmp_path)
    assert again == saved(train(path, "default", **options), tmp_path)


def test_documents_in_memory_are_compared_and_not_counted_again(corpus: Path, tmp_path: Path) -> None:
    lines = corpus.read_text("utf-8").splitlines()
    whole = syllabary.train(lines, num_merges=100)
    for stage in ("counting", "merging"):
        folder = tmp_path / stage
        with stopped():
            syllabary.train(iter(lines), num_merges=100, checkpoint=folder, progress=stop_in(stage, 2))
        again: list[Progress] = []
        tok = syllabary.train(iter(lines), num_merges=100, checkpoint=folder, progress=again.append)
        assert tok.spec == whole.spec
        text = [now.done for now in again if now.stage == "counting"]
        assert text[-1] == len("".join(lines).encode())


def test_warnings_and_the_report_are_those_of_an_undisturbed_run(corpus: Path, tmp_path: Path) -> None:
    with stopped():
        train(corpus, "char", tmp_path / "kept", progress=stop_in("merging"), normalize=None)
    reading, care, options = MODES["char"]
    sources = [Corpus(corpus, reading, care), Corpus(corpus, reading, care)]
    said = []
    for source, folder in zip(sources, (None, tmp_path / "kept"), strict=True):
        with pytest.warns(syllabary.errors.CorpusWarning) as caught:
            syllabary.train(source, checkpoint=folder, threads=1, **{**options, "normalize": None})
        said.append([str(warning.message) for warning in caught])
    assert said[0] == said[1]
    assert sources[0].report == sources[1].report


def test_sizes_may_change_until_merging_has_begun(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    with stopped():
        train(corpus, "default", folder, progress=stop_in("counting", 5))
    more = {"num_merges": 77, "tie_break": "first-seen", "min_frequency": 3}
    assert train(corpus, "default", folder, **more).spec == train(corpus, "default", **more).spec
    with pytest.raises(syllabary.errors.CheckpointError, match=r"another num_merges \(77, now 1000\)"):
        train(corpus, "default", folder, tie_break="first-seen", min_frequency=3)


def test_the_clock_says_when_to_write(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every `SECONDS`, and no more often than a write of so long allows."""
    monkeypatch.undo()
    monkeypatch.setattr("syllabary.training.feed.BATCH_DOCUMENTS", 10)
    now, written = 0.0, list[float]()
    monkeypatch.setattr(training_checkpoint, "clock", lambda: now)
    real = training_checkpoint.write_counts

    def write(*arguments: object) -> None:
        nonlocal now
        written.append(now)
        now += 4.0  # a slow disk: 20 times as long, 80 s, is counted before the next
        real(*arguments)  # type: ignore[arg-type]

    def tick(told: Progress) -> None:
        nonlocal now
        now += 7.0 if told.stage == "counting" else 0.0

    monkeypatch.setattr(training_checkpoint, "write_counts", write)
    train(corpus, "first-seen", tmp_path / "kept", progress=tick)
    gaps = [later - before for before, later in pairwise(written[:-1])]  # the last is of the whole table
    assert 30 <= written[0] <= 37
    assert len(gaps) >= 2
    assert [gap for gap in gaps if not 84 <= gap <= 91] == []


# ---- Ctrl-C on a terminal ----


SLOWED = """
import time
from syllabary.training import checkpoint_files as training_checkpoint_files, watched as training_watched
owner, name = {owner}, "{name}"
function = getattr(owner, name)
def slowed(*arguments):
    time.sleep(0.3)
    return function(*arguments)
setattr(owner, name, slowed)
"""
SLOW_PARTS = {
    "counting": {"owner": "training_watched.Watched", "name": "_write_if_due"},
    "merging": {"owner": "training_checkpoint_files.Journal", "name": "append"},
}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("stage", ["counting", "merging"])
def test_ctrl_c_and_a_kill_leave_a_checkpoint_and_say_how_to_go_on(
    stage: str, number: signal.Signals, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-c", COMMAND, str(HERE), "train", str(corpus), "--documents", "line"]
    command += ["--num-merges", "300", "-o", "out.json"]
    slowed = [*command, "--resume"]
    slowed[2] = SLOWED.format(**SLOW_PARTS[stage]) + COMMAND
    status, shown = interrupt_when(slowed, stage.encode(), GUARD, number)
    assert status == 130
    assert shown.replace(b"\r\n", b"\n").endswith(
        b"kept in out.json.checkpoint: the same command goes on from there\ninterrupted\n"
    )
    assert not Path("out.json").exists()
    assert Path("out.json.checkpoint", "merges.bin").exists() is (stage == "merging")
    subprocess.run([*command, "--resume"], capture_output=True, check=True, timeout=GUARD)
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
    syllabary.train(Corpus(corpus, LINES), num_merges=300).save("whole.json")
    assert Path("out.json").read_bytes() == Path("whole.json").read_bytes()


SLOW = """
import sys, time, syllabary
def documents():
    for _ in range(9):
        yield "low lower lowest " * 100_000
    print("now", flush=True)
    if sys.argv[1] == "reading":
        time.sleep(60)
    while True:
        yield "low lower lowest " * 200_000
try:
    syllabary.train(documents(), num_merges=9, checkpoint=sys.argv[2])
except KeyboardInterrupt:
    print("KeyboardInterrupt", flush=True)
"""


@pytest.mark.parametrize("stage", ["counting", "reading"])
def test_ctrl_c_while_the_text_comes(stage: str, tmp_path: Path) -> None:
    """Also while nothing comes: what waits for text is woken."""
    command = [sys.executable, "-c", SLOW, stage, str(tmp_path / "kept")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "now\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "KeyboardInterrupt\n"
        assert process.wait(GUARD) == 0
    assert (tmp_path / "kept" / "checkpoint.json").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
