"""Verbs that read files, if something is odd: closed streams, empty names, many errors, control characters.

Leaves out: options that are as they should be (`test_cli_corpus`), and readers (`test_corpus` and its like).
"""

from __future__ import annotations

import dataclasses
import errno
import io
import json
import re
from pathlib import Path

import click
import pytest
from test_cli import run, shell

import syllabary
import syllabary.cli
from syllabary.cli import common, words
from syllabary.corpus import Corpus, Reading
from syllabary.corpus.care import Care
from syllabary.corpus.report import LINES, LISTED, Report
from syllabary.errors import CorpusError

SKIP = ("--on-error", "skip")
WILD = "x\nerror: y\x1b[31m.txt"  # a file's name that says something itself
TAME = r"x\nerror: y\x1b[31m.txt"


@pytest.fixture
def folder(working_folder: Path) -> Path:
    """A working directory with a tokenizer of bytes, a text, and rows of which one is true."""
    syllabary.train(["the cat"], vocab_size=256).save("tok.json")
    Path("a.txt").write_text("the cat\n", encoding="utf-8")
    Path("rows.jsonl").write_text('{"text": "abc", "ok": true}\n{"text": "d", "ok": false}\n')
    return working_folder


# ---- files that would be lost ----


@pytest.mark.parametrize(
    "line",
    [
        "train a.txt in.json --kind text -o in.json",
        "train in.json --kind text -o ./in.json --sizes 260,270",
        "chunk in.json -t tok.json --max-tokens 9 -o in.json",
        "chunk a.txt -t in.json --max-tokens 9 -o in.json",
    ],
)
def test_what_is_read_is_not_overwritten(folder: Path, line: str) -> None:
    text = Path("in.json").write_bytes(Path("tok.json").read_bytes())
    result = run(*line.split())
    assert result.exit_code == 1
    assert re.search(r"in\.json is read, and the (tokenizer|chunks) would take its place", result.stderr)
    assert Path("in.json").stat().st_size == text
    assert not Path("new.json").exists()


def test_a_tokenizer_can_be_changed_in_its_place(folder: Path) -> None:
    Path("o.json").symlink_to("tok.json")
    for line in ("edit tok.json --add-special <x> -o tok.json", "train a.txt --start tok.json -o tok.json"):
        result = run(*line.split(), *(["--vocab-size", "260"] if line.startswith("train") else []))
        assert result.exit_code == 0, result.output
    assert run("train", "o.json", "--kind", "text", "-o", "tok.json").exit_code == 1


# ---- streams that are closed or full ----


