"""Rank files read by the engine: the same tokens as line by line, or `None`, and then line by line decides.

Leaves out: what is wrong with a file (`test_formats_bad_input`), published ones (`test_published`).
"""

from __future__ import annotations

import base64
import copy
import dataclasses
import pickle
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import syllabary
from syllabary.errors import FormatError
from syllabary.formats import recover_merges, tiktoken
from syllabary.reference import rank_merges
from syllabary.reference.tokens import ReadTokens

SINGLES = {value: bytes([value]) for value in range(256)}
MORE = {256: b"ab", 257: b"abc", 300: b"\xff\x00" * 40, 1000: b" the", 5000: b"x" * 70_000}
GOOD = {**SINGLES, **{rank: token for rank, token in MORE.items() if len(token) < 1000}}


def lines(tokens: Mapping[int, bytes]) -> list[bytes]:
    return [base64.b64encode(token) + b" %d" % rank for rank, token in tokens.items()]


def file_of(tokens: Mapping[int, bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines(tokens))


def line_by_line(data: bytes) -> dict[int, bytes] | None:
    try:
        return tiktoken._read_ranks(data, Path("f.tiktoken"))
    except FormatError:
        return None


def same(data: bytes) -> bool:
    """Whether the engine read the file; what it reads is what line by line reads."""
    ranks = tiktoken.Ranks.read(data)
    if ranks is None:
        return False
    tokens = line_by_line(data)
    assert tokens is not None
    assert list(ranks.to_dict().items()) == list(tokens.items())
    assert len(ranks) == len(tokens)
    assert all(ranks.get(rank) == token and ranks.rank(token) == rank for rank, token in tokens.items())
    return True


def test_files_as_they_ought_to_be_are_read_by_the_engine() -> None:
    whole = file_of(GOOD)
    for data in (whole, whole[:-1], b"\n\n" + whole + b"\n", whole.replace(b" 9\n", b" 0009\n")):
        assert same(data)
    shifted = file_of({rank + 7: token for rank, token in GOOD.items()})
    assert same(shifted)


ODD = [
    b"YQ== 97", b"YQ==  5000", b"YQ==5000", b"= 5000", b" 5000", b"YWJj", b"YWJk 5000 ", b"YWJk 5000\r",
    b"YWJk -1",
    b"YWJk 12345678901", b"YWJk 4294967295", b"YWJk 4294967294", b"YWJk 99999999", b"YWJ 5000", b"YWJ= 5000",
    b"YWK= 5000", b"YR== 5000", b"Y=== 5000", b"YW-_ 5000", b"YWJk\t5000", b"YWJk 5000\x0b", b"YWJj 5000",
    b"YWJk 257", b"YWJk 3", b"YWJk \xd9\xa1", b"YQ==YQ== 5000", base64.b64encode(MORE[5000]) + b" 5000",
]  # fmt: skip


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("at", [0, 100, len(GOOD)])
def test_an_odd_line_is_left_to_the_definition(odd: bytes, at: int, tmp_path: Path) -> None:
    all_lines = lines(GOOD)
    data = b"\n".join([*all_lines[:at], odd, *all_lines[at:]])
    assert not same(data)
    (tmp_path / "f.tiktoken").write_bytes(data)
    tokens = line_by_line(data)
    try:
        read = syllabary.load(tmp_path / "f.tiktoken", split="gpt2").spec.tokens
    except FormatError as error:
        assert tokens is None or "too far above" in str(error)  # noqa: PT017 (either outcome)
    else:
        assert read == tokens


@pytest.mark.parametrize("gone", [0, 97, 255])
def test_a_single_byte_that_is_missing(gone: int) -> None:
    assert tiktoken.Ranks.read(file_of({rank: token for rank, token in GOOD.items() if rank != gone})) is None


@given(st.data())
def test_damaged_files_are_never_read_otherwise(data: st.DataObject) -> None:
    whole = bytearray(file_of(GOOD))
    for _change in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.sampled_from([b"", b"A", b"=", b" ", b"\n", b"7"])
        )
    same(bytes(whole))


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[syllabary.Tokenizer, syllabary.Tokenizer]:
    """The tokenizer of a file read by the engine, and of the same file read line by line."""
    path = tmp_path / "f.tiktoken"
    path.write_bytes(file_of(GOOD))
    quick = syllabary.load(path, split="gpt2", special_tokens={"<s>": 2000})
    with monkeypatch.context() as patch:
        patch.setattr(tiktoken, "Ranks", type("Ranks", (), {"read": staticmethod(lambda _data: None)}))
        slow = syllabary.load(path, split="gpt2", special_tokens={"<s>": 2000})
    assert isinstance(quick.spec.tokens, ReadTokens)
    assert isinstance(slow.spec.tokens, dict)
    return quick, slow


