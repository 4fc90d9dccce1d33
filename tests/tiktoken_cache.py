"""A cache folder in tiktoken's layout, filled from the shared vocabularies: both libraries read it, offline.

p50k_base's file is r50k_base's with 24 runs of spaces after it; tiktoken checks its SHA-256.
"""

from __future__ import annotations

import base64
import shutil
from pathlib import Path

from syllabary.encodings import cache_name, get

GPT2_FILES = ("gpt2_vocab.bpe", "gpt2_encoder.json")


def fill(shared: Path, folder: Path) -> Path:
    """Put every published file that there is into `folder`."""
    vocabs = shared / "vocabs"
    for name in ("r50k_base", "cl100k_base", "o200k_base"):
        shutil.copyfile(vocabs / f"{name}.tiktoken", folder / cache_name(get(name).url))
    for name, (url, _sha256) in zip(GPT2_FILES, get("gpt2").pair, strict=True):
        shutil.copyfile(vocabs / name, folder / cache_name(url))
    spaces = [b"%s %d\n" % (base64.b64encode(b" " * count), 50255 + count) for count in range(2, 26)]
    p50k = (vocabs / "r50k_base.tiktoken").read_bytes() + b"".join(spaces)
    (folder / cache_name(get("p50k_base").url)).write_bytes(p50k)
    return folder
