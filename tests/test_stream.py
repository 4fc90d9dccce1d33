"""Text in parts: the ids are those of the whole, the counts those of what has come so far."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import pickle
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import hf_configurations
import numpy as np
import pytest
import streamed

import syllabary
from syllabary import splits
from syllabary.errors import SpecialTokenError, SyllabaryError, TextError, UnknownSymbolError
from syllabary.reference import cut_steps
from syllabary.reference.cuts import Cuts
from syllabary.reference.tokenizer import ReferenceTokenizer
from syllabary.spec import Step, TokenizerSpec
from syllabary.streaming.incremental import IncrementalEncoder, behind_guard

PROVE = bool(os.environ.get("SYLLABARY_PROVE"))
TEXTS = 400 if PROVE else 8


def check(tok: syllabary.Tokenizer, text: str, chance: random.Random) -> int:
    """Encode in parts, count at every step, count to a limit. Gives how much was held back at the end."""
    special = chance.choice(("allow", "text"))
    try:
        ids = tok.encode(text, special, dropout=0.0)
    except SyllabaryError:
        return 0
    encoder, appender = tok.encoder(special), tok.appender(special)
    found: list[int] = []
    so_far = ""
    for part in streamed.in_parts(text, chance):
        found += encoder.push(part)
        count = appender.append(part)
        if isinstance(part, str) and len(text) < 100:
            so_far += part
            assert count == tok.count(so_far, special), (so_far, part)
    held = len(encoder.pending)
    assert found + encoder.flush() == ids, text
    assert appender.count == len(ids)
    limit = chance.randrange(2 * len(ids) + 2)
    assert tok.count_until(text, limit, special) == (len(ids) if len(ids) <= limit else None)
    return held


@pytest.mark.parametrize("name", list(streamed.trained()))
def test_ids_in_parts_are_those_of_the_whole(name: str) -> None:
    tok, chance = streamed.trained()[name], random.Random(name)
    for _ in range(TEXTS):
        check(tok, streamed.drawn(chance, list(tok.special_tokens)), chance)


@pytest.mark.parametrize("mark", ["", "▁"])
@pytest.mark.parametrize("kind", ["BPE", "Unigram", "WordLevel"])
def test_ends_of_words_that_have_no_ids_alone(kind: str, mark: str, tmp_path: Path) -> None:
    """What stands in front of a part is encoded with it, so it is a whole word where `w` is unknown."""
    words = [f"{mark}low", f"{mark}bar"]
    symbols = ["l", "##o", "##w", "lo", "b", "##a", "##r", *(["##l", "##b", mark] if mark else [])]
    models = {
        "BPE": {"vocab": dict(zip(symbols, range(20), strict=False)), "merges": [["l", "##o"]]},
        "Unigram": {"vocab": [[word, -1.0] for word in words], "unk_id": None},
        "WordLevel": {"vocab": dict(zip(words, (0, 1), strict=True)), "unk_token": "[UNK]"},
    }
    models["BPE"]["continuing_subword_prefix"] = "##"
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}
    document = {
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": metaspace if mark else {"type": "Whitespace"},
    }
    document |= {"version": "1.0", "model": {"type": kind, **models[kind]}}
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    tok, text = syllabary.load(tmp_path / "tokenizer.json"), "low bar LOW low"
    encoder = tok.encoder()
    found = [token for character in text for token in encoder.push(character)]
    assert encoder.pending in ("low", " low", "w low")
    assert found + encoder.flush() == tok.encode(text)
    assert tok.count_until(f"{text} " * 100, 30) is None


def test_published_encodings(shared: Path) -> None:
    chance = random.Random(1)
    for tok in streamed.published(shared).values():
        for _ in range(TEXTS):
            check(tok, streamed.drawn(chance, list(tok.special_tokens)), chance)


def test_steps_of_other_libraries(tmp_path: Path) -> None:
    chance = random.Random(int(os.environ.get("SYLLABARY_PROVE_SEED", "3")))
    path, held = tmp_path / "tokenizer.json", 0
    for _ in range(50 * TEXTS if PROVE else 15):
        path.write_text(json.dumps(hf_configurations.random_document(chance)))
        try:
            tok = syllabary.load(path)
        except SyllabaryError:
            continue
        names = [*tok.special_tokens, *tok.spec.added_tokens]
        for _ in range(4):
            text = hf_configurations.random_text(chance) + streamed.drawn(chance, names)
            with contextlib.suppress(UnknownSymbolError):  # a beginning
                held += check(tok, text, chance)
    assert held > 0


BEGINNINGS: dict[str, tuple[Any, Any, str]] = {
    "nothing is left of what stands behind a token": (
        {"type": "Nmt"},
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
        "<s>\x0b12",
    ),
    "a space in front, and two are none": (
        {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": " "},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": ""},
            ],
        },
        {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Punctuation", "behavior": "MergedWithNext"},
                {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
            ],
        },
        "1 2>",
    ),
}


@pytest.mark.parametrize("name", list(BEGINNINGS))
def test_what_a_text_begins_with(name: str, tmp_path: Path) -> None:
    normalizer, pre_tokenizer, text = BEGINNINGS[name]
    vocab = {symbol: at for at, symbol in enumerate(["[UNK]", "▁", "1", "2", ">", "▁1", "12", "▁12"])}
    merges = [["▁", "1"], ["▁1", "2"], ["1", "2"]]
    document = {
        "version": "1.0",
        "added_tokens": [hf_configurations.added("<s>", 8)],
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "model": {"type": "BPE", "unk_token": "[UNK]", "vocab": vocab, "merges": merges},
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    tok = syllabary.load(tmp_path / "tokenizer.json")
    encoder, appender = tok.encoder(), tok.appender()
    found = [token for char in text for token in encoder.push(char)] + encoder.flush()
    assert found == tok.encode(text)
    assert [appender.append(char) for char in text] == [
        tok.count(text[:end]) for end in range(1, len(text) + 1)
    ]


def test_what_stands_before_a_stretch_is_not_certain(tmp_path: Path) -> None:
    """Two spaces go: the stretch of text that is looked at first may begin with the second of them."""
    vocab = {symbol: at for at, symbol in enumerate(["[UNK]", " ", "1", "2", "12", "22"])}
    document = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "Replace", "pattern": {"Regex": " {2,}|\\n"}, "content": ""},
        "model": {"type": "BPE", "unk_token": "[UNK]", "vocab": vocab, "merges": [["1", "2"], ["2", "2"]]},
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    tok = syllabary.load(tmp_path / "tokenizer.json")
    for size in range(1, 80):
        text = "1  \n" + size * "2"
        for parts in ([text], [text[:9], text[9:]], [*text]):
            found = [token for array in tok.encode_stream(parts) for token in array]
            assert found == tok.encode(text), (size, parts)


def test_a_character_that_is_a_token_only_as_a_piece() -> None:
    """Its bytes do not merge to it, so nothing is cut beside it."""
    tokens = {byte: bytes([byte]) for byte in range(256)} | {256: "字".encode(), 257: b"ab"}
    alphabet = {bytes([byte]): byte for byte in range(256)}
    fields = {"whole_pieces": True, "normalizer": (Step("NFC"),)}
    tok = syllabary.Tokenizer(
        TokenizerSpec("byte", splits.get("none"), tokens, alphabet, ((97, 98, 257),), **fields)
    )
    for text in ("字かな", "ab字", "字"):
        found = [token for array in tok.encode_stream([*text]) for token in array]
        assert found == tok.encode(text) == ReferenceTokenizer(tok.spec).encode(text)
    assert tok.encode("字") == [256]


@pytest.mark.parametrize("split", ["gpt4", "o200k", "deepseek-v3"])
@pytest.mark.parametrize("form", [None, "NFKC"])
def test_groups_of_digits_begin_behind_a_token(split: str, form: Any) -> None:
    """`12` is cut out of `1234567`, so that the groups are `345` and `67`."""
    tok = syllabary.train(["123 345 456 678 67"] * 9, 262, split=split, normalize=form)
    for name, text in (("12", "x1234567 12345678"), ("v2", "v21234567"), ("a１", "a１23456712")):
        changed = syllabary.Tokenizer(replace(tok.spec, added_tokens={name: tok.vocab_size}))
        encoder = changed.encoder()
        found = [token for char in text for token in encoder.push(char)] + encoder.flush()
        assert found == changed.encode(text), name


@pytest.mark.parametrize("name", ["gpt2", "o200k", "o200k, NFKC", "none, characters", "words"])
def test_the_specification_streams_too(name: str) -> None:
    """The same cuts, with its own ids."""
    spec = streamed.trained()[name].spec
    tok, chance = ReferenceTokenizer(spec), random.Random(2)
    for _ in range(3):
        text = streamed.drawn(chance, [])[:120]
        encoder = IncrementalEncoder(Cuts(spec), behind_guard(lambda part: tok.encode(part, "allow")))
        found = [ids for part in streamed.in_parts(text, chance) for ids in encoder.push(part)]
        assert found + encoder.flush() == tok.encode(text, "allow")


@pytest.mark.parametrize(
    "name, text",
    [
        ("gpt2", "some words and more of them, again and again; " * 20),
        ("o200k", "人人生而自由在尊严和权利上一律平等他们赋有理性和良心并应以兄弟关系的精神相对待" * 10),
        (
            "o200k",
            "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。" * 10,
        ),
        ("gpt4", "314159265358979323846" * 50),
        ("llama3", "a1b2c3, d4!e5 f6" * 40),
        ("kimi", "12345678" * 50),
        ("gpt4, NFC", "Tất cả mọi người sinh ra đều được tự do và bình đẳng. " * 10),
        ("o200k, NFKC", "ＡＢＣ ﬁne ½ " * 40),
    ],
)
def test_no_more_is_held_than_must_be(name: str, text: str) -> None:
    encoder = streamed.trained()[name].encoder()
    most = 0
    for char in text:
        encoder.push(char)
        most = max(most, len(encoder.pending))
    assert most <= 16


def test_mistral_holds_a_word(shared: Path) -> None:
    encoder = syllabary.load(shared / "vocabs" / "mistral_v1.model").encoder()
    most = 0
    for char in "It was the best of times, it was the worst of times; 人人生而自由. " * 5:
        encoder.push(char)
        most = max(most, len(encoder.pending))
    assert most <= 16


@pytest.mark.parametrize("name", ["gpt4, NFC", "unigram, no split"])
@pytest.mark.parametrize("again", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_pickled_in_the_middle_of_a_text(name: str, again: Callable[[Any], Any]) -> None:
    tok, text = streamed.trained()[name], "It was the best of times, it was the worst of times; é字"
    data = text.encode()
    encoder, appender = tok.encoder("text"), tok.appender("text")
    found: list[int] = []
    for at in range(len(data)):
        found += encoder.push(data[at : at + 1])
        count = appender.append(data[at : at + 1])
        encoder, appender = again(encoder), again(appender)
    assert appender.count == count == tok.count(text)
    assert found + encoder.flush() == tok.encode(text)


def test_arrays_of_a_stream() -> None:
    tok = streamed.trained()["gpt4"]
    text = "Call me Ishmael. Some years ago--never mind how long precisely. " * 50
    data = text.encode()
    arrays = list(tok.encode_stream(data[at : at + 7] for at in range(0, len(data), 7)))
    assert len(arrays) > 50
    assert all(array.dtype == np.uint32 and len(array) for array in arrays)
    assert np.concatenate(arrays).tolist() == tok.encode(text)
    assert list(tok.encode_stream([])) == list(tok.encode_stream(["", b""])) == []


def test_a_file_gives_its_lines(tmp_path: Path) -> None:
    tok, path = streamed.trained()["gpt2"], tmp_path / "text"
    path.write_text("one\n\n  two\r\nthree")
    with path.open("rb") as file:
        ids = np.concatenate(list(tok.encode_stream(file))).tolist()
    assert ids == tok.encode("one\n\n  two\r\nthree")


def test_an_encoder_begins_anew_after_flush() -> None:
    tok = streamed.trained()["gpt4, NFC"]
    encoder = tok.encoder()
    for text in ("cafe\u0301 a", "", "\u0301 b"):
        assert encoder.push(text) + encoder.flush() == tok.encode(text)


@pytest.mark.parametrize("parts", [[b"abc\xff"], [b"ab\xe2", b"c"], [b"abc\xe2\x82"], [b"ab\xe2", "c"]])
def test_bytes_that_are_no_utf8(parts: list[bytes]) -> None:
    with pytest.raises(TextError, match=r"byte [23]"):
        list(streamed.trained()["gpt2"].encode_stream(parts))


def test_a_lone_surrogate() -> None:
    with pytest.raises(TextError, match=r"lone surrogate U\+D83D at character 1"):
        streamed.trained()["gpt2"].encoder().push("a\ud83d")


def test_errors_say_where() -> None:
    tok = streamed.trained()["gpt4"]
    encoder = tok.encoder()
    encoder.push("one two three ")
    with pytest.raises(SpecialTokenError, match=r"from character 13 on.*'<s>' at character 1\."):
        encoder.push("<s> four five")
    bare = syllabary.train(["ab ab"], unit="char", num_merges=1, split="whitespace-split").encoder()
    bare.push("ab ab ")
    with pytest.raises(UnknownSymbolError, match="from character 5 on"):
        bare.push("xy ab")


def test_wrong_types() -> None:
    tok = streamed.trained()["gpt2"]
    with pytest.raises(TypeError, match="must be str or bytes, not int"):
        tok.encoder().push(3)  # type: ignore[arg-type]
    with pytest.raises(
        TypeError, match=r"must be an iterable of str or bytes, not str; one alone stands in \[\]"
    ):
        tok.encode_stream("text")
    with pytest.raises(ValueError, match="limit is -1: give 0 or more"):
        tok.count_until("a", -1)
    with pytest.raises(ValueError, match="special='x'"):
        tok.encoder(special="x")  # type: ignore[arg-type]


def test_a_long_row_without_a_cut_is_not_read_again_and_again() -> None:
    tok = streamed.trained()["gpt2"]
    encoder = tok.encoder()
    found = [encoder.push(" ") for _ in range(20_000)]
    assert sum(found, encoder.flush()) == tok.encode(" " * 20_000)


def test_counting_stops_early() -> None:
    """Most of a long text is not read: what cannot be encoded there is no error."""
    tok = streamed.trained()["gpt2"]
    text = "some words " * 10_000 + "\ud800"
    assert tok.count_until(text, 100) is None
    with pytest.raises(TextError):
        tok.count_until(text, 10**6)


@pytest.mark.parametrize("name", ["gpt2", "wordpiece"])
def test_two_characters_are_asked_about_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long row without a cut is looked at character by character; what is certain of two is noted."""
    asked: list[str] = []
    for rule in ("split_apart", "cuts_apart"):
        real = getattr(cut_steps, rule)
        monkeypatch.setattr(
            cut_steps, rule, lambda *of, real=real: (asked.append("".join(of[1:3])), real(*of))[1]
        )
    tok = streamed.trained()[name]
    encoder = syllabary.Tokenizer(tok.spec).encoder()
    assert not any(encoder.push("ab" * 500) for _ in range(20))
    assert encoder.flush() == tok.encode("ab" * 10_000)
    assert 0 < len(asked) < 20


