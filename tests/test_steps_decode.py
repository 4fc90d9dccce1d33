"""The decoders of the reference and of the engine do what tokenizers' own do, for tokens of every spelling.

Adds drawn tokens for each kind and for several in a row, and where tokenizers panics. Leaves out:
sentencepiece's decoder (`test_steps_sentencepiece`), what a step may be (`test_steps_validate`).
"""

from __future__ import annotations

from pathlib import Path

import pytest
import step_peers
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import byte_strings, texts
from tokenizers import Tokenizer, models

from syllabary._engine import StepDecoder
from syllabary.errors import PatternError, TextError
from syllabary.reference import aligned
from syllabary.reference.bytes_to_unicode import spell
from syllabary.reference.step_decoders import decode
from syllabary.spec import Step

FLAGS = (True, False)
PLAIN = [Step(kind) for kind in "ByteLevel Fuse ByteFallback".split()]
BPE = [Step("BPEDecoder", {"suffix": suffix}) for suffix in ("</w>", "", "a")]
PIECES = [Step("WordPiece", {"prefix": p, "cleanup": c}) for p in ("##", "") for c in FLAGS]
METASPACE = [
    Step("Metaspace", {"replacement": "▁", "prepend_scheme": scheme, "split": True})
    for scheme in ("always", "first", "never")
]
CTC = [
    Step("CTC", {"pad_token": pad, "word_delimiter_token": word, "cleanup": flag})
    for pad in ("<pad>", "")
    for word in ("|", "")
    for flag in FLAGS
]
# tokenizers panics where more is to be stripped at the end than there is.
STRIP = [Step("Strip", {"content": " ", "start": start, "stop": 0}) for start in (0, 1, 2)]
REPLACE = [
    Step("Replace", {"pattern": "▁", "regex": False, "content": " "}),
    Step("Replace", {"pattern": r"\s+|the", "regex": True, "content": "x▁"}),
]
any_step = st.one_of(*map(st.sampled_from, [PLAIN, BPE, PIECES, METASPACE, CTC, STRIP, REPLACE]))
SPELLINGS = [
    "<0x41>", "<0xE6>", "<0xBC>", "<0xA2>", "<0x+A>", "<0x-1>", "<0xff>", "<0xé>", "<0xFF", "<0xFFF>", "▁the",
    "▁", "▁▁a", " the", "##ing", "##", "the</w>", "</w>", "</w>a", "<pad>", "|", " n't", "'s", " ' ",
    " do not", "do", " not", " .", " ?", "!", "é", "Ã©", "Ġx", "  ", "x ", " x ", "漢", "a", "a", "a", "",
]  # fmt: skip
token = st.one_of(
    st.sampled_from(SPELLINGS), st.sampled_from(SPELLINGS), texts(6), byte_strings(4).map(spell)
)
tokens = st.lists(token, max_size=8)


@given(tokens, any_step)
@example(["<0xE6>", "<0xBC>", "<0xA2>", "<0xE6>", "a", "<0xE6>"], PLAIN[2])
@example([], BPE[0])
def test_one_step(tokens: list[str], step: Step) -> None:
    assert decode([step], tokens) == step_peers.decoder([step]).decode(tokens)


@given(tokens, st.lists(any_step, max_size=4))
@example(["x", "<0xFF>", "<0xFE>", "<0xFE>"], [PLAIN[2], PIECES[0]])
@example(["x", "<0xFF>", "<0xFE>", "<0xFE>"], [PLAIN[2], CTC[0]])
def test_steps_in_a_row(tokens: list[str], steps: list[Step]) -> None:
    assert decode(steps, tokens) == step_peers.decoder(steps).decode(tokens)
    assert decode(steps, tokens) == StepDecoder(steps).decode(tokens)


@given(st.lists(st.sampled_from(["a", "a", "b", "<pad>", "|", "'s", " ", "n't"]), max_size=12))
def test_tokens_that_repeat(tokens: list[str]) -> None:
    for step in CTC:
        assert decode([step], tokens) == step_peers.decoder([step]).decode(tokens)


