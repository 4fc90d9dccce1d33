"""subword-nmt's codes as a format: the ids of a text are the tokens that subword-nmt cuts."""

from __future__ import annotations

import dataclasses
import io
import lzma
import re
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from implementations import Implementation, each
from strategies import corpora, texts
from subword_nmt.apply_bpe import BPE  # type: ignore[import-untyped]

import syllabary
from syllabary.compat.subword_nmt.learn_bpe import learn_bpe
from syllabary.convert import convert
from syllabary.errors import FormatError, UnknownSymbolError
from syllabary.formats import refusal, subword_nmt, subword_nmt_codes, subword_nmt_vocab
from syllabary.formats.record import Facts, Hints
from syllabary.reference.tokenizer import ReferenceTokenizer
from syllabary.spec import Matching, SplitSpec, Step, TokenizerSpec
from syllabary.tokenizer import Tokenizer

SEPARATOR = "\x00<separator>\x00"
LOW = b"#version: 0.2\nl o\nlo w\nlow e\nlowe r</w>\nlo w</w>\n"
LOW_APART = b"l o\nlo w\nlow </w>\ne r\ner </w>\n"
LOW_BYTES = b"#version: 0.2 byte\nn \xc3\nn\xc3 \xa9</w>\n"
FILES = {
    "0.2": LOW,
    "0.1": LOW_APART,
    "0.1 with its header": b"#version: 0.1\n" + LOW_APART,
    "bytes": LOW_BYTES,
    "0.2.0": LOW.replace(b"0.2", b"0.2.0"),
    "pairs twice": LOW + b"l o\nl o\ne r</w>\nlo w\n",
    "no end": LOW[:-1],
    "no merges": b"#version: 0.2\n",
    "carriage return": b"#version: 0.2\r\nl o\n",
    "a part that no merge makes": LOW + b"new er\n",
    "other signs": "#version: 0.2\né 漢</w>\n\u00a0 \u2028\n\u2028 </w>\n👩 \u200d\n".encode(),
}


MARK = "</w>\U0010ffff"


def read(data: bytes, folder: Path, name: str = "bpe.codes") -> TokenizerSpec:
    (folder / name).write_bytes(data)
    return subword_nmt.FORMAT.read(folder / name, Hints())


def codes_of(documents: list[str]) -> str:
    # A text that holds the mark with the last code point behind it is a TrainingError.
    assume(not any(MARK in document for document in documents))
    codes = io.StringIO()
    text = "".join(f"ab ab {document}\n" for document in documents)
    learn_bpe(io.StringIO(text, newline=""), codes, 60, min_frequency=1)
    return codes.getvalue()


def spec_of(codes: str) -> TokenizerSpec:
    found = subword_nmt_codes.parse(codes.encode(), Path("codes"))
    return subword_nmt_codes.build(found.pairs, found.kind)


def their_tokens(codes: str, text: str) -> list[str]:
    """The tokens of the lines of a text, spelled as in the codes: no `@@`, the mark at the end of words."""
    bpe = BPE(io.StringIO(codes, newline="\n"), separator=SEPARATOR)
    lines = re.split("[\r\n]+", text)
    cut = [segment for line in lines for segment in bpe.segment_tokens(line.split(" "))]
    return [
        segment.removesuffix(SEPARATOR) if segment.endswith(SEPARATOR) else f"{segment}</w>"
        for segment in cut
    ]


def known(codes: str, text: str) -> str:
    """The text without characters that the codes do not know where they stand."""
    symbols = spec_of(codes).alphabet
    words = re.split("([ \r\n]+)", text)
    for place, word in enumerate(words[::2]):
        kept = "".join(character for character in word if character.encode() in symbols)
        while kept and f"{kept[-1]}</w>".encode() not in symbols:
            kept = kept[:-1]
        words[2 * place] = kept
    return "".join(words)


