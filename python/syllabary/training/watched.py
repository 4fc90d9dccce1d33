"""Text on its way into the trainer, followed for a checkpoint: how much is counted, and is it the same?

A `Watched` stands where the engine's trainer stands and passes on what it is fed. Of a corpus that is read
again, it leaves out what is in the checkpoint's table, and compares a running checksum. It writes the
checkpoint when that is due, and lets Ctrl-C in only where what is counted and what was read agree.
Leaves out: the folder and its files (`checkpoint`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import threading
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from syllabary.corpus.corpus import Corpus
from syllabary.corpus.report import Report
from syllabary.errors import CheckpointError, SyllabaryError
from syllabary.training.checkpoint import Checkpoint
from syllabary.training.checkpoint_files import way_out
from syllabary.training.checkpoint_state import Seen
from syllabary.training.feed import Counts, Takes

MARK = 16 << 20  # bytes of text between two marks, by which one tells where a corpus differs
END = b"\xff"  # of a document, in the stream that is compared: no byte of UTF-8


def count(
    trainer: Counts,
    corpus: Corpus,
    normalized: bool,
    feeding: Callable[[Takes], int],
    kept: Checkpoint | None,
) -> int:
    """Count a corpus, with a checkpoint only what was not counted before; the bytes of its text.

    normalized: as for `Corpus.parts`. feeding: hands every document to what it is given, and says how many
        bytes there were.
    Raises `CheckpointError` for a corpus that is not the one that was read then.
    """
    if kept is None:
        return feeding(trainer)
    kept.feed_counts(trainer)
    if kept.state is not None and kept.whole and kept.unchanged and kept.tabled:
        corpus.report = Report.of(kept.state.report)
        corpus.finish(normalized)
        return kept.state.size
    with _Interrupts() as interrupts:
        watched = Watched(trainer, kept, interrupts)
        try:
            size = feeding(watched)
            watched.end(size, corpus)
        except (SyllabaryError, MemoryError):
            raise
        except BaseException:  # Ctrl-C, what the caller's function or documents raise, a file that is gone
            watched.leave()
            raise
    return size


class Watched:
    """A trainer that is fed and followed. bytes: of all the text that went by, counted before or now."""

    def __init__(self, trainer: Counts, kept: Checkpoint, interrupts: _Interrupts) -> None:
        self.bytes = 0
        self._trainer, self._kept, self._interrupts = trainer, kept, interrupts
        self._then = kept.seen
        self._skipped = self._then.counted if kept.tabled else 0
        self._read, self._crc = 0, 0
        self._marks: list[int] = []
        self._whole = True  # what is counted and what was read agree

    def feed(self, documents: list[str]) -> None:
        """As the engine's."""
        with self._changing():
            data = [document.encode("utf-8", "surrogatepass") for document in documents]
            at = self._read
            self._pass(END.join([*data, b""]))
            self.bytes += sum(map(len, data))
            first = 0
            while first < len(data) and at < self._skipped:
                self._feed_rest(data[first], at, last=True)
                at += len(data[first]) + len(END)
                first += 1
            if first < len(documents):
                self._trainer.feed(documents[first:] if first else documents)
        self._write_if_due()

    def feed_part(self, part: str, last: bool) -> None:
        """As the engine's."""
        with self._changing():
            data = part.encode("utf-8", "surrogatepass")
            at = self._read
            self._pass(data + END if last else data)
            self.bytes += len(data)
            if at < self._skipped:
                self._feed_rest(data, at, last)
            else:
                self._trainer.feed_part(part, last)
        self._write_if_due()

    def _feed_rest(self, data: bytes, at: int, last: bool) -> None:
        """Feed what of a part that begins at byte `at` of the stream is not counted yet."""
        if at + len(data) + last > self._skipped:
            rest = data[max(self._skipped - at, 0) :]
            try:
                self._trainer.feed_part(rest.decode("utf-8", "surrogatepass"), last)
            except UnicodeDecodeError:
                raise self._differs() from None

    def end(self, size: int, corpus: Corpus) -> None:
        """All was fed: write the whole table, or compare with what was whole before.

        size: bytes of the corpus.
        """
        if self._read < self._then.read:
            raise self._differs()
        if not self._kept.whole:
            with self._changing():
                if self._trainer.distinct_pieces:
                    report = dataclasses.asdict(corpus.report)
                    self._kept.save(self._trainer, self._seen(), whole=True, size=size, report=report)

    def leave(self) -> None:
        """Training ends before its end: write what is counted, if that takes no time worth mentioning."""
        if self._whole and self._worth and self._kept.brief:
            with contextlib.suppress(OSError, MemoryError):
                self._kept.save(self._trainer, self._seen())

    def _write_if_due(self) -> None:
        if self._kept.due and self._worth:
            with self._changing():
                self._kept.save(self._trainer, self._seen())

    @property
    def _worth(self) -> bool:
        """Whether there is more than the checkpoint has. Words have no table to be kept."""
        return self._kept.tabled and not self._kept.whole and self._read > self._then.read

    def _seen(self) -> Seen:
        """How far it is: what a document's end may still change is read, and not counted."""
        counted = self._read - self._trainer.pending
        return Seen(counted, self._read, self._crc, tuple(self._marks))

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """The first Ctrl-C waits; whatever is raised leaves a trainer that does not fit what was read: a
        second one where counts are added up for a table, too."""
        with self._interrupts.held():
            self._whole = False
            yield
            self._whole = True

    # ---- the checksum ----

    def _pass(self, data: bytes) -> None:
        """Text goes by; `CheckpointError` where it is another than then."""
        view, then = memoryview(data), self._then
        while view:
            if self._kept.whole and self._read >= then.read:
                raise self._differs()
            stop = MARK - self._read % MARK
            if self._read < then.read:
                stop = min(stop, then.read - self._read)
            self._crc = zlib.crc32(view[:stop], self._crc)
            self._read += min(stop, len(view))
            view = view[stop:]
            if self._read == then.read and self._crc != then.crc:
                raise self._differs()
            if self._read % MARK == 0:
                number = len(self._marks)
                self._marks.append(self._crc)
                if number < len(then.marks) and then.marks[number] != self._crc:
                    raise self._differs()

    def _differs(self) -> CheckpointError:
        """Where the corpus is not that of then: between the last mark that agreed and here."""
        since = (max(self._read, 1) - 1) // MARK * MARK
        return CheckpointError(
            f"{self._kept.folder}: the corpus is not the one that the checkpoint was made of: its text is "
            f"another, or ends, between byte {since:,} and byte {self._read:,}, document ends counted as a "
            f"byte; give the corpus as it was, or {way_out(self._kept.folder)}"
        )


class _Interrupts:
    """Ctrl-C waits inside `held`; a second one does not. Where it is not Python's own, it is left alone.

    SIGTERM likewise, where it has been made to act as Ctrl-C does.
    """

    def __init__(self) -> None:
        self._held = self._waiting = False
        self._mine: list[signal.Signals] = []

    def __enter__(self) -> _Interrupts:
        main = threading.current_thread() is threading.main_thread()
        for number in (signal.SIGINT, signal.SIGTERM) if main else ():
            if signal.getsignal(number) is signal.default_int_handler:
                signal.signal(number, self._heard)
                self._mine.append(number)
        return self

    def __exit__(self, *_: Any) -> None:
        for number in self._mine:
            signal.signal(number, signal.default_int_handler)

    def _heard(self, *_: Any) -> None:
        if not self._held or self._waiting:
            raise KeyboardInterrupt
        self._waiting = True

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Until it is left, the first Ctrl-C waits."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._waiting:
            self._waiting = False
            raise KeyboardInterrupt
