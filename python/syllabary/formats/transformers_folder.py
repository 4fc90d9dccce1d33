"""What a folder of `transformers` says beside the tokenizer: roles of tokens, chat templates, settings.

    tokenizer_config.json, special_tokens_map.json, added_tokens.json
    chat_template.jinja, additional_chat_templates/NAME.jinja

Adds `read_beside`, which checks these files and carries their text along, and `settings`, which says what
they mean. Source of the rules, which file wins among them: transformers 5.23, `tokenization_utils_base.py`.
Leaves out: the tokenizer's own file, and making `transformers` use it (`compat.transformers`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any

from syllabary.errors import FormatError
from syllabary.files import read_bounded
from syllabary.formats.strict_json import Json, parse
from syllabary.formats.transformers_classes import Class, class_named
from syllabary.framing import Padding, Side
from syllabary.spec import TokenizerSpec

NAME = "transformers"
CONFIG, MAP, ADDED = "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"
TEMPLATE, MORE_TEMPLATES = "chat_template.jinja", "additional_chat_templates"
FILES = (CONFIG, MAP, ADDED, TEMPLATE)
ROLES = tuple(f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))
EXTRA = ("extra_special_tokens", "additional_special_tokens")
DECODER = "added_tokens_decoder"
VERSIONS = "fast_tokenizer_files"  # a tokenizer's files for newer versions of transformers
VERSION = (5, 23)  # that whose rules are followed
NO_LIMIT = 10**20  # their word for "no limit" is 10**30
MAX_TEMPLATE = 1 << 20
DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Settings:
    """What the files say.

    roles: name -> text of the special tokens that have one: `bos_token`, …, and a model's own
    (`image_token`). extra: the other special tokens that are named. chat_templates: name -> Jinja2; a single
    one is `"default"`. model_max_length: the tokens a model takes, or `None`.
    """

    roles: Mapping[str, str]
    extra: tuple[str, ...]
    chat_templates: Mapping[str, str]
    model_max_length: int | None
    padding_side: str
    truncation_side: str


def read_beside(folder: Path) -> dict[str, str]:
    """File name -> text of those that are there; `FormatError` with the place for one that is damaged."""
    names = [name for name in FILES if (folder / name).is_file()]
    names += sorted(f"{MORE_TEMPLATES}/{one.name}" for one in (folder / MORE_TEMPLATES).glob("*.jinja"))
    return checked({name: text(folder / name) for name in names}, folder)


def newest(texts: Mapping[str, str], folder: Path, file: Path) -> Path:
    """The file, `tokenizer.4.0.0.json`, that the settings list for transformers 5.23; else `file`."""
    there = [name for name in versions(texts, folder) if (folder / name).is_file()]
    return folder / there[0] if there else file


def versions(texts: Mapping[str, str], folder: Path) -> list[str]:
    """The names of files that the settings list for transformers 5.23 or older, the one that counts first.

    As there: of the versions in the order of their text, those before the first that is newer than that.
    """
    listed = parse(texts.get(CONFIG, "{}").encode("utf-8", "surrogatepass"), folder / CONFIG).object()
    names = [one.string() for one in listed[VERSIONS].list()] if VERSIONS in listed else []
    found = sorted(
        (one[1], name) for name in names if (one := re.fullmatch(r"tokenizer\.([\d.]*\d)\.json", name))
    )
    older = takewhile(lambda one: tuple(int(part or 0) for part in one[0].split(".")) <= VERSION, found)
    return [name for _version, name in older][::-1]


def one_version(texts: Mapping[str, str]) -> dict[str, str]:
    """The files beside a tokenizer that is written as one file: none for other versions is listed."""
    config = json.loads(texts.get(CONFIG, "{}"))
    if VERSIONS not in config:
        return dict(texts)
    left = {key: value for key, value in config.items() if key != VERSIONS}
    return {**texts, CONFIG: json.dumps(left, ensure_ascii=False, indent=2)}


def checked(texts: dict[str, str], folder: Path) -> dict[str, str]:
    """The texts of files, if they are what they should be; else `FormatError`."""
    _settings(texts, folder)
    return texts


def with_beside(spec: TokenizerSpec, texts: Mapping[str, str]) -> TokenizerSpec:
    """The tokenizer that carries these files along: name -> text."""
    if not texts:
        return spec
    return replace(spec, carried={**spec.carried, NAME: dict(texts)})


def settings(spec: TokenizerSpec) -> Settings:
    """What the files say that a tokenizer carries; `FormatError` for what is no such thing.

    Roles that they leave open are those of the class that they name, where the tokenizer has the token.
    """
    texts = beside(spec)
    found = _settings(texts, Path(NAME))
    left = roles_of_class(spec, texts)
    return replace(found, roles={**found.roles, **left}) if left else found


def roles_of_class(spec: TokenizerSpec, texts: Mapping[str, str]) -> dict[str, str]:
    """Role -> text, of the class that the files name: what they leave open and the tokenizer has."""
    roles = left_open(texts, Path(NAME))[0]
    known = {**spec.special_tokens, **spec.added_tokens} if roles else {}
    return {role: text for role, text in roles.items() if text in known}


def of_class(spec: TokenizerSpec) -> dict[str, Any]:
    """What the class that the files name says beyond them, as members of `tokenizer_config.json`."""
    texts = beside(spec)
    inputs = left_open(texts, Path(NAME))[1]
    found: dict[str, Any] = roles_of_class(spec, texts)
    if inputs is not None:
        found["model_input_names"] = list(inputs)
    members = members_in(texts, Path(NAME))
    known = class_in(members)
    if known is not None and known.side != "right" and "padding_side" not in members:
        found["padding_side"] = known.side
    if known is not None and known.extra and not any(name in members for name in EXTRA):
        codes = [text for text in spec.special_tokens if re.fullmatch(known.extra, text)]
        found["extra_special_tokens"] = codes
    return found


def left_open(texts: Mapping[str, str], folder: Path) -> tuple[dict[str, str], tuple[str, ...] | None]:
    """What the class that the files name says and they do not: roles, and inputs of the model."""
    return _left_open(tuple(sorted(texts.items())), folder)


@lru_cache(maxsize=64)
def _left_open(
    texts: tuple[tuple[str, str], ...], folder: Path
) -> tuple[dict[str, str], tuple[str, ...] | None]:
    members = members_in(dict(texts), folder)
    known = class_in(members)
    if known is None:
        return {}, None
    inputs = None if "model_input_names" in members else known.inputs
    return {role: text for role, text in known.named().items() if role not in members}, inputs


def class_in(members: Mapping[str, Json]) -> Class | None:
    """The class of the table that the members of `tokenizer_config.json` name."""
    named = members.get("tokenizer_class")
    return None if named is None else class_named(named.value)


def role_padding(spec: TokenizerSpec) -> Padding | None:
    """How `transformers` pads: with the token of that role, on the side of the settings, or `None`."""
    found = settings(spec)
    text, named = found.roles.get("pad_token"), {**spec.special_tokens, **spec.added_tokens}
    if text not in named:
        return None
    side: Side = "left" if found.padding_side == "left" else "right"
    return Padding(pad_id=named[text], pad_token=text, direction=side)


def beside(spec: TokenizerSpec) -> dict[str, str]:
    """The files that a tokenizer carries: name -> text."""
    texts = spec.carried.get(NAME, {})
    if not isinstance(texts, Mapping) or not all(isinstance(one, str) for one in (*texts, *texts.values())):
        raise FormatError(f"carried[{NAME!r}] must be file names and their text")
    return dict(texts)


def with_settings(spec: TokenizerSpec, changes: Mapping[str, object]) -> TokenizerSpec:
    """The tokenizer with members of `tokenizer_config.json` changed; one that is `None` is taken out.

    chat_template: text, or name -> text. Raises `FormatError` for a role that names no token of it, or a
    value that is no JSON.
    """
    texts = beside(spec)
    members: dict[str, Any] = {key: _typed(key, one) for key, one in members_in(texts, Path(NAME)).items()}
    texts.pop(MAP, None)  # from now on the roles stand in the one file
    given = dict(changes)
    if "chat_template" in given:
        texts = {name: text for name, text in texts.items() if not name.endswith(".jinja")}
        if isinstance(given["chat_template"], Mapping):
            several = given["chat_template"].items()
            given["chat_template"] = [{"name": name, "template": text} for name, text in several]
    members |= given
    stays = class_named(members.get("tokenizer_class"))  # null: not that of the class
    keys = () if stays is None else stays.named()
    members = {key: value for key, value in members.items() if value is not None or key in keys}
    try:
        texts[CONFIG] = json.dumps(members, ensure_ascii=False, allow_nan=False, indent=2)
    except (TypeError, ValueError) as error:
        name = next((name for name, value in given.items() if not _is_json(value)), "a setting")
        raise FormatError(f"{name}: settings are what tokenizer_config.json can hold: {error}") from error
    changed = with_beside(spec, texts)
    known = {**spec.special_tokens, **spec.added_tokens}
    for role, text in settings(changed).roles.items():
        if role in changes and text not in known:
            raise FormatError(f"{role}={text!r} is no special or added token of this tokenizer")
    return changed


def _typed(key: str, member: Json) -> Any:
    """A member as `tokenizer_config.json` has it: of a special token that is an object, it says the type."""
    if key in EXTRA and isinstance(member.value, list):
        return [_typed("_token", one) for one in member.list()]
    if key.endswith("_token") and isinstance(member.value, dict):
        return {"__type": "AddedToken", **member.value, "special": True}
    return member.value


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


# ---- reading ----


def text(path: Path) -> str:
    """A file's text; `FormatError` for bytes that are no UTF-8."""
    try:
        return read_bounded(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not UTF-8 at byte offset {error.start} ({error.reason})") from error


def _settings(texts: Mapping[str, str], folder: Path) -> Settings:
    return _parsed(tuple(sorted(texts.items())), folder)


@lru_cache(maxsize=64)
def _parsed(texts: tuple[tuple[str, str], ...], folder: Path) -> Settings:
    files = dict(texts)
    roots = {
        name: parse(files.get(name, "{}").encode("utf-8", "surrogatepass"), folder / name)
        for name in (CONFIG, ADDED)
    }
    config = roots[CONFIG].object()
    roots[ADDED].ids()
    named = members_in(files, folder)
    known = class_in(named)
    length = roots[CONFIG].optional("model_max_length")
    roles, extra = _roles(named)
    return Settings(
        roles=roles,
        extra=extra,
        chat_templates=_templates(roots[CONFIG].optional("chat_template"), files),
        model_max_length=_length(length),
        padding_side=_side(config, "padding_side", "right" if known is None else known.side),
        truncation_side=_side(config, "truncation_side", "right"),
    )


def members_in(texts: Mapping[str, str], folder: Path) -> dict[str, Json]:
    """All that `tokenizer_config.json` says, and what `special_tokens_map.json` says of roles.

    The map is read where the other lists no added tokens; there it is right, but for a model's own roles.
    """
    config, more = (
        parse(texts.get(name, "{}").encode("utf-8", "surrogatepass"), folder / name).object()
        for name in (CONFIG, MAP)
    )
    more = {} if DECODER in config else more
    own = {key: value for key, value in config.items() if _is_own(key) and isinstance(value.value, str)}
    members = {key: value for key, value in config.items() if key not in own} | more | own
    return {key: value for key, value in members.items() if key not in EXTRA} | _others(config, more)


def _is_own(key: str) -> bool:
    """Whether a member is a role that only some models have."""
    return key.endswith("_token") and key not in ROLES


def _others(config: Mapping[str, Json], more: Mapping[str, Json]) -> dict[str, Json]:
    """The members of `EXTRA` that count: names by themselves, and a list under one of the two keys.

    A list under the older key counts where the other key has none, whatever file it is in.
    """
    new, old = EXTRA
    listed, older = config.get(new), config.get(old)
    if older is not None and (listed is None or not listed.value):
        listed, older = older, None
    named = dict[str, object]()
    for given in (listed, more.get(new)):
        if given is not None and isinstance(given.value, dict):
            named |= given.value
            listed = None
        elif given is not None:
            listed = _joined(listed, given)
    listed = more.get(old, older) if listed is None else listed
    found = {new: Json(named, f"$.{new}", Path(CONFIG))} if named else {}
    if listed is not None:
        found[old if named or listed.where == f"$.{old}" else new] = listed
    return found


def _joined(first: Json | None, second: Json) -> Json:
    """Two lists as one, without what both have."""
    if first is None or not isinstance(first.value, list) or not isinstance(second.value, list):
        return second
    more = [one for one in second.value if one not in first.value]
    return Json([*first.value, *more], second.where, second.path)


def _roles(members: Mapping[str, Json]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Special tokens by role, the usual ones first, and the others."""
    roles = {role: _token(members[role]) for role in ROLES if role in members}
    extra: list[str] = []
    for key, value in members.items():
        if key in EXTRA and isinstance(value.value, dict):
            roles |= {name: _token(one) for name, one in value.object().items()}
        elif key in EXTRA and value.value is not None:
            extra += [text for one in value.list() if (text := _token(one)) is not None]
        elif key.endswith("_token") and key not in roles and isinstance(value.value, (str, dict)):
            roles[key] = _token(value)
    found = {role: text for role, text in roles.items() if text is not None}
    return found, tuple(dict.fromkeys(extra))


def _token(value: Json) -> str | None:
    """A special token: its text, or an object that says more of it."""
    return value.member("content").string() if isinstance(value.value, dict) else value.optional_string()


def _templates(value: Json, files: Mapping[str, str]) -> dict[str, str]:
    """Chat templates by name: files before what the config says, in its forms of all times."""
    found = {DEFAULT: files[TEMPLATE]} if TEMPLATE in files else {}
    for name, text in files.items():
        if name.startswith(f"{MORE_TEMPLATES}/"):
            found[Path(name).stem] = text
    if not found and isinstance(value.value, list):
        found = {one.member("name").string(): one.member("template").string() for one in value.list()}
    elif not found and isinstance(value.value, dict):
        found = {name: one.string() for name, one in value.object().items()}
    elif not found and value.value is not None:
        found = {DEFAULT: value.string()}
    for name, text in found.items():
        if len(text) > MAX_TEMPLATE:
            raise value.error(f"the chat template {name!r} is longer than {MAX_TEMPLATE} characters")
    return found


def _length(value: Json) -> int | None:
    number = value.value
    if number is None or (type(number) in (int, float) and number >= NO_LIMIT):  # type: ignore[operator]
        return None
    if type(number) not in (int, float) or number != int(number) or number < 0:  # type: ignore[call-overload, operator]
        raise value.error("must be a number of tokens")
    return int(number)  # type: ignore[call-overload, no-any-return]


def _side(config: Mapping[str, Json], key: str, default: str) -> str:
    return config[key].choice("right", "left") if key in config else default
