"""Training: from text, a table of counts or integers to a tokenizer.

`call` has `train`. A tool, a model or a way of training that has its own has a module (`huggingface`,
`unigram`, `superwords`); the stages that they share are `feed`, `counted` and `learning`, and what a killed
training goes on from is `checkpoint`. The names below are had from `call` when they are first asked for: who
needs one stage, as `compat.subword_nmt` needs `learning`, loads no trainer with it.
Leaves out: the algorithms (`syllabary.reference` defines them, the engine runs them), the reading of files
(`syllabary.corpus`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from syllabary.on_demand import on_demand

if TYPE_CHECKING:
    from syllabary.training.call import GPT4_2023, LIKE, OURS, TOOLS, split_of, train, train_with

__all__ = ["GPT4_2023", "LIKE", "OURS", "TOOLS", "split_of", "train", "train_with"]

if not TYPE_CHECKING:  # a type checker would take any name, misspelled too, for one that is found here
    __getattr__, __dir__ = on_demand(__name__, dict.fromkeys(__all__, "call"))
