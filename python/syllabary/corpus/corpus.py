"""`Corpus`: a source, how to read it and what becomes of its documents, in one object.

Adds selection by metadata, care (normal form, duplicates, parts of a corpus), files left out instead of
errors, and the report of all that. Each verb reads through it. Leaves out: files and formats (`sources` and
the readers), shards, training.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from syllabary.corpus import sources
from syllabary.corpus.care import Care, identity, identity_of, normalized, normalized_parts
from syllabary.corpus.document import Document, Part, PlainFile, Reading, Stream
from syllabary.corpus.forms import Look, closer, glance
from syllabary.corpus.report import Report
from syllabary.corpus.sources import Source, Unit
from syllabary.errors import CorpusError, CorpusWarning, TextError, outside
from syllabary.files import name_error
from syllabary.spec import Form

UNIT = 32 << 20


class Kept(NamedTuple):
    """A document that stays, normalized if that was asked for, and what it was before.

    identity: of the text as it was read. size: its UTF-8 bytes as it was read. form: its normal form then,
    as `Look.kind` has it.
    """

    document: Document
    identity: int
    size: int
    form: str | None = None


class Corpus:
    """Documents from a source, selected and cared for; read anew each time it is iterated.

    source: a `str` or `PathLike` is one path (file, folder or archive); in any other iterable, `str` and
        `bytes` are documents and `PathLike`s are paths. An iterator can be read once.
    reading: how files become documents. care: what becomes of documents.

    Iterating gives `Document`s in the order of the source; `report` says afterwards what was left out.
    Raises `CorpusError` for files that cannot be read (unless `on_error="skip"`) and where nothing is left,
    `OSError`; warns `CorpusWarning` at the end where normal forms of Unicode are mixed, unless `normalize`
    is given. Finding duplicates takes about 100 bytes of memory for each document.

    >>> corpus = Corpus(["arma", "virum", "arma"], care=Care(drop_duplicates=True))
    >>> [document.text for document in corpus], corpus.report.duplicates
    (['arma', 'virum'], 1)
    """

    def __init__(self, source: Source, reading: Reading | None = None, care: Care | None = None) -> None:
        self.source = source
        self.reading = Reading() if reading is None else reading
        self.care = Care() if care is None else care
        self.report = Report()
        self._begun = False

    def __repr__(self) -> str:
        """Where from, for the prompt."""
        if isinstance(self.source, (str, os.PathLike)):
            return f"<Corpus of {os.fspath(self.source)!r}>"
        return f"<Corpus of a {type(self.source).__name__}>"

    def __iter__(self) -> Iterator[Document]:
        """The documents that stay, in order."""
        return self.read()

    def read(self, normalized: bool = False, empty: bool = False) -> Iterator[Document]:
        """As iterating. normalized, empty: as for `finish`."""
        for kept in self._unique(identities=False):
            yield kept.document
        self.finish(normalized, empty)

    def kept(self, normalized: bool = False) -> Iterator[Kept]:
        """The same, each with its identity and size. normalized: as for `finish`."""
        yield from self._unique(identities=True)
        self.finish(normalized)

    def parts(self, normalized: bool = False, plain: bool = False) -> Iterator[Part]:
        """The same as `(part, last)`, as the trainer takes them. normalized: as for `finish`.
        plain: parts may be `PlainFile`s, for who can read these.

        A part is of bounded size where the reader can do that and nothing is asked for that needs whole
        documents (selection, duplicates, `fraction`, `rest`).
        """
        if self.care.whole or self.reading.select:
            for document in self.read(normalized):
                yield document.text, True
            return
        form = self.care.normalize
        yield from self._parts(plain) if form is None else normalized_parts(self._parts(), form)
        self.finish(normalized)

    def units(self, size: int = UNIT) -> list[Unit]:
        """Pieces of the source, of about `size` bytes, for `read_unit` in several processes; together, in
        order, they hold the same documents as the whole. [] for documents in memory and for what cannot be
        divided."""
        return sources.units(self.source, self.reading, size)

    def read_unit(self, unit: Unit, report: Report | None = None) -> Iterator[Kept]:
        """The documents of one unit, but with duplicates, which only who sees all units can find.

        report: is filled, else `self.report`. Another process sends its own home (`dataclasses.asdict` and
            `Report.of` are its way through JSON), where `Report.merge` takes it, in the order of the units,
            and `Report.drop_duplicate` counts a document out; `finish` then says what there is to say.
        """
        filled = self.report if report is None else report
        found = sources.streams_of_unit(unit, self.reading, filled.skip)
        return self._kept(self._documents(found, filled), filled, identities=True, seen=None)

    def finish(self, normalized: bool = False, empty: bool = False) -> None:
        """After all was read: `CorpusError` if nothing is left, `CorpusWarning` if normal forms are mixed,
        bytes were replaced (`errors="replace"`), or the documents are names of files.

        normalized: whether it is rewritten in one form later, so that mixing them does no harm.
        empty: whether it is well if nothing is left, as in one file of many.
        """
        if not empty:
            self.report.check(self.reading, self.care)
        for sentence in (
            self.report.replacements(),
            sources.named_only(self.source),
            None if normalized or self.care.normalize is not None else self.report.forms.warning(),
        ):
            if sentence is not None:
                warnings.warn(sentence, CorpusWarning, stacklevel=outside())

    def record(self) -> dict[str, object]:
        """How it was read, as plain JSON values: options other than the defaults, and the report's counts.

        `fraction` or `rest` comes with its `seed`, by which the split can be repeated. `documents` is how
        many there were; what a document is, if not a file, is `documents_by`. Paths are not in it.

        >>> corpus = Corpus(["arma"], care=Care(fraction=1.0))
        >>> len(list(corpus)), corpus.record()
        (1, {'fraction': 1.0, 'seed': 0, 'documents': 1, 'bytes': 4})
        """
        return self.options() | self.report.record()

    @property
    def says_more(self) -> bool:
        """Whether `record` tells more than how much there was."""
        return bool(self.options() or self.report.skipped or set(self.report.encodings) - {"utf-8"})

    def options(self) -> dict[str, object]:
        """The options that are not the defaults, as plain JSON values."""
        found = _changed(self.reading, Reading()) | _changed(self.care, Care())
        found.pop("seed", None)
        if "documents" in found:
            found["documents_by"] = found.pop("documents")
        if self.care.fraction is not None or self.care.rest is not None:
            found["seed"] = self.care.seed
        return found

    # ---- inside ----

    def _begin(self) -> Generator[Document | Stream]:
        """The members of the source, with a new report; an iterator gives them only once."""
        if self._begun and isinstance(self.source, Iterator):
            raise CorpusError(
                f"the source is an iterator ({type(self.source).__name__}) and has been read: give a list, "
                "or paths, to read it again"
            )
        self._begun = True
        self.report = Report()
        return sources.streams(self.source, self.reading, self.report.skip, self.report.replace)

    def _unique(self, identities: bool) -> Iterator[Kept]:
        """The whole source without the duplicates that shall go."""
        found, report = self._begin(), self.report
        seen = set[int]() if self.care.drop_duplicates else None
        return self._kept(self._documents(found, report), report, identities or self.care.whole, seen)

    def _kept(
        self, found: Iterable[Document], report: Report, identities: bool, seen: set[int] | None
    ) -> Iterator[Kept]:
        """What `select`, `fraction` and `rest` leave, in the form asked for.

        seen: the identities so far, to leave out duplicates; None: they stay.
        """
        selects, chooses, form = bool(self.reading.select), self.care.whole, self.care.normalize
        for document in found:
            report.read += 1
            if selects and not self._selected(document, report):
                report.unselected += 1
                continue
            text = document.text
            plain = text.isascii()
            data = text.encode("utf-8", "surrogatepass")
            look = None if plain else glance(text, data) or closer(text, data)
            if not identities:
                number = 0
            elif plain or look is not None:
                number = identity_of(data)  # it is in NFC
            else:
                number = _naming(document, report, identity)
            if chooses and not self._chosen(number, seen, report):
                continue
            report.keep(len(data))
            kind = None
            if not plain:
                look = look or Look().at(text)
                kind = look.kind
                report.forms.add(look, partial(where, document, report))
                if form is not None:
                    document = self._normalized(document, form, report)
            yield Kept(document, number, len(data), kind)

    def _chosen(self, number: int, seen: set[int] | None, report: Report) -> bool:
        """Whether `fraction` or `rest` keeps a document, and it is no duplicate of one in `seen`."""
        if not self.care.keeps(number):
            report.outside += 1
            return False
        if seen is not None:
            if number in seen:
                report.duplicates += 1
                return False
            seen.add(number)
        return True

    def _normalized(self, document: Document, form: Form, report: Report) -> Document:
        text = _naming(document, report, lambda text: normalized(text, form))
        return Document(text, document.meta)

    def _selected(self, document: Document, report: Report) -> bool:
        """Whether a document has, of each name that is selected by, one of the values."""
        fits: dict[str, bool] = {}
        for name, wanted in self.reading.select:
            value = document.meta.get(name)
            if value is not None and name not in fits:
                report.saw(name, _said(value))
            fits[name] = fits.get(name, False) or (value is not None and _said(value) == wanted)
        return all(fits.values())

    def _documents(self, found: Generator[Document | Stream], report: Report) -> Iterator[Document]:
        """The documents of every member; a file that fails ends it, or is left out from there on."""
        with contextlib.closing(found):  # now, after an error too, and not when Python collects
            for item in found:
                if isinstance(item, Document):
                    yield item
                    continue
                before, item = 0, dataclasses.replace(item, replaced=report.replace)
                try:
                    for document in sources.documents_of(item, self.reading, _teller(report)):
                        yield document
                        before += 1
                except (CorpusError, OSError) as error:
                    self._skip(item, error, before, report)
                report.files += 1

    def _parts(self, plain: bool = False) -> Iterator[Part]:
        """The parts of every member, looked at and counted as they pass."""
        found, report = self._begin(), self.report
        with contextlib.closing(found):
            for item in found:
                if isinstance(item, Document):
                    yield item.text, True
                    report.read += 1
                    report.keep(_size(item.text))
                    if not item.text.isascii():
                        report.forms.add(Look().at(item.text), partial(where, item, report))
                    continue
                before, inside = report.read, False
                plain = plain and self.reading.documents == "file" and self.reading.separator is None
                item = dataclasses.replace(item, replaced=report.replace, plain=plain)
                try:
                    parts = sources.parts_of(item, self.reading, _teller(report))
                    for part, last in _watched(parts, item.name, report):
                        inside = not last
                        yield part, last
                        inside = inside and getattr(part, "done", 1) > 0
                except (CorpusError, OSError) as error:
                    self._skip(item, error, report.read - before + inside, report)
                    if inside:
                        yield "", True
                report.files += 1

    def _skip(self, stream: Stream, error: Exception, before: int, report: Report) -> None:
        """Raise the error, or note the file as skipped, with the documents that it gave before it failed."""
        missing_library = isinstance(error.__cause__, ImportError)
        name_error(error, stream.name)
        if self.reading.on_error == "raise" or missing_library:
            raise error
        read = "1 document or a part of it" if before == 1 else f"{before:,} documents or parts of them"
        kept = f" (what comes before it was read: {read})" if before else ""
        report.skip(stream.name, f"{sources.why(error)}{kept}")
        report.files -= not before


def _said(value: object) -> str:
    """A value of `meta` as `select` has it: as Python writes it, but true and false as JSON does."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def where(document: Document, report: Report) -> str:
    """What a sentence calls a document: its file, and its place there, or its number."""
    meta = document.meta
    if "path" not in meta:
        return f"document {meta.get('index', report.read - 1)}"
    places = [f"{name} {meta[name]}" for name in ("line", "row", "n") if name in meta]
    return ", ".join([str(meta["path"]), *places[:1]])


