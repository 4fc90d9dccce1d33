"""Vocabulary surgery: add, remove and restrict tokens, extend from another; tokens that never come up.

Adds the maps that a model's embedding matrix is remapped with: old id -> new id, and for each new token the
old ids that it is made of (the mean of their rows is the usual first value). A tokenizer is immutable: each
operation gives another one. Leaves out: the matrix itself, and learning new merges (`train`).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syllabary.arguments import integer, listed, ordered
from syllabary.errors import SyllabaryError, UnknownSymbolError, VocabularyError
from syllabary.formats.hidden import hidden
from syllabary.formats.loss import Loss
from syllabary.formats.moved import lost as lost_of
from syllabary.formats.sentencepiece_counts import read_counts
from syllabary.reference.symbols import byte_name, plural, shown
from syllabary.spec import TokenizerSpec
from syllabary.spelling import Speller
from syllabary.tokenizer import Tokenizer
from syllabary.truncation import cut, renumbered

REMOVED = -1
Token = str | bytes | int


@dataclass(frozen=True, slots=True)
class Surgery:
    """A changed tokenizer, and how its ids come from those of the old one.

    tokenizer: the new one.
    new_ids: old id -> new id, shape (largest old id + 1,), int64; -1 for an id that is removed or a gap.
    made_of: new id -> the old ids that its text was encoded as, for every token that is new; none where it
        has a symbol that the old one has no id for.
    losses: what the old one carried of its file and the new one cannot (a template with a token that is
        gone), one sentence each, a str whose `ids` are "same".

    >>> import syllabary
    >>> tok = syllabary.train(["low lower lowest"] * 3, vocab_size=260)
    >>> change = add(tok, ["lowest"])
    >>> new, = change.made_of
    >>> [tok.vocab[old] for old in change.made_of[new]]
    [b'low', b'e', b's', b't']
    """

    tokenizer: Tokenizer
    new_ids: NDArray[np.int64]
    made_of: Mapping[int, tuple[int, ...]]
    losses: tuple[Loss, ...] = ()


def add(tok: Tokenizer, tokens: Iterable[str], *, special: bool = False) -> Surgery:
    """Add tokens that match in text as a whole, with the next free ids.

    special: matched only as the `special=` policy says, else always. Only a special token may be spelled as
        an ordinary one, whose id is then that of the text; few formats hold both.
    Raises `VocabularyError` for a token that is empty or there already.
    """
    _check_tokenizer("tok", tok)
    if isinstance(tokens, Mapping):
        raise TypeError(f"tokens is {type(tokens).__name__}: give a list of the texts; ids follow its order")
    texts = ordered("tokens", tokens, (str,))
    spec = tok.spec
    named = {**spec.special_tokens, **spec.added_tokens}
    ordinary = {token: one for one, token in spec.tokens.items() if one not in spec.byte_tokens}
    first = _next_id(tok)
    fresh: dict[str, int] = {}
    for text in texts:
        if not text:
            raise VocabularyError("a token is empty: give a text, which it stands for")
        if text in named or text in fresh:
            raise VocabularyError(f"token {shown(text)} is there already: give each new token once")
        there = None if special else ordinary.get(text.encode("utf-8", "surrogatepass"))
        if there is not None:
            raise VocabularyError(
                f"token {shown(text)} is there already, with id {there}: leave it out, or remove that first"
            )
        fresh[text] = first + len(fresh)
    changed = (
        replace(spec, special_tokens={**spec.special_tokens, **fresh})
        if special
        else replace(spec, added_tokens={**spec.added_tokens, **fresh})
    )
    made_of = {token_id: _made_of(tok, text) for text, token_id in fresh.items()}
    return Surgery(Tokenizer(changed), unchanged(tok), made_of)


def _made_of(tok: Tokenizer, text: str) -> tuple[int, ...]:
    """The old ids of a new token's text; none if a symbol of it is no token."""
    try:
        return tuple(tok.encode(text, special="allow"))
    except UnknownSymbolError:
        return ()


