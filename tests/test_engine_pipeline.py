"""The engine on tokenizers of other libraries: equal to the reference on every field of the specification.

Specifications are generated: symbols with marks, lists and scores, tokens of every stage, steps, dropout.
Leaves out what those libraries themselves give (the tests of each format).
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import texts

from syllabary._engine import Tokenizer as Engine
from syllabary.errors import SyllabaryError
from syllabary.reference import ReferenceTokenizer
from syllabary.spec import Matching, SplitSpec, Step, StepValue, TokenizerSpec

LETTERS = ["a", "b", "▁", " ", "é", "\n", "#", "漢"]
SPECIAL = ["<s>", "a", " b", "ab", "▁", "É", "<0x0A>", "b "]
SPLITS = [None, r"\S+|\s+", r"[a-z]+| ?[^a-z]", r"\p{L}+"]


def replace(pattern: str, content: str, regex: bool = False) -> Step:
    """A step of tokenizers."""
    return Step("Replace", {"pattern": pattern, "regex": regex, "content": content})


NORMALIZERS = [
    Step("NFD"), Step("NFKC"), Step("Lowercase"), Step("StripAccents"), Step("Prepend", {"prepend": "▁"}),
    Step("Strip", {"strip_left": True, "strip_right": True}), replace(" ", "▁"), replace("a+", "b", True),
    replace("b", ""),
    Step(
        "SentencePiece",
        {
            "precompiled_charsmap": b"", "add_dummy_prefix": True, "remove_extra_whitespaces": True,
            "escape_whitespaces": True, "treat_whitespace_as_suffix": False,
        },
    ),
]  # fmt: skip
METASPACE: dict[str, StepValue] = {"replacement": "▁", "prepend_scheme": "first", "split": True}
PRETOKENIZERS = [
    Step("Whitespace"), Step("WhitespaceSplit"), Step("Metaspace", METASPACE),
    Step("Metaspace", {**METASPACE, "prepend_scheme": "always", "split": False}),
    Step("Digits", {"individual_digits": True}), Step("Punctuation", {"behavior": "isolated"}),
]  # fmt: skip
BYTE_LEVEL = Step("ByteLevel", {"add_prefix_space": True, "use_regex": True})
SENTENCEPIECE_DECODER: dict[str, StepValue] = {
    "add_dummy_prefix": True, "remove_extra_whitespaces": False, "treat_whitespace_as_suffix": False,
    "unknown_surface": " ⁇ ", "denormalizer_charsmap": b"",
}  # fmt: skip
DECODERS = [
    None, (), (Step("ByteFallback"), Step("Fuse")), (Step("BPEDecoder", {"suffix": "</w>"}),),
    (Step("ByteFallback"), Step("WordPiece", {"prefix": "##", "cleanup": False})),
    (Step("WordPiece", {"prefix": "##", "cleanup": True}),), (Step("Metaspace", METASPACE),),
    (Step("SentencePiece", SENTENCEPIECE_DECODER),), (Step("Join", {"separator": " "}),),
    (Step("ByteLevel"),), (replace("▁", " "), Step("Strip", {"content": " ", "start": 1, "stop": 0})),
]  # fmt: skip
MATCHINGS = st.builds(
    Matching,
    stage=st.sampled_from(["text", "text", "normalized", "frozen", "never"]),
    single_word=st.booleans(),
    lstrip=st.booleans(),
    rstrip=st.booleans(),
)


Draw = Callable[[st.SearchStrategy[Any]], Any]


class Builder:
    """Tokens by id, as a drawn specification gets them, and what it has decided so far."""

    def __init__(self, draw: Draw) -> None:
        """Decide the unit, the marks and whether merging goes by scores."""
        self.draw = draw
        self.tokens: dict[int, bytes] = {}
        self.alphabet: dict[bytes, int] = {}
        self.byte_tokens: dict[int, int] = {}
        self.unit = draw(st.sampled_from(["char", "char", "char", "byte", "word"]))
        self.scored = self.unit == "char" and draw(st.booleans())
        self.plain = self.scored or self.unit == "word"
        self.mark = None if self.plain else draw(st.sampled_from([None, None, "</w>"]))
        self.apart = self.mark is not None and draw(st.booleans())
        prefixed = self.unit == "char" and not self.plain
        self.prefix = draw(st.sampled_from([None, None, "##"])) if prefixed else None
        self.fallback = self.unit != "byte" and draw(st.booleans())

    def add(self, token: bytes) -> int:
        """A new id."""
        self.tokens[len(self.tokens)] = token
        return len(self.tokens) - 1

    def symbol(self, token: bytes) -> None:
        """A token of the alphabet."""
        if token not in self.alphabet:
            self.alphabet[token] = self.add(token)

    def symbols(self) -> None:
        """Letters with all marks that they may have, most of them; marks; whole words."""
        letters = self.draw(st.lists(st.sampled_from(LETTERS), min_size=2, max_size=7, unique=True))
        symbols = [letter.encode() for letter in letters]
        if self.unit == "byte":
            symbols = [bytes([byte]) for byte in "".join(letters).encode()]
        mark = (self.mark or "").encode()
        for symbol in symbols:
            for before in sorted({b"", (self.prefix or "").encode()}):
                for after in sorted({b"", b"" if self.apart else mark}):
                    if self.draw(st.integers(0, 5)):
                        self.symbol(before + symbol + after)
        if mark and (self.apart or (self.unit == "char" and self.draw(st.booleans()))):
            self.symbol(mark)
        for word in ["ab", "a", "▁b", "  "] if self.unit == "word" else []:
            self.symbol(word.encode())

    def bytes_of_fallback(self) -> None:
        """All bytes, or some, as symbols or as tokens of their own."""
        values = self.draw(st.sampled_from([range(256), [10, 32, 0xC3, 0xA9, 35]]))
        if self.unit == "char" and self.draw(st.booleans()):
            self.byte_tokens = {self.add(bytes([byte])): byte for byte in values}
            for token_id, byte in self.byte_tokens.items():
                self.alphabet.setdefault(bytes([byte]), token_id)
        else:
            for byte in values:
                self.symbol(bytes([byte]))

    def merges(self) -> tuple[tuple[int, int, int], ...]:
        """Pairs of tokens that are there; some make a token that is there already."""
        found: list[tuple[int, int, int]] = []
        prefix = (self.prefix or "").encode()
        for _ in range(self.draw(st.integers(0, 14)) if self.tokens else 0):
            left, right = (self.draw(st.sampled_from(sorted(self.tokens))) for _ in "lr")
            joined = self.tokens[left] + self.tokens[right].removeprefix(prefix)
            if joined != self.tokens[left]:
                ids = [token_id for token_id, token in self.tokens.items() if token == joined]
                found.append((left, right, ids[0] if ids else self.add(joined)))
        return tuple(found)

    def scores(self) -> tuple[dict[int, float], frozenset[int]]:
        """Scores of the characters and of some pieces, and which of them are unused."""
        pieces = self.draw(st.lists(st.text("ab▁ é", min_size=2, max_size=4), max_size=12, unique=True))
        ids = [token_id for token_id in self.alphabet.values() if token_id not in self.byte_tokens]
        ids = [i for i in ids if len(self.tokens[i]) > 1 or self.tokens[i] < b"\x80"]
        ids += [self.add(piece.encode()) for piece in pieces if piece.encode() not in self.alphabet]
        values = st.sampled_from([-3.0, -2.0, -1.0, -0.5, 0.0, -0.0, 2.0])
        unused = frozenset(self.draw(st.lists(st.sampled_from(ids)))) if ids else frozenset()
        return {i: self.draw(values) for i in ids}, unused

    def decoder(self) -> tuple[Step, ...] | None:
        """Steps, if all tokens have a spelling."""
        spelled = [token for token_id, token in self.tokens.items() if token_id not in self.byte_tokens]
        whole = all(token.decode("utf-8", "ignore").encode() == token for token in spelled)
        return self.draw(st.sampled_from(DECODERS)) if whole or self.unit == "byte" else None


@st.composite
def foreign_specs(draw: Draw) -> TokenizerSpec:
    """A tokenizer of characters, bytes or words, with whatever other libraries have around it."""
    made = Builder(draw)
    made.symbols()
    if made.fallback:
        made.bytes_of_fallback()
    merges = None if made.scored else made.merges()
    scores, unused = made.scores() if made.scored else (None, frozenset[int]())
    unknown = draw(st.sampled_from([None, made.add(b"<unk>")]))
    names = draw(st.lists(st.sampled_from(SPECIAL), max_size=4, unique=True))
    ids = {name: 1000 + number for number, name in enumerate(names)}
    flagged = draw(st.sets(st.sampled_from(names))) if names else set()
    steps = [*PRETOKENIZERS, BYTE_LEVEL] if made.unit == "char" else PRETOKENIZERS
    return TokenizerSpec(
        unit=made.unit,
        split=SplitSpec(draw(st.sampled_from(SPLITS)), keep_unmatched=draw(st.booleans())),
        tokens=made.tokens,
        alphabet=made.alphabet,
        merges=merges,
        special_tokens=dict(list(ids.items())[::2]),
        added_tokens=dict(list(ids.items())[1::2]),
        end_of_word=made.mark,
        fallback=made.fallback,
        whole_pieces=not made.plain and draw(st.booleans()),
        normalizer=tuple(draw(st.lists(st.sampled_from(NORMALIZERS), max_size=2))),
        pretokenizer=tuple(draw(st.lists(st.sampled_from(steps), max_size=2))),
        decoder=made.decoder(),
        matching={name: draw(MATCHINGS) for name in sorted(flagged)},
        scores=scores,
        unused=unused,
        unknown=unknown,
        fuse_unknown=draw(st.booleans()),
        byte_tokens=made.byte_tokens,
        continuing_prefix=made.prefix,
        mark_apart=made.apart,
        trim_offsets=not made.plain and draw(st.booleans()),
        surface_offsets=draw(st.booleans()),
    )


SAMPLES = st.one_of(
    texts(12),
    st.lists(
        st.sampled_from([*LETTERS, *SPECIAL, "aaaa", "ab", "abab", "  ", "\u3000", "e\u0301"]), max_size=14
    ).map("".join),
)


def outcome(run: Callable[[], object]) -> object:
    """What a call gives, or the class of its error."""
    try:
        return run()
    except SyllabaryError as error:
        return type(error)


@settings(max_examples=max(100, settings().max_examples))
@given(foreign_specs(), SAMPLES, st.sampled_from(["raise", "allow", "text"]))
def test_engine_equals_reference(spec: TokenizerSpec, text: str, policy: str) -> None:
    """Ids, offsets in both units, and which error."""
    reference, engine = ReferenceTokenizer(spec), Engine(spec)
    expected = outcome(lambda: reference.encode(text, policy))
    assert outcome(lambda: engine.encode(text, policy)) == expected
    if isinstance(expected, list):
        assert engine.count(text, policy) == len(expected)
        assert engine.decode_bytes(expected) == reference.decode_bytes(expected)
        for unit in ("char", "byte"):
            spans = [tuple(span) for span in engine.offsets(text, policy, unit == "char").tolist()]
            assert spans == reference.offsets(text, unit, policy)


@settings(max_examples=max(100, settings().max_examples))
@given(foreign_specs(), st.data())
def test_any_ids_decode_as_in_the_reference(spec: TokenizerSpec, data: st.DataObject) -> None:
    """Spellings and classes of every token, in any order."""
    known = sorted({*spec.tokens, *spec.special_tokens.values(), *spec.added_tokens.values()})
    ids = data.draw(st.lists(st.sampled_from(known), max_size=12))
    reference, engine = ReferenceTokenizer(spec), Engine(spec)
    assert engine.decode_bytes(ids) == reference.decode_bytes(ids)
    assert engine.decode(ids) == reference.decode(ids)


@settings(max_examples=max(100, settings().max_examples))
@given(foreign_specs(), SAMPLES, st.sampled_from([0.1, 0.5, 0.9, 1.0]), st.integers(0, 2**64 - 1))
def test_dropout_equals_reference(spec: TokenizerSpec, text: str, dropout: float, seed: int) -> None:
    """The same coins, the same ids; in a batch each text has its own."""
    reference, engine = ReferenceTokenizer(spec), Engine(spec)
    expected = outcome(lambda: reference.encode(text, "allow", dropout, seed))
    assert outcome(lambda: engine.encode(text, "allow", dropout, seed)) == expected
    # With other coins a token may stay unknown symbols.
    batch = outcome(lambda: [reference.encode(text, "allow", dropout, seed, index) for index in range(3)])
    assert outcome(lambda: engine.encode_batch([text] * 3, "allow", 2, dropout, seed)) == batch


IDS = st.one_of(
    st.integers(0, 40), st.integers(990, 1010), st.sampled_from([2**24, 2**32 - 2, 2**32 - 1, 2**31])
)
GARBAGE: dict[str, st.SearchStrategy[Any]] = {
    "unit": st.sampled_from(["byte", "char", "word"]),
    "tokens": st.dictionaries(IDS, st.binary(max_size=3), max_size=8),
    "alphabet": st.dictionaries(st.binary(max_size=3), IDS, max_size=8),
    "merges": st.one_of(st.none(), st.lists(st.tuples(IDS, IDS, IDS), max_size=4).map(tuple)),
    "special_tokens": st.dictionaries(st.sampled_from(["", "a", "</w>", "é", "<s>"]), IDS, max_size=3),
    "added_tokens": st.dictionaries(st.sampled_from(["", "a", "</w>", "é", "<s>"]), IDS, max_size=3),
    "end_of_word": st.sampled_from([None, "", "a", "</w>", "▁"]),
    "continuing_prefix": st.sampled_from([None, "", "a", "##", "▁"]),
    "mark_apart": st.booleans(),
    "fallback": st.booleans(),
    "whole_pieces": st.booleans(),
    "scores": st.one_of(st.none(), st.dictionaries(IDS, st.floats(), max_size=5)),
    "unused": st.frozensets(IDS, max_size=3),
    "unknown": st.one_of(st.none(), IDS),
    "byte_tokens": st.dictionaries(IDS, st.integers(0, 255), max_size=5),
    "trim_offsets": st.booleans(),
    "surface_offsets": st.booleans(),
}


def some_garbage() -> st.SearchStrategy[dict[str, Any]]:
    """Other values for one to three fields."""
    names = st.lists(st.sampled_from(sorted(GARBAGE)), min_size=1, max_size=3, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({name: GARBAGE[name] for name in chosen}))


@settings(max_examples=max(100, settings().max_examples))
@given(foreign_specs(), some_garbage(), SAMPLES)
def test_wrong_specifications_are_refused_or_run(
    spec: TokenizerSpec, wrong: dict[str, Any], text: str
) -> None:
    """The engine checks for itself: an error of ours, never a panic, whoever made the record."""
    with contextlib.suppress(SyllabaryError):
        engine = Engine(dataclasses.replace(spec, **wrong))
        for dropout in (0.0, 0.5):
            engine.decode_bytes(engine.encode(text, "allow", dropout))
        engine.offsets(text, "allow", True)
