"""What the verbs share: errors as sentences, input from files or stdin, options that several have.

Leaves out: the words of errors (`words`), colours (`colour`), and anything that only one verb needs.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

import syllabary
from syllabary import corpus, errors
from syllabary.cli import words

Command = TypeVar("Command", bound=Callable[..., Any])

EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells count
NO_ARGUMENTS = getattr(click.exceptions, "NoArgsIsHelpError", ())  # click 8.1 has no such exception


class Failure(click.ClickException):
    """What stopped a verb, shown as `error: …` and, where there is a way out, `hint: …`."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint

    def show(self, file: Any = None) -> None:
        """Write the sentences to stderr."""
        click.echo(click.style("error:", fg="red", bold=True) + f" {self.message}", err=True)
        if self.hint is not None:
            click.echo(err=True)
            click.echo(click.style("hint:", fg="cyan", bold=True) + f" {self.hint}", err=True)


class Misuse(Failure):
    """Wrong usage, in the same form, with the exit code that shells use for it."""

    exit_code = 2


class Number(click.ParamType):  # type: ignore[type-arg]
    """A whole number in a range, which an error names, and not every line of `--help` as click's does."""

    name = "number"

    def __init__(self, least: int, most: int | None = None) -> None:
        """Both inclusive."""
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """`value` as an `int`; wrong usage if it is none, or outside."""
        try:
            number = int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number", param, ctx)
        if number < self.least or (self.most is not None and number > self.most):
            upwards = "or more" if self.most is None else f"to {self.most}"
            self.fail(f"{number} is out of range: give {self.least} {upwards}", param, ctx)
        return number


class Verbs(click.Group):
    """A group whose verbs end in a sentence, never in a traceback, when the input is at fault."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """The arguments before the verb."""
        with _one_form():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; exit code 1 for an error, 2 for wrong usage, 130 for Ctrl-C."""
        try:
            with _one_form(), _spoken_warnings():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(EXIT_INTERRUPTED)
        except BrokenPipeError:
            raise  # click ends quietly on it: the reader of the pipe has seen enough
        except (errors.SyllabaryError, OSError) as error:
            raise Failure(_sentence(error), words.hint(error)) from error


def set_up(ctx: click.Context) -> None:
    """Colours only if `NO_COLOR` is unset or empty; characters that stdout cannot show are escaped."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    elif os.environ.get("FORCE_COLOR"):
        ctx.color = True
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def talk(message: str = "") -> None:
    """Say something to the person, on stderr."""
    click.echo(message, err=True)


def write(data: bytes) -> None:
    """Write data to stdout, byte for byte."""
    stream = sys.stdout.buffer
    stream.write(data)
    stream.flush()


def documents(path: str) -> Iterator[str]:
    """The documents of a file, or all of stdin as one document for `-`."""
    if path == "-":
        yield read_stdin()
    else:
        for document in corpus.read(Path(path)):
            yield document.text


def read_stdin() -> str:
    """All of stdin as UTF-8. An undecodable byte is a `CorpusError` with its position."""
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"stdin: byte 0x{data[error.start]:02x} at offset {error.start} (line {line}) is not UTF-8"
        raise errors.CorpusError(message) from error


def tokenizer_options(command: Command) -> Command:
    """`-t` and what a bare rank file needs besides: the verb gets `tokenizer` and `split`."""
    command = click.option(
        "--split", metavar="NAME|PATTERN", help="The split of a rank file that says nothing of its own."
    )(command)
    return click.option(
        "-t",
        "--tokenizer",
        metavar="TOK",
        required=True,
        help="A tokenizer's file or folder, or the name of a published encoding.",
    )(command)


def special_option(command: Command) -> Command:
    """`--special`: what a special token in the text means."""
    return click.option(
        "--special",
        type=click.Choice(["raise", "allow", "text"]),
        default="raise",
        show_default=True,
        help="Special tokens in the text: an error, their ids, or plain text.",
    )(command)


def load(tokenizer: str, split: str | None) -> syllabary.Tokenizer:
    """The tokenizer that `-t` and `--split` name."""
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
        raise Misuse(error.format_message(), hint) from error


@contextmanager
def _spoken_warnings() -> Iterator[None]:
    """Warnings of the library as `warning: …` on stderr, without a line of source."""

    def speak(message: Warning | str, *_: Any, **__: Any) -> None:
        talk(click.style("warning:", fg="yellow", bold=True) + f" {words.spoken(str(message))}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", errors.EarlyStopWarning)
        warnings.showwarning = speak
        yield


def _sentence(error: Exception) -> str:
    """The error as one sentence: of an `OSError` the file and the reason, without its number."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return words.spoken(str(error)) or type(error).__name__
