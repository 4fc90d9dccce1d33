"""`syllabary inspect`: what a tokenizer is, what it makes of a text, and how single tokens come about.

Adds which of these is asked for, and the data as JSON. Leaves out: how it looks (`inspect_shown`), and all
that is found out (`syllabary.inspecting`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import click

from syllabary import inspecting
from syllabary.cli import common, inspect_shown, inspect_view, values
from syllabary.cli.corpus_options import corpus_options
from syllabary.cli.shared_options import file_split_option, special_option
from syllabary.corpus.document import Document, Reading
from syllabary.inspecting.making import spelling
from syllabary.inspecting.reading import Row, Rows, Taken, check_stepped

ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|.)", re.DOTALL)
NAMED = {"n": "\n", "r": "\r", "t": "\t"}


@click.command(
    epilog="""\b
Examples:
  $ syllabary inspect tok.json
  $ syllabary inspect -t tok.json "some text"
  $ syllabary inspect -t tok.json --steps "some text"
  $ syllabary inspect -t tok.json --view "some text"
  $ syllabary inspect -t tok.json --html tokens.html -i corpus.txt
  $ syllabary inspect -t tok.json --token 299 --token " the"
  $ syllabary inspect -t tok.json -i corpus.txt | tail -n 1
  $ echo "some text" | syllabary inspect -t tok.json -i -
  $ syllabary inspect tok.json --json > tok-in-figures.json
""",
)
@click.argument("words", metavar="[TOK] [TEXT]...", nargs=-1)
@click.option(
    "-t",
    "--tokenizer",
    "tokenizers",
    metavar="TOK",
    multiple=True,
    help="A tokenizer's file or folder, or a published name: TOK (repeatable with --view, --html).",
)
@file_split_option
@click.option(
    "-i",
    "--input",
    "--file",
    "files",
    metavar="FILE",
    multiple=True,
    help="Look at this file; - is stdin (repeatable).",
)
@special_option
@click.option("--view", is_flag=True, help="The text itself, each token on a colour, or with a bar behind.")
@click.option(
    "--html",
    type=values.Name(dash=True),
    metavar="FILE",
    help="Write the text with its tokens coloured as a page; - is stdout.",
)
@click.option("--steps", is_flag=True, help="Every merge from units to ids, a line each, piece by piece.")
@click.option(
    "--token",
    "wanted",
    type=values.Text(),
    metavar="ID|TEXT",
    multiple=True,
    help="This token in depth (repeatable); in quotes as in the table: '\"\\xff\"', '\"12\"'.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as data: one JSON object.")
@corpus_options
def inspect(
    words: tuple[str, ...],
    tokenizers: tuple[str, ...],
    split: str | None,
    files: tuple[str, ...],
    special: str,
    view: bool,
    html: str | None,
    steps: bool,
    wanted: tuple[str, ...],
    as_json: bool,
    reading: Reading,
) -> None:
    """Show what TOK is, with its vocabulary in figures; or the tokens of TEXT.

    Without -t the first argument is the tokenizer. A row has the id, the bytes and the characters of the text
    that the token stands for (from, to before), the number of its piece, the rank of the merge that makes it
    (or its score, or what it is), and the token in quotes ("\\xff": a byte). Behind several texts stand the
    sums of all.
    """
    names, texts = _named(words, tokenizers)
    name = names[0]
    if view or html is not None:
        _check_looked_at((*names, *files), texts or files, html, view, steps or bool(wanted) or as_json)
    elif len(names) > 1:
        raise click.UsageError("several -t: tokenizers are compared with --view or --html FILE")
    if steps and not (texts or files):
        raise click.UsageError("--steps are those of a text: give one, or --input FILE")
    if (integers := next(filter(None, map(inspecting.integers, names)), None)) is not None:
        if texts or files or wanted:
            raise common.Failure(
                "a tokenizer of integers has no text: inspect it alone, or open it with "
                "syllabary.IdTokenizer.load"
            )
        common.data(json.dumps(integers)) if as_json else inspect_shown.integers(integers)
        return
    makings = {name: inspecting.Making(common.load(name, split)) for name in names}
    if view or html is not None:
        inspect_view.look(makings, _texts(texts, files, reading), reading, special, view, html)
        return
    making = makings[name]
    show: Any = _AsJson() if as_json else inspect_shown.Lines(making)
    if not (texts or files or wanted):
        show.overview(inspecting.source_of(name), inspecting.overview(making), inspecting.figures(making))
    for token_id in [token_id for token in wanted for token_id in _ids_of(making, token)]:
        show.token(making.token(token_id))
    for document in _texts(texts, files, reading):
        text = document.text
        with common.told_where(document, reading):
            if steps:
                check_stepped(making, text)
            rows = inspecting.rows(making, text, special)
            show.rows(text, rows, inspecting.totals(text, rows))
            if steps:
                show.steps(inspecting.steps(making, text, special))
    show.end()


def _named(words: tuple[str, ...], tokenizers: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tokenizers, and the texts."""
    if tokenizers:
        return tokenizers, words
    if not words:
        raise click.UsageError("no tokenizer: give TOK, or -t TOK and texts")
    if len(words) > 1:
        raise click.UsageError("several arguments: to look at texts, give the tokenizer as -t TOK")
    return words, ()


