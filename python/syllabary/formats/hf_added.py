"""The `added_tokens` of Hugging Face's `tokenizer.json`, both ways.

Adds their ids as that library gives them (which may not be those written), and how each is found in text.
Source: tokenizers 0.23.3, `added_vocabulary.rs`. Leaves out: what such a token's name means to the model
(`hf_vocab`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from syllabary.formats.hf_components import NAME, Component
from syllabary.formats.record import cannot_hold
from syllabary.formats.strict_json import Json
from syllabary.reference.symbols import shown
from syllabary.spec import Matching, TokenizerSpec

FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
KEYS = ("id", "content", *FLAGS)


@dataclass(frozen=True, slots=True)
class Added:
    """The added tokens: text -> id of the special and of the other ones, and how they are matched."""

    special: Mapping[str, int]
    other: Mapping[str, int]
    matching: Mapping[str, Matching]

    @property
    def ids(self) -> dict[str, int]:
        """Text -> id of all of them."""
        return {**self.special, **self.other}

    @property
    def plain(self) -> bool:
        """Whether all are found wherever they stand in the text, before anything else happens to it."""
        return all_plain(self.matching)


def all_plain(matching: Mapping[str, Matching]) -> bool:
    """Whether all are found wherever they stand in the text, before anything else happens to it."""
    return not any(one.single_word or one.stage != "text" for one in matching.values())


def read_added(entries: Json, vocab: Mapping[str, int], normalizes: bool, size: int | None = None) -> Added:
    """The added tokens; `FormatError` for one given twice, or whose id would be another in their library.

    normalizes: whether there is a normalizer. Without one, and where all of them or none say `normalized`,
    it makes no difference whether they do. size: how many ids the model has, where some have one name.
    """
    special, other = dict[str, int](), dict[str, int]()
    flags: dict[str, dict[str, bool]] = {}
    new = len(vocab) if size is None else size
    owners = dict[int, str]()  # of ids that are not of the vocabulary, or where it has gaps, of all
    gaps = max(vocab.values(), default=0) >= new
    for entry in entries.list() if entries.value is not None else ():
        entry.object(KEYS)
        text = entry.member("content").string()
        if not text or text in flags:
            raise entry.error(f"the added token {shown(text)} is empty or given twice")
        flags[text] = _flags(entry)
        token_id = vocab.get(text, new)
        if text not in vocab:
            new += 1
            if gaps:
                owners, gaps = {one: name for name, one in vocab.items()}, False
        if entry.member("id").id() != token_id:
            raise entry.error(
                f"the id of {shown(text)} should be {token_id}, which their library would give it"
            )
        if owners.setdefault(token_id, text) != text:
            raise entry.error(f"{shown(text)} has the id {token_id} of {shown(owners[token_id])}")
        (special if flags[text]["special"] else other)[text] = token_id
    return Added(special, other, matching_of(flags, normalizes))


def _flags(entry: Json) -> dict[str, bool]:
    members = entry.object()
    flags = {name: name in members and members[name].boolean() for name in FLAGS}
    if "normalized" not in members:
        flags["normalized"] = not flags["special"]
    return flags


def matching_of(flags: Mapping[str, Mapping[str, bool]], normalizes: bool) -> dict[str, Matching]:
    """Those that are not found plainly in the text, of all by their flags. normalizes: as in `read_added`."""
    staged = normalizes or len({one["normalized"] for one in flags.values()}) > 1
    found = {
        text: Matching(
            stage="normalized" if one["normalized"] and staged else "text",
            single_word=one["single_word"],
            lstrip=one["lstrip"],
            rstrip=one["rstrip"],
        )
        for text, one in flags.items()
    }
    return {text: one for text, one in found.items() if one != Matching()}


def write_added(spec: TokenizerSpec) -> list[Component]:
    """Special and other added tokens, by id; `FormatError` for one that is found otherwise than they can.

    A token that no text holds is left to the vocabulary: there it has its id, and no text reaches it.
    """
    entries = [(token_id, text, True) for text, token_id in spec.special_tokens.items()]
    entries += [(token_id, text, False) for text, token_id in spec.added_tokens.items()]
    return [
        _entry(token_id, text, special, spec.matching.get(text, Matching()))
        for token_id, text, special in sorted(entries)
        if special or spec.matching.get(text, Matching()).stage != "never"
    ]


def _entry(token_id: int, text: str, special: bool, how: Matching) -> Component:
    if how.stage not in ("text", "normalized"):
        raise cannot_hold(NAME, f"the token {shown(text)} of the stage {how.stage!r}")
    return {
        "id": token_id,
        "content": text,
        "single_word": how.single_word,
        "lstrip": how.lstrip,
        "rstrip": how.rstrip,
        "normalized": how.stage == "normalized",
        "special": special,
    }
