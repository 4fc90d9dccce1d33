"""Formats: what is written opens again, here and in the format's home library, and gives the same ids."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from strategies import corpora, few, repetitive_texts, texts
from tokenizers import Tokenizer

from syllabary import files, formats, splits
from syllabary.errors import FormatError, SplitError
from syllabary.formats import huggingface, syllabary_json
from syllabary.formats.ranks import recover_merges
from syllabary.reference.special import cut_by_policy
from syllabary.reference.split import pieces
from syllabary.reference.symbols import symbols
from syllabary.reference.tokenizer import ReferenceTokenizer
from syllabary.reference.train import train
from syllabary.spec import SplitSpec, TokenizerSpec, TrainOptions

pytestmark = pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")
SPECIALS = ("<|endoftext|>", "<s>")
RUNS = ("in ", "principio", " né  deum.\n")  # between the special tokens of a text that tests encode
PATTERNS = [r"\w+|[^\w]", r"(?i:que|s+)|\p{Lu}{1,2}+|.|\n", r"^a|b$|\d++|\s{2}?|[\p{L}--[a-c]]"]
SPLITS = [
    *map(splits.get, splits.names()),
    *map(splits.get, PATTERNS),
    SplitSpec(r"\w+", keep_unmatched=False),
]
SETTINGS = {
    "byte": {},
    "byte, special first": {"special_first": True, "byte_order": "gpt2"},
    "char": {"unit": "char"},
    "char with mark": {"unit": "char", "end_of_word": "</w>"},
    "char with fallback": {"unit": "char", "fallback": True},
}


def trained(documents: list[str], split: SplitSpec | None = None, **options: object) -> TokenizerSpec:
    """A small tokenizer; a letter is added so that there is something to train on."""
    chosen = {"split": split or splits.get("gpt2"), "num_merges": 25, "min_frequency": 1} | options
    chosen.setdefault("special_tokens", SPECIALS)
    # The second document teaches every symbol to be the last of a piece or not, for the mark.
    return train([*documents, *("\n".join(text) for text in documents), "x"], TrainOptions(**chosen))


def small(**options: object) -> TokenizerSpec:
    return trained(["in principio erat verbum, et verbum erat apud deum", "日本 né é", *RUNS], **options)


def to_huggingface(spec: TokenizerSpec) -> Tokenizer:
    return Tokenizer.from_str(huggingface.FORMAT.write(spec).decode())


def again(spec: TokenizerSpec, folder: Path, name: str, **hints: object) -> TokenizerSpec:
    formats.write(spec, folder / name)
    return formats.read(folder / name, **hints)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("split", SPLITS, ids=lambda split: split.name or split.pattern)
@few(12)  # of each of 90 products
@given(documents=st.lists(texts(), min_size=1, max_size=3), other=texts())
def test_huggingface_gives_the_same_ids(
    split: SplitSpec, setting: str, documents: list[str], other: str
) -> None:
    documents = [text.replace("</w>", "") for text in documents]
    spec = trained(documents, split, **SETTINGS[setting])
    ours, theirs = ReferenceTokenizer(spec), to_huggingface(spec)
    everything = spec.unit == "byte" or spec.fallback
    for text in [
        *documents,
        f"{documents[0]}<s>{documents[-1]}<|endoftext|>",
        *([other] if everything else []),
    ]:
        if not everything and any(part not in spec.alphabet for part in symbols_of(text, spec)):
            continue  # their library drops what is not in the alphabet
        ids = ours.encode(text, special="allow")
        assert theirs.encode(text).ids == ids
        assert theirs.decode(ids, skip_special_tokens=False) == ours.decode(ids)


def symbols_of(text: str, spec: TokenizerSpec) -> list[bytes]:
    """The initial symbols of a text, in the alphabet or not."""
    runs = cut_by_policy(text, spec.special_tokens, spec.added_tokens, "allow")
    parts = [piece for run in runs if run.token is None for piece in pieces(run.text, spec.split)]
    return [symbol for piece in parts for symbol in symbols(piece, spec.unit, spec.end_of_word)]


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("split", SPLITS, ids=lambda split: split.name or split.pattern)
def test_huggingface_file_is_read_back(split: SplitSpec, setting: str, tmp_path: Path) -> None:
    spec = dataclasses.replace(
        small(split=split, **SETTINGS[setting]), added_tokens={"<added>": 9000}, record={}
    )
    back = again(spec, tmp_path, "tokenizer.json")
    if split.name is not None:
        assert back == spec
    assert dataclasses.replace(back, split=spec.split) == spec
    assert back.split.keep_unmatched == split.keep_unmatched
    text = f"{RUNS[0]}<s>{RUNS[1]}<added>{RUNS[2]}"
    assert ReferenceTokenizer(back).encode(text, "allow") == ReferenceTokenizer(spec).encode(text, "allow")
    theirs = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert theirs.encode(text).ids == ReferenceTokenizer(spec).encode(text, "allow")


def test_huggingface_file_is_what_their_library_writes(tmp_path: Path) -> None:
    formats.write(small(), tmp_path / "tokenizer.json")
    Tokenizer.from_file(str(tmp_path / "tokenizer.json")).save(str(tmp_path / "theirs.json"))
    assert (tmp_path / "theirs.json").read_text("utf-8") == (tmp_path / "tokenizer.json").read_text("utf-8")


@given(text=texts())
def test_whole_pieces_and_recovered_merges_agree_with_tiktoken(text: str) -> None:
    spec = rank_order()
    theirs = tiktoken.Encoding(
        "small",
        pat_str=splits.get("gpt2").pattern,
        mergeable_ranks={token: rank for rank, token in spec.tokens.items()},
        special_tokens=dict(spec.special_tokens),
    )
    ids = theirs.encode(text, disallowed_special=())
    assert ReferenceTokenizer(spec).encode(text, "text") == ids
    if not any(special in text for special in SPECIALS):
        assert to_huggingface(spec).encode(text).ids == ids


def rank_order() -> TokenizerSpec:
    """A rank-order tokenizer with tokens that merges reach late, by other ways, or not at all."""
    spec = small()
    extra = [b"zzz", b"aab", b"aa", b"baa", b" erat verbum", b"uba", b"eratv", b"abaab"]
    tokens = {
        **spec.tokens,
        **{1000 + index: token for index, token in enumerate(extra) if token not in spec.tokens.values()},
    }
    return dataclasses.replace(spec, tokens=tokens, merges=None, whole_pieces=True)


@given(
    tokens=st.sets(st.text("abc", min_size=2, max_size=5), max_size=12).flatmap(
        lambda found: st.permutations(sorted(found))
    ),
    text=repetitive_texts(),
)
def test_recovered_merges_are_rank_order(tokens: list[str], text: str) -> None:
    table = {index: bytes([index]) for index in range(256)}
    table |= {256 + index: token.encode() for index, token in enumerate(tokens)}
    by_ranks = TokenizerSpec(
        unit="byte",
        split=splits.get(None),
        tokens=table,
        alphabet={bytes([index]): index for index in range(256)},
        merges=None,
    )
    by_merges = dataclasses.replace(by_ranks, merges=recover_merges(table))
    assert ReferenceTokenizer(by_merges).encode(text) == ReferenceTokenizer(by_ranks).encode(text)


@given(documents=corpora())
def test_a_trained_tokenizer_is_a_rank_file(
    documents: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    spec = trained(documents, tie_break="first-seen")
    back = again(spec, tmp_path_factory.mktemp("ranks"), "t.tiktoken", split="gpt2")
    assert (back.tokens, back.alphabet, back.merges) == (spec.tokens, spec.alphabet, None)
    for text in documents:
        assert ReferenceTokenizer(back).encode(text, "text") == ReferenceTokenizer(spec).encode(text, "text")


@pytest.mark.parametrize(
    "name", ["r50k_base.tiktoken", "cl100k_base.tiktoken", "o200k_base.tiktoken", "gpt2_tokenizer.json"]
)
def test_published_files(shared: Path, tmp_path: Path, name: str) -> None:
    path = shared / "vocabs" / name
    spec = formats.read(path)
    assert (
        spec.special_tokens["<|endoftext|>"]
        == {50256: 50256, 100256: 100257, 199998: 199999}[len(spec.tokens)]
    )
    if "k_base" not in name or "r50k" in name:
        assert again(spec, tmp_path, "t.syllabary.json") == spec
    if name.endswith(".tiktoken"):
        formats.write(spec, tmp_path / name)
        assert (tmp_path / name).read_bytes() == path.read_bytes()
    if "o200k" not in name:  # the same code, with twice the time
        text = "Hello've  world123 how's\n\n naïve 日本語 it?!  "
        assert to_huggingface(spec).encode(text).ids == ReferenceTokenizer(spec).encode(text)


def test_gpt2_pair_by_either_file_or_folder(shared: Path, tmp_path: Path) -> None:
    folder = shared / "vocabs"
    spec = formats.read(folder / "gpt2_encoder.json")
    assert spec == formats.read(folder / "gpt2_vocab.bpe") == formats.read(folder, "gpt2")
    assert spec == dataclasses.replace(formats.read(folder / "gpt2_tokenizer.json"), carried={})
    formats.write(spec, tmp_path / "ranks.tiktoken")
    assert (tmp_path / "ranks.tiktoken").read_bytes() == (folder / "r50k_base.tiktoken").read_bytes()
    text = "Hello how are you hope you are well"
    assert ReferenceTokenizer(spec).encode(text) == [15496, 703, 389, 345, 2911, 345, 389, 880]


def test_gpt2_pair_of_a_user(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text('{"a": 0, "b": 1, "ab": 2, "<s>": 7}', "utf-8")
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n", "utf-8")
    with pytest.raises(FormatError, match="give split="):
        formats.read(tmp_path)
    spec = formats.read(tmp_path, split="none", special_tokens={"<s>": 7})
    assert (spec.tokens, spec.merges) == ({0: b"a", 1: b"b", 2: b"ab"}, ((0, 1, 2),))
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\na  b\n", "utf-8")
    with pytest.raises(FormatError, match=r"merges\.txt: line 3: 'a  b' is not two tokens"):
        formats.read(tmp_path, split="none")
    (tmp_path / "merges.txt").unlink()
    with pytest.raises(FormatError, match=r"merges\.txt, is not beside it"):
        formats.read(tmp_path / "vocab.json", split="none")


@pytest.mark.parametrize("setting", [*SETTINGS, "word", "word with fallback", "char, mark, fallback", "seen"])
def test_our_own_format_is_lossless(setting: str, tmp_path: Path) -> None:
    more = {
        "word": {"unit": "word", "split": splits.get("latin")},
        "word with fallback": {"unit": "word", "fallback": True, "split": splits.get("latin")},
        "char, mark, fallback": {"unit": "char", "fallback": True, "end_of_word": "</w>"},
        "seen": {"alphabet": "seen", "split": splits.get(r"\S+")},
    }
    spec = small(**(SETTINGS | more)[setting])
    assert again(spec, tmp_path, "t.syllabary.json") == spec
    first = (tmp_path / "t.syllabary.json").read_bytes()
    shuffled = dataclasses.replace(spec, tokens=dict(reversed(spec.tokens.items())))
    formats.write(shuffled, tmp_path / "t.syllabary.json")
    assert (tmp_path / "t.syllabary.json").read_bytes() == first


def test_the_example_of_the_format_page(tmp_path: Path) -> None:
    page = (Path(__file__).parent.parent / "docs" / "format.md").read_text("utf-8")
    example = page.split("```json\n")[1].split("```")[0]
    (tmp_path / "t.syllabary.json").write_text(example, "utf-8")
    spec = formats.read(tmp_path / "t.syllabary.json")
    assert ReferenceTokenizer(spec).encode("aéa<s>", "allow") == [0, 3, 0, 4]
    assert syllabary_json.write(spec).decode() == example


def test_our_own_format_holds_what_others_cannot(tmp_path: Path) -> None:
    spec = dataclasses.replace(
        rank_order(),
        added_tokens={'\u2028 ,"\\\0': 1_000_000},
        record={"a": [1, 2.5, None, True, {"é": "\n"}]},
    )
    assert again(spec, tmp_path, "t.syllabary.json") == spec


@pytest.mark.parametrize(
    "record", [{"a": (1,)}, {"a": float("nan")}, {"a": {1: 2}}, {"a": b"x"}, {"a": 10**5000}]
)
def test_a_record_that_is_not_plain_json(record: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"record\.a"):
        formats.write(dataclasses.replace(small(), record=record), tmp_path / "t.syllabary.json")
    assert list(tmp_path.iterdir()) == []


def change(**fields: object) -> Callable[[], TokenizerSpec]:
    return lambda: dataclasses.replace(small(), **fields)


CANNOT = {
    "words": ("tokenizer.json", lambda: small(unit="word"), "whole pieces"),
    "fallback beside a mark": (
        "tokenizer.json",
        lambda: small(unit="char", fallback=True, end_of_word="</w>"),
        "fallback to bytes together with an end-of-word mark",
    ),
    "a special token spelled like a token": (
        "tokenizer.json",
        change(added_tokens={"in": 9000}),
        r"two ids \(\d+ and 9000\) with the same spelling 'in'",
    ),
    "a special token that would be a byte": (
        "tokenizer.json",
        lambda: dataclasses.replace(small(alphabet="seen"), special_tokens={"ÿ": 9000}),
        "the token 'ÿ', which is one symbol",
    ),
    "a look-behind of many widths": (
        "tokenizer.json",
        lambda: small(split=splits.get(r"(?<=a|b(?=c))x|[^x]+|x")),
        "look-behind",
    ),
    "characters as ranks": ("t.tiktoken", lambda: small(unit="char"), "the unit 'char'"),
    "bytes seen as ranks": ("t.tiktoken", lambda: small(alphabet="seen"), "without all 256 bytes"),
    "added tokens in ranks": ("t.tiktoken", change(added_tokens={"<added>": 9000}), "added tokens"),
    "merges out of order": (
        "t.tiktoken",
        lambda: dataclasses.replace(small(), merges=small().merges[1:] + small().merges[:1]),
        "another order than the ids",
    ),
    "merges of another tokenizer": (
        "t.tiktoken",
        lambda: dataclasses.replace(small(), merges=small().merges[1:]),
        "lacks the merge",
    ),
    "a token that no merge makes": (
        "t.tiktoken",
        lambda: dataclasses.replace(small(), tokens={**small().tokens, 9000: b"zzz"}),
        "b'zzz'",
    ),
}


@pytest.mark.parametrize("case", CANNOT)
def test_what_a_format_cannot_hold_is_named(case: str, tmp_path: Path) -> None:
    name, make, message = CANNOT[case]
    with pytest.raises(FormatError, match=message):
        formats.write(make(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    assert again(make(), tmp_path, "t.syllabary.json") == make()


def test_the_format_is_chosen_by_name_suffix_and_content(tmp_path: Path) -> None:
    spec = small()
    formats.write(spec, tmp_path / "a", "tiktoken")
    formats.write(spec, tmp_path / "b", "syllabary")
    formats.write(spec, tmp_path / "c", "huggingface")
    assert (
        formats.read(tmp_path / "a", split="gpt2", special_tokens=spec.special_tokens).tokens == spec.tokens
    )
    assert formats.read(tmp_path / "b") == spec
    assert formats.read(tmp_path / "c") == dataclasses.replace(spec, record={})
    (tmp_path / "d").write_text("some text", "utf-8")
    with pytest.raises(FormatError, match=r"no known format.*syllabary, huggingface, .*gpt2, .*tiktoken"):
        formats.read(tmp_path / "d")
    for call in (
        lambda: formats.read(tmp_path / "a", "ggml"),
        lambda: formats.write(spec, tmp_path / "e", "ggml"),
    ):
        with pytest.raises(FormatError, match="no format is named 'ggml'; known are syllabary"):
            call()
    with pytest.raises(FormatError, match="suffix says no format"):
        formats.write(spec, tmp_path / "e.bin")
    with pytest.raises(FormatError, match="name a folder that is there, or end the name in one of encoder"):
        formats.write(spec, tmp_path / "e", "gpt2")
    with pytest.raises(SplitError):
        formats.read(tmp_path / "a", split="latn")
    with pytest.raises(FormatError, match="says its split and special tokens itself; leave out split"):
        formats.read(tmp_path / "b", split="gpt2")
    with pytest.raises(FileNotFoundError, match=r"none\.tiktoken"):
        formats.read(tmp_path / "none.tiktoken")


def test_folders(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="holds no tokenizer"):
        formats.read(tmp_path)
    formats.write(small(), tmp_path / "a.tiktoken")
    assert formats.read(tmp_path, split="gpt2").merges is None
    formats.write(small(), tmp_path / "b.tiktoken")
    with pytest.raises(FormatError, match=r"several tokenizers \(a.tiktoken, b.tiktoken\)"):
        formats.read(tmp_path)
    formats.write(small(), tmp_path / "tokenizer.json")
    assert formats.read(tmp_path).merges == small().merges


@pytest.mark.parametrize(
    "error", [OSError("disk full"), KeyboardInterrupt()], ids=["OSError", "KeyboardInterrupt"]
)
@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file(
    error: BaseException, function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("old", "utf-8")

    def fail(*_arguments: object) -> None:
        raise error

    monkeypatch.setattr(files.os, function, fail)
    with pytest.raises(type(error)):
        formats.write(small(), path)
    assert path.read_text("utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_writing_keeps_mode_and_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "tokenizer.json"
    real.write_text("old", "utf-8")
    real.chmod(0o640)
    link.symlink_to(real)
    formats.write(small(), link)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert json.loads(real.read_text("utf-8"))["version"] == "1.0"
    formats.write(small(), os.devnull, "tiktoken")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        formats.write(small(), tmp_path / "nowhere" / "tokenizer.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(IsADirectoryError):
        formats.write(small(), tmp_path / "folder.json")
