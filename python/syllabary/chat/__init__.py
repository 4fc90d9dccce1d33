"""Conversations -> text, by the chat template of a tokenizer: Jinja2 in a sandbox, as `transformers` runs it.

`Tokenizer.apply_chat_template` is the usual way in; `render` takes a template by itself. Importing this
loads no Jinja2 (extra `chat`). Leaves out: where templates are stored (`formats.transformers_folder`), and
tokens, which are the tokenizer's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from syllabary.on_demand import on_demand

__all__ = ["Rendered", "choose", "render"]

# Public name -> the module that has it. `render` needs Jinja2.
LAZY = {"render": "rendering", "Rendered": "rendering", "choose": "choosing"}

if TYPE_CHECKING:
    from syllabary.chat.choosing import choose
    from syllabary.chat.rendering import Rendered, render
else:  # a type checker would take any name, misspelled too, for one that is found here
    __getattr__, __dir__ = on_demand(__name__, LAZY)
