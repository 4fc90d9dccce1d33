"""What is in the middle of a text: copied, it goes on by itself; what has no ids is asked about seldom.

And what is noted of long parts of it has its bound.
"""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from sys import getsizeof

import pytest

import syllabary
from syllabary.errors import SpecialTokenError
from syllabary.reference import cut_parts
from syllabary.reference.cut_parts import Parts
from syllabary.reference.cuts import Cuts
from syllabary.spec import Step


def test_a_copy_goes_on_by_itself() -> None:
    tok = syllabary.train(["low lower lowest é"] * 3, vocab_size=262)
    appender = tok.appender()
    appender.append("low lo")
    other = copy.copy(appender)
    assert other.append("west lowest ") == tok.count("low lowest lowest ")
    assert appender.append("w") == tok.count("low low")
    encoder = tok.encoder()
    ids = encoder.push("é".encode()[:1])
    again = copy.copy(encoder)
    for one in (encoder, again):
        assert ids + one.push("é".encode()[1:]) + one.flush() == tok.encode("é")
    first, second = tok.encode("é")
    decoder = tok.decoder()
    decoder.push(first)
    again_decoder = copy.copy(decoder)
    assert (again_decoder.push(second), decoder.push(second)) == ("é", "é")


def test_parts_without_ids_are_not_asked_for_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guard is as long as it must be to have ids, or there is none: few are tried, and none is long."""
    document = {
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {
            "type": "BPE",
            "vocab": {"a": 0, "##b": 1},
            "merges": [],
            "continuing_subword_prefix": "##",
        },
    }
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document))
    asked: list[str] = []
    has_ids = Cuts.has_ids
    monkeypatch.setattr(Cuts, "has_ids", lambda self, guard: asked.append(guard) or has_ids(self, guard))
    counts = []
    for length in (200, 400):
        tok, text = syllabary.load(path), "a" + "b" * length + " a"
        asked.clear()
        encoder = tok.encoder()
        assert encoder.push(text) + encoder.flush() == tok.encode(text)
        counts.append(len(asked))
        assert asked
        assert max(map(len, asked)) <= 128
    assert counts[1] <= 3 * counts[0]


def test_long_parts_are_not_all_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A letter with all its marks is one part, however many they are: it is noted what becomes of it."""
    monkeypatch.setattr(cut_parts, "ROOM", 10_000)
    lowercase, composed = steps = Step("Lowercase"), Step("NFC")
    parts = Parts(steps, ())
    for length in (*range(500, 540), 10_000):
        assert len(parts.of("E" + "\u0301" * length + " of", True)) == 4
        for kept in (parts.known[id(lowercase)], parts.known[id(composed)], parts.apart[id(composed)]):
            assert sum(map(getsizeof, (*kept, *kept.values()))) <= 10_000
    assert len(parts.known[id(composed)]) > 3  # short ones, and the long ones that there is room for


def test_special_tokens_are_those_of_the_call() -> None:
    tok = syllabary.train(["low lower lowest"] * 3, vocab_size=262, special_tokens=["<a>", "<b>"])
    allowed = ["<a>"]
    encoder, appender = tok.encoder(allowed), tok.appender(allowed)
    allowed.append("<b>")
    for one in (encoder, pickle.loads(pickle.dumps(encoder)), copy.deepcopy(encoder)):
        with pytest.raises(SpecialTokenError, match="<b>"):
            one.push("<b> low")
    with pytest.raises(SpecialTokenError, match="<b>"):
        copy.deepcopy(appender).append("<b> low")
    kept = pickle.loads(pickle.dumps(tok.encoder(tok.special_tokens.keys())))
    assert kept.push("<b> low") + kept.flush() == tok.encode("<b> low", special="allow")
