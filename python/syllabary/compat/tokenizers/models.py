"""`tokenizers.models`: what makes tokens of words, run by our engine.

Adds the classes of tokenizers 0.23.3, with their arguments and attributes. Leaves out: files of models
(`_model_files`), how the engine is made of one (`_engines`), what models do (`syllabary.reference`).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from syllabary.compat.tokenizers import _component as part
from syllabary.compat.tokenizers import _model_files as files
from syllabary.compat.tokenizers._component import Member
from syllabary.compat.tokenizers._engines import ModelEngine
from syllabary.compat.tokenizers._pretokenized import Token
from syllabary.compat.tokenizers._sealed import Sealed
from syllabary.compat.tokenizers._shown import Record
from syllabary.formats.hf_listed import ListedVocab
from syllabary.formats.hf_unigram import KIND as UNIGRAM
from syllabary.formats.hf_unigram import is_unigram
from syllabary.formats.hf_words import kind_of
from syllabary.formats.strict_json import Json

Vocab = dict[str, int]
OPTIONS = (
    "cache_capacity", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
    "byte_fallback", "ignore_merges",
)  # fmt: skip


class Model(Sealed):
    """The base of all models."""

    base = "Model"
    vocab_changes = 0
    _engine: ModelEngine | None = None

    def __new__(cls, *_args: Any, **_kwargs: Any) -> Any:
        """`Model()` itself is an empty BPE, as it is there."""
        return object.__new__(BPE if cls is Model else cls)

    @classmethod
    def check(cls, value: object) -> None:
        """Models are checked where the engine is made."""
        if not isinstance(value, dict) or not isinstance(value.get("vocab"), (dict, list)):
            raise ValueError("a model needs a 'vocab'")

    @classmethod
    def kind_in(cls, value: Any) -> str:
        """The `type`, or that of an older file, by its members."""
        here = Json(value, "$.model", Path("tokenizer.json"))
        kind = UNIGRAM if is_unigram(here) else kind_of(here)
        if kind not in ("BPE", "WordPiece", "WordLevel", "Unigram"):
            raise ValueError(f"unknown model {kind!r}; known are BPE, WordPiece, WordLevel, Unigram")
        return str(kind)

    # ---- the vocabulary ----

    def _vocab(self) -> Mapping[str, int]:
        vocab: Vocab = self.values["vocab"]
        return vocab

    def _size(self) -> int:
        return len(self._vocab())

    def _names(self) -> dict[int, str]:
        """id -> token, made anew when the model was."""
        known = self.__dict__.get("_named")
        if known is None or known[0] is not self.values["vocab"]:
            known = (self.values["vocab"], self._numbered_names())
            self.__dict__["_named"] = known
        return cast(dict[int, str], known[1])

    def _numbered_names(self) -> dict[int, str]:
        return {number: text for text, number in self._vocab().items()}

    def token_to_id(self, token: str) -> int | None:
        """The id of a token."""
        return self._vocab().get(part.text(token))

    def id_to_token(self, id: int) -> str | None:  # noqa: A002 (their name)
        """The token of an id."""
        return self._names().get(part.token_id(id))

    # ---- what it does ----

    def tokenize(self, sequence: str) -> list[Token]:
        """The tokens of a word; offsets in bytes."""
        return [
            Token(number, text, place) for number, text, place in self._made().tokens(part.text(sequence))
        ]

    def _made(self) -> ModelEngine:
        stamp = self.stamp()
        if self._engine is None or self._engine.stamp != stamp:
            self._engine = ModelEngine(self.described(), stamp)
        return self._engine

    def stamp(self) -> tuple[object, ...]:
        """With its vocabulary, which training replaces."""
        return id(self), self.changes, id(self.values["vocab"])

    def get_trainer(self) -> Any:
        """The trainer of such a model, by default options."""
        from syllabary.compat.tokenizers import trainers

        return getattr(trainers, {"BPE": "BpeTrainer"}.get(str(self.kind), f"{self.kind}Trainer"))()

    def save(self, folder: str, prefix: str | None = None, name: str | None = None) -> list[str]:
        """Write its files into a folder; their paths."""
        return files.save(str(self.kind), self.json(), folder, name if prefix is None else prefix)

    def described(self) -> dict[str, object]:
        """What the engine is made of: its JSON, the vocabulary in any order, merges as the file has them."""
        return super().json()

    def json(self) -> dict[str, object]:
        """As `tokenizer.json` has it, its vocabulary by id."""
        found = super().json()
        vocab = found["vocab"]
        if isinstance(vocab, dict):
            found["vocab"] = dict(sorted(vocab.items(), key=lambda item: item[1]))
        return found

    def record(self) -> object:
        """What `repr` shows."""
        shown = {key: value for key, value in self.json().items() if key != "type"}
        if "merges" in shown:
            shown["merges"] = [tuple(pair) for pair in self.values["merges"]]
        if isinstance(shown["vocab"], list):
            shown["vocab"] = [tuple(pair) for pair in self.values["vocab"]]
        if shown.get("dropout") is not None:
            shown["dropout"] = single(self.values["dropout"])
        return Record(str(self.kind), shown)

    def _clear_cache(self) -> None:
        """Nothing is cached here that could be stale."""

    def _resize_cache(self, capacity: int) -> None:
        """Caches have a size of their own here."""

    def __deepcopy__(self, memo: dict[int, object]) -> Any:
        """Another one with the same content."""
        copy = object.__new__(type(self))
        copy.__setstate__(self.__getstate__())
        return copy


def ids(vocab: Any) -> Vocab:
    """A vocabulary that is given."""
    if not isinstance(vocab, Mapping):
        raise TypeError(f"'{type(vocab).__name__}' object is not an instance of 'dict'")
    return {part.text(token): part.count(number) for token, number in vocab.items()}


def pairs(merges: Any) -> list[list[str]]:
    """Merges that are given."""
    found = [list(one.split(" ")) if isinstance(one, str) else list(one) for one in merges]
    for one in found:
        if len(one) != 2 or not all(isinstance(text, str) for text in one):
            raise TypeError("merges are pairs of str")
    return found


class ListedMerges:
    """The merges of a file, by ids, as long as nobody asks for names."""

    def __init__(self, vocab: ListedVocab) -> None:
        """Of its vocabulary."""
        self.vocab = vocab

    def pairs(self) -> list[list[str]]:
        """Those by name."""
        names = {number: name for name, number in self.vocab.items()}
        return [[names[left], names[right]] for left, right, _made in self.vocab.merges]


def parted(merges: list[Any] | ListedMerges) -> list[Any]:
    """Merges as pairs, which older files write as one string each."""
    if isinstance(merges, ListedMerges):
        return merges.pairs()
    if not merges or not isinstance(merges[0], str):
        return merges
    return [one.split(" ") for one in merges if not one.startswith("#version")]


def single(value: Any) -> float | None:
    """A number of 32 bits, as theirs are."""
    return None if value is None else float(np.float32(math.fsum([value])))


def shortest(value: Any) -> float | None:
    """Such a number by its shortest digits, as the file has it."""
    return None if value is None else float(str(np.float32(math.fsum([value]))))


def told(kwargs: Mapping[str, Any], known: Iterable[str], word: str) -> dict[str, Any]:
    """The options that there are; others are passed over, which is said, as there."""
    found = {}
    for name, value in kwargs.items():
        if name in known:
            found[name] = value
        else:
            print(f"Ignored unknown {word} option {name}")  # noqa: T201 (as theirs does)
    return found


class BPE(Model):
    """Byte-pair encoding. vocab: token -> id, merges: pairs in rank order; both or none."""

    kind = "BPE"
    hidden = ("vocab", "merges")
    dropout = Member["float | None"](shortest, None, get=single)
    unk_token = Member["str | None"](part.maybe_text, None)
    continuing_subword_prefix = Member["str | None"](part.maybe_text, None)
    end_of_word_suffix = Member["str | None"](part.maybe_text, None)
    fuse_unk = Member[bool](part.flag, False)
    byte_fallback = Member[bool](part.flag, False)
    ignore_merges = Member[bool](part.flag, False)
    vocab = Member[Any](ids)
    merges = Member[Any](pairs, get=parted)

    def __init__(self, vocab: Any = None, merges: Any = None, **kwargs: Any) -> None:
        """From a vocabulary and merges, or the paths of their files (deprecated), and options."""
        if (vocab is None) != (merges is None):
            raise ValueError("`vocab` and `merges` must be both specified")
        if isinstance(vocab, str) and isinstance(merges, str):
            _deprecated("BPE")
            vocab, merges = self.read_file(vocab, merges)
        options = told(kwargs, OPTIONS, "kwarg")
        options.pop("cache_capacity", None)
        dropout = options.get("dropout")
        if dropout is not None and not 0 <= dropout <= 1:
            raise Exception("Error while initializing BPE: Dropout should be between 0 and 1, inclusive")
        options = {name: value for name, value in options.items() if value is not None}
        super().__init__(vocab=vocab or {}, merges=merges or [], **options)
        try:
            files.check_merges(self.values)
        except ValueError as error:
            raise Exception(f"Error while initializing BPE: {error}") from error

    def described(self) -> dict[str, object]:
        """The same; `ValueError` for merges of both forms."""
        merges, vocab = self.values["merges"], self.values["vocab"]
        if isinstance(merges, ListedMerges):
            if merges.vocab is vocab and not self.values["continuing_subword_prefix"]:
                return {**super().described(), "merges": vocab.merges}
            merges = self.values["merges"] = merges.pairs()
        if len({*map(type, merges)}) > 1:
            raise ValueError("merges are pairs, or strings with a space, and not both")
        return super().described()

    def json(self) -> dict[str, object]:
        """As `tokenizer.json` has it; what older files write in another way, as theirs does."""
        self.values["merges"] = parted(self.values["merges"])
        return super().json()

    @staticmethod
    def read_file(vocab: str, merges: str) -> tuple[Vocab, list[tuple[str, str]]]:
        """The content of `vocab.json` and `merges.txt`."""
        return files.read_bpe(vocab, merges)

    @classmethod
    def from_file(cls, vocab: str, merges: str, **kwargs: Any) -> BPE:
        """From `vocab.json` and `merges.txt`."""
        return cls(*cls.read_file(vocab, merges), **kwargs)


class WordPiece(Model):
    """BERT's: the longest token that begins a word, and so on."""

    kind = "WordPiece"
    hidden = ("vocab",)
    unk_token = Member[str](part.text, "[UNK]")
    continuing_subword_prefix = Member[str](part.text, "##")
    max_input_chars_per_word = Member[int](part.count, 100)
    vocab = Member[Any](ids)

    def __init__(self, vocab: Any = None, **kwargs: Any) -> None:
        """From a vocabulary, or the path of its file (deprecated), and options."""
        if isinstance(vocab, str):
            _deprecated("WordPiece")
            vocab = self.read_file(vocab)
        known = ("unk_token", "continuing_subword_prefix", "max_input_chars_per_word")
        super().__init__(vocab=vocab or {}, **told(kwargs, known, "kwargs"))

    @staticmethod
    def read_file(vocab: str) -> Vocab:
        """The content of `vocab.txt`."""
        return files.read_lines(vocab)

    @classmethod
    def from_file(cls, vocab: str, **kwargs: Any) -> WordPiece:
        """From `vocab.txt`."""
        return cls(cls.read_file(vocab), **kwargs)


