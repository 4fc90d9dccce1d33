"""`tokenizers.trainers`: what learns models, run by our training.

Adds the classes of tokenizers 0.23.3, with their arguments and attributes. Leaves out: how words are counted
(`_words`), and what training does (`syllabary.reference.train_huggingface`, `train_unigram_huggingface`).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from typing import Any, ClassVar

from syllabary.compat.tokenizers import _component as part
from syllabary.compat.tokenizers._added import AddedToken
from syllabary.compat.tokenizers._component import Member
from syllabary.compat.tokenizers._json import dumps
from syllabary.compat.tokenizers._sealed import Sealed
from syllabary.compat.tokenizers._shown import Record, Word, show
from syllabary.compat.tokenizers._words import Words
from syllabary.compat.tokenizers.models import Model
from syllabary.compat.tokenizers.models import told as passed
from syllabary.reference.train_huggingface import BpeTrainerOptions, Learned, last_ranks
from syllabary.reference.train_unigram_huggingface import UnigramTrainerOptions, finish
from syllabary.reference.train_wordlevel import vocabulary
from syllabary.training.huggingface import learn_scored

FORMATS = {"indicatif": "Indicatif", "json": "JsonLines", "silent": "Silent"}


def tokens(given: Iterable[Any]) -> list[dict[str, Any]]:
    """Special tokens that are given."""
    part.instance(given, list)
    found = []
    for one in given:
        if isinstance(one, str):
            found.append(AddedToken(one, special=True).__getstate__())
        elif isinstance(one, AddedToken):
            found.append(
                {**one.__getstate__(), "special": True, "normalized": one._flags.get("normalized", False)}
            )
        else:
            raise TypeError("Special tokens must be a List[Union[str, AddedToken]]")
    return found


def added(state: list[dict[str, Any]]) -> list[AddedToken]:
    """The same as tokens."""
    return [AddedToken(one["content"], **{key: one[key] for key in one if key != "content"}) for one in state]


def firsts(texts: Iterable[str]) -> list[str]:
    """The first characters of texts, none twice."""
    return list(dict.fromkeys(text[0] for text in map(part.text, part.listed(texts)) if text))


def maybe_count(value: Any) -> int | None:
    """A number of things, or `None`."""
    return None if value is None else part.count(value)


def _format(value: Any) -> str:
    """How progress is shown, which here is not."""
    return FORMATS.get(part.text(value), "Indicatif")


class Trainer(Sealed):
    """The base of all trainers."""

    base = "Trainer"
    trains: ClassVar[str] = ""
    inside: ClassVar[str | None] = None  # in whose JSON the members stand
    spells: ClassVar[bool] = True  # whether words of bytes are spelled in GPT-2's characters after counting
    special_tokens: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """From its options, all by name; of others it says that they are passed over."""
        if args:
            raise TypeError(f"{self.kind}.__new__() takes 0 positional arguments but {len(args)} was given")
        known = [str(one.argument) for one in self.members() if one.argument is not None]
        super().__init__(**passed(kwargs, known, "kwargs"))

    def json(self) -> dict[str, object]:
        """As they pickle it."""
        told = {**self.values, "words": {}}
        return {str(self.kind): told if self.inside is None else {self.inside: told}}

    def record(self) -> object:
        """Its options, twice named."""
        told = {name: _shown(name, value) for name, value in self.values.items()}
        inner: object = Record(self.inside_name(), {**told, "words": {}})
        if self.inside is not None:
            inner = Record(str(self.kind), {self.inside: inner})
        return Word(str(self.kind), inner)

    def inside_name(self) -> str:
        """What the options are called."""
        return str(self.kind) if self.inside is None else "BpeTrainer"

    def __repr__(self) -> str:
        """All options."""
        return show(self.record(), short=False)

    def __getstate__(self) -> bytes:
        """Its JSON."""
        return dumps(self.json()).encode()

    def __setstate__(self, state: bytes) -> None:
        """From its JSON."""
        told = json.loads(state)[str(self.kind)]
        told = told if self.inside is None else told[self.inside]
        self.changes = 0
        self.values = {one.name: told[one.name] for one in self.members()}

    def _check_model(self, model: Model) -> None:
        """An `Exception` for another model than it trains."""
        if model.kind != self.trains:
            raise Exception(f"{self.kind} can only train a {self.trains}")

    def _learn(self, words: Words, model: Model) -> None:
        raise NotImplementedError


def _shown(name: str, value: Any) -> object:
    if name == "special_tokens":
        return [Record("AddedToken", one) for one in value]
    return Word(value) if name == "progress_format" else value


def _bpe_options(values: dict[str, Any]) -> BpeTrainerOptions:
    told = {key: value for key, value in values.items() if key not in ("show_progress", "progress_format")}
    told["special_tokens"] = tuple(one["content"] for one in told["special_tokens"])
    told["initial_alphabet"] = tuple(told["initial_alphabet"])
    return BpeTrainerOptions(**told)


def learn_bpe(values: dict[str, Any], words: Words) -> tuple[dict[str, int], list[list[str]]]:
    """The vocabulary and merges that `BpeTrainer` learns."""
    names, _first, merges, counts = words.finish().learn(_bpe_options(values), words.byte_level, None)
    steps = [
        Learned((left, right), new, count)
        for (left, right, new), count in zip(merges.tolist(), counts.tolist(), strict=True)
    ]
    ranked = [[names[left], names[right]] for left, right, _new in last_ranks(steps)]
    return {name: number for number, name in enumerate(names)}, ranked


class BpeTrainer(Trainer):
    """Learns BPE: the most frequent pair first."""

    kind = "BpeTrainer"
    trains = "BPE"
    min_frequency = Member[int](part.count, 0)
    vocab_size = Member[int](part.count, 30000)
    show_progress = Member[bool](part.flag, True)
    progress_format = Member[str](_format, "Indicatif", get=str.lower)
    special_tokens = Member[Any](tokens, [], get=added)
    limit_alphabet = Member["int | None"](maybe_count, None)
    initial_alphabet = Member["list[str]"](firsts, [], get=list)
    continuing_subword_prefix = Member["str | None"](part.maybe_text, None)
    end_of_word_suffix = Member["str | None"](part.maybe_text, None)
    max_token_length = Member["int | None"](maybe_count, None)

    def get_word_count(self) -> int:
        """How many words a trainer has counted that it keeps: none."""
        return 0

    def _learn(self, words: Words, model: Model) -> None:
        model.values["vocab"], model.values["merges"] = learn_bpe(self.values, words)
        for name in ("continuing_subword_prefix", "end_of_word_suffix"):
            model.values[name] = self.values[name]
        model.changes += 1


class WordPieceTrainer(Trainer):
    """Learns WordPiece, as BPE with a prefix."""

    kind = "WordPieceTrainer"
    trains = "WordPiece"
    inside = "bpe_trainer"
    hidden = ("progress_format", "max_token_length")
    min_frequency = Member[int](part.count, 0)
    vocab_size = Member[int](part.count, 30000)
    show_progress = Member[bool](part.flag, True)
    progress_format = Member[str](part.text, "Indicatif", argument=None)
    special_tokens = Member[Any](tokens, [], get=added)
    limit_alphabet = Member["int | None"](maybe_count, None)
    initial_alphabet = Member["list[str]"](firsts, [], get=list)
    continuing_subword_prefix = Member["str | None"](part.maybe_text, "##")
    end_of_word_suffix = Member["str | None"](part.maybe_text, None)
    max_token_length = Member["int | None"](maybe_count, None, argument=None)

    def _learn(self, words: Words, model: Model) -> None:
        model.values["vocab"], _merges = learn_bpe(self.values, words)
        prefix = self.values["continuing_subword_prefix"]
        model.values["continuing_subword_prefix"] = "##" if prefix is None else prefix
        model.changes += 1


class WordLevelTrainer(Trainer):
    """Learns WordLevel: the most frequent words."""

    kind = "WordLevelTrainer"
    trains = "WordLevel"
    min_frequency = Member[int](part.count, 0)
    vocab_size = Member[int](part.count, 30000)
    show_progress = Member[bool](part.flag, True)
    special_tokens = Member[Any](tokens, [], get=added)
    spells = False

    def _learn(self, words: Words, model: Model) -> None:
        least, most = self.values["min_frequency"], self.values["vocab_size"]
        found = words.finish().most_frequent(least, most)
        special = [one["content"] for one in self.values["special_tokens"]]
        model.values["vocab"] = vocabulary(found, vocab_size=most, special_tokens=special)
        model.changes += 1


class UnigramTrainer(Trainer):
    """Learns Unigram, by EM."""

    kind = "UnigramTrainer"
    trains = "Unigram"
    hidden = ("n_sub_iterations", "shrinking_factor", "unk_token", "max_piece_length", "seed_size")
    spells = False
    show_progress = Member[bool](part.flag, True)
    vocab_size = Member[int](part.count, 8000)
    n_sub_iterations = Member[int](part.count, 2)
    shrinking_factor = Member[float](float, 0.75)
    special_tokens = Member[Any](tokens, [], get=added)
    initial_alphabet = Member["list[str]"](firsts, [], get=list)
    unk_token = Member["str | None"](part.maybe_text, None)
    max_piece_length = Member[int](part.count, 16)
    seed_size = Member[int](part.count, 1_000_000)

    def _learn(self, words: Words, model: Model) -> None:
        told = {item.name: self.values[item.name] for item in dataclasses.fields(UnigramTrainerOptions)}
        told["special_tokens"] = tuple(one["content"] for one in told["special_tokens"])
        told["initial_alphabet"] = tuple(told["initial_alphabet"])
        options, engine = UnigramTrainerOptions(**told), words.finish()
        characters = engine.characters()
        if len({*told["initial_alphabet"], *(one for one, _count in characters)}) > options.vocab_size:
            raise Exception("The vocabulary is not large enough to contain all chars")
        learned = learn_scored(engine, options, None) if characters else finish([], [], options)
        model.values["vocab"] = [[text, score] for text, score in learned.vocab]
        model.values["unk_id"], model.values["byte_fallback"] = learned.unknown, False
        model.changes += 1
