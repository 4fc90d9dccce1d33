"""`syllabary.compat.subword_nmt` beside subword-nmt 0.3.8: the same codes, segments and vocabularies.

Where it differs on purpose, a test shows both. Leaves out: the command (`test_compat_subword_nmt_cli`).
"""

from __future__ import annotations

import inspect
import io
import lzma
import random
import re
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import WHITE_SPACE, corpora, repetitive_texts, texts
from subword_nmt import apply_bpe as their_apply  # type: ignore[import-untyped]
from subword_nmt import get_vocab as their_vocab
from subword_nmt import learn_bpe as their_learn

from syllabary.compat.subword_nmt import apply_bpe, get_vocab, learn_bpe
from syllabary.compat.subword_nmt.apply_bpe import BPE
from syllabary.errors import CorpusError, FormatError

SPACE_IN_WORDS = re.compile(f"[{''.join(set(WHITE_SPACE) - set(' '))}\x1c-\x1f]")
COUNTS = st.integers(1, 999) | st.integers(10**12, 10**12 + 9)  # past 32 bits, too
SIGNATURES = [
    (apply_bpe, their_apply, ["encode", "check_vocab_and_split", "recursive_split", "read_vocabulary"]),
    (apply_bpe, their_apply, ["isolate_glossary", "create_parser"]),
    (learn_bpe, their_learn, ["learn_bpe", "get_vocabulary", "create_parser"]),
    (get_vocab, their_vocab, ["get_vocab", "create_parser"]),
]


def learned(module: object, text: str, num_symbols: int = 60, ends: str = "", **options: object) -> str:
    """The codes that a module learns."""
    codes = io.StringIO(newline=ends)
    module.learn_bpe(io.StringIO(text, newline=ends), codes, num_symbols, **options)  # type: ignore[attr-defined]
    return codes.getvalue()


def apart(codes: str) -> str:
    """Codes of version 0.1 that use the same pairs, and the mark as a symbol of its own before them."""
    rows = codes.split("\n")[1:-1]
    ends = dict.fromkeys(part for row in rows for part in row.split(" ") if part.endswith("</w>"))
    return "".join(f"{row}\n" for row in [*(f"{end[:-4]} </w>" for end in ends if len(end) == 5), *rows])


def both(codes: str, **options: object) -> tuple[BPE, object]:
    return BPE(io.StringIO(codes), **options), their_apply.BPE(io.StringIO(codes), **options)


def as_words(text: str) -> str:
    """The text with no white space but U+0020 and line ends: what is said below of the counts."""
    return SPACE_IN_WORDS.sub("x", text)


@pytest.mark.parametrize("ours, theirs, names", SIGNATURES)
def test_the_arguments_are_the_same(ours: object, theirs: object, names: list[str]) -> None:
    for name in names:
        given_here = list(inspect.signature(getattr(ours, name)).parameters.values())
        for place, argument in enumerate(inspect.signature(getattr(theirs, name)).parameters.values()):
            here = given_here[place]
            assert (here.name, here.default) == (argument.name, argument.default)


@given(documents=corpora(max_size=60), num_symbols=st.integers(1, 40), frequency=st.integers(1, 3))
@pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")
def test_it_learns_the_same_codes(documents: list[str], num_symbols: int, frequency: int) -> None:
    text = as_words("\n".join(documents)).replace("</w>", "")
    assume(any(len(word) > 1 for word in re.split("[ \n]", text)))
    for total in (False, True):
        options = {"min_frequency": frequency, "total_symbols": total}
        assert learned(learn_bpe, text, num_symbols, **options) == learned(
            their_learn, text, num_symbols, **options
        )


@given(counts=st.dictionaries(st.text("abcé", min_size=1, max_size=6), COUNTS, min_size=1))
def test_it_learns_the_same_from_a_dictionary(counts: dict[str, int]) -> None:
    assume(any(len(word) > 1 for word in counts))
    text = "".join(f"{word} {count}\n" for word, count in counts.items())
    assert learned(learn_bpe, text, is_dict=True) == learned(their_learn, text, is_dict=True)


