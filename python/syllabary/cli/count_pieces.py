"""`syllabary count-pieces`: texts and tables of counts to one table of counts.

Leaves out: training from it (`train`).
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from syllabary.cli import common, values
from syllabary.cli.corpus_options import care_options, corpus_options
from syllabary.cli.shared_options import memory_option, text_split_option, threads_option
from syllabary.cli.tables import check_reading, load, parted, tables_option, told
from syllabary.cli.train_resume import resume_options
from syllabary.cli.words import plural, printable
from syllabary.corpus.care import Care
from syllabary.corpus.corpus import Corpus
from syllabary.corpus.document import Reading
from syllabary.counts import PieceCounts
from syllabary.counts import file as counts_file
from syllabary.counts.counting import Counted, counting
from syllabary.errors import FormatError, SyllabaryError
from syllabary.piece_table import Arrays, Rows, rows_of
from syllabary.progress import reporter


@click.command(
    "count-pieces",
    epilog="""\b
Examples:
  $ syllabary count-pieces corpus.txt -o a.parquet --special "<end>"
  $ syllabary count-pieces more.txt -o b.parquet --special "<end>"
  $ syllabary count-pieces a.parquet b.parquet -o sum.parquet
  $ syllabary train sum.parquet -o tok.json --vocab-size 1000
  $ syllabary count-pieces sum.parquet -o - --top 10
  $ syllabary count-pieces corpus.txt -o c.parquet --memory-limit "256 MiB"
  $ syllabary count-pieces corpus.txt more.txt -o all.parquet --resume
  $ cat *.txt | syllabary count-pieces - -o words.txt --like subword-nmt
  $ syllabary train words.txt --counts --like subword-nmt -o c.bpe
""",
)
@common.ends_as_ctrl_c
@click.argument("files", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=values.Name(dash=True),
    required=True,
    metavar="OUT",
    help="The table: .parquet, .tsv, .txt; `-` prints it.",
)
@click.option("--top", type=values.Number(1), metavar="N", help="With -o -: the most frequent alone.")
@text_split_option
@click.option(
    "--special",
    "special_tokens",
    multiple=True,
    type=values.Text(),
    metavar="TEXT",
    help="Cut out, not counted (repeatable).",
)
@click.option("--like", metavar="TOOL", help="Count as training with `train --like TOOL` does.")
@tables_option
@threads_option
@memory_option
@resume_options
@click.option("-q", "--quiet", is_flag=True, help="No progress bar and no summary.")
@corpus_options
@care_options
def count_pieces(
    files: tuple[str, ...],
    output: str,
    top: int | None,
    tables: bool,
    threads: int | None,
    memory_limit: str | None,
    checkpoint: str | None,
    quiet: bool,
    reading: Reading,
    care: Care,
    **options: Any,
) -> None:
    """Count the pieces of FILES, and save them as a table: each piece once, with its count.

    FILES are what `train` reads, and tables, which are added: a .parquet of this verb is known as one. Of a
    table, OUT in Parquet keeps all, .tsv and .txt pieces and counts alone. `-o -` prints pieces and counts,
    the most frequent first, with a tab between them and backslashes for what would spoil a line.
    """
    if top is not None and output != "-":
        raise click.UsageError("--top is for what is printed, by `-o -`: a table of a part is no table")
    if output == "-" and checkpoint is not None:
        raise click.UsageError("a checkpoint is kept until OUT is saved, and `-o -` saves nothing")
    if output != "-":
        counts_file.check_place(Path(output))
    given = {name: value for name, value in options.items() if value is not None and value != ()}
    if care.normalize is not None:
        given["normalize"] = care.normalize
    start = time.perf_counter()
    found, texts = parted(files, tables)
    common.check_kept(output, texts, "the table", "; if the file is a table of counts, say --counts")
    if found and not texts:
        check_reading(found[0], reading, care)
    corpus = None
    if texts:
        corpus = Corpus(common.source_of(texts), reading, dataclasses.replace(care, normalize=None))
    ways = {"threads": threads, "memory_limit": memory_limit, "checkpoint": checkpoint}
    with _table(found, corpus, given, ways, not quiet and common.draws()) as table:
        pieces, total = len(table), table.total
        if output == "-":
            _show(table, top)
        else:
            _save(table, Path(output))
    if not quiet:
        if corpus is not None:
            common.talk_of(corpus)
        seconds = time.perf_counter() - start
        saved = "" if output == "-" else f": saved as {printable(output)}"
        common.talk(f"{plural(pieces, 'piece')}, {total:,} in all, {seconds:.1f} s{saved}")


def _save(table: Counted | PieceCounts, path: Path) -> None:
    """Save a table; one that OUT cannot hold is kept beside it, as counting may have taken hours."""
    try:
        counts_file.save(table, path)
    except FormatError as error:
        kept = path.with_name(path.name + ".parquet")
        if kept.exists():
            raise
        try:
            counts_file.save(table, kept)
        except SyllabaryError:  # there is no pyarrow
            raise error from None
        raise common.Failure(printable(str(error)), f"the table is kept as {printable(str(kept))}") from error


@contextmanager
def _table(
    tables: list[str], corpus: Corpus | None, given: dict[str, Any], ways: dict[str, Any], draws: bool
) -> Iterator[Counted | PieceCounts]:
    """The sum of the tables and of the text, which is cut as they were."""
    if corpus is None and len(tables) == 1 and ways["memory_limit"] is None and ways["checkpoint"] is None:
        yield load(tables[0], given)
        return
    known = given if corpus is not None else told(given)
    with reporter(draws) as report, counting(corpus, tables, known, report=report, **ways) as table:
        yield table


class _Enough(Exception):  # noqa: N818 (no error)
    """So many rows as were asked for are printed."""


def _show(table: Rows, top: int | None) -> None:
    """Print rows, the most frequent first."""
    left = [math.inf if top is None else top]

    def put(arrays: Arrays) -> None:
        for piece, count in rows_of(arrays):
            if not left[0]:
                raise _Enough
            left[0] -= 1
            shown = printable(piece.decode().replace("\\", "\\\\"))
            common.data(f"{shown}\t{count}")

    with suppress(_Enough):
        table.hand(put, by_frequency=True)
