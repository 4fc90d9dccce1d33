"""A short run of the fuzzer over every split and encoder, and every text on which one once differed.

Small tokenizers are trained on the spot. Leaves out: the long run, with published rank files (`make fuzz`),
and damaged files (`test_fuzz`).
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from syllabary import splits

FUZZ = Path(__file__).resolve().parent.parent / "fuzz"
sys.path.insert(0, str(FUZZ))

from drawn import fuzz  # noqa: E402
from targets import Target, targets  # noqa: E402
from texts import MOST, draw  # noqa: E402

TARGETS = targets(None)
DIFFERED = sorted((FUZZ / "broken" / "text").glob("*/*.txt"))
INPUTS = 25 if os.environ.get("SYLLABARY_PROVE") else 12


@cache
def made(name: str) -> Target:
    return TARGETS[name]()


class Wrong:
    """Differs on every text with a long s, breaks at a zero, and differs on a digit three in many."""

    def difference(self, text: str) -> str | None:
        if "\0" in text:
            raise RuntimeError("a zero")
        return "a long s" if "ſ" in text else None

    def difference_of_many(self, texts: Sequence[str]) -> str | None:
        return "threes" if "3" in "".join(texts) else None


@pytest.mark.parametrize("name", TARGETS)
def test_drawn_text_is_encoded_the_same_in_every_way(name: str, tmp_path: Path) -> None:
    assert fuzz(name, made(name), INPUTS, 1, tmp_path) == {"agree": INPUTS, "differ": 0}
    assert list(tmp_path.iterdir()) == []


def test_text_on_which_one_once_differed() -> None:
    assert {path.parent.name for path in DIFFERED} <= set(TARGETS)
    for path in DIFFERED:
        text = path.read_bytes().decode()
        assert made(path.parent.name).difference(text) is None, path
        assert made(path.parent.name).difference_of_many([text]) is None, path


def test_every_split_is_a_target_alone_and_in_an_encoder() -> None:
    assert {f"{kind}-{name}" for kind in ("split", "merges") for name in splits.names()} <= set(TARGETS)


def test_what_differs_is_made_small_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = fuzz("wrong", Wrong(), 300, 5, tmp_path)
    kept = {path.name: path.read_bytes().decode() for path in (tmp_path / "wrong").iterdir()}
    assert results["differ"] == len(kept)
    assert results["agree"] == 300 - len(kept)
    assert set(kept.values()) == {"ſ", "\0", "3"}
    assert {text for name, text in kept.items() if "together" in name} == {"3"}
    assert all(name.startswith("5-") for name in kept)
    assert "a long s" in capsys.readouterr().out


def test_the_same_seed_draws_the_same_texts_and_another_one_others() -> None:
    first, again, other = ([draw(random.Random(f"{seed} {n}")) for n in range(500)] for seed in (1, 1, 2))
    assert first == again != other
    assert max(map(len, first)) <= MOST
    assert all(text.encode().decode() == text for text in first)


def test_runs_of_awkward_lengths_are_drawn() -> None:
    chance = random.Random(7)
    texts = [draw(chance) for _ in range(6000)]
    assert {14, 15, 16, 17, 48, 63, 64, 65, 127, 255} <= {len(text) for text in texts if len(set(text)) == 1}
    assert any(len(text) >= 998 for text in texts)
