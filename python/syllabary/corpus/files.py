"""Paths -> files: folders in a fixed order, filtered by globs of names and of relative paths.

Adds the rule of what a folder holds: all plain files below it, sorted by path, hidden names left out; what
`datasets` saved (`state.json`, `dataset_dict.json`) holds its data files only. A glob without `/` is about
the name, one with it about the path relative to the folder, where `**` crosses folders.
Leaves out: what is in the files (`unpack`, `archives`, the readers); pipes and devices found in folders.
"""

from __future__ import annotations

import fnmatch
import functools
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from syllabary.corpus.document import Reading
from syllabary.errors import CorpusError

CHUNK = 1 << 20  # bytes that are read at a time

DATASETS_OWN = frozenset({"state.json", "dataset_info.json", "dataset_dict.json"})
STATE_BYTES = 64 << 20


def files_of(path: Path, reading: Reading, failed: Callable[[OSError], None]) -> list[Path]:
    """A file itself; of a folder, the files in it that the globs let through, sorted by path.

    By code points: Windows would take `a` and `A` for one, and the order decides what is learned.

    Archives are let through unless excluded: the globs are about what they hold. `failed` is called with the
    error for each folder that cannot be listed.
    """
    if not path.is_dir():
        return [path]
    return sorted(_walk(path, reading, failed), key=lambda found: found.parts)


def wanted(name: str, reading: Reading) -> bool:
    """Whether a file is read: `name` is its path relative to the folder or archive, with `/`.

    >>> wanted("grc/hom.xml", Reading(include=("*.xml",))), wanted("grc/hom.xml", Reading(include=("lat/*",)))
    (True, False)
    """
    return included(name, reading) and not excluded(name, reading)


def included(name: str, reading: Reading) -> bool:
    """Whether `include` is empty or one of its globs matches the name or the relative path."""
    return not reading.include or _matches(name, reading.include)


def excluded(name: str, reading: Reading) -> bool:
    """Whether a glob of `exclude` matches a file or one of the folders that it is in.

    >>> excluded("notes/a/b.txt", Reading(exclude=("a",))), excluded("a.txt", Reading(exclude=("a",)))
    (True, False)
    """
    if not reading.exclude:
        return False
    steps = name.split("/")
    return any(_matches("/".join(steps[:end]), reading.exclude) for end in range(1, len(steps) + 1))


def hidden(name: str) -> bool:
    """Whether a file, or a folder on the way to it, has a name that begins with a dot."""
    return any(step.startswith(".") and step not in {".", ".."} for step in name.split("/"))


def no_file(path: Path, reading: Reading) -> CorpusError:
    """The error for a folder or an archive with nothing in it to be read."""
    kind = "folder" if path.is_dir() else "archive"
    wanted = [f"matches {', '.join(reading.include)}"] if reading.include else []
    wanted += [f"not {glob}" if wanted else f"does not match {glob}" for glob in reading.exclude]
    hold = "a file" + (f" that {' and '.join(wanted)}" if wanted else "")
    return CorpusError(f"{path}: the {kind} does not hold {hold}")


def _matches(name: str, globs: Iterable[str]) -> bool:
    base = name.rpartition("/")[2]
    if os.sep == "\\":  # Windows, where people write paths so, and no name has one
        globs = (glob.replace("\\", "/") for glob in globs)
    return any(_pattern(glob).match(name if "/" in glob else base) for glob in globs)


@functools.lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    """A glob as a pattern of the whole name; in one with `/`, only `**` crosses folders."""
    if "/" not in glob:
        return re.compile(fnmatch.translate(glob))
    out = []
    for part in re.findall(r"\*\*/|\*\*|\*|\?|\[!?\]?[^]]*\]|[^*?[]+|.", glob.strip("/"), re.DOTALL):
        if part == "**/":
            out.append("(?:.*/)?")
        elif part == "**":
            out.append(".*")
        elif part in "*?":
            out.append("[^/]*" if part == "*" else "[^/]")
        elif part.startswith("[") and len(part) > 1:
            out.append(fnmatch.translate(part).removeprefix("(?s:").removesuffix(r")\Z"))
        else:
            out.append(re.escape(part))
    return re.compile("(?s:" + "".join(out) + r")\Z")


def _walk(folder: Path, reading: Reading, failed: Callable[[OSError], None]) -> Iterator[Path]:
    from syllabary.corpus.archives import is_archive

    for parent, folders, names in os.walk(folder, onerror=failed):
        below = Path(parent).relative_to(folder)
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") and not excluded((below / name).as_posix(), reading)
        ]
        for name in _of_datasets(Path(parent), names):
            relative = (below / name).as_posix()
            if name.startswith(".") or excluded(relative, reading):
                continue
            path = Path(parent, name)
            if (included(relative, reading) or is_archive(name)) and _is_readable(path):
                yield path


def _is_readable(path: Path) -> bool:
    """Whether it is a file, or a link to none (an error when it is opened); a pipe would wait for ever."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return True


def _of_datasets(folder: Path, names: list[str]) -> list[str]:
    """The names in a folder; of one that `datasets` wrote, without its own records and caches."""
    if "dataset_dict.json" in names:
        return [name for name in names if name not in DATASETS_OWN]
    if not any(name.endswith(".arrow") for name in names) or not DATASETS_OWN.intersection(names):
        return names
    if "state.json" in names:
        listed = _data_files(folder / "state.json")
        if listed is not None:
            return listed
    return [name for name in names if name not in DATASETS_OWN and not name.startswith("cache-")]


def _data_files(path: Path) -> list[str] | None:
    """The files that a `state.json` of `datasets` lists; None if it is the file of another program."""
    try:
        with path.open("rb") as file:
            state = json.loads(file.read(STATE_BYTES))
        return [str(item["filename"]) for item in state["_data_files"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
