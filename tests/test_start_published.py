"""Going on from published vocabularies with Greek: fewer ids, the old ones kept, files for Hugging Face.

Every day on the first bytes of a corpus; with `SYLLABARY_PROVE` (`make prove`) on 5 MB.
Leaves out: what going on means (`test_start`).
"""

from __future__ import annotations

import lzma
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import tokenizers

import syllabary
from syllabary.reference.check import token_bytes

SIZE, WHOLE = 200_000, 5_000_000
MORE = {False: 500, True: 8000}
HELD_OUT = 40_000  # characters
FILES = [
    ("gpt2_tokenizer.json", None),
    ("gpt2_vocab.bpe", None),
    ("r50k_base.tiktoken", None),
    ("llama3.tiktoken", "llama3"),
    ("cl100k_base.tiktoken", None),
]

EVERY_DAY = ("gpt2_tokenizer.json", "r50k_base.tiktoken")


@lru_cache(maxsize=2)
def greek(shared: Path, size: int) -> tuple[str, str]:
    """Text to learn from, and text after it to measure on."""
    with lzma.open(shared / "corpora" / "greek.txt.xz", "rt", encoding="utf-8") as file:
        text = file.read(size // 2)
    return text[:-HELD_OUT], text[-HELD_OUT:]


@lru_cache(maxsize=8)
def continued(
    shared: Path, file: str, split: str | None, prove: bool
) -> tuple[syllabary.Tokenizer, syllabary.Tokenizer]:
    """A published tokenizer, and the same with Greek."""
    text, _unseen = greek(shared, WHOLE if prove else SIZE)
    start = syllabary.load(shared / "vocabs" / file, split=split)
    return start, syllabary.train([text], start.vocab_size + MORE[prove], start=start)


@pytest.mark.parametrize("file, split", FILES)
def test_greek_becomes_shorter_and_the_old_ids_stay(
    shared: Path, prove: bool, file: str, split: str | None
) -> None:
    if not prove and file not in EVERY_DAY:
        pytest.skip("only with SYLLABARY_PROVE: a large vocabulary, or the same from another file")
    start, tok = continued(shared, file, split, prove)
    _text, unseen = greek(shared, WHOLE if prove else SIZE)
    assert tok.vocab_size == start.vocab_size + MORE[prove]
    assert tok.special_tokens == start.special_tokens
    assert all(tok.vocab[token_id] == token for token_id, token in start.vocab.items())
    above = max(start.vocab)
    assert sorted(set(tok.vocab) - set(start.vocab)) == list(range(above + 1, above + 1 + MORE[prove]))
    before, after = start.encode_array(unseen), tok.encode_array(unseen)
    assert len(after) < (0.75 if prove else 0.9) * len(before)
    assert tok.decode(after) == unseen
    ends = {int(end) for _start, end in start.offsets(unseen, "byte")}
    assert {int(end) for _start, end in tok.offsets(unseen, "byte")} <= ends


@pytest.mark.parametrize("file, split", [FILES[0], FILES[3]])
def test_the_saved_file_is_the_same_tokenizer_to_hugging_face(
    shared: Path, prove: bool, file: str, split: str | None, tmp_path: Path
) -> None:
    if not prove and file not in EVERY_DAY:
        pytest.skip("only with SYLLABARY_PROVE: a large vocabulary")
    _start, tok = continued(shared, file, split, prove)
    _text, unseen = greek(shared, WHOLE if prove else SIZE)
    tok.save(tmp_path / "tokenizer.json")
    peer = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert peer.get_vocab_size() == tok.vocab_size
    for sample in (unseen, f"Hello world, it's {unseen[:100]} def f(x):\n\treturn  12345 漢字 "):
        theirs = np.array(peer.encode(sample, add_special_tokens=False).ids, np.uint32)
        assert np.array_equal(tok.encode_array(sample), theirs)
    again = syllabary.load(tmp_path / "tokenizer.json")
    assert token_bytes(again.spec) == token_bytes(tok.spec)
    assert np.array_equal(again.encode_array(unseen), tok.encode_array(unseen))


def test_ranks_stay_ranks_in_their_file(shared: Path, prove: bool, tmp_path: Path) -> None:
    """What was learned is in the order of ids, and no token is made in two ways: a rank file can hold it."""
    _start, tok = continued(shared, "r50k_base.tiktoken", None, prove)
    _text, unseen = greek(shared, WHOLE if prove else SIZE)
    tok.save(tmp_path / "more.tiktoken")
    again = syllabary.load(tmp_path / "more.tiktoken", split="gpt2", special_tokens=tok.special_tokens)
    assert again.vocab == tok.vocab
    assert np.array_equal(again.encode_array(unseen), tok.encode_array(unseen))
