"""Full encodings by the specification: every field is that of tokenizers, over drawn framings."""

from __future__ import annotations

import random

import pytest
from full_peers import KINDS, difference, drawn_inputs, drawn_peer, theirs

from syllabary.formats.hf_framing import framing
from syllabary.formats.hf_read import read_document
from syllabary.formats.strict_json import parse
from syllabary.reference import ReferenceTokenizer
from syllabary.reference.full import Asked, encode_full_batch


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_is_theirs(kind, tmp_path, prove):
    failed = 0
    for seed in range(1000 if prove else 20):
        draw = random.Random(f"{kind} {seed}")
        peer = drawn_peer(kind, draw)
        spec = read_document(parse(peer.to_str().encode(), tmp_path))
        pretokenized, add = draw.random() < 0.2, draw.random() < 0.8
        inputs = drawn_inputs(draw, pretokenized)
        expected = theirs(peer, inputs, pretokenized, add)
        asked = Asked(framing(spec), "allow", add)
        try:
            found = encode_full_batch(ReferenceTokenizer(spec), inputs, asked)
        except ValueError:
            assert expected is None
            failed += 1
            continue
        assert expected is not None, (seed, inputs)
        for ours, one in zip(found, expected, strict=True):
            assert difference(ours, one) is None, (seed, inputs, framing(spec))
    assert failed < (1000 if prove else 20) / 2
