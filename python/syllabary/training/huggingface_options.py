"""Options of `train(like="huggingface")`: of the trainer, of the model, and the components around the model.

Adds `Setup`, what is trained, and the ways to it: from a call of `train`, from options alone, from the text
of the command line; and `Family`, which options a model has, here those of BPE. Leaves out: training
(`huggingface`), other models (`words`, `unigram`), and what the trainers' options mean
(`reference.train_huggingface`, `train_unigram_huggingface`).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from syllabary.arguments import bounded, integer, is_given, listed, special_names
from syllabary.errors import FormatError, TrainingError
from syllabary.formats.hf_given import PLACES, component
from syllabary.formats.hf_split import Cutting, cutting_of
from syllabary.formats.hf_words import NO_LIMIT
from syllabary.reference.bytes_to_unicode import BYTE_TO_CHARACTER
from syllabary.reference.symbols import utf8
from syllabary.reference.train_huggingface import BpeTrainerOptions
from syllabary.reference.train_huggingface import check_options as check_merging
from syllabary.reference.train_unigram_huggingface import UnigramTrainerOptions
from syllabary.reference.train_unigram_huggingface import check_options as check_unigram
from syllabary.spec import Form, Step

WHERE = Path("options")
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
BYTES_DECODED = BYTE_LEVEL | {"add_prefix_space": True}
ALPHABET = "ByteLevel"  # instead of characters: all those that bytes are spelled with
# The model's options, and what they are where not given.
MODEL: dict[str, object] = {
    "dropout": None, "unk_token": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False
}  # fmt: skip
LONGEST = "max_input_chars_per_word"
FLAGS = ("single_word", "lstrip", "rstrip", "normalized")
TrainerOptions = BpeTrainerOptions | UnigramTrainerOptions
TRAINER = {item.name: item.default for item in dataclasses.fields(BpeTrainerOptions)}
SCORED = {item.name: item.default for item in dataclasses.fields(UnigramTrainerOptions)}
NUMBERS = (
    "vocab_size", "min_frequency", "limit_alphabet", "max_token_length", "n_sub_iterations",
    "max_piece_length", "seed_size",
)  # fmt: skip
SHARES = ("dropout", "shrinking_factor")
# Options of another name than the argument of `train` that says the same.
ARGUMENTS = {"normalizer": "normalize", "max_piece_length": "max_token_length"}
SAME = ("vocab_size", "special_tokens", "max_token_length")  # arguments of `train` that are options too


@dataclasses.dataclass(frozen=True, slots=True)
class Family:
    """Which options there are, and what they are where not given.

    kind: the model's name in the file. tool: how errors call it. trainer, model: options of both. components:
    those of the file around the model. likelihood: as `Setup` has it. scored: whether pieces have scores.
    """

    kind: str
    tool: str
    trainer: Mapping[str, object]
    model: Mapping[str, object]
    components: Mapping[str, object]
    likelihood: bool = False
    scored: bool = False


BPE = Family("BPE", "like='huggingface' and options", TRAINER, MODEL, {"pre_tokenizer": BYTE_LEVEL})
# Nothing is normalized or cut, unless options say so.
UNIGRAM = Family(
    "Unigram", "model='unigram', like='huggingface'", SCORED, {}, {"pre_tokenizer": None}, scored=True
)


@dataclasses.dataclass(frozen=True, slots=True)
class Setup:
    """What is trained. flags: of special tokens, those that are set. components: as their file has them, for
    each of `PLACES`. model: its options, in the order of the file. kind: its name there. likelihood: pairs
    merge by what they gain, else by how often they occur."""

    trainer: TrainerOptions
    flags: Mapping[str, tuple[str, ...]]
    components: Mapping[str, object]
    model: Mapping[str, object]
    kind: str = "BPE"
    likelihood: bool = False

    @property
    def merging(self) -> BpeTrainerOptions:
        """The options of a trainer that merges; for others a `TypeError`."""
        if not isinstance(self.trainer, BpeTrainerOptions):
            raise TypeError(f"the trainer of {self.kind} does not merge")
        return self.trainer

    def cutting(self) -> tuple[tuple[Step, ...], Cutting, bool]:
        """Steps of the normalizer, how text is cut, and whether pieces are bytes (still to be spelled)."""
        before, by_characters, by_bytes = cutting_of(self.components)
        if by_bytes is None or self.kind in ("WordLevel", "Unigram"):  # which learn from what is spelled
            return before, by_characters, False
        return before, by_bytes, True


# ---- options ----


def setup_of_call(
    given: Mapping[str, Any], same: Mapping[str, Any], options: Mapping[str, Any], family: Family = BPE
) -> Setup:
    """The set-up of a call of `train` with `options`. given: the other arguments; `...` is not given.

    same: those of `SAME` and `fallback`, where `None`, `False` and `()` are not given. Raises `TrainingError`
    for an argument that does not go with options, and as `setup_of`.
    """
    told = {name: same[name] for name in SAME if same[name] is not None}
    if not told["special_tokens"]:
        del told["special_tokens"]
    if family.scored and "max_token_length" in told:
        told["max_piece_length"] = told.pop("max_token_length")
    for name, value in {**given, "fallback": same["fallback"] or ...}.items():
        if not is_given(name, value):
            continue
        if name == "normalize" and value in get_args(Form):
            told["normalizer"] = value
        elif name == "min_frequency":
            told[name] = value
        else:
            raise TrainingError(
                f"{name} does not go with {family.tool}: these say it, as "
                "{'pre_tokenizer': 'Whitespace', 'end_of_word_suffix': '</w>'}"
            )
    for name in told.keys() & options.keys():
        argument = ARGUMENTS.get(name, name)
        raise TrainingError(f"options: {name!r} is given as {argument}= too: give one of them")
    return setup_of({**told, **options}, family)


def setup_of(options: Mapping[str, Any], family: Family = BPE) -> Setup:
    """The set-up that options say; what they do not say is as in `BpeTrainer`, `BPE` and the components.

    Without a `pre_tokenizer` it is ByteLevel; without a `decoder` it is ByteLevel if the pre-tokenizer is, or
    ends with it, and none otherwise. Raises `TrainingError` for an option that there is not, or that their
    library would not take; `TypeError` for another type.

    >>> setup = setup_of({"vocab_size": 99, "pre_tokenizer": "Whitespace", "unk_token": "<unk>"})
    >>> setup.trainer.vocab_size, setup.components["pre_tokenizer"], setup.model["unk_token"]
    (99, {'type': 'Whitespace'}, '<unk>')
    """
    known = (*family.trainer, *family.model, *PLACES)
    for name in options:
        if name not in known:
            raise TrainingError(f"options: {name!r} is none of {', '.join(known)}")
    tokens, flags = _special_tokens(options.get("special_tokens", ()))
    told = {name: _trainer_option(name, options[name]) for name in family.trainer if name in options}
    settings: dict[str, Any] = {**family.trainer, **told, "special_tokens": tokens}
    trainer: TrainerOptions
    if family.scored:
        trainer = UnigramTrainerOptions(**settings)
        check_unigram(trainer)
    else:
        trainer = BpeTrainerOptions(**settings)
        check_merging(trainer)
    model = {
        name: _model_option(name, options[name], default) if name in options else default
        for name, default in family.model.items()
    }
    return Setup(trainer, flags, _components(options, family), model, family.kind, family.likelihood)


def _components(options: Mapping[str, Any], family: Family) -> dict[str, object]:
    """For each place the component that it has, or `None`."""
    try:
        made: dict[str, object] = {
            place: component(place, options[place], WHERE) for place in PLACES if place in options
        }
        made = {**family.components, **made}
        *_, by_bytes = cutting_of(made)
    except FormatError as error:
        raise TrainingError(str(error)) from error
    made.setdefault("decoder", BYTES_DECODED if by_bytes is not None else None)
    return {place: made.get(place) for place in PLACES}


def _trainer_option(name: str, value: Any) -> Any:
    default = {**SCORED, **TRAINER}[name]
    if name == "special_tokens":
        return value
    if name == "initial_alphabet":
        is_all = isinstance(value, str) and value == ALPHABET
        return tuple(BYTE_TO_CHARACTER.values() if is_all else listed(name, value, (str,)))
    if value is None and default is None:
        return None
    if name in NUMBERS:
        return bounded(name, value)
    if name in SHARES:
        return _number(name, value)
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}: give str or None")
    return value


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is {value!r}: give a number" + (" or None" if name == "dropout" else ""))
    return float(value)


def _special_tokens(given: Any) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Their texts, and the flags that each has: `{"content": …, "lstrip": True}` is a text with flags."""
    texts, flags = list[str](), dict[str, tuple[str, ...]]()
    for index, token in enumerate(special_names(given, (str, Mapping))):
        if isinstance(token, str):
            texts.append(token)
            continue
        place = f"special_tokens[{index}]"
        for name, value in token.items():
            if name not in ("content", "special", *FLAGS):
                raise TrainingError(f"{place}: {name!r} is none of content, {', '.join(FLAGS)}")
            if not isinstance(value, str if name == "content" else bool):
                raise TypeError(
                    f"{place}: {name} is {value!r}: give {'str' if name == 'content' else 'a bool'}"
                )
        if "content" not in token:
            raise TrainingError(f"{place}: 'content' is missing, the text of the token")
        texts.append(token["content"])
        flags[token["content"]] = tuple(name for name in FLAGS if token.get(name))
    return tuple(texts), flags


