"""What `train` does where it is not told one text and one way to cut it: several languages, superwords.

Adds the choice between them, and what does not go together. Leaves out: each (`parity`, `superwords`),
and integers (`ids`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from syllabary.arguments import bounded, thread_count
from syllabary.corpus.corpus import Corpus
from syllabary.errors import TrainingError
from syllabary.piece_table import PieceTable
from syllabary.progress import Report
from syllabary.spec import TrainOptions
from syllabary.tokenizer import Tokenizer
from syllabary.training.memory import limited
from syllabary.training.parity import Parity, train_parity
from syllabary.training.superwords import train_superwords

# Arguments of `train` that do not go with any of this.
OTHERS = ("like", "start", "checkpoint")
NOT_PARITY = (*OTHERS, "memory_limit")
IN_MEMORY = (
    "the distinct pieces of all languages are merged in memory; leave memory_limit out. If it is counting "
    "that takes too much, count each language with count_pieces(memory_limit=...), and give its table as the "
    "texts"
)


def is_research(call: Mapping[str, Any]) -> bool:
    """Whether the arguments of `train` ask for anything of this."""
    return isinstance(call["source"], Mapping) or any(
        call[name] is not None for name in ("superwords", "parity")
    )


def check_research(call: Mapping[str, Any]) -> None:
    """`TrainingError` where the arguments ask for something of this, and for what does not go with it."""
    what = "several languages" if call["superwords"] is None else "superwords"
    for name in OTHERS if what == "superwords" else NOT_PARITY:
        if is_research(call) and call[name] is not None:
            way_out = IN_MEMORY if name == "memory_limit" else f"leave {name} out"
            raise TrainingError(f"{what} and {name} do not go together: {way_out}")


def train_research(call: Mapping[str, Any], options: TrainOptions, report: Report | None) -> Tokenizer:
    """Learn as the arguments of `train` say; `TrainingError` for what does not go together."""
    source, superwords, parity = call["source"], call["superwords"], call["parity"]
    threads = thread_count(call["threads"])
    if superwords is None:
        if parity is not None and not isinstance(parity, Parity):
            raise TypeError(f"parity is {parity!r}: give syllabary.Parity(...) or None")
        if not isinstance(source, Mapping):
            raise TrainingError("parity is between languages: give a dict of language to its texts as source")
        return train_parity(source, options, parity or Parity(), threads=threads, report=report)
    if isinstance(source, Mapping) or parity is not None:
        raise TrainingError("superwords and several languages do not go together: give one text")
    if isinstance(source, PieceTable):
        raise TrainingError("superwords cuts the text twice, and a table of counts has it cut: give the text")
    read = source if isinstance(source, Corpus) else Corpus(source)
    number = bounded("superwords", superwords)
    with limited(call["memory_limit"]) as room:
        return train_superwords(read, options, number, threads=threads, report=report, room=room)
