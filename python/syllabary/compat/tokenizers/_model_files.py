"""The files of models: `vocab.json`, `merges.txt`, `vocab.txt`, `unigram.json`.

Leaves out: `tokenizer.json` (`_tokenizer`). Files are written whole, and all or none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from syllabary.compat.tokenizers._json import dumps
from syllabary.files import write_files


def read_vocab(path: str) -> dict[str, int]:
    """A JSON file of token -> id; `ValueError` for anything else."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 at byte offset {error.start}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path}: not an object of token and id")
    return {str(token): int(number) for token, number in found.items() if isinstance(number, int)}


def read_bpe(vocab: str, merges: str) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """`vocab.json` and `merges.txt`; an `Exception` that says what is wrong."""
    try:
        found = []
        for line in _lines(merges):
            line = line.removesuffix("\r")
            if not line or line.startswith("#version"):
                continue
            pair = line.split(" ")
            if len(pair) != 2:
                raise ValueError(f"{merges}: line {line!r} is no pair of tokens")
            found.append((pair[0], pair[1]))
        return read_vocab(vocab), found
    except (OSError, ValueError) as error:
        raise Exception(f"Error while reading vocab & merges files: {error}") from error


def read_lines(path: str) -> dict[str, int]:
    """`vocab.txt`: a token a line; white space behind it is none of it, and the last of two alike counts."""
    try:
        lines = _lines(path)
    except (OSError, UnicodeDecodeError) as error:
        raise Exception(f"Error while reading WordPiece file: {error}") from error
    if lines and not lines[-1]:
        lines.pop()
    return {line.rstrip(): number for number, line in enumerate(lines)}


def _lines(path: str) -> list[str]:
    """What stands between line feeds; a carriage return may be a part of a token."""
    return Path(path).read_bytes().decode("utf-8").split("\n")


def check_merges(model: Mapping[str, Any]) -> None:
    """`ValueError` for a merge of a token that the vocabulary has not."""
    vocab, prefix = model["vocab"], model["continuing_subword_prefix"] or ""
    for left, right in model["merges"]:
        if right in vocab and not right.startswith(prefix):
            raise ValueError(f"Token `{right}` does not begin with `{prefix}`")
        for token in (left, right, left + right[len(prefix) :]):
            if token not in vocab:
                raise ValueError(f"Token `{token}` out of vocabulary")


def save(kind: str, model: Mapping[str, Any], folder: str, prefix: str | None) -> list[str]:
    """Write the files of a model into a folder; their paths."""
    front = "" if prefix is None else f"{prefix}-"
    written: dict[str, str] = {}
    if kind == "Unigram":
        written[f"{front}unigram.json"] = dumps(model, pretty=True)
    elif kind == "WordPiece":
        written[f"{front}vocab.txt"] = "".join(f"{token}\n" for token in model["vocab"])
    else:
        written[f"{front}vocab.json"] = dumps(model["vocab"])
    if kind == "BPE":
        lines = [" ".join(pair) for pair in model["merges"]]
        written[f"{front}merges.txt"] = "\n".join(["#version: 0.2", *lines, ""])
    write_files({Path(folder) / name: text.encode("utf-8") for name, text in written.items()})
    return [str(Path(folder) / name) for name in written]
