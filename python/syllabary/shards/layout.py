"""The folder of shards: its files, its index, and what must hold between them.

Adds names, the types that ids are stored in, a tokenizer's fingerprint, and an index that is read with
every number checked. Leaves out: views of the files (`reading`) and their writing (`writing`).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from syllabary.errors import FormatError, ShardError
from syllabary.files import read_bounded
from syllabary.formats import syllabary_json
from syllabary.formats.strict_json import Json, parse
from syllabary.spec import TokenizerSpec
from syllabary.tokenizer import Tokenizer

FORMAT, VERSION = "syllabary-shards", 1
INDEX, TOKENIZER, WORK = "index.json", "tokenizer.syllabary.json", ".work"

SplitName: TypeAlias = Literal["train", "val"]
SPLITS: tuple[SplitName, ...] = ("train", "val")

IDS: dict[str, str] = {"uint16": "<u2", "uint32": "<u4"}  # name in the index -> numpy's, little endian
OFFSETS = "<i8"
RECORD = re.compile(rb'^"record": .*$', re.MULTILINE)  # no other line begins so


def ids_file(split: SplitName) -> str:
    """`train.bin`: all ids of a split, one after the other."""
    return f"{split}.bin"


def offsets_file(split: SplitName) -> str:
    """`train.offsets.bin`: where each document begins in the ids, and where the last one ends."""
    return f"{split}.offsets.bin"


def spec_bytes(spec: TokenizerSpec) -> bytes:
    """The tokenizer as a `.syllabary.json`."""
    return syllabary_json.write(spec)


def fingerprint(tokenizer: Tokenizer) -> str:
    """SHA-256, hexadecimal, of the tokenizer's `.syllabary.json` without the record of its training.

    Two tokenizers that encode and decode alike because they are the same data have the same fingerprint.
    """
    return hash_of(spec_bytes(tokenizer.spec))


def hash_of(data: bytes) -> str:
    """The fingerprint of the tokenizer in this `.syllabary.json`, whose record is one line."""
    bare = RECORD.sub(b'"record": {},', data, count=1)
    return hashlib.sha256(bare).hexdigest()


def id_count(tokenizer: Tokenizer) -> int:
    """One more than the largest id, so that every id is below it; gaps between ids count."""
    return max(tokenizer.vocab, default=-1) + 1


def dtype_for(ids: int) -> str:
    """The name of the type that holds the ids 0 to `ids` - 1.

    >>> dtype_for(65_536), dtype_for(65_537)
    ('uint16', 'uint32')
    """
    if ids > 1 << 32:
        raise ShardError(f"the largest id is {ids - 1}, which 32 bits cannot hold")
    return "uint16" if ids <= 1 << 16 else "uint32"


@dataclasses.dataclass(frozen=True, slots=True)
class SplitIndex:
    """What the index says of one split: counts, bytes of text before `normalize`, digest of the documents."""

    documents: int
    tokens: int
    text_bytes: int
    sha256_documents: str


@dataclasses.dataclass(frozen=True, slots=True)
class Index:
    """`index.json` as data. val: the part of the documents that was held out; None in `splits`: none was."""

    dtype: str
    vocab_size: int
    tokenizer_sha256: str
    end: int | None
    seed: int
    val: float
    splits: Mapping[SplitName, SplitIndex]
    corpus: Mapping[str, Any]

    def to_bytes(self) -> bytes:
        """The file: equal indexes give equal bytes."""
        splits = {
            name: {"file": ids_file(name), "offsets": offsets_file(name)} | dataclasses.asdict(split)
            for name, split in self.splits.items()
        }
        data = {
            "format": FORMAT,
            "version": VERSION,
            "dtype": self.dtype,
            "vocab_size": self.vocab_size,
            "tokenizer": {"file": TOKENIZER, "sha256": self.tokenizer_sha256},
            "end": self.end,
            "seed": self.seed,
            "val": self.val,
            "splits": splits,
            "corpus": dict(self.corpus),
        }
        return (json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode(
            "utf-8", "backslashreplace"
        )


def read_index(folder: Path) -> Index:
    """The index of a folder; `ShardError` for one that is no index of ours, or contradicts itself."""
    path = folder / INDEX
    try:
        index = _index(parse(read_bounded(path), path))
    except FormatError as error:
        raise ShardError(f"{error}; write the shards again") from error
    if index.dtype != dtype_for(index.vocab_size):
        raise ShardError(
            f"{path}: dtype is {index.dtype}, and {index.vocab_size} ids are {dtype_for(index.vocab_size)}: "
            "the index is damaged; write the shards again"
        )
    return index


def _index(root: Json) -> Index:
    if root.member("format").value != FORMAT:
        raise root.member("format").error(f'must be "{FORMAT}"')
    if root.member("version").value != VERSION:
        raise root.member("version").error(f"this syllabary reads version {VERSION}; a newer one wrote it")
    end, val = root.member("end"), root.member("val")
    if isinstance(val.value, bool) or not isinstance(val.value, (int, float)) or not 0 <= val.value < 1:
        raise val.error("must be a number from 0 to 1")
    splits = root.member("splits").object(SPLITS)
    if "train" not in splits:
        raise root.member("splits").error("'train' is missing")
    corpus = root.member("corpus")
    corpus.object()
    return Index(
        dtype=root.member("dtype").choice(*IDS),
        vocab_size=_count(root.member("vocab_size"), 1, 1 << 32),
        tokenizer_sha256=_digest(root.member("tokenizer").member("sha256")),
        end=None if end.value is None else end.id(),
        seed=_count(root.member("seed")),
        val=float(val.value),
        splits={name: _split(splits[name], name) for name in SPLITS if name in splits},
        corpus=corpus.value,  # type: ignore[arg-type]  # an object: looked at above
    )


def _split(json_split: Json, name: SplitName) -> SplitIndex:
    json_split.member("file").choice(ids_file(name))
    json_split.member("offsets").choice(offsets_file(name))
    return SplitIndex(
        documents=_count(json_split.member("documents"), 1),
        tokens=_count(json_split.member("tokens"), 1),
        text_bytes=_count(json_split.member("text_bytes")),
        sha256_documents=_digest(json_split.member("sha256_documents")),
    )


def _count(member: Json, least: int = 0, most: int | None = None) -> int:
    value, top = member.value, (1 << 63) - 1 if most is None else most
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= top:
        raise member.wrong(f"a whole number, {least} {'or more' if most is None else f'to {most}'}")
    return value


def _digest(member: Json) -> str:
    text = member.string()
    if len(text) != 64 or text.strip("0123456789abcdef"):
        raise member.wrong("64 hexadecimal digits")
    return text
