"""Templates of `TemplateProcessing`: read, checked, shown.

Source of the rules: tokenizers 0.23.3, `processors/template.rs`. Leaves out: what a template does
(`processors`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from syllabary.compat.tokenizers import _component as part
from syllabary.compat.tokenizers._shown import Record, Word

Piece = tuple[str, str, int]  # "Sequence" or "SpecialToken", its name, its type id
SEQUENCES = {"": ("A", 0), "A": ("A", 0), "a": ("A", 0), "B": ("B", 0), "b": ("B", 0)}


def read(template: Any) -> list[dict[str, Any]]:
    """A template, as text or as a list -> its JSON; `ValueError` for a piece that is none.

    >>> read("$B:1")
    [{'Sequence': {'id': 'B', 'type_id': 1}}]
    """
    words = template.split(" ") if isinstance(template, str) else template
    if not isinstance(words, (list, tuple, np.ndarray)):
        raise TypeError("Expected Union[str, List[str]]")
    return [_piece(part.text(word)) for word in words]


def _piece(word: str) -> dict[str, Any]:
    wrong = ValueError(f'Cannot build Piece from string "{word}"')
    name, *rest = word.split(":")
    if len(rest) > 1 or (rest and not rest[0].isascii()):
        raise wrong
    if rest and not rest[0].removeprefix("+").isdigit():
        raise wrong
    if not name.startswith("$"):
        kind, type_id = "SpecialToken", 0
    else:
        kind, number = "Sequence", name[1:]
        if number not in SEQUENCES and not (number.isascii() and number.isdigit()):
            raise wrong
        name, type_id = SEQUENCES.get(number) or ("A", int(number))
    return {kind: {"id": name, "type_id": int(rest[0]) if rest else type_id}}


def read_tokens(given: Any) -> dict[str, dict[str, Any]]:
    """Special tokens -> their JSON, by name; `ValueError` for a member that is missing."""
    found = {}
    for one in given:
        token = _described(one) if isinstance(one, dict) else _named(one)
        found[token["id"]] = token
    return found


def _described(one: dict[str, Any]) -> dict[str, Any]:
    for name in ("id", "ids", "tokens"):
        if name not in one:
            raise ValueError(f"`{name}` must be specified")
    ids, tokens = part.listed(one["ids"]), part.listed(one["tokens"])
    token = {
        "id": part.text(one["id"]),
        "ids": [*map(part.token_id, ids)],
        "tokens": [*map(part.text, tokens)],
    }
    if len(ids) != len(tokens):
        raise ValueError("SpecialToken: ids and tokens must be of the same length")
    return token


def _named(one: Any) -> dict[str, Any]:
    wrong = TypeError("Expected Union[Tuple[str, int], Tuple[int, str], dict]")
    if not isinstance(one, (tuple, list)) or len(one) != 2:
        raise wrong
    text, number = one if isinstance(one[0], str) else one[::-1]
    try:
        return {"id": part.text(text), "ids": [part.token_id(number)], "tokens": [part.text(text)]}
    except (TypeError, OverflowError, UnicodeError) as error:
        raise wrong from error


def pieces(template: list[dict[str, Any]]) -> list[Piece]:
    """The pieces of a template's JSON."""
    return [(kind, one["id"], one["type_id"]) for piece in template for kind, one in piece.items()]


def check(values: Mapping[str, Any]) -> None:
    """`ValueError` for a pair without both texts, or a token that is not given."""
    pair = pieces(values["pair"])
    if {name for kind, name, _type in pair if kind == "Sequence"} != {"A", "B"}:
        raise ValueError("Template for `pair` must use both sequences")
    used = [name for kind, name, _type in pieces(values["single"]) + pair if kind == "SpecialToken"]
    missing = dict.fromkeys(name for name in used if name not in values["special_tokens"])
    if missing:
        raise ValueError(f"Missing SpecialToken(s) with id(s) `{', '.join(missing)}`")


def record(values: Mapping[str, Any]) -> Record:
    """What `repr` shows."""

    def shown(template: list[dict[str, Any]]) -> list[Record]:
        return [
            Record(kind, {"id": Word(name) if kind == "Sequence" else name, "type_id": type_id})
            for kind, name, type_id in pieces(template)
        ]

    tokens = {name: Record("SpecialToken", one) for name, one in values["special_tokens"].items()}
    return Record(
        "TemplateProcessing",
        {"single": shown(values["single"]), "pair": shown(values["pair"]), "special_tokens": tokens},
    )


def debug(template: list[dict[str, Any]]) -> str:
    """A template as Rust shows it."""
    shown = [
        f"{kind} {{ id: {name if kind == 'Sequence' else _quoted(name)}, type_id: {type_id} }}"
        for kind, name, type_id in pieces(template)
    ]
    return f"Template([{', '.join(shown)}])"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
