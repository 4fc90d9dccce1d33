"""Where `syllabary.compat.tiktoken` differs from tiktoken 0.14 on purpose, and its modules besides `core`.

docs/compatibility.md lists the differences; each has its test here. What tiktoken does is run where it comes
back: a panic of its Rust code is an exception that `except Exception` does not catch.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import regex
import tiktoken as peer
import tiktoken._educational
import tiktoken.load
from hypothesis import given
from hypothesis import strategies as st
from strategies import repetitive_texts, texts
from tiktoken_cache import fill

import syllabary
import syllabary.compat.tiktoken as ours
from syllabary.compat.tiktoken import _educational, load, model, registry
from syllabary.encodings import cache_name, get
from syllabary.errors import SyllabaryError

BYTES = {bytes([byte]): byte for byte in range(256)}
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


@pytest.fixture(scope="module", autouse=True)
def cache(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache folder for both."""
    with pytest.MonkeyPatch.context() as patch:
        folder = fill(shared, tmp_path_factory.mktemp("cache"))
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        yield folder


def made(**parts: Any) -> ours.Encoding:
    given_parts = {"pat_str": ".", "mergeable_ranks": BYTES, "special_tokens": {}, **parts}
    return ours.Encoding("own", **given_parts)


# ---- where tiktoken panics, hangs or depends on chance ----


def test_duplicate_ranks_are_a_value_error() -> None:
    parts: dict[str, Any] = {"pat_str": ".", "mergeable_ranks": {b"a": 0, b"b": 0}, "special_tokens": {}}
    with pytest.raises(BaseException, match="duplicate token indices") as panic:
        peer.Encoding("own", **parts)
    assert not isinstance(panic.value, Exception)
    with pytest.raises(ValueError, match="duplicate token indices") as caught:
        ours.Encoding("own", **parts)
    assert isinstance(caught.value, SyllabaryError)


def test_a_missing_byte_is_a_value_error() -> None:
    encoding = made(mergeable_ranks={b"a": 0, b"b": 1, b"ab": 2})
    assert encoding.encode("aba", disallowed_special=()) == [0, 1, 0]
    for run in (encoding.encode, encoding.encode_ordinary, encoding._encode_single_piece):
        with pytest.raises(ValueError, match="0x7A is no token of this encoding"):
            run("z")
    with pytest.raises(ValueError, match="0x7A is no token"):
        encoding.encode_batch(["a", "z"])


def test_a_pattern_that_matches_nothing_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="empty string"):
        made(pat_str="b*")
    assert made()._encode_single_piece("") == []
    assert made().encode("") == []


def test_an_empty_special_token_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="a special token is empty"):
        made(special_tokens={"": 300})


def test_long_white_space_by_gpt2s_first_pattern() -> None:
    encoding = made(pat_str=GPT2, mergeable_ranks={**BYTES, b" " * 16: 256})
    text = " " * 1_000_000 + "x"
    assert encoding.decode(encoding.encode_ordinary(text)) == text
    assert encoding.encode_with_unstable("x  ")[0] == [120]


def test_a_pattern_that_gives_up_is_a_value_error_everywhere() -> None:
    encoding = made(pat_str=r"(\s)\1*(?!\S)|ab")
    for run in (encoding.encode, encoding.encode_ordinary, encoding.encode_with_unstable):
        with pytest.raises(ValueError, match=r"stack|backtrack"):
            run(" " * 3_000_000 + "x")


@pytest.mark.parametrize("texts_of_tokens", [["<|a", "<|a|>"], ["<|a|>", "<|a"]])
def test_of_overlapping_special_tokens_the_longest_matches(texts_of_tokens: list[str]) -> None:
    encoding = made(special_tokens={text: 300 + len(text) for text in texts_of_tokens})
    assert encoding.encode("<|a|><|a", allowed_special="all") == [305, 303]
    assert encoding.encode("<|a|>", allowed_special={"<|a"}, disallowed_special=()) == [303, 124, 62]
    with pytest.raises(ValueError, match=r"disallowed special token '<\|a\|>'"):
        encoding.encode("<|a|>")


