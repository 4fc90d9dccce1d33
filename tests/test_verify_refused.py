"""`verify` where one side cannot encode a text, or open the file: a sentence that says which, no traceback.

Leaves out: what is equal (test_cli_surgery), and what of theirs fails where (test_compatibility).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import syllabary
from syllabary import verify as verifying
from syllabary.cli import main
from syllabary.errors import FormatError, PatternError, SyllabaryError, UnknownSymbolError
from syllabary.verify import Peer, verify

TEXT = "low lower lowest newer newest widest\n" * 5
SLOW = r"(?:(?:x+x+)+y)+|."  # Oniguruma gives up on it, and its binding panics


@pytest.fixture
def folder(working_folder: Path) -> Path:
    Path("corpus.txt").write_text(TEXT, encoding="utf-8")
    syllabary.train([TEXT], vocab_size=270).save("tok.json")
    return working_folder


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["verify", *args])


def raising(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the peer `tokenizers` raise this for the text that it is given second."""
    texts: list[str] = []

    def encode(text: str) -> list[int]:
        texts.append(text)
        if len(texts) == 2:
            raise error
        return syllabary.load("tok.json").encode(text)

    monkeypatch.setitem(verifying.PEERS, "tokenizers", lambda _source, _tok: Peer("tokenizers 9", encode))


@pytest.mark.parametrize(
    "error, words", [(Exception("no\x1b unk"), "no\x1b unk"), (RuntimeError(), "RuntimeError")]
)
def test_a_peer_that_raises(
    error: Exception, words: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raising(error, monkeypatch)
    with pytest.raises(FormatError) as caught:
        verify("tok.json", "tokenizers", ["low", "new", "low"])
    assert str(caught.value) == f"tokenizers 9 cannot encode text 1: {words}"
    assert caught.value.__cause__ is error
    raising(error, monkeypatch)
    result = run("tok.json", "--against", "tokenizers", "--on", "corpus.txt", "--on", "corpus.txt")
    assert (result.exit_code, result.stdout) == (1, "")
    shown = words.replace("\x1b", "\\x1b")
    assert result.stderr == f"error: corpus.txt: tokenizers 9 cannot encode text 1: {shown}\n"


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, MemoryError, GeneratorExit])
def test_what_ends_a_program_is_not_taken_for_a_refusal(
    kind: type[BaseException], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raising(kind(), monkeypatch)
    with pytest.raises(kind) as caught:
        verify("tok.json", "tokenizers", ["low", "new"])
    assert caught.type is kind


def test_an_error_of_ours_keeps_its_class(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raising(PatternError("gives up"), monkeypatch)
    with pytest.raises(PatternError, match=r"^tokenizers 9 cannot encode text 1: gives up$"):
        verify("tok.json", "tokenizers", ["low", "new"])


def test_a_panic_of_their_library(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    document = json.loads(Path("tok.json").read_text("utf-8"))
    split = {"type": "Split", "pattern": {"Regex": SLOW}, "behavior": "Isolated", "invert": False}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    document["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split, level]}
    Path("slow.json").write_text(json.dumps(document), "utf-8")
    with pytest.raises(SyllabaryError, match=r"^tokenizers [0-9.rc]+ cannot encode text 1: Onig: .*over$"):
        verify("slow.json", "tokenizers", ["low", "x" * 60])
    assert "panicked" in capfd.readouterr().err  # said by Rust itself


def test_a_text_that_ours_cannot_encode(folder: Path) -> None:
    tok = syllabary.train([TEXT], vocab_size=24, like="subword-nmt")
    tok.save("small.codes")
    with pytest.raises(UnknownSymbolError, match=r"^small.codes: text 1: not in the alphabet: 'q'"):
        verify("small.codes", "subword-nmt", ["lower", "quest"])
    for text in ("lower", "quest"):
        Path(f"{text}.txt").write_text(text, encoding="utf-8")
    result = run("small.codes", "--against", "subword-nmt", "--on", "lower.txt", "--on", "quest.txt")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: quest.txt: small.codes: text 1: not in the alphabet: 'q'")


def test_a_file_that_only_ours_opens(folder: Path) -> None:
    """Sequences in sequences, more than their parser goes down."""
    document = json.loads(Path("tok.json").read_text("utf-8"))
    for _level in range(70):
        document["decoder"] = {"type": "Sequence", "decoders": [document["decoder"]]}
    Path("deep.json").write_text(json.dumps(document), "utf-8")
    result = run("deep.json", "--against", "tokenizers", "--on", "corpus.txt")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: deep.json: tokenizers ")
    assert "cannot open it: Cannot instantiate Tokenizer from buffer: recursion limit" in result.stderr
