"""The names of tokens in Hugging Face's vocabulary, and whether they mean there what they mean here.

Their library has no alphabet and tells merges by name alone: what it would take for a symbol, or for other
text, is refused. Leaves out: names -> tokens (`hf_vocab`); the rest of the file (`hf_write`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

from syllabary.formats.hf_added import read_added, write_added
from syllabary.formats.hf_components import NAME
from syllabary.formats.hf_model import Model
from syllabary.formats.hf_scores import merges_of_scores
from syllabary.formats.hf_vocab import Vocabulary, is_symbol, of_bytes, of_characters
from syllabary.formats.ranks import recover_merges
from syllabary.formats.record import cannot_hold
from syllabary.formats.strict_json import Json
from syllabary.reference.bytes_to_unicode import CHARACTER_TO_BYTE, spell_all, unspell
from syllabary.reference.symbols import byte_name
from syllabary.spec import Matching, TokenizerSpec

Merges = tuple[tuple[int, int, int], ...]


def merges_of(spec: TokenizerSpec) -> Merges:
    """The merge list; of a tokenizer by ranks or scores the one that does the same."""
    if spec.merges is not None:
        return spec.merges
    return recover_merges(spec.tokens) if spec.scores is None else merges_of_scores(spec)


def checked_names(spec: TokenizerSpec, merges: Merges) -> tuple[dict[int, str], dict[str, int]]:
    """id -> name, and the model's own vocabulary; `FormatError` for what would be something else there."""
    names = names_of(spec)
    vocab = model_vocab(spec, names)
    _check_alphabet(spec, names, vocab)
    _check_merges(spec, merges, names)
    _check_read_back(spec, merges, names, vocab)
    return names, vocab


def model_vocab(spec: TokenizerSpec, names: Mapping[int, str]) -> dict[str, int]:
    """name -> id of the model's own vocabulary, by id.

    Added tokens are in it too, for there they have the id that they should have; but not from the first on
    that the model would take for more than an added token, or that was not in it when it was read. Those
    have the ids that their library gives to tokens of its own: one after the other, from the number of names.
    """
    if spec.model == "unigram":
        return {names[token_id]: token_id for token_id in sorted(spec.scores or {})}
    if spec.model != "bpe":
        return {names[token_id]: token_id for token_id in sorted(spec.tokens)}
    reached = {
        token_id
        for token_id in names.keys() - spec.tokens.keys()
        if _would_reach(token_id, names[token_id], spec)
    }
    carried = spec.carried.get("huggingface")
    size = carried.get("model_size") if isinstance(carried, Mapping) else None
    for start in (size, min(reached, default=None)):
        apart = range(start, len(names)) if isinstance(start, int) and start >= 0 else range(0)
        if reached <= set(apart) and all(_can_be_apart(token_id, spec, names) for token_id in apart):
            return {names[token_id]: token_id for token_id in sorted(names) if token_id not in apart}
    ids = sorted(names)
    return dict(zip(map(names.__getitem__, ids), ids, strict=True))


def _can_be_apart(token_id: int, spec: TokenizerSpec, names: Mapping[int, str]) -> bool:
    """Whether an id is an added token's and no other's."""
    never = Matching(stage="never")
    return token_id in names and token_id not in spec.tokens and spec.matching.get(names[token_id]) != never


def _would_reach(token_id: int, name: str, spec: TokenizerSpec) -> bool:
    """Whether an added token that the model does not know here would be known to it, as one of its names."""
    if token_id in spec.tokens or _unreached(name, spec):
        return False
    if spec.unit == "byte" and not all(map(CHARACTER_TO_BYTE.__contains__, name)):
        return False
    symbol = is_symbol(name, spec.continuing_prefix or "", spec.end_of_word or "")
    flags = spec.matching.values()
    plain = not spec.normalizer and not any(
        one.single_word or one.stage not in ("text", "never") for one in flags
    )
    cut = plain and not _rewrites(spec) and _means_itself(name, spec)
    return (symbol or spec.whole_pieces) and not cut


