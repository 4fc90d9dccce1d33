"""Tokens of bytes (sentencepiece's `<0x61>`) beside tokens of the same bytes: `a` is the token `a`.

Adds `token_to_id` and `surgery.extend`. Leaves out: files of such tokens (`test_formats_added_bytes`).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import sentencepiece_models as made

import syllabary
from syllabary import surgery
from syllabary.spec import SplitSpec, TokenizerSpec

BYTES = {value: bytes([value]) for value in range(256)}
FALLBACK = TokenizerSpec(
    "char",
    SplitSpec(None),
    {**BYTES, 256: b"x", 257: b"y", 258: b"xy"},
    {b"x": 256, b"y": 257},
    ((256, 257, 258),),
    fallback=True,
    byte_tokens={value: value for value in BYTES},
)


@pytest.mark.parametrize("model_type", ["bpe", "unigram"])
def test_a_piece_is_found_before_the_byte(tmp_path: Path, model_type: str) -> None:
    data = made.train(tmp_path, model_type=model_type, vocab_size=460, byte_fallback=True)
    (tmp_path / "t.model").write_bytes(data)
    tok, peer = syllabary.load(tmp_path / "t.model"), made.peer(data).processor
    ids = [one for one in range(peer.get_piece_size()) if not peer.is_byte(one)]
    assert [tok.token_to_id(peer.id_to_piece(one)) for one in ids] == ids
    assert tok.token_to_id(b"\xff") == peer.piece_to_id("<0xFF>")


def test_an_unused_token_is_the_last_choice() -> None:
    spec = replace(
        FALLBACK, tokens={**FALLBACK.tokens, 259: b"a"}, merges=None, scores={258: -1.0, 259: -2.0}
    )
    assert syllabary.Tokenizer(spec).token_to_id("a") == 259
    assert syllabary.Tokenizer(replace(spec, unused=frozenset({259}))).token_to_id("a") == 97


def test_a_character_is_added_though_its_byte_is_there() -> None:
    tokens, alphabet = {**FALLBACK.tokens, 257: b"a", 258: b"xa"}, {b"x": 256, b"a": 257}
    other = syllabary.Tokenizer(replace(FALLBACK, tokens=tokens, alphabet=alphabet))
    change = surgery.extend(syllabary.Tokenizer(FALLBACK), other)
    assert [change.tokenizer.vocab[one] for one in (259, 260)] == [b"a", b"xa"]
    assert change.tokenizer.encode("xaxya") == [260, 258, 259]
    assert change.made_of == {259: (97,), 260: (256, 97)}
