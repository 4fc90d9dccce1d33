"""Arguments of full encodings: texts and pairs, padding, truncation, post-processors.

Adds one function for each: what is of the wrong type or size is an error that names it. Leaves out: what they
do (`reference.full`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, get_args

from syllabary.arguments import check_choice, integer, iterated
from syllabary.errors import VocabularyError
from syllabary.framing import (
    BertProcessing,
    Framing,
    Padding,
    PostProcessor,
    RobertaProcessing,
    Side,
    Slot,
    SpecialSlot,
    Strategy,
    TemplateProcessing,
    Truncation,
)
from syllabary.reference.postprocess import tokens_of
from syllabary.reference.symbols import plural, there_are

Pads = Callable[[], Padding | None]
MOST = 2**31 - 1
LONGEST = 2**24  # tokens that a row is padded to


def read_texts(texts: Any, pairs: Any, is_pretokenized: bool) -> list[tuple[Any, Any]]:
    """Texts, each with its pair or None; words as a tuple.

    `TypeError` for anything else, `ValueError` for pairs of another number.
    """
    firsts = texts if type(texts) is list else list(iterated("texts", texts, "str"))
    if pairs is None and not is_pretokenized and {*map(type, firsts)} == {str}:
        return [(text, None) for text in firsts]
    seconds = [None] * len(firsts) if pairs is None else list(iterated("pairs", pairs, "str or None"))
    if len(seconds) != len(firsts):
        raise ValueError(
            f"{there_are(len(firsts), 'text')} and {plural(len(seconds), 'pair')}: give one pair a text, or "
            "None"
        )
    if is_pretokenized:
        firsts = [_words(f"texts[{index}]", text) for index, text in enumerate(firsts)]
        seconds = [one if one is None else _words(f"pairs[{at}]", one) for at, one in enumerate(seconds)]
        return list(zip(firsts, seconds, strict=True))
    for name, many in (("texts", firsts), ("pairs", seconds)):
        for index, text in enumerate(many):
            if not isinstance(text, str) and (text is not None or name == "texts"):
                raise TypeError(
                    f"{name}[{index}] is {type(text).__name__}: give str, or is_pretokenized=True for words"
                )
    return list(zip(firsts, seconds, strict=True))


def _words(name: str, words: Any) -> tuple[str, ...]:
    if isinstance(words, str):
        raise TypeError(f"{name} is a str, and is_pretokenized=True: give a list of words")
    found = tuple(iterated(name, words, "str"))
    for index, word in enumerate(found):
        if not isinstance(word, str):
            raise TypeError(f"{name}[{index}] is {type(word).__name__}: give str")
    return found


def asked_framing(
    own: Framing, post_processor: Any, truncation: Any, padding: Any, pads: Pads = lambda: None
) -> Framing:
    """What the arguments ask for, or where they are None what the tokenizer says; checked.

    pads: gives how a tokenizer pads that is asked to and does not say it in its framing, if it can.
    """
    processors = own.post_processor
    if post_processor is not None:
        processors = tuple(iterated("post_processor", post_processor, "post-processors"))
        check_processors(processors)
    return Framing(processors, _truncation(own, truncation), _padding(own, padding, pads))


def checked_framing(given: Any) -> Framing:
    """The same, every part of it checked as an argument is."""
    if not isinstance(given, Framing):
        raise TypeError(f"framing is {type(given).__name__}: give syllabary.framing.Framing")
    return asked_framing(Framing(), given.post_processor, given.truncation, given.padding)


def check_processors(processors: Sequence[Any]) -> None:
    """`TypeError` for what is no post-processor, `VocabularyError` for a template's unknown tokens."""
    for at, one in enumerate(processors):
        if not isinstance(one, get_args(PostProcessor)):
            raise TypeError(f"post_processor[{at}] is {type(one).__name__}: give {_listed(PostProcessor)}")
        if isinstance(one, TemplateProcessing):
            check_template(one)
        elif isinstance(one, (BertProcessing, RobertaProcessing)):
            ends: dict[str, Any] = {"sep": one.sep, "cls": one.cls}
            for name, end in ends.items():
                if not isinstance(end, tuple | list) or len(end) != 2 or not isinstance(end[0], str):
                    raise TypeError(f"post_processor[{at}].{name} is {end!r}: give (spelling, id)")
                check_size(f"post_processor[{at}].{name}[1]", end[1])


