"""Files, safely: a write that is whole or did not happen, and a read that is bounded.

Adds `write_atomic` (a temporary name in the same folder, fsync, rename), the same as an open file or for
several files, and `read_bounded`.
Leaves out: what the bytes mean (the format modules), and locks (`locks`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from syllabary.errors import FormatError
from syllabary.on_demand import later

if TYPE_CHECKING:
    import secrets

    import syllabary._engine as engine
else:
    later(globals(), secrets="secrets", engine="syllabary._engine")

MAX_BYTES = 256 << 20  # the largest published tokenizer file is a seventh of it
HEAD_BYTES = 4096
READ_BYTES = 1 << 20  # at a time: asking for `limit` at once would allocate it
LARGE, TIMES = 1 << 18, 4  # of a file of so many bytes about so many times as much is made
PATIENCE, PAUSE = 20, 0.05  # how often, and in seconds, Windows is asked to replace or remove a file


def read_bounded(path: Path, limit: int = MAX_BYTES) -> bytes:
    """All bytes of a file; `FormatError` if they are more than `limit`, `OSError` if it cannot be read."""
    parts, size = list[bytes](), 0
    with named(path), path.open("rb") as file:
        # One part, of which no copy is made, but for a pipe, which says no size.
        known = min(os.fstat(file.fileno()).st_size, limit)
        if known >= LARGE:
            engine.make_ready(TIMES * known)
        at_once = max(READ_BYTES, known + 1)
        while size <= limit and (part := file.read(at_once)):
            parts.append(part)
            size += len(part)
    if size > limit:
        raise FormatError(f"{path}: larger than {limit} bytes, which no tokenizer file needs to be")
    return b"".join(parts)


def read_head(path: Path) -> bytes:
    """The first bytes of a file, to tell its format by."""
    with named(path), path.open("rb") as file:
        return file.read(HEAD_BYTES)


def write_atomic(path: Path, data: bytes) -> None:
    """Put `data` at `path`: after any failure, Ctrl-C too, the old file is as it was, nothing else left.

    A link is followed, an existing file's mode is kept; one that may not be written to stays as it is. What
    is not a plain file (a pipe, `/dev/stdout`) is written to directly. Raises `OSError` with the path.
    """
    with open_atomic(path) as file:
        file.write(data)


def write_files(files: Mapping[Path, bytes]) -> None:
    """`write_atomic` for several that are read together: no new one ever stands beside an old one.

    All are written under other names first, so a full disk, or a folder in the place of one, leaves the old
    ones. Then these go aside, the first one first, and the new ones come, the first one last. After a failure
    or Ctrl-C the old ones are back; a process that is killed meanwhile leaves them as `.NAME.….old`.
    """
    for path in files:
        check_place(path)
    with _kept_aside(files) as set_aside, contextlib.ExitStack() as stack:
        for path, data in files.items():
            file = stack.enter_context(open_atomic(path))
            file.write(data)
            file.flush()
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                os.fsync(file.fileno())
        if len(files) > 1:
            set_aside()


@contextlib.contextmanager
def _kept_aside(paths: Iterable[Path]) -> Iterator[Callable[[], None]]:
    """A call that takes old files out of the way; after a failure they alone are there, else they go."""
    aside = dict[Path, Path | None]()  # None: there was no old one

    def set_aside() -> None:
        for target, mode in map(check_place, paths):
            if mode is None or stat.S_ISREG(mode):
                aside[target] = None if mode is None else _hidden(target, "old")
        for target, old in aside.items():
            if old is not None:
                replace(target, old)
        for folder in {target.parent for target in aside}:
            _sync_folder(folder)

    try:
        yield set_aside
    except BaseException:
        moved = {target: old for target, old in aside.items() if old is None or old.exists()}
        for target in moved:
            remove(target)
        for target, old in moved.items():
            if old is not None:
                replace(old, target)
        raise
    try:
        _discard(aside.values())
    except BaseException:  # Ctrl-C: the new ones are there, and nothing else is left
        _discard(aside.values())
        raise


def _discard(paths: Iterable[Path | None]) -> None:
    for path in filter(None, paths):
        with contextlib.suppress(OSError):
            remove(path)


@contextlib.contextmanager
def open_atomic(path: Path) -> Iterator[BinaryIO]:
    """A new file for `path`, which takes its place when the block has ended well; as `write_atomic`."""
    target, mode = check_place(path)
    if mode is not None and not stat.S_ISREG(mode):
        with named(path), path.open("wb") as file:  # what it is a link to has no name, if it is a pipe
            yield file
        return
    temporary = _hidden(target, "tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):  # none was made, or nothing can be removed there
            temporary.unlink()
        # What else went wrong meanwhile, as a full disk elsewhere, names its own file.
        if isinstance(error, OSError) and str(error.filename or temporary) == str(temporary):
            error.filename, error.filename2 = str(path), None
        raise
    _sync_folder(target.parent)


def replace(new: Path, target: Path) -> None:
    """`os.replace`, with patience on Windows."""
    _patiently(lambda: os.replace(new, target))


def remove(path: Path) -> None:
    """Remove a file that may be there, with patience on Windows."""
    _patiently(lambda: path.unlink(missing_ok=True))


def _patiently(act: Callable[[], None]) -> None:
    """Windows refuses as long as anybody has the file open: who looks through new files, as against viruses,
    has it for a moment, which is waited for."""
    for left in reversed(range(PATIENCE if sys.platform == "win32" else 1)):
        try:
            act()
            return
        except PermissionError:
            if not left:
                raise
            time.sleep(PAUSE)


def check_place(path: Path) -> tuple[Path, int | None]:
    """Where a link leads to, and the mode of what is there; `OSError` if no file can be written there."""
    with named(path):  # the folder in which names begin may be gone
        target, mode = Path(os.path.realpath(path)), _mode(path)
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder, not a file", str(path))
    if mode is None or stat.S_ISREG(mode):
        if sys.platform == "win32" and ":" in target.name:  # a part of another file, and never renamed
            raise OSError(errno.EINVAL, "a file's name has no colon on Windows", str(path))
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
        check_folder(target.parent, path.parent)
        if mode is not None and not os.access(target, os.W_OK):  # renaming would not ask
            said = "is read-only: give another name, or make it writable"
            raise PermissionError(errno.EACCES, said, str(path))
    return target, mode


def check_folder(folder: Path, called: Path | None = None) -> None:
    """`PermissionError` where no file can be made in a folder that is there. called: its name in it."""
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, "no file can be made in this folder", str(called or folder))


@contextlib.contextmanager
def named(path: Path) -> Iterator[None]:
    """An `OSError` from inside carries `path`, also where Python leaves it out (a full disk)."""
    try:
        yield
    except OSError as error:
        name_error(error, path)
        raise


def name_error(error: Exception, path: Path | str) -> None:
    """Gives an `OSError` that carries no path this one."""
    if isinstance(error, OSError) and error.filename is None:
        error.filename = str(path)


def _hidden(target: Path, ending: str) -> Path:
    """Another name in the same folder, which nobody has."""
    return target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.{ending}")


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system lets one open a folder."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