@pytest.mark.parametrize(
    "args, instead",
    [
        (["count", "-t", "tok.json"], "files"),
        (["encode", "-t", "tok.json", "-i", "-"], "files"),
        (["train", "-", "-o", "out.json"], "files"),
        (["shard", "-", "-t", "tok.json", "-o", "out"], "files"),
        (["decode", "-t", "tok.json"], "arguments"),
    ],
)
def test_a_closed_stdin_is_an_error(folder: Path, args: list[str], instead: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", None)  # as Python does where file 0 is closed
        # The runner would put its own stdin there.
        with pytest.raises(common.Failure) as error:
            _verb(*args)
    assert error.value.message == f"stdin is closed: give {instead}"
    assert not Path("out").exists()


def _verb(*args: str) -> None:
    """The command without the runner's streams."""
    syllabary.cli.main.main(list(args), standalone_mode=False)


def test_a_closed_stdout_or_stderr(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", None)
        asked = (["decode", "97"], ["encode", "ab"], ["encode", "--json", "ab"], ["count", "tok.json"])
        for verb, *more in (*asked, ["chunk", "tok.json", "--max-tokens", "9"]):
            with pytest.raises(common.Failure, match="stdout is closed"):
                _verb(verb, "-t", "tok.json", *more)
    monkeypatch.setattr("sys.stderr", None)
    Path("b.txt").write_text("abab")
    _verb("train", "b.txt", "--num-merges", "1", "-o", "out.json")
    assert syllabary.load("out.json").vocab_size == 257


def test_a_shell_that_closes_stdin_or_whose_disk_is_full(folder: Path) -> None:
    """In a real process: Python itself writes again what stdout has not taken, at its end."""
    lines, said = ["count -t tok.json <&-"], ["stdin is closed: give files"]
    if Path("/dev/full").exists():
        lines.append("encode -t tok.json cat > /dev/full")
        said.append("stdout: No space left on device")
    done = shell("".join(f"syllabary {line}; echo $?\n" for line in lines), PYTHONUNBUFFERED="")
    assert done.stdout == "1\n" * len(lines)
    assert done.stderr.splitlines() == [f"error: {sentence}" for sentence in said]


@pytest.mark.parametrize(
    "args", [["encode", "-t", "tok.json", "a"], ["decode", "-t", "tok.json", "97"], ["--help"]]
)
def test_a_full_disk_behind_stdout_without_a_buffer(
    folder: Path, args: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    full = io.TextIOWrapper(Full(), write_through=True)  # type: ignore[type-var]
    monkeypatch.setattr("sys.stdout", full)
    with pytest.raises(common.Failure, match=r"^stdout: No space left on device$"):
        _verb(*args)


class Room(io.RawIOBase):
    """A disk with room for so many bytes, which takes what fits before it says that it is full."""

    def __init__(self, room: int, at_once: int) -> None:
        super().__init__()
        self.room, self.at_once, self.taken = room, at_once, b""

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        part = bytes(data)[: min(self.room - len(self.taken), self.at_once)]  # type: ignore[call-overload]
        if not part:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.taken += part
        return len(part)


@pytest.mark.parametrize(
    "args", [["encode", "-t", "tok.json", "ab" * 9], ["decode", "-t", "tok.json", *["97"] * 9]]
)
def test_a_disk_that_takes_a_part_of_what_is_written(
    folder: Path, args: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python forgets what a stdout without a buffer has not taken: ours goes on, or says that it is full."""
    all_of_it = Room(1000, 1000)
    for room in (all_of_it, Room(1000, 3)):
        monkeypatch.setattr("sys.stdout", io.TextIOWrapper(room, write_through=True))  # type: ignore[type-var]
        _verb(*args)
        assert room.taken == all_of_it.taken
        assert len(room.taken) > 8
    small = Room(8, 1000)
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(small, write_through=True))  # type: ignore[type-var]
    with pytest.raises(common.Failure, match=r"^stdout: No space left on device$"):
        _verb(*args)
    assert small.taken == all_of_it.taken[:8]


def test_an_error_that_is_not_stdouts_does_not_name_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(syllabary, "load", full)
    assert run("count", "-t", "tok.json", "a.txt").stderr == "error: No space left on device\n"


# ---- names ----


@pytest.mark.parametrize(
    "args",
    [
        ["count", "-t", "tok.json", ""],
        ["encode", "-t", "tok.json", "-i", ""],
        ["train", "", "-o", "out.json"],
        ["shard", "a.txt", "", "-t", "tok.json", "-o", "out"],
    ],
)
def test_an_empty_name_is_not_the_current_folder(folder: Path, args: list[str]) -> None:
    result = run(*args)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "error: an empty name is no file\n"
    assert not Path("out").exists()


def test_a_name_cannot_talk_to_the_terminal(folder: Path) -> None:
    Path(WILD).write_bytes(b"\xff")
    result = run("count", "-t", "tok.json", WILD)
    assert result.stderr.startswith(f"error: {TAME}: not UTF-8: byte 0xFF at byte offset 0")
    assert len(result.stderr.splitlines()) == 1
    assert (
        run("count", "-t", "tok.json", "no" + WILD).stderr == f"error: no{TAME}: No such file or directory\n"
    )
    result = run("count", "-t", "tok.json", WILD, "a.txt", *SKIP)
    assert result.stdout.splitlines()[0] == f"0 {TAME}"
    lines = result.stderr.splitlines()
    assert lines[0] == "skipped 1 file or part of one:"
    assert lines[1].startswith(f"  {TAME}: not UTF-8")
    assert len(lines) == 2
    result = run("train", "a.txt", "--num-merges", "1", "-o", f"{WILD}.json")
    assert result.stderr.splitlines()[-1].endswith(f"saved as {TAME}.json")
    Path(WILD).write_bytes("déjà vu, naïve façade, été, çà et là, élève".encode("cp1252") * 30)
    result = run("count", "-t", "tok.json", WILD)
    assert result.stderr.splitlines()[0].startswith(f"warning: {TAME}: not UTF-8; read as cp125")


def test_the_lines_of_a_message_itself_stay(capsys: pytest.CaptureFixture[str]) -> None:
    common.talk("one\n\ttwo\r\x9b2J\u202ethree")
    assert capsys.readouterr().err == "one\n\ttwo\\r\\x9b2J\\u202ethree\n"
    result = run("train", "--bad-option", "a.txt")
    error, hint = result.stderr.split("\n\n")
    assert error.startswith("error: ")
    assert len(hint.splitlines()) == 2
    common.Failure("what \x1b]0;title\x07", "first\nsecond").show()
    assert capsys.readouterr().err == "error: what \\x1b]0;title\\x07\n\nhint: first\nsecond\n"


def test_labels_keep_their_colours(capsys: pytest.CaptureFixture[str]) -> None:
    label = click.style("lost:", fg="yellow", bold=True)
    assert common.LABEL.fullmatch(label)
    common.talk(f"{label} a\x1b[2J")
    assert capsys.readouterr().err == "lost: a\\x1b[2J\n"  # no terminal: click takes the colours off


def test_printable_leaves_text() -> None:
    for text in ("naïve 漢字 🐈", "e\u0301\u200d", r"a\nb", "\ud800"):
        assert words.printable(text) == text


# ---- much that is skipped ----


def test_of_many_errors_the_first_are_listed_and_all_are_counted(folder: Path) -> None:
    many = LISTED + 234
    Path("bad.jsonl").write_text('{"text": "good"}\n' + "{broken\n" * many, encoding="utf-8")
    corpus = Corpus(Path("bad.jsonl"), Reading(on_error="skip"))
    assert [document.text for document in corpus] == ["good"]
    assert (len(corpus.report.skipped), corpus.report.skips) == (LISTED, many)
    assert corpus.record()["skipped"] == many
    result = run("count", "-t", "tok.json", "bad.jsonl", *SKIP)
    lines = result.stderr.splitlines()
    assert result.stdout == "4 bad.jsonl\n"
    assert lines[0] == f"skipped {many:,} files or parts of them:"
    assert lines[-1] == f"  … and {many - LINES:,} more"
    assert len(lines) == LINES + 2
    assert lines[1].startswith("  bad.jsonl: line 2")


def test_reports_of_many_errors_are_merged_through_json() -> None:
    whole, parts = Report(), [Report(), Report(), Report()]
    for number in range(3 * LISTED // 2):
        for report in (whole, parts[number // (LISTED // 2)]):
            report.skip(f"{number}.txt", "broken")
    for _ in range(LISTED):
        parts[2].skip("more.txt", "broken")
        whole.skip("more.txt", "broken")
    merged = Report()
    for part in parts:
        merged.merge(Report.of(json.loads(json.dumps(dataclasses.asdict(part)))))
    assert merged == whole
    assert merged.skips == 5 * LISTED // 2
    before = dataclasses.asdict(whole)
    del before["unlisted"]  # a run that was begun with an older version
    assert Report.of(before).skips == LISTED


def test_one_more_than_fits_is_shown_rather_than_counted() -> None:
    report = Report()
    for number in range(LINES + 1):
        report.skip(f"{number}.txt", "broken")
    assert len(list(report.lines())) == LINES + 2
    report.skip("last.txt", "broken")
    assert list(report.lines())[-2:] == [f"  {LINES - 1}.txt: broken", "  … and 2 more"]


def test_what_was_skipped_is_said_in_the_words_of_the_command_line(folder: Path) -> None:
    Path("broken.txt").write_bytes(b"good\xff")
    Path("dead.txt").symlink_to("nowhere.txt")
    result = run("count", "-t", "tok.json", "a.txt", "broken.txt", "dead.txt", *SKIP)
    assert result.exit_code == 0, result.stderr
    assert "or declare its encoding (--encoding)" in result.stderr
    assert "encoding=" not in result.stderr
    assert "  dead.txt: No such file or directory\n" in result.stderr
    assert "Errno" not in result.stderr


@pytest.mark.parametrize("parts", [False, True])
def test_a_file_that_goes_away_while_it_is_read(folder: Path, parts: bool) -> None:
    Path("gone").mkdir()
    for name in ("1.txt", "2.txt"):
        Path("gone", name).write_text("text")
    corpus = Corpus(Path("gone"), Reading(on_error="skip"))
    found = (part for part, _ in corpus.parts()) if parts else (document.text for document in corpus)
    first = next(found)
    Path("gone", "2.txt").unlink()
    assert first + "".join(found) == "text"
    assert corpus.report.skipped == [(str(Path("gone", "2.txt")), "No such file or directory")]


def test_how_much_was_read_before_an_error(folder: Path) -> None:
    for number, said in ((1, "1 document or a part of it"), (2, "2 documents or parts of them")):
        Path("cut.csv").write_text("text\n" + "row\n" * number + '"no end', encoding="utf-8")
        corpus = Corpus(Path("cut.csv"), Reading(on_error="skip"))
        assert len(list(corpus)) == number
        assert corpus.report.skipped[0][1].endswith(f"(what comes before it was read: {said})")


def test_why_nothing_is_left_names_the_file_once(folder: Path) -> None:
    Path("bad.csv").write_text('text\n"no end', encoding="utf-8")
    with pytest.raises(
        CorpusError, match=r"1 file or part of one could not be read \(first bad\.csv: line 2"
    ):
        list(Corpus(Path("bad.csv"), Reading(on_error="skip")))


def test_a_guess_is_said_once_and_counted(folder: Path) -> None:
    texts = ["déjà vu, naïve façade, été, çà et là", "élève à l'école, forêt, garçon, où, noël"]
    for number in range(6):
        Path(f"{number}.txt").write_bytes(f"{texts[number % 2]}, {texts[0]}\n".encode("cp1252") * 30)
    for args in (["train", ".", "--include", "[0-5].txt", "-o", "out.json", "--num-merges", "2"],
                 ["count", "-t", "tok.json", *(f"{number}.txt" for number in range(6))],
                 ["encode", "-t", "tok.json", *(f"-i{number}.txt" for number in range(6))]):  # fmt: skip
        result = run(*args)
        assert result.exit_code == 0, result.stderr
        assert result.stderr.count("warning: ") == 1
        guess = re.search(r"warning: 0\.txt: not UTF-8; read as (cp125\d), which is a guess", result.stderr)
        assert guess is not None
        assert f"encodings other than UTF-8: {guess[1]} (6 files)" in result.stderr.splitlines()
    with pytest.warns(syllabary.errors.CorpusWarning) as found:
        list(Corpus([Path("0.txt"), Path("1.txt")]))
    assert len(found) == 2


# ---- options ----


def test_select_takes_true_and_false_as_json_writes_them(folder: Path) -> None:
    assert run("count", "-t", "tok.json", "rows.jsonl", "--select", "ok=true").stdout == "3 rows.jsonl\n"
    assert run("count", "-t", "tok.json", "rows.jsonl", "--select", "ok=false").stdout == "1 rows.jsonl\n"
    result = run("count", "-t", "tok.json", "rows.jsonl", "--select", "ok=1")
    assert "none has ok=1: there are false (1), true (1)" in result.stderr


@pytest.mark.parametrize("name", ["hex", "idna", "rot13", "undefined", "utf-88", ""])
def test_an_encoding_that_is_none_of_text_is_wrong_usage(folder: Path, name: str) -> None:
    result = run("count", "-t", "tok.json", "a.txt", "--encoding", name)
    assert result.exit_code == 2
    assert f"{name!r} is no encoding of text; give a name as utf-8 or cp1252" in result.stderr


def test_encodings_of_text_are_taken(folder: Path) -> None:
    for name in ("utf-8", "LATIN1", "cp1253", "utf-16-le", "shift_jis"):
        assert run("count", "-t", "tok.json", "a.txt", "--encoding", name).exit_code == 0


# ---- count of several ----


def test_of_several_files_one_may_have_nothing(folder: Path) -> None:
    Path("lat.jsonl").write_text('{"text": "ab", "lang": "lat"}\n')
    Path("grc.jsonl").write_text('{"text": "abcd", "lang": "grc"}\n')
    Path("bad.jsonl").write_text("{broken\n")
    args = ["count", "-t", "tok.json", "lat.jsonl", "grc.jsonl"]
    result = run(*args, "--select", "lang=grc")
    assert result.stdout == "0 lat.jsonl\n4 grc.jsonl\n4 total\n"
    assert result.stderr == "selected 1 of 2 documents\n"
    result = run(*args, "bad.jsonl", *SKIP)
    assert result.stdout == "2 lat.jsonl\n4 grc.jsonl\n0 bad.jsonl\n6 total\n"
    assert "skipped 1 file or part of one:" in result.stderr


def test_if_none_of_all_has_something_it_is_an_error(folder: Path) -> None:
    Path("lat.jsonl").write_text('{"text": "ab", "lang": "lat"}\n')
    result = run("count", "-t", "tok.json", "lat.jsonl", "rows.jsonl", "--select", "lang=grc")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "3 documents read, none has lang=grc: there are lat (1)" in result.stderr
    Path("bad.jsonl").write_text("{broken\n")
    assert run("count", "-t", "tok.json", "lat.jsonl", "bad.jsonl").exit_code == 1
    with pytest.raises(CorpusError, match="nothing is left"):
        Report(read=1).check(Reading(), Care())
