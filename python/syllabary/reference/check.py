"""What a vocabulary may not be: checks on a finished `TokenizerSpec`, whoever made it.

Adds `check_spec`, for tokenizers read from files as for trained ones. Leaves out: training options
(`assemble.check_options`).
"""

from __future__ import annotations

from typing import get_args

from syllabary.errors import VocabularyError
from syllabary.reference.assemble import check_special_tokens
from syllabary.spec import TokenizerSpec, Unit


def token_bytes(spec: TokenizerSpec) -> dict[int, bytes]:
    """id -> bytes of every token, special and added ones by the UTF-8 of their text."""
    return {
        **spec.tokens,
        **{
            token_id: text.encode() for text, token_id in {**spec.special_tokens, **spec.added_tokens}.items()
        },
    }


def check_spec(spec: TokenizerSpec) -> None:
    """Raise `VocabularyError` for colliding tokens or ids, and for merges of tokens that do not exist."""
    check_special_tokens([*spec.special_tokens, *spec.added_tokens])
    owners: dict[int, str] = {}
    for text, token_id in [*spec.special_tokens.items(), *spec.added_tokens.items()]:
        if token_id in spec.tokens:
            raise VocabularyError(f"id {token_id} is both {text!r} and the token {spec.tokens[token_id]!r}")
        if token_id in owners:
            raise VocabularyError(f"id {token_id} is both {owners[token_id]!r} and {text!r}")
        owners[token_id] = text
    table = token_bytes(spec)
    if table and min(table) < 0:
        raise VocabularyError(f"id {min(table)} is negative")
    for symbol, token_id in spec.alphabet.items():
        if table.get(token_id) != symbol:
            raise VocabularyError(f"symbol {symbol!r} has id {token_id}, which is {table.get(token_id)!r}")
    check_unit(spec)
    if spec.merges is None:
        check_distinct(spec)
    for rank, (left, right, result) in enumerate(spec.merges or ()):
        for token_id in (left, right, result):
            if not spec.tokens.get(token_id):
                raise VocabularyError(f"merge {rank} names id {token_id}, which is no token, or an empty one")
        if table[left] + table[right] != table[result]:
            raise VocabularyError(
                f"merge {rank} joins {table[left]!r} and {table[right]!r}, "
                f"but its result, id {result}, is {table[result]!r}"
            )


def check_unit(spec: TokenizerSpec) -> None:
    """Raise `VocabularyError` for a unit that does not exist, or that cannot be with the rest."""
    if spec.unit not in get_args(Unit):
        raise VocabularyError(f"unit is {spec.unit!r}, which is none of {', '.join(get_args(Unit))}")
    if spec.merges is None and spec.unit != "byte":
        raise VocabularyError(f'merges=None (rank order by id) needs unit="byte", not {spec.unit!r}')
    if spec.whole_pieces and spec.unit == "word":
        raise VocabularyError(
            'whole_pieces=True needs unit="byte" or "char": a word is a whole piece already'
        )


def check_distinct(spec: TokenizerSpec) -> None:
    """Without a merge list the bytes alone say which token a merge makes: two ids may not share them."""
    ids: dict[bytes, int] = {}
    for token_id, token in spec.tokens.items():
        if token in ids:
            raise VocabularyError(f"ids {ids[token]} and {token_id} are both {token!r}")
        ids[token] = token_id
