"""Shards whose writing was killed or interrupted: the same command then ends in the same bytes.

Until then nothing looks finished. A kill is a real one: the process sends SIGKILL to itself at the n-th thing
that it asks of the file system, for every n. Leaves out: no disk and no memory (`test_shards_disk`), and what
the bytes are (`test_shards`).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from shard_runs import END, GUARD, LINES, SMALL, held, make_corpus, make_tokenizer, stop_after, whole, write

import syllabary
from syllabary import shards
from syllabary.corpus import Care, Corpus
from syllabary.errors import ShardError
from syllabary.shards import layout
from syllabary.shards.encoding import Job
from syllabary.shards.parts import read_part

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and forks are POSIX's here")


@pytest.fixture(scope="module")
def tok() -> syllabary.Tokenizer:
    return make_tokenizer()


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tok: syllabary.Tokenizer) -> Path:
    tok.save(tmp_path / "tok.syllabary.json")
    return make_corpus(tmp_path, monkeypatch)


# ---- killed ----

KILLED = """
import os, shutil, signal, sys
from pathlib import Path
import syllabary
from syllabary import shards
from syllabary.corpus import Care, Corpus, Reading
from syllabary.errors import ShardError
from syllabary.shards import layout
from syllabary.shards.encoding import Job
from syllabary.shards.parts import read_part
from syllabary.shards import assembly, writing

writing.UNIT_BYTES, assembly.CHECKPOINT_BYTES = 3_000, 3_000
os.fsync = lambda _descriptor: None  # what a killed process has written is there; only time is saved
work, force = Path(sys.argv[1]), sys.argv[2] == "force"
tok = syllabary.load(work / "tok.syllabary.json")
EVENTS = ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate")

def write():
    source = Corpus(work / "corpus.txt", Reading(documents="line"), Care(drop_duplicates=True))
    shards.write(source, tok, work / "out", val=0.3, end="<|end|>", processes=1, force=force)

def forked(limit):
    # Whether the run came to its end before event number `limit`; None: it had nothing to do.
    child = os.fork()
    if child == 0:
        seen = 0
        def hook(event, arguments):
            nonlocal seen
            if event in EVENTS and str(work / "out") in str(arguments[0]):
                if seen == limit:
                    os.kill(os.getpid(), signal.SIGKILL)
                seen += 1
        if limit is not None:
            sys.addaudithook(hook)
        try:
            write()
        except ShardError as error:
            os._exit(4 if "holds finished shards already" in str(error) else 3)
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(3)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 4, -signal.SIGKILL), status
    return None if status == 4 else status == 0

def held(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("[!.]*"))}

def prepare():
    shutil.rmtree(work / "out", ignore_errors=True)
    if force:
        shutil.copytree(work / "old", work / "out")

old = held(work / "old") if force else None
prepare()
assert forked(None)
whole = held(work / "out")
limit, finished, old_whole = 0, False, 0
while not finished:
    prepare()
    finished = forked(limit)
    names = {path.name for path in (work / "out").glob("[!.]*")}
    if "index.json" in names:  # then all of it is there: the old one or the new one
        found = {name: (work / "out" / name).read_bytes() for name in names}
        assert found in (old, whole), (limit, names)
        old_whole += found == old
    elif (work / "out").exists():
        try:
            shards.open(work / "out")
            raise SystemExit(f"opened after kill {limit}")
        except ShardError as error:
            assert "run the same command again to resume" in str(error) or not names, (limit, error, names)
    assert forked(None) or "index.json" in names, limit
    assert held(work / "out") == whole, limit
    limit += int(sys.argv[3])
print(limit, old_whole)
"""


@pytest.mark.parametrize("force", [False, True], ids=["new", "force"])
def test_a_run_killed_at_any_moment_resumes_to_the_same_bytes(
    force: bool, corpus: Path, tok: syllabary.Tokenizer, tmp_path: Path, prove: bool
) -> None:
    if force:
        shards.write(["what was there before"], tok, tmp_path / "old")
    every = 1 if prove else 3
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED, str(tmp_path), "force" if force else "", str(every)],
        text=True, capture_output=True, check=False, timeout=GUARD,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    kills, old_whole = map(int, done.stdout.split())
    assert kills > 40
    assert (old_whole > 20 // every) is force
    assert held(tmp_path / "out") == whole(corpus, tok, tmp_path)


TOLD = """
import os, signal, sys
from pathlib import Path
import syllabary
from syllabary import shards
from syllabary.corpus import Care, Corpus, Reading
from syllabary.shards import writing, assembly

writing.UNIT_BYTES, assembly.CHECKPOINT_BYTES = 3_000, 3_000
folder = Path(sys.argv[1])
def told(now):
    print("now", now.done, flush=True)
    sys.stdin.readline()
try:
    source = Corpus(folder / "corpus.txt", Reading(documents="line"), Care(drop_duplicates=True))
    tok = syllabary.load(folder / "tok.syllabary.json")
    shards.write(source, tok, folder / "out", val=0.3, end="<|end|>", processes=3, progress=told)
except KeyboardInterrupt:
    print("KeyboardInterrupt", flush=True)
"""


def children(parent: int) -> list[int]:
    """The processes below one, from /proc."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


