"""Published vocabularies: the ids that tiktoken and Hugging Face's tokenizers give, on real and drawn text.

Every day the first bytes of each corpus; with `SYLLABARY_PROVE` (`make prove`) the whole of it, and what was
compared is left in `build/proof.json`, from which `tools/write_proof.py` makes `docs/proof.md`.
Leaves out: the reference, which `test_reference_tokenizer` compares on less text.
"""

from __future__ import annotations

import codecs
import json
import lzma
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import published
import pytest
import tiktoken
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import texts
from tiktoken_ext import openai_public

import syllabary

ROOT = Path(__file__).resolve().parent.parent
VOCABS, CORPORA = (ROOT.parent / "shared" / name for name in ("vocabs", "corpora"))
NAMES = ["cl100k_base", "r50k_base", "o200k_base"]
GPT2_FILES = ["gpt2_tokenizer.json", "gpt2_vocab.bpe"]
# Bytes of each corpus on other days than that of the proof.
LIMITS = {"cl100k_base": 500_000}
LIMIT = 150_000
CHUNK = 1 << 20

pytestmark = [
    pytest.mark.skipif(not VOCABS.is_dir(), reason="no folder shared/ beside the repository"),
    pytest.mark.timeout(3600 if os.environ.get("SYLLABARY_PROVE") else 300),
]
corpora = pytest.mark.parametrize("corpus", sorted(path.name for path in CORPORA.glob("*.txt.xz")))


@lru_cache(maxsize=3)
def tiktokens(name: str) -> tiktoken.Encoding:
    """tiktoken's encoding, from the rank file that lies in `shared`."""
    with pytest.MonkeyPatch.context() as patch:
        ranks = published.ranks(VOCABS.parent, f"{name}.tiktoken")
        patch.setattr(openai_public, "load_tiktoken_bpe", lambda *_args, **_more: ranks)
        return tiktoken.Encoding(**openai_public.ENCODING_CONSTRUCTORS[name]())


@lru_cache(maxsize=5)
def ours(file: str) -> syllabary.Tokenizer:
    return syllabary.load(VOCABS / file)


@lru_cache(maxsize=1)
def hugging_face() -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_file(str(VOCABS / "gpt2_tokenizer.json"))