def test_a_special_token_that_begins_beyond_ascii_may_be_plain_text() -> None:
    encoding = made(special_tokens={"é": 300, "x": 301})
    assert encoding.encode("éx", allowed_special={"x"}, disallowed_special=()) == [0xC3, 0xA9, 301]


def test_surrogates_are_repaired_everywhere() -> None:
    encoding, theirs = ours.get_encoding("cl100k_base"), peer.get_encoding("cl100k_base")
    text = "a\ud83d\udc4d\ud800"
    ids = theirs.encode(text)
    with pytest.raises(UnicodeEncodeError):
        theirs.encode_to_numpy(text)
    assert encoding.encode_to_numpy(text).tolist() == ids
    stable, sequences = encoding.encode_with_unstable(text)
    assert all(encoding.decode(stable + one).startswith("a👍\ufffd") for one in sequences)


def test_a_special_id_far_above_the_others() -> None:
    encoding = made(special_tokens={"<s>": 2**32 - 1})
    assert encoding.encode("a<s>", allowed_special="all") == [97, 2**32 - 1]
    assert encoding.decode([97, 2**32 - 1]) == "a<s>"
    with pytest.raises(ValueError, match="too far above"):
        made(mergeable_ranks={**BYTES, b"ab": 2**31})


def test_a_file_that_cannot_be_had_is_an_os_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ENCODINGS", {})
    for variable in ("TIKTOKEN_CACHE_DIR", "SYLLABARY_CACHE_DIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    with pytest.raises(
        OSError, match=r"SYLLABARY_OFFLINE=1 forbids fetching it: put https://.*r50k_base\.tiktoken"
    ):
        ours.encoding_for_model("davinci")


# ---- load ----


