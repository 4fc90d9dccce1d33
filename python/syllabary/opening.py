"""`load`: opens a tokenizer by path or by name.

Adds the choice between a file, a published name and a repository of the Hub. Leaves out: the formats
(`formats`), what is opened (`tokenizer`).
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Mapping

from syllabary import formats, hub
from syllabary.arguments import named_ids, text_or_none
from syllabary.encodings import name_for_model, names
from syllabary.errors import FormatError, UnknownEncodingError
from syllabary.tokenizer import Path, Tokenizer

MAX_SHOWN = 200  # characters of a path or a name that is none


def load(
    path_or_name: Path,
    format: str | None = None,  # noqa: A002 (public name)
    *,
    split: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Tokenizer:
    """Open a tokenizer: a file or folder of any known format, or a name.

    A name is a published encoding's (`"cl100k_base"`), a model's of OpenAI (`"gpt-4o"`), or a repository's
    of the Hugging Face Hub (`"Qwen/Qwen3-8B"`). Its file is looked for in cache folders, then downloaded,
    unless `SYLLABARY_OFFLINE` is set. Besides this, only `compat.tiktoken` uses the network, when asked.

    format: one of `syllabary.formats`, else found out from the file.
    split, special_tokens: for a bare rank file, which says nothing of them. Text that a pattern does not
        match is a piece of its own; tiktoken's `pat_str` drops it, and so does `compat.tiktoken`.

    Raises `OSError`, `FormatError` (what is wrong, where; a rank file without `split`),
    `UnknownEncodingError` for a name that is neither a file nor known, or whose file cannot be had, and
    `SplitError` or `PatternError` for a `split` that is none.
    """
    name = os.fspath(path_or_name) if isinstance(path_or_name, os.PathLike) else path_or_name
    if not isinstance(name, str):
        raise TypeError(_no_path(path_or_name))
    text_or_none("split", split)
    if special_tokens is not None:
        special_tokens = named_ids(special_tokens)
    spec = None
    if os.path.exists(name):
        spec = formats.read(path_or_name, format, split=split, special_tokens=special_tokens)
    elif hub.is_id(name):
        file = hub.fetch(name)
        more = hub.fetch_beside(name)
        spec = formats.read_fetched(file, more, format, split=split, special_tokens=special_tokens)
    if spec is not None:
        tok = Tokenizer._read(spec)
        tok._opened_as = name
        return tok
    shown = name if len(name) <= MAX_SHOWN else name[:MAX_SHOWN] + "…"  # what is in a file, most likely
    if any(sign in name for sign in (os.sep, os.altsep or os.sep)) or name.endswith(hub.SUFFIXES):
        raise FileNotFoundError(2, "No such tokenizer file or folder", shown)
    encoding = name if name in names() else name_for_model(name)
    if encoding is not None:
        if format not in (None, "tiktoken"):
            raise FormatError(f"{name!r} names a published encoding, of the format tiktoken, not {format!r}")
        spec = formats.read_encoding(encoding, split=split, special_tokens=special_tokens, fetch=True)
        return Tokenizer._read(spec)
    if "." in name:
        raise FileNotFoundError(2, "No such tokenizer file or folder", shown)
    raise UnknownEncodingError(
        f"{shown!r} is no file, and no published encoding: those are {', '.join(names())}; a repository of "
        "the Hub is named with its owner, as Qwen/Qwen3-8B"
    )


def _no_path(given: object) -> str:
    """What is wrong with that in place of a path; bytes are not shown whole."""
    held = isinstance(given, (bytes, bytearray, memoryview)) or hasattr(given, "read")
    more = "; what a file holds is loaded from a file: write it to one" if held else ""
    return f"path_or_name is {reprlib.repr(given)}: give str or PathLike{more}"
