"""What all components share: members that are attributes, JSON, pickling, and how they are shown.

A component is its description in `tokenizer.json`, member by member; what it does, our steps do. One that is
changed says so by its `stamp`, so that a tokenizer which has it knows to build its engine anew. Leaves out:
the components (`normalizers`, `pre_tokenizers`, `decoders`, `processors`), models (`models`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, cast, overload

from syllabary.compat.tokenizers._json import pickled
from syllabary.compat.tokenizers._shown import Record, Word, show
from syllabary.compat.tokenizers._values import character as character
from syllabary.compat.tokenizers._values import count as count
from syllabary.compat.tokenizers._values import flag as flag
from syllabary.compat.tokenizers._values import instance as instance
from syllabary.compat.tokenizers._values import listed as listed
from syllabary.compat.tokenizers._values import maybe_flag as maybe_flag
from syllabary.compat.tokenizers._values import maybe_text as maybe_text
from syllabary.compat.tokenizers._values import text as text
from syllabary.compat.tokenizers._values import token_id as token_id
from syllabary.formats.hf_components import Place, kind_of, read_steps
from syllabary.formats.hf_floats import read_float
from syllabary.formats.strict_json import Json
from syllabary.spec import Step

T = TypeVar("T")
Part = TypeVar("Part", bound="Component")
Made = TypeVar("Made")
WHERE = Path("component")


class Needed:
    """Marks an argument without a default."""


class Member(Generic[T]):
    """A member of a component's JSON, and the attribute that reads and sets it.

    read: what is given -> its JSON value; raises `TypeError`, `ValueError`. get: the other way.
    argument: what the constructor calls it; `None`: it is none. name: in the file.
    bare: shown without quotes. fixed: cannot be set.
    """

    def __init__(
        self,
        read: Callable[[Any], object],
        default: object = Needed,
        *,
        get: Callable[[Any], Any] | None = None,
        argument: str | None = "",
        name: str = "",
        bare: bool = False,
        fixed: bool = False,
    ) -> None:
        """See the class."""
        self.read, self.default, self.get = read, default, get
        self.argument, self.name, self.bare, self.fixed = argument, name, bare, fixed

    def __set_name__(self, owner: type, attribute: str) -> None:
        """The attribute's name is the others' default."""
        self.name = self.name or attribute
        self.argument = attribute if self.argument == "" else self.argument

    @overload
    def __get__(self, component: None, owner: type) -> Member[T]: ...
    @overload
    def __get__(self, component: Component, owner: type) -> T: ...
    def __get__(self, component: Component | None, owner: type) -> Any:
        """The value, as Python has it."""
        if component is None:
            return self
        value = component.values[self.name]
        return value if self.get is None else self.get(value)

    def __set__(self, component: Component, value: T) -> None:
        """Set the value; tokenizers that have the component follow. A pattern cannot be read, nor set."""
        if self.fixed:
            raise Exception("Cannot set pattern")
        component.values[self.name] = self.read(value)
        component.changes += 1


class Component:
    """A part of a tokenizer."""

    base: ClassVar[str] = "Component"  # how errors call the place
    place: ClassVar[Place | None] = None
    kind: ClassVar[str | None] = None  # its `type`; None: no class that can be made
    ignores: ClassVar[bool] = False  # whether unknown keyword arguments are passed over
    values: dict[str, Any]
    changes: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """From its members, by place or by name."""
        if self.kind is None:
            module = type(self).__module__.rpartition(".")[2]
            raise TypeError(f"cannot create 'tokenizers.{module}.{type(self).__name__}' instances")
        members = [one for one in self.members() if one.argument is not None]
        if len(args) > len(members):
            raise TypeError(
                f"{self.kind}.__new__() takes {len(members)} positional arguments but {len(args)} were given"
            )
        given = dict(zip((str(one.argument) for one in members), args, strict=False))
        for name, value in kwargs.items():
            if name in given:
                raise TypeError(f"{self.kind}.__new__() got multiple values for argument '{name}'")
            if not any(one.argument == name for one in members) and not self.ignores:
                raise TypeError(f"{self.kind}.__new__() got an unexpected keyword argument '{name}'")
            given[name] = value
        self.values, self.changes = {}, 0
        for one in self.members():
            if one.argument in given:
                self.values[one.name] = one.read(given[one.argument])
            elif one.default is Needed:
                raise TypeError(
                    f"{self.kind}.__new__() missing 1 required positional argument: '{one.argument}'"
                )
            else:
                self.values[one.name] = one.default

    @classmethod
    def members(cls) -> list[Member[Any]]:
        """Its members, in the order of the file and of the arguments."""
        return [one for one in vars(cls).values() if isinstance(one, Member)]

    def json(self) -> dict[str, object]:
        """Its description in `tokenizer.json`."""
        return {"type": self.kind, **self.values}

    def stamp(self) -> tuple[object, ...]:
        """Another one when it was changed."""
        return id(self), self.changes

    def kept(self, make: Callable[[], T]) -> T:
        """What `make` makes of the component, until it is changed."""
        stamp, known = self.stamp(), self.__dict__.get("_kept")
        if known is None or known[0] != stamp:
            known = self.__dict__["_kept"] = (stamp, make())
        return cast(T, known[1])

    def parts(self) -> Sequence[Component]:
        """The components that it is made of: itself, or those of a sequence."""
        return (self,)

    def all(self) -> Iterator[Component]:
        """It and all that stand in it, whose changes are its own."""
        yield self

    def frozen(self) -> Any:
        """One that does what it does now, whatever it is changed to; Python code of the caller's: itself."""
        if self.is_custom and not isinstance(self, Chain):
            return self
        made = type(self).__new__(type(self))
        vars(made).update({**vars(self), "values": dict(self.values)})
        known = vars(made).pop("_kept", None)
        if known is not None and known[0] == self.stamp():
            vars(made)["_kept"] = (made.stamp(), known[1])
        return made

    @property
    def is_custom(self) -> bool:
        """Whether it is Python code of the caller's, or has such a part."""
        return any(part.is_custom for part in self.parts() if part is not self)

    def steps(self) -> tuple[Step, ...]:
        """The steps that do what it does; `FormatError` where ours differ from their library's."""
        place = cast(Place, self.place)
        return read_steps(Json(self.json(), str(self.kind), WHERE), place, runs=False)

    @classmethod
    def check(cls, value: object) -> None:
        """Raise `FormatError` for JSON that is no component of this place."""
        read_steps(Json(value, "$", WHERE), cast(Place, cls.place), runs=False)

    @classmethod
    def kind_in(cls, value: object) -> str:
        """The `type` of a component's JSON."""
        return kind_of(Json(value, "$", WHERE), cast(Place, cls.place))[0]

    def record(self) -> object:
        """What `repr` shows."""
        bare = {one.name for one in self.members() if one.bare}
        shown = {
            name: Word(value) if name in bare else shown_value(value) for name, value in self.values.items()
        }
        return Record(str(self.kind), shown)

    def __repr__(self) -> str:
        """As their library shows it."""
        return show(self.record(), short=False)

    def __str__(self) -> str:
        """The same, lists and strings shortened."""
        return show(self.record(), short=True)

    def __getstate__(self) -> bytes:
        """Its JSON."""
        return pickled(self.base, self.json)

    def __setstate__(self, state: bytes) -> None:
        """From its JSON."""
        found = from_json(type(self), json.loads(state, parse_float=read_float))
        self.__dict__.pop("_kept", None)
        self.__dict__.update(vars(found))


