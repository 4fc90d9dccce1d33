r"""Cutting normalized text into parts before `split` does: the steps of `TokenizerSpec.pretokenizer`.

Adds `apply` and the table `PRETOKENIZERS` of all kinds, those of tokenizers 0.23.3 (its `pre_tokenizers/`),
with the same parts and the same spans. Leaves out: their options (`steps`), the Unicode they mean
(`syllabary.unicode.rewriting`; `\p{L}` and its like `syllabary.unicode`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

from syllabary.reference.aligned import Aligned, Span
from syllabary.reference.normalize import bytes_spelled, prepend, spell
from syllabary.reference.step_match import arrange, cover, find, runs
from syllabary.spec import Step
from syllabary.unicode import rewriting

Options = Mapping[str, Any]
Pretokenizer = Callable[[Aligned, Options], list[Aligned]]

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def apply(steps: Sequence[Step], texts: Iterable[Aligned]) -> list[Aligned]:
    """Parts -> the parts that the steps, in order, cut them into; what is empty is dropped.

    Raises `PatternError` where a pattern gives up or matches the empty string. The steps have been checked
    (`steps.validate`).

    >>> [part.text for part in apply([Step("WhitespaceSplit")], [Aligned.of("to  be")])]
    ['to', 'be']
    """
    parts = [text for text in texts if text.text]
    for step in steps:
        cut = PRETOKENIZERS[step.kind]
        parts = [part for text in parts for part in cut(text, step.options) if part.text]
    return parts


def slices(text: Aligned, spans: Iterable[Span]) -> list[Aligned]:
    """The parts of a text that stand at these places."""
    return [text.slice(start, end) for start, end in spans]


def _bert(text: Aligned, options: Options) -> list[Aligned]:
    words = _whitespace_split(text, options)
    return [part for word in words for part in _punctuation(word, {"behavior": "isolated"})]


def _byte_level(text: Aligned, options: Options) -> list[Aligned]:
    if options["add_prefix_space"] and not text.text.startswith(" "):
        text = prepend(text, " ")
    found = find(text.text, GPT2, True) if options["use_regex"] else []
    return [spell(part, bytes_spelled) for part in slices(text, arrange(cover(len(text), found), "isolated"))]


def _char_delimiter_split(text: Aligned, options: Options) -> list[Aligned]:
    return slices(text, arrange(runs(text.text, options["delimiter"]), "removed"))


def _metaspace(text: Aligned, options: Options) -> list[Aligned]:
    """`first` means the start of the original text, whatever stands in front of this part."""
    mark, scheme = options["replacement"], options["prepend_scheme"]
    text = text.replace(find(text.text, " ", False), mark)
    wanted = scheme == "always" or (scheme == "first" and text.spans[0][0] == 0)
    if wanted and not text.text.startswith(mark):
        text = prepend(text, mark)
    if not options["split"]:
        return [text]
    return slices(text, arrange(runs(text.text, mark), "merged_with_next"))


def _whitespace(text: Aligned, options: Options) -> list[Aligned]:
    r"""Runs of `\w`, and runs of what is neither that nor `\s`, as Rust's regex has them."""
    spaces, words = rewriting.members("pattern-space"), rewriting.members("pattern-word")
    parts, at = [], 0
    for kind, group in groupby(text.text, key=lambda char: "word" if char in words else char in spaces):
        length = len(list(group))
        if kind is not True:
            parts.append(text.slice(at, at + length))
        at += length
    return parts


def _whitespace_split(text: Aligned, options: Options) -> list[Aligned]:
    return slices(text, arrange(runs(text.text, rewriting.members("whitespace")), "removed"))


def _split(text: Aligned, options: Options) -> list[Aligned]:
    found = find(text.text, options["pattern"], options["regex"])
    return slices(text, arrange(cover(len(text), found, options["invert"]), options["behavior"]))


def _punctuation(text: Aligned, options: Options) -> list[Aligned]:
    return slices(text, arrange(runs(text.text, rewriting.members("punctuation")), options["behavior"]))


def _digits(text: Aligned, options: Options) -> list[Aligned]:
    behavior = "isolated" if options["individual_digits"] else "contiguous"
    return slices(text, arrange(runs(text.text, rewriting.members("numeric")), behavior))


def _unicode_scripts(text: Aligned, options: Options) -> list[Aligned]:
    """A cut where the script changes; what belongs to none goes with what is before it.

    At the start of a text nothing is before it, and tokenizers drops it: so does this.
    """
    cuts, last = [], None
    for at, char in enumerate(text.text):
        script = rewriting.script(char)
        if script is not None and script != last:
            cuts.append(at)
            last = script
    return slices(text, pairwise([*cuts, len(text)]))


def _fixed_length(text: Aligned, options: Options) -> list[Aligned]:
    length = options["length"]
    return slices(text, [(at, at + length) for at in range(0, len(text), length)])


PRETOKENIZERS: dict[str, Pretokenizer] = {
    "BertPreTokenizer": _bert,
    "ByteLevel": _byte_level,
    "CharDelimiterSplit": _char_delimiter_split,
    "Metaspace": _metaspace,
    "Whitespace": _whitespace,
    "WhitespaceSplit": _whitespace_split,
    "Split": _split,
    "Punctuation": _punctuation,
    "Digits": _digits,
    "UnicodeScripts": _unicode_scripts,
    "FixedLength": _fixed_length,
}
