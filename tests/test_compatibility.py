"""Real tokenizers against their home libraries: ids, tokens, spans and decoded text, on hard and real text.

Every day a sample; with `SYLLABARY_PROVE` 10,000 strings for each tokenizer and 1 MB of each corpus, and what
was compared is left in `build/compatibility.json`. Leaves out: tokenizers trained here (test_formats_hf…,
test_formats_sentencepiece…), and whole corpora (`test_published`).
"""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hard_text import SURROGATES, hard_texts
from homes import REAL, VOCABS, Home, Real, opened

import syllabary
from syllabary.errors import TextError

ROOT = Path(__file__).resolve().parent.parent
CORPORA = VOCABS.parent / "corpora"
PROVE = bool(os.environ.get("SYLLABARY_PROVE"))
STRINGS = 10_000 if PROVE else 150
BYTES = 1_000_000 if PROVE else 10_000

pytestmark = [
    pytest.mark.skipif(not VOCABS.is_dir(), reason="no folder shared/ beside the repository"),
    pytest.mark.timeout(3600),
]


@pytest.fixture(scope="module", params=REAL, ids=str)
def real(request: pytest.FixtureRequest) -> Real:
    """Each in turn, through all tests: it is opened once."""
    found: Real = request.param
    if not found.path.exists():
        pytest.skip(f"no {found.path.name}")
    return found


@pytest.fixture(scope="module")
def rows() -> Iterator[list[dict[str, Any]]]:
    """What was compared, one row a comparison that held."""
    found: list[dict[str, Any]] = []
    yield found
    if PROVE:
        (ROOT / "build").mkdir(exist_ok=True)
        (ROOT / "build" / "compatibility.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def agree(tok: syllabary.Tokenizer, home: Home, text: str) -> list[int]:
    """All that both say of a text is equal; its ids."""
    said, names = home.encode(text), tok.vocab
    ids = tok.encode(text, special=home.special)
    assert ids == said.ids, text
    assert tok.tokens(text, special=home.special) == [names[token_id] for token_id in said.ids]
    spans = [(start, end) for start, end in tok.offsets(text, special=home.special).tolist()]
    if said.spans is not None:
        assert spans == said.spans, text
    if said.starts is not None:
        assert [start for start, _end in spans] == said.starts, text
    assert tok.decode(ids) == home.decode(said.ids), text
    return ids


def same(tok: syllabary.Tokenizer, home: Home, text: str) -> int:
    """All that both say of a text is equal; the number of tokens."""
    return len(agree(tok, home, text))


def test_hard_strings(real: Real, rows: list[dict[str, Any]]) -> None:
    tok, home = opened(real)
    texts = list(hard_texts(STRINGS, seed=1))
    tokens = sum(same(tok, home, text) for text in texts)
    rows.append(
        {"tokenizer": str(real), "peer": home.peer, "text": f"{len(texts):,} strings", "tokens": tokens}
    )


def test_real_text(real: Real, rows: list[dict[str, Any]]) -> None:
    tok, home = opened(real)
    for path in sorted(CORPORA.glob("*.txt.xz")):
        with lzma.open(path) as file:
            text = file.read(BYTES).decode("utf-8", "ignore")
        name = path.name.removesuffix(".txt.xz")
        rows.append(
            {"tokenizer": str(real), "peer": home.peer, "text": name, "tokens": same(tok, home, text)}
        )


def test_no_ids_and_any_ids(real: Real) -> None:
    tok, home = opened(real)
    assert tok.decode([]) == home.decode([])
    ordinary = sorted(tok.spec.tokens)
    for start in range(0, len(ordinary), max(1, len(ordinary) // 50)):
        ids = ordinary[start : start + 7]
        assert tok.decode(ids) == home.decode(ids)


@pytest.mark.parametrize("text", SURROGATES)
def test_a_lone_surrogate_is_an_error_with_its_place(real: Real, text: str) -> None:
    tok, _home = opened(real)
    with pytest.raises(TextError, match="surrogate"):
        tok.encode(text, special="allow")
