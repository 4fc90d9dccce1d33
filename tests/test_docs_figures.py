"""Numbers that docs/ has of the code are those of the code: constants of the engine, defaults of the package.

Leaves out what was measured, and the README's figures (`bench/readme.py --check`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from syllabary import growth_text
from syllabary.chat import bounds
from syllabary.formats import strict_json
from syllabary.gpt import defaults
from syllabary.reference import stream
from syllabary.training import checkpoint as training_checkpoint
from syllabary.training import memory as training_memory

ROOT = Path(__file__).parent.parent
ENGINE = ROOT / "crates" / "syllabary" / "src"
# Page -> (what it says, with the number in a group; a file of the engine, and the constant there).
SAID: Mapping[str, list[tuple[str, str, str]]] = {
    "encoding.md": [
        (r"Up to ([\d,]+) pieces are taken together", "encode/found.rs", "MANY"),
        (r"a chunk of fewer than (\d+) goes one by one", "encode/chunk.rs", "WORTH"),
        (r"masks of (\d+) bytes", "split/masks/mod.rs", "BLOCK"),
        (r"a piece of up to (\d+) bytes is loaded", "encode/key.rs", "SHORT"),
        (r"Pieces of 16 to (\d+) bytes", "encode/key.rs", "LONGER"),
        (r"rotated right by (\d+)\)", "encode/key.rs", "HASH_TURN"),
        (r"lower half \* (0x\w+)\)", "encode/key.rs", "HASH_LOW"),
        (r"upper half \* (0x\w+)\)", "encode/key.rs", "HASH_HIGH"),
        (r"mixed >> (\d+)", "encode/key.rs", "HASH_DOWN"),
        (r"A table of (\d+) lines, which every memory begins with", "encode/memory.rs", "FIRST_LINES"),
        (r"Up to (\d+) bytes are merged without a heap", "encode/short.rs", "MOST"),
        (r"in the lowest (\d+) bits, its place", "encode/short.rs", "PLACE_BITS"),
        (r"until there are (\d+) of them", "encode/held.rs", "ENOUGH"),
        (r"or ([\d,]+) ids before them", "encode/held.rs", "IDS"),
        (r"At most (\d+) runs of one byte each", "merge/runs.rs", "MAX_RUNS"),
        (r"\*Windows of (\d+) bytes\*", "encode/windows.rs", "WINDOW"),
        (r"without white space (\d+) bytes at a time", "split/cut.rs", "ALIKE"),
    ],
    "encoding-details.md": [
        (r"encoded part by part, ([\d,]+) characters at a time", "in_parts.rs", "PART"),
        (r"Both go (\d+) bytes at a time", "split/cut.rs", "ALIKE"),
        (r"A piece of 16 to (\d+) bytes", "encode/key.rs", "LONGER"),
        (r"ids of (\d+) bits \(`encode/memory/packed.rs`\)", "encode/memory/packed.rs", "BITS"),
        (r"ASCII of up to (\d+) bytes, by a plain hash table", "cache.rs", "PIECE_LIMIT"),
        (r"of up to (\d+) beside the longer ones", "encode/key.rs", "LONG_INNER"),
        (r"A table begins with (\d+) lines", "encode/memory.rs", "FIRST_LINES"),
        (r"from ([\d,]+) lines to all at once", "encode/memory.rs", "LEAP"),
        (r"pieces pushed out \(each as (\d+) of these\)", "encode/memory.rs", "PUSHED"),
        (r"a chunk has fewer than (\d+) new words", "encode/held.rs", "FEWEST"),
        (r"new words, or (\d+) and more", "encode/held.rs", "ENOUGH"),
        (r"three ids of (\d+) bits, 2 bits", "encode/characters.rs", "BITS"),
        (r"Of a string of (\d+) bytes and more", "encode/windows/ahead.rs", "FEWEST"),
        (r"begins every (\d+) bytes", "encode/windows/ahead.rs", "STRIDE"),
        (r"and (\d+) of them are merged ahead", "encode/windows/ahead.rs", "MANY"),
        (r"or (\d+) for each token of a rank", "merge/mod.rs", "HEAP_SHARE"),
        (r"up to (\d+) of them a scan", "merge/scan.rs", "MOST"),
    ],
    "encoding-ways.md": [
        (r"A new segment\* of up to (\d+) symbols", "merge/scan.rs", "MOST"),
        (r"\(([\d,]+) pairs of their characters", "charwise/mod.rs", "MANY_PAIRS"),
    ],
    "training-engine.md": [
        (r"Pieces are looked up (\d+) at a time", "train/tally.rs", "TOGETHER"),
        (r"pairs that occur less than ([\d,]+) times", "train/queue.rs", "HIGH"),
        (r"T is there a ([\d,]+)th of the highest", "train/exact.rs", "REACH"),
        (r"T is a (\d+)nd of the highest", "train/window.rs", "REACH"),
    ],
}
# Page -> (what it says; the number that the package has).
OF_PYTHON: Mapping[str, list[tuple[str, float]]] = {
    "format.md": [(r"nested at most (\d+) deep", strict_json.MAX_DEPTH)],
    "tutorial-greek.md": [
        (r"of (\d+) layers on a CPU", defaults.SIZES["cpu"].depth),
        (r"of (\d+) on a GPU", defaults.SIZES["cuda"].depth),
    ],
    "tutorial-wikitext.md": [
        (r"A window of (\d+) tokens is", defaults.SIZES["cpu"].block_size),
    ],
    "training-large.md": [
        (r"that is accepted is (\d+) MiB", training_memory.LEAST >> 20),
        (r"after (\d+) seconds, then every", training_checkpoint.SECONDS),
    ],
    "training.md": [
        (r"documents of up to ([\d,]+) characters whole", growth_text.LONG),
        (r"lines, (\d+) MB at most", growth_text.MOST >> 20),
    ],
    "streaming.md": [(r"Where more than (\d+) characters are held", stream.LONG)],
    "transformers.md": [
        (r"at most (\d+) million steps", bounds.MAX_STEPS / 1e6),
        (r"steps and (\d+) seconds", bounds.MAX_SECONDS),
    ],
}


@cache
def constants(name: str) -> dict[str, int]:
    """The whole numbers among the constants of a file of the engine; outside of tests, where both stand."""
    text = re.sub(r"if cfg!\(test\) \{[^}]*\} else \{([^}]*)\}", r"\1", (ENGINE / name).read_text("utf-8"))
    found = re.findall(r"const (\w+): \w+ = ([\dxA-F_ <]+);", text)
    return {name: shifted(value.replace("_", "")) for name, value in found}


def shifted(value: str) -> int:
    """The number of `256`, `0x9E` or `1 << 8`.

    >>> shifted("1 << 8"), shifted("0x9E")
    (256, 158)
    """
    base, _, more = value.partition("<<")
    return int(base, 0) << int(more or "0")


def said(page: str, pattern: str) -> float:
    """The number that a page says; lines are as broken as they are."""
    text = " ".join((ROOT / "docs" / page).read_text("utf-8").split())
    found = re.findall(pattern, text)
    assert len(found) == 1, f"{page} says {pattern!r} {len(found)} times"
    return int(found[0].replace(",", ""), 0)


@pytest.mark.parametrize(
    "page, pattern, name, constant", [(page, *row) for page, rows in SAID.items() for row in rows]
)
def test_numbers_of_the_engine(page: str, pattern: str, name: str, constant: str) -> None:
    assert said(page, pattern) == constants(name)[constant]


@pytest.mark.parametrize(
    "page, pattern, number", [(page, *row) for page, rows in OF_PYTHON.items() for row in rows]
)
def test_numbers_of_the_package(page: str, pattern: str, number: float) -> None:
    assert said(page, pattern) == number
