"""`memory_limit`: how much memory training may take, and the folder for what exceeds it.

Adds the size as people write it, and what of it is left for the engine. Leaves out: how the engine keeps to
it (`crates/syllabary/src/train/memory.rs`, `spill.rs`).
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from syllabary.arguments import integer
from syllabary.errors import TrainingError
from syllabary.scratch import scratch

POWERS = {name: power for power, name in enumerate("kmgt", 1)}
UNITS = {"": 1, **{k: 1000**n for k, n in POWERS.items()}, **{k + "i": 1024**n for k, n in POWERS.items()}}
# What reading takes, and Python's side of it.
READING = 40 << 20
LEAST = 80 << 20
# The engine's bytes, and the folder for what exceeds them.
Room = tuple[int, Path]
MOST = 1 << 62  # more than any machine has, and what the engine's numbers hold


def size_in_bytes(size: int | str) -> int:
    """Bytes, 2^62 at most: a number, or as "256 MiB", "2GB", "1.5g" (k, M, G, T: powers of 1000; Ki, Mi, Gi,
    Ti: of 1024).

    Raises `TrainingError` for what is no size, or too small a one; `TypeError`.

    >>> size_in_bytes("256 MiB")
    268435456
    """
    if isinstance(size, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([kmgt]?i?)b?\s*", size.lower())
        if match is None or match[2] not in UNITS:
            raise TrainingError(f"memory_limit {size!r} is no size: write it as '256 MiB' or '2GB'")
        found = int(min(float(match[1]) * UNITS[match[2]], MOST))
    else:
        found = min(integer("memory_limit", size), MOST)
    if found < LEAST:
        raise TrainingError(
            f"memory_limit {size!r} is {found:,} bytes: give {LEAST >> 20} MiB or more, which reading and "
            "counting take"
        )
    return found


def temporary_folder() -> str | None:
    """The folder that the environment names for temporary files, None if it names none.

    Python's `tempfile` takes another in silence if that cannot be used; here it is an `OSError` with it.
    """
    name = next((name for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)), None)
    if name is None:
        return None
    folder = os.path.abspath(os.environ[name])
    if not os.path.exists(folder):
        raise FileNotFoundError(errno.ENOENT, f"{name} names a folder that is not there", folder)
    if not os.path.isdir(folder):
        raise NotADirectoryError(errno.ENOTDIR, f"{name} names what is no folder", folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, f"{name} names a folder that may not be written to", folder)
    return folder


@contextmanager
def limited(memory_limit: int | str | None) -> Iterator[Room | None]:
    """What the engine's trainer is told: its bytes and a temporary folder, deleted afterwards; None without
    a limit. `TrainingError` for what is no size, or too small; `OSError` for `TMPDIR`."""
    if memory_limit is None:
        yield None
        return
    size = size_in_bytes(memory_limit)
    here = temporary_folder()
    with scratch(here) as folder:
        yield size - READING, folder
