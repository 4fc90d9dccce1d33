"""What components of `syllabary.compat.tokenizers` are made of, beside the library: arguments, attributes.

Leaves out: what they do (`test_compat_tokenizers_parts`).
"""

from __future__ import annotations

from typing import Any

import pytest
import tokenizers as theirs

from syllabary.compat import tokenizers as ours
from syllabary.errors import FormatError, VocabularyError

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


@pytest.mark.parametrize("damaged", [b"", b"ab", b"abcd", [1, 2], b"\0\0\0\0\xff\xfe"], ids=repr)
def test_a_damaged_character_map_is_refused_when_built(damaged: Any) -> None:
    """As theirs does; a file with it could not be opened."""
    for t, kind in ((theirs, Exception), (ours, FormatError)):
        with pytest.raises(kind, match=r"precompiled[ _](?:map|charsmap)"):
            t.normalizers.Precompiled(damaged)


@pytest.mark.parametrize("damaged", [b"\0\0\0\0", b"\4\0\0\0abcd", b"\4\0\0\0\0\0\0\0"], ids=repr)
def test_a_character_map_that_leads_outside_itself_is_refused_when_used(damaged: bytes) -> None:
    """Theirs builds it, and panics then."""
    made = ours.normalizers.Precompiled(damaged)
    assert repr(made) == repr(theirs.normalizers.Precompiled(damaged))
    with pytest.raises(VocabularyError, match="character map of the normalizer is damaged"):
        made.normalize_str("a")
