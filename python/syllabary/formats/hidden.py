"""Ids of a Unigram model that share a name: text becomes the last of them, the others are only decoded.

Hugging Face's trainer makes such vocabularies: special tokens that stand in the text are learned once more.
Here the others are `TokenizerSpec.unused`. Adds which ids these are, and the error of a format in which each
name stands once. Leaves out: reading and writing them (`hf_unigram`).
"""

from __future__ import annotations

from collections.abc import Mapping

from syllabary.formats.record import cannot_hold
from syllabary.reference.symbols import shown
from syllabary.reference.unigram import names
from syllabary.spec import TokenizerSpec

MOST = 8  # names in a sentence


def hidden_of(named: Mapping[int, str]) -> dict[int, str]:
    """The ids, with their names, that have the name of a later one.

    >>> hidden_of({0: "<unk>", 1: "a", 2: "<unk>"})
    {0: '<unk>'}
    """
    rows = sorted(named.items())
    last = {name: token_id for token_id, name in rows}
    if len(last) == len(rows):
        return {}
    return {token_id: name for token_id, name in rows if last[name] != token_id}


def hidden(spec: TokenizerSpec) -> dict[int, str]:
    """The ids of a Unigram model that are never made, with their names, which later ids with a score have."""
    if spec.model != "unigram" or not spec.unused:
        return {}
    texts = {**spec.special_tokens, **spec.added_tokens}
    listed = {**names(spec), **{token_id: text for text, token_id in texts.items()}}
    scored = {token_id: name for token_id, name in listed.items() if token_id in (spec.scores or {})}
    return {token_id: name for token_id, name in hidden_of(scored).items() if token_id in spec.unused}


def refuse_hidden(spec: TokenizerSpec, format_name: str) -> None:
    """Raise `FormatError` that names such ids, if there are any."""
    names = [*dict.fromkeys(hidden(spec).values())]
    if not names:
        return
    listed, more = ", ".join(map(shown, names[:MOST])), len(names) - MOST
    if len(names) == 1:
        fault = f"{listed} as the name of several ids, of which text becomes the last"
    else:
        many = f" and {more} more" if more > 0 else ""
        fault = f"{listed}{many}, each as the name of several ids, of which text becomes the last"
    raise cannot_hold(format_name, fault)