@pytest.mark.parametrize("kind", FILES)
def test_what_is_read_is_written_again(kind: str, tmp_path: Path) -> None:
    spec = read(FILES[kind], tmp_path)
    assert subword_nmt.write(spec) == FILES[kind]
    Tokenizer(spec)


def test_ids_go_to_characters_then_to_merges(tmp_path: Path) -> None:
    spec = read(LOW, tmp_path)
    assert list(spec.tokens.values()) == [
        b"e", b"l", b"o", b"w", b"r</w>", b"w</w>", b"lo", b"low", b"lowe", b"lower</w>", b"low</w>",
    ]  # fmt: skip
    assert list(spec.tokens) == list(range(11))
    assert (spec.unit, spec.end_of_word, spec.mark_apart, spec.carried) == ("char", "</w>", False, {})
    apart = read(LOW_APART, tmp_path)
    assert list(apart.tokens.values())[:6] == [b"e", b"l", b"o", b"r", b"w", b"</w>"]
    assert apart.mark_apart
    assert read(LOW_BYTES, tmp_path).unit == "byte"


def test_ids_by_a_vocabulary(tmp_path: Path) -> None:
    """The number of a token's line; what the vocabulary lacks comes behind, and what only it has is known."""
    (tmp_path / "bpe.codes").write_bytes(LOW)
    (tmp_path / "vocab").write_text("low 9\nlo@@ 5\nz@@ 2\ny 1\n")
    spec = subword_nmt.read_codes(tmp_path / "bpe.codes", tmp_path / "vocab")
    assert [spec.tokens[place] for place in range(4)] == [b"low</w>", b"lo", b"z", b"y</w>"]
    assert {b"z", b"y</w>", b"l"} < set(spec.alphabet)
    tok = ReferenceTokenizer(spec)
    assert tok.tokens("low zy") == [b"low</w>", b"z", b"y</w>"]
    assert tok.encode("low zy") == [0, 2, 3]


def test_a_vocabulary_file(tmp_path: Path) -> None:
    path = tmp_path / "vocab"
    path.write_text(subword_nmt_vocab.write_vocabulary({"b": 1, "a@@": 3, "c": 3}))
    assert path.read_text() == "a@@ 3\nc 3\nb 1\n"
    assert subword_nmt_vocab.read_vocabulary(path) == {b"a@@": 3, b"c": 3, b"b": 1}
    assert subword_nmt_vocab.read_vocabulary(path, threshold=3) == {b"a@@": 3, b"c": 3}
    for data, message in (
        (b"a 1\nb\n", "line 2: b'b' is not a token"),
        (b"a 1\n\na 2\n", "line 3: the token b'a' is on line 1"),
        (b"\xff 1\n", "line 1: the token .* is not UTF-8"),
        (b"a x\n", "line 1: b'a x' is not"),
    ):
        path.write_bytes(data)
        with pytest.raises(FormatError, match=message):
            subword_nmt_vocab.read_vocabulary(path)


@given(documents=corpora(), other=texts(40))
def test_ids_are_the_tokens_of_the_lines(documents: list[str], other: str) -> None:
    codes = codes_of(documents)
    spec = spec_of(codes)
    for tok in (ReferenceTokenizer(spec), Tokenizer(spec)):
        for text in [*documents, other, f"  {other}\r\n{documents[0]}\r"]:
            text = known(codes, text).replace("</w>", "")
            assert [token.decode() for token in tok.tokens(text)] == their_tokens(codes, text)


@pytest.mark.parametrize("name", ["english", "greek"])
def test_ids_of_real_text_are_its_tokens(shared: Path, prove: bool, name: str) -> None:
    with lzma.open(shared / "corpora" / f"{name}.txt.xz", "rt", encoding="utf-8", newline="") as file:
        text = file.read(1_000_000 if prove else 100_000)
    codes = io.StringIO()
    learn_bpe(io.StringIO(text), codes, 1000, min_frequency=1)
    text = known(codes.getvalue(), text)
    tok = Tokenizer(spec_of(codes.getvalue()))
    assert [token.decode() for token in tok.tokens(text)] == their_tokens(codes.getvalue(), text)
    assert tok.decode(tok.encode(text)).split() == text.split()


