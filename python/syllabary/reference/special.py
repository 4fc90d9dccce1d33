"""Special tokens: text is cut at them before it is split into pieces.

Adds the cut and the caller's policy: raise, allow, text, or a set of names to allow. Leaves out: where a
token is found (`added`), tokens that are looked for later (`pipeline`), and what becomes of the runs between
(`split`, `tokenizer`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from syllabary.errors import SpecialTokenError, UnknownTokenError
from syllabary.reference.added import PLAIN, find
from syllabary.spec import Matching

Policy = str | Collection[str]
NO_FLAGS: Mapping[str, Matching] = {}


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of the text: ordinary (`token` is None) or one special token (`token` is its id).

    start: index of its first character in the text. name: the special token, without white space taken along.
    """

    text: str
    start: int
    token: int | None = None
    name: str | None = None


def cut(text: str, tokens: Mapping[str, int], matching: Mapping[str, Matching] = NO_FLAGS) -> Iterator[Run]:
    """Cut `text` at `tokens`: the leftmost match, and of those that start there the longest; no empty runs.

    >>> [(run.text, run.start, run.token) for run in cut("a<s><s>b", {"<s>": 7, "<": 8})]
    [('a', 0, None), ('<s>', 1, 7), ('<s>', 4, 7), ('b', 7, None)]
    """
    start = 0
    for match in find(text, dict(zip(tokens, tokens, strict=True)), matching):
        if start < match.start:
            yield Run(text[start : match.start], start)
        yield Run(text[match.start : match.end], match.start, tokens[match.name], match.name)
        start = match.end
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
    names: Collection[object] = policy
    for name in names:
        if not isinstance(name, str) or name not in special_tokens:
            raise UnknownTokenError(
                f"special= names {name!r}, which is no special token of this tokenizer: "
                f"it has {', '.join(map(repr, special_tokens)) or 'none'}"
            )
    return frozenset(policy)


def refuse(name: str, token_id: int, at: int) -> SpecialTokenError:
    """What to raise for a special token that is not allowed, found at character `at`."""
    return SpecialTokenError(
        f"the text holds the special token {name!r} at character {at}. "
        f'To make it id {token_id}: special="allow", or special={{{name!r}}} for this one. '
        'To read it as ordinary text: special="text"'
    )


def cut_by_policy(
    text: str,
    special_tokens: Mapping[str, int],
    added_tokens: Mapping[str, int],
    policy: Policy,
    matching: Mapping[str, Matching] = NO_FLAGS,
) -> list[Run]:
    """Cut at the added tokens of the stage `"text"` and, as `policy` says, at the special ones.

    All are matched together, so that an added token may be the longer match; a special token found but not
    allowed is a `SpecialTokenError`.

    >>> [run.token for run in cut_by_policy("a<s>", {"<s>": 7}, {}, "allow")]
    [None, 7]
    >>> [run.token for run in cut_by_policy("a<s>", {"<s>": 7}, {}, "text")]
    [None]
    """
    allowed = allowed_names(policy, special_tokens)
    tokens = dict(added_tokens) if allowed is None else {**special_tokens, **added_tokens}
    tokens = {name: number for name, number in tokens.items() if matching.get(name, PLAIN).stage == "text"}
    runs = list(cut(text, tokens, matching))
    for run in runs:
        if allowed is not None and run.name in special_tokens and run.name not in allowed:
            raise refuse(run.name or "", run.token or 0, run.start)
    return runs
