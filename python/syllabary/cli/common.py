"""What the verbs share: errors as sentences, input from files or stdin.

Whatever is said on stderr goes through `words.printable`: names of files are not ours, and may hold line ends
and what a terminal obeys. Leaves out: the words of errors (`words`), colours (`colour`), options that
several verbs have (`shared_options`), and anything that only one needs.
"""

from __future__ import annotations

import errno
import functools
import os
import re
import shlex
import shutil
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeVar

import click

import syllabary
from syllabary import errors, hub
from syllabary.cli import standard, words
from syllabary.corpus.archives import stream_of
from syllabary.corpus.corpus import Corpus
from syllabary.corpus.document import Document, Reading, Stream, place_of
from syllabary.corpus.report import Report
from syllabary.encodings.cache import offline

Command = TypeVar("Command", bound=Callable[..., Any])

EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells count
LABEL = re.compile(r"(?:\x1b\[\d+m)+[a-z]+:\x1b\[0m")  # in colours, at the beginning of what is said
OF_TEXT = (errors.SpecialTokenError, errors.UnknownSymbolError, errors.TextError, errors.PatternError)
OURS = "\n\t"  # in what is said: line ends and columns; names have been through `printable` before
NO_ARGUMENTS = getattr(click.exceptions, "NoArgsIsHelpError", ())  # click 8.1 has no such exception


class Failure(click.ClickException):
    """What stopped a verb, shown as `error: …` and, where there is a way out, `hint: …`."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint

    def show(self, file: Any = None) -> None:
        """Write the sentences to stderr."""
        talk(click.style("error:", fg="red", bold=True) + f" {self.message}")
        if self.hint is not None:
            talk()
            hint(self.hint)


class Misuse(Failure):
    """Wrong usage, in the same form, with the exit code that shells use for it."""

    exit_code = 2


class Verbs(click.Group):
    """A group whose verbs end in a sentence, never in a traceback, when the input is at fault."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """The arguments before the verb; Ctrl-C ends it in silence, not with the `Aborted!` of click."""
        try:
            with _one_form(), _in_sentences():
                return super().make_context(*args, **extra)
        except KeyboardInterrupt:
            sys.exit(EXIT_INTERRUPTED)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; exit code 1 for an error, 2 for wrong usage, 130 for Ctrl-C."""
        try:
            with _one_form(), _in_sentences(), _spoken_warnings():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(EXIT_INTERRUPTED)


def set_up(ctx: click.Context) -> None:
    """Colours only if `NO_COLOR` is unset or empty; characters that stdout cannot show are escaped."""
    ctx.color = _colours()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(**standard.characters(stream))
    standard.set_up()


def _colours() -> bool | None:
    """What the environment says of colours; `None` if nothing, so that terminals get them."""
    if os.environ.get("NO_COLOR"):
        return False
    return True if os.environ.get("FORCE_COLOR") else None


def ends_as_ctrl_c(command: Command) -> Command:
    """A verb that ends at SIGTERM as it does at Ctrl-C: its temporary files go, a checkpoint stays."""

    @functools.wraps(command)
    def ended(**options: Any) -> None:
        main = threading.current_thread() is threading.main_thread()
        if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
            command(**options)  # somebody else hears it
            return
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            command(**options)
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    return ended  # type: ignore[return-value]


def draws() -> bool:
    """Whether stderr is a terminal, where a progress bar can be drawn; it may be closed."""
    return sys.stderr is not None and sys.stderr.isatty()


def talk(message: str = "") -> None:
    """Say something to the person, on stderr; what a terminal obeys is escaped, but a label's colours."""
    label = LABEL.match(message)
    start = label.end() if label is not None else 0
    say(message[:start] + words.printable(message[start:], keep=OURS))


def hint(sentence: str) -> None:
    """Say what to do, on stderr."""
    talk(click.style("hint:", fg="cyan", bold=True) + f" {sentence}")


