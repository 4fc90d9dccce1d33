"""`tokenizers.processors`: what adds special tokens to an encoding and trims its offsets.

Adds the classes of tokenizers 0.23.3, with their arguments and attributes. Leaves out: truncation and
padding (`_tokenizer`), how templates are read (`_templates`).
"""

from __future__ import annotations

from typing import Any, ClassVar

from syllabary.compat.tokenizers import _component as part
from syllabary.compat.tokenizers import _templates as templates
from syllabary.compat.tokenizers._component import WHERE, Chain, Component, Member
from syllabary.compat.tokenizers._encoding import Encoding
from syllabary.compat.tokenizers._shown import Record
from syllabary.errors import VocabularyError
from syllabary.formats.hf_extras import trims_offsets
from syllabary.formats.strict_json import Json
from syllabary.unicode import rewriting

Piece = tuple[str, int]
SPACE = "Ġ"  # how GPT-2 spells it


class PostProcessor(Component):
    """The base of all post-processors."""

    base = "PostProcessor"
    added: ClassVar[tuple[int, int]] = (0, 0)  # tokens added to one text, to a pair

    @classmethod
    def check(cls, value: object) -> None:
        """Raise `FormatError` for JSON that is none."""
        trims_offsets(Json(value, "$", WHERE))

    @classmethod
    def kind_in(cls, value: object) -> str:
        """Its `type`."""
        return Json(value, "$", WHERE).member("type").string()

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """How many tokens it adds."""
        return self.added[part.flag(is_pair)]

    def process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """One encoding of one or two."""
        encodings = [encoding] if pair is None else [encoding, pair]
        for one in encodings:
            part.instance(one, Encoding)
        encodings = [one._copy() for one in encodings]
        for index, one in enumerate(encodings):
            for each in (one, *one._overflowing):
                each.set_sequence_id(index)
            one._type_ids = [index] * len(one)
        return Encoding.merge(self._process(encodings, add_special_tokens), growing_offsets=False)

    def _process(self, encodings: list[Encoding], special: bool) -> list[Encoding]:
        raise NotImplementedError


def trim(encoding: Encoding, prefix_space: bool) -> None:
    """Take the white space of tokens out of their offsets, of what overflows too.

    prefix_space: one space in front of the first token was put there, and its offset stays.
    """
    spaces = rewriting.members("whitespace")
    for one in (encoding, *encoding._overflowing):
        for index, (token, (start, end)) in enumerate(zip(one._tokens, one._offsets, strict=True)):
            blank = [char == SPACE or char in spaces for char in token]
            front = blank.index(False) if False in blank else len(blank)
            back = blank[::-1].index(False) if False in blank else len(blank)
            if front == 1 and prefix_space and (index == 0 or start == 0):
                front = 0
            start = min(start + front, end)
            if back and end >= back:
                end = max(end - back, start)
            one._offsets[index] = (start, end)


def _token(value: Any) -> list[object]:
    """A pair of a token and its id."""
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError(f"'{type(value).__name__}' object is not an instance of 'tuple'")
    return [part.text(value[0]), part.count(value[1])]


def special(tokens: list[Piece], type_id: int) -> Encoding:
    """Special tokens as an encoding."""
    made = Encoding()
    for text, number in tokens:
        made._add(number, text, type_id, None, (0, 0), special=1)
    return made


def around(
    encoding: Encoding, sequence: int, front: list[Piece], back: list[Piece], type_id: int
) -> Encoding:
    """An encoding between special tokens, and what overflows of it too."""
    found = []
    for one in (encoding, *encoding._overflowing):
        alone = one._part(0, len(one))
        alone._special, alone._attention = [0] * len(one), [1] * len(one)
        alone.set_sequence_id(sequence)
        found.append(Encoding.merge([special(front, type_id), alone, special(back, type_id)], False))
    found[0]._overflowing = found[1:]
    return found[0]


class BertProcessing(PostProcessor):
    """BERT's: `[CLS] A [SEP] B [SEP]`."""

    kind = "BertProcessing"
    added = (2, 3)
    sep = Member[tuple[str, int]](_token, get=tuple)
    cls = Member[tuple[str, int]](_token, get=tuple, argument="cls_token")

    def _process(self, encodings: list[Encoding], special: bool) -> list[Encoding]:
        if not special:
            return encodings
        first = around(encodings[0], 0, [self.cls], [self.sep], 0)
        return [first, *(around(one, 1, [], [self.sep], 1) for one in encodings[1:])]

    def record(self) -> object:
        """With its tokens as pairs."""
        return Record(str(self.kind), {**self.values, "sep": self.sep, "cls": self.cls})


