"""Arguments of the public functions: of the wrong type or size, they are errors that name them.

Adds one function for each kind of argument. Leaves out: what text, files and vocabularies may hold, which
is checked where they are read.
"""

from __future__ import annotations

import codecs
import operator
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from syllabary.errors import TrainingError
from syllabary.on_demand import later
from syllabary.reference.special import allowed_names
from syllabary.reference.symbols import shown, utf8

if TYPE_CHECKING:
    import secrets
else:
    later(globals(), secrets="secrets")

MAX_THREADS = 1024
LARGEST = 2**32 - 1  # ids are 32 bits wide, and so is everything that is counted in tokens or symbols


# Arguments of `train` that are not given where they are None; the others where they are `...`.
NONE_IS_NOT_GIVEN = ("end_of_word", "num_merges", "normalize")


def cores() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count(threads: int | None) -> int:
    """`threads`, or one a core; `ValueError` below one and above `MAX_THREADS`."""
    if threads is None:
        return cores()
    number = threads if type(threads) is int else integer("threads", threads)
    if not 1 <= number <= MAX_THREADS:
        raise ValueError(f"threads is {number}: give 1 to {MAX_THREADS}, or None for one a core")
    return number


def integer(name: str, value: object) -> int:
    """`value` as a plain integer; `TypeError` that names it for a bool, a float, a string."""
    try:
        if not isinstance(value, (bool, np.bool_)):
            return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    raise TypeError(f"{name} is {shown(value)}: give an integer")


def portion(name: str, value: object, wanted: str = "a number from 0 to 1") -> int | float:
    """`value` as a plain number; `TypeError` that names it for a bool, a string, None."""
    if isinstance(value, (np.integer, np.floating)):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is {value!r}: give {wanted}")
    return value


def bounded(name: str, value: object, most: int = LARGEST) -> int:
    """`value` as a plain integer for an option of training; `TrainingError` for one above `most`."""
    number = integer(name, value)
    if number > most:
        raise TrainingError(f"{name} is {number}: {most} is the most that there can be")
    return number


def check_choice(name: str, value: object, known: Sequence[str]) -> None:
    """`ValueError` that names it for what is not among the known."""
    if value not in known:
        raise ValueError(f"{name} is {value!r}: give one of {', '.join(map(repr, known))}")


def flag(name: str, value: object) -> bool:
    """`value` as a plain bool; `TypeError` that names it for anything else."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is {value!r}: give True or False")
    return bool(value)


def place(name: str, index: object, count: int, wanted: str = "an integer") -> int:
    """Which of `count` an index names, from the end if negative; `TypeError`, `IndexError` beyond them."""
    try:
        number = integer(name, index)
    except TypeError:
        raise TypeError(f"{name} {shown(index)}: give {wanted}") from None
    at = number + count if number < 0 else number
    if not 0 <= at < count:
        raise IndexError(f"{name} {index} of {count}")
    return at


def text_or_none(name: str, value: object) -> None:
    """`TypeError` for what is neither, `TextError` for a lone surrogate."""
    if value is None:
        return
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}: give str or None")
    utf8(value, name)


def special_policy(special: object, special_tokens: Mapping[str, int]) -> str | list[int]:
    """The engine's form of `special=`; `TypeError` for what is neither a name nor a collection of names."""
    if isinstance(special, str) and special in ("raise", "allow", "text"):
        return special
    plain = isinstance(special, Collection) and not isinstance(special, bytes)
    if not plain or getattr(special, "shape", None) == ():
        raise TypeError(f'special is {special!r}: give "raise", "allow", "text" or a set of names')
    names: Any = special.tolist() if isinstance(special, np.ndarray) else special
    return [special_tokens[name] for name in allowed_names(names, special_tokens) or ()]


def coins(dropout: object, seed: int | None) -> tuple[float, int] | tuple[()]:
    """What the engine is told of dropout: nothing, or the probability and the seed, which `None` draws."""
    if isinstance(dropout, (bool, np.bool_)) or not isinstance(dropout, (float, int, np.floating)):
        raise TypeError(f"dropout is {dropout!r}: give a probability from 0 to 1, or None")
    if not 0 <= dropout <= 1:
        raise ValueError(f"dropout is {dropout!r}: give a probability from 0 to 1, or None")
    number = seeded(seed)
    return (float(dropout), number) if dropout else ()


def seeded(seed: int | None) -> int:
    """The seed, or one that is drawn."""
    number = secrets.randbits(64) if seed is None else integer("seed", seed)
    if not 0 <= number < 2**64:
        raise ValueError(f"seed is {number}: give 0 to 2**64 - 1, or None for a new one")
    return number