def check_added(spec: TokenizerSpec, names: Mapping[int, str]) -> None:
    """Raise `FormatError` for an added token that is none of the model's and would get another id there."""
    read_added(Json(write_added(spec), "$.added_tokens", Path(NAME)), model_vocab(spec, names), False)


def names_of(spec: TokenizerSpec) -> dict[int, str]:
    """`FormatError` if two ids would share a name, or one id would have two.

    In Unigram an id that is never made may have the name of a later one.
    """
    if spec.unit == "byte":
        names = dict(zip(spec.tokens, spell_all(list(spec.tokens.values())), strict=True))
    else:
        names = {token_id: _name(token_id, token, spec) for token_id, token in spec.tokens.items()}
    for text, token_id in {**spec.special_tokens, **spec.added_tokens}.items():
        if names.setdefault(token_id, text) != text:
            raise cannot_hold(NAME, f"the id {token_id} for both {text!r} and {names[token_id]!r}")
    if len(set(names.values())) == len(names):
        return names
    ids: dict[str, int] = {}
    for token_id, name in sorted(names.items()):
        if name in ids and not (spec.model == "unigram" and ids[name] in spec.unused):
            raise cannot_hold(NAME, f"two ids ({ids[name]} and {token_id}) with the same spelling {name!r}")
        ids[name] = token_id
    return names


def _name(token_id: int, token: bytes, spec: TokenizerSpec) -> str:
    if token_id in spec.byte_tokens or (spec.fallback and len(token) == 1 and token[0] >= 0x80):
        return byte_name(token[0])
    try:
        return token.decode("utf-8")
    except UnicodeDecodeError as error:
        raise cannot_hold(
            NAME, f"the token {token!r}, which is no text, among tokens of characters"
        ) from error


def _singular(spec: TokenizerSpec, names: Mapping[int, str], vocab: Mapping[str, int]) -> set[str]:
    """The names of a vocabulary that have one character, or are no ordinary tokens: few of all."""
    others = {names[token_id] for token_id in names.keys() - spec.tokens.keys()}
    if spec.unit == "byte":  # any other character stands for no byte, so its name is no ordinary token's
        return (others | CHARACTER_TO_BYTE.keys()) & vocab.keys()
    return {name for name in vocab if len(name) == 1} | (others & vocab.keys())


def _check_alphabet(spec: TokenizerSpec, names: Mapping[int, str], vocab: Mapping[str, int]) -> None:
    """Every name of one symbol's length is a symbol there, special or not."""
    symbols = {names[token_id] for token_id in spec.alphabet.values()}
    prefix, suffix = spec.continuing_prefix or "", spec.end_of_word or ""
    if not prefix and not suffix:  # most names are longer, and tokens
        few = sorted(_singular(spec, names, vocab), key=vocab.__getitem__)
        vocab = {name: vocab[name] for name in few}
    for name, token_id in vocab.items():
        single = is_symbol(name, prefix, suffix)
        ours = single and name in symbols
        known = single and (spec.unit == "char" or name in CHARACTER_TO_BYTE)
        if known and not (ours or _always_cut(name, spec) or _unreached(name, spec)):
            raise cannot_hold(NAME, f"the token {name!r}, which is one symbol and not in the alphabet")
        if spec.whole_pieces and token_id not in spec.tokens and not _means_itself(name, spec):
            raise cannot_hold(
                NAME, f"the special token {name!r}: as a whole piece it would stand for other bytes"
            )


def _always_cut(name: str, spec: TokenizerSpec) -> bool:
    """Whether a text never reaches the model with what this name stands for: it is cut out before."""
    special = name in spec.special_tokens or name in spec.added_tokens
    return special and (spec.unit == "char" or _means_itself(name, spec))


def _unreached(name: str, spec: TokenizerSpec) -> bool:
    how = spec.matching.get(name)
    return spec.unit == "byte" and how is not None and how.stage == "never" and name not in CHARACTER_TO_BYTE