def _check_looked_at(
    read: tuple[str, ...], given: tuple[str, ...], html: str | None, view: bool, more: bool
) -> None:
    """`--view` and `--html` are of texts, which are there. more: something else is asked for."""
    if not given:
        raise click.UsageError("--view and --html show texts: give one, or --input FILE")
    if more:
        raise click.UsageError("--view and --html show texts alone: leave out --json, --steps and --token")
    if view and html == "-":
        raise click.UsageError("--view and --html - both write to stdout: give the page a file's name")
    if html is not None:
        common.check_kept(html, read, "the page")


def _texts(texts: tuple[str, ...], files: tuple[str, ...], reading: Reading) -> Iterator[Document]:
    """The arguments, then the documents of the files."""
    yield from common.arguments(texts)
    if files:
        yield from common.documents(*files, reading=reading)


def _ids_of(making: inspecting.Making, token: str) -> list[int]:
    """What `--token` names: an id in digits, a token in quotes, or a text: of which there may be several."""
    tok = making.tok
    if token.isascii() and token.isdigit() and len(token) < 12:
        tok.id_to_token(int(token))
        return [int(token)]
    data = token.encode("utf-8", "surrogatepass")
    found = [token_id for token_id, one in tok.vocab.items() if one == data]
    if not found and len(token) > 1 and token[0] == token[-1] == '"':
        data = unquoted(token)
        found = [token_id for token_id, one in tok.vocab.items() if one == data]
    return found or [tok.token_to_id(token)]  # which says what is wrong


def unquoted(token: str) -> bytes:
    r"""The token that is shown so, in quotes.

    >>> unquoted('"\\xff\\n\\u0085\\""') == b'\xff\n' + "\x85".encode() + b'"'
    True
    """

    def character(found: re.Match[str]) -> str:
        code = found[1]
        if len(code) == 1:
            return NAMED.get(code, code)
        number = int(code[1:], 16)
        return chr(number + 0xDC00 if code[0] == "x" and number >= 0x80 else number)

    try:
        return ESCAPE.sub(character, token[1:-1]).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character, which no token is shown with
        return token.encode("utf-8", "surrogatepass")


@dataclass
class _AsJson:
    """What was asked for as one object: the overview, or `tokens` and `texts`, written as they come."""

    def __post_init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.sums: list[dict[str, Any]] = []

    def overview(self, source: dict[str, Any], found: dict[str, Any], figures: dict[str, Any]) -> None:
        """What the tokenizer is."""
        self.data = {**source, **found, "figures": figures}

    def token(self, found: dict[str, Any]) -> None:
        """One token."""
        self.data.setdefault("tokens", []).append(found)

    def rows(self, text: str, rows: Rows, totals: dict[str, Any]) -> None:
        """A text."""
        if self.sums:
            self._write("}, ")
        else:
            before = json.dumps(self.data)[:-1]
            self._write(before + ", " * bool(self.data) + '"texts": [')
        self.sums.append(totals)
        self._write(json.dumps({**totals, "text": text})[:-1] + ', "rows": [')
        for number, block in enumerate(rows.blocks()):
            shown = [{"id": row.id, **spelling(row.token), **_places(row)} for row in block]
            self._write(", " * bool(number) + json.dumps(shown)[1:-1])
        self._write("]")

    def steps(self, pieces: list[list[Taken]]) -> None:
        """The steps of the text before."""
        self._write(', "steps": ' + json.dumps([[asdict(state) for state in states] for states in pieces]))

    def end(self) -> None:
        """Write what is left of it, as the sums of several texts."""
        if not self.sums:
            common.data(json.dumps(self.data))
        elif len(self.sums) == 1:
            common.data("}]}")
        else:
            common.data('}], "totals": ' + json.dumps(inspecting.added(self.sums)) + "}")

    def _write(self, part: str) -> None:
        common.data(part, nl=False)


def _places(row: Row) -> dict[str, Any]:
    return {
        "byte_span": [row.start, row.end],
        "char_span": [row.first, row.last],
        "piece": row.piece,
        "kind": row.kind,
        "rank": row.rank,
        "score": row.score,
    }
