"""Batches of short texts, which the engine encodes side by side: the same as each text alone.

Texts of every length around the bounds of what is joined, alone and mixed: empty ones, one character, some
hundreds to a chunk, longer than is joined, with tokens found in them, and with what cannot be encoded. Leaves
out the ids of one text, which the tests of engine and peers compare.
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import syllabary
from syllabary.spec import SplitSpec, TokenizerSpec

WORDS = [
    *"the The cat sat dog, and; under 12 1984 it's don't we'll\n \n\n\t …".split(" "),
    *"  indivisible incomprehensibilities χθὼν μῆνιν ἄειδε θεὰ Ἀχιλῆος naïve Straße".split(" "),
    *"学而时习之 不亦说乎 ᏣᎳᎩ 👩‍👩‍👧 🇬🇷 <|end|> <|pad|> \x00 \ufeff".split(" "),
]


def drawn(seed: int, count: int, most: int) -> list[str]:
    """Texts of up to `most` words; now and then one that is long, or a word that never ends."""
    draw = random.Random(seed)
    texts = []
    for _ in range(count):
        words = draw.choices(WORDS, k=draw.choice([0, 1, 2, most, draw.randrange(most + 1)]))
        texts.append(draw.choice([" ", "", " "]).join(words))
        if draw.random() < 0.02:
            texts.append(draw.choice(["a", " x", "学", "the "]) * draw.choice([500, 2047, 2048, 2049, 9000]))
    return texts


@pytest.fixture(scope="module")
def tokenizers() -> dict[str, syllabary.Tokenizer]:
    """One for each named split that leaves nothing out, and one that does."""
    texts = drawn(1, 400, 40)
    made = {}
    for split in ("gpt2", "cl100k", "o200k", "llama3", "latin", "whitespace", "none", r"\w+|\W"):
        special = ["<|end|>", "<|pad|>"]
        made[split] = syllabary.train(texts, vocab_size=500, split=split, special_tokens=special, threads=1)
    return made


@pytest.mark.parametrize("most", [1, 6, 60, 700])
def test_side_by_side_as_alone(tokenizers: dict[str, syllabary.Tokenizer], most: int) -> None:
    texts = drawn(most, 1500 if most < 60 else 150, most)
    for split, tok in tokenizers.items():
        for special in ("allow", "text"):
            alone = [tok.encode(text, special=special) for text in texts]
            for threads in (1, 2):
                for _ in range(2):  # the second time most of it is remembered
                    found = tok.encode_batch_array(texts, special=special, threads=threads)
                    assert found.to_list() == alone, split
                assert tok.encode_batch(texts, special=special, threads=threads) == alone, split
                counts = tok.count_batch(texts, special=special, threads=threads)
                assert counts.tolist() == [len(ids) for ids in alone], split


def with_new_words(seed: int, count: int) -> list[str]:
    """Documents of known words with new ones: few, as many as wait for others, many; short texts between."""
    draw = random.Random(seed)
    alphabets = ["abcdefghij", "áéíóúñ", "αβγδεζηθ", "ᏣᎳᎩᎦᏬ", "漢字仮名交", "aβ字", "0123456789"]
    texts = []
    for _ in range(count):
        words = draw.choices(WORDS, k=draw.choice([3, 300, 700, 2500]))
        letters = draw.choice(alphabets)
        for _ in range(draw.choice([0, 1, 2, 3, 4, 20, 63, 64, 65, 200])):
            length = draw.choice([1, 4, 8, 15, 16, 31, 32, 70])
            words.insert(draw.randrange(len(words)), "".join(draw.choices(letters, k=length)))
        texts.append(" ".join(words))
        texts.extend(
            draw.choices(["", "a", "<|end|>", "new" + letters, "x " * 900], k=draw.choice([0, 0, 1, 30]))
        )
    return texts


@pytest.mark.parametrize("seed", range(3))
def test_new_words_that_wait_for_others(tokenizers: dict[str, syllabary.Tokenizer], seed: int) -> None:
    """Nothing is known of the first batch; a wrong text leaves nothing. `dropout` takes the general way."""
    texts = with_new_words(seed, 60)
    for split, known in tokenizers.items():
        tok = syllabary.Tokenizer(known.spec)
        alone = [known.encode(text, special="allow", dropout=1e-300, seed=0) for text in texts]
        with pytest.raises(syllabary.TextError, match=rf"text {len(texts) // 2}\b"):
            tok.encode_batch([*texts[: len(texts) // 2], "a\ud800"], special="allow", threads=1)
        for text, ids in zip(texts[::7], alone[::7], strict=True):
            assert tok.encode(text, special="allow") == ids, split
        tok = syllabary.Tokenizer(known.spec)
        counts = tok.count_batch(texts[::2], special="allow", threads=1)
        assert counts.tolist() == [len(ids) for ids in alone[::2]], split
        assert tok.encode_batch_array(texts, special="allow", threads=1).to_list() == alone, split
        fresh = syllabary.Tokenizer(known.spec)
        assert [fresh.count(text, special="allow") for text in texts] == [len(ids) for ids in alone], split
        whole = "".join(texts)
        assert fresh.encode(whole, special="allow") == known.encode(
            whole, special="allow", dropout=1e-300, seed=0
        )


def test_nothing_but_ends(tokenizers: dict[str, syllabary.Tokenizer]) -> None:
    tok = tokenizers["gpt2"]
    texts = [""] * 3000
    assert tok.encode_batch(texts) == [[]] * 3000
    assert not tok.count_batch(texts).any()
    end = tok.encode("<|end|>", special="allow")
    assert tok.encode_batch(["<|end|>"] * 3000, special="allow") == [end] * 3000
    assert tok.encode_batch(["", "a", ""]) == [[], tok.encode("a"), []]


def test_a_wrong_text_among_them_is_named(tokenizers: dict[str, syllabary.Tokenizer]) -> None:
    """And what comes after the error is encoded as ever."""
    tok = tokenizers["o200k"]
    texts = drawn(5, 300, 8)
    clean = [text.replace("<|", "<") for text in texts]
    right = tok.encode_batch(clean)
    for call in (tok.encode_batch, tok.encode_batch_array, tok.count_batch):
        with pytest.raises(syllabary.TextError, match=r"text 200\b"):
            call([*clean[:200], "a\ud800", *clean[201:]])
        with pytest.raises(syllabary.SyllabaryError, match=r"text 123\b"):
            call([*clean[:123], "some <|end|> text", *clean[124:]])
        assert tok.encode_batch(clean) == right


def test_symbols_that_lack_among_short_texts() -> None:
    """A vocabulary without the byte of `z`: the text that has it is named, as one by one."""
    tokens = {value: bytes([value]) for value in range(256) if value != ord("z")} | {256: b"ab", 257: b"abc"}
    alphabet = {text: number for number, text in tokens.items() if len(text) == 1}
    tok = syllabary.Tokenizer(TokenizerSpec("byte", SplitSpec("gpt2"), tokens, alphabet, None))
    texts = ["ab abc", "", "cab"] * 50
    alone = [tok.encode(text) for text in texts]
    assert tok.encode_batch(texts) == alone
    with pytest.raises(syllabary.SyllabaryError, match=r"text 70\b"):
        tok.encode_batch([*texts[:70], "jazz", *texts[70:]])


def test_lines_of_real_text(shared: Path) -> None:
    """The published vocabularies: every line of some hundred kilobytes, cut short and long."""
    from corpus_files import published

    tok = syllabary.load(shared / "vocabs" / "cl100k_base.tiktoken")
    for language in ("english", "greek", "chinese", "code"):
        text = published(shared, language, 200_000)
        lines = text.splitlines(keepends=True)
        lines += [line[at : at + 30] for line in lines for at in range(0, len(line), 30)]
        alone = [tok.encode(line, special="text") for line in lines]
        found = tok.encode_batch_array(lines, special="text", threads=1)
        assert found.to_list() == alone
        assert np.diff(found.offsets).tolist() == tok.count_batch(lines, special="text").tolist()
