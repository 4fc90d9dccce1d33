"""The two implementations of steps, with the same methods, and the steps that tests try.

Adds `each`, the parametrization over both, and the tables of steps. Leaves out: the peers (`step_peers`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import pytest
import step_peers
from step_peers import Spanned

from syllabary import _engine
from syllabary.reference import normalize, pretokenize, step_decoders
from syllabary.reference.aligned import Aligned
from syllabary.spec import Step

BEHAVIORS = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
FLAGS = (True, False)


class Implementation(Protocol):
    """What a test asks of either."""

    def normalized(self, steps: Sequence[Step], text: str, frozen: Sequence[str] = ()) -> Spanned: ...

    def parts(self, steps: Sequence[Step], text: str, before: Sequence[Step] = ()) -> Spanned: ...

    def decoded(self, steps: Sequence[Step], tokens: list[str], classes: list[Any] | None = None) -> str: ...


class Engine:
    """The compiled steps."""

    def normalized(self, steps: Sequence[Step], text: str, frozen: Sequence[str] = ()) -> Spanned:
        result, spans = _engine.Normalizer(steps).normalize(text, list(frozen))
        return list(zip(result, spans, strict=True))

    def parts(self, steps: Sequence[Step], text: str, before: Sequence[Step] = ()) -> Spanned:
        return _engine.Pretokenizer(steps).cut(text, _engine.Normalizer(before))

    def decoded(self, steps: Sequence[Step], tokens: list[str], classes: list[Any] | None = None) -> str:
        return _engine.StepDecoder(steps).decode(tokens, classes)

    def __str__(self) -> str:
        return "engine"


class Reference:
    """`syllabary.reference`."""

    def normalized(self, steps: Sequence[Step], text: str, frozen: Sequence[str] = ()) -> Spanned:
        return step_peers.spanned(normalize.apply(steps, Aligned.of(text), frozen))

    def parts(self, steps: Sequence[Step], text: str, before: Sequence[Step] = ()) -> Spanned:
        whole = normalize.apply(before, Aligned.of(text))
        return [(part.text, part.original(0, len(part))) for part in pretokenize.apply(steps, [whole])]

    def decoded(self, steps: Sequence[Step], tokens: list[str], classes: list[Any] | None = None) -> str:
        return step_decoders.decode(steps, tokens, classes)

    def __str__(self) -> str:
        return "reference"


each = pytest.mark.parametrize("made_by", [Engine(), Reference()], ids=str)
engine = Engine()


def options(kind: str, **choices: Iterable[Any]) -> list[Step]:
    """The steps of a kind with every combination of these options."""
    values = itertools.product(*choices.values())
    return [Step(kind, dict(zip(choices, chosen, strict=True))) for chosen in values]


CHARACTERWISE = [
    *(Step(kind) for kind in "NFC NFD NFKC NFKD Lowercase Nmt StripAccents ByteLevel".split()),
    *options("Bert", clean_text=FLAGS, handle_chinese_chars=FLAGS, strip_accents=(None, True, False),
             lowercase=FLAGS),
]  # fmt: skip
NORMALIZERS = [
    *CHARACTERWISE,
    *options("Strip", strip_left=FLAGS, strip_right=FLAGS),
    *options("Prepend", prepend=("▁", "ab")),
    *options("Replace", pattern=(" ", "a", "\u0301"), regex=(False,), content=("", "▁", "é漢")),
    *options("Replace", pattern=(r"\s+", r" {2,}|\p{L}\p{M}+"), regex=(True,), content=("", " ", "é")),
]
CUTTERS = [
    *(Step(kind) for kind in "BertPreTokenizer Whitespace WhitespaceSplit UnicodeScripts".split()),
    *options("ByteLevel", add_prefix_space=FLAGS, use_regex=FLAGS),
    *options("Punctuation", behavior=BEHAVIORS),
    *options("Digits", individual_digits=FLAGS),
]
PRETOKENIZERS = [
    *CUTTERS,
    *options("CharDelimiterSplit", delimiter=("a", "▁", " ")),
    *options("Metaspace", replacement="▁_", prepend_scheme=("always", "first", "never"), split=FLAGS),
    *options("Split", pattern=(" ", "ab"), regex=(False,), behavior=BEHAVIORS, invert=FLAGS),
    *options("Split", pattern=(r"\s+", r"\p{L}+|\p{N}{1,3}", r"[^\r\n\p{L}\p{N}]?\p{L}+|\s+(?!\S)|\s+"),
             regex=(True,), behavior=BEHAVIORS, invert=FLAGS),
    *options("FixedLength", length=(1, 3)),
]  # fmt: skip
DECODERS = [
    *options("BPEDecoder", suffix=("</w>", "a")),
    *options("WordPiece", prefix=("##", "a", ""), cleanup=FLAGS),
    *options("Metaspace", replacement="▁", prepend_scheme=("always", "first", "never"), split=FLAGS),
    *options("CTC", pad_token=("<pad>", "a"), word_delimiter_token=("|", "b"), cleanup=FLAGS),
    *options("Replace", pattern=("▁", "a"), regex=(False,), content=(" ", "")),
    *options("Replace", pattern=(r"a+|\s",), regex=(True,), content=("é",)),
    *options("Strip", content=" ▁", start=(0, 1, 2), stop=(0,)),
    *(Step(kind) for kind in ("Fuse", "ByteFallback", "ByteLevel")),
]


def name(step: Step) -> str:
    return "-".join([step.kind, *(str(value) for value in step.options.values())])
