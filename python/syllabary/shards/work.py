"""The folder `.work` inside the shards' folder: one run at a time, what it is about, and its publication.

While a run is under way everything new is in `.work`, and finished shards around it stay whole. The last
steps are renames, which a run that resumes can end. Adds the plan: whatever decides the output, so that
parts of another corpus or of other options are never used. Leaves out: what is written (`assembly`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from syllabary import files, locks
from syllabary.corpus.sources import Unit
from syllabary.errors import ShardError
from syllabary.files import check_folder, named, replace, write_atomic
from syllabary.shards import layout
from syllabary.shards.assembly import JOURNAL
from syllabary.shards.parts import read_part

PLAN, LOCK, DONE = "plan.json", "lock", "done"
LAST = {PLAN: 1, DONE: 2}  # removed last, in this order
PRODUCTS = (
    *(file(split) for split in layout.SPLITS for file in (layout.ids_file, layout.offsets_file)),
    layout.TOKENIZER,
)

Plan = dict[str, Any]


class Work:
    """The state of the writing of one folder of shards. folder: where the shards will be."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / layout.WORK

    # ---- before ----

    def check(self, plan: Plan | None, resume: bool, force: bool) -> bool:
        """Whether there is unfinished work to go on with; `ShardError` if something else is in the way.

        plan: of this run; None for documents in memory, with which nothing can be resumed.
        """
        unfinished = self._unfinished()
        if unfinished is not None and unfinished == plan and resume:
            return True
        if self.complete:  # of another order: end it before anything else
            self._rename()
            self._clear()
            unfinished = None
        if force:
            return False
        if (self.folder / layout.INDEX).exists():
            raise ShardError(
                f"{self.folder}: holds finished shards already; give another folder, or force=True to write "
                "new ones in their place"
            )
        if unfinished and resume and self._worth:
            raise ShardError(
                f"{self.folder}: holds unfinished work with another {_difference(unfinished, plan)}; repeat "
                "the command that began it to resume, or give force=True to begin again"
            )
        foreign = [name for name in PRODUCTS if (self.folder / name).exists()]
        if foreign and unfinished is None:
            raise ShardError(
                f"{self.folder}: holds a file {foreign[0]} that is of no finished shards; give another "
                "folder, or force=True to write over it"
            )
        return False

    @property
    def _worth(self) -> bool:
        """Whether something is done already that would be lost."""
        return (self.path / JOURNAL).exists() or any(self.path.glob("part-*"))

    def _unfinished(self) -> Plan | None:
        """The plan of the work that is here; None if there is none, {} if it cannot be resumed."""
        if self._idle:
            return None
        try:
            plan = json.loads((self.path / PLAN).read_bytes())
        except (FileNotFoundError, ValueError):
            return {}
        return plan if isinstance(plan, dict) else {}

    def begin(self, plan: Plan | None) -> None:
        """An empty `.work` with a plan."""
        self._clear()
        if plan is not None:
            write_atomic(self.path / PLAN, json.dumps(plan).encode("ascii"))

    def _clear(self) -> None:
        for name in os.listdir(self.path):
            if name != LOCK:
                remove(self.path / name)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else writes here meanwhile; `ShardError` if somebody does. A kill unlocks it."""
        self.folder.mkdir(parents=True, exist_ok=True)  # named where it cannot be made, not what is in it
        check_folder(self.folder)
        self.path.mkdir(exist_ok=True)
        busy = ShardError(f"{self.folder}: another process is writing shards here")
        with locks.holding(self.path / LOCK, self._let_go, busy):
            yield

    def _let_go(self) -> None:
        if self._idle:
            self.discard()

    @property
    def _idle(self) -> bool:
        """Whether nothing has been begun here."""
        return self.path.is_dir() and os.listdir(self.path) == [LOCK]

    # ---- parts ----

    def part(self, number: int) -> Path:
        """The file of a part."""
        return self.path / f"part-{number:08d}"

    def whole_parts(self, units: int, first: int) -> set[int]:
        """The numbers, from `first`, of parts that are there and whole; all other files of parts go."""
        whole = set()
        for path in sorted(self.path.glob("part-*")):
            number = path.name.removeprefix("part-")
            if number.isdecimal() and first <= int(number) < units and read_part(path) is not None:
                whole.add(int(number))
            else:
                remove(path)
        return whole

    # ---- after ----

    @property
    def complete(self) -> bool:
        """Whether all is written and only the renames are left, or a part of them."""
        return (self.path / layout.INDEX).exists() or (self.path / DONE).exists()

    def publish(self) -> None:
        """Put the new files in the old ones' place, the index last; a kill in between is no harm."""
        self._rename()
        self.discard()

    def _rename(self) -> None:
        with named(self.folder):
            if (self.path / layout.INDEX).exists():
                with contextlib.suppress(FileNotFoundError):
                    (self.folder / layout.INDEX).unlink()
                index = layout.read_index(self.path)
                for name in PRODUCTS:
                    if (self.path / name).exists():
                        replace(self.path / name, self.folder / name)
                if "val" not in index.splits:
                    for name in (layout.ids_file("val"), layout.offsets_file("val")):
                        remove(self.folder / name)
                (self.path / DONE).touch()
                replace(self.path / layout.INDEX, self.folder / layout.INDEX)

    def discard(self) -> None:
        """Remove `.work`, and the folder around it if nothing else is in it."""
        if self.path.is_dir():
            for name in sorted(os.listdir(self.path), key=lambda name: (LAST.get(name, 0), name)):
                (locks.remove if name == LOCK else remove)(self.path / name)
        for folder in (self.path, self.folder):
            with contextlib.suppress(OSError):
                folder.rmdir()


def plan_of(units: Sequence[Unit], options: dict[str, Any]) -> tuple[Plan, list[int]]:
    """The plan of a run, and the size of each unit in bytes.

    Files count by absolute path, size and time of change.
    """
    digest = hashlib.sha256()
    sizes = []
    for unit in units:
        sizes.append(0)
        for path in unit.paths:
            size = _fed(digest, Path(path))
            sizes[-1] += size if unit.start is None else (unit.stop or size) - unit.start
        digest.update(repr((unit.start, unit.stop, unit.root)).encode())
    return {"files": digest.hexdigest(), **options}, sizes


def _fed(digest: Any, path: Path) -> int:
    """Feed the file to the digest; its size. What cannot be looked at is an error when it is read."""
    try:
        status = path.stat()
        size, changed = status.st_size, status.st_mtime_ns
    except OSError:
        size, changed = 0, 0
    digest.update(repr((os.path.abspath(path), size, changed)).encode("utf-8", "surrogatepass"))
    return size


def _difference(old: Plan, new: Plan | None) -> str:
    """The names of what differs."""
    if new is None:
        return "source (files, and now documents in memory)"
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return " and ".join(
        "state of the files" if name == "files" else f"{name} ({_shown(old, name)}, now {_shown(new, name)})"
        for name in names
    )


def _shown(plan: Plan, name: str) -> str:
    text = json.dumps(plan.get(name), ensure_ascii=False)
    return text if len(text) <= 100 else text[:100] + "…"


def remove(path: Path) -> None:
    """Remove a file or folder that may be there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        files.remove(path)
