"""The engine equals the specification: training, splitting, encoding, offsets, decoding, on drawn text.

Leaves out: the peers (each has its test file) and files (`test_formats`).
"""

from __future__ import annotations

import copy
import dataclasses
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import code_points, corpora, few, texts
from tokenizers import Tokenizer as Peer

import syllabary
from syllabary import splits
from syllabary._engine import Split
from syllabary.formats import huggingface
from syllabary.reference import ReferenceTokenizer, pieces
from syllabary.reference.train import train as reference_train
from syllabary.spec import SplitSpec, TokenizerSpec, TrainOptions
from syllabary.training import train_with

NAMES = splits.names()
PATTERNS = [
    r"\p{L}+|\p{N}{1,2}|[^\p{L}\p{N}]",
    r"(?i:'s|'t|'re)|\w+(?=\s|$)|\w|\s+(?!\S)|[^\w]",
    r"(?<=a)b+|[[:alpha:]&&[^b]]+|\d",
    r"\b\w+\b|\B.|(?s:.)",
    r"(?>\s+)|\S{2,3}+|\S",
    r"(\w)\1|\p{Lu}\p{Ll}*|\P{Z}",
    r"\p{Han}+|\p{Greek}|[\u{0300}-\u{036f}]|(?-i:x)",
]  # fmt: skip


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or the type of what it raises."""
    try:
        return call()
    except syllabary.SyllabaryError as error:
        return type(error)


@st.composite
def train_options(draw: st.DrawFn) -> TrainOptions:
    """Options of every kind that do not contradict each other."""
    unit = draw(st.sampled_from(["byte", "byte", "char", "word"]))
    return TrainOptions(
        split=splits.get(draw(st.sampled_from(NAMES))),
        unit=unit,
        num_merges=draw(st.integers(0, 40)),
        special_tokens=draw(st.sampled_from([(), ("<|endoftext|>",), ("b a", "a b a", "b")])),
        special_first=draw(st.booleans()),
        cut_special=draw(st.booleans()),
        min_frequency=draw(st.integers(1, 4)),
        max_token_length=draw(st.sampled_from([None, None, 1, 2, 3, 5])),
        tie_break=draw(st.sampled_from(["smallest-ids", "first-seen", "largest-pair"])),
        byte_order=draw(st.sampled_from(["raw", "gpt2"])),
        alphabet=draw(st.sampled_from(["all", "seen"])),
        end_of_word=draw(st.sampled_from([None, "</w>", "##"])) if unit == "char" else None,
        fallback=draw(st.booleans()) if unit != "byte" else False,
    )


def without_record(spec: TokenizerSpec) -> TokenizerSpec:
    return dataclasses.replace(spec, record={})


def trained_by_both(documents: list[str], options: TrainOptions) -> tuple[Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", syllabary.EarlyStopWarning)
        by_reference = outcome(lambda: without_record(reference_train(documents, options)))
        by_engine = outcome(lambda: without_record(train_with(documents, options, threads=1).spec))
    return by_reference, by_engine


@settings(max_examples=max(100, settings().max_examples))
@given(corpora(), train_options())
def test_training(documents: list[str], options: TrainOptions) -> None:
    by_reference, by_engine = trained_by_both(documents, options)
    assert by_engine == by_reference


@settings(max_examples=max(100, settings().max_examples))
@given(corpora(), train_options(), texts(), st.sampled_from(["raise", "allow", "text", {"<|endoftext|>"}]))
def test_encoding_and_back(documents: list[str], options: TrainOptions, text: str, special: Any) -> None:
    spec, _ = trained_by_both([*documents, "<|endoftext|>"], options)
    assume(isinstance(spec, TokenizerSpec))
    assume(isinstance(special, str) or special <= set(spec.special_tokens))
    reference, engine = ReferenceTokenizer(spec), syllabary.Tokenizer(spec)
    for sample in (text, documents[0], text + "<|endoftext|>" + documents[0]):
        ids = outcome(lambda sample=sample: reference.encode(sample, special))  # type: ignore[misc]
        assert outcome(lambda sample=sample: engine.encode(sample, special)) == ids  # type: ignore[misc]
        if not isinstance(ids, list):
            continue
        assert engine.encode_array(sample, special).tolist() == ids
        assert engine.count(sample, special) == len(ids)
        assert engine.tokens(sample, special) == reference.tokens(sample, special)
        for unit in ("char", "byte"):
            expected = [list(span) for span in reference.offsets(sample, unit, special)]  # type: ignore[arg-type]
            assert engine.offsets(sample, unit, special).tolist() == expected  # type: ignore[arg-type]
        assert engine.decode_bytes(ids) == reference.decode_bytes(ids)
        assert engine.decode(ids) == reference.decode(ids)
        assert list(engine.steps(sample, special))[-1:] == list(reference.steps(sample, special))[-1:]


@given(corpora(), st.sampled_from([n for n in NAMES if splits.get(n).keep_unmatched]), texts())
def test_round_trip(documents: list[str], split: str, text: str) -> None:
    """Byte-level tokenizers whose split drops nothing lose nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", syllabary.EarlyStopWarning)
        tok = outcome(lambda: syllabary.train(documents, vocab_size=280, split=split))
    assume(isinstance(tok, syllabary.Tokenizer))
    assert tok.decode(tok.encode(text)) == text
    spans = tok.offsets(text, "byte")
    data = text.encode()
    assert b"".join(data[start:end] for start, end in spans) == data
    assert [data[start:end] for start, end in spans] == tok.tokens(text)


