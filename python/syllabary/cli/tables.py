"""Tables of counts among the arguments of a verb: which they are, and how they are read.

Adds `--counts`, the tables of `train`, and the parts of a sum. Leaves out: what a table is
(`syllabary.counts`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from syllabary.cli import common
from syllabary.cli.words import printable
from syllabary.corpus.care import Care
from syllabary.corpus.corpus import Corpus
from syllabary.corpus.document import Reading
from syllabary.counts import PieceCounts
from syllabary.counts.parquet import is_table
from syllabary.counts.sums import sum_of
from syllabary.errors import CorpusError
from syllabary.training import LIKE

# The columns of a table of counts, in a file that is read as documents.
COLUMNS = re.compile(r": no column '.*'; the columns are (?:'piece', 'count'|'count', 'piece') ")


def tables_option(command: common.Command) -> common.Command:
    """`--counts`, and an error that names it where a file looks as if it were meant."""

    @functools.wraps(command)
    def hinted(**options: Any) -> None:
        try:
            command(**options)
        except CorpusError as error:
            if COLUMNS.search(str(error)):
                raise CorpusError(f"{error}; if it is a table of counts, say --counts") from error
            raise

    option = click.option(
        "--counts", "tables", is_flag=True, help="FILES are tables of counts, as a .txt of words and counts."
    )
    return option(hinted)  # type: ignore[return-value]


def parted(files: Sequence[str], tables: bool) -> tuple[list[str], list[str]]:
    """The arguments that are tables, and those that are text. tables: all are."""
    known = {name: tables or (name not in ("", "-") and is_table(Path(name))) for name in files}
    return [name for name in files if known[name]], [name for name in files if not known[name]]


def load(name: str, options: Mapping[str, Any]) -> PieceCounts:
    """The table of a file. options: those of training; of them, what they say of a table must be true."""
    return PieceCounts.load(name, **told(options))


def told(options: Mapping[str, Any]) -> dict[str, Any]:
    """What options of training say of a table, or of how text becomes one."""
    found = {key: options[key] for key in ("like", "split", "normalize") if key in options}
    if LIKE.get(options.get("like", ""), {}).get("cut_special", True):
        found["special_tokens"] = options.get("special_tokens", ())
    return found


def table_of(
    files: Sequence[str], tables: bool, reading: Reading, care: Care, options: Mapping[str, Any]
) -> PieceCounts | None:
    """The sum of the tables that the arguments are, None if they are text.

    Raises `Failure` for some of both, wrong usage for options that only documents have.
    """
    found, texts = parted(files, tables)
    if not found:
        return None
    if texts:
        raise common.Failure(
            f"{printable(found[0])} is a table of counts, and {printable(texts[0])} is not",
            "add them first: syllabary count-pieces FILES -o sum.parquet",
        )
    check_reading(found[0], reading, care)
    if len(found) == 1:
        return load(found[0], options)
    arrays, rules, about = sum_of(
        (load(name, options) for name in found), [printable(name) for name in found]
    )
    return PieceCounts(arrays, rules, **about)


def check_reading(name: str, reading: Reading, care: Care) -> None:
    """Wrong usage if something is asked for that only documents have. name: of a table."""
    for option in Corpus((), reading, care).options():
        if option != "normalize":
            shown = option.removesuffix("_by").replace("_", "-")
            raise click.UsageError(
                f"--{shown} is about documents, and {printable(name)} is a table of counts, which has none"
            )
