"""What is read off two neighbouring characters is what the whole text says, and long rows are read once."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import hf_configurations
import pytest
import streamed

import syllabary
from syllabary.errors import PatternError, SyllabaryError
from syllabary.reference import ReferenceTokenizer, cut_steps, pattern_joins
from syllabary.reference.cut_parts import Parts
from syllabary.reference.cuts import Cuts
from syllabary.reference.train_sentencepiece_nfkc import named_rules
from syllabary.reference.train_sentencepiece_rules import compiled
from syllabary.spec import SplitSpec, Step, TokenizerSpec
from syllabary.unicode import Ranges

ENGINES = [r"\Ga|b", r"(?U)\w+", r"a\Kb", r"\p{Emoji}|.", r"\b{start}\w+", r"(a)(?(1)b|c)"]
MARKS: dict[str, Any] = {
    "precompiled_charsmap": b"", "add_dummy_prefix": True, "remove_extra_whitespaces": True,
    "treat_whitespace_as_suffix": False, "escape_whitespaces": True,
}  # fmt: skip


def agree(cuts: Cuts, text: str) -> bool:
    """The quick way says what all of the text does, whatever comes. Gives whether it found a cut."""
    if cuts.never or not cuts.rewrites or not cuts.parts.one_by_one:
        return False
    at, doubt = cuts.last_sure(text, 0, True)
    for more in (" of the", "\u0301 of", "1 2") if at else ():
        found = {cut.at: cut.guard for cut in cuts.rewritten(f"{text}{more}", True)}
        assert found.get(at) == text[at - 1], (text, more)
    assert doubt or all(cut.at <= at for cut in cuts.rewritten(text, True)), text
    return bool(at)


def test_the_quick_way_says_what_all_of_the_text_says(shared: Path) -> None:
    chance, compared = random.Random(5), 0
    toks = [*streamed.trained().values(), syllabary.load(shared / "vocabs" / "mistral_v1.model")]
    toks += [marked(toks[-1]), marked(toks[-1], compiled(named_rules("nmt_nfkc")))]
    for tok in toks:
        for policy in (True, False):
            cuts = Cuts(tok.spec, policy)
            for _ in range(6):
                text = streamed.drawn(chance, list(tok.special_tokens))
                compared += agree(cuts, text[: chance.randrange(len(text) + 1)][-150:])
    assert compared > 50


def test_the_quick_way_by_the_steps_of_other_libraries(tmp_path: Path) -> None:
    chance, compared, path = random.Random(6), 0, tmp_path / "tokenizer.json"
    for _ in range(40):
        path.write_text(json.dumps(hf_configurations.random_document(chance)))
        try:
            tok = syllabary.load(path)
        except SyllabaryError:
            continue
        cuts, names = Cuts(tok.spec), [*tok.special_tokens, *tok.spec.added_tokens]
        for _ in range(4):
            text = hf_configurations.random_text(chance) + streamed.drawn(chance, names)[:60]
            compared += agree(cuts, text[: chance.randrange(len(text) + 1)])
    assert compared > 10


def marked(tok: syllabary.Tokenizer, rules: bytes = b"") -> syllabary.Tokenizer:
    """The same, with white space in a row taken away, and with rules of its own."""
    step = Step("SentencePiece", {**MARKS, "precompiled_charsmap": rules})
    return syllabary.Tokenizer(replace(tok.spec, normalizer=(step,)))


@pytest.mark.parametrize("name", ["wordpiece", "gpt4, NFC", "mistral", "mistral, marked", "mistral, rules"])
@pytest.mark.parametrize("char", ["a", " "])
def test_a_long_row_is_rewritten_by_nobody(
    name: str, char: str, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a word without an end nor white space without one: two characters say it all."""
    if name.startswith("mistral"):
        tok = syllabary.load(shared / "vocabs" / "mistral_v1.model")
        rules = compiled(named_rules("nmt_nfkc")) if name.endswith("rules") else b""
        tok = marked(tok, rules) if ", " in name else tok
    else:
        tok = streamed.trained()[name]
    monkeypatch.setattr(Parts, "of", lambda *_: pytest.fail("rewritten"))
    encoder = tok.encoder("text")
    found = [token for _ in range(60) for token in encoder.push(char * 500)]
    assert found + encoder.flush() == tok.encode(char * 30_000, "text")


