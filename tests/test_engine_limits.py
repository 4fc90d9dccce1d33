"""What could go wrong at the edges of the engine: sizes, interruption, hostile arguments.

Leaves out: what users meet every day (`test_bad_input`).
"""

from __future__ import annotations

import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import syllabary
from syllabary.spec import SplitSpec, TokenizerSpec


@pytest.fixture(scope="module")
def tok() -> syllabary.Tokenizer:
    return syllabary.train(["low lower lowest"] * 3, num_merges=5, special_tokens=["<x>"])


def test_ids_that_claim_to_be_many(tok: syllabary.Tokenizer) -> None:
    class Liar(list):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return 2**62

    assert tok.decode(Liar([97])) == "a"
    with pytest.raises(syllabary.UnknownTokenError, match="id 262 at index 262"):
        tok.decode(range(10**14))


def test_tokens_and_ids_are_inverse(tok: syllabary.Tokenizer) -> None:
    for token_id, token in tok.vocab.items():
        assert tok.token_to_id(token) == token_id
        assert tok.id_to_token(token_id) == token
    assert tok.token_to_id("<x>") == tok.special_tokens["<x>"]


def test_merges_are_the_callers_to_change(tok: syllabary.Tokenizer) -> None:
    tok.merges.clear()
    assert tok.merges[0] == (b"l", b"o")


@pytest.mark.parametrize(
    "content, separator, documents",
    [
        ("a\n\nb", "\n\n", ["a", "b"]),
        ("a\n\n\nb\n", "\n\n", ["a", "\nb\n"]),
        ("x\n\n\n", "\n\n", ["x", "\n"]),
        ("aaa", "aa", ["", "a"]),
        ("aa", "aa", [""]),
        ("", "\n", [""]),
        ("a\nb\n", "\n", ["a", "b"]),
        ("a\n\n", "\n", ["a", ""]),
        ("a", None, ["a"]),
    ],
)
def test_separators_cut_from_the_left(
    tok: syllabary.Tokenizer, tmp_path: Path, content: str, separator: str | None, documents: list[str]
) -> None:
    file = tmp_path / "text.txt"
    file.write_text(content, "utf-8", newline="")
    assert tok.encode_files(file, separator=separator).to_list() == tok.encode_batch(documents)


def test_a_long_text_without_a_place_to_cut(tmp_path: Path) -> None:
    """Thirty megabytes in parts, where no part can be counted before the end: linear all the same."""
    file = tmp_path / "long.txt"
    file.write_bytes(b"abcdefghij" * 3_000_000)
    tok = syllabary.train(file, num_merges=3, split="gpt2")
    assert len(tok.merges) == 3


def test_one_token_of_half_a_megabyte(tmp_path: Path) -> None:
    """Where a token can be cut in two is looked up by length, not at every place."""
    long = b"ab" * 250_000
    tokens = {value: bytes([value]) for value in range(256)} | {256: b"ab", 257: b"abab", 258: long}
    spec = TokenizerSpec("byte", SplitSpec(None), tokens, {bytes([v]): v for v in range(256)}, None)
    assert syllabary.Tokenizer(spec).encode("ababab") == [257, 256]


def test_errors_do_not_repeat_a_whole_document() -> None:
    words = syllabary.train(["ab ab"], num_merges=0, unit="word", split=None)
    with pytest.raises(syllabary.UnknownSymbolError) as error:
        words.encode("x" * 5_000_000)
    assert len(str(error.value)) < 300
    assert "…" in str(error.value)


COUNTING = """
import sys
from syllabary import train
print("ready", flush=True)
train(sys.argv[1], num_merges=5, split=r"\\w+|\\W", threads=int(sys.argv[2]))
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_while_a_pattern_counts(tmp_path: Path, threads: int) -> None:
    """A pattern of the user's counts the whole file in one go; Ctrl-C is heard inside."""
    file = tmp_path / "words.txt"
    file.write_text("".join(f"word{number} " for number in range(200_000)) * 60, "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", COUNTING, str(file), str(threads)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.4)  # two fast cores count it in two seconds
    process.send_signal(signal.SIGINT)
    _out, err = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in err
    assert "PanicException" not in err


@pytest.mark.parametrize("room", [96, 32])
def test_no_thread_to_be_had_is_no_error(room: int) -> None:
    """Where the system gives no thread, or `room` MiB (root has no limit of threads), it is done without."""
    code = """
import resource, syllabary
tok = syllabary.train(["ab ab"], num_merges=1)
texts = ["ab " * 90_000] * 40
letters = [chr(97 + n * n % 26) + " " * (n % 7 == 0) for n in range(300_000)]
documents = ["".join(letters[k:]) for k in range(4)]
def both(threads):
    counts = tok.count_batch(texts, threads=threads).tolist()
    return counts, syllabary.train(documents, num_merges=9, threads=threads).spec
before = both(1)
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (ROOM << 20),) * 2)
assert before == both(256)
print("equal")
"""
    if not sys.platform.startswith("linux"):
        pytest.skip("limits of a process are set otherwise here")
    code = code.replace("ROOM", str(room))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "equal\n", done.stderr


def test_warnings_name_the_callers_line() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        syllabary.train(["aa"], vocab_size=300)
    assert [warning.filename for warning in caught] == [__file__]