@given(documents=corpora(), other=texts(40), merges=st.sampled_from([-1, 0, 1, 5]))
def test_it_cuts_the_same_segments(documents: list[str], other: str, merges: int) -> None:
    text = "".join(f"ab ab {document}\n" for document in documents)
    codes = learned(learn_bpe, text, min_frequency=1)
    for version in (codes, apart(codes)):
        ours, theirs = both(version, merges=merges)
        for line in [*documents, other, f" {other} \r\n", f"{documents[0]}{other}☃"]:
            assert ours.process_line(line) == theirs.process_line(line)  # type: ignore[attr-defined]


CODES = ["a b", "b a", "ab a", "a ab", "b</w> a", "a b</w>", "ab b</w>", "ab a</w>", "a a", "aa a", "aa aa"]
MARKED = ["< /", "</ w", "</w >", "b </w>", "a </w>", "ab </w>", "b< /w>", "a </", "/ w", "/w >"]


@given(
    rows=st.lists(st.sampled_from([*CODES, *MARKED]), min_size=1, max_size=12),
    words=st.lists(st.text("ab</w>", max_size=8) | st.text("ab", max_size=30), max_size=6),
    header=st.sampled_from(["", "#version: 0.1\n", "#version: 0.2\n", "#version: 0.2.0\n"]),
)
def test_any_codes_cut_the_same(rows: list[str], words: list[str], header: str) -> None:
    """Pairs twice, parts no merge makes, merges that make again what is used before, the mark spelled out."""
    ours, theirs = both(header + "\n".join(rows))
    line = " ".join(words)
    assume("</w>" not in re.sub("[ab]", "", line) or header == "#version: 0.2\n")
    assert ours.process_line(line) == theirs.process_line(line)  # type: ignore[attr-defined]


@given(documents=corpora(), dropout=st.sampled_from([0.05, 0.3, 0.9, 1.0]), seed=st.integers(0, 99))
def test_dropout_draws_the_same_coins(documents: list[str], dropout: float, seed: int) -> None:
    codes = learned(learn_bpe, "".join(f"ab ab {document}\n" for document in documents), min_frequency=1)
    ours, theirs = both(codes)
    cut = []
    for bpe in (ours, theirs):
        random.seed(seed)
        cut.append([bpe.process_line(document, dropout) for document in documents])  # type: ignore[attr-defined]
    assert cut[0] == cut[1]


def test_what_dropout_cut_is_not_remembered() -> None:
    ours, theirs = both("#version: 0.2\na b\nab c</w>\n")
    for bpe, after in ((ours, "abc"), (theirs, "a@@ b@@ c")):
        assert bpe.process_line("abc", dropout=1.0) == "a@@ b@@ c"  # type: ignore[attr-defined]
        assert bpe.process_line("abc") == after  # type: ignore[attr-defined]


@given(
    documents=st.lists(repetitive_texts("abc "), min_size=1, max_size=4),
    threshold=st.integers(1, 4),
    separator=st.sampled_from(["@@", "##", "_"]),
)
def test_the_vocabulary_filter_cuts_the_same(documents: list[str], threshold: int, separator: str) -> None:
    codes = learned(learn_bpe, "".join(f"abab ab {document}\n" for document in documents), min_frequency=1)
    ours, theirs = both(codes, separator=separator)
    cut = "\n".join(ours.process_line(document) for document in documents)
    counts = [io.StringIO(), io.StringIO()]
    get_vocab.get_vocab(io.StringIO(cut), counts[0])
    their_vocab.get_vocab(io.StringIO(cut), counts[1])
    assert counts[0].getvalue() == counts[1].getvalue()
    rows = counts[0].getvalue().splitlines()
    known = apply_bpe.read_vocabulary(rows, threshold)
    assert known == their_apply.read_vocabulary(rows, threshold)
    ours, theirs = both(codes, separator=separator, vocab=known)
    for line in [*documents, "abcabcabc"]:
        assert ours.process_line(line) == theirs.process_line(line)  # type: ignore[attr-defined]


GLOSSARIES = [["ab"], ["a+", "b"], [r"\d+", "<x>"], ["ca", "ab"], ["é"], [r"<\w*>", "b"]]


@given(
    documents=st.lists(st.text("abc12<x>é ", max_size=40), max_size=4), glossaries=st.sampled_from(GLOSSARIES)
)
def test_glossaries_stay_whole_in_the_same_way(documents: list[str], glossaries: list[str]) -> None:
    codes = learned(learn_bpe, "abcab cab 12 121 <x>\n" * 2)
    ours, theirs = both(codes, glossaries=glossaries)
    for line in documents:
        assert ours.process_line(line) == theirs.process_line(line)  # type: ignore[attr-defined]


