"""Specifications with the fields for other libraries' tokenizers: which may not be, and which may.

Leaves out: the fields of our own (`test_specs`), the options of steps (`test_steps_normalize` and its
neighbours), and what the fields mean (`test_reference_pipeline`, `test_reference_scores`).
"""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from syllabary.errors import VocabularyError
from syllabary.reference import ReferenceTokenizer, check_spec
from syllabary.reference.merge import recreated
from syllabary.spec import Matching, SplitSpec, Step, TokenizerSpec

NONE = SplitSpec(None)
CHARS = TokenizerSpec(
    "char",
    NONE,
    {0: b"a", 1: b"b", 2: b"ab", 3: b"##b", 4: b"\n"},
    {b"a": 0, b"b": 1},
    (),
    {"<s>": 5},
    {"<x>": 6},
)
SCORED = replace(CHARS, merges=None, scores={0: -1.0, 2: -2.0})
BYTES = TokenizerSpec("byte", NONE, {0: b"a"}, {b"a": 0}, ())
NAN, BIG = float("nan"), 10**400


@pytest.mark.parametrize(
    "spec, message",
    [
        (replace(CHARS, normalizer=[]), r"normalizer is \[\]: give tuple"),  # type: ignore[arg-type]
        (replace(CHARS, decoder="Fuse"), "decoder is 'Fuse': give tuple or None"),  # type: ignore[arg-type]
        (replace(CHARS, normalizer=("NFC",)), "normalizer"),  # type: ignore[arg-type]
        (replace(CHARS, normalizer=(Step("NFX"),)), "NFX"),
        (replace(CHARS, pretokenizer=(Step("NFC"),)), "NFC"),
        (replace(CHARS, decoder=(Step("Strip", {"content": " "}),)), "start"),
        (replace(CHARS, matching={"<y>": Matching()}), "matching names '<y>', which is no special or added"),
        (replace(CHARS, matching={"<s>": "text"}), "matching: '<s>' is 'text': give a Matching"),  # type: ignore[dict-item]
        (replace(CHARS, matching={"<s>": Matching("late")}), "the stage of '<s>' is 'late', which is"),  # type: ignore[arg-type]
        (replace(CHARS, matching={"<s>": Matching(lstrip=1)}), "lstrip of '<s>' is 1: give bool"),  # type: ignore[arg-type]
        (replace(CHARS, byte_tokens={9: 10}), "byte_tokens: id 9 is no token"),
        (replace(CHARS, byte_tokens={4: 256}), "the byte of id 4 is 256: give 0 to 255"),
        (replace(CHARS, byte_tokens={4: True}), "the byte of id 4 is True"),
        (replace(CHARS, byte_tokens={4: 11}), r"id 4 is byte 0x0B, but the token b'\\n'"),
        (replace(CHARS, tokens={**CHARS.tokens, 7: b"\n"}, byte_tokens={4: 10, 7: 10}), "both byte 0x0A"),
        (replace(BYTES, byte_tokens={0: 97}), "byte_tokens need unit=\"char\""),
        (replace(CHARS, unknown=9), "unknown is id 9, which is no token"),
        (replace(CHARS, unknown=True), "unknown is True: give an id"),
        (replace(CHARS, unknown=BIG), "unknown is id 1000.*…, which is no token"),
        (replace(CHARS, unused=frozenset([2])), "unused needs scores"),
        (replace(SCORED, merges=()), "scores with merges"),
        (replace(SCORED, end_of_word="</w>"), "scores with end_of_word='</w>'"),
        (replace(SCORED, whole_pieces=True), "scores with whole_pieces=True"),
        (replace(SCORED, continuing_prefix="##"), "scores with continuing_prefix"),
        (replace(SCORED, scores={9: -1.0}), "scores: id 9 is no token"),
        (replace(SCORED, scores={5: -1.0}), "scores: id 5 is no token"),
        (replace(SCORED, scores={"0": -1.0}), "scores: id '0' is no token"),  # type: ignore[dict-item]
        (replace(SCORED, scores={0: NAN}), "scores: that of id 0 is nan: give a finite number of 32 bits"),
        (replace(SCORED, scores={0: 1e39}), "scores: that of id 0 is 1e[+]39"),
        (replace(SCORED, scores={0: BIG}), "scores: that of id 0 is 1000.*…: give"),
        (replace(SCORED, scores={0: "1"}), "scores: that of id 0 is '1'"),  # type: ignore[dict-item]
        (replace(SCORED, scores={0: True}), "scores: that of id 0 is True"),
        (replace(SCORED, unused=frozenset([1])), "unused: id 1 has no score"),
        (replace(SCORED, scores={4: -1.0}, byte_tokens={4: 10}), "scores: id 4 is a byte token"),
        (replace(SCORED, tokens={0: b"a", 1: b"b", 2: b"a"}), "ids 0 and 2 are both b'a'"),
        (replace(BYTES, merges=None, scores={0: -1.0}), "scores need unit=\"char\""),
        (replace(CHARS, merges=None), "merges=None .* needs unit=\"byte\""),
        (replace(CHARS, continuing_prefix=""), "continuing_prefix is empty"),
        (replace(CHARS, continuing_prefix="\ud800"), r"continuing_prefix: lone surrogate U\+D800"),
        (replace(BYTES, continuing_prefix="##"), "continuing_prefix='##' needs unit=\"char\""),
        (replace(CHARS, continuing_prefix="##", merges=((0, 3, 3),)), "merge 0 joins b'a' and b'##b', but"),
        (replace(CHARS, mark_apart=True), "mark_apart=True needs end_of_word"),
        (replace(CHARS, mark_apart=True, end_of_word="</w>"), "'</w>' in the alphabet"),
        (replace(CHARS, dropout=1.5), "dropout is 1.5: give a probability from 0 to 1"),
        (replace(CHARS, dropout=NAN), "dropout is nan"),
        (replace(CHARS, dropout=True), "dropout is True"),
        (replace(CHARS, dropout=None), "dropout is None: give float or int"),  # type: ignore[arg-type]
        (replace(SCORED, trim_offsets=True), "trim_offsets=True needs"),
        (replace(CHARS, surface_offsets=1), "surface_offsets is 1: give bool"),  # type: ignore[arg-type]
        (replace(CHARS, carried=None), "carried is None: give Mapping"),  # type: ignore[arg-type]
        (replace(CHARS, tokens={0: b"a", 1: b"b", 7: b"\xff"}, decoder=()), r"token 7 is b'\\xff', which"),
        (replace(CHARS, special_tokens={"<s>": 2}), "id 2 is both '<s>' and the token b'ab'"),
        (replace(CHARS, special_tokens={"<s>": 6}), "id 6 is both '<s>' and '<x>'"),
    ],
)  # fmt: skip
def test_specs_that_cannot_be(spec: TokenizerSpec, message: str) -> None:
    for make in (check_spec, ReferenceTokenizer):
        with pytest.raises(VocabularyError, match=message) as error:
            make(spec)
        assert len(str(error.value)) < 400


