"""A sentencepiece model whose text is cut into words, as most classes of `transformers` have it.

    normalizer: Prepend ▁, " " -> ▁; one piece    ->    pre-tokenizer: words, each with ▁ in front

Adds `in_words`: ids stay, and word ids and offsets are those of the classes. Done only where the model has no
piece across words, so that it makes no difference. Leaves out: all else about the text (`hf_reduce`).
"""

from __future__ import annotations

from dataclasses import replace

from syllabary.formats.hf_reduce import IN_FRONT, SPACE
from syllabary.spec import Step, StepValue, TokenizerSpec

MARK = SPACE.encode()
ESCAPE: dict[str, StepValue] = {"pattern": " ", "regex": False, "content": SPACE}
AT_END: dict[str, StepValue] = {"pattern": rf"[ {SPACE}]+\z", "regex": True, "content": ""}
CUT = Step("Split", {"pattern": " ", "regex": False, "behavior": "removed", "invert": False})
MARKED = Step("Metaspace", {"replacement": SPACE, "prepend_scheme": "always", "split": True})


def in_words(less: TokenizerSpec, spaces: bool) -> TokenizerSpec:
    """The tokenizer of `hf_reduce`, with words. spaces: whether a word's offsets hold the space before it.

    One with pieces across words, or where a space is no piece or may stand twice, stays as it is.
    """
    kinds = [step.kind for step in less.normalizer]
    squeezed = any(step.options.get("pattern") == " {2,}" for step in less.normalizer)
    across = any(MARK in token[1:] for token in less.tokens.values())
    if less.pretokenizer or "Prepend" not in kinds or not squeezed or across:
        return less
    if MARK not in less.tokens.values():
        return less
    gone = ("Prepend",) if not spaces else ("Prepend", IN_FRONT)
    steps = [
        step
        for step in less.normalizer
        if dict(step.options) != ESCAPE and not {step.kind, step.options.get("pattern")}.intersection(gone)
    ]
    if steps[-1].options.get("pattern") == rf"{SPACE}+\z":
        steps[-1] = Step("Replace", AT_END)
    return replace(less, normalizer=tuple(steps), pretokenizer=(MARKED,) if spaces else (CUT, MARKED))
