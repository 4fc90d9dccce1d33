"""The kinds of steps and their options, and whether a step can be run.

Adds `validate` and `validate_steps`, which a tokenizer is checked with before anything runs, and the tables
of what each option may be. Leaves out: what steps do (`normalize`, `pretokenize`, `step_decoders`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from syllabary.errors import PatternError, VocabularyError
from syllabary.on_demand import later
from syllabary.reference.charsmap import charsmap
from syllabary.spec import Step

if TYPE_CHECKING:
    from syllabary.reference import pattern as patterns
else:
    later(globals(), patterns="syllabary.reference.pattern")

Stage = Literal["normalizer", "pretokenizer", "decoder"]
# What an option may be: a word of `CHECKS`, or the texts that it is one of.
Kind: TypeAlias = "str | tuple[str, ...]"

BEHAVIOR = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
METASPACE: dict[str, Kind] = {
    "replacement": "character", "prepend_scheme": ("always", "first", "never"), "split": "flag"
}  # fmt: skip
PATTERN: dict[str, Kind] = {"pattern": "pattern", "regex": "flag"}

NORMALIZERS: dict[str, dict[str, Kind]] = {
    "Bert": {
        "clean_text": "flag", "handle_chinese_chars": "flag", "strip_accents": "flag or None",
        "lowercase": "flag",
    },
    "Strip": {"strip_left": "flag", "strip_right": "flag"},
    "StripAccents": {},
    "NFC": {},
    "NFD": {},
    "NFKC": {},
    "NFKD": {},
    "Lowercase": {},
    "Nmt": {},
    "Precompiled": {"precompiled_charsmap": "rules"},
    "Replace": {**PATTERN, "content": "text"},
    "Prepend": {"prepend": "text"},
    "ByteLevel": {},
    "SentencePiece": {
        "precompiled_charsmap": "character map", "add_dummy_prefix": "flag",
        "remove_extra_whitespaces": "flag", "escape_whitespaces": "flag",
        "treat_whitespace_as_suffix": "flag",
    },
}  # fmt: skip
PRETOKENIZERS: dict[str, dict[str, Kind]] = {
    "BertPreTokenizer": {},
    "ByteLevel": {"add_prefix_space": "flag", "use_regex": "flag"},
    "CharDelimiterSplit": {"delimiter": "character"},
    "Metaspace": METASPACE,
    "Whitespace": {},
    "WhitespaceSplit": {},
    "Split": {**PATTERN, "behavior": BEHAVIOR, "invert": "flag"},
    "Punctuation": {"behavior": BEHAVIOR},
    "Digits": {"individual_digits": "flag"},
    "UnicodeScripts": {},
    "FixedLength": {"length": "length"},
}
DECODERS: dict[str, dict[str, Kind]] = {
    "BPEDecoder": {"suffix": "text"},
    "ByteLevel": {},
    "WordPiece": {"prefix": "text", "cleanup": "flag"},
    "Metaspace": METASPACE,
    "CTC": {"pad_token": "text", "word_delimiter_token": "text", "cleanup": "flag"},
    "Replace": {**PATTERN, "content": "text"},
    "Fuse": {},
    "Strip": {"content": "character", "start": "count", "stop": "count"},
    "ByteFallback": {},
    "Join": {"separator": "text"},
    "SentencePiece": {
        "add_dummy_prefix": "flag", "remove_extra_whitespaces": "flag", "treat_whitespace_as_suffix": "flag",
        "unknown_surface": "text", "denormalizer_charsmap": "character map",
    },
}  # fmt: skip
STAGES: dict[Stage, dict[str, dict[str, Kind]]] = {
    "normalizer": NORMALIZERS, "pretokenizer": PRETOKENIZERS, "decoder": DECODERS
}  # fmt: skip
# What is asked for, in words, and the type of it.
CHECKS: dict[str, tuple[str, type]] = {
    "flag": ("True or False", bool),
    "flag or None": ("True, False or None", bool),
    "text": ("str", str),
    "character": ("a str of one character", str),
    "pattern": ("str", str),
    "character map": ("bytes, b'' for none", bytes),
    "rules": ("bytes that are not empty; without rules leave the step out", bytes),
    "count": ("int, 0 or above", int),
    "length": ("int, 1 or above", int),
}


def validate_steps(
    normalizer: Sequence[Step], pretokenizer: Sequence[Step], decoder: Sequence[Step] | None
) -> None:
    """Check the steps of a tokenizer, so that running them cannot fail for what they are.

    Raises `VocabularyError` naming an unknown kind, and an option that is missing, unknown, of a wrong type
    or value, or a damaged character map; `PatternError` for a pattern that is not supported.
    """
    stages: dict[Stage, Sequence[Step]] = {
        "normalizer": normalizer, "pretokenizer": pretokenizer, "decoder": decoder or ()
    }  # fmt: skip
    for stage, steps in stages.items():
        if not isinstance(steps, (tuple, list)):
            raise VocabularyError(f"{stage} is {steps!r}: give a tuple of Step")
        for index, step in enumerate(steps):
            validate(stage, step, f"{stage}[{index}]")


def validate(stage: Stage, step: Step, place: str) -> None:
    """Check one step; `place` is what errors call it. Errors as for `validate_steps`.

    >>> validate("normalizer", Step("Prepend", {"prepend": 3}), "normalizer[0]")
    Traceback (most recent call last):
    syllabary.errors.VocabularyError: normalizer[0] (Prepend): option 'prepend' is 3: give str
    """
    if not isinstance(step, Step):
        raise VocabularyError(f"{place} is {step!r}: give a Step")
    kinds = STAGES[stage]
    name: object = step.kind
    if not isinstance(name, str) or name not in kinds:
        raise VocabularyError(f"{place} is of kind {name!r}, which is none of {', '.join(kinds)}")
    place = f"{place} ({step.kind})"
    if not isinstance(step.options, Mapping):
        raise VocabularyError(f"{place}: options are {step.options!r}: give a Mapping")
    wanted = kinds[step.kind]
    for option in step.options:
        if option not in wanted:
            known = f"it has {', '.join(wanted)}" if wanted else "it has none"
            raise VocabularyError(f"{place}: unknown option {option!r}; {known}")
    for option, kind in wanted.items():
        if option not in step.options:
            raise VocabularyError(f"{place}: option {option!r} is missing; give all of {', '.join(wanted)}")
        _check_option(step.options[option], kind, f"{place}: option {option!r}")
    if step.options.get("regex") is True:
        patterns.to_regex(str(step.options["pattern"]), "onig")
    elif step.options.get("pattern") == "":
        raise PatternError(f"{place}: an empty pattern is found everywhere; give at least one character")


def _check_option(value: object, kind: Kind, place: str) -> None:
    """One value, of the type and in the range of its option."""
    if isinstance(kind, tuple):
        if not isinstance(value, str) or value not in kind:
            raise VocabularyError(f"{place} is {value!r}: give one of {', '.join(kind)}")
        return
    words, wanted = CHECKS[kind]
    if kind == "flag or None" and value is None:
        return
    right = isinstance(value, wanted) and isinstance(value, bool) == (wanted is bool)
    if isinstance(value, str):
        surrogate = next((char for char in value if "\ud800" <= char <= "\udfff"), None)
        if surrogate is not None:
            raise VocabularyError(f"{place}: lone surrogate U+{ord(surrogate):04X} is no text; leave it out")
        right = right and (kind in ("text", "pattern") or len(value) == 1)
    if isinstance(value, int):
        right = right and value >= {"count": 0, "length": 1}.get(kind, 0)
    if kind == "rules" and not value:
        right = False
    if not right:
        raise VocabularyError(f"{place} is {value!r}: give {words}")
    if isinstance(value, bytes) and value:
        try:
            charsmap(value)
        except VocabularyError as error:
            raise VocabularyError(f"{place}: {error}") from error
