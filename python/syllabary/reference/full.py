"""Full encodings: text or pair -> ids with all there is to know of them, truncated, framed, padded.

    text --encode--> row --truncate--> parts --post-process--> row --pad--> row

Adds `encode_full`, `encode_full_batch`, and a text alone with its words and offsets. Leaves out: each step
(`truncation`, `postprocess`, `encoding`), and ids (`tokenizer`).
Source: tokenizers 0.23.3, `tokenizer/mod.rs`, `post_process`.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import count
from typing import Literal

from syllabary.framing import Framing, Padding
from syllabary.reference.check_models import check_drops
from syllabary.reference.dropout import Coins
from syllabary.reference.encoding import Encoding, joined, pad
from syllabary.reference.groups import Fixed, Scored, Token
from syllabary.reference.models import Modelled
from syllabary.reference.postprocess import added, process
from syllabary.reference.special import Policy
from syllabary.reference.spellings import model_spellings
from syllabary.reference.tokenizer import ReferenceTokenizer, to_characters
from syllabary.reference.truncation import truncate
from syllabary.spec import TokenizerSpec

OffsetUnit = Literal["char", "byte"]
Text = str | Sequence[str]  # words, if it is no str
BYTES = 256


@dataclass(frozen=True, slots=True)
class Asked:
    """What is done with every text of a batch. dropout, seed: as in `encode`."""

    framing: Framing
    special: Policy = "raise"
    add_special_tokens: bool = True
    offsets: OffsetUnit = "char"
    dropout: float | None = None
    seed: int | None = None


Draws = Iterator[Coins | None]  # the coins of each text, pair and word, in order


def encode_full(tokenizer: ReferenceTokenizer, text: Text, pair: Text | None, asked: Asked) -> Encoding:
    """The full encoding of a text, or of a text and its pair."""
    return encode_full_batch(tokenizer, [(text, pair)], asked)[0]


def encode_full_batch(
    tokenizer: ReferenceTokenizer, texts: Iterable[tuple[Text, Text | None]], asked: Asked
) -> list[Encoding]:
    """The full encodings of texts, each with its pair or None; they are padded together.

    Raises what `encode` and the steps do.
    """
    draws = _draws(tokenizer.spec, asked)
    rows = [_row(tokenizer, text, pair, asked, draws) for text, pair in texts]
    padding = asked.framing.padding
    if padding is None:
        return rows
    length = padded_length(max(map(len, rows), default=0), padding)
    return [pad(row, length, padding) for row in rows]


def _draws(spec: TokenizerSpec, asked: Asked) -> Draws:
    """The coins of one text after the other; `None` without dropout."""
    probability = spec.dropout if asked.dropout is None else asked.dropout
    check_drops(spec, probability)
    seed = secrets.randbits(64) if asked.seed is None else asked.seed
    return (Coins(probability, seed, index) if probability else None for index in count())


def padded_length(longest: int, padding: Padding) -> int:
    """The length that rows are filled up to."""
    length = longest if padding.length == "longest" else padding.length
    multiple = padding.multiple_of or 1
    return -(-length // multiple) * multiple


def _row(
    tokenizer: ReferenceTokenizer, text: Text, pair: Text | None, asked: Asked, draws: Draws
) -> Encoding:
    """A row before padding."""
    given = [text] if pair is None else [text, pair]
    texts = [alone(tokenizer, one, asked, draws) for one in given]
    for index, one in enumerate(texts):
        one.type_ids = [index] * len(one)
    processors, truncation = asked.framing.post_processor, asked.framing.truncation
    if truncation is not None:
        more = added(processors, len(texts)) if asked.add_special_tokens else 0
        texts = truncate(texts, truncation, more)
    return process(texts, processors, asked.add_special_tokens)


def alone(tokenizer: ReferenceTokenizer, text: Text, asked: Asked, draws: Draws) -> Encoding:
    """A text by itself; of words, each is encoded by itself."""
    if isinstance(text, str):
        return _text(tokenizer, text, asked, next(draws))
    words = [_text(tokenizer, word, asked, next(draws)) for word in text]
    for index, word in enumerate(words):
        word.word_ids = [index] * len(word)
    return reduce(joined, words, Encoding())


def _text(tokenizer: ReferenceTokenizer, text: str, asked: Asked, coins: Coins | None) -> Encoding:
    names = model_spellings(tokenizer.spec)
    row = Encoding()
    for token, word, taken in _tokens(tokenizer, text, asked.special, coins):
        row.ids.append(token.id)
        row.tokens.append(names[token.id] if taken is None else taken)
        row.offsets.append((token.spans[0][0], token.spans[-1][1]))
        row.word_ids.append(word)
    if asked.offsets == "char":
        row.offsets = to_characters(row.offsets, text)
    row.type_ids, row.special_tokens_mask = [0] * len(row), [0] * len(row)
    row.attention_mask = [1] * len(row)
    return row


def _tokens(
    tokenizer: ReferenceTokenizer, text: str, special: Policy, coins: Coins | None
) -> Iterator[tuple[Token, int, str | None]]:
    """Each token, the number of its piece, and the text that it was found as, if it was found.

    What is merged together counts as one piece: all text between two tokens that are found, where merging
    goes by scores or joins words.
    """
    number = -1
    for group in tokenizer.all_known(text, special):
        found = list(group.fixed.values()) if isinstance(group, Scored) else []
        texts = iter(
            unknown_texts(group, spelled_as_found(tokenizer.spec)) if isinstance(group, Modelled) else ()
        )
        last: object = group
        for token in group.tokens(coins):
            fixed = next((one for one in found if one is token), None)
            number += last is not fixed or fixed is not None
            last = fixed
            taken = group.text if isinstance(group, Fixed) else None
            if isinstance(group, Modelled) and tokenizer.spec.model == "unigram":
                taken = next(texts, None)
            yield token, number, taken


def spelled_as_found(spec: TokenizerSpec) -> int | None:
    """Unigram's unknown token, which is spelled as text; not where it is a byte, and all text has bytes."""
    is_byte = spec.unknown in spec.byte_tokens and len({*spec.byte_tokens.values()}) == BYTES
    return None if spec.model != "unigram" or (spec.fallback and is_byte) else spec.unknown


def unknown_texts(group: Modelled, unknown: int | None) -> Iterator[str | None]:
    """For each token of a piece, if it is the unknown one, its text: Unigram spells it so."""
    parts = list(group.model.states(group.piece))[-1]
    for token_id, start, end in parts:
        if token_id is not None:
            yield group.piece[start:end] if token_id == unknown else None
