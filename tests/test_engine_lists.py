"""Lists of ids and the buffers behind short calls: the same ids by every way, whatever happened before.

Lists are made of integers that the tokenizer keeps (up to a bound) and are written in one of two ways, by
what Python this is; arrays are neither. Leaves out: which ids a text gets (`test_engine`).
"""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import syllabary
from syllabary.errors import SpecialTokenError, TextError
from syllabary.spec import SplitSpec, TokenizerSpec

BYTES = {bytes([value]): value for value in range(256)}
KEPT = 1 << 19  # ids from here on have no integer kept
FAR = {"<a>": KEPT - 1, "<b>": KEPT, "<c>": 900_000}


def byte_tokenizer(special: dict[str, int]) -> syllabary.Tokenizer:
    """Bytes and special tokens."""
    tokens = {token_id: token for token, token_id in BYTES.items()}
    return syllabary.Tokenizer(TokenizerSpec("byte", SplitSpec(None), tokens, BYTES, None, special))


TOK = syllabary.train(["low lower lowest"] * 3, vocab_size=262, special_tokens=["<|end|>"])
WIDE = byte_tokenizer(FAR)


@given(st.lists(st.text("low erst\u00e9\U0001f600"), max_size=9))
def test_lists_hold_what_arrays_hold(texts: list[str]) -> None:
    arrays = [TOK.encode_array(text).tolist() for text in texts]
    assert [TOK.encode(text) for text in texts] == arrays
    for threads in (1, 2):
        assert TOK.encode_batch(texts, threads=threads) == arrays
        assert TOK.encode_batch_array(texts, threads=threads).to_list() == arrays


def test_ids_beyond_the_integers_that_are_kept() -> None:
    wanted = [FAR["<a>"], 97, FAR["<b>"], FAR["<c>"], FAR["<c>"], FAR["<a>"]]
    text = "<a>a<b><c><c><a>"
    for _again in range(3):
        ids = WIDE.encode(text, special="allow")
        assert ids == wanted
        assert {type(token_id) for token_id in ids} == {int}
        assert WIDE.encode_batch([text, text], special="allow") == [wanted, wanted]


def test_an_integer_is_one_object_as_long_as_it_is_kept() -> None:
    first, *others = WIDE.encode("<a><a>", special="allow") + WIDE.encode("<a>", special="allow")
    assert all(other is first for other in others)
    assert WIDE.encode("<b>", special="allow")[0] is not WIDE.encode("<b>", special="allow")[0]


def test_references_are_neither_lost_nor_kept() -> None:
    tok = byte_tokenizer(FAR)
    integer = tok.encode("<a>", special="allow")[0]
    before = sys.getrefcount(integer)
    lists = [tok.encode("<a>" * 50, special="allow"), *tok.encode_batch(["<a>" * 25] * 2, special="allow")]
    assert sys.getrefcount(integer) == before + 100
    del lists
    assert sys.getrefcount(integer) == before
    del tok
    gc.collect()
    assert sys.getrefcount(integer) == before - 1  # the tokenizer's own
    assert integer == FAR["<a>"]


def test_lists_are_the_callers_to_change() -> None:
    ids = TOK.encode("lowest")
    ids.append(7)
    ids[0] = 3
    ids.extend(ids)
    del ids[:2], ids
    assert TOK.encode("lowest") == TOK.encode_array("lowest").tolist()


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_left_as_it_was(enabled: bool) -> None:
    try:
        (gc.enable if enabled else gc.disable)()
        TOK.encode_batch(["low"] * 2000, threads=1)
        assert gc.isenabled() is enabled
        with pytest.raises(SpecialTokenError):
            TOK.encode_batch(["low", "<|end|>"], threads=1)
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


def test_an_error_leaves_no_trace_in_the_next_call() -> None:
    wanted = TOK.encode_array("lowest low").tolist()
    for _again in range(40):
        with pytest.raises(SpecialTokenError):
            TOK.encode("lowest <|end|>")
        with pytest.raises(TextError):
            TOK.encode("lowest \ud800")
        with pytest.raises(SpecialTokenError, match=r"text 1 of the batch"):
            TOK.encode_batch(["lowest", "<|end|>"], threads=1)
        assert TOK.encode("lowest low") == wanted
        assert TOK.count("lowest low") == len(wanted)


def test_long_and_short_texts_in_turn() -> None:
    long, short = "lowest low " * 20_000, "lowest low"
    for _again in range(3):
        for text in (short, long):
            array = TOK.encode_array(text)
            assert TOK.encode(text) == array.tolist()
            assert TOK.count(text) == len(array) == len(TOK.offsets(text))


def test_threads_share_a_tokenizer() -> None:
    tok = syllabary.train(["low lower lowest"] * 3, vocab_size=262)
    texts = [("low lowest é " * length)[: 7 * length] for length in (1, 5, 50, 2000)]
    wanted = [tok.encode_array(text).tolist() for text in texts]
    wrong: list[object] = []

    def work() -> None:
        for _again in range(60):
            got = [tok.encode(text) for text in texts]
            if got != wanted or tok.encode_batch(texts, threads=1) != wanted:
                wrong.append(got)

    threads = [threading.Thread(target=work) for _number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_texts_may_come_as_any_iterable() -> None:
    class Texts(list[str]):
        def __iter__(self):  # type: ignore[no-untyped-def]
            return iter(["low"])

    wanted = [TOK.encode("low")]
    for texts in (["low"], ("low",), iter(["low"]), {"low"}, Texts(["no"])):
        assert TOK.encode_batch(texts, threads=1) == wanted


def test_the_window_of_an_error_is_not_its_place() -> None:
    texts = ["low " * 40_000] * 9 + ["<|end|>"]
    for threads in (1, 2):
        with pytest.raises(SpecialTokenError, match=r"text 9 of the batch"):
            TOK.encode_batch(texts, threads=threads)


def test_dropout_does_not_depend_on_windows() -> None:
    texts = ["lowest low " * 9_000] * 12
    arrays = TOK.encode_batch_array(texts, dropout=0.5, seed=5, threads=2).to_list()
    assert arrays[0] != arrays[1]
    for threads in (1, 2):
        assert TOK.encode_batch(texts, dropout=0.5, seed=5, threads=threads) == arrays


ENCODING = """
import sys, syllabary
tok = syllabary.train(["low lower lowest"] * 3, vocab_size=262)
texts = ["lowest low " * 1000] * 40
print("ready", flush=True)
getattr(tok, sys.argv[1])(texts * 20_000, threads=int(sys.argv[2]))  # longer than anybody waits
"""

BATCHES = [
    ("encode_batch", 1), ("encode_batch", 2), ("encode_batch_array", 1), ("encode_batch_array", 2),
    ("count_batch", 1), ("count_batch", 2), ("encode_full_batch", 2),
]  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to send")
@pytest.mark.parametrize("method, threads", BATCHES)
def test_ctrl_c_while_a_batch_is_encoded(method: str, threads: int, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", ENCODING, method, str(threads)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.2)
    process.send_signal(signal.SIGINT)
    _out, err = process.communicate(timeout=10)
    assert "KeyboardInterrupt" in err
