"""Unigram vocabularies in which a name stands more than once, as tokenizers reads and trains them.

The last id of a name is found, the others decode; drawn vocabularies against tokenizers, over added tokens,
bytes, normalizers and pre-tokenizers. Leaves out: vocabularies without such names (`test_unigram`).
"""

from __future__ import annotations

import json
import os
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer as Peer
from tokenizers import models, pre_tokenizers, trainers

import syllabary
from syllabary.compat import tokenizers as ours
from syllabary.convert import convert
from syllabary.formats.hidden import refuse_hidden
from syllabary.reference import ReferenceTokenizer
from syllabary.spec import SplitSpec, TokenizerSpec
from syllabary.tokenizer import Tokenizer

FILES = 400 if os.environ.get("SYLLABARY_PROVE") else 40
LETTERS = "abA\u2581\u00e9<"
SPECIAL = ("<unk>", "<s>", "ab", "B")
NORMALIZERS: tuple[Any, ...] = (None, None, {"type": "Lowercase"}, {"type": "NFD"})
METASPACE = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
PRETOKENIZERS: tuple[Any, ...] = (None, None, METASPACE, {"type": "WhitespaceSplit"})
MARKS = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
BYTES = {"type": "Sequence", "decoders": [MARKS, {"type": "ByteFallback"}, {"type": "Fuse"}]}
DECODERS: tuple[Any, ...] = (None, BYTES, {**METASPACE}, {"type": "Fuse"})


def drawn(source: random.Random) -> dict[str, Any]:
    """A file; many of its names stand in it twice, and any of them may be the unknown or an added token."""
    names = [name for name in SPECIAL if source.random() < 0.6]
    names += ["".join(source.choices(LETTERS, k=source.randint(1, 3))) for _ in range(source.randint(3, 20))]
    fallback = source.random() < 0.5
    if fallback or source.random() < 0.2:
        names += [f"<0x{byte:02X}>" for byte in range(256 if source.random() < 0.7 else 0x62)]
    names += source.choices(names, k=source.randint(1, 12))
    if source.random() < 0.7:
        source.shuffle(names)
    vocab = [[name, -source.choice([0.0, 1.5, 3.25, round(source.random() * 12, 3)])] for name in names]
    ids = {name: number for number, name in enumerate(names)}
    normalizer = source.choice(NORMALIZERS)
    often = 0.15 if normalizer != {"type": "Lowercase"} else 0.0
    added: list[dict[str, Any]] = []
    for text in (name for name in (*SPECIAL, "<new>", "<newer>") if source.random() < 0.5):
        flags = {flag: source.random() < often for flag in ("single_word", "lstrip", "rstrip")}
        flags["normalized"] = not any(flags.values()) and source.random() < 0.2
        number = ids.get(text, len(names) + sum(one["content"] not in ids for one in added))
        added.append({"id": number, "content": text, **flags, "special": source.random() < 0.7})
    unknown = source.choice([number for number, name in enumerate(names) if "x" not in name])  # no byte
    model = {"type": "Unigram", "unk_id": unknown, "vocab": vocab, "byte_fallback": fallback}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": sorted(added, key=lambda one: int(one["id"])),
        "normalizer": normalizer, "pre_tokenizer": source.choice(PRETOKENIZERS),
        "post_processor": None, "decoder": source.choice(DECODERS), "model": model,
    }  # fmt: skip


def texts(source: random.Random, file: dict[str, Any]) -> list[str]:
    """Texts of the file's names, of bytes and of what is unknown."""
    parts = [*(name for name, _score in file["model"]["vocab"]), *SPECIAL, "<new>", " ", "  ", "z", "\u6f22x"]
    return ["".join(source.choices(parts, k=source.randint(0, 12))) for _ in range(12)]


def same(tok: syllabary.Tokenizer, peer: Peer, text: str) -> None:
    """Ids and spans, of the engine and the specification."""
    there = peer.encode(text, add_special_tokens=False)
    spans = [list(span) for span in there.offsets]
    assert tok.encode(text, special="allow") == there.ids, text
    assert tok.offsets(text, special="allow").tolist() == spans, text
    reference = ReferenceTokenizer(tok.spec)
    assert reference.encode(text, special="allow") == there.ids, text
    assert [list(span) for span in reference.offsets(text, special="allow")] == spans, text
    full = tok.encode_full(text, special="allow")
    assert (full.ids, full.tokens, full.word_ids) == (there.ids, there.tokens, there.word_ids), text
    assert tok.decode(there.ids) == peer.decode(there.ids, skip_special_tokens=False)


def same_in_compat(drop_in: Any, peer: Peer, many: list[str]) -> None:
    """Names, sizes, encodings and decoded text of the drop-in."""
    size = peer.get_vocab_size()
    assert (drop_in.get_vocab_size(), drop_in.get_vocab_size(False)) == (size, peer.get_vocab_size(False))
    assert drop_in.get_vocab() == peer.get_vocab()
    assert [drop_in.id_to_token(one) for one in range(size + 1)] == [
        peer.id_to_token(one) for one in range(size + 1)
    ]
    assert {name: drop_in.token_to_id(name) for name in peer.get_vocab()} == peer.get_vocab()
    assert drop_in.to_str() == peer.to_str()
    for skips in (True, False):
        for number in range(size):
            assert drop_in.decode([number], skips) == peer.decode([number], skips)
        assert drop_in.decode(list(range(size)), skips) == peer.decode(list(range(size)), skips)
    for hides in (False, True):
        drop_in.encode_special_tokens = peer.encode_special_tokens = hides
        for here, there in zip(drop_in.encode_batch(many), peer.encode_batch(many), strict=True):
            for field in ("ids", "tokens", "offsets", "word_ids", "special_tokens_mask"):
                assert getattr(here, field) == getattr(there, field), field
    peer.encode_special_tokens = False


