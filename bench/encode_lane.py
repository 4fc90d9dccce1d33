"""One task of one library in a process of its own, for `bench/encode.py`: its seconds, its memory, its ids.

    python bench/encode_lane.py TASK        TASK: JSON, see `Task`

The process binds itself to the cores given, imports the library, reads the texts, writes to large pages and
gives them back (`ready_memory`), begins its peak anew (VmHWM in /proc/self/status), loads the vocabulary
and encodes one short string; then the clock runs. The last line printed is JSON: `seconds` of each pass
(the first is the first time that this process sees the text) and `cpu_seconds`; `peak_mb`, from before the
vocabulary to the end of the first pass, without the result (`load_peak_mb`: before the clock runs;
`warm_peak_mb`: to the end of the last pass; `work_peak_mb`: above what is held when the clock begins, if
the system tells); `ids`, and digests of the ids of all texts and of the first tenth.
Leaves out: turns, medians, comparison.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from encode_peers import LANES, Source
from encode_text import load
from memory import forgotten, memory, peak, ready_memory

WARM_UP = "The quick brown fox, 1 of 2."
HEAD = 10  # the first of so many parts


class Task(NamedTuple):
    """What to do.

    part: "array", "lists", "single", "count", "count_batch" (texts, `passes` times), "one-list", "one-array"
        (a call a text, after a tenth of them), "decode-str-array" and its like, "load".
    source: fields of `encode_peers.Source`. texts: a file of `encode_text.write`.
    head: work on the first tenth only. share: on a slice of the texts.
    gate: say "ready", and wait for a line before the clock runs.
    """

    lane: str
    part: str
    source: tuple[Any, ...]
    texts: str
    cores: tuple[int, ...]
    passes: int = 1
    head: bool = False
    share: tuple[int, int | None, int] = (0, None, 1)
    gate: bool = False


class Digest:
    """Of ids, document by document."""

    def __init__(self, documents: int) -> None:
        self.hash, self.left, self.head, self.ids = hashlib.sha256(), max(1, documents // HEAD), "", 0

    def add(self, documents: Iterable[Any]) -> Digest:
        """Ids of one document after another; where each ends counts too."""
        for ids in documents:
            self.hash.update(len(ids).to_bytes(8, "little"))
            self.hash.update(ids)
            self.ids += len(ids)
            self.left -= 1
            if not self.left:
                self.head = self.hash.hexdigest()[:16]
        return self

    def told(self) -> dict[str, Any]:
        """For the answer."""
        return {"ids": self.ids, "digest": self.hash.hexdigest()[:16], "head_digest": self.head}


def size(result: Any) -> float:
    """MB of ids and offsets in a result of arrays; lists count as part of the work."""
    parts = [result] if not isinstance(result, (list, tuple)) else result
    if hasattr(result, "offsets") and hasattr(result, "ids"):
        parts = [result.ids, result.offsets]
    return sum(getattr(part, "nbytes", len(part) if isinstance(part, bytes) else 0) for part in parts) / 1e6


class Clock:
    """Seconds of each piece of work: on the wall, and of this process on its cores."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []
        self.began = 0.0

    def time(self, work: Callable[[], Any]) -> Any:
        """Do it."""
        cpu, wall = time.process_time(), time.perf_counter()
        result = work()
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(time.process_time() - cpu)
        self.began = self.began or wall
        return result

    def told(self, share: int = 1) -> dict[str, Any]:
        """For the answer; each divided by `share`."""
        wall, cpu = ([seconds / share for seconds in times] for times in (self.wall, self.cpu))
        return {"seconds": wall, "cpu_seconds": cpu, "began": self.began}


