"""Decoding by the engine: ids as lists, arrays of every kind and anything iterable, to bytes and text.

Compared with the reference. Leaves out: ids that are wrong (`test_bad_input`), steps (`test_steps_decode`).
"""

from __future__ import annotations

import array
import codecs
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import syllabary
from syllabary.errors import TextError, UnknownTokenError
from syllabary.reference import Decoder
from syllabary.spec import SplitSpec, TokenizerSpec

LONG = {300 + at: b"%d" % (at % 10) * at for at in (14, 15, 16, 17, 30, 253, 254, 255, 256, 3000)}
BYTES = {value: bytes([value]) for value in range(256)}
SPEC = TokenizerSpec(
    "byte",
    SplitSpec(None),
    {**BYTES, 256: "é".encode(), 257: "\u2014".encode(), 258: b"", 259: b"th", **LONG},
    {bytes([value]): value for value in range(256)},
    None,
    {"<far>": 900_000},
)
TOK, REFERENCE = syllabary.Tokenizer(SPEC), Decoder(SPEC)
IDS = st.lists(st.sampled_from([*BYTES, 256, 257, 257, 258, 259, *LONG, 900_000]), max_size=60)
FORMS: list[Callable[[list[int]], Any]] = [
    list, tuple, iter, np.array, lambda ids: np.array(ids, np.uint32), lambda ids: array.array("q", ids),
    lambda ids: [*map(np.int64, ids)], lambda ids: dict.fromkeys(ids) if len({*ids}) == len(ids) else ids,
]  # fmt: skip
INTEGERS = [order + kind + size for order in "<>" for kind in "iu" for size in "1248"]


@given(IDS, st.sampled_from(["replace", "ignore", "backslashreplace", "surrogateescape"]))
def test_every_form_of_ids_decodes_as_in_the_reference(ids: list[int], errors: str) -> None:
    data, text = REFERENCE.decode_bytes(ids), REFERENCE.decode(ids, errors)
    for form in FORMS:
        made = form(ids) if ids or form is not np.array else np.array([], int)
        assert TOK.decode_bytes(made) == data
        made = form(ids) if ids or form is not np.array else np.array([], int)
        assert TOK.decode(made, errors) == text


@given(IDS)
def test_strict_decoding_fails_where_the_reference_does(ids: list[int]) -> None:
    outcomes = []
    for decode in (REFERENCE.decode, TOK.decode):
        try:
            outcomes.append(decode(ids, "strict"))
        except TextError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_arrays_of_every_integer_type_and_byte_order(dtype: str) -> None:
    ids = [97, 98, 0, 127, 99] if dtype[1:] == "i1" else [97, 255, 0, 128]
    wide = ids if dtype.endswith("1") else [*ids, 256, 259, 330]
    values = np.array(wide, dtype)
    apart = np.zeros(3 * len(wide), dtype)
    apart[::3] = values
    unaligned = np.frombuffer(b"x" + values.tobytes(), dtype, offset=1)
    record = np.zeros(len(wide), [("before", "u1"), ("ids", dtype)])
    record["ids"] = values
    wanted = REFERENCE.decode_bytes(wide)
    for form in (values, apart[::3], unaligned, record["ids"], values[::-1][::-1]):
        assert TOK.decode_bytes(form) == wanted
        assert TOK.decode(form) == REFERENCE.decode(wide)
    assert TOK.decode_bytes(values[::-1]) == REFERENCE.decode_bytes(wide[::-1])
    assert TOK.decode_bytes(values[:0]) == b""


@pytest.mark.parametrize("dtype", INTEGERS)
def test_numbers_of_an_array_that_are_no_ids(dtype: str) -> None:
    limits = np.iinfo(dtype)
    wild = {int(limits.min), int(limits.max), -1, 2**32, 2**32 + 97, 900_001, 500}
    for number in sorted(number for number in wild if limits.min <= number <= limits.max):
        if number in REFERENCE.table:
            continue
        for values in (np.array([97, number], dtype), np.array([97, 98, number, 99], dtype)[::2]):
            with pytest.raises(UnknownTokenError, match=f"id {number} at index 1 is no token"):
                TOK.decode_bytes(values)


@pytest.mark.parametrize("number", [258, 500, 2**30 - 1, 2**30, 2**32 - 1, 2**32, 2**63, 2**64, -1, -(2**30)])
def test_numbers_of_a_list_that_are_no_ids(number: int) -> None:
    if number == 258:
        assert TOK.decode_bytes([97, number]) == b"a"
        return
    for ids in ([97, number], (97, number), iter([97, number])):
        with pytest.raises(UnknownTokenError, match=f"id {number} at index 1 is no token"):
            TOK.decode(ids)


