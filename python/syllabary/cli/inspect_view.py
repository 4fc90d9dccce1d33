"""`syllabary inspect --view` and `--html`: texts with their tokens coloured, on a terminal and as a page.

Adds `look`. Leaves out: how a text is cut and what is seen of it (`inspecting.parts`), HTML
(`inspecting.page`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import click

from syllabary import inspecting
from syllabary.cli import colour, common
from syllabary.cli.words import printable
from syllabary.corpus.document import Document, Reading, place_of
from syllabary.files import open_atomic
from syllabary.inspecting import Making, Rows, page
from syllabary.inspecting.parts import Part, cells, parts, plain
from syllabary.inspecting.viewing import counts
from syllabary.visible import FOREGROUND, SIGN

SMALL = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
BLOCK = 4096  # strings that are written at once


def look(
    makings: Mapping[str, Making],
    documents: Iterable[Document],
    reading: Reading,
    special: str,
    view: bool,
    html: str | None,
) -> None:
    """Write every text as each tokenizer cuts it: to stdout (view), to a page (`-`: stdout), or both."""
    with ExitStack() as stack:
        shows: list[_Shown | _Page] = [_Shown(len(makings) > 1, colour.wanted())] if view else []
        if html == "-":
            shows.append(_Page(lambda strings: common.data("".join(strings), nl=False)))
        elif html is not None:
            file = stack.enter_context(open_atomic(Path(html)))
            shows.append(_Page(lambda strings: file.write("".join(strings).encode())))
        for show in shows:
            show.begin()
        for number, document in enumerate(documents, 1):
            for show in shows:
                show.text(place_of(document, reading) if "path" in document.meta else f"text {number}")
            for name, making in makings.items():
                with common.told_where(document, reading):
                    rows = inspecting.rows(making, document.text, special)
                for show in shows:
                    show.rows(name, document.text, rows)
        for show in shows:
            show.end()


@dataclass
class _Page:
    """Writes to a page."""

    write: Callable[[Iterable[str]], object]

    def begin(self) -> None:
        """What stands before all texts."""
        self.write([page.HEAD])

    def end(self) -> None:
        """What stands after them."""
        self.write([page.END])

    def text(self, name: str) -> None:
        """A text begins."""
        self.write([page.heading(name, 2)])

    def rows(self, name: str, text: str, rows: Rows) -> None:
        """What a tokenizer makes of it."""
        self.write([page.heading(name, 3)])
        for block in _blocks(page.block(text, rows, counts(text, len(rows)))):
            self.write(block)


@dataclass
class _Shown:
    """Writes to stdout; named: each text has the tokenizer's name above."""

    named: bool
    colours: bool
    begun: bool = False

    def begin(self) -> None:
        """Nothing stands before the texts."""

    def end(self) -> None:
        """Nor after them."""

    def text(self, _name: str) -> None:
        """A text begins."""

    def rows(self, name: str, text: str, rows: Rows) -> None:
        """What a tokenizer makes of it, and the sums."""
        if self.begun:
            common.data()
        self.begun = True
        if self.named:
            name = printable(name)
            common.data(click.style(name, bold=True) if self.colours else name)
        found = parts(text, rows)
        last = "\n"
        for block in _blocks(_painted(found) if self.colours else plain(found)):
            common.data("".join(block), nl=False)
            last = block[-1][-1]
        common.data("\n" * (last != "\n") + counts(text, len(rows)))


def _blocks(strings: Iterable[str]) -> Iterator[list[str]]:
    """So many at a time."""
    left = iter(strings)
    while block := list(islice(left, BLOCK)):
        yield block


def _painted(found: Iterable[Part]) -> Iterator[str]:
    """Each part on the next background; what no token stands for has none."""
    number = 0
    for part in found:
        yield _part(part, number)
        number += bool(part.rows)


def _part(part: Part, number: int) -> str:
    """A part in colours, which end before a line does; a small number says how many tokens it is."""
    shown = list(cells(part.text)) if part.text else [(page.EMPTY, True)]
    if len(part.rows) > 1:
        shown.insert(len(shown) - (shown[-1] == ("\n", False)), (str(len(part.rows)).translate(SMALL), True))
    return "".join(cell if cell == "\n" else _cell(cell, sign, part, number) for cell, sign in shown)


def _cell(cell: str, sign: bool, part: Part, number: int) -> str:
    if not part.rows:
        return click.style(cell, dim=True) if sign else cell
    noted = any(row.kind in page.NOTED for row in part.rows)
    return colour.painted(cell, number, SIGN if sign else FOREGROUND, noted or None)