def remove(
    tok: Tokenizer, tokens: Iterable[Token], *, cascade: bool = False, renumber: bool = True
) -> Surgery:
    """Take tokens out; text is then cut into what is left.

    tokens: special or added ones by text, ordinary ones by bytes, text or id.
    cascade: tokens that only come about through a removed one go as well; without it they are an error
        that names them.
    renumber: the ids that are left close up, in their old order; `False` leaves gaps. Ids in templates,
        padding and the like follow; what needs a token that is gone is among the `losses`.

    Raises `UnknownTokenError` for what is no token, `VocabularyError` for an initial symbol or the token of a
    byte, without which text could no longer be spelled.
    """
    _check_tokenizer("tok", tok)
    gone = {_find(tok, token) for token in listed("tokens", tokens, (str, bytes, int))}
    spec = tok.spec
    symbols = gone & set(spec.alphabet.values())
    if symbols or (spec.unknown is not None and spec.unknown in gone):
        token_id = min(symbols, default=spec.unknown)
        raise VocabularyError(
            f"id {token_id} is an initial symbol or the unknown token: text could not be spelled without it"
        )
    if spec.fallback and (found := gone & spec.byte_tokens.keys()):  # of a Unigram, which has no alphabet
        raise VocabularyError(
            f"id {min(found)} is the token of a byte, {byte_name(spec.byte_tokens[min(found)])}: characters "
            "that are no tokens could not be spelled without it"
        )
    lost = _without_source(spec, gone)
    if lost and not cascade:
        come, them = ("comes", "it") if len(lost) == 1 else ("come", "them")
        listed_ = ", ".join(shown(spec.tokens[token_id]) for token_id in sorted(lost)[:10])
        raise VocabularyError(
            f"{plural(len(lost), 'token')} only {come} about through these: {listed_}; remove {them} too, or "
            "cascade=True"
        )
    gone |= lost
    kept = [token_id for token_id in tok.vocab if token_id not in gone]
    new = {old: index if renumber else old for index, old in enumerate(kept)}
    changed = renumbered(spec, new)
    return Surgery(Tokenizer(changed), _table(tok, new), {}, lost_of(spec, changed))


def extend(tok: Tokenizer, other: Tokenizer) -> Surgery:
    """Add the tokens of `other` that `tok` lacks: its initial symbols, then what its merges make of them.

    What `tok` encodes stays a stage on the way: new merges only join what its own merges leave. A merge of
    `other` whose parts are no tokens of the result is passed over, so is its token; `unreachable` tells
    which of the new tokens never come up after all. Special tokens of `other` are not taken: `add` them.

    Raises `VocabularyError` for tokenizers of different units or marks, or whose vocabulary has scores.
    """
    _check_tokenizer("tok", tok)
    _check_tokenizer("other", other)
    spec, theirs = tok.spec, other.spec
    for name in ("unit", "end_of_word", "continuing_prefix", "mark_apart"):
        if getattr(spec, name) != getattr(theirs, name):
            raise VocabularyError(
                f"one tokenizer has {name}={getattr(spec, name)!r}, the other {getattr(theirs, name)!r}: "
                "to extend one from the other both need the same unit and the same marks"
            )
    if (spec.model, theirs.model) != ("bpe", "bpe"):
        raise VocabularyError(f"a vocabulary of the model {spec.model!r} cannot be extended by merges")
    if spec.scores is not None or theirs.scores is not None:
        raise VocabularyError("a vocabulary with scores (sentencepiece) cannot be extended: it has no merges")
    prefix = (spec.continuing_prefix or "").encode()
    ids = {token: one for one, token in spec.tokens.items() if one not in spec.byte_tokens}
    ids.update(spec.alphabet)
    tokens, merges, alphabet = dict(spec.tokens), list(spec.merges or ()), dict(spec.alphabet)
    token_id = _next_id(tok)
    fresh: dict[int, tuple[int, ...]] = {}
    for symbol in theirs.alphabet:
        if symbol not in alphabet and symbol not in ids:
            alphabet[symbol] = ids[symbol] = token_id
            tokens[token_id], fresh[token_id] = symbol, _old_ids(tok, symbol, prefix)
            token_id += 1
    made: list[int] = []
    for left, right in other.merges:
        joined = left + right.removeprefix(prefix)
        if joined in ids or left not in ids or right not in ids:
            continue
        ids[joined], tokens[token_id] = token_id, joined
        merges.append((ids[left], ids[right], token_id))
        made.append(token_id)
        token_id += 1
    changed = replace(
        spec, tokens=tokens, alphabet=alphabet, merges=None if spec.merges is None else tuple(merges)
    )
    speller = Speller(spec)
    for new in made:
        fresh[new] = speller.encode(tokens[new]) or _old_ids(tok, tokens[new], prefix)
    return Surgery(Tokenizer(changed), unchanged(tok), fresh)


