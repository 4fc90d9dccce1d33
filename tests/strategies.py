"""Text to test with: what Hypothesis draws from, shared by all tests.

Adds characters of every kind that splits and encodings treat apart (marks, each white space, NUL,
unassigned and private-use code points, letters whose case folds oddly) and fragments of words that patterns
look for; `few`, how often to draw; and `code_points`, of which every class is asked. Leaves out lone
surrogates (`lone_surrogates`) and invalid UTF-8 (`byte_strings`), which have their own strategies.
"""

from __future__ import annotations

from functools import lru_cache

from hypothesis import settings
from hypothesis import strategies as st

from syllabary.unicode import class_names, ranges

WHITE_SPACE = [
    *"\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000", *map(chr, range(0x2000, 0x200B)),
]  # fmt: skip
# Not White_Space, though some libraries think so.
ALMOST_SPACE = list("\x1c\x1d\x1e\x1f\u180e\u200b\u2060\ufeff")
MARKS = list("\u0301\u0308\u0323\u0345\u0903\u093f\u20dd\ufe0f\U0001e944")
LETTERS = list("aezAEZßéÉſKÅµǅʰʕªΣςωЖ한漢かアאعहไ\u0378\U00010400\U0001e900\U00020000")
DIGITS = list("0129²½٣९Ⅷ①𝟘")
SIGNS = list("'’\"!?.,;:/_-+=<>()[]{}|\\@#$%^&*~`¿€†→😀\u200d\u200c")
ODD = list("\0\x01\x7f\x80\xad\u0378\u0530\u05ff\ue000\uf8ff\ufdd0\ufffd\uffff\U000e0001\U000f0000\U0010ffff")
FRAGMENTS = [
    "'s", "'S", "'ſ", "'t", "'re", "'RE", "'ve", "'m", "'ll", "'Ll", "'d", "n't", "o'clock", "don't",
    "HTTPServer", "camelCase", "que", "ve", "ne", "met", "ce", "ci", "atque", "bene", "hocine",
    "virumque", " arma",
    "\r\n", "  ", "\n\n", " \n ", "\t\t", "123", "1234567", "!!!", "...", "://", "<|endoftext|>", "</w>",
    "the", " the", "aaaa", "abab", "e\u0301", "漢字", "हिन्दी", "ภาษา", "👨‍👩‍👧", "🏳️‍🌈",
]  # fmt: skip


def few(daily: int) -> settings:
    """For a property that takes long, over many parameters: so many examples every day, all to prove."""
    usual = settings().max_examples
    return settings(max_examples=daily if usual <= 60 else usual)


def chars() -> st.SearchStrategy[str]:
    """One character, of every kind as often as of any other."""
    kinds = [WHITE_SPACE, ALMOST_SPACE, MARKS, LETTERS, DIGITS, SIGNS, ODD]
    anything = st.characters(exclude_categories=["Cs"])
    return st.one_of(st.sampled_from("abcdest "), *map(st.sampled_from, kinds), anything)


def texts(max_size: int = 24) -> st.SearchStrategy[str]:
    """Text of at most `max_size` characters or fragments."""
    parts = st.one_of(chars(), chars(), st.sampled_from(FRAGMENTS))
    return st.lists(parts, max_size=max_size).map("".join)


def repetitive_texts(alphabet: str = "ab c", max_size: int = 60) -> st.SearchStrategy[str]:
    """Text over few characters, where pairs repeat and overlap: what merging finds hard."""
    return st.text(alphabet=alphabet, max_size=max_size)


def corpora(max_documents: int = 5, max_size: int = 30) -> st.SearchStrategy[list[str]]:
    """Some documents, most of them with pairs that repeat."""
    return st.lists(st.one_of(texts(max_size), repetitive_texts()), min_size=1, max_size=max_documents)


def byte_strings(max_size: int = 40) -> st.SearchStrategy[bytes]:
    """Bytes that may or may not be UTF-8: cut characters, stray continuations, overlong forms, surrogates."""
    broken = [
        b"\x80",
        b"\xff",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xe2\x82",
        b"\xf0\x9f\x98",
        b"\xf4\x90\x80\x80",
    ]
    parts = st.one_of(chars().map(str.encode), st.sampled_from(broken), st.binary(max_size=4))
    return st.lists(parts, max_size=max_size).map(b"".join)


@lru_cache(maxsize=1)
def code_points(prove: bool) -> list[str]:
    """Every character; without `prove`, those on both sides of each bound of a class, and every 499th."""
    every = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    if prove:
        return [chr(code) for code in every]
    names = [name for kind in class_names().values() for name in kind]
    spans = [span for name in names for span in ranges("tiktoken", name)]
    bounds = {code for first, last in spans for code in (first - 1, first, last, last + 1)}
    return [chr(code) for code in every if code in bounds or code % 499 == 0]


def lone_surrogates() -> st.SearchStrategy[tuple[str, int]]:
    """A text with a lone surrogate, and the index of the first one."""
    surrogate = st.integers(0xD800, 0xDFFF).map(chr)
    return st.tuples(texts(8), surrogate, texts(8)).map(lambda p: (p[0] + p[1] + p[2], len(p[0])))
