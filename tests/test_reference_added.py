r"""Special and added tokens in the reference: their flags and stages, held to tokenizers.

Leaves out: tokens that are plainly in the text (`test_reference`), sentencepiece's (`test_reference_scores`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from foreign import from_tokenizers
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import texts
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from syllabary.errors import SpecialTokenError
from syllabary.reference import ReferenceTokenizer
from syllabary.reference.added import is_in
from syllabary.spec import Matching, SplitSpec, Step, TokenizerSpec

CORPUS = ["the theory of the thing is that then they thought it through <mask> [MASK] É é x y İ ab"] * 3
NORMALIZERS: dict[str, Any] = {
    "none": None,
    "lowercase": normalizers.Lowercase(),
    "accents": normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]),
    "llama": normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
}
# None becomes another, or nothing, by normalizing: tokenizers then finds neither, or panics.
CONTENTS = ["<mask>", "[MASK]", " x", "the", "Th", "É", "<|a|>", "<|a|><|b|>", "@", "a b", "İ", "-"]
LETTERS = CONTENTS + list(" \t\u00a0\u2003_aetx\u0301\u200d\u2060'") + ["The", "<|b|>", "é", "x\u00a0"]
flags = st.fixed_dictionaries(
    {name: st.booleans() for name in ("single_word", "lstrip", "rstrip", "normalized", "special")}
)


def base(name: str) -> Tokenizer:
    """A small model with unknown characters, and a normalizer."""
    tok = Tokenizer(models.BPE(unk_token="<unk>"))
    if NORMALIZERS[name] is not None:
        tok.normalizer = NORMALIZERS[name]
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tok.decoder = decoders.Fuse()
    tok.train_from_iterator(
        CORPUS, trainers.BpeTrainer(vocab_size=90, special_tokens=["<unk>"], show_progress=False)
    )
    return tok


BASES = {name: base(name).to_str() for name in NORMALIZERS}


@settings(max_examples=max(100, settings().max_examples))
@given(st.data())
def test_flags_are_those_of_tokenizers(data: st.DataObject) -> None:
    peer = Tokenizer.from_str(BASES[data.draw(st.sampled_from(list(BASES)))])
    for content in data.draw(st.lists(st.sampled_from(CONTENTS), max_size=6, unique=True)):
        chosen = data.draw(flags)
        if content.startswith(" "):  # found in taken white space, it is cut short by this flag: see below
            chosen["lstrip"] = False
        token = AddedToken(content, **chosen)
        (peer.add_special_tokens if token.special else peer.add_tokens)([token])
    ours = ReferenceTokenizer(from_tokenizers(peer))
    text = data.draw(st.one_of(st.lists(st.sampled_from(LETTERS), max_size=12).map("".join), texts()))
    encoding = peer.encode(text, add_special_tokens=False)
    ends = [end for _start, end in encoding.offsets]
    assume(
        all(start >= end for (start, _), end in zip(encoding.offsets[1:], ends, strict=False))
    )  # see below
    assert ours.encode(text, "allow") == encoding.ids
    assert ours.offsets(text, special="allow") == encoding.offsets
    assert ours.decode(encoding.ids) == peer.decode(encoding.ids, skip_special_tokens=False)


def test_the_classes_are_those_of_rust() -> None:
    r"""Of one character each: `\s` is White_Space, `\w` as in Unicode's annex on regular expressions."""
    assert [is_in(c, r"\s") for c in " \x85\u3000\x1c\u200b\u180e"] == [True, True, True, False, False, False]
    assert [is_in(c, r"\w") for c in "_é\u0301٣\u203f\u200d-½"] == [True] * 6 + [False] * 2


# ---- what tokenizers does that nobody wants ----


def test_what_a_token_took_along_is_not_given_twice() -> None:
    """tokenizers finds tokens inside the white space that one before them took."""
    peer = Tokenizer(models.BPE({"a": 0}, [], unk_token="a"))
    peer.add_tokens([AddedToken("#", rstrip=True, normalized=False), AddedToken("  ", normalized=False)])
    assert peer.encode("#   ").tokens == ["#   ", "  ", "a"]
    ours = ReferenceTokenizer(from_tokenizers(peer))
    assert ours.encode("#   ") == [1]
    assert ours.offsets("#   ") == [(0, 4)]


