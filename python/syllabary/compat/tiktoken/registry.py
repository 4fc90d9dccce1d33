"""Encodings by name, by tiktoken's interface: the published ones, and those of `tiktoken_ext` plugins.

A plugin is a module of the namespace package `tiktoken_ext` with a table `ENCODING_CONSTRUCTORS`, as for
tiktoken. They are looked for when an encoding is asked for. `tiktoken_ext.openai_public`, tiktoken's own, is
passed over: `syllabary.encodings` stands for it. Leaves out: where rank files come from (`load`).
"""

from __future__ import annotations

import functools
import importlib
import os
import pkgutil
import threading
from collections.abc import Callable, Sequence
from typing import Any

from syllabary import splits
from syllabary.compat.tiktoken.core import Encoding
from syllabary.compat.tiktoken.load import parse_tiktoken_bpe
from syllabary.encodings import get, names, rank_file
from syllabary.errors import UnknownEncodingError

OWN = "tiktoken_ext.openai_public"
# In tiktoken's order.
PUBLISHED = ("gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony")
VERSION = "0.14.0"

_lock = threading.RLock()
ENCODINGS: dict[str, Encoding] = {}
ENCODING_CONSTRUCTORS: dict[str, Callable[[], dict[str, Any]]] | None = None


def _new_lock() -> None:
    """In the child of a fork: a thread that held the lock is not there to let it go."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_new_lock)


@functools.lru_cache
def _available_plugin_modules() -> Sequence[str]:
    """The names of the plugins, tiktoken's own first."""
    try:
        package = importlib.import_module("tiktoken_ext")
    except ModuleNotFoundError:
        return [OWN]
    found = [module.name for module in pkgutil.iter_modules(package.__path__, package.__name__ + ".")]
    return [OWN, *(name for name in found if name != OWN)]


def _find_constructors() -> None:
    """Fill `ENCODING_CONSTRUCTORS`, once; a plugin that fails is raised each time."""
    global ENCODING_CONSTRUCTORS
    with _lock:
        if ENCODING_CONSTRUCTORS is not None:
            return
        found: dict[str, Callable[[], dict[str, Any]]] = {
            name: functools.partial(_published, name) for name in [*PUBLISHED, *names()] if name in names()
        }
        for module_name in _available_plugin_modules():
            if module_name != OWN:
                _add_plugin(found, module_name)
        ENCODING_CONSTRUCTORS = found


def _add_plugin(found: dict[str, Callable[[], dict[str, Any]]], module_name: str) -> None:
    module = importlib.import_module(module_name)
    if not hasattr(module, "ENCODING_CONSTRUCTORS"):
        raise ValueError(f"tiktoken plugin {module_name} does not define ENCODING_CONSTRUCTORS")
    for name, constructor in module.ENCODING_CONSTRUCTORS.items():
        if name in found:
            raise ValueError(f"Duplicate encoding name {name} in tiktoken plugin {module_name}")
        found[name] = constructor


def _published(name: str) -> dict[str, Any]:
    """The arguments of `Encoding` for a published encoding; `OSError` if its file cannot be had."""
    encoding = get(name)
    try:
        data = rank_file(name, fetch=True)
    except UnknownEncodingError as error:  # a KeyError, which callers take for a name that is not known
        raise OSError(str(error)) from error
    return {
        "name": name,
        "pat_str": splits.get(encoding.split).pattern,
        "mergeable_ranks": parse_tiktoken_bpe(data, encoding.url),
        "special_tokens": {**encoding.special_tokens, **encoding.special_aliases},
    }


def get_encoding(encoding_name: str) -> Encoding:
    """The encoding of a name, made once; `ValueError` for an unknown name.

    Its file is looked for in cache folders, then fetched (`syllabary.encodings`); `OSError` if it cannot be
    had, which says where to put it.
    """
    if not isinstance(encoding_name, str):
        raise ValueError(f"Expected a string in get_encoding, got {type(encoding_name)}")
    if encoding_name in ENCODINGS:
        return ENCODINGS[encoding_name]
    with _lock:
        if encoding_name not in ENCODINGS:
            ENCODINGS[encoding_name] = Encoding(**_constructor(encoding_name)())
        return ENCODINGS[encoding_name]


def _constructor(name: str) -> Callable[[], dict[str, Any]]:
    _find_constructors()
    table = ENCODING_CONSTRUCTORS or {}
    if name not in table:
        raise ValueError(
            f"Unknown encoding {name}.\n"
            f"Plugins found: {_available_plugin_modules()}\n"
            f"tiktoken version: {VERSION} (are you on latest?)"
        )
    return table[name]


def list_encoding_names() -> list[str]:
    """The names of all encodings, those of plugins too."""
    with _lock:
        _find_constructors()
        return list(ENCODING_CONSTRUCTORS or {})