@few(40)
@pytest.mark.parametrize("name", NAMES)
@given(text=texts())
def test_named_splits(name: str, text: str) -> None:
    split = splits.get(name)
    assert Split(split).pieces(text) == pieces(text, split)


@pytest.mark.parametrize("name", NAMES)
def test_every_named_split_has_its_scanner(name: str) -> None:
    assert Split(splits.get(name)).kind == name


@few(40)
@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=texts(), keep=st.booleans())
def test_patterns(pattern: str, text: str, keep: bool) -> None:
    split = SplitSpec(pattern, keep_unmatched=keep)
    assert Split(split).kind == "regex"
    assert Split(split).pieces(text) == pieces(text, split)


CLASSES = [r"\w", r"\d", r"\s", r"\p{L}", r"\p{N}", r"\p{M}", r"\p{P}", r"\p{Han}"]


@pytest.mark.parametrize("name", [*NAMES, *CLASSES])
@pytest.mark.parametrize("frame", ["\n{}", "a{}", "'{}b", " {}1"])
def test_every_code_point(name: str, frame: str, prove: bool) -> None:
    """The same Unicode tables, in contexts that bring out every class."""
    split = splits.get(name) if name in NAMES else SplitSpec(name, keep_unmatched=False)
    engine = Split(split)
    every = code_points(prove)
    for start in range(0, len(every), 1 << 16):
        text = "".join(frame.format(character) for character in every[start : start + (1 << 16)])
        assert engine.pieces(text) == pieces(text, split)


@pytest.fixture(scope="module")
def corpus() -> list[str]:
    """A megabyte of source text, in documents short and long."""
    import pathlib

    files = sorted(pathlib.Path(dataclasses.__file__).parent.glob("*.py"))
    return [file.read_text("utf-8") for file in files[:60]]


def test_threads_change_nothing(corpus: list[str]) -> None:
    for unit, split in (("byte", "o200k"), ("char", "gpt2"), ("byte", "none"), ("word", "latin")):
        size = {"vocab_size": 1000} if unit == "byte" else {"num_merges": 200}
        first, *others = (
            syllabary.train(corpus, unit=unit, split=split, threads=threads, **size)  # type: ignore[arg-type]
            for threads in (1, 2, 7)
        )
        assert all(other.spec == first.spec for other in others)
        batches = [first.encode_batch_array(corpus, threads=threads) for threads in (1, 2, 7)]
        assert batches[0] == batches[1] == batches[2]
        assert batches[0].to_list() == first.encode_batch(corpus, threads=2)
        assert np.diff(batches[0].offsets).tolist() == first.count_batch(corpus, threads=7).tolist()


