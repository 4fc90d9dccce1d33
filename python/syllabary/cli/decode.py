"""`syllabary decode`: ids to text.

Leaves out: ids in other shapes than decimal numbers (shards).
"""

from __future__ import annotations

import os
import re
import shlex
from array import array

import click
import numpy as np

from syllabary.cli import common
from syllabary.cli.shared_options import tokenizer_options
from syllabary.cli.words import printable, spoken
from syllabary.errors import TextError, UnknownTokenError
from syllabary.reference.symbols import shown
from syllabary.tokenizer import Tokenizer

# Between ids: spaces and line ends as `encode` writes them, commas and brackets as JSON does.
WORD = re.compile(r"[^\s,\[\]]+")
PART = re.compile(r"[\s\S]{1,65536}[^\s,\[\]]*")  # text up to the end of a word
ID = re.compile(r"[+-]?[0-9]{1,1000}")  # int() reads 1_0 and other scripts' digits too


@click.command(
    context_settings={"ignore_unknown_options": True},  # so that -1 is an id, refused as such
    epilog="""\b
Examples:
  $ syllabary decode -t tok.json 104 105
  hi
  $ syllabary encode -t tok.json "any text" | syllabary decode -t tok.json
  any text
  $ syllabary encode -t tok.json -i corpus.txt > ids.txt
  $ syllabary decode -t tok.json < ids.txt | cmp - corpus.txt
  $ syllabary encode -t tok.json -i corpus.txt --separator "\\n" > lines.txt
  $ syllabary decode -t tok.json --lines < lines.txt | cmp - corpus.txt
""",
)
@click.argument("ids", nargs=-1)
@tokenizer_options
@click.option(
    "--errors",
    type=click.Choice(["replace", "strict", "ignore", "backslashreplace"]),
    default="replace",
    show_default=True,
    help="Bytes that are not UTF-8, as in Python's bytes.decode.",
)
@click.option("--lines", is_flag=True, help="Each line of ids is a text of its own, and becomes a line.")
def decode(ids: tuple[str, ...], tokenizer: str, split: str | None, errors: str, lines: bool) -> None:
    """Write the text of IDS, or of the ids on stdin, exactly: no line end is added.

    Numbers may stand between spaces, commas, brackets and line ends; all lines are one sequence, unless
    `--lines` is given. With it, what `encode --separator "\\n"` wrote becomes the same lines again.
    """
    tok = common.load(tokenizer, split)
    # Editors put a byte order mark before what they save; it is no part of the first id.
    text = " ".join(ids) if ids else common.read_stdin().removeprefix("\ufeff")
    if not lines:
        common.write(_decoded(tok, text, errors, "", _of_file(ids)))
        return
    rows = text.removesuffix("\n").split("\n") if text else []
    common.write(b"".join(_decoded(tok, row, errors, f"line {n}: ") + b"\n" for n, row in enumerate(rows, 1)))


def _of_file(words: tuple[str, ...]) -> str | None:
    """What to do where an argument is the name of a file, or of stdin, and no id."""
    if "-" in words:
        return "leave `-` out: without IDS stdin is read"
    name = next(filter(os.path.isfile, words), None)
    return None if name is None else f"the ids in a file are given as `< {shlex.quote(printable(name))}`"


def _decoded(tok: Tokenizer, ids: str, errors: str, place: str, hint: str | None = None) -> bytes:
    """The UTF-8 of ids as numbers; a `Failure` begins with `place`. hint: for a word that is no id."""
    try:
        return tok.decode(np.asarray(_ids(ids)), errors=errors).encode("utf-8")
    except TextError as error:
        raise common.Failure(
            f"{place}{spoken(str(error))}", "`--errors replace` writes U+FFFD for bytes that are not UTF-8"
        ) from error
    except UnknownTokenError as error:
        raise common.Failure(f"{place}{error}", hint) from error


def _ids(text: str) -> array[int]:
    """The ids in the text, four bytes each; `UnknownTokenError` names a word that is none, and its place."""
    numbers = array("I")
    for part in PART.finditer(text):
        words, before = WORD.findall(part[0]), len(numbers)
        if not all(map(ID.fullmatch, words)):
            at, word = next((at, word) for at, word in enumerate(words, before) if not ID.fullmatch(word))
            raise UnknownTokenError(f"{shown(word)} at index {at} is no id: give decimal numbers")
        try:
            numbers.extend(map(int, words))
        except OverflowError:
            at = len(numbers)
            number = int(words[at - before])
            raise UnknownTokenError(f"id {number} at index {at} is no token of this vocabulary") from None
    return numbers
