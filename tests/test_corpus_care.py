"""Care: identities and shares that are the same for ever, and which normal forms a corpus has.

Leaves out: care at work in a corpus (`test_corpus_class`) and in training (`test_train_normalize`).
"""

from __future__ import annotations

import hashlib
import math
import pickle
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts
from test_steps_normalize import MOVING

from syllabary.corpus.care import FORMS, Care, identity, identity_of, normalized, normalized_parts, share
from syllabary.corpus.forms import SLICE, Forms, Look, closer, glance
from syllabary.errors import TextError
from syllabary.reference import normalize
from syllabary.reference.aligned import Aligned
from syllabary.reference.normalize_parts import begins_anew
from syllabary.spec import Form, Step

MASK = 2**64 - 1
moving = st.lists(
    st.one_of(st.sampled_from(MOVING), st.sampled_from("ae. éᾳ각\u1100\u1161\u11a8"), texts(2)), max_size=12
).map("".join)


# ---- identity and share ----


def test_identities_are_blake2b_of_nfc() -> None:
    """Computed here by other means, so that they stay what they are: splits rest on them."""
    for text in ("", "arma virumque cano", "μῆνιν ἄειδε θεὰ", "\u1f71", "é\n"):
        data = unicodedata.normalize("NFC", text).encode()
        digest = hashlib.blake2b(data, digest_size=8).hexdigest()
        assert f"{identity(text):016x}" == "".join(reversed([digest[at : at + 2] for at in range(0, 16, 2)]))
    assert identity("arma virumque cano") == int.from_bytes(
        hashlib.blake2b(b"arma virumque cano", digest_size=8).digest(), "little"
    )


@given(st.one_of(moving, texts(12)))
def test_text_in_nfc_is_known_by_its_own_bytes(text: str) -> None:
    """The short ways to an identity, of `Corpus`: where Python's tables say NFC, nothing would be changed."""
    data = text.encode()
    looks = [look for look in (glance(text, data), closer(text, data)) if look is not None]
    if looks:
        assert identity(text) == identity_of(data)
    else:
        assert not text.isascii()
    for look in looks:
        assert not text.isascii() or look.kind is None
        assert look.nfd == unicodedata.is_normalized("NFD", text)
    assert closer("e\ud800", "e\ud800".encode("utf-8", "surrogatepass")) is None


@given(texts(12))
def test_copies_in_nfc_and_nfd_are_one_document(text: str) -> None:
    forms = {identity(normalized(text, form)) for form in ("NFC", "NFD")}
    assert forms == {identity(text)}


def test_compatibility_is_another_text() -> None:
    assert identity("ﬁ") != identity("fi")
    with pytest.raises(TextError, match="lone surrogate at character 1"):
        identity("a\ud800")


def naive_share(number: int, purpose: str, seed: int) -> float:
    """SplitMix64's mixer in plain integers."""
    key = int.from_bytes(hashlib.blake2b(f"{purpose}:{seed}".encode(), digest_size=8).digest(), "little")
    for _ in range(2):
        number = (number + key) & MASK
        number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & MASK
        number ^= number >> 31
    return (number >> 11) / 2**53


@given(st.lists(st.integers(0, MASK), max_size=8), st.sampled_from(["tokenizer", "x"]), st.integers(0, 9))
def test_shares_are_the_same_for_ever_and_for_arrays(numbers: list[int], purpose: str, seed: int) -> None:
    expected = [naive_share(number, purpose, seed) for number in numbers]
    assert [share(number, purpose, seed) for number in numbers] == expected
    found = share(np.array(numbers, dtype=np.uint64), purpose, seed)
    assert found.tolist() == expected
    assert all(0 <= value < 1 for value in expected)


def test_shares_are_even_and_independent() -> None:
    """Of 100,000 neighbours, as many fall into each of 64 cells of two splits as chance allows."""
    numbers = np.arange(100_000, dtype=np.uint64)
    cells = [
        (share(numbers, purpose, seed) * 8).astype(int)
        for purpose, seed in (("tokenizer", 0), ("validation", 0), ("validation", 1))
    ]
    expected = len(numbers) / 64
    for one, other in ((0, 1), (0, 2), (1, 2)):
        counts = np.bincount(cells[one] * 8 + cells[other], minlength=64)
        chi = float(((counts - expected) ** 2 / expected).sum())
        assert chi < 63 + 6 * math.sqrt(2 * 63)


def test_a_larger_fraction_keeps_what_a_smaller_does_and_rest_is_the_others() -> None:
    numbers = [identity(f"document {n}") for n in range(2000)]
    small, large, rest = Care(fraction=0.1), Care(fraction=0.3), Care(rest=0.1)
    assert all(large.keeps(number) for number in numbers if small.keeps(number))
    assert all(small.keeps(number) != rest.keeps(number) for number in numbers)
    assert 150 < sum(map(small.keeps, numbers)) < 250
    other = Care(fraction=0.1, seed=1)
    assert [small.keeps(number) for number in numbers] != [other.keeps(number) for number in numbers]
    assert all(Care(fraction=1).keeps(number) and Care(rest=0).keeps(number) for number in numbers)


