"""`syllabary.compat.tokenizers` and the library itself, called alike: the same results.

Adds series of drawn calls to whole tokenizers. Leaves out: the components one by one
(`test_compat_tokenizers_parts`), training (`test_compat_tokenizers_training`).
"""

from __future__ import annotations

import copy
import json
import os
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers as theirs
import tokenizers_calls as calls
from tokenizers_calls import outcome, text

import syllabary
from syllabary.compat import tokenizers as ours
from syllabary.compat.tokenizers import _whole

SEEDS = 600 if os.environ.get("SYLLABARY_PROVE") else 60
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def drawn_call(source: random.Random) -> Any:
    """One call, as a function of a library and a tokenizer."""
    first, second, third = text(source), text(source), text(source)
    special, words = source.random() < 0.8, first.split(" ") or ["a"]
    ids = [source.randint(0, 300) for _ in range(source.randint(0, 6))]
    flags = {name: source.random() < 0.5 for name in source.sample(FLAGS, 2)}
    name = source.choice(["[MASK]", "my", "Name", "ab", "naïve", "<s>", " x"])
    length, stride = source.randint(5, 14), source.choice([0, 0, 1, 2])
    strategy = source.choice(["longest_first", "only_first", "only_second"])
    side = source.choice(["left", "right"])
    multiple = source.choice([None, 4])
    choice = source.choice
    return choice([
        lambda t, k: k.encode(first),
        lambda t, k: k.encode(first, second, add_special_tokens=special),
        lambda t, k: k.encode(words, is_pretokenized=True),
        lambda t, k: k.encode_batch([first, (second, third)], add_special_tokens=special),
        lambda t, k: k.encode_batch_fast([first, second]),
        lambda t, k: k.encode_batch([[words, words], words], is_pretokenized=True),
        lambda t, k: k.decode(ids),
        lambda t, k: k.decode(k.encode(first).ids, skip_special_tokens=special),
        lambda t, k: k.decode_batch([ids, k.encode(second).ids]),
        lambda t, k: k.add_tokens([t.AddedToken(name, **flags), "quick"]),
        lambda t, k: k.add_special_tokens([name, "<s>"]),
        lambda t, k: setattr(k, "encode_special_tokens", not k.encode_special_tokens),
        lambda t, k: k.enable_truncation(length, stride=stride, strategy=strategy, direction=side),
        lambda t, k: k.no_truncation(),
        lambda t, k: k.enable_padding(length=choice([None, 12]) if False else None, direction=side,
            pad_to_multiple_of=multiple),
        lambda t, k: k.enable_padding(length=length, pad_id=3, pad_type_id=2, pad_token="<pad>"),
        lambda t, k: k.no_padding(),
        lambda t, k: (k.padding, k.truncation, k.get_vocab_size(), k.get_vocab_size(False)),
        lambda t, k: k.get_added_tokens_decoder(),
        lambda t, k: [k.id_to_token(one) for one in ids],
        lambda t, k: [k.token_to_id(one) for one in (name, "the", "nothing")],
        lambda t, k: [k.num_special_tokens_to_add(one) for one in (False, True)],
        lambda t, k: k.to_str(),
        lambda t, k: k.to_str(pretty=True),
        lambda t, k: str(k),
        lambda t, k: repr(k),
        lambda t, k: k.post_process(k.encode(first), k.encode(second) if special else None),
        lambda t, k: [one.as_tuple() for one in k.model.tokenize(first)],
        lambda t, k: pickle.loads(pickle.dumps(k)).encode(first),
        lambda t, k: t.Tokenizer.from_str(k.to_str()).encode(first, second),
    ])  # fmt: skip


def drawn_change(source: random.Random) -> Any:
    """One change of a component, likewise."""
    place, makes = source.choice([
        ("normalizer", calls.NORMALIZERS), ("pre_tokenizer", calls.PRE_TOKENIZERS),
        ("decoder", calls.DECODERS), ("post_processor", calls.PROCESSORS),
    ])  # fmt: skip
    make = source.choice(makes)
    return lambda t, k: setattr(k, place, make(t))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_same_calls_give_the_same_results(seed: int) -> None:
    """A tokenizer of drawn parts in both libraries, then 30 drawn calls and changes."""
    source = random.Random(seed)
    models = calls.models(source) if seed % 4 else calls.other_models(source)
    same_calls(source, theirs.Tokenizer(models[0]), ours.Tokenizer(models[1]))


