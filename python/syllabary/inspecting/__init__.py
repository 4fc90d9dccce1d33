"""Looking at a tokenizer: what it is, its vocabulary in figures, a text token by token, one token in depth.

Adds plain functions that return plain data: `overview` and `figures` (`vocabulary`), `rows`, `totals` and
`steps` of a text, `added` of several (`reading`), `token` (`making`). Everything is counted, nothing
estimated. And `view`, a text with its tokens coloured, for notebooks (`viewing`). Leaves out: printing
(`cli.inspect`), and what any of it means (`tokenizer`, `reference`).
"""

from syllabary.inspecting.making import Making, Node
from syllabary.inspecting.reading import Row, Rows, Taken, added, rows, steps, totals
from syllabary.inspecting.scripts import script_of, text_of
from syllabary.inspecting.viewing import View, view
from syllabary.inspecting.vocabulary import figures, integers, overview, source_of

__all__ = [
    "Making",
    "Node",
    "Row",
    "Rows",
    "Taken",
    "View",
    "added",
    "figures",
    "integers",
    "overview",
    "rows",
    "script_of",
    "source_of",
    "steps",
    "text_of",
    "totals",
    "view",
]
