"""`AddedToken`, and the tokens that were added to a tokenizer.

Adds both; ids are given as tokenizers 0.23.3 gives them. Leaves out: where they are found in text
(`_pipeline`, the engine).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from syllabary.compat.tokenizers._values import flag, text

FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


class AddedToken:
    """A token that is found in text before the model sees it.

    single_word: only as a word of its own. lstrip, rstrip: takes the white space on that side along.
    normalized: found in normalized text, as what it is normalized to; by default unless it is special.
    special: left out of decoded text.
    """

    def __init__(self, content: str | None = None, **kwargs: bool) -> None:
        """From its text and flags."""
        self.content = "" if content is None else content
        self.special = False
        self._flags: dict[str, bool] = {}
        for name, value in kwargs.items():
            if name == "special":
                self.special = value
            elif name in FLAGS:
                self._flags[name] = flag(value)
            else:
                print(f"Ignored unknown kwarg option {name}")  # noqa: T201 (as theirs does)

    @property
    def content(self) -> str:
        """Its text."""
        return self._content

    @content.setter
    def content(self, content: str) -> None:
        """Another one."""
        self._content = text(content)

    @property
    def special(self) -> bool:
        """Whether it is left out of decoded text."""
        return self._special

    @special.setter
    def special(self, special: bool) -> None:
        """Say so."""
        self._special = flag(special)

    @property
    def single_word(self) -> bool:
        """Whether it is found only as a word of its own."""
        return self._flags.get("single_word", False)

    @property
    def lstrip(self) -> bool:
        """Whether it takes the white space in front along."""
        return self._flags.get("lstrip", False)

    @property
    def rstrip(self) -> bool:
        """Whether it takes the white space behind along."""
        return self._flags.get("rstrip", False)

    @property
    def normalized(self) -> bool:
        """Whether it is found in normalized text."""
        return self._flags.get("normalized", not self.special)

    def __getstate__(self) -> dict[str, Any]:
        """Text and flags."""
        flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
        return {"content": self.content, **{name: getattr(self, name) for name in flags}}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """From text and flags."""
        self.content, self.special = state["content"], state["special"]
        self._flags = {name: state[name] for name in FLAGS if name != "special"}

    def __str__(self) -> str:
        """Its text."""
        return self.content

    def __repr__(self) -> str:
        """Text and flags."""
        flags = ("rstrip", "lstrip", "single_word", "normalized", "special")
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in flags)
        return f'AddedToken("{self.content}", {shown})'

    def __eq__(self, other: object) -> bool:
        """Whether text and flags are the same."""
        if not isinstance(other, AddedToken):
            return NotImplemented
        return self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        """Of the text."""
        return hash(self.content)

    def _copy(self) -> AddedToken:
        copy = AddedToken()
        copy.__setstate__(self.__getstate__())
        return copy


class _Vocabulary(Protocol):
    def token_to_id(self, token: str) -> int | None: ...
    def _size(self) -> int: ...


def read_tokens(tokens: Any, special: bool) -> list[AddedToken]:
    """What is given to `add_tokens` and `add_special_tokens`; the latter make their tokens special."""
    if not isinstance(tokens, list):
        raise TypeError(f"'{type(tokens).__name__}' object is not an instance of 'list'")
    found = []
    for token in tokens:
        if isinstance(token, str):
            found.append(AddedToken(token, special=special))
        elif isinstance(token, AddedToken):
            token.special = token.special or special
            found.append(token._copy())
        else:
            raise TypeError("Input must be a List[Union[str, AddedToken]]")
    return found


class AddedTokens:
    """The tokens that were added: text -> id, and id -> token."""

    def __init__(self) -> None:
        """None yet."""
        self.ids: dict[str, int] = {}
        self.tokens: dict[int, AddedToken] = {}
        self.special: set[str] = set()
        self.changes = 0

    def add(self, tokens: Iterable[AddedToken], model: _Vocabulary) -> int:
        """Add tokens: one that the model has keeps its id, others get the next; how many were not there."""
        size = model._size()
        last = max(self.tokens, default=None)
        following = size if last is None or (last < size and size) else last + 1
        added = 0
        for token in tokens:
            text = token.content
            if not text or (text in self.ids and self.tokens.get(self.ids[text]) == token):
                continue
            number = self.ids.get(text)
            if number is None:
                number = model.token_to_id(text)
            if number is None:
                number = following
                following += 1
            self.ids[text] = number
            self.tokens[number] = token
            if token.special:
                self.special.add(text)
            added += 1
        self.changes += 1
        return added

    def json(self) -> list[dict[str, Any]]:
        """As `tokenizer.json` lists them, by id."""
        return [{"id": number, **token.__getstate__()} for number, token in self]

    def __iter__(self) -> Iterator[tuple[int, AddedToken]]:
        """Ids and tokens, by id."""
        return iter(sorted(self.tokens.items()))
