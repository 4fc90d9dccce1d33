"""Texts with their tokens marked: no character and no token is lost, whatever the tokenizer and the text.

Leaves out: the command (`test_cli_inspect_view`), and where tokens begin and end (`test_inspecting`).
"""

from __future__ import annotations

import re
import warnings
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import syllabary
from syllabary import inspecting
from syllabary.errors import EarlyStopWarning, SpecialTokenError
from syllabary.inspecting import Making, Row, page
from syllabary.inspecting.parts import BAR, NEWLINE, NO_TOKEN, Part, cells, parts, plain

LEARNED = [
    "low lower lowest newer newest widest 12 345 é 漢字, e\u0301 ﬁne\n",
    "μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος, ἣ μυρί᾽ Ἀχαιοῖς ἄλγε᾽ ἔθηκε\n",
]
HOSTILE = "</div><script>alert(\"x\")</script>&lt;<b title='y'>\x1b[31m\x00\x07\x9b\u202e\u2066\u2028\t\r\n`"
TEXTS = {
    "nothing": "",
    "a line end": "\n",
    "Latin": LEARNED[0],
    "Greek": LEARNED[1],
    "Chinese": "道可道，非常道。\n\n名可名\n",
    "Cherokee": "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ",
    "Hebrew": "בְּרֵאשִׁית בָּרָא 12 abc אֱלֹהִים",
    "marks": "\u0301e\u0301\u0323 नि\u200dक \u200d\ufe0f👨\u200d👩\u200d👧",
    "ours": f"a|b {BAR}{NO_TOKEN}{NEWLINE}\\n\\\\ \\u2502",
    "hostile": HOSTILE,
    "special": "lowest<|end|>low <|end|>",
    "spaces": "  low  \t lower \u00a0\u3000\n  ",
}
KINDS: dict[str, dict[str, Any]] = {
    "bytes": {"vocab_size": 400, "special_tokens": ["<|end|>"]},
    "bytes of huggingface": {"like": "huggingface", "vocab_size": 300, "alphabet": "all"},
    "characters": {"unit": "char", "vocab_size": 400, "fallback": True},
    "composed": {"vocab_size": 300, "normalize": "NFKC"},
    "decomposed": {"unit": "char", "vocab_size": 360, "normalize": "NFKD", "fallback": True},
    "sentencepiece": {"like": "sentencepiece", "vocab_size": 90},
    "unigram": {"model": "unigram", "vocab_size": 320},
    "wordpiece": {"model": "wordpiece", "vocab_size": 200},
    "wordlevel": {"model": "wordlevel", "vocab_size": 12},
}


@cache
def trained(kind: str) -> Making:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyStopWarning)
        return Making(syllabary.train(LEARNED * 5, **KINDS[kind]))


@cache
def of_letters() -> Making:
    """A model whose normalizer reads ﬁ as two letters, and that has learned no word."""
    return Making(syllabary.train(["f i fan in"] * 9, like="sentencepiece", model="unigram", vocab_size=8))


@cache
def mistral(shared: Path) -> Making:
    return Making(syllabary.load(shared / "vocabs" / "mistral_v1.model"))


def shown(making: Making, text: str) -> list[tuple[str, int]]:
    """Each part and how many tokens stand for it."""
    return [(part.text, len(part.rows)) for part in parts(text, inspecting.rows(making, text, "allow"))]


def a_row(first: int, last: int, token: bytes = b"x") -> Row:
    return Row(0, token, first, last, first, last, 0, "word", None, None)


# ---- parts ----


def check_whole(making: Making, text: str) -> None:
    rows = inspecting.rows(making, text, "allow")
    found = [*parts(text, rows)]
    assert "".join(part.text for part in found) == text
    assert [row for part in found for row in part.rows] == [*rows]
    assert all(part.text or part.rows for part in found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_parts_are_the_whole_text_and_all_tokens(kind: str, text: str) -> None:
    check_whole(trained(kind), text)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_parts_of_a_model_of_sentencepiece(shared: Path, text: str) -> None:
    check_whole(mistral(shared), text)


TOKENS = st.sampled_from([b"a", b"\xe6", "▁".encode()])


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), TOKENS)))
def test_parts_of_any_places(places: list[tuple[int, int, bytes]]) -> None:
    """Also those in no order, as steps that turn characters around could give."""
    text = "abcdefghijkl"
    rows = [a_row(min(first, last), max(first, last), token) for first, last, token in places]
    found = [*parts(text, rows)]
    assert "".join(part.text for part in found) == text
    assert [row for part in found for row in part.rows] == rows


def test_tokens_of_one_character_are_one_part(shared: Path) -> None:
    assert shown(trained("bytes"), "low 道") == [("low", 1), (" ", 1), ("道", 3)]
    assert shown(mistral(shared), "a ᏣᎳ字") == [("a", 1), (" ", 1), ("Ꮳ", 3), ("Ꮃ", 3), ("字", 1)]
    assert shown(mistral(shared), "a၁a") == [("a", 1), ("၁", 3), ("a", 1)]  # of bytes that ▁ has too
    # The space that sentencepiece puts before a text is a token of no characters, and no part of the first.
    assert shown(mistral(shared), "ᏣᎳ") == [("", 1), ("Ꮳ", 3), ("Ꮃ", 3)]
    assert shown(of_letters(), "ﬁ") == [("", 1), ("ﬁ", 2)]  # read as "fi", two tokens


def test_what_no_token_stands_for_is_a_part_of_its_own() -> None:
    found = shown(trained("wordpiece"), "  low  lower ")
    assert [(text, number) for text, number in found if not text.strip()] == [("  ", 0), ("  ", 0), (" ", 0)]


# ---- what is seen ----