def say(line: str) -> None:
    """A line on stderr as it is; a full disk behind it takes the line, and not the work that it is about."""
    try:
        click.echo(line, err=True, color=_colours())  # subtle: an error is said when no context is left
    except BrokenPipeError:
        raise  # click ends quietly on it
    except OSError:
        _forget(sys.stderr)


def data(line: object = "", nl: bool = True) -> None:
    """Write a line of data to stdout."""
    if sys.stdout is None:  # click says nothing then
        raise Failure("stdout is closed")
    click.echo(line, nl=nl)


def write(data: bytes) -> None:
    """Write data to stdout, byte for byte."""
    if sys.stdout is None:
        raise Failure("stdout is closed")
    stream = sys.stdout.buffer
    stream.write(data)
    stream.flush()


def check_kept(output: str, names: Iterable[str], what: str, more: str = "") -> None:
    """`Failure` where what is written would take the place of a file that is read. more: ends the hint."""
    for name in names:
        there = "-" not in (name, output) and os.path.exists(name) and os.path.exists(output)
        if there and os.path.samefile(name, output):
            raise Failure(
                f"{words.printable(output)} is read, and {what} would take its place",
                f"save {what} under another name{more}",
            )


def source_of(paths: Iterable[str]) -> list[Path | Stream]:
    """What a corpus reads for the arguments of a verb: paths, and stdin for `-`, as a stream."""
    return [stream_of(stdin("files"), "stdin") if path == "-" else _path(path) for path in paths]


def _path(path: str) -> Path:
    if not path:
        raise FileNotFoundError("an empty name is no file")  # subtle: Path("") is the current folder
    if (
        " " in path.strip() and path.isprintable() and os.sep not in path and not os.path.lexists(path)
    ):  # a text, most likely
        hint("FILES are names of files; a text comes through stdin, as in `echo TEXT | syllabary …`")
    return Path(path)


def stdin(instead: str) -> BinaryIO:
    """What stands on stdin, as bytes; `instead` is what to give where there is none."""
    if sys.stdin is None:
        raise Failure(f"stdin is closed: give {instead}")
    return sys.stdin.buffer


def documents(*paths: str, reading: Reading | None = None) -> Iterator[Document]:
    """Those of files and folders, of stdin for `-`; on stderr, what was skipped or guessed."""
    corpus = Corpus(source_of(paths), reading)
    yield from corpus.read(normalized=True)  # which form a text has is not asked here
    talk_of(corpus.report)


def arguments(texts: Iterable[str]) -> Iterator[Document]:
    """Texts given as arguments; a hint where one is the name of a file, or of stdin, which is not read."""
    for text in texts:
        if text == "-" or os.path.isfile(text):
            name = shlex.quote(words.printable(text))
            what = "stdin" if text == "-" else "the file of that name"
            hint(f"{name} is read as a text; `-i {name}` reads {what}")
        yield Document(words.decoded(text))


@contextmanager
def told_where(document: Document, reading: Reading) -> Iterator[None]:
    """An error about the text of a document names its file, and its place there if there are several."""
    try:
        yield
    except OF_TEXT as error:
        if "path" not in document.meta:
            raise
        raise type(error)(f"{place_of(document, reading)}: {error}") from error


def talk_of(read: Corpus | Report) -> None:
    """Say on stderr what was left out, skipped and found out."""
    report = read.report if isinstance(read, Corpus) else read
    for line in report.lines():
        talk(words.printable(_spoken(line)))


def read_stdin() -> str:
    """All of stdin as UTF-8. An undecodable byte is a `CorpusError` with its position."""
    data = stdin("arguments").read()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"stdin: byte 0x{data[error.start]:02x} at offset {error.start} (line {line}) is not UTF-8"
        raise errors.CorpusError(message) from error


