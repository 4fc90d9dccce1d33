"""GPT-2's two files: `encoder.json` (token -> id) and `vocab.bpe` (merges).

Elsewhere they are `vocab.json` and `merges.txt`, as `BPE.save` of Hugging Face's library writes them.

Tokens are spelled in GPT-2's 256 characters of bytes; where names have other characters and the 256 are not
all there, they are text, and `</w>` on a single character says that words end with it. Adds finding the other
file of a pair: the same name with the other ending, any prefix kept (`gpt2_encoder.json`, `gpt2_vocab.bpe`).
The files do not say their split: those that GPT-2 published are known by their SHA-256, others need
`split=`. An entry of the vocabulary that no merge makes and no byte is (`<|endoftext|>`) is special if
`special_tokens=` or the known encoding says so, else an ordinary token; in GPT-2's own it is an error
(merges cut short), unless `split=` is given. Beside `vocab.json` a
`tokenizer_config.json` may say `add_prefix_space`. Leaves out: writing (`gpt2_write`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from syllabary import splits
from syllabary._engine import sha256
from syllabary.encodings import Encoding, find_by_sha256
from syllabary.errors import FormatError
from syllabary.files import read_bounded
from syllabary.formats.gpt2_write import HEADER, MARK, NAME, reduce, refuses, write_files
from syllabary.formats.hf_split import PREFIX_SPACE
from syllabary.formats.hf_vocab import is_symbol
from syllabary.formats.record import Format, Hints, checked
from syllabary.formats.signs import PAIRS, SIGNS
from syllabary.formats.strict_json import parse
from syllabary.formats.transformers_folder import CONFIG
from syllabary.reference.bytes_to_unicode import CHARACTER_TO_BYTE, unspell
from syllabary.reference.symbols import plural
from syllabary.spec import SplitSpec, Step, TokenizerSpec


def read(path: Path, hints: Hints) -> TokenizerSpec:
    """The tokenizer of a pair of files, either of which is `path`.

    Raises `FormatError` if the other file is missing or the two do not fit (with the line), or if the split
    is not known.
    """
    vocab_path, merges_path = pair_of(path)
    data = read_bounded(vocab_path)
    vocab = parse(data, vocab_path).ids()
    known = find_by_sha256(sha256(data))
    split, special = _context(vocab_path, known, hints)
    for text, token_id in special.items():
        if vocab.get(text, token_id) != token_id:
            raise FormatError(
                f"{vocab_path}: special token {text!r} has id {vocab[text]} here, not {token_id}"
            )
    names = vocab.keys() - special.keys()
    by_bytes = _spelled(names)
    if not by_bytes and CHARACTER_TO_BYTE.keys() <= names:
        raise _not_bytes(names, vocab_path)
    mark = None if by_bytes or not any(map(_is_marked, names)) else MARK
    tokens = {
        token_id: unspell(name) if by_bytes else name.encode()
        for name, token_id in vocab.items()
        if name not in special
    }
    if len(tokens) < len(names):
        raise FormatError(f"{vocab_path}: two tokens have the same id")
    symbols = {name for name in names if is_symbol(name, "", mark or "")}
    spec = TokenizerSpec(
        unit="byte" if by_bytes else "char",
        split=split,
        tokens=tokens,
        alphabet={tokens[vocab[name]]: vocab[name] for name in vocab if name in symbols},
        merges=_read_merges(merges_path, vocab),
        special_tokens=special,
        end_of_word=mark,
        pretokenizer=_prefixing(vocab_path, split) if by_bytes else (),
    )
    if known is not None and hints.split is None:
        _check_made(spec, known, merges_path)
    return checked(spec, vocab_path)


def pair_of(path: Path) -> tuple[Path, Path]:
    """Either file -> (vocabulary, merges); `FormatError` if the other one is not beside it."""
    for vocab_name, merges_name in PAIRS:
        for ending in (vocab_name, merges_name):
            if path.name.endswith(ending):
                prefix = path.name[: -len(ending)]
                pair = path.with_name(prefix + vocab_name), path.with_name(prefix + merges_name)
                for member in pair:
                    if not member.exists():
                        raise FormatError(
                            f"{path}: the other file of the pair, {member.name}, is not beside it"
                        )
                return pair
    wanted = " or ".join(" + ".join(pair) for pair in PAIRS)
    raise FormatError(f"{path}: the name does not say which of two files this is; name them …{wanted}")


def _context(path: Path, known: Encoding | None, hints: Hints) -> tuple[SplitSpec, Mapping[str, int]]:
    """Split and special tokens: the caller's, or those of the published file that this is."""
    if known is None and hints.split is None:
        raise FormatError(
            f"{path}: the file does not say its split, and is no published encoding's; give split=, "
            f"a pattern or one of {', '.join(splits.names())}"
        )
    if known is None or hints.split is not None:
        return hints.split or splits.get(None), dict(hints.special_tokens or {})
    special = known.special_tokens if hints.special_tokens is None else hints.special_tokens
    return splits.get(known.split), dict(special)


