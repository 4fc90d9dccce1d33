"""What formats carry along (`TokenizerSpec.carried`), after tokens have gone or ids have moved.

Adds `carried_by`, which gives the ids in it their new numbers and leaves out what needs a token that is gone,
and `lost`, which says what was left out (`told`: as warnings). Templates name tokens by id and text, roles by
text, GGUF's keys by id. Leaves out: the layout of sentencepiece's `.model`, which goes as soon as an id does
(`truncation` makes that of a model that we trained anew).
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from syllabary.errors import LossWarning
from syllabary.formats.extras import NO_IDS, carried_loss
from syllabary.formats.loss import Loss
from syllabary.formats.transformers_folder import ADDED, CONFIG, DECODER, EXTRA, MAP
from syllabary.reference.check import token_bytes
from syllabary.spec import TokenizerSpec

At = Callable[[int], int]
Object = dict[str, Any]
SPOILT = (TypeError, LookupError, ValueError, AttributeError)  # a token is gone; or it was edited by hand
COUNTS = ("model_size", "merges")  # how many there were of what is counted anew: no loss


def carried_by(spec: TokenizerSpec, new: Mapping[int, int]) -> Object:
    """What a tokenizer carries with only the ids in `new`, by their new numbers."""
    tokens = token_bytes(spec)
    moves = any(old != token_id for old, token_id in new.items())
    if not spec.carried or (not moves and len(new) == len(tokens)):
        return dict(spec.carried)

    def at(token_id: int) -> int:
        if token_id in new or token_id in tokens or moves:
            return new[token_id]
        return token_id  # of no token: it stands for what it stood for

    gone = {token.decode("utf-8", "replace") for one, token in tokens.items() if one not in new}
    named = {**spec.special_tokens, **spec.added_tokens}
    gone = {*gone, *named} - {text for text, token_id in named.items() if token_id in new}
    gone -= {tokens[one].decode("utf-8", "replace") for one in new}
    found: Object = {}
    for name, value in spec.carried.items():
        members = _members(name, value, at, gone)
        if members:
            found[name] = members
    return found


def lost(before: TokenizerSpec, after: TokenizerSpec) -> tuple[Loss, ...]:
    """One sentence for each thing that the first carries and the second does not."""
    losses: list[Loss] = []
    for name, value in before.carried.items():
        keys = [key for key in _keys(value) if key not in COUNTS]
        there = _keys(after.carried.get(name))
        if keys and not there:
            losses.append(carried_loss(name))
            continue
        losses += [
            Loss(f"{key!r}, which {name} holds beside the tokenizer, is lost; {NO_IDS}.", "same")
            for key in keys
            if key not in there
        ]
    return tuple(losses)


def told(before: TokenizerSpec, after: TokenizerSpec) -> TokenizerSpec:
    """The second, with a `LossWarning` to the caller's caller for each thing that is `lost`."""
    for loss in lost(before, after):
        warnings.warn(loss, LossWarning, stacklevel=3)
    return after


def _keys(value: object) -> list[str]:
    """The names of what is carried for a format; of files that are objects, those of their members."""
    if not isinstance(value, Mapping):
        return []
    found: list[str] = []
    for key, member in value.items():
        inside = _parsed(member) if key in (CONFIG, MAP) else {}
        found += [key, *(f"{key}: {one}" for one in inside)]
    return found


def _parsed(text: object) -> Object:
    try:
        found = json.loads(text) if isinstance(text, str) else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _members(name: str, value: object, at: At, gone: set[str]) -> Object:
    """What is carried for one format, of what is still right."""
    found: Object = {}
    for key, member in value.items() if isinstance(value, Mapping) else ():
        try:
            changed = _FORMATS.get(name, _as_it_is)(key, member, at, gone)
        except SPOILT:
            continue
        if changed is not None:
            found[key] = changed
    return found


def _as_it_is(_key: str, value: Any, _at: At, _gone: set[str]) -> Any:
    return value


