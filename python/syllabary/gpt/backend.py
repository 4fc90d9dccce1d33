"""torch, or an error that says what to install.

Modules of this package that need torch take it from here. Leaves out: devices (`device`).
"""

from __future__ import annotations

from syllabary.errors import ModelError

try:
    import torch
except ImportError as error:
    raise ModelError(
        f"a language model needs PyTorch ({error}): pip install 'syllabary[gpt]', "
        "or see pytorch.org for one that fits your GPU"
    ) from error

__all__ = ["torch"]
