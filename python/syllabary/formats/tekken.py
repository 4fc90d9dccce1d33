r"""Mistral's `tekken.json`: tokens in rank order, a pattern, special tokens before them.

Source: mistral-common `tokens/tokenizers/tekken.py`. The id of a token is its rank plus the number of special
tokens (`config.default_num_special_tokens`); the vocabulary is cut after `config.default_vocab_size` less
that number. Special tokens that the file leaves out are `<SPECIAL_n>`; files of versions up to v7 without any
have the twenty of `OLD_SPECIAL`. mistral-common looks for none of them in text, and so do we (stage
`"never"`). Text that the pattern does not match is dropped, as by tiktoken, which it runs on.
Leaves out: writing; images and audio, whose settings are carried along; chat templates.
"""

from __future__ import annotations

import base64
import binascii
from pathlib import Path

from syllabary.errors import FormatError, PatternError
from syllabary.files import read_bounded
from syllabary.formats.patterns import check_runs
from syllabary.formats.record import Format, Hints, checked
from syllabary.formats.signs import SIGNS
from syllabary.formats.strict_json import Json, parse
from syllabary.reference.symbols import plural, shown
from syllabary.spec import Matching, SplitSpec, TokenizerSpec

NAME = "tekken"
VERSIONS = ("v1", "v2", "v3", "v7", "v11", "v13", "v15")
WITHOUT_SPECIAL = ("v1", "v2", "v3", "v7")  # their files need not list special tokens
OLD_SPECIAL = (
    "<unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] [/TOOL_RESULTS] "
    "[TOOL_CALLS] [IMG] <pad> [IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] [SUFFIX] [SYSTEM_PROMPT] "
    "[/SYSTEM_PROMPT] [TOOL_CONTENT]"
).split()
ENTRY = {"rank", "token_bytes", "token_str"}
CARRIED = ("image", "multimodal", "audio", "model_settings_builder", "version", "type")
MAX_SPECIAL = 1 << 20
MAX_TOKEN = 1 << 16  # bytes


def read(path: Path, hints: Hints) -> TokenizerSpec:
    """The tokenizer of the file; `FormatError` says where in it something is missing or damaged."""
    hints.refuse(path, NAME)
    file = parse(read_bounded(path), path)
    config = file.member("config")
    version = config.member("version").choice(*VERSIONS)
    first = config.member("default_num_special_tokens").id()
    size = config.member("default_vocab_size").id()
    if first > MAX_SPECIAL or size < first:
        raise config.error(f"{first} special tokens in a vocabulary of {size}")
    pattern = config.member("pattern")
    try:
        check_runs(pattern.string(), "tiktoken")
    except PatternError as error:
        raise pattern.error(str(error)) from error
    tokens = _read_vocab(file.member("vocab"), first, size - first)
    special = _read_special(file, version, first)
    spec = TokenizerSpec(
        unit="byte",
        split=SplitSpec(pattern.string(), keep_unmatched=False),
        tokens=tokens,
        alphabet={bytes([byte]): first + byte for byte in range(256)},
        merges=None,
        special_tokens=special,
        whole_pieces=True,
        matching=dict.fromkeys(special, Matching(stage="never")),
        carried={NAME: _carried(file, config)},
    )
    return checked(spec, path)


def _read_vocab(vocab: Json, first: int, count: int) -> dict[int, bytes]:
    """The tokens that count, each at its rank: `FormatError` for one that is not."""
    entries = vocab.value
    if not isinstance(entries, list):
        raise vocab.wrong("a list")
    if len(entries) < count or count < 256:
        raise vocab.error(
            f"{plural(len(entries), 'token')}, of which {count} should count: at least 256, all here"
        )
    tokens: list[bytes] = []
    for rank, entry in enumerate(entries[:count]):
        try:
            tokens.append(_token(entry, rank))
        except ValueError as error:
            raise FormatError(f"{vocab.path}: at {vocab.where}[{rank}]: {error}") from error
    if len(set(tokens)) < count:
        ranks: dict[bytes, int] = {}
        for rank, token in enumerate(tokens):
            if token in ranks:
                raise vocab.error(f"ranks {ranks[token]} and {rank} are both {shown(token)}")
            ranks[token] = rank
    return dict(enumerate(tokens, start=first))


def _token(entry: object, rank: int) -> bytes:
    """The bytes of an entry; `ValueError` says what is wrong with it."""
    if not isinstance(entry, dict) or entry.keys() != ENTRY:
        raise ValueError(f"must be an object of {', '.join(sorted(ENTRY))}")
    if type(entry["rank"]) is not int or entry["rank"] != rank:
        raise ValueError(f"rank is {shown(entry['rank'])}, at the place of rank {rank}")
    encoded, text = entry["token_bytes"], entry["token_str"]
    if not isinstance(encoded, str):
        raise ValueError("token_bytes must be a string")
    try:
        token = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"token_bytes {shown(encoded)} is not base64 ({error})") from error
    if not token or len(token) > MAX_TOKEN:
        raise ValueError(f"a token of {len(token)} bytes: 1 to {MAX_TOKEN} are possible")
    if rank < 256 and token != bytes([rank]):
        raise ValueError(f"token_bytes is {shown(token)}: the first 256 ranks are the bytes, by value")
    if text is not None and not (isinstance(text, str) and text.encode("utf-8", "surrogatepass") == token):
        raise ValueError(f"token_str {shown(text)} and token_bytes {shown(token)} are not the same token")
    return token


def _read_special(file: Json, version: str, count: int) -> dict[str, int]:
    """Text -> id of the special tokens, those that the file leaves out too."""
    listed = file.optional("special_tokens")
    if listed.value is not None:
        names = [_special(entry, rank) for rank, entry in enumerate(listed.list())]
    elif version in WITHOUT_SPECIAL:
        names = OLD_SPECIAL
    else:
        raise file.error(f"'special_tokens' is missing, which files of version {version} have")
    if len(names) > count:
        raise listed.error(f"{len(names)} special tokens, where config says {count}")
    names = [*names, *(f"<SPECIAL_{rank}>" for rank in range(len(names), count))]
    special = {name: rank for rank, name in enumerate(names)}
    if len(special) < count:
        twice = next(name for rank, name in enumerate(names) if special[name] != rank)
        raise listed.error(f"the special token {shown(twice)} is given twice")
    return special


def _special(entry: Json, rank: int) -> str:
    """The text of a special token; its rank must be its place."""
    number = entry.member("rank")
    if number.id() != rank:
        raise number.error(f"is {number.value}, at the place of rank {rank}")
    return entry.member("token_str").string()


def _carried(file: Json, config: Json) -> dict[str, object]:
    """What no id depends on: version, and settings for images and audio."""
    members = file.object()
    kept = {key: members[key].flat(2) for key in CARRIED if key in members}
    return {"config.version": config.member("version").value, **kept}


FORMAT = Format(SIGNS[NAME], read, None)
