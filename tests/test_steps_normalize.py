"""The reference's normalizers do what tokenizers' own do: the same text, each character from the same place.

Adds every code point for the steps that look at one character, drawn text for each kind and for several in a
row, and the first 50 kB of real text. Leaves out: character maps (`test_steps_charsmap`), sentencepiece's own
step (`test_steps_sentencepiece`), what a step may be (`test_steps_validate`).
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import step_peers
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import chars, texts

import syllabary
from syllabary.errors import PatternError, TextError, VocabularyError
from syllabary.reference import aligned, normalize
from syllabary.reference.aligned import Aligned
from syllabary.spec import Step
from syllabary.unicode import rewriting

BERT = [
    Step("Bert", {"clean_text": a, "handle_chinese_chars": b, "strip_accents": c, "lowercase": d})
    for a, b, c, d in [
        (True, True, None, True), (True, False, True, False), (False, True, None, False),
        (False, False, False, True),
    ]
]  # fmt: skip
PLAIN = [Step(kind) for kind in "StripAccents NFC NFD NFKC NFKD Lowercase Nmt ByteLevel".split()]
STRIP = [Step("Strip", {"strip_left": a, "strip_right": b}) for a in (True, False) for b in (True, False)]
OTHERS = [
    Step("Prepend", {"prepend": "▁"}),
    Step("Prepend", {"prepend": "<é>"}),
    Step("Replace", {"pattern": " ", "regex": False, "content": "▁"}),
    Step("Replace", {"pattern": "ab", "regex": False, "content": ""}),
    Step("Replace", {"pattern": r"\s+|a", "regex": True, "content": "é漢"}),
    Step("Replace", {"pattern": r"\p{L}+(?=\p{P})", "regex": True, "content": ""}),
]
ALL = [*BERT, *PLAIN, *STRIP, *OTHERS]
# Characters that decompose, compose or trade places: drawn text has few of them.
MOVING = sorted(
    {*rewriting.combining_classes(), *"\u0344\u0958\u0f73\u1e9b\u212b\ufb1d\U0001d15e각가각ﬁ①㌀ǅΐ\u0345"}
)


def name(step: Step) -> str:
    return "-".join([step.kind, *(str(value) for value in step.options.values())])


def ours(steps: list[Step], text: str) -> step_peers.Spanned:
    return step_peers.spanned(normalize.apply(steps, Aligned.of(text)))


@pytest.mark.parametrize("step", [*BERT, *PLAIN, *OTHERS[2:5]], ids=name)
def test_every_code_point(step: Step, prove: bool) -> None:
    for text in step_peers.chunks(step_peers.code_points(prove)):
        assert ours([step], text) == step_peers.normalized([step], text)


@given(text=texts(), step=st.sampled_from(ALL))
def test_one_step(text: str, step: Step) -> None:
    assert ours([step], text) == step_peers.normalized([step], text)


@given(texts(), st.lists(st.sampled_from(ALL), max_size=4))
@example(" \u0301ab ", [STRIP[0], PLAIN[2], PLAIN[0]])
def test_steps_in_a_row(text: str, steps: list[Step]) -> None:
    assert ours(steps, text) == step_peers.normalized(steps, text)


@given(
    st.lists(st.one_of(st.sampled_from(MOVING), st.sampled_from("aeé각\u1100"), chars()), max_size=16),
    st.sampled_from(PLAIN[1:5]),
)
def test_marks_that_trade_places(text: list[str], step: Step) -> None:
    assert ours([step], "".join(text)) == step_peers.normalized([step], "".join(text))


def test_hangul_syllables_and_jamo() -> None:
    for first in "\u10ff\u1100\u1112\u1113":
        text = "".join(first + chr(v) + chr(t) for v in range(0x1160, 0x1177) for t in range(0x11A6, 0x11C4))
        for step in PLAIN[1:5]:
            assert ours([step], text) == step_peers.normalized([step], text)


@pytest.mark.parametrize("corpus", ["english", "greek", "chinese", "multilingual", "code"])
@pytest.mark.parametrize(
    "steps", [[BERT[0]], [PLAIN[6], PLAIN[3], PLAIN[5]], [STRIP[0], OTHERS[0], OTHERS[2]]]
)
def test_real_text(shared: Path, prove: bool, corpus: str, steps: list[Step]) -> None:
    found = step_peers.corpus(shared / "corpora" / f"{corpus}.txt.xz", 300_000 if prove else 15_000)
    for text in step_peers.chunks(found, 10_000):
        assert ours(steps, text) == step_peers.normalized(steps, text)


def test_long_runs() -> None:
    for text in ("a" + "\u0301\u0323" * 3000, " " * 5000, "é" * 5000 + "\u0301", "\u1100" * 4000):
        for step in [BERT[0], *PLAIN, *STRIP]:
            assert ours([step], text) == step_peers.normalized([step], text)


def test_prepending_nothing_changes_nothing() -> None:
    # tokenizers forgets where the first character was, and the next step panics.
    steps = [Step("Prepend", {"prepend": ""}), Step("NFC")]
    assert ours(steps, "ab") == [("a", (0, 1)), ("b", (1, 2))]


def test_spans_of_a_run_begin_where_it_does() -> None:
    found = normalize.apply([PLAIN[2]], Aligned.of("né", base=7))
    assert found.spans == [(7, 8), (8, 9), (8, 9)]
    assert found.original(1, 3) == (8, 9)


def test_growth_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aligned, "MORE", 808)
    doubled = Step("Replace", {"pattern": "a", "regex": False, "content": "aa"})
    assert len(ours([doubled] * 8, "aaa")) == 768
    for steps in ([doubled] * 60, [Step("Prepend", {"prepend": "x" * 1001})]):
        with pytest.raises(TextError, match=r"a text of [0-9]+ characters more than 64 times as long"):
            ours(steps, "aaa")


def test_growth_without_end_is_refused_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aligned, "MORE", 808)
    doubled = Step("Replace", {"pattern": "a", "regex": False, "content": "aa"})
    for count in (5, 60):
        spec = dataclasses.replace(syllabary.train(["ab ab"], 257).spec, normalizer=(doubled,) * count)
        tok = syllabary.Tokenizer(spec)
        if count == 5:
            assert sum(map(len, tok.encode_stream(["a" * 9, " b"]))) == tok.count("a" * 9 + " b")
            continue
        for call in (
            lambda tok: list(tok.encode_stream(["a" * 200, " b"])),
            lambda tok: tok.count_until("a" * 200, 5),
            lambda tok: tok.normalize("a" * 200),
        ):
            with pytest.raises((TextError, VocabularyError), match="more than 64 times as long"):
                call(tok)


def test_a_pattern_that_matches_nothing_at_some_place_is_an_error() -> None:
    step = Step("Replace", {"pattern": "(?=b)", "regex": True, "content": "x"})
    with pytest.raises(PatternError, match="matches the empty string at offset 1"):
        ours([step], "ab")