def shown_value(value: object) -> object:
    """A JSON value as their library shows it: lists of a token and an id as tuples, a pattern by its kind."""
    if isinstance(value, dict) and len(value) == 1 and next(iter(value)) in ("String", "Regex"):
        ((kind, pattern),) = value.items()
        return Word(kind, pattern)
    return value


class Chain(Component):
    """Components one after the other, as a list of which the items can be read and replaced.

    A sequence in it stands for its own items, and shares them, as in theirs. listed: the member of its JSON.
    unfolds: whether it is so. whole: one that a file has in another, which stays one item.
    """

    listed: ClassVar[str]
    unfolds: ClassVar[bool] = True
    item: ClassVar[str] = ""  # how errors call one
    children: list[Component]
    whole = False

    def __init__(self, parts: list[Any]) -> None:
        """From its parts, which stay those of the caller's: a change to one changes the sequence."""
        if not isinstance(parts, list):
            raise TypeError(f"'{type(parts).__name__}' object is not an instance of 'list'")
        self.values, self.changes = {}, 0
        self.children = [checked(part, type(self)) for part in parts]

    def json(self) -> dict[str, object]:
        """With those of its parts."""
        return {"type": "Sequence", self.listed: [part.json() for part in self]}

    def frozen(self) -> Any:
        """With its parts as they are now."""
        made = super().frozen()
        made.children = [part.frozen() for part in self.children]
        vars(made).pop("_kept", None)
        return made

    def stamp(self) -> tuple[object, ...]:
        """With those of its parts."""
        return id(self), self.changes, *(part.stamp() for part in self.children)

    def spots(self) -> list[tuple[Chain, int]]:
        """Of each item, the sequence and the place where it stands."""
        found: list[tuple[Chain, int]] = []
        for number, child in enumerate(self.children):
            inner = isinstance(child, Chain) and self.unfolds and not child.whole
            found += cast(Chain, child).spots() if inner else [(self, number)]
        return found

    def parts(self) -> Sequence[Component]:
        """Its parts, all sequences unfolded."""
        return [part for child in self.children for part in child.parts()]

    def all(self) -> Iterator[Component]:
        """Sequences in it too."""
        yield self
        for child in self.children:
            yield from child.all()

    def record(self) -> object:
        """Its parts' records."""
        return Record("Sequence", {self.listed: [part.record() for part in self]})

    def __len__(self) -> int:
        """How many items it has."""
        return len(self.spots())

    def __bool__(self) -> bool:
        """True, but for normalizers, whose length theirs knows."""
        return bool(len(self)) or self.listed != "normalizers"

    def __iter__(self) -> Iterator[Component]:
        """Its items."""
        return (chain.children[number] for chain, number in self.spots())

    def _spot(self, index: int) -> tuple[Chain, int]:
        if index < 0:
            raise OverflowError("can't convert negative int to unsigned")
        spots = self.spots()
        if index >= len(spots):
            raise IndexError("Index not found")
        return spots[index]

    def __getitem__(self, index: int) -> Any:
        """An item; `IndexError` beyond the last."""
        chain, number = self._spot(index)
        return chain.children[number]

    def __setitem__(self, index: int, value: Any) -> None:
        """Replace an item, in the sequence too that it comes from."""
        new = checked(value, type(self))
        if isinstance(new, Chain) and self.unfolds and not new.whole:
            raise Exception(f"{self.item} should not be a sequence")
        chain, number = self._spot(index)
        chain.children[number] = new
        chain.changes += 1


