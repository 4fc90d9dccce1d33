"""Added tokens that come later: the tokenizer of a `tokenizer.json` with more of them, not read again.

Adds `grown`, which gives what `hf_read` gives of the file with the new tokens, or `None` where they change
more than themselves. Leaves out: who adds tokens (`compat`), and what added tokens are (`hf_added`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from syllabary.formats.hf_added import FLAGS, all_plain, matching_of, write_added
from syllabary.formats.hf_decoder import respelled
from syllabary.formats.hf_vocab import is_symbol
from syllabary.reference.check import check_owners, check_texts
from syllabary.spec import Matching, TokenizerSpec


class Entry(NamedTuple):
    """An added token: its text, and how it is found."""

    content: str
    single_word: bool
    lstrip: bool
    rstrip: bool
    normalized: bool
    special: bool


Entries = Mapping[int, Entry]


def entries(tokens: Mapping[int, object]) -> dict[int, Entry]:
    """Of objects with these attributes, by id."""
    return {number: Entry(*(getattr(one, name) for name in Entry._fields)) for number, one in tokens.items()}


def grown(spec: TokenizerSpec, before: Entries, after: Entries, size: int) -> TokenizerSpec | None:
    """The tokenizer of a file with the added tokens `before`, if it had those of `after`.

    size: the names of its model. `None`: read it anew (a token was changed, or is one of the model's; the
    others are found in another way from now on; Unigram). `VocabularyError` for a text that is none.
    """
    new = {number: one for number, one in after.items() if number not in before}
    texts = {**spec.special_tokens, **spec.added_tokens}
    if spec.model == "unigram" or any(after.get(number) != one for number, one in before.items()):
        return None
    if any(number in spec.tokens or one.content in texts for number, one in new.items()):
        return None
    if not new.keys().isdisjoint(texts.values()) or len({one.content for one in new.values()}) < len(new):
        return None
    was, now = (_matching(spec, tokens) for tokens in (before, after))
    if all_plain(was) != all_plain(now) and _may_be_reached(spec, after):
        return None
    found = replace(
        spec,
        special_tokens={
            **spec.special_tokens,
            **{one.content: number for number, one in sorted(new.items()) if one.special},
        },
        added_tokens={
            **spec.added_tokens,
            **{one.content: number for number, one in sorted(new.items()) if not one.special},
        },
        matching={**{text: how for text, how in spec.matching.items() if text not in was}, **now},
    )
    if spec.decoder is None and respelled(found):
        return None
    check_texts(found)
    check_owners(found)
    return replace(found, carried=_carried(found, after, size if new else None))


def _matching(spec: TokenizerSpec, tokens: Entries) -> dict[str, Matching]:
    flags = {one.content: {name: getattr(one, name) for name in FLAGS} for one in tokens.values()}
    return matching_of(flags, bool(spec.normalizer))


def _may_be_reached(spec: TokenizerSpec, tokens: Entries) -> bool:
    """Whether the model may know the text of an added token as its own, if it is not cut out before."""
    marks = spec.continuing_prefix or "", spec.end_of_word or ""
    return spec.whole_pieces or any(is_symbol(one.content, *marks) for one in tokens.values())


def _carried(spec: TokenizerSpec, tokens: Entries, size: int | None) -> dict[str, object]:
    """What the file says in other words than `hf_write` would; size: of a model without all of these."""
    carried = spec.carried.get("huggingface")
    found = dict(carried) if isinstance(carried, Mapping) else {}
    said = [{"id": number, **one._asdict()} for number, one in sorted(tokens.items())]
    found.pop("added_tokens", None)
    if said != write_added(spec):
        found["added_tokens"] = said
    if size is not None:
        found["model_size"] = size
    others = {key: value for key, value in spec.carried.items() if key != "huggingface"}
    return {**others, "huggingface": found} if found else others
