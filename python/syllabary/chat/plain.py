"""Messages, tools and documents as plain JSON values: what a chat template gets to see.

A template is another's program; an image or an array has methods that the sandbox does not know. So
everything is built again of plain values; what cannot be stands as `<its type>`, and templates only ask
whether it is there. Source of the rules: transformers 5.23, `utils/chat_template_utils.py`. Leaves out:
functions as tools, which are given as the JSON schema that describes them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from syllabary.errors import ChatError

# Names that a message's reasoning goes by; templates read the first, or the second.
REASONING = ("reasoning_content", "thinking", "reasoning")


def plain(value: Any) -> Any:
    """The value of plain types alone; subclasses of `str` and numbers become what they are a subclass of.

    >>> plain({"n": np.int64(3), "image": object()})
    {'n': 3, 'image': '<object>'}
    """
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value)) if type(value) in (list, tuple) else list(map(plain, value))
    if isinstance(value, np.generic):
        return plain(value.item())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if callable(dump := getattr(value, "model_dump", None)):  # pydantic
        return plain(dump())
    return f"<{type(value).__name__}>"


def conversation(messages: Any) -> list[dict[str, Any]]:
    """The messages as plain dictionaries, without members that are `None`.

    Reasoning stands under each name that templates read. Raises `ChatError` for what is no list of messages.
    """
    if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Sequence):
        raise ChatError(f"messages is {type(messages).__name__}: give a list of {{'role': …, 'content': …}}")
    if not messages:
        raise ChatError("the conversation is empty: give at least one message")
    found = []
    for index, message in enumerate(map(plain, messages)):
        if not isinstance(message, dict):
            kind = type(messages[index]).__name__
            raise ChatError(f"message {index} is {kind}: give {{'role': …, 'content': …}}")
        kept = {key: value for key, value in message.items() if value is not None}
        reasoning = next((kept[name] for name in REASONING if name in kept), None)
        found.append(
            kept if reasoning is None else {"thinking": reasoning, **kept, "reasoning_content": reasoning}
        )
    return found


def schemas(tools: Any) -> list[Any] | None:
    """The tools as plain JSON schemas; `ChatError` for a function, or what is no list."""
    if tools is None:
        return None
    tools = _listed("tools", tools)
    for index, tool in enumerate(tools):
        if not isinstance(tool, Mapping):
            raise ChatError(
                f"tool {index} is {type(tool).__name__}: give its JSON schema as a dict "
                "(transformers.utils.get_json_schema makes one of a function)"
            )
    return [plain(tool) for tool in tools]


def texts(documents: Any) -> list[Any] | None:
    """The documents as plain dictionaries; `ChatError` for anything else."""
    if documents is None:
        return None
    documents = _listed("documents", documents)
    for index, document in enumerate(documents):
        if not isinstance(document, Mapping):
            raise ChatError(f"document {index} is {type(document).__name__}: give {{'title': …, 'text': …}}")
    return [plain(document) for document in documents]


def _listed(name: str, values: Any) -> list[Any]:
    """The members of what is to be a list; `ChatError` for one member alone, and for anything else."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise ChatError(f"{name} is {type(values).__name__}: give a list of dicts")
    return list(values)
