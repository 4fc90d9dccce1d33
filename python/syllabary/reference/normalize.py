"""Rewriting a run of text before it is cut: the steps of `TokenizerSpec.normalizer`.

Adds `apply` and the table `NORMALIZERS` of all kinds: those of tokenizers 0.23.3 (its `normalizers/`), with
the same text and the same spans, and `SentencePiece`. Leaves out: their options (`steps`), the Unicode they
mean (`syllabary.unicode.rewriting`), and tokens that are found before or after (`special`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from syllabary.reference.aligned import Aligned, check_length
from syllabary.reference.bytes_to_unicode import BYTE_TO_CHARACTER
from syllabary.reference.charsmap import charsmap
from syllabary.reference.normalize_precompiled import precompiled
from syllabary.reference.normalize_sentencepiece import Rules, sentencepiece
from syllabary.reference.normalize_unicode import compose, decompose
from syllabary.reference.step_match import find
from syllabary.reference.steps import validate_steps
from syllabary.spec import Step
from syllabary.unicode import rewriting

__all__ = ["NORMALIZERS", "apply", "validate_steps"]

Options = Mapping[str, Any]
Normalizer = Callable[[Aligned, Options], Aligned]

# Bert's "Chinese" characters: blocks of Han, as its own code lists them (`normalizers/bert.rs`).
HAN = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
# `normalizers/unicode.rs`, after a table of sentencepiece's: dropped, and made a space.
NMT_DROPPED = frozenset(map(chr, [*range(1, 9), 11, *range(14, 32), 0x7F, 0x8F, 0x9F]))
NMT_SPACES = frozenset("\t\n\f\r\u1680\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd")


def apply(steps: Sequence[Step], text: Aligned, frozen: Collection[str] = ()) -> Aligned:
    """A run of text -> what the steps, in order, make of it.

    frozen: tokens that a step `SentencePiece` leaves as they are (its user-defined symbols).
    Raises `PatternError` where a pattern gives up or matches the empty string, `TextError` where the text
    grows beyond what `aligned.check_length` allows. The steps have been checked (`steps.validate`).

    >>> apply([Step("NFD"), Step("StripAccents")], Aligned.of("né")).text
    'ne'
    """
    before = len(text)
    for step in steps:
        if step.kind == "SentencePiece":
            text = _sentencepiece(text, step.options, frozen)
        else:
            text = NORMALIZERS[step.kind](text, step.options)
        check_length(len(text), before)
    return text


def keep(text: Aligned, kept: Callable[[str], bool]) -> Aligned:
    """Only the characters that pass a test."""
    return pick(text, [at for at, char in enumerate(text.text) if kept(char)])


def pick(text: Aligned, places: Sequence[int]) -> Aligned:
    """Only the characters at these places."""
    return Aligned("".join(text.text[at] for at in places), [text.spans[at] for at in places])


def spell(text: Aligned, spelled: Callable[[str], str]) -> Aligned:
    """Each character replaced by some, which all have its span."""
    parts = [spelled(char) for char in text.text]
    spans = [span for part, span in zip(parts, text.spans, strict=True) for _ in part]
    return Aligned("".join(parts), spans)


def prepend(text: Aligned, front: str) -> Aligned:
    """A text with some characters in front, which have the span of the first one; an empty one stays."""
    if not text.text:
        return text
    check_length(len(text) + len(front), len(text))
    return Aligned(front + text.text, text.spans[:1] * len(front) + text.spans)


def bytes_spelled(char: str) -> str:
    """The bytes of a character, each as GPT-2 writes it."""
    return "".join(BYTE_TO_CHARACTER[byte] for byte in char.encode("utf-8"))


def is_han(char: str) -> bool:
    """Whether Bert puts spaces around a character."""
    return any(low <= ord(char) <= high for low, high in HAN)


def _bert(text: Aligned, options: Options) -> Aligned:
    if options["clean_text"]:
        cleaned, spaces = rewriting.members("cleaned"), rewriting.members("whitespace")
        text = keep(text, lambda char: char not in cleaned)
        text = spell(text, lambda char: " " if char in spaces else char)
    if options["handle_chinese_chars"]:
        text = spell(text, lambda char: f" {char} " if is_han(char) else char)
    strips = options["strip_accents"]
    if options["lowercase"] if strips is None else strips:
        marks = rewriting.members("nonspacing")
        text = keep(text.rewrite(decompose(text.text, False)), lambda char: char not in marks)
    return spell(text, rewriting.lowered) if options["lowercase"] else text


def _strip(text: Aligned, options: Options) -> Aligned:
    spaces = rewriting.members("whitespace")
    kept = [at for at, char in enumerate(text.text) if char not in spaces]
    if not kept and (options["strip_left"] or options["strip_right"]):
        return text.slice(0, 0)
    start = kept[0] if options["strip_left"] else 0
    return text.slice(start, kept[-1] + 1 if options["strip_right"] else len(text))


def _strip_accents(text: Aligned, options: Options) -> Aligned:
    marks = rewriting.members("combining")
    return keep(text, lambda char: char not in marks)


def _nmt(text: Aligned, options: Options) -> Aligned:
    text = keep(text, lambda char: char not in NMT_DROPPED)
    return spell(text, lambda char: " " if char in NMT_SPACES else char)


def _form(compatible: bool, composes: bool) -> Normalizer:
    """One of the four normalization forms."""

    def form(text: Aligned, options: Options) -> Aligned:
        changes = decompose(text.text, compatible)
        return text.rewrite(compose(changes) if composes else changes)

    return form


def replace(text: Aligned, options: Options) -> Aligned:
    """Each match replaced; its new characters have the span of its last one."""
    return text.replace(find(text.text, options["pattern"], options["regex"]), options["content"])


def _sentencepiece(text: Aligned, options: Options, frozen: Collection[str]) -> Aligned:
    told = {name: value for name, value in options.items() if name != "precompiled_charsmap"}
    rules = charsmap(options["precompiled_charsmap"])
    return sentencepiece(text, Rules(charsmap=rules, frozen=frozenset(frozen), **told))


NORMALIZERS: dict[str, Normalizer] = {
    "Bert": _bert,
    "Strip": _strip,
    "StripAccents": _strip_accents,
    "NFC": _form(compatible=False, composes=True),
    "NFD": _form(compatible=False, composes=False),
    "NFKC": _form(compatible=True, composes=True),
    "NFKD": _form(compatible=True, composes=False),
    "Lowercase": lambda text, options: spell(text, rewriting.lowered),
    "Nmt": _nmt,
    "Precompiled": lambda text, options: precompiled(text, charsmap(options["precompiled_charsmap"])),
    "Replace": replace,
    "Prepend": lambda text, options: prepend(text, options["prepend"]),
    "ByteLevel": lambda text, options: spell(text, bytes_spelled),
    "SentencePiece": lambda text, options: _sentencepiece(text, options, ()),
}
