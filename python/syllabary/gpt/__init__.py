"""A language model on the tokens: shards in, a GPT out, text and bits per byte from it.

Importing this loads no torch: the modules that need it (extra `gpt`) are imported when one of their names is
first asked for, and say what to install if it is not there. Leaves out: all the work, which the modules do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from syllabary.gpt.config import PRESETS, ModelConfig, Preset, TrainConfig, model_for_depth
from syllabary.on_demand import on_demand

__all__ = ["PRESETS", "ModelConfig", "Preset", "TrainConfig", "model_for_depth"]  # and those of LAZY

# Public name -> the module that has it, and needs torch. A function that is named as its module (`generate`)
# is had from there.
LAZY = {"GPT": "model", "Checkpoint": "checkpoint", "to_transformers": "export", "open_trained": "trained"}

if TYPE_CHECKING:
    from syllabary.gpt.checkpoint import Checkpoint as Checkpoint
    from syllabary.gpt.export import to_transformers as to_transformers
    from syllabary.gpt.model import GPT as GPT
    from syllabary.gpt.trained import open_trained as open_trained
else:  # a type checker would take any name, misspelled too, for one that is found here
    __getattr__, __dir__ = on_demand(__name__, LAZY)