def read_back(view: str) -> str:
    """The text of what `plain` shows."""
    for sign in (BAR, NO_TOKEN, NEWLINE, "◌"):
        view = view.replace(sign, "")
    named = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}
    return re.sub(
        r"\\(?:x(..)|u(....)|U(.{8})|(.))",
        lambda found: named[found[4]] if found[4] else chr(int(found[1] or found[2] or found[3], 16)),
        view,
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_plain_view_has_a_bar_for_each_token_and_can_be_read_back(kind: str, text: str) -> None:
    rows = inspecting.rows(trained(kind), text, "allow")
    view = "".join(plain(parts(text, rows)))
    assert read_back(view) == text
    assert view.count(BAR) == len(rows)
    assert view.count("\n") == view.count(NEWLINE) == text.count("\n")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", view)


def test_the_plain_view_of_some() -> None:
    shown = str(inspecting.view(trained("bytes"), "low|\tlow\n\n道e\u0301")).splitlines()
    assert shown[:-1] == [f"low│|│\\t│low│{NEWLINE}│", f"{NEWLINE}│", "道│││e│◌\u0301│"]
    words = str(inspecting.view(trained("wordpiece"), "low lower"))
    assert words == "low│ ┊lower│\n2 tokens, 9 characters, 9 bytes, 4.50 characters per token"
    assert str(inspecting.view(trained("bytes"), "")) == "0 tokens, 0 characters, 0 bytes"


def test_a_mark_at_the_beginning_of_a_token_has_a_circle_to_stand_on() -> None:
    assert cells("\u0301a") == (("◌\u0301a", False),)
    assert cells("a\u0301") == (("a\u0301", False),)
    assert cells("\u05b0") == (("◌\u05b0", False),)
    assert cells("\u200d") == (("\\u200d", True),)
    assert cells("👨\u200d👩") == (("👨\u200d👩", False),)
    assert cells("👨\u200d") == (("👨", False), ("\\u200d", True))


def test_a_special_token_is_refused_as_encode_does() -> None:
    with pytest.raises(SpecialTokenError, match="end"):
        inspecting.view(trained("bytes"), "a<|end|>")
    tok = trained("bytes").tok
    view = inspecting.view(tok, "a<|end|>", "allow")
    assert [row.id for row in view.rows] == tok.encode("a<|end|>", special="allow")


# ---- HTML ----


class Read(HTMLParser):
    """The spans of a page, and the text outside of and in them; fails at any tag or attribute of others."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.spans: list[dict[str, str]] = []
        self.text = ""  # without signs
        self.numbers: list[int] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {"span": {"class", "title"}, "div": {"class", "lang", "dir"}}
        assert tag in ("style", "p", "div", "span", "i", "sub")
        assert {name for name, _value in attrs} == known.get(tag, set())
        self.open.append(tag)
        if tag == "span":
            self.spans.append({name: value or "" for name, value in attrs})
            self.numbers.append(1)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["sub"]:
            self.numbers[-1] = int(data)
        elif "div" in self.open and data not in (NEWLINE, page.EMPTY):
            self.text += data if self.open[-1] == "i" else data.replace("\\", "\\\\")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_html_has_the_text_and_nothing_of_it_is_markup(kind: str, text: str) -> None:
    text = text.replace(NEWLINE, "")
    view = inspecting.view(trained(kind), text, "allow")
    html = view._repr_html_()
    found = Read(html)
    assert read_back(found.text.replace(BAR, "\\u2502").replace(NO_TOKEN, "\\u250a")) == text
    assert sum(found.numbers) == len(view.rows)
    titles = [line for span in found.spans for line in span["title"].split("\n")]
    assert [line.split()[0] for line in titles] == [str(row.id) for row in view.rows]
    for line, row in zip(titles, view.rows, strict=True):
        assert f"\u2069 bytes {row.start}-{row.end}, piece {row.piece}, " in line
        assert row.rank is None or line.endswith(f"rank {row.rank}")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]", html)


def test_neighbours_have_other_colours_and_special_tokens_a_line() -> None:
    html = inspecting.view(trained("bytes"), "low lower <|end|>lowest 漢字", "allow")._repr_html_()
    classes = [span["class"].split() for span in Read(html).spans]
    assert [names[0] for names in classes] == [f"t{at % len(page.LIGHT)}" for at in range(len(classes))]
    assert [names[1:] for names in classes].count(["n"]) == 1


def test_spans_are_not_isolated_so_that_right_to_left_runs_across_them() -> None:
    rules = dict(re.findall(r"^\.syllabary ?([^{]*)\{(.*)\}$", page.STYLE, re.MULTILINE))
    assert "unicode-bidi:plaintext" in rules[""]  # each line has its own direction
    assert not re.search("unicode-bidi|display|padding-(left|right)|margin|border", rules["span"])
    assert "unicode-bidi:isolate" in rules["i,.syllabary sub"]  # signs and numbers leave the order as it is


def luminance(colour: str) -> float:
    """As WCAG 2 defines it, of a colour as #rrggbb."""
    of_it = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in of_it
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(
    "backgrounds, inks", [(page.LIGHT, (page.INK, page.SIGN)), (page.DARK, (page.INK_DARK, page.SIGN_DARK))]
)
def test_contrast_is_what_wcag_asks_for(backgrounds: tuple[str, ...], inks: tuple[str, ...]) -> None:
    for background in backgrounds:
        for ink in inks:
            dark, light = sorted([luminance(background), luminance(ink)])
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (background, ink)


def test_a_part_without_characters_can_be_seen() -> None:
    assert "".join(plain([Part("", [a_row(0, 0)])])) == BAR
    html = page._marked(Part("", [a_row(0, 0)]), 0)
    assert f"<i>{page.EMPTY}</i>" in html