class WordLevel(Model):
    """A word is a token, or unknown."""

    kind = "WordLevel"
    hidden = ("vocab",)
    vocab = Member[Any](ids)
    unk_token = Member[str](part.text, "<unk>")

    def __init__(self, vocab: Any = None, unk_token: str | None = None) -> None:
        """From a vocabulary, or the path of its file (deprecated)."""
        if isinstance(vocab, str):
            _deprecated("WordLevel")
            vocab = self.read_file(vocab)
        super().__init__(vocab or {}, "<unk>" if unk_token is None else unk_token)

    @staticmethod
    def read_file(vocab: str) -> Vocab:
        """The content of `vocab.json`."""
        return files.read_vocab(vocab)

    @classmethod
    def from_file(cls, vocab: str, unk_token: str | None = None) -> WordLevel:
        """From `vocab.json`."""
        return cls(cls.read_file(vocab), unk_token)


def scored(vocab: Any) -> list[list[Any]]:
    """Tokens and their scores."""
    return [[part.text(token), float(score)] for token, score in part.listed(vocab)]


class Unigram(Model):
    """Kudo's: the most probable row of tokens. alpha, nbest_size: to draw one instead; not in files."""

    kind = "Unigram"
    hidden = ("unk_id", "vocab", "byte_fallback")
    own = (*Model.own, "alpha", "nbest_size")
    unk_id = Member["int | None"](lambda value: None if value is None else part.count(value), None)
    vocab = Member[Any](scored)
    byte_fallback = Member[bool](part.flag, False)

    def __init__(
        self,
        vocab: Any = None,
        unk_id: int | None = None,
        byte_fallback: bool | None = None,
        alpha: float | None = None,
        nbest_size: int | None = None,
    ) -> None:
        """From tokens with scores, in order of their ids."""
        given = [["<unk>", 0.0]] if vocab is None else vocab
        first = 0 if vocab is None and unk_id is None else unk_id
        super().__init__(first, given, bool(byte_fallback))
        self.alpha, self.nbest_size = alpha, nbest_size
        if first is not None and first >= len(given):
            problem = "The vocabulary is empty but at least <unk> is needed"
            if given:
                problem = "The `unk_id` is larger than vocabulary size"
            raise Exception(f"Error while loading Unigram: {problem}")

    alpha: float | None = None
    nbest_size: int | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        """`alpha` has 32 bits."""
        if name == "nbest_size" and value is not None:
            value = part.count(value)
        super().__setattr__(name, single(value) if name == "alpha" else value)
        if name in ("alpha", "nbest_size"):
            self.changes += 1

    def _vocab(self) -> Mapping[str, int]:
        known = self.__dict__.get("_numbered")
        if known is None or known[0] is not self.values["vocab"]:
            numbered = {token: number for number, (token, _score) in enumerate(self.values["vocab"])}
            known = (self.values["vocab"], numbered)
            self.__dict__["_numbered"] = known
        return cast(Vocab, known[1])

    def _numbered_names(self) -> dict[int, str]:
        return {number: token for number, (token, _score) in enumerate(self.values["vocab"])}

    def _size(self) -> int:
        return len(self.values["vocab"])

    def _made(self) -> ModelEngine:
        made = super()._made()
        made.alpha, made.nbest = self.alpha, self.nbest_size
        return made


def _deprecated(name: str) -> None:
    warnings.warn(
        f"{name}.__init__ will not create from files anymore, try `{name}.from_file` instead",
        DeprecationWarning,
        stacklevel=3,
    )
