"""A tokenizer -> Hugging Face's `tokenizer.json`, with the same ids under their library.

Adds the spelling of tokens as that library's strings, and a refusal, by name, of what it cannot hold: words
as symbols, a fallback to bytes beside an end-of-word mark, two ids for one string, tokens that would become
symbols. Leaves out: reading (`hf_read`); splits (`hf_split`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from syllabary.errors import FormatError
from syllabary.formats.hf_split import NAME, Component, write_split
from syllabary.formats.ranks import recover_merges
from syllabary.formats.record import Facts, cannot_hold
from syllabary.reference.bytes_to_unicode import CHARACTER_TO_BYTE, spell, unspell
from syllabary.reference.check import check_spec
from syllabary.spec import TokenizerSpec


def write(spec: TokenizerSpec) -> bytes:
    """The file, laid out as their library does it; `FormatError` names what it cannot hold."""
    check_spec(spec)
    _check_unit(spec)
    names = spellings(spec)
    _check_alphabet(spec, names)
    merges = recover_merges(spec.tokens) if spec.merges is None else spec.merges
    _check_merges(merges, names)
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": _added_tokens(spec),
        "normalizer": None,
        "pre_tokenizer": write_split(spec.split, with_bytes=spec.unit == "byte"),
        "post_processor": None,
        "decoder": _decoder(spec),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": spec.end_of_word,
            "fuse_unk": False,
            "byte_fallback": spec.fallback and spec.unit == "char",
            "ignore_merges": spec.whole_pieces,
            "vocab": {names[token_id]: token_id for token_id in sorted(names)},
            "merges": [[names[left], names[right]] for left, right, _result in merges],
        },
    }
    return json.dumps(document, ensure_ascii=False, indent=2).encode("utf-8")


def refuses(facts: Facts) -> FormatError | None:
    """The error for units and marks that the file has no words for."""
    if facts.unit == "word":
        return cannot_hold(NAME, "tokens whose symbols are whole pieces (unit 'word')")
    if facts.unit == "char" and facts.fallback and facts.end_of_word is not None:
        return cannot_hold(NAME, "a fallback to bytes together with an end-of-word mark")
    return None


def spellings(spec: TokenizerSpec) -> dict[int, str]:
    """id -> the string that the vocabulary has for it; `FormatError` if two ids would share one."""
    names = {token_id: _spelling(token, spec) for token_id, token in spec.tokens.items()}
    names |= {token_id: text for text, token_id in {**spec.special_tokens, **spec.added_tokens}.items()}
    ids: dict[str, int] = {}
    for token_id, name in names.items():
        if name in ids:
            raise cannot_hold(NAME, f"two ids ({ids[name]} and {token_id}) with the same spelling {name!r}")
        ids[name] = token_id
    return names


def _spelling(token: bytes, spec: TokenizerSpec) -> str:
    if spec.unit == "byte":
        return spell(token)
    if spec.fallback and len(token) == 1 and token[0] >= 0x80:
        return f"<0x{token[0]:02X}>"
    try:
        return token.decode("utf-8")
    except UnicodeDecodeError as error:
        raise cannot_hold(
            NAME, f"the token {token!r}, which is no text, among tokens of characters"
        ) from error


def _check_unit(spec: TokenizerSpec) -> None:
    if error := refuses(Facts(spec.unit, spec.fallback, spec.end_of_word)):
        raise error
    if spec.unit == "char" and spec.whole_pieces:
        raise cannot_hold(NAME, "whole pieces as tokens (whole_pieces) of characters")
    if (
        spec.unit == "char"
        and spec.fallback
        and any(bytes([byte]) not in spec.alphabet for byte in range(256))
    ):
        raise cannot_hold(NAME, "a fallback to bytes without all 256 of them in the alphabet")


def _check_alphabet(spec: TokenizerSpec, names: Mapping[int, str]) -> None:
    """Their library has no alphabet: every entry of one symbol's length is a symbol, special or not."""
    mark = spec.end_of_word or ""
    symbols = {names[token_id] for token_id in spec.alphabet.values()}
    for name in names.values():
        single = len(name) == 1 or (mark and name[1:] == mark)
        if single and name in symbols:
            continue
        if single and (spec.unit == "char" or name in CHARACTER_TO_BYTE) and not _always_cut(name, spec):
            raise cannot_hold(NAME, f"the token {name!r}, which is one symbol and not in the alphabet")
        if spec.whole_pieces and not _means_itself(name, spec):
            raise cannot_hold(
                NAME, f"the special token {name!r}: as a whole piece it would stand for other bytes"
            )


def _always_cut(name: str, spec: TokenizerSpec) -> bool:
    """Whether a text never reaches the model with what this name stands for: it is cut out before."""
    special = name in spec.special_tokens or name in spec.added_tokens
    return special and (spec.unit == "char" or _means_itself(name, spec))


def _means_itself(name: str, spec: TokenizerSpec) -> bool:
    """Whether a special token's text, read as a spelling of bytes, is that very text (or no bytes at all)."""
    if name not in spec.special_tokens and name not in spec.added_tokens:
        return True
    spelled = all(character in CHARACTER_TO_BYTE for character in name)
    return not spelled or unspell(name) == name.encode()


def _check_merges(merges: tuple[tuple[int, int, int], ...], names: Mapping[int, str]) -> None:
    """Merges are told by spelling alone there."""
    for left, right, result in merges:
        if names[left] + names[right] != names[result]:
            raise cannot_hold(
                NAME,
                f"the merge of {names[left]!r} and {names[right]!r}, which is spelled {names[result]!r}",
            )


def _added_tokens(spec: TokenizerSpec) -> list[Component]:
    """Special and other added tokens, by id. Their ids are in the vocabulary too, which is what counts."""
    entries = [(token_id, text, True) for text, token_id in spec.special_tokens.items()]
    entries += [(token_id, text, False) for text, token_id in spec.added_tokens.items()]
    return [
        {
            "id": token_id,
            "content": text,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": special,
        }
        for token_id, text, special in sorted(entries)
    ]


def _decoder(spec: TokenizerSpec) -> Component:
    if spec.unit == "byte":
        return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    if spec.end_of_word is not None:
        return {"type": "BPEDecoder", "suffix": spec.end_of_word}
    fuse: Component = {"type": "Fuse"}
    return {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, fuse]} if spec.fallback else fuse
