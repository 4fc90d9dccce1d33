"""Names of a package that are imported when they are first asked for (PEP 562).

Adds `on_demand`. Leaves out: which names and modules those are, which each package says itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_demand(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package.

    homes: name -> the module of the package that it is in; one that is its own home is that module.
    What was asked for once is an attribute like others. `AttributeError` for any other name.
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
        return sorted(vars(sys.modules[package]).keys() | homes.keys())

    return found, listed