def _model_option(name: str, value: Any, default: object) -> object:
    if value is None and default is None:
        return None
    if name == LONGEST:
        number = integer(name, value)
        if not 0 <= number <= NO_LIMIT:
            raise TrainingError(f"{name} is {number}: give a number of characters")
        return number
    if name == "dropout":
        if not 0 <= (share := _number(name, value)) <= 1:
            raise TrainingError(f"dropout is {value}: give a probability, from 0 to 1")
        return share
    kind = str if name == "unk_token" else bool
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {value!r}: give {'str' if kind is str else 'True or False'}")
    if isinstance(value, str):
        utf8(value, name)
    return value


def read_option(name: str, text: str) -> object:
    """The value of an option from text: JSON where it begins as an object, list or string; names as they are.

    What cannot be read stays text: `setup_of` tells of it.

    >>> read_option("limit_alphabet", "30"), read_option("normalizer", '["NFC", "Lowercase"]')
    (30, ['NFC', 'Lowercase'])
    >>> read_option("special_tokens", "<s>,</s>"), read_option("unk_token", "null")
    (('<s>', '</s>'), None)
    """
    if text[:1] in tuple('{["') or (text == "null" and name != "special_tokens"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    if name in (*NUMBERS, LONGEST, *SHARES):
        try:
            return float(text) if name in SHARES else int(text)
        except ValueError:
            return text
    if name in ("special_tokens", "initial_alphabet") and text != ALPHABET:
        return tuple(text.split(","))
    if isinstance(MODEL.get(name), bool):
        return {"true": True, "false": False}.get(text.lower(), text)
    return text


def settings_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """What formats are asked about before training: the unit, a fallback, the mark, the alphabet.

    >>> settings_of({"pre_tokenizer": "Whitespace"})["unit"]
    'char'
    """
    setup = setup_of(options)
    unit = "byte" if setup.cutting()[2] else "char"
    whole = set(BYTE_TO_CHARACTER.values()) <= set(setup.merging.initial_alphabet)
    fallback = bool(setup.model["byte_fallback"])
    alphabet = "all" if whole else "seen"
    mark = setup.merging.end_of_word_suffix or None
    return {"unit": unit, "fallback": fallback, "end_of_word": mark, "alphabet": alphabet}
