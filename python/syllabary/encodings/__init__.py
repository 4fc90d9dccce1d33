"""Published encodings by name: one data file each, and where their rank files lie on this machine.

Adds `names`, `get`, `find_by_sha256` and `locate`. Nothing here opens a network connection: a file that is
not in a cache folder is an error that says where to put it. A new encoding is one data file.
Leaves out: reading the rank file (`syllabary.formats.read_encoding`).
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path

from syllabary.errors import UnknownEncodingError


@dataclass(frozen=True, slots=True)
class Encoding:
    """What is known of a published encoding besides its ranks.

    url, sha256: its rank file (`sha1(url)` is its name in tiktoken's cache).
    also_sha256: other files with the same ranks, in another format (GPT-2's own two).
    base: the encoding whose rank file this one shares; a bare file is read as the base.
    split: name of its split. special_tokens: text -> id, one text an id.
    special_aliases: further texts of ids that have one (o200k_harmony names 200018 twice); not in tokenizers.
    n_vocab: one more than the highest id.
    examples: text -> ids, with special tokens as plain text.
    source: where all this was read.
    """

    name: str
    url: str
    sha256: str
    split: str
    special_tokens: Mapping[str, int]
    n_vocab: int
    source: str
    base: str | None = None
    also_sha256: tuple[str, ...] = ()
    special_aliases: Mapping[str, int] = field(default_factory=dict)
    examples: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def names() -> list[str]:
    """The names of the published encodings, sorted.

    >>> names()
    ['cl100k_base', 'gpt2', 'o200k_base', 'o200k_harmony', 'p50k_base', 'p50k_edit', 'r50k_base']
    """
    return sorted(_table())


def get(name: str) -> Encoding:
    """The encoding of a name; `UnknownEncodingError` lists the names that exist.

    >>> get("cl100k_base").special_tokens["<|endoftext|>"]
    100257
    """
    if name not in _table():
        raise UnknownEncodingError(f"no published encoding is named {name!r}; known are {', '.join(names())}")
    return _table()[name]


def find_by_sha256(digest: str) -> Encoding | None:
    """The encoding that a bare file with this SHA-256 is, or `None`.

    >>> find_by_sha256("94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069").name
    'p50k_base'
    """
    for encoding in _table().values():
        if digest in encoding.also_sha256 or (encoding.base is None and digest == encoding.sha256):
            return encoding
    return None


def locate(name: str) -> Path:
    """The rank file of an encoding in a cache folder of this machine, its hash checked.

    Looks in `$TIKTOKEN_CACHE_DIR`, `$DATA_GYM_CACHE_DIR` and the temporary folder's `data-gym-cache`.
    Raises `UnknownEncodingError` for an unknown name, and for a file that is absent or damaged: it says
    where to put which file.
    """
    encoding = get(name)
    damaged: list[str] = []
    for folder in cache_folders():
        path = folder / cache_name(encoding.url)
        if not path.is_file():
            continue
        if hashlib.sha256(path.read_bytes()).hexdigest() == encoding.sha256:
            return path
        damaged.append(f"; {path} is not that file (its SHA-256 differs): remove it")
    place = cache_folders()[0] / cache_name(encoding.url)
    raise UnknownEncodingError(
        f"the file of {name!r} is not on this machine, and this version fetches nothing: put "
        f"{encoding.url} at "
        f"{place}, or set TIKTOKEN_CACHE_DIR to the folder that has it, or load the file by its path"
        f"{''.join(damaged)}"
    )


def cache_folders() -> list[Path]:
    """tiktoken's cache folders, in the order in which it looks; an empty variable counts as not set."""
    given = [os.environ.get(variable) for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")]
    return [*(Path(folder) for folder in given if folder), Path(tempfile.gettempdir(), "data-gym-cache")]


def cache_name(url: str) -> str:
    """The name that tiktoken's cache gives to the file at a URL.

    >>> cache_name("https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken")
    '9b5ad71b2ce5302211f9c61530b329a4922fc6a4'
    """
    return hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Encoding]:
    """Every data file beside this one."""
    table: dict[str, Encoding] = {}
    for entry in resources.files(__name__).iterdir():
        if entry.name.endswith(".json"):
            data = json.loads(entry.read_text(encoding="utf-8"))
            data["also_sha256"] = tuple(data.get("also_sha256", ()))
            data["examples"] = {example["text"]: tuple(example["ids"]) for example in data["examples"]}
            table[data["name"]] = Encoding(**data)
    return table
