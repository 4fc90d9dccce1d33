"""`syllabary shard`: documents to files of token ids, which training code maps into memory.

Leaves out: everything but options, the bar and the summary (`syllabary.shards`).
"""

from __future__ import annotations

import functools
import sys
import time
from pathlib import Path
from typing import Any, get_args

import click

from syllabary.arguments import MAX_THREADS
from syllabary.cli import common, values
from syllabary.cli.corpus_options import Share, care_options, corpus_options, rest_of
from syllabary.cli.shared_options import special_option, tokenizer_options
from syllabary.cli.words import plural, printable
from syllabary.corpus.care import Care
from syllabary.corpus.corpus import Corpus
from syllabary.corpus.document import Reading
from syllabary.shards.exporting import ExportFormat, check_place, export
from syllabary.shards.layout import INDEX, Index
from syllabary.shards.work import remove
from syllabary.shards.writing import Progress, write
from syllabary.tokenizer import Tokenizer

FORMATS = ("bin", *get_args(ExportFormat))


@click.command(
    epilog="""\b
Examples:
  $ syllabary shard corpus.txt more.txt -t tok.json -o shards/
  $ syllabary shard corpus.txt -t tok.json -o out/ --documents line --val 0.1
  $ syllabary shard corpus.txt -t tok.json -o ids.parquet
  $ cat *.txt | syllabary shard - -t tok.json -o piped/ --documents line
""",
)
@click.argument("files", nargs=-1, required=True)
@tokenizer_options
@click.option(
    "-o", "--output", type=values.Name(), required=True, metavar="OUT", help="The folder (or file) to write."
)
@click.option(
    "--val",
    type=Share("a number from 0 to below 1", lambda number: 0 <= number < 1),
    default=0.0,
    metavar="F",
    help="Hold out this part of the documents, chosen by a hash of their text and --seed.",
)
@click.option(
    "--end", type=values.Text(), metavar="TOKEN", help="A special token to put after each document."
)
@special_option
@click.option(
    "--processes",
    type=values.Number(1, MAX_THREADS),
    metavar="N",
    help="Processes that encode; the files are the same.  [default: one a core]",
)
@click.option(
    "--format",
    "file_format",
    type=click.Choice(FORMATS),
    help="For numpy and nanoGPT, or other tools; if not by OUT's suffix.  [bin]",
)
@click.option("--force", is_flag=True, help="Write anew where shards are; the old ones stay until then.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar and no summary.")
@corpus_options
@functools.partial(care_options, recorded=True)
def shard(
    files: tuple[str, ...],
    tokenizer: str,
    split: str | None,
    output: str,
    file_format: str | None,
    quiet: bool,
    reading: Reading,
    care: Care,
    rest_recorded: bool,
    **options: Any,
) -> None:
    """Encode FILES into the folder OUT: train.bin, with --val also val.bin, and index.json.

    FILES as in `train`. The ids are uint16 or uint32, one document after the other, as nanoGPT reads them;
    offsets files say where each begins. A run that was ended before its end goes on when the same command
    is given again. --format parquet, arrow and datasets write one file, or folder, for those tools.
    """
    tok = common.load(tokenizer, split)
    options["seed"] = care.seed
    if rest_recorded:
        care = rest_of(tok, care, tokenizer)
    corpus = Corpus(common.source_of(files), reading, care)
    wanted = file_format or _by_suffix(output)
    start = time.perf_counter()
    with Bar(shown=not quiet and common.draws()) as bar:
        if wanted == "bin":
            index = write(corpus, tok, output, progress=bar.show, **options).index
        else:
            index = _exported(corpus, tok, Path(output), wanted, bar, options)
    if not quiet:
        common.talk_of(corpus)
        common.talk(summary(index, time.perf_counter() - start) + f": saved as {printable(output)}")


def _by_suffix(output: str) -> str:
    suffix = Path(output).suffix.removeprefix(".")
    return suffix if suffix in ("parquet", "arrow") else "bin"


def _exported(
    corpus: Corpus, tok: Tokenizer, output: Path, wanted: Any, bar: Bar, options: dict[str, Any]
) -> Index:
    """Shards in a hidden folder beside OUT, exported and removed. A run that resumes finds them there."""
    if output.exists() and not options["force"]:
        raise FileExistsError(17, "is there already; --force writes it anew", str(output))
    check_place(output, wanted)
    hidden = output.with_name(f".{output.name}.shards")
    options["force"] |= (hidden / INDEX).exists()  # the export of these was ended before its end
    shards = write(corpus, tok, hidden, progress=bar.show, **options)
    index = shards.index
    export(shards, output, wanted)
    del shards  # Windows does not remove files that are mapped
    remove(hidden)
    return index


class Bar:
    """A progress bar on stderr that appears with the first sign of progress."""

    def __init__(self, shown: bool) -> None:
        self._shown = shown
        self._bar: Any = None
        self._line = False  # one of our own is begun

    def __enter__(self) -> Bar:
        """Nothing yet: the bar appears with the first call of `show`."""
        return self

    def show(self, now: Progress) -> None:
        """Draw it as far as the work is."""
        if not self._shown:
            return
        if now.total is None:
            click.echo(f"\rencoding: {now.done / 1e6:,.1f} MB", nl=False, err=True)
            self._line = True
            return
        if self._bar is None:
            self._bar = click.progressbar(length=max(now.total, 1), label="encoding", file=sys.stderr)
            self._bar.__enter__()
        self._bar.update(now.done - self._bar.pos)

    def __exit__(self, *error: Any) -> None:
        """End its line."""
        if self._bar is not None:
            self._bar.__exit__(*error)
        elif self._line:
            click.echo(err=True)


def summary(index: Index, seconds: float) -> str:
    """Documents, tokens, bytes per token and speed."""
    splits = index.splits.values()
    tokens, size = sum(split.tokens for split in splits), sum(split.text_bytes for split in splits)
    held_out = f" ({index.splits['val'].documents:,} held out)" if "val" in index.splits else ""
    return (
        f"{plural(sum(split.documents for split in splits), 'document')}{held_out}, "
        f"{plural(tokens, 'token')} of {size / max(tokens, 1):.2f} bytes, {size / 1e6:,.1f} MB in "
        f"{seconds:.1f} s ({size / 1e6 / seconds:,.1f} MB/s)"
    )
