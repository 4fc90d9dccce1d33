"""The peers as oracles: where do tiktoken and tokenizers cut a text?

tiktoken shows ids alone. But a piece that is in its vocabulary becomes its id at once, so with every
substring of the text as a token, the ids are the pieces.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import tiktoken
from tokenizers import Regex
from tokenizers.pre_tokenizers import PreTokenizer, Split


def substrings(texts: Iterable[str]) -> set[str]:
    """All substrings of all texts but the empty one."""
    return {text[i:j] for text in set(texts) for i in range(len(text)) for j in range(i + 1, len(text) + 1)}


def tiktoken_pieces(pattern: str, texts: list[str]) -> list[list[str]]:
    """Where tiktoken cuts each text; text that the pattern does not match is dropped."""
    ranks = {bytes([value]): value for value in range(256)}
    for part in substrings(texts):
        ranks.setdefault(part.encode(), len(ranks))
    encoding = tiktoken.Encoding("probe", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    token = {rank: part for part, rank in ranks.items()}
    return [[token[i].decode() for i in encoding.encode_ordinary(text)] for text in texts]


def cut(splitter: PreTokenizer, text: str) -> list[str]:
    """Where a pre-tokenizer of tokenizers cuts a text."""
    return [piece for piece, _ in splitter.pre_tokenize_str(text)]


@lru_cache(maxsize=64)
def onig_splitter(pattern: str, drop: bool) -> PreTokenizer:
    """A pre-tokenizer of tokenizers that runs a pattern of Oniguruma's."""
    return Split(Regex(pattern), "removed" if drop else "isolated", invert=drop)


def onig_pieces(pattern: str, text: str, drop: bool = False) -> list[str]:
    """Where Oniguruma, inside tokenizers, cuts a text; unmatched text stays unless `drop`."""
    return cut(onig_splitter(pattern, drop), text)