def test_a_character_that_the_codes_do_not_hold_is_an_error(tmp_path: Path) -> None:
    tok = Tokenizer(read(LOW, tmp_path))
    with pytest.raises(UnknownSymbolError, match="x"):
        tok.encode("lox")
    assert tok.tokens(" low\r\n low ") == [b"low</w>", b"low</w>"]


# ---- the mark as a symbol of its own, and bytes ----


@each
def test_version_0_1(implementation: Implementation, tmp_path: Path) -> None:
    tok = implementation.tokenizer(read(LOW_APART, tmp_path))
    assert tok.tokens("low lower ro") == [b"low</w>", b"low", b"er</w>", b"r", b"o", b"</w>"]
    assert tok.decode(tok.encode("low lower ro")).strip() == "low lower ro"


@each
def test_bytes(implementation: Implementation, tmp_path: Path) -> None:
    tok = implementation.tokenizer(read(LOW_BYTES, tmp_path))
    assert tok.tokens("né né\n") == [b"n\xc3\xa9</w>"] * 2
    assert tok.decode(tok.encode("né né")).strip() == "né né"


@each
@given(documents=corpora(), other=texts(40))
def test_version_0_1_cuts_as_subword_nmt(
    implementation: Implementation, documents: list[str], other: str
) -> None:
    """Its tokens without the mark, which subword-nmt takes off."""
    rows = codes_of(documents).split("\n")[1:-1]
    finals = dict.fromkeys(part for row in rows for part in row.split(" ") if part.endswith("</w>"))
    codes = "\n".join([*(f"{final[:-4]} </w>" for final in finals if len(final) == 5), *rows])
    spec = spec_of(codes)
    tok = implementation.tokenizer(spec)
    for text in [*documents, other]:
        text = "".join(one for one in text if one in " \r\n" or one.encode() in spec.alphabet)
        text = text.replace("</w>", "")
        ours = [token.decode().removesuffix("</w>") for token in tok.tokens(text)]
        theirs = [token.removesuffix("</w>") for token in their_tokens(codes, text)]
        assert [token for token in ours if token] == theirs


@each
@given(documents=corpora())
def test_bytes_are_cut_as_subword_nmt_cuts_characters(
    implementation: Implementation, documents: list[str]
) -> None:
    """subword-nmt 0.3.8 has no bytes: their Latin-1, for it."""
    codes = io.BytesIO()
    data = "".join(f"ab ab é é {document}\n" for document in documents).replace("</w>", "").encode()
    learn_bpe(io.BytesIO(data.replace(b"\r", b"")), codes, 60, min_frequency=1, is_bytes=True)
    found = subword_nmt_codes.parse(codes.getvalue(), Path("codes"))
    tok = implementation.tokenizer(subword_nmt_codes.build(found.pairs, found.kind))
    latin = codes.getvalue().replace(b" byte", b"").decode("latin-1")
    for text in documents:
        known_text = "".join(re.findall("[a-zé ]", text)) if not symbols_known(found, text) else text
        if symbols_known(found, known_text):
            expected = their_tokens(latin, known_text.encode().decode("latin-1"))
            assert [token.decode("latin-1") for token in tok.tokens(known_text)] == expected


def symbols_known(found: subword_nmt_codes.Codes, text: str) -> bool:
    """Whether every byte of a text is in the alphabet, where it stands."""
    parts = subword_nmt_codes.parts(found.pairs, "byte")
    words = [word for word in re.split(b"[ \r\n]+", text.encode()) if word]
    inner = {word[at : at + 1] for word in words for at in range(len(word) - 1)}
    return inner <= {*parts.plain} and {word[-1:] + b"</w>" for word in words} <= {*parts.final}


# ---- what is refused ----