def test_a_glossary_may_hold_branches_and_groups() -> None:
    assert apply_bpe.isolate_glossary("USAbUK", "USA|UK") == ["USA", "b", "UK"]
    assert their_apply.isolate_glossary("USAbUK", "USA|UK") == ["USAbUK"]  # as if it were ^USA|UK$
    assert apply_bpe.isolate_glossary("xabcy", "(a)bc") == ["x", "abc", "y"]
    assert their_apply.isolate_glossary("xabcy", "(a)bc") == ["x", "abc", "a", "y"]  # the group, again


def test_white_space_in_a_word_is_a_character_like_any_other() -> None:
    """subword-nmt looks for pairs in words joined by spaces, and takes U+00A0 for one."""
    text = "\u00a0bx " * 30 + "bcy\u00a0bcy " * 3 + "bcz " * 9
    assert learned(learn_bpe, text, 8).endswith("\ny \u00a0bcy</w>\nbc y\u00a0bcy</w>\n")
    assert learned(their_learn, text, 8).endswith("\ny \u00a0bcy</w>\ny \u00a0b\n")  # merged long before


def test_the_mark_alone_is_no_segment_when_it_is_cut_off_again() -> None:
    ours, theirs = both("a b\nb </w>\n", vocab=["x"])
    assert ours.process_line("cb") == "c@@ b"
    assert theirs.process_line("cb") == "c@@ b@@ "  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["english", "greek"])
def test_real_text(shared: Path, prove: bool, name: str) -> None:
    """Codes and segments of a corpus, with white space other than U+0020 taken out of the words."""
    size, symbols = (1_000_000, 2000) if prove else (40_000, 200)
    with lzma.open(shared / "corpora" / f"{name}.txt.xz", "rt", encoding="utf-8", newline="") as file:
        text, other = as_words(file.read(size)), file.read(size)
    for options in ({}, {"total_symbols": True}, {"min_frequency": 9}):
        wanted = learned(their_learn, text, symbols, **options)
        assert learned(learn_bpe, text, symbols, **options) == wanted
    counts = "".join(
        f"{word} {count}\n" for word, count in learn_bpe.get_vocabulary(io.StringIO(text)).items()
    )
    codes = learned(learn_bpe, text, symbols)
    assert learned(learn_bpe, counts, symbols, is_dict=True) == codes
    for version in (codes, apart(codes)):
        ours, theirs = both(version)
        for line in other.split("\n"):
            assert ours.process_line(line) == theirs.process_line(line)  # type: ignore[attr-defined]


def test_whole_files(tmp_path: Path) -> None:
    text = " low lower\nlowest low\n\n"
    (tmp_path / "text").write_text(text.replace("\n", "\r\n", 1), newline="")  # read as LF, as there
    ours, theirs = both(learned(learn_bpe, text))
    cut = [io.StringIO(), io.StringIO()]
    for bpe, output in zip((ours, theirs), cut, strict=True):
        bpe.process_lines(str(tmp_path / "text"), output)  # type: ignore[attr-defined]
    assert cut[0].getvalue() == cut[1].getvalue() == "".join(map(ours.process_line, text.splitlines(True)))
    ours.process_lines(str(tmp_path / "text"), str(tmp_path / "cut"), num_workers=3)
    assert (tmp_path / "cut").read_text() == cut[0].getvalue()
    for bpe in (ours, theirs):
        with pytest.raises(ValueError, match="num_workers"):
            bpe.process_lines(str(tmp_path / "text"), cut[0], num_workers=0)  # type: ignore[attr-defined]


# ---- bytes, which only subword-nmt's repository has ----


def test_bytes_are_symbols(tmp_path: Path) -> None:
    text = "né né nù\n".encode() * 3
    codes = io.BytesIO()
    learn_bpe.learn_bpe(io.BytesIO(text), codes, 3, is_bytes=True)
    assert codes.getvalue() == b"#version: 0.2 byte\nn \xc3\nn\xc3 \xa9</w>\nn\xc3 \xb9</w>\n"
    (tmp_path / "codes").write_bytes(codes.getvalue())
    assert apply_bpe.get_byte_mode(str(tmp_path / "codes"))
    bpe = BPE(codes)
    assert bpe.process_line(" né ñ \xff\n".encode("latin-1").replace(b"\xe9", "é".encode())) == (
        b" n\xc3\xa9 \xf1 \xff\n"
    )
    assert bpe.process_line(b"n\xc3\xff") == b"n\xc3@@ \xff"


