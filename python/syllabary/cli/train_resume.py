"""`--resume` and `--checkpoint` of `syllabary train`: where a checkpoint is kept, and when it goes.

Adds the two options; the verb gets `checkpoint`, an argument of `syllabary.train`. Leaves out: what a
checkpoint holds (`syllabary.training.checkpoint`).
"""

from __future__ import annotations

import functools
from typing import Any

import click

from syllabary.cli import common
from syllabary.cli.words import printable
from syllabary.training.checkpoint import holds, remove


def resume_options(command: common.Command) -> common.Command:
    """The options; what Ctrl-C ends says how to go on, and when all is saved the checkpoint goes."""

    @functools.wraps(command)
    def resumed(*, resume: bool, checkpoint: str | None, **options: Any) -> None:
        folder = f"{options['output']}.checkpoint" if resume and checkpoint is None else checkpoint
        try:
            command(checkpoint=folder, **options)
        except KeyboardInterrupt:
            if folder is not None and holds(folder):
                common.talk(f"kept in {printable(folder)}: the same command goes on from there")
            raise
        if folder is not None:
            remove(folder)

    for option in (
        click.option("--checkpoint", metavar="DIR", help="As --resume, with the checkpoint in DIR."),
        click.option(
            "--resume",
            is_flag=True,
            help="Keep a checkpoint in OUT.checkpoint until OUT is saved; go on from it if one is there.",
        ),
    ):
        resumed = option(resumed)
    return resumed  # type: ignore[return-value]
