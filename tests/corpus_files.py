"""What the tests of corpora share: packed files, archives, and the documents of a source."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from syllabary.corpus import read

zstandard = pytest.importorskip("zstandard")

PACK: dict[str, Callable[[bytes], bytes]] = {
    ".bz2": bz2.compress,
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".lzma": lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
    ".xz": lambda data: lzma.compress(data, check=lzma.CHECK_CRC32),
    ".zst": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}
TEXT = ("arma virumque cano, Troiae qui primus ab oris " * 40).encode()


def write(folder: Path, **contents: bytes | str) -> Path:
    """Files by name, where `__` stands for `/` and `_` for a dot."""
    for name, content in contents.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def texts(source: Any, **options: Any) -> list[str]:
    return [document.text for document in read(source, **options)]


def tar(members: dict[str, bytes | str], mode: str = "w", **special: tarfile.TarInfo) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            data = content.encode() if isinstance(content, str) else content
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in special.values():
            archive.addfile(info)
    return packed.getvalue()


def zipped(members: dict[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def published(shared: Path, language: str, characters: int = -1) -> str:
    """The text of one of the shared corpora, or its first characters, read without syllabary."""
    with lzma.open(shared / "corpora" / f"{language}.txt.xz", "rt", encoding="utf-8", newline="") as file:
        return file.read(characters)


class Counting(io.BytesIO):
    """A file that knows how much was read at a time."""

    most = 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.most = max(self.most, len(data))
        return data
