"""Normalization rules, compiled as sentencepiece compiles them into its models.

Adds `compiled`, which makes the bytes that `charsmap` reads; `read_rules`, for the files of
`normalization_rule_tsv`; and `rules_of`, the rules that options mean.
Source: sentencepiece 0.2.3, `builder.cc` (`CompileCharsMap`, `LoadCharsMap`). Leaves out: the array itself
(`train_sentencepiece_darts`), where named rules come from (`train_sentencepiece_nfkc`), and taking a model's
rules apart again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from syllabary.errors import TrainingError
from syllabary.files import read_bounded
from syllabary.reference.charsmap import MAX_RULES
from syllabary.reference.symbols import shown, utf8
from syllabary.reference.train_sentencepiece_darts import double_array
from syllabary.reference.train_sentencepiece_nfkc import RULE_NAMES, named_rules
from syllabary.reference.train_sentencepiece_options import SentencePieceOptions

CODE = re.compile(r"(?:U\+)?(?:0x)?([0-9A-Fa-f]{1,6})")


def compiled(rules: Mapping[str, str]) -> bytes:
    """Text -> what it becomes, as bytes: the size of an array, the array, and the results, each once.

    `TrainingError` for a rule without text or effect, for NUL, and where `MAX_RULES` rules begin one another.

    >>> compiled({"ﬁ": "fi", "ﬀ": "ff"})[-6:]
    b'ff\\x00fi\\x00'
    """
    if not rules:
        raise TrainingError("there are no rules: leave the option out")
    for text, result in rules.items():
        if not text or "\0" in text + result:
            raise TrainingError(f"the rule for {shown(text)} is of no use: it is empty or has a NUL")
        if text == result:
            raise TrainingError(f"the rule for {shown(text)} changes nothing: leave it out")
        if sum(text[:length] in rules for length in range(1, len(text) + 1)) >= MAX_RULES:
            raise TrainingError(f"the rule for {shown(text)} begins with {MAX_RULES} others: give fewer")
    places, results = dict[str, int](), bytearray()
    for result in sorted(set(rules.values())):
        places[result] = len(results)
        results += utf8(result, "a rule") + b"\0"
    array = double_array(sorted((utf8(text, "a rule"), places[result]) for text, result in rules.items()))
    return len(array).to_bytes(4, "little") + array + bytes(results)


def read_rules(path: Path) -> dict[str, str]:
    """The rules of a file: a line is the code points of a text, hexadecimal, a tab, and those of its result.

    What follows a second tab is a comment. Raises `TrainingError` with the line for one that is no rule,
    `OSError` if the file cannot be read.
    """
    found = dict[str, str]()
    lines = read_bounded(path).decode("utf-8", "replace").split("\n")
    for number, line in enumerate(lines if lines[-1] else lines[:-1], 1):
        parts = [_characters(part, path, number) for part in line.rstrip("\r").split("\t")[:2]]
        if not parts[0]:
            raise TrainingError(f"{path}: line {number}: the rule has no text")
        found[parts[0]] = parts[1] if len(parts) == 2 else ""
    return found


def _characters(codes: str, path: Path, number: int) -> str:
    """`"66 U+69"` -> `"fi"`."""
    found = [CODE.fullmatch(code) for code in codes.split(" ") if code]
    values = [int(code[1], 16) for code in found if code is not None]
    if len(values) < len(found) or any(value > 0x10FFFF or 0xD800 <= value < 0xE000 for value in values):
        raise TrainingError(f"{path}: line {number}: {shown(codes)} is no list of code points, as: 66 U+69")
    return "".join(map(chr, values))


@lru_cache(maxsize=4)
def _of_name(name: str) -> bytes:
    return compiled(rules) if (rules := named_rules(name)) else b""


def rules_of(options: SentencePieceOptions) -> bytes:
    """The compiled rules of `normalization_rule_tsv`, else those given, else those of the name."""
    if options.normalization_rule_tsv:
        if options.precompiled_charsmap is not None:
            raise TrainingError("give normalization_rule_tsv or precompiled_charsmap, not both")
        return compiled(read_rules(Path(options.normalization_rule_tsv)))
    if options.precompiled_charsmap is not None:
        return options.precompiled_charsmap
    if options.normalization_rule_name not in RULE_NAMES:
        known = ", ".join(RULE_NAMES)
        raise TrainingError(
            f"normalization_rule_name is {options.normalization_rule_name!r}: known are {known}"
        )
    return _of_name(options.normalization_rule_name)


def denormalizer_of(options: SentencePieceOptions) -> bytes:
    """The compiled rules for decoding; `b""` for none."""
    path = options.denormalization_rule_tsv
    return compiled(read_rules(Path(path))) if path else b""
