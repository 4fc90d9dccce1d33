"""Making text of the spellings of tokens: the steps of `TokenizerSpec.decoder`.

Adds `decode` and the table `DECODERS` of all kinds: those of tokenizers 0.23.3 (its `decoders/`), `Join`, and
`SentencePiece`. Each makes strings of strings; the last ones are joined. Leaves out: their options (`steps`),
and decoding without steps (`decode`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from syllabary.reference.aligned import Aligned, check_length
from syllabary.reference.bytes_to_unicode import CHARACTER_TO_BYTE
from syllabary.reference.charsmap import charsmap
from syllabary.reference.normalize import replace
from syllabary.reference.normalize_sentencepiece import SPACE, Rules, sentencepiece
from syllabary.spec import Step

Options = Mapping[str, Any]
Decoder = Callable[[list[str], Options], list[str]]
TokenClass = Literal["normal", "byte", "control", "unknown"]

BYTE = re.compile(r"<0x(?:[0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>")  # Rust reads a number with its sign
# What English spaced out becomes, one after the other (`decoders/wordpiece.rs`).
CLEANED = (
    (" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"),
    (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"),
)  # fmt: skip


def decode(steps: Sequence[Step], tokens: Sequence[str], classes: Sequence[TokenClass] | None = None) -> str:
    """The text of tokens with these spellings.

    classes: of each token, which only a step `SentencePiece` that comes first looks at: a `control` symbol
        has no text, the `unknown` one that of the option `unknown_surface`. Without them, `<0xXX>` is a byte
        and any other token normal.
    Raises `PatternError` where a pattern gives up or matches the empty string, `TextError` where the text
    grows beyond what `aligned.check_length` allows. The steps have been checked (`steps.validate`).

    >>> decode([Step("WordPiece", {"prefix": "##", "cleanup": True})], ["to", "##ken", "."])
    'token.'
    """
    strings, before = list(tokens), size(tokens)
    for at, step in enumerate(steps):
        if step.kind == "SentencePiece":
            known = classes if at == 0 else None
            strings = [sentencepiece_text(strings, known or list(map(class_of, strings)), step.options)]
        else:
            strings = DECODERS[step.kind](strings, step.options)
        check_length(size(strings), before)
    return "".join(strings)


def size(tokens: Sequence[str]) -> int:
    """The characters of all tokens, and one for each."""
    return sum(map(len, tokens)) + len(tokens)


def class_of(token: str) -> TokenClass:
    """Whether a token is spelled as a byte."""
    return "byte" if re.fullmatch("<0x[0-9A-F]{2}>", token) else "normal"


def cleanup(text: str) -> str:
    """English without the spaces that were put before signs."""
    for spaced, closed in CLEANED:
        text = text.replace(spaced, closed)
    return text


def _bpe(tokens: list[str], options: Options) -> list[str]:
    suffix = options["suffix"]
    last = [token.replace(suffix, "") for token in tokens[-1:]]
    return [token.replace(suffix, " ") for token in tokens[:-1]] + last


def _byte_level(tokens: list[str], options: Options) -> list[str]:
    return [b"".join(map(_unspelled, tokens)).decode("utf-8", "replace")]


def _unspelled(token: str) -> bytes:
    """The bytes that a token spells, or those of the token if some character spells none."""
    known = [CHARACTER_TO_BYTE.get(char) for char in token]
    return token.encode("utf-8") if None in known else bytes(byte for byte in known if byte is not None)


def _word_piece(tokens: list[str], options: Options) -> list[str]:
    prefix = options["prefix"]
    words = [
        token if at == 0 else token.removeprefix(prefix) if token.startswith(prefix) else f" {token}"
        for at, token in enumerate(tokens)
    ]
    return list(map(cleanup, words)) if options["cleanup"] else words


def _metaspace(tokens: list[str], options: Options) -> list[str]:
    """The first token loses its marks, all of them, where one was prepended."""
    first = " " if options["prepend_scheme"] == "never" else ""
    mark = options["replacement"]
    return [token.replace(mark, " " if at else first) for at, token in enumerate(tokens)]


def _ctc(tokens: list[str], options: Options) -> list[str]:
    found = []
    for token, _ in groupby(tokens):
        token = token.replace(options["pad_token"], "")
        if options["cleanup"]:
            token = cleanup(token).replace(options["word_delimiter_token"], " ")
        if token:
            found.append(token)
    return found


def _join(tokens: list[str], options: Options) -> list[str]:
    check_length(size(tokens) + len(tokens) * len(options["separator"]), size(tokens))
    return [options["separator"].join(tokens)]


def _replace(tokens: list[str], options: Options) -> list[str]:
    found, length, before = [], 0, size(tokens)
    for token in tokens:
        found.append(replace(Aligned.of(token), options).text)
        length += len(found[-1])
        check_length(length, before)
    return found


def _strip(tokens: list[str], options: Options) -> list[str]:
    content, start, stop = options["content"], options["start"], options["stop"]
    found = []
    for token in tokens:
        front = min(start, len(token) - len(token.lstrip(content)))
        back = min(stop, len(token) - len(token.rstrip(content)))
        found.append(token[front : max(front, len(token) - back)])
    return found


def _byte_fallback(tokens: list[str], options: Options) -> list[str]:
    """Bytes in a row are one string if they are UTF-8, else each of them is U+FFFD."""
    found: list[str] = []
    for is_byte, group in groupby(tokens, key=lambda token: BYTE.fullmatch(token) is not None):
        row = list(group)
        if not is_byte:
            found += row
            continue
        data = bytes(int(token[3:5], 16) for token in row)
        try:
            found.append(data.decode("utf-8"))
        except UnicodeDecodeError:
            found += ["\ufffd"] * len(row)
    return found


def sentencepiece_text(tokens: Sequence[str], classes: Sequence[TokenClass], options: Options) -> str:
    """What sentencepiece decodes ids to (`sentencepiece_processor.cc`, `DecodeOptimized`).

    Spaces at the start go as long as there is no text: one that was put there (`add_dummy_prefix`), or all
    (`remove_extra_whitespaces`). Bytes in a row are UTF-8, each that is not is U+FFFD.
    """
    text, at_start, before = "", True, size(tokens)
    for is_byte, group in groupby(zip(tokens, classes, strict=True), key=lambda item: item[1] == "byte"):
        if is_byte:
            text += _utf8(bytes(int(token[3:5], 16) for token, _ in group))
            continue
        at_start = at_start and not text
        for token, kind in group:
            if kind == "control":
                continue
            stripped = False
            if at_start and (options["add_dummy_prefix"] or options["remove_extra_whitespaces"]):
                stripped = token.startswith(SPACE)
                token = token.removeprefix(SPACE)
            check_length(len(text), before)
            text += options["unknown_surface"] if kind == "unknown" else token.replace(SPACE, " ")
            at_start = at_start and not text and (options["remove_extra_whitespaces"] or not stripped)
    rules = charsmap(options["denormalizer_charsmap"])
    plain = Rules(rules, False, False, False, False)
    return sentencepiece(Aligned.of(text), plain).text if rules else text


def _utf8(data: bytes) -> str:
    """Bytes as text, with a U+FFFD for each byte that belongs to no character."""
    return data.decode("utf-8", "surrogateescape").translate(dict.fromkeys(range(0xDC80, 0xDD00), "\ufffd"))


DECODERS: dict[str, Decoder] = {
    "BPEDecoder": _bpe,
    "ByteLevel": _byte_level,
    "WordPiece": _word_piece,
    "Metaspace": _metaspace,
    "CTC": _ctc,
    "Replace": _replace,
    "Fuse": lambda tokens, options: ["".join(tokens)],
    "Strip": _strip,
    "ByteFallback": _byte_fallback,
    "Join": _join,
    "SentencePiece": lambda tokens, options: [
        sentencepiece_text(tokens, list(map(class_of, tokens)), options)
    ],
}
