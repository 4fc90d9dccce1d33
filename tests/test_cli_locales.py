"""Options in UTF-8 where Python reads arguments as ASCII (`LC_ALL=C`), as files' names must be read there.

Leaves out: texts that are arguments (test_cli).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from test_cli import shell

import syllabary

pytestmark = pytest.mark.skipif(os.name == "nt", reason="arguments are Unicode there")

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
TRAIN = "syllabary train words.txt -o a.syllabary.json --num-merges 9 --min-frequency 1 --unit char"
EDIT = "syllabary edit a.syllabary.json"


def test_options_that_are_read_as_ascii(working_folder: Path) -> None:
    Path("words.txt").write_text("λόγος ἔργον " * 9, encoding="utf-8")
    options = "--end-of-word '漢' --split '[^ó]+|ó' --special 'λ'"
    steps = (
        f"{TRAIN} {options}",
        "syllabary inspect -t a.syllabary.json --token λ",
        f"{EDIT} --add 漢字 -o b.syllabary.json",
        "syllabary edit b.syllabary.json --remove 漢字 -o c.syllabary.json",
    )
    done = shell(" && ".join(steps), **ASCII)
    assert (done.returncode, "error" in done.stderr) == (0, False), done.stderr
    spec = syllabary.load("a.syllabary.json").spec
    assert (spec.end_of_word, spec.split.pattern, [*spec.special_tokens]) == ("漢", "[^ó]+|ó", ["λ"])
    assert "漢字" in syllabary.load("b.syllabary.json").spec.added_tokens
    assert "漢字" not in syllabary.load("c.syllabary.json").spec.added_tokens
