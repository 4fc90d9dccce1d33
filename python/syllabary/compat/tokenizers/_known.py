"""What was made of a tokenizer's components, for as long as these are as they were.

Adds `Known`. Truncation and padding do not count: nothing that is made of the components holds them. Leaves
out: what is made (`_encode` says how).
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syllabary.compat.tokenizers._tokenizer import Tokenizer

CHANGES = attrgetter("changes")


class Known:
    """Things made of the components, by name, and how the components were then.

    special: the texts of the special tokens. before: things made when nothing but added tokens was another.
    """

    def __init__(self, tokenizer: Tokenizer, last: Known | None = None) -> None:
        """Of the components as they are now; nothing is made yet. last: what was known before."""
        self.before: dict[str, Any] = {}
        if last is not None and last.holds(tokenizer, but_added=True):
            self.before = {**last.before, **last._things}
        self.special = frozenset(tokenizer._added.special)
        self._things: dict[str, Any] = {}
        self._parts = tuple(tokenizer._parts.values())
        self._all = [one for part in self._parts if part is not None for one in part.all()]
        self._changes = [*map(CHANGES, self._all)]
        self._vocab = tokenizer.model.values["vocab"]  # training replaces it
        self._added, self._hides = tokenizer._added.changes, tokenizer._hides_special

    def holds(self, tokenizer: Tokenizer, but_added: bool = False) -> bool:
        """Whether the components are as they were, and (unless `but_added`) the added tokens too."""
        return (
            (*tokenizer._parts.values(),) == self._parts
            and [*map(CHANGES, self._all)] == self._changes
            and self._parts[-1].values["vocab"] is self._vocab
            and (but_added or tokenizer._added.changes == self._added)
            and tokenizer._hides_special == self._hides
        )

    def made(self, name: str, make: Callable[[], Any]) -> Any:
        """The thing of that name, made when it is first asked for."""
        things = self._things
        if name not in things:
            things[name] = make()
        return things[name]
