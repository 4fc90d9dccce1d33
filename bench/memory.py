"""A process's memory, for what `bench/` starts: how much it holds, and that the system has some ready.

Leaves out: systems without /proc, which tell nothing.
"""

from __future__ import annotations

import mmap
from pathlib import Path

READY = 256 << 20  # bytes


def memory(field: str) -> float:
    """VmHWM (the most that this process has held) or VmRSS (what it holds), in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise SystemExit(f"this system does not tell a process its memory: no {field} in /proc/self/status")


def peak() -> float:
    """The most so far."""
    return memory("VmHWM")


def forgotten() -> bool:
    """Whether the system lets the peak begin anew from what is held now; it is so from here on."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def ready_memory() -> None:
    """Write to large pages and give them back to the system, where the peak can begin anew after it.

    A virtual machine's host takes back pages that are free for some seconds, and hands them out again 4 KiB
    at a time, at the first write: 14 MB of large pages then take 31 ms in place of 1.4 (docs/log.md,
    2026-11-25). Whether that meets one lane or another is chance, and no library's doing.
    """
    if forgotten() and hasattr(mmap, "MADV_HUGEPAGE"):
        with mmap.mmap(-1, READY, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
            memory.madvise(mmap.MADV_HUGEPAGE)
            for page in range(0, READY, mmap.PAGESIZE):
                memory[page] = 1