@given(documents=corpora())
def test_bytes_cut_as_their_latin_1_does(documents: list[str]) -> None:
    data = "".join(f"{document}\n" for document in ["ab ab é é", *documents]).encode()
    data = data.replace(b"\r", b"")
    codes = io.BytesIO()
    learn_bpe.learn_bpe(io.BytesIO(data), codes, 50, min_frequency=1, is_bytes=True)
    as_text = codes.getvalue().replace(b" byte", b"").decode("latin-1")
    ours, theirs = BPE(codes), their_apply.BPE(io.StringIO(as_text, newline=""))
    for line in data.split(b"\n"):
        assert ours.process_line(line).decode("latin-1") == theirs.process_line(line.decode("latin-1"))


# ---- what is refused ----


@pytest.mark.parametrize(
    "codes, message",
    [
        ("#version: 0.2\na b\na b c\n", "line 3: 'a b c' is not two symbols"),
        ("a b\n\nc d\n", "line 2: '' is not two symbols"),
        ("#version: 0.3\na b\n", "line 1: '#version: 0.3.*' is no version of codes"),
        ("#version: 0.2 byte\na b\n", "open the file in binary mode"),
    ],
)
def test_damaged_codes(codes: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        BPE(io.StringIO(codes))


def test_damaged_counts() -> None:
    with pytest.raises(CorpusError, match="line 2: 'b'"):
        learned(learn_bpe, "a 1\nb", is_dict=True)
    with pytest.raises(CorpusError, match="line 1: the count of 'a' is below 0"):
        learned(learn_bpe, "a -1\n", is_dict=True)
    with pytest.raises(CorpusError, match="over 18446744073709551615 characters: divide the counts"):
        learned(learn_bpe, f"ab {2**63}\n", is_dict=True)
    with pytest.raises(FormatError, match="line 1: 'a b c' is not a token and a count"):
        apply_bpe.read_vocabulary(["a b c"], 0)
    with pytest.raises(CorpusError, match="no word"):
        learned(learn_bpe, " \n \n")


def test_counts_of_a_dictionary_may_be_large() -> None:
    text = f"low {2**60}\nlower {2**59 + 1}\nlow {2**59}\n"
    assert learned(learn_bpe, text, is_dict=True) == learned(their_learn, text, is_dict=True)


def test_a_lone_cr_ends_a_word_for_codes_could_not_hold_it() -> None:
    text = "a\rbc a\rbc\n"
    assert learned(learn_bpe, text, ends="\n") == "#version: 0.2\nb c</w>\n"
    codes = learned(their_learn, text, ends="\n")
    assert "\na\r bc</w>\n" in codes or "a \r" in codes
    with pytest.raises(SystemExit):
        their_apply.BPE(io.StringIO(codes, newline="\n"))


def test_text_may_hold_the_mark() -> None:
    text = "x</w> x</w> x</w> x</w>y x x\n"
    codes = learned(learn_bpe, text, 4)
    assert codes == "#version: 0.2\nx <\nx< /\nx</ w\nx</w ></w>\n"
    assert BPE(io.StringIO(codes)).process_line("x</w>q x</w> x") == "x</w@@ >@@ q x</w> x"


def test_no_merges_and_no_words_are_no_error() -> None:
    assert learned(learn_bpe, "a b\n") == "#version: 0.2\n"
    assert BPE(io.StringIO("#version: 0.2\n")).process_line("abc \n") == "a@@ b@@ c \n"


def test_a_very_long_word_takes_no_long_time() -> None:
    bpe = BPE(io.StringIO("#version: 0.2\na a\naa aa\naaaa aaaa\n"))
    assert bpe.process_line("a" * 200_000).endswith(" aaaaaaaa@@ aaaa@@ aa@@ a@@ a")


def test_a_deep_chain_of_merges_is_cut_again() -> None:
    rows = "".join(f"{'a' * n} a\n" for n in range(1, 3000))
    bpe = BPE(io.StringIO("#version: 0.2\n" + rows), vocab={"a@@", "a"})
    assert bpe.process_line("a" * 2500 + "b").count("@@") == 2500