def test_text_that_is_one_piece_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of WordLevel without a split all is held back until the end: the text is one word."""
    monkeypatch.setattr(Cuts, "is_cut", lambda *_: pytest.fail("asked"))
    tok = syllabary.Tokenizer(replace(streamed.trained()["wordlevel"].spec, pretokenizer=()))
    encoder = tok.encoder()
    assert encoder.push("the best of times ") == []
    assert encoder.push("it was") + encoder.flush() == tok.encode("the best of times it was")


def test_long_text_without_a_space_is_not_asked_about_place_by_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Metaspace alone cuts, and no piece is cut itself, only what stands around spaces counts."""
    options: dict[str, object] = {"pre_tokenizer": "Metaspace", "unk_token": "<unk>"}
    options |= {"decoder": "Metaspace", "special_tokens": ["<unk>"]}
    rows = ["甲乙丙 丁戊己庚", "甲乙 ▁丙丁 ", "戊甲乙\n丙丁"]
    tok = syllabary.train(rows * 3, 12, model="unigram", like="huggingface", options=options)
    asked: list[str] = []
    real = Cuts.context

    def context(cuts: Cuts, *of: str) -> int:
        asked.append(of[1])
        return real(cuts, *of)

    monkeypatch.setattr(Cuts, "context", context)
    chance = random.Random(0)
    long = "甲乙丙丁\n" + "".join(chr(0x4E00 + chance.randrange(5000)) for _ in range(30_000))
    for text in (long, f"甲 {long}", f"{long} ", f"{long}▁甲乙 丙", f"<unk> {long} <unk>{long}"):
        ids = tok.encode(text, "allow")
        parts = [text[at : at + 1000] for at in range(0, len(text), 1000)]
        assert np.concatenate(list(tok.encode_stream(parts, special="allow"))).tolist() == ids
        assert tok.count_until(text, len(ids), "allow") == len(ids)
        assert tok.count_until(text, len(ids) - 1, "allow") is None
    assert len(asked) < 1000
