"""`python -m syllabary` again and again, started once: a process that has imported everything forks for each.

Adds `warm`, which starts that process and gives the line of bash that runs a command in a fork of it: with
its own arguments, folder, environment, standard streams and exit status. Leaves out: signals to it, the
freeing of memory at its end, which takes a second for all that is imported, and systems without `fork`, or
whose own libraries do not outlive one (macOS), where each command is a process as ever.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import pkgutil
import select
import shlex
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

MOST = 1 << 20  # bytes of a request


@contextlib.contextmanager
def warm(folder: Path) -> Iterator[str]:
    """The definition of `syllabary` for bash. folder: for the socket; its path is short enough for one."""
    if not hasattr(os, "fork") or sys.platform == "darwin":
        yield 'syllabary() { python -m syllabary "$@"; }\n'
        return
    address, this = str(folder / "warm"), str(Path(__file__).resolve())
    command = [sys.executable, this, "serve", address]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        asked = shlex.join([sys.executable, "-ISs", this, "ask", address])
        yield f'syllabary() {{ {asked} "$@"; }}\n'
        server.stdin.close()


def ask(address: str, arguments: list[str]) -> int:
    """Has the server run a command on our streams; its exit status."""
    request = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [json.dumps(request).encode() + b"\n"], [0, 1, 2])
        status = connection.recv(1)
    return status[0] if status else 1


def serve(address: str) -> None:
    """Imports everything, then runs what is asked until the standard input ends."""
    import syllabary
    from syllabary.cli import main

    for module in pkgutil.walk_packages(syllabary.__path__, "syllabary."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # an extra that is not installed
                importlib.import_module(module.name)
    with contextlib.suppress(ImportError):  # what torch imports at the first step of training
        importlib.import_module("torch._dynamo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        os.write(sys.stdout.fileno(), b"ready\n")
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            connection, _address = listener.accept()
            if os.fork() == 0:
                listener.close()
                prepare(connection)
                end(main)
            connection.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def end(main: Callable[..., object]) -> NoReturn:
    """Runs the command and ends as Python does, but for freeing everything that `serve` has imported."""
    status: object = 0
    try:
        main(prog_name="syllabary")
    except SystemExit as asked:
        status = asked.code
        if not (status is None or isinstance(status, int)):
            print(status, file=sys.stderr)  # noqa: T201 - what Python does with it
            status = 1
    except BaseException:  # noqa: BLE001 - any: Python would print it and end
        sys.excepthook(*sys.exc_info())
        status = 1
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        status = 120
    os._exit(int(status or 0) & 0xFF)


def prepare(connection: socket.socket) -> None:
    """Forks once more: the parent tells how the command ended, the child goes on to be the command."""
    request, streams, _flags, _address = socket.recv_fds(connection, MOST, 3)
    while not request.endswith(b"\n"):
        request += connection.recv(MOST)
    if command := os.fork():
        for stream in streams:
            os.close(stream)
        _process, status = os.waitpid(command, 0)
        connection.sendall(bytes([os.waitstatus_to_exitcode(status) & 0xFF]))
        os._exit(0)
    connection.close()
    for number, (stream, name) in enumerate(zip(streams, ("stdin", "stdout", "stderr"), strict=True)):
        os.dup2(stream, number)
        os.close(stream)
        # Anew: the old one remembers whether the stream of the server could be wound back.
        old = getattr(sys, name)
        mode, how = "r" if number == 0 else "w", {"encoding": old.encoding, "errors": old.errors}
        setattr(sys, name, open(number, mode, closefd=False, **how))  # noqa: SIM115
    asked = json.loads(request)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = ["syllabary", *asked["arguments"]]


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        raise SystemExit(ask(sys.argv[2], sys.argv[3:]))
