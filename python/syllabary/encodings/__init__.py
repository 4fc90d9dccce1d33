"""Published encodings by name: one data file each, the models that use them, and where their files lie.

Adds `names`, `get`, `name_for_model`, `find_by_sha256`, `locate` and `rank_file`. Nothing here opens a
network connection but `rank_file(name, fetch=True)`. A new encoding is one data file; `models.json` says
which model uses which. Leaves out: what a rank file means (`syllabary.formats`), the folders (`cache`), the
connection (`download`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from syllabary.encodings import cache
from syllabary.encodings.cache import cache_folders, cache_name
from syllabary.errors import UnknownEncodingError
from syllabary.on_demand import later

if TYPE_CHECKING:
    import hashlib

    from syllabary.encodings import gpt2_pair as pairs
else:  # by another name: by its own the package has the module itself
    later(globals(), hashlib="hashlib", pairs="syllabary.encodings.gpt2_pair")

__all__ = [
    "Encoding", "cache_folders", "cache_name", "find_by_sha256", "get", "locate", "models", "name_for_model",
    "names", "rank_file",
]  # fmt: skip

MODELS = "models.json"


@dataclass(frozen=True, slots=True)
class Encoding:
    """What is known of a published encoding besides its ranks.

    url, sha256: its rank file (`sha1(url)` is its name in tiktoken's cache).
    pair: (url, SHA-256) of the two files that hold the same ranks as it, GPT-2's own: merges, vocabulary.
    extends, more_tokens: its rank file is that of another encoding with these tokens after it, rank -> text
        (p50k_base is r50k_base and runs of spaces).
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
    pair: tuple[tuple[str, str], ...] = ()
    extends: str | None = None
    more_tokens: Mapping[int, str] = field(default_factory=dict)
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


def name_for_model(model: str) -> str | None:
    """The encoding that a model of OpenAI's uses, or `None` for one that tiktoken does not know either.

    By its exact name, else by how it begins, so that dated and fine-tuned models are known, and made-up ones.

    >>> name_for_model("gpt-4o"), name_for_model("gpt-4-0314"), name_for_model("llama")
    ('o200k_base', 'cl100k_base', None)
    """
    exact, prefixes = models()
    if model in exact:
        return exact[model]
    return next((name for prefix, name in prefixes.items() if model.startswith(prefix)), None)


@lru_cache(maxsize=1)
def models() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Model -> encoding, and how models begin -> encoding, in the order in which they are tried."""
    data = json.loads(Path(__file__).with_name(MODELS).read_text(encoding="utf-8"))
    return data["models"], data["prefixes"]


def find_by_sha256(digest: str) -> Encoding | None:
    """The encoding that a bare file with this SHA-256 is, or `None`.

    >>> find_by_sha256("94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069").name
    'p50k_base'
    """
    for encoding in _table().values():
        pair = [known for _url, known in encoding.pair]
        if digest in pair or (encoding.base is None and digest == encoding.sha256):
            return encoding
    return None


def locate(name: str) -> Path:
    """The rank file of an encoding in a cache folder of this machine, its hash checked.

    `cache.cache_folders` says where it looks. Raises `UnknownEncodingError` for an unknown name, and for a
    file that is absent or damaged: it says where to put which file.
    """
    encoding = get(name)
    found = cache.find(encoding.url, encoding.sha256)
    if found is None:
        raise cache.absent(name, encoding.url, encoding.sha256)
    return found


def rank_file(name: str, *, fetch: bool = False) -> bytes:
    """The bytes of an encoding's rank file, its hash checked, wherever they are to be had.

    In a cache folder; made of other files there that hold the same (GPT-2's pair; for p50k_base, r50k_base's
    file); with `fetch=True` downloaded, unless the environment says to stay offline (`cache.offline`).
    Raises `UnknownEncodingError` for an unknown name, and for a file that cannot be had: it says where to put
    which file; `OSError` if a folder named by the environment cannot be written to.
    """
    encoding = get(name)
    path = cache.find(encoding.url, encoding.sha256)
    if path is not None:
        return path.read_bytes()
    made = _made(encoding.sha256)
    if made is not None:
        return made
    if not fetch or cache.offline() is not None:
        raise cache.absent(name, encoding.url, encoding.sha256, fetch=fetch)
    from syllabary.encodings import download  # loads ssl, which most never need

    data = download.get(name, encoding.url, encoding.sha256)
    cache.keep(encoding.url, data)
    return data


def _made(digest: str) -> bytes | None:
    """The rank file with this SHA-256, made of files in a cache folder that hold the same; else `None`."""
    for encoding in _table().values():
        if encoding.sha256 == digest:
            made = _from_pair(encoding) or _from_extended(encoding)
            if made is not None and hashlib.sha256(made).hexdigest() == digest:
                return made
    return None


def _from_pair(encoding: Encoding) -> bytes | None:
    """The rank file that GPT-2's two files make, if both are in a cache folder."""
    paths = [cache.find(url, known) for url, known in encoding.pair]
    contents = [path.read_bytes() for path in paths if path is not None]
    return pairs.rank_lines(pairs.read(*contents)) if len(contents) == 2 else None


def _from_extended(encoding: Encoding) -> bytes | None:
    """The rank file of the encoding that this one extends, if it can be had here, and the further tokens."""
    if encoding.extends is None:
        return None
    other = get(encoding.extends)
    path = cache.find(other.url, other.sha256)
    head = _from_pair(other) if path is None else path.read_bytes()
    more = {text.encode(): rank for rank, text in encoding.more_tokens.items()}
    return None if head is None else head + pairs.rank_lines(more)


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Encoding]:
    """Every data file beside this one."""
    table: dict[str, Encoding] = {}
    for entry in Path(__file__).parent.glob("*.json"):
        if entry.name != MODELS:
            data = json.loads(entry.read_text(encoding="utf-8"))
            data["pair"] = tuple(map(tuple, data.get("pair", ())))
            data["more_tokens"] = {int(rank): text for rank, text in data.get("more_tokens", {}).items()}
            data["examples"] = {example["text"]: tuple(example["ids"]) for example in data["examples"]}
            table[data["name"]] = Encoding(**data)
    return table
