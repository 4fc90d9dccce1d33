"""GPT-2's two files as ranks: `vocab.bpe` (merges) and `encoder.json` (token -> id), as tiktoken reads them.

Adds `read`, the ranks that the two agree on, and `rank_lines`, a rank file's text.
Leaves out: any other pair of files (`syllabary.formats.gpt2`), which need not be in rank order.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping

from syllabary.errors import FormatError

# Not of the merges; tiktoken leaves them out if they are there.
SPECIAL = (b"<|endoftext|>", b"<|startoftext|>")


def read(merges: bytes, vocab: bytes, *, bytes_of_vocab: bool = False) -> dict[bytes, int]:
    """The bytes of both files -> token -> rank.

    The 256 single bytes come first, in GPT-2's order; then one token for each merge.
    bytes_of_vocab: the single bytes have the ranks that the vocabulary gives them.
    Raises `FormatError` if one cannot be read or the two disagree.
    """
    from syllabary.reference.bytes_to_unicode import byte_alphabet, unspell  # loads all of the specification

    try:
        lines = merges.decode("utf-8").split("\n")[1:-1]
        pairs = [line.split() for line in lines]
        ids = {unspell(spelling): rank for spelling, rank in json.loads(vocab).items()}
        ranks = {byte: rank for rank, byte in enumerate(byte_alphabet("gpt2"))}
        for left, right in pairs:
            ranks[unspell(left) + unspell(right)] = len(ranks)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise FormatError(f"these are not GPT-2's merges and vocabulary: {error!r}") from error
    for token in SPECIAL:
        ids.pop(token, None)
    if bytes_of_vocab:
        ranks.update((token, rank) for token, rank in ids.items() if len(token) == 1)
    if ranks != ids:
        raise FormatError(
            "merges and vocabulary disagree: ranks must be in the order of merges, which these ids are not"
        )
    return ranks


def rank_lines(ranks: Mapping[bytes, int]) -> bytes:
    """Token -> rank as the text of a rank file, in order of the ranks.

    >>> rank_lines({b"ab": 1, b"a": 0})
    b'YQ== 0\\nYWI= 1\\n'
    """
    ordered = sorted(ranks.items(), key=lambda item: item[1])
    return b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in ordered)
