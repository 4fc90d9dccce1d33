"""`syllabary.compat.tiktoken` beside tiktoken itself: the same ids, bytes, offsets and errors."""

from __future__ import annotations

import copy
import importlib
import inspect
import lzma
import pickle
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken as peer
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import byte_strings, repetitive_texts, texts
from tiktoken_cache import fill

import syllabary.compat.tiktoken as ours
from syllabary.compat.tiktoken import registry

NAMES = ["r50k_base", "cl100k_base", "o200k_base"]
SPECIAL = ["<|endoftext|>", "<|fim_prefix|>", "<|endofprompt|>", "<|fim", "fim_suffix|>", "<|"]

Pair = tuple[Any, Any]


@pytest.fixture(scope="module", autouse=True)
def cache(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache folder for both."""
    with pytest.MonkeyPatch.context() as patch:
        folder = fill(shared, tmp_path_factory.mktemp("cache"))
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        yield folder


def pair(name: str) -> Pair:
    return peer.get_encoding(name), ours.get_encoding(name)


def outcome(run: Callable[..., Any], *given_to: Any, **named: Any) -> Any:
    """What a call gives: its value, or its exception's built-in type and arguments."""
    try:
        return run(*given_to, **named)
    except (ValueError, KeyError, TypeError, OverflowError, AssertionError, LookupError) as error:
        kinds = (UnicodeError, ValueError, KeyError, TypeError, OverflowError, AssertionError, LookupError)
        return next(kind for kind in kinds if isinstance(error, kind)), error.args


def special_texts() -> st.SearchStrategy[str]:
    """Text with special tokens in it, whole and in parts."""
    return st.lists(st.one_of(texts(4), st.sampled_from(SPECIAL)), max_size=8).map("".join)


def with_surrogates() -> st.SearchStrategy[str]:
    parts = st.one_of(special_texts(), st.characters(categories=["Cs"]), st.just("\ud83d\ude00"))
    return st.lists(parts, max_size=6).map("".join)


def policies() -> st.SearchStrategy[dict[str, Any]]:
    # tiktoken tries them in no order, so none is the beginning of another.
    names = st.sets(st.sampled_from([*SPECIAL, "a"])).filter(
        lambda drawn: not any(one != other and one.startswith(other) for one in drawn for other in drawn)
    )
    allowed = st.one_of(st.just("all"), names, names.map(frozenset))
    disallowed = st.one_of(st.just("all"), st.just(()), names, names.map(sorted))
    both = {"allowed_special": allowed, "disallowed_special": disallowed}
    return st.fixed_dictionaries({}, optional=both)


def test_the_same_encodings_by_name_and_model() -> None:
    assert ours.list_encoding_names() == peer.list_encoding_names()
    assert ours.__version__ == peer.__version__
    for name in ours.list_encoding_names():
        theirs, mine = pair(name)
        assert mine._mergeable_ranks == theirs._mergeable_ranks
        assert mine._special_tokens == theirs._special_tokens
        for attribute in (
            "name",
            "_pat_str",
            "n_vocab",
            "max_token_value",
            "eot_token",
            "special_tokens_set",
        ):
            assert getattr(mine, attribute) == getattr(theirs, attribute)
        assert repr(mine) == repr(theirs)
        assert mine.encode("hello world  \n x") == theirs.encode("hello world  \n x")


def test_the_same_interface() -> None:
    for name, theirs in vars(peer.Encoding).items():
        mine = getattr(ours.Encoding, name)
        if callable(theirs) and not name.startswith("__"):
            expected, found = (inspect.signature(method).parameters.values() for method in (theirs, mine))
            assert [(one.name, one.kind) for one in found] == [(one.name, one.kind) for one in expected]
    for module in ("core", "load", "model", "registry", "_educational"):
        theirs = importlib.import_module(f"tiktoken.{module}")
        mine = importlib.import_module(f"syllabary.compat.tiktoken.{module}")
        for name, value in vars(theirs).items():
            if getattr(value, "__module__", None) == theirs.__name__:
                assert hasattr(mine, name), f"{module}.{name}"


@pytest.mark.parametrize(
    "name", ["gpt-4o", "gpt-4-0314", "gpt2", "ft:gpt-4o:me", "gpt-oss-20b", "nothing", ""]
)
def test_models(name: str) -> None:
    assert outcome(ours.encoding_name_for_model, name) == outcome(peer.encoding_name_for_model, name)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_table_of_tokens(name: str) -> None:
    theirs, mine = pair(name)
    assert mine.token_byte_values() == theirs.token_byte_values()
    for token in [*range(0, mine.n_vocab, 97), *range(mine.n_vocab - 80, mine.n_vocab + 2), -1, 2**32]:
        assert outcome(mine.decode_single_token_bytes, token) == outcome(
            theirs.decode_single_token_bytes, token
        )
        assert mine.is_special_token(token) == theirs.is_special_token(token)


@given(special_texts(), policies(), st.sampled_from(NAMES))
def test_text_special_tokens_and_policies(text: str, policy: dict[str, Any], name: str) -> None:
    theirs, mine = pair(name)
    expected = outcome(theirs.encode, text, **policy)
    assert outcome(mine.encode, text, **policy) == expected
    batch = outcome(mine.encode_batch, [text, "a"], num_threads=2, **policy)
    assert batch == outcome(theirs.encode_batch, [text, "a"], num_threads=2, **policy)
    array = outcome(mine.encode_to_numpy, text, **policy)
    assert (array.tolist() if isinstance(array, np.ndarray) else array) == expected
    assert mine.encode_ordinary(text) == theirs.encode_ordinary(text)


@given(with_surrogates(), st.sampled_from([{}, {"allowed_special": "all"}, {"disallowed_special": ()}]))
def test_surrogates(text: str, policy: dict[str, Any]) -> None:
    theirs, mine = pair("cl100k_base")
    assert outcome(mine.encode, text, **policy) == outcome(theirs.encode, text, **policy)
    assert mine.encode_ordinary(text) == theirs.encode_ordinary(text)
    assert mine.encode_ordinary_batch(["a", text]) == theirs.encode_ordinary_batch(["a", text])
    batch = outcome(mine.encode_batch, [text, text], **policy)
    assert batch == outcome(theirs.encode_batch, [text, text], **policy)


@given(texts(8), st.integers(0, 8), st.sampled_from(NAMES), st.sampled_from([{}, {"disallowed_special": ()}]))
@settings(max_examples=30)
def test_unstable_tokens(text: str, keep: int, name: str, policy: dict[str, Any]) -> None:
    theirs, mine = pair(name)
    prefix = text[: len(text) - keep] if keep < len(text) else text
    expected = outcome(theirs.encode_with_unstable, prefix, **policy)
    found = outcome(mine.encode_with_unstable, prefix, **policy)
    if isinstance(found[0], list):
        assert (found[0], found[1]) == (expected[0], sorted(map(list, expected[1])))
    else:
        assert found == expected


@pytest.mark.parametrize(
    "text",
    ["hello fanta", "\n\n", " \n ", "  !", "a\u2003", "", "<|endoftext|>", "नम\u0947", "x<|endoftext|> "],
)
@pytest.mark.parametrize("name", NAMES)
def test_unstable_tokens_of_known_cases(text: str, name: str) -> None:
    theirs, mine = pair(name)
    stable, sequences = theirs.encode_with_unstable(text, allowed_special="all")
    assert mine.encode_with_unstable(text, allowed_special="all") == (stable, sorted(map(list, sequences)))


@given(byte_strings(), st.sampled_from(NAMES))
def test_bytes(data: bytes, name: str) -> None:
    theirs, mine = pair(name)
    assert mine._encode_bytes(data) == theirs._encode_bytes(data)
    if data:
        assert mine._encode_single_piece(data) == theirs._encode_single_piece(data)
    assert outcome(mine.encode_single_token, data) == outcome(theirs.encode_single_token, data)


@given(repetitive_texts("ab \n", 200), st.sampled_from(NAMES))
def test_pieces(text: str, name: str) -> None:
    theirs, mine = pair(name)
    if text:
        assert mine._encode_single_piece(text) == theirs._encode_single_piece(text)
    assert mine._encode_only_native_bpe(text) == theirs._encode_only_native_bpe(text)


@given(st.lists(st.integers(0, 100_300), max_size=12))
def test_decoding(tokens: list[int]) -> None:
    theirs, mine = pair("cl100k_base")
    for run in ("decode", "decode_bytes", "decode_tokens_bytes", "decode_with_offsets"):
        assert outcome(getattr(mine, run), tokens) == outcome(getattr(theirs, run), tokens)
    batch = [tokens, [1], []]
    assert outcome(mine.decode_batch, batch) == outcome(theirs.decode_batch, batch)
    assert outcome(mine.decode_bytes_batch, batch) == outcome(theirs.decode_bytes_batch, batch)


@given(special_texts())
def test_offsets(text: str) -> None:
    theirs, mine = pair("o200k_base")
    tokens = theirs.encode(text, allowed_special="all")
    assert mine.decode_with_offsets(tokens) == theirs.decode_with_offsets(tokens)


@pytest.mark.parametrize(
    "run",
    [
        lambda e: e.decode([-1]),
        lambda e: e.decode([2**32]),
        lambda e: e.decode([99999]),
        lambda e: e.decode([True]),
        lambda e: e.decode((1, 2)),
        lambda e: e.decode(np.array([1, 2])),
        lambda e: e.decode([255], errors="strict"),
        lambda e: e.decode([128], errors="nonsense"),
        lambda e: e.decode_with_offsets([]),
        lambda e: e.decode_single_token_bytes(77777),
        lambda e: e.encode_single_token("zzzzq"),
        lambda e: e.encode_single_token("<|endoftext|>"),
        lambda e: e.encode_single_token(""),
        lambda e: e.encode_single_token("\ud800"),
        lambda e: e.encode("abc", disallowed_special="b"),
        lambda e: e.encode("a", allowed_special={"x"}, disallowed_special=["a"]),
        lambda e: e.encode("", allowed_special={"\ud800"}, disallowed_special=()),
        lambda e: e.encode("a<|endoftext|>", allowed_special={1}),
        lambda e: e.encode_batch([], allowed_special={1}),
        lambda e: e.encode_batch(["a"], num_threads=0),
        lambda e: e.encode_batch("ab"),
        lambda e: e.encode_batch(("ab", "<|endoftext|>")),
        lambda e: e.encode_to_numpy("a b").flags.writeable,
        lambda e: e.encode_to_numpy("").dtype,
        lambda e: e.encode("a<|endoftext|>", disallowed_special=None),
        lambda e: e.encode_with_unstable("a<|endoftext|>", disallowed_special=None)[0],
        lambda e: e.encode_batch(["a", "b"], num_threads=None),
        lambda e: e.decode_batch([[1], [2]], num_threads=None),
    ],
)
def test_the_same_answers_and_errors(run: Callable[[Any], Any]) -> None:
    theirs, mine = pair("r50k_base")
    assert outcome(run, mine) == outcome(run, theirs)


@pytest.mark.parametrize(
    "run",
    [
        lambda e: e.decode("abc"),
        lambda e: e.decode(5),
        lambda e: e.decode({1}),
        lambda e: e.decode([1.5]),
        lambda e: e.decode([1.0]),
        lambda e: e.decode_tokens_bytes([1.0]),
        lambda e: e.decode_with_offsets(np.array([1.0])),
        lambda e: e.decode_single_token_bytes(1.0),
        lambda e: e.decode_single_token_bytes("a"),
        lambda e: e.encode_single_token(5),
        lambda e: e.encode(5),
        lambda e: e.encode(b"a"),
        lambda e: e.encode_ordinary(b"a"),
        lambda e: e.encode_ordinary_batch([5]),
        lambda e: e.encode("a", allowed_special=["<|endoftext|>"]),
        lambda e: e.encode("a", allowed_special=["<|endoftext|>"], disallowed_special=()),
        lambda e: e.encode("a", allowed_special="some", disallowed_special=()),
        lambda e: e.encode("a", allowed_special={1}),
        lambda e: e.encode("a", allowed_special={}),
        lambda e: e.encode_to_numpy("a", allowed_special={}, disallowed_special=()),
        lambda e: e.encode_batch(["a"], allowed_special={}.keys()),
        lambda e: e.encode_with_unstable("a", allowed_special={"<|endoftext|>": 1}.keys()),
        lambda e: e.encode("a", special=3),
        lambda e: e._encode_bytes("a"),
    ],
)
def test_wrong_types_are_type_errors_in_both(run: Callable[[Any], Any]) -> None:
    for encoding in pair("r50k_base"):
        with pytest.raises(TypeError):
            run(encoding)


def test_real_text(shared: Path, prove: bool) -> None:
    for path in sorted((shared / "corpora").glob("*.txt.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            text = file.read(2_000_000 if prove else 50_000)
        for name in ours.list_encoding_names():
            theirs, mine = pair(name)
            ids = theirs.encode_ordinary(text)
            assert mine.encode(text, disallowed_special=()) == ids
            assert mine.decode(ids) == text


def test_harmony_has_two_texts_of_one_id() -> None:
    theirs, mine = pair("o200k_harmony")
    text = "<|endofprompt|>x<|reserved_200018|><|start|>"
    assert mine.encode(text, allowed_special="all") == theirs.encode(text, allowed_special="all")
    for policy in ({}, {"allowed_special": {"<|start|>"}}, {"allowed_special": {"<|reserved_200018|>"}}):
        expected = outcome(theirs.encode, "<|reserved_200018|>", **policy)
        assert (expected[0] is ValueError) == ("<|reserved_200018|>" not in policy.get("allowed_special", ()))
        assert outcome(mine.encode, "<|reserved_200018|>", **policy) == expected
    assert mine.decode(range(200_000, 201_088)[:10]) == theirs.decode(range(200_000, 200_010))


RANKS = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"abab": 257, b"": 258}


def both(**parts: Any) -> Pair:
    """An encoding of either library, of the same parts."""
    given_parts = {"pat_str": r"\w+", "mergeable_ranks": RANKS, "special_tokens": {}, **parts}
    return peer.Encoding("own", **given_parts), ours.Encoding("own", **given_parts)


def test_encodings_of_ones_own() -> None:
    theirs, mine = both(special_tokens={"<s>": 300, "</s>": 301, "é": 7})
    for text in ["abab, ababab! ab", "<s>ab</s>éa", "", "é<s"]:
        assert mine.encode(text, disallowed_special=()) == theirs.encode(text, disallowed_special=())
        assert mine.encode(text, allowed_special="all") == theirs.encode(text, allowed_special="all")
        assert mine.encode(text, allowed_special={"é"}, disallowed_special=()) == theirs.encode(
            text, allowed_special={"é"}, disallowed_special=()
        )
    assert mine.decode([7, 300, 258, 256]) == theirs.decode([7, 300, 258, 256]) == "\x07<s>ab"
    assert mine.n_vocab == theirs.n_vocab == 302


def test_ranks_without_all_bytes() -> None:
    theirs, mine = both(pat_str="....|..|.", mergeable_ranks={b"ab": 0, b"c": 5})
    for text in ["abab", "ab", "c", "abc"]:
        assert mine.encode(text) == theirs.encode(text)
    with pytest.raises(ValueError, match="0x61 is no token"):
        mine.encode("a")


@pytest.mark.parametrize(
    "parts",
    [
        {"mergeable_ranks": {}},
        {"mergeable_ranks": {b"a": -1}},
        {"mergeable_ranks": {b"a": 2**32}},
        {"explicit_n_vocab": 5},
        {"special_tokens": {"x": 400}, "explicit_n_vocab": 260},
        {"pat_str": "("},
        {"pat_str": None},
        {"mergeable_ranks": {"a": 1}},
        {"special_tokens": {b"a": 1}},
    ],
)
def test_parts_that_no_encoding_has(parts: dict[str, Any]) -> None:
    kinds = []
    for library in (peer, ours):
        with pytest.raises((ValueError, TypeError, OverflowError, AssertionError)) as caught:
            library.Encoding(
                "own", **{"pat_str": ".", "mergeable_ranks": RANKS, "special_tokens": {}, **parts}
            )
        kinds.append(outcome(lambda error=caught.value: (_ for _ in ()).throw(error).__next__())[0])
    assert kinds[0] == kinds[1]


def test_pickles_and_copies() -> None:
    mine = ours.get_encoding("r50k_base")
    assert len(pickle.dumps(mine)) < 200  # by its name
    own = both(special_tokens={"<s>": 300})[1]
    for encoding, text in product((mine, own), ("hello world",)):
        for again in (pickle.loads(pickle.dumps(encoding)), copy.copy(encoding), copy.deepcopy(encoding)):
            assert again.encode(text) == encoding.encode(text)
            assert again.name == encoding.name


def test_unknown_names() -> None:
    assert outcome(ours.get_encoding, "none") == outcome(peer.get_encoding, "none")
    assert outcome(ours.get_encoding, 5) == outcome(peer.get_encoding, 5)  # type: ignore[arg-type]


def test_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tiktoken_ext"
    folder.mkdir()
    (folder / "of_ours.py").write_text(
        "def made():\n"
        "    ranks = {bytes([i]): i for i in range(256)}\n"
        "    return {'name': 'made', 'pat_str': '.', 'mergeable_ranks': ranks, 'special_tokens': {}}\n"
        "ENCODING_CONSTRUCTORS = {'made': made}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "ENCODING_CONSTRUCTORS", None)
    monkeypatch.setattr(registry, "ENCODINGS", {})
    registry._available_plugin_modules.cache_clear()
    assert ours.list_encoding_names()[-1] == "made"
    assert ours.get_encoding("made").encode("ab") == [97, 98]
    (folder / "of_ours.py").rename(folder / "bad.py")
    (folder / "bad.py").write_text("")
    monkeypatch.setattr(registry, "ENCODING_CONSTRUCTORS", None)
    registry._available_plugin_modules.cache_clear()
    for _ in range(2):
        with pytest.raises(ValueError, match=r"tiktoken plugin tiktoken_ext\.bad does not define"):
            ours.list_encoding_names()
    registry._available_plugin_modules.cache_clear()
