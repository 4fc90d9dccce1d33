"""Which chat template to use, of those that a tokenizer has. Leaves out: running it (`rendering`)."""

from __future__ import annotations

from collections.abc import Mapping

from syllabary.errors import ChatError
from syllabary.reference.symbols import shown

DEFAULT = "default"
TOOLS = "tool_use"


def choose(templates: Mapping[str, str], wanted: str | None = None, tools: object = None) -> str:
    """The template to use: the one named, or given, or for tools, or the default one.

    Raises `ChatError` where there is none, `TypeError` for one that is no text.

    >>> choose({"default": "a", "tool_use": "b"}, tools=[]), choose({"default": "a"}, "{{ 1 }}")
    ('b', '{{ 1 }}')
    """
    if wanted is not None:
        if not isinstance(wanted, str):
            raise TypeError(f"chat_template is {shown(wanted)}: give a template or the name of one, or None")
        return templates.get(wanted, wanted)
    if tools is not None and TOOLS in templates:
        return templates[TOOLS]
    if DEFAULT in templates:
        return templates[DEFAULT]
    if templates:
        raise ChatError(f"no chat template is the default one: name one of {', '.join(sorted(templates))}")
    raise ChatError(
        "the tokenizer has no chat template: give chat_template=, or tok.with_settings(chat_template=…)"
    )
