"""Decoding by steps bit by bit: what is pushed, joined, is the whole text, and comes when it is certain.

Leaves out: what steps do (`test_steps_decode`), and decoding without steps (`test_reference_tokenizer`).
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syllabary.reference.incremental import Stream
from syllabary.reference.step_decoders import TokenClass, decode
from syllabary.spec import Step

METASPACE = {"replacement": "▁", "prepend_scheme": "always", "split": True}
SENTENCEPIECE = {
    "add_dummy_prefix": True, "remove_extra_whitespaces": False, "treat_whitespace_as_suffix": False,
    "unknown_surface": " ⁇ ", "denormalizer_charsmap": b"",
}  # fmt: skip
LLAMA = (
    Step("Replace", {"pattern": "▁", "regex": False, "content": " "}),
    Step("ByteFallback"),
    Step("Fuse"),
    Step("Strip", {"content": " ", "start": 1, "stop": 0}),
)


def some(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


def step(kind: str, **options: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.fixed_dictionaries(options).map(lambda chosen: Step(kind, chosen))


flag = st.booleans()
few = st.integers(0, 3)
any_step = st.one_of(
    step("BPEDecoder", suffix=some("</w>", "b", "")),
    step("ByteLevel"),
    step("WordPiece", prefix=some("##", ""), cleanup=flag),
    step(
        "Metaspace", replacement=some("▁", "b"), prepend_scheme=some("always", "first", "never"), split=flag
    ),
    step("CTC", pad_token=some("a", "<pad>"), word_delimiter_token=some("|", "b"), cleanup=flag),
    step("Replace", pattern=some("▁", "ab", "b"), regex=st.just(False), content=some(" ", "", "xyz")),
    step("Replace", pattern=some("a+", "b(?!a)", "[ab] "), regex=st.just(True), content=some(" ", "")),
    step("Fuse"),
    step("Strip", content=some(" ", "a", "▁"), start=few, stop=few),
    step("ByteFallback"),
    step("Join", separator=some(" ", "", "ab")),
    step(
        "SentencePiece",
        add_dummy_prefix=flag,
        remove_extra_whitespaces=flag,
        treat_whitespace_as_suffix=flag,
        unknown_surface=some(" ⁇ ", "", "▁"),
        denormalizer_charsmap=st.just(b""),
    ),
)
token = st.one_of(
    st.text("ab▁ #Ġ", max_size=4),
    some("▁", "a", "</w>", "a</w>", "##a", " .", "<pad>", "|", "", " do", " not", "Ã", "©", "é"),
    some("<0x41>", "<0xC3>", "<0xA9>", "<0xE2>", "<0xc3>", "<0x20>"),
)
CLASSES: tuple[TokenClass, ...] = ("normal", "normal", "control", "unknown")


def kind_of(spelling: str, drawn: TokenClass) -> TokenClass:
    """A class that a token may have: bytes are those that are spelled so."""
    return "byte" if spelling.startswith("<0x") else drawn


@settings(max_examples=max(100, settings().max_examples))
@given(st.lists(any_step, max_size=4), st.lists(st.tuples(token, some(*CLASSES)), max_size=12))
def test_joined_it_is_the_whole_text(steps: list[Step], tokens: list[tuple[str, TokenClass]]) -> None:
    spelled = [spelling for spelling, _kind in tokens]
    kinds = [kind_of(spelling, drawn) for spelling, drawn in tokens]
    stream = Stream(steps)
    parts = [stream.feed([one], [kind], final=False) for one, kind in zip(spelled, kinds, strict=True)]
    parts.append(stream.feed([], [], final=True))
    assert "".join(parts) == decode(steps, spelled, kinds)


@pytest.mark.parametrize(
    "steps, tokens, parts",
    [
        (LLAMA, ["▁to", "▁be", "<0xC3>", "<0xA9>", "▁"], ["to", " be", "", "", "é ", ""]),
        (LLAMA, ["<0x20>", "<0x20>", "a", "<0xC3>"], ["", "", " a", "", "\ufffd"]),
        ((Step("Metaspace", METASPACE),), ["▁to", "▁", "be"], ["to", " ", "be", ""]),
        ((Step("BPEDecoder", {"suffix": "</w>"}),), ["to</w>", "be</w>"], ["", "to ", "be"]),
        ((Step("WordPiece", {"prefix": "##", "cleanup": True}),), ["to", "##be", "."], ["to", "be", ".", ""]),
        ((Step("ByteLevel"),), ["to", "Ġ", "Ã", "©"], ["to", " ", "", "é", ""]),
        ((Step("Join", {"separator": " "}),), ["to", "be"], ["to", " be", ""]),
        ((Step("SentencePiece", SENTENCEPIECE),),
         ["▁", "▁to", "<0xC3>", "x"], ["", " to", "", "\ufffdx", ""]),
        ((Step("SentencePiece", {**SENTENCEPIECE, "remove_extra_whitespaces": True}),),
         ["▁", "▁▁to", "▁be"], ["", " to", " be", ""]),
        ((Step("Fuse"), Step("Strip", {"content": " ", "start": 0, "stop": 2})),
         ["a   ", "b "], ["a ", "  b", ""]),
        ((Step("Fuse"), Step("Replace", {"pattern": "ab", "regex": False, "content": "c"})),
         ["a", "b"], ["", "", "c"]),
    ],
)  # fmt: skip
def test_it_comes_as_soon_as_it_is_certain(
    steps: tuple[Step, ...], tokens: list[str], parts: list[str]
) -> None:
    stream = Stream(steps)
    kinds: list[TokenClass] = [kind_of(spelling, "normal") for spelling in tokens]
    found = [stream.feed([one], [kind], final=False) for one, kind in zip(tokens, kinds, strict=True)]
    assert [*found, stream.feed([], [], final=True)] == parts


def test_many_tokens_take_little_time() -> None:
    """Bytes and spaces without end, control symbols: what is held back is not read again each time."""
    for steps, spelling, kind in (
        (LLAMA, "<0x41>", "byte"),
        (LLAMA, "▁", "normal"),
        ((Step("SentencePiece", SENTENCEPIECE),), "<s>", "control"),
        ((Step("SentencePiece", SENTENCEPIECE),), "<0x41>", "byte"),
        ((Step("BPEDecoder", {"suffix": "</w>"}),), "a</w>", "normal"),
        ((Step("Fuse"), Step("Strip", {"content": "▁", "start": 0, "stop": 10**9})), "▁", "normal"),
    ):
        stream = Stream(steps)
        for _ in range(20_000):
            stream.feed([spelling], [kind], final=False)  # type: ignore[list-item]
        stream.feed([], [], final=True)
