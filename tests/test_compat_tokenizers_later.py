"""`syllabary.compat.tokenizers`: an encoding stays as it was made, whatever its tokenizer is told later.

Columns are made when they are asked for. Leaves out: what encodings are (`test_compat_tokenizers`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tokenizers as theirs

from syllabary.compat import tokenizers as ours

VOCAB = {"[UNK]": 0, "a": 1, "b": 2, "c": 3, "d": 4}
COLUMNS = ("tokens", "word_ids", "sequence_ids", "n_sequences", "type_ids", "special_tokens_mask", "offsets")


def made(library: Any, kind: str) -> Any:
    """A tokenizer of words; `kind` is its model, or what it does besides."""
    words = library.models.WordLevel(VOCAB, "[UNK]")
    unigram = library.models.Unigram([(token, -1.0) for token in VOCAB], 0)
    tok = library.Tokenizer(unigram if kind == "Unigram" else words)
    tok.normalizer = library.normalizers.Sequence([library.normalizers.Strip()])
    tok.pre_tokenizer = library.pre_tokenizers.Whitespace()
    if kind in ("framed", "cut"):
        tok.post_processor = library.processors.TemplateProcessing("b $A", "b $A a $B", [("a", 1), ("b", 2)])
    if kind == "cut":
        tok.enable_truncation(5)
    if kind == "padded":
        tok.enable_padding(direction="left", pad_to_multiple_of=4)
    return tok


def trained(tok: Any, library: Any) -> None:
    kind = type(tok.model).__name__
    tok.train_from_iterator(["d c b a"], getattr(library.trainers, f"{kind}Trainer")(show_progress=False))


def another_template(tok: Any, _library: Any) -> None:
    if tok.post_processor is not None:
        tok.post_processor.single = "a a $A"


TOLD: list[Callable[[Any, Any], object]] = [
    lambda tok, library: tok.enable_truncation(2, direction="left"),
    lambda tok, library: tok.no_truncation(),
    lambda tok, library: tok.enable_padding(length=9, direction="left"),
    lambda tok, library: tok.no_padding(),
    lambda tok, library: setattr(
        tok, "post_processor", library.processors.BertProcessing(("a", 1), ("b", 2))
    ),
    another_template,
    lambda tok, library: setattr(tok.normalizer[0], "left", False),
    lambda tok, library: tok.normalizer.__setitem__(0, library.normalizers.Replace("a", "d")),
    lambda tok, library: setattr(tok, "model", library.models.WordLevel({"z": 0}, "z")),
    trained,
]


def outcome(library: Any, kind: str, told: Callable[[Any, Any], object]) -> object:
    tok = made(library, kind)
    found = [tok.encode(" a b x"), tok.encode(" a b x", "c d"), tok.encode("", "c"), tok.encode("", "")]
    found += tok.encode_batch(["a b c a b c", ("a", ""), ("a a", "b b a")])
    found += tok.encode_batch_fast([("a x", "b"), ("", "d"), ("a b c a b c", "c")])
    told(tok, library)
    found += [more for one in found for more in one.overflowing]
    return [[getattr(one, name) for name in COLUMNS] for one in found]


@pytest.mark.parametrize("kind", ["plain", "framed", "cut", "padded", "Unigram"])
@pytest.mark.parametrize("told", TOLD)
def test_what_a_tokenizer_is_told_later_changes_no_encoding(
    kind: str, told: Callable[[Any, Any], object]
) -> None:
    assert outcome(ours, kind, told) == outcome(theirs, kind, told)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("own", ["left", "right"])
def test_an_encoding_that_is_padded_further_says_which_text_tokens_are_of(side: str, own: str) -> None:
    found = []
    for library in (ours, theirs):
        tok: Any = made(library, "plain")
        tok.enable_padding(direction=own, pad_to_multiple_of=3)
        one = tok.encode("a b", "c")
        one.pad(8, direction=side)
        found.append([getattr(one, name) for name in COLUMNS])
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["plain", "framed"])
def test_what_is_done_to_overflow_changes_nothing_that_it_is_of(kind: str) -> None:
    found = []
    for library in (ours, theirs):
        tok: Any = made(library, kind)
        tok.enable_truncation(4)
        one = tok.encode("a b c a b c a b")
        for more in one.overflowing:
            more.pad(7, direction="left")
            more.truncate(1)
            more.set_sequence_id(1)
        found.append([[getattr(more, name) for name in COLUMNS] for more in (one, *one.overflowing)])
    assert found[0] == found[1]
