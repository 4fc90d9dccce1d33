"""`train` on several languages, and with superwords: options and what is said afterwards.

Leaves out: what they mean (`syllabary.training.parity`, `training.superwords`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from syllabary.cli import common
from syllabary.cli.sizes import Size
from syllabary.cli.tables import check_reading, load, parted
from syllabary.cli.words import plural, printable
from syllabary.corpus.care import Care
from syllabary.corpus.corpus import Corpus
from syllabary.corpus.document import Reading
from syllabary.counts import PieceCounts
from syllabary.tokenizer import Tokenizer
from syllabary.training.parity import Parity

Command = TypeVar("Command", bound=Callable[..., Any])


def research_options(command: Command) -> Command:
    """`--superwords`, `--parity` and `--dev`: they come among the options of `train`."""
    options = [
        click.option(
            "--superwords",
            type=Size(1),
            metavar="N",
            help="From N tokens on, merges may join words (8k: 8,000).",
        ),
        click.option(
            "--parity", is_flag=True, default=None, help="Each of FILES is a language; none is left behind."
        ),
        click.option(
            "--dev",
            multiple=True,
            metavar="FILE",
            help="With --parity: a text to judge by, one for each of FILES, in their order (repeatable).",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def languages_of(
    files: tuple[str, ...],
    tables: bool,
    reading: Reading,
    care: Care,
    given: dict[str, Any],
) -> tuple[dict[str, Corpus | PieceCounts], Parity] | None:
    """With `--parity`, the corpus, or table of counts, of each of the files by its name, and their judges.

    Takes its options out of `given`, and puts the tables' normal form in. tables: all files are such.
    """
    parity, dev = given.pop("parity", None), given.pop("dev", ())
    if not parity:
        if dev:
            raise click.BadParameter("--dev goes with --parity: it is what languages are judged by")
        return None
    names = [Path(file).name.split(".")[0] or file for file in files]
    for name in names:
        if names.count(name) > 1:
            raise click.BadParameter(f"two of FILES are called {name!r}: with --parity each is a language")
    if dev and len(dev) != len(files):
        raise click.BadParameter(
            f"{plural(len(dev), '--dev')} for {plural(len(files), 'language')}: give as many"
        )
    judges = _corpora(names, dev, reading, Care()) if dev else None
    texts = _corpora(names, files, reading, dataclasses.replace(care, normalize=None))
    read: dict[str, Corpus | PieceCounts] = {**texts}
    counted = parted(files, tables)[0]
    for name, file in zip(names, files, strict=True):
        if file in counted:
            check_reading(file, reading, care)
            read[name] = table = load(file, given)
            if table.rules.normalize is not None:
                given["normalize"] = table.rules.normalize
    return read, Parity(dev=judges)


def _corpora(names: list[str], files: tuple[str, ...], reading: Reading, care: Care) -> dict[str, Corpus]:
    return {
        name: Corpus(common.source_of([file]), reading, care) for name, file in zip(names, files, strict=True)
    }


def talk_of_languages(tok: Tokenizer, read: object) -> None:
    """Say on stderr what became of each language, if there are several."""
    for corpus in read.values() if isinstance(read, dict) else ():
        if isinstance(corpus, Corpus):
            common.talk_of(corpus)
    languages: Any = tok.spec.record.get("languages")
    if not isinstance(languages, Mapping):
        return
    for name, about in languages.items():
        size = about["bytes"] / max(about["tokens"], 1)
        common.talk(f"{printable(name)}: {size:.2f} bytes a token, {plural(about['merges'], 'merge')} for it")