def gone(processes: list[int]) -> bool:
    """Whether they all end within the guard."""
    until = time.monotonic() + GUARD
    while time.monotonic() < until:
        if not any(Path(f"/proc/{process}").exists() for process in processes):
            return True
        time.sleep(0.02)
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="children are found in /proc")
@pytest.mark.parametrize("name", ["SIGKILL", "SIGINT", "SIGTERM"])
def test_a_signal_ends_the_workers_too(
    name: str, corpus: Path, tok: syllabary.Tokenizer, tmp_path: Path
) -> None:
    number = signal.Signals[name]
    with subprocess.Popen(
        [sys.executable, "-c", TOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("now")
        below = children(process.pid)
        assert len(below) == 2
        process.send_signal(number)
        output = process.stdout.read()
        code = process.wait(GUARD)
    if number is signal.SIGINT:
        assert (code, output.splitlines()[-1]) == (0, "KeyboardInterrupt")
    else:
        assert code == -number
    assert gone(below)
    with pytest.raises(ShardError, match="incomplete shards; run the same command again to resume"):
        shards.open(tmp_path / "out")
    write(corpus, tok, tmp_path / "out")
    assert held(tmp_path / "out") == whole(corpus, tok, tmp_path)


def test_finished_parts_are_not_encoded_again(corpus: Path, tok: syllabary.Tokenizer, tmp_path: Path) -> None:
    done = stop_after(5, corpus, tok, tmp_path / "out")
    stop_after(5, corpus, tok, tmp_path / "begun")
    again: list[shards.Progress] = []
    write(corpus, tok, tmp_path / "out", progress=again.append)
    assert again[0].done >= done > SMALL
    assert again[-1].done == again[-1].total == corpus.stat().st_size
    begun: list[shards.Progress] = []
    write(corpus, tok, tmp_path / "begun", progress=begun.append, resume=False)
    assert begun[0].done < done
    assert held(tmp_path / "out") == held(tmp_path / "begun") == whole(corpus, tok, tmp_path)


@pytest.mark.parametrize("damage", ["none", "cut", "changed", "longer", "foreign"])
def test_a_damaged_part_is_encoded_again(
    damage: str, corpus: Path, tok: syllabary.Tokenizer, tmp_path: Path
) -> None:
    """As a power failure leaves it: what other processes had written is used if it is whole."""
    source = Corpus(corpus, LINES, Care(drop_duplicates=True))
    job = Job(source, tok, "raise", tok.special_tokens[END], layout.id_count(tok))
    done = stop_after(2, corpus, tok, tmp_path / "out")
    for number, unit in enumerate(source.units(SMALL)):
        path = tmp_path / "out" / ".work" / f"part-{number:08d}"
        job.write_unit((unit, path), lambda _amount: None)
        data = path.read_bytes()
        changed = data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]
        damaged = {
            "none": data,
            "cut": data[:-9],
            "changed": changed,
            "longer": data + b"x",
            "foreign": b"{}\n",
        }
        path.write_bytes(damaged[damage])
        assert (read_part(path) is None) is (damage != "none")
    told: list[shards.Progress] = []
    write(corpus, tok, tmp_path / "out", progress=told.append)
    assert (told == []) is (damage == "none")
    assert damage == "none" or told[0].done <= done
    assert held(tmp_path / "out") == whole(corpus, tok, tmp_path)


# ---- other inputs, other options, other shards ----


def test_another_order_does_not_go_on_with_the_work(
    corpus: Path, tok: syllabary.Tokenizer, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    stop_after(5, corpus, tok, out)
    before = held(out / ".work")
    with pytest.raises(ShardError, match=r"unfinished work with another end \(261, now null\); repeat"):
        shards.write(Corpus(corpus, LINES, Care(drop_duplicates=True)), tok, out, val=0.3)
    with pytest.raises(ShardError, match="another source"):
        shards.write(["low"], tok, out)
    os.utime(corpus, (1, 1))
    with pytest.raises(ShardError, match="another state of the files"):
        write(corpus, tok, out)
    assert held(out / ".work") == before
    write(corpus, tok, out, force=True)
    assert held(out) == whole(corpus, tok, tmp_path)


def test_finished_shards_stay_unless_asked(corpus: Path, tok: syllabary.Tokenizer, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(corpus, tok, out)
    before = held(out)
    for resume in (True, False):
        with pytest.raises(ShardError, match=r"holds finished shards already.*force=True"):
            write(corpus, tok, out, resume=resume)
        assert held(out) == before
    stop_after(3, corpus, tok, out, force=True)
    assert held(out) == before
    assert len(shards.open(out).train) > 0
    with pytest.raises(ShardError, match="the split val is empty"):
        shards.write(["low"], tok, out, val=1e-9, force=True)
    assert held(out) == before
    found = shards.write(["low lower"], tok, out, force=True)
    assert found.val is None
    assert sorted(held(out)) == ["index.json", "tokenizer.syllabary.json", "train.bin", "train.offsets.bin"]


def test_files_of_others_are_not_written_over(tok: syllabary.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "train.bin").write_bytes(b"of nanoGPT")
    with pytest.raises(ShardError, match=r"train\.bin that is of no finished shards"):
        shards.write(["low"], tok, tmp_path)
    assert held(tmp_path) == {"train.bin": b"of nanoGPT"}
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotADirectoryError, match="file"):
        shards.write(["low"], tok, tmp_path / "file")
    other = tmp_path / "notes"
    other.mkdir()
    (other / "notes.txt").write_bytes(b"mine")
    shards.write(["low"], tok, other)
    assert held(other)["notes.txt"] == b"mine"


def test_two_at_once_do_not_write_the_same_shards(
    corpus: Path, tok: syllabary.Tokenizer, tmp_path: Path
) -> None:
    def again(_now: shards.Progress) -> None:
        with pytest.raises(ShardError, match="another process is writing shards here"):
            write(corpus, tok, tmp_path / "out")

    write(corpus, tok, tmp_path / "out", progress=again)
    assert held(tmp_path / "out") == whole(corpus, tok, tmp_path)
