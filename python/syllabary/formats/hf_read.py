"""Hugging Face's `tokenizer.json` -> a tokenizer with the same ids, or an error that names the rest.

Nothing in the file is passed over: each component is understood, or known not to touch ids (the ByteLevel
post-processor), or refused by name and place. Leaves out: writing (`hf_write`); splits (`hf_split`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from syllabary.formats.files import read_bounded
from syllabary.formats.hf_split import read_split
from syllabary.formats.record import Hints, checked
from syllabary.formats.strict_json import Json, parse
from syllabary.reference.bytes_to_unicode import CHARACTER_TO_BYTE, unspell
from syllabary.spec import TokenizerSpec

TOP_KEYS = (
    "version truncation padding added_tokens normalizer pre_tokenizer post_processor decoder model".split()
)
MODEL_KEYS = (
    "type dropout unk_token continuing_subword_prefix end_of_word_suffix fuse_unk byte_fallback "
    "ignore_merges vocab merges"
).split()
ADDED_FLAGS = ("single_word", "lstrip", "rstrip")
ADDED_KEYS = ("id", "content", *ADDED_FLAGS, "normalized", "special")


@dataclass(frozen=True, slots=True)
class Added:
    """The added tokens: text -> id, those that are special and those that are not."""

    special: Mapping[str, int]
    other: Mapping[str, int]


def read(path: Path, hints: Hints) -> TokenizerSpec:
    """The tokenizer of a file; `FormatError` with the place of whatever is damaged or cannot be honoured."""
    hints.refuse(path, "tokenizer.json")
    root = parse(read_bounded(path), path)
    root.object(TOP_KEYS)
    for key in ("truncation", "padding", "normalizer"):
        _refuse(root.optional(key))
    split, with_bytes = read_split(root.optional("pre_tokenizer"))
    _check_post_processor(root.optional("post_processor"))
    model = root.member("model")
    _check_model(model, with_bytes)
    vocab = _read_vocab(model.member("vocab"))
    added = _read_added(root.optional("added_tokens"), vocab)
    suffix = model.optional("end_of_word_suffix").optional_string() or None
    fallback = bool(model.optional("byte_fallback").value)
    _check_decoder(root.optional("decoder"), with_bytes, suffix, fallback)
    table = _tokens(model.member("vocab"), vocab, added, with_bytes, fallback)
    in_added = {*added.special.values(), *added.other.values()}
    ordinary = {name: token_id for name, token_id in vocab.items() if token_id not in in_added}
    alphabet = {
        table[token_id]: token_id
        for name, token_id in ordinary.items()
        if _is_symbol(name, table[token_id], with_bytes, suffix)
    }
    _check_added(model, {**added.special, **added.other}.keys() & vocab.keys(), with_bytes, suffix, fallback)
    _check_unknown(model, alphabet, with_bytes, fallback)
    return checked(
        TokenizerSpec(
            unit="byte" if with_bytes else "char",
            split=split,
            tokens={token_id: token for token_id, token in table.items() if token_id not in in_added},
            alphabet=alphabet,
            merges=_read_merges(model.member("merges"), vocab),
            special_tokens=added.special,
            added_tokens=added.other,
            end_of_word=suffix,
            fallback=fallback,
            whole_pieces=bool(model.optional("ignore_merges").value),
        ),
        path,
    )


def _refuse(component: Json) -> None:
    if component.value is not None:
        raise component.error(f"{component.where.rpartition('.')[2]} is not supported yet, only null")


def _check_post_processor(component: Json) -> None:
    """ByteLevel changes offsets in their library, never ids; anything else adds tokens."""
    if component.value is not None and component.member("type").string() != "ByteLevel":
        raise component.error(f"the post-processor {component.member('type').value} is not supported yet")


def _check_model(model: Json, with_bytes: bool) -> None:
    members = model.object(MODEL_KEYS)
    kind = members.get("type")
    if kind is not None and kind.value != "BPE":
        raise kind.error(f"the model {kind.value!r} is not supported here, only BPE")
    for key in ("fuse_unk", "byte_fallback", "ignore_merges"):
        if key in members and members[key].value is not None:
            members[key].boolean()
    dropout = model.optional("dropout")
    if dropout.value is not None and (isinstance(dropout.value, bool) or dropout.value != 0):
        raise dropout.error("dropout is not supported yet")
    if model.optional("continuing_subword_prefix").optional_string():
        raise members["continuing_subword_prefix"].error("a prefix of continuing tokens is not supported yet")
    if with_bytes and model.optional("end_of_word_suffix").optional_string():
        raise members["end_of_word_suffix"].error("a suffix together with ByteLevel is not supported")
    if with_bytes and model.optional("byte_fallback").value:
        raise members["byte_fallback"].error("byte_fallback together with ByteLevel is not supported")
    if not with_bytes and model.optional("ignore_merges").value:
        raise members["ignore_merges"].error("ignore_merges without ByteLevel is not supported")
    if model.optional("byte_fallback").value and model.optional("end_of_word_suffix").value:
        raise members["byte_fallback"].error("byte_fallback together with a suffix is not supported")


def _check_unknown(model: Json, alphabet: Mapping[bytes, int], with_bytes: bool, fallback: bool) -> None:
    """An unknown token is honoured where it can never be used."""
    unknown = model.optional("unk_token")
    complete = len(alphabet) == 256 if with_bytes else fallback
    if unknown.optional_string() is not None and not complete:
        raise unknown.error(
            "an unknown token is not supported yet: text outside the alphabet is an error here"
        )


def _check_decoder(decoder: Json, with_bytes: bool, suffix: str | None, fallback: bool) -> None:
    """The decoder must do what decoding does here: join the bytes, a mark is a space."""
    if decoder.value is None:
        raise decoder.error("no decoder: their library would join tokens with spaces, which is not supported")
    kinds = [_decoder_kind(step, suffix) for step in _decoder_steps(decoder)]
    if with_bytes:
        wanted = [["ByteLevel"]]
    elif suffix is not None:
        wanted = [["BPEDecoder"]]
    else:
        wanted = [["ByteFallback", "Fuse"]] if fallback else [["Fuse"], ["ByteFallback", "Fuse"]]
    if kinds not in wanted:
        raise decoder.error(
            f"the decoder {' + '.join(kinds)} is not supported here, only {' + '.join(wanted[0])}"
        )


def _decoder_steps(decoder: Json) -> list[Json]:
    if decoder.member("type").string() != "Sequence":
        return [decoder]
    return list(decoder.member("decoders").list())


def _decoder_kind(step: Json, suffix: str | None) -> str:
    kind = step.member("type").string()
    if kind == "BPEDecoder" and step.member("suffix").string() != suffix:
        raise step.error(f"the decoder's suffix is not the model's ({suffix!r})")
    return kind


def _read_vocab(vocab: Json) -> dict[str, int]:
    ids = vocab.ids()
    if len(set(ids.values())) < len(ids):
        names: dict[int, str] = {}
        for name, token_id in ids.items():
            if token_id in names:
                raise vocab.error(f"{names[token_id]!r} and {name!r} have the same id {token_id}")
            names[token_id] = name
    return ids


def _read_added(entries: Json, vocab: Mapping[str, int]) -> Added:
    """The added tokens, with the ids that their library gives them (which may not be those written)."""
    normalized = set[bool]()
    special, other = dict[str, int](), dict[str, int]()
    last = -1
    for entry in entries.list() if entries.value is not None else ():
        members = entry.object(ADDED_KEYS)
        for key in ADDED_FLAGS:
            if key in members and members[key].boolean():
                raise members[key].error(f"added tokens with {key} are not supported yet")
        text = entry.member("content").string()
        if not text or text in special or text in other:
            raise entry.error(f"the added token {text!r} is empty or given twice")
        beyond = last + 1 if last >= len(vocab) else len(vocab)
        token_id = vocab.get(text, beyond)
        if entry.member("id").id() != token_id:
            raise entry.error(f"the id of {text!r} should be {token_id}, which their library would give it")
        last = max(last, token_id)
        is_special = "special" in members and members["special"].boolean()
        normalized.add(members["normalized"].boolean() if "normalized" in members else not is_special)
        (special if is_special else other)[text] = token_id
    if len(normalized) > 1:
        raise entries.error("added tokens that are partly normalized, partly not, are not supported yet")
    return Added(special, other)


def _tokens(
    where: Json, vocab: Mapping[str, int], added: Added, with_bytes: bool, fallback: bool
) -> dict[int, bytes]:
    """id -> bytes of every entry, added tokens by their text."""
    tokens = {token_id: text.encode() for text, token_id in {**added.special, **added.other}.items()}
    for name, token_id in vocab.items():
        if token_id not in tokens:
            tokens[token_id] = _token(where, name, with_bytes, fallback)
        elif name not in added.special and name not in added.other:
            raise where.error(f"{name!r} has the id {token_id} of an added token")
    return tokens


def _token(where: Json, name: str, with_bytes: bool, fallback: bool) -> bytes:
    if with_bytes:
        if not all(character in CHARACTER_TO_BYTE for character in name):
            raise where.error(f"{name!r} is not spelled in the characters of bytes, and is no added token")
        return unspell(name)
    if fallback and len(name) == 6 and name.startswith("<0x") and name.endswith(">"):
        try:
            return bytes.fromhex(name[3:5])
        except ValueError:
            pass  # a token that only looks like a byte
    return name.encode()


def _is_symbol(name: str, token: bytes, with_bytes: bool, suffix: str | None) -> bool:
    """Whether an entry is one symbol: one character, with the suffix or without, or one byte."""
    if len(token) == 1 or with_bytes:
        return len(token) == 1
    return len(name) == 1 or (suffix is not None and name[1:] == suffix)


def _check_added(
    model: Json, names: Collection[str], with_bytes: bool, suffix: str | None, fallback: bool
) -> None:
    """An added token is cut out of the text before their model sees it; its name must mean no other text.

    As `Ġ`, which the model takes for a space, or with a suffix `a</w>`, which it takes for a last `a`.
    """
    whole = bool(model.optional("ignore_merges").value)
    for name in sorted(names):
        if with_bytes and not all(character in CHARACTER_TO_BYTE for character in name):
            continue
        token = _token(model, name, with_bytes, fallback)
        symbol = _is_symbol(name, token, with_bytes, suffix)
        if (symbol or whole) and (token != name.encode() or (suffix and name[1:] == suffix)):
            raise model.member("vocab").error(
                f"the added token {name!r} stands for other text as well ({token!r}), which is not supported"
            )


def _read_merges(merges: Json, vocab: Mapping[str, int]) -> tuple[tuple[int, int, int], ...]:
    """Pairs, or strings with a space, in rank order; of a pair given twice the last counts, as there."""
    ranks: dict[tuple[str, str], int] = {}
    for rank, merge in enumerate(merges.list()):
        pair = _pair(merge)
        for name in (*pair, "".join(pair)):
            if name not in vocab:
                raise merge.error(f"{name!r} is not in the vocabulary")
        ranks[pair] = rank
    ordered = sorted(ranks, key=ranks.__getitem__)
    return tuple((vocab[left], vocab[right], vocab[left + right]) for left, right in ordered)


def _pair(merge: Json) -> tuple[str, str]:
    if isinstance(merge.value, str):
        parts = merge.string().split(" ")
    else:
        parts = [part.string() for part in merge.list()]
    if len(parts) != 2:
        raise merge.error("must be two tokens")
    return parts[0], parts[1]