def passes(task: Task, lane: Any, texts: list[str], before: float) -> dict[str, Any]:
    """All texts in one call, some times; the ids of the first pass count."""
    work = getattr(lane, task.part)
    lane.load()
    work([WARM_UP])
    loaded = peak() - before
    base = memory("VmRSS") if forgotten() else None
    if task.gate:
        print("ready", flush=True)
        sys.stdin.readline()
    clock, told = Clock(), dict[str, Any](load_peak_mb=loaded)
    for turn in range(task.passes):
        result = clock.time(lambda: work(texts))
        above = peak() - size(result)
        told["warm_peak_mb"] = max(loaded, above - before)
        if not turn:
            told |= {"peak_mb": told["warm_peak_mb"], "work_peak_mb": None if base is None else above - base}
            told |= counted(result) if task.part.startswith("count") else digest(lane, result, len(texts))
        del result
    return told | clock.told()


def digest(lane: Any, result: Any, documents: int) -> dict[str, Any]:
    """Of the ids in a result."""
    return Digest(documents).add(lane.documents(result)).told()


def counted(result: Any) -> dict[str, Any]:
    """How many ids."""
    return {"ids": int(sum(result)), "digest": None, "head_digest": None}


def calls(task: Task, lane: Any, texts: list[str]) -> dict[str, Any]:
    """A call a text: seconds of one, after a tenth of the texts; each text once."""
    lane.load()
    names = {"call": lane.call(), "array": getattr(lane.tok, lane.array_call, None)}
    expression = lane.one[task.part.removeprefix("one-")]
    exec(f"def loop(texts, call, array):\n for text in texts: {expression}", names)
    exec(f"def one(text, call, array): return {expression}", names)
    loop, call, array = (names[name] for name in ("loop", "call", "array"))
    first = len(texts) // HEAD
    loop(texts[:first], call, array)
    clock = Clock()
    clock.time(lambda: loop(texts[first:], call, array))
    found = [names["one"](text, call, array) for text in texts]
    flat = [lane.documents(each) if isinstance(each, tuple) else lane.documents([each]) for each in found]
    ids = Digest(len(texts)).add(one for each in flat for one in each).told()
    return ids | clock.told(len(texts) - first)


def decoding(task: Task, lane: Any, texts: list[str]) -> dict[str, Any]:
    """Ids back to each text; what came out is the digest."""
    _decode, into, given = task.part.split("-")
    work = lane.decode if into == "str" else lane.decode_bytes
    lane.load()
    ids = [found.copy() for found in lane.documents(lane.array(texts))]
    inputs = ids if given == "array" else [one.tolist() for one in ids]
    work(inputs[0][:9])
    clock, told = Clock(), {}
    for turn in range(task.passes):
        result = clock.time(lambda: [work(one) for one in inputs])
        if not turn:
            told = Digest(len(texts)).add(one.encode() if into == "str" else one for one in result).told()
        del result
    return told | clock.told() | {"ids": sum(map(len, ids))}


def loading(lane: Any) -> dict[str, Any]:
    """From the file to the ids of a first string."""
    clock = Clock()
    result = clock.time(lambda: (lane.load(), lane.array([WARM_UP]))[1])
    return digest(lane, result, 1) | clock.told()


def answer(task: Task) -> dict[str, Any]:
    """Work once and say what was seen."""
    lane = LANES[task.lane](Source(*task.source), len(task.cores))
    texts = load(task.texts, slice(*task.share)) if task.texts else []
    texts = texts[: max(1, len(texts) // HEAD)] if task.head else texts
    ready_memory()
    forgotten()  # imports may have held more than they keep
    before = peak()
    if task.part == "load":
        told = loading(lane)
    elif task.part.startswith("one-"):
        told = calls(task, lane, texts)
    elif task.part.startswith("decode-"):
        told = decoding(task, lane, texts)
    else:
        told = passes(task, lane, texts, before)
    return told | {"texts": len(texts), "bytes": sum(len(text.encode()) for text in texts)}


def main() -> None:
    """Bind this process, and work."""
    task = Task(**json.loads(sys.argv[1]))
    os.sched_setaffinity(0, task.cores)
    print("\n" + json.dumps(answer(task)))


if __name__ == "__main__":
    main()
