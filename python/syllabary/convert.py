"""`convert`: a tokenizer from one format to another, with every loss said and the result tried.

Adds the report of a conversion. The new file is opened again and must encode a sample of text as the old one
does, token for token, unless a loss has been named by which ids may change. Leaves out: what each format can
hold (`formats`), and real text of the user's (`verify`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from syllabary import formats
from syllabary.encodings import find_by_sha256
from syllabary.errors import FormatError, SyllabaryError, VocabularyError
from syllabary.files import check_place, named, write_files
from syllabary.formats.loss import Loss
from syllabary.formats.record import Format, cannot_hold
from syllabary.opening import load
from syllabary.spec import TokenizerSpec
from syllabary.tokenizer import Tokenizer
from syllabary.trial_texts import trial_texts

CONTEXT = 40


@dataclass(frozen=True, slots=True)
class Difference:
    """The first text of a sample that two tokenizers cut differently.

    text: what it was. before, after: the tokens of either, or the sentence of its error.
    """

    text: str
    before: list[bytes] | str
    after: list[bytes] | str


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a conversion did.

    files: what was written. losses: what the format could not hold, one sentence each, a str whose `ids`
        are "same" where no text gets other ones, else "some" or "all".
    texts: how many texts were tried. same_tokens, same_ids: how many of them came out so.
    difference: the first that did not come out in the same tokens.
    """

    source: str
    format: str
    files: tuple[str, ...]
    losses: tuple[Loss, ...]
    texts: int
    same_tokens: int
    same_ids: int
    difference: Difference | None
    _vocab_size: int = field(default=0, repr=False, compare=False)  # of what the files hold

    def as_data(self) -> dict[str, object]:
        """Plain JSON values."""
        first = self.difference
        return {
            "source": self.source,
            "format": self.format,
            "files": list(self.files),
            "losses": list(self.losses),
            "texts": self.texts,
            "same_tokens": self.same_tokens,
            "same_ids": self.same_ids,
            "first_difference": None
            if first is None
            else {"text": first.text, "before": _plain(first.before), "after": _plain(first.after)},
        }


def convert(
    source: str | os.PathLike[str] | Tokenizer,
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002 - the public name of the option
    *,
    source_format: str | None = None,
    split: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    strict: bool = False,
    texts: Iterable[str] = (),
    beside: Mapping[Path, bytes] | None = None,
) -> Conversion:
    """Write the tokenizer `source` to `path` in another format, as much of it as that format can hold.

    source: a file, a folder, a name, or a tokenizer at hand; `source_format`, `split`, `special_tokens` as
        in `load`.
    format: by name, else by the suffix of `path`.
    strict: a loss is a `FormatError`, and nothing is written.
    texts: are tried besides the built-in sample.
    beside: files that belong to the new one, as maps of ids: all of them are written, or none.

    Raises `FormatError` for a tokenizer that the format cannot hold at all, and for a result that encodes
    otherwise though no loss was named; then nothing is written either.
    """
    tok = source if isinstance(source, Tokenizer) else _open(source, source_format, split, special_tokens)
    target = Path(path)
    chosen = formats.format_of(target, format)
    with _told_of(source):
        spec, losses, files = _held(chosen, tok.spec, target)
    if losses and strict:
        raise FormatError(f"{target}: strict, and {chosen.name} would lose: " + "; ".join(losses))
    for file in files:  # else a name that no file can have would be that of its copy
        check_place(file)
    beside = _apart(beside or {}, files)
    again, held = _reopened(files, target, chosen, spec)
    report = _compare(tok, again, [*trial_texts(tok), *texts])
    if report.difference is not None and all(loss.ids == "same" for loss in losses):
        raise FormatError(
            f"{target}: not written: as {chosen.name} this tokenizer would encode "
            f"{report.difference.text[:CONTEXT]!r} otherwise, and it should not; please report it"
        )
    write_files({**files, **beside})
    name = repr(tok) if isinstance(source, Tokenizer) else os.fspath(source)
    return Conversion(name, chosen.name, tuple(map(str, files)), losses, *report.numbers(), held)