def test_parts_of_a_document_are_one_document(corpus: list[str], tmp_path: Any) -> None:
    """A file long enough to come in parts trains as the same text given whole."""
    text = "\n".join(corpus) * 6
    file = tmp_path / "long.txt"
    file.write_text(text, "utf-8")
    for name in NAMES:
        if name == "none":
            continue
        whole = syllabary.train([text], vocab_size=400, split=name, special_tokens=["\nimport"], threads=1)
        parts = syllabary.train(file, vocab_size=400, split=name, special_tokens=["\nimport"], threads=3)
        assert parts.spec == whole.spec, name


def test_files_encode_as_their_text(corpus: list[str], tmp_path: Any) -> None:
    tok = syllabary.train(corpus[:5], vocab_size=400)
    paths = []
    for number, text in enumerate(corpus[:8]):
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_text(text, "utf-8", newline="")
    assert tok.encode_files(paths) == tok.encode_batch_array(corpus[:8])
    lines = [line for text in corpus[:8] for line in text.removesuffix("\n").split("\n")]
    assert tok.encode_files(paths, separator="\n") == tok.encode_batch_array(lines)


@settings(max_examples=max(100, settings().max_examples))
@given(st.lists(st.integers(0, 261), max_size=12), st.sampled_from(["replace", "ignore", "backslashreplace"]))
def test_incremental_decoding(ids: list[int], errors: str) -> None:
    """Pushing ids one by one gives the whole decoding, whatever characters the tokens cut."""
    tokens = {value: bytes([value]) for value in range(256)}
    tokens |= {256: "é".encode(), 257: b"\xc3\xa9\xe2\x82", 258: b"\xacx", 259: b"\xf0\x9f", 260: b"\x98\x80"}
    tokens[261] = b""
    spec = TokenizerSpec("byte", SplitSpec(None), tokens, {bytes([v]): v for v in range(256)}, None)
    tok = syllabary.Tokenizer(spec)
    decoder = tok.decoder(errors)
    assert "".join([*map(decoder.push, ids), decoder.flush()]) == tok.decode(ids, errors)


def test_incremental_decoding_of_every_cut() -> None:
    """Every way of cutting one text into tokens: here tokens are exactly its substrings."""
    data = "aé€😀".encode() + b"\xe2\x82" + "ß".encode()
    for cuts in range(1 << (len(data) - 1)):
        parts, start = [], 0
        for end in range(1, len(data) + 1):
            if end == len(data) or cuts >> (end - 1) & 1:
                parts.append(data[start:end])
                start = end
        spec = TokenizerSpec("byte", SplitSpec(None), dict(enumerate(parts)), {}, ())
        decoder = syllabary.reference.IncrementalDecoder(syllabary.reference.Decoder(spec))
        pushed = [decoder.push(token_id) for token_id in range(len(parts))]
        assert "".join([*pushed, decoder.flush()]) == data.decode("utf-8", "replace")


