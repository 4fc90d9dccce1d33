"""tokenizers' own steps as oracles: what does each make of a text, and where was each character?

Adds the peer of every step that tokenizers has, from the same `Step`. Leaves out: sentencepiece's
(`test_steps_sentencepiece.py`).
"""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from tokenizers import PreTokenizedString, Regex, decoders, normalizers, pre_tokenizers
from tokenizers.normalizers import Normalizer
from tokenizers.pre_tokenizers import PreTokenizer

from syllabary.reference.aligned import Aligned
from syllabary.spec import Step

Spanned = list[tuple[str, tuple[int, int]]]
RENAMED = {"Bert": "BertNormalizer"}


def _arguments(step: Step) -> dict[str, Any]:
    """The options of a step as the peer's constructors call them."""
    options = dict(step.options)
    if "regex" in options:
        pattern = options.pop("pattern")
        options["pattern"] = Regex(pattern) if options.pop("regex") else pattern
    if step.kind == "ByteLevel" and options:
        options["trim_offsets"] = False
    return options


def normalizer(steps: Sequence[Step]) -> Normalizer:
    """The peer of some normalizers in a row."""
    made = []
    for step in steps:
        arguments = _arguments(step)
        if step.kind == "Precompiled":
            made.append(normalizers.Precompiled(arguments["precompiled_charsmap"]))
        elif step.kind == "Strip":
            made.append(normalizers.Strip(left=arguments["strip_left"], right=arguments["strip_right"]))
        else:
            made.append(getattr(normalizers, RENAMED.get(step.kind, step.kind))(**arguments))
    return normalizers.Sequence(made)


def pretokenizer(steps: Sequence[Step]) -> PreTokenizer:
    """The peer of some pre-tokenizers in a row."""
    made = [getattr(pre_tokenizers, step.kind)(**_arguments(step)) for step in steps]
    return pre_tokenizers.Sequence(made)


def decoder(steps: Sequence[Step]) -> Any:
    """The peer of some decoders in a row."""
    made = []
    for step in steps:
        arguments = _arguments(step)
        if step.kind == "Strip":
            arguments = {
                "content": arguments["content"],
                "left": arguments["start"],
                "right": arguments["stop"],
            }
        made.append(getattr(decoders, step.kind)(**arguments))
    return decoders.Sequence(made)


def normalized(steps: Sequence[Step], text: str) -> Spanned:
    """Each character that the peer makes of a text, and its span in characters of the text."""
    string = PreTokenizedString(text)
    string.normalize(normalizer(steps).normalize)
    pre_tokenizers.FixedLength(1).pre_tokenize(string)
    return [(part, span) for part, span, _ in string.get_splits("original", "char")]


def parts(steps: Sequence[Step], text: str, before: Sequence[Step] = ()) -> Spanned:
    """The parts that the peer cuts a text into, and their spans in characters of the text.

    before: normalizers that come first.
    """
    string = PreTokenizedString(text)
    string.normalize(normalizer(before).normalize)
    string.split(lambda _, whole: [whole.slice((0, len(whole.normalized)))])
    pretokenizer(steps).pre_tokenize(string)
    return [(part, span) for part, span, _ in string.get_splits("original", "char")]


def spanned(text: Aligned) -> Spanned:
    """Our text as `normalized` gives it."""
    return list(zip(text.text, text.spans, strict=True))


@lru_cache(maxsize=1)
def code_points(prove: bool) -> str:
    """Every scalar value; without `prove`, all of some stretches, one in 3 and one in 499 of others."""
    all_of = ((0, 0x3400), (0xA000, 0xAC00))
    some_of = ((0xF900, 0x12000), (0x1D000, 0x1F800), (0xE0000, 0xE0200))

    def among(point: int, stretches: tuple[tuple[int, int], ...]) -> bool:
        return any(low <= point < high for low, high in stretches)

    return "".join(
        chr(point)
        for point in [*range(0xD800), *range(0xE000, 0x110000)]
        if prove or point % 499 == 0 or among(point, all_of) or (point % 3 == 0 and among(point, some_of))
    )


def chunks(text: str, size: int = 4096) -> list[str]:
    """A text in pieces of so many characters."""
    return [text[at : at + size] for at in range(0, len(text), size)]


@lru_cache(maxsize=16)
def corpus(path: Path, characters: int) -> str:
    """The first characters of a compressed corpus."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return file.read(characters)
