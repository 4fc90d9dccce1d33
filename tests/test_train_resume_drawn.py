"""Training ended after every merge, over drawn corpora that force ties, runs and tokens spelled alike.

Leaves out: kills (`test_train_resume`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from train_runs import make_often, stop_in, stopped

import syllabary
from syllabary.errors import SyllabaryError
from syllabary.training import learning as training_learning

DOCUMENTS = st.lists(
    st.one_of(
        st.text("ab", max_size=12),
        st.text("a", max_size=20),
        st.text("ab \n", max_size=20),
        st.text("aαé\u0301 北<e>", max_size=9),
        st.sampled_from(["aaaa aaab", "ab ab ba ba", "a<e>a", "abab<e>abab"]),
    ),
    min_size=1,
    max_size=9,
)
OPTIONS = st.fixed_dictionaries(
    {
        "unit": st.sampled_from(["byte", "char", "word"]),
        "split": st.sampled_from(["gpt2", "latin", None]),
        "tie_break": st.sampled_from(["smallest-ids", "first-seen", "largest-pair"]),
        "min_frequency": st.integers(1, 3),
        "max_token_length": st.sampled_from([None, 2, 3]),
        "special_tokens": st.sampled_from([(), ("<e>",)]),
        "normalize": st.sampled_from([None, "NFC", "NFD"]),
        "num_merges": st.integers(0, 6),
    }
)
LIKE = st.sampled_from([None, "huggingface", "minbpe", "tiktoken", "rustbpe", "cs336", "subword-nmt"])


pytestmark = pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")


@pytest.fixture(scope="module", autouse=True)
def often() -> Iterator[None]:
    """A checkpoint at every chance, slices of one merge."""
    with pytest.MonkeyPatch.context() as patch:
        make_often(patch)
        patch.setattr(training_learning, "MOST", 1)
        yield


def check_every_end(documents: list[str], options: dict[str, Any]) -> None:
    """A run that ends after each batch and each merge, against one that does not."""
    try:
        whole = syllabary.train(documents, **options)
    except SyllabaryError:  # nothing to count, or a special token that is learned as well
        return
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "kept"
        # The second time that merging is told of, there is one merge more than a run before had.
        ends = [("counting", 1), *[("merging", 2)] * len(whole.merges)]
        for stage, after in ends:
            with stopped():
                syllabary.train(documents, checkpoint=kept, progress=stop_in(stage, after), **options)
        assert syllabary.train(documents, checkpoint=kept, **options).spec == whole.spec


@given(DOCUMENTS, OPTIONS)
def test_our_own_training_ended_after_every_merge(documents: list[str], options: dict[str, Any]) -> None:
    check_every_end(documents, {"threads": 1, **options})


@given(DOCUMENTS, LIKE, st.integers(0, 6))
def test_the_training_of_other_tools_ended_after_every_merge(
    documents: list[str], like: str | None, num_merges: int
) -> None:
    check_every_end(documents, {"threads": 1, "like": like, "num_merges": num_merges})


def test_tokens_that_are_spelled_alike() -> None:
    """Words of which one is what a merge of two others makes: the first of that spelling is the symbol."""
    documents = ["ab a b ab", "a b ab ab", "a b a b"] * 3
    for split in ("latin", "[a-z]"):
        check_every_end(documents, {"unit": "word", "split": split, "num_merges": 6, "min_frequency": 1})
