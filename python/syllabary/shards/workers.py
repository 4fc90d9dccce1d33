"""Processes that encode: started, fed, listened to, and ended at once when nobody needs them any more.

A worker is a Python of its own that speaks pickles over its pipes, so nothing of the caller's program runs
twice (`multiprocessing` would import its main module again) and a worker whose parent is gone hears it: its
pipe is closed. Ctrl-C reaches the parent only, which kills the workers. Leaves out: what they do.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO, Literal, NamedTuple

from syllabary.errors import ShardError

BOOT = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from syllabary.shards.workers import serve; serve()"
)
# Ctrl-C is for all processes of a group, as of a terminal: on Windows one of its own is asked for so.
GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
Function = Callable[[Any, Callable[[int], object]], Any]


class WorkerDiedError(ShardError):
    """A process that ended without a word; what is done is kept, and the run can be resumed."""


class Event(NamedTuple):
    """What a worker says of a task: an amount of work, a warning, at the end its result or an error."""

    task: int
    kind: Literal["told", "warned", "done", "failed"]
    value: Any


class Workers:
    """Processes that take tasks from a queue, which the caller may take from as well.

    function: what is done with each task, `function(task, tell)`; pickled once for each process, as are
    tasks and results. Use it with `with`: at the end every process is killed, whatever it is doing.
    """

    def __init__(self, count: int, function: Function, tasks: list[tuple[int, Any]]) -> None:
        self._tasks = queue.SimpleQueue[tuple[int, Any]]()
        for task in tasks:
            self._tasks.put(task)
        self._events = queue.SimpleQueue[Event]()
        self._count, self._function = count, function
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Workers:
        """Start the processes; they begin to take tasks as soon as they are ready."""
        hello = pickle.dumps(sys.path) + pickle.dumps(self._function) if self._count else b""
        try:
            for _ in range(self._count):
                process = subprocess.Popen(
                    [sys.executable, "-c", BOOT],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    start_new_session=True,
                    creationflags=GROUP,
                )
                self._processes.append(process)
                thread = threading.Thread(target=self._drive, args=(process, hello), daemon=True)
                self._threads.append(thread)
                thread.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Kill all processes."""
        while self.take() is not None:
            pass
        for process in self._processes:
            process.kill()
        for thread in self._threads:
            thread.join()
        for process in self._processes:
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):  # what was not sent is not needed
                    if pipe is not None:
                        pipe.close()

    def take(self) -> tuple[int, Any] | None:
        """The next task that nobody has, for the caller to do itself; None if all are taken."""
        with suppress(queue.Empty):
            return self._tasks.get_nowait()
        return None

    def events(self, wait: bool) -> Iterator[Event]:
        """What has been said since; with `wait`, at least one thing, for which it waits."""
        with suppress(queue.Empty):
            if wait:
                yield self._next()
            while True:
                yield self._events.get_nowait()

    def _next(self) -> Event:
        while True:
            with suppress(queue.Empty):
                return self._events.get(timeout=1)  # subtle: without, Windows does not hear Ctrl-C

    def _drive(self, process: subprocess.Popen[bytes], hello: bytes) -> None:
        """The thread of one worker: hand it tasks for as long as there are any."""
        task = -1
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(hello)
            process.stdin.flush()
            pickle.load(process.stdout)
            while (taken := self.take()) is not None:
                task = taken[0]
                pickle.dump(taken[1], process.stdin)
                process.stdin.flush()
                self._listen(task, process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            self._events.put(Event(task, "failed", died(process.wait())))

    def _listen(self, task: int, replies: Any) -> None:
        """Pass on what a worker says of a task, until it is done."""
        while True:
            kind, value = pickle.load(replies)
            self._events.put(Event(task, kind, value))
            if kind in ("done", "failed"):
                return


def died(code: int) -> WorkerDiedError:
    """The error for a process that ended without a word: most often the system had no memory left for it."""
    why = f"with exit code {code}"
    if code < 0:
        why = f"by signal {-code}"
        with suppress(ValueError):
            why = f"by {signal.Signals(-code).name}"
    cause = "what it said stands above; run the same command again to resume"
    if code < 0:
        cause = (
            "as a system does that runs out of memory; run the same command again to resume, with fewer "
            "processes"
        )
    return WorkerDiedError(f"a worker process was ended {why}: {cause}")


def serve() -> None:
    """A worker's life: tasks from stdin, replies to what was stdout; it ends when stdin does."""
    requests: BinaryIO = sys.stdin.buffer
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the replies
    with suppress(EOFError, BrokenPipeError):
        function: Function = pickle.load(requests)
        reply(replies, "ready", None)
        while True:
            work(function, pickle.load(requests), replies)


def work(function: Function, task: Any, replies: BinaryIO) -> None:
    """Do one task and say how it went."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = function(task, lambda amount: reply(replies, "told", amount))
            kind = "done"
        except BrokenPipeError:
            raise
        except Exception as error:  # noqa: BLE001 (it is raised again in the parent)
            kind, value = "failed", picklable(error)
    for warning in caught:
        reply(replies, "warned", (str(warning.message), warning.category))
    reply(replies, kind, value)


def reply(replies: BinaryIO, kind: str, value: Any) -> None:
    """Say one thing; `BrokenPipeError` where nobody hears it, which Windows calls otherwise."""
    data = pickle.dumps((kind, value))
    try:
        replies.write(data)
        replies.flush()
    except OSError as error:
        raise BrokenPipeError(error.errno, error.strerror) from error


def picklable(error: Exception) -> Exception:
    """The error itself if it survives the way, else its traceback in words."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 (whatever its own __reduce__ does)
        return RuntimeError("".join(traceback.format_exception(error)))
    return error
