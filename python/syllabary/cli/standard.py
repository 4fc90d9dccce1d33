"""Stdin and stdout as pipes have them: all is read and all is written, also where nobody waits.

Adds what takes the place of Python's own: whoever shares a pipe or a terminal can set it not to wait
(`O_NONBLOCK`), as node and ssh do. Python then takes "nothing yet" for the end of a text, and forgets what
was not written at once. Leaves out: streams that are closed (`common`), and stderr, whose lines are short.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import select
import sys
import time
from typing import Any

PAUSE = 0.01  # seconds between two looks where a pipe cannot be waited for


def set_up() -> None:
    """Put the streams in place of Python's; those that are no file, as in tests, stay."""
    given = getattr(getattr(sys.stdin, "buffer", None), "raw", None)
    if isinstance(given, io.FileIO):
        reader = io.BufferedReader(Arriving(given, sys.stdin))
        sys.stdin = io.TextIOWrapper(reader, sys.stdin.encoding, sys.stdin.errors, newline=None)
    taken = getattr(sys.stdout, "buffer", None)
    if isinstance(taken, io.RawIOBase) or not _waits(taken):  # the first: `PYTHONUNBUFFERED`
        before = sys.stdout
        whole = Whole(getattr(taken, "raw", taken), before)
        sys.stdout = io.TextIOWrapper(whole, before.encoding, before.errors, "\n", write_through=True)


def characters(stream: Any) -> dict[str, Any]:
    r"""How a stream shows characters, as arguments of `reconfigure`: those it cannot show are escaped.

    On Windows what is no terminal would get a code page of some 200 characters, and `\r\n`: it gets what it
    gets elsewhere, UTF-8 (unless `PYTHONIOENCODING` says another) and `\n`.
    """
    told: dict[str, Any] = {"errors": "backslashreplace"}
    if sys.platform == "win32" and not stream.isatty():
        told["newline"] = "\n"
        if not os.environ.get("PYTHONIOENCODING"):
            told["encoding"] = "utf-8"
    return told


def is_closed_pipe(error: Exception) -> bool:
    """Whether an error of writing says that nobody reads any more, in the way of Windows."""
    return sys.platform == "win32" and isinstance(error, OSError) and error.errno == errno.EINVAL


def _waits(stream: Any) -> bool:
    """Whether what is written to a stream waits for room; so does what has no number to ask by."""
    if sys.platform != "win32":
        with contextlib.suppress(AttributeError, OSError, ValueError):
            return os.get_blocking(stream.fileno())
    return True


def _wait(reads: list[Any], writes: list[Any]) -> None:
    """Until a pipe has something to read, or room; Windows can wait for sockets alone."""
    if sys.platform == "win32":
        time.sleep(PAUSE)
    else:
        select.select(reads, writes, [])


class _Beside(io.RawIOBase):
    """A stream that goes through another, which stays open when this is closed."""

    def __init__(self, raw: Any, owner: object) -> None:
        """raw: the other, without a buffer. owner: what would close it if nobody held it any more."""
        super().__init__()
        self._raw, self._owner = raw, owner

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return bool(self._raw.isatty())

    def fileno(self) -> int:
        """Its number."""
        return int(self._raw.fileno())


class Arriving(_Beside):
    """Stdin: reading waits until something comes, or the end."""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with what is there; 0 is the end."""
        while (number := self._raw.readinto(buffer)) is None:
            _wait([self._raw], [])
        return int(number)


class Whole(_Beside):
    """Stdout without a buffer, which may take a part of what it is given, as at the end of a disk.

    Python then forgets the rest; here all is written, or it is an error.
    """

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: Any) -> int:
        """Write all of `data`; `OSError` where that cannot be."""
        rest = memoryview(data)
        while rest:
            taken = self._raw.write(rest)
            if taken is None:
                _wait([], [self._raw])
            else:
                rest = rest[taken:]
        return len(data)