def test_a_long_row_of_digits_is_not_read_again_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    tok, asked = streamed.trained()["gpt4, NFC"], 0
    real = pattern_joins.holds

    def holds(ranges: Ranges, char: str) -> bool:
        nonlocal asked
        asked += 1
        return real(ranges, char)

    monkeypatch.setattr(pattern_joins, "holds", holds)
    encoder = tok.encoder()
    found = encoder.push("x" + "1" * 3000)
    assert found + encoder.flush() == tok.encode("x" + "1" * 3000)
    assert 0 < asked < 100_000


def test_letters_are_not_asked_about_groups_of_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut_steps, "group_before", lambda *_: pytest.fail("asked"))
    for name in ("o200k", "gpt4, NFC"):
        tok = streamed.trained()[name]
        encoder, text = tok.encoder(), "some words and others; " * 20
        found = [token for at in range(0, len(text), 7) for token in encoder.push(text[at : at + 7])]
        assert found + encoder.flush() == tok.encode(text)


def test_signs_go_on_with_what_oniguruma_counts_to_words_too() -> None:
    r"""`½` is of `\w` and of `[^\w\s]`: `!½` is one piece, and nothing is cut before it is known."""
    symbols = {at: symbol.encode() for at, symbol in enumerate(["a", "!", "½", "!½", " "])}
    split = SplitSpec(r"\w+|[^\w\s]+", "onig")
    spec, text = TokenizerSpec("char", split, symbols, {}, None, model="wordlevel"), "a!½ a!½"
    tok = syllabary.Tokenizer(spec)
    encoder = tok.encoder()
    found = [token for char in text for token in encoder.push(char)] + encoder.flush()
    assert found == tok.encode(text) == [0, 3, 4, 0, 3] == ReferenceTokenizer(spec).encode(text)
    assert tok.count_until(text, 5) == 5
    assert tok.count_until(text, 4) is None


@pytest.mark.parametrize("pattern", ["a(?:b|$)", "(?:a|ab)(?:b|$)", "a(?:b|(?=c))", "a(?:b|(?!c))?"])
def test_a_match_that_may_end_only_before_something(pattern: str) -> None:
    """Of `xac` nothing is cut before `a`, which is no match there."""
    tokens = {at: text.encode() for at, text in enumerate(["x", "a", "b", "c", "xa", "ab", "xac"])}
    alphabet = {token: at for at, token in tokens.items() if at < 4}
    merges = ((0, 1, 4), (4, 3, 6), (1, 2, 5))
    for steps in ((), (Step("NFD"),)):
        spec = TokenizerSpec("byte", SplitSpec(pattern), tokens, alphabet, merges, normalizer=steps)
        tok = syllabary.Tokenizer(spec)
        for text in ("xac", "xa", "xab", "xax", "xaab", "xacxa"):
            encoder = tok.encoder()
            found = [token for char in text for token in encoder.push(char)] + encoder.flush()
            assert found == tok.encode(text) == ReferenceTokenizer(spec).encode(text), text


@pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")
@pytest.mark.parametrize("pattern", ENGINES)
def test_of_a_pattern_that_the_engine_alone_knows_all_is_held(pattern: str) -> None:
    text = "aab ABab12 é abab\n\n ab " * 9
    tok = syllabary.train([text], num_merges=9, split=pattern)
    with pytest.raises(PatternError, match=r"is not supported|unknown character class"):
        list(tok.steps(text))
    encoder, ids = tok.encoder(), tok.encode(text)
    assert not any(encoder.push(text[at : at + 3]) for at in range(0, len(text), 3))
    assert encoder.flush() == ids
    assert tok.appender().append(text) == tok.count_until(text, len(ids)) == len(ids)
    assert tok.count_until(text, len(ids) - 1) is None
    assert "".join(chunk.text for chunk in tok.chunks(text, 9)) == text