@pytest.mark.parametrize("seed", range(SEEDS // 2))
def test_the_same_where_every_merge_is_passed_over(seed: int) -> None:
    """The one dropout of which all is known beforehand, set in the model or told to it."""
    source = random.Random(f"dropout {seed}")
    models = calls.models(source)
    for model in models:
        model.dropout = 1.0
    same_calls(source, theirs.Tokenizer(models[0]), ours.Tokenizer(models[1]))


def same_calls(source: random.Random, *tokenizers: Any) -> None:
    for step in range(30):
        call = drawn_change(source) if step < 4 or source.random() < 0.15 else drawn_call(source)
        wanted = outcome(lambda call=call: call(theirs, tokenizers[0]))  # type: ignore[misc]
        found = outcome(lambda call=call: call(ours, tokenizers[1]))  # type: ignore[misc]
        if wanted == calls.PANIC:
            assert found is not None  # no panic here; theirs may be broken from now on
            return
        assert found == wanted, (step, str(tokenizers[0]))


@pytest.fixture(scope="module")
def dropping(shared: Path) -> Any:
    tok = ours.Tokenizer.from_file(str(shared / "vocabs" / "gpt2_tokenizer.json"))
    tok.model.dropout = 0.5
    return tok


@pytest.mark.parametrize("framed", [True, False])
def test_each_call_is_one_draw_of_dropout(dropping: Any, framed: bool) -> None:
    """Other ids each time; tokens, places, ranges and what overflows are those of the ids."""
    tok = ours.Tokenizer.from_str(dropping.to_str())
    assert tok.model.dropout == 0.5
    if not framed:
        tok.post_processor = None
    text, pair = "The quick brown fox jumps over", "the lazy dog. Naïve café"
    ways: list[Any] = [
        lambda: tok.encode(text),
        lambda: tok.encode(text, pair),
        lambda: tok.encode(text.split(), pair.split(), is_pretokenized=True),
        lambda: tok.encode_batch([text, (text, pair)])[1],
        lambda: tok.encode_batch_fast([text, text])[1],
        lambda: pickle.loads(pickle.dumps(tok)).encode(text),
    ]
    for way in ways:
        assert len({tuple(way().ids) for _ in range(8)}) > 1
    names = {number: name for name, number in tok.get_vocab().items()}
    for _ in range(10):
        one = tok.encode(text, pair)
        assert one.tokens == [names[number] for number in one.ids]
        firsts = one.sequence_ids.count(0)
        assert one.sequence_ids == [0] * firsts + [1] * (len(one) - firsts)
        assert (one.offsets[firsts - 1][1], one.offsets[-1][1]) == (len(text), len(pair))
        spelled = "".join(text[slice(*place)] for place in one.offsets[:firsts])
        assert spelled.replace(" ", "") == text.replace(" ", "")
    tok.enable_truncation(4)
    for many in (tok.encode_batch([text] * 4), tok.encode_batch_fast([text] * 4)):
        for one in many:
            parts = [one, *one.overflowing]
            assert tok.decode([number for part in parts for number in part.ids]) == text
    for dropout in (0.0, None):
        tok.model.dropout = dropout
        assert len({tuple(tok.encode(text).ids) for _ in range(5)}) == 1


@pytest.mark.parametrize("marks", [{}, {"continuing_subword_prefix": "##"}, {"end_of_word_suffix": "!"}])
def test_the_same_draws_of_a_word_are_possible(marks: dict[str, str]) -> None:
    """All ways, with their tokens and places, and a character that is left out, as there."""
    front, back = marks.get("continuing_subword_prefix", ""), marks.get("end_of_word_suffix", "")
    b, é, c, éc = front + "b", front + "é", front + "c" + back, front + "éc" + back
    merges = [("a", b), (é, c), ("ab", éc)]
    vocab = {token: at for at, token in enumerate(["a", b, é, c, "ab", éc, "abéc" + back, "ux"])}
    for word, options in (("abéc", {}), ("aXbéc", {}), ("XXabéc", {"unk_token": "ux", "fuse_unk": True})):
        found = []
        for module in (theirs, ours):
            tok = module.Tokenizer(module.models.BPE(vocab, merges, dropout=0.5, **marks, **options))
            ways = {repr(calls.plain(tok.encode(word))) for _ in range(300)}
            alone = {repr([one.as_tuple() for one in tok.model.tokenize(word)]) for _ in range(300)}
            found.append((ways, alone))
        assert found[0] == found[1]
        assert len(found[0][0]) > 1


@pytest.mark.parametrize("text", ["axb ab", "xab abx xb", "x", "aéb漢 c", "axxb"])
@pytest.mark.parametrize(
    "marks",
    [
        {},
        {"fuse_unk": True},
        {"ignore_merges": True},
        {"continuing_subword_prefix": "##"},
        {"end_of_word_suffix": "!"},
        {"continuing_subword_prefix": "##", "end_of_word_suffix": "!", "ignore_merges": True},
    ],
)
def test_characters_without_a_token_are_dropped(text: str, marks: dict[str, Any]) -> None:
    """With byte-pair encoding and no unknown token: what stands beside them merges, and moves left."""
    found = []
    for module in (theirs, ours):
        prefix, suffix = marks.get("continuing_subword_prefix", ""), marks.get("end_of_word_suffix", "")
        names = {"a", "b", "c", f"{prefix}a", f"{prefix}b{suffix}", f"b{suffix}", f"ab{suffix}"}
        vocab = {name: number for number, name in enumerate(sorted(names))}
        model = module.models.BPE(vocab, [("a", f"{prefix}b{suffix}")], **marks)
        tokenizer = module.Tokenizer(model)
        tokenizer.pre_tokenizer = module.pre_tokenizers.Whitespace()
        encoding = tokenizer.encode(text)
        tokens = [(one.id, one.value, one.offsets) for one in tokenizer.model.tokenize(text)]
        found.append((encoding.ids, encoding.offsets, encoding.tokens, tokens))
    assert found[0] == found[1]


def test_truncation_and_padding_leave_the_engine_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """To make it anew takes a second with a large vocabulary, and callers set them for each batch."""
    made = []
    make = _whole.read_spec
    monkeypatch.setattr(_whole, "read_spec", lambda document: made.append(document) or make(document))
    found = []
    for library in (ours, theirs):
        tok = library.Tokenizer(library.models.WordLevel({"[UNK]": 0, "a": 1, "b": 2}, unk_token="[UNK]"))
        tok.pre_tokenizer = library.pre_tokenizers.Whitespace()
        rows = []
        for length in (2, 3):
            tok.enable_truncation(length, stride=1)
            tok.enable_padding(length=length + 1)
            full = tok.encode("a b a b a")
            rows.append([(one.tokens, one.offsets) for one in [full, *full.overflowing]])
            tok.no_truncation()
            tok.no_padding()
            rows.append([one.tokens for one in tok.encode_batch(["a b a", "b"])])
        found.append(rows)
    assert found[0] == found[1]
    assert len(made) == 1


def test_merges_of_an_older_file(tmp_path: Path) -> None:
    """Written as one string each: shown, saved and handed on as the pairs that they are."""
    vocab = {"a": 0, "b": 1, "ab": 2, "c": 3, "abc": 4}
    model = {"type": "BPE", "vocab": vocab, "merges": ["a b", "ab c"]}
    file = json.dumps({"version": "1.0", "model": model})
    mine, yours = ours.Tokenizer.from_str(file), theirs.Tokenizer.from_str(file)
    assert mine.model.merges == [["a", "b"], ["ab", "c"]]
    assert repr(mine.model) == repr(yours.model)
    assert mine.to_str() == yours.to_str()
    for made in (pickle.loads(pickle.dumps(mine)), copy.deepcopy(mine), mine):
        assert made.encode("abcab").tokens == ["abc", "ab"]
    for name, tokenizer in (("mine", mine), ("yours", yours)):
        (tmp_path / name).mkdir()
        tokenizer.model.save(str(tmp_path / name))
    assert (tmp_path / "mine/merges.txt").read_text() == (tmp_path / "yours/merges.txt").read_text()


@pytest.mark.parametrize("number", [1, 5000, 2**32 - 1, 2**32, 2**40, 2**70, -1, 1.0, "a", None])
def test_what_is_no_id(number: Any) -> None:
    found: list[list[object]] = []
    for library in (ours, theirs):
        model = library.models.WordLevel({"a": 0, "b": 1, "u": 2}, unk_token="u")
        tokenizer, stream = library.Tokenizer(model), library.decoders.DecodeStream()
        runs: list[Any] = [
            lambda t: t.decode([number]),
            lambda t: t.decode([0, number], skip_special_tokens=False),
            lambda t: t.decode_batch([[number]]),
            lambda t: t.id_to_token(number),
            lambda t: t.model.id_to_token(number),
            lambda t, stream=stream: stream.step(t, number),
            lambda t, stream=stream: stream.step(t, 0),
        ]
        found.append([])
        for run in runs:
            try:
                found[-1].append(run(tokenizer))
            except Exception as error:  # noqa: BLE001 (any error is an outcome)
                found[-1].append(type(error))
    assert found[0] == found[1]


@pytest.mark.parametrize("place", ["normalizers", "pre_tokenizers", "processors", "decoders"])
def test_an_empty_sequence_is_as_true_as_theirs(place: str) -> None:
    """As in `if tokenizer.pre_tokenizer:`; only that of normalizers has a length there."""
    assert bool(getattr(ours, place).Sequence([])) == bool(getattr(theirs, place).Sequence([]))


@pytest.mark.parametrize(
    "changes",
    [
        {"added_tokens": [{"id": 3}]}, {"added_tokens": [3]}, {"added_tokens": 7}, {"truncation": True},
        {"padding": "longest"}, {"normalizer": "NFC"}, {"pre_tokenizer": [["ByteLevel"]]},
        {"normalizer": {"type": "Sequence", "normalizers": [3]}},
        {"post_processor": {"type": "BertProcessing", "sep": [], "cls": 3}},
        {"decoder": True}, {"model": {"type": "BPE", "vocab": {"a": "0"}, "merges": []}},
        {"model": {"type": "BPE", "vocab": {"a": 0, "b": None}, "merges": [{}]}},
        {"model": {"type": "Unigram", "vocab": [["a"]], "unk_id": 0}},
        {"model": {"type": "Unigram", "vocab": [3], "unk_id": 0}},
        {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [""]}},
        {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [[]]}},
    ],
)  # fmt: skip
def test_a_damaged_file_is_an_error_that_says_where(changes: dict[str, Any]) -> None:
    """Whatever stands in the place of what should: never one of Python's own kinds of errors."""
    file = json.dumps(
        {"version": "1.0", "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, **changes}
    )
    with pytest.raises(Exception):  # noqa: B017, PT011 (they raise it bare)
        theirs.Tokenizer.from_str(file)
    with pytest.raises(ValueError, match=r"tokenizer|component|merge") as error:
        ours.Tokenizer.from_str(file)
    assert isinstance(error.value, syllabary.SyllabaryError)


TRUTHS = [
    *(lambda t, tok, one, v, name=name: getattr(one, name)(v) for name in (
        "token_to_chars", "token_to_word", "token_to_sequence", "word_to_tokens", "word_to_chars",
        "char_to_token", "char_to_word",
    )),
    lambda t, tok, one, v: (one.word_to_tokens(0, v), one.char_to_word(1, v)),
    lambda t, tok, one, v: (one.truncate(v), one.ids, len(one.overflowing)),
    lambda t, tok, one, v: (one.truncate(2, v), one.ids, [part.ids for part in one.overflowing]),
    lambda t, tok, one, v: (one.pad(9, pad_id=v, pad_type_id=v), one.ids, one.type_ids),
    lambda t, tok, one, v: (one.set_sequence_id(v), one.sequence_ids),
    lambda t, tok, one, v: (tok.decode([v, 2]), tok.decode_batch([[v]]), tok.id_to_token(v)),
    lambda t, tok, one, v: (tok.enable_truncation(9, stride=v), tok.truncation),
    lambda t, tok, one, v: (tok.enable_padding(pad_id=v, length=v, pad_type_id=v), tok.padding),
    lambda t, tok, one, v: t.models.WordLevel({"a": v}, unk_token="a").token_to_id("a"),
    lambda t, tok, one, v: t.processors.BertProcessing(("a", v), ("b", 0)).__getstate__(),
    lambda t, tok, one, v: t.processors.TemplateProcessing(
        single="a $A", special_tokens=[{"id": "a", "ids": [v], "tokens": ["a"]}]
    ).__getstate__(),
    lambda t, tok, one, v: t.trainers.BpeTrainer(vocab_size=v, min_frequency=v).vocab_size,
    lambda t, tok, one, v: t.decoders.DecodeStream(ids=[v]).step(tok, v),
    lambda t, tok, one, v: t.Token(v, "s", (v, 3)).as_tuple(),
]  # fmt: skip


FLAGGED = [
    lambda t, tok, one, v: tok.encode(["a"], is_pretokenized=v).ids,
    lambda t, tok, one, v: tok.encode("a", add_special_tokens=v).ids,
    lambda t, tok, one, v: [each.ids for each in tok.encode_batch(["a"], add_special_tokens=v)],
    lambda t, tok, one, v: [each.ids for each in tok.encode_batch_fast(["a"], False, v)],
    lambda t, tok, one, v: (tok.decode([1, 2], v), tok.decode_batch([[1]], skip_special_tokens=v)),
    lambda t, tok, one, v: (tok.get_vocab(v) == tok.get_vocab(), tok.get_vocab_size(v)),
    lambda t, tok, one, v: tok.num_special_tokens_to_add(v),
    lambda t, tok, one, v: tok.post_process(one, None, v).ids,
    lambda t, tok, one, v: t.Encoding.merge([one, one], v).offsets,
    lambda t, tok, one, v: t.AddedToken("a", lstrip=v, special=v),
    lambda t, tok, one, v: t.decoders.DecodeStream(skip_special_tokens=v).step(tok, 1),
    lambda t, tok, one, v: t.pre_tokenizers.Digits(v).pre_tokenize_str("a12"),
]


@pytest.mark.parametrize("value", [False, True, None, np.True_, np.int64(1), 1.0, "1"])
@pytest.mark.parametrize("call", [*TRUTHS, *FLAGGED])
def test_what_is_taken_for_an_integer_and_what_for_a_flag(call: Any, value: Any) -> None:
    """Python's `True` is 1, as there, and NumPy's is none, but a flag; no number is a flag."""
    if value is np.True_ and call in TRUTHS and np.lib.NumpyVersion(np.__version__) < "2.4.0":
        pytest.skip("NumPy warns and takes its True for an integer")
    found = []
    for library in (theirs, ours):
        tok = library.Tokenizer(library.models.WordLevel({"a": 0, "b": 1, "c": 2}, unk_token="a"))
        tok.pre_tokenizer = library.pre_tokenizers.Whitespace()
        try:
            found.append(repr(call(library, tok, tok.encode("a b c", "b a"), value)))
        except (TypeError, ValueError, OverflowError) as error:
            found.append(type(error).__name__)
    assert found[1] == found[0]


def test_a_token_that_is_no_character() -> None:
    """U+FDD0, which no text of people holds: of an alphabet without an unknown token, and beside numbers."""

    def merges(lib: Any) -> list[Any]:
        tok = lib.Tokenizer(lib.models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")], dropout=0.0))
        tok.add_tokens(["\ufdd0", "\ufdd0\ufdd0"])
        return [tok.encode(one).ids for one in ("a\ufdd0ab", "\ufdd0\ufdd0b", "a\ufdd0xab")] + [tok.to_str()]

    def scores(lib: Any) -> list[Any]:
        tok = lib.Tokenizer(lib.models.Unigram([("<unk>", 0.0), ("\ufdd0", -1.5), ("a", -2.5)], 0))
        return [tok.encode("a\ufdd0b").ids, tok.to_str(), tok.to_str(pretty=True)]

    assert merges(ours) == merges(theirs)
    assert scores(ours) == scores(theirs)
