"""What was read, left out and found out while reading a corpus: `Report`, and the sentences made of it.

Leaves out: the reading (`corpus`), and printing (the command line does).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from syllabary.corpus.care import Care
from syllabary.corpus.document import Reading
from syllabary.corpus.forms import Forms
from syllabary.errors import CorpusError
from syllabary.reference.symbols import plural

LISTED = 1000  # of what was skipped, so that memory has a bound; the others are only counted
LINES = 20  # of these, in what a person is told
VALUES = 1000  # distinct values of one name that are counted, so that memory has a bound
SHOWN = 5  # of a list, in a sentence
SUMS = (
    "files",
    "read",
    "documents",
    "bytes",
    "unselected",
    "duplicates",
    "outside",
    "undecodable",
    "replaced_unlisted",
)


@dataclass
class Report:
    """Filled while a corpus is read; whole when it has been.

    files: read, wholly or (with `on_error="skip"`) up to an error; 0 for documents in memory.
    read: documents found in them. documents: those that were kept, after selection and care.
    bytes: UTF-8 bytes of the kept documents as they were read, before any normalization.
    skipped: name and reason of each file or part of one (a line, a row, a member of an archive) that could
        not be read, the first `LISTED` of them. unlisted: how many more there were.
    encodings: encoding -> files that turned out to have it.
    forms: normal forms of the kept documents; not looked at where they are rewritten anyway.
    unselected, duplicates, outside: documents left out by `select`, as duplicates, by `fraction` or `rest`.
    values: of each name that `select` asks for, value -> documents.
    undecodable: how many times bytes that are no text became U+FFFD (`errors="replace"`).
    replaced: file or document in which that was so -> byte offset of the first, of the first `LISTED`.
    replaced_unlisted: how many more there were.
    """

    files: int = 0
    read: int = 0
    documents: int = 0
    bytes: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    encodings: dict[str, int] = field(default_factory=dict)
    forms: Forms = field(default_factory=Forms)
    unselected: int = 0
    duplicates: int = 0
    outside: int = 0
    values: dict[str, dict[str, int]] = field(default_factory=dict)
    unlisted: int = 0
    undecodable: int = 0
    replaced: dict[str, int] = field(default_factory=dict)
    replaced_unlisted: int = 0

    @property
    def skips(self) -> int:
        """How many files and parts of files were skipped, listed or not."""
        return len(self.skipped) + self.unlisted

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Report:
        """The report that `dataclasses.asdict` made these values of, also after JSON."""
        examples = {kind: (where, odd) for kind, (where, odd) in values["forms"]["examples"].items()}
        forms = Forms(dict(values["forms"]["counts"]), examples)
        skipped = [(name, why) for name, why in values["skipped"]]
        return cls(**{**values, "forms": forms, "skipped": skipped})

    def merge(self, other: Report) -> None:
        """Add the report of the next part of the same corpus, as another process has read it."""
        for name in SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name, why in other.skipped:
            self.skip(name, why)
        self.unlisted += other.unlisted
        self.forms.merge(other.forms)
        for name, offset in other.replaced.items():
            self.replace(name, 0, offset)
        for encoding, files in other.encodings.items():
            self.encodings[encoding] = self.encodings.get(encoding, 0) + files
        for name, counts in other.values.items():
            for value, count in counts.items():
                self.saw(name, value, count)

    def skip(self, name: str, why: str) -> None:
        """Note what could not be read."""
        if len(self.skipped) < LISTED:
            self.skipped.append((name, why))
        else:
            self.unlisted += 1

    def replace(self, name: str, count: int, offset: int | None) -> None:
        """Note that bytes became U+FFFD. offset: of the first in this file or part of it, if it is new."""
        self.undecodable += count
        if offset is None or name in self.replaced:
            return
        if len(self.replaced) < LISTED:
            self.replaced[name] = offset
        else:
            self.replaced_unlisted += 1

    def replacements(self) -> str | None:
        """The sentence for a corpus in which bytes were replaced, or None if none were.

        >>> report = Report()
        >>> report.replace("a.txt", 2, 17)
        >>> report.replacements().partition(": ")[2].partition(";")[0]
        '2 in 1 file, the first in a.txt at byte offset 17'
        """
        if not self.undecodable:
            return None
        name, offset = next(iter(self.replaced.items()))
        files = len(self.replaced) + self.replaced_unlisted
        return (
            f"undecodable bytes were read as U+FFFD: {self.undecodable:,} in {plural(files, 'file', ',')}, "
            f"the first in {name} at byte offset {offset}; if its encoding is another, declare it "
            "(encoding=…)"
        )

    def keep(self, size: int) -> None:
        """Count a document of `size` bytes as kept."""
        self.documents += 1
        self.bytes += size

    def drop_duplicate(self, size: int, form: str | None = None) -> None:
        """Count a document that was kept, of this size and normal form, as a duplicate instead."""
        self.documents -= 1
        self.bytes -= size
        self.duplicates += 1
        if form is not None:
            self.forms.drop(form)

    def saw(self, name: str, value: str, count: int = 1) -> None:
        """Count a document's value of a name that is selected by."""
        counts = self.values.setdefault(name, {})
        if value in counts or len(counts) < VALUES:
            counts[value] = counts.get(value, 0) + count

    def record(self) -> dict[str, object]:
        """The counts as plain JSON values, those that are 0 or empty left out but for documents and bytes."""
        counts: dict[str, object] = {"documents": self.documents, "bytes": self.bytes}
        more = {name: getattr(self, name) for name in ("files", "unselected", "duplicates", "outside")}
        files = len(self.replaced) + self.replaced_unlisted
        replaced = {"files": files, "sequences": self.undecodable} if files else {}
        lists = {
            "skipped": self.skips,
            "encodings": self.encodings,
            "forms": self.forms.counts,
            "replaced": replaced,
        }
        return counts | {
            name: dict(sorted(value.items())) if isinstance(value, dict) else value
            for name, value in {**more, **lists}.items()
            if value
        }

    def check(self, reading: Reading, care: Care) -> None:
        """`CorpusError` if something was there and nothing is left."""
        if not self.documents and (self.read or self.skipped):
            raise CorpusError(self.nothing(reading, care))

    def nothing(self, reading: Reading, care: Care) -> str:
        """Why nothing is left of a corpus."""
        reasons = []
        if self.skipped:
            reasons.append(f"{self._parts()} could not be read (first {_listed(*self.skipped[0])})")
        reasons.append(f"{plural(self.read, 'document', ',')} read")
        if self.unselected:
            reasons += [self._unselected(name, reading) for name in dict(reading.select)]
        if self.outside:
            chosen = f"fraction {care.fraction}" if care.fraction is not None else f"rest of {care.rest}"
            reasons.append(
                f"none of {self.outside:,} fell into the {chosen} with seed {care.seed}: take another "
                f"fraction or seed, or more and {self.smaller(reading)}"
            )
        return "nothing is left of the corpus: " + ", ".join(reasons)

    def smaller(self, reading: Reading) -> str:
        """The advice where there are too few documents to choose from."""
        whole = self.files and reading.documents == "file" and reading.separator is None
        return 'smaller documents (of plain text: documents="line")' if whole else "smaller documents"

    def _unselected(self, name: str, reading: Reading) -> str:
        wanted = [value for key, value in reading.select if key == name]
        counts = self.values.get(name, {})
        found = sum(counts.get(value, 0) for value in wanted)
        has = f"has {name}=" + " or ".join(wanted)
        if found:
            return f"{found:,} {has}"
        if not counts:
            return f"none {has}: no document says its {name}"
        common = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        more = ", …" if len(common) > SHOWN else ""
        listed = ", ".join(f"{value} ({count:,})" for value, count in common[:SHOWN])
        return f"none {has}: there are {listed}{more}"

    def lines(self) -> Iterable[str]:
        """What a person should know after the work, a sentence a line; nothing where nothing happened."""
        guessed = {name: count for name, count in self.encodings.items() if name != "utf-8"}
        if guessed:
            listed = ", ".join(
                f"{name} ({plural(count, 'file', ',')})" for name, count in sorted(guessed.items())
            )
            yield f"encodings other than UTF-8: {listed}"
        if self.unselected:
            yield f"selected {self.read - self.unselected:,} of {plural(self.read, 'document', ',')}"
        if self.outside:
            yield f"left to the other side of the split: {plural(self.outside, 'document', ',')}"
        if self.duplicates:
            yield f"left out as duplicates: {plural(self.duplicates, 'document', ',')}"
        if self.skipped:
            yield f"skipped {self._parts()}:"
            shown = self.skipped if self.skips <= LINES + 1 else self.skipped[:LINES]
            yield from (f"  {_listed(name, why)}" for name, why in shown)
            if len(shown) < self.skips:
                yield f"  … and {self.skips - len(shown):,} more"

    def _parts(self) -> str:
        """How many were skipped: files, but also lines, rows and members of archives."""
        return "1 file or part of one" if self.skips == 1 else f"{self.skips:,} files or parts of them"


def _listed(name: str, why: str) -> str:
    return f"{name}: {why.removeprefix(f'{name}: ')}"
