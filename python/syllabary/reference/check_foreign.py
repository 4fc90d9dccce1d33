"""What the fields for tokenizers of other libraries may not be: a part of `check`.

Adds `check_foreign`, called when all parts of a specification are of their types and ids in their range.
Leaves out: the fields that our own tokenizers have (`check`), and the options of steps (`steps`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import NoneType
from typing import get_args

from syllabary.errors import VocabularyError
from syllabary.reference import steps
from syllabary.reference.symbols import shown
from syllabary.spec import Matching, Stage, TokenizerSpec

LARGEST_SCORE = (2 - 2**-23) * 2.0**127  # the largest finite number of 32 bits


def field_types(spec: TokenizerSpec) -> list[tuple[str, object, type | tuple[type, ...]]]:
    """Each field with its name and the types that it may be of."""
    return [
        ("normalizer", spec.normalizer, tuple),
        ("pretokenizer", spec.pretokenizer, tuple),
        ("decoder", spec.decoder, (tuple, NoneType)),
        ("matching", spec.matching, Mapping),
        ("scores", spec.scores, (Mapping, NoneType)),
        ("unused", spec.unused, frozenset),
        ("unknown", spec.unknown, (int, NoneType)),
        ("fuse_unknown", spec.fuse_unknown, bool),
        ("byte_tokens", spec.byte_tokens, Mapping),
        ("continuing_prefix", spec.continuing_prefix, (str, NoneType)),
        ("mark_apart", spec.mark_apart, bool),
        ("dropout", spec.dropout, (float, int)),
        ("trim_offsets", spec.trim_offsets, bool),
        ("surface_offsets", spec.surface_offsets, bool),
        ("single_precision", spec.single_precision, bool),
        ("carried", spec.carried, Mapping),
        ("longest_piece", spec.longest_piece, (int, NoneType)),
    ]


def check_foreign(spec: TokenizerSpec) -> None:
    """Raise `VocabularyError` for values out of range, ids that do not exist, parts that do not go together.

    `PatternError` for a pattern of a step that cannot be used.
    """
    steps.validate_steps(spec.normalizer, spec.pretokenizer, spec.decoder)
    check_matching(spec)
    check_byte_tokens(spec)
    check_unknown(spec)
    check_scores(spec)
    check_marks(spec)
    check_spellings(spec)
    if isinstance(spec.dropout, bool) or not 0 <= spec.dropout <= 1:
        raise VocabularyError(f"dropout is {spec.dropout}: give a probability from 0 to 1")
    if spec.trim_offsets and (spec.unit == "word" or (spec.scores is not None and spec.model == "bpe")):
        raise VocabularyError('trim_offsets=True needs unit="byte" or "char", and no scores to merge by')


def check_matching(spec: TokenizerSpec) -> None:
    """How tokens are found: of tokens that there are, and with choices that there are."""
    for name, found in spec.matching.items():
        if name not in spec.special_tokens and name not in spec.added_tokens:
            raise VocabularyError(f"matching names {shown(name)}, which is no special or added token")
        if not isinstance(found, Matching):
            raise VocabularyError(f"matching: {shown(name)} is {shown(found)}: give a Matching")
        if found.stage not in get_args(Stage):
            raise VocabularyError(
                f"matching: the stage of {shown(name)} is {shown(found.stage)}, "
                f"which is none of {', '.join(get_args(Stage))}"
            )
        for flag in ("single_word", "lstrip", "rstrip"):
            if not isinstance(getattr(found, flag), bool):
                raise VocabularyError(
                    f"matching: {flag} of {shown(name)} is {shown(getattr(found, flag))}: give bool"
                )


def check_byte_tokens(spec: TokenizerSpec) -> None:
    """Tokens that stand for a byte: each for its own; an unused one may be given before the one in use."""
    if spec.byte_tokens and spec.unit != "char":
        raise VocabularyError(f'byte_tokens need unit="char", not {spec.unit!r}')
    before: dict[int, int] = {}
    for token_id, value in spec.byte_tokens.items():
        if type(token_id) is not int or token_id not in spec.tokens:
            raise VocabularyError(f"byte_tokens: id {shown(token_id)} is no token")
        if type(value) is not int or not 0 <= value <= 255:
            raise VocabularyError(f"byte_tokens: the byte of id {token_id} is {shown(value)}: give 0 to 255")
        if value in before and before[value] not in spec.unused:
            raise VocabularyError(
                f"byte_tokens: ids {before[value]} and {token_id} are both byte 0x{value:02X}"
            )
        if spec.tokens[token_id] != bytes([value]):
            token = shown(spec.tokens[token_id])
            raise VocabularyError(f"byte_tokens: id {token_id} is byte 0x{value:02X}, but the token {token}")
        before[value] = token_id


def check_unknown(spec: TokenizerSpec) -> None:
    """The unknown token is one of the tokens."""
    if spec.unknown is None:
        return
    if isinstance(spec.unknown, bool):
        raise VocabularyError(f"unknown is {spec.unknown}: give an id, or None")
    if spec.unknown not in spec.tokens and spec.unknown not in {
        *spec.special_tokens.values(),
        *spec.added_tokens.values(),
    }:
        raise VocabularyError(f"unknown is id {shown(spec.unknown)}, which is no token")


def check_scores(spec: TokenizerSpec) -> None:
    """Scores: finite numbers of 32 bits, of tokens that may be made, without a merge list."""
    if spec.scores is None:
        if spec.unused:
            raise VocabularyError("unused needs scores: only merging by score cuts a token again")
        return
    if spec.merges is not None:
        raise VocabularyError("scores with merges: give merges=None, or scores=None")
    for name in ("end_of_word", "continuing_prefix", "whole_pieces", "mark_apart"):
        if getattr(spec, name) not in (None, False):
            raise VocabularyError(f"scores with {name}={getattr(spec, name)!r}: merging by score has none")
    if spec.unit != "char":
        raise VocabularyError(f'scores need unit="char", not {spec.unit!r}')
    known: Collection[int] = spec.tokens.keys()
    if spec.model == "unigram":  # there the lowest score counts, whoever has it
        known = {*known, *spec.special_tokens.values(), *spec.added_tokens.values()}
    if not {*map(type, spec.scores)} <= {int} or not all(map(known.__contains__, spec.scores)):
        wrong = next(key for key in spec.scores if type(key) is not int or key not in known)
        raise VocabularyError(f"scores: id {shown(wrong)} is no token")
    scores = spec.scores.values()
    if not are_scores(scores):
        token_id = next(key for key, score in spec.scores.items() if not is_score(score))
        score = shown(spec.scores[token_id])
        raise VocabularyError(f"scores: that of id {token_id} is {score}: give a finite number of 32 bits")
    check_scored(spec, spec.scores)


def check_scored(spec: TokenizerSpec, scores: Mapping[int, float]) -> None:
    """Which tokens have a score: none that is a byte, all that are unused."""
    for token_id in spec.byte_tokens:
        if token_id in scores and spec.model == "bpe":
            raise VocabularyError(f"scores: id {token_id} is a byte token, which merging never makes")
    for token_id in spec.unused:
        if token_id not in scores:
            raise VocabularyError(f"unused: id {shown(token_id)} has no score")


def are_scores(values: Collection[object]) -> bool:
    """Whether all are scores, at a glance where all are floats.

    >>> are_scores([-1e30, 0.0]), are_scores([-1, 0.5]), are_scores([0.0, float("nan")])
    (True, True, False)
    """
    if {*map(type, values)} == {float}:
        return all(map(LARGEST_SCORE.__ge__, map(abs, values)))  # type: ignore[arg-type]
    return all(map(is_score, values))


def is_score(value: object) -> bool:
    """Whether a value is a number that is finite in 32 bits.

    >>> is_score(-1e30), is_score(1e39), is_score(float("nan")), is_score(True)
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, (float, int)):
        return False
    return -LARGEST_SCORE <= value <= LARGEST_SCORE


