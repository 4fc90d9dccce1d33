"""`syllabary edit`: truncate, extend and restrict a vocabulary, remove and add tokens; maps for embeddings.

Leaves out: what each operation means (`syllabary.surgery`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

import syllabary
from syllabary import formats, surgery
from syllabary.cli import colour, common, values
from syllabary.cli.shared_options import file_split_option
from syllabary.cli.sizes import Size
from syllabary.cli.words import decoded, format_in, plural, printable, spoken, told_of
from syllabary.convert import convert
from syllabary.files import check_place, write_files


@click.command(
    epilog="""\b
Examples:
  $ syllabary edit tok.json -o more.json --add-special "<pad>" --map map.json
  $ syllabary edit more.json -o less.json --remove "<pad>"
  $ syllabary edit tok.json -o both.syllabary.json --extend more.json
  $ syllabary edit tok.json -o half.json --truncate 280
  $ syllabary edit tok.json --unreachable
""",
)
@click.argument("source", metavar="IN")
@click.option(
    "-o", "--output", type=values.Name(), metavar="OUT", help="The file to write; its suffix is its format."
)
@click.option(
    "--truncate",
    type=Size(1),
    metavar="N",
    help="Keep the first N tokens that training learned (8k: 8,000), without the last merges.",
)
@click.option(
    "--extend", metavar="TOK", help="Take over the tokens and merges of this tokenizer that IN lacks."
)
@click.option(
    "--remove",
    multiple=True,
    type=values.Text(),
    metavar="TOKEN",
    help="Take this token out (repeatable): its text.",
)
@click.option("--cascade", is_flag=True, help="With it, tokens that only come about through it.")
@click.option("--keep-ids", is_flag=True, help="Leave gaps instead of closing up the ids.")
@click.option(
    "--add", multiple=True, metavar="TEXT", help="A token that always matches as a whole (repeatable)."
)
@click.option("--add-special", multiple=True, metavar="TEXT", help="A special token (repeatable).")
@click.option(
    "--vocabulary",
    type=values.Name(),
    metavar="FILE",
    help="Make only the tokens of these lines, `token TAB count`, and single characters.",
)
@click.option(
    "--vocabulary-threshold",
    type=values.Number(0, 2**63 - 1),
    metavar="N",
    help="With it, only those of at least this count.",
)
@click.option("--map", "map_file", type=values.Name(), metavar="FILE", help="Write the maps of ids as JSON.")
@click.option("--unreachable", is_flag=True, help="List the tokens that no text is encoded to, and why.")
@file_split_option
def edit(
    source: str,
    output: str | None,
    truncate: int | None,
    extend: str | None,
    remove: tuple[str, ...],
    cascade: bool,
    keep_ids: bool,
    add: tuple[str, ...],
    add_special: tuple[str, ...],
    vocabulary: str | None,
    vocabulary_threshold: int | None,
    map_file: str | None,
    unreachable: bool,
    split: str | None,
) -> None:
    """Change the vocabulary of the tokenizer IN: first truncate, then extend, remove, restrict, and then add.

    With `--vocabulary` ids stay as they are: what is left out is cut into smaller tokens.

    The map has `new_ids`, the new id of each old one (-1: removed), and `made_of`, for each new token the old
    ids that its text was encoded as: none where it has a symbol that is no token.
    """
    _check_told(remove, cascade, keep_ids, vocabulary, vocabulary_threshold)
    if map_file is not None:
        _check_map(map_file, output, source, extend, vocabulary)
    tok = common.load(source, split)
    restriction = vocabulary, vocabulary_threshold
    operations = list(
        _operations(truncate, extend, split, remove, cascade, keep_ids, restriction, add, add_special)
    )
    if operations and output is None:
        raise click.UsageError("say with -o where the changed tokenizer goes")
    if output is map_file is None and not unreachable:
        raise click.UsageError("nothing is asked for: say what to change, or give --unreachable")
    new_ids, made_of = surgery.unchanged(tok), dict[int, tuple[int, ...]]()
    new, losses = tok, list[str]()
    for operate in operations:
        with told_of("--truncate", "size"):
            change = operate(new)
        new, new_ids, made_of = change.tokenizer, *_after(new_ids, made_of, change)
        losses += change.losses
    maps = {} if map_file is None else {Path(map_file): _as_json(new_ids, made_of)}
    if output is None:
        write_files(maps)
    else:
        with format_in(None):
            done = convert(new, output, beside=maps)
        for loss in (*losses, *done.losses):
            common.talk(click.style("lost:", fg="yellow", bold=True) + f" {spoken(loss)}")
        _say_held(printable(output), done._vocab_size, tok)
        _say_restricted(new, vocabulary)
    if unreachable:
        found = surgery.unreachable(new)
        for token_id, why in found.items():
            common.data(f"{token_id}\t{why}\t{colour.quoted(new.id_to_token(token_id))}")
        common.talk(f"{plural(len(found), 'token')} of {new.vocab_size:,} never come up")


def _say_held(output: str, size: int, old: syllabary.Tokenizer) -> None:
    """How many tokens there are now, and were."""
    common.talk(f"{output}: {plural(size, 'token')} (there were {old.vocab_size:,})")


def _say_restricted(new: syllabary.Tokenizer, vocabulary: str | None) -> None:
    """How many tokens a vocabulary leaves out."""
    if vocabulary is not None:
        never = plural(len(new.spec.unused), "token")
        lacking = f"those of two characters or more that {printable(vocabulary)} lacks"
        common.talk(f"{never} are made no more: {lacking}")


def _check_told(
    remove: tuple[str, ...], cascade: bool, keep_ids: bool, vocabulary: str | None, threshold: int | None
) -> None:
    """An error for an option that says how to do what is not asked for."""
    for flag, given in (("--cascade", cascade), ("--keep-ids", keep_ids)):
        if given and not remove:
            raise click.UsageError(
                f"{flag} says how --remove takes tokens out: give --remove, or leave it out"
            )
    if threshold is not None and vocabulary is None:
        raise click.UsageError("--vocabulary-threshold is of --vocabulary: give that, or leave it out")


def _as_json(new_ids: NDArray[np.int64], made_of: dict[int, tuple[int, ...]]) -> bytes:
    """The maps as they are written."""
    made = {str(key): value for key, value in made_of.items()}
    return json.dumps({"new_ids": new_ids.tolist(), "made_of": made}).encode()


def _check_map(maps: str, output: str | None, *read: str | None) -> None:
    """An error, before anything is written, if the maps cannot go there or would replace a tokenizer."""
    if output is not None and os.path.realpath(output) == os.path.realpath(maps):
        raise click.UsageError(f"--map and -o are both {maps}: give the maps a file of their own")
    common.check_kept(maps, [name for name in read if name is not None], "the map")
    check_place(Path(maps))


def _operations(
    truncate: int | None,
    extend: str | None,
    split: str | None,
    remove: tuple[str, ...],
    cascade: bool,
    keep_ids: bool,
    restriction: tuple[str | None, int | None],
    add: tuple[str, ...],
    add_special: tuple[str, ...],
) -> Iterator[Callable[[syllabary.Tokenizer], surgery.Surgery]]:
    if truncate is not None:
        yield partial(surgery.truncate, size=truncate)
    if extend is not None:
        yield partial(
            surgery.extend, other=common.load(extend, split if formats.leaves_open(extend) else None)
        )
    if remove:
        yield partial(surgery.remove, tokens=remove, cascade=cascade, renumber=not keep_ids)
    if restriction[0] is not None:
        yield partial(surgery.restrict, vocabulary=restriction[0], threshold=restriction[1])
    if add:
        yield partial(surgery.add, tokens=[decoded(text, "--add") for text in add])
    if add_special:
        yield partial(
            surgery.add, tokens=[decoded(text, "--add-special") for text in add_special], special=True
        )


def _after(
    new_ids: NDArray[np.int64], made_of: dict[int, tuple[int, ...]], change: surgery.Surgery
) -> tuple[NDArray[np.int64], dict[int, tuple[int, ...]]]:
    """The maps from the first tokenizer to the one after another change."""
    kept = new_ids >= 0
    table = new_ids.copy()
    table[kept] = change.new_ids[new_ids[kept]]
    back = {int(new): old for old, new in enumerate(new_ids) if new >= 0}
    moved = {int(change.new_ids[token_id]): parts for token_id, parts in made_of.items()}
    fresh = {
        token_id: tuple(
            old for part in parts for old in (made_of.get(part) or ((back[part],) if part in back else ()))
        )
        for token_id, parts in change.made_of.items()
    }
    return table, {key: parts for key, parts in {**moved, **fresh}.items() if key != surgery.REMOVED}
