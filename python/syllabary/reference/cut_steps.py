"""Where the steps of a tokenizer, and its split, treat the two sides of a place as if each stood alone.

Adds `rewrites_apart` for normalizers, `cuts_apart` for pre-tokenizers and `split_apart` for the split: each
is told the text around a place and answers for whatever stands further off. Leaves out: tokens that reach
over the place (`cut_tokens`), and what follows from all answers together (`cuts`).

`"apart"`: a piece ends there. `"glued"`: pieces are those of the two sides, but that the last of the one and
the first of the other may be one piece. `"unsure"`: nothing is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Literal

from syllabary.reference.charsmap import Charsmap, charsmap
from syllabary.reference.normalize_clusters import BREAKS, kind_of
from syllabary.reference.normalize_sentencepiece import SPACE
from syllabary.reference.pattern_joins import holds, joins
from syllabary.reference.pretokenize import GPT2
from syllabary.spec import SplitSpec, Step, Tables
from syllabary.unicode import Ranges, rewriting
from syllabary.unicode import ranges as members_of

Verdict = Literal["apart", "glued", "unsure"]
Options = Mapping[str, Any]

# Splits that never part two letters without case (Lo), nor treat a word of them in another way when it is cut
# between two: each matches them in rows, beside letters of its own, and looks for nothing inside of them.
LETTERS = frozenset(
    ["deepseek-v3", "gpt2", "gpt4", "kimi", "llama3", "nemotron", "o200k", "qwen2", "qwen3.5", "superwords"]
)
# The two characters at a place, and the text before it.
Rule = Callable[[str, str, Options], Verdict]


def either(condition: object, otherwise: Verdict = "glued") -> Verdict:
    """`"apart"` where the condition holds."""
    return "apart" if condition else otherwise


# ---- normalizers ----


def rewrites_apart(step: Step, text: str, at: int, frozen: Collection[str] = (), begins: bool = True) -> bool:
    """Whether a step makes of `text`, and of whatever comes after it, what it makes of the two sides of `at`.

    What it does at the beginning and the end of a text aside (`inner`, `ends_with_space`).
    """
    before, after = text[at - 1], text[at]
    options: Options = step.options
    if step.kind in ("NFC", "NFD", "NFKC", "NFKD"):
        return begins_anew(after, compatible="K" in step.kind)
    if step.kind == "Bert":
        dropped = options["clean_text"] and after in rewriting.members("cleaned")
        return not dropped and begins_anew(after, compatible=False)
    if step.kind == "Replace":
        if not options["regex"]:
            return before + after not in options["pattern"]
        found = joins(options["pattern"], "onig")
        return found is not None and not found.joined(before, after)
    if step.kind == "Precompiled":
        return parts_clusters(before, after)
    if step.kind == "SentencePiece":
        rules = charsmap(options["precompiled_charsmap"])
        if options["treat_whitespace_as_suffix"] or any(before + after in token for token in frozen):
            return False
        return rules is None or not rule_over(rules, text, at, begins)
    return True  # one character at a time


def reads_on(step: Step) -> bool:
    """Whether `rewrites_apart` looks at more of a text than the two characters at the place."""
    return step.kind == "SentencePiece" and charsmap(step.options["precompiled_charsmap"]) is not None


def inner(step: Step) -> Step:
    """A step without what it does at the beginning and the end of a text."""
    if step.kind == "SentencePiece":
        changed = {"add_dummy_prefix": False, "remove_extra_whitespaces": False}
        return replace(step, options={**step.options, **changed})
    if step.kind == "Prepend":
        return replace(step, options={"prepend": ""})
    return (
        replace(step, options={"strip_left": False, "strip_right": False}) if step.kind == "Strip" else step
    )


def ends_with_space(step: Step, text: str) -> bool:
    """Whether a step would treat the end of `text`, the rewritten left side, as the end of a text."""
    if step.kind == "SentencePiece":
        return bool(step.options["remove_extra_whitespaces"]) and text.endswith((" ", SPACE))
    return step.kind == "Strip" and text[-1:] in rewriting.members("whitespace")


def begins_anew(char: str, compatible: bool) -> bool:
    """Whether nothing before a character can be composed or trade places with it."""
    first = rewriting.decomposed(char, compatible)[:1]
    return rewriting.combining_classes().get(first, 0) == 0 and first not in rewriting.right_halves()


def parts_clusters(before: str, after: str) -> bool:
    """Whether a grapheme cluster ends between two characters, whatever stands before them."""
    kinds = kind_of(before), kind_of(after)
    if kinds[0] in BREAKS or kinds[1] in BREAKS:
        return kinds != ("CR", "LF")
    return kinds == ("", "") and rewriting.conjunct_classes().get(after) != "Consonant"


def rule_over(rules: Charsmap, text: str, at: int, begins: bool) -> bool:
    """Whether a rule of a character map may begin before `at` and end after it.

    begins: no text stands before this one, in which a rule could begin.
    """
    size = 0  # bytes before the place
    for start in range(at - 1, -1, -1):
        if rules.begins_with(text[start : start + 2]) and rules.begins(text[start : at + 1].encode()):
            return True
        size += len(text[start].encode())
        if size > rules.longest_rule:
            return False
    return not begins


# ---- pre-tokenizers ----


def cuts_apart(step: Step, before: str, after: str) -> Verdict:
    """What a step of cutting does between two characters."""
    if step.kind in STEPS:
        return STEPS[step.kind](before, after, step.options)
    return "unsure"


def turned(step: Step, before: str, after: str) -> tuple[str, str]:
    """What becomes of two characters that stand together in a part."""
    if step.kind == "Metaspace":
        mark = str(step.options["replacement"])
        return before.replace(" ", mark), after.replace(" ", mark)
    return before, after


def _behavior(before: bool, after: bool, behavior: str) -> Verdict:
    """One character at a time is a delimiter: whether these two are, and what becomes of delimiters."""
    if behavior == "merged_with_previous":
        return either(before)
    if behavior == "merged_with_next":
        return either(after)
    return either(before != after if behavior == "contiguous" else before or after)


def _bert(before: str, after: str, options: Options) -> Verdict:
    cuts = rewriting.members("whitespace") | rewriting.members("punctuation")
    return either(before in cuts or after in cuts)


def _byte_level(before: str, after: str, options: Options) -> Verdict:
    return either(options["use_regex"] and by_pattern(GPT2, "onig", True, before, after) == "apart", "unsure")


def _metaspace(before: str, after: str, options: Options) -> Verdict:
    return either(options["split"] and after in (" ", options["replacement"]))


def _whitespace(before: str, after: str, options: Options) -> Verdict:
    spaces, words = rewriting.members("pattern-space"), rewriting.members("pattern-word")
    return either(before in spaces or after in spaces or (before in words) != (after in words))


def _split(before: str, after: str, options: Options) -> Verdict:
    pattern, behavior = options["pattern"], options["behavior"]
    if len(pattern) == 1 and not options["regex"] and not options["invert"]:
        return _behavior(before == pattern, after == pattern, behavior)
    if behavior not in ("isolated", "removed"):
        return "unsure"
    if options["regex"]:
        return by_pattern(pattern, "onig", True, before, after)
    return "unsure" if before + after in pattern else "glued"


def _scripts(before: str, after: str, options: Options) -> Verdict:
    left, right = rewriting.script(before), rewriting.script(after)
    return "unsure" if left is None or right is None else either(left != right)


def _among(name: str) -> Rule:
    """A cut at every character of a class."""
    chars = rewriting.members(name)
    return lambda before, after, options: either(before in chars or after in chars)


def _punctuation(before: str, after: str, options: Options) -> Verdict:
    signs = rewriting.members("punctuation")
    return _behavior(before in signs, after in signs, options["behavior"])


def _digits(before: str, after: str, options: Options) -> Verdict:
    numbers = rewriting.members("numeric")
    behavior = "isolated" if options["individual_digits"] else "contiguous"
    return _behavior(before in numbers, after in numbers, behavior)


STEPS: dict[str, Rule] = {
    "BertPreTokenizer": _bert,
    "ByteLevel": _byte_level,
    "CharDelimiterSplit": lambda before, after, options: either(options["delimiter"] in (before, after)),
    "Metaspace": _metaspace,
    "Whitespace": _whitespace,
    "WhitespaceSplit": lambda before, after, options: _among("whitespace")(before, after, options),
    "Split": _split,
    "Punctuation": _punctuation,
    "Digits": _digits,
    "UnicodeScripts": _scripts,
}


# ---- the split ----


def split_apart(split: SplitSpec, before: str, after: str) -> Verdict:
    """What the split does between two characters."""
    if split.pattern is None:
        return "glued"
    verdict = by_pattern(split.pattern, split.tables, split.keep_unmatched, before, after)
    if verdict == "unsure" and split.name in LETTERS and is_letter(before) and is_letter(after):
        return "glued"
    return verdict


def group_before(split: SplitSpec, text: str, at: int, begins: bool, row: int | None = None) -> int:
    """How long groups of digits are, if a piece ends at `at` because it is one; else 0.

    begins: `text` begins where text may be cut. row: `row_of_digits`, if that is known.

    >>> from syllabary import splits
    >>> [group_before(splits.get("gpt4"), "of 12345", at, True) for at in (2, 4, 5, 6)]
    [0, 0, 0, 3]
    """
    found = None if split.pattern is None else joins(split.pattern, split.tables)
    return 0 if found is None or not found.ends_group(text, at, begins, row) else found.group_size


def row_of_digits(split: SplitSpec, text: str, at: int) -> int:
    """Where the row of digits before `at` begins that are matched in groups.

    >>> from syllabary import splits
    >>> row_of_digits(splits.get("gpt4"), "of 12345", 6)
    3
    """
    found = None if split.pattern is None else joins(split.pattern, split.tables)
    return at if found is None else found.row(text, at)


def is_grouped(split: SplitSpec, char: str) -> bool:
    """Whether a character is one of those that are matched in groups.

    >>> from syllabary import splits
    >>> is_grouped(splits.get("gpt4"), "7"), is_grouped(splits.get("gpt2"), "7")
    (True, False)
    """
    found = None if split.pattern is None else joins(split.pattern, split.tables)
    return found is not None and found.group is not None and holds(found.group.alone, char)


def by_pattern(pattern: str, tables: Tables, keeps: bool, before: str, after: str) -> Verdict:
    """What a pattern does between two characters; `keeps`: what it does not match is a piece too."""
    found = joins(pattern, tables)
    if found is None or found.joined(before, after) or (keeps and not found.is_sure(before, after)):
        return "unsure"
    return "apart"


def is_letter(char: str) -> bool:
    """Whether a character is a letter without case (Lo)."""
    return not char.isascii() and holds(_letters(), char)


def _letters() -> Ranges:
    return members_of("tiktoken", "Lo")