@pytest.mark.parametrize(
    "options, error, sentence",
    [
        ({"normalize": "nfc"}, ValueError, "normalize='nfc' is none of NFC, NFD, NFKC, NFKD"),
        ({"normalize": 3}, TypeError, "normalize is 3: give str or None"),
        ({"fraction": 0}, ValueError, "fraction is 0: give a number above 0"),
        ({"fraction": 1.5}, ValueError, "fraction is 1.5"),
        ({"fraction": float("nan")}, ValueError, "fraction is nan"),
        ({"fraction": True}, TypeError, "fraction is True"),
        ({"rest": 1}, ValueError, "rest is 1: give the fraction that is left out"),
        ({"rest": "0.1"}, TypeError, "rest is '0.1'"),
        ({"fraction": 0.1, "rest": 0.1}, ValueError, "two sides of one split"),
        ({"seed": -1}, ValueError, "seed is -1"),
        ({"seed": 1.0}, TypeError, "seed is 1.0"),
        ({"drop_duplicates": 1}, TypeError, "drop_duplicates is 1"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        Care(**options)


def test_care_is_plain_data() -> None:
    care = Care(normalize="NFC", fraction=0.5, seed=7)
    assert pickle.loads(pickle.dumps(care)) == care


# ---- normal forms, in parts ----


def reference(text: str, form: Form) -> str:
    return normalize.apply([Step(form)], Aligned.of(text)).text


def cut(text: str, places: Sequence[int]) -> list[tuple[str, bool]]:
    bounds = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    parts = [text[start:end] for start, end in pairwise(bounds)]
    return [(part, at == len(parts) - 1) for at, part in enumerate(parts)]


@given(moving, st.sampled_from(FORMS))
def test_a_normal_form_is_the_references(text: str, form: Form) -> None:
    assert normalized(text, form) == reference(text, form)


@given(moving, st.sampled_from(FORMS), st.lists(st.integers(0, 14), max_size=6))
def test_parts_of_any_size_normalize_to_the_same(text: str, form: Form, places: list[int]) -> None:
    parts = [*cut(text, places), ("x", True)]
    found = list(normalized_parts(parts, form))
    ends = [at for at, (_, last) in enumerate(found) if last]
    assert "".join(part for part, _ in found[: ends[0] + 1]) == reference(text, form)
    assert found[ends[0] + 1 :] == [("x", True)]


@given(moving, moving, st.sampled_from("ae각éᾳﬁ\u0344\u0f73"), st.sampled_from(FORMS))
def test_what_begins_anew_has_nothing_to_do_with_what_is_before(
    before: str, after: str, char: str, form: Form
) -> None:
    if begins_anew(char, form in ("NFKC", "NFKD")):
        text = char + after
        assert reference(before + text, form) == reference(before, form) + reference(text, form)


def test_little_is_held_back() -> None:
    parts = [("ab", False)] * 1000 + [("\u0301", False), ("c", True)]
    found = list(normalized_parts(parts, "NFC"))
    assert max(len(part) for part, _ in found) <= 3
    marks = [("a", False), *[("\u0301", False)] * 1000, ("b", True)]
    assert [part for part, _ in normalized_parts(marks, "NFC")] == ["á" + "\u0301" * 999 + "b"]


# ---- which forms there are ----

KINDS = [
    ("arma", None),
    ("", None),
    ("漢字 ж", None),
    ("né", "NFC-only"),
    ("ne\u0301", "NFD-only"),
    ("né ne\u0301", "neither"),
    ("\u1f71", "neither"),  # alpha with oxia; NFC has tonos
    ("\u212b", "neither"),  # the sign for angstrom; NFC has the letter
    ("각", "NFC-only"),
    ("\u1100\u1161", "NFD-only"),
]


@pytest.mark.parametrize("text, kind", KINDS)
def test_kinds_of_documents(text: str, kind: str | None) -> None:
    assert Look().at(text).kind == kind
    assert Look().at("a" * SLICE).at(text).kind == kind


@given(st.lists(st.sampled_from([text for text, _ in KINDS]), max_size=6), st.integers(1, 9))
def test_kinds_are_pythons_also_in_parts(words: list[str], size: int) -> None:
    text = " ".join(words)
    look = Look()
    for part in words:
        look.at(" " * (SLICE - size)).at(part)
    same = unicodedata.is_normalized("NFC", text), unicodedata.is_normalized("NFD", text)
    assert (look.nfc, look.nfd) == (Look().at(text).nfc, Look().at(text).nfd) == same


def found(*documents: str) -> Forms:
    forms = Forms()
    for at, text in enumerate(documents):
        forms.add(Look().at(text), f"{at}.txt".lower)
    return forms


def test_a_corpus_in_one_form_needs_no_warning() -> None:
    assert found("arma", "né", "né").warning() is None
    assert found("ne\u0301", "arma").warning() is None
    assert found().warning() is None


def test_the_warning_says_where_and_what_to_do() -> None:
    assert found("né", "né", "ne\u0301", "arma").warning() == (
        "the corpus mixes normal forms of Unicode: 2 documents are in NFC (as 0.txt), 1 in NFD (as 2.txt). "
        "What looks the same can then be spelled in several ways, with other tokens each; "
        'normalize="NFC" makes them one'
    )
    assert "mixes normal forms of Unicode: 1 document is in neither form (as 0.txt, which has both)" in (
        found("é, e\u0301").warning() or ""
    )
    sentence = found("\u1f71").warning() or ""
    assert "has text in no normal form of Unicode: 1 document is in neither form (as 0.txt, " in sentence
    assert "U+1F71 GREEK SMALL LETTER ALPHA WITH OXIA, for which NFC writes U+03AC)" in sentence


def test_forms_of_several_processes_are_put_together_in_order() -> None:
    whole, first, second = found("é", "e\u0301", "é"), found("é"), found("x", "e\u0301", "é")
    first.merge(second)
    assert first.counts == whole.counts
    assert first.examples["NFD-only"] == ("1.txt", "")
    assert first.examples["NFC-only"] == ("0.txt", "")
