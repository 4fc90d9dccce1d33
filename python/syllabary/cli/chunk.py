"""`syllabary chunk`: long texts in chunks of at most so many tokens, as JSON lines.

Leaves out: ids (`encode`), and what becomes of the chunks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from syllabary.cli import common, values
from syllabary.cli.corpus_options import corpus_options
from syllabary.cli.shared_options import special_option, tokenizer_options
from syllabary.corpus.document import Reading
from syllabary.files import open_atomic
from syllabary.streaming.chunking import LEVELS


@click.command(
    epilog="""\b
Examples:
  $ syllabary chunk more.txt -t tok.json --max-tokens 99 --overlap 9 -o c.json
  $ cat corpus.txt | syllabary chunk -t tok.json --max-tokens 64
  $ syllabary chunk corpus.txt -t tok.json --max-tokens 64 --boundary line
""",
)
@click.argument("files", nargs=-1)
@tokenizer_options
@click.option(
    "--max-tokens", type=values.Number(1), required=True, metavar="N", help="Tokens of a chunk, at most."
)
@click.option(
    "--overlap", type=values.Number(0), default=0, metavar="N", help="Tokens that two chunks share, at most."
)
@click.option(
    "--boundary",
    "boundaries",
    type=click.Choice(list(LEVELS)),
    multiple=True,
    help="Cut only at this kind of place, if there is one (repeatable; default: all).",
)
@special_option
@click.option(
    "-o", "--output", type=values.Name(dash=True), metavar="FILE", help="Write here instead of to stdout."
)
@corpus_options
def chunk(
    files: tuple[str, ...],
    tokenizer: str,
    split: str | None,
    max_tokens: int,
    overlap: int,
    boundaries: tuple[str, ...],
    special: str,
    output: str | None,
    reading: Reading,
) -> None:
    """Write a JSON line for each chunk of the documents in FILES, or in stdin.

    A line has the number of the document, the chunk's text and tokens, and its place in the document:
    `start` and `end` in characters, `byte_start` and `byte_end` in UTF-8.
    """
    if overlap >= max_tokens:
        raise common.Misuse(f"--overlap is {overlap}: give less than --max-tokens, which is {max_tokens}")
    if output == "-":
        output = None
    if output is not None:
        common.check_kept(output, (tokenizer, *files), "the chunks")
    tok = common.load(tokenizer, split)

    def lines() -> Iterator[str]:
        levels = boundaries or tuple(LEVELS)
        for number, document in enumerate(common.documents(*files or ("-",), reading=reading)):
            with common.told_where(document, reading):
                for one in tok.chunks(document.text, max_tokens, overlap, levels, special):
                    yield json.dumps({"document": number, **asdict(one)}, ensure_ascii=False)

    if output is None:
        for line in lines():
            common.data(line)
    else:
        with open_atomic(Path(output)) as file:
            file.writelines(f"{line}\n".encode() for line in lines())
