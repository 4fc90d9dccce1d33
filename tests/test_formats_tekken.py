"""Mistral's tekken.json: the ids of mistral-common, which are tiktoken's behind the special tokens."""

from __future__ import annotations

import base64
import importlib.util
import json
import lzma
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import given
from strategies import texts

import syllabary
from syllabary.errors import FormatError
from syllabary.formats import tekken
from syllabary.formats.record import Hints
from syllabary.reference.tokenizer import ReferenceTokenizer
from syllabary.spec import TokenizerSpec
from syllabary.tokenizer import Tokenizer

PUBLISHED = ["tekken_240718.json", "tekken_240911.json"]
CORPORA = ["english", "greek", "chinese", "code", "multilingual", "latin"]
PATTERN = r"\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+"


def small(**changes: Any) -> dict[str, Any]:
    """A file with 256 bytes and three more tokens, the last of which does not count; 4 special tokens."""
    tokens = [*(bytes([byte]) for byte in range(256)), b"ab", b"abc", b"not counted"]
    config = {
        "pattern": PATTERN,
        "num_vocab_tokens": 259,
        "default_vocab_size": 4 + 258,
        "default_num_special_tokens": 4,
        "version": "v11",
    }
    special = [
        {"rank": rank, "token_str": text, "is_control": True}
        for rank, text in enumerate(["<unk>", "<s>", "</s>"])
    ]
    vocab = [entry(rank, token) for rank, token in enumerate(tokens)]
    return {"config": config, "vocab": vocab, "special_tokens": special} | changes


def entry(rank: int, token: bytes) -> dict[str, Any]:
    try:
        text = token.decode()
    except UnicodeDecodeError:
        text = None
    return {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": text}


def read(document: object, folder: Path) -> TokenizerSpec:
    (folder / "tekken.json").write_text(json.dumps(document))
    return tekken.FORMAT.read(folder / "tekken.json", Hints())


def published(name: str) -> Path:
    """A file of mistral-common's; the test is skipped where that package is not installed."""
    found = importlib.util.find_spec("mistral_common")
    if found is None or found.origin is None:
        pytest.skip("mistral-common, whose data this test reads, is not installed")
    return Path(found.origin).parent / "data" / name


@lru_cache(maxsize=2)
def both(name: str) -> tuple[Tokenizer, tiktoken.Encoding]:
    """Ours, and what mistral-common builds (`Tekkenizer.__init__`), without the offset."""
    path = published(name)
    data = json.loads(path.read_bytes())
    count = data["config"]["default_vocab_size"] - data["config"]["default_num_special_tokens"]
    ranks = {base64.b64decode(token["token_bytes"]): token["rank"] for token in data["vocab"][:count]}
    theirs = tiktoken.Encoding(
        name, pat_str=data["config"]["pattern"], mergeable_ranks=ranks, special_tokens={}
    )
    return Tokenizer(tekken.FORMAT.read(path, Hints())), theirs


def assert_same(name: str, text: str) -> None:
    ours, theirs = both(name)
    assert ours.encode(text, special="text") == [rank + 1000 for rank in theirs.encode_ordinary(text)]


@pytest.mark.parametrize("name", PUBLISHED)
@given(text=texts(60))
def test_ids_of_any_text(name: str, text: str) -> None:
    assert_same(name, text + "<s>[INST]</s>")


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("name", PUBLISHED)
def test_ids_of_real_text(shared: Path, prove: bool, name: str, corpus: str) -> None:
    published(name)
    with lzma.open(shared / "corpora" / f"{corpus}.txt.xz", "rt", encoding="utf-8", newline="") as file:
        assert_same(name, file.read(1_000_000 if prove else 100_000))


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_vocabularies(name: str) -> None:
    ours, theirs = both(name)
    assert ours.vocab_size == 131072
    assert list(ours.vocab) == list(range(131072))
    assert ours.decode(ours.encode("Bonjour, 世界")) == "Bonjour, 世界"
    assert [ours.vocab[rank + 1000] for rank in range(theirs.n_vocab)] == [
        theirs.decode_single_token_bytes(rank) for rank in range(theirs.n_vocab)
    ]
    assert ours.special_tokens["[INST]"] == 3
    assert ours.special_tokens["<SPECIAL_20>"] == 20
    assert len(ours.special_tokens) == 1000


def test_a_published_file_is_read_in_no_time() -> None:
    path = published(PUBLISHED[1])
    start = time.perf_counter()
    tekken.FORMAT.read(path, Hints())
    assert time.perf_counter() - start < 5  # 0.3 s on the machine it was written on


def test_a_small_file(tmp_path: Path) -> None:
    spec = read(small(image={"image_patch_size": 16}), tmp_path)
    assert spec.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2, "<SPECIAL_3>": 3}
    assert {matching.stage for matching in spec.matching.values()} == {"never"}
    assert spec.tokens[4 + 97] == b"a"
    assert max(spec.tokens) == 4 + 257
    assert spec.carried == {"tekken": {"config.version": "v11", "image": {"image_patch_size": 16}}}
    for tok in (ReferenceTokenizer(spec), Tokenizer(spec)):
        assert tok.encode("abc ab") == [4 + 257, 4 + 32, 4 + 256]
        assert tok.decode([261, 1, 101]) == "abc<s>a"


