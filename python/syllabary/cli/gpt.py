"""`syllabary gpt`: the group of verbs for language models, and `gpt train`.

An option not given is not passed on: a run that goes on keeps its settings, a new one has the defaults of
`syllabary.gpt.defaults`. torch is imported when a verb runs. Leaves out: the other verbs (`gpt_sample`,
`gpt_evaluate`, `gpt_compare`) and what is drawn while a model is trained (`gpt_progress`).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syllabary.arguments import MAX_THREADS
from syllabary.cli import common, values
from syllabary.cli.gpt_compare import baselines, compare
from syllabary.cli.gpt_evaluate import evaluate
from syllabary.cli.gpt_progress import Progress, duration
from syllabary.cli.gpt_sample import export, sample
from syllabary.cli.words import plural, printable

if TYPE_CHECKING:
    from syllabary.gpt.config import ModelConfig, TrainConfig


@click.group(
    epilog="""\b
Examples:
  $ syllabary gpt train shards/ -o run/
  $ syllabary gpt train --help
""",
)
def gpt() -> None:
    """Train language models on the ids of a tokenizer, and use them (extra: gpt)."""


@click.command(
    short_help="Shards to a model.",
    epilog="""\b
Examples:
  $ syllabary gpt train shards/ -o run/
  $ syllabary gpt train shards/ -o small/ --depth 2 --epochs 2 --seed 7
  $ syllabary gpt train shards/ -o tut/ --preset tutorial --steps 2 --eval-batches 1
""",
)
@click.argument("shards", type=values.Name(Path))
@click.option(
    "-o", "--output", "run", required=True, type=values.Name(Path), metavar="RUN",
    help="The folder of the run: made if new, gone on with if not.",
)  # fmt: skip
@click.option("--depth", type=values.Number(1, 256), metavar="N", help="Layers; width and heads follow.")
@click.option("--preset", metavar="NAME", help="All settings of a known model: tutorial.")
@click.option("--steps", type=values.Number(1), metavar="N", help="Updates of the weights.")
@click.option("--epochs", type=float, metavar="X", help="Instead: how often the text is read.")
@click.option("--batch-size", type=values.Number(1), metavar="N", help="Windows in one pass.")
@click.option("--block-size", type=values.Number(1), metavar="N", help="Tokens in a window.")
@click.option("--accumulate", type=values.Number(1), metavar="N", help="Passes in one update.")
@click.option("--learning-rate", type=float, metavar="X", help="The highest.")
@click.option("--warmup", type=values.Number(0), metavar="N", help="Updates until the rate is highest.")
@click.option("--dropout", type=float, metavar="X", help="From 0 to 1.")
@click.option("--positions", type=click.Choice(["learned", "rotary"]), help="How places are told apart.")
@click.option("--eval-every", type=values.Number(1), metavar="N", help="Updates between measurements.")
@click.option(
    "--eval-batches", type=values.Number(0), metavar="N",
    help="Batches of a measurement; 0: all of the validation text.",
)  # fmt: skip
@click.option("--save-every", type=values.Number(1), metavar="N", help="Updates between checkpoints.")
@click.option("--seed", type=values.Number(0, 2**63 - 1), metavar="N", help="Of weights and order.")
@click.option("--device", metavar="NAME", help="auto, cpu, cuda, cuda:1 or mps.")
@click.option("--dtype", type=click.Choice(["auto", "float32", "bfloat16"]), help="Of the multiplications.")
@click.option("--compile/--no-compile", "compiled", default=None, help="torch.compile; by default on CUDA.")
@click.option("--threads", type=values.Number(1, MAX_THREADS), metavar="N", help="Of a CPU.")
@click.option("--tensorboard", is_flag=True, help="Events for TensorBoard as well.")
@click.option("--restart", is_flag=True, help="Begin anew: what RUN holds of an older run is removed.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no summary.")
def train(
    shards: Path,
    run: Path,
    threads: int | None,
    tensorboard: bool,
    restart: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Train a model on SHARDS, a folder that `syllabary shard` wrote.

    RUN gets checkpoints, the log and a picture of the losses. The same command goes on where an earlier one
    was stopped, to the same losses, and needs no options again; Ctrl-C writes a checkpoint first.

    On several GPUs: torchrun --nproc-per-node N -m syllabary gpt train …
    """
    from syllabary.gpt import train as training

    given = {name: value for name, value in options.items() if value is not None}
    if "compiled" in given:
        given["compile"] = given.pop("compiled")
    if "eval_batches" in given:
        given["eval_batches"] = given["eval_batches"] or None
    model, settings = _settings(shards, run, restart, given)
    first = os.environ.get("RANK", "0") == "0"  # of the processes of torchrun
    with Progress(quiet=quiet or not first) as progress:
        try:
            result = training.train(
                shards, run, model, settings,
                resume=not restart, report=progress.show, threads=threads, tensorboard=tensorboard,
            )  # fmt: skip
        except KeyboardInterrupt:
            progress.interrupted(run)
            raise
    if not quiet and first:
        bits = "" if result.bits_per_byte is None else f"{result.bits_per_byte:.4f} bits per byte, "
        text = "all validation text" if result.exact else "validation text"
        common.talk(
            f"{bits}{result.loss:.4f} nats per token on {text}; "
            f"{plural(result.tokens, 'token')} in {duration(result.seconds)}: saved in {printable(str(run))}"
        )
        if said := _caution(shards):
            common.talk(said)


def _caution(shards: Path) -> str | None:
    """What must be said of bits per byte on these shards, if anything."""
    from syllabary import shards as shards_module
    from syllabary.gpt.evaluate import caution

    opened = shards_module.open(shards)
    return None if opened.val is None else caution(opened.val, opened.tokenizer(), opened.index.end)


def _settings(
    shards: Path, run: Path, restart: bool, given: dict[str, Any]
) -> tuple[ModelConfig, TrainConfig]:
    """Those of the run in the folder with what is given in their place, or new ones."""
    from syllabary import shards as shards_module
    from syllabary.gpt import defaults
    from syllabary.gpt import run as runs
    from syllabary.gpt.device import pick

    opened = shards_module.open(shards)
    old = None if restart else runs.read(run)
    if old is not None and "preset" not in given:
        return defaults.changed(old, opened, **given)
    return defaults.settings(opened, pick(given.get("device", "auto")).kind, **given)


for _verb in (train, sample, evaluate, compare, baselines, export):
    gpt.add_command(_verb)
