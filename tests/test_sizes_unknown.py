"""`growth.sizes` and text that a size cannot spell: left out if it is an error, counted if it is unknown.

Leaves out: all else about sizes (`test_sizes`).
"""

from __future__ import annotations

from typing import Any

import pytest
from test_sizes import LINES

from syllabary import growth
from syllabary.errors import CorpusError


def test_documents_that_the_smallest_codes_cannot_spell_are_left_out_of_all_sizes() -> None:
    text = ["low lower lowest newer newest widest\n" * 9]
    options: dict[str, Any] = {"like": "subword-nmt", "min_frequency": 1}
    found = growth.sizes(text, [10, 26], held_out=["lower", "lowest"], **options)
    assert (found.documents, found.unknown, found.rows[0].bytes) == (1, 1, len("lowest"))
    assert "1 with symbols in no alphabet, or not in that of each size, is left out" in found.words()
    with pytest.raises(CorpusError, match=r"has a token for; .* or larger sizes, which know more"):
        growth.sizes(text, [10, 26], held_out=["lower"], **options)


def test_text_that_becomes_no_token_cannot_be_measured() -> None:
    """White space that is dropped, alone or between lines that are left out."""
    text = ["low lower lowest newer newest widest\n" * 9]
    with pytest.raises(CorpusError, match="becomes no token: give other text as held_out"):
        growth.sizes(text, [3, 5], held_out=["  \n"], model="wordlevel")
    options: dict[str, Any] = {"like": "subword-nmt", "min_frequency": 1}
    with pytest.raises(CorpusError, match=r"cannot be measured: .* has a token for"):
        growth.sizes(text, [10, 26], held_out=["lower\n\nlower\n"], **options)


def test_of_a_long_document_lines_with_unknown_symbols_are_left_out() -> None:
    found = growth.sizes(LINES, [60, 80], held_out=["the lowest\n漢字\ndogs"], unit="char")
    assert (found.documents, found.unknown) == (2, 1)
    assert found.rows[0].bytes == len("the lowest\ndogs")


@pytest.mark.parametrize("like", [None, "sentencepiece"])
def test_text_that_is_unknown_is_said_to_be(like: str | None) -> None:
    text, held_out = (
        ["the cat sat on the mat the dog ate the cat " * 5],
        ["the zebra saw the cat and a dog", "the"],
    )
    options = {"hard_vocab_limit": False} if like else {"min_frequency": 1}
    model = "word" if like else "wordlevel"
    found = growth.sizes(text, [5, 8], held_out=held_out, like=like, model=model, options=options)
    for row in found.rows:
        tok, lost = found.tokenizers[row.size], 0
        for one in held_out:
            ids = tok.encode(one)
            assert len(ids) == len(tok.offsets(one))
            lost += sum(
                end - start for (start, end), one_id in zip(tok.offsets(one), ids, strict=True) if not one_id
            )
        assert row.unknown == lost > 0
        assert row.merges is None
    lost = found.rows[0].unknown or 0
    assert f"Up to {100 * lost / 34:.2f} % of them are lost in unknown tokens" in found.words()
    first = found.table().splitlines()[2]
    assert first.startswith(f"| 5 |  | {found.rows[0].tokens} | {100 * lost / 34:.2f} % |")
    assert found.record()["sizes"][0]["unknown_share"] == found.rows[0].unknown_share == lost / 34


def test_nothing_is_unknown_to_bytes_or_in_known_text() -> None:
    found = growth.sizes(LINES, [300], held_out=["漢字"])
    assert (found.rows[0].unknown, found.rows[0].unknown_share) == (None, 0)
    found = growth.sizes(LINES, [90], held_out=LINES[:9], model="wordpiece")
    assert (found.rows[0].unknown, found.rows[0].merges) == (0, None)
    assert "unknown" not in found.words()
