"""`syllabary gpt sample` and `syllabary gpt export`: what one does with a trained model.

Leaves out: drawing and decoding (`syllabary.gpt.generate`), the folder's content (`syllabary.gpt.export`).
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from syllabary.cli import common, values
from syllabary.cli.shared_options import special_option
from syllabary.cli.words import decoded
from syllabary.errors import ModelError, UnknownSymbolError

if TYPE_CHECKING:
    from syllabary import Tokenizer
    from syllabary.gpt.trained import Trained

BETWEEN = "---"  # a line between samples


@click.command(
    short_help="Text from a trained model.",
    epilog="""\b
Examples:
  $ syllabary gpt sample run/ --prompt "μῆνιν ἄειδε θεὰ"
  $ syllabary gpt sample run/ --temperature 0 --max-tokens 50
  $ syllabary gpt sample run/ --prompt "Once" --top-k 40 --seed 7 --number 3 --stop "."
""",
)
@click.argument("run", metavar="RUN")
@click.option("--prompt", default="", metavar="TEXT", help="What the text begins with; it is shown too.")
@click.option(
    "--max-tokens",
    type=values.Number(0),
    default=200,
    show_default=True,
    metavar="N",
    help="Tokens after the prompt.",
)
@click.option(
    "--temperature",
    type=float,
    default=0.8,
    show_default=True,
    metavar="X",
    help="Above 1 is wilder, 0 is always the likeliest token.",
)
@click.option("--top-k", type=values.Number(1), metavar="K", help="Draw from the K likeliest tokens only.")
@click.option(
    "--top-p",
    type=float,
    metavar="P",
    help="Draw from the likeliest tokens that together have this probability.",
)
@click.option(
    "--seed",
    type=values.Number(0, 2**63),
    metavar="N",
    help="The same seed gives the same text; sample N has seed + N.",
)
@click.option(
    "--stop", multiple=True, type=values.Text(), metavar="TEXT", help="End before this text (repeatable)."
)
@click.option(
    "--number", type=values.Number(1), default=1, show_default=True, metavar="N", help="How many texts."
)
@click.option("--checkpoint", metavar="FILE", help="Instead of RUN's best, or else newest.")
@click.option(
    "--device", default="cpu", show_default=True, metavar="NAME", help="cpu, cuda, cuda:1, mps, auto."
)
@click.option(
    "--errors",
    type=click.Choice(["ignore", "replace"]),
    default="ignore",
    show_default=True,
    help="Bytes of the model's that are no UTF-8: left out, or shown as U+FFFD.",
)
@special_option
def sample(
    run: str,
    prompt: str,
    seed: int | None,
    stop: tuple[str, ...],
    number: int,
    checkpoint: str | None,
    device: str,
    errors: str,
    special: Any,
    **options: Any,
) -> None:
    """Write text from the model of RUN, the folder of `syllabary gpt train`, as it is drawn.

    A text ends at the token that ends documents, if the tokenizer has one. Without a prompt it begins after
    that token; if there is none, after a line end, or with a token drawn at random.
    """
    from syllabary.gpt.device import pick
    from syllabary.gpt.generate import generate, stream
    from syllabary.gpt.trained import open_trained

    trained = open_trained(run, checkpoint, pick(device, "float32", compiled=False).name)
    if trained.tok is None:
        raise ModelError(f"{run}: no tokenizer.syllabary.json beside {trained.path.name}")
    tok, seed = trained.tok, secrets.randbits(32) if seed is None else seed
    given = tok.encode(decoded(prompt, "--prompt"), special=special)
    end = () if trained.end is None else (trained.end,)
    never = trained.never
    for count in range(number):
        if count:
            click.echo(BETWEEN)
        hidden, shown = (given, []) if given else _beginning(tok, trained, seed + count)
        drawn = generate(
            trained.model, hidden + shown, seed=seed + count, stop=end, never=never, **options
        )  # fmt: skip
        text = stream(tok, chain(shown, drawn), prompt=given, stop=stop, errors=errors)
        _show(chain([prompt], text))


def _beginning(tok: Tokenizer, trained: Trained, seed: int) -> tuple[list[int], list[int]]:
    """Ids to begin from without a prompt: those that are not shown, and those that are."""
    if trained.end is not None:
        return [trained.end], []
    try:
        if line_end := tok.encode("\n", special="text"):
            return line_end, []
    except UnknownSymbolError:
        pass
    ordinary = sorted(set(tok.vocab) - set(tok.special_tokens.values()))
    return [], [random.Random(seed).choice(ordinary)]


def _show(parts: Iterable[str]) -> None:
    """Write parts as they come, and end the line."""
    last = ""
    for part in parts:
        click.echo(part, nl=False)
        last = part or last
    if not last.endswith("\n"):
        click.echo()


@click.command(
    short_help="A trained model as a Hugging Face GPT-2 folder.",
    epilog="""\b
Examples:
  $ syllabary gpt export run/ -o gpt2/
  $ python -c "import transformers; transformers.AutoModelForCausalLM.from_pretrained('gpt2/')"
""",
)
@click.argument("run", metavar="RUN")
@click.option(
    "-o", "--output", type=values.Name(), metavar="FOLDER", required=True,
    help="Made if it is not there; an earlier export is replaced.",
)  # fmt: skip
@click.option("--checkpoint", metavar="FILE", help="Instead of RUN's best, or else newest.")
def export(run: str, output: str, checkpoint: str | None) -> None:
    """Write the model of RUN, and its tokenizer, as a folder that `transformers` opens.

    Its logits are the same. What the folder cannot hold is said on stderr, a line a loss.
    """
    from syllabary.gpt.export import to_transformers

    report = to_transformers(run, output, checkpoint)
    for loss in report.losses:
        common.talk(click.style("lost:", fg="yellow", bold=True) + f" {loss}")
    common.talk(", ".join(str(file) for file in report.files))