def truncate(tok: Tokenizer, size: int) -> Surgery:
    """`tok.truncate(size)`, with the map of ids: the first `size` tokens that training learned.

    Raises `VocabularyError` as `syllabary.truncation.truncate`.
    """
    _check_tokenizer("tok", tok)
    spec, new = cut(tok.spec, integer("size", size))
    return Surgery(Tokenizer(spec), _table(tok, new), {}, lost_of(tok.spec, spec))


def restrict(
    tok: Tokenizer,
    vocabulary: str | os.PathLike[str] | Mapping[str | bytes, int] | Iterable[str | bytes],
    threshold: int | None = None,
) -> Surgery:
    """Make only the tokens of a vocabulary, and single characters: sentencepiece's `SetVocabulary`.

    All ids stay. No text becomes a token that is left out: merging by score cuts it again into what it was
    made of, Unigram does not make it. Single characters, bytes, special and added tokens and the unknown one
    stay, listed or not; what is listed and no token is passed over. What was left out before and is listed
    comes back: each vocabulary takes the place of the last.

    vocabulary: tokens by text or bytes; or token -> count; or a file of lines `token TAB count` (no count is
        1), as `spm_encode --generate_vocabulary` writes it.
    threshold: tokens of a lower count are left out (`LoadVocabulary`); needs counts.

    Raises `VocabularyError` where tokens have no scores, `FormatError` with the line for a file of another
    kind. Source: sentencepiece 0.2.1, `src/sentencepiece_processor.cc`; 0.2.3 has it no more, and gives the
    same ids with the saved model. Two things are other than there: bytes are still decoded (0.2.1 writes
    `<0xC3>`), and an unknown character counts 10 less than the lowest score that is left, as in that saved
    model (there, than the lowest of before).

    >>> import syllabary
    >>> tok = syllabary.train(["low lower lowest"] * 3, 16, model="bpe", like="sentencepiece")
    >>> [token.decode() for token in tok.tokens("low")]
    ['▁low']
    >>> [token.decode() for token in restrict(tok, ["lo"]).tokenizer.tokens("low")]
    ['▁', 'lo', 'w']
    """
    _check_tokenizer("tok", tok)
    spec = tok.spec
    if spec.scores is None:
        raise VocabularyError(
            "restrict needs tokens with scores (sentencepiece's, or Unigram), and these have none; codes of "
            "subword-nmt are restricted by apply-bpe --vocabulary of syllabary.compat.subword_nmt"
        )
    kept = _listed_tokens(vocabulary, threshold)
    stay = {*spec.byte_tokens, *spec.special_tokens.values(), *spec.added_tokens.values(), spec.unknown}
    never = hidden(spec).keys() | {one for one in spec.unused if spec.tokens[one] == b"\0"}
    plain = {one: spec.tokens[one] for one in spec.scores if one in spec.tokens and one not in stay}
    unused = {one for one, token in plain.items() if token not in kept and len(token.decode()) > 1}
    alphabet = dict(spec.alphabet)
    if spec.model == "bpe":
        fresh = {token: one for one, token in plain.items() if len(token.decode()) == 1 and one not in never}
        alphabet |= fresh
    changed = replace(spec, unused=frozenset(unused | never), alphabet=alphabet)
    return Surgery(Tokenizer(changed), unchanged(tok), {})