@given(st.lists(byte_strings(6), max_size=6))
def test_bytes_that_are_no_text(parts: list[bytes]) -> None:
    tokens = list(map(spell, parts))
    assert decode([PLAIN[0]], tokens) == step_peers.decoder([PLAIN[0]]).decode(tokens)
    tokens = [f"<0x{byte:02X}>" for part in parts for byte in part]
    assert decode([PLAIN[2]], tokens) == step_peers.decoder([PLAIN[2]]).decode(tokens)


@given(st.lists(st.text("ab ▁", min_size=1), max_size=6), st.integers(0, 4), st.integers(0, 4))
def test_stripping(tokens: list[str], start: int, stop: int) -> None:
    step = Step("Strip", {"content": " ", "start": start, "stop": stop})
    # A letter at each end, so that tokenizers does not panic.
    padded = [f"{token}x{token}" for token in tokens]
    assert decode([step], padded) == step_peers.decoder([step]).decode(padded)


@pytest.mark.parametrize(
    "tokens, start, stop, text",
    [
        (["", " "], 0, 1, ""),
        (["  "], 1, 2, ""),
        (["   "], 1, 1, " "),
        ([" a "], 2, 2, "a"),
        (["  "], 3, 0, ""),
    ],
)
def test_stripping_more_than_there_is(tokens: list[str], start: int, stop: int, text: str) -> None:
    # tokenizers panics at most of these.
    assert decode([Step("Strip", {"content": " ", "start": start, "stop": stop})], tokens) == text


@given(st.lists(st.sampled_from(["a", "b c", "", " "]), max_size=5))
def test_join_is_what_tokenizers_does_without_a_decoder(tokens: list[str]) -> None:
    vocab = {"a": 0, "b c": 1, "": 2, " ": 3}
    peer = Tokenizer(models.WordLevel(vocab, unk_token="a"))
    assert decode([Step("Join", {"separator": " "})], tokens) == peer.decode(
        [vocab[token] for token in tokens]
    )


def test_without_steps_the_tokens_are_joined() -> None:
    assert decode([], ["a", "b"]) == "ab"


def test_real_text(shared: Path) -> None:
    chain = [REPLACE[0], PLAIN[2], PLAIN[1], Step("Strip", {"content": " ", "start": 1, "stop": 0})]
    for name in ("english", "greek", "chinese", "multilingual", "code"):
        text = step_peers.corpus(shared / "corpora" / f"{name}.txt.xz", 50_000)
        words = ["▁" + word for word in text.split(" ")]
        assert decode(chain, words) == text == step_peers.decoder(chain).decode(words)
        for step in (PIECES[0], METASPACE[0], CTC[0], BPE[0]):
            assert decode([step], words) == step_peers.decoder([step]).decode(words)


@pytest.mark.parametrize(
    "step",
    [
        Step("Replace", {"pattern": "a", "regex": False, "content": "b" * 100}),
        Step("Join", {"separator": "b" * 200}),
        Step("SentencePiece", {
            "add_dummy_prefix": True, "remove_extra_whitespaces": True, "treat_whitespace_as_suffix": False,
            "unknown_surface": "b" * 200, "denormalizer_charsmap": b"",
        }),
    ],
    ids=lambda step: step.kind,
)  # fmt: skip
def test_growth_without_end_is_refused(monkeypatch: pytest.MonkeyPatch, step: Step) -> None:
    monkeypatch.setattr(aligned, "MORE", 0)
    with pytest.raises(TextError, match="64 times as long"):
        decode([step] * 2, ["a"] * 40, ["unknown"] * 40)


def test_a_pattern_that_matches_nothing_at_some_place_is_an_error() -> None:
    step = Step("Replace", {"pattern": "(?=b)", "regex": True, "content": "x"})
    with pytest.raises(PatternError, match="matches the empty string at offset 1"):
        decode([step], ["ab"])
