"""What a format is: the record that each format module fills in.

Leaves out: the table of formats and the choice among them (`syllabary.formats`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from syllabary.errors import FormatError, TextError, VocabularyError
from syllabary.reference.check import check_spec
from syllabary.spec import SplitSpec, TokenizerSpec


@dataclass(frozen=True, slots=True)
class Hints:
    """What a caller knows beside the file: needed by formats that do not say it, an error for the others."""

    split: SplitSpec | None = None
    special_tokens: Mapping[str, int] | None = None

    def refuse(self, path: Path, name: str) -> None:
        """For a format that says split and special tokens itself."""
        given = [key for key in ("split", "special_tokens") if getattr(self, key) is not None]
        if given:
            raise FormatError(
                f"{path}: {name} says its split and special tokens itself; leave out {' and '.join(given)}"
            )


@dataclass(frozen=True, slots=True)
class Format:
    """A file format of tokenizers.

    suffixes: how the names of its files end, for writing and as a hint for reading.
    in_folder: patterns of the names that it has in a folder.
    sniff: whether a file is of this format, by its path and first bytes.
    read: `FormatError` for whatever is not a whole and consistent file of this format.
    write: the bytes of the file; `FormatError` that names what the format cannot hold. `None`: read only.
    """

    name: str
    suffixes: tuple[str, ...]
    in_folder: tuple[str, ...]
    sniff: Callable[[Path, bytes], bool]
    read: Callable[[Path, Hints], TokenizerSpec]
    write: Callable[[TokenizerSpec], bytes] | None


def checked(spec: TokenizerSpec, path: Path) -> TokenizerSpec:
    """The tokenizer just read, if its ids, tokens and merges fit together; else `FormatError`."""
    try:
        check_spec(spec)
    except (VocabularyError, TextError) as error:
        raise FormatError(f"{path}: {error}") from error
    for symbol in spec.alphabet:
        if not _is_symbol(symbol, spec):
            raise FormatError(f"{path}: {symbol!r} in the alphabet is no symbol of the unit {spec.unit!r}")
    return spec


def _is_symbol(symbol: bytes, spec: TokenizerSpec) -> bool:
    if spec.unit == "byte":
        return len(symbol) == 1
    if spec.fallback and len(symbol) == 1:
        return True
    try:
        text = symbol.decode("utf-8")
    except UnicodeDecodeError:
        return False
    mark = spec.end_of_word or ""
    return bool(text) and (spec.unit == "word" or len(text) == 1 or text == mark or text[1:] == mark)


def cannot_hold(
    name: str, what: str, way_out: str = "save as .syllabary.json, which holds everything"
) -> FormatError:
    """The exception for a tokenizer that a format has no words for."""
    return FormatError(f"{name} cannot hold {what}; {way_out}")
