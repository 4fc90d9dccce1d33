"""A folder for what a run writes for itself alone, gone after it however it ended.

    TMPDIR/syllabary-….scratch/held        locked as long as the run's process is there; open, on Windows

The system lets go of it with the process, be it killed: the next run in the same place removes the folders
whose file nobody holds. Leaves out file systems without locks, where what a killed run has left stays.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from syllabary.locks import lock

PREFIX, SUFFIX = "syllabary-", ".scratch"
HELD, TAKING = "held", "taking"


@contextlib.contextmanager
def scratch(where: str | None = None) -> Iterator[Path]:
    """A new folder in `where` (None: where the system keeps such), removed at the end.

    Those of one's own killed runs there are removed first. `OSError` if no folder can be made.
    """
    made = tempfile.TemporaryDirectory(prefix=PREFIX, suffix=SUFFIX, dir=where, ignore_cleanup_errors=True)
    with made as name:
        folder = Path(name)
        _sweep(folder.parent)
        with (folder / (HELD if sys.platform == "win32" else TAKING)).open("xb") as file:
            # It has its name once it is locked, so that nobody finds it before; never, where nothing can be.
            if sys.platform != "win32" and lock(file.fileno()):
                os.rename(folder / TAKING, folder / HELD)
            yield folder


def _sweep(parent: Path) -> None:
    """Removes the folders of one's own whose file nobody holds."""
    for folder in parent.glob(f"{PREFIX}*{SUFFIX}"):
        with contextlib.suppress(OSError):
            if folder.is_symlink():
                continue
            if sys.platform == "win32":
                (folder / HELD).unlink()  # which the system refuses for one that is open
                shutil.rmtree(folder, ignore_errors=True)
            else:
                with (folder / HELD).open("rb") as file:
                    if folder.lstat().st_uid == os.getuid() and lock(file.fileno()):
                        shutil.rmtree(folder, ignore_errors=True)
