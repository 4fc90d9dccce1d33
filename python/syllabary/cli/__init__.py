"""The command line: one module per verb, and here the table that lists them.

A new verb is a module with a `click` command and one line in `VERBS`.
Leaves out: everything a verb does besides reading arguments, calling the library and printing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version

import click

from syllabary.cli import common

# Each is a function of its module, which has its name.
VERBS = (
    "train",
    "count-pieces",
    "encode",
    "decode",
    "count",
    "chunk",
    "inspect",
    "convert",
    "verify",
    "edit",
    "shard",
    "gpt",
    "demo",
)


class Verbs(common.Verbs):
    """The verbs of `VERBS`, each loaded when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of their names, as click's own groups have it."""
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb of this name, if there is one."""
        if cmd_name not in VERBS:
            return None
        module = cmd_name.replace("-", "_")
        found = getattr(import_module(f"syllabary.cli.{module}"), module)
        assert isinstance(found, click.Command)
        return found


@click.group(
    cls=Verbs,
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
