"""What a vocabulary may not be: checks on a finished `TokenizerSpec`, whoever made it.

Adds `check_spec`, for tokenizers read from files as for trained ones: first that every part is of its type
and every id in its range, so that no code after it need ask; then that the parts fit together. It runs
whenever a tokenizer is opened: each law is tried on all tokens in one built-in call, and the token that
breaks it is looked for only then. Leaves out: the fields that other libraries' tokenizers need
(`check_foreign`), training options (`assemble.check_options`) and what the pattern means (`pattern`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from operator import add, eq
from types import NoneType
from typing import Any, get_args

from syllabary.errors import TextError, VocabularyError
from syllabary.reference.assemble import check_special_tokens
from syllabary.reference.check_foreign import check_foreign, field_types
from syllabary.reference.check_models import check_model
from syllabary.reference.symbols import byte_name, shown, utf8
from syllabary.reference.tokens import ReadTokens
from syllabary.spec import Model, SplitSpec, Tables, TokenizerSpec, Unit

MAX_ID = 2**32 - 2  # ids are u32 in numpy arrays and in the engine; the last one is kept free
# Ids may leave gaps, but tables are as long as the largest: so many for each token, and so many more.
GAP_FACTOR = 16
GAP_MORE = 1_000_000


def token_bytes(spec: TokenizerSpec) -> dict[int, bytes]:
    """id -> bytes of every token: special and added ones by their text, a byte token by its byte."""
    texts = {**spec.special_tokens, **spec.added_tokens}
    named = {token_id: text.encode() for text, token_id in texts.items() if token_id not in spec.byte_tokens}
    return {**spec.tokens, **named}


def check_spec(spec: TokenizerSpec) -> None:
    """Raise `VocabularyError` for parts of the wrong type or range, and for parts that do not fit together.

    Colliding tokens or ids, symbols that the unit does not have, merges of tokens that do not exist.
    """
    check_types(spec)
    check_texts(spec)
    read = spec.tokens if isinstance(spec.tokens, ReadTokens) else None  # the engine has looked at each
    if read is None:
        check_ids(spec.tokens, len(spec.tokens), "tokens")
        check_each(bytes, spec.tokens.values(), spec.tokens, "the token of id")
    named = {"special_tokens": spec.special_tokens, "added_tokens": spec.added_tokens}
    for where, texts in named.items():
        check_ids(texts.values(), len(spec.tokens) + sum(map(len, named.values())), where)
    check_owners(spec)
    check_unit(spec)
    check_foreign(spec)
    check_alphabet(spec)
    check_model(spec)
    if spec.merges is not None:
        made = read is not None and read.merges is spec.merges and spec.continuing_prefix is None
        if not made:
            check_merges(spec.tokens, spec.merges, (spec.continuing_prefix or "").encode())
    elif spec.scores is None and spec.model == "bpe":
        check_distinct({} if read is not None and read.merges is None else spec.tokens)
    elif spec.scores is not None:
        plain = spec.tokens.keys() - spec.byte_tokens.keys()
        if spec.model == "unigram" and not spec.single_precision:  # as Hugging Face's library has it
            plain -= spec.unused
        check_distinct({token_id: spec.tokens[token_id] for token_id in spec.scores if token_id in plain})


# ---- types and ranges ----


def check_types(spec: TokenizerSpec) -> None:
    """Raise `VocabularyError` for a field of another type than the record says, or not among its choices."""
    if not isinstance(spec.split, SplitSpec):
        raise VocabularyError(f"split is {shown(spec.split)}: give a SplitSpec")
    text = (str, NoneType)
    fields: list[tuple[str, object, type | tuple[type, ...]]] = [
        ("split.pattern", spec.split.pattern, text),
        ("split.name", spec.split.name, text),
        ("split.keep_unmatched", spec.split.keep_unmatched, bool),
        ("tokens", spec.tokens, Mapping),
        ("alphabet", spec.alphabet, Mapping),
        ("merges", spec.merges, (tuple, NoneType)),
        ("special_tokens", spec.special_tokens, Mapping),
        ("added_tokens", spec.added_tokens, Mapping),
        ("end_of_word", spec.end_of_word, text),
        ("fallback", spec.fallback, bool),
        ("whole_pieces", spec.whole_pieces, bool),
        ("record", spec.record, Mapping),
        *field_types(spec),
    ]
    for name, value, kind in fields:
        if not isinstance(value, kind):
            names = " or ".join(one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,)))
            raise VocabularyError(f"{name} is {shown(value)}: give {names.replace('NoneType', 'None')}")
    for name, value, choices in (
        ("unit", spec.unit, Unit),
        ("split.tables", spec.split.tables, Tables),
        ("model", spec.model, Model),
    ):
        if value not in get_args(choices):
            raise VocabularyError(
                f"{name} is {shown(value)}, which is none of {', '.join(get_args(choices))}"
            )


def check_texts(spec: TokenizerSpec) -> None:
    """Raise `VocabularyError` for a text that is none, is empty where it must not be, or has no UTF-8."""
    texts = [
        ("split.pattern", spec.split.pattern),
        ("end_of_word", spec.end_of_word),
        ("continuing_prefix", spec.continuing_prefix),
    ]
    for where in ("special_tokens", "added_tokens"):
        check_each(str, getattr(spec, where), range(len(getattr(spec, where))), f"{where}: text")
        texts += [(f"{where}: {ascii(token)[:40]}", token) for token in getattr(spec, where)]
    for where, text in texts:
        try:
            utf8(text or "", where)
        except TextError as error:
            raise VocabularyError(str(error)) from error
    if spec.end_of_word == "":
        raise VocabularyError('end_of_word is empty: give a mark as "</w>", or None')
    if spec.continuing_prefix == "":
        raise VocabularyError('continuing_prefix is empty: give a mark as "##", or None')
    check_special_tokens([*spec.special_tokens, *spec.added_tokens])


def check_each(kind: type, values: Collection[object], names: Iterable[object], what: str) -> None:
    """Raise `VocabularyError` for a value of another type; `names` say which of them it is."""
    if not set(map(type, values)) <= {kind}:
        for name, value in zip(names, values, strict=True):
            if type(value) is not kind:
                raise VocabularyError(f"{what} {name} is {shown(value)}: give {kind.__name__}")


def check_ids(ids: Collection[Any], count: int, where: str) -> None:
    """Raise `VocabularyError` for an id that is no integer, or outside what `count` tokens may have."""
    if not set(map(type, ids)) <= {int}:
        wrong = next(value for value in ids if type(value) is not int)
        raise VocabularyError(f"{where}: id {shown(wrong)} is of type {type(wrong).__name__}: give int")
    if not ids:
        return
    low, high, bound = min(ids), max(ids), GAP_FACTOR * count + GAP_MORE
    if low < 0:
        raise VocabularyError(f"{where}: id {shown(low)} is negative")
    if high > MAX_ID:
        raise VocabularyError(f"{where}: id {shown(high)} is above {MAX_ID}")
    if high >= bound:
        raise VocabularyError(
            f"{where}: id {high} is too far above the number of tokens: {count} may have ids below {bound}"
        )


# ---- what must fit together ----


def check_owners(spec: TokenizerSpec) -> None:
    """Raise `VocabularyError` for an id that two tokens have, unless they are spelled alike."""
    owners: dict[int, str] = {}
    for text, token_id in [*spec.special_tokens.items(), *spec.added_tokens.items()]:
        alike = spec.tokens.get(token_id) == text.encode() or byte_spelling(spec, token_id) == text
        if token_id in spec.tokens and not alike:
            token = shown(spec.tokens[token_id])
            raise VocabularyError(f"id {token_id} is both {shown(text)} and the token {token}")
        if token_id in owners:
            raise VocabularyError(f"id {token_id} is both {shown(owners[token_id])} and {shown(text)}")
        owners[token_id] = text


def byte_spelling(spec: TokenizerSpec, token_id: int) -> str | None:
    """How other libraries spell a byte token; `None` if it is none."""
    value = spec.byte_tokens.get(token_id)
    return byte_name(value) if isinstance(value, int) else None


def check_unit(spec: TokenizerSpec) -> None:
    """Raise `VocabularyError` for a unit that cannot be with the rest."""
    if spec.unit == "id":
        raise VocabularyError('unit="id" is of integers, not of text: see `syllabary.IdTokenizer`')
    if spec.merges is None and spec.scores is None and spec.unit != "byte" and spec.model == "bpe":
        raise VocabularyError(f'merges=None (rank order by id) needs unit="byte", not {spec.unit!r}')
    if spec.whole_pieces and spec.unit == "word":
        raise VocabularyError(
            'whole_pieces=True needs unit="byte" or "char": a word is a whole piece already'
        )
    if spec.fallback and spec.unit == "byte":
        raise VocabularyError('fallback=True needs unit="char" or "word": nothing is smaller than a byte')
    if spec.end_of_word is not None and spec.unit == "word":
        raise VocabularyError(f'end_of_word={shown(spec.end_of_word)} needs unit="char" or "byte"')
    if spec.end_of_word is not None and spec.fallback and len(spec.end_of_word) == 1:
        raise VocabularyError(
            f"end_of_word={spec.end_of_word!r} with fallback must be longer than one character: "
            "alone it could not be told from that character in a text"
        )


def check_alphabet(spec: TokenizerSpec) -> None:
    """Raise `VocabularyError` for a symbol that its id does not spell, or that the unit does not have."""
    tokens = spec.tokens
    check_each(bytes, spec.alphabet, range(len(spec.alphabet)), "alphabet: symbol")
    check_each(int, spec.alphabet.values(), map(shown, spec.alphabet), "alphabet: the id of")
    plain = are_characters(spec)
    for symbol, token_id in spec.alphabet.items():
        if tokens.get(token_id) != symbol:
            token = shown(tokens[token_id]) if token_id in tokens else "no token, or a special one"
            raise VocabularyError(f"symbol {shown(symbol)} has id {token_id}, which is {token}")
        if not (plain or is_symbol(symbol, spec)):
            raise VocabularyError(
                f"symbol {shown(symbol)} in the alphabet is no symbol of the unit {spec.unit!r}"
                + (" with" if spec.fallback else " without")
                + " fallback"
            )


def are_characters(spec: TokenizerSpec) -> bool:
    """Whether all symbols are characters or bytes there may be, at a glance; `False` where it is unsure."""
    if spec.unit != "char":
        return False
    single_bytes = bool(spec.fallback or spec.byte_tokens)
    longer = [symbol for symbol in spec.alphabet if not (single_bytes and len(symbol) == 1)]
    try:
        return {*map(len, map(bytes.decode, longer))} <= {1}
    except UnicodeDecodeError:
        return False


def is_symbol(symbol: bytes, spec: TokenizerSpec) -> bool:
    """Whether pieces can be spelled with it: a byte, a character with marks or without, a piece, a mark."""
    mark = (spec.end_of_word or "").encode()
    if spec.mark_apart and symbol == mark:
        return True
    if spec.unit == "byte":
        return len(symbol.removesuffix(mark)) == 1 or len(symbol) == 1
    if len(symbol) == 1 and (spec.fallback or spec.byte_tokens):
        return True
    try:
        text = symbol.decode("utf-8")
    except UnicodeDecodeError:
        return False
    if spec.unit == "word":
        return bool(text)
    bare = text.removeprefix(spec.continuing_prefix or "")
    return any(form and (len(form) == 1 or spec.end_of_word in (form, form[1:])) for form in (text, bare))


def check_distinct(tokens: Mapping[int, bytes]) -> None:
    """Without a merge list the bytes alone say which token a merge makes: two ids may not share them."""
    if len(set(tokens.values())) == len(tokens):
        return
    ids: dict[bytes, int] = {}
    for token_id, token in tokens.items():
        if token in ids:
            raise VocabularyError(f"ids {ids[token]} and {token_id} are both {shown(token)}")
        ids[token] = token_id


def all_join(tokens: Mapping[int, bytes], merges: tuple[tuple[int, int, int], ...]) -> bool:
    """Whether each merge gives the bytes of its tokens, joined, and none is empty, at a glance.

    >>> all_join({0: b"a", 1: b"b", 2: b"ab"}, ((0, 1, 2),)), all_join({0: b"a", 1: b"b"}, ((0, 0, 1),))
    (True, False)
    """
    known = tokens if isinstance(tokens, dict) else dict(tokens)
    if b"" in known.values():
        return False
    try:
        found = map(known.__getitem__, chain.from_iterable(merges))
        return all(map(eq, map(add, found, found), found))  # of three in a row
    except KeyError:
        return False


def check_merges(
    tokens: Mapping[int, bytes], merges: tuple[tuple[int, int, int], ...], prefix: bytes = b""
) -> None:
    """Raise `VocabularyError` for a merge that is none, of tokens that do not exist, or of other bytes.

    prefix: that of continuing symbols; what a merge makes has the left one's only.
    """
    triples = set(map(type, merges)) <= {tuple} and set(map(len, merges)) <= {3}
    plain = triples and set(map(type, chain.from_iterable(merges))) <= {int}
    if plain and not prefix and all_join(tokens, merges):
        return
    if not plain:
        for rank, merge in enumerate(merges):
            if type(merge) is not tuple or [*map(type, merge)] != [int, int, int]:
                raise VocabularyError(
                    f"merge {rank} is {shown(merge)}: give (left id, right id, id of the result)"
                )
    for rank, (left, right, result) in enumerate(merges):
        first, second = tokens.get(left), tokens.get(right)
        if first and second and first + second.removeprefix(prefix) == tokens.get(result) != first:
            continue
        for token_id in (left, right, result):
            if not tokens.get(token_id):
                raise VocabularyError(f"merge {rank} names id {token_id}, which is no token, or an empty one")
        raise VocabularyError(
            f"merge {rank} joins {shown(first)} and {shown(second)}, "
            f"but its result, id {result}, is {shown(tokens[result])}"
        )
