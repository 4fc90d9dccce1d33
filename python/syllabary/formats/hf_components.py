"""The components of Hugging Face's `tokenizer.json` and our steps, both ways: one table for each place.

Adds every normalizer, pre-tokenizer and decoder of tokenizers 0.23.3, with the older spellings that it still
takes (a component without `type`, Metaspace's `add_prefix_space`), sequences unfolded. Source:
`normalizers/mod.rs`, `pre_tokenizers/mod.rs`, `decoders/mod.rs` and the files beside them.
Leaves out: which steps become a split or the unit of bytes (`hf_split`), what steps do (`reference`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from syllabary.errors import PatternError
from syllabary.formats.hf_pattern import check_portable, is_alike, portable
from syllabary.formats.hf_values import READ, WRITE
from syllabary.formats.patterns import check_runs
from syllabary.formats.record import cannot_hold
from syllabary.formats.strict_json import Json
from syllabary.reference.symbols import shown
from syllabary.spec import Step, StepValue

Component: TypeAlias = "dict[str, object]"

NAME = "tokenizer.json"
MAX_NESTED = 100  # sequences in sequences; tokenizers reads 62, and what is carried along must be saved


class Needed:
    """Marks an option without a default."""


@dataclass(frozen=True, slots=True)
class Option:
    """A member of a component.

    kind: a key of `READ`. default: its value where it is left out. kept: whether it is an option of the
    step; one that is not is checked and passed over. written: what is written for one that is not kept.
    """

    name: str
    kind: str = "bool"
    default: object = Needed
    kept: bool = True
    written: object = None


@dataclass(frozen=True, slots=True)
class Kind:
    """A component: the step that it is, its options in the order of their file, and how it may be named.

    other_names: what else its `type` may say. untyped: whether it may have no `type`.
    """

    step: str
    options: tuple[Option, ...] = ()
    other_names: tuple[str, ...] = ()
    untyped: bool = False


PATTERN = Option("pattern", "pattern")
METASPACE = Kind(
    "Metaspace",
    (
        Option("replacement", "char"),
        Option("prepend_scheme", "scheme", "always"),
        Option("split", "maybe", True),
        Option("add_prefix_space", "maybe", None, kept=False),
        Option("str_rep", "text", "", kept=False),
    ),
)
REPLACE = Kind("Replace", (PATTERN, Option("content", "text")), untyped=True)
NORMALIZERS: dict[str, Kind] = {
    "BertNormalizer": Kind(
        "Bert",
        (
            Option("clean_text"),
            Option("handle_chinese_chars"),
            Option("strip_accents", "maybe", None),
            Option("lowercase"),
        ),
        other_names=("Bert",),
        untyped=True,
    ),
    "Strip": Kind("Strip", (Option("strip_left"), Option("strip_right")), untyped=True),
    **{name: Kind(name) for name in ("StripAccents", "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Nmt")},
    "Precompiled": Kind("Precompiled", (Option("precompiled_charsmap", "blob"),), untyped=True),
    "Replace": REPLACE,
    "Prepend": Kind("Prepend", (Option("prepend", "text"),), untyped=True),
    "ByteLevel": Kind("ByteLevel"),
}
PRE_TOKENIZERS: dict[str, Kind] = {
    "BertPreTokenizer": Kind("BertPreTokenizer"),
    "ByteLevel": Kind(
        "ByteLevel",
        (
            Option("add_prefix_space"),
            Option("trim_offsets", kept=False, written=True),
            Option("use_regex", default=True),
        ),
    ),
    "CharDelimiterSplit": Kind("CharDelimiterSplit", (Option("delimiter", "char"),)),
    "Metaspace": METASPACE,
    "Whitespace": Kind("Whitespace"),
    "Split": Kind("Split", (PATTERN, Option("behavior", "behavior"), Option("invert"))),
    "Punctuation": Kind("Punctuation", (Option("behavior", "behavior", "isolated"),)),
    "WhitespaceSplit": Kind("WhitespaceSplit"),
    "Digits": Kind("Digits", (Option("individual_digits"),)),
    "UnicodeScripts": Kind("UnicodeScripts"),
    "FixedLength": Kind("FixedLength", (Option("length", "length", 5),)),
}
DECODERS: dict[str, Kind] = {
    "BPEDecoder": Kind("BPEDecoder", (Option("suffix", "text"),), untyped=True),
    "ByteLevel": Kind(
        "ByteLevel",
        (
            Option("add_prefix_space", kept=False, written=False),
            Option("trim_offsets", kept=False, written=True),
            Option("use_regex", default=True, kept=False, written=True),
        ),
    ),
    "WordPiece": Kind("WordPiece", (Option("prefix", "text"), Option("cleanup")), untyped=True),
    "Metaspace": METASPACE,
    "CTC": Kind(
        "CTC",
        (Option("pad_token", "text"), Option("word_delimiter_token", "text"), Option("cleanup")),
        untyped=True,
    ),
    "Replace": REPLACE,
    "Fuse": Kind("Fuse"),
    "Strip": Kind(
        "Strip", (Option("content", "char"), Option("start", "count"), Option("stop", "count")), untyped=True
    ),
    "ByteFallback": Kind("ByteFallback"),
}


@dataclass(frozen=True, slots=True)
class Place:
    """A place for components: how errors call one, the member of a sequence that lists them, the table."""

    what: str
    members: str
    kinds: Mapping[str, Kind]
    untyped_sequence: bool = False


NORMALIZER = Place("normalizer", "normalizers", NORMALIZERS, untyped_sequence=True)
PRE_TOKENIZER = Place("pre-tokenizer", "pretokenizers", PRE_TOKENIZERS)
DECODER = Place("decoder", "decoders", DECODERS)

# ---- reading ----


def read_steps(component: Json, place: Place, runs: bool = True) -> tuple[Step, ...]:
    """The components of a place in order, sequences unfolded; null is none.

    runs: whether the engine is to run their patterns, and one that it cannot is an error.
    Raises `FormatError` for a component that their library does not know, or an option that it would not
    take.
    """
    found = unfolded(component, place.members, place.untyped_sequence)
    return tuple(_read_one(one, place, runs) for one in found)


def unfolded(component: Json, members: str, untyped_sequence: bool = False) -> Iterator[Json]:
    """Sequences in sequences, without recursion; `FormatError` for more than `MAX_NESTED` in each other."""
    waiting = [] if component.value is None else [(component, 0)]
    while waiting:
        one, depth = waiting.pop()
        found = one.object()
        untyped = untyped_sequence and "type" not in found and members in found
        if untyped or ("type" in found and found["type"].value == "Sequence"):
            if depth == MAX_NESTED:
                raise component.error(f"sequences are nested more than {MAX_NESTED} deep")
            one.object(("type", members))
            waiting += [(part, depth + 1) for part in reversed(list(one.member(members).list()))]
        else:
            yield one


def _read_one(component: Json, place: Place, runs: bool) -> Step:
    kind = kind_of(component, place)[1]
    members = component.object(("type", *(option.name for option in kind.options)))
    options: dict[str, StepValue] = {}
    for option in kind.options:
        if option.name not in members:
            if option.default is Needed:
                raise component.error(f"{option.name!r} is missing")
            value = cast(StepValue, option.default)
        elif option.kind == "pattern":
            options |= _read_pattern(members[option.name], runs)
            continue
        else:
            value = READ[option.kind](members[option.name])
        if option.kept:
            options[option.name] = value
    if kind is METASPACE:
        _check_metaspace(component, options)
    return Step(kind.step, options)


def kind_of(component: Json, place: Place) -> tuple[str, Kind]:
    """What a component is, with or without a `type`; `FormatError` where it is none that there is."""
    members = component.object()
    if "type" in members:
        name = members["type"].string()
        for known, kind in place.kinds.items():
            if name == known or name in kind.other_names:
                return known, kind
        raise members["type"].error(
            f"unknown {place.what} {name!r}; known are {', '.join([*place.kinds, 'Sequence'])}"
        )
    for known, kind in place.kinds.items():
        needed = {option.name for option in kind.options if option.default is Needed}
        if kind.untyped and needed and needed <= members.keys():
            return known, kind
    raise component.error("'type' is missing")


def _read_pattern(pattern: Json, runs: bool) -> dict[str, StepValue]:
    members = pattern.object(("String", "Regex"))
    if len(members) != 1:
        raise pattern.error('must be {"String": …} or {"Regex": …}')
    ((kind, value),) = members.items()
    text = value.string()
    if not text:
        raise value.error("an empty pattern matches everywhere")
    if kind == "String":
        return {"pattern": text, "regex": False}
    try:
        written = portable(text)
        if runs and not is_alike(text):
            check_runs(written, "onig")
    except PatternError as error:
        raise value.error(f"this pattern is not supported: {error}") from error
    return {"pattern": written, "regex": True}


def _check_metaspace(component: Json, options: dict[str, StepValue]) -> None:
    """`add_prefix_space` is what `prepend_scheme` was before; they may not contradict each other."""
    if options["split"] is None:
        options["split"] = True
    prefix = component.optional("add_prefix_space")
    if prefix.value is False and options["prepend_scheme"] != "never":
        raise prefix.error("contradicts prepend_scheme, as their library says too")


# ---- writing ----


def write_steps(steps: tuple[Step, ...], place: Place) -> Component | None:
    """The component that does these steps; `FormatError` names a step that the place does not have."""
    written = [_write_one(step, place) for step in steps]
    if len(written) == 1:
        return written[0]
    return {"type": "Sequence", place.members: written} if written else None


def _write_one(step: Step, place: Place) -> Component:
    for name, kind in place.kinds.items():
        if kind.step == step.kind:
            return {"type": name, **_write_options(step, kind, place)}
    raise cannot_hold(NAME, f"the {place.what} {step.kind}")


def _write_options(step: Step, kind: Kind, place: Place) -> Component:
    names = {name for option in kind.options if option.kept for name in _names(option)}
    if names != step.options.keys():
        raise cannot_hold(NAME, f"the {place.what} {step.kind} with the options {sorted(step.options)}")
    written: Component = {}
    for option in kind.options:
        if option.kind == "pattern":
            written["pattern"] = _write_pattern(step)
        elif option.kept:
            value = step.options[option.name]
            written[option.name] = WRITE[option.kind](value) if option.kind in WRITE else value
        elif option.written is not None:
            written[option.name] = option.written
    return written


def _write_pattern(step: Step) -> Component:
    text = cast(str, step.options["pattern"])
    if not step.options["regex"]:
        return {"String": text}
    try:
        check_portable(text)
    except PatternError as error:
        raise cannot_hold(NAME, f"the pattern {shown(text)} of {step.kind}: {error}") from error
    return {"Regex": text}


def _names(option: Option) -> tuple[str, ...]:
    return ("pattern", "regex") if option.kind == "pattern" else (option.name,)
