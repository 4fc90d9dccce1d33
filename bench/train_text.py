"""The texts that `bench/train.py` trains on: corpora as plain files, random DNA, and a text of a gigabyte.

Leaves out: measuring.
"""

from __future__ import annotations

import lzma
import shutil
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syllabary.cli import demo_text

BLOCK = 1 << 22


def unpack(folder: Path | None, into: Path, megabytes: float | None) -> dict[str, Path]:
    """Name -> plain file, cut to that size; of .txt and .txt.xz files, or of Python's own library."""
    if folder is None:
        path = into / "python-library.txt"
        path.write_text("\n".join(demo_text.library().documents), "utf-8", newline="")
        return {path.stem: cut(path, megabytes)}
    found = {}
    for path in sorted([*folder.glob("*.txt"), *folder.glob("*.txt.xz")]):
        target = into / f"{path.name.split('.')[0]}.txt"
        with lzma.open(path) if path.suffix == ".xz" else path.open("rb") as file, target.open("wb") as out:
            if megabytes is None:
                shutil.copyfileobj(file, out, BLOCK)
            else:
                out.write(file.read(int(megabytes * 1e6) + 4))
        found[target.stem] = cut(target, megabytes)
    if not found:
        raise SystemExit(f"{folder} holds no .txt or .txt.xz file")
    return found


def cut(path: Path, megabytes: float | None) -> Path:
    """The file, cut to that size, without a character cut in two."""
    if megabytes is not None and path.stat().st_size > (size := int(megabytes * 1e6)):
        with path.open("r+b") as file:
            whole = len(file.read(size).decode("utf-8", "ignore").encode())
            file.truncate(whole)
    return path


def head(path: Path, into: Path, megabytes: float) -> Path:
    """A copy of the first megabytes of a file."""
    target = into / f"{path.stem}-head.txt"
    shutil.copy(path, target)
    return cut(target, megabytes)


def dna(into: Path, megabytes: float) -> Path:
    """Random letters A, C, G and T, from a seed, without a line end."""
    target = into / "acgt.txt"
    drawn = np.random.default_rng(5).integers(0, 4, int(megabytes * 1e6), dtype=np.uint8)
    target.write_bytes(np.frombuffer(b"ACGT", np.uint8)[drawn].tobytes())
    return target


def varied(corpora: Mapping[str, Path], into: Path, size: int) -> Path:
    """All corpora, one after the other, again and again until `size` bytes are there; each copy in new words.

    In copy k every letter is the k-th next among those that the corpora hold of its script, case and length
    in UTF-8 ("arma" is "bsnb" in copy 1). So the words of each copy are new ones, as many, as long and as
    frequent as those of the first: a text of this size repeats its words no more than one copy does.
    """
    groups = _groups(corpora)
    target = into / "varied.txt"
    written = copy = 0
    with target.open("wb") as out:
        while written < size:
            table = np.arange(0x110000, dtype=np.uint32)
            for group in groups:
                table[group] = np.roll(group, -copy)
            for path in corpora.values():
                for block in _code_points(path):
                    written += out.write(table[block].tobytes().decode("utf-32-le").encode())
            copy += 1
    return cut(target, size / 1e6)


def _groups(corpora: Mapping[str, Path]) -> list[NDArray[np.uint32]]:
    """The letters of the corpora by script (the first word of the name), category and bytes in UTF-8."""
    held = np.zeros(0x110000, dtype=bool)
    for path in corpora.values():
        for block in _code_points(path):
            held[block] = True
    groups: dict[tuple[str, str, int], list[int]] = defaultdict(list)
    for point in np.flatnonzero(held).tolist():
        letter = chr(point)
        if (category := unicodedata.category(letter)).startswith("L"):
            script = unicodedata.name(letter, "").partition(" ")[0]
            groups[script, category, len(letter.encode())].append(point)
    return [np.array(group, dtype=np.uint32) for group in groups.values()]


def _code_points(path: Path) -> Iterator[NDArray[np.uint32]]:
    """The text of a file as code points, in blocks."""
    with path.open(encoding="utf-8", newline="") as file:
        while text := file.read(BLOCK):
            yield np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
