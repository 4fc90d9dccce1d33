"""A command on a terminal that gets Ctrl-C when it shows that it is in the stage to be stopped.

Leaves out: what must be so afterwards (the tests).
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence


def interrupt_when(
    command: Sequence[str], sign: bytes, guard: float, number: signal.Signals = signal.SIGINT
) -> tuple[int, bytes]:
    """The exit status and all that the command showed; the signal is sent once, when `sign` was shown.

    number: of the signal; if it is not Ctrl-C's, that one is ignored, as in a script's background.
    guard: seconds after which a command that does not end is a failure.
    """
    ours, theirs = os.openpty()  # on a terminal commands show their stage
    before = signal.getsignal(signal.SIGINT)
    if number != signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the child inherits it
    try:
        process = subprocess.Popen(command, stderr=theirs)
    finally:
        signal.signal(signal.SIGINT, before)
    os.close(theirs)
    shown, sent = b"", False
    try:
        while chunk := os.read(ours, 4096):
            shown += chunk
            if sign in shown and not sent:
                process.send_signal(number)
                sent = True
    except OSError:  # Linux says EIO when the other side has closed
        pass
    os.close(ours)
    return process.wait(guard), shown