def check_marks(spec: TokenizerSpec) -> None:
    """Marks that can be told from text and that are in the alphabet."""
    if spec.continuing_prefix is not None and spec.unit != "char":
        raise VocabularyError(
            f'continuing_prefix={shown(spec.continuing_prefix)} needs unit="char", not {spec.unit!r}'
        )
    if not spec.mark_apart:
        return
    if spec.end_of_word is None:
        raise VocabularyError("mark_apart=True needs end_of_word: there is no mark to stand apart")
    if spec.end_of_word.encode() not in spec.alphabet:
        raise VocabularyError(
            f"mark_apart=True needs end_of_word={shown(spec.end_of_word)} in the alphabet: "
            "it ends every piece"
        )


def check_spellings(spec: TokenizerSpec) -> None:
    """The steps of a decoder read spellings: every token but a byte needs one."""
    if spec.decoder is None or spec.unit == "byte" or spec.model != "bpe":  # of those all tokens are text
        return
    found = not_utf8(spec)
    if found is not None:
        raise VocabularyError(
            f"token {found} is {shown(spec.tokens[found])}, which the decoder's steps cannot read: "
            "it is no UTF-8, and no byte token"
        )


def not_utf8(spec: TokenizerSpec) -> int | None:
    """The id of the first token that is no UTF-8, and no byte token."""
    spelled = spec.tokens
    if spec.byte_tokens:
        spelled = {token_id: token for token_id, token in spelled.items() if token_id not in spec.byte_tokens}
    try:
        b"\n".join(spelled.values()).decode()  # each by itself: no character goes on behind a line end
        return None
    except UnicodeDecodeError:
        pass
    for token_id, token in spelled.items():
        try:
            token.decode()
        except UnicodeDecodeError:
            return token_id
    return None
