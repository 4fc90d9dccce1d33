"""Checkpoints of training that do not fit, are damaged, foreign or in use, and disks that are full.

What is used gives the bytes of an undisturbed run; what cannot be used is a `CheckpointError` that says what
to do. Leaves out: kills and interrupts (`test_train_resume`), and the disk (`test_train_checkpoint_files`).
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from train_runs import (
    DAMAGE,
    LINES,
    MODES,
    change,
    held,
    make_often,
    saved,
    stop_in,
    stopped,
    train,
    write_corpus,
)

import syllabary
from syllabary.corpus import Care, Corpus
from syllabary.counts import PieceCounts
from syllabary.errors import CheckpointError, CorpusError, TrainingError

MODE = "first-seen"
ENDS = pytest.mark.parametrize("stage", ["counting", "merging"])


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"), 40_000)


@pytest.fixture(scope="module")
def whole(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return saved(train(corpus, MODE), tmp_path_factory.mktemp("whole"))


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    make_often(monkeypatch)


def ended(stage: str, corpus: Path, folder: Path, mode: str = MODE) -> Path:
    """A checkpoint of a training that ended in that stage."""
    with stopped():
        train(corpus, mode, folder, progress=stop_in(stage, 3))
    return folder


# ---- another training ----


@ENDS
@pytest.mark.parametrize(
    "options, says",
    [
        ({"split": "gpt2"}, r"another split \("),
        ({"like": "rustbpe", "tie_break": "first-seen"}, r'another like \("minbpe", now "rustbpe"\)'),
        ({"special_tokens": ["<|e|>"]}, r'another special_tokens \(\[\], now \["<\|e\|>"\]\)'),
        (
            {"normalize": "NFC", "unit": "char"},
            r'unit \("byte", now "char"\) and .*normalize \(null, now "NFC"\)',
        ),
        ({"unit": "word", "split": "latin"}, 'another .*unit ."byte", now "word"'),
    ],
)
def test_other_options_are_named(
    stage: str, options: dict[str, Any], says: str, corpus: Path, tmp_path: Path, whole: bytes
) -> None:
    folder = ended(stage, corpus, tmp_path / "kept")
    before = held(folder)
    with pytest.raises(CheckpointError, match=f"{says}.*ask for what it began with to go on, or delete"):
        train(corpus, MODE, folder, **options)
    assert held(folder) == before
    assert saved(train(corpus, MODE, folder), tmp_path) == whole


@ENDS
def test_other_care_is_named(stage: str, corpus: Path, tmp_path: Path) -> None:
    folder = ended(stage, corpus, tmp_path / "kept")
    other = Corpus(corpus, LINES, Care(fraction=0.5))
    with pytest.raises(
        CheckpointError, match=r"another corpus's fraction \(null, now 0\.5\) and corpus's seed"
    ):
        syllabary.train(other, checkpoint=folder, **MODES[MODE][2])


@ENDS
def test_other_files_are_named(stage: str, corpus: Path, tmp_path: Path) -> None:
    mine = tmp_path / "corpus.txt"
    shutil.copy(corpus, mine)
    folder = ended(stage, mine, tmp_path / "kept")
    size = mine.stat().st_size
    with mine.open("ab") as file:
        file.write(b"more\n")
    with pytest.raises(
        CheckpointError, match=rf"corpus\.txt \({size:,} bytes\) then, .* \({size + 5:,} bytes\) now"
    ):
        train(mine, MODE, folder)
    other = tmp_path / "other.txt"
    shutil.copy(corpus, other)
    with pytest.raises(CheckpointError, match=r"corpus\.txt \(.* bytes\) then, other\.txt"):
        train(other, MODE, folder)
    reading, care, options = MODES[MODE]
    shutil.copy(corpus, mine)
    with pytest.raises(CheckpointError, match=r"another corpus: no file then, other\.txt"):
        syllabary.train(Corpus([mine, other], reading, care), checkpoint=folder, **options)


@ENDS
@pytest.mark.parametrize("at", [0, 7_000, 25_000])
def test_another_text_in_a_file_of_the_same_size(
    stage: str, at: int, corpus: Path, tmp_path: Path, whole: bytes
) -> None:
    """What was read is compared; what was not yet read is of the corpus as it is now."""
    mine = tmp_path / "corpus.txt"
    data = corpus.read_bytes()
    mine.write_bytes(data)
    folder = ended(stage, mine, tmp_path / "kept")
    read = json.loads((folder / "checkpoint.json").read_bytes())["seen"]["read"]
    at = data.index(b"arma", at)
    mine.write_bytes(data[:at] + b"ARMA" + data[at + 4 :])
    os.utime(mine, ns=(1, 1))
    if at < read:
        with pytest.raises(
            CheckpointError, match=r"is another, or ends, between byte [\d,]+ and byte [\d,]+"
        ) as caught:
            train(mine, MODE, folder)
        words = str(caught.value).replace(",", "").split()
        first, last = (int(words[place + 1]) for place, word in enumerate(words) if word == "byte")
        assert first - 2000 <= at <= last + 2000  # an end of a document counts as a byte, as its "\n" does
    else:
        assert saved(train(mine, MODE, folder), tmp_path) == saved(train(mine, MODE), tmp_path) != whole
    mine.write_bytes(data)
    if at < read:
        assert saved(train(mine, MODE, folder), tmp_path) == whole


@ENDS
def test_files_that_moved_are_the_same_corpus(stage: str, corpus: Path, tmp_path: Path, whole: bytes) -> None:
    first, second = tmp_path / "a" / "corpus.txt", tmp_path / "b" / "corpus.txt"
    first.parent.mkdir()
    shutil.copy(corpus, first)
    folder = ended(stage, first, tmp_path / "kept")
    os.renames(first, second)
    os.utime(second, ns=(5, 5))
    assert saved(train(second, MODE, folder), tmp_path) == whole


@ENDS
def test_documents_in_memory_that_changed(stage: str, corpus: Path, tmp_path: Path) -> None:
    lines = corpus.read_text("utf-8").splitlines()
    folder = tmp_path / "kept"
    with stopped():
        syllabary.train(lines, num_merges=200, checkpoint=folder, progress=stop_in(stage, 3))
    for changed in (["x", *lines], lines[1:], lines[:20], [*lines[:3], "", *lines[3:]], ["\n".join(lines)]):
        with pytest.raises(CheckpointError, match="is another, or ends, between byte"):
            syllabary.train(changed, num_merges=200, checkpoint=folder)
    if stage == "merging":
        with pytest.raises(CheckpointError, match="is another, or ends, between byte"):
            syllabary.train([*lines, "more"], num_merges=200, checkpoint=folder)
    tok = syllabary.train(lines, num_merges=200, checkpoint=folder)
    assert tok.spec == syllabary.train(lines, num_merges=200).spec


def test_a_table_of_counts_is_known_by_what_is_in_it(corpus: Path, tmp_path: Path) -> None:
    table, other = PieceCounts.of(corpus), PieceCounts.of([corpus, "more"])
    folder = tmp_path / "kept"
    with stopped():
        syllabary.train(table, num_merges=200, checkpoint=folder, progress=stop_in("merging", 3))
    with pytest.raises(CheckpointError, match="another table of counts"):
        syllabary.train(other, num_merges=200, checkpoint=folder)
    with pytest.raises(CheckpointError, match="another table of counts"):
        syllabary.train([corpus], num_merges=200, checkpoint=folder)
    tok = syllabary.train(table, num_merges=200, checkpoint=folder)
    assert tok.spec == syllabary.train(table, num_merges=200).spec


def test_a_memory_limit_may_come_and_go_once_all_is_counted(
    corpus: Path, tmp_path: Path, whole: bytes
) -> None:
    """Under one, merges alone are kept."""
    for first, then in ((None, "200 MiB"), ("200 MiB", None), ("200 MiB", "300 MiB")):
        folder = tmp_path / f"{first} {then}"
        with stopped():
            train(corpus, MODE, folder, progress=stop_in("merging", 3), memory_limit=first)
        assert bool(list(folder.glob("counts-*"))) is (first is None)
        assert saved(train(corpus, MODE, folder, memory_limit=then), tmp_path) == whole
    folder = ended("counting", corpus, tmp_path / "half")
    with pytest.raises(CheckpointError, match="without memory_limit, which has not counted all yet: go on"):
        train(corpus, MODE, folder, memory_limit="200 MiB")
    assert saved(train(corpus, MODE, folder), tmp_path) == whole


# ---- damage ----


def result_of(corpus: Path, folder: Path) -> bytes | str:
    """The saved tokenizer, or what the error says."""
    try:
        return saved(train(corpus, MODE, folder), folder.parent)
    except CheckpointError as error:
        return str(error)


@ENDS
@pytest.mark.parametrize("how", DAMAGE)
def test_damage_is_an_error_or_no_harm(
    stage: str, how: str, corpus: Path, tmp_path: Path, whole: bytes
) -> None:
    folder = ended(stage, corpus, tmp_path / "kept")
    files = held(folder)
    assert len(files) == (3 if stage == "counting" else 4)
    for name, data in files.items():
        if name == "lock":
            continue
        (folder / name).write_bytes(change(data, how))
        found = result_of(corpus, folder)
        if isinstance(found, bytes):
            assert name == "merges.bin"  # what is lost is learned again
            assert found == whole
        else:
            assert str(folder / name) in found
            assert f"delete {folder} to begin again" in found
            assert held(folder) == {**files, name: change(data, how)}
        shutil.rmtree(folder)
        folder.mkdir()
        for other in files:
            (folder / other).write_bytes(files[other])


def test_every_bit_of_the_state_counts(corpus: Path, tmp_path: Path) -> None:
    folder = ended("counting", corpus, tmp_path / "kept")
    path = folder / "checkpoint.json"
    data = path.read_bytes()
    for at in range(0, len(data), 7):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(CheckpointError):
            train(corpus, MODE, folder)


@pytest.mark.parametrize("name", ["counts-*.bin", "merges.bin"])
def test_a_file_that_is_gone(name: str, corpus: Path, tmp_path: Path, whole: bytes) -> None:
    folder = ended("merging", corpus, tmp_path / "kept")
    next(folder.glob(name)).unlink()
    if name == "merges.bin":  # merging begins anew
        assert saved(train(corpus, MODE, folder), tmp_path) == whole
    else:
        with pytest.raises(CheckpointError, match=r"counts-\d+\.bin is missing.*delete"):
            train(corpus, MODE, folder)


def test_what_another_training_left_is_not_taken(corpus: Path, tmp_path: Path) -> None:
    one, other = (ended("merging", corpus, tmp_path / name) for name in ("one", "other"))
    shutil.copy(other / "merges.bin", one / "merges.bin")
    with pytest.raises(CheckpointError, match=r"merges\.bin is of another training"):
        train(corpus, MODE, one)


def sealed(folder: Path, **values: Any) -> None:
    """Change the state and its checksum with it, as only someone with intent does."""
    from syllabary.training import checkpoint_state as state

    found = json.loads((folder / state.STATE).read_bytes()) | values
    del found["check"]
    (folder / state.STATE).write_text(json.dumps(found | {"check": state._check(found)}))


@pytest.mark.parametrize(
    "values",
    [
        {"table": "../../secret"},
        {"table": "/etc/passwd"},
        {"table": 5},
        {"table": None, "whole": False},
        {"seen": {"counted": 9, "read": 8, "crc": 0, "marks": []}},
        {"seen": {"counted": -1, "read": 8, "crc": 0, "marks": []}},
        {"seen": {"counted": 1, "read": 8, "crc": 0, "marks": 3}},
        {"seen": []},
        {"run": []},
        {"plan": "x"},
        {"whole": "yes"},
        {"report": []},
        {"report": {}},
        {"files": [["a"]]},
        {"files": 5},
        {"size": "9"},
        {"more": 1},
        {"format_version": 2},
        {"format": "other"},
    ],
    ids=str,
)
def test_a_state_made_up(values: dict[str, Any], corpus: Path, tmp_path: Path) -> None:
    folder = ended("merging", corpus, tmp_path / "kept")
    sealed(folder, **values)
    with pytest.raises(CheckpointError, match=r"delete|give"):
        train(corpus, MODE, folder)


def test_a_deep_state(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "checkpoint.json").write_text("[" * 100_000)
    with pytest.raises(CheckpointError, match="is damaged, or no checkpoint"):
        train(corpus, MODE, tmp_path)


# ---- the folder ----


def test_a_folder_of_something_else(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(
        CheckpointError, match=r"holds notes\.txt, which is of no checkpoint; give a folder of"
    ):
        train(corpus, MODE, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(NotADirectoryError, match=r"is a file, not a folder.*notes\.txt"):
        train(corpus, MODE, tmp_path / "notes.txt")
    with pytest.raises(FileNotFoundError, match="none"):
        train(corpus, MODE, tmp_path / "none" / "kept")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_what_an_ended_write_left_is_removed(corpus: Path, tmp_path: Path, whole: bytes) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    for name in ("lock", "counts-3.bin", "merges.bin", ".counts-4.bin.0123456789abcdef.tmp"):
        (folder / name).write_bytes(b"left")
    assert saved(train(corpus, MODE, folder), tmp_path) == whole
    assert sorted(name.partition("-")[0] for name in held(folder)) == [
        "checkpoint.json",
        "counts",
        "lock",
        "merges.bin",
    ]


@pytest.mark.skipif(os.name == "nt", reason="there is no lock")
def test_two_at_once(corpus: Path, tmp_path: Path, whole: bytes) -> None:
    folder = tmp_path / "kept"

    def again(_now: syllabary.Progress) -> None:
        with pytest.raises(CheckpointError, match="another process is training with this checkpoint"):
            train(corpus, MODE, folder)

    assert saved(train(corpus, MODE, folder, progress=again), tmp_path) == whole


def test_mistakes_leave_no_folder(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # in the first half minute
    folder = tmp_path / "kept"
    with pytest.raises(CorpusError, match="empty"):
        syllabary.train(["", ""], num_merges=1, checkpoint=folder)
    with pytest.raises(FileNotFoundError):
        train(tmp_path / "none.txt", MODE, folder)
    with pytest.raises(TrainingError, match="end_of_word mark"):
        syllabary.train(["a</w>"], num_merges=1, unit="char", end_of_word="</w>", checkpoint=folder)
    with pytest.raises(CorpusError, match="empty"):
        syllabary.train([" "], model="wordpiece", checkpoint=folder)
    assert not folder.exists()


def test_a_vocabulary_too_small_does_not_cost_the_counting(corpus: Path, tmp_path: Path) -> None:
    folder, reading = tmp_path / "kept", LINES
    with pytest.raises(TrainingError, match=r"set it to \d+ or more"):
        syllabary.train(Corpus(corpus, reading), 9, unit="char", split="gpt2", checkpoint=folder)
    again: list[syllabary.Progress] = []
    options: dict[str, Any] = {"vocab_size": 300, "unit": "char", "split": "gpt2"}
    tok = syllabary.train(Corpus(corpus, reading), checkpoint=folder, progress=again.append, **options)
    assert {now.stage for now in again} == {"merging"}
    assert tok.spec == syllabary.train(Corpus(corpus, reading), **options).spec
