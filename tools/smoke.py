"""What an installed syllabary must do: train, encode, decode, save, load, run as a command.

Run by `check_wheel.py` in an environment that holds the installed package and its dependencies only.
Leaves out: correctness, which the test suite shows.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import syllabary

TEXT = "the cat sat on the mat, the cats sat on the mats\n" * 20


def main() -> None:
    """Exit 0 if the installed package works."""
    package = Path(syllabary.__file__).parent
    assert (package / "py.typed").is_file(), "py.typed is missing"
    tok = syllabary.train([TEXT], vocab_size=280)
    ids = tok.encode(TEXT)
    assert tok.decode(ids) == TEXT, "the round trip lost something"
    assert len(ids) < len(TEXT) / 2, "nothing was merged"
    for name in ("tokenizer.json", "ranks.tiktoken", "own.syllabary.json"):
        tok.save(name)
        split = "o200k" if name.endswith(".tiktoken") else None
        assert syllabary.load(name, split=split).encode(TEXT) == ids, f"{name} gives other ids"
    command = [sys.executable, "-I", "-m", "syllabary", "count", "-t", "tokenizer.json"]
    # As bytes: text would get Windows' line ends on its way.
    counted = subprocess.run(command, input=TEXT.encode(), capture_output=True, check=True)
    assert counted.stdout.decode().strip() == str(len(ids)), counted
    assert not {"torch", "pyarrow", "tokenizers", "tiktoken"} & set(sys.modules), "import loads too much"


if __name__ == "__main__":
    main()
