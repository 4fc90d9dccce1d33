"""The vocabulary of Hugging Face's `tokenizer.json`: its names as tokens of bytes or of characters.

Adds the choice between the two, the alphabet, the tokens that stand for a byte (`<0x0A>`), and which added
tokens the model reaches as well. Their library has no alphabet: every name of one symbol's length is a
symbol. Leaves out: the file (`hf_model`, `hf_added`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from syllabary.formats.hf_added import Added
from syllabary.formats.hf_model import Model
from syllabary.reference.bytes_to_unicode import CHARACTER_TO_BYTE, are_spelled, unspell, unspell_all
from syllabary.reference.symbols import byte_name

BYTE_NAMES = {byte_name(byte): byte for byte in range(256)}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a vocabulary is to us. unreached: names that no text can reach, beside the added tokens."""

    tokens: Mapping[int, bytes]
    alphabet: Mapping[bytes, int]
    merges: tuple[tuple[int, int, int], ...]
    byte_tokens: Mapping[int, int] = field(default_factory=dict)
    fallback: bool = False
    unreached: Mapping[str, int] = field(default_factory=dict)


def of_bytes(model: Model, added: Added, always_cut: bool) -> Vocabulary | None:
    """The vocabulary as bytes spelled in GPT-2's characters, or `None` where its names are more than that.

    always_cut: whether no text that holds an added token reaches the model.
    """
    if model.prefix or model.suffix:
        return None
    tokens, other = _unspelled(model.vocab)
    if model.byte_fallback and not model.vocab.keys() - other >= CHARACTER_TO_BYTE.keys():
        return None
    names = added.ids
    outside = names.keys() | other
    apart = [name for name in model.vocab if name in outside]
    merged = set(map(model.vocab.__getitem__, apart)).intersection(chain.from_iterable(model.merges))
    if any(model.vocab[name] in merged for name in other):
        return None
    unreached = dict[str, int]()
    for name in apart:
        token_id = model.vocab[name]
        tokens.pop(token_id, None)
        if name in other:
            if name not in names:
                unreached[name] = token_id
            continue
        reached, means_itself = len(name) == 1 or model.whole_pieces, unspell(name) == name.encode()
        if token_id not in merged and not (reached and not (always_cut and means_itself)):
            continue
        if not means_itself:
            return None
        tokens[token_id] = unspell(name)
    alphabet = {token: token_id for token_id, token in tokens.items() if len(token) == 1}
    return Vocabulary(tokens, alphabet, model.merges, unreached=unreached)


def _unspelled(vocab: Mapping[str, int]) -> tuple[dict[int, bytes], set[str]]:
    """The bytes that names spell, and the names that spell none."""
    try:
        return dict(zip(vocab.values(), unspell_all(list(vocab)), strict=True)), set()
    except KeyError:
        other = {name for name in vocab if not are_spelled([name])}
        return {token_id: unspell(name) for name, token_id in vocab.items() if name not in other}, other


def of_characters(model: Model, added: Added, always_cut: bool) -> Vocabulary:
    """The vocabulary as text; `FormatError` for a fallback to bytes that we have no words for."""
    byte_tokens, names = _byte_tokens(model), added.ids
    merged = {model.vocab[name] for name in names if name in model.vocab}
    merged.intersection_update(chain.from_iterable(model.merges))
    tokens, alphabet = dict[int, bytes](), dict[bytes, int]()
    symbols = _symbols(model.vocab, model.prefix or "", model.suffix or "")
    for name, token_id in model.vocab.items():
        if token_id in byte_tokens:  # found in text by its name as well, where it is an added token
            tokens[token_id] = bytes([byte_tokens[token_id]])
            continue
        if name in names:
            reached = name in symbols or model.whole_pieces
            if token_id not in merged and not (reached and not always_cut):
                continue
        tokens[token_id] = token = name.encode()
        if name in symbols:
            alphabet[token] = token_id
    for token_id, byte in byte_tokens.items():
        alphabet.setdefault(bytes([byte]), token_id)
    return Vocabulary(tokens, alphabet, model.merges, byte_tokens, fallback=bool(byte_tokens))


def _symbols(names: Iterable[str], prefix: str, suffix: str) -> set[str]:
    """Those that are symbols."""
    if not prefix and not suffix:
        return {name for name in names if len(name) == 1}
    return {name for name in names if is_symbol(name, prefix, suffix)}


def is_symbol(name: str, prefix: str, suffix: str) -> bool:
    """Whether a name is one character, with a prefix or without, with a suffix or without.

    >>> is_symbol("##a</w>", "##", "</w>"), is_symbol("##", "##", "</w>"), is_symbol("#", "#", "")
    (True, False, True)
    """
    starts = {0, len(prefix)} if name.startswith(prefix) else {0}
    ends = {0, len(suffix)} if name.endswith(suffix) else {0}
    return any(len(name) - start - end == 1 for start in starts for end in ends)


def _byte_tokens(model: Model) -> dict[int, int]:
    """The tokens `<0xXX>`, where the model falls back to bytes: id -> byte."""
    if not model.byte_fallback:
        return {}
    where = model.where.member("byte_fallback")
    found = {token_id: BYTE_NAMES[name] for name, token_id in model.vocab.items() if name in BYTE_NAMES}
    if found and (model.prefix or model.suffix):
        raise where.error("byte_fallback together with a prefix or suffix is not supported")
    return found