BAD = [
    (b"", "empty"),
    (b"#version: 0.3\na b\n", "line 1: .* is no version of codes"),
    (b"#version: x\n", "line 1"),
    (b"#version: 0.1 byte\n", "line 1"),
    (b"#version: 0.2\na b\nab\n", r"line 3: b'ab' is not two symbols"),
    (b"a b\na b c\n", "line 2"),
    (b"a b\n\nc d\n", "line 2: b'' is not"),
    (b"#version: 0.2\na  b\n", "line 2"),
    (b"#version: 0.2\n\xff b\n", "line 2: not UTF-8 at byte 0"),
    (b"#version: 0.2\nab c\na b\n", "line 3: makes b'ab', which line 2 uses already"),
    (b"a b\nab c\nx y\n a bc\nb c\nabc d\na b\n", "line 5: makes b'bc', which line 4 uses"),
]


@pytest.mark.parametrize("data, message", BAD)
def test_damaged_files(data: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=f"bpe.codes: {message}"):
        read(data, tmp_path)


@given(data=st.binary(max_size=40), cut=st.integers(0, len(LOW)), at=st.integers(0, len(LOW) - 1))
def test_any_bytes_are_a_tokenizer_or_a_format_error(data: bytes, cut: int, at: int) -> None:
    flipped = LOW[:at] + bytes([LOW[at] ^ (1 + cut % 255)]) + LOW[at + 1 :]
    for damaged in (data, LOW[:cut], flipped, LOW[:at] + data, b"#version: 0.2 byte\n" + data):
        try:
            found = subword_nmt_codes.parse(damaged, Path("codes"))
        except FormatError:
            continue
        spec = subword_nmt_codes.build(found.pairs, found.kind)
        if subword_nmt_codes.remade(spec) is None:
            ReferenceTokenizer(spec)


def test_hints_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(LOW)
    with pytest.raises(FormatError, match="leave out split"):
        subword_nmt.FORMAT.read(tmp_path / "a", Hints(split=SplitSpec(None)))


def test_what_codes_cannot_hold(tmp_path: Path) -> None:
    spec = read(LOW, tmp_path)
    changes: list[tuple[dict[str, object], str]] = [
        ({"end_of_word": None, "alphabet": {b"e": 0}}, "without the mark"),
        ({"split": SplitSpec(r"\S+")}, "a split"),
        ({"special_tokens": {"<s>": 90}}, "special tokens"),
        ({"added_tokens": {"<s>": 90}}, "added tokens"),
        ({"normalizer": (Step("NFC"),)}, r"its normalizer \(NFC\)"),
        ({"unknown": 0}, "an id for unknown symbols"),
        ({"tokens": {**spec.tokens, 99: b"zz"}}, "ids"),
        ({"tokens": {**spec.tokens, 99: b"z"}, "alphabet": {**spec.alphabet, b"z": 99}}, "an alphabet"),
        ({"merges": spec.merges[::-1]}, "uses already"),
        ({"merges": (*spec.merges, spec.merges[0])}, "a pair twice"),
    ]
    for change, message in changes:
        with pytest.raises(FormatError, match=f"subword-nmt cannot hold .*{message}"):
            subword_nmt.write(dataclasses.replace(spec, **change))  # type: ignore[arg-type]
    assert subword_nmt.refuses(Facts("byte")) is not None
    assert subword_nmt.refuses(Facts("char", end_of_word="</w>")) is None


@pytest.mark.parametrize(
    "carried",
    [
        3,
        {"header": 3},
        {"header": "#version: 0.2 byte\n"},
        {"header": "#version: 0.2\na b\n"},
        {"header": "a b\n"},
        {"header": ""},
        {"ended": 3},
        {"merges": 5, "duplicates": [3]},
        {"merges": 5, "duplicates": [[0, 5]]},
        {"merges": 5, "duplicates": [[6, 0]]},
        {"merges": 5, "duplicates": [[0, 0], [0, 1]]},
        {"merges": 5, "duplicates": 3},
    ],
)
def test_what_is_carried_is_what_a_file_left(carried: object, tmp_path: Path) -> None:
    spec = dataclasses.replace(read(LOW, tmp_path), carried={"subword-nmt": carried})
    with pytest.raises(FormatError, match="what carried"):
        subword_nmt.write(spec)


