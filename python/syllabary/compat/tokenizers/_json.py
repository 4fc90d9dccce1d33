"""The JSON that Hugging Face's library writes, byte for byte.

Adds `dumps`: compact or with two spaces, characters as they are, numbers as Rust's serde writes them; and
`pickled`, what pickles are of. Leaves out: reading (`json`, `formats.strict_json`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

MARK = "\ud800"  # no text holds it alone: it has no UTF-8


def dumps(document: Mapping[str, object], pretty: bool = False) -> str:
    """A document of plain values; tuples are lists.

    >>> dumps({"dropout": 1e-5, "vocab": [("é", -1e-7)]})
    '{"dropout":0.00001,"vocab":[["é",-1e-7]]}'
    """
    floats: list[float] = []
    text = json.dumps(
        _marked(document, floats),
        ensure_ascii=False,
        indent=2 if pretty else None,
        separators=(",", ": ") if pretty else (",", ":"),
    )
    if not floats:
        return text
    values = iter(floats)
    return re.sub(f'"{MARK}"', lambda _match: number(next(values)), text)


def pickled(name: str, document: Callable[[], Mapping[str, object]]) -> bytes:
    """What `pickle` gets of something called so; an `Exception` for what has no JSON."""
    try:
        return dumps(document()).encode()
    except Exception as error:
        raise Exception(f"Error while attempting to pickle {name}: {error}") from error


def number(value: float) -> str:
    """A float as serde writes it: the shortest digits, an exponent below 1e-5 and from 1e16 on.

    >>> number(0.00001), number(1e-7), number(1e16), number(-2.0)
    ('0.00001', '1e-7', '1e+16', '-2.0')
    """
    text = repr(value)
    if "e" not in text:
        return text
    digits, exponent = text.split("e")
    power = int(exponent)
    if power == -5:
        sign = "-" if digits.startswith("-") else ""
        return f"{sign}0.0000{digits.lstrip('-').replace('.', '')}"
    return f"{digits}e{power:+}" if power > 0 else f"{digits}e{power}"


def _marked(value: object, floats: list[float]) -> object:
    """The value with `MARK` in the place of each float."""
    if isinstance(value, float):
        floats.append(value)
        return MARK
    if isinstance(value, Mapping):
        return {
            key: item if type(item) in (str, int) else _marked(item, floats) for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        if value and isinstance(value[0], (list, tuple)) and all(type(one) is str for one in value[0]):
            return value  # merges
        return [_marked(item, floats) for item in value]
    return value
