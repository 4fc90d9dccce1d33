"""Patterns that the engine does not run: in a file a `FormatError` with the place, given a `PatternError`.

Leaves out: what else is damaged in a file (test_formats_hf_bad_input and its like).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from test_formats_tekken import small

import syllabary
import syllabary.compat.tokenizers
from syllabary.errors import FormatError, PatternError

LARGE = r"(?:\p{L}{1,900}\w{1,900}){1,90}"  # which Python's module `regex` compiles
EDGE = r"\bfoo\b"
TOO_LARGE, NO_EDGE = "it compiles to more than", r"\\b depends on \\w"
HUGGINGFACE: list[tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]] = [
    ("pre_tokenizer.pattern.Regex", lambda cut: {"pre_tokenizer": cut}),
    (
        r"pre_tokenizer.pretokenizers\[1\].pattern.Regex",
        lambda cut: {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}, cut]}},
    ),
    ("normalizer.pattern.Regex", lambda cut: {"normalizer": replaced(cut)}),
    (
        r"decoder.decoders\[0\].pattern.Regex",
        lambda cut: {"decoder": {"type": "Sequence", "decoders": [replaced(cut)]}},
    ),
]


def replaced(cut: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Replace", "pattern": cut["pattern"], "content": "x"}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer in the formats that say their split."""
    folder = tmp_path_factory.mktemp("saved")
    tok = syllabary.train(["low lower lowest"] * 3, vocab_size=258, split=r"\S+|\s+")
    for name in ("tokenizer.json", "tok.syllabary.json", "tok.minbpe", "tok.tiktoken"):
        tok.save(folder / name)
    return folder


def refused(path: Path, place: str, words: str) -> None:
    with pytest.raises(FormatError, match=rf"{path.name}: {place}: .*{words}") as caught:
        syllabary.load(path)
    assert isinstance(caught.value.__cause__, PatternError)


@pytest.mark.parametrize("pattern, words", [(LARGE, TOO_LARGE), (EDGE, NO_EDGE)])
@pytest.mark.parametrize("place, changed", HUGGINGFACE)
def test_tokenizer_json(
    place: str,
    changed: Callable[[dict[str, Any]], dict[str, Any]],
    pattern: str,
    words: str,
    saved: Path,
    tmp_path: Path,
) -> None:
    document = json.loads((saved / "tokenizer.json").read_text("utf-8"))
    cut = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document | changed(cut)), "utf-8")
    refused(path, rf"at \$.{place}", words)


def test_our_own_file(saved: Path, tmp_path: Path) -> None:
    document = json.loads((saved / "tok.syllabary.json").read_text("utf-8"))
    path = tmp_path / "tok.syllabary.json"
    split = {**document["split"], "pattern": LARGE}
    path.write_text(json.dumps(document | {"split": split}), "utf-8")
    refused(path, r"at \$.split.pattern", TOO_LARGE)
    split = {**document["split"], "pattern": EDGE, "tables": "onig"}
    path.write_text(json.dumps(document | {"split": split}), "utf-8")
    refused(path, r"at \$.split.pattern", NO_EDGE)


@pytest.mark.parametrize("pattern, words", [(LARGE, TOO_LARGE), (EDGE, NO_EDGE), ("(", ""), ("a*", "empty")])
def test_steps_of_our_own_file(pattern: str, words: str, saved: Path, tmp_path: Path) -> None:
    document = json.loads((saved / "tok.syllabary.json").read_text("utf-8"))
    path = tmp_path / "tok.syllabary.json"
    step = {"kind": "Replace", "options": {"pattern": pattern, "regex": True, "content": "x"}}
    for member in ("normalizer", "decoder"):
        path.write_text(json.dumps({**document, "version": 2, member: [step]}), "utf-8")
        refused(path, rf"at \$.{member}\[0\].options.pattern", words)
    step["options"] = {"pattern": "", "regex": False, "content": "x"}
    path.write_text(json.dumps({**document, "version": 2, "normalizer": [step]}), "utf-8")
    refused(path, r"normalizer\[0\] \(Replace\)", "an empty pattern is found everywhere")


@pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")
@pytest.mark.parametrize("pattern", [r"\Ga|b", r"(?U)\w+", r"a\Kb", r"\p{Emoji}|.", "a{1,1500}|[^a]+"])
def test_our_own_file_holds_what_the_engine_alone_knows(pattern: str, tmp_path: Path) -> None:
    """What was trained with it is opened again, as errors of other formats say."""
    tok = syllabary.train(["aab ab"] * 3, num_merges=2, split=pattern)
    tok.save(tmp_path / "tok.syllabary.json")
    assert syllabary.load(tmp_path / "tok.syllabary.json") == tok
    with pytest.raises(FormatError, match=r"save as \.syllabary\.json, which holds everything"):
        tok.save(tmp_path / "tokenizer.json")


def test_minbpe(saved: Path, tmp_path: Path) -> None:
    lines = (saved / "tok.minbpe").read_text("utf-8").split("\n")
    path = tmp_path / "tok.minbpe"
    path.write_text("\n".join([lines[0], LARGE, *lines[2:]]), "utf-8")
    refused(path, "line 2", TOO_LARGE)


def test_tekken(tmp_path: Path) -> None:
    document = small()
    document["config"]["pattern"] = LARGE
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(document), "utf-8")
    refused(path, r"at \$.config.pattern", TOO_LARGE)


def test_a_pattern_that_is_given(saved: Path) -> None:
    with pytest.raises(PatternError, match=TOO_LARGE):
        syllabary.load(saved / "tok.tiktoken", split=LARGE)
    with pytest.raises(PatternError, match=TOO_LARGE):
        syllabary.train(["low"], vocab_size=257, split=LARGE)


def test_components_of_a_caller() -> None:
    """A model of them may be cut in Python, which knows more patterns."""
    ids = []
    for library in (syllabary.compat.tokenizers, tokenizers):
        tok = library.Tokenizer(
            library.models.BPE({"foo": 0, "f": 1, "o": 2, "fo": 3}, [("f", "o"), ("fo", "o")])
        )
        tok.pre_tokenizer = library.pre_tokenizers.Split(library.Regex(EDGE), "removed")
        ids.append(tok.encode("foo fooo").ids)
    assert ids[0] == ids[1] == [0, 2]
