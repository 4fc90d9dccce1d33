"""Character maps: `Precompiled` does with them what tokenizers does, and damaged ones are refused.

Adds sentencepiece's four sets of rules and some of our own on drawn text, clusters of every kind, and maps
cut short, changed at random and made by hand. Leaves out: what sentencepiece does with the same map
(`test_steps_sentencepiece`).
"""

from __future__ import annotations

import hashlib
import struct

import pytest
import step_maps
import step_peers
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts
from tokenizers import normalizers

from syllabary.errors import TextError, VocabularyError
from syllabary.reference import aligned, normalize
from syllabary.reference.aligned import Aligned
from syllabary.reference.charsmap import CHECKED, Charsmap, charsmap, longest_search
from syllabary.reference.normalize_clusters import clusters
from syllabary.spec import Step
from syllabary.unicode import rewriting
from syllabary.unicode.charsmaps import charsmap_of

RULES = [*step_maps.RULES, "custom"]
# Characters that join others into clusters, of each class, and some that rules rewrite.
JOINING = sorted(
    {
        *"\r\n\u200d\u0301\u0323\u0600\u0903\u0915\u094d\u0937\u1100\u1161\u11a8\uac00\uac01\u00a9\u2764\ufe0f",
        *"abé①ﬁ漢字ｱﾞ゛が\u3099", *"👨👩🏳🏽\U0001f1e6\U0001f1e7",
    }
)  # fmt: skip


def step(blob: bytes) -> Step:
    return Step("Precompiled", {"precompiled_charsmap": blob})


def ours(blob: bytes, text: str) -> step_peers.Spanned:
    return step_peers.spanned(normalize.apply([step(blob)], Aligned.of(text)))


def test_maps_that_are_known_are_those_that_a_check_passes() -> None:
    found = {}
    for name in step_maps.RULES:
        blob = charsmap_of(name)
        if blob is not None:
            read = charsmap(blob)
            assert read is not None
            found[hashlib.sha256(blob).hexdigest()] = longest_search(read.units, read.results)
    assert found == CHECKED


@given(texts(), st.sampled_from(RULES))
def test_drawn_text(text: str, rule: str) -> None:
    blob = step_maps.charsmap(rule)
    assert ours(blob, text) == step_peers.normalized([step(blob)], text)


@given(st.lists(st.sampled_from(JOINING), max_size=12).map("".join), st.sampled_from(RULES))
def test_clusters(text: str, rule: str) -> None:
    blob = step_maps.charsmap(rule)
    assert ours(blob, text) == step_peers.normalized([step(blob)], text)


@given(st.lists(st.sampled_from("aabcqxy é漢字\u0301\r\n"), max_size=12).map("".join))
def test_what_is_gone_and_what_is_new(text: str) -> None:
    blob = step_maps.charsmap("custom")
    assert ours(blob, text) == step_peers.normalized([step(blob)], text)


@pytest.mark.parametrize("rule", step_maps.RULES)
def test_every_code_point(rule: str, prove: bool) -> None:
    blob = step_maps.charsmap(rule)
    for text in step_peers.chunks(step_peers.code_points(prove)):
        assert ours(blob, text) == step_peers.normalized([step(blob)], text)


def first_bytes() -> bytes:
    """A map that makes one `!` of each cluster below 6 bytes, and of each character of the others."""
    units = [1 << 31] * 768  # no unit of the array: no byte leads there
    units[0] = 256 << 10
    units[512] = 1 << 31
    for byte in {*range(1, 0x80), *range(0xC2, 0xF5)}:
        units[256 + byte] = ((256 + byte) ^ 512) << 10 | 1 << 8 | byte
    return struct.pack("<I768I", 3072, *units) + b"!\0"


def counted(text: str) -> int:
    """How many clusters, or characters of long ones, we find in a text."""
    return sum(1 if len(cluster.encode()) < 6 else len(cluster) for cluster in clusters(text))


@pytest.mark.parametrize(
    "template",
    ["a@", "@a", "@\u0301", "@\u0301\u0301", "\xa9@\u200d\xa9\u0301", "\xa9\u200d@", "\u1100@\u0301",
     "\u1161@\u0301", "\u11a8@\u0301", "@\u1100\u0301", "@\u1161\u0301", "@\u11a8\u0301",
     "\u0915@\u0937\u0301", "\u0915\u094d@\u0301", "\u0915\u094d@\u0937\u0301", "@\u094d\u0937\u0301"],
    ids=ascii,
)  # fmt: skip
def test_every_code_point_joins_as_in_the_library(template: str, prove: bool) -> None:
    peer = normalizers.Precompiled(first_bytes())
    for text in step_peers.chunks(step_peers.code_points(prove)[:: 1 if prove else 7]):
        spread = [template.replace("@", char) for char in text]
        assert [counted(item) for item in spread] == [len(peer.normalize_str(item)) for item in spread]


@given(
    st.lists(st.sampled_from(JOINING + list(rewriting.conjunct_classes())[::97]), max_size=10).map("".join)
)
def test_clusters_are_counted_as_in_the_library(text: str) -> None:
    assert counted(text) == len(normalizers.Precompiled(first_bytes()).normalize_str(text))


# ---- damaged maps ----


