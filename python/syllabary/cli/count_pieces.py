"""`syllabary count-pieces`: texts and tables of counts to one table of counts.

Leaves out: training from it (`train`).
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from syllabary import counts_file
from syllabary.arguments import MAX_THREADS
from syllabary.cli import common
from syllabary.cli.corpus_options import care_options, corpus_options
from syllabary.cli.tables import check_reading, load, parted, tables_option
from syllabary.cli.words import plural, printable
from syllabary.corpus.care import Care
from syllabary.corpus.corpus import Corpus
from syllabary.corpus.document import Reading
from syllabary.counts import PieceCounts


@click.command(
    "count-pieces",
    short_help="How often each piece of texts occurs.",
    epilog="""\b
Examples:
  $ syllabary count-pieces corpus.txt -o a.parquet --special "<end>"
  $ syllabary count-pieces more.txt -o b.parquet --special "<end>"
  $ syllabary count-pieces a.parquet b.parquet -o sum.parquet
  $ syllabary train sum.parquet -o tok.json --vocab-size 1000
  $ syllabary count-pieces sum.parquet -o - --top 10
  $ cat *.txt | syllabary count-pieces - -o words.txt --like subword-nmt
  $ syllabary train words.txt --counts --like subword-nmt -o c.bpe
""",
)
@common.ends_as_ctrl_c
@click.argument("files", nargs=-1, required=True)
@click.option(
    "-o", "--output", required=True, metavar="OUT", help="The table: .parquet, .tsv, .txt; `-` prints it."
)
@click.option("--top", type=common.Number(1), metavar="N", help="With -o -: the most frequent alone.")
@click.option(
    "--split",
    metavar="NAME|PATTERN",
    help="How text is cut into pieces, as o200k, gpt2 or none.  [default: o200k]",
)
@click.option(
    "--special", "special_tokens", multiple=True, metavar="TEXT", help="Cut out, not counted (repeatable)."
)
@click.option("--like", metavar="TOOL", help="Count as training with `train --like TOOL` does.")
@tables_option
@click.option(
    "--threads",
    type=common.Number(1, MAX_THREADS),
    metavar="N",
    help="Threads that count.  [default: one a core]",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress bar and no summary.")
@corpus_options
@care_options
def count_pieces(
    files: tuple[str, ...],
    output: str,
    top: int | None,
    tables: bool,
    threads: int | None,
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
    if output != "-":
        counts_file.check_place(Path(output))
    given = {name: value for name, value in options.items() if value is not None and value != ()}
    if care.normalize is not None:
        given["normalize"] = care.normalize
    start = time.perf_counter()
    found, texts = parted(files, tables)
    if found and not texts:
        check_reading(found[0], reading, care)
    corpus = None
    if texts:
        corpus = Corpus(common.source_of(texts), reading, dataclasses.replace(care, normalize=None))
    counting = {"threads": threads, "progress": not quiet and common.draws()}
    parts = _parts(found, corpus, given, counting)
    table = next(parts) if len(found) + (corpus is not None) == 1 else PieceCounts.sum(parts)
    if output == "-":
        _show(table, top)
    else:
        table.save(output)
    if not quiet:
        if corpus is not None:
            common.talk_of(corpus)
        seconds = time.perf_counter() - start
        saved = "" if output == "-" else f": saved as {printable(output)}"
        common.talk(f"{plural(len(table), 'piece')}, {table.total:,} in all, {seconds:.1f} s{saved}")


def _parts(
    tables: list[str], corpus: Corpus | None, given: dict[str, Any], counting: dict[str, Any]
) -> Iterator[PieceCounts]:
    """The tables, then that of the text, which is cut as the first of them was."""
    rules = None
    for name in tables:
        table = load(name, given)
        rules = rules or table.rules
        yield table
    if corpus is not None:
        if rules is not None:
            given = {name: getattr(rules, name) for name in ("split", "special_tokens", "normalize")}
        yield PieceCounts.of(corpus, **given, **counting)


def _show(table: PieceCounts, top: int | None) -> None:
    """Print rows, the most frequent first."""
    for piece, count in table.most_common(top):
        shown = printable(piece.replace("\\", "\\\\"))
        click.echo(f"{shown}\t{count}")