def _apart(beside: Mapping[Path, bytes], files: Iterable[Path]) -> Mapping[Path, bytes]:
    """What goes beside the files of a tokenizer; `FormatError` for a name that one of these has."""
    taken = set(map(os.path.realpath, files))
    for path in beside:
        if os.path.realpath(path) in taken:
            raise FormatError(f"{path} is a file of the tokenizer: give what goes beside it another name")
    return beside


def _open(
    source: str | os.PathLike[str],
    source_format: str | None,
    split: str | None,
    special_tokens: Mapping[str, int] | None,
) -> Tokenizer:
    return load(source, source_format, split=split, special_tokens=special_tokens)


@contextmanager
def _told_of(source: str | os.PathLike[str] | Tokenizer) -> Iterator[None]:
    """An error about a tokenizer that a format cannot hold names the file that it was read from."""
    try:
        yield
    except FormatError as error:
        if isinstance(source, Tokenizer):
            raise
        raise FormatError(f"{os.fspath(source)}: {error}") from error


def _held(
    form: Format, spec: TokenizerSpec, target: Path
) -> tuple[TokenizerSpec, tuple[Loss, ...], Mapping[Path, bytes]]:
    """What the format can hold of a tokenizer, what is lost, and the files."""
    form.check_model(spec.model)
    less, losses = form.reduce(spec)
    try:
        return less, losses, form.files_at_once(less, target)
    except VocabularyError as error:
        raise cannot_hold(form.name, f"what would be left of this tokenizer: {error}") from error


def _reopened(
    files: Mapping[Path, bytes], target: Path, form: Format, spec: TokenizerSpec
) -> tuple[Tokenizer, int]:
    """The tokenizer that the files hold, read from copies of them beside no one else's, and how many tokens
    they have themselves: special ones that a reader has to name may not be among them."""
    published = all(find_by_sha256(sha256(data).hexdigest()) for data in files.values())
    asks = form.unsaid and not published
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for file, data in files.items():
            copy = Path(folder, file.name)
            with named(copy):
                copy.write_bytes(data)
        path = Path(folder) if len(files) > 1 else Path(folder, next(iter(files)).name)
        hints: dict[str, Any] = {"split": spec.split, "special_tokens": spec.special_tokens} if asks else {}
        try:
            again = Tokenizer(formats.read(path, form.name, **hints))
        except FormatError as error:
            raise FormatError(f"{target}: not written: it could not be read again: {error}") from error
    return again, len(again.spec.tokens) if asks and form.unlisted else again.vocab_size


@dataclass(slots=True)
class _Report:
    texts: int = 0
    same_tokens: int = 0
    same_ids: int = 0
    difference: Difference | None = None

    def numbers(self) -> tuple[int, int, int, Difference | None]:
        return self.texts, self.same_tokens, self.same_ids, self.difference


def _compare(before: Tokenizer, after: Tokenizer, texts: Iterable[str]) -> _Report:
    report = _Report()
    for text, old, new in _encoded(before, after, texts):
        report.texts += 1
        report.same_ids += old == new
        old_tokens, new_tokens = _tokens(before, old), _tokens(after, new)
        report.same_tokens += old_tokens == new_tokens
        if old_tokens != new_tokens and report.difference is None:
            report.difference = Difference(text, old_tokens, new_tokens)
    return report


def _encoded(
    before: Tokenizer, after: Tokenizer, texts: Iterable[str]
) -> Iterator[tuple[str, list[int] | str, list[int] | str]]:
    for text in texts:
        yield text, _ids(before, text), _ids(after, text)


def _ids(tok: Tokenizer, text: str) -> list[int] | str:
    """The ids, or the kind of error that there are none."""
    try:
        return tok.encode(text, special="allow", dropout=0.0)
    except SyllabaryError as error:
        return type(error).__name__


def _tokens(tok: Tokenizer, ids: list[int] | str) -> list[bytes] | str:
    return ids if isinstance(ids, str) else [tok.vocab[token_id] for token_id in ids]


def _plain(tokens: list[bytes] | str) -> object:
    return (
        tokens if isinstance(tokens, str) else [token.decode("utf-8", "backslashreplace") for token in tokens]
    )