def iterated(name: str, values: Any, of: str) -> Iterator[Any]:
    """`iter(values)`; `TypeError` that names what cannot be iterated, or is text itself.

    As texts, dicts and tables would give the names of their columns, columns of pyarrow objects of their own.
    """
    if of.startswith("str"):
        if isinstance(values, Mapping) or hasattr(values, "columns"):
            raise TypeError(f'{name} is {type(values).__name__}: give one column, as {name}["text"]')
        if hasattr(values, "to_pylist"):
            raise TypeError(f"{name} is {type(values).__name__}: give {name}.to_pylist()")
    if not isinstance(values, (str, bytes)):
        try:
            return iter(values)
        except TypeError:
            pass
    raise TypeError(
        f"{name} must be an iterable of {of}, not {type(values).__name__}; one alone stands in []"
    )


def listed(name: str, values: Any, types: tuple[type, ...]) -> list[Any]:
    """The members of `values`; `TypeError` that names the place of one of another type. int: numpy's too."""
    wanted = " or ".join(kind.__name__ for kind in types)
    types = (*types, np.integer) if int in types else types
    many = list(iterated(name, values, wanted))
    for index, value in enumerate(many):
        if not isinstance(value, types):
            raise TypeError(f"{name}[{index}] is {type(value).__name__}: give {wanted}")
    return many


def ordered(name: str, values: Any, types: tuple[type, ...]) -> list[Any]:
    """As `listed`; `TypeError` for a set too, whose order is another in each process: ids go by it."""
    if isinstance(values, (set, frozenset)):
        raise TypeError(
            f"{name} is {type(values).__name__}, which has no order: give a list, numbered as it stands"
        )
    return listed(name, values, types)


def special_names(values: Any, types: tuple[type, ...] = (str,)) -> list[Any]:
    """Special tokens to train with; `TypeError` for a mapping, whose ids would be lost, as in `ordered`."""
    if isinstance(values, Mapping):
        raise TypeError(
            f"special_tokens is {type(values).__name__}: give a list of the texts; training numbers them "
            "itself, in their order"
        )
    return ordered("special_tokens", values, types)


def handler(errors: str) -> str:
    """`errors` itself; `ValueError` if Python knows no such handler, whether or not it would be needed."""
    if not isinstance(errors, str):
        raise TypeError(f"errors is {errors!r}: give str, as in bytes.decode")
    try:
        codecs.lookup_error(errors)
    except (LookupError, ValueError) as error:  # a NUL in the name, a lone surrogate
        raise ValueError(
            f'errors={errors!r} is no error handler: give "replace", "strict" or "ignore"'
        ) from error
    return errors


def unmasked(name: str, ids: object) -> None:
    """`TypeError` for an array with a mask, which nothing here would look at, and for a tensor of no ids."""
    if type(ids) is list:
        return
    if isinstance(ids, np.ndarray) and hasattr(ids, "mask"):
        raise TypeError(f"{name} is {type(ids).__name__}: give what is to be taken, as {name}.compressed()")
    _before, _torch, dtype = str(getattr(ids, "dtype", "")).partition("torch.")
    if dtype == "bool":  # whose members pass for 0 and 1
        raise TypeError(f"{name} is a tensor of bools: give integers, shape (n,)")
    if dtype and ("int" not in dtype or getattr(ids, "ndim", 1) != 1):
        shape = tuple(getattr(ids, "shape", ()))
        raise TypeError(f"{name} is a tensor of {dtype} with shape {shape}: give integers, shape (n,)")


def named_ids(special_tokens: object) -> dict[str, int]:
    """Special tokens with plain integers; `TypeError` for what is no mapping of str to integers."""
    if not isinstance(special_tokens, Mapping):
        raise TypeError(f"special_tokens is {special_tokens!r}: give a dict of text to id")
    for text in special_tokens:
        if not isinstance(text, str):
            raise TypeError(f"special token {text!r} is {type(text).__name__}: give str")
    return {
        text: integer(f"the id of special token {text!r}", token_id)
        for text, token_id in special_tokens.items()
    }


def is_given(name: str, value: object) -> bool:
    """Whether an argument of `train` is given, so that a tool's default does not hold."""
    return value is not (None if name in NONE_IS_NOT_GIVEN else ...)


def given_options(options: object) -> Mapping[str, Any]:
    """The options of a tool, by name; none for `None`. `TypeError` for what is no dict of them."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TypeError(f"options is {options!r}: give a dict of option to value, or None")
    return options