def test_what_only_looks_like_an_integer() -> None:
    class Index:
        def __index__(self) -> int:
            return 97

    class Integer(int):
        pass

    assert TOK.decode([97, Index(), Integer(97), np.uint8(97)]) == "aaaa"  # type: ignore[list-item]
    for wrong in (True, False):
        with pytest.raises(TypeError, match="index 2 is a bool"):
            TOK.decode([97, 97, wrong])


def test_a_list_that_changes_while_it_is_read() -> None:
    ids: list[Any] = [97] * 1000

    class Emptier:
        def __index__(self) -> int:
            ids.clear()
            return 98

    ids[500] = Emptier()
    assert TOK.decode(ids) == "a" * 500 + "b"


@pytest.mark.parametrize("errors", [*"replace ignore strict backslashreplace surrogateescape".split(), "own"])
def test_policies_are_pythons(errors: str) -> None:
    def own(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        return f"[{error.object[error.start : error.end].hex()}]", error.end

    codecs.register_error("own", own)
    for data in (b"plain", "é\u2014\U0001f600".encode(), b"", b"a" * 40 + "é".encode()):
        assert TOK.decode([*data], errors) == data.decode()
    for data in (b"a\xffb", b"\xe2\x80", b"\xed\xa0\x80", b"ab\xf0\x9f\x98"):
        if errors == "strict":
            with pytest.raises(TextError, match="at byte"):
                TOK.decode([*data], errors)
        else:
            assert TOK.decode([*data], errors) == data.decode("utf-8", errors)


def test_long_and_short_in_turn() -> None:
    """Buffers are kept from call to call, up to a size."""
    many = np.tile(np.array([256, 97, 330, 3300, 257, 10], np.uint32), 3_000)
    data = REFERENCE.decode_bytes(many[:6].tolist())
    for _again in range(2):
        assert TOK.decode([97, 256]) == "aé"
        assert TOK.decode(many) == (data * 3_000).decode()
        assert TOK.decode_bytes(many.tolist()) == data * 3_000
        assert TOK.decode(many[:2]) == "éa"


@pytest.mark.parametrize("sample", ["plain ", "caf\xe9 ", "\u03b1\u5b57 b", "\U0001f600a\xe9\u5b57"])
def test_text_of_every_width_and_length(sample: str) -> None:
    """Strings are written where Python keeps them, and long ones in two parts."""
    for count in (1, 40, 3_000, 2_500_000 // len(sample.encode())):
        text = sample * count
        ids = np.frombuffer(text.encode(), np.uint8).astype(np.uint32)
        decoded = TOK.decode(ids)
        assert (decoded, hash(decoded), decoded.isascii()) == (text, hash(text), text.isascii())
        assert decoded.encode() == text.encode() == TOK.decode_bytes(ids)
        assert sys.getsizeof(TOK.decode(ids)) == sys.getsizeof("".join([text[:1], text[1:]]))
        broken = np.concatenate([ids, np.array([0xE2, 0x80], np.uint32), ids])
        for errors in ("replace", "surrogateescape"):
            assert TOK.decode(broken, errors) == TOK.decode_bytes(broken).decode("utf-8", errors)
        with pytest.raises(UnknownTokenError, match=f"index {len(ids)}"):
            TOK.decode(np.append(ids, np.uint32(260)))


def test_threads_decode_with_one_tokenizer() -> None:
    forms: list[Iterable[int]] = [[97, 256], np.tile(np.array([97, 330]), 20_000), [330] * 300, (259, 97)]
    wanted = [TOK.decode(form) for form in forms]
    wrong: list[object] = []

    def work() -> None:
        for _again in range(30):
            got = [TOK.decode(form) for form in forms]
            wrong.extend([got] if got != wanted else [])

    threads = [threading.Thread(target=work) for _number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_array_that_another_thread_writes_to() -> None:
    """Whatever is decoded then, it is an error or bytes of tokens: nothing beyond the buffer."""
    ids = np.full(200_000, 97, np.uint32)
    done = threading.Event()

    def write() -> None:
        while not done.is_set():
            ids[:] = 330
            ids[:] = 97

    messages: set[str] = set()
    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _again in range(30):
            try:
                data = TOK.decode_bytes(ids)
            except RuntimeError as error:
                messages.add(str(error))
            else:
                assert set(data) <= {ord("a"), ord("0")}
    finally:
        done.set()
        thread.join()
    assert messages <= {"the array of ids was changed by another thread while it was decoded"}
