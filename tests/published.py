"""Published vocabularies, read as plainly as can be: data for tests, an oracle for readers of formats.

Adds GPT-2 from OpenAI's two files and cl100k from its ranks. Leaves out: checks.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

from syllabary import splits
from syllabary.reference.bytes_to_unicode import unspell
from syllabary.spec import TokenizerSpec

ENDOFTEXT = "<|endoftext|>"


def single_bytes(tokens: dict[int, bytes]) -> dict[bytes, int]:
    """The alphabet of a byte-level vocabulary."""
    return {token: token_id for token_id, token in tokens.items() if len(token) == 1}


def gpt2_merges(shared: Path) -> list[tuple[str, str]]:
    """The pairs of `gpt2_vocab.bpe`, in rank order, as the file spells them."""
    lines = (shared / "vocabs" / "gpt2_vocab.bpe").read_text(encoding="utf-8").splitlines()[1:]
    pairs = [line.split(" ") for line in lines]
    return [(left, right) for left, right in pairs]


def gpt2(shared: Path) -> TokenizerSpec:
    """GPT-2: merges by rank from `gpt2_vocab.bpe`, ids from `gpt2_encoder.json`."""
    ids: dict[str, int] = json.loads((shared / "vocabs" / "gpt2_encoder.json").read_text(encoding="utf-8"))
    tokens = {token_id: unspell(spelling) for spelling, token_id in ids.items() if spelling != ENDOFTEXT}
    return TokenizerSpec(
        unit="byte",
        split=splits.get("gpt2"),
        tokens=tokens,
        alphabet=single_bytes(tokens),
        merges=tuple((ids[left], ids[right], ids[left + right]) for left, right in gpt2_merges(shared)),
        special_tokens={ENDOFTEXT: ids[ENDOFTEXT]},
    )


def ranks(shared: Path, name: str) -> dict[bytes, int]:
    """A `.tiktoken` file: token -> rank."""
    lines = (shared / "vocabs" / name).read_bytes().splitlines()
    return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines)}


def cl100k(shared: Path) -> TokenizerSpec:
    """cl100k: no merges, the rank of a token is its id."""
    tokens = {rank: token for token, rank in ranks(shared, "cl100k_base.tiktoken").items()}
    return TokenizerSpec(
        unit="byte",
        split=splits.get("gpt4"),
        tokens=tokens,
        alphabet=single_bytes(tokens),
        merges=None,
        special_tokens={ENDOFTEXT: 100257, "<|endofprompt|>": 100276},
        whole_pieces=True,
    )
