"""What a GGUF file says of its tokenizer, key by key, and the tokens that are no ordinary ones.

Adds `File` and the types of tokens. Leaves out: what a model means (`gguf`, `gguf_bert`, `gguf_t5`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from syllabary.errors import FormatError
from syllabary.formats.gguf_container import Value
from syllabary.formats.record import cannot_hold
from syllabary.reference.symbols import plural, shown, there_are
from syllabary.spec import Matching

NAME = "gguf"
PREFIX = "tokenizer."
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
# What the tokenizer's own fields say; other keys are carried along.
LISTS = (
    "ggml.tokens", "ggml.token_type", "ggml.scores", "ggml.merges", "ggml.model", "ggml.precompiled_charsmap"
)  # fmt: skip
SAID = {
    "bert": ("ggml.normalizer.lowercase", "ggml.normalizer.strip_accents", "ggml.unknown_token_id"),
    "t5": ("ggml.add_space_prefix", "ggml.remove_extra_whitespaces", "ggml.unknown_token_id"),
}


class File(NamedTuple):
    """What a file says of its tokenizer."""

    path: Path
    pairs: Mapping[str, Value]

    def error(self, key: str, what: str) -> FormatError:
        """What is wrong, at which key."""
        return FormatError(f"{self.path}: {PREFIX}{key}: {what}")

    def strings(self, key: str) -> list[str]:
        """A list of texts that must be there."""
        value = self.pairs.get(PREFIX + key)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.error(key, "missing, or no list of strings")
        return [one for one in value if isinstance(one, str)]

    def numbers(self, key: str, count: int) -> list[float]:
        """A list of so many numbers, which must be there."""
        value = self.pairs.get(PREFIX + key)
        if not isinstance(value, list) or not all(type(one) in (int, float) for one in value):
            raise self.error(key, "missing, or no list of numbers")
        if len(value) != count:
            raise self.error(key, f"{plural(len(value), 'number')} for {plural(count, 'token')}")
        return [one for one in value if isinstance(one, (int, float))]

    def flag(self, key: str, otherwise: bool) -> bool:
        """A truth value, or what it is where the file does not say it."""
        value = self.pairs.get(PREFIX + key, otherwise)
        if not isinstance(value, bool):
            raise self.error(key, f"is {shown(value)}: true or false")
        return value

    def ids(self, kind: int, kinds: list[int]) -> list[int]:
        """The ids of the tokens of a type."""
        return [token_id for token_id, other in enumerate(kinds) if other == kind]

    def id(self, key: str, otherwise: int, count: int) -> int | None:
        """An id, or what it is where the file does not say it; `None` if no token has that one."""
        value = self.pairs.get(PREFIX + key, otherwise)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.error(key, f"is {shown(value)}: an id")
        if value >= count and PREFIX + key in self.pairs:
            raise self.error(key, f"is {value}, and {there_are(count, 'token')}")
        return value if value < count else None


def check_names(file: File, texts: list[str]) -> None:
    """All tokens have a text, and one of their own."""
    before: dict[str, int] = {}
    for token_id, text in enumerate(texts):
        if not text or text in before:
            why = f"is that of id {before[text]} too" if text else "is empty"
            raise file.error(f"ggml.tokens[{token_id}]", f"the text {shown(text)} {why}")
        before[text] = token_id


def check_apart(texts: Mapping[int, str]) -> None:
    """Raise `FormatError` that names two ids with one text, which a file cannot hold."""
    first: dict[str, int] = {}
    for token_id, text in sorted(texts.items()):
        if first.setdefault(text, token_id) != token_id:
            raise cannot_hold(
                NAME, f"two ids ({first[text]} and {token_id}) with the same spelling {shown(text)}"
            )


def named(file: File, texts: list[str], kinds: list[int]) -> dict[str, object]:
    """The fields of tokens that are no ordinary ones, and what else is carried along."""
    special = sorted([*file.ids(UNKNOWN, kinds), *file.ids(CONTROL, kinds)])
    unused = file.ids(UNUSED, kinds) if file.pairs[PREFIX + "ggml.model"] in ("gpt2", "bert") else []
    model = file.pairs[PREFIX + "ggml.model"]
    lists = {PREFIX + key for key in (*LISTS, *SAID.get(str(model), ()))}
    kept = {key.removeprefix(PREFIX): value for key, value in file.pairs.items() if key not in lists}
    return {
        "special_tokens": {texts[token_id]: token_id for token_id in sorted([*special, *unused])},
        "added_tokens": {texts[token_id]: token_id for token_id in file.ids(USER_DEFINED, kinds)},
        "matching": {texts[token_id]: Matching(stage="never") for token_id in unused},
        "carried": {NAME: kept},
    }
