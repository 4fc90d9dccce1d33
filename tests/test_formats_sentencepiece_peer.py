"""sentencepiece's models encode and decode as sentencepiece does: ids, tokens, offsets and text.

On models trained here over its options, on edited ones, and on published ones; on generated and on real text.
"""

from __future__ import annotations

import lzma
import random
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from implementations import Implementation, each
from sentencepiece_models import (
    EDITS,
    SYMBOLS,
    WORDS,
    corpus,
    edited,
    model_of,
    peer,
    published_models,
    train,
    variants,
)
from strategies import texts

from syllabary.formats import sentencepiece
from syllabary.formats.record import Hints
from syllabary.formats.sentencepiece_proto import NORMAL, UNUSED, canonical
from syllabary.formats.sentencepiece_selftest import spelling
from syllabary.spec import TokenizerSpec

SPACE = "\u2581"
ODD_TEXTS = [
    "", " ", "  ", SPACE, SPACE * 2, f" {SPACE} ", "a", " a", "a ", "  a  b  ",
    "\u3000a\u3000\u3000b\u3000", "\t\n\r\n", "\xa0x", "\0", "a\0b", "\x01\x02", "\ufeffa", "e\u0301",
    "e\u0301\u0302 \u0301", "ﬁ ﬀ ﬃ", "ＡＢＣ １２３", "①②", "½ ¼", "㍿", "ﷺ", "İıſß", "<s>", "</s>",
    "<unk>", "<pad>", "x<s>y", "<0x41>", "<0x0A>", "<sep>", "a<sep>b", "<sep> <sep>", "<sep><sep><sep>",
    "aa", "aaa", "aaaaa", "a b", " a b ", "né", "ne\u0301", f"{SPACE}X", " X", "12", "123", "漢",
    "漢漢字", "Ｈ", "HH", "the cat", "thecat", "xyzzy x y", "AAA", "...", "あ", "xxx", "א ב",
    "\u202eabc\u202c", "👨‍👩‍👧 👨‍👩‍👧", "🏳️‍🌈", "\U0010ffff", "\ue000", "\u2047", " \u2047 ",
    "\ufffd", "a" * 300, "ab" * 200, SPACE * 100, " " * 50 + "x", "the " * 60, "漢" * 70,
    "\U0001f600" * 40, "é" * 90,
]  # fmt: skip


def sampled(source: random.Random, count: int) -> list[str]:
    """Texts of words, symbols and odd ones, in any order."""
    parts = [*WORDS, *SYMBOLS, *ODD_TEXTS[:-7], " ", " ", "  ", *"abet xyAB.12"]
    return ["".join(source.choice(parts) for _ in range(source.randint(1, 12))) for _ in range(count)]


def spelled(token: bytes, token_id: int, spec: TokenizerSpec) -> str:
    """A token as sentencepiece spells its piece."""
    return spelling(token_id, spec) if token_id in spec.byte_tokens else token.decode()


def check(tokenizer: Any, data: bytes, found: list[str]) -> None:
    """Ids, tokens, offsets and decoded text of each text are sentencepiece's."""
    other, spec = peer(data), tokenizer.spec
    for text in found:
        ids, pieces, offsets = other.encode(text)
        assert tokenizer.encode(text, special="text") == ids, text
        found_offsets = np.asarray(tokenizer.offsets(text, special="text")).reshape(-1, 2)
        assert [*map(tuple, found_offsets.tolist())] == offsets, text
        assert tokenizer.decode(ids) == other.decode(ids), text
        tokens = tokenizer.tokens(text, special="text")
        for token, token_id, piece in zip(tokens, ids, pieces, strict=True):
            assert token_id == spec.unknown or spelled(token, token_id, spec) == piece, text


def check_decoding(tokenizer: Any, data: bytes, source: random.Random, count: int) -> None:
    """The text of ids that no text encodes to."""
    other = peer(data)
    every = range(other.processor.get_piece_size())
    lead = [i for i in every if not other.processor.is_byte(i)][:6] or list(every)
    for _ in range(count):
        ids = source.choices([*every, *lead * 20, *tokenizer.spec.byte_tokens], k=source.randint(1, 12))
        assert tokenizer.decode(ids) == other.decode(ids), ids


def tokenizer_of(implementation: Implementation, data: bytes, folder: Path) -> Any:
    (folder / "t.model").write_bytes(data)
    return implementation.tokenizer(sentencepiece.read(folder / "t.model", Hints()))


