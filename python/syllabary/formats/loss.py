"""What is lost where a tokenizer is put into a format, or changed: a sentence, and what that does to ids.

    Loss("offsets become sentencepiece's", "same")  ->  a str, with .ids

Adds `Loss`, by whose `ids` code decides: no program reads the words. Leaves out: what each format loses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

Ids = Literal["same", "some", "all"]  # in rising order


class Loss(str):
    """One sentence that says what is lost.

    ids: `"same"`: no text gets other ones. `"some"`: text may that the sentence names. `"all"`: any text may.

    >>> loss = Loss("dropout is left out: ids can change", "some")
    >>> loss, loss.ids
    ('dropout is left out: ids can change', 'some')
    """

    ids: Ids

    def __new__(cls, sentence: str, ids: Ids) -> Loss:
        """A sentence, and what is said of ids."""
        loss = super().__new__(cls, sentence)
        loss.ids = ids
        return loss

    def __getnewargs__(self) -> tuple[str, Ids]:  # type: ignore[override]  # str's has one
        """What `copy` and `pickle` make it from."""
        return str(self), self.ids


def joined(losses: Sequence[Loss]) -> Loss:
    """Several of one cause as one sentence, with the most that one of them says of ids."""
    return Loss("; ".join(losses), max((loss.ids for loss in losses), key=get_args(Ids).index))
