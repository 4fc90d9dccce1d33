"""`verify`: one tokenizer against another, or against the library that its file comes from, on real text.

Adds the peers that are known by name, and the first difference with its context. Leaves out: time.
"""

from __future__ import annotations

import importlib
import os
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syllabary import formats
from syllabary.errors import FormatError, SyllabaryError
from syllabary.opening import load
from syllabary.tokenizer import Tokenizer

CONTEXT = 60  # characters of text and tokens on either side of a difference

# Text -> ids, and the bytes of one id as the peer spells it.
Encode = Callable[[str], list[int]]


@dataclass(frozen=True, slots=True)
class Peer:
    """Another tokenizer: its name and version, and its ids of a text."""

    name: str
    encode: Encode


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """Where two tokenizers part.

    document: number of the text, from 0. index: of the token. character: where that token starts in the
    text. text: around it. ours, theirs: the ids from there on.
    """

    document: int
    index: int
    character: int
    text: str
    ours: list[int]
    theirs: list[int]


@dataclass(frozen=True, slots=True)
class Verification:
    """What a comparison found: over how many texts and tokens, and the first difference or `None`."""

    peer: str
    texts: int
    tokens: int
    difference: FirstDifference | None

    def as_data(self) -> dict[str, object]:
        """Plain JSON values."""
        first = self.difference
        return {
            "peer": self.peer,
            "texts": self.texts,
            "tokens": self.tokens,
            "equal": first is None,
            "first_difference": None
            if first is None
            else {name: getattr(first, name) for name in FirstDifference.__slots__},
        }


def verify(
    source: str | os.PathLike[str],
    against: str | os.PathLike[str],
    texts: Iterable[str],
    *,
    split: str | None = None,
) -> Verification:
    """Compare the ids of every text, special tokens allowed; stops at the first text that differs.

    source: a file, folder or name that `load` opens; `split` as there.
    against: the name of a library (`PEERS`), which opens `source` itself, or another tokenizer for `load`.

    Raises `FormatError` for a library that cannot open this tokenizer or encode a text, which it names by its
    number, `ImportError` for one that is not installed; what `encode` raises, with the file and the number.
    """
    # Only where it is meant for the other side alone does `source` not get it, and refuse it if need be.
    elsewhere = formats.leaves_open(against) and os.path.exists(source) and not formats.leaves_open(source)
    tok = load(source, split=None if elsewhere else split)
    peer = open_peer(source, against, tok, split)
    count = tokens = 0
    for document, text in enumerate(texts):
        with _told(f"{os.fspath(source)}: text {document}"):
            ours = tok.encode(text, special="allow", dropout=0.0)
        with _told(f"{peer.name} cannot encode text {document}"):
            theirs = peer.encode(text)
        if ours != theirs:
            return Verification(peer.name, count, tokens, _difference(tok, document, text, ours, theirs))
        count, tokens = count + 1, tokens + len(ours)
    return Verification(peer.name, count, tokens, None)


def open_peer(
    source: str | os.PathLike[str],
    against: str | os.PathLike[str],
    tok: Tokenizer,
    split: str | None = None,
) -> Peer:
    """The other side of the comparison; `split` for a rank file, which says nothing of its own."""
    if isinstance(against, str) and against in PEERS:
        return PEERS[against](source, tok)
    if not os.path.exists(against) and os.fspath(against).isalpha():
        raise FormatError(f"{os.fspath(against)!r} is no file, and no library: those are {', '.join(PEERS)}")
    other = load(against, split=split if formats.leaves_open(against) else None)
    return Peer(os.fspath(against), lambda text: other.encode(text, special="allow", dropout=0.0))


def _difference(
    tok: Tokenizer, document: int, text: str, ours: list[int], theirs: list[int]
) -> FirstDifference:
    same = (index for index, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b)
    index = next(same, min(len(ours), len(theirs)))
    try:
        offsets = tok.offsets(text, special="allow")
        character = int(offsets[index][0]) if index < len(offsets) else len(text)
    except SyllabaryError:
        character = 0
    around = text[max(0, character - CONTEXT) : character + CONTEXT]
    return FirstDifference(
        document, index, character, around, ours[index : index + CONTEXT], theirs[index : index + CONTEXT]
    )


@contextmanager
def _told(where: str) -> Iterator[None]:
    """An error of ours says where; one of another library is a `FormatError` with its words."""
    try:
        yield
    except SyllabaryError as error:
        raise type(error)(f"{where}: {error}") from error
    except BaseException as error:
        # A panic of pyo3 is no `Exception`, and has no module to import its class from.
        foreign = isinstance(error, Exception) or type(error).__name__ == "PanicException"
        if isinstance(error, MemoryError) or not foreign:
            raise
        raise FormatError(f"{where}: {str(error) or type(error).__name__}") from error