def test_other_merges_have_no_pairs_given_again(tmp_path: Path) -> None:
    spec = dataclasses.replace(
        read(LOW, tmp_path), carried={"subword-nmt": {"merges": 9, "duplicates": [[0, 7]]}}
    )
    assert subword_nmt.write(spec) == LOW


def test_gpt2s_pair_does_not_say_that_spaces_are_dropped(tmp_path: Path) -> None:
    tok = syllabary.train(["λόγος λόγου ἦν ὁ λόγος"], num_merges=4, like="subword-nmt")
    with pytest.raises(FormatError, match=r"gpt2 cannot hold a split that drops .* \('\[\^ "):
        tok.save(tmp_path / "vocab.json", "gpt2")
    assert list(tmp_path.iterdir()) == []
    assert "drops the text" in (refusal("gpt2", unit="char", end_of_word="</w>", split=tok.spec.split) or "")
    done = convert(tok, tmp_path / "vocab.json", "gpt2", texts=["λόγος λόγος"])
    assert "drops the text between its matches" in done.losses[0]
    assert (done.texts > done.same_ids, done.difference is None) == (True, False)
    again = syllabary.load(tmp_path / "vocab.json", split="whitespace-split")
    assert again.encode("λόγος  λόγος") == tok.encode("λόγος  λόγος")
    again.save(tmp_path / "vocab.json", "gpt2")  # by its name it drops them when it is read


def test_losses_are_named(tmp_path: Path) -> None:
    spec = read(LOW, tmp_path)
    assert subword_nmt.reduce(spec) == (spec, ())
    more = dataclasses.replace(
        spec,
        tokens={**spec.tokens, 11: b"z"},
        alphabet={**spec.alphabet, b"z": 11},
        special_tokens={"<s>": 12},
        matching={"<s>": Matching(lstrip=True)},
        normalizer=(Step("NFC"),),
        split=SplitSpec(r"\S+", keep_unmatched=False),
        carried={"huggingface": {"padding": None}},
    )
    reduced, losses = subword_nmt.reduce(more)
    assert subword_nmt.write(reduced) == LOW
    assert [loss.partition(" ")[0] for loss in losses] == ["Its", "How", "What", "The", "The", "1", "The"]
    assert "no id changes" in losses[2]
    assert all(" id" in loss for loss in losses)


# ---- whose file it is ----


@pytest.mark.parametrize("kind", sorted(set(FILES) - {"no merges", "carriage return"}))
def test_its_own_files_are_known(kind: str) -> None:
    assert subword_nmt.FORMAT.sniff(Path("x"), FILES[kind])


@pytest.mark.parametrize(
    "head",
    [b"#version: 0.2\n\xc4\xa0 t\n\xc4\xa0 a\n", b"IQ== 0\nIg== 1\n", b"{}", b"", b"minbpe v1\n\n0\n97 98\n"],
)
def test_those_of_others_are_not(head: bytes) -> None:
    assert not subword_nmt.FORMAT.sniff(Path("x"), head)


@pytest.mark.parametrize("name", ["x.codes", "x.bpe"])
@pytest.mark.parametrize("num_merges", [0, 3])
def test_codes_without_a_mark_are_known_by_their_names(name: str, num_merges: int, tmp_path: Path) -> None:
    """Of few merges none may end a word."""
    text = ["abcdx abcdy abcdz"]
    tok = syllabary.train(text, num_merges=num_merges, like="subword-nmt")
    tok.save(tmp_path / name)
    assert b"</w>" not in (tmp_path / name).read_bytes()
    assert syllabary.load(tmp_path / name).merges == tok.merges
    assert len(tok.merges) == num_merges
    assert not subword_nmt.FORMAT.sniff(Path(name), "#version: 0.2\nĠ t\n".encode())
