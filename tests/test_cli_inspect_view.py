"""`syllabary inspect --view` and `--html`: on a terminal, in a pipe, and as a page.

Leaves out: what is seen of a text (`test_inspecting_view`), the rows of `inspect` (`test_cli_inspect`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import syllabary
from syllabary import inspecting, visible
from syllabary.cli import common, inspect_view, main
from syllabary.inspecting import reading

TEXT = "low lower 12 μῆνιν 道可道 e\u0301 \u05d0\u05d1\u05b0 \u202e\x1b[31m\t<|end|>\x85<b>\n\nlow"
ALLOWED = ("--special", "allow")

pytestmark = pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")


@pytest.fixture
def folder(working_folder: Path) -> Path:
    Path("corpus.txt").write_text(TEXT, encoding="utf-8")
    learned = ["low lower lowest μῆνιν"] * 4
    syllabary.train(learned, vocab_size=270, special_tokens=["<|end|>"]).save("tok.json")
    syllabary.train(learned, model="wordpiece", vocab_size=60).save("words.json")
    return working_folder


def run(*args: str, **more: bool) -> Result:
    return CliRunner().invoke(main, ["inspect", *args], **more)  # type: ignore[arg-type]


def view_of(name: str, text: str) -> str:
    return str(inspecting.view(syllabary.load(name), text, "allow")) + "\n"


def test_a_pipe_gets_bars(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run("-t", "tok.json", "--view", *ALLOWED, TEXT)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == view_of("tok.json", TEXT)
    assert re.search("│\\\\x1b│", result.stdout)
    assert result.stdout.replace("\n", "").isprintable()
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    assert run("-t", "tok.json", "--view", *ALLOWED, TEXT, color=True).stdout == result.stdout


def test_colours_end_with_the_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    painted = run("-t", "tok.json", "--view", *ALLOWED, TEXT, color=True).stdout
    shown = click.unstyle(painted)
    assert shown.replace("\n", "").isprintable()  # nothing of the text talks to the terminal
    assert shown.startswith("low lower 12 ")
    assert "道₃可₃道₃" in shown
    assert "◌\u05b0" in shown
    assert "\\u202e" in shown
    assert "\\x1b[31m\\t<|end|>\\u0085" in shown
    assert "⏎\n⏎\nlow\n" in shown
    for line in painted.splitlines():
        assert line.rfind("\x1b[0m") >= line.rfind("\x1b[4"), line
    backgrounds = re.findall(r"\x1b\[48;2;([\d;]+)m", painted)
    assert {*backgrounds} == {";".join(map(str, one)) for one in visible.BACKGROUNDS}
    assert painted.count("\x1b[4m") >= 1  # the special token has a line


def test_what_no_token_stands_for_has_no_colour(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("-t", "words.json", "--view", "low lower").stdout.startswith("low│ ┊")
    monkeypatch.setenv("FORCE_COLOR", "1")
    painted = run("-t", "words.json", "--view", "low \tlow", color=True).stdout
    assert "\x1b[0m \x1b[2m\\t\x1b[0m\x1b[" in painted


def test_several_texts_and_tokenizers(folder: Path) -> None:
    shown = run("-t", "tok.json", "-t", "words.json", "--view", *ALLOWED, "low", "-i", "corpus.txt").stdout
    blocks = [
        f"{name}\n{view_of(name, text)}" for text in ("low", TEXT) for name in ("tok.json", "words.json")
    ]
    assert shown == "\n".join(blocks)
    assert run("-t", "tok.json", "--view", "").stdout == "0 tokens, 0 characters, 0 bytes\n"
    assert run("tok.json", "--view", *ALLOWED, "-i", "corpus.txt").stdout == view_of("tok.json", TEXT)


# ---- the page ----


def test_a_page_stands_for_itself(folder: Path) -> None:
    args = ("-t", "tok.json", "-t", "words.json", "--html", "page.html", *ALLOWED)
    result = run(*args, "<i>low", "-i", "corpus.txt")
    assert (result.exit_code, result.output) == (0, "")
    html = Path("page.html").read_text(encoding="utf-8")
    assert html.startswith("<!DOCTYPE html>\n<html lang=")
    assert html.endswith("</body>\n</html>\n")
    assert "default-src 'none'" in html
    assert not re.search(r"<script|src=|href=|url\(|@import|https?:", html)
    assert re.findall("<h2><bdi>(.*)</bdi></h2>", html) == ["text 1", "corpus.txt"]
    assert re.findall("<h3><bdi>(.*)</bdi></h3>", html) == ["tok.json", "words.json"] * 2
    for text in ("<i>low", TEXT):
        for name in ("tok.json", "words.json"):
            notebook = inspecting.view(syllabary.load(name), text, "allow")._repr_html_()
            assert notebook.partition("</style>\n")[2] in html
    assert "\x1b" not in html
    assert "<b>" not in html


def test_a_page_and_a_view_at_once(folder: Path) -> None:
    shown = run("-t", "tok.json", "--html", "page.html", "--view", "low").stdout
    assert shown == view_of("tok.json", "low")
    assert ">low</span>" in Path("page.html").read_text(encoding="utf-8")


def test_a_page_goes_to_stdout(folder: Path) -> None:
    assert run("-t", "tok.json", "--html", "page.html", "low", "lower").exit_code == 0
    found = run("-t", "tok.json", "--html", "-", "low", "lower")
    assert (found.exit_code, found.stdout) == (0, Path("page.html").read_text(encoding="utf-8"))
    assert not Path("-").exists()


def test_names_of_files_are_no_markup(folder: Path) -> None:
    name = "<b>&x.txt"
    Path(name).write_text("low", encoding="utf-8")
    assert run("-t", "tok.json", "--html", "page.html", "-i", name).exit_code == 0
    assert "<h2><bdi>&lt;b&gt;&amp;x.txt</bdi></h2>" in Path("page.html").read_text(encoding="utf-8")


def test_an_error_leaves_the_old_page(folder: Path) -> None:
    Path("page.html").write_text("old", encoding="utf-8")
    before = sorted(path.name for path in folder.iterdir())
    result = run("-t", "tok.json", "--html", "page.html", "low", "a<|end|>")
    assert result.exit_code == 1
    assert "--special allow" in result.stderr
    assert Path("page.html").read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("read", ["corpus.txt", "tok.json"])
def test_what_is_read_is_not_written_over(folder: Path, read: str) -> None:
    before = Path(read).read_bytes()
    result = run("-t", "tok.json", "--html", read, "-i", "corpus.txt")
    assert result.exit_code == 1
    assert "is read, and the page would take its place" in result.stderr
    assert Path(read).read_bytes() == before


@pytest.mark.parametrize(
    "args, words",
    [
        (["-t", "tok.json", "--view"], "give one, or --input FILE"),
        (["tok.json", "--html", "page.html"], "give one, or --input FILE"),
        (["-t", "tok.json", "--view", "--json", "low"], "leave out --json"),
        (["-t", "tok.json", "--html", "page.html", "--steps", "low"], "--steps"),
        (["-t", "tok.json", "--view", "--token", "low", "low"], "--token"),
        (["-t", "tok.json", "-t", "words.json", "low"], "--view or --html"),
        (["-t", "tok.json", "--html", "", "low"], "an empty name is no file"),
        (["-t", "tok.json", "--html", "-", "--view", "low"], "both write to stdout"),
    ],
)
def test_wrong_usage(folder: Path, args: list[str], words: str) -> None:
    result = run(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr
    assert not Path("page.html").exists()


@pytest.mark.parametrize("form", ["--view", "--html"])
def test_the_first_parts_are_written_before_the_last_are_made(
    form: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, written = list[int](), list[int]()
    find = reading.Rows._made
    cut = inspect_view._blocks

    def blocks(strings: Iterator[str]) -> Iterator[list[str]]:
        for block in cut(strings):
            written.append(len(made))
            yield block

    monkeypatch.setattr(reading.Rows, "_made", lambda rows, place: made.append(0) or find(rows, place))
    monkeypatch.setattr(inspect_view, "_blocks", blocks)
    Path("long.txt").write_text("low lower\n" * 9000, encoding="utf-8")
    result = run("-t", "tok.json", *([form, "page.html"] if form == "--html" else [form]), "-i", "long.txt")
    assert result.exit_code == 0, result.output
    assert len(made) > 5
    assert written[0] <= 2
    assert len(written) >= len(made) - 1


def test_a_closed_stdout_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", None)
        with pytest.raises(common.Failure, match="stdout is closed"):
            main(["inspect", "-t", "tok.json", "--view", "low"], standalone_mode=False)