def _huggingface(key: str, value: Any, at: At, _gone: set[str]) -> Any:
    """Members of `tokenizer.json`."""
    if key == "model_size":
        return None
    if key == "post_processor":
        return _processor(value, at)
    if key == "padding":
        return {**value, "pad_id": at(value["pad_id"])}
    if key == "added_tokens":
        ids = _ids({place: one["id"] for place, one in enumerate(value)}, at)
        return [{**value[place], "id": token_id} for place, token_id in ids.items()]
    return value


def _processor(value: Any, at: At) -> Any:
    """A post-processor: ids stand in lists `ids`, and beside their text in `sep` and `cls`."""
    if isinstance(value, list):
        return [_processor(one, at) for one in value]
    if not isinstance(value, dict):
        return value
    found: Object = {}
    for key, inside in value.items():
        if key == "special_tokens":
            found[key] = _tokens(value, inside, at)
        elif key == "ids" and isinstance(inside, list):
            found[key] = [at(one) for one in inside]
        elif key in ("sep", "cls") and isinstance(inside, list):
            text, token_id = inside
            found[key] = [text, at(token_id)]
        else:
            found[key] = _processor(inside, at)
    return found


def _tokens(template: Object, tokens: Object, at: At) -> Object:
    """Those of a template; of those that it has no place for, the ones that are left."""
    slots = [*template["single"], *template["pair"]]
    used = {slot["SpecialToken"]["id"] for slot in slots if "SpecialToken" in slot}
    found: Object = {}
    for text, token in tokens.items():
        try:
            found[text] = _processor(token, at)
        except LookupError:
            if text in used:
                raise
    return found


def _gguf(key: str, value: Any, at: At, _gone: set[str]) -> Any:
    """Keys of GGUF: those of ids are named so."""
    if key.endswith("_token_id"):
        return at(value)
    return [at(one) for one in value] if key.endswith("_token_ids") else value


def _transformers(name: str, text: Any, at: At, gone: set[str]) -> Any:
    """The files of a folder: tokens have an id in two of them, roles name them by text."""
    if name not in (CONFIG, MAP, ADDED):
        return text
    said = json.loads(text)
    if name == ADDED:
        found: Object = _ids(said, at)
    else:
        found = {key: _without(key, value, gone) for key, value in said.items()}
        found = {key: value for key, value in found.items() if not _role_of(key, value, gone)}
        if DECODER in said:
            ids = _ids({one: int(one) for one in said[DECODER]}, at)
            found[DECODER] = {str(token_id): said[DECODER][one] for one, token_id in ids.items()}
    return text if found == said else json.dumps(found, ensure_ascii=False, indent=2)


def _ids(table: Mapping[Any, int], at: At) -> dict[Any, int]:
    """The new ids, of those that are left."""
    found: dict[Any, int] = {}
    for key, token_id in table.items():
        with suppress(LookupError):
            found[key] = at(token_id)
    return found


def _role_of(key: str, value: object, gone: set[str]) -> bool:
    """Whether it is the role of a token that is gone."""
    return key.endswith("_token") and _text(value) in gone


def _text(value: object) -> object:
    """A token's text, if it is one of an object; `None` for what names no token."""
    text = value.get("content") if isinstance(value, dict) else value
    return text if isinstance(text, str) else None


def _without(key: str, value: Any, gone: set[str]) -> Any:
    """A list or an object of special tokens without those that are gone."""
    if key in EXTRA and isinstance(value, list):
        return [one for one in value if _text(one) not in gone]
    if key in EXTRA and isinstance(value, dict):
        return {name: one for name, one in value.items() if _text(one) not in gone}
    return value


def _subword_nmt(key: str, value: Any, _at: At, _gone: set[str]) -> Any:
    """The header and the end of codes; the lines of pairs that were given again are counted by place."""
    return value if key in ("header", "ended") else None


def _sentencepiece(_key: str, _value: Any, _at: At, _gone: set[str]) -> Any:
    return None


_FORMATS: Mapping[str, Callable[[str, Any, At, set[str]], Any]] = {
    "huggingface": _huggingface,
    "gguf": _gguf,
    "transformers": _transformers,
    "subword-nmt": _subword_nmt,
    "sentencepiece": _sentencepiece,
}
