"""Every model at home: ids, tokens, spans and text, and every field of full encodings, as the peers say them.

Every day a sample; with `SYLLABARY_PROVE` 10,000 strings and 1 MB of each corpus for each combination of
options, and what was compared is left in `build/models.json`. Leaves out: BERT's casings without framing
(`test_wordpiece`), the specification (there, `test_unigram`, `test_full_reference`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import home_models
import numpy as np
import pytest
import tokenizers
from hard_text import hard_texts
from home_models import BYTE_LEVEL, FRAMED, SENTENCEPIECE, UNIGRAM
from homes import Home, from_sentencepiece
from proof_rows import PROVE, keep
from test_compatibility import same
from words_peers import CORPORA, opened, samples

import syllabary
from syllabary.framing import Padding, Truncation

pytestmark = [
    pytest.mark.skipif(not CORPORA.is_dir(), reason="no folder shared/ beside the repository"),
    pytest.mark.timeout(3600),
]
STRINGS = 10_000 if PROVE else 40
BYTES = 1_000_000 if PROVE else 2_000


def each(table: list[Any], every: int) -> Any:
    """All of a table in a proof, on other days some."""
    return pytest.mark.parametrize("options", table[:: 1 if PROVE else every], ids=str)


def compare(name: str, tok: syllabary.Tokenizer, home: Home) -> None:
    """All that both say of hard strings and of each corpus; kept as a row of the proof."""
    compared = "ids, tokens, spans, text"
    tokens = sum(same(tok, home, text) for text in hard_texts(STRINGS, seed=5))
    keep(name, home.peer, compared, f"{STRINGS:,} strings", tokens)
    for corpus, text in samples(BYTES):
        tokens = same(tok, home, text)
        assert tokens > 0
        keep(name, home.peer, compared, corpus, tokens)


@each(UNIGRAM, 9)
def test_unigram_of_tokenizers(options: tuple[str, str, bool], tmp_path: Path) -> None:
    tok, _reference, home = opened(home_models.unigram(*options), tmp_path)
    compare(f"Unigram, normalizer {options[0]}, {options[1]}{', bytes' * options[2]}", tok, home)


@each(SENTENCEPIECE, 9)
def test_unigram_of_sentencepiece(options: tuple[str, bool, bool, bool], tmp_path: Path) -> None:
    (tmp_path / "tokenizer.model").write_bytes(home_models.sentencepiece_model(*options))
    rules, fallback, prefix, squeezes = options
    more = f"{', bytes' * fallback}{', prefix' * prefix}{', squeezed' * squeezes}"
    path = tmp_path / "tokenizer.model"
    compare(f"Unigram, rules {rules}{more}", syllabary.load(path), from_sentencepiece(path))


@each(BYTE_LEVEL, 5)
def test_byte_level(options: tuple[bool, bool, str], tmp_path: Path) -> None:
    tok, _reference, home = opened(home_models.byte_level(*options), tmp_path)
    prefix, cuts, normalizer = options
    compare(f"byte-level, normalizer {normalizer}{', prefix' * prefix}{', cut' * cuts}", tok, home)


# ---- full encodings ----

Inputs = list[tuple[str, str | None]]


def in_pairs(texts: list[str]) -> Inputs:
    """Every text, each sixth with the one after it as its pair."""
    return [
        (one, other if number % 6 == 0 else None)
        for number, (one, other) in enumerate(pairwise([*texts, ""]))
    ]


def batches() -> Iterator[tuple[str, Inputs, int]]:
    """Names, texts with and without a pair, and how long rows may be."""
    yield f"{STRINGS:,} strings", in_pairs(list(hard_texts(STRINGS, seed=6))), 24
    for corpus, text in samples(BYTES):
        yield corpus, in_pairs([text[at : at + 1000] for at in range(0, len(text), 1000)]), 256


def theirs(row: tokenizers.Encoding, field: str) -> list[Any]:
    """A field as arrays have it: -1 for none."""
    values: list[Any] = getattr(row, field)
    return [-1 if value is None else value for value in values] if None in values else values


def same_rows(tok: syllabary.Tokenizer, peer: tokenizers.Tokenizer, inputs: Inputs, **options: Any) -> int:
    """Every field of every row and of every part cut off; the number of tokens.

    Spellings of each string, of one document in 8: ids say the others.
    """
    texts, pairs = [text for text, _pair in inputs], [pair for _text, pair in inputs]
    found = tok.encode_full_batch(texts, pairs, special="allow", overflow=True, **options)
    there = peer.encode_batch([text if pair is None else (text, pair) for text, pair in inputs])
    rows = [row for one in there for row in (one, *one.overflowing)]
    assert len(found) == len(rows)
    for field in ("ids", "type_ids", "attention_mask", "special_tokens_mask", "word_ids", "sequence_ids"):
        assert found.to_lists(field) == [theirs(row, field) for row in rows], field
    assert found.to_lists("offsets") == [[list(span) for span in row.offsets] for row in rows]
    firsts = np.searchsorted(found.samples, range(len(texts))).tolist()
    for at, one in list(zip(firsts, there, strict=True))[:: 8 if len(texts) < STRINGS else 1]:
        ours = found[at]
        assert ours.tokens == one.tokens
        assert [part.tokens for part in ours.overflowing] == [part.tokens for part in one.overflowing]
    return sum(map(len, rows))


@pytest.mark.parametrize("side, offsets", [("right", "char"), ("left", None)])
@pytest.mark.parametrize("name", FRAMED)
def test_full_encodings(name: str, side: Any, offsets: Any, tmp_path: Path) -> None:
    """Framed, truncated with a stride, all parts, padded; then each text whole and not padded."""
    make, processor, trims = FRAMED[name]
    peer = home_models.framed(make(), processor, trims)
    tok, _reference, home = opened(peer, tmp_path)
    pad = peer.token_to_id("<pad>") or 0
    for text, inputs, length in batches():
        peer.no_truncation()
        peer.no_padding()
        if offsets is None:
            keep(name, home.peer, "full, whole", text, same_rows(tok, peer, inputs))
        peer.enable_truncation(length, stride=5, direction=side)
        peer.enable_padding(
            direction=side, pad_id=pad, pad_to_multiple_of=8, pad_type_id=1, pad_token="[PAD]"
        )
        padding = Padding(pad_id=pad, pad_type_id=1, direction=side, multiple_of=8)
        truncation = Truncation(length, 5, direction=side)
        tokens = same_rows(tok, peer, inputs, truncation=truncation, padding=padding, offsets=offsets)
        assert tokens > 0
        how = "in one pass" if offsets else "as asked for"
        keep(name, home.peer, f"full, cut and padded {side}, offsets {how}", text, tokens)
