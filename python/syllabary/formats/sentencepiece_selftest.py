"""The self-test of a sentencepiece model: samples of text with the pieces that they should become.

sentencepiece used to write samples into its models (field 4, `SelfTestData`) and to check them on loading;
0.2.3 has given that up and passes them over. Adds the check. Leaves out: making samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from syllabary import reference
from syllabary.errors import FormatError, SyllabaryError
from syllabary.formats.protobuf import WireError, fields
from syllabary.formats.sentencepiece_proto import SELF_TEST, Model
from syllabary.reference.symbols import byte_name, shown
from syllabary.spec import TokenizerSpec

SAMPLE, INPUT, EXPECTED = 1, 1, 2  # of SelfTestData, and of its Sample
MAX_CHARACTERS = 20_000  # of all samples: the check runs whenever the file is opened


def check_samples(spec: TokenizerSpec, model: Model, path: Path) -> TokenizerSpec:
    """The tokenizer itself, if every sample comes out as its model says; else `FormatError` names the first.

    After `MAX_CHARACTERS` of text the samples that follow are not run.
    """
    message = model.message(SELF_TEST)
    if not message:
        return spec
    try:
        found = list(samples(message))
    except (WireError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: the self-test of the model is damaged: {error}") from error
    tokenizer, characters = reference.ReferenceTokenizer(spec), 0
    for number, (text, expected) in enumerate(found):
        characters += len(text)
        if characters > MAX_CHARACTERS:
            break
        try:
            ids = tokenizer.encode(text, special="text")
        except SyllabaryError as error:
            raise FormatError(f"{path}: self-test sample {number}, {shown(text)}: {error}") from error
        if not spells(ids, expected, spec):
            pieces = " ".join(spelling(token_id, spec) for token_id in ids)
            raise FormatError(
                f"{path}: self-test sample {number}, {shown(text)}, should become {expected[:200]!r}, "
                f"and becomes {pieces[:200]!r}: the model is damaged, or was made for another version"
            )
    return spec


def samples(message: bytes) -> Iterator[tuple[str, str]]:
    """The samples of a `SelfTestData`: text, and its pieces with a space between."""
    for field in fields(message):
        if field.number == SAMPLE:
            texts = {INPUT: b"", EXPECTED: b""}
            texts |= {part.number: part.bytes_value for part in fields(field.bytes_value) if part.number <= 2}
            yield texts[INPUT].decode("utf-8"), texts[EXPECTED].decode("utf-8")


def spelling(token_id: int, spec: TokenizerSpec) -> str:
    """A token as sentencepiece spells its piece."""
    if token_id in spec.byte_tokens:
        return byte_name(spec.byte_tokens[token_id])
    if token_id in spec.tokens:
        return spec.tokens[token_id].decode()
    named = {**spec.special_tokens, **spec.added_tokens}
    return next(text for text, other in named.items() if other == token_id)


def spells(ids: list[int], expected: str, spec: TokenizerSpec) -> bool:
    """Whether `expected` is the pieces of these ids with a space between; an unknown one is any text.

    >>> from syllabary.spec import SplitSpec
    >>> spec = TokenizerSpec("char", SplitSpec(None), {1: b"a"}, {b"a": 1}, None, {"<unk>": 0}, unknown=0)
    >>> spells([1, 0, 1], "a xyz a", spec), spells([1, 0], "a", spec), spells([1, 1], "a a b", spec)
    (True, False, False)
    """
    at = 0
    for place, token_id in enumerate(ids):
        if place:
            if not expected.startswith(" ", at):
                return False
            at += 1
        if token_id != spec.unknown:
            piece = spelling(token_id, spec)
            if not expected.startswith(piece, at):
                return False
            at += len(piece)
            continue
        if place + 1 < len(ids):
            at = expected.find(" " + spelling(ids[place + 1], spec), at + 1)
        else:
            at = len(expected) if at < len(expected) else -1
        if at < 0:
            return False
    return at == len(expected)