class RobertaProcessing(PostProcessor):
    """RoBERTa's: `<s> A </s> </s> B </s>`, all of type 0, offsets trimmed if asked to."""

    kind = "RobertaProcessing"
    added = (2, 4)
    sep = Member[tuple[str, int]](_token, get=tuple)
    cls = Member[tuple[str, int]](_token, get=tuple, argument="cls_token")
    trim_offsets = Member[bool](part.flag, True)
    add_prefix_space = Member[bool](part.flag, True)

    def _process(self, encodings: list[Encoding], special: bool) -> list[Encoding]:
        for one in encodings:
            if self.trim_offsets:
                trim(one, self.add_prefix_space)
            one._type_ids = [0] * len(one)
            for each in one._overflowing if special else ():
                each._type_ids = [0] * len(each)
        if not special:
            return encodings
        first = around(encodings[0], 0, [self.cls], [self.sep], 0)
        return [first, *(around(one, 1, [self.sep], [self.sep], 0) for one in encodings[1:])]

    def record(self) -> object:
        """With its tokens as pairs."""
        return Record(str(self.kind), {**self.values, "sep": self.sep, "cls": self.cls})


def _or(default: bool) -> Any:
    return lambda value: default if value is None else part.flag(value)


class ByteLevel(PostProcessor):
    """Takes white space out of offsets."""

    kind = "ByteLevel"
    ignores = True
    add_prefix_space = Member[bool](_or(True), True)
    trim_offsets = Member[bool](_or(True), True)
    use_regex = Member[bool](_or(True), True)

    def _process(self, encodings: list[Encoding], special: bool) -> list[Encoding]:
        for index, one in enumerate(encodings):
            if self.trim_offsets:
                trim(one, self.add_prefix_space)
            one.set_sequence_id(index)
        return encodings


class TemplateProcessing(PostProcessor):
    """Puts texts and special tokens where a template says: `"[CLS] $A [SEP] $B:1 [SEP]:1"`."""

    kind = "TemplateProcessing"

    def __init__(self, single: Any = None, pair: Any = None, special_tokens: Any = None) -> None:
        """single, pair: templates, as text or as a list. special_tokens: `(token, id)` either way round, or
        `{"id", "ids", "tokens"}`. `ValueError` for templates that are none, or name other tokens."""
        tokens = templates.read_tokens(special_tokens or [])
        self.changes = 0
        self.values = {
            "single": templates.read("$A" if single is None else single),
            "pair": templates.read("$A:0 $B:1" if pair is None else pair),
            "special_tokens": dict(sorted(tokens.items())),
        }
        templates.check(self.values)

    @property
    def single(self) -> str:
        """The template of one text, as Rust shows it."""
        return templates.debug(self.values["single"])

    @single.setter
    def single(self, single: Any) -> None:
        """Another one."""
        self.values["single"] = templates.read(single)
        self.changes += 1

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """How many tokens it adds."""
        pieces = templates.pieces(self.values["pair" if part.flag(is_pair) else "single"])
        return sum(len(self._tokens(name)) for kind, name, _type in pieces if kind == "SpecialToken")

    def _tokens(self, name: str) -> list[Piece]:
        one = self.values["special_tokens"].get(name)
        if one is None:
            raise VocabularyError(f"the template has {name!r}, and its special_tokens do not name it")
        return list(zip(one["tokens"], one["ids"], strict=True))

    def _process(self, encodings: list[Encoding], special_too: bool) -> list[Encoding]:
        found = []
        for kind, name, type_id in templates.pieces(self.values["single" if len(encodings) == 1 else "pair"]):
            if kind == "Sequence":
                index = int(name != "A")
                encodings[index]._type_ids = [type_id] * len(encodings[index])
                encodings[index].set_sequence_id(index)
                found.append(encodings[index]._copy())
            elif special_too:
                found.append(special(self._tokens(name), type_id))
        return found

    def __setstate__(self, state: bytes) -> None:
        """From its JSON."""
        super().__setstate__(state)

    @classmethod
    def members(cls) -> list[Member[Any]]:
        """What its JSON has."""
        return [Member(templates.read, name=name) for name in ("single", "pair", "special_tokens")]

    def record(self) -> object:
        """Templates and tokens."""
        return templates.record(self.values)


class Sequence(Chain, PostProcessor):
    """Post-processors one after the other."""

    kind = "Sequence"
    listed = "processors"
    item = "processor"

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """How many tokens they add."""
        pair = part.flag(is_pair)
        return sum(one.num_special_tokens_to_add(pair) for one in self.children)  # type: ignore[attr-defined]

    def _process(self, encodings: list[Encoding], special: bool) -> list[Encoding]:
        for one in self.children:
            encodings = one._process(encodings, special)  # type: ignore[attr-defined]
        return encodings
