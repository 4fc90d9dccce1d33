"""A language model on the tokens: shards in, a GPT out, text and bits per byte from it.

Importing this loads no torch: the modules that need it (extra `gpt`) are imported when one of their names is
first asked for, and say what to install if it is not there. Leaves out: all the work, which the modules do.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from syllabary.gpt.config import PRESETS, ModelConfig, Preset, TrainConfig, model_for_depth

__all__ = ["PRESETS", "ModelConfig", "Preset", "TrainConfig", "model_for_depth"]  # and those of LAZY

# Public name -> the module that has it, and needs torch. A function that is named as its module (`generate`)
# is had from there.
LAZY = {"GPT": "model", "Checkpoint": "checkpoint", "to_transformers": "export", "open_trained": "trained"}


def __getattr__(name: str) -> Any:
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{LAZY[name]}"), name)
