"""What tests of training against other tools share: drawn corpora, and two tools' algorithms written out.

Adds corpora that are hard to learn from: ties everywhere, runs of one character, pairs that overlap
themselves, words of one character, every white space of Unicode, empty documents and many of them. minbpe
and the course CS336 are no packages: their training stands here as they describe it, but that equal pieces
are kept together, in the order in which they first come. Leaves out: what is compared (`test_train_peers`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from strategies import WHITE_SPACE

Pair = tuple[bytes, bytes]

ALPHABETS = ("ab", "abc", "aab", "abcdefgh", "aé", "漢字か", "a\u0301😀", "0123", "aA1!", "'sa")
OVERLAPS = ("aaaa", "abab", "aabaab", "abaaba", "ababa", "aba", "baab")


def corpus(draw: random.Random) -> list[str]:
    """Documents, some of them empty, of a kind that is drawn; a few hundred characters in all."""
    kind = draw.choice(KINDS)
    texts = [kind(draw, draw.choice(ALPHABETS)) for _ in range(draw.choice([1, 1, 2, 5, 40]))]
    size = 400 // len(texts) + 4
    documents = [draw.choice([text[:size], text[:size], text[:3], ""]) for text in texts]
    return documents if any(documents) else [*documents, "ab"]


def _random(draw: random.Random, alphabet: str) -> str:
    return "".join(draw.choices(alphabet + " ", k=draw.randint(0, 120)))


def _words(draw: random.Random, alphabet: str) -> str:
    known = ["".join(draw.choices(alphabet, k=draw.randint(1, 6))) for _ in range(draw.randint(1, 9))]
    return " ".join(draw.choices(known, k=draw.randint(1, 60)))


def _runs(draw: random.Random, alphabet: str) -> str:
    return "".join(draw.choice(alphabet + " ") * draw.randint(1, 20) for _ in range(draw.randint(1, 12)))


def _overlaps(draw: random.Random, alphabet: str) -> str:
    parts = draw.choices([*OVERLAPS, *alphabet, " "], k=draw.randint(1, 30))
    return "".join(parts)


def _single(draw: random.Random, alphabet: str) -> str:
    return " ".join(draw.choices(alphabet, k=draw.randint(1, 60)))


def _spaces(draw: random.Random, alphabet: str) -> str:
    return "".join(draw.choices([*alphabet, *WHITE_SPACE, "  ", "\r\n"], k=draw.randint(1, 80)))


KINDS: tuple[Callable[[random.Random, str], str], ...] = (_random, _words, _runs, _overlaps, _single, _spaces)


def learned(pieces: Iterable[str], num_merges: int, choose: Callable[[dict[Pair, int]], Pair]) -> list[Pair]:
    """The merges: count all pairs of all pieces anew, take one, replace it everywhere from the left, again.

    choose: one of the pairs, which come in the order in which they first occur, with their counts.
    """
    counted: dict[str, int] = {}
    for piece in pieces:
        counted[piece] = counted.get(piece, 0) + 1
    words = [([bytes([byte]) for byte in piece.encode()], times) for piece, times in counted.items()]
    merges: list[Pair] = []
    while len(merges) < num_merges:
        words = [(word, times) for word, times in words if len(word) > 1]
        counts: dict[Pair, int] = {}
        for word, times in words:
            for pair in pairwise(word):
                counts[pair] = counts.get(pair, 0) + times
        if not counts:
            break
        merges.append(choose(counts))
        words = [(merged(word, merges[-1]), times) for word, times in words]
    return merges


def first_seen(counts: dict[Pair, int]) -> Pair:
    """minbpe's and tiktoken's choice: the first of the most frequent."""
    return max(counts, key=counts.__getitem__)


def largest(counts: dict[Pair, int]) -> Pair:
    """CS336's choice: the largest of the most frequent, by bytes."""
    return max(counts, key=lambda pair: (counts[pair], pair))


def merged(word: Sequence[bytes], pair: Pair) -> list[bytes]:
    """A word with every occurrence of a pair replaced, from the left."""
    out, at = [], 0
    while at < len(word):
        found = tuple(word[at : at + 2]) == pair
        out.append(pair[0] + pair[1] if found else word[at])
        at += 1 + found
    return out


def minbpe_file(pattern: str, merges: Sequence[Pair]) -> bytes:
    """minbpe's `.model`: version, pattern, no special tokens, and the merges by id."""
    ids = {bytes([value]): value for value in range(256)}
    lines = ["minbpe v1", pattern, "0"]
    for left, right in merges:
        lines.append(f"{ids[left]} {ids[right]}")
        ids[left + right] = len(ids)
    return ("\n".join(lines) + "\n").encode()


def minbpe_ids(pieces: Iterable[str], merges: Sequence[Pair]) -> list[int]:
    """minbpe's `encode_ordinary`: in each piece, again and again the pair that was learned first."""
    ids = {bytes([value]): value for value in range(256)}
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    for left, right in merges:
        ids[left + right] = len(ids)
    found: list[int] = []
    for piece in pieces:
        word = [bytes([byte]) for byte in piece.encode()]
        while len(word) > 1:
            pair = min(pairwise(word), key=lambda pair: ranks.get(pair, len(ranks)))
            if pair not in ranks:
                break
            word = merged(word, pair)
        found += [ids[token] for token in word]
    return found
