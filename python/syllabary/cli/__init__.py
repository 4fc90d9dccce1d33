"""The command line: one module per verb, and here the table that lists them.

A new verb is a module with a `click` command and one line in `VERBS`.
Leaves out: everything a verb does besides reading arguments, calling the library and printing.
"""

from __future__ import annotations

from importlib import import_module

import click

from syllabary import __version__
from syllabary.cli import common

# Each is a function of its module, which has its name; with what `--help` says of it, which loads none.
VERBS = {
    "train": "Text to a tokenizer's file.",
    "count-pieces": "How often each piece of texts occurs.",
    "encode": "Text to ids, or to the tokens themselves.",
    "decode": "Ids to text.",
    "count": "How many tokens texts have.",
    "chunk": "Long texts in chunks of so many tokens.",
    "inspect": "What a tokenizer is, and what it makes of a text.",
    "convert": "A tokenizer from one format to another.",
    "verify": "A tokenizer against another, on real text.",
    "edit": "Add, remove or take over tokens.",
    "shard": "Documents to files of ids for training.",
    "gpt": "Language models on shards: train, sample, compare.",
    "demo": "Train on real text before your eyes, and show each stage.",
}


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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs and what they are for."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, VERBS[name]) for name in self.list_commands(ctx)])


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  $ syllabary --help
  $ syllabary train --help
""",
)
@click.version_option(__version__, prog_name="syllabary")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Train byte-pair-encoding tokenizers and use them.

    Data goes to stdout, talk to stderr, so every verb works in a pipe.
    """
    common.set_up(ctx)
