"""What components of `syllabary.compat.tokenizers` are made of, beside the library: arguments, attributes.

Leaves out: what they do (`test_compat_tokenizers_parts`).
"""

from __future__ import annotations

from typing import Any

import pytest
import tokenizers as theirs

from syllabary.compat import tokenizers as ours

LIBRARIES = (theirs, ours)
TRAINERS = ["BpeTrainer", "WordPieceTrainer", "WordLevelTrainer", "UnigramTrainer"]


@pytest.mark.parametrize("name", TRAINERS)
@pytest.mark.parametrize(
    "options",
    [
        {"unk_token": "<unk>", "vocab_size": 9},
        {"foo": 1, "words": {}, "bar": None},
        {"max_token_length": 3, "n_sub_iterations": 1},
        {"progress_format": "json", "special_tokens": ["a"], "end_of_word_suffix": "x"},
    ],
)
def test_trainers_say_which_options_they_pass_over(
    name: str, options: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    said = []
    for t in LIBRARIES:
        trainer = getattr(t.trainers, name)(**options)
        said.append((capfd.readouterr().out, repr(trainer)))
    assert said[1] == said[0]