def test_rank_files_are_written_and_read(
    tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("r50k_base", "cl100k_base", "o200k_base", "llama3"):
        path = shared / "vocabs" / f"{name}.tiktoken"
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
        ranks = load.load_tiktoken_bpe(str(path))
        assert ranks == tiktoken.load.load_tiktoken_bpe(str(path))
        load.dump_tiktoken_bpe(ranks, str(tmp_path / name))
        assert (tmp_path / name).read_bytes() == path.read_bytes()


def test_what_a_pattern_leaves_of_a_text_is_dropped_here_and_kept_by_load(tmp_path: Path) -> None:
    """As a rank file does not say that text goes; see docs/compatibility.md."""
    path, pattern, text = tmp_path / "own.tiktoken", "[a-z]+", "ab, c!"
    load.dump_tiktoken_bpe(BYTES, str(path))
    parts: dict[str, Any] = {"pat_str": pattern, "mergeable_ranks": BYTES, "special_tokens": {}}
    dropped = list(b"abc")
    assert peer.Encoding("own", **parts).encode(text) == ours.Encoding("own", **parts).encode(text) == dropped
    assert syllabary.load(path, split=pattern).encode(text) == list(text.encode())
    pattern += "|[^a-z]+"
    found = peer.Encoding("own", **{**parts, "pat_str": pattern}).encode(text)
    assert syllabary.load(path, split=pattern).encode(text) == found


def test_the_cache_of_files(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "file"
    source.write_bytes(b"IQ== 0\n")
    digest = "9bd9a9a3e1b0ae4f0d2c0a4b0c3c3e9d"
    with pytest.raises(ValueError, match="Hash mismatch for data downloaded from"):
        load.read_file_cached(str(source), digest)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    assert load.read_file_cached(str(source)) == b"IQ== 0\n"
    assert (tmp_path / "cache" / cache_name(str(source))).read_bytes() == b"IQ== 0\n"
    source.unlink()
    assert load.load_tiktoken_bpe(str(source)) == {b"!": 0}
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    with pytest.raises(FileNotFoundError):
        load.read_file_cached(str(source))
    with pytest.raises(ImportError, match="pip install blobfile"):
        load.read_file("az://container/file")
    with pytest.raises(ValueError, match="is not https"):
        load.read_file("http://127.0.0.1/file")


def test_a_wrong_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "ranks").write_bytes(b"IQ== 0\nIg==\n")
    for library in (tiktoken.load, load):
        with pytest.raises(ValueError, match=r"Error parsing line b'Ig==' in"):
            library.load_tiktoken_bpe(str(tmp_path / "ranks"))


def test_gpt2s_files() -> None:
    (merges, merges_hash), (vocab, vocab_hash) = get("gpt2").pair
    ranks = load.data_gym_to_mergeable_bpe_ranks(merges, vocab, merges_hash, vocab_hash)
    assert ranks == ours.get_encoding("gpt2")._mergeable_ranks
    assert ranks == load.data_gym_to_mergeable_bpe_ranks(merges, vocab, clobber_one_byte_tokens=True)
    assert load.check_hash(b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")


def test_the_tables_of_models() -> None:
    assert list(model.MODEL_TO_ENCODING.items()) == list(peer.model.MODEL_TO_ENCODING.items())
    assert list(model.MODEL_PREFIX_TO_ENCODING.items()) == list(peer.model.MODEL_PREFIX_TO_ENCODING.items())


def test_importing_reads_and_asks_nothing() -> None:
    program = (
        "import sys, socket; socket.socket.connect = None\n"
        "import syllabary.compat.tiktoken\n"
        "assert not {'tiktoken', 'tiktoken_ext', 'blobfile', 'requests'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


# ---- the educational encoder ----


@given(st.one_of(texts(30), repetitive_texts()))
def test_the_educational_encoder(text: str) -> None:
    ranks = {**BYTES, b"ab": 256, b"ba": 257, b" a": 258, b"aba": 259}
    theirs = tiktoken._educational.SimpleBytePairEncoding(pat_str=GPT2, mergeable_ranks=ranks)
    mine = _educational.SimpleBytePairEncoding(pat_str=GPT2, mergeable_ranks=ranks)
    ids = mine.encode(text, visualise=None)
    assert ids == theirs.encode(text, visualise=None)
    assert mine.decode(ids) == text
    assert mine.decode_tokens_bytes(ids) == theirs.decode_tokens_bytes(ids)


@given(repetitive_texts("abc ", 80).filter(lambda text: len(set(text)) > 1), st.integers(0, 6))
def test_the_educational_trainer(text: str, merges: int) -> None:
    try:
        expected = tiktoken._educational.bpe_train(text, 256 + merges, r"\w+|\s+", visualise=None)
    except ValueError:  # of max(): no pair is left
        with pytest.raises(ValueError, match="no pair left"):
            _educational.bpe_train(text, 256 + merges, r"\w+|\s+", visualise=None)
        return
    assert _educational.bpe_train(text, 256 + merges, r"\w+|\s+", visualise=None) == expected


@pytest.mark.parametrize("visualise", ["colour", "simple", None])
def test_what_the_educational_trainer_shows(
    visualise: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "aaa abc abc abd abcd é" * 20
    for train in (tiktoken._educational.bpe_train, _educational.bpe_train):
        train(text, 264, GPT2, visualise=visualise)
        shown = capsys.readouterr().out
        if train is tiktoken._educational.bpe_train:
            expected = shown
    assert shown == expected
    assert shown.count("The current most common pair is") == (8 if visualise else 0)


def test_what_the_educational_encoder_shows(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    theirs, mine = tiktoken._educational.SimpleBytePairEncoding, _educational.SimpleBytePairEncoding
    for encoding in (theirs.from_tiktoken(peer.get_encoding("gpt2")), mine.from_tiktoken("gpt2")):
        for how in ("colour", "color", "simple", None):
            encoding.encode("hello wörld", visualise=how)
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert regex.search(r"\[b'h', b'e', b'l', b'l', b'o'\]", shown[1])
    made_here = _educational.SimpleBytePairEncoding.train("ab ab ab", 257, r"\w+|\s+")
    assert made_here.mergeable_ranks[b"ab"] == 256
    assert "\x1b[48;5;" in capsys.readouterr().out
    assert _educational.train_simple_encoding().decode([104, 105]) == "hi"
    assert "in order to encode 'hello world':" in capsys.readouterr().out
    with pytest.raises(ValueError, match="at least 256"):
        _educational.bpe_train("ab", 255, ".")