def _means_itself(name: str, spec: TokenizerSpec) -> bool:
    """Whether a special token's text, read as a spelling of bytes, is that very text (or no bytes at all)."""
    spelled = spec.unit == "byte" and all(character in CHARACTER_TO_BYTE for character in name)
    return not spelled or unspell(name) == name.encode()


def _check_merges(spec: TokenizerSpec, merges: Merges, names: Mapping[int, str]) -> None:
    """Merges are told by spelling alone there."""
    if spec.unit == "byte":  # each byte has its character: names join as tokens do
        return
    prefix = spec.continuing_prefix or ""
    for left, right, result in merges:
        if names[left] + names[right].removeprefix(prefix) != names[result]:
            raise cannot_hold(
                NAME,
                f"the merge of {names[left]!r} and {names[right]!r}, which is spelled {names[result]!r}",
            )


def _check_read_back(
    spec: TokenizerSpec, merges: Merges, names: Mapping[int, str], whole: Mapping[str, int]
) -> None:
    """The names, read again, are the tokens, symbols and merges that they were written from."""
    nowhere = Json({"byte_fallback": True}, "$", Path(NAME))
    vocab = whole
    if spec.unit == "byte":
        spec, merges, vocab = _unsure(spec, merges, names, whole)
    model = Model(
        where=nowhere,
        vocab=vocab,
        merges=tuple(
            (vocab[names[left]], vocab[names[right]], vocab[names[to]]) for left, right, to in merges
        ),
        dropout=spec.dropout,
        unknown=spec.unknown,
        prefix=spec.continuing_prefix,
        suffix=spec.end_of_word,
        fuse_unknown=spec.fuse_unknown,
        byte_fallback=spec.fallback,
        whole_pieces=spec.whole_pieces,
    )
    normalizes = bool(spec.normalizer)
    added = read_added(Json(write_added(spec), "$.added_tokens", Path(NAME)), whole, normalizes)
    cut = added.plain and not normalizes and not _rewrites(spec)
    back = of_bytes(model, added, cut) if spec.unit == "byte" else of_characters(model, added, cut)
    if back is None:
        raise cannot_hold(NAME, "names that mean more than bytes there")
    _check_same(spec, back, merges)


def _unsure(
    spec: TokenizerSpec, merges: Merges, names: Mapping[int, str], vocab: Mapping[str, int]
) -> tuple[TokenizerSpec, Merges, dict[str, int]]:
    """Of tokens of bytes, merges and names those that need a look.

    A name of several characters that no added token has is one of bytes, and read so, whatever the rest is.
    """
    named = {*spec.special_tokens, *spec.added_tokens}
    kept = {vocab[name] for name in _singular(spec, names, vocab) | (named & vocab.keys())}
    watched = kept.difference(spec.alphabet.values()).union(vocab[name] for name in named & vocab.keys())
    if watched.isdisjoint(chain.from_iterable(merges)):  # as of most
        merges = ()
    merges = tuple(merge for merge in merges if not watched.isdisjoint(merge))
    kept.update(chain.from_iterable(merges))
    found = replace(spec, tokens={one: spec.tokens[one] for one in kept & spec.tokens.keys()})
    return found, merges, {names[one]: one for one in sorted(kept)}


def _check_same(spec: TokenizerSpec, back: Vocabulary, merges: Merges) -> None:
    for token_id in spec.tokens.keys() ^ back.tokens.keys():
        token = spec.tokens.get(token_id, back.tokens.get(token_id))
        there = "no ordinary token" if token_id in spec.tokens else "an ordinary token"
        raise cannot_hold(NAME, f"the token {token!r} (id {token_id}), which would be {there}")
    for symbol in spec.alphabet.keys() ^ back.alphabet.keys():
        raise cannot_hold(NAME, f"the token {symbol!r}, which is one symbol and not in the alphabet")
    if back.merges != merges or dict(back.tokens) != dict(spec.tokens):
        raise cannot_hold(NAME, "tokens and merges that its names do not tell apart")


def _rewrites(spec: TokenizerSpec) -> bool:
    return any(step.kind in ("ByteLevel", "Metaspace") for step in spec.pretokenizer)