def chunks(corpus: str, limit: int | None) -> Iterator[str]:
    """The first `limit` bytes of a corpus, or all, in chunks cut between characters."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    left = limit
    with lzma.open(CORPORA / corpus) as file:
        while data := file.read(CHUNK if left is None else min(CHUNK, left)):
            yield decoder.decode(data)
            left = None if left is None else left - len(data)
    if limit is None:
        decoder.decode(b"", final=True)


def with_special(text: str) -> str:
    """The text with a special token at the end of each paragraph, and inside a word."""
    return text.replace("\n\n", "<|endoftext|>").replace("tion", "t<|endoftext|>ion")


@pytest.fixture(scope="module")
def proof(prove: bool) -> Iterator[list[dict[str, Any]]]:
    """What was compared, one row a comparison that held; written down at the end of a proof."""
    rows: list[dict[str, Any]] = []
    yield rows
    if prove:
        (ROOT / "build").mkdir(exist_ok=True)
        (ROOT / "build" / "proof.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def row(vocabulary: str, peer: str, corpus: str, found: dict[str, int]) -> dict[str, Any]:
    return {"vocabulary": vocabulary, "peer": peer, "corpus": corpus.removesuffix(".txt.xz"), **found}


@pytest.mark.parametrize("name", NAMES)
@corpora
def test_tiktokens_ids(name: str, corpus: str, prove: bool, proof: list[dict[str, Any]]) -> None:
    tok, peer = ours(f"{name}.tiktoken"), tiktokens(name)
    found = {"bytes": 0, "tokens": 0, "special": 0}
    for text in chunks(corpus, None if prove else LIMITS.get(name, LIMIT)):
        ids = tok.encode_array(text, special="text")
        assert np.array_equal(ids, np.array(peer.encode_ordinary(text), np.uint32))
        assert tok.decode(ids) == text
        marked = with_special(text)
        allowed = tok.encode_array(marked, special="allow")
        assert np.array_equal(allowed, np.array(peer.encode(marked, allowed_special="all"), np.uint32))
        assert tok.decode(allowed) == marked
        found["bytes"] += len(text.encode())
        found["tokens"] += len(ids)
        found["special"] += int((allowed == tok.token_to_id("<|endoftext|>")).sum())
    assert found["tokens"] > 0
    proof.append(row(name, f"tiktoken {tiktoken.__version__}", corpus, found))


@corpora
def test_hugging_faces_ids(corpus: str, prove: bool, proof: list[dict[str, Any]]) -> None:
    peer = hugging_face()
    end = peer.token_to_id("<|endoftext|>")
    found = {"bytes": 0, "tokens": 0, "special": 0}
    for text in chunks(corpus, None if prove else LIMIT):
        marked = with_special(text)  # their library always takes special tokens for what they are
        theirs = peer.encode(marked, add_special_tokens=False).ids
        for file in GPT2_FILES:
            ids = ours(file).encode_array(marked, special="allow")
            assert np.array_equal(ids, np.array(theirs, np.uint32))
            assert ours(file).decode(ids) == marked
        assert peer.decode(theirs, skip_special_tokens=False) == marked
        found["bytes"] += len(text.encode())
        found["tokens"] += len(theirs)
        found["special"] += theirs.count(end)
    assert found["tokens"] > 0
    peers_name = f"tokenizers {tokenizers.__version__}"
    proof.extend(row(file, peers_name, corpus, found) for file in GPT2_FILES)


@settings(max_examples=max(300, settings().max_examples))
@pytest.mark.parametrize("name", NAMES)
@given(text=texts(40))
def test_drawn_text(name: str, text: str) -> None:
    tok, peer = ours(f"{name}.tiktoken"), tiktokens(name)
    assert tok.encode(text, special="text") == peer.encode_ordinary(text)
    assert tok.encode(text, special="allow") == peer.encode(text, allowed_special="all")
    assert tok.encode(text, special={"<|endoftext|>"}) == peer.encode(
        text, allowed_special={"<|endoftext|>"}, disallowed_special=()
    )
    assert tok.count(text, special="text") == len(peer.encode_ordinary(text))


@settings(max_examples=max(300, settings().max_examples))
@pytest.mark.parametrize("file", GPT2_FILES)
@given(text=texts(40))
def test_drawn_text_as_hugging_face(file: str, text: str) -> None:
    theirs = hugging_face().encode(text, add_special_tokens=False)
    tok = ours(file)
    assert tok.encode(text, special="allow") == theirs.ids
    assert tok.decode(theirs.ids) == text


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_any_ids_decode_as_theirs(name: str, data: st.DataObject) -> None:
    """Sequences that no text encodes to: parts of characters, special tokens anywhere."""
    tok, peer = ours(f"{name}.tiktoken"), tiktokens(name)
    ids = data.draw(st.lists(st.sampled_from(sorted(tok.vocab)), max_size=12))
    assert tok.decode_bytes(ids) == peer.decode_bytes(ids)
    assert tok.decode(ids) == peer.decode(ids)
    decoder = tok.decoder()
    assert "".join([*map(decoder.push, ids), decoder.flush()]) == peer.decode(ids)


@pytest.mark.parametrize("name", NAMES)
def test_every_token_is_theirs(name: str) -> None:
    tok, peer = ours(f"{name}.tiktoken"), tiktokens(name)
    special = {text: peer.encode_single_token(text) for text in peer.special_tokens_set}
    assert tok.special_tokens == special
    assert dict(tok.vocab) == {
        token_id: peer.decode_single_token_bytes(token_id)
        for token_id in {*tok.vocab, *peer._mergeable_ranks.values(), *special.values()}
    }


def test_gpt2_is_one_tokenizer_in_three_files() -> None:
    by_ranks = ours("r50k_base.tiktoken")
    for file in GPT2_FILES:
        assert ours(file).vocab == by_ranks.vocab
        assert ours(file).special_tokens == by_ranks.special_tokens
