"""What a format is: the record that each format module fills in.

Leaves out: the table of formats and the choice among them (`syllabary.formats`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from syllabary.errors import FormatError, PatternError, SyllabaryError, VocabularyError
from syllabary.formats.loss import Loss
from syllabary.formats.signs import SIGNS, Signs
from syllabary.reference.check import check_spec
from syllabary.spec import Alphabet, SplitSpec, TokenizerSpec, Unit

KEEPS_ALL = "save as .syllabary.json, which holds everything"  # the usual way out
CONVERTS = "convert it, which says all that is lost, or save as .syllabary.json"  # where that can be done

CASING = {"bert-cased": False, "bert-uncased": True}  # `split=` of BERT's vocabulary -> `Hints.lower_case`


@dataclass(frozen=True, slots=True)
class Hints:
    """What a caller knows beside the file: needed by formats that do not say it, an error for the others.

    lower_case: whether BERT's normalizer puts text into lower case (`bert_vocab`).
    """

    split: SplitSpec | None = None
    special_tokens: Mapping[str, int] | None = None
    lower_case: bool | None = None

    def refuse(self, path: Path, name: str) -> None:
        """For a format that says split and special tokens itself."""
        given = [key for key in ("split", "special_tokens") if getattr(self, key) is not None]
        given += ["split"] if self.lower_case is not None else []
        if given:
            raise FormatError(
                f"{path}: {name} says its split and special tokens itself; leave out {' and '.join(given)}"
            )


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a tokenizer before it is trained, and enough to refuse some formats at once."""

    unit: Unit = "byte"
    fallback: bool = False
    end_of_word: str | None = None
    alphabet: Alphabet = "all"
    model: str = "bpe"
    split: SplitSpec | None = None


@dataclass(frozen=True, slots=True)
class Format:
    """A file format of tokenizers.

    signs: its name, and how its files are told from others.
    read: `FormatError` for whatever is not a whole and consistent file of this format.
    write: the bytes of the file; `FormatError` that names what the format cannot hold. `None`: read only.
    refuses: the error for a tokenizer of which these facts alone say that it cannot be held, or `None`.
    write_files: instead of `write`, for a format of several files: the path asked for (a folder, or one of
        the files) -> every file and its bytes.
    hinted: whether its files may leave open the split and the special tokens (`Hints`).
    unsaid: whether what `files` gives always leaves them open, unless it is a published encoding's.
    unlisted: whether special tokens then have no place in it at all.
    reduce: the nearest tokenizer that the format can hold, and what was lost, one sentence a loss, which
        says whether ids can change, as its `ids` do. What cannot be left out without becoming another
        tokenizer stays, and `write` refuses it.
    models: those of `TokenizerSpec.model` that it can hold.
    """

    signs: Signs
    read: Callable[[Path, Hints], TokenizerSpec]
    write: Callable[[TokenizerSpec], bytes] | None
    refuses: Callable[[Facts], FormatError | None] = lambda _facts: None
    write_files: Callable[[TokenizerSpec, Path], dict[Path, bytes]] | None = None
    hinted: bool = False
    unsaid: bool = False
    unlisted: bool = False
    reduce: Callable[[TokenizerSpec], tuple[TokenizerSpec, tuple[Loss, ...]]] = lambda spec: (spec, ())
    models: tuple[str, ...] = ("bpe",)

    @staticmethod
    def named(name: str) -> Format:
        """The format of this name, whose module is loaded now; `FormatError` if there is none."""
        if name not in [*SIGNS]:  # what has no hash is none either
            raise FormatError(f"no format is named {name!r}; known are {', '.join(SIGNS)}")
        found: Format = import_module(f"syllabary.formats.{SIGNS[name].module}").FORMAT
        return found

    @property
    def name(self) -> str:
        """What it is called in `format=`."""
        return self.signs.name

    @property
    def suffixes(self) -> tuple[str, ...]:
        """How the names of its files end."""
        return self.signs.suffixes

    @property
    def sniff(self) -> Callable[[Path, bytes], bool]:
        """Whether a file is of this format, by its path and first bytes."""
        return self.signs.sniff

    @property
    def writes(self) -> bool:
        """Whether files of it can be written."""
        return self.write is not None or self.write_files is not None

    def files(self, spec: TokenizerSpec, path: Path) -> dict[Path, bytes]:
        """Every file of the tokenizer and its bytes; `FormatError` that names what the format cannot hold.

        Where `reduce` makes one of it that can be held, the error says so.
        """
        try:
            return self.files_at_once(spec, path)
        except FormatError as error:
            if not self._converts(spec, path):
                raise
            raise FormatError(str(error).replace(KEEPS_ALL, CONVERTS)) from error

    def _converts(self, spec: TokenizerSpec, path: Path) -> bool:
        """Whether what is left of a tokenizer, with losses that are named, can be held."""
        try:
            less, losses = self.reduce(spec)
            return bool(losses and self.files_at_once(less, path))
        except SyllabaryError:
            return False

    def files_at_once(self, spec: TokenizerSpec, path: Path) -> dict[Path, bytes]:
        """The same, with no look at what could be held instead."""
        self.check_model(spec.model)
        if self.write_files is not None:
            return self.write_files(spec, path)
        if self.write is not None:
            return {path: self.write(spec)}
        raise FormatError(f"the format {self.name} is read only")

    def check_model(self, model: str) -> None:
        """Raise `FormatError` for a model that it has no words for."""
        if model not in self.models:
            raise cannot_hold(self.name, f"the model {model!r}, only {', '.join(self.models)}")


def checked(spec: TokenizerSpec, path: Path) -> TokenizerSpec:
    """The tokenizer just read, if its ids, tokens, merges and steps are a tokenizer's; else `FormatError`."""
    try:
        check_spec(spec)
    except (VocabularyError, PatternError) as error:  # of a step; a split is the format's to check, or given
        raise FormatError(f"{path}: {error}") from error
    return spec


def cannot_hold(name: str, what: str, way_out: str = KEEPS_ALL) -> FormatError:
    """The exception for a tokenizer that a format has no words for."""
    return FormatError(f"{name} cannot hold {what}; {way_out}")
