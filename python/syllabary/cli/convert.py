"""`syllabary convert`: a tokenizer from one format to another, with every loss said.

Leaves out: what a format can hold (`syllabary.formats`), and comparison on text of the user's (`verify`).
"""

from __future__ import annotations

import json

import click

from syllabary.cli import common, values
from syllabary.cli.shared_options import file_split_option
from syllabary.cli.words import format_in, plural, printable, spoken
from syllabary.convert import convert as convert_file


@click.command(
    epilog="""\b
Examples:
  $ syllabary convert tok.json tok.syllabary.json
  $ syllabary convert tok.json ranks.tiktoken --strict || echo refused
  $ syllabary convert tok.json copy.json --sample corpus.txt --json
""",
)
@click.argument("source", metavar="IN")
@click.argument("target", type=values.Name(), metavar="OUT")
@click.option(
    "--from", "source_format", metavar="FORMAT", help="The format of IN, if its content does not tell."
)
@click.option("--to", "target_format", metavar="FORMAT", help="The format of OUT, if not by its suffix.")
@file_split_option
@click.option("--strict", is_flag=True, help="Refuse to lose anything.")
@click.option(
    "--sample", "files", metavar="FILE", multiple=True, help="Try the result on this text too (repeatable)."
)
@click.option("--json", "as_json", is_flag=True, help="Write the report as JSON to stdout.")
def convert(
    source: str,
    target: str,
    source_format: str | None,
    target_format: str | None,
    split: str | None,
    strict: bool,
    files: tuple[str, ...],
    as_json: bool,
) -> None:
    """Write the tokenizer IN to OUT in another format.

    What OUT's format cannot hold is said on stderr, a line a loss. The result is opened again and tried.
    """
    texts = (document.text for path in files for document in common.documents(path))
    with format_in("--to"):
        report = convert_file(
            source,
            target,
            target_format,
            source_format=source_format,
            split=split,
            strict=strict,
            texts=texts,
        )
    for loss in report.losses:
        common.talk(click.style("lost:", fg="yellow", bold=True) + f" {spoken(loss)}")
    if as_json:
        common.data(json.dumps(report.as_data(), ensure_ascii=False))
    tried = plural(report.texts, "text")
    same = f"{report.same_ids} in the same ids, {report.same_tokens} in the same tokens"
    common.talk(f"{printable(', '.join(report.files))}: {report.format}; tried on {tried}: {same}")
    if report.difference is not None:
        common.talk(f"first difference: {report.difference.text[:80]!r}")
