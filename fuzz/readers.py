"""What a reader may do with a damaged file: give a tokenizer that works, or a `FormatError` with the file.

Adds `try_file`, which holds one reader to that. Leaves out: the damage (`mutate`) and the loop (`run`).
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import syllabary
from syllabary import formats
from syllabary.errors import FormatError, SyllabaryError

SECONDS = 20  # a small file takes a thousandth of that
TEXT = "low é </w> ▁a 漢字 <s>\n\t 12 ##x"


class Hang(BaseException):
    """A reader that went on for too long; no `except Exception` hides it."""


def try_file(path: Path, format_name: str) -> str:
    """`"read"`, or `"refused"`; any other end is raised: a crash, a hang, an error without the place."""
    with _limit(SECONDS):
        try:
            split = "bert-uncased" if format_name == "bert" else "gpt2"
            hints = {"split": split} if formats.needs_hints(format_name) else {}
            spec = formats.read(path, format_name, **hints)
        except FormatError as error:
            if path.name not in str(error):
                raise AssertionError(f"the error does not name the file: {error}") from error
            return "refused"
        tok = syllabary.Tokenizer(spec)
        with contextlib.suppress(SyllabaryError):  # text outside the alphabet, a pattern that gives up
            ids = tok.encode(TEXT, special="allow")
            tok.decode(ids)
            tok.offsets(TEXT, special="allow")
    return "read"


@contextlib.contextmanager
def _limit(seconds: int) -> Iterator[None]:
    if not hasattr(signal, "SIGALRM"):  # Windows, where nobody is woken
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise Hang(f"longer than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