# ---- the libraries ----


def _library(name: str, package: str) -> tuple[Any, str]:
    """The library and what to call it; `ImportError` says how to install it."""
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{package} is not installed: pip install {package}") from error
    return module, f"{package} {getattr(module, '__version__', '')}".strip()


def _tokenizers(source: str | os.PathLike[str], _tok: Tokenizer) -> Peer:
    module, name = _library("tokenizers", "tokenizers")
    path = _file(source, "huggingface", name)
    data = path.read_bytes()  # a name need not be UTF-8
    with _told(f"{path}: {name} cannot open it"):
        theirs = module.Tokenizer.from_buffer(data)
    theirs.no_truncation()
    theirs.no_padding()
    return Peer(name, lambda text: list(theirs.encode(text, add_special_tokens=False).ids))


def _sentencepiece(source: str | os.PathLike[str], _tok: Tokenizer) -> Peer:
    module, name = _library("sentencepiece", "sentencepiece")
    path = _file(source, "sentencepiece", name)
    data = path.read_bytes()
    with _told(f"{path}: {name} cannot open it"):
        theirs = module.SentencePieceProcessor(model_proto=data)
    return Peer(name, lambda text: list(theirs.encode(text)))


def _tiktoken(source: str | os.PathLike[str], tok: Tokenizer) -> Peer:
    module, name = _library("tiktoken", "tiktoken")
    spec = tok.spec
    if not os.path.exists(source):
        theirs = module.get_encoding(os.fspath(source))
    elif spec.unit == "byte" and spec.split.pattern is not None and not spec.pretokenizer:
        # Theirs would read a copy that it keeps of each file by its name, as it was when first read.
        rows = map(bytes.split, _file(source, "tiktoken", name).read_bytes().splitlines())
        ranks = {b64decode(row[0]): int(row[1]) for row in rows if row}
        with _told(f"{os.fspath(source)}: {name} cannot open it"):
            theirs = module.Encoding(
                "verified",
                pat_str=spec.split.pattern,
                mergeable_ranks=ranks,
                special_tokens=dict(spec.special_tokens),
            )
    else:
        raise FormatError(f"{os.fspath(source)}: {name} cannot open it: it needs a rank file and a pattern")
    return Peer(name, lambda text: list(theirs.encode(text, allowed_special="all")))


def _subword_nmt(source: str | os.PathLike[str], tok: Tokenizer) -> Peer:
    module, name = _library("subword_nmt.apply_bpe", "subword-nmt")
    path = _file(source, "subword-nmt", name)
    mark = tok.spec.end_of_word or ""
    with open(path, encoding="utf-8") as codes, _told(f"{path}: {name} cannot open it"):
        theirs = module.BPE(codes, separator="")

    def encode(text: str) -> list[int]:
        ids: list[int] = []
        for line in text.split("\n"):
            for word in line.strip("\r\n ").split(" "):
                segments = theirs.segment_tokens([word]) if word else []
                marked = [*segments[:-1], *(segment + mark for segment in segments[-1:])]
                ids += [tok.token_to_id(segment) for segment in marked]
        return ids

    return Peer(name, encode)


def _file(source: str | os.PathLike[str], format_name: str, library: str) -> Path:
    """The file that a library opens; `FormatError` if `source` is of another format."""
    form, path = formats.find(source)
    if form.name != format_name:
        home = f"{HOMES[form.name]} or " if form.name in HOMES else ""
        raise FormatError(
            f"{path}: {library} does not open the format {form.name}; "
            f"convert it first, or compare with {home}another file"
        )
    return path


PEERS: dict[str, Callable[[str | os.PathLike[str], Tokenizer], Peer]] = {
    "tiktoken": _tiktoken,
    "tokenizers": _tokenizers,
    "sentencepiece": _sentencepiece,
    "subword-nmt": _subword_nmt,
}


# Format -> the library of those that opens it.
HOMES = {
    "tiktoken": "tiktoken",
    "huggingface": "tokenizers",
    "sentencepiece": "sentencepiece",
    "subword-nmt": "subword-nmt",
}


def names() -> Sequence[str]:
    """The libraries that `against` may name.

    >>> names()
    ('tiktoken', 'tokenizers', 'sentencepiece', 'subword-nmt')
    """
    return tuple(PEERS)
