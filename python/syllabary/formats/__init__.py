"""File formats of tokenizers: a file or folder <-> `TokenizerSpec`.

Adds the table of formats, the choice among them by content and name, and `read_encoding` for published
names. A new format is one module and one line in `signs`; its module is loaded when it is chosen, all are for
`FORMATS`. Nothing is guessed: a file that does not say
its split needs `split=`, a component that cannot be honoured is an error that names it, and so is a
tokenizer that a format cannot hold. Leaves out: conversion with loss.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from syllabary import splits
from syllabary.encodings import get, rank_file
from syllabary.errors import FormatError
from syllabary.files import MAX_BYTES, read_head, write_files
from syllabary.formats import strangers
from syllabary.formats.record import CASING, Facts, Format, Hints
from syllabary.formats.signs import SIGNS, of_integers
from syllabary.on_demand import later, on_demand
from syllabary.spec import Alphabet, SplitSpec, TokenizerSpec, Unit

if TYPE_CHECKING:
    from syllabary.formats import hf_named as named_files
    from syllabary.formats import tiktoken as rank_files
    from syllabary.formats import transformers_folder as folders
    from syllabary.formats.ranks import recover_merges
    from syllabary.formats.table import FORMATS
else:  # by other names: by their own the package has the modules themselves
    later(
        globals(),
        folders="syllabary.formats.transformers_folder",
        named_files="syllabary.formats.hf_named",
        rank_files="syllabary.formats.tiktoken",
    )

__all__ = ["FORMATS", "format_of", "names", "read", "read_encoding", "recover_merges", "refusal", "write"]

_HOMES = {"FORMATS": "table", "moved": "moved", "recover_merges": "ranks"}
_HOMES |= {signs.module: signs.module for signs in SIGNS.values()}

if not TYPE_CHECKING:  # a type checker would take any name, misspelled too, for one that is found here
    __getattr__, __dir__ = on_demand(__name__, _HOMES)


def names() -> list[str]:
    """The names of the formats.

    >>> len(names()), names()[:4]
    (12, ['syllabary', 'huggingface', 'tekken', 'gpt2'])
    """
    return list(SIGNS)


def read(
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002 - the public name of the option
    *,
    split: SplitSpec | str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> TokenizerSpec:
    """The tokenizer in a file or folder.

    format: one of `names()`; without it the file's content and name tell.
    A folder that `transformers` saved: what it says beside the tokenizer is carried along.
    split: for formats that do not say it: a name, a pattern or a spec (`"none"` for no split); for BERT's
        `vocab.txt` "bert-cased" or "bert-uncased".
    special_tokens: text -> id, for formats that do not say them.

    Raises `FormatError` for a file that is damaged, ambiguous or of no known format, `OSError` for one that
    cannot be read, `SplitError` for an unknown split.
    """
    hints = _hints(split, special_tokens)
    chosen, file = _find(Path(path), None if format is None else Format.named(format))
    if what := strangers.mark(read_head(file)):
        raise FormatError(f"{file}: {what}")
    with uncollected():
        if not os.path.isdir(path):
            return chosen.read(file, hints)
        return _read_folder(Path(path), chosen, file, hints)


def read_fetched(
    file: Path,
    beside: Mapping[str, str],
    format: str | None = None,  # noqa: A002 - the public name of the option
    *,
    split: SplitSpec | str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> TokenizerSpec:
    """The tokenizer in a file, as `read`, and what other files of its repository say: name -> text."""
    hints = _hints(split, special_tokens)
    chosen, file = _find(file, None if format is None else Format.named(format))
    if what := strangers.mark(read_head(file)):
        raise FormatError(f"{file}: {what}")
    with uncollected():
        return _read_with(chosen, file, hints, beside)


def _read_folder(folder: Path, chosen: Format, file: Path, hints: Hints) -> TokenizerSpec:
    """The tokenizer of a file, and what other files of the folder say of it."""
    texts = folders.read_beside(folder)
    named = chosen.name == "huggingface" and texts
    return _read_with(chosen, folders.newest(texts, folder, file) if named else file, hints, texts)


def _read_with(chosen: Format, file: Path, hints: Hints, texts: Mapping[str, str]) -> TokenizerSpec:
    if chosen.name == "huggingface" and texts:
        spec = named_files.read_folder(file, hints, texts)
    else:
        spec = chosen.read(file, hints)
    return folders.with_beside(spec, texts)


@contextmanager
def uncollected() -> Iterator[None]:
    """Without Python's garbage collector, which would look again and again through objects that all stay."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _hints(split: SplitSpec | str | None, special_tokens: Mapping[str, int] | None) -> Hints:
    """What a caller knows; the two ways of BERT are named as splits are."""
    if isinstance(split, str) and split in CASING:
        return Hints(None, special_tokens, CASING[split])
    return Hints(splits.get(split) if isinstance(split, str) else split, special_tokens)


def find(path: str | os.PathLike[str]) -> tuple[Format, Path]:
    """The format of a file or folder, and the file to read."""
    return _find(Path(path), None)


def read_encoding(
    name: str,
    *,
    split: SplitSpec | str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    fetch: bool = False,
) -> TokenizerSpec:
    """A published encoding by name, from a cache folder of this machine; with `fetch=True` downloaded.

    split, special_tokens: instead of the encoding's own.
    Raises `UnknownEncodingError` (with what to do) for an unknown name or a file that cannot be had.
    """
    encoding = get(name)
    given = splits.get(split or encoding.split) if not isinstance(split, SplitSpec) else split
    hints = Hints(given, encoding.special_tokens if special_tokens is None else special_tokens)
    return rank_files.parse(rank_file(name, fetch=fetch), Path(f"{name}.tiktoken"), hints)