def check_template(template: TemplateProcessing) -> None:
    """`VocabularyError` for a name that it does not explain, or whose ids and spellings are not as many."""
    for slot in (*template.single, *template.pair):
        if isinstance(slot, SpecialSlot):
            found = tokens_of(template, slot.name)
            if len(found.ids) != len(found.tokens):
                raise VocabularyError(
                    f"the template's {slot.name!r} has not as many ids as spellings: {found}"
                )
            for token_id in found.ids:
                check_size(f"the template's id of {slot.name!r}", token_id)
        elif not isinstance(slot, get_args(Slot)) or slot.text not in ("A", "B"):
            raise TypeError(f"a template has slots for texts and special tokens, not {slot!r}")
        check_size(f"the type id of {slot}", slot.type_id)


def _truncation(own: Framing, asked: Any) -> Truncation | None:
    if asked is None:
        return own.truncation
    if isinstance(asked, bool):
        if asked and own.truncation is None:
            raise ValueError("truncation=True, and the tokenizer does not say how: give a number of tokens")
        return own.truncation if asked else None
    if isinstance(asked, str):
        raise TypeError(f"truncation is {asked!r}: give a number of tokens, True, False or a Truncation")
    found = asked if isinstance(asked, Truncation) else Truncation(integer("truncation", asked))
    check_size("truncation.max_length", found.max_length)
    check_size("truncation.stride", found.stride)
    check_choice("truncation.strategy", found.strategy, get_args(Strategy))
    check_choice("truncation.direction", found.direction, get_args(Side))
    return found


def _padding(own: Framing, asked: Any, pads: Pads) -> Padding | None:
    if asked is None or asked is False:
        return own.padding if asked is None else None
    found: Padding = asked if isinstance(asked, Padding) else _own_padding(own.padding or pads, asked)
    length: Any = found.length
    if length != "longest":
        if length is None or isinstance(length, str):
            raise TypeError(f'padding.length is {length!r}: give an integer or "longest"')
        check_size("padding.length", length, LONGEST)
    if found.multiple_of is not None:
        check_size("padding.multiple_of", found.multiple_of, LONGEST)
    check_size("padding.pad_id", found.pad_id)
    check_size("padding.pad_type_id", found.pad_type_id)
    check_choice("padding.direction", found.direction, get_args(Side))
    check_string("padding.pad_token", found.pad_token)
    return found


def _own_padding(own: Padding | Pads, asked: Any) -> Padding:
    """The tokenizer's, to another length."""
    length: Any = "longest"
    if isinstance(asked, str):
        if asked != "longest":
            raise ValueError(
                f'padding is {asked!r}: give "longest", a number of tokens, True, False or a Padding'
            )
    elif asked is not True:
        length = integer("padding", asked)
    found = own if isinstance(own, Padding) else own()
    if found is None:
        raise ValueError(
            f"padding={asked!r}, and the tokenizer names no pad token: give "
            "padding=Padding(pad_id=..., pad_token=...), or a tokenizer with one (with_framing, or "
            "with_settings of a special token)"
        )
    return replace(found, length=length)


def check_string(name: str, value: Any) -> None:
    """`TypeError` that names it for what is no str."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}: give str")


def check_size(name: str, value: Any, most: int = MOST) -> None:
    """`TypeError` that names it for what is no integer, `ValueError` for one below 0 or above the most."""
    if not 0 <= integer(name, value) <= most:
        raise ValueError(f"{name} is {value}: give 0 to {most}")


def _listed(union: Any) -> str:
    return ", ".join(one.__name__ for one in get_args(union))
