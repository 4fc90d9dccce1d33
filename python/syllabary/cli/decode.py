"""`syllabary decode`: ids to text.

Leaves out: ids in other shapes than decimal numbers (shards).
"""

from __future__ import annotations

import re

import click

from syllabary.cli import common
from syllabary.errors import TextError, UnknownTokenError

# Between ids: spaces and line ends as `encode` writes them, commas and brackets as JSON does.
SEPARATORS = re.compile(r"[\s,\[\]]+")
ID = re.compile(r"[+-]?[0-9]{1,1000}")  # int() reads 1_0 and other scripts' digits too
WIDTH = 40  # characters of a word that are quoted


@click.command(
    short_help="Ids to text.",
    context_settings={"ignore_unknown_options": True},  # so that -1 is an id, refused as such
    epilog="""\b
Examples:
  $ syllabary decode -t tok.json 104 105
  hi
  $ syllabary encode -t tok.json "any text" | syllabary decode -t tok.json
  any text
  $ syllabary encode -t tok.json -i corpus.txt > ids.txt
  $ syllabary decode -t tok.json < ids.txt | cmp - corpus.txt
""",
)
@click.argument("ids", nargs=-1)
@common.tokenizer_options
@click.option(
    "--errors",
    type=click.Choice(["replace", "strict", "ignore", "backslashreplace"]),
    default="replace",
    show_default=True,
    help="Bytes that are not UTF-8, as in Python's bytes.decode.",
)
def decode(ids: tuple[str, ...], tokenizer: str, split: str | None, errors: str) -> None:
    """Write the text of IDS, or of the ids on stdin, exactly: no line end is added.

    Numbers may stand between spaces, commas, brackets and line ends; all lines are one sequence.
    """
    tok = common.load(tokenizer, split)
    words = SEPARATORS.split(" ".join(ids) if ids else common.read_stdin())
    numbers = [_id(word, index) for index, word in enumerate(filter(None, words))]
    try:
        text = tok.decode(numbers, errors=errors)
    except TextError as error:
        raise common.Failure(
            str(error), "`--errors replace` writes U+FFFD for bytes that are not UTF-8"
        ) from error
    common.write(text.encode("utf-8"))


def _id(word: str, index: int) -> int:
    if not ID.fullmatch(word):
        raise UnknownTokenError(f"{word[:WIDTH]!r} at index {index} is no id: give decimal numbers")
    return int(word)
