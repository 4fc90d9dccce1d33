"""Full encodings by the engine: every field is that of tokenizers, over drawn framings and batches."""

from __future__ import annotations

import random

import numpy as np
import pytest
from full_peers import KINDS, difference, drawn_inputs, drawn_peer, theirs

from syllabary import Tokenizer
from syllabary.formats.hf_read import read_document
from syllabary.formats.strict_json import parse


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_is_theirs(kind, tmp_path, prove):
    failed = 0
    for seed in range(2000 if prove else 80):
        draw = random.Random(f"{kind} {seed}")
        peer = drawn_peer(kind, draw)
        tok = Tokenizer(read_document(parse(peer.to_str().encode(), tmp_path)))
        pretokenized, add = draw.random() < 0.2, draw.random() < 0.8
        inputs = drawn_inputs(draw, pretokenized)
        expected = theirs(peer, inputs, pretokenized, add)
        texts, pairs = [one for one, _pair in inputs], [pair for _one, pair in inputs]
        where = (seed, inputs, tok.framing)
        try:
            batch = tok.encode_full_batch(
                texts,
                pairs,
                special="allow",
                add_special_tokens=add,
                is_pretokenized=pretokenized,
                overflow=True,
                offsets="char" if draw.random() < 0.5 else None,
                threads=draw.choice([1, 2]),
            )
        except ValueError:
            assert expected is None, where
            failed += 1
            continue
        assert expected is not None, where
        firsts = np.searchsorted(batch.samples, range(len(texts))).tolist()
        for row, one in zip(firsts, expected, strict=True):
            assert difference(batch[row], one) is None, where
    assert failed < (2000 if prove else 80) / 3
