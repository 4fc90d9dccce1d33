"""Beta code: every letter of the library, what is mended around it, and which text is taken for it."""

from __future__ import annotations

import importlib
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tei_files import NESTED, tei, texts

from syllabary.corpus import beta
from syllabary.errors import CorpusError


def greek(*strings: str) -> str:
    return beta.join(map(beta.convert, strings))


def test_every_entry_of_the_library() -> None:
    """Signs that stand alone are no letters; the library makes spaces with accents of them."""
    entries = importlib.import_module("beta_code.beta_code").BETA_CODE_TO_UNICODE_MAP
    assert len(entries) > 700
    alone = set("()+/=\\")
    assert {key for key in entries if len(key) == 1 and not key.isalnum() and greek(key) == key} >= alone
    for key, letter in entries.items():
        if key not in alone:
            assert str(beta.convert(key)) == unicodedata.normalize("NFC", letter), key


@pytest.mark.parametrize(
    "text, expected",
    [
        ("mh=nin a)/eide qea\\ *phlhi+a/dew *)axilh=os", "μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος"),
        ("MH=NIN *)AXILH=OS", "μῆνιν Ἀχιλῆος"),
        ("*)/ai+di *a)/i+di", "Ἄϊδι Ἄϊδι"),
        ("*)/u *w)=| *)=w|", "Υ̓́ ᾮ ᾮ"),
        ("i/+ i+/ w)=| w=)| w|=)", "ΐ ΐ ᾦ ᾦ ᾦ"),
        ("va/nac *va/nac", "ϝάναξ Ϝάναξ"),
        ("a_ a^ a_)/ndra _ lo/gos_", "ᾱ ᾰ ᾱ̓́νδρα — λόγος—"),
        ("ti/ le/geis; qarrw=: a)/ge.", "τί λέγεις; θαρρῶ· ἄγε."),
        ("d' o(/s' pa/ntos' *kei=os", "δ’ ὅσ’ πάντοσ’ Κεῖος"),
        ("lo/gos] tou\\s\u2014 ti/s\u201d ti/s\u2019 s' s", "λόγος] τοὺς— τίς” τίς’ σ’ σ"),
        ("e)s-ti", "ἐσ-τι"),
        ("s1a s2 s3 *s3 aj", "σα ς ϲ Ϲ ας"),
        ("(o( a)nh/r) e)/fh) (to) xw) h)\\ *r(o/dos", "(ὁ ἀνήρ) ἔφη) (το) χὠ ἢ Ῥόδος"),
        ("Hom. Il. kai/", "Hom. Il. καί"),
        ("ka#", "καʹ"),
        ('$10 &1 @ %2 "3 [1 #5 a? 17', '$10 &1 @ %2 "3 [1 #5 α? 17'),
        ("* *) ) ( /", "* *) ) ( /"),
        ("", ""),
    ],
)
def test_conversion(text: str, expected: str) -> None:
    assert greek(text) == unicodedata.normalize("NFC", expected)


@pytest.mark.parametrize(
    "strings, expected",
    [
        (("lo/gos", "i"), "λόγοσι"),
        (("lo/go", "s"), "λόγος"),
        (("lo/go", "s", "", "i"), "λόγοσι"),
        (("lo/gos", ", "), "λόγος, "),
        (("o(/s", "'"), "ὅσ’"),
        (("s",), "σ"),
    ],
)
def test_words_that_tags_cut(strings: tuple[str, ...], expected: str) -> None:
    assert greek(*strings) == expected


def test_other_text_is_not_touched() -> None:
    mixed = ["Latin text: ", beta.convert("lo/gos"), "\u2019 'a' σ "]
    assert beta.join(mixed) == "Latin text: λόγος’ 'a' σ "
    assert beta.join(["e\u0301", " σ"]) == "e\u0301 σ"  # nothing was beta code, so not even NFC
    assert beta.convert("λόγοσ a)/") == "λόγοσ a)/"


@pytest.mark.parametrize(
    "text, expected",
    [
        ("mh=nin a)/eide", True),
        ("MH=NIN A)/EIDE", True),
        ("μῆνιν ἄειδε", False),
        ("menin aeide thea (and so on)", False),
        ("λόγος", False),
        ("μῆνιν Hom. Il. (a)", False),
        ("", False),
        ("1 2 3", False),
    ],
)
def test_what_is_taken_for_beta_code(text: str, expected: bool) -> None:
    assert beta.is_beta([text]) is expected


@given(text=st.text(st.sampled_from("abehsSrwv*()/\\=|+_^'’:;#123 -.σί"), max_size=30))
def test_any_signs(text: str) -> None:
    """Nothing is lost but marks; the result is NFC; white space and numbers stay where they are."""
    found = greek(text)
    assert unicodedata.is_normalized("NFC", found)
    assert found.count(" ") == text.count(" ")
    if not beta.GREEK_LETTER.search(text):
        letters = sum(character in "abehsrwv" for character in text.lower())
        assert sum(character.isalpha() for character in unicodedata.normalize("NFD", found)) >= letters


def test_only_greek_elements_are_converted(tmp_path: Path) -> None:
    assert texts(tei(tmp_path, NESTED)) == ["λόγος mens, a(/ma ἐν ἀρχῇ· Ioh. 1 θεός. τοὺς—τίς’ ὅσ’"]
    assert texts(tei(tmp_path, NESTED), beta_code=False)[0].startswith("lo/gos mens, a(/ma e)n a)rxh=|: ")


def test_what_is_not_beta_code_stays(tmp_path: Path) -> None:
    for text in (
        "μῆνιν ἄειδε, Hom. Il. 1.1 (ed. Monro)",
        "menin aeide thea",
        "λόγος (Latin words, a lot of them)",
    ):
        path = tei(tmp_path, f"<div xml:lang='grc'><p>{text}</p></div>")
        assert texts(path) == [text]
    assert texts(path, beta_code=True) == [
        text
    ]  # what has Greek letters is not converted even if it is asked
    path = tei(tmp_path, "<div xml:lang='grc'><p>logos</p></div><div xml:lang='la'><p>a/ b</p></div>")
    assert texts(path) == ["logos", "a/ b"]
    assert texts(path, beta_code=True) == ["λογος", "a/ b"]
    path = tei(tmp_path, "<div xml:lang='grc-Latn'><p>mh=nin a)/eide</p></div>")
    assert texts(path, beta_code=True) == ["mh=nin a)/eide"]


def test_without_beta_code_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tei(tmp_path, NESTED)
    real = importlib.import_module
    for cache in (beta._library, beta._composed, beta._word, beta._sign):
        cache.cache_clear()

    def absent(name: str) -> Any:
        if name == "beta_code":
            raise ModuleNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(CorpusError, match=r"pip install 'syllabary\[corpus\]'; beta_code=False leaves it"):
        texts(path)
    assert "lo/gos" in texts(path, beta_code=False)[0]
