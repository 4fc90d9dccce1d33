"""Modules and names that are imported when they are first asked for.

Adds `on_demand`, for the names of a package (PEP 562), and `later`, for modules that only some of a module's
functions need. What needs much is so not loaded by who only encodes. Leaves out: which names and modules
those are, which each module says itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def on_demand(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package.

    homes: name -> the module of the package that it is in; one that is its own home is that module.
    What was asked for once is an attribute like others. `AttributeError` for any other name. `dir()`, from
    which prompts complete, lists `homes`, the package's `__all__` and what Python itself put there.
    """

    def found(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = import_module(f"{package}.{homes[name]}")
        if homes[name] != name:
            value = getattr(value, name)
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        there = vars(sys.modules[package])
        return sorted({*homes, *there["__all__"], *(name for name in there if name.startswith("__"))})

    return found, listed


def later(names: dict[str, Any], **modules: str) -> None:
    """Put modules into the `globals()` of another, each imported when something of it is first asked for.

    Type checkers are told of them by an `if TYPE_CHECKING:` before.

    >>> here = dict[str, object]()
    >>> later(here, text="textwrap")
    >>> here["text"].dedent("  a"), here["text"]  # doctest: +ELLIPSIS
    ('a', <module 'textwrap' from ...>)
    """
    for name, module in modules.items():
        names[name] = _Later(names, name, module)


class _Later:
    """Stands for a module, and makes way for it at the first question."""

    __slots__ = ("_there",)

    def __init__(self, names: dict[str, Any], name: str, module: str) -> None:
        """In `names`, by `name`."""
        object.__setattr__(self, "_there", (names, name, module))

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # what inspection asks of every object
            raise AttributeError(attribute)
        return getattr(self._module(), attribute)

    def __setattr__(self, attribute: str, value: Any) -> None:
        """Of the module: who replaces something in it, as a test does, may hold what stands for it."""
        setattr(self._module(), attribute, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied as the module."""
        return import_module, (self._there[2],)

    def _module(self) -> ModuleType:
        names, name, module = self._there
        found = import_module(module)
        if names.get(name) is self:
            names[name] = found
        return found
