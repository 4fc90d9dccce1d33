"""`cached_property`: an attribute that is computed when it is first asked for, and kept.

Adds what `functools` has without its lock, which until Python 3.12 all objects of a class share: a process
forked while a thread computes one would wait for ever. Leaves out: computing it once; threads that ask at
the same time may each do it, and all get the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class cached_property(Generic[Value]):  # noqa: N801 - the name in functools
    """A method without arguments as an attribute; its value is kept in the object's `__dict__`."""

    def __init__(self, method: Callable[[Any], Value]) -> None:
        self.method = method
        self.name = method.__name__
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> cached_property[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Value: ...
    def __get__(self, instance: object, owner: type | None = None) -> cached_property[Value] | Value:
        """The value, kept from now on; of the class, the property itself."""
        if instance is None:
            return self
        value: Value = instance.__dict__.setdefault(self.name, self.method(instance))
        return value
