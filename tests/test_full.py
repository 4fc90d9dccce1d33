"""Full encodings by the engine: every field is that of tokenizers, over drawn framings and batches."""

from __future__ import annotations

import copy
import gc
import lzma
import pickle
import random

import numpy as np
import pytest
import tokenizers as peers
from full_peers import FIELDS, KINDS, difference, drawn_inputs, drawn_peer, theirs, tokenizer_json

from syllabary import Tokenizer, _engine
from syllabary.formats.hf_read import read_document
from syllabary.formats.strict_json import parse
from syllabary.framing import Truncation
from syllabary.reference import ReferenceTokenizer
from syllabary.reference.full import Asked, encode_full_batch


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_is_theirs(kind, tmp_path, prove):
    failed = 0
    for seed in range(2000 if prove else 20):
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
    assert failed < (2000 if prove else 20) / 2


@pytest.mark.parametrize("kind", KINDS)
def test_the_specification_in_bytes_and_in_parts(kind, tmp_path):
    """The engine and the specification, in bytes, row by row."""
    for seed in range(12):
        draw = random.Random(f"parts {kind} {seed}")
        spec = read_document(parse(drawn_peer(kind, draw).to_str().encode(), tmp_path))
        tok, slow = Tokenizer(spec), ReferenceTokenizer(spec)
        inputs = drawn_inputs(draw, seed % 4 == 0)
        unit = draw.choice(["byte", "char"])
        texts, pairs = [one for one, _pair in inputs], [pair for _one, pair in inputs]
        try:
            expected = encode_full_batch(slow, inputs, Asked(tok.framing, "allow", True, unit))
        except ValueError:
            continue
        found = tok.encode_full_batch(
            texts, pairs, special="allow", is_pretokenized=seed % 4 == 0, overflow=True, offsets=unit
        )
        rows = [row for one in expected for row in (one, *one.overflowing)]
        assert len(found) == len(rows)
        for at, row in enumerate(rows):
            ours = found[at]
            assert [getattr(ours, name) for name in FIELDS] == [getattr(row, name) for name in FIELDS]
        lists = [found.to_lists(name) for name in ("ids", "attention_mask", "type_ids")]
        assert lists == [
            [row.ids for row in rows],
            [row.attention_mask for row in rows],
            [row.type_ids for row in rows],
        ]


@pytest.mark.parametrize("name", ["english", "greek", "chinese", "code", "multilingual"])
@pytest.mark.parametrize("kind", ["gpt2", *KINDS])
def test_real_text(name, kind, shared, tmp_path, prove):
    """Full encodings of documents of a corpus, by the 2000 characters."""
    path = shared / "vocabs" / "gpt2_tokenizer.json"
    peer = (
        peers.Tokenizer.from_file(str(path))
        if kind == "gpt2"
        else peers.Tokenizer.from_str(tokenizer_json(kind))
    )
    tok = Tokenizer(read_document(parse(peer.to_str().encode(), tmp_path)))
    with lzma.open(shared / "corpora" / f"{name}.txt.xz", "rt", encoding="utf-8") as file:
        text = file.read(1_000_000 if prove else 6_000)
    texts = [text[at : at + 2000] for at in range(0, len(text), 2000)]
    peer.enable_truncation(300, stride=20)
    for unit in ("char", None):
        found = tok.encode_full_batch(
            texts, special="allow", truncation=Truncation(300, 20), overflow=True, offsets=unit
        )
        rows = [row for one in peer.encode_batch(texts) for row in (one, *one.overflowing)]
        assert found.to_lists("ids") == [row.ids for row in rows]
        assert found.to_lists("offsets") == [[list(span) for span in row.offsets] for row in rows]
        assert found.to_lists("word_ids") == [row.word_ids for row in rows]


