"""Special tokens: text is cut at them before it is split into pieces.

Adds the cut (leftmost, longest) and the caller's policy: raise, allow, text, or a set of names to allow.
Leaves out: what becomes of the runs between (`split`, `tokenizer`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from syllabary.errors import SpecialTokenError, UnknownTokenError

Policy = str | Collection[str]


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of the text: ordinary (`token` is None) or one special token (`token` is its id).

    start: index of its first character in the text.
    """

    text: str
    start: int
    token: int | None = None


def cut(text: str, tokens: Mapping[str, int]) -> Iterator[Run]:
    """Cut `text` at `tokens`: the leftmost match, and of those that start there the longest; no empty runs.

    >>> [(run.text, run.start, run.token) for run in cut("a<s><s>b", {"<s>": 7, "<": 8})]
    [('a', 0, None), ('<s>', 1, 7), ('<s>', 4, 7), ('b', 7, None)]
    """
    start = 0
    if tokens:
        longest_first = sorted(tokens, key=len, reverse=True)
        for match in re.finditer("|".join(map(re.escape, longest_first)), text):
            if start < match.start():
                yield Run(text[start : match.start()], start)
            yield Run(match[0], match.start(), tokens[match[0]])
            start = match.end()
    if start < len(text):
        yield Run(text[start:], start)


def ordinary_runs(text: str, special_tokens: Iterable[str]) -> list[str]:
    """The text between special tokens, for training.

    >>> ordinary_runs("one<s>two<s>", ["<s>"])
    ['one', 'two']
    """
    return [run.text for run in cut(text, dict.fromkeys(special_tokens, 0)) if run.token is None]


def allowed_names(policy: Policy, special_tokens: Collection[str]) -> frozenset[str] | None:
    """The special tokens that may match, or None where all are ordinary text.

    `ValueError` for an unknown policy, `UnknownTokenError` for a name that is no special token.
    """
    if policy == "text":
        return None
    if policy == "raise":
        return frozenset()
    if policy == "allow":
        return frozenset(special_tokens)
    if isinstance(policy, str):
        raise ValueError(
            f'special={policy!r} is not "raise", "allow", "text" or a set of names; meant {{{policy!r}}}?'
        )
    for name in policy:
        if name not in special_tokens:
            raise UnknownTokenError(
                f"special= names {name!r}, which is no special token of this tokenizer: "
                f"it has {', '.join(map(repr, special_tokens)) or 'none'}"
            )
    return frozenset(policy)


def cut_by_policy(
    text: str, special_tokens: Mapping[str, int], added_tokens: Mapping[str, int], policy: Policy
) -> list[Run]:
    """Cut at the added tokens and, as `policy` says, at the special ones.

    All are matched together, so that an added token may be the longer match; a special token found but not
    allowed is a `SpecialTokenError`.

    >>> [run.token for run in cut_by_policy("a<s>", {"<s>": 7}, {}, "allow")]
    [None, 7]
    >>> [run.token for run in cut_by_policy("a<s>", {"<s>": 7}, {}, "text")]
    [None]
    """
    allowed = allowed_names(policy, special_tokens)
    if allowed is None:
        return list(cut(text, added_tokens))
    runs = list(cut(text, {**special_tokens, **added_tokens}))
    for run in runs:
        if run.token is not None and run.text in special_tokens and run.text not in allowed:
            raise SpecialTokenError(
                f"the text holds the special token {run.text!r} at character {run.start}. "
                f'To make it id {run.token}: special="allow", or special={{{run.text!r}}} for this one. '
                'To read it as ordinary text: special="text"'
            )
    return runs
