"""What the measurements share: turns of lanes, the machine's name, where results go.

Leaves out: what is measured (one program each).
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"

Lane = Callable[[], Any]


def measure(lanes: Mapping[str, Lane], repeats: int) -> dict[str, list[float]]:
    """Seconds of each turn of each lane; the lanes alternate, and the order turns round each time."""
    seconds: dict[str, list[float]] = {name: [] for name in lanes}
    for turn in range(repeats):
        for name in list(lanes)[:: -1 if turn % 2 else 1]:
            start = time.perf_counter()
            lanes[name]()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def processor() -> str:
    """The processor's name, where the system tells it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