def test_special_tokens_are_never_found_in_text(tmp_path: Path) -> None:
    """As in mistral-common: the only way to them is by id."""
    spec = read(small(), tmp_path)
    for tok in (ReferenceTokenizer(spec), Tokenizer(spec)):
        for policy in ("raise", "allow", "text"):
            assert tok.encode("<s>", special=policy) == [4 + ord(sign) for sign in "<s>"]


def test_old_files_have_twenty_special_tokens(tmp_path: Path) -> None:
    document = small(special_tokens=None)
    document["config"] |= {"version": "v7", "default_num_special_tokens": 25, "default_vocab_size": 283}
    special = read(document, tmp_path).special_tokens
    assert special["[TOOL_CONTENT]"] == 19
    assert list(special)[20:] == [f"<SPECIAL_{rank}>" for rank in range(20, 25)]
    document["config"]["version"] = "v11"
    with pytest.raises(FormatError, match="'special_tokens' is missing"):
        read(document, tmp_path)


# ---- what is refused ----


def broken(where: str, value: object) -> dict[str, Any]:
    """A small file with one value replaced, or taken out by `...`."""
    document = small()
    at: Any = document
    *path, last = [int(part) if part.isdigit() else part for part in where.split(".")]
    for part in path:
        at = at[part]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return document


BAD = [
    ("config", ..., "'config' is missing"),
    ("vocab", ..., "'vocab' is missing"),
    ("vocab", {}, "at [$].vocab: must be a list"),
    ("config.version", "v99", "at [$].config.version: must be one of v1"),
    ("config.pattern", 3, "at [$].config.pattern: must be a string"),
    ("config.default_vocab_size", 9999, "259 tokens, of which 9995 should count"),
    ("config.default_vocab_size", 100, "259 tokens, of which 96 should count"),
    ("config.default_num_special_tokens", 10**9, "1000000000 special tokens"),
    ("config.default_num_special_tokens", -1, "outside 0"),
    ("vocab.257.rank", 258, r"at [$].vocab\[257\]: rank is 258"),
    ("vocab.257.rank", True, r"at [$].vocab\[257\]: rank is True"),
    ("vocab.257", 3, r"at [$].vocab\[257\]: must be an object"),
    ("vocab.257.more", 3, r"at [$].vocab\[257\]: must be an object of rank"),
    ("vocab.257.token_bytes", "YWI", "not base64"),
    ("vocab.257.token_bytes", "é", "not base64"),
    ("vocab.257.token_bytes", 3, "must be a string"),
    ("vocab.257.token_bytes", "", "a token of 0 bytes"),
    ("vocab.257.token_str", "abd", "are not the same token"),
    ("vocab.257", entry(257, b"ab"), "ranks 256 and 257 are both b'ab'"),
    ("vocab.97", entry(97, b"b"), "the first 256 ranks are the bytes"),
    ("special_tokens.1.rank", 2, r"at [$].special_tokens\[1\].rank: is 2"),
    ("special_tokens.1.token_str", "<unk>", "given twice"),
    ("special_tokens.1.token_str", "<SPECIAL_3>", "given twice"),
    ("special_tokens.1.token_str", ..., "'token_str' is missing"),
    ("special_tokens.1.token_str", "", "is empty"),
]


@pytest.mark.parametrize("where, value, message", BAD)
def test_damaged_files(where: str, value: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=f"tekken.json: .*{message}"):
        read(broken(where, value), tmp_path)


def test_more_special_tokens_than_config_says(tmp_path: Path) -> None:
    document = small()
    document["config"] |= {"default_num_special_tokens": 2, "default_vocab_size": 260}
    with pytest.raises(FormatError, match="3 special tokens, where config says 2"):
        read(document, tmp_path)


def test_a_file_cut_short_or_flipped(tmp_path: Path) -> None:
    data = json.dumps(small()).encode()
    path = tmp_path / "tekken.json"
    for at in range(0, len(data), 1 + len(data) // 150):
        for damaged in (data[:at], data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]):
            path.write_bytes(damaged)
            try:
                Tokenizer(tekken.FORMAT.read(path, Hints())).encode("ab ab", special="text")
            except FormatError:
                continue


def test_hints_are_refused(tmp_path: Path) -> None:
    read(small(), tmp_path)
    with pytest.raises(FormatError, match="leave out special_tokens"):
        tekken.FORMAT.read(tmp_path / "tekken.json", Hints(special_tokens={}))


def test_it_is_known_by_its_keys_or_its_name() -> None:
    head = json.dumps(small()).encode()
    assert tekken.FORMAT.sniff(Path("x.json"), head[:4096])
    assert tekken.FORMAT.sniff(Path("tekken_1.json"), b'{"vocab": [')
    assert not tekken.FORMAT.sniff(Path("tokenizer.json"), b'{"version": "1.0", "truncation": null')
    assert not tekken.FORMAT.sniff(Path("tekken_1.json"), b"YQ== 0\n")


def test_a_folder_with_a_tokenizer_json_is_that(tmp_path: Path) -> None:
    (tmp_path / "tekken.json").write_text(json.dumps(small()))
    assert syllabary.load(tmp_path).encode("abc") == [4 + 257]
    tok = syllabary.train(["low lower lowest"] * 3, vocab_size=262)
    tok.save(tmp_path / "tokenizer.json")
    assert syllabary.load(tmp_path).spec.tokens == tok.spec.tokens
