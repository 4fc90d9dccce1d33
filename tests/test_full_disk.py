"""A full disk and Ctrl-C where folders for `transformers` are written: old files stay, no other is left.

The disk is full where a file is synced, or a limit to the size of files is reached, as the system has one.
Leaves out: single files (test_train_output), and the files of a run (test_gpt_checkpoint).
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import syllabary
from syllabary import formats
from syllabary.files import write_files

OLD, NEW = (["low lower lowest newest"] * 3, ["arma virumque cano troiae qui primus ab oris"] * 3)


def full() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def held(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@contextmanager
def failing(patch: pytest.MonkeyPatch, error: BaseException, call: int) -> Iterator[list[int]]:
    """`os.fsync` fails when it is called for this time; yields the calls."""
    sync, calls = os.fsync, list[int]()

    def fail(descriptor: int) -> None:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):  # of folders it is no matter
            calls.append(descriptor)
            if len(calls) == call:
                raise error
        sync(descriptor)

    with patch.context() as patched:
        patched.setattr(os, "fsync", fail)
        yield calls


@contextmanager
def limited(size: int) -> Iterator[None]:
    """No file may have more bytes."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def stays(write: Callable[[], object], folder: Path, patch: pytest.MonkeyPatch, syncs: int) -> None:
    """Whichever of so many syncs fails, and however, the folder is as it was, and there only if it was."""
    for fail in (full, KeyboardInterrupt):
        for call in range(1, syncs + 1):
            error = fail()
            before = held(folder) if folder.exists() else None
            with failing(patch, error, call) as calls, pytest.raises(type(error)) as caught:
                write()
            assert len(calls) == call
            assert (held(folder) if folder.exists() else None) == before
            if isinstance(caught.value, OSError):
                assert Path(str(caught.value.filename)).parent == folder
            assert not [path for path in folder.parent.rglob("*") if path.name.endswith(".tmp")]


def test_of_several_files_all_are_new_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GPT-2's pair, of which one alone would be of another tokenizer."""
    folder = tmp_path / "gpt2"
    folder.mkdir()
    formats.write(syllabary.train(OLD, vocab_size=260).spec, folder / "vocab.json")
    new = syllabary.train(NEW, vocab_size=270).spec
    stays(lambda: formats.write(new, folder / "vocab.json"), folder, monkeypatch, 2)
    formats.write(new, tmp_path / "vocab.json")
    assert len(held(folder)) == 2
    write_files({tmp_path / "a": b"1", Path(os.devnull): b"2"})
    assert (tmp_path / "a").read_bytes() == b"1"


@contextmanager
def watched(patch: pytest.MonkeyPatch, see: Callable[[], object]) -> Iterator[list[str]]:
    """`see` is called before and after each file gets its name; yields the names."""
    put, names = os.replace, list[str]()

    def seen(new: str, target: str) -> None:
        names.append(Path(target).name)
        see()
        put(new, target)
        see()

    with patch.context() as patched:
        patched.setattr(os, "replace", seen)
        yield names


def stopping(error: BaseException, calls: Iterator[int]) -> Callable[[], None]:
    """What fails once, after so many calls."""
    errors = [error]

    def stop() -> None:
        if next(calls, None) is None and errors:
            raise errors.pop()

    return stop