def write(
    spec: TokenizerSpec,
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002 - the public name of the option
) -> None:
    """Save a tokenizer, whole or not at all; the format by name, else by the path's suffix.

    `….syllabary.json` is ours, `….tiktoken` a rank file, any other `….json` Hugging Face's.
    Raises `FormatError` for an unknown format, a file too large to be read, and naming what the format cannot
    hold; `OSError`.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path is {path!r}: give str or PathLike")
    target = Path(path)
    with uncollected():
        files = format_of(target, format).files(spec, target)
    for file, data in files.items():
        if len(data) > MAX_BYTES:
            raise FormatError(
                f"{file}: would have {len(data)} bytes, and no tokenizer file of more than {MAX_BYTES} is "
                "read: its tokens are too long; train with a split, a max_token_length or a smaller size"
            )
    write_files(files)


def format_of(
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002 - the public name of the option
) -> Format:
    """The format that `write` would write; `FormatError` for an unknown one, and one that is read only.

    >>> format_of("a/latin.syllabary.json").name, format_of("latin.json").name
    ('syllabary', 'huggingface')
    """
    chosen = _by_suffix(Path(path)) if format is None else Format.named(format)
    if not chosen.writes:
        raise FormatError(f"the format {chosen.name} is read only; write one of {_writable()}")
    return chosen


def refusal(
    format: str,  # noqa: A002 - the public name of the option
    *,
    unit: Unit = "byte",
    fallback: bool = False,
    end_of_word: str | None = None,
    alphabet: Alphabet = "all",
    model: str = "bpe",
    split: SplitSpec | None = None,
) -> str | None:
    """Why a format cannot hold any tokenizer trained with these options, or `None`: known before training.

    Other reasons may come up in `write`, which knows the tokens.

    >>> refusal("tiktoken", unit="char").partition(";")[0]
    "tiktoken cannot hold tokens of the unit 'char', only bytes"
    >>> refusal("tiktoken") is None
    True
    """
    chosen = Format.named(format)
    try:
        chosen.check_model(model)
    except FormatError as refused:
        return str(refused)
    error = chosen.refuses(Facts(unit, fallback, end_of_word, alphabet, model, split))
    return None if error is None else str(error)


def needs_hints(format: str) -> bool:  # noqa: A002 - the public name of the option
    """Whether files of a format may need `split=` and `special_tokens=` to be read.

    >>> needs_hints("tiktoken"), needs_hints("huggingface")
    (True, False)
    """
    return Format.named(format).hinted


def sniffed(path: Path, head: bytes) -> str | None:
    """The name of the first format that takes a file for its own, by its path and first bytes."""
    return next((signs.name for signs in SIGNS.values() if signs.sniff(path, head)), None)


def leaves_open(path: str | os.PathLike[str]) -> bool:
    """Whether `path` is a file or folder there, of a format that may need `split=`."""
    return os.path.exists(path) and _find(Path(path), None)[0].hinted


def _by_suffix(path: Path) -> Format:
    """The format with the longest suffix that the name ends in: `vocab.json` is not `.json`."""
    found = [
        (len(suffix), name)
        for name, signs in SIGNS.items()
        for suffix in signs.suffixes
        if path.name.endswith(suffix)
    ]
    if not found:
        raise FormatError(
            f"{path}: the suffix says no format; end the name in, or give format=, one of {_writable()}"
        )
    return Format.named(max(found, key=lambda pair: pair[0])[1])


def _writable() -> str:
    forms = [form for form in map(Format.named, SIGNS) if form.writes]
    return ", ".join(f"{form.name} ({', '.join(form.suffixes)})" for form in forms)


def _find(path: Path, wanted: Format | None) -> tuple[Format, Path]:
    """The format of a path, and the file to read: in a folder, the one that the first format finds there."""
    if path.is_dir():
        return _in_folder(path, wanted)
    if path.is_fifo():  # of which nothing would be left after a look at its beginning
        raise FormatError(
            f"{path}: is a pipe, not a file, and is read more than once: save it to a file first"
        )
    if wanted is not None:
        return wanted, path
    head = read_head(path)
    if what := strangers.mark(head):
        raise FormatError(f"{path}: {what}")
    if (name := sniffed(path, head)) is not None:
        return Format.named(name), path
    if of_integers(head):
        raise FormatError(f"{path}: a tokenizer of integers: open it with syllabary.IdTokenizer.load")
    if what := strangers.stranger(head):
        raise FormatError(f"{path}: {what}")
    raise FormatError(
        f"{path}: of no known format ({', '.join(names())}); if it is one, name it with format="
    )


def _in_folder(folder: Path, wanted: Format | None) -> tuple[Format, Path]:
    for signs in SIGNS.values() if wanted is None else (wanted.signs,):
        files = sorted({file for glob in signs.in_folder for file in folder.glob(glob) if file.is_file()})
        found = [file for file in files if wanted is not None or signs.sniff(file, read_head(file))]
        if len(found) == 1:
            return Format.named(signs.name), found[0]
        if found:
            listed = ", ".join(file.name for file in found[:5])
            raise FormatError(f"{folder}: the folder holds several tokenizers ({listed}); name the file")
    raise FormatError(
        f"{folder}: the folder holds no tokenizer file of a known format ({', '.join(names())})"
    )
