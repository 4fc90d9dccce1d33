"""Tables of counts: how often each piece occurs in a corpus, counted once and trained from often.

`pieces` has `PieceCounts`, a table in memory; `counting` has `count_pieces`, from a corpus to a table in a
file; `sums` adds tables up; `file` and `parquet` are what files look like. Leaves out: the arrays and rules
of a table, which training reads too (`piece_table`), training from one (`training.table`), and what a table
is (`reference.counts`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from syllabary.on_demand import on_demand

if TYPE_CHECKING:
    from syllabary.counts.counting import count_pieces
    from syllabary.counts.pieces import PieceCounts

__all__ = ["PieceCounts", "count_pieces"]

if not TYPE_CHECKING:  # a type checker would take any name, misspelled too, for one that is found here
    __getattr__, __dir__ = on_demand(__name__, {"PieceCounts": "pieces", "count_pieces": "counting"})
