"""The engine's fast way for tokenizers of characters gives the ids of its general way and of the reference.

The general way is taken wherever merges might be passed over; with a probability that no coin reaches, it
passes over none, and cuts and remembers nothing. On models of sentencepiece and of its kind in
`tokenizer.json`, on drawn text, on text of many blocks, and on more words than the memory of segments holds.
Leaves out what sentencepiece itself says (`test_formats_sentencepiece_peer`).
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hard_text import hard_texts
from hypothesis import given
from sentencepiece_models import WORDS, corpus, train, variants
from strategies import texts

import syllabary
from syllabary import splits
from syllabary.formats import sentencepiece
from syllabary.formats.record import Hints
from syllabary.reference.tokenizer import ReferenceTokenizer
from syllabary.spec import Step, TokenizerSpec

NEVER = 1e-300
MARK = "▁"
LETTERS = "abcdeéñжщאβὴ漢字数据😀\u0301.,' \n"
PREPEND = Step("Prepend", {"prepend": MARK})
REPLACE = Step("Replace", {"pattern": " ", "regex": False, "content": MARK})


def metaspace(scheme: str, split: bool) -> Step:
    return Step("Metaspace", {"replacement": MARK, "prepend_scheme": scheme, "split": split})


def cut_at_spaces(behavior: str, invert: bool = False) -> Step:
    return Step("Split", {"pattern": " ", "regex": False, "behavior": behavior, "invert": invert})


STEPS: list[tuple[tuple[Step, ...], tuple[Step, ...]]] = [
    ((), ()),
    ((PREPEND, REPLACE), ()),
    ((REPLACE, PREPEND), ()),
    ((REPLACE,), ()),
    ((PREPEND,), ()),
    ((Step("Lowercase", {}), REPLACE), ()),
    *(
        ((), (metaspace(scheme, split),))
        for scheme in ("always", "first", "never")
        for split in (True, False)
    ),
    # Gemma's, whose cut finds no spaces; and some that do find them.
    ((REPLACE,), (cut_at_spaces("merged_with_previous"),)),
    ((REPLACE,), (cut_at_spaces("removed"), cut_at_spaces("isolated"))),
    ((REPLACE,), (cut_at_spaces("removed", True),)),
    (
        (REPLACE, Step("Replace", {"pattern": MARK, "regex": False, "content": " "})),
        (cut_at_spaces("removed"),),
    ),
    ((), (cut_at_spaces("merged_with_next"),)),
]


def drawn_spec(source: random.Random, steps: tuple[tuple[Step, ...], tuple[Step, ...]]) -> TokenizerSpec:
    """A vocabulary of characters, some of them missing, with merges of any of its tokens, in any order."""
    chars = [MARK, *(char for char in LETTERS if source.random() < 0.8)]
    tokens = {number: char.encode() for number, char in enumerate(chars)}
    has_bytes = source.random() < 0.7
    byte_tokens = {
        1000 + byte: byte for byte in range(256) if has_bytes and (source.random() < 0.99 or byte < 9)
    }
    ids = {token: token_id for token_id, token in tokens.items()}
    merges: dict[tuple[int, int], int] = {}
    for _ in range(source.choice((0, 5, 40, 200))):
        left, right = source.choice([*ids]), source.choice([*ids])
        if len(left + right) < 40:
            made = ids.setdefault(left + right, len(ids))
            merges.setdefault((ids[left], ids[right]), made)
    listed = [(*pair, made) for pair, made in merges.items()]
    if source.random() < 0.5:
        source.shuffle(listed)
    normalizer, pretokenizer = steps
    return TokenizerSpec(
        unit="char",
        split=splits.get(None),
        tokens={made: token for token, made in ids.items()}
        | {n: bytes([byte]) for n, byte in byte_tokens.items()},
        alphabet={char.encode(): ids[char.encode()] for char in chars},
        merges=tuple(listed),
        special_tokens={"<unk>": 2000},
        fallback=has_bytes,
        byte_tokens=byte_tokens,
        unknown=2000,
        fuse_unknown=source.random() < 0.5,
        normalizer=normalizer,
        pretokenizer=pretokenizer,
    )


def general(tokenizer: syllabary.Tokenizer, text: str) -> list[int]:
    """The ids of a text by the general way."""
    return tokenizer.encode(text, special="text", dropout=NEVER, seed=0)


def check(tokenizer: syllabary.Tokenizer, found: list[str]) -> None:
    """Ids of each text alone and of all together, which remember segments from text to text, twice over."""
    expected = [general(tokenizer, text) for text in found]
    assert [tokenizer.encode(text, special="text") for text in found] == expected
    assert tokenizer.encode_batch(found * 2, special="text", threads=1) == expected * 2
    assert [*tokenizer.count_batch(found, special="text", threads=1)] == [*map(len, expected)]


def sampled(source: random.Random, count: int, parts: list[str]) -> list[str]:
    """Short texts, and some of many blocks."""
    sizes = [source.choice((1, 3, 9, 30, 200)) for _ in range(count)]
    return ["".join(source.choice(parts) for _ in range(size)) for size in sizes]


@pytest.mark.parametrize(
    "steps", STEPS, ids=lambda steps: "+".join(step.kind for stage in steps for step in stage)
)
def test_drawn_vocabularies(steps: tuple[tuple[Step, ...], tuple[Step, ...]], prove: bool) -> None:
    for number in range(400 if prove else 12):
        source = random.Random(number)
        spec = drawn_spec(source, steps)
        tokenizer, reference = syllabary.Tokenizer(spec), ReferenceTokenizer(spec)
        parts = [*LETTERS, *"abc ", *(token.decode("utf-8", "replace") for token in spec.tokens.values())]
        found = sampled(source, 12, [part for part in parts if "\ufffd" not in part])
        check(tokenizer, found)
        for text in found[:6]:
            assert tokenizer.encode(text, special="text") == [*reference.encode(text, special="text")], text


def test_trained_models(tmp_path: Path, prove: bool) -> None:
    for number, options in enumerate(variants(60 if prove else 12, seed=3)):
        (tmp_path / "t.model").write_bytes(train(tmp_path, **options))
        tokenizer = syllabary.Tokenizer(sentencepiece.read(tmp_path / "t.model", Hints()))
        source = random.Random(number)
        parts = [*WORDS, *LETTERS, " ", "  ", MARK, "<sep>", "a b"]
        check(tokenizer, [*sampled(source, 20, parts), *corpus(number, 3), "\n".join(corpus(number, 60))])


@pytest.fixture(scope="module")
def mistral(shared: Path) -> syllabary.Tokenizer:
    return syllabary.load(shared / "vocabs" / "mistral_v1.model")


@given(texts(60))
def test_drawn_texts(mistral: syllabary.Tokenizer, text: str) -> None:
    assert mistral.encode(text, special="text") == general(mistral, text)


def test_hard_texts(mistral: syllabary.Tokenizer, prove: bool) -> None:
    check(mistral, list(hard_texts(20_000 if prove else 300, seed=9)))


def test_more_words_than_are_remembered(mistral: syllabary.Tokenizer) -> None:
    source = random.Random(4)
    words = ["".join(source.choices("abcdefghij", k=source.randint(3, 40))) for _ in range(60_000)]
    others = ["".join(source.choices("абвгдежзик", k=source.randint(3, 30))) for _ in range(30_000)]
    found = [" ".join(source.choices(words + others, k=2000)) for _ in range(60)]
    found += found[:5]
    again = tokenize = mistral.encode_batch(found, special="text", threads=1)
    assert again == [mistral.encode(text, special="text") for text in found]
    for text, ids in zip(found[:3], tokenize[:3], strict=True):
        assert ids == general(mistral, text)


def test_text_of_one_kind(mistral: syllabary.Tokenizer) -> None:
    units = [
        "a",
        " ",
        MARK,
        "é",
        "漢",
        "数据",
        "😀",
        "\0",
        "ab",
        "а",
        ", ",
        "\n",
        "x" * 15 + " ",
        "x" * 16 + " ",
    ]
    check(mistral, [unit * count for unit in units for count in (1, 2, 15, 16, 17, 63, 64, 65, 500)])
    check(mistral, ["x" * length + end for length in range(140) for end in ("", " ", "é", "漢", " y")])
