"""Locks between processes: files and folders that one process has, and that the system lets go with it.

POSIX locks a file or a folder (`flock`), Windows a byte of a file (`msvcrt.locking`); it does not remove a
file that is open. Leaves out: waiting; systems and file systems without locks, where nothing is held.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path


def lock(descriptor: int, busy: Exception | None = None) -> bool:
    """Lock an open file until it is closed or the process ends, killed or not; whether it could be.

    Raises `busy`, else `BlockingIOError`, if another holds it. POSIX locks folders too. Some file systems
    have no such locks.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, 0, os.SEEK_SET)  # the byte that is locked is where one stands
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if isinstance(error, PermissionError if sys.platform == "win32" else BlockingIOError):
            raise busy or BlockingIOError(errno.EAGAIN, "another process holds it") from None
        return False
    except ImportError:
        return False
    return True


@contextlib.contextmanager
def holding(path: Path, let_go: Callable[[], None], busy: Exception | None = None) -> Iterator[None]:
    """The lock of the file at `path`, which is made if it is not there; at the end, `let_go` may remove it.

    Raises as `lock` does if another process holds it. `let_go` is called while nobody else can hold it; on
    Windows, where it could not remove the file then, right afterwards.
    """
    held = False
    try:
        with path.open("ab") as file:
            lock(file.fileno(), busy)
            held = True
            try:
                yield
            finally:
                if sys.platform != "win32":
                    let_go()
    finally:
        if held and sys.platform == "win32":
            let_go()


def remove(path: Path) -> None:
    """Remove the file of a lock, which may be there; on Windows it stays where somebody holds it."""
    with contextlib.suppress(FileNotFoundError):
        try:
            path.unlink()
        except PermissionError:
            if sys.platform != "win32":
                raise
