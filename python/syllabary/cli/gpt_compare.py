"""`syllabary gpt compare` and `syllabary gpt baselines`: bits per byte of equal models, and of counting.

Leaves out: everything but arguments, lines on stderr and the table (`syllabary.gpt.compare`).
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any, Literal

import click

from syllabary.arguments import MAX_THREADS
from syllabary.cli import common, values
from syllabary.cli.words import plural, printable

if TYPE_CHECKING:
    from syllabary.gpt.train import Event


@click.command(
    short_help="Equal models on several tokenizers: a table, a plot, a paragraph.",
    epilog="""\b
Examples:
  $ syllabary gpt compare shards-8k/ shards-32k/ -o compare/
  $ syllabary gpt compare shards-8k/ shards-32k/ -o more/ --equal compute
""",
)
@click.argument("shards", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=values.Name(),
    required=True,
    metavar="OUT",
    help="A folder for the runs and the result.",
)
@click.option(
    "--equal",
    type=click.Choice(["bytes", "compute"]),
    default="bytes",
    show_default=True,
    help="What each model gets: the same bytes of text, or the same FLOPs.",
)
@click.option("--epochs", type=float, metavar="F", help="How often the text is seen.  [as gpt train]")
@click.option("--bytes", "budget_bytes", type=float, metavar="N", help="Instead: so many bytes of text.")
@click.option("--flops", type=float, metavar="F", help="Instead, with --equal compute: so many FLOPs.")
@click.option("--depth", type=values.Number(1, 256), metavar="N", help="Layers; width and heads follow.")
@click.option("--block-size", type=values.Number(1), metavar="N", help="Tokens in a window.")
@click.option("--batch-size", type=values.Number(1), metavar="N", help="Windows in one pass.")
@click.option("--learning-rate", type=float, metavar="X", help="The highest.")
@click.option("--seed", type=values.Number(0, 2**63 - 1), metavar="N", help="Of weights and order.")
@click.option("--device", metavar="NAME", help="auto, cpu, cuda, cuda:1 or mps.")
@click.option("--threads", type=values.Number(1, MAX_THREADS), metavar="N", help="Of a CPU.")
@click.option("--no-baselines", is_flag=True, help="Leave counting out.")
@click.option("-q", "--quiet", is_flag=True, help="No lines on the way.")
def compare(
    shards: tuple[str, ...],
    output: str,
    equal: Literal["bytes", "compute"],
    epochs: float | None,
    budget_bytes: float | None,
    flops: float | None,
    threads: int | None,
    no_baselines: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Train an equal model on each of SHARDS and compare them in bits per byte.

    SHARDS are folders that `syllabary shard` wrote with different tokenizers from the same files, with the
    same --val and --seed, so that they hold out the same documents. OUT gets a run for each, and compare.md,
    compare.png and compare.json; the table and its paragraph are also printed. Models and their training
    are those of `gpt train` where nothing else is said.

    Interrupted, the same command goes on where it was. What is done already is not done again.
    """
    from syllabary.gpt import compare as comparing

    some = any(value is not None for value in (epochs, budget_bytes, flops))
    found = comparing.compare(
        shards,
        output,
        equal=equal,
        budget=comparing.Budget(epochs, budget_bytes, flops) if some else None,
        settings={name: value for name, value in options.items() if value is not None},
        count=not no_baselines,
        threads=threads,
        report=None if quiet else Lines(),
    )
    click.echo(found.table())
    click.echo()
    click.echo(found.words())
    if not quiet:
        common.talk(f"saved in {printable(output)}: {comparing.TABLE}, {comparing.PLOT}, {comparing.RECORD}")


class Lines:
    """What runs report, as lines on stderr; each step only where stderr is a terminal."""

    def __init__(self) -> None:
        self.steps, self.live, self.open = 0, common.draws(), False

    def __call__(self, name: str, event: Event) -> None:
        """One event of the run `name`."""
        entry = event.entry
        if event.kind == "start":
            self.steps = entry["steps"]
            going_on = f", going on from step {entry['step']:,}" if entry["step"] else ""
            self._say(f"{name}: {entry['parameters']:,} parameters, {plural(self.steps, 'step')}{going_on}")
        elif event.kind == "step" and self.live:
            rate = entry["tokens_per_second"]
            line = f"{name}: step {entry['step']:,} of {self.steps:,}, {rate:,.0f} tokens/s"
            width = shutil.get_terminal_size().columns - 1
            click.echo(f"\r{line[:width]}\x1b[K", nl=False, err=True)
            self.open = True
        elif event.kind == "eval" and entry.get("bits_per_byte") is not None:
            bits = f"{entry['bits_per_byte']:.3f} bits per byte"
            self._say(
                f"{name}: step {entry['step']:,} of {self.steps:,}, {bits} (sample), {entry['seconds']:.0f} s"
            )

    def _say(self, line: str) -> None:
        common.say(("\r\x1b[K" if self.open else "") + line)
        self.open = False


@click.command(
    short_help="What counting alone reaches, in bits per byte.",
    epilog="""\b
Examples:
  $ syllabary gpt baselines shards/
  $ syllabary gpt baselines shards/ --json
""",
)
@click.argument("shards")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, with counts and seconds.")
def baselines(shards: str, as_json: bool) -> None:
    """Count n-grams on the training documents of SHARDS and predict the held-out ones.

    Byte trigram, token unigram and token bigram, smoothed by Witten-Bell: what a model should beat. No torch
    is needed.
    """
    from syllabary import shards as shards_module
    from syllabary.gpt.baselines import baselines as count
    from syllabary.gpt.evaluate import caution

    opened = shards_module.open(shards)
    found = count(opened)
    if opened.val is not None and (said := caution(opened.val, opened.tokenizer(), opened.index.end)):
        common.talk(said)
    if as_json:
        click.echo(json.dumps({"shards": shards, "baselines": [one.record() for one in found]}))
        return
    for one in found:
        click.echo(f"{one.name:<14} {one.bits_per_byte:.4f} bits per byte")
    if found[0].counted < len(opened.train.ids):
        common.talk(f"counted on the first {found[0].counted:,} of {len(opened.train.ids):,} tokens")
