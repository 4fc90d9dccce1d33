"""`ReadOnly`: a dict that is looked at and not changed, as `Tokenizer.vocab` hands it out.

Adds refusals to change it. As a `types.MappingProxyType` it is found in as fast as a dict; other than one it
can be pickled and copied. Leaves out: what stands in it.
"""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class ReadOnly(dict[Key, Value]):
    """A dict that raises `TypeError` when it is to be changed; `dict(it)`, copies and pickles are plain."""

    __slots__ = ()

    def _refuse(self, *_args: Any, **_more: Any) -> NoReturn:
        """`TypeError` that says what to do."""
        raise TypeError("it is read only, as the tokenizer is: change a copy, dict(it)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type[dict[Key, Value]], tuple[dict[Key, Value]]]:
        """Pickled and copied as a dict."""
        return dict, (dict(self),)
