"""The command line: one module per verb, and here the table that lists them.

A new verb is a module with a `click` command and one line in `VERBS`.
Leaves out: everything a verb does besides reading arguments, calling the library and printing.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import click

from syllabary.cli import common
from syllabary.cli.chunk import chunk
from syllabary.cli.convert import convert
from syllabary.cli.count import count
from syllabary.cli.count_pieces import count_pieces
from syllabary.cli.decode import decode
from syllabary.cli.demo import demo
from syllabary.cli.edit import edit
from syllabary.cli.encode import encode
from syllabary.cli.gpt import gpt
from syllabary.cli.shard import shard
from syllabary.cli.train import train
from syllabary.cli.verify import verify

VERBS: Sequence[click.Command] = (
    train,
    count_pieces,
    encode,
    decode,
    count,
    chunk,
    convert,
    verify,
    edit,
    shard,
    gpt,
    demo,
)


@click.group(
    cls=common.Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  $ syllabary --help
  $ syllabary train --help
""",
)
@click.version_option(version("syllabary"), prog_name="syllabary")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Train byte-pair-encoding tokenizers and use them.

    Data goes to stdout, talk to stderr, so every verb works in a pipe.
    """
    common.set_up(ctx)


for _verb in VERBS:
    main.add_command(_verb)
