"""WordPiece: the engine, the specification and tokenizers give the same ids, spans and text.

Every day a sample; with `SYLLABARY_PROVE` 10,000 strings for each tokenizer and 1 MB of each corpus. Leaves
out: files (`test_wordpiece_files`), training (`test_wordpiece_train`).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hard_text import hard_texts
from hypothesis import given
from hypothesis import strategies as st
from proof_rows import keep
from test_compatibility import agree
from words_peers import BERT_CUTS, BYTES, PROVE, STRINGS, bert, made, opened, samples, sequence

import syllabary
from syllabary.reference import ReferenceTokenizer
from syllabary.spec import SplitSpec, Step, TokenizerSpec
from syllabary.surgery import extend, unreachable
from syllabary.tokenizer import Tokenizer

pytestmark = pytest.mark.timeout(7200)
CASINGS = list(product((True, False), (None, True, False), (True, False), (True, False)))[
    :: 1 if PROVE else 5
]


def check(
    peer: Any, tmp_path: Path, name: str, strings: int = STRINGS, size: int = BYTES, seed: int = 3
) -> None:
    """All three agree on hard strings and on real text, one by one and in a batch; kept as a row."""
    tok, reference, home = opened(peer, tmp_path)
    texts, real = list(hard_texts(strings, seed=seed)), dict(samples(size))
    ids = [agree(tok, home, text) for text in [*texts, *real.values()]]
    for text, expected in list(zip(texts, ids, strict=False))[::4]:
        if len(text) < 500:
            assert reference.encode(text, special="allow") == expected, text
            assert reference.offsets(text, special="allow") == home.encode(text).spans, text
    assert tok.encode_batch([*texts, *real.values()], special="allow") == ids
    counts = tok.count_batch([*texts, *real.values()], special="allow").tolist()
    assert counts == list(map(len, ids))
    tokens = {f"{strings:,} strings": sum(counts[:strings])} | dict(zip(real, counts[strings:], strict=True))
    for text, count in tokens.items():
        keep(name, home.peer, "ids, tokens, spans, text", text, count)


def told(component: Any) -> str:
    """A component in a few words, by the options that it has."""
    if component is None:
        return "none"
    inner = component.get("normalizers") or component.get("pretokenizers")
    return " + ".join(map(told, inner)) if inner else component["type"]


@pytest.mark.parametrize("casing", CASINGS, ids=str)
def test_bert(casing: tuple[bool, bool | None, bool, bool], tmp_path: Path) -> None:
    names = ("lowercase", "strips accents", "cleans", "cuts Chinese")
    said = ", ".join(f"{name} {value}".lower() for name, value in zip(names, casing, strict=True))
    check(made("WordPiece", bert(*casing), BERT_CUTS), tmp_path, f"WordPiece, {said}")


@pytest.mark.parametrize(
    "normalizer, cuts",
    [
        (None, BERT_CUTS),
        (None, None),
        ({"type": "NFC"}, BERT_CUTS),
        ({"type": "NFKC"}, {"type": "Whitespace"}),
        ({"type": "NFKD"}, BERT_CUTS),
        ({"type": "Nmt"}, BERT_CUTS),
        ({"type": "Lowercase"}, {"type": "WhitespaceSplit"}),
        (bert(True), sequence("pretokenizers", "WhitespaceSplit", "Punctuation")),
        (bert(False), sequence("pretokenizers", "BertPreTokenizer", "Digits")),
        (sequence("normalizers", "NFD", "StripAccents", "Lowercase"), {"type": "Whitespace"}),
        (bert(True), {"type": "Punctuation", "behavior": "Isolated"}),
        (bert(True), {"type": "UnicodeScripts"}),
        (bert(True), {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}),
    ],
    ids=str,
)
def test_other_steps(normalizer: Any, cuts: Any, tmp_path: Path) -> None:
    name = f"WordPiece, {told(normalizer)}, {told(cuts)}"
    check(
        made("WordPiece", normalizer, cuts),
        tmp_path,
        name,
        STRINGS if PROVE else 15,
        BYTES if PROVE else 1200,
    )


@pytest.mark.parametrize(
    "options",
    [
        {"max_input_chars_per_word": 0},
        {"max_input_chars_per_word": 1},
        {"max_input_chars_per_word": 5},
        {"max_input_chars_per_word": 2**64 - 1},
        {"continuing_subword_prefix": ""},
        {"continuing_subword_prefix": "#"},
        {"continuing_subword_prefix": "e"},
    ],
    ids=str,
)
def test_options_of_the_model(options: dict[str, Any], tmp_path: Path) -> None:
    name = "WordPiece, " + ", ".join(f"{key} {value!r}" for key, value in options.items())
    size = BYTES if PROVE else 2500
    check(made("WordPiece", bert(True), BERT_CUTS, **options), tmp_path, name, STRINGS if PROVE else 30, size)


# ---- drawn vocabularies: the engine and the specification alone ----

NAMES = st.text(alphabet="ab#é字", min_size=1, max_size=4)
PIECES = st.text(alphabet="ab#é字 .", max_size=12)


@given(st.lists(NAMES, min_size=1, max_size=12), PIECES, st.sampled_from([None, "#", "##", "a"]), st.data())
def test_any_vocabulary(names: list[str], text: str, prefix: str | None, data: st.DataObject) -> None:
    spec = TokenizerSpec(
        "char",
        SplitSpec(None),
        {token_id: name.encode() for token_id, name in enumerate(names)},
        {},
        None,
        unknown=data.draw(st.sampled_from([None, 0])),
        continuing_prefix=prefix,
        pretokenizer=(Step("BertPreTokenizer"),),
        model="wordpiece",
        longest_piece=data.draw(st.sampled_from([None, 0, 1, 3])),
    )
    tok, reference = Tokenizer(spec), ReferenceTokenizer(spec)
    try:
        expected = reference.encode(text)
    except syllabary.UnknownSymbolError as error:
        # The engine names the pieces of one part only.
        first, place = str(error).partition(",")[0].partition(";")[0], str(error).partition("; ")[2]
        with pytest.raises(syllabary.UnknownSymbolError) as raised:
            tok.encode(text)
        assert str(raised.value).startswith(first)
        assert str(raised.value).endswith(place)
        return
    assert tok.encode(text) == expected
    assert [token for piece in list(reference.steps(text))[-1] for token in piece] == expected
    assert list(map(tuple, tok.offsets(text).tolist())) == reference.offsets(text)


SMALL = TokenizerSpec(
    "char",
    SplitSpec(None),
    {0: b"[UNK]", 1: b"un", 2: b"##able", 3: b"##afford", 4: b"##aff", 5: b"##ordable", 6: b"##x"},
    {},
    None,
    unknown=0,
    continuing_prefix="##",
    pretokenizer=(Step("BertPreTokenizer"),),
    model="wordpiece",
)


def test_every_step_is_shown() -> None:
    steps = [[[1, 0]], [[1, 3, 0]], [[1, 3, 2]]]
    for made_of in (Tokenizer(SMALL), ReferenceTokenizer(SMALL)):
        assert list(made_of.steps("unaffordable")) == [[[0]], *steps]
        assert list(made_of.steps("unafford?")) == [
            [[0], [0]], [[1, 0], [0]], [[1, 3], [0]]
        ]  # fmt: skip
        # Nothing is taken back: `un ##aff ##ordx` would go on no better, and the whole piece is unknown.
        assert list(made_of.steps("unaffordably"))[-1] == [[0]]


def test_without_an_unknown_token_a_piece_is_named() -> None:
    spec = replace(SMALL, unknown=None)
    for made_of in (Tokenizer(spec), ReferenceTokenizer(spec)):
        assert made_of.encode("unable") == [1, 2]
        with pytest.raises(
            syllabary.UnknownSymbolError, match=r"'unaffordably'; the first is at character 7"
        ):
            made_of.encode("unable unaffordably")


def test_words_side_by_side() -> None:
    """Words are looked up several at a time: with what stands alone between them, up to one that is wrong."""
    tok, reference = Tokenizer(SMALL), ReferenceTokenizer(SMALL)
    for count in range(40):
        text = "unable," * (count % 3) + "unafford un" * count + "?! " + "unx;" * (count % 7) + " un" * count
        assert tok.encode(text) == reference.encode(text) == tok.encode_batch([text, text])[1]
    spec = replace(SMALL, unknown=None)
    for made_of in (Tokenizer(spec), ReferenceTokenizer(spec)):
        with pytest.raises(
            syllabary.UnknownSymbolError, match=r"'unaffordy'.*; the first is at character 140"
        ):
            made_of.encode("unable " * 20 + "unaffordy " + "unx? " * 40)


def test_many_words_and_long_ones() -> None:
    """More words than a memory holds, and pieces beyond every limit of length."""
    words = [f"un{'x' * (number % 90)}" for number in range(5000)] + ["x" * 10_000, "un" + "x" * 1_100]
    text = " ".join(words)
    tok, reference = Tokenizer(SMALL), ReferenceTokenizer(SMALL)
    known = {word: reference.encode(word) for word in set(words)}  # each once: a word depends on no other
    few = words[:91]
    assert reference.encode(" ".join(few)) == [token_id for word in few for token_id in known[word]]
    expected = [token_id for word in words for token_id in known[word]]
    assert tok.encode(text) == expected == tok.encode_batch([text, text])[1]


def test_what_merges_do_is_refused() -> None:
    tok = Tokenizer(SMALL)
    assert tok.merges == []
    with pytest.raises(syllabary.VocabularyError, match="model='wordpiece' has no merges"):
        unreachable(tok)
    with pytest.raises(syllabary.VocabularyError, match="the model 'wordpiece' cannot be extended by merges"):
        extend(tok, tok)
