"""`syllabary encode`: text to ids, or to the tokens themselves.

Leaves out: ids in files for training code (shards).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from syllabary.cli import colour, common, values
from syllabary.cli.corpus_options import Share, corpus_options
from syllabary.cli.shared_options import special_option, tokenizer_options
from syllabary.corpus.document import Document, Reading
from syllabary.tokenizer import Tokenizer

BLOCK = 1 << 16  # bytes read at once from stdin, at most
PART = 1 << 16  # ids written at once


@click.command(
    epilog="""\b
Examples:
  $ syllabary encode -t tok.json "some text"
  $ syllabary encode -t tok.json --tokens "some text"
  $ syllabary encode -t tok.json --json "one" "two"
  $ syllabary encode -t tok.json -i corpus.txt > ids.txt
  $ echo "some text" | syllabary encode -t tok.json
  $ syllabary encode -t tok.json --dropout 0.1 --seed 7 "some text"
  $ cat corpus.txt | syllabary encode -t tok.json --stream > ids.txt
""",
)
@click.argument("text", nargs=-1)
@tokenizer_options
@click.option("-i", "--input", "files", metavar="FILE", multiple=True, help="Encode this file (repeatable).")
@special_option
@click.option(
    "--tokens", is_flag=True, help='One token a line: its id, a tab, the token in quotes ("\\xff": a byte).'
)
@click.option(
    "--dropout",
    type=Share("a probability from 0 to 1", lambda number: 0 <= number <= 1),
    metavar="P",
    help="Pass over each merge with this probability, from 0 to 1.",
)
@click.option(
    "--seed", type=values.Number(0, 2**64 - 1), metavar="N", help="The same seed drops the same merges."
)
@click.option(
    "--stream", is_flag=True, help="Encode stdin as it comes: each id is written as soon as it is final."
)
@click.option("--json", "as_json", is_flag=True, help="A JSON list a line instead of ids between spaces.")
@corpus_options
def encode(
    text: tuple[str, ...],
    tokenizer: str,
    split: str | None,
    files: tuple[str, ...],
    special: str,
    tokens: bool,
    dropout: float | None,
    seed: int | None,
    as_json: bool,
    stream: bool,
    reading: Reading,
) -> None:
    """Write the ids of TEXT, one line a text; without TEXT and `-i`, of all that stdin holds.

    With `--documents line`, empty lines stay empty lines, so that line N is of line N.
    """
    if tokens and as_json:
        raise click.UsageError("--tokens and --json exclude each other")
    tok = common.load(tokenizer, split)
    if stream:
        if text or files or tokens or as_json or dropout is not None or seed is not None:
            raise click.UsageError("--stream reads stdin alone, and writes ids alone")
        if reading != Reading():
            raise click.UsageError("--stream reads stdin as one text of UTF-8: leave out how files are read")
        _stream(tok, special)
        return
    if seed is not None and dropout is None and not tok.spec.dropout:
        raise click.UsageError("--seed is of --dropout, and this tokenizer has none of its own: give both")
    for number, document in enumerate(_texts(text, files, reading)):
        # Each text draws coins of its own, and the same ones on another day.
        own_seed = None if seed is None else (seed + number) % 2**64
        with common.told_where(document, reading):
            ids = tok.encode_array(document.text, special=special, dropout=dropout, seed=own_seed)
        if tokens:
            for id_ in ids:
                common.data(f"{id_}\t{colour.quoted(tok.id_to_token(id_))}")
        else:
            _line(ids, as_json)


def _texts(text: tuple[str, ...], files: tuple[str, ...], reading: Reading) -> Iterator[Document]:
    """The arguments, then the documents of the files; of stdin if there is neither."""
    yield from common.arguments(text)
    if reading.documents == "line":
        reading = replace(reading, documents="every-line")
    if files or not text:
        yield from common.documents(*files or ("-",), reading=reading)


def _line(ids: NDArray[np.uint32], as_json: bool) -> None:
    """Write the ids of a text, shape (n,), as a line; in parts, as each takes tens of bytes in Python."""
    begin, between, end = ("[", ", ", "]") if as_json else ("", " ", "")
    for start in range(0, len(ids) or 1, PART):
        last = start + PART >= len(ids)
        part = between.join(map(str, ids[start : start + PART].tolist()))
        common.data((between if start else begin) + part + (end if last else ""), nl=last)


def _stream(tok: Tokenizer, special: Any) -> None:
    """The ids of stdin, one text of UTF-8, with a line end where it ends."""
    stdin = common.stdin("--input, without --stream")
    read: Callable[[int], bytes] = getattr(
        stdin, "read1", stdin.read
    )  # what is there, without waiting for more
    before = ""
    for ids in tok.encode_stream(iter(lambda: read(BLOCK), b""), special):
        common.data(before + " ".join(map(str, ids)), nl=False)
        before = " "
    common.data()
