"""Options that several verbs have, each a decorator of a verb's function.

Leaves out: options of corpora (`corpus_options`), and their types (`values`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from syllabary.arguments import MAX_THREADS
from syllabary.cli import values

Command = TypeVar("Command", bound=Callable[..., Any])

# The verb gets `split`: of a tokenizer's file, and of text that is counted.
file_split_option = click.option(
    "--split",
    type=values.Text(),
    metavar="NAME|PATTERN",
    help="The split of a rank file that says nothing of its own.",
)
text_split_option = click.option(
    "--split",
    type=values.Text(),
    metavar="NAME|PATTERN",
    help="How text is cut into pieces, as o200k, gpt2 or none.  [default: o200k]",
)
special_option = click.option(
    "--special",
    type=click.Choice(["raise", "allow", "text"]),
    default="raise",
    show_default=True,
    help="Special tokens in the text: an error, their ids, or plain text.",
)
threads_option = click.option(
    "--threads",
    type=values.Number(1, MAX_THREADS),
    metavar="N",
    help="Threads that count.  [default: one a core]",
)
memory_option = click.option(
    "--memory-limit",
    metavar="SIZE",
    help='Memory to take at most, as "256 MiB"; pieces that exceed it go to temporary files.',
)


def tokenizer_options(command: Command) -> Command:
    """`-t` and what a bare rank file needs besides: the verb gets `tokenizer` and `split`."""
    return click.option(
        "-t",
        "--tokenizer",
        metavar="TOK",
        required=True,
        help="A tokenizer's file or folder, a published encoding's name, or the Hub's OWNER/NAME.",
    )(file_split_option(command))
