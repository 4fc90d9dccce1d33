"""Rank files, by tiktoken's interface: read from a path or address, cached, checked, parsed, written.

Adds the functions of tiktoken's `load` with its cache folders and errors; the network is
`syllabary.encodings.download`'s, so an address is https and its file bounded.
Leaves out: other stores than files and https (tiktoken asks `blobfile` for them).
"""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from pathlib import Path

from syllabary.encodings import download
from syllabary.encodings.cache import cache_name
from syllabary.encodings.gpt2_pair import rank_lines, read
from syllabary.files import write_atomic


def read_file(blobpath: str) -> bytes:
    """The bytes of a file by its path or https address; `ImportError` for other stores."""
    if "://" not in blobpath:
        return Path(blobpath).read_bytes()
    if blobpath.startswith(("http://", "https://")):
        return download.fetch(blobpath)
    raise ImportError("blobfile is not installed. Please install it by running `pip install blobfile`.")


def check_hash(data: bytes, expected_hash: str) -> bool:
    """Whether data has this SHA-256."""
    return hashlib.sha256(data).hexdigest() == expected_hash


def read_file_cached(blobpath: str, expected_hash: str | None = None) -> bytes:
    """`read_file`, through tiktoken's cache folder; `ValueError` for another SHA-256 than expected.

    The folder is `$TIKTOKEN_CACHE_DIR`, `$DATA_GYM_CACHE_DIR` or the temporary folder's `data-gym-cache`;
    an empty variable switches the cache off. A damaged file in it is replaced.
    """
    given = [os.environ[name] for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR") if name in os.environ]
    folder = given[0] if given else os.path.join(tempfile.gettempdir(), "data-gym-cache")
    if not folder:
        return read_file(blobpath)
    path = Path(folder, cache_name(blobpath))
    if path.exists():
        data = path.read_bytes()
        if expected_hash is None or check_hash(data, expected_hash):
            return data
    contents = read_file(blobpath)
    if expected_hash and not check_hash(contents, expected_hash):
        raise ValueError(
            f"Hash mismatch for data downloaded from {blobpath} (expected {expected_hash}). "
            "This may indicate a corrupted download. Please try again."
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, contents)
    except OSError:
        if given:  # a folder that the user named must work
            raise
    return contents


def data_gym_to_mergeable_bpe_ranks(
    vocab_bpe_file: str,
    encoder_json_file: str,
    vocab_bpe_hash: str | None = None,
    encoder_json_hash: str | None = None,
    clobber_one_byte_tokens: bool = False,
) -> dict[bytes, int]:
    """GPT-2's two files as ranks; `ValueError` if they disagree (in tiktoken, `AssertionError`)."""
    merges = read_file_cached(vocab_bpe_file, vocab_bpe_hash)
    vocab = read_file_cached(encoder_json_file, encoder_json_hash)
    return read(merges, vocab, bytes_of_vocab=clobber_one_byte_tokens)


def dump_tiktoken_bpe(bpe_ranks: dict[bytes, int], tiktoken_bpe_file: str) -> None:
    """Write a rank file, whole or not at all; without blobfile, which tiktoken needs for it."""
    if "://" in tiktoken_bpe_file:
        raise ImportError("blobfile is not installed. Please install it by running `pip install blobfile`.")
    write_atomic(Path(tiktoken_bpe_file), rank_lines(bpe_ranks))


def load_tiktoken_bpe(tiktoken_bpe_file: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """The ranks of a rank file by its path or address, through the cache; `ValueError` names a wrong line."""
    return parse_tiktoken_bpe(read_file_cached(tiktoken_bpe_file, expected_hash), tiktoken_bpe_file)


def parse_tiktoken_bpe(contents: bytes, name: str) -> dict[bytes, int]:
    """The ranks of a rank file's bytes; `name` is what errors call it."""
    ranks: dict[bytes, int] = {}
    for line in contents.splitlines():
        if line:
            try:
                token, rank = line.split()
                ranks[base64.b64decode(token)] = int(rank)
            except ValueError as error:
                raise ValueError(f"Error parsing line {line!r} in {name}") from error
    return ranks
