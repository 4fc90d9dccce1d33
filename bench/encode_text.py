"""The texts and vocabularies of `bench/encode.py`: documents cut from corpora, short strings, worst cases.

Documents lie in one file, their lengths before them, so that a lane reads them without a second copy in
memory. They are spread evenly over the whole corpus. tokenizer.json files are made for the peers that read
nothing else, by `syllabary.convert`, with the pattern of cl100k in the spelling that they know.
Leaves out: what is done with them.
"""

from __future__ import annotations

import json
import lzma
import random
import string
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

DOCUMENT = 3000  # bytes
REACH = 600  # bytes that a document may go on to end with its line
VOCABS = {
    "r50k": "r50k_base.tiktoken",
    "cl100k": "cl100k_base.tiktoken",
    "o200k": "o200k_base.tiktoken",
    "mistral_v1": "mistral_v1.model",
}
# As tokenizer.json files on the Hub have it; tokenizers and fastokens have a scanner for this spelling.
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
FAMILY = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}\u200d\N{BOY}"


def read(path: Path, size: int = -1) -> bytes:
    """A corpus, or its first bytes."""
    with lzma.open(path) if path.suffix == ".xz" else path.open("rb") as file:
        return file.read(size)


def unpacked(path: Path, folder: Path) -> Path:
    """A plain file of the corpus."""
    if path.suffix != ".xz":
        return path
    plain = folder / path.stem
    plain.write_bytes(read(path))
    return plain


def corpora(folder: Path) -> dict[str, Path]:
    """Name -> file; a plain file goes before a compressed one."""
    paths = sorted([*folder.glob("*.txt.xz"), *folder.glob("*.txt")], key=lambda path: path.suffix != ".xz")
    found = {path.name.split(".")[0]: path for path in paths}
    if not found:
        raise SystemExit(f"{folder} holds no .txt or .txt.xz file")
    return found


def cut(data: bytes, size: int = DOCUMENT, reach: int = REACH) -> Iterator[bytes]:
    """The data in documents of about `size` bytes, each to the end of its line if that is near."""
    at = 0
    while at < len(data):
        end = data.find(b"\n", at + size, at + size + reach) + 1 or min(at + size, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        yield data[at:end]
        at = end


def head(data: bytes, size: int) -> bytes:
    """The first bytes, without a character cut in two."""
    return data[:size].decode("utf-8", "ignore").encode()


def spread(documents: Sequence[bytes], size: int) -> list[bytes]:
    """Documents of about `size` bytes together, at even distances; all, if there are no more."""
    step = max(1.0, sum(map(len, documents)) / size)
    return [documents[int(number * step)] for number in range(int(len(documents) / step))]


def write(path: Path, documents: Sequence[bytes]) -> Path:
    """The documents in a file that `load` reads."""
    lengths = [len(document) for document in documents]
    head = struct.pack(f"<{len(lengths) + 1}I", len(lengths), *lengths)
    path.write_bytes(head + b"".join(documents))
    return path


def load(path: str, part: slice) -> list[str]:
    """The documents of a file, read one by one."""
    with open(path, "rb") as file:
        (count,) = struct.unpack("<I", file.read(4))
        lengths = struct.unpack(f"<{count}I", file.read(4 * count))
        chosen = range(count)[part]
        found = []
        for number, length in enumerate(lengths):
            if number in chosen:
                found.append(file.read(length).decode())
            else:
                file.seek(length, 1)
    return found


def strings(data: bytes, size: int, count: int) -> list[bytes]:
    """Different strings of exactly `size` bytes (or a little less, not to cut a character), evenly spread."""
    step, found = max(size, len(data) // count), dict[bytes, None]()
    for start in range(0, len(data) - size, step):
        while data[start] & 0xC0 == 0x80:
            start += 1
        found[head(data[start : start + size], size)] = None
    return list(found)[:count]


def worst(size: int) -> dict[str, bytes]:
    """Texts of `size` bytes that are hard on an encoder; one of English is measured beside them."""
    draw = random.Random(size)
    letters = "".join(draw.choices(string.ascii_lowercase, k=size))
    planes = [chr(code) for code in range(0x21, 0x3000) if chr(code).isprintable()]
    characters = "".join(draw.choices(planes, k=size // 2))
    emoji = FAMILY * (size // len(FAMILY.encode()))
    texts = {
        "one letter": "a" * size,
        "spaces": " " * size,
        "digits": "".join(draw.choices(string.digits, k=size)),
        "one emoji": emoji,
        "random characters": head(characters.encode(), size).decode(),
        "one word": letters,
    }
    return {name: text.encode() for name, text in texts.items()}


def tokenizer_json(published: Path, folder: Path) -> Path:
    """The vocabulary as tokenizer.json, in the folder."""
    from syllabary import convert  # not in the lanes of others

    path = folder / f"{published.stem}.tokenizer.json"
    convert.convert(published, path)
    if published.stem == "cl100k_base":
        data = json.loads(path.read_text("utf-8"))
        data["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = CL100K
        path.write_text(json.dumps(data, ensure_ascii=False), "utf-8")
    return path
