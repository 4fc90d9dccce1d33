"""Published encodings: the data files are true, and their rank files are found, checked, and read."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path

import pytest
import tiktoken_ext.openai_public
from tiktoken.load import load_tiktoken_bpe

import syllabary
from syllabary import formats, splits
from syllabary.encodings import cache_folders, cache_name, find_by_sha256, get, locate, name_for_model, names
from syllabary.errors import FormatError, UnknownEncodingError
from syllabary.reference.tokenizer import ReferenceTokenizer

WITH_RANKS = [name for name in names() if not name.startswith("p50k")]  # p50k's are made of r50k's


@pytest.fixture
def cache(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder in tiktoken's layout with the rank files that `shared` has, and no other."""
    for name in WITH_RANKS:
        file = shared / "vocabs" / f"{get(name).base or name}.tiktoken"
        shutil.copyfile(file, tmp_path / cache_name(get(name).url))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    monkeypatch.setenv("SYLLABARY_CACHE_DIR", "")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    return tmp_path


@pytest.mark.parametrize("name", names())
def test_data_is_what_tiktoken_has(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def no_load(url: str, expected_hash: str) -> dict[bytes, int]:
        asked.append((url, expected_hash))
        return {}

    monkeypatch.setattr(tiktoken_ext.openai_public, "load_tiktoken_bpe", no_load)
    monkeypatch.setattr(tiktoken_ext.openai_public, "data_gym_to_mergeable_bpe_ranks", lambda **files: files)
    theirs = tiktoken_ext.openai_public.ENCODING_CONSTRUCTORS[name]()
    ours = get(name)
    assert {**ours.special_tokens, **ours.special_aliases} == theirs["special_tokens"]
    assert len(set(ours.special_tokens.values())) == len(ours.special_tokens)
    assert splits.get(ours.split).pattern == theirs["pat_str"]
    assert ours.n_vocab == theirs.get("explicit_n_vocab", max(theirs["special_tokens"].values()) + 1)
    if name == "gpt2":
        files = theirs["mergeable_ranks"]
        kinds = ("vocab_bpe", "encoder_json")
        assert ours.pair == tuple((files[f"{kind}_file"], files[f"{kind}_hash"]) for kind in kinds)
    else:
        assert asked == [(ours.url, ours.sha256)]


@pytest.mark.parametrize("name", names())
def test_examples(cache: Path, name: str) -> None:
    spec = formats.read_encoding(name)
    encoding = get(name)
    assert max([*spec.tokens, *spec.special_tokens.values()]) + 1 == encoding.n_vocab
    assert len(encoding.examples) >= 8
    tokenizer = ReferenceTokenizer(spec)
    for text, ids in encoding.examples.items():
        assert tokenizer.encode(text, "text") == list(ids)
        assert tokenizer.decode(ids) == text


def test_ranks_are_tiktokens(cache: Path) -> None:
    encoding = get("r50k_base")
    theirs = load_tiktoken_bpe(encoding.url, encoding.sha256)  # from the cache folder
    assert {token: rank for rank, token in formats.read_encoding("gpt2").tokens.items()} == theirs


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4-0314", "code-davinci-002", "gpt2"])
def test_load_by_the_name_of_a_model(cache: Path, model: str) -> None:
    name = name_for_model(model)
    assert name is not None
    tokenizer = syllabary.load(model)
    assert tokenizer.special_tokens == get(name).special_tokens
    for text, ids in get(name).examples.items():
        assert tokenizer.encode(text, special="text") == list(ids)
    with pytest.raises(FormatError, match="names a published encoding, of the format tiktoken"):
        syllabary.load(model, "huggingface")


def test_a_split_given_with_a_name(cache: Path) -> None:
    tokenizer = syllabary.load("davinci", split="gpt4", special_tokens={"<s>": 60_000})
    assert tokenizer.spec.split == splits.get("gpt4")
    assert tokenizer.special_tokens == {"<s>": 60_000}


def test_a_bare_file_is_known_by_its_hash(shared: Path, tmp_path: Path) -> None:
    for name in ("r50k_base", "cl100k_base", "o200k_base"):
        shutil.copyfile(shared / "vocabs" / f"{name}.tiktoken", tmp_path / "bare")
        spec = formats.read(tmp_path / "bare")
        assert spec.special_tokens == get(name).special_tokens
        assert spec.split == splits.get(get(name).split)
    with (tmp_path / "bare").open("ab") as file:
        file.write(b"enp6eno= 300000\n")
    with pytest.raises(FormatError, match="no published encoding's; give split="):
        formats.read(tmp_path / "bare")
    changed = formats.read(tmp_path / "bare", split="gpt4")
    assert (changed.split, changed.special_tokens) == (splits.get("gpt4"), {})


def test_hashes_name_the_encoding_that_has_the_file() -> None:
    found = {name: find_by_sha256(get(name).sha256) for name in names()}
    assert {name: encoding.name for name, encoding in found.items() if encoding} == {
        "cl100k_base": "cl100k_base",
        "gpt2": "r50k_base",
        "o200k_base": "o200k_base",
        "o200k_harmony": "o200k_base",
        "p50k_base": "p50k_base",
        "p50k_edit": "p50k_base",
        "r50k_base": "r50k_base",
    }
    assert find_by_sha256("0" * 64) is None


def test_an_absent_file_says_where_to_put_it(cache: Path) -> None:
    with pytest.raises(UnknownEncodingError) as caught:
        locate("p50k_base")
    message = str(caught.value)
    assert get("p50k_base").url in message
    assert str(cache / cache_name(get("p50k_base").url)) in message
    with pytest.raises(UnknownEncodingError, match="known are cl100k_base, gpt2"):
        locate("cl100k")


def test_a_damaged_file_is_not_used(cache: Path) -> None:
    path = cache / cache_name(get("r50k_base").url)
    path.write_bytes(b"IQ== 0\n")
    with pytest.raises(UnknownEncodingError, match="is not that file") as caught:
        locate("r50k_base")
    assert "the file of 'r50k_base' is another one on this machine: put https" in str(caught.value)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert f"{path} is not that file (its SHA-256 is {digest}, not" in str(caught.value)


def test_the_order_of_cache_folders(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = cache / "other"
    other.mkdir()
    name = cache_name(get("r50k_base").url)
    assert locate("r50k_base") == cache / name
    (cache / name).rename(other / name)
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(other))
    assert locate("r50k_base") == other / name
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    assert cache_folders() == [other, cache / "nowhere" / "data-gym-cache"]
    (cache / "nowhere" / "data-gym-cache").mkdir(parents=True)
    (other / name).rename(cache / "nowhere" / "data-gym-cache" / name)
    assert hashlib.sha256(locate("r50k_base").read_bytes()).hexdigest() == get("r50k_base").sha256