def test_the_tokenizer_is_the_same(
    both: tuple[syllabary.Tokenizer, syllabary.Tokenizer], tmp_path: Path
) -> None:
    quick, slow = both
    text = "abc the abab \xff"
    assert quick.encode(text) == slow.encode(text)
    assert quick.tokens(text) == slow.tokens(text)
    assert (quick.spec, quick.vocab, quick.merges) == (slow.spec, slow.vocab, slow.merges)
    assert slow.spec == quick.spec
    assert repr(quick) == repr(slow)
    quick.save(tmp_path / "again.tiktoken")
    assert (tmp_path / "again.tiktoken").read_bytes() == file_of(GOOD)
    for made in (pickle.loads(pickle.dumps(quick)), syllabary.Tokenizer(copy.deepcopy(quick.spec))):
        assert type(made.spec.tokens) is dict
        assert made.spec == quick.spec
        assert made.encode(text) == quick.encode(text)
    changed = dataclasses.replace(quick.spec, special_tokens={"<t>": 3000})
    assert syllabary.Tokenizer(changed).encode("<t>ab", special="allow") == [3000, 256]


def test_tokens_that_were_read_are_a_dict_in_all_but_type() -> None:
    ranks = tiktoken.Ranks.read(file_of(GOOD))
    assert ranks is not None
    for touched in (False, True):
        tokens = ReadTokens(ranks)
        assert not touched or list(tokens) == list(GOOD)
        assert (tokens[97], tokens.get(5000), tokens.get(-1), tokens.get(2**40)) == (b"a", None, None, None)
        assert 97 in tokens
        assert True in tokens  # type: ignore[comparison-overlap]  # as in a dict
        assert "a" not in tokens  # type: ignore[comparison-overlap]
        for wrong in (258, -1, 2**32, 2**70):
            with pytest.raises(KeyError):
                tokens[wrong]
        assert len(tokens) == len(GOOD)
        assert tokens == GOOD
        assert GOOD.__eq__(tokens) is NotImplemented
        assert tokens == ReadTokens(ranks)
        assert tokens != {**GOOD, 97: b"b"}
        assert tokens != 3
        assert (
            {**tokens}
            == dict(tokens.items())
            == dict(zip(tokens.keys(), tokens.values(), strict=True))
            == GOOD
        )
        assert repr(tokens) == repr(GOOD)
        with pytest.raises(TypeError):
            hash(tokens)
        for made in (copy.copy(tokens), copy.deepcopy(tokens), pickle.loads(pickle.dumps(tokens))):
            assert type(made) is dict
            assert made == GOOD


@given(st.lists(st.binary(max_size=6).map(lambda data: bytes(byte % 3 + 97 for byte in data)), unique=True))
def test_merges_of_ranks_are_those_of_the_reference(tokens: list[bytes]) -> None:
    """Of any tokens, in any order, with gaps among the ids; empty ones and those of unknown bytes too."""
    by_id = {3 * place: token for place, token in enumerate(tokens)}
    assert recover_merges(by_id) == rank_merges.recover_merges(by_id)


def test_merges_of_a_long_token() -> None:
    tokens = {0: b"a", 1: b"b", **{at: b"a" * 2 ** (at - 1) for at in range(2, 16)}, 16: b"ab" * 5000}
    assert recover_merges(tokens) == rank_merges.recover_merges(tokens)
    assert len(recover_merges(tokens)) == 14


@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])
def test_merges_of_published_ranks(shared: Path, name: str, prove: bool) -> None:
    tokens = syllabary.load(shared / "vocabs" / f"{name}.tiktoken").spec.tokens
    assert len(recover_merges(tokens)) >= len(tokens) - 300
    few = tokens if prove else {token_id: tokens[token_id] for token_id in sorted(tokens)[:20_000]}
    assert recover_merges(few) == rank_merges.recover_merges(few)
