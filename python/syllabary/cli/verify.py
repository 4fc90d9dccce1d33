"""`syllabary verify`: a tokenizer against another, or against its home library, on real text.

Leaves out: the comparison itself (`syllabary.verify`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from syllabary.cli import common
from syllabary.cli.shared_options import file_split_option
from syllabary.cli.words import plural, printable
from syllabary.corpus.document import Document, Reading, place_of
from syllabary.errors import FormatError
from syllabary.verify import verify as verify_file

DIFFERENT = 1  # exit code, as of `diff`
SHOWN = 8  # ids of either side


@click.command(
    epilog="""\b
Examples:
  $ syllabary verify tok.json --against tokenizers --on corpus.txt
  $ syllabary verify tok.json --against tok.json --on corpus.txt
  $ syllabary verify tok.json --against tokenizers --on more.txt --json
""",
)
@click.argument("source", metavar="IN")
@click.option(
    "--against",
    required=True,
    metavar="PEER",
    help="tiktoken, tokenizers, sentencepiece or subword-nmt (they open IN), or another tokenizer's file.",
)
@click.option(
    "--on",
    "files",
    metavar="FILE",
    multiple=True,
    required=True,
    help="Text to try (repeatable; - is stdin).",
)
@file_split_option
@click.option("--json", "as_json", is_flag=True, help="Write the report as JSON to stdout.")
@click.pass_context
def verify(
    ctx: click.Context, source: str, against: str, files: tuple[str, ...], split: str | None, as_json: bool
) -> None:
    """Encode FILES with IN and with PEER and report the first difference; exit code 1 if there is one."""
    texts = _Texts(files)
    try:
        report = verify_file(source, against, texts, split=split)
    except ImportError as error:
        raise common.Failure(printable(str(error))) from error
    except (*common.OF_TEXT, FormatError) as error:
        if texts.last is None:
            raise
        raise type(error)(f"{place_of(texts.last, Reading())}: {error}") from error
    if not report.tokens and report.difference is None:
        raise common.Failure(f"nothing to compare: {printable(', '.join(files))} gives no token by either")
    if as_json:
        common.data(json.dumps(report.as_data(), ensure_ascii=False))
    found = report.difference
    if found is None:
        common.talk(
            f"equal to {report.peer}: {plural(report.texts, 'text')}, {plural(report.tokens, 'token')}"
        )
        return
    common.talk(
        f"different from {report.peer}: text {found.document}, token {found.index}, "
        f"character {found.character}\n"
        f"  text   {found.text!r}\n  ours   {found.ours[:SHOWN]}\n  theirs {found.theirs[:SHOWN]}"
    )
    ctx.exit(DIFFERENT)


class _Texts:
    """The texts of files, one after the other, and the document read last."""

    def __init__(self, files: tuple[str, ...]) -> None:
        self.files = files
        self.last: Document | None = None

    def __iter__(self) -> Iterator[str]:
        for path in self.files:
            for self.last in common.documents(path):
                yield self.last.text