def _check_made(spec: TokenizerSpec, known: Encoding, merges_path: Path) -> None:
    """`FormatError` if a token of a published vocabulary is no symbol, not special, and no merge makes it."""
    made = {result for _left, _right, result in spec.merges or ()}
    unmade = spec.tokens.keys() - made - set(spec.alphabet.values()) - set(known.special_tokens.values())
    if unmade:
        raise FormatError(
            f"{merges_path}: {plural(len(spec.merges or ()), 'merge')}, and {plural(len(unmade), 'token')} "
            f"of {known.name}'s vocabulary that none of them makes: cut short? with split= it is read as it "
            "stands"
        )


def _prefixing(vocab_path: Path, split: SplitSpec) -> tuple[Step, ...]:
    """The step that puts a space in front of each part of the text, if the file of options says so.

    Source: transformers 5.23, `GPT2Tokenizer`, whose split is GPT-2's; others put it elsewhere, each its own.
    """
    beside = vocab_path.parent / CONFIG
    if vocab_path.name != PAIRS[1][0] or not beside.is_file():
        return ()
    option = parse(read_bounded(beside), beside).optional("add_prefix_space")
    if option.value is None or not option.boolean():
        return ()
    if split.pattern != splits.get("gpt2").pattern:
        raise option.error(
            "true is read with the split gpt2 alone: give split='gpt2', or take the option out of the file"
        )
    return (PREFIX_SPACE,)


def _spelled(names: Iterable[str]) -> bool:
    return all(character in CHARACTER_TO_BYTE for name in names for character in name)


def _is_marked(name: str) -> bool:
    return len(name) == 1 + len(MARK) and name.endswith(MARK)


def _not_bytes(names: Iterable[str], path: Path) -> FormatError:
    wrong = next(name for name in sorted(names) if not _spelled([name]))
    return FormatError(
        f"{path}: {wrong[:80]!r} is not spelled in GPT-2's characters of bytes; if it is special, name "
        "it in special_tokens="
    )


def _read_merges(path: Path, vocab: Mapping[str, int]) -> tuple[tuple[int, int, int], ...]:
    """Lines `left right`, without those that begin with `#version`; of a pair twice the last counts.

    Source: tokenizers, `BPE::read_file`, which skips all of these, wherever they stand.
    """
    try:
        text = read_bounded(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not UTF-8 at byte offset {error.start} ({error.reason})") from error
    ranks: dict[tuple[str, str], int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line or line.startswith(HEADER):
            continue
        parts = line.removesuffix("\r").split(" ")
        if len(parts) != 2:
            raise FormatError(f"{path}: line {number}: {line[:80]!r} is not two tokens")
        for name in (*parts, "".join(parts)):
            if name not in vocab:
                raise FormatError(f"{path}: line {number}: {json.dumps(name[:80])} is not in the vocabulary")
        ranks[parts[0], parts[1]] = number
    ordered = sorted(ranks, key=ranks.__getitem__)
    return tuple((vocab[left], vocab[right], vocab[left + right]) for left, right in ordered)


FORMAT = Format(
    SIGNS[NAME],
    read,
    None,
    refuses,
    write_files,
    hinted=True,
    unsaid=True,
    reduce=reduce,
)
