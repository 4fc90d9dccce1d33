"""`syllabary gpt evaluate`: bits per byte of a trained model on held-out text, every token of it.

Leaves out: the measuring (`syllabary.gpt.evaluate`), several models side by side (`gpt_compare`).
"""

from __future__ import annotations

import json
from typing import Literal

import click

from syllabary.cli import common, values
from syllabary.cli.words import plural
from syllabary.errors import ModelError, ShardError


@click.command(
    short_help="Bits per byte of a model on held-out text.",
    epilog="""\b
Examples:
  $ syllabary gpt evaluate run/ shards/
  $ syllabary gpt evaluate run/ other-shards/ --split train --json
""",
)
@click.argument("run", metavar="RUN")
@click.argument("shards", metavar="SHARDS")
@click.option(
    "--split",
    type=click.Choice(["val", "train"]),
    default="val",
    show_default=True,
    help="Which part of SHARDS to predict.",
)
@click.option(
    "--stride", type=values.Number(1), metavar="N", help="Tokens from a window to the next.  [the block]"
)
@click.option("--checkpoint", metavar="FILE", help="Instead of RUN's best, or else newest.")
@click.option(
    "--device", default="auto", show_default=True, metavar="NAME", help="cpu, cuda, cuda:1, mps, auto."
)
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object, with nats, tokens, bytes and seconds."
)
def evaluate(
    run: str,
    shards: str,
    split: Literal["val", "train"],
    stride: int | None,
    checkpoint: str | None,
    device: str,
    as_json: bool,
) -> None:
    """Predict every token of SHARDS with the model of RUN.

    SHARDS may be others than it was trained on, of the same tokenizer. Overlapping windows (`--stride`) give
    each token more to look back on, and cost more.
    """
    from syllabary import shards as shards_module
    from syllabary.gpt.device import pick
    from syllabary.gpt.evaluate import bits_per_byte, caution
    from syllabary.gpt.trained import open_trained

    opened = shards_module.open(shards)
    chosen = opened.val if split == "val" else opened.train
    if chosen is None:
        raise ShardError(
            f"{shards}: no held-out documents in these shards: write them with --val, or --split train"
        )
    trained = open_trained(run, checkpoint, pick(device, "float32", compiled=False).name)
    if trained.tok is None:
        raise ModelError(f"{run}: no tokenizer.syllabary.json beside {trained.path.name}")
    opened.check(trained.tok)
    live = common.draws()

    def tell(done: int, total: int) -> None:
        click.echo(f"\r{done:,} of {total:,} tokens\x1b[K", nl=False, err=True)

    found = bits_per_byte(trained.model, chosen, stride=stride, report=tell if live else None)
    if live:
        click.echo("\r\x1b[K", nl=False, err=True)
    if said := caution(chosen, trained.tok, opened.index.end):
        common.talk(said)
    if as_json:
        click.echo(json.dumps({"checkpoint": trained.path.name, "step": trained.step, **found.record()}))
        return
    click.echo(
        f"{found.bits_per_byte:.4f} bits per byte, {found.bits_per_token:.4f} bits per token "
        f"({plural(found.tokens, 'token')}, {plural(found.bytes, 'byte')}; {trained.path.name}, step "
        f"{trained.step:,})"
    )