@each
def test_trained_models(implementation: Implementation, tmp_path: Path, prove: bool) -> None:
    strings = max(200, implementation.corpus_characters // 200) if prove else 20
    for number, options in enumerate(variants(60 if prove else 10, seed=11)):
        data, source = train(tmp_path, **options), random.Random(number)
        tokenizer = tokenizer_of(implementation, data, tmp_path)
        check(tokenizer, data, [*ODD_TEXTS, *sampled(source, strings), *corpus(number, 3)])
        check_decoding(tokenizer, data, source, 40)


@each
@pytest.mark.parametrize(
    "names", [*((name,) for name in EDITS), ("unused", "shuffled"), tuple(EDITS)], ids="+".join
)
def test_edited_models(
    implementation: Implementation, names: tuple[str, ...], tmp_path: Path, prove: bool
) -> None:
    for number, options in enumerate(variants(40 if prove else 3, seed=23)):
        data, source = edited(train(tmp_path, **options), *names, seed=number), random.Random(number)
        tokenizer = tokenizer_of(implementation, data, tmp_path)
        check(tokenizer, data, [*ODD_TEXTS, *sampled(source, 100 if prove else 10)])
        check_decoding(tokenizer, data, source, 40)


@lru_cache(maxsize=1)
def some_models(folder: Path) -> list[bytes]:
    """Models of all kinds, trained once."""
    found = [train(folder, **options) for options in variants(6, seed=42)]
    return [*found, *(edited(data, *names) for data in found[:3] for names in (["unused"], ["shuffled"]))]


@each
def test_generated_texts(implementation: Implementation, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("models")
    models = some_models(folder)
    tokenizers = [tokenizer_of(implementation, data, folder) for data in models]

    @given(st.integers(0, len(models) - 1), texts())
    def agrees(which: int, text: str) -> None:
        check(tokenizers[which], models[which], [text])

    agrees()


@each
def test_published_models(implementation: Implementation, shared: Path, prove: bool) -> None:
    source = random.Random(1)
    for name, path in published_models(shared).items():
        data = path.read_bytes()
        tokenizer = implementation.tokenizer(sentencepiece.read(path, Hints()))
        check(tokenizer, data, [*ODD_TEXTS, *sampled(source, 10_000 if prove else 30)])
        check(tokenizer, data, ["[INST] x [/INST]", "a[INST]", "[REF]1[/REF]", "[CODE]x", name])
        check_decoding(tokenizer, data, source, 60)


@each
@pytest.mark.timeout(1800)
def test_real_text(implementation: Implementation, shared: Path, prove: bool) -> None:
    """Each corpus, line by line and in one piece; every day by one of the published tokenizers."""
    characters = min(implementation.corpus_characters // 2, 1_000_000) if prove else 2000
    corpora: list[str] = []
    for file in sorted((shared / "corpora").glob("*.txt.xz")):
        with lzma.open(file, "rt", encoding="utf-8", errors="ignore") as stream:
            corpora.append(stream.read(characters))
    models = published_models(shared)
    for path in models.values() if prove else [models["mistral_v1"]]:
        tokenizer = implementation.tokenizer(sentencepiece.read(path, Hints()))
        for text in corpora:
            check(tokenizer, path.read_bytes(), [text, *text.splitlines()])


@each
def test_unused_pieces_of_unused_pieces(implementation: Implementation, tmp_path: Path) -> None:
    """sentencepiece cuts an unused piece again a hundred times at most."""
    model = model_of(train(tmp_path, vocab_size=400, normalization_rule_name="identity"))
    for length in range(2, 130):
        for letter in "qw":
            model.texts.append(letter * length)
            model.scores.append(float(length))
            model.types.append(UNUSED)
    data = model.write()
    tokenizer = tokenizer_of(implementation, data, tmp_path)
    check(
        tokenizer,
        data,
        ["q" * length + "w" * (length // 2) for length in (1, 2, 3, 60, 99, 100, 101, 102, 129, 300)],
    )


@each
def test_nul_pieces(implementation: Implementation, tmp_path: Path) -> None:
    """A piece of one NUL is unused, and NUL in text is a byte or unknown."""
    for fallback in (True, False):
        data = train(tmp_path, vocab_size=460, byte_fallback=fallback)
        data += canonical("\0", -1.0, NORMAL if fallback else UNUSED, False)
        check(tokenizer_of(implementation, data, tmp_path), data, ["\0", "a\0b", "\0\0 \0"])
