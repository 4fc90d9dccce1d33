"""tiktoken's slow and readable encoder, by its interface; it learns with syllabary's trainer.

Adds training, encoding and decoding, and shows each merge if `visualise` is `"colour"` (or `"color"`) or
`"simple"`. Leaves out: speed and special tokens.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import regex

from syllabary.compat.tiktoken.core import Encoding
from syllabary.compat.tiktoken.registry import get_encoding
from syllabary.errors import EarlyStopWarning
from syllabary.spec import SplitSpec, TokenizerSpec, TrainOptions
from syllabary.training import train_with

SHOWN = 50  # words of the text that training shows after each merge
BACKGROUNDS = (167, 179, 185, 77, 80, 68, 134)


class SimpleBytePairEncoding:
    """An encoding by a pattern and ranks alone."""

    def __init__(self, *, pat_str: str, mergeable_ranks: dict[bytes, int]) -> None:
        self.pat_str = pat_str
        self.mergeable_ranks = mergeable_ranks
        self._decoder = {rank: token for token, rank in mergeable_ranks.items()}
        self._pat = regex.compile(pat_str)

    def encode(self, text: str, visualise: str | None = "colour") -> list[int]:
        """The ids of a text, each merge shown."""
        words: list[str] = self._pat.findall(text)
        return [rank for word in words for rank in bpe_encode(self.mergeable_ranks, word.encode(), visualise)]

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The bytes of the tokens, joined; `KeyError`."""
        return b"".join(self.decode_tokens_bytes(tokens))

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of the tokens, U+FFFD for what is not UTF-8."""
        return self.decode_bytes(tokens).decode("utf-8", errors="replace")

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """The bytes of each token; `KeyError`."""
        return [self._decoder[token] for token in tokens]

    @staticmethod
    def train(training_data: str, vocab_size: int, pat_str: str) -> SimpleBytePairEncoding:
        """Learn an encoding from a text."""
        ranks = bpe_train(data=training_data, vocab_size=vocab_size, pat_str=pat_str)
        return SimpleBytePairEncoding(pat_str=pat_str, mergeable_ranks=ranks)

    @staticmethod
    def from_tiktoken(encoding: Encoding | str) -> SimpleBytePairEncoding:
        """The pattern and ranks of an encoding, by itself or by name."""
        made = get_encoding(encoding) if isinstance(encoding, str) else encoding
        return SimpleBytePairEncoding(pat_str=made._pat_str, mergeable_ranks=made._mergeable_ranks)


def bpe_encode(
    mergeable_ranks: Mapping[bytes, int],
    input: bytes,  # noqa: A002 - tiktoken's name
    visualise: str | None = "colour",
) -> list[int]:
    """The ranks of one piece: the lowest pair merges, the leftmost of equal ones, until none is left."""
    parts = [bytes([byte]) for byte in input]
    _show(parts, visualise)
    while True:
        pairs = [parts[at] + parts[at + 1] for at in range(len(parts) - 1)]
        known = [(mergeable_ranks[pair], at) for at, pair in enumerate(pairs) if pair in mergeable_ranks]
        if not known:
            break
        _rank, at = min(known)
        parts[at : at + 2] = [pairs[at]]
        _show(parts, visualise)
    if visualise:
        sys.stdout.write("\n")
    return [mergeable_ranks[part] for part in parts]


def bpe_train(data: str, vocab_size: int, pat_str: str, visualise: str | None = "colour") -> dict[bytes, int]:
    """Ranks learned from a text: 256 bytes, then the most frequent pair each time, first seen of equal ones.

    visualise: show each merge, and what the first words are then; nothing for None.
    Raises `ValueError` for fewer than 256, and if the text ends before so many merges.
    """
    if vocab_size < 256:
        raise ValueError("vocab_size must be at least 256, so we can encode all bytes")
    options = TrainOptions(
        split=SplitSpec(pat_str, keep_unmatched=False),
        num_merges=vocab_size - 256,
        min_frequency=1,
        tie_break="first-seen",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyStopWarning)  # an error here, below
        spec = train_with([data], options).spec
    ranks = {token: rank for rank, token in spec.tokens.items()}
    if len(ranks) < vocab_size:
        raise ValueError(
            f"the text has no pair left to merge after {len(ranks)} tokens, short of {vocab_size}"
        )
    if visualise:
        words = islice((match.group() for match in regex.finditer(pat_str, data)), SHOWN)
        _show_merges([[bytes([byte]) for byte in word.encode()] for word in words], spec, visualise)
    return ranks


def visualise_tokens(token_values: list[bytes]) -> None:
    """Print tokens side by side, neighbours on different colours."""
    written, last = 0, -1
    for value in token_values:
        colour = written % len(BACKGROUNDS)
        if colour == last:
            colour = (colour + 1) % len(BACKGROUNDS)
        last = colour
        text = value.decode("utf-8", errors="replace")
        written += len(text)
        sys.stdout.write(f"\x1b[48;5;{BACKGROUNDS[colour]}m{text}")
    sys.stdout.write("\x1b[0m\n")


def train_simple_encoding() -> SimpleBytePairEncoding:
    """An encoding of 600 tokens learned from this file, each merge of `hello world` shown."""
    pattern = r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    encoding = SimpleBytePairEncoding.train(Path(__file__).read_text("utf-8"), 600, pattern)
    sys.stdout.write("This is the sequence of merges performed in order to encode 'hello world':\n")
    encoding.encode("hello world")
    return encoding


def _show_merges(words: list[list[bytes]], spec: TokenizerSpec, visualise: str) -> None:
    """Each merge of a training, and what these words are after it."""
    for left, right, made in spec.merges or ():
        pair = spec.tokens[left], spec.tokens[right]
        words = [_merged(word, pair) for word in words]
        sys.stdout.write(f"The current most common pair is {pair[0]!r} + {pair[1]!r}\n")
        sys.stdout.write(f"So we made {pair[0] + pair[1]!r} our {made + 1}th token\n")
        if visualise in ("colour", "color"):
            sys.stdout.write("Now the first fifty words in our training data look like:\n")
            visualise_tokens([token for word in words for token in word])
        elif visualise == "simple":
            sys.stdout.write("Now the first twenty words in our training data look like:\n")
            sys.stdout.writelines(f"{word}\n" for word in words[:20])
        sys.stdout.write("\n\n")


def _merged(word: list[bytes], pair: tuple[bytes, bytes]) -> list[bytes]:
    """A word in which a pair is one token, from the left.

    >>> _merged([b"a", b"a", b"a"], (b"a", b"a"))
    [b'aa', b'a']
    """
    parts, at = [], 0
    while at < len(word):
        found = tuple(word[at : at + 2]) == pair
        parts.append(pair[0] + pair[1] if found else word[at])
        at += 2 if found else 1
    return parts


def _show(parts: list[bytes], visualise: str | None) -> None:
    if visualise in ("colour", "color"):
        visualise_tokens(parts)
    elif visualise == "simple":
        sys.stdout.write(f"{parts}\n")