def load(tokenizer: str, split: str | None) -> syllabary.Tokenizer:
    """The tokenizer that `-t` and `--split` name; of one that is no file here, before the Hub is asked."""
    asked = not os.path.exists(tokenizer) and hub.is_id(tokenizer) and not offline()
    if asked and not hub.is_kept(tokenizer):
        talk(f"{tokenizer}: no such file or folder here; looking for it on the Hugging Face Hub")
    return syllabary.load(tokenizer, split=split)


@contextmanager
def _one_form() -> Iterator[None]:
    """Wrong usage looks as every other error does."""
    try:
        yield
    except NO_ARGUMENTS:
        raise  # no error: it shows the help
    except click.UsageError as error:
        hint = None
        if error.ctx is not None:
            usage = error.ctx.get_usage().removeprefix("Usage: ")
            hint = f"{usage}\n      `{error.ctx.command_path} --help` says more"
            if isinstance(error, click.NoSuchOption) and not error.option_name.startswith("--"):
                hint += f"; a file whose name begins so is given as ./{error.option_name}…"
        raise Misuse(error.format_message(), hint) from error


@contextmanager
def _in_sentences() -> Iterator[None]:
    """What is at fault with the input or the disk is said in a sentence."""
    try:
        yield
    except BrokenPipeError:
        raise  # click ends quietly on it: the reader of the pipe has seen enough
    except (errors.SyllabaryError, OSError) as error:
        if standard.is_closed_pipe(error) and _at_stdout(error):
            _forget(sys.stdout)
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from error
        raise Failure(_sentence(error), words.hint(error)) from error


@contextmanager
def _spoken_warnings() -> Iterator[None]:
    """Warnings of the library as `warning: …` on stderr, without a line of source.

    What is said of one file, as `file: …`, is not said again of the next: the report counts them.
    """
    said = set[str]()

    def speak(message: Warning | str, *_: Any, **__: Any) -> None:
        sentence = str(message)
        what = sentence.partition(": ")[2] or sentence
        if what not in said:
            said.add(what)
            shown = words.printable(_spoken(sentence))
            if draws():  # a line of progress may stand there
                empty = " " * (shutil.get_terminal_size().columns - 1)
                click.echo(f"\r{empty}\r", nl=False, err=True)
            talk(click.style("warning:", fg="yellow", bold=True) + f" {shown}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", errors.EarlyStopWarning)
        warnings.simplefilter("always", errors.CorpusWarning)
        warnings.showwarning = speak
        yield


def _sentence(error: Exception) -> str:
    """The error as one line: of an `OSError` the file and the reason, without its number."""
    if isinstance(error, OSError) and error.strerror:
        name = error.filename
        if name is None and _at_stdout(error):
            name = "stdout"
            _forget(sys.stdout)
        return words.printable(error.strerror if name is None else f"{name}: {error.strerror}")
    return words.printable(_spoken(str(error))) or type(error).__name__


def _spoken(sentence: str) -> str:
    """The sentence with the options that the verb has."""
    return words.spoken(sentence if _can_be_told() else words.read_as_it_is(sentence))


def _can_be_told() -> bool:
    """Whether the verb that runs has the options that say how a corpus is to be read; yes where none runs."""
    ctx = click.get_current_context(silent=True)
    if ctx is None:
        return True
    command: click.Command | None = ctx.command
    if isinstance(command, click.Group) and ctx.invoked_subcommand is not None:
        command = command.get_command(ctx, ctx.invoked_subcommand)
    return command is None or any("--encoding" in parameter.opts for parameter in command.params)


def _at_stdout(error: Exception) -> bool:
    """Whether an error came up while something was written to stdout."""
    codes = (click.echo.__code__, write.__code__)
    return any(frame.f_code in codes for frame, _ in traceback.walk_tb(error.__traceback__))


def _forget(stream: TextIO) -> None:
    """Let what could not be written go nowhere, else Python tries again at its end, and complains of it."""
    with suppress(OSError, ValueError):  # a stream without a number, as in tests
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)