def test_decoding_arrays_of_every_integer_type() -> None:
    tok = syllabary.train(["aaa"], num_merges=1)
    for dtype in (np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
        assert tok.decode(np.array([97, 98, 97], dtype)[::-1]) == "aba"
    assert tok.decode(np.array([])) == ""


LETTERS = ["a", " ", "1", "'", "\n", "é", "漢", "👨‍👩‍👧", "aB", "\u0301", " \n"]


@pytest.mark.parametrize("letter", LETTERS)
def test_a_million_of_one_letter(letter: str, prove: bool) -> None:
    """One piece of a million symbols is no worse than others, and neither scanner nor automaton gives up."""
    text = letter * (1_000_000 // len(letter))
    for name in NAMES if prove else NAMES[LETTERS.index(letter) % 3 :: 3]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", syllabary.EarlyStopWarning)
            tok = outcome(lambda name=name: syllabary.train([text], vocab_size=270, split=name))  # type: ignore[misc]
        if tok is syllabary.CorpusError:  # a split that drops white space finds nothing else
            assert not text.strip()
            continue
        ids = tok.encode_array(text)
        dropped = not splits.get(name).keep_unmatched
        assert tok.decode(ids) == ("".join(text.split()) if dropped else text)


class Named(syllabary.Tokenizer):
    """A child of a user's: other arguments, an attribute of its own."""

    def __init__(self, name: str, spec: TokenizerSpec) -> None:
        super().__init__(spec)
        self.name = name


def test_children_are_copied_and_pickled_as_what_they_are(corpus: list[str]) -> None:
    named = Named("it", syllabary.train(corpus, 270).spec)
    assert named.vocab_size == 270  # kept once asked for, and not pickled
    for made in (pickle.loads(pickle.dumps(named)), copy.copy(named), copy.deepcopy(named)):
        assert type(made) is Named
        assert (made.name, made.encode("low")) == ("it", named.encode("low"))
        assert vars(made).keys() <= vars(named).keys() - {"vocab"}


def test_pickled(corpus: list[str]) -> None:
    tok = syllabary.train(corpus[:3], vocab_size=400, special_tokens=["<s>"])
    again = pickle.loads(pickle.dumps(tok))
    assert again.spec == tok.spec
    assert again.encode(corpus[4]) == tok.encode(corpus[4])


def three_ways(spec: TokenizerSpec, text: str) -> list[int]:
    """The ids of a text, which engine, reference and Hugging Face's library agree on."""
    ids = ReferenceTokenizer(spec).encode(text)
    assert syllabary.Tokenizer(spec).encode(text) == ids
    assert Peer.from_str(huggingface.FORMAT.write(spec).decode()).encode(text).ids == ids  # type: ignore[misc]
    return ids


def test_merges_in_any_order() -> None:
    """A merge may rank before the one that makes its parts."""
    spec = TokenizerSpec(
        "char",
        SplitSpec(None),
        {0: b"a", 1: b"b", 2: b"c", 3: b"ab", 4: b"abc"},
        {b"a": 0, b"b": 1, b"c": 2},
        ((3, 2, 4), (0, 1, 3)),
    )
    assert three_ways(spec, "abc") == [4]
    assert three_ways(spec, "cababcb") == [2, 3, 4, 1]
    as_bytes = dataclasses.replace(spec, unit="byte")
    assert three_ways(as_bytes, "cababcb") == [2, 3, 4, 1]


def test_a_pair_given_twice_keeps_its_last_rank() -> None:
    spec = TokenizerSpec(
        "char",
        SplitSpec(None),
        {0: b"a", 1: b"b", 2: b"c", 3: b"ab", 4: b"bc"},
        {b"a": 0, b"b": 1, b"c": 2},
        ((0, 1, 3), (1, 2, 4), (0, 1, 3)),
    )
    assert three_ways(spec, "abc") == [0, 4]
    assert three_ways(spec, "ababc") == [3, 0, 4]


def test_the_largest_pair_of_equal_spellings() -> None:
    """Words cut in two ways and merged: tokens of equal bytes under several ids, one order all the same."""
    documents = ["ababadbaadadbcaccdd", "bdabbdcacbaacaaadadbabdababdcaaaadbaabbcaacadab"]
    options = TrainOptions(
        SplitSpec(r"ab(?=[cd])|ba(?=c)|aa(?=b)|."),
        unit="word",
        num_merges=20,
        min_frequency=1,
        tie_break="largest-pair",
    )
    by_reference, by_engine = trained_by_both(documents, options)
    assert len(set(by_reference.tokens.values())) < len(by_reference.tokens)
    assert by_engine == by_reference
