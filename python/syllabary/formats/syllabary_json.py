"""Our own `.syllabary.json`: every `TokenizerSpec`, readable, lossless, with a version.

The law of the format is `docs/format.md`. Leaves out: other tools' formats; anything that is not in the spec.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, cast, get_args

from syllabary import splits
from syllabary._engine import read_own
from syllabary.errors import FormatError, PatternError
from syllabary.files import read_bounded
from syllabary.formats import syllabary_steps
from syllabary.formats.patterns import check_compiles
from syllabary.formats.record import Format, Hints, checked
from syllabary.formats.signs import SIGNS
from syllabary.formats.strict_json import MAX_DEPTH, TOO_DEEP, Json, are_ids, parse
from syllabary.reference.check import check_spec
from syllabary.reference.tokens import ReadTokens
from syllabary.spec import Model, SplitSpec, Tables, TokenizerSpec, Unit

NAME = "syllabary"
ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)  # json.dumps makes one for each line
EACH = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=("\n", ": "))  # an item a line
VERSIONS = (1, 2)  # 2 has members of `syllabary_steps`
KEYS = (
    "format version unit split end_of_word fallback whole_pieces special_tokens added_tokens record tokens "
    "alphabet merges"
).split()
SPLIT_KEYS = ("name", "pattern", "tables", "keep_unmatched")


def write(spec: TokenizerSpec) -> bytes:
    """The file of a tokenizer: equal tokenizers give equal bytes.

    Raises `FormatError` for a `record` that is not plain JSON and for text that cannot be UTF-8,
    `VocabularyError` for a tokenizer that contradicts itself.
    """
    check_spec(spec)
    more = {name: _line(_plain(value, name)) for name, value in syllabary_steps.changed(spec).items()}
    tokens = dict(sorted(spec.tokens.items()))
    members = {
        "format": _line(NAME),
        "version": _line(VERSIONS[bool(more)]),
        "unit": _line(spec.unit),
        "split": _line({key: getattr(spec.split, key) for key in SPLIT_KEYS}),
        "end_of_word": _line(spec.end_of_word),
        "fallback": _line(spec.fallback),
        "whole_pieces": _line(spec.whole_pieces),
        "special_tokens": _by_id(spec.special_tokens),
        "added_tokens": _by_id(spec.added_tokens),
        "record": _line(_plain(spec.record, "record")),
        **more,
        "tokens": _rows("[{}, {}]", tokens, _lines(list(map(_token, tokens.values())))),
        "alphabet": _line(sorted(spec.alphabet.values())),
        "merges": "null" if spec.merges is None else _rows("[{}, {}, {}]", *zip(*spec.merges, strict=True)),
    }
    text = "{\n" + ",\n".join(f'"{key}": {value}' for key, value in members.items()) + "\n}\n"
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FormatError(
            f"cannot write the lone surrogate {text[error.start]!r}: it has no UTF-8"
        ) from error


def read(path: Path, hints: Hints) -> TokenizerSpec:
    """The tokenizer of a file, equal to the one written; `FormatError` for anything else."""
    hints.refuse(path, ".syllabary.json")
    root, learned = _opened(path)
    more = syllabary_steps.MEMBERS if _version(root) > 1 else ()
    members = root.object((*KEYS, *more))
    for key in KEYS:
        root.member(key)
    tokens = _read_tokens(members["tokens"]) if learned is None else learned
    special_tokens, added_tokens = members["special_tokens"].ids(), members["added_tokens"].ids()
    texts = {token_id: text.encode() for text, token_id in {**special_tokens, **added_tokens}.items()}
    return checked(
        TokenizerSpec(
            unit=cast(Unit, members["unit"].choice("byte", "char", "word")),
            split=read_split(members["split"]),
            tokens=tokens,
            alphabet=_read_alphabet(members["alphabet"], tokens, texts),
            merges=_read_merges(members["merges"]) if learned is None else learned.merges,
            special_tokens=special_tokens,
            added_tokens=added_tokens,
            end_of_word=members["end_of_word"].optional_string(),
            fallback=members["fallback"].boolean(),
            whole_pieces=members["whole_pieces"].boolean(),
            record=cast("dict[str, object]", _plain_value(members["record"])),
            **cast("dict[str, Any]", syllabary_steps.read(members) if more else {}),
        ),
        path,
    )


def _opened(path: Path) -> tuple[Json, ReadTokens | None]:
    """The JSON of a file, and its tokens and merges if the engine has read them."""
    data = read_bounded(path)
    found = read_own(data)
    if found is not None:
        learned, has_merges, differ, rest = found
        with suppress(FormatError):  # said below with its place in the file
            root = parse(rest.encode(), path)
            if has_merges or differ or root.optional("scores").value is not None:
                return root, ReadTokens(learned, learned.merges if has_merges else None)
    return parse(data, path), None


def _version(root: Json) -> int:
    if root.member("format").value != NAME:
        raise root.member("format").error(f'must be "{NAME}"')
    version = root.member("version")
    if type(version.value) is not int or version.value not in VERSIONS:
        raise version.error(
            f"this syllabary reads versions {VERSIONS[0]} and {VERSIONS[-1]}; a newer one wrote the file, "
            "or it is damaged"
        )
    return version.value


def read_split(json_split: Json) -> SplitSpec:
    """A split of its four members; `FormatError` for anything else."""
    members = json_split.object(SPLIT_KEYS)
    for key in SPLIT_KEYS:
        json_split.member(key)
    split = SplitSpec(
        pattern=members["pattern"].optional_string(),
        tables=cast(Tables, members["tables"].choice("tiktoken", "onig")),
        keep_unmatched=members["keep_unmatched"].boolean(),
        name=members["name"].optional_string(),
    )
    if split.pattern is not None and split not in map(splits.get, splits.names()):
        try:
            # Not `check_runs`: training takes what the engine knows, and this file holds what training gives.
            check_compiles(split.pattern, split.tables)
        except PatternError as error:
            raise members["pattern"].error(str(error)) from error
    return split


def _read_tokens(rows: Json) -> dict[int, bytes]:
    """id -> bytes, row by row where one of them is wrong, to say which."""
    plain = _plain_tokens(rows)
    if plain is not None:
        return plain
    tokens: dict[int, bytes] = {}
    for row in rows.list():
        items = list(row.list())
        if len(items) != 2:
            raise row.wrong("[id, token]")
        token_id = items[0].id()
        if token_id in tokens:
            raise row.error(f"id {token_id} is given twice")
        tokens[token_id] = _read_token(items[1])
    return tokens


def _plain_tokens(rows: Json) -> dict[int, bytes] | None:
    """The same, column by column; `None` where a row is wrong."""
    columns = rows.columns(2)
    if columns is None or not are_ids(columns[0]):
        return None
    ids, tokens = columns
    try:
        found = [
            one.encode() if type(one) is str else _read_token(Json(one, rows.where, rows.path))
            for one in tokens
        ]
    except (UnicodeEncodeError, FormatError):
        return None
    made = dict(zip(ids, found, strict=True))
    return made if len(made) == len(ids) else None


def _read_token(token: Json) -> bytes:
    if isinstance(token.value, str):
        return token.string().encode()
    digits = token.object(("bytes",)).get("bytes", token).string()
    try:
        return bytes.fromhex(digits)
    except ValueError as error:
        raise token.error('must be text, or {"bytes": "hexadecimal digits"}') from error


def _read_alphabet(ids: Json, tokens: Mapping[int, bytes], texts: Mapping[int, bytes]) -> dict[bytes, int]:
    """Of ordinary tokens, and of special and added ones."""
    alphabet: dict[bytes, int] = {}
    for item in ids.list():
        token_id = item.id()
        token = tokens.get(token_id, texts.get(token_id))
        if token is None:
            raise item.error(f"id {token_id} is no token")
        if token in alphabet:
            raise item.error(f"the symbol of id {token_id} is in the alphabet already")
        alphabet[token] = token_id
    return alphabet


def _read_merges(rows: Json) -> tuple[tuple[int, int, int], ...] | None:
    """The merges, row by row where one of them is wrong, to say which."""
    if rows.value is None:
        return None
    columns = rows.columns(3)
    if columns is not None and all(map(are_ids, columns)):
        return tuple(zip(*columns, strict=True))
    return tuple(_triple(row) for row in rows.list())


def _triple(row: Json) -> tuple[int, int, int]:
    items = [item.id() for item in row.list()]
    if len(items) != 3:
        raise row.wrong("[left id, right id, id of the result]")
    return items[0], items[1], items[2]


def _plain_value(record: Json) -> object:
    record.object()
    return record.flat()


def _token(token: bytes) -> str | dict[Literal["bytes"], str]:
    try:
        return token.decode("utf-8")
    except UnicodeDecodeError:
        return {"bytes": token.hex()}


def _by_id(tokens: Mapping[str, int]) -> str:
    return _line(dict(sorted(tokens.items(), key=lambda item: item[1])))


def _rows(form: str, *columns: Iterable[object]) -> str:
    """A list, one row a line; the columns are what is written."""
    lines = ",\n".join(map(form.format, *columns)) if columns else ""
    return f"[\n{lines}\n]" if lines else "[]"


def _lines(values: list[str | dict[Literal["bytes"], str]]) -> list[str]:
    """As `_line` writes each; no line end is in any."""
    return EACH.encode(values)[1:-1].split("\n") if values else []


def _line(value: object) -> str:
    return ENCODER.encode(value)


def _plain(value: object, where: str, depth: int = 0) -> object:
    """The value itself if JSON gives it back equal, key order, types and all. depth: what it stands in."""
    finite = isinstance(value, float) and value - value == 0
    small = isinstance(value, int) and abs(value) < 2**64  # subtle: Python refuses to read huge ones back
    if value is None or isinstance(value, str) or finite or small:
        return value
    if depth == MAX_DEPTH and isinstance(value, (list, Mapping)):
        raise FormatError(f"{where.partition('.')[0]}: {TOO_DEEP}, which is not read back")
    if isinstance(value, list):
        return [_plain(item, f"{where}[{index}]", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise FormatError(f"{where}: key {key!r} is not a string; a record holds plain JSON values")
        return {key: _plain(item, f"{where}.{key}", depth + 1) for key, item in value.items()}
    raise FormatError(f"{where}: this {type(value).__name__} is not a plain JSON value, or too large for one")


FORMAT = Format(SIGNS[NAME], read, write, models=get_args(Model))