@pytest.mark.parametrize("there", [True, False])
def test_a_pair_is_never_half_new(there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either file fits the other one's fellow, and the two would be read as a third tokenizer."""
    folder, found = tmp_path / "gpt2", list[list[int] | None]()
    folder.mkdir()
    old, new = (syllabary.train(["ab"] * n + ["bc"] * (5 - n), vocab_size=258) for n in (3, 2))
    ids = [tok.encode("abc") for tok in (old, new)]
    assert ids == [[256, 99], [97, 256]]
    if there:
        old.save(folder / "vocab.json")

    def look() -> None:
        try:
            found.append(syllabary.load(folder, split="gpt2").encode("abc"))
        except syllabary.FormatError:
            found.append(None)

    with watched(monkeypatch, look) as names:
        new.save(folder / "vocab.json")
    look()
    assert found[-1] == ids[1]
    assert [one for one in found if one not in (None, *ids)] == []
    assert {*held(folder)} == {"vocab.json", "merges.txt"}
    if not there:
        for file in folder.iterdir():
            file.unlink()
    before = held(folder)
    for call in range(2 * len(names)):
        for error in (full(), KeyboardInterrupt()):
            calls = iter(range(call))
            with watched(monkeypatch, stopping(error, calls)), pytest.raises(type(error)):
                old.save(folder / "vocab.json")
            assert held(folder) == before


@pytest.mark.parametrize("call", [0, 1])
def test_old_files_go_when_it_is_stopped_at_the_end(
    call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new ones are all there by then."""
    folder, unlink = tmp_path / "gpt2", Path.unlink
    folder.mkdir()
    old, new = (syllabary.train(texts, vocab_size=262) for texts in (OLD, NEW))
    old.save(folder / "vocab.json")
    stop = stopping(KeyboardInterrupt(), iter(range(call)))

    def stopped(path: Path, missing_ok: bool = False) -> None:
        if path.suffix == ".old":
            stop()
        unlink(path, missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", stopped)
        with pytest.raises(KeyboardInterrupt):
            new.save(folder / "vocab.json")
    new.save(tmp_path / "vocab.json")
    assert held(folder) == {name: (tmp_path / name).read_bytes() for name in ("vocab.json", "merges.txt")}


def all_or_none(
    write: Callable[[], object], folder: Path, first: str, patch: pytest.MonkeyPatch
) -> dict[str, bytes]:
    """Wherever it stops, the old files are back; meanwhile `first` is there with all of its kind, or is not.
    What is there in the end.
    """

    def seen() -> dict[str, bytes]:
        return {name: data for name, data in held(folder).items() if not name.startswith(".")}

    before, shown, call = held(folder), list[dict[str, bytes]](), 0
    while True:
        calls = iter(range(call))
        try:
            with watched(patch, stopping(KeyboardInterrupt(), calls)):
                write()
        except KeyboardInterrupt:
            assert held(folder) == before
            call += 1
        else:
            break
    assert call > 2 * len(before)
    for path in folder.iterdir():
        path.unlink()
    for name, data in before.items():
        (folder / name).write_bytes(data)
    with watched(patch, lambda: shown.append(seen())):
        write()
    after = held(folder)
    assert [one for one in shown if first in one and one not in (before, after)] == []
    return after


def test_of_a_saved_folder_all_files_are_new_or_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers")
    old, new = (
        syllabary.train(texts, vocab_size=262).as_transformers(chat_template=template)
        for texts, template in ((OLD, "old"), (NEW, "new"))
    )
    old.save_pretrained(tmp_path)
    after = all_or_none(lambda: new.save_pretrained(tmp_path), tmp_path, "tokenizer.json", monkeypatch)
    assert after.keys() == {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja"}


def test_of_a_model_both_files_are_new_or_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from syllabary.compat.tokenizers import models

    vocab = {"a": 0, "b": 1, "c": 2}
    old, new = models.BPE(vocab | {"ab": 3}, [("a", "b")]), models.BPE(vocab | {"bc": 3}, [("b", "c")])
    old.save(str(tmp_path))
    after = all_or_none(lambda: new.save(str(tmp_path)), tmp_path, "vocab.json", monkeypatch)
    assert after["merges.txt"].endswith(b"\nb c\n")


@pytest.mark.parametrize("there", [True, False])
def test_save_pretrained(there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder, template = tmp_path / "new" / "saved", "{{ messages[0].content }}"
    tok = syllabary.train(NEW, vocab_size=290).as_transformers(chat_template=template)
    if there:
        syllabary.train(OLD, vocab_size=260).as_transformers().save_pretrained(folder)
        (folder / "notes.txt").write_text("mine")
    stays(lambda: tok.save_pretrained(folder), folder, monkeypatch, 3)
    before = held(tmp_path)
    with limited(1000), pytest.raises(OSError, match="too large") as caught:
        tok.save_pretrained(folder)
    assert caught.value.errno == errno.EFBIG
    assert held(tmp_path) == before
    assert (tmp_path / "new").exists() == there
    files = tok.save_pretrained(folder)
    assert {Path(file).name for file in files} == {
        "tokenizer_config.json",
        "chat_template.jinja",
        "tokenizer.json",
    }
    assert all(Path(file).parent == folder and Path(file).is_file() for file in files)
    assert syllabary.load(folder).vocab_size == tok.syllabary.vocab_size


def test_save_pretrained_while_theirs_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Theirs has written one file when Ctrl-C comes."""
    pytest.importorskip("transformers")
    from syllabary.compat.transformers import SyllabaryTokenizer

    folder = tmp_path / "saved"
    syllabary.train(OLD, vocab_size=260).as_transformers().save_pretrained(folder)
    before = held(tmp_path)

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SyllabaryTokenizer, "_save_pretrained", stop)
    with pytest.raises(KeyboardInterrupt):
        syllabary.train(NEW, vocab_size=290).as_transformers().save_pretrained(folder)
    assert held(tmp_path) == before
    with pytest.raises(NotADirectoryError, match="is a file, not a folder"):
        syllabary.train(NEW, vocab_size=290).as_transformers().save_pretrained(folder / "tokenizer.json")


@pytest.mark.parametrize("there", [True, False])
def test_export(there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    from syllabary.gpt import GPT, ModelConfig, checkpoint, export

    folder, runs = tmp_path / "out", list[Path]()
    for texts, size in ((OLD, 260), (NEW, 290)):
        run = tmp_path / f"run-{size}"
        run.mkdir()
        tok = syllabary.train(texts, vocab_size=size)
        tok.save(run / "tokenizer.syllabary.json")
        model = GPT(ModelConfig(vocab_size=size, block_size=16, n_layer=1, n_head=2, n_embd=16), seed=size)
        checkpoint.save(run / "checkpoint-5.safetensors", model=model, step=5)
        runs.append(run)
    if there:
        export.to_transformers(runs[0], folder)
        (folder / "notes.txt").write_text("mine")
    stays(lambda: export.to_transformers(runs[1], folder), folder, monkeypatch, 5)
    before = held(tmp_path)
    with limited(1000), pytest.raises(OSError, match="too large") as caught:
        export.to_transformers(runs[1], folder)
    assert caught.value.filename == str(folder / "model.safetensors")
    assert (held(tmp_path), folder.exists()) == (before, there)
    done = export.to_transformers(runs[1], folder)
    assert {path.name for path in folder.iterdir()} - {"notes.txt"} == {path.name for path in done.files}
    assert syllabary.load(folder).vocab_size == 290


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is open is not removed there")
def test_a_stop_while_an_export_is_put_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there then is no model, and each file is whole; the same call makes it one."""
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    from syllabary.gpt import GPT, ModelConfig, checkpoint, export

    run, folder = tmp_path / "run", tmp_path / "out"
    run.mkdir()
    model = GPT(ModelConfig(vocab_size=260, block_size=16, n_layer=1, n_head=2, n_embd=16), seed=1)
    checkpoint.save(run / "checkpoint-5.safetensors", model=model, step=5)
    export.to_transformers(run, folder)
    before, put = held(folder), export.replace

    def stop(new: Path, target: Path) -> None:
        if target.name == "config.json":
            raise KeyboardInterrupt
        put(new, target)

    with monkeypatch.context() as patched:
        patched.setattr(export, "replace", stop)
        with pytest.raises(KeyboardInterrupt):
            export.to_transformers(run, folder)
    assert held(folder) == {"model.safetensors": before["model.safetensors"]}
