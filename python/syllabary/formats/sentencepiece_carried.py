"""What a tokenizer carries of the `.model` that it was read from, as plain JSON values.

Adds `carried["sentencepiece"]`: the training options, the self-test, fields that nobody knows, and the order
of it all, so that an unchanged tokenizer is written byte for byte as it was. Bytes are base64. The compiled
character maps, which may be large and are in the tokenizer's steps already, are left out of their records:
a record with one is the list of what stands before and after it. Of pieces whose score no id depends on
(words, and those of several characters in a model of characters) score and type are there too, by their text.
Leaves out: pieces that are written as sentencepiece writes them.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import TypeGuard

from syllabary.errors import FormatError
from syllabary.formats.protobuf import WireError, fields
from syllabary.formats.sentencepiece_proto import (
    CHARSMAP,
    DENORMALIZER,
    NORMALIZER,
    PIECES,
    SCORED,
    Model,
    check_message,
    read_piece,
)

NAME = "sentencepiece"


def to_carried(model: Model, idle: Iterable[int] = ()) -> dict[str, object]:
    """The JSON value of a model's layout and odd pieces. idle: the ids of plain pieces without a score."""
    found: dict[str, object] = {
        "layout": [item if isinstance(item, int) else _without_map(item) for item in model.layout],
        "odd": {str(token_id): _text(raw) for token_id, raw in model.odd.items()},
        "typed": model.typed,
    }
    kept = {model.texts[token_id]: [model.scores[token_id], model.types[token_id]] for token_id in idle}
    return {**found, "idle": kept} if kept else found


def idle_of(carried: Mapping[str, object]) -> dict[str, tuple[float, int]]:
    """Score and type of the plain pieces that have none in the tokenizer; `FormatError` for another value."""
    value = carried.get(NAME)
    idle = value.get("idle", {}) if _is_object(value) else {}
    found: dict[str, tuple[float, int]] = {}
    for text, pair in idle.items() if _is_object(idle) else [("", None)]:
        if not (isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is float and pair[1] in SCORED):
            raise FormatError(f'carried["{NAME}"]["idle"] is damaged: take it out, or read the .model again')
        found[text] = (pair[0], pair[1])
    return found


def from_carried(carried: Mapping[str, object], charsmaps: Mapping[int, bytes]) -> Model:
    """A model without pieces, with the layout and the odd pieces that a tokenizer carries, if any.

    charsmaps: the character maps of `NORMALIZER` and `DENORMALIZER`. A record whose map was another is left
    out: the writer makes it anew.

    Raises `FormatError` for a value that `to_carried` does not make.
    """
    value = carried.get(NAME)
    if value is None:
        return Model()
    try:
        return _model(value, charsmaps)
    except (ValueError, TypeError, KeyError) as error:
        raise FormatError(
            f'carried["{NAME}"] is damaged ({error}): take it out of the tokenizer, or read the .model again'
        ) from error


def _model(value: object, charsmaps: Mapping[int, bytes]) -> Model:
    if not _is_object(value):
        raise TypeError(f"{type(value).__name__} where an object belongs")
    layout, odd, typed = value["layout"], value["odd"], value["typed"]
    if not (isinstance(layout, list) and _is_object(odd) and isinstance(typed, bool)):
        raise TypeError("layout is no list, odd no object, or typed no boolean")
    model = Model(typed=typed, odd={int(key): _piece(_bytes(raw)) for key, raw in odd.items()})
    for item in layout:
        if isinstance(item, list):
            before, after = map(_bytes, item)
            model.layout += _with_map(before, after, charsmaps)
        elif type(item) is int and item >= 0:
            model.layout.append(item)
        else:
            model.layout.append(_record(_bytes(item)))
    return model


def _without_map(raw: bytes) -> object:
    message = next(fields(raw))
    if message.number in (NORMALIZER, DENORMALIZER):
        maps = [field for field in fields(raw, message.body, message.end) if field.number == CHARSMAP]
        if maps and maps[-1].value:
            return [_text(raw[: maps[-1].body]), _text(raw[maps[-1].end :])]
    return _text(raw)


def _with_map(before: bytes, after: bytes, charsmaps: Mapping[int, bytes]) -> list[int | bytes]:
    """The record around one of the maps, if that is the one which it was taken from."""
    for number, charsmap in charsmaps.items():
        raw = before + charsmap + after
        try:
            message = next(fields(_record(raw)))
            inner = list(fields(raw, message.body, message.end))
        except WireError:
            continue
        if message.number == number and [f.value for f in inner if f.number == CHARSMAP][-1:] == [charsmap]:
            return [raw]
    return []


def _record(raw: bytes) -> bytes:
    """Bytes that are one whole field, and no piece; else `WireError`."""
    found = list(fields(raw))
    if len(found) != 1 or found[0].number == PIECES:
        raise WireError(0, "a record of the layout is not one field, or a piece")
    check_message(raw, found[0])
    return raw


def _piece(raw: bytes) -> bytes:
    """Bytes that are one whole piece; else `WireError`."""
    found = list(fields(raw))
    if len(found) != 1 or found[0].number != PIECES:
        raise WireError(0, "a record of the odd pieces is not one piece")
    read_piece(found[0], raw)
    return raw


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _bytes(text: object) -> bytes:
    if not isinstance(text, str):
        raise TypeError(f"{type(text).__name__} where base64 belongs")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"no base64: {error}") from error


def _is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