def _watched(parts: Iterable[Part], name: str, report: Report) -> Iterator[Part]:
    """The parts; each document is counted, and looked at, when it has ended."""
    look, size, begun = Look(), 0, False
    for part, last in parts:
        if isinstance(part, PlainFile):
            part.see = look.undecided
            yield part, last
            size, begun = size + part.done, part.done > 0
            continue
        yield part, last
        if last and not begun and part.isascii():  # as most lines are: nothing to look at
            report.read += 1
            report.keep(len(part))
            continue
        look.at(part)
        size += _size(part)
        begun = not last
        if last:
            report.read += 1
            report.keep(size)
            report.forms.add(look, lambda: name)
            look, size = Look(), 0


def _naming(document: Document, report: Report, work: Callable[[str], Any]) -> Any:
    """What `work` makes of the text; a `TextError` says of which document."""
    try:
        return work(document.text)
    except TextError as error:
        raise TextError(f"{where(document, report)}: {error}") from error


def _size(text: str) -> int:
    """Bytes of UTF-8; a lone surrogate is the business of who encodes the text."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _teller(report: Report) -> Callable[[str], None]:
    def told(encoding: str) -> None:
        report.encodings[encoding] = report.encodings.get(encoding, 0) + 1

    return told


def _changed(options: Any, default: Any) -> dict[str, object]:
    """The fields of a frozen record that are not as in the default, as plain JSON values."""
    pairs = ((item.name, getattr(options, item.name)) for item in dataclasses.fields(options))
    return {name: _plain(value) for name, value in pairs if value != getattr(default, name)}


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
