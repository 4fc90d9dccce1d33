"""Options of the verbs that read files: how files become documents, and what becomes of documents.

Adds `corpus_options`, which gives a verb its `reading`, and `care_options`, which gives it its `care`.
Leaves out: what the options mean (`syllabary.corpus`), and the report afterwards (`common.talk_of`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import click

import syllabary
from syllabary.cli import common, values
from syllabary.cli.words import printable
from syllabary.corpus.care import FORMS, Care
from syllabary.corpus.document import Reading
from syllabary.corpus.encoding import known
from syllabary.corpus.readers import READERS
from syllabary.errors import CorpusError

Command = TypeVar("Command", bound=Callable[..., Any])

ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0", "\\": "\\"}
RECORDED = object()  # the value of `--rest` without a number


class Share(click.ParamType):  # type: ignore[type-arg]
    """A part of a whole, which an error names, and not every line of `--help` as click's does."""

    name = "share"

    def __init__(self, wanted: str, fits: Callable[[float], bool]) -> None:
        """wanted: the range in words."""
        self.wanted, self.fits = wanted, fits

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """`value` as a `float`; wrong usage if it is none, or outside."""
        if value is RECORDED:
            return value
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number; give {self.wanted}", param, ctx)
        if not self.fits(number):
            self.fail(f"{value} is out of range: give {self.wanted}", param, ctx)
        return number


def _separator(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    r"""The text with `\n` and its like as the characters that they stand for."""
    if value == "":
        raise click.BadParameter(r"it is empty: give a text, as \n\n")
    if value is None:
        return None
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[0]), value)


def _encoding(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    try:
        known(value, "")
    except CorpusError as error:
        raise click.BadParameter(
            f"{value!r} is no encoding of text; give a name as utf-8 or cp1252"
        ) from error
    return value


def _select(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(_pairs(values))


def _pairs(values: Iterable[str]) -> Iterator[tuple[str, str]]:
    for value in values:
        name, equals, wanted = value.partition("=")
        if not name or not equals:
            raise click.BadParameter(f"{value!r} is not of the form NAME=VALUE, as lang=grc")
        yield name, wanted


READING: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--include", metavar="GLOB", multiple=True, help="Of folders and archives, only these files."
    ),
    click.option("--exclude", metavar="GLOB", multiple=True, help="Not these files (both repeatable)."),
    click.option(
        "--kind",
        type=click.Choice(sorted(reader.name for reader in READERS)),
        help="Read files as this, whatever their suffix.",
    ),
    click.option(
        "--documents",
        type=click.Choice(["file", "line"]),
        help="A document of plain text: the file, or each line (in `encode` empty too).  [default: file]",
    ),
    click.option(
        "--separator",
        type=values.Text(),
        metavar="TEXT",
        callback=_separator,
        help=r"What stands between documents of plain text, as \n\n.",
    ),
    click.option(
        "--column",
        type=values.Text(),
        metavar="NAME",
        help="Where tables and JSON have the text.  [default: text]",
    ),
    click.option("--encoding", metavar="NAME", callback=_encoding, help="Of all files; else found out."),
    click.option(
        "--division",
        type=click.Choice(["auto", "work", "chapter", "letter"]),
        help="A document of TEI.  [default: auto]",
    ),
    click.option(
        "--beta-code/--no-beta-code", default=None, help="TEI's Greek is in beta code; else found out."
    ),
    click.option(
        "--select",
        type=values.Text(),
        metavar="NAME=VALUE",
        multiple=True,
        callback=_select,
        help="Only documents that say so, as lang=grc (repeatable).",
    ),
    click.option(
        "--on-error",
        type=click.Choice(["raise", "skip"]),
        help="A file that cannot be read ends all, or is listed.  [default: raise]",
    ),
    click.option(
        "--errors",
        type=click.Choice(["strict", "replace"]),
        help="Bytes that are no text: an error, or U+FFFD.  [default: strict]",
    ),
)
NORMALIZE = click.option(
    "--normalize", type=click.Choice(FORMS), help="Bring text into this normal form of Unicode."
)
DUPLICATES = click.option(
    "--drop-duplicates", is_flag=True, help="Of documents with the same text, keep the first."
)
FRACTION = click.option(
    "--fraction",
    type=Share("a number above 0, at most 1", lambda number: 0 < number <= 1),
    metavar="F",
    help="Only this part of the documents.",
)
LEFT_OUT = Share("the fraction that is left out, 0 or above, below 1", lambda number: 0 <= number < 1)
REST = click.option(
    "--rest", type=LEFT_OUT, metavar="F", help="Instead: the documents that --fraction F leaves out."
)
RECORDED_REST = click.option(
    "--rest",
    type=LEFT_OUT,
    metavar="F",
    is_flag=False,
    flag_value=RECORDED,
    help="Those that the tokenizer was not trained on; --rest=F if its file does not tell.",
)
SEED = click.option(
    "--seed",
    type=values.Number(0, 2**64 - 1),
    default=0,
    metavar="N",
    help="Another number, another choice of documents.  [default: 0]",
)


