"""The vocabulary of Hugging Face's `tokenizer.json`: its names as tokens of bytes or of characters.

Adds the choice between the two, the alphabet, the tokens that stand for a byte (`<0x0A>`), and which added
tokens the model reaches as well. Their library has no alphabet: every name of one symbol's length is a
symbol. Leaves out: the file (`hf_model`, `hf_added`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter

from syllabary.formats.hf_added import Added
from syllabary.formats.hf_listed import ListedVocab
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
    other = _unspelled(model.vocab)
    if model.byte_fallback and not model.vocab.keys() - other >= CHARACTER_TO_BYTE.keys():
        return None
    names = added.ids
    outside = names.keys() | other
    apart = sorted(outside & model.vocab.keys(), key=model.vocab.__getitem__)
    merged = _merged(model, [model.vocab[name] for name in apart])
    if any(model.vocab[name] in merged for name in other):
        return None
    unreached, left_out = dict[str, int](), set[int]()
    for name in apart:
        token_id = model.vocab[name]
        if name in other:
            if name not in names:
                unreached[name] = token_id
            continue
        reached, means_itself = len(name) == 1 or model.whole_pieces, unspell(name) == name.encode()
        if token_id not in merged and not (reached and not (always_cut and means_itself)):
            left_out.add(token_id)
        elif not means_itself:
            return None
    alphabet = {
        bytes([byte]): model.vocab[character]
        for character, byte in CHARACTER_TO_BYTE.items()
        if model.vocab.get(character, -1) not in left_out | {-1}
    }
    alphabet = dict(sorted(alphabet.items(), key=itemgetter(1)))
    tokens = _tokens(model, left_out, spelled=True)
    if tokens is None:
        listed = [name for name in model.vocab if name not in other and model.vocab[name] not in left_out]
        tokens = dict(zip(map(model.vocab.__getitem__, listed), unspell_all(listed), strict=True))
    return Vocabulary(tokens, alphabet, model.merges, unreached=unreached)


def _unspelled(vocab: Mapping[str, int]) -> set[str]:
    """The names that spell no bytes."""
    if isinstance(vocab, ListedVocab):
        return vocab.unspelled()
    return set() if are_spelled(vocab) else {name for name in vocab if not are_spelled([name])}


def _merged(model: Model, ids: Iterable[int]) -> set[int]:
    """Those of some ids that are in merges."""
    if isinstance(model.vocab, ListedVocab):
        return model.vocab.merged(ids)
    return set(ids).intersection(chain.from_iterable(model.merges))


def _tokens(
    model: Model, left_out: set[int], spelled: bool, byte_tokens: Mapping[int, int] | None = None
) -> Mapping[int, bytes] | None:
    """The tokens but those of some ids, if the engine can say them."""
    listed = model.vocab
    return listed.tokens(left_out, spelled, byte_tokens or {}) if isinstance(listed, ListedVocab) else None


def of_characters(model: Model, added: Added, always_cut: bool) -> Vocabulary:
    """The vocabulary as text; `FormatError` for a fallback to bytes that we have no words for."""
    byte_tokens, vocab = _byte_tokens(model), model.vocab
    apart = {name: vocab[name] for name in added.ids if name in vocab}
    merged = _merged(model, apart.values())
    symbols = _symbols(vocab, model.prefix or "", model.suffix or "")
    left_out = set[int]()
    for name, token_id in apart.items():
        reached = name in symbols or model.whole_pieces
        if token_id not in merged and not (reached and not always_cut):
            left_out.add(token_id)
    # A byte's is found in text by its name as well, where it is an added token.
    left_out -= byte_tokens.keys()
    outside = left_out | byte_tokens.keys()
    tokens = _tokens(model, left_out, spelled=False, byte_tokens=byte_tokens)
    if tokens is None:
        tokens = {token_id: name.encode() for name, token_id in vocab.items() if token_id not in outside}
        tokens |= {token_id: bytes([byte]) for token_id, byte in byte_tokens.items()}
    alphabet = {name.encode(): vocab[name] for name in symbols if vocab[name] not in outside}
    for token_id, byte in byte_tokens.items():
        alphabet.setdefault(bytes([byte]), token_id)
    return Vocabulary(tokens, alphabet, model.merges, byte_tokens, fallback=bool(byte_tokens))


def _symbols(names: Iterable[str], prefix: str, suffix: str) -> dict[str, None]:
    """Those that are symbols, in their order."""
    if not prefix and not suffix:
        return {name: None for name in names if len(name) == 1}
    lengths = {1 + marks for marks in (0, len(prefix), len(suffix), len(prefix) + len(suffix))}
    return {name: None for name in names if len(name) in lengths and is_symbol(name, prefix, suffix)}


def is_symbol(name: str, prefix: str, suffix: str) -> bool:
    """Whether a name is one character, with a prefix or without, with a suffix or without.

    >>> is_symbol("##a</w>", "##", "</w>"), is_symbol("##", "##", "</w>"), is_symbol("#", "#", "")
    (True, False, True)
    """
    starts = {0, len(prefix)} if name.startswith(prefix) else {0}
    ends = {0, len(suffix)} if name.endswith(suffix) else {0}
    return any(len(name) - start - end == 1 for start in starts for end in ends)


def named_bytes(vocab: Mapping[str, int]) -> dict[int, int]:
    """id -> byte of the names `<0xXX>`.

    >>> named_bytes({"a": 0, "<0x0A>": 7})
    {7: 10}
    """
    return {vocab[name]: byte for name, byte in BYTE_NAMES.items() if name in vocab}


def _byte_tokens(model: Model) -> dict[int, int]:
    """The tokens `<0xXX>`, where the model falls back to bytes: id -> byte."""
    if not model.byte_fallback:
        return {}
    where = model.where.member("byte_fallback")
    found = named_bytes(model.vocab)
    if found and (model.prefix or model.suffix):
        raise where.error("byte_fallback together with a prefix or suffix is not supported")
    return found
