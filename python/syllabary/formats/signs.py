"""How a file of each format is told from others, without the code that reads it.

Adds the table of formats, in the order in which they are tried, with the names of their modules. Leaves out:
reading and writing, which is in those modules and loaded once a format is chosen (`record`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SPACE = b" \t\r\n"  # between what JSON says
TEKKEN_KEYS = re.compile(rb'"(?:default_vocab_size|default_num_special_tokens|num_vocab_tokens)"\s*:')
HUGGINGFACE_KEYS = re.compile(rb'"(added_tokens|pre_tokenizer|post_processor|normalizer|model)"\s*:\s*[\[{n]')
PAIRS = (("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt"))
BERT_FILE = "vocab.txt"
MINBPE_LINE = b"minbpe v1"
SCORED_LINE = re.compile(rb"[^\t\n]+\t-?[0-9][0-9.e+-]*\n")
GPT2_SPACE = "Ġ".encode()
END_OF_WORD = b"</w>"
STRIPPED = b"\r\n "  # from a line of codes
GGUF_MAGIC = b"GGUF"
NUMBERS = re.compile(rb"-?[0-9]+(?: -?[0-9]+)*[ \t\r]*")
LONGEST_NUMBER = 20  # digits
RANK_LINE = re.compile(rb"[A-Za-z0-9+/]*={0,2} [0-9]+\r?(?:\n|\Z)")


@dataclass(frozen=True, slots=True)
class Signs:
    """What a format is told by.

    module: of `syllabary.formats`, whose `FORMAT` it is.
    suffixes: how the names of its files end, for writing and as a hint for reading.
    in_folder: patterns of the names that it has in a folder.
    sniff: whether a file is of this format, by its path and first bytes.
    """

    name: str
    module: str
    suffixes: tuple[str, ...]
    in_folder: tuple[str, ...]
    sniff: Callable[[Path, bytes], bool]


def _syllabary(_path: Path, head: bytes) -> bool:
    """A JSON object that begins with our name."""
    return head.translate(None, SPACE).startswith(b'{"format":"syllabary"')


def of_integers(head: bytes) -> bool:
    """Whether it is the file of an `IdTokenizer`, which is no format of a tokenizer of text."""
    return head.translate(None, SPACE).startswith(b'{"format":"syllabary-ids"')


def _tekken(path: Path, head: bytes) -> bool:
    """A JSON object with the keys of its `config`, or one named as mistral-common wants it that is no
    tokenizer.json."""
    if not head.lstrip().startswith(b"{") or HUGGINGFACE_KEYS.search(head) is not None:
        return False
    return TEKKEN_KEYS.search(head) is not None or (path.name.endswith(".json") and "tekken" in path.name)


def _huggingface(path: Path, head: bytes) -> bool:
    """A JSON object with this format's keys, or in a file named `…tokenizer.json`, if not with Tekken's."""
    if not head.lstrip().startswith(b"{"):
        return False
    is_named = path.name.endswith("tokenizer.json") and TEKKEN_KEYS.search(head) is None
    return is_named or HUGGINGFACE_KEYS.search(head) is not None


def _gpt2(path: Path, _head: bytes) -> bool:
    """One of the four names."""
    return any(path.name.endswith(ending) for pair in PAIRS for ending in pair)


def _bert(path: Path, _head: bytes) -> bool:
    """A file named `…vocab.txt`."""
    return path.name.endswith(BERT_FILE)


def _minbpe(_path: Path, head: bytes) -> bool:
    """The first line."""
    return head.startswith(MINBPE_LINE)


def _sentencepiece(_path: Path, head: bytes) -> bool:
    """A first record that is a piece with a text, and with a score or a type."""
    if not head.startswith(b"\n"):  # field 1, a message
        return False
    from syllabary.formats.sentencepiece_proto import first_piece  # of what is a model, most likely

    return first_piece(head)


def _sentencepiece_vocab(path: Path, head: bytes) -> bool:
    """The name, and a first line that is a piece, a tab and a score."""
    return path.name.endswith(".vocab") and SCORED_LINE.match(head) is not None


def _subword_nmt(path: Path, head: bytes) -> bool:
    """The header, or lines of two symbols; with `</w>` among the first ones, which GPT-2's merges lack.

    With the header, a name of ours and no `Ġ`, which those have, no `</w>` is needed.
    """
    first, _end, rest = head.partition(b"\n")
    if first.startswith(b"#version:"):
        named = path.name.endswith((".codes", ".bpe")) and GPT2_SPACE not in rest
        return named or first.rstrip().endswith(b" byte") or END_OF_WORD in rest
    rows = head.split(b"\n")[:-1] if b"\n" in head else [head]
    return END_OF_WORD in head and all(len(row.strip(STRIPPED).split(b" ")) == 2 for row in rows[:20])


def _gguf(_path: Path, head: bytes) -> bool:
    """The magic bytes."""
    return head.startswith(GGUF_MAGIC)


def _youtokentome(_path: Path, head: bytes) -> bool:
    """Lines of numbers: two, then as many of two as the first says, then three; blank ones may end them."""
    lines = head.rstrip().split(b"\n")[:-1]
    if len(lines) < 2 or not all(NUMBERS.fullmatch(line) for line in lines):
        return False
    widths = [len(line.split()) for line in lines]
    first = lines[0].split()[0]
    chars = int(first) if len(first) <= LONGEST_NUMBER else 0
    return widths[0] == 2 and all(width == 2 for width in widths[1 : max(chars, 0) + 1])


def _tiktoken(path: Path, head: bytes) -> bool:
    """A first line of base64, a space and a number."""
    return path.name.endswith(".tiktoken") or RANK_LINE.match(head) is not None


# In the order in which they are tried: a folder with a tokenizer.json and the older pair, or Mistral's
# tekken.json, is the former, which is what transformers reads.
_TABLE = (
    Signs("syllabary", "syllabary_json", (".syllabary.json",), ("*.syllabary.json",), _syllabary),
    Signs("huggingface", "huggingface", (".json",), ("tokenizer.json",), _huggingface),
    Signs("tekken", "tekken", (), ("*tekken*.json",), _tekken),
    Signs("gpt2", "gpt2", (*PAIRS[0], *PAIRS[1]), ("*encoder.json", "*vocab.json"), _gpt2),
    Signs("bert", "bert_vocab", (BERT_FILE,), (f"*{BERT_FILE}",), _bert),
    Signs("minbpe", "minbpe", (".minbpe", ".minbpe.model"), ("*.model",), _minbpe),
    Signs("sentencepiece", "sentencepiece", (".model",), ("*.model",), _sentencepiece),
    Signs("sentencepiece-vocab", "sentencepiece_vocab", (".vocab",), ("*.vocab",), _sentencepiece_vocab),
    Signs("subword-nmt", "subword_nmt", (".codes", ".bpe"), ("*.codes",), _subword_nmt),
    Signs("gguf", "gguf", (".gguf",), ("*.gguf",), _gguf),
    Signs("youtokentome", "youtokentome", (".yttm",), ("*.yttm",), _youtokentome),
    Signs("tiktoken", "tiktoken", (".tiktoken",), ("*.tiktoken",), _tiktoken),
)
SIGNS = {signs.name: signs for signs in _TABLE}