def corpus_options(command: Command) -> Command:
    """The options of `Reading`: the verb gets `reading`."""

    @functools.wraps(command)
    def read(*args: Any, **options: Any) -> Any:
        names = Reading.__dataclass_fields__
        found = {name: options.pop(name) for name in names if name in options}
        given = {name: value for name, value in found.items() if value is not None}
        if {"documents", "separator"} <= given.keys():
            raise click.UsageError("--documents and --separator both cut plain text: give one of them")
        return command(*args, reading=Reading(**given), **options)

    made: Command = _with(read, READING)
    return made


def care_options(command: Command, *, recorded: bool = False) -> Command:
    """The options of `Care`: the verb gets `care`.

    recorded: `--rest` may stand without a number, for the fraction that a tokenizer was trained on: the verb
        gets `rest_recorded` besides, and `rest_of` makes the care that is meant.
    """

    @functools.wraps(command)
    def cared(*args: Any, **options: Any) -> Any:
        if recorded:
            options["rest_recorded"] = options["rest"] is RECORDED
        if options["rest"] is RECORDED and options["fraction"] is None:
            options["rest"] = None
        return command(*args, care=_care(options), **options)

    rest = RECORDED_REST if recorded else REST
    made: Command = _with(cared, (NORMALIZE, DUPLICATES, FRACTION, rest, SEED))
    return made


def _care(options: dict[str, Any]) -> Care:
    """The options of care, taken out of `options`."""
    found = {name: options.pop(name) for name in Care.__dataclass_fields__}
    if found["fraction"] is not None and found["rest"] is not None:
        raise click.UsageError("--fraction and --rest are the two sides of one split: give one of them")
    return Care(**found)


def rest_of(tokenizer: syllabary.Tokenizer, care: Care, name: str) -> Care:
    """The care that leaves out what a tokenizer was trained on, by its record.

    name: the tokenizer's, for the error where it has no such record.
    """
    record = tokenizer.spec.record.get("corpus")
    fraction = record.get("fraction") if isinstance(record, dict) else None
    seed = record.get("seed", 0) if isinstance(record, dict) else 0
    if not isinstance(fraction, (int, float)) or not isinstance(seed, int) or not 0 < fraction < 1:
        raise common.Failure(
            f"{printable(name)} does not say that it was trained on a fraction of the documents, so there "
            "is no rest",
            "only .syllabary.json keeps how a tokenizer was trained; `--rest 0.01` says the fraction itself",
        )
    return replace(care, rest=fraction, fraction=None, seed=seed)


def _with(command: Any, options: Iterable[Callable[[Any], Any]]) -> Any:
    """The command with options, which `--help` lists in this order."""
    for option in reversed(list(options)):
        command = option(command)
    return command
