"""Conversations -> text, by the chat template of a tokenizer: Jinja2 in a sandbox, as `transformers` runs it.

`Tokenizer.apply_chat_template` is the usual way in; `render` takes a template by itself. Importing this
loads no Jinja2 (extra `chat`). Leaves out: where templates are stored (`formats.transformers_folder`), and
tokens, which are the tokenizer's.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["Rendered", "choose", "render"]

# Public name -> the module that has it. `render` needs Jinja2.
LAZY = {"render": "rendering", "Rendered": "rendering", "choose": "choosing"}


def __getattr__(name: str) -> Any:
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{LAZY[name]}"), name)
