"""Added tokens that are bytes of the fallback as well (`<0x41>`), as trainers of `tokenizers` leave them.

Their name in a text is the token, and so is the byte of a symbol without a token; both decode as the byte.
Drawn files against tokenizers. Leaves out: byte tokens that are not added (`test_formats_hf`), and what
`ignore_merges` makes of their names where these reach the model (`test_formats_hf_deviations`).
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import hf_configurations as configurations
import pytest
from hf_compare import panics
from tokenizers import Tokenizer as Peer

import syllabary
from syllabary.compat import tokenizers as drop_in
from syllabary.convert import convert
from syllabary.reference import ReferenceTokenizer

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
PARTS = [
    "<0x41>", "<0x0A>", "<0xFF>", "<0xE6>", "<0xC3><0xA9>", "<0x", "41>", "<unk>",
    " ", "  ", "a", "the ", "verbum ", "é", "日", "😀", "\n", "μ",
]  # fmt: skip
FALLBACK = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}
PREPEND = {"type": "Prepend", "prepend": "▁"}


def drawn_model(random: Random) -> dict[str, Any]:
    """A model with a fallback to bytes, of merges or Unigram."""
    if random.random() < 0.35:
        letters = sorted({"".join(random.choices("abA▁é<", k=random.randint(1, 3))) for _ in range(20)})
        names = ["<unk>", *BYTES[: random.choice([256, 256, 0x62])], *letters]
        if random.random() < 0.3:
            random.shuffle(names)
        vocab = [[name, -round(random.random() * 12, 3)] for name in names]
        return {"type": "Unigram", "unk_id": names.index("<unk>"), "vocab": vocab, "byte_fallback": True}
    model = dict(configurations.trained_models()["fallback"])
    model["unk_token"] = random.choice([None, model["unk_token"]])
    return model


def drawn(number: int) -> dict[str, Any]:
    """A file in which the bytes are special, or found by other rules."""
    random = Random(number)
    model = drawn_model(random)
    vocab = model["vocab"]
    if isinstance(vocab, list):
        vocab = {name: token_id for token_id, (name, _score) in enumerate(vocab)}
    often, share = random.choice([0, 0, 0.15]), random.choice([0.5, 1])
    if not often and share == 1 and "merges" in model:
        model["ignore_merges"] = random.random() < 0.5
    added = []
    for name in [name for name in ("<unk>", *BYTES) if name in vocab and random.random() < share]:
        flags = {flag: random.random() < often for flag in ("single_word", "lstrip", "rstrip", "normalized")}
        special = random.random() < 0.9
        added.append(configurations.added(name, vocab[name], **flags, special=special))
    return configurations.document(
        model,
        random.choice([None, None, PREPEND]),
        random.choice([None, configurations.metaspace("first"), {"type": "WhitespaceSplit"}]),
        random.choice([FALLBACK, *configurations.DECODERS]),
        added_tokens=sorted(added, key=lambda one: int(one["id"])),
    )


def same(tok: syllabary.Tokenizer, peer: Peer, text: str, special: str) -> None:
    """Ids, spans, names and decoded text, of the engine and the specification."""
    peer.encode_special_tokens = special == "text"
    there = peer.encode(text, add_special_tokens=False)
    ids = tok.encode(text, special=special)
    spans = [list(span) for span in there.offsets]
    reference = ReferenceTokenizer(tok.spec)
    assert ids == there.ids == list(reference.encode(text, special)), (text, there.tokens)
    assert tok.offsets(text, special=special).tolist() == spans, text
    assert [list(span) for span in reference.offsets(text, special=special)] == spans, text
    full = tok.encode_full(text, special=special)
    assert (full.tokens, full.word_ids) == (there.tokens, there.word_ids), text
    stream, half = tok.encoder(special=special), len(text) // 2
    parts = [stream.push(text[:half]), stream.push(text[half:]), stream.flush()]
    assert [int(token) for part in parts for token in part] == ids, text
    decoded = panics(peer.decode, ids, skip_special_tokens=False)
    if decoded is not None:
        assert tok.decode(ids) == decoded == reference.decode(ids), (text, there.tokens)


@pytest.mark.parametrize("number", range(40))
def test_drawn_files(tmp_path: Path, number: int) -> None:
    file, random = drawn(number), Random(number)
    path, again, own = (tmp_path / name for name in ("a.json", "b.tokenizer.json", "c.syllabary.json"))
    path.write_text(json.dumps(file), "utf-8")
    tok, peer = syllabary.load(path), Peer.from_file(str(path))
    compat = drop_in.Tokenizer.from_file(str(path))
    policies = ["allow", "text"] if not tok.spec.whole_pieces else ["allow"]
    tok.save(again)
    tok.save(own)
    assert syllabary.load(own).spec == tok.spec
    for text in ("".join(random.choices(PARTS, k=random.randint(0, 9))) for _ in range(25)):
        for special in policies[: 1 if "<unk>" in text else 2]:
            try:
                same(tok, peer, text, special)
            except syllabary.UnknownSymbolError:
                assert tok.spec.unknown is None  # their library drops the symbol
        peer.encode_special_tokens = False
        there, here = (one.encode(text, add_special_tokens=False) for one in (peer, compat))
        assert (here.ids, here.tokens) == (there.ids, there.tokens)
        assert here.special_tokens_mask == there.special_tokens_mask
        assert Peer.from_file(str(again)).encode(text, add_special_tokens=False).ids == there.ids
        for skips in (True, False):
            decoded = panics(peer.decode, there.ids, skip_special_tokens=skips)
            assert decoded is None or compat.decode(here.ids, skips) == decoded


def as_trained(folder: Path) -> Path:
    """A file as the trainer leaves it, whose special tokens are the unknown one and the bytes."""
    model = configurations.trained_models()["fallback"]
    added = [configurations.added(name, model["vocab"][name], special=True) for name in ("[UNK]", *BYTES)]
    spaces = configurations.metaspace("always")
    file = configurations.document(model, None, spaces, FALLBACK, added_tokens=added)
    (folder / "tokenizer.json").write_text(json.dumps(file), "utf-8")
    return folder / "tokenizer.json"


def test_what_a_caller_sees(tmp_path: Path) -> None:
    tok = syllabary.load(as_trained(tmp_path))
    byte = tok.token_to_id("<0x41>")
    assert tok.tokens("☃") == ["▁".encode(), *[bytes([one]) for one in "☃".encode()]]
    assert tok.encode("<0x41>", special="allow") == [byte]
    assert tok.decode([byte]) == "A"
    with pytest.raises(syllabary.SpecialTokenError, match="'<0x41>' at character 0"):
        tok.encode("<0x41>")
    decoder = tok.decoder()
    ids = tok.encode("é☃<0x41>", special="allow")
    assert "".join(map(decoder.push, ids)) + decoder.flush() == tok.decode(ids)


def test_what_other_formats_hold(tmp_path: Path) -> None:
    tok = syllabary.load(as_trained(tmp_path))
    with pytest.raises(syllabary.FormatError, match="sentencepiece cannot hold"):
        tok.save(tmp_path / "a.model")
    report = convert(tok, tmp_path / "b.model")
    lost = "tokens that are bytes are no longer found by their names ('<0x00>', '<0x01>'"
    assert len([loss for loss in report.losses if loss.startswith(lost)]) == 1
    assert syllabary.load(tmp_path / "b.model").encode("☃")[1:] == tok.encode("☃")[1:]
