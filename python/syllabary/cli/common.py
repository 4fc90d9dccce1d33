"""What the verbs share: errors as sentences, input from files or stdin, options that several have.

Leaves out: colours (`colour`) and anything that only one verb needs.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

import syllabary
from syllabary import corpus, errors

Command = TypeVar("Command", bound=Callable[..., Any])

EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells count

# The way out in the words of the command line, where the library's own words are Python's.
HINTS: Sequence[tuple[type[Exception], str]] = (
    (
        errors.SpecialTokenError,
        "`--special allow` gives special tokens their ids, `--special text` reads them as plain text",
    ),
    (
        errors.UnknownSymbolError,
        "a tokenizer trained with `--fallback` spells unseen symbols with smaller ones",
    ),
    (
        errors.UnknownEncodingError,
        "`-t` takes a tokenizer's file or folder, or the name of a published encoding",
    ),
    (errors.SplitError, "a bare word is the name of a split; anything else is a pattern"),
)


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


class Verbs(click.Group):
    """A group whose verbs end in a sentence, never in a traceback, when the input is at fault."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; exit code 1 for an error, 130 for Ctrl-C (2 for wrong usage is click's own)."""
        try:
            with _spoken_warnings():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(EXIT_INTERRUPTED)
        except BrokenPipeError:
            raise  # click ends quietly on it: the reader of the pipe has seen enough
        except (errors.SyllabaryError, OSError) as error:
            raise Failure(_sentence(error), _hint(error)) from error


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
        for document in corpus.read(path):
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
def _spoken_warnings() -> Iterator[None]:
    """Warnings of the library as `warning: …` on stderr, without a line of source."""

    def speak(message: Warning | str, *_: Any, **__: Any) -> None:
        talk(click.style("warning:", fg="yellow", bold=True) + f" {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", errors.EarlyStopWarning)
        warnings.showwarning = speak
        yield


def _sentence(error: Exception) -> str:
    """The error as one sentence: of an `OSError` the file and the reason, without its number."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def _hint(error: Exception) -> str | None:
    return next((hint for kind, hint in HINTS if isinstance(error, kind)), None)
