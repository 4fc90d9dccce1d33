"""Offsets that are trimmed, of added tokens that normalize to white space: engine, specification, tokenizers.

Leaves out: trimmed offsets of all else (`test_formats_hf`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hf_configurations as configurations
import pytest
from tokenizers import Tokenizer as Peer

import syllabary
from syllabary.reference import ReferenceTokenizer
from syllabary.spec import Matching, SplitSpec, TokenizerSpec

TEXTS = ("aXb", "X", "a X b", " X ", "XX", "aXX b", "the Xa aX the")


@pytest.mark.parametrize("flags", [{}, {"lstrip": True}, {"rstrip": True}], ids=str)
@pytest.mark.parametrize("content", ["X", "XX", "aX", "Xa"])
@pytest.mark.parametrize("spaces", [" ", "  ", " a "])
def test_an_added_token_that_normalizes_to_white_space(
    tmp_path: Path, spaces: str, content: str, flags: dict[str, Any]
) -> None:
    model = configurations.trained_models()["bytes"]
    token_id = model["vocab"].get(content, len(model["vocab"]))
    added = [configurations.added(content, token_id, normalized=True, **flags)]
    normalizer = {"type": "Replace", "pattern": {"String": "X"}, "content": spaces}
    level = configurations.level()
    file = configurations.document(model, normalizer, level, level, added_tokens=added, post_processor=level)
    (tmp_path / "tokenizer.json").write_text(json.dumps(file), "utf-8")
    tok, peer = syllabary.load(tmp_path / "tokenizer.json"), Peer.from_str(json.dumps(file))
    reference = ReferenceTokenizer(tok.spec)
    for text in TEXTS:
        spans = tok.offsets(text, special="allow").tolist()
        assert [list(span) for span in reference.offsets(text, special="allow")] == spans, text
        if (spaces, content) == (" ", "X") and "rstrip" not in flags:  # the others are deviations on purpose
            assert [list(span) for span in peer.encode(text).offsets] == spans, text
            assert [list(span) for span in tok.encode_full(text, special="allow").offsets] == spans, text


def test_a_frozen_token_keeps_its_span() -> None:
    """The model finds it, not the search for added tokens; it has no spelling to trim white space of."""
    fields: dict[str, Any] = {"model": "wordlevel", "unknown": 0, "trim_offsets": True}
    fields |= {"added_tokens": {" b": 2}, "matching": {" b": Matching(stage="frozen")}}
    spec = TokenizerSpec("char", SplitSpec(" ?[a-z]"), {0: b"?", 1: b"a", 3: b" c"}, {}, None, **fields)
    for text, ids, spans in (("a b c", [1, 2, 3], [(0, 1), (1, 3), (4, 5)]), (" b", [2], [(0, 2)])):
        assert syllabary.Tokenizer(spec).encode(text) == ids
        assert list(map(tuple, syllabary.Tokenizer(spec).offsets(text).tolist())) == spans
        assert ReferenceTokenizer(spec).offsets(text) == spans