def test_a_token_that_begins_in_what_was_taken_is_looked_for_behind_it() -> None:
    tokens = TokenizerSpec(
        "char",
        SplitSpec(None),
        {},
        {},
        (),
        {},
        {"#": 0, " x": 1, "x": 2},
        matching={"#": Matching(rstrip=True)},
    )
    tok = ReferenceTokenizer(tokens)
    assert tok.encode("# x x") == [0, 2, 1]
    assert tok.offsets("# x x") == [(0, 2), (2, 3), (3, 5)]


def test_special_tokens_that_are_text_hide_no_others() -> None:
    """tokenizers (`encode_special_tokens`) passes over the special token, and over an added one inside it."""
    peer = Tokenizer(models.BPE({"<": 0, "s": 1, ">": 2}, []))
    peer.add_special_tokens(["<s>"])
    peer.add_tokens([AddedToken("s>", normalized=False)])
    peer.encode_special_tokens = True
    assert peer.encode("<s>").ids == [0, 1, 2]
    assert ReferenceTokenizer(from_tokenizers(peer)).encode("<s>", "text") == [0, 4]


# ---- stages and policies ----

LOWER = TokenizerSpec(
    "char",
    SplitSpec(None),
    {0: b"a", 1: b"b", 2: b"<", 3: b">"},
    {b"a": 0, b"b": 1, b"<": 2, b">": 3},
    (),
    {"<A>": 4, "<B>": 5, "<AB>": 6},
    {"Ba": 7},
    normalizer=(Step("Lowercase"),),
    matching={"<A>": Matching("text"), "<B>": Matching("normalized"), "<AB>": Matching("never")},
)


def test_each_stage_finds_its_own() -> None:
    tok = ReferenceTokenizer(LOWER)
    assert tok.encode("<A><a>", "allow") == [4, 2, 0, 3]
    assert tok.encode("<B><b>", "allow") == [5, 5]
    assert tok.encode("<AB>", "allow") == tok.encode("<AB>") == [2, 0, 1, 3]
    assert tok.encode("Baba", "allow") == [7, 1, 0]
    assert tok.encode("<B><b>", "text") == [2, 1, 3] * 2


def test_policies_reach_the_later_stage_and_say_where() -> None:
    tok = ReferenceTokenizer(LOWER)
    for text, token, at in [("ab<b>", "<B>", 2), ("ab<A>", "<A>", 2), ("<b><A>", "<A>", 3)]:
        with pytest.raises(SpecialTokenError, match=f"the special token '{token}' at character {at}"):
            tok.encode(text)
    assert tok.encode("a<b>", {"<B>"}) == [0, 5]
    with pytest.raises(SpecialTokenError, match="'<A>' at character 3"):
        tok.encode("<b><A>", {"<B>"})


def test_a_token_is_shown_to_the_decoder_as_it_was_found() -> None:
    tok = ReferenceTokenizer(replace(LOWER, decoder=(Step("Fuse"),)))
    assert tok.decode([4, 5, 6, 7]) == "<A><b><AB>Ba"
    assert ReferenceTokenizer(LOWER).decode([4, 5, 6, 7]) == "<A><B><AB>Ba"


def test_of_two_that_normalizing_makes_the_same_the_lower_id_is_found_and_none_is_nothing() -> None:
    same = {"X": 9, "x": 8, "\u0301": 7}
    spec = replace(
        LOWER,
        added_tokens=same,
        normalizer=(Step("Lowercase"), Step("StripAccents")),
        matching={name: Matching("normalized") for name in same},
        special_tokens={},
    )
    assert ReferenceTokenizer(spec).encode("aXx\u0301a") == [0, 8, 8, 0]


def test_a_frozen_token_is_found_in_normalized_text_as_it_is_spelled() -> None:
    spec = replace(
        LOWER,
        special_tokens={},
        added_tokens={"ab": 8, "A": 9},
        matching={"ab": Matching("frozen"), "A": Matching("frozen")},
    )
    tok = ReferenceTokenizer(spec)
    assert tok.encode("AbAab") == [8, 0, 8]
    assert tok.offsets("AbAab") == [(0, 2), (2, 3), (3, 5)]


def test_a_long_row_of_spaces_beside_tokens_takes_little_time() -> None:
    spec = replace(
        LOWER, special_tokens={}, matching={"Ba": Matching(lstrip=True, rstrip=True, single_word=True)}
    )
    tok = ReferenceTokenizer(
        replace(spec, tokens={**spec.tokens, 8: b" "}, alphabet={**spec.alphabet, b" ": 8})
    )
    assert tok.encode(("Ba" + " " * 50_000) * 2) == [7, 7]
    assert len(tok.encode("xBa ".replace("x", "a") * 5_000)) == 20_000