def refused(blob: bytes, reason: str) -> None:
    with pytest.raises(VocabularyError, match=f"precompiled_charsmap is damaged: .*{reason}"):
        charsmap(blob)


def test_no_map_at_all() -> None:
    assert charsmap(b"") is None
    with pytest.raises(VocabularyError, match="without rules leave the step out"):
        normalize.validate_steps((step(b""),), (), None)


@pytest.mark.parametrize(
    "blob",
    [b"\0", b"abc", b"\0\0\0\0", b"\xff\xff\xff\xffx", struct.pack("<I", 1024),
     struct.pack("<I", 1024) + bytes(1024), struct.pack("<I", 1020) + bytes(1021),
     struct.pack("<I", 1 << 31) + bytes(2000)],
)  # fmt: skip
def test_a_size_that_cannot_be(blob: bytes) -> None:
    refused(blob, "its array is said to have")


def one_rule(**changes: int) -> bytes:
    """A map with the one rule `A` -> `!`, some of its units changed (`u0=3`)."""
    units = [1 << 31] * 768  # no unit of the array: no byte leads there
    units[0] = 256 << 10
    units[256 + 0x41] = ((256 + 0x41) ^ 512) << 10 | 1 << 8 | 0x41
    units[512] = 1 << 31
    for name, value in changes.items():
        units[int(name[1:])] = value
    return struct.pack("<I768I", 3072, *units) + b"!\0"


def test_a_map_made_by_hand() -> None:
    assert "".join(char for char, _ in ours(one_rule(), "ABA")) == "!B!"


@pytest.mark.parametrize(
    "blob, reason",
    [
        (one_rule(u0=768 << 10), "unit 0 of its array leads outside"),
        (one_rule(u0=1 << 30), "unit 0 of its array leads outside"),
        (one_rule(u321=0x1FFFFF << 10 | 0x41), "unit 321 of its array leads outside"),
        (one_rule(u512=7), "the result of the rule at unit 321"),
        (one_rule(u512=1 << 31 | 2), "the result of the rule at unit 321"),
        (one_rule(u0=256 << 10 | 1 << 8), "the rule at unit 0"),
        (one_rule()[:-1], "its last result has no end"),
        (one_rule()[:-1] + b"\xff\0", "its results are not UTF-8 at byte 3077"),
    ],
)
def test_units_that_cannot_be(blob: bytes, reason: str) -> None:
    refused(blob, reason)


def test_a_rule_that_ends_within_a_character() -> None:
    # C3 alone is a rule: the é of the text would be cut in two.
    blob = one_rule(u451=((256 + 0xC3) ^ 512) << 10 | 1 << 8 | 0xC3)
    refused(blob, "the rule at unit 451 of its array does not end with a character")


def test_a_result_that_begins_within_a_character() -> None:
    refused(one_rule(u512=1 << 31 | 1)[:-2] + "é\0".encode(), "the result of the rule at unit 321")


def test_results_that_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aligned, "MORE", 500)
    blob = one_rule()[:-2] + b"!" * 100 + b"\0"
    for one in (step(blob), sentencepiece_step(blob)):
        assert len(normalize.apply([one], Aligned.of("A" * 9))) >= 900
        with pytest.raises(TextError, match="64 times as long"):
            normalize.apply([one], Aligned.of("A" * 50))


def sentencepiece_step(blob: bytes) -> Step:
    return Step("SentencePiece", {
        "precompiled_charsmap": blob, "add_dummy_prefix": True, "remove_extra_whitespaces": True,
        "escape_whitespaces": True, "treat_whitespace_as_suffix": False,
    })  # fmt: skip


def test_a_map_that_runs_in_a_circle() -> None:
    # After each A, its children are those of the root again.
    refused(one_rule(u321=((256 + 0x41) ^ 256) << 10 | 0x41), "unit 321 of its array leads back to itself")


def test_a_rule_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syllabary.reference.charsmap.MAX_RULE", 1)
    refused(one_rule()[:-2] + b"?!\0", "a rule is longer than 1 bytes")


@given(st.sampled_from(["custom", "hand"]), st.integers(0, 3077), st.binary(min_size=1, max_size=8))
def test_a_map_changed_anywhere_is_refused_or_runs(rule: str, at: int, noise: bytes) -> None:
    whole = step_maps.charsmap("custom") if rule == "custom" else one_rule()
    blob = whole[: at % len(whole)] + noise + whole[at % len(whole) + len(noise) :]
    for one in (step(blob), sentencepiece_step(blob)):
        try:
            normalize.validate_steps((one,), (), None)
        except VocabularyError:
            continue
        normalize.apply([one], Aligned.of("Aabc é漢字\0\u0301\U0001f600 x " + noise.decode("latin-1")))


@given(st.binary(max_size=64), st.integers(1, 3))
def test_noise_is_refused_or_runs(noise: bytes, blocks: int) -> None:
    blob = (
        struct.pack("<I", 1024 * blocks)
        + (noise * 1024)[: 1024 * blocks].ljust(1024 * blocks, b"\0")
        + b"ab\0"
    )
    try:
        found = charsmap(blob)
    except VocabularyError:
        return
    assert isinstance(found, Charsmap)
    for text in ("abc", "é漢😀", "\0\0"):
        assert found.longest(text.encode(), 0) is None or found.shortest(text.encode()) is not None