def family(cls: type[Component]) -> type[Component]:
    """The class of all components of one place, above Component and the classes that only help."""
    return next(one for one in reversed(cls.__mro__) if "base" in vars(one) and one is not Component)


def checked(value: object, cls: type[Component]) -> Any:
    """A component of the same place as `cls`; `TypeError` for anything else."""
    wanted = family(cls)
    if not isinstance(value, wanted):
        raise TypeError(f"'{type(value).__name__}' object is not an instance of '{wanted.__name__}'")
    return value


def from_json(cls: type[Made], value: Any) -> Made:
    """The component that JSON describes, of the place of `cls`; `FormatError` for one that there is not."""
    place_of = family(cast(type[Component], cls))
    place_of.check(value)
    return cast(Made, _made(place_of, value))


def _made(place_of: type[Component], value: dict[str, Any]) -> Component:
    kinds = {str(one.kind): one for one in subclasses(place_of)}
    sequence = kinds.get("Sequence")
    listed = getattr(sequence, "listed", "")
    if sequence is not None and value.get("type", "Sequence") == "Sequence" and listed in value:
        parts = [_made(place_of, one) for one in value[listed]]
        for one in parts:
            if isinstance(one, Chain):
                one.whole = True
        return sequence(parts)
    name = place_of.kind_in(value)
    made = object.__new__(kinds[name])
    made.changes = 0
    made.values = {one.name: value.get(one.name, one.default) for one in kinds[name].members()}
    return made


def subclasses(cls: type[Component]) -> Iterator[type[Component]]:
    """The classes of a place that can be made."""
    for one in cls.__subclasses__():
        if one.kind is not None:
            yield one
        yield from subclasses(one)
