"""Components that have the attributes of their class and no others: models and trainers, as in theirs.

Adds `Sealed`. Leaves out: what the attributes are (`models`, `trainers`).
"""

from __future__ import annotations

import sys
from typing import Any, ClassVar

from syllabary.compat.tokenizers._component import Component, Member

# As Python says it.
NO_PLACE = (
    " and no __dict__ for setting new attributes" if sys.version_info >= (3, 13) else ""
)  # as Python says


class Sealed(Component):
    """A component whose unknown attributes cannot be set; those of a class of the caller's below it can.

    own: attributes that are no members. hidden: members that theirs has no attribute for.
    """

    own: ClassVar[tuple[str, ...]] = ("values", "changes", "_engine")
    hidden: ClassVar[tuple[str, ...]] = ()

    def __setattr__(self, name: str, value: Any) -> None:
        """`AttributeError` for an attribute that there is not."""
        cls, known = type(self), getattr(type(self), name, None)
        settable = name in self.own or (isinstance(known, Member) and name not in self.hidden)
        if "kind" in vars(cls) and not settable and name != "__class__":
            what = f"'tokenizers.{cls.__module__.rpartition('.')[2]}.{cls.__name__}' object"
            if callable(known):
                raise AttributeError(f"{what} attribute '{name}' is read-only")
            raise AttributeError(f"{what} has no attribute '{name}'{NO_PLACE}")
        super().__setattr__(name, value)
