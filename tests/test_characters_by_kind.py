"""Merging of characters where text is cut by their kinds, as in the tour of tokenizers, beside tokenizers.

With marks of the beginnings and ends of words too, as of `CharBPETokenizer`. Adds drawn and real text by
layouts of such steps, and what is unknown to them. Leaves out steps that look at more (`test_steps_popular`).
"""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from popular_layouts import TRAINED_ON
from test_steps_popular import PIECES, Both
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

import syllabary

CUTS = {
    "whitespace": pre_tokenizers.Whitespace(),
    "white space alone": pre_tokenizers.WhitespaceSplit(),
    "bert": pre_tokenizers.BertPreTokenizer(),
    "punctuation": pre_tokenizers.Punctuation("contiguous"),
    "digits": pre_tokenizers.Digits(individual_digits=False),
    "words and digits": pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)]
    ),
    "words and signs": pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()]
    ),
}
BEHIND = {
    "nothing": None,
    "forms": normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]),
    "marks": normalizers.Replace(" ", "▁"),
}
MARKS: dict[str, dict[str, str]] = {
    "": {},
    "ends": {"end_of_word_suffix": "</w>"},
    "goes on": {"continuing_subword_prefix": "##"},
}
LAYOUTS = [
    *((cut, cut, "nothing") for cut in CUTS),
    *((cut, cut, "nothing", "ends") for cut in ("bert", "words and digits", "white space alone")),
    ("bert", "bert", "forms", "ends"),
    ("whitespace", "whitespace", "nothing", "goes on"),
    ("whitespace", "whitespace", "forms"),
    ("bert", "bert", "marks"),
    # Tokens that the steps cut, so that they are never made.
    ("white space alone", "whitespace", "nothing"),
    ("digits", "words and digits", "nothing"),
]


def made(
    learned: str,
    cut: str,
    behind: str,
    mark: str = "",
    unknown: str | None = "<unk>",
    fuses: bool = False,
) -> str:
    """The `tokenizer.json` of one that has learned its merges by some steps and cuts by others."""
    marks = MARKS[mark]
    tok = Tokenizer(models.BPE(unk_token=unknown, fuse_unk=fuses, **marks) if unknown else models.BPE())
    if normalizer := BEHIND[behind]:
        tok.normalizer = normalizer
    tok.pre_tokenizer = CUTS[learned]
    special = [unknown] if unknown else []
    trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=special, show_progress=False, **marks)
    tok.train_from_iterator(TRAINED_ON, trainer)
    tok.pre_tokenizer = CUTS[cut]
    return tok.to_str()


@pytest.fixture(scope="module", params=LAYOUTS, ids=" / ".join)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(made(*request.param), tmp_path_factory.mktemp("tokenizer"))


@given(st.lists(st.lists(PIECES, max_size=40).map("".join), min_size=1, max_size=4))
def test_drawn_text(both: Both, texts: list[str]) -> None:
    both.check(texts)


def test_spaces_of_all_kinds(both: Both) -> None:
    spaces = [chr(code) for code in range(0x3100) if chr(code).isspace()] + ["\u200b", "\ufeff", "\x1c"]
    texts = [space.join(["plain", "words", "", "2024", "漢字", "end", ""]) for space in spaces]
    both.check([*texts, "".join(spaces), " " * 3_000, " \n" * 700 + "words" + "\t" * 70, ""])


def test_many_words_and_long_ones(both: Both) -> None:
    text = " ".join(f"word{number} {number},{number * 7:x}!" for number in range(1_500))
    both.check([text, "λέξεις " * 900, "plain" * 1_000, "漢字かな、" * 700, "word,word\n\n    word " * 200])


def test_text_that_has_spaces_at_its_beginning_only_and_other_text(both: Both) -> None:
    """What was met in one kind of text stands in the other, cut elsewhere."""
    spaced, other = "λέξεις and words, (signs) !? $+ 12 " * 60, "漢字かな、（）！？＄12ab" * 90
    texts = [spaced + other, other + spaced, spaced, other]
    both.check([*texts, *(text[at:] for text in texts for at in (1, 7, 40)), "".join(texts) * 2])


SIGNS = '!?()[]{}.,;:+-*/<=>|$%&@#~^"_\u00b7\u2014\u2026\u20ac\uff01\u3002\u00b2\u0301'


@given(st.lists(st.text(SIGNS + "a1é漢 ", max_size=60), min_size=1, max_size=6))
def test_rows_of_signs(both: Both, texts: list[str]) -> None:
    both.check([text + " word" * 40 for text in texts])


@pytest.mark.parametrize("corpus", ["english", "greek", "chinese", "multilingual", "code"])
def test_real_text(both: Both, corpus: str, shared: Path, prove: bool) -> None:
    with lzma.open(shared / f"corpora/{corpus}.txt.xz") as file:
        text = file.read(1_000_000 if prove else 40_000).decode("utf-8", "ignore")
    both.check([*(text[at : at + 1_000] for at in range(0, len(text), 1_000)), text])


@pytest.mark.parametrize("fuses", [True, False])
def test_unknown_characters_of_two_pieces_are_two(tmp_path: Path, fuses: bool) -> None:
    both = Both(made("whitespace", "whitespace", "nothing", fuses=fuses), tmp_path)
    both.check(["☃☃ ☃", "☃!☃☃!", "Ω☃ΩΩ☃", "a☃ ☃☃b 1☃"])


@given(st.lists(st.text("☃☃☃ΩЖ漢 \u2003\u3000,a", max_size=70), min_size=1, max_size=6))
def test_rows_of_unknown_characters(both: Both, texts: list[str]) -> None:
    both.check([f"words {text} words" for text in texts] + texts)


def test_white_space_alone_is_no_unknown_character(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(made("whitespace", "whitespace", "nothing", unknown=None), encoding="utf-8")
    tok, peer = syllabary.load(path), Tokenizer.from_file(str(path))
    for text in ["\u2003", "plain\u2003\u2003words \u3000\x85", "\u3000 " * 40]:
        assert tok.encode(text) == tok.encode_batch([text])[0] == peer.encode(text).ids


def test_without_an_unknown_token_the_error_says_where(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(made("whitespace", "whitespace", "nothing", unknown=None), encoding="utf-8")
    tok, peer = syllabary.load(path), Tokenizer.from_file(str(path))
    calls = [
        lambda: tok.encode("plain words, Ω and more"),
        lambda: tok.encode_batch(["plain", "plain words, Ω and more"], threads=1),
        lambda: tok.count("plain words, Ω and more"),
        lambda: tok.encode_full("plain words, Ω and more"),
    ]
    for call in calls:
        with pytest.raises(syllabary.UnknownSymbolError, match=r"'Ω'.*character 13"):
            call()
    assert tok.encode("plain words") == peer.encode("plain words").ids