def _listed_tokens(
    vocabulary: str | os.PathLike[str] | Mapping[str | bytes, int] | Iterable[str | bytes],
    threshold: int | None,
) -> set[bytes]:
    """The bytes of what a vocabulary lists with a count of at least `threshold`."""
    least = None if threshold is None else integer("threshold", threshold)
    if isinstance(vocabulary, (str, os.PathLike)):
        return read_counts(Path(vocabulary), least)
    counted = isinstance(vocabulary, Mapping)
    tokens = listed("vocabulary", list(vocabulary) if counted else vocabulary, (str, bytes))
    if isinstance(vocabulary, Mapping):
        counts = {token: integer(f"the count of {shown(token)}", vocabulary[token]) for token in tokens}
        tokens = [token for token in tokens if least is None or counts[token] >= least]
    elif least is not None:
        raise ValueError(f"threshold={least}, and vocabulary has no counts: give token -> count, or a file")
    return {token.encode("utf-8", "surrogatepass") if isinstance(token, str) else token for token in tokens}


def _old_ids(tok: Tokenizer, token: bytes, prefix: bytes) -> tuple[int, ...]:
    """The ids that the old tokenizer gives to the text of a token; none if it has none for it."""
    mark = (tok.spec.end_of_word or "").encode()
    text = token.removeprefix(prefix).removesuffix(mark).decode("utf-8", "ignore")
    try:
        return tuple(tok.encode(text, special="text"))
    except SyllabaryError:
        return ()


def unreachable(tok: Tokenizer) -> dict[int, str]:
    """Tokens that no text is ever encoded to, id -> why.

    `"merges"`: the merges do not make it, whatever stands around it. `"split"`: it reaches over the end of a
    piece, alone and between letters, digits, spaces and signs (contexts are tried, so a stranger one may
    still bring it up). Special, added and unused tokens, and tokens that are not whole characters, are not
    tried for the second; nor are tokenizers with a normalizer or a pre-tokenizer, of which only the merges
    are asked. Raises `VocabularyError` for a model without merges.
    """
    _check_tokenizer("tok", tok)
    if tok.spec.model != "bpe":
        raise VocabularyError(
            f"model={tok.spec.model!r} has no merges: only of byte-pair encoding is it known"
        )
    spec, speller = tok.spec, Speller(tok.spec)
    whole = speller.whole_pieces() if spec.whole_pieces else frozenset()
    found: dict[int, str] = {}
    skipped = {*spec.unused, *whole, spec.unknown}
    for token_id, own in speller.own_encodings().items():
        if token_id not in skipped and own is not None and own != (token_id,):
            found[token_id] = "merges"
    for token_id in speller.cut_everywhere([one for one in spec.tokens if one not in found]):
        if token_id not in whole:
            found[token_id] = "split"
    return dict(sorted(found.items()))


def _check_tokenizer(name: str, value: object) -> None:
    if not isinstance(value, Tokenizer):
        raise TypeError(f"{name} is {value!r}: give a Tokenizer, as syllabary.load opens one")


# ---- ids ----


def _next_id(tok: Tokenizer) -> int:
    return max(tok.vocab, default=-1) + 1


def unchanged(tok: Tokenizer) -> NDArray[np.int64]:
    """The map of ids before any change: each to itself, gaps to -1; shape (largest id + 1,)."""
    return _table(tok, {token_id: token_id for token_id in tok.vocab})


def _table(tok: Tokenizer, new: Mapping[int, int]) -> NDArray[np.int64]:
    table = np.full(_next_id(tok), REMOVED, dtype=np.int64)
    table[list(new)] = list(new.values())
    return table


def _find(tok: Tokenizer, token: Token) -> int:
    if isinstance(token, (str, bytes)):
        return tok.token_to_id(token)
    number = integer("token", token)
    tok.id_to_token(number)
    return number


def _without_source(spec: TokenizerSpec, gone: Collection[int]) -> set[int]:
    """The tokens that no merge of what is left makes any more."""
    if spec.merges is None:
        return set()  # any two neighbours make a token there: `unreachable` tells
    initial = set(spec.tokens).difference(result for _left, _right, result in spec.merges)
    lost: set[int] = set()
    while True:
        absent = {*gone, *lost}
        made = {row[2] for row in spec.merges if absent.isdisjoint(row)}
        more = set(spec.tokens) - made - initial - set(spec.alphabet.values()) - absent
        if not more:
            return lost
        lost |= more


__all__ = [
    "REMOVED",
    "Surgery",
    "add",
    "extend",
    "remove",
    "restrict",
    "truncate",
    "unchanged",
    "unreachable",
]