@pytest.mark.parametrize("number", range(FILES))
def test_drawn_vocabularies(tmp_path: Path, number: int) -> None:
    source = random.Random(number)
    file = drawn(source)
    peer = Peer.from_str(json.dumps(file))
    path, again = tmp_path / "tokenizer.json", tmp_path / "again.tokenizer.json"
    path.write_text(json.dumps(file), "utf-8")
    tok = syllabary.load(path)
    many = texts(source, file)
    for text in many:
        same(tok, peer, text)
    ids = [*range(len(file["model"]["vocab"])), *(one["id"] for one in file["added_tokens"])]
    for one in (ids, *([one] for one in ids)):
        there = peer.decode(one, skip_special_tokens=False)
        assert tok.decode(one) == there
        assert ReferenceTokenizer(tok.spec).decode(one) == there
    tok.save(again)
    assert Peer.from_file(str(again)).to_str() == peer.to_str()
    assert syllabary.load(again).spec == tok.spec
    tok.save(tmp_path / "t.syllabary.json")
    assert syllabary.load(tmp_path / "t.syllabary.json").spec == tok.spec
    same_in_compat(ours.Tokenizer.from_str(json.dumps(file)), peer, many)


def test_a_special_token_that_the_trainer_learns_once_more(tmp_path: Path) -> None:
    """As it is trained, and converted to what has each name once."""
    peer = Peer(models.Unigram())
    peer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.UnigramTrainer(
        vocab_size=60, special_tokens=["<pad>", "<unk>"], unk_token="<unk>", show_progress=False
    )
    peer.train_from_iterator(["a<unk>b", "c<unk> ", "<unk>d "] * 30, trainer)
    path = tmp_path / "tokenizer.json"
    peer.save(str(path))
    tok = syllabary.load(path)
    learned = peer.token_to_id("<unk>")
    assert learned is not None
    assert learned > 1 == tok.spec.unknown
    assert tok.spec.unused == {1}
    assert tok.token_to_id("<unk>") == learned
    assert tok.id_to_token(1) == tok.id_to_token(learned) == b"<unk>"
    for text in ("a <unk> cbd", "\u6f22\u5b57 a\u6f22", "<unk><pad>b"):
        same(tok, peer, text)
    for name in ("t.model", "t.gguf"):
        with pytest.raises(syllabary.FormatError, match="'<unk>' as the name of several ids, of which text"):
            convert(path, tmp_path / name)
    with pytest.raises(syllabary.FormatError, match="cannot hold"):
        tok.save(tmp_path / "t.model")


def test_all_such_names_are_told(tmp_path: Path) -> None:
    vocab = [*([f"t{at % 12}", -1.0] for at in range(24)), ["<unk>", -2.0]]
    (tmp_path / "tokenizer.json").write_text(
        json.dumps({"model": {"type": "Unigram", "unk_id": 24, "vocab": vocab}}), encoding="utf-8"
    )
    spec = syllabary.load(tmp_path / "tokenizer.json").spec
    with pytest.raises(syllabary.FormatError) as caught:
        refuse_hidden(spec, "a file")
    listed = ", ".join(f"'t{at}'" for at in range(8))
    assert f"cannot hold {listed} and 4 more, each as the name of several ids" in str(caught.value)


def test_what_is_unused_is_not_found() -> None:
    """Without a later one of its name too, which a `tokenizer.json` cannot say."""
    tokens = {0: b"a", 1: b"b", 2: b"ab", 3: b"a"}
    scores = {0: -1.0, 1: -2.0, 2: -1.0, 3: -4.0}
    spec = TokenizerSpec(
        "char", SplitSpec(None), tokens, {}, None, {"<unk>": 4},
        model="unigram", scores=scores, unknown=4, fuse_unknown=True, unused=frozenset({0, 2}),
    )  # fmt: skip
    tok = Tokenizer(spec)
    assert tok.encode("abx") == ReferenceTokenizer(spec).encode("abx") == [3, 1, 4]
    assert (tok.token_to_id("a"), tok.token_to_id("ab"), tok.decode([0, 2])) == (3, 2, "aab")


def test_scores_are_read_as_there() -> None:
    """By serde_json, whose numbers are not always the nearest; so is what a pickle holds."""
    numbers = ["-6.9044739982887124", "-11.138449668884277", "-0.30000000000000004", "-9.313225746154785e-10"]
    vocab = ", ".join(f'["{letter}", {number}]' for letter, number in zip("abcd", numbers, strict=True))
    file = '{"model": {"type": "Unigram", "unk_id": 0, "vocab": [' + vocab + "]}}"
    drop_in, peer = ours.Tokenizer.from_str(file), Peer.from_str(file)
    assert drop_in.to_str() == peer.to_str()
    assert pickle.loads(pickle.dumps(drop_in)).to_str() == pickle.loads(pickle.dumps(peer)).to_str()
    models = pickle.loads(pickle.dumps(drop_in.model)), pickle.loads(pickle.dumps(peer.model))
    assert [ours.Tokenizer(models[0]).to_str()] == [Peer(models[1]).to_str()]
