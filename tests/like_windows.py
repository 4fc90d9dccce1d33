"""What Windows refuses, refused here: `python like_windows.py LIBRARIES SCRIPT ARGUMENT...` runs a script so.

LIBRARIES, with commas, are imported first: other people's, which would be misled.

A file that is open, or mapped, can be neither removed nor replaced, nor a folder with one in it; a folder
cannot be opened; what only POSIX has is not there. Our own code opens text with an encoding, and what it
writes with line ends, or not at all. `sys.platform` is "win32" for what is imported from then on.
Leaves out: paths with `\\`, and other libraries, which see Linux. It needs `/proc`.
"""

from __future__ import annotations

import builtins
import io
import os
import runpy
import select
import shutil
import signal
import subprocess
import sys
import types
from collections.abc import Iterator
from typing import Any

# Imported before they could be misled by the platform.
BEFORE = (
    "asyncio ctypes click ctypes.util multiprocessing numpy pathlib platform regex shutil ssl subprocess "
    "sysconfig tempfile webbrowser zoneinfo"
).split()
MODULES = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")
OF_OS = (
    "chown fchmod fork forkpty get_blocking getegid geteuid getgid getloadavg getpgid getuid killpg lchown "
    "mkfifo nice openpty O_DIRECTORY O_NOFOLLOW O_NONBLOCK pathconf pipe2 posix_fadvise posix_fallocate "
    "pread pwrite readv sched_getaffinity sched_setaffinity sendfile set_blocking setsid statvfs sync"
    " sysconf uname"
).split()
OF_SIGNAL = "SIGALRM SIGHUP SIGKILL SIGPIPE SIGQUIT SIGUSR1 alarm pthread_kill setitimer sigwait".split()
OURS = os.path.join("syllabary", "")


def install() -> None:
    """From here on it is so."""
    for name in BEFORE:
        __import__(name)
    sys.modules["msvcrt"] = _msvcrt()
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    subprocess.os, subprocess.signal = (_copied(one) for one in (os, signal))  # type: ignore[attr-defined]
    for where, names in ((os, OF_OS), (signal, OF_SIGNAL)):
        for name in names:
            if hasattr(where, name):
                delattr(where, name)
    select.select = _no_sockets
    shutil._use_fd_functions = False  # type: ignore[attr-defined]  # of `rmtree`: there are none there
    builtins.open = _open(builtins.open)  # type: ignore[assignment]
    io.open = builtins.open
    sys.addaudithook(_refuse)
    sys.platform = "win32"


def _msvcrt() -> types.ModuleType:
    """The one thing of `msvcrt` that is asked for: a lock that no other handle, of any process, can take."""
    import fcntl

    made = types.ModuleType("msvcrt")

    def locking(descriptor: int, mode: int, size: int) -> None:
        assert (mode, size) == (2, 1)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(13, "Permission denied") from None

    made.__dict__.update(locking=locking, LK_NBLCK=2)
    return made


def _copied(module: types.ModuleType) -> types.ModuleType:
    """For Python's own library, which has other ways there."""
    made = types.ModuleType(module.__name__)
    made.__dict__.update(module.__dict__)
    return made


def _no_sockets(*_: Any) -> None:
    raise OSError(10038, "an operation was attempted on something that is not a socket")


def _open(before: Any) -> Any:
    """`open` that our own code may call for text only with an encoding and, to write, with line ends."""

    def opened(file: Any, mode: str = "r", *rest: Any, **more: Any) -> Any:
        if "b" not in mode and _is_ours(sys._getframe(1)):
            given = dict(zip(("buffering", "encoding", "errors", "newline"), rest, strict=False)) | more
            if given.get("encoding") is None:
                raise AssertionError(f"{file} is opened as text in whatever encoding there is")
            if given.get("newline") is None and set(mode) & set("wax+"):
                raise AssertionError(f"{file} is written with whatever line ends there are")
        return before(file, mode, *rest, **more)

    return opened


def _is_ours(frame: Any) -> bool:
    """Whether the package asks, itself or through `Path`."""
    while frame is not None and "pathlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return frame is not None and OURS in frame.f_code.co_filename


def _refuse(event: str, given: tuple[Any, ...]) -> None:
    named = event == "open" and isinstance(given[0], (str, bytes, os.PathLike))
    if named and given[1] is None and os.path.isdir(given[0]):
        raise PermissionError(13, "Permission denied", os.fspath(given[0]))
    if event in ("os.remove", "os.rmdir", "os.rename"):
        for path in given[: 2 if event == "os.rename" else 1]:
            whole = os.path.realpath(os.fsdecode(path))
            for held in _held():
                if held == whole or held.startswith(whole + os.sep):
                    raise PermissionError(13, f"used by a process: {held}", os.fsdecode(path))


def _held() -> Iterator[str]:
    """The files that this process has open or mapped."""
    for number in os.listdir("/proc/self/fd"):
        try:
            yield os.readlink(f"/proc/self/fd/{number}")
        except OSError:  # the one that lists them
            continue
    with io.FileIO("/proc/self/maps") as maps:
        for line in maps.readall().decode("utf-8", "surrogateescape").splitlines():
            yield from line.split(maxsplit=5)[5:]


if __name__ == "__main__":
    libraries, script = sys.argv[1:3]
    del sys.argv[:2]
    for library in filter(None, libraries.split(",")):
        __import__(library)
    install()
    runpy.run_path(script, run_name="__main__")
