"""A tokenizer -> GPT-2's two files: vocabulary and merges, spelled in its characters of bytes, or as text.

`encoder.json` is laid out as OpenAI published it, `vocab.json` as Hugging Face's `BPE.save` writes it; an
unchanged pair comes out byte for byte. Split and special tokens are not in the files: whoever reads them says
them again. Adds a refusal, by name, of what else they cannot hold. Leaves out: reading (`gpt2`).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path

from syllabary.errors import FormatError
from syllabary.formats.dropping import drops, keeping, refusal
from syllabary.formats.extras import refuse_extras, without_extras
from syllabary.formats.hf_vocab import is_symbol
from syllabary.formats.loss import Loss
from syllabary.formats.ranks import recover_merges
from syllabary.formats.record import Facts, cannot_hold
from syllabary.formats.signs import PAIRS
from syllabary.reference.bytes_to_unicode import CHARACTER_TO_BYTE, spell
from syllabary.reference.check import check_spec
from syllabary.reference.symbols import they_are
from syllabary.spec import TokenizerSpec

NAME = "gpt2"
MARK = "</w>"
HEADER = "#version"
VERSION = f"{HEADER}: 0.2\n"


def write_files(spec: TokenizerSpec, path: Path) -> dict[Path, bytes]:
    """Both files and their bytes; `path` is either of them, or a folder that is there (`vocab.json`).

    Raises `FormatError` for a path that says neither, and naming what the files cannot hold.
    """
    vocab_path, merges_path, published = _paths(path)
    check_spec(spec)
    if error := refuses(Facts(spec.unit, spec.fallback, spec.end_of_word, split=spec.split)):
        raise error
    refuse_extras(spec, NAME)
    if spec.whole_pieces:
        raise cannot_hold(NAME, "whole pieces as tokens (whole_pieces)")
    merges = recover_merges(spec.tokens) if spec.merges is None else spec.merges
    names = _names(spec)
    _check_names(spec, names)
    ids = {names[token_id]: token_id for token_id in sorted(names)}
    text = json.dumps(ids) if published else json.dumps(ids, ensure_ascii=False, separators=(",", ":"))
    lines = [f"{names[left]} {names[right]}\n" for left, right, _result in merges]
    for line in lines:
        if line.startswith(HEADER):
            raise cannot_hold(NAME, f"the merge {line.strip()!r}: tokenizers skips a line that begins so")
    return {vocab_path: text.encode(), merges_path: "".join([VERSION, *lines]).encode()}


def reduce(spec: TokenizerSpec) -> tuple[TokenizerSpec, tuple[Loss, ...]]:
    """The tokenizer without what the files have no place for, and one sentence for each such thing."""
    losses: list[Loss] = []
    if drops(spec.split):
        spec, lost = keeping(spec)
        losses.append(
            Loss(f"{lost}, which may have no ids; split='whitespace-split' drops white space", "some")
        )
    elif spec.split.pattern is not None:
        shown = spec.split.name or spec.split.pattern
        losses.append(Loss(f"the split ({shown!r}): name it in split= to keep the ids", "some"))
    if spec.special_tokens:
        count = len(spec.special_tokens)
        sentence = f"that {they_are(count, 'token')} special: name them in special_tokens= to keep the ids"
        losses.append(Loss(sentence, "some"))
    if spec.added_tokens:
        which = they_are(len(spec.added_tokens), "added token")
        losses.append(Loss(f"that {which} cut out of the text first: ids change there", "some"))
        texts = {token_id: text.encode() for text, token_id in spec.added_tokens.items()}
        spec = dataclasses.replace(spec, added_tokens={}, tokens={**spec.tokens, **texts})
    if spec.whole_pieces:
        losses.append(Loss("that a piece in the vocabulary becomes a token at once: ids can change", "some"))
        spec = dataclasses.replace(spec, whole_pieces=False)
    without, more = without_extras(spec, NAME)
    return without, (*losses, *more)


def refuses(facts: Facts) -> FormatError | None:
    """The error for units, marks and splits that the files have no words for."""
    if facts.unit == "word":
        return cannot_hold(NAME, "tokens whose symbols are whole pieces (unit 'word')")
    if facts.fallback:
        return cannot_hold(NAME, "a fallback to bytes")
    if facts.end_of_word not in (None, MARK) or (facts.unit == "byte" and facts.end_of_word):
        return cannot_hold(NAME, f"the end-of-word mark {facts.end_of_word!r}, only {MARK!r} on characters")
    return None if facts.split is None else refusal(NAME, facts.split)


def _paths(path: Path) -> tuple[Path, Path, bool]:
    """Vocabulary, merges, and whether they are laid out as OpenAI's."""
    if path.is_dir():
        return path / PAIRS[1][0], path / PAIRS[1][1], False
    for vocab_name, merges_name in PAIRS:
        for ending in (vocab_name, merges_name):
            if path.name.endswith(ending):
                prefix = path.name[: -len(ending)]
                found = path.with_name(prefix + vocab_name), path.with_name(prefix + merges_name)
                return *found, vocab_name == PAIRS[0][0]
    wanted = ", ".join(ending for pair in PAIRS for ending in pair)
    raise FormatError(f"{path}: name a folder that is there, or end the name in one of {wanted}")


def _names(spec: TokenizerSpec) -> dict[int, str]:
    """id -> name; `FormatError` if two ids would share one."""
    if spec.added_tokens:
        raise cannot_hold(NAME, f"added tokens that are not special ({next(iter(spec.added_tokens))!r})")
    names = {token_id: _name(token, spec) for token_id, token in spec.tokens.items()}
    for text, token_id in spec.special_tokens.items():
        if names.setdefault(token_id, text) != text:
            raise cannot_hold(NAME, f"the id {token_id} for both {text!r} and {names[token_id]!r}")
    if len(set(names.values())) < len(names):
        ids: dict[str, int] = {}
        for token_id, name in names.items():
            if name in ids:
                raise cannot_hold(NAME, f"two ids ({ids[name]} and {token_id}) with the same name {name!r}")
            ids[name] = token_id
    return names


def _name(token: bytes, spec: TokenizerSpec) -> str:
    if spec.unit == "byte":
        return spell(token)
    try:
        name = token.decode("utf-8")
    except UnicodeDecodeError as error:
        raise cannot_hold(NAME, f"the token {token!r}, which is no text") from error
    if " " in name or "\n" in name or "\r" in name:
        raise cannot_hold(
            NAME, f"the token {name!r}: its merges are lines of two tokens with a space between"
        )
    return name


def _check_names(spec: TokenizerSpec, names: Mapping[int, str]) -> None:
    """What the reader would take for the unit, the mark and the alphabet is what they are."""
    ordinary = {token_id: names[token_id] for token_id in spec.tokens}
    spelled = all(character in CHARACTER_TO_BYTE for name in ordinary.values() for character in name)
    if spec.unit == "char" and (spelled or CHARACTER_TO_BYTE.keys() <= set(ordinary.values())):
        raise cannot_hold(NAME, "these characters, which would be taken for GPT-2's characters of bytes")
    if spec.unit == "char" and any(name.endswith(MARK) and len(name) == 5 for name in ordinary.values()) != (
        spec.end_of_word is not None
    ):
        raise cannot_hold(NAME, f"an end-of-word mark {spec.end_of_word!r} that its symbols do not show")
    for token_id, name in ordinary.items():
        ours = spec.alphabet.get(spec.tokens[token_id]) == token_id
        if is_symbol(name, "", spec.end_of_word or "") != ours:
            raise cannot_hold(NAME, f"the token {name!r}, which is one symbol and not in the alphabet")
