"""Text that comes in strings and ends of blocks -> lines, one a block, as HTML and XML mean white space.

Adds the rule: a run of white space (space, tab, line end; not the no-break space) is one space, none at the
ends of a line, and no empty lines; except in preformatted text, which keeps its own. Between the cells of a
row, where both hold something, there is a tab.
Leaves out: which elements are blocks (`html_text`, `xml_text`).
"""

from __future__ import annotations

import re

SPACE = re.compile(r"[ \t\n\r\f]+")


class Lines:
    """Collects strings and ends of lines.

    >>> lines = Lines()
    >>> lines.add(" arma  "), lines.add("virumque"), lines.end(), lines.end(), lines.add("cano")
    (None, None, None, None, None)
    >>> lines.text()
    'arma virumque\\ncano'
    """

    def __init__(self) -> None:
        self.done: list[str] = []
        self.cells: list[str] = []  # those of the line that are complete
        self.line: list[str] = []
        self.kept = False  # whether the line is preformatted

    def add(self, string: str) -> None:
        """A part of the line."""
        self.line.append(string)

    def keep(self, string: str) -> None:
        """Preformatted text, with line ends of its own."""
        self.kept = True
        self.line.append(string)

    def cell(self) -> None:
        """The end of a cell in the line."""
        text = "".join(self.line)
        text = text.strip("\r\n").rstrip() if self.kept else SPACE.sub(" ", text).strip(" ")
        if text:
            self.cells.append(text)
        self.line, self.kept = [], False

    def end(self) -> None:
        """The end of a line, if there is anything in it."""
        if self.line:
            self.cell()
        if self.cells:
            self.done.append("\t".join(self.cells))
            self.cells = []

    def text(self) -> str:
        """All lines, joined."""
        self.end()
        return "\n".join(self.done)