@pytest.mark.parametrize(
    "spec",
    [
        replace(CHARS, special_tokens={"ab": 2}, added_tokens={"a": 0}),
        replace(CHARS, byte_tokens={4: 10}, alphabet={b"\n": 4}, special_tokens={"<0x0A>": 4}),
        replace(CHARS, byte_tokens={4: 10}, fallback=True, alphabet={b"a": 0, b"\n": 4}),
        replace(CHARS, continuing_prefix="##", alphabet={b"a": 0, b"##b": 3}, merges=((0, 3, 2),)),
        replace(CHARS, unknown=5, fuse_unknown=True),
        replace(SCORED, unused=frozenset([2]), unknown=6),
        replace(SCORED, scores={0: -0.0, 1: 3e38, 2: -5}),
        replace(CHARS, dropout=1),
        replace(
            BYTES, tokens={0: b"a", 1: b"\xff</w>"}, alphabet={b"a": 0, b"\xff</w>": 1}, end_of_word="</w>"
        ),
        replace(BYTES, decoder=(Step("ByteLevel"),), tokens={0: b"a", 1: b"\xff"}),
        replace(BYTES, trim_offsets=True, carried={"any": {"thing": [1]}}),
    ],
)
def test_specs_that_can(spec: TokenizerSpec) -> None:
    check_spec(spec)


def test_merges_with_a_prefix_join_without_it() -> None:
    tok = ReferenceTokenizer(
        replace(CHARS, continuing_prefix="##", alphabet={b"a": 0, b"##b": 3}, merges=((0, 3, 2),))
    )
    assert tok.encode("ab") == [2]
    assert tok.offsets("ab") == [(0, 2)]


def test_a_byte_token_that_is_special_too_stays_a_byte() -> None:
    spec = replace(CHARS, byte_tokens={4: 10}, alphabet={b"\n": 4}, special_tokens={"<0x0A>": 4})
    tok = ReferenceTokenizer(spec)
    assert tok.tokens("\n") == [b"\n"]
    assert tok.encode("\n<0x0A>", "allow") == [4, 4]


def test_recreated_tells_where_merging_one_or_all_at_once_differs() -> None:
    """subword-nmt merges all occurrences of a pair in a round; that matters for these lists alone."""
    assert recreated([(0, 1, 9), (9, 2, 10), (3, 4, 11)]) == []
    assert recreated([(9, 2, 10), (0, 1, 9)]) == [1]
    assert recreated([(0, 1, 9), (2, 9, 10), (3, 4, 9)]) == [2]
    assert recreated([]) == []


def test_checking_a_large_vocabulary_takes_no_time() -> None:
    tokens = {value: bytes([value]) for value in range(256)}
    more = {256 + at: f"{at:x}▁".encode() for at in range(200_000)}
    spec = TokenizerSpec(
        "char",
        NONE,
        tokens | more,
        {tokens[value]: value for value in range(256)},
        None,
        {f"<{at}>": 300_000 + at for at in range(50_000)},
        fallback=True,
        scores={token_id: -float(token_id) for token_id in more},
        unused=frozenset(more),
        byte_tokens=dict(zip(range(256), range(256), strict=True)),
        decoder=(Step("ByteFallback"),),
        matching={f"<{at}>": Matching("never") for at in range(50_000)},
    )
    seconds = []
    for _ in range(3):
        start = time.process_time()
        check_spec(spec)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 1.5  # a third of it, where nothing else runs
