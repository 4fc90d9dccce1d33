"""`syllabary count`: how many tokens a text has, as `wc` counts words.

Leaves out: statistics beyond the number.
"""

from __future__ import annotations

from typing import Any

import click

from syllabary.cli import common, values
from syllabary.cli.corpus_options import corpus_options
from syllabary.cli.shared_options import special_option, tokenizer_options
from syllabary.cli.words import printable
from syllabary.corpus.care import Care
from syllabary.corpus.corpus import Corpus
from syllabary.corpus.document import Reading
from syllabary.corpus.report import Report
from syllabary.tokenizer import Tokenizer


@click.command(
    epilog="""\b
Examples:
  $ syllabary count -t tok.json corpus.txt more.txt
  $ cat corpus.txt more.txt | syllabary count -t tok.json
  $ echo "some text" | syllabary count -t tok.json - corpus.txt
  $ syllabary count -t tok.json --limit 8192 corpus.txt
""",
)
@click.argument("files", nargs=-1)
@tokenizer_options
@special_option
@click.option(
    "--limit",
    type=values.Number(0),
    metavar="N",
    help="Stop counting a document that has more than N: it counts as N+1, in sums too.",
)
@corpus_options
def count(
    files: tuple[str, ...],
    tokenizer: str,
    split: str | None,
    special: str,
    limit: int | None,
    reading: Reading,
) -> None:
    """Write the number of tokens of each of FILES and, of several, the total.

    Without FILES the number alone, of what stdin holds; `-` among FILES is stdin.
    """
    tok = common.load(tokenizer, split)
    counts, report = [], Report()
    for source in common.source_of(files or ("-",)):
        corpus = Corpus([source], reading)
        found = corpus.read(normalized=True, empty=True)  # where others have something, it counts 0
        total = 0
        for document in found:
            with common.told_where(document, reading):
                total += _tokens(tok, document.text, special, limit)
        counts.append(total)
        report.merge(corpus.report)
    report.check(reading, Care())
    common.talk_of(report)
    if not files:
        common.data(counts[0])
        return
    rows = list(zip(counts, files, strict=True))
    if len(rows) > 1:
        rows.append((sum(counts), "total"))
    width = len(str(rows[-1][0]))
    for number, name in rows:
        common.data(f"{number:>{width}} {printable(name)}")


def _tokens(tok: Tokenizer, text: str, special: Any, limit: int | None) -> int:
    """The tokens of a text; one more than the limit stands for any number above it."""
    if limit is None:
        return tok.count(text, special)
    found = tok.count_until(text, limit, special)
    return limit + 1 if found is None else found