def test_an_unknown_token_is_spelled_as_the_normalizer_leaves_it(tmp_path):
    """Several of one character, some in parts that are cut off, some in a pair, one that is named."""
    vocab = [("<unk>", 0.0), ("▁", -2.0), ("会", -1.0), ("a", -1.5), ("<pad>", 0.0)]
    peer = peers.Tokenizer(peers.models.Unigram(vocab, unk_id=0))
    peer.normalizer = peers.normalizers.Sequence([peers.normalizers.NFKC(), peers.normalizers.Lowercase()])
    peer.pre_tokenizer = peers.pre_tokenizers.Metaspace()
    peer.add_special_tokens(["<unk>", "<pad>"])
    tok = Tokenizer(read_document(parse(peer.to_str().encode(), tmp_path)))
    slow = ReferenceTokenizer(tok.spec)
    texts = ["㍿a㍿ ABaC", "a<unk>ﬁ①", "", "ÉaÉa Éa ㍻ x", "㌖㌖ " * 40]
    pairs = [None, "Ⅷa <unk>", "ⅧaⅧ", None, "Ω"]
    given = [text if pair is None else (text, pair) for text, pair in zip(texts, pairs, strict=True)]
    for side in ("left", "right"):
        peer.enable_truncation(5, stride=1, direction=side)
        peer.enable_padding(direction=side, pad_id=4, pad_token="<pad>")
        ours = Tokenizer(read_document(parse(peer.to_str().encode(), tmp_path)))
        for unit in ("char", None):
            found = ours.encode_full_batch(texts, pairs, special="allow", overflow=True, offsets=unit)
            firsts = np.searchsorted(found.samples, range(len(texts))).tolist()
            for row, one in zip(firsts, peer.encode_batch(given), strict=True):
                assert difference(found[row], one) is None
        asked = Asked(ours.framing, "allow", True)
        rows = encode_full_batch(slow, list(zip(texts, pairs, strict=True)), asked)
        assert [row.tokens for row in rows] == [one.tokens for one in peer.encode_batch(given)]
    assert tok.encode_full("㍿a").tokens == ["▁", "株式", "会", "社", "a"]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_batch_is_pickled_and_copied(kind, tmp_path):
    rng = random.Random(7)
    peer = drawn_peer(kind, rng)
    tok = Tokenizer(read_document(parse(peer.to_str().encode(), tmp_path)))
    for texts in (["a b ü\u00a0漢", "", "of some length " * 2], ["a  b"], []):
        for pairs in (None, [text[::-1] for text in texts]):
            for unit in (None, "byte"):
                asked = {"special": "allow", "truncation": Truncation(16), "overflow": True}
                batch = tok.encode_full_batch(texts, pairs, offsets=unit, **asked)
                made = [pickle.loads(pickle.dumps(batch, protocol)) for protocol in range(6)]
                made += [copy.copy(batch), copy.deepcopy(batch), pickle.loads(pickle.dumps(made[0]))]
                for one in made:
                    assert [*one] == [*batch]
                    assert one.to_lists("ids") == batch.to_lists("ids")
                    assert one.lengths.tolist() == batch.lengths.tolist()
                    assert one == batch


def test_offsets_as_pairs(tmp_path):
    peer = drawn_peer(KINDS[0], random.Random(4))
    tok = Tokenizer(read_document(parse(peer.to_str().encode(), tmp_path)))
    for texts in (["a b", "", "Ünïcode text, of some length " * 40], []):
        batch = tok.encode_full_batch(texts, special="allow")
        pairs = batch.offset_pairs()
        assert pairs == [row.offsets for row in batch]
        assert all(type(pair) is tuple for row in pairs for pair in row)
    flat, enabled = np.arange(6).reshape(3, 2), gc.isenabled()
    assert _engine.pairs(flat, np.array([0, 1, 1, 3])) == [[(0, 1)], [], [(2, 3), (4, 5)]]
    assert not any(map(gc.is_tracked, _engine.pairs(flat, np.array([0, 3]))[0]))
    # More pairs, and larger numbers, than are kept to be used again; the same again; and no spans at all.
    starts = np.random.default_rng(5).integers(0, [[300], [90_000], [2**40]], (3, 40_000)).ravel()
    many = np.stack([starts, starts + np.arange(starts.size) % 40], axis=1)
    many = np.concatenate([many[:50_000], many[:20_000], many[50_000:], [[-1, -(2**62)], [3, -4], [0, 0]]])
    found = _engine.pairs(many, np.array([0, 60_000, len(many)]))
    assert found == [[*map(tuple, part)] for part in (many[:60_000].tolist(), many[60_000:].tolist())]
    for bounds in ([0, 4], [-1, 2], [2, 1]):
        with pytest.raises(ValueError, match="no places of pairs"):
            _engine.pairs(flat, np.array(bounds))
    with pytest.raises(TypeError):
        _engine.pairs(flat.astype(float), np.array([0, 3]))
    assert gc.isenabled() == enabled
